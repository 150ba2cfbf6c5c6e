"""`open(thing.part)`: a door or drawer is open by at least a fraction of its range."""

from __future__ import annotations

from collections.abc import Iterator

from embodiedsmith.tasks.joints import bind_joints, openings
from embodiedsmith.tasks.kind import Args, Assets, Bound, NearMiss, Param, Params, PredicateKind, Role, Words
from embodiedsmith.tasks.near_misses import opened_at_most
from embodiedsmith.tasks.probe import Probe
from embodiedsmith.world import World


def bind(probe: Probe, args: Args, params: Params) -> Bound:
    """Margin [m or rad]: opening minus `fraction` of the range. Without a part, the joint that is open most counts."""
    fraction = params["fraction"]
    joints = bind_joints(probe.world, args[0])
    return Bound(lambda: max(opening() - fraction * info.range for opening, info in joints))


def check(assets: Assets, args: Args, params: Params) -> list[str]:
    """The fraction must be one that the joint can reach."""
    fraction = params["fraction"]
    return [] if 0.0 < fraction < 1.0 else [f"'open' needs a fraction between 0 and 1, not {fraction:g}"]


_SHORT: dict[str, tuple[float, ...]] = {"slide": (0.001, 0.005, 0.02), "hinge": (0.005, 0.02, 0.1)}
"""[m or rad] By how much a drawer or door is not open enough, to look open."""
_SHARES = (0.8, 0.6, 0.4, 0.2, 0.0)
"""Shares of the opening that is asked for."""


def near_misses(world: World, args: Args, params: Params) -> Iterator[NearMiss]:
    """Not open enough, down to closed: any door or drawer that would do."""
    joints = openings(world, args[0])
    fraction = params["fraction"]
    for said, k in (("a hair", 0), ("a little", 1), ("somewhat", 2)):
        yield opened_at_most(
            f"{said} short of open", {ref: (info, fraction * info.range - _SHORT[info.kind][k]) for ref, info in joints}
        )
    for share in _SHARES:
        name = f"open by {100 * share:g} % of what is asked"
        yield opened_at_most(name, {ref: (info, share * fraction * info.range) for ref, info in joints})


PREDICATE = PredicateKind(
    name="open",
    roles=(Role("part", "joint"),),
    params={"fraction": Param(0.6, "1", "least opening as a fraction of the joint's range", stricter_up=True)},
    bind=bind,
    check=check,
    leads_to=frozenset(
        {
            "closed",
            "inside",
            "on",
            "grasped",
            "lifted",
            "upright",
            "near",
            "left_of",
            "right_of",
            "in_front_of",
            "behind",
            "between",
            "at",
            "touching",
        }
    ),
    near_misses=near_misses,
    words={
        "en": Words("open {0}", "close {0}", ("open", "pull open", "pull out", "turn on")),
        "zh": Words("打开{0}", "关上{0}", ("打开", "拉开", "开启", "拧开")),
    },
)
