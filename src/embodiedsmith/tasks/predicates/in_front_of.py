"""`in_front_of(item, other)`: the item stands before the other thing, between it and the robot."""

from __future__ import annotations

from embodiedsmith.tasks.kind import PredicateKind, Role, Words
from embodiedsmith.tasks.sides import SIDE_PARAMS, near_misses, side

PREDICATE = PredicateKind(
    name="in_front_of",
    roles=(Role("item", "movable"), Role("other", "thing")),
    params=SIDE_PARAMS,
    bind=side("in_front_of"),
    lets_go=True,
    near_misses=near_misses("in_front_of"),
    words={
        "en": Words(
            "put {0} in front of {1}",
            "move {0} away from the front of {1}",
            ("put", "place", "set", "move", "bring", "carry", "lay"),
            ("in front of", "front", "before"),
        ),
        "zh": Words("把{0}放到{1}前面", "把{0}从{1}前面移开", ("放", "摆", "搁", "移到", "移动", "搬", "拿"), ("前",)),
    },
)
