"""`inside(item, container)`: the item is in the cavity and has been let go of."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator

import numpy as np

from embodiedsmith.assets.asset import Cavity
from embodiedsmith.spec import split_reference
from embodiedsmith.tasks.kind import HELD, Args, Assets, Bound, NearMiss, Param, Params, PredicateKind, Role, Words, cavities
from embodiedsmith.tasks.near_misses import SIDES, SLIP, held, past, posed, shifted, span
from embodiedsmith.tasks.probe import Float, Probe
from embodiedsmith.world import World
from embodiedsmith.world import transforms as tf

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
    hands = probe.hands(args[0])
    places = [_cavity(probe, args[0], base, c, params["tolerance"]) for c in cavities(probe.world.assets[base], part)]

    def anyway() -> float:
        return max(place() for place in places)

    def margin() -> float:
        return min(anyway(), HELD) if any(a in probe.pairs and b in probe.pairs for a, b in hands) else anyway()

    return Bound(margin, anyway=anyway)


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


def near_misses(world: World, args: Args, params: Params) -> Iterator[NearMiss]:
    """Outside every wall, over and under it, half out, in the part beside it, and in the hand."""
    item, reference = args
    base, part = split_reference(reference)
    cavity, T = _around(world, item, base, part)
    R, origin = T[:3, :3], T[:3, 3]
    center = world.data.xipos[world.items[item].body].copy()
    low, high = (v - float(R[:, 2] @ origin) for v in span(world, item, R[:, 2]))
    for side, direction in SIDES:
        by = R @ past(cavity.size[:2], cavity.shape, (center - origin) @ R, direction)
        outward = R @ (*direction, 0.0)
        clear = by + outward * (float(outward @ center) - span(world, item, outward)[0])
        if not _elsewhere(world, base, part, cavity, center + clear):
            yield shifted(world, f"beside it, at {side}", item, clear)
        over = by + R[:, 2] * (cavity.size[2] - low + 0.001)
        if not _elsewhere(world, base, part, cavity, center + over):
            yield shifted(world, f"over its edge, at {side}", item, over)
    for said, up in (("over it", cavity.size[2] - low + SLIP), ("under it", -high - SLIP)):
        if not _elsewhere(world, base, part, cavity, center + R[:, 2] * up):
            yield shifted(world, said, item, R[:, 2] * up)
    yield from _half_out(world, item, cavity, R, origin, low, high)
    yield from _across(world, item, base, part, cavity, T)
    yield from _next_door(world, item, base, part, cavity, T)
    yield from held(world, item)


def _half_out(world: World, item: str, cavity: Cavity, R: Float, origin: Float, low: float, high: float) -> Iterator[NearMiss]:
    """Standing out of the opening: too far above the rim, or too far out of the front."""
    if cavity.opening[2] > UPWARDS:
        sunk = min(high - low, cavity.size[2]) / 2
        for said, more in (("a little more than half", 0.002), ("most of it", sunk / 2)):
            yield shifted(world, f"{said} above the rim", item, R[:, 2] * (cavity.size[2] - sunk + more - low))
        return
    out = R @ cavity.opening
    front = float(np.abs(cavity.opening) @ (cavity.size[0] / 2, cavity.size[1] / 2, 0.0))
    near, far = (v - float(out @ origin) for v in span(world, item, out))
    for said, reach in (("a little", far - 0.005), ("half", (near + far) / 2), ("most of it", near + SLIP)):
        yield shifted(world, f"{said} out of the front", item, out * (front - reach))


def _across(world: World, item: str, base: str, part: str | None, cavity: Cavity, T: Float) -> Iterator[NearMiss]:
    """Lying on the rim, for what is too long to lie on the floor."""
    low, high = (np.asarray(corner) for corner in world.assets[item].extents)
    if cavity.opening[2] <= UPWARDS or (high - low)[:2].max() <= min(cavity.size[:2]):
        return
    x, y, _ = (low + high) / 2
    there = T @ tf.translate((-x, -y, cavity.size[2] - low[2]))
    if not _elsewhere(world, base, part, cavity, (there @ np.append((low + high) / 2, 1.0))[:3]):
        yield posed("lying across its rim", item, there)


def _next_door(world: World, item: str, base: str, part: str | None, cavity: Cavity, T: Float) -> Iterator[NearMiss]:
    """In the same place of every other cavity of the container, when a part of it is meant."""
    asset = world.assets[base]
    for other in asset.affordances.cavities:
        if other not in cavities(asset, part):
            by = world.item_pose(base, other.body) @ tf.matrix(other.pose) @ tf.inverse(T)
            there = by @ world.item_pose(item)
            if not _elsewhere(world, base, part, None, (by @ (*world.data.xipos[world.items[item].body], 1.0))[:3]):
                yield posed(f"in {base}.{other.name} instead", item, there)


def _around(world: World, item: str, base: str, part: str | None) -> tuple[Cavity, Float]:
    """The cavity that an item is in, of those meant, and its world frame (4, 4)."""
    center = world.data.xipos[world.items[item].body]
    placed = [(c, world.item_pose(base, c.body) @ tf.matrix(c.pose)) for c in cavities(world.assets[base], part)]
    return max(placed, key=lambda place: _depth(place[0], place[1], center))


def _depth(cavity: Cavity, T: Float, point: Float) -> float:
    """How far [m] a world point (3,) is within the box of a cavity; negative outside."""
    x, y, z = (point - T[:3, 3]) @ T[:3, :3]
    return float(min(cavity.size[0] / 2 - abs(x), cavity.size[1] / 2 - abs(y), z, cavity.size[2] - z))


def _elsewhere(world: World, base: str, part: str | None, cavity: Cavity | None, point: Float) -> bool:
    """Whether a world point (3,) is in another cavity that would do."""
    return any(
        _depth(other, world.item_pose(base, other.body) @ tf.matrix(other.pose), point) > -SLIP
        for other in cavities(world.assets[base], part)
        if other != cavity
    )


PREDICATE = PredicateKind(
    name="inside",
    roles=(Role("item", "movable"), Role("container", "cavity")),
    params={"tolerance": Param(0.005, "m", "how far the item may seem to be in the floor or the ceiling")},
    bind=bind,
    check=check,
    lets_go=True,
    near_misses=near_misses,
    words={
        "en": Words(
            "put {0} in {1}",
            "take {0} out of {1}",
            ("put", "place", "store", "drop", "load", "insert", "move", "carry", "return", "set"),
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
