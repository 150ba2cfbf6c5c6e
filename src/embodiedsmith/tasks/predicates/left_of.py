"""`left_of(item, other)`: the item stands to the left of the other thing, as the robot sees it."""

from __future__ import annotations

from embodiedsmith.tasks.kind import PredicateKind, Role, Words
from embodiedsmith.tasks.sides import SIDE_PARAMS, near_misses, side

PREDICATE = PredicateKind(
    name="left_of",
    roles=(Role("item", "movable"), Role("other", "thing")),
    params=SIDE_PARAMS,
    bind=side("left_of"),
    lets_go=True,
    near_misses=near_misses("left_of"),
    words={
        "en": Words(
            "put {0} to the left of {1}",
            "move {0} away from the left of {1}",
            ("put", "place", "set", "move", "bring", "carry", "lay"),
            ("left of", "left side", "left"),
        ),
        "zh": Words("把{0}放到{1}左边", "把{0}从{1}左边移开", ("放", "摆", "搁", "移到", "移动", "搬", "拿"), ("左",)),
    },
)
