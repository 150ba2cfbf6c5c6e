"""`folded(cloth)`: the cloth lies folded in half, edge on edge, and has been let go of."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from embodiedsmith.tasks.cloths import area, corners, creased, flat, laid, let_go, outline, sides
from embodiedsmith.tasks.kind import Args, Assets, Bound, NearMiss, Param, Params, PredicateKind, Role, Words
from embodiedsmith.tasks.probe import Float, Probe
from embodiedsmith.world import World

STRETCHED = 0.75
"""Of a side's length: how far apart the two ends of the crease are at least, or it is crumpled rather than folded."""
LOW = 0.05
"""[m] Most that its highest point is above its lowest: two layers and a crease that has not been pressed."""


def bind(probe: Probe, args: Args, params: Params) -> Bound:
    """Margin [m]: the least of

    - by how much the outline seen from above is smaller than `ratio` of the flat cloth, as a length of its longer side,
    - of the better of the two ways to fold it edge on edge: by how much corners that are to meet are nearer than `corners`, and
      the ends of the crease farther apart than `STRETCHED`,
    - how much lower than `LOW` it lies.

    While it is in a hand, at most `HELD`.
    """
    item = args[0]
    asset = probe.world.assets[item]
    assert asset.matter is not None
    a, b, c, d = corners(asset.matter.grid)
    x, y = sides(asset)
    ratio, tolerance = params["ratio"], params["corners"]
    sheet, data = probe.world.sheets[item], probe.world.data

    def meet(points: Float, pairs: tuple[tuple[int, int], tuple[int, int]], crease: float) -> float:
        ends = [(points[one] + points[other]) / 2 for one, other in pairs]
        apart = max(float(np.linalg.norm(points[one] - points[other])) for one, other in pairs)
        return min(tolerance - apart, float(np.linalg.norm(ends[0] - ends[1])) - STRETCHED * crease)

    def margin() -> float:
        points = sheet.points(data)
        smaller = (ratio - area(outline(points)) / (x * y)) * max(x, y)
        met = max(meet(points, ((a, c), (b, d)), y), meet(points, ((a, b), (c, d)), x))
        return min(smaller, met, LOW - float(np.ptp(points[:, 2])))

    return let_go(probe, item, margin)


def check(assets: Assets, args: Args, params: Params) -> list[str]:
    """In half is half, and corners that meet must be nearer to each other than the sides are long."""
    shortest = min(sides(assets[args[0]]))
    faults = [] if 0.5 < params["ratio"] < 1 else [f"'folded' needs a ratio between 0.5 and 1, not {params['ratio']:g}"]
    if not 0 < params["corners"] < shortest / 2:
        faults.append(f"'folded' needs corners nearer than {shortest / 2:.2f} m, not {params['corners']:g}")
    return faults


def near_misses(world: World, args: Args, params: Params) -> Iterator[NearMiss]:
    """Spread out, folded by less than half, folded corner to corner, one corner short, crumpled, hanging from a corner."""
    item = args[0]
    spread = flat(world, item)
    matter = world.assets[item].matter
    assert matter is not None
    a, _, c, d = corners(matter.grid)
    along = spread[c] - spread[a]
    length = float(np.linalg.norm(along))
    axis, middle = along / length, spread.mean(axis=0)
    yield laid("spread out flat", item, spread)
    for name, part in (("only a quarter folded over", 0.25), ("not quite half folded over", 0.5 - params["corners"] / length)):
        yield laid(name, item, creased(spread, spread[c] - part * along, axis))
    diagonal = (spread[d] - spread[a]) / np.linalg.norm(spread[d] - spread[a])
    yield laid("folded corner to corner", item, creased(spread, middle, diagonal))
    half = creased(spread, middle, axis)
    turned = ((spread - middle) @ axis > 0)[:, None]
    near = np.clip(1 - np.linalg.norm(half - half[d], axis=1) / (0.5 * length), 0.0, 1.0)[:, None]
    yield laid("one corner short", item, half + 1.5 * params["corners"] * turned * near * axis)
    yield laid("crumpled into a heap", item, middle + 0.3 * (half - middle))
    yield laid("hanging from a corner", item, half + [0.0, 0.0, 0.1] * near)


PREDICATE = PredicateKind(
    name="folded",
    roles=(Role("cloth", "cloth"),),
    params={
        "ratio": Param(0.65, "1", "largest area seen from above, as a part of that of the flat cloth"),
        "corners": Param(0.05, "m", "farthest that corners which are to meet may be from each other"),
    },
    bind=bind,
    check=check,
    lets_go=True,
    near_misses=near_misses,
    words={
        "en": Words("fold {0} in half", "unfold {0}", ("fold", "fold up", "fold over")),
        "zh": Words("把{0}对折", "把{0}展开", ("对折", "折叠", "叠好", "折好", "叠起", "折起", "折")),
    },
)
