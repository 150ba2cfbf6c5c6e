"""What people put where: which things belong in, on and beside which, told by their tags, so that new categories come in."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from embodiedsmith.assets import Asset, Category, build, categories
from embodiedsmith.forge.agents.furnish import HUNG, ON_SURFACE, SMALL
from embodiedsmith.forge.language.clauses import SURFACES
from embodiedsmith.spec import AssetSpec, Goal, Item, predicates
from embodiedsmith.spec.scene import Setting
from embodiedsmith.tasks import predicate

FINGERS = 0.08
"""Room round a thing that is to be grasped [m]."""
WORKING = 0.35
"""Room before furniture that a hand works in [m]."""
BACK = 0.5
"""Part of the room of furniture that other things could have had: it stands back, where the hand does not reach all round it."""
SETTINGS: tuple[Setting, ...] = ("tabletop", "counter", "kitchen", "room")
_SURFACE_OF: dict[Setting, str] = {"tabletop": "tabletop", "counter": "counter", "kitchen": "counter", "room": "tabletop"}
_EATEN = frozenset({"fruit", "food"})
_SERVED = _EATEN | {"drinkware", "tableware"}
_HOLDS: dict[str, frozenset[str]] = {
    "appliance": _SERVED,
    "cookware": _EATEN | {"cutlery"},
    "tableware": _SERVED | {"cutlery"},
    "drinkware": frozenset({"cutlery"}),
    "food": frozenset({"food"}),
    "toy": frozenset({"toy"}),
    "stationery": frozenset({"stationery"}),
    "storage": _SERVED | {"cutlery", "cookware", "toy", "stationery", "cleaning"},
}
"""Family of a holder to the families that people put in or on it."""
_NOT_AT_HOME: dict[Setting, frozenset[str]] = {
    "tabletop": frozenset(),
    "counter": frozenset({"toy"}),
    "kitchen": frozenset({"toy", "stationery"}),
    "room": frozenset({"appliance", "cookware"}),
}
"""Families out of place in a setting."""


@cache
def family(name: str) -> str:
    """The group a category belongs to: the rarest of its tags, or its role when it has none."""
    known = categories(imported=False) | {name: categories()[name]}
    tags = known[name].tags
    if not tags:
        return known[name].role
    return min(tags, key=lambda tag: (sum(tag in other.tags for other in known.values()), tag))


def holds(holder: str, load: str) -> bool:
    """Whether people put a thing of category `load` in or on one of category `holder`."""
    if categories()[holder].role == "furniture" and not categories()[holder].tags:
        return True  # a plain work surface
    return family(load) in _HOLDS.get(family(holder), frozenset())


def at_home(name: str, setting: Setting) -> bool:
    """Whether a category belongs in a setting."""
    return family(name) not in _NOT_AT_HOME[setting]


def surface_of(setting: Setting) -> str:
    """The category of the work surface of a setting."""
    return next(name for name, kind in SURFACES.items() if kind == _SURFACE_OF[setting])


def has_floor_furniture(setting: Setting) -> bool:
    """Whether a setting is a whole room, with furniture besides the work surface."""
    return setting in ("kitchen", "room")


@cache
def stands(name: str) -> str:
    """Where furniture of a category belongs: `wall`, `floor` or `surface`."""
    if name in HUNG:
        return "wall"
    size = usual(name).size
    return "surface" if max(size[0], size[1]) <= ON_SURFACE[0] and size[2] <= ON_SURFACE[1] else "floor"


def stands_of(item: Item) -> str:
    """Where an item stands: `wall`, `floor` or `surface`."""
    if item.relation == "attached":
        return "wall"
    return "floor" if item.parent is None else "surface"


@cache
def furniture_of(setting: Setting) -> tuple[str, ...]:
    """Furniture that may stand or hang in a setting besides its work surface."""
    return tuple(
        name for name, category in categories(imported=False).items()
        if category.role == "furniture" and name not in SURFACES and at_home(name, setting) and usual(name).matter is None
        and (stands(name) == "surface" or has_floor_furniture(setting))
    )  # fmt: skip


@cache
def movable(setting: Setting) -> tuple[str, ...]:
    """Things that are free to move, keep their shape more or less, and belong in a setting."""
    return tuple(
        name for name, c in categories(imported=False).items()
        if c.role != "furniture" and at_home(name, setting) and _keeps_shape(usual(name))
    )  # fmt: skip


def _keeps_shape(asset: Asset) -> bool:
    return asset.matter is None or asset.matter.kind == "soft"


@cache
def usual(name: str) -> Asset:
    """A category's asset as it usually is. Not to be attached: build another for that."""
    return build(AssetSpec(category=name))


def narrowest(asset: Asset) -> float:
    """Width of the narrowest grasp [m]; infinite without one."""
    return min((grasp.width for grasp in asset.affordances.grasps), default=float("inf"))


def room_taken(items: Iterable[Item], surface: str, goal: Goal | None = None) -> float:
    """How much of a work surface things take [m^2], with room for fingers round them and before doors and drawers.

    Counted are the things that stand on it, and where the goal puts others down on it.
    """
    known = {item.id: item for item in items}
    standing = [item for item in known.values() if item.parent == surface and item.relation == "on"]
    area = sum(_footprint(item) for item in standing)
    for p in () if goal is None else predicates(goal):
        beside = len(p.args) > 1 and all(role.need == "thing" for role in predicate(p.name).roles[1:])
        if beside or p.args[1:] == (surface,):
            area += _footprint(known[p.args[0]])
    return area


def _footprint(item: Item) -> float:
    asset = build(item.asset)
    x, y = float(asset.size[0]), float(asset.size[1])
    if item.fixed:
        worked = WORKING if asset.joints or asset.affordances.cavities else 0.0
        return BACK * (x + FINGERS + worked) * (y + FINGERS)
    return (max(x, y) + FINGERS) ** 2


def small(name: str) -> bool:
    """Whether a thing of a category is small enough to lie about, or to be what others are put beside."""
    size = usual(name).size
    return max(float(size[0]), float(size[1])) <= SMALL[0] and float(size[2]) <= SMALL[1]


def is_food(category: Category) -> bool:
    """Whether a category is something to eat, which usually has its own colour."""
    return bool(_EATEN & category.tags)
