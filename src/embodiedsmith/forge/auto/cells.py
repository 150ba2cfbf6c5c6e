"""The cells of the archive: setting, predicates, family of things, robot and horizon; which of them can be filled at all."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from itertools import combinations
from typing import Literal, get_args

from embodiedsmith import embodiments
from embodiedsmith.assets import Asset
from embodiedsmith.forge.auto import sense
from embodiedsmith.motion.grasping import FINGER_ROOM
from embodiedsmith.spec import Goal, Noun, Scenario, predicates, split_reference
from embodiedsmith.spec.scene import Setting
from embodiedsmith.tasks import predicate
from embodiedsmith.tasks.kind import PredicateKind
from embodiedsmith.tasks.registry import predicate_names

Horizon = Literal["1", "2-3", "4-6", "7+"]
HORIZONS: tuple[Horizon, ...] = get_args(Horizon)
SPANS: dict[Horizon, tuple[int, int]] = {"1": (1, 1), "2-3": (2, 3), "4-6": (4, 6), "7+": (7, 9)}
"""Fewest and most skills of a class; of the last, the most that are proposed."""
AFTER_PLACING = 2
"""Skills that putting a thing somewhere takes: a pick and a place."""
MOST_KINDS: dict[Horizon, int] = {"1": 1, "2-3": 2, "4-6": 2, "7+": 2}
"""Different predicates in a goal of a class."""
WITHIN_REACH = 0.42
"""What things may take of a work surface that an arm gets at from where it is bolted [m^2]: two thirds of half an annulus from
0.3 to 0.7 m, for they do not fit together like tiles."""
REACHED = 0.3
"""How far from the near edge [m] a robot that drives along a surface can have it covered: two thirds of what it reaches over."""
NOT_STAGED = frozenset({
    "at", "upright",
    "covers", "filled", "folded", "hung", "poured", "wiped", "scooped", "spilled", "straightened",
    "in_left_hand", "in_right_hand", "in_both_hands", "squeezed", "reoriented",
})  # fmt: skip
"""Predicates for which no start, or no number of skills, can be proposed.

The first needs a place in the world before there is a layout, the second a thing that lies on its side. The next eight are about
cloth, liquids, grains and ropes, which `sense.movable` leaves out. The next four end with a hand closed on the thing, and skills
are counted here for one hand that lifts or puts down; the last needs a thing that begins in the hand.
"""
KEPT = frozenset({"unmoved"})
"""Predicates that hold from the start and only forbid: they go with others."""


class Cell(Noun):
    """One cell of the archive."""

    setting: Setting
    predicates: tuple[str, ...]
    """Names in the goal, each once, sorted."""
    family: str
    """Family of what the goal handles first; see `sense.family` and `handled_first`."""
    embodiment: str
    horizon: Horizon

    def __str__(self) -> str:
        predicates = " + ".join(self.predicates)
        return f"{predicates} of {self.family}, {self.horizon} skills, {self.setting}, {self.embodiment}"


def horizon_of(skills: int) -> Horizon:
    """The class of a number of skills."""
    return next((h for h in reversed(HORIZONS) if skills >= SPANS[h][0]), HORIZONS[0])


def cell_of(scenario: Scenario, skills: int) -> Cell:
    """The cell of a scenario that takes so many skills."""
    goal = scenario.task.goal
    return Cell(
        setting=scenario.scene.setting,
        predicates=tuple(sorted({p.name for p in predicates(goal)})),
        family=sense.family(scenario.scene.item(handled_first(goal)).asset.category),
        embodiment=scenario.embodiment.name,
        horizon=horizon_of(skills),
    )


def handled_first(goal: Goal) -> str:
    """Id of the first thing that the goal moves, or of the furniture it works when it moves none."""
    ordered = sorted(predicates(goal), key=lambda p: works_a_joint(predicate(p.name)) or p.name in KEPT)
    return split_reference(ordered[0].args[0])[0]


# ---------------------------------------------------------------------- what a predicate takes


def works_a_joint(kind: PredicateKind) -> bool:
    """Whether a predicate is about a door or drawer."""
    return kind.roles[0].need == "joint"


def in_hand(kind: PredicateKind) -> bool:
    """Whether a predicate lasts only while the gripper holds the thing: it leads to others, which put the thing somewhere."""
    return kind.roles[0].need == "movable" and len(kind.roles) == 1 and bool(kind.leads_to)


def puts(kind: PredicateKind) -> bool:
    """Whether a predicate puts a thing somewhere with respect to others."""
    return kind.roles[0].need == "movable" and len(kind.roles) > 1


def room_for(embodiment: str, surface: str) -> float:
    """How much of a work surface a robot gets at [m^2]: an arm that does not drive, what lies round it."""
    along = sense.usual(surface).affordances.support().size[1]
    return REACHED * along if embodiments.get(embodiment).base.kind == "planar" else WITHIN_REACH


def own_skills(kind: PredicateKind) -> int:
    """Skills a predicate takes, without doors that are in the way."""
    if kind.name in KEPT:
        return 0
    return AFTER_PLACING if puts(kind) else 1


def workable(name: str, kind: PredicateKind) -> tuple[str, ...]:
    """Joints of a category of furniture that a predicate about a joint can speak of: a drawer is not turned."""
    asset = sense.usual(name)
    return tuple(joint for joint in asset.joints if not kind.faults({name: asset}, (f"{name}.{joint}",), {}))


def graspable(asset: Asset, embodiment: str) -> bool:
    """Whether a robot's gripper spans a thing."""
    return sense.narrowest(asset) <= embodiments.get(embodiment).arm.gripper.max_width - FINGER_ROOM


# ---------------------------------------------------------------------- which cells can be filled


@cache
def staged() -> tuple[str, ...]:
    """Names of the predicates that can be proposed."""
    return tuple(name for name in predicate_names() if name not in NOT_STAGED)


@cache
def reachable(robots: tuple[str, ...]) -> tuple[Cell, ...]:
    """Every cell for which the catalogue has things, furniture and skills; in a fixed order."""
    return tuple(
        Cell.model_construct(setting=setting, predicates=names, family=family, embodiment=robot, horizon=horizon)
        for horizon in HORIZONS
        for names in _sets(horizon)
        for setting in sense.SETTINGS
        for robot in robots
        for family in _families(names, setting, robot)
    )


def _sets(horizon: Horizon) -> list[tuple[str, ...]]:
    """Sets of predicates that a goal of a class can be made of."""
    sets = [s for size in range(1, MOST_KINDS[horizon] + 1) for s in combinations(sorted(staged()), size)]
    return [names for names in sets if _spans(names, horizon)]


def _spans(names: Iterable[str], horizon: Horizon) -> bool:
    """Whether goals of these predicates, each used at least once, can take as many skills as a class asks for."""
    kinds = [predicate(name) for name in names]
    least, most = SPANS[horizon]
    held = [k for k in kinds if in_hand(k)]
    working = [k for k in kinds if k.name not in KEPT]
    if len(held) > 1 or not working:
        return False
    fewest = sum(own_skills(k) for k in kinds)
    if not any(puts(k) for k in kinds):  # doors and drawers alone, and perhaps something taken from behind one
        return fewest <= most and least <= fewest + 1
    return fewest <= most


@cache
def _families(names: tuple[str, ...], setting: Setting, robot: str) -> tuple[str, ...]:
    """Families of things that can be what the goal handles first."""
    kinds = [predicate(name) for name in names]
    moved = [k for k in kinds if not works_a_joint(k) and k.name not in KEPT]
    furniture = sense.furniture_of(setting)
    working = [k for k in kinds if works_a_joint(k)]
    if any(not any(workable(name, k) for name in furniture) for k in working):
        return ()
    if not moved:
        found = {sense.family(name) for name in furniture if any(workable(name, k) for k in working)}
    else:
        first = [k for k in moved if puts(k)] or moved  # what is held in the end comes last
        found = {sense.family(name) for name in sense.movable(setting) if _can_be_moved(name, first, setting, robot)}
    return tuple(sorted(found))


def _can_be_moved(name: str, moved: Sequence[PredicateKind], setting: Setting, robot: str) -> bool:
    """Whether a thing can be grasped, and one of the predicates can speak of it."""
    if not graspable(sense.usual(name), robot):
        return False
    others = [*sense.movable(setting), *sense.furniture_of(setting), sense.surface_of(setting)]
    return any(all(role.need == "thing" or _held_by(name, role.need, others) for role in k.roles[1:]) for k in moved)


def _held_by(name: str, need: str, holders: Iterable[str]) -> bool:
    for holder in holders:
        asset = sense.usual(holder).affordances
        places = asset.cavities if need == "cavity" else asset.supports
        if places and sense.holds(holder, name):
            return True
    return False
