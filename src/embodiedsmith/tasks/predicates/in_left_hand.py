"""`in_left_hand(item)`: the left hand of a robot with two holds the item, and the other has let go of it."""

from __future__ import annotations

from embodiedsmith.tasks.hands import check, in_hand, misses
from embodiedsmith.tasks.kind import PredicateKind, Role, Words

PREDICATE = PredicateKind(
    name="in_left_hand",
    roles=(Role("item", "movable"),),
    bind=in_hand("left"),
    check=check,
    leads_to=frozenset({"in_right_hand", "lifted", "grasped", "on", "inside", "near", "at"}),
    near_misses=misses("left"),
    said_last=2,
    words={
        "en": Words(
            "take {0} in the left hand", "take {0} out of the left hand",
            ("take", "pass", "hand", "hold", "give", "get", "grab", "put", "place", "move", "lift", "pick up"),
            ("left hand", "left arm", "left gripper"),
        ),
        "zh": Words(
            "用左手拿住{0}", "把{0}从左手拿走",
            (
                "拿住", "扶住", "按住", "握住", "抓住", "递给", "递到", "交给", "传给", "拿", "递", "放", "装", "摆", "搁",
                "移到", "搬",
            ),
            ("左手",),
        ),
    },
)  # fmt: skip
