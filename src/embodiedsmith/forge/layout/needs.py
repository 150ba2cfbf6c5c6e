"""What the task will need of the layout: what is grasped, what is opened, and where things will be put down."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeGuard, get_args

from embodiedsmith.assets.asset import Asset
from embodiedsmith.spec import All, Any, Goal, Item, Not, Predicate, Scenario, Sequence, split_reference

Placed = Literal["on", "inside", "near", "left_of", "right_of", "in_front_of", "behind", "between"]
PLACED: frozenset[str] = frozenset(get_args(Placed))
"""Predicates that put their first argument to their second, or between it and their third."""
MOVING = PLACED | {
    "at", "lifted", "grasped", "squeezed", "straightened", "folded", "covers", "upright", "touching", "in_left_hand",
    "in_right_hand", "in_both_hands",
}  # fmt: skip
"""Predicates whose first argument is handled."""

SHIFTED = frozenset({"poured", "scooped"})
"""Predicates by which grains go from one vessel into another."""
WORKING = frozenset({"hung", "wiped"})
"""Predicates that take a thing to something fixed, and leave neither on the other as on a support."""


@dataclass(frozen=True, kw_only=True)
class Target:
    """A place where the task puts something."""

    item: str
    """What is put there."""
    place: str
    """The item it is put on, in or beside."""
    part: str | None
    relation: Placed
    second: str | None = None
    """The other one of two that it is put between."""
    limits: tuple[tuple[str, float], ...] = ()
    """Numbers that the goal gives with the relation, by name."""
    optional: bool = False
    """Whether it is one of several ways to do the task."""

    @property
    def others(self) -> tuple[str, ...]:
        """What the place is said by."""
        return (self.place,) if self.second is None else (self.place, self.second)

    @property
    def predicate(self) -> Predicate:
        """The relation that is to hold."""
        return Predicate(name=self.relation, args=(self.item, *self.others), params=dict(self.limits))

    @property
    def words(self) -> str:
        """The place in words: "left of plate"."""
        return f"{self.relation.replace('_', ' ')} {' and '.join(self.others)}"


@dataclass(frozen=True, kw_only=True)
class Part:
    """A part of an item that the task uses: a joint it moves, a cavity it puts into or takes from."""

    item: str
    joint: str | None
    """Moved, and so its handle must be within reach."""
    cavity: str | None
    required: bool
    """Whether the task names this very part; otherwise one of several will do."""


@dataclass(frozen=True, kw_only=True)
class Needs:
    """What the layout has to anticipate."""

    handled: frozenset[str]
    """Free items that are grasped, or must be reached."""
    targets: tuple[Target, ...]
    parts: tuple[Part, ...]
    """Parts of furniture that are used."""
    worked: frozenset[str] = frozenset()
    """Things that the task works on, without taking hold of them or moving any part: where the hand must get all over."""
    cleared: tuple[tuple[str, str], ...] = ()
    """Free things that the start puts before furniture whose parts are moved, each with that: the robot puts them elsewhere."""
    hands: tuple[tuple[str, str], ...] = ()
    """Things that the goal says which hand has them, each with the name of the arm that takes it first."""

    def joints(self, item: str) -> frozenset[str]:
        """Joints of an item that the task moves, or may."""
        return frozenset(p.joint for p in self.parts if p.item == item and p.joint is not None)

    def concerns(self, item: str) -> bool:
        """Whether the task touches the item at all."""
        if item in self.handled | self.worked:
            return True
        return any(p.item == item for p in self.parts) or any(item in t.others for t in self.targets)


HANDS = {"in_left_hand": "left", "in_right_hand": "right"}
"""Predicates that say which hand has their first argument, with the name of its arm."""

NOTHING = Needs(handled=frozenset(), targets=(), parts=())
"""What a layout that does not know the task looks to."""


def read(scenario: Scenario, built: dict[str, Asset]) -> Needs:
    """Read the needs out of goal and scene. References to items that do not exist are left to the spec critic."""
    scene = {item.id: item for item in scenario.scene.items}
    handled: set[str] = set()
    worked: set[str] = set()
    parts: dict[Part, None] = {}
    targets: list[Target] = []
    hands: dict[str, str] = {}
    options = _options(scenario.task.goal)
    for predicate, wanted in _signed(scenario.task.goal, True):
        names = [split_reference(a) for a in predicate.args]
        if not names or any(item not in scene for item, _ in names):
            continue
        (first, part), *rest = names
        if (matter := built[first].matter) is not None and matter.kind == "grains" and predicate.name in SHIFTED:
            handled |= _for_grains(predicate, scene, built)
            continue
        if predicate.name in WORKING:
            worked |= {item for item, _ in names if scene[item].fixed}
            handled |= {item for item, _ in names if not scene[item].fixed}
            continue
        if predicate.name in ("open", "closed", "turned"):
            parts |= {
                Part(item=first, joint=j, cavity=None, required=True): None for j in built[first].joints if part in (None, j)
            }
        elif predicate.name in MOVING and not scene[first].fixed:
            handled.add(first)
            if wanted and predicate.name == "covers":
                worked |= {item for item, _ in rest}
            if wanted and predicate.name in HANDS:
                hands.setdefault(first, HANDS[predicate.name])
            if rest and wanted and _places(predicate.name):
                place, place_part = rest[0]
                second = rest[1][0] if len(rest) > 1 else None
                limits = tuple(sorted(predicate.params.items()))
                optional = predicate in options
                targets.append(
                    Target(
                        item=first, place=place, part=place_part, relation=predicate.name, second=second,
                        limits=limits, optional=optional,
                    )
                )  # fmt: skip
            elif not wanted and scene[first].parent is not None:
                targets.append(Target(item=first, place=_surface_under(scene, first), part=None, relation="on"))
    for target in targets:
        if target.relation == "inside":
            parts |= _cavities(target.place, target.part, built)
    for name in sorted(handled):  # what is taken from inside something
        item = scene[name]
        if item.parent is not None and item.relation == "inside":
            first_cavity = built[item.parent].affordances.cavities[:1]
            parts |= _cavities(item.parent, item.support or next((c.name for c in first_cavity), None), built)
    cleared = _cleared(scenario, {p.item for p in parts if p.joint is not None})
    for name, _ in cleared:
        handled.add(name)
        if all(t.item != name for t in targets) and (carrier := scene[name].parent) is not None:
            targets.append(Target(item=name, place=carrier, part=scene[name].support, relation="on"))
    return Needs(
        handled=frozenset(handled), targets=tuple(dict.fromkeys(targets)), parts=tuple(parts), worked=frozenset(worked),
        cleared=cleared, hands=tuple(hands.items()),
    )  # fmt: skip


def _for_grains(predicate: Predicate, scene: dict[str, Item], built: dict[str, Asset]) -> set[str]:
    """What the hand must get at to shift grains: what they are in, what they go into, and what can scoop them."""
    names = {split_reference(predicate.args[1])[0], scene[predicate.args[0]].parent}
    if predicate.name == "scooped":
        names |= {item for item in scene if built[item].affordances.lips}
    return {item for item in names if item is not None and not scene[item].fixed}


def _cleared(scenario: Scenario, moved: set[str]) -> tuple[tuple[str, str], ...]:
    """Free things that a relation of the start puts before one of the pieces of furniture whose parts are moved."""
    free = {item.id for item in scenario.scene.items if not item.fixed}
    said = [p.args for p in scenario.task.initial if p.name == "in_front_of"]
    return tuple((thing, other) for thing, other in said if thing in free and other in moved)


def _cavities(place: str, part: str | None, built: dict[str, Asset]) -> dict[Part, None]:
    """The cavities meant by `place.part`, with the joints that give access."""
    meant = [c for c in built[place].affordances.cavities if part in (None, c.name)]
    return {Part(item=place, joint=c.joint, cavity=c.name, required=len(meant) == 1): None for c in meant}


def _places(name: str) -> TypeGuard[Placed]:
    return name in PLACED


def _signed(goal: Goal, wanted: bool) -> list[tuple[Predicate, bool]]:
    """Every predicate with whether it is to be true."""
    match goal:
        case Predicate():
            return [(goal, wanted)]
        case Not():
            return _signed(goal.goal, not wanted)
        case All() | Any() | Sequence():
            return [pair for part in goal.goals for pair in _signed(part, wanted)]


def _options(goal: Goal) -> tuple[Predicate, ...]:
    """Predicates that need not come true because another may instead."""
    match goal:
        case Any():
            return tuple(p for p, _ in _signed(goal, True)) if len(goal.goals) > 1 else _options(goal.goals[0])
        case All() | Sequence():
            return tuple(p for part in goal.goals for p in _options(part))
        case Not():
            return _options(goal.goal)
        case Predicate():
            return ()


def _surface_under(scene: dict[str, Item], item: str) -> str:
    """The furniture that carries everything the item is in or on."""
    while (parent := scene[item].parent) is not None:
        item = parent
    return item
