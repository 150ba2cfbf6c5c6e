"""`scooped(grains, container)`: some of the grains, at least so many, are in the container."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from embodiedsmith.tasks.flowing import elsewhere, is_liquid, moved_to, share_in, vessel_faults, vessels
from embodiedsmith.tasks.kind import Args, Assets, Bound, NearMiss, Param, Params, PredicateKind, Role, Words
from embodiedsmith.tasks.probe import Probe
from embodiedsmith.world import World


def bind(probe: Probe, args: Args, params: Params) -> Bound:
    """Margin [1]: how many more grains than half a grain less than `count` are in the container, as a share of all."""
    share = share_in(probe, args[0], vessels(probe.world, args[1]))
    least = (params["count"] - 0.5) / len(probe.world.flow.points(args[0]))
    return Bound(lambda: share() - least)


def check(assets: Assets, args: Args, params: Params) -> list[str]:
    """Grains can be counted, there are so many, and what is to hold them is open above."""
    if is_liquid(assets, args[0]):
        return [f"'{args[0]}' is liquid: it can only be poured"]
    matter = assets[args[0]].matter
    there = 0 if matter is None else len(matter.bodies)
    fine = 1 <= params["count"] <= there
    faults = [] if fine else [f"'scooped' needs a count from 1 to the {there} there are, not {params['count']:g}"]
    return faults + vessel_faults(assets, args[1], liquid=False)


def near_misses(world: World, args: Args, params: Params) -> Iterator[NearMiss]:
    """All of them elsewhere, and so many that one is missing in the container."""
    item, reference = args[0], vessels(world, args[1])[0]
    flow = world.flow
    points = flow.points(item)
    within = np.flatnonzero(flow.within(points, reference))
    kept = int(np.ceil(params["count"])) - 1
    for name, places in elsewhere(world, item, reference):
        yield moved_to(f"all of them {name}", item, places)
        short = points.copy()
        short[within[kept:]] = places[within[kept:]]
        yield moved_to(f"one too few, the others {name}", item, short)


PREDICATE = PredicateKind(
    name="scooped",
    roles=(Role("grains", "flowing"), Role("container", "cavity")),
    params={"count": Param(8, "1", "least number of grains in the container", stricter_up=True)},
    bind=bind,
    check=check,
    near_misses=near_misses,
    words={
        "en": Words("scoop some of {0} into {1}", "scoop {0} out of {1}", ("scoop", "ladle", "shovel")),
        "zh": Words("舀一些{0}到{1}里", "把{0}从{1}里舀出来", ("舀", "铲")),
    },
)
