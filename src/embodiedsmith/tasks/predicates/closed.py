"""`closed(thing.part)`: a door or drawer is shut."""

from __future__ import annotations

from embodiedsmith.tasks.joints import bind_joints
from embodiedsmith.tasks.kind import Args, Bound, Param, Params, PredicateKind, Role, Words
from embodiedsmith.tasks.probe import Probe


def bind(probe: Probe, args: Args, params: Params) -> Bound:
    """Margin [m or rad]: the tolerance of the joint's kind minus its distance from closed. Without a part: of every joint."""
    openings = [(opening, params[info.kind]) for opening, info in bind_joints(probe.world, args[0])]
    return Bound(lambda: min(tolerance - abs(opening()) for opening, tolerance in openings))


PREDICATE = PredicateKind(
    name="closed",
    roles=(Role("part", "joint"),),
    params={
        "slide": Param(0.01, "m", "how far a drawer may stand out"),
        "hinge": Param(0.03, "rad", "how far a door may stand open"),
    },
    bind=bind,
    said_last=True,
    words={
        "en": Words("close {0}", "open {0}", ("close", "shut", "push in")),
        "zh": Words("关上{0}", "打开{0}", ("关上", "关闭", "关好", "合上", "关")),
    },
)
