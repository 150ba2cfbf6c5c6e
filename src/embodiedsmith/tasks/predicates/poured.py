"""`poured(contents, container)`: so much of a liquid, or of grains, is in the container."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from embodiedsmith.spec import Language
from embodiedsmith.tasks.flowing import elsewhere, is_liquid, moved_to, share_in, vessel_faults, vessels
from embodiedsmith.tasks.kind import Args, Assets, Bound, NearMiss, Param, Params, PredicateKind, Role, Words
from embodiedsmith.tasks.probe import Probe
from embodiedsmith.world import World

SHARES: dict[float, dict[Language, str]] = {
    1.0: {"en": "", "zh": ""},
    0.75: {"en": "three quarters of ", "zh": "四分之三的"},
    0.5: {"en": "half of ", "zh": "一半的"},
    0.25: {"en": "a quarter of ", "zh": "四分之一的"},
}
"""Shares that have a name; others are said as percentages."""


def bind(probe: Probe, args: Args, params: Params) -> Bound:
    """Margin [1]: `tolerance` minus how far the share of it in the container is from `fraction`, or of all, below it."""
    share = share_in(probe, args[0], vessels(probe.world, args[1]))
    fraction, tolerance = params["fraction"], params["tolerance"]
    return Bound(lambda: tolerance - abs(share() - fraction))


def check(assets: Assets, args: Args, params: Params) -> list[str]:
    """Shares are between none and all, and what is to hold it is open above."""
    fraction, tolerance = params["fraction"], params["tolerance"]
    faults = [] if 0 < fraction <= 1 else [f"'poured' needs a fraction above 0 and up to 1, not {fraction:g}"]
    if not 0 < tolerance < fraction:
        faults.append(f"'poured' needs a tolerance above 0 and below the fraction, not {tolerance:g}")
    return faults + vessel_faults(assets, args[1], liquid=is_liquid(assets, args[0]))


def phrases(params: Params, language: Language) -> Mapping[str, str]:
    """`share`: how much of it, as people say it."""
    fraction = params["fraction"]
    named = next((words[language] for share, words in SHARES.items() if abs(share - fraction) < 1e-6), None)
    if named is None:
        named = f"{100 * fraction:g} % of " if language == "en" else f"百分之{100 * fraction:g}的"
    return {"share": named}


def near_misses(world: World, args: Args, params: Params) -> Iterator[NearMiss]:
    """All of it elsewhere; a little too much of it elsewhere; of a share, also too much of it in the container."""
    item, reference = args[0], vessels(world, args[1])[0]
    flow = world.flow
    fraction, tolerance = params["fraction"], params["tolerance"]
    points = flow.points(item)
    within = np.flatnonzero(flow.within(points, reference))
    kept = int((fraction - tolerance) * len(points)) - 1
    for name, places in elsewhere(world, item, reference):
        yield moved_to(f"all of it {name}", item, places)
        short = points.copy()
        short[within[kept:]] = places[within[kept:]]
        yield moved_to(f"a little too much of it {name}", item, short)
    packed = flow.packed(item, reference)
    if fraction + tolerance < 1 and packed is not None:
        yield moved_to("all of it in the container", item, packed)


PREDICATE = PredicateKind(
    name="poured",
    roles=(Role("contents", "flowing"), Role("container", "cavity")),
    params={
        "fraction": Param(1.0, "1", "share of it that is to be in the container"),
        "tolerance": Param(0.1, "1", "how far the share may be from it"),
    },
    bind=bind,
    check=check,
    phrases=phrases,
    near_misses=near_misses,
    words={
        "en": Words("pour {share}{0} into {1}", "pour {0} out of {1}", ("pour", "pour out", "empty", "tip")),
        "zh": Words("把{share}{0}倒进{1}里", "把{0}从{1}里倒出来", ("倒", "倒进", "倒入", "倒到", "倾倒")),
    },
)
