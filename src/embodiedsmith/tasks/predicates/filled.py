"""`filled(container)`: liquid takes up so much of the room in the container."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from embodiedsmith.tasks.flowing import elsewhere, is_liquid, moved_to, vessel_faults, vessels
from embodiedsmith.tasks.kind import Args, Assets, Bound, NearMiss, Param, Params, PredicateKind, Role, Words
from embodiedsmith.tasks.probe import Probe
from embodiedsmith.world import World


def bind(probe: Probe, args: Args, params: Params) -> Bound:
    """Margin [1]: share of the container's room, up to its rim, that liquid takes, minus `level`; of several, the best."""
    world, level = probe.world, params["level"]
    references = vessels(world, args[0])

    def margin() -> float:
        liquids = world.liquids
        if liquids is None:
            return -level
        shares = (liquids.volume_in(r, world.data) / liquids.vessel(r)[0].capacity for r in references)
        return max(shares) - level

    return Bound(margin)


def check(assets: Assets, args: Args, params: Params) -> list[str]:
    """There is a liquid, the container is open above, and fuller than full is not to be had."""
    faults = vessel_faults(assets, args[0], liquid=True)
    if not any(is_liquid(assets, item) for item in assets):
        faults.append("'filled' needs a liquid in the scene")
    if not 0 < params["level"] < 1:
        faults.append(f"'filled' needs a level between 0 and 1, not {params['level']:g}")
    return faults


def near_misses(world: World, args: Args, params: Params) -> Iterator[NearMiss]:
    """The liquid elsewhere, all of it or so much that too little is left."""
    liquids = world.liquids
    if liquids is None:
        return
    reference = max(vessels(world, args[0]), key=lambda r: liquids.volume_in(r, world.data))
    vessel, body = liquids.vessel(reference)
    R, origin = world.data.xmat[body].reshape(3, 3), world.data.xpos[body]
    liquid = max(liquids.pools, key=lambda name: liquids.held_by(name, reference, world.data))
    points = liquids.points(liquid)
    within = np.flatnonzero(vessel.holds((points - origin) @ R))
    one = world.assets[liquid].mass / 1000 / len(points)  # [m3] of a particle
    surplus = liquids.volume_in(reference, world.data) - params["level"] * vessel.capacity
    taken = min(len(within), int(surplus / one) + 2)
    for name, places in elsewhere(world, liquid, reference):
        moved = points.copy()
        moved[within] = places[within]
        yield moved_to(f"what was in it {name}", liquid, moved)
        short = points.copy()
        short[within[:taken]] = places[within[:taken]]
        yield moved_to(f"a little too much {name}", liquid, short)


PREDICATE = PredicateKind(
    name="filled",
    roles=(Role("container", "cavity"),),
    params={"level": Param(0.4, "1", "least share of the room up to the rim that liquid takes", stricter_up=True)},
    bind=bind,
    check=check,
    near_misses=near_misses,
    words={
        "en": Words("fill {0}", "empty {0}", ("fill", "fill up")),
        "zh": Words("装满{0}", "倒空{0}", ("装满", "倒满", "灌满", "盛满")),
    },
)
