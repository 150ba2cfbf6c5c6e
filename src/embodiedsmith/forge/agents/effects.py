"""What commands bring about, and the goal that comes of it: the final state, with the stages it cannot express."""

from __future__ import annotations

import itertools
from collections.abc import Hashable
from dataclasses import dataclass

from embodiedsmith.forge.agents.things import Ref
from embodiedsmith.spec import All, Goal, Not, Predicate, Sequence

HAND = ("lifted", "grasped", "squeezed")
"""States that last only while the gripper holds the thing."""
IN_HAND = ("in_left_hand", "in_right_hand")
"""The same of a certain hand: one undoes the other."""
BOTH_HANDS = "in_both_hands"
"""The same of both."""
PLACED = ("on", "inside", "near", "left_of", "right_of", "in_front_of", "behind", "between")
"""States of where a thing has been put."""


@dataclass(frozen=True)
class Effect:
    """One predicate that a command makes true."""

    name: str
    args: tuple[Ref, ...]
    deliberate: bool = False
    """Whether it counts for itself though a later one undoes it."""
    command: int = 0
    """Which command it belongs to."""
    step: int = 0
    """Which step of an order that the words insist on, from 1; 0: none."""
    params: tuple[tuple[str, float], ...] = ()
    """Numbers that the words say."""
    keep: bool = False
    """Whether it may be so from the start, and is only to stay so."""
    never: bool = False
    """Whether it is the opposite that is to be so."""

    @property
    def slot(self) -> tuple[str, Hashable]:
        """What can have only one state at a time: where a thing is, how far a joint is open."""
        if self.name in (*PLACED, *HAND, *IN_HAND):
            return "place", self.args[0].thing
        return ("joint" if self.name in ("open", "closed", "turned") else self.name), self.args

    def predicate(self, *, said: bool = False) -> Predicate:
        """As the spec says it; things have their ids. `said`: without the parts that the words leave open."""
        args = tuple(ref.said if said else ref.text for ref in self.args)
        return Predicate(name=self.name, args=args, params=dict(self.params))


def split(effects: list[Effect]) -> tuple[list[Effect], list[Effect]]:
    """Stages on the way, and what holds at the end, each in the order said."""
    stages, final = [], []
    effects = _once(effects)
    for index, effect in enumerate(effects):
        later = effects[index + 1 :]
        if not _undone(effect, later):
            final.append(effect)
        elif _counts(effect, later) or (effect.step and effect.slot[0] == "joint"):
            stages.append(effect)
    return stages, final


def goal_of(effects: list[Effect], *, said: bool = False) -> Goal:
    """The goal: a sequence where stages are undone on the way to the end, or where the words say an order.

    What a stage needs to make sense holds in it too: a drawer is closed with what was put into it. `said`: see
    `Effect.predicate`.
    """
    stages, final = split(effects)
    lasting = [effect for effect in _once(effects) if effect in stages or (effect in final and not effect.keep)]
    groups: dict[tuple[int, int], list[Effect]] = {}
    for effect in stages:
        if not effect.step:
            group = groups.setdefault((0, effect.command), [])
            group.extend(held for held in _kept_inside(effect, effects) if held not in group)
            group.append(effect)
    for step in range(1, max((effect.step for effect in effects), default=0)):
        so_far = [effect for effect in lasting if 0 < effect.step <= step]
        groups[step, 0] = [effect for index, effect in enumerate(so_far) if not _undone(effect, so_far[index + 1 :])]
    goals = [_together(group, said=said) for group in groups.values() if group] + [_together(final, said=said)]
    for early, late in itertools.pairwise(list(goals)):  # "put it in and close it": in is on the way to in and closed
        if all(part in _parts(late) for part in _parts(early)) and not any(step for step, _ in groups):
            goals.remove(early)
    return goals[0] if len(goals) == 1 else Sequence(goals=tuple(goals))


def _together(effects: list[Effect], *, said: bool) -> Goal:
    """Effects as one goal, each once."""
    made: list[Goal] = []
    for effect in effects:
        goal: Goal = effect.predicate(said=said)
        if effect.never:
            goal = Not(goal=goal)
        if goal not in made:
            made.append(goal)
    return made[0] if len(made) == 1 else All(goals=tuple(made))


def _parts(goal: Goal) -> tuple[Goal, ...]:
    return goal.goals if isinstance(goal, All) else (goal,)


def _once(effects: list[Effect]) -> list[Effect]:
    """Effects without those that only repeat what is so already."""
    now: dict[Hashable, Effect] = {}
    kept = []
    for effect in effects:
        before = now.get(effect.slot)
        if before is None or (before.name, before.args) != (effect.name, effect.args):
            kept.append(effect)
        now[effect.slot] = effect
    return kept


def _kept_inside(effect: Effect, effects: list[Effect]) -> list[Effect]:
    """For what closes a drawer or door: what has been put behind it before, and is still there."""
    if effect.name != "closed":
        return []
    before = effects[: effects.index(effect)]
    return [
        other
        for index, other in enumerate(before)
        if other.name == "inside"
        and effect.args[0] in access(other)
        and not any(later.slot == other.slot for later in before[index + 1 :])
    ]


def hold_steps(effects: list[Effect]) -> int:
    """Control steps for which the goal is to hold: a second for what is turned in the hand, where it may slip on, else a half."""
    return 20 if any(effect.name == "reoriented" for effect in effects) else 10


def skills(effects: list[Effect]) -> int:
    """How many skills the effects take: a pick and a place for what is put, one for what is opened, closed or held.

    A drawer or door that must be opened first, and is not said to be, counts too.
    """
    count = 0
    opened: set[Ref] = set()
    stages, final = split(effects)
    for effect in (*stages, *final):
        if effect.keep:
            count += effect.name == "closed" and (effect.args[0] in opened or _starts_open(effect.args[0]))
            continue
        count += 2 if effect.name in (*PLACED, "touching", "poured", "filled", "scooped") else 1
        if effect.name in ("open", "turned"):
            opened.add(effect.args[0])
        for ref in access(effect):
            if ref not in opened:
                opened.add(ref)
                count += not _starts_open(ref)
    return count


def _starts_open(joint: Ref) -> bool:
    return joint.thing.joints.get(joint.part or "", 0.0) > 0.0


def access(effect: Effect) -> list[Ref]:
    """Doors and drawers that must be open for an effect: those before where the thing goes and where it comes from."""
    places = []
    if effect.name == "inside":
        places.append(effect.args[1])
    start = effect.args[0].thing.place
    if start is not None and start[0] == "inside" and effect.name in (*PLACED, *HAND, *IN_HAND):
        places.append(start[1])
    needed = [
        Ref(ref.thing, cavity.joint)
        for ref in places
        for cavity in ref.thing.asset.affordances.cavities
        if cavity.joint is not None and ref.part in (None, cavity.name)
    ]
    return list(dict.fromkeys(needed))


def _undone(effect: Effect, later: list[Effect]) -> bool:
    if effect.name == BOTH_HANDS:
        kept = ("lifted", "grasped", "upright")
        thing = effect.args[0].thing
        return any(other.args[0].thing is not thing or other.name not in kept for other in later if not other.keep)
    if effect.name in HAND:
        thing = effect.args[0].thing
        others = [other for other in later if other.command != effect.command and not other.keep]
        return any((other.name, other.args[0].thing) != ("upright", thing) for other in others)
    return any(other.slot == effect.slot for other in later)


def _counts(effect: Effect, later: list[Effect]) -> bool:
    """Whether an undone effect is a stage of its own rather than a way to what follows."""
    if effect.name in (*HAND, *IN_HAND, *PLACED):
        moved_on = any(other.slot == effect.slot for other in later)
        return effect.deliberate or not moved_on
    if effect.name in ("open", "closed", "turned"):
        for other in later:
            if other.slot == effect.slot:
                return True
            if effect.args[0] in access(other):
                return False
    return True
