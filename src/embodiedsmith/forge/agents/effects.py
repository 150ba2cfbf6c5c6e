"""What commands bring about, and the goal that comes of it: the final state, with the stages it cannot express."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Literal

from embodiedsmith.forge.agents.stage import Ref
from embodiedsmith.spec import All, Goal, Predicate, Sequence

HAND = ("lifted", "grasped")
"""States that last only while the gripper holds the thing."""
PLACED = ("on", "inside", "near")


@dataclass(frozen=True)
class Effect:
    """One predicate that a command makes true."""

    name: Literal["on", "inside", "near", "lifted", "grasped", "open", "closed", "upright", "touching"]
    args: tuple[Ref, ...]
    deliberate: bool = False
    """Whether it counts for itself though a later one undoes it."""
    command: int = 0
    """Which command it belongs to."""

    @property
    def slot(self) -> Hashable:
        """What can have only one state at a time: where a thing is, how far a joint is open."""
        if self.name in PLACED or self.name in HAND:
            return "place", self.args[0].thing
        return self.name if self.name not in ("open", "closed") else "joint", self.args

    def predicate(self, *, said: bool = False) -> Predicate:
        """As the spec says it; things have their ids. `said`: without the parts that the words leave open."""
        return Predicate(name=self.name, args=tuple(ref.said if said else ref.text for ref in self.args))


def split(effects: list[Effect]) -> tuple[list[Effect], list[Effect]]:
    """Stages on the way, and what holds at the end, each in the order said."""
    stages, final = [], []
    for index, effect in enumerate(effects):
        later = effects[index + 1 :]
        if not _undone(effect, later):
            final.append(effect)
        elif _counts(effect, later):
            stages.append(effect)
    return stages, list(dict.fromkeys(replace(effect, deliberate=False, command=0) for effect in final))


def goal_of(effects: list[Effect], *, said: bool = False) -> Goal:
    """The goal: a sequence only where stages are undone on the way to the end. `said`: see `Effect.predicate`."""
    stages, final = split(effects)
    goals = [effect.predicate(said=said) for effect in final]
    end: Goal = goals[0] if len(goals) == 1 else All(goals=tuple(goals))
    groups: list[list[Effect]] = []
    for effect in stages:
        if groups and groups[-1][0].command == effect.command:
            groups[-1].append(effect)
        else:
            groups.append([effect])
    steps: list[Goal] = []
    for group in groups:
        made = [effect.predicate(said=said) for effect in group]
        steps.append(made[0] if len(made) == 1 else All(goals=tuple(made)))
    return Sequence(goals=(*steps, end)) if steps else end


def skills(effects: list[Effect]) -> int:
    """How many skills the effects take: a pick and a place for what is put, one for what is opened, closed or held.

    A drawer or door that must be opened first, and is not said to be, counts too.
    """
    count = 0
    opened: set[Ref] = set()
    stages, final = split(effects)
    for effect in (*stages, *final):
        count += 2 if effect.name in PLACED or effect.name == "touching" else 1
        if effect.name == "open":
            opened.add(effect.args[0])
        for ref in access(effect):
            if ref not in opened:
                opened.add(ref)
                count += ref.thing.joints.get(ref.part or "", 0.0) == 0.0
    return count


def access(effect: Effect) -> list[Ref]:
    """Doors and drawers that must be open for an effect: those before where the thing goes and where it comes from."""
    places = []
    if effect.name == "inside":
        places.append(effect.args[1])
    start = effect.args[0].thing.place
    if start is not None and start[0] == "inside" and effect.name in (*PLACED, *HAND):
        places.append(start[1])
    needed = [
        Ref(ref.thing, cavity.joint)
        for ref in places
        for cavity in ref.thing.asset.affordances.cavities
        if cavity.joint is not None and ref.part in (None, cavity.name)
    ]
    return list(dict.fromkeys(needed))


def _undone(effect: Effect, later: list[Effect]) -> bool:
    if effect.name in HAND:
        thing = effect.args[0].thing
        return any(other.command != effect.command and (other.name, other.args[0].thing) != ("upright", thing) for other in later)
    return any(other.slot == effect.slot for other in later)


def _counts(effect: Effect, later: list[Effect]) -> bool:
    """Whether an undone effect is a stage of its own rather than a way to what follows."""
    if effect.name in (*HAND, *PLACED):
        moved_on = any(other.slot == effect.slot for other in later)
        return effect.deliberate or not moved_on
    if effect.name in ("open", "closed"):
        for other in later:
            if other.slot == effect.slot:
                return True
            if effect.args[0] in access(other):
                return False
    return True
