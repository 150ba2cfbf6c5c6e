"""`spilled(contents)`: some of a liquid, or of grains, is in no container. Mostly said under `not`."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from embodiedsmith.tasks.flowing import all_vessels, elsewhere, moved_to, share_in
from embodiedsmith.tasks.kind import Args, Assets, Bound, NearMiss, Param, Params, PredicateKind, Role, Words
from embodiedsmith.tasks.probe import Probe
from embodiedsmith.world import World


def bind(probe: Probe, args: Args, params: Params) -> Bound:
    """Margin [1]: share of it that is in no cavity of anything, in the air or lying about, minus `share`."""
    held = share_in(probe, args[0], all_vessels(probe.world))
    return Bound(lambda: 1.0 - held() - params["share"])


def check(assets: Assets, args: Args, params: Params) -> list[str]:
    """Some is more than none and less than all."""
    share = params["share"]
    return [] if 0 < share < 1 else [f"'spilled' needs a share between 0 and 1, not {share:g}"]


def near_misses(world: World, args: Args, params: Params) -> Iterator[NearMiss]:
    """All of it where it was, and all but a little less than counts, left in four places."""
    item, first = args[0], world.flow.first(args[0])
    back = None if first is None else world.flow.packed(item, first)
    if first is None or back is None:
        return
    yield moved_to("all of it where it was", item, back)
    few = max(0, int(params["share"] * len(back)) - 1)
    for name, places in elsewhere(world, item, first):
        short = back.copy()
        short[len(back) - few :] = places[len(back) - few :]
        yield moved_to(f"a little of it {name}", item, np.ascontiguousarray(short))


PREDICATE = PredicateKind(
    name="spilled",
    roles=(Role("contents", "flowing"),),
    params={"share": Param(0.05, "1", "least share of it that is in no container", stricter_up=True)},
    bind=bind,
    check=check,
    near_misses=near_misses,
    words={
        "en": Words("spill {0}", "do not spill {0}", ("spill",), along="spilling {0}"),
        "zh": Words("洒出{0}", "不要洒出{0}", ("洒", "洒出", "弄洒")),
    },
)
