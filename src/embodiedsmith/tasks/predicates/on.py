"""`on(item, support)`: the item stands on the surface and has been let go of."""

from __future__ import annotations

import math
from collections.abc import Callable

from embodiedsmith.assets.asset import Support
from embodiedsmith.spec import split_reference
from embodiedsmith.tasks.kind import APART, HELD, Args, Assets, Bound, Param, Params, PredicateKind, Role, Words, surfaces
from embodiedsmith.tasks.probe import Probe

OVERHANG = 3.0
"""A thing whose middle extent exceeds this many times the surface's smaller one cannot be expected to balance on it."""


def bind(probe: Probe, args: Args, params: Params) -> Bound:
    """Margin [m]: least of the centre of mass's distance to the surface's edge and the slack of the lowest point's height.

    Without a contact it is at most minus the gap; while both fingers touch the item, at most `HELD`. With several
    surfaces to choose from, the best one counts.
    """
    base, part = split_reference(args[1])
    contact = probe.pair(args[0], base)
    left, right = probe.held(args[0])
    places = [_surface(probe, args[0], base, s, params["tolerance"]) for s in surfaces(probe.world.assets[base], part)]

    def margin() -> float:
        pairs = probe.pairs
        touching = contact in pairs
        best = max(surface(touching) for surface in places)
        return min(best, HELD) if left in pairs and right in pairs else best

    return Bound(margin)


def _surface(probe: Probe, item: str, base: str, support: Support, tolerance: float) -> Callable[[bool], float]:
    shape, center = probe.shape(item), probe.center(item)
    points, radii = shape.points, shape.radii
    item_frame, frame = probe.frame(item), probe.frame(base, support.body, support.pose)
    half_x, half_y = support.size[0] / 2, support.size[1] / 2
    disc = support.shape == "disc"

    def margin(touching: bool) -> float:
        R_item, p_item = item_frame()
        R, origin = frame()
        normal = R[:, 2]
        lowest = (points @ (normal @ R_item) - radii).min()
        gap = float(lowest + normal @ (p_item - origin))
        x, y, _ = ((center - origin) @ R).tolist()
        edge = half_x - math.hypot(x, y) if disc else min(half_x - abs(x), half_y - abs(y))
        within = min(edge, tolerance - abs(gap))
        return within if touching else min(within, -max(gap, APART))

    return margin


def check(assets: Assets, args: Args, params: Params) -> list[str]:
    """The item must get under what is above the surface, and must not dwarf it."""
    extents = sorted(float(v) for v in assets[args[0]].size)
    base, part = split_reference(args[1])
    supports = surfaces(assets[base], part)
    if all(extents[0] > s.headroom for s in supports):
        room = max(s.headroom for s in supports)
        return [f"'{args[0]}' is at least {100 * extents[0]:.1f} cm high; above '{args[1]}' there are {100 * room:.1f} cm"]
    if all(extents[1] > OVERHANG * min(s.size) for s in supports):
        width = max(min(s.size) for s in supports)
        return [
            f"'{args[0]}' ({100 * extents[1]:.1f} cm across) is too large to stand on '{args[1]}' ({100 * width:.1f} cm across)"
        ]
    return []


PREDICATE = PredicateKind(
    name="on",
    roles=(Role("item", "movable"), Role("support", "support")),
    params={"tolerance": Param(0.005, "m", "largest height of the lowest point above or below the surface")},
    bind=bind,
    check=check,
    words={
        "en": Words(
            "put {0} on {1}",
            "take {0} off {1}",
            ("put", "place", "set", "stack", "lay", "move", "return", "store"),
            ("on", "onto", "atop", "back"),
            "stack {0} on {1}",
        ),
        "zh": Words(
            "把{0}放到{1}上", "把{0}从{1}上拿开", ("放", "摆", "叠", "堆", "搁", "搬", "收"), ("上", "回"), "把{0}叠到{1}上"
        ),
    },
)
