"""`in_both_hands(item)`: both hands of a robot with two hold the item, each by a grip of its own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from embodiedsmith.tasks.hands import NO_HAND, squeeze
from embodiedsmith.tasks.kind import Args, Assets, Bound, NearMiss, Params, PredicateKind, Role, Words
from embodiedsmith.tasks.predicates.grasped import out_of_hand
from embodiedsmith.tasks.probe import Probe
from embodiedsmith.world import World


def bind(probe: Probe, args: Args, params: Params) -> Bound:
    """Margin [m]: `TOUCH` while the fingers of both hands press on the item, else minus how far the hand that does not is off."""
    arms = range(len(probe.world.robot.arms))
    if len(arms) < 2:
        return Bound(lambda: NO_HAND)
    hands = [squeeze(probe, args[0], arm) for arm in arms]
    return Bound(lambda: min(hand() for hand in hands))


def check(assets: Assets, args: Args, params: Params) -> list[str]:
    """There must be a place for each hand."""
    return [] if assets[args[0]].affordances.pairs else [f"'{args[0]}' has no two places far apart to hold it by"]


def near_misses(world: World, args: Args, params: Params) -> Iterator[NearMiss]:
    """One hand has let go, or holds it only seemingly, while the other still has it."""
    for arm, described in enumerate(world.robot.arms):
        for miss in out_of_hand(world, args[0], arm):
            yield replace(miss, name=f"{described.name} hand: {miss.name}")


PREDICATE = PredicateKind(
    name="in_both_hands",
    roles=(Role("item", "movable"),),
    bind=bind,
    check=check,
    leads_to=frozenset(
        {"lifted", "grasped", "on", "inside", "near", "left_of", "right_of", "in_front_of", "behind", "between", "at"}
    ),
    near_misses=near_misses,
    said_last=2,
    words={
        "en": Words(
            "take {0} in both hands", "take a hand off {0}",
            (
                "take", "hold", "lift", "lift up", "raise", "grab", "grasp", "pick up", "put", "place", "move", "carry", "bring",
                "set", "hand",
            ),
            ("both hands", "two hands", "both arms"),
        ),
        "zh": Words(
            "用双手拿住{0}", "从{0}上松开一只手",
            (
                "拿住", "抓住", "握住", "拿起", "抬起", "举起", "提起", "捧", "放", "摆", "搁", "移到", "移动", "搬", "拿",
            ),
            ("双手", "两只手", "两手"),
        ),
    },
)  # fmt: skip
