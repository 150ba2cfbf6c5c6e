"""`near(item, other)`: little room between two things."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from embodiedsmith.tasks.kind import Args, Bound, NearMiss, Param, Params, PredicateKind, Role, Words
from embodiedsmith.tasks.near_misses import SIDES, SLIP, UP, beyond, held, shifted
from embodiedsmith.tasks.probe import Probe
from embodiedsmith.tasks.sides import let_go
from embodiedsmith.world import World


def bind(probe: Probe, args: Args, params: Params) -> Bound:
    """Margin [m]: `distance` minus the distance between the two. While both fingers touch either it is at most `HELD`."""
    gap, distance = probe.distance(*args), params["distance"]
    return let_go(probe, lambda: distance - gap(), *args)


def near_misses(world: World, args: Args, params: Params) -> Iterator[NearMiss]:
    """A little too far away on every side of the other thing, and above it."""
    item, other = args
    for side, (x, y) in SIDES:
        for said, gap in (("a hair", 0.002), ("a little", SLIP)):
            by = beyond(world, item, other, np.array([x, y, 0.0]), params["distance"] + gap)
            yield shifted(world, f"{said} too far to {side}", item, by)
    yield shifted(world, "too far above", item, beyond(world, item, other, UP, params["distance"] + SLIP))
    yield from held(world, item)


PREDICATE = PredicateKind(
    name="near",
    roles=(Role("item", "movable"), Role("other", "thing")),
    params={"distance": Param(0.10, "m", "largest distance between the two")},
    bind=bind,
    lets_go=True,
    near_misses=near_misses,
    words={
        "en": Words(
            "move {0} next to {1}",
            "move {0} away from {1}",
            ("move", "bring", "carry", "put", "place", "set", "push", "near", "next to", "close to"),
            ("next to", "near", "beside", "close to", "by"),
        ),
        "zh": Words(
            "把{0}移到{1}旁边",
            "把{0}从{1}旁边移开",
            ("移到", "移动", "搬", "放", "拿", "摆", "靠近"),
            ("旁", "附近", "靠近", "边"),
        ),
    },
)
