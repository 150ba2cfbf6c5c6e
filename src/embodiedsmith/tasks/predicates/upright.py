"""`upright(item)`: the item's own z axis points up."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from embodiedsmith.tasks.kind import Args, Bound, NearMiss, Param, Params, PredicateKind, Role, Words
from embodiedsmith.tasks.near_misses import SIDES, turned
from embodiedsmith.tasks.probe import Probe
from embodiedsmith.world import World


def bind(probe: Probe, args: Args, params: Params) -> Bound:
    """Margin [rad]: `angle` minus the angle between the item's z axis and the vertical."""
    frame, angle = probe.frame(args[0]), params["angle"]
    return Bound(lambda: angle - math.acos(min(1.0, max(-1.0, float(frame()[0][2, 2])))))


def near_misses(world: World, args: Args, params: Params) -> Iterator[NearMiss]:
    """Tilted by a little more than the angle to every side, lying on every side, and upside down."""
    item, angle = args[0], params["angle"]
    up = world.item_pose(item)[:3, 2].copy()
    level = np.cross(up, (0.0, 0.0, 1.0))
    tilt = math.atan2(float(np.linalg.norm(level)), float(up[2]))
    for said, more in (("tilted a little too far", angle + math.radians(2.0)), ("lying", math.pi / 2)):
        for side, (x, y) in SIDES:
            if angle < more <= math.pi - 2 * tilt:
                yield turned(world, f"{said}, to {side}", item, np.array([-y, x, 0.0]), more + tilt)
    yield turned(world, "upside down", item, np.array([1.0, 0.0, 0.0]), math.pi)


PREDICATE = PredicateKind(
    name="upright",
    roles=(Role("item", "movable"),),
    params={"angle": Param(math.radians(10.0), "rad", "largest tilt")},
    bind=bind,
    near_misses=near_misses,
    words={
        "en": Words("stand {0} upright", "tip {0} over", ("stand", "stand up", "upright", "straighten")),
        "zh": Words("把{0}竖直放好", "把{0}放倒", ("竖", "立起", "立直", "扶正", "放"), ("竖", "立", "正")),
    },
)
