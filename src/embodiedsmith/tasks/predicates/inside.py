"""`inside(item, container)`: the item is in the cavity and has been let go of."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np

from embodiedsmith.assets.asset import Cavity
from embodiedsmith.spec import split_reference
from embodiedsmith.tasks.kind import HELD, Args, Assets, Bound, Param, Params, PredicateKind, Role, Words, cavities
from embodiedsmith.tasks.probe import Probe

UPWARDS = 0.7
"""A cavity whose opening points up by more than this cosine is open above; otherwise it opens at the front."""


def bind(probe: Probe, args: Args, params: Params) -> Bound:
    """Margin [m]: the least of

    - the centre of mass's distance to the nearest wall,
    - the height of the lowest point above the floor, plus the tolerance,
    - open above: how much more of it is below the rim than half of its height, or half of the cavity's depth if that is
      less: apples may be heaped in a basket, and a bottle stands in a tray;
    - open at the front: how far its foremost point is behind the opening, so that a door could close, and its highest
      point below the ceiling.

    While both fingers touch the item it is at most `HELD`. With several cavities to choose from, the best one counts.
    """
    base, part = split_reference(args[1])
    left, right = probe.held(args[0])
    places = [_cavity(probe, args[0], base, c, params["tolerance"]) for c in cavities(probe.world.assets[base], part)]

    def margin() -> float:
        pairs = probe.pairs
        best = max(place() for place in places)
        return min(best, HELD) if left in pairs and right in pairs else best

    return Bound(margin)


def _cavity(probe: Probe, item: str, base: str, cavity: Cavity, tolerance: float) -> Callable[[], float]:
    shape, center = probe.shape(item), probe.center(item)
    points, radii = shape.points, shape.radii
    item_frame, frame = probe.frame(item), probe.frame(base, cavity.body, cavity.pose)
    half_x, half_y, height = cavity.size[0] / 2, cavity.size[1] / 2, cavity.size[2]
    disc = cavity.shape == "disc"
    outward = np.asarray(cavity.opening)
    above = outward[2] > UPWARDS
    front = float(np.abs(outward) @ (half_x, half_y, 0.0))

    def margin() -> float:
        R_item, p_item = item_frame()
        R, origin = frame()
        offset = p_item - origin
        up = R[:, 2]
        heights = points @ (up @ R_item) + up @ offset
        low, high = float((heights - radii).min()), float((heights + radii).max())
        x, y, _ = ((center - origin) @ R).tolist()
        wall = half_x - math.hypot(x, y) if disc else min(half_x - abs(x), half_y - abs(y))
        if above:
            return min(wall, low + tolerance, height - low - min(high - low, height) / 2)
        out = R @ outward
        foremost = float((points @ (out @ R_item) + radii).max() + out @ offset)
        return min(wall, low + tolerance, height + tolerance - high, front - foremost)

    return margin


def check(assets: Assets, args: Args, params: Params) -> list[str]:
    """In some orientation the item's box must fit between the walls."""
    size = [float(v) for v in assets[args[0]].size]
    base, part = split_reference(args[1])
    places = cavities(assets[base], part)
    if any(_fits(size, cavity) for cavity in places):
        return []
    item = " x ".join(f"{100 * v:.1f}" for v in size)
    room = "; ".join(f"{c.name} {' x '.join(f'{100 * v:.1f}' for v in c.size)}" for c in places)
    return [f"'{args[0]}' ({item} cm) does not fit inside '{args[1]}' ({room} cm)"]


def _fits(size: list[float], cavity: Cavity) -> bool:
    width, depth, height = cavity.size
    room = math.inf if cavity.opening[2] > UPWARDS and cavity.joint is None else height
    return any(a <= width and b <= depth and c <= room for a, b, c in itertools.permutations(size))


PREDICATE = PredicateKind(
    name="inside",
    roles=(Role("item", "movable"), Role("container", "cavity")),
    params={"tolerance": Param(0.005, "m", "how far the item may seem to be in the floor or the ceiling")},
    bind=bind,
    check=check,
    words={
        "en": Words(
            "put {0} in {1}",
            "take {0} out of {1}",
            ("put", "place", "store", "drop", "load", "insert", "move", "return", "set"),
            ("in", "into", "inside", "back", "away", "shelf"),
        ),
        "zh": Words(
            "把{0}放进{1}里",
            "把{0}从{1}里拿出来",
            ("放", "装", "收", "丢", "扔", "搁", "搬"),
            ("里", "进", "入", "内", "中", "层"),
        ),
    },
)
