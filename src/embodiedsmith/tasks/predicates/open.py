"""`open(thing.part)`: a door or drawer is open by at least a fraction of its range."""

from __future__ import annotations

from embodiedsmith.tasks.joints import bind_joints
from embodiedsmith.tasks.kind import Args, Assets, Bound, Param, Params, PredicateKind, Role, Words
from embodiedsmith.tasks.probe import Probe


def bind(probe: Probe, args: Args, params: Params) -> Bound:
    """Margin [m or rad]: opening minus `fraction` of the range. Without a part, the joint that is open most counts."""
    fraction = params["fraction"]
    openings = bind_joints(probe.world, args[0])
    return Bound(lambda: max(opening() - fraction * info.range for opening, info in openings))


def check(assets: Assets, args: Args, params: Params) -> list[str]:
    """The fraction must be one that the joint can reach."""
    fraction = params["fraction"]
    return [] if 0.0 < fraction < 1.0 else [f"'open' needs a fraction between 0 and 1, not {fraction:g}"]


PREDICATE = PredicateKind(
    name="open",
    roles=(Role("part", "joint"),),
    params={"fraction": Param(0.6, "1", "least opening as a fraction of the joint's range")},
    bind=bind,
    check=check,
    leads_to=frozenset({"closed", "inside", "on", "grasped", "lifted", "upright", "near", "at", "touching"}),
    words={
        "en": Words("open {0}", "close {0}", ("open", "pull open", "pull out")),
        "zh": Words("打开{0}", "关上{0}", ("打开", "拉开", "开启")),
    },
)
