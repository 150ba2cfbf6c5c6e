"""`upright(item)`: the item's own z axis points up."""

from __future__ import annotations

import math

from embodiedsmith.tasks.kind import Args, Bound, Param, Params, PredicateKind, Role, Words
from embodiedsmith.tasks.probe import Probe


def bind(probe: Probe, args: Args, params: Params) -> Bound:
    """Margin [rad]: `angle` minus the angle between the item's z axis and the vertical."""
    frame, angle = probe.frame(args[0]), params["angle"]
    return Bound(lambda: angle - math.acos(min(1.0, max(-1.0, float(frame()[0][2, 2])))))


PREDICATE = PredicateKind(
    name="upright",
    roles=(Role("item", "movable"),),
    params={"angle": Param(math.radians(10.0), "rad", "largest tilt")},
    bind=bind,
    words={
        "en": Words("stand {0} upright", "tip {0} over", ("stand", "stand up", "upright", "straighten")),
        "zh": Words("把{0}竖直放好", "把{0}放倒", ("竖", "立起", "立直", "扶正", "放"), ("竖", "立", "正")),
    },
)
