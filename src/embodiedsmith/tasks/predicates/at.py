"""`at(item; x, y, z)`: the item's root is at a point of the world."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from embodiedsmith.tasks.kind import Args, Bound, NearMiss, Param, Params, PredicateKind, Role, Words
from embodiedsmith.tasks.near_misses import SIDES, SLIP, UP, posed
from embodiedsmith.tasks.probe import Probe
from embodiedsmith.world import World


def bind(probe: Probe, args: Args, params: Params) -> Bound:
    """Margin [m]: `tolerance` minus the distance of the item's root from (x, y, z)."""
    frame, tolerance = probe.frame(args[0]), params["tolerance"]
    x, y, z = params["x"], params["y"], params["z"]

    def margin() -> float:
        a, b, c = frame()[1].tolist()
        return tolerance - math.sqrt((a - x) ** 2 + (b - y) ** 2 + (c - z) ** 2)

    return Bound(margin)


def near_misses(world: World, args: Args, params: Params) -> Iterator[NearMiss]:
    """Too far along every axis, and where it is near enough along each axis but not in all."""
    item, tolerance = args[0], params["tolerance"]
    point = np.array([params["x"], params["y"], params["z"]])
    pose = world.item_pose(item)

    def away(name: str, off: np.ndarray) -> NearMiss:
        there = pose.copy()
        there[:3, 3] = point + off
        return posed(name, item, there)

    for side, (x, y) in SIDES:
        yield away(f"off to {side}", np.array([x, y, 0.0]) * (tolerance + SLIP))
    yield away("above the point", UP * (tolerance + SLIP))
    yield away("below the point", -UP * (tolerance + SLIP))
    corner = 0.9 * tolerance
    yield away("near enough in x and in y, not in both", np.array([corner, -corner, 0.0]))
    yield away("near enough in x, y and z, not in all", np.array([-corner, corner, corner]))


PREDICATE = PredicateKind(
    name="at",
    roles=(Role("item", "movable"),),
    params={
        "x": Param(None, "m", "where, along world x"),
        "y": Param(None, "m", "where, along world y"),
        "z": Param(None, "m", "where, along world z"),
        "tolerance": Param(0.02, "m", "largest distance"),
    },
    bind=bind,
    near_misses=near_misses,
    words={
        "en": Words(
            "move {0} to ({x:.2f}, {y:.2f}, {z:.2f}) m",
            "move {0} away from ({x:.2f}, {y:.2f}, {z:.2f}) m",
            ("move", "bring"),
            ("to",),
        ),
        "zh": Words(
            "把{0}移到({x:.2f}, {y:.2f}, {z:.2f})米处",
            "把{0}从({x:.2f}, {y:.2f}, {z:.2f})米处移开",
            ("移到", "移动", "搬"),
            ("到",),
        ),
    },
)
