"""`grasped(item)`: both fingers of a hand squeeze the item."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from embodiedsmith.tasks.boxes import Box
from embodiedsmith.tasks.kind import APART, TOUCH, Args, Assets, Bound, NearMiss, Params, PredicateKind, Role, Words
from embodiedsmith.tasks.near_misses import SLIP, holder, let_go, set_fingers, shift, span
from embodiedsmith.tasks.probe import Probe
from embodiedsmith.world import World


def bind(probe: Probe, args: Args, params: Params) -> Bound:
    """Margin [m]: `TOUCH` while both fingers press on it in their closing direction, else minus the TCP's distance to its box."""
    hands = list(enumerate(probe.hands(args[0])))
    box, tcps = Box(probe, args[0]), [probe.tcp_position(arm) for arm, _ in hands]

    def margin() -> float:
        pairs = probe.pairs
        if any(a in pairs and b in pairs and probe.squeezed(args[0], arm) for arm, (a, b) in hands):
            return TOUCH
        return -max(min(box.distance(tcp) for tcp in tcps), APART)

    return Bound(margin)


def check(assets: Assets, args: Args, params: Params) -> list[str]:
    """Something must be there to take hold of."""
    return [] if assets[args[0]].affordances.grasps else [f"'{args[0]}' has nothing to take hold of"]


_CLEAR = 0.04
"""[m] By which fingers reach beyond the tool centre point at most, and a little more: linkages push them out as they close."""
_NUDGE = 2e-3
"""[m] By which a thing leans into one finger."""


def near_misses(world: World, args: Args, params: Params) -> Iterator[NearMiss]:
    """Let go but still round it, one finger only, slipped out, beside the hand, and a hand closed on nothing."""
    yield from out_of_hand(world, args[0], holder(world, args[0]))


def out_of_hand(world: World, item: str, arm: int) -> Iterator[NearMiss]:
    """States in which one arm only seems to hold an item that it holds."""
    hand = world.tcp(arm)[:3, :3]
    across, closing, approach = (hand[:, k].copy() for k in range(3))
    loose = let_go(world, item, arm)
    away = span(world, item, approach)
    tip = float(world.tcp(arm)[:3, 3] @ approach)

    def at(name: str, opening: float, by: np.ndarray) -> NearMiss:
        def apply(world: World) -> None:
            set_fingers(world, opening, arm)
            shift(world, item, by)

        return NearMiss(name, apply)

    nothing = np.zeros(3)
    gap = _gap(world, loose, arm)
    leaning = [at("leaning on one finger", 0.0, closing * gap), at("leaning on the other finger", 0.0, -closing * gap)]
    leaning = [miss for miss in leaning if not _wedged(world, item, arm, miss)]
    yield NearMiss("opened a little, the fingers round it", partial(set_fingers, closing=loose, arm=arm))
    yield at("opened wide, the fingers round it", 0.0, nothing)
    yield from leaning
    out = tip - away[0] + _CLEAR
    yield at("slipped out, below the fingertips", loose, approach * out)
    yield at("slipped out, below fingers closed on nothing", 1.0, approach * out)
    for name, side in (("one", across), ("the other", -across)):
        low, high = span(world, item, side)
        yield at(f"beside the hand, on {name} side", loose, side * (high - low + SLIP))


def _gap(world: World, loose: float, arm: int) -> float:
    """By what [m] a thing in the middle of the open hand must be off to lean on one finger."""
    return loose * world.robot.arms[arm].gripper.max_width / 2 + _NUDGE


def _wedged(world: World, item: str, arm: int, miss: NearMiss) -> bool:
    """Whether both fingers touch the item in that state: a mug held by its rim, moved aside, may fill the open hand, which holds
    it then. The world stays as it is."""
    before = world.save()
    miss.apply(world)
    both = all(world.touching(finger, item) for finger in world.fingers(arm))
    world.restore(before)
    return both


PREDICATE = PredicateKind(
    name="grasped",
    roles=(Role("item", "movable"),),
    bind=bind,
    check=check,
    leads_to=frozenset(
        {"lifted", "on", "inside", "near", "left_of", "right_of", "in_front_of", "behind", "between", "at", "touching", "upright"}
    ),
    near_misses=near_misses,
    said_last=2,
    words={
        "en": Words("grasp {0}", "let go of {0}", ("grasp", "grab", "hold", "take hold of", "grip", "pick up")),
        "zh": Words("抓住{0}", "松开{0}", ("抓住", "握住", "抓", "握", "拿住")),
    },
)
