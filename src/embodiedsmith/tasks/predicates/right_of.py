"""`right_of(item, other)`: the item stands to the right of the other thing, as the robot sees it."""

from __future__ import annotations

from embodiedsmith.tasks.kind import PredicateKind, Role, Words
from embodiedsmith.tasks.sides import SIDE_PARAMS, near_misses, side

PREDICATE = PredicateKind(
    name="right_of",
    roles=(Role("item", "movable"), Role("other", "thing")),
    params=SIDE_PARAMS,
    bind=side("right_of"),
    lets_go=True,
    near_misses=near_misses("right_of"),
    words={
        "en": Words(
            "put {0} to the right of {1}",
            "move {0} away from the right of {1}",
            ("put", "place", "set", "move", "bring", "carry", "lay"),
            ("right of", "right side", "right"),
        ),
        "zh": Words("把{0}放到{1}右边", "把{0}从{1}右边移开", ("放", "摆", "搁", "移到", "移动", "搬", "拿"), ("右",)),
    },
)
