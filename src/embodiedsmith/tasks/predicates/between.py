"""`between(item, first, second)`: the item stands in the gap between two things."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from embodiedsmith.tasks.kind import Args, Bound, NearMiss, Param, Params, PredicateKind, Role, Words
from embodiedsmith.tasks.near_misses import SLIP, beyond, shifted
from embodiedsmith.tasks.probe import Probe
from embodiedsmith.tasks.sides import UP, Outline, centre, let_go, level_misses
from embodiedsmith.world import World

X, Y = np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0])
SAME = 1e-6
"""[m] Two things whose middles are nearer than this, seen from above, have no direction from one to the other."""


def bind(probe: Probe, args: Args, params: Params) -> Bound:
    """Margin [m], along and across the line through the middles of the two others, seen from above: the least of

    - the gap between the item and either of them along the line,
    - how much the distance of the item's middle from the line is short of `across`,
    - how much the difference in height of its lowest point from either of theirs is short of `level`.

    While both fingers touch one of the three it is at most `HELD`.
    """
    item, first, second = (Outline(probe, arg) for arg in args)
    across, level = params["across"], params["level"]
    plan = np.stack([X, Y, UP], axis=1)

    def margin() -> float:
        boxes = [thing.span(plan) for thing in (item, first, second)]
        middle, start, end = ((low + high)[:2] / 2 for low, high in boxes)
        line = np.append(end - start, 0.0)
        length = float(np.hypot(line[0], line[1]))
        along = line / length if length > SAME else X
        sideways = abs(float(np.cross(UP, along)[:2] @ (middle - start)))
        spans = [thing.span(along[:, None]) for thing in (item, first, second)]
        (low, high), (_, before), (after, _) = ((float(a[0]), float(b[0])) for a, b in spans)
        height = max(abs(float(boxes[0][0][2] - other[2])) for other, _ in boxes[1:])
        return min(low - before, after - high, across - sideways, level - height)

    return let_go(probe, margin, *args)


def near_misses(world: World, args: Args, params: Params) -> Iterator[NearMiss]:
    """Before the first, beyond the second, off to either side, too high or low, on top of one, still in the hand."""
    item, first, second = args
    start, end = centre(world, item, first), centre(world, item, second)
    along = (end - start) / float(np.linalg.norm(end - start))
    aside = np.cross(UP, along)
    onto = float(start @ aside)  # from the item's middle to the line
    yield shifted(world, f"before {first}", item, beyond(world, item, first, -along, SLIP))
    yield shifted(world, f"beyond {second}", item, beyond(world, item, second, along, SLIP))
    yield shifted(world, f"not quite clear of {first}", item, beyond(world, item, first, along, -SLIP))
    for where, way in (("one", 1.0), ("the other", -1.0)):
        yield shifted(world, f"off to {where} side", item, (onto + way * (params["across"] + SLIP)) * aside)
    yield from level_misses(world, item, first, params["level"], start)


PREDICATE = PredicateKind(
    name="between",
    roles=(Role("item", "movable"), Role("first", "thing"), Role("second", "thing")),
    params={
        "across": Param(0.05, "m", "largest distance of the item's middle from the line through the middles of the two"),
        "level": Param(0.03, "m", "largest difference in height of what the three stand on"),
    },
    bind=bind,
    lets_go=True,
    near_misses=near_misses,
    words={
        "en": Words(
            "put {0} between {1} and {2}",
            "take {0} out from between {1} and {2}",
            ("put", "place", "set", "move", "bring", "carry", "lay"),
            ("between", "in the middle of"),
        ),
        "zh": Words(
            "把{0}放到{1}和{2}之间",
            "把{0}从{1}和{2}之间拿走",
            ("放", "摆", "搁", "移到", "移动", "搬", "拿"),
            ("之间", "中间"),
        ),
    },
)
