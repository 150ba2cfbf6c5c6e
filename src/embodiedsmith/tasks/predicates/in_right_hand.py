"""`in_right_hand(item)`: the right hand of a robot with two holds the item, and the other has let go of it."""

from __future__ import annotations

from embodiedsmith.tasks.hands import check, in_hand, misses
from embodiedsmith.tasks.kind import PredicateKind, Role, Words

PREDICATE = PredicateKind(
    name="in_right_hand",
    roles=(Role("item", "movable"),),
    bind=in_hand("right"),
    check=check,
    leads_to=frozenset({"in_left_hand", "lifted", "grasped", "on", "inside", "near", "at"}),
    near_misses=misses("right"),
    said_last=2,
    words={
        "en": Words(
            "take {0} in the right hand", "take {0} out of the right hand",
            ("take", "pass", "hand", "hold", "give", "get", "grab", "put", "place", "move", "lift", "pick up"),
            ("right hand", "right arm", "right gripper"),
        ),
        "zh": Words(
            "用右手拿住{0}", "把{0}从右手拿走",
            (
                "拿住", "扶住", "按住", "握住", "抓住", "递给", "递到", "交给", "传给", "拿", "递", "放", "装", "摆", "搁",
                "移到", "搬",
            ),
            ("右手",),
        ),
    },
)  # fmt: skip
