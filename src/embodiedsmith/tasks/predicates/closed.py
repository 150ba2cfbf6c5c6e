"""`closed(thing.part)`: a door or drawer is shut."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from embodiedsmith.tasks.joints import bind_joints, openings
from embodiedsmith.tasks.kind import Args, Bound, NearMiss, Param, Params, PredicateKind, Role, Words
from embodiedsmith.tasks.near_misses import put_joint
from embodiedsmith.tasks.probe import Probe
from embodiedsmith.world import World


def bind(probe: Probe, args: Args, params: Params) -> Bound:
    """Margin [m or rad]: the tolerance of the joint's kind minus its distance from closed. Without a part: of every joint."""
    joints = [(opening, params[info.kind]) for opening, info in bind_joints(probe.world, args[0])]
    return Bound(lambda: min(tolerance - abs(opening()) for opening, tolerance in joints))


_AJAR: dict[str, tuple[float, ...]] = {"slide": (0.001, 0.005, 0.01, 0.02, 0.05), "hinge": (0.005, 0.02, 0.05, 0.1, 0.2)}
"""[m or rad] How far beyond its tolerance a drawer or door is left open, to look closed."""


def near_misses(world: World, args: Args, params: Params) -> Iterator[NearMiss]:
    """Each door or drawer left open by a little, by some of its range, and wide."""
    for reference, info in openings(world, args[0]):
        ajar = [params[info.kind] + more for more in _AJAR[info.kind]]
        wider = [share * info.range for share in (0.25, 0.5, 1.0)]
        for opening in dict.fromkeys(min(o, info.range) for o in (*ajar, *wider)):
            if opening > params[info.kind]:
                said = f"{100 * opening:.1f} cm" if info.kind == "slide" else f"{opening:.3f} rad"
                yield NearMiss(f"{reference} open by {said}", partial(put_joint, reference=reference, position=info.at(opening)))


PREDICATE = PredicateKind(
    name="closed",
    roles=(Role("part", "joint"),),
    params={
        "slide": Param(0.01, "m", "how far a drawer may stand out"),
        "hinge": Param(0.03, "rad", "how far a door may stand open"),
    },
    bind=bind,
    said_last=1,
    near_misses=near_misses,
    words={
        "en": Words("close {0}", "open {0}", ("close", "shut", "push in", "turn off")),
        "zh": Words("关上{0}", "打开{0}", ("关上", "关闭", "关好", "合上", "关")),
    },
)
