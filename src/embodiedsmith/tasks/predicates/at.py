"""`at(item; x, y, z)`: the item's root is at a point of the world."""

from __future__ import annotations

import math

from embodiedsmith.tasks.kind import Args, Bound, Param, Params, PredicateKind, Role, Words
from embodiedsmith.tasks.probe import Probe


def bind(probe: Probe, args: Args, params: Params) -> Bound:
    """Margin [m]: `tolerance` minus the distance of the item's root from (x, y, z)."""
    frame, tolerance = probe.frame(args[0]), params["tolerance"]
    x, y, z = params["x"], params["y"], params["z"]

    def margin() -> float:
        a, b, c = frame()[1].tolist()
        return tolerance - math.sqrt((a - x) ** 2 + (b - y) ** 2 + (c - z) ** 2)

    return Bound(margin)


PREDICATE = PredicateKind(
    name="at",
    roles=(Role("item", "movable"),),
    params={
        "x": Param(None, "m", "where, along world x"),
        "y": Param(None, "m", "where, along world y"),
        "z": Param(None, "m", "where, along world z"),
        "tolerance": Param(0.02, "m", "largest distance"),
    },
    bind=bind,
    words={
        "en": Words(
            "move {0} to ({x:.2f}, {y:.2f}, {z:.2f}) m",
            "move {0} away from ({x:.2f}, {y:.2f}, {z:.2f}) m",
            ("move", "bring"),
            ("to",),
        ),
        "zh": Words(
            "把{0}移到({x:.2f}, {y:.2f}, {z:.2f})米处",
            "把{0}从({x:.2f}, {y:.2f}, {z:.2f})米处移开",
            ("移到", "移动", "搬"),
            ("到",),
        ),
    },
)
