"""`covers(cloth, item)`: the cloth lies over the item, past its outline all round, and has been let go of."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from embodiedsmith.tasks.cloths import flat, laid, let_go, overlay
from embodiedsmith.tasks.kind import APART, Args, Assets, Bound, NearMiss, Param, Params, PredicateKind, Role, Words
from embodiedsmith.tasks.near_misses import SIDES, SLIP, UP, shifted, span
from embodiedsmith.tasks.probe import Probe
from embodiedsmith.world import World


def bind(probe: Probe, args: Args, params: Params) -> Bound:
    """Margin [m]: the least of

    - over all level directions, by how much the cloth reaches farther than `part` of the item does, from the item's middle,
    - by how much what of the cloth is over the item is higher than the item's middle: cloth under it covers nothing.

    While the two do not touch it is at most `-APART`; while the cloth is in a hand, at most `HELD`.
    """
    cloth, item = args
    covering = overlay(probe, cloth, item, params["part"])
    contact = probe.pair(cloth, item)

    def margin() -> float:
        now = covering()
        found = min(float(now.beyond.min()), now.above)
        return found if contact in probe.pairs else min(found, -APART)

    return let_go(probe, cloth, margin)


def check(assets: Assets, args: Args, params: Params) -> list[str]:
    """A cloth must be larger than what it is to cover."""
    cloth, item = (np.sort(assets[arg].size[:2])[::-1] for arg in args)
    if (params["part"] * item > cloth).any():
        return [f"'{args[0]}' is {100 * cloth[1]:.0f} cm wide and cannot cover '{args[1]}', {100 * item[1]:.0f} cm wide"]
    return []


def near_misses(world: World, args: Args, params: Params) -> Iterator[NearMiss]:
    """Beside it at every side, half over it, held over it, under it; and what was covered moved out from under it."""
    cloth, item = args
    spread = flat(world, cloth)
    spans = [span(world, item, axis) for axis in np.eye(3)]
    middle = np.array([sum(spans[0]) / 2, sum(spans[1]) / 2, 0.0])
    spread = spread + (middle - spread.mean(axis=0)) * (1.0, 1.0, 0.0)
    spread[:, 2] = spans[2][0] + 0.003
    for k, (side, (x, y)) in enumerate(SIDES):
        clear = float(np.ptp(spread[:, k // 2])) / 2 + (spans[k // 2][1] - spans[k // 2][0]) / 2
        yield laid(f"beside it, at {side}", cloth, spread + (clear + SLIP) * np.array([x, y, 0.0]))
        over = spread + clear / 2 * np.array([x, y, 0.0])
        over[:, 2] = spans[2][1] + 0.002
        yield laid(f"only half over it, at {side}", cloth, over)
        if world.items[item].qpos >= 0:
            yield shifted(world, f"over where it was, moved to {side}", item, 2 * clear * np.array([x, y, 0.0]))
    held = spread.copy()
    held[:, 2] = spans[2][1] + 0.05
    yield laid("spread out over it in the air", cloth, held)
    yield laid("under it", cloth, spread - 0.004 * UP)


PREDICATE = PredicateKind(
    name="covers",
    roles=(Role("cloth", "cloth"), Role("item", "thing")),
    params={
        "part": Param(0.8, "1", "how much of the item's outline, from its middle, the cloth must reach past", stricter_up=True)
    },
    bind=bind,
    check=check,
    lets_go=True,
    near_misses=near_misses,
    words={
        "en": Words("cover {1} with {0}", "uncover {1}, taking {0} off it", ("cover", "drape", "spread", "cover up")),
        "zh": Words("用{0}盖住{1}", "把{0}从{1}上拿开", ("盖住", "盖上", "盖好", "盖", "覆盖", "遮住")),
    },
)
