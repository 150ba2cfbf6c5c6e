"""`on(item, support)`: the item stands on the surface and has been let go of."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np

from embodiedsmith.assets.asset import Support
from embodiedsmith.spec import split_reference
from embodiedsmith.tasks.kind import (
    APART,
    HELD,
    Args,
    Assets,
    Bound,
    NearMiss,
    Param,
    Params,
    PredicateKind,
    Role,
    Words,
    surfaces,
)
from embodiedsmith.tasks.near_misses import SIDES, SLIP, beyond, clearance, free_things, held, past, shifted, span
from embodiedsmith.tasks.probe import Float, Probe
from embodiedsmith.world import World
from embodiedsmith.world import transforms as tf

OVERHANG = 3.0
"""A thing whose middle extent exceeds this many times the surface's smaller one cannot be expected to balance on it."""


_ABOUT = 1.0
"""[m] Farther away a thing is not taken for what the item should stand on."""


def bind(probe: Probe, args: Args, params: Params) -> Bound:
    """Margin [m]: least of the centre of mass's distance to the surface's edge and the slack of the lowest point's height.

    Without a contact that bears it is at most minus the gap; while both fingers touch the item, at most `HELD`. With several
    surfaces to choose from, the best one counts.
    """
    base, part = split_reference(args[1])
    contact = probe.pair(args[0], base)
    hands = probe.hands(args[0])
    places = [_surface(probe, args[0], base, s, params["tolerance"]) for s in surfaces(probe.world.assets[base], part)]

    def margin() -> float:
        best = max(surface(contact in probe.bearing) for surface in places)
        return min(best, HELD) if any(a in probe.pairs and b in probe.pairs for a, b in hands) else best

    return Bound(margin, anyway=lambda: max(surface(True) for surface in places))


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


def near_misses(world: World, args: Args, params: Params) -> Iterator[NearMiss]:
    """Past every edge, hovering, under it, on what else stands about, at its foot, and in the hand."""
    item, reference = args
    base = reference.partition(".")[0]
    support, T = _carrier(world, item, reference)
    normal, center = T[:3, 2], _center(world, item)
    level = span(world, item, normal)[0] - float(normal @ T[:3, 3])
    for side, direction in SIDES:
        by = T[:3, :3] @ past(support.size, support.shape, (center - T[:3, 3]) @ T[:3, :3], direction)
        if not _lands(world, reference, support, center + by, level):
            yield shifted(world, f"past its edge, at {side}", item, by)
            if world.items[base].qpos >= 0:
                down = normal * (span(world, base, normal)[0] - span(world, item, normal)[0])
                beside = beyond(world, item, base, T[:3, :3] @ (*direction, 0.0), 0.001)
                yield shifted(world, f"at its foot, at {side}", item, beside + down)
    clear = clearance(world, item, base, normal)
    for gap in (0.001, SLIP):
        if math.isfinite(clear):
            yield shifted(world, f"hovering {1000 * gap:g} mm over it", item, normal * (clear + gap))
    top = span(world, item, normal)[1] - float(normal @ T[:3, 3])
    yield shifted(world, "under it", item, -normal * (top + SLIP))
    yield from _on_another(world, item, base, center)
    yield from held(world, item)


def _on_another(world: World, item: str, base: str, center: Float) -> Iterator[NearMiss]:
    """On top of the nearest thing that is neither the item nor what it should stand on."""
    others = free_things(world, item, base)
    if others:
        nearest = min(others, key=lambda name: float(np.linalg.norm(_center(world, name) - center)))
        if np.linalg.norm(_center(world, nearest) - center) > _ABOUT:
            return
        rise = span(world, nearest, (0.0, 0.0, 1.0))[1] - span(world, item, (0.0, 0.0, 1.0))[0]
        by = _center(world, nearest) - center
        yield shifted(world, f"on top of {nearest} instead", item, np.array([by[0], by[1], rise]))


def _center(world: World, item: str) -> Float:
    position: Float = world.data.xipos[world.items[item].body].copy()
    return position


def _carrier(world: World, item: str, reference: str) -> tuple[Support, Float]:
    """The surface that an item stands on, of those meant, and its world frame (4, 4)."""
    base, part = split_reference(reference)
    placed = [(s, world.item_pose(base, s.body) @ tf.matrix(s.pose)) for s in surfaces(world.assets[base], part)]
    center = _center(world, item)

    def off(place: tuple[Support, Float]) -> float:
        support, T = place
        x, y, _ = (center - T[:3, 3]) @ T[:3, :3]
        outside = max(abs(x) - support.size[0] / 2, abs(y) - support.size[1] / 2, 0.0)
        return float(outside + abs(span(world, item, T[:3, 2])[0] - T[:3, 2] @ T[:3, 3]))

    return min(placed, key=off)


def _lands(world: World, reference: str, support: Support, center: Float, level: float) -> bool:
    """Whether a thing with that centre of mass, as high above the surface it stood on, is over another surface that would do."""
    base, part = split_reference(reference)
    here = (world.item_pose(base, support.body) @ tf.matrix(support.pose))[2, 3]
    for other in surfaces(world.assets[base], part):
        T = world.item_pose(base, other.body) @ tf.matrix(other.pose)
        x, y, _ = (center - T[:3, 3]) @ T[:3, :3]
        inside = abs(x) < other.size[0] / 2 + SLIP and abs(y) < other.size[1] / 2 + SLIP
        if other != support and inside and abs(T[2, 3] - here - level) < SLIP:
            return True
    return False


PREDICATE = PredicateKind(
    name="on",
    roles=(Role("item", "movable"), Role("support", "support")),
    params={"tolerance": Param(0.005, "m", "largest height of the lowest point above or below the surface")},
    bind=bind,
    check=check,
    lets_go=True,
    near_misses=near_misses,
    words={
        "en": Words(
            "put {0} on {1}",
            "take {0} off {1}",
            ("put", "place", "set", "stack", "lay", "move", "carry", "return", "store"),
            ("on", "onto", "atop", "back"),
            "stack {0} on {1}",
        ),
        "zh": Words(
            "把{0}放到{1}上", "把{0}从{1}上拿开", ("放", "摆", "叠", "堆", "搁", "搬", "收"), ("上", "回"), "把{0}叠到{1}上"
        ),
    },
)
