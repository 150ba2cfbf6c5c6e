"""`behind(item, other)`: the item stands behind the other thing, as the robot sees it."""

from __future__ import annotations

from embodiedsmith.tasks.kind import PredicateKind, Role, Words
from embodiedsmith.tasks.sides import SIDE_PARAMS, near_misses, side

PREDICATE = PredicateKind(
    name="behind",
    roles=(Role("item", "movable"), Role("other", "thing")),
    params=SIDE_PARAMS,
    bind=side("behind"),
    lets_go=True,
    near_misses=near_misses("behind"),
    words={
        "en": Words(
            "put {0} behind {1}",
            "move {0} away from behind {1}",
            ("put", "place", "set", "move", "bring", "carry", "lay"),
            ("behind", "back of", "beyond"),
        ),
        "zh": Words("把{0}放到{1}后面", "把{0}从{1}后面移开", ("放", "摆", "搁", "移到", "移动", "搬", "拿"), ("后",)),
    },
)
