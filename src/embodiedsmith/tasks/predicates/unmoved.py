"""`unmoved(item)`: the item has stayed where it was when the episode began, all the time."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np

from embodiedsmith.tasks.kind import Args, Assets, Bound, NearMiss, Param, Params, PredicateKind, Role, Words
from embodiedsmith.tasks.near_misses import SIDES, SLIP, UP, shifted, turned
from embodiedsmith.tasks.probe import Probe
from embodiedsmith.world import World


def bind(probe: Probe, args: Args, params: Params) -> Bound:
    """Margin [m]: the least slack so far of the distance of its centre of mass from the start, and of its turn since then.

    A turn counts as the way of a point at the item's radius. Moving it and putting it back does not help. Before any start:
    since it was laid out.
    """
    item = args[0]
    frame, center = probe.frame(item), probe.center(item)
    distance, angle = params["distance"], params["angle"]
    shape = probe.shape(item)
    radius = float((np.linalg.norm(shape.points, axis=1) + shape.radii).max())
    nominal = probe.world.compiled.nominal[item]
    body = probe.world.items[item].body
    R_start = nominal[:3, :3].copy()
    start = R_start @ probe.world.model.body_ipos[body] + nominal[:3, 3]
    least = math.inf

    def slack() -> float:
        away = center - start
        cosine = (float(np.vdot(R_start, frame()[0])) - 1.0) / 2
        turn = math.acos(min(1.0, max(-1.0, cosine)))
        return min(distance - math.sqrt(float(away @ away)), radius * (angle - turn))

    def margin() -> float:
        nonlocal least
        least = min(least, slack())
        return least

    def reset() -> None:
        nonlocal R_start, start, least
        R_start, start, least = frame()[0].copy(), center.copy(), math.inf

    def mark() -> Callable[[], None]:
        before = least

        def forget() -> None:
            nonlocal least
            least = before

        return forget

    return Bound(margin, reset, mark)


def check(assets: Assets, args: Args, params: Params) -> list[str]:
    """Nothing in a world of contacts stays exactly where it was."""
    wrong = [name for name in ("distance", "angle") if params[name] <= 0]
    return [f"'unmoved' needs a {name} above 0, not {params[name]:g}" for name in wrong]


def near_misses(world: World, args: Args, params: Params) -> Iterator[NearMiss]:
    """Off in each direction, lifted, turned and tipped: by twice what is allowed, since it may have moved some of it already."""
    (item,) = args
    off, angle = 2 * params["distance"] + SLIP, 2 * params["angle"] + 0.05
    for name, (x, y) in SIDES:
        yield shifted(world, f"moved along {name}", item, np.array([off * x, off * y, 0.0]))
    yield shifted(world, "lifted a little", item, off * UP)
    if angle < math.pi:
        yield turned(world, "turned where it stands", item, UP, angle)
        yield turned(world, "tipped", item, np.array([1.0, 0.0, 0.0]), angle)


PREDICATE = PredicateKind(
    name="unmoved",
    roles=(Role("item", "movable"),),
    params={
        "distance": Param(0.02, "m", "farthest its centre of mass may be from where it was"),
        "angle": Param(0.35, "rad", "most it may be turned from how it stood"),
    },
    bind=bind,
    check=check,
    near_misses=near_misses,
    words={
        "en": Words(
            "leave {0} where it is",
            "move {0} somewhere else",
            (
                "where it is", "where they are", "without moving", "without touching", "do not move", "don't move", "not move",
                "do not touch", "don't touch", "not touch", "untouched", "stay put",
            ),
            along="without moving {0}",
        ),
        "zh": Words(
            "不要移动{0}",
            "把{0}移到别处",
            ("不要移动", "不移动", "别移动", "不要动", "别动", "不要碰", "不碰", "别碰", "保持不动", "原处不动"),
            along="不要移动{0}",
        ),
    },
)  # fmt: skip
