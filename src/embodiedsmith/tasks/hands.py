"""What the predicates share that say which hand of a robot with two holds a thing."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from embodiedsmith.tasks.boxes import Box
from embodiedsmith.tasks.kind import APART, HELD, TOUCH, Args, Assets, Bound, NearMiss, Params
from embodiedsmith.tasks.predicates.grasped import out_of_hand
from embodiedsmith.tasks.probe import Probe
from embodiedsmith.world import World

NO_HAND = -1.0
"""Margin [m] for a robot that has no such hand."""


def arm_of(world: World, side: str) -> int | None:
    """Which arm is called that; None: none is."""
    return next((k for k, arm in enumerate(world.robot.arms) if arm.name == side), None)


def in_hand(side: str) -> Callable[[Probe, Args, Params], Bound]:
    """How the predicate of that side is bound.

    Margin [m]: `TOUCH` while both fingers of that hand press on the item in their closing direction and no other hand does; at
    most `HELD` while another does, too; else minus the distance of the hand's tool centre point to the item's box.
    """

    def bind(probe: Probe, args: Args, params: Params) -> Bound:
        arm, item = arm_of(probe.world, side), args[0]
        if arm is None:
            return Bound(lambda: NO_HAND)
        mine = squeeze(probe, item, arm)
        others = [keys for k, keys in enumerate(probe.hands(item)) if k != arm]

        def margin() -> float:
            held = mine()
            return HELD if held > 0 and any(a in probe.pairs and b in probe.pairs for a, b in others) else held

        return Bound(margin)

    return bind


def squeeze(probe: Probe, item: str, arm: int) -> Callable[[], float]:
    """Margin [m] of one hand holding an item, whatever others do: `TOUCH` while both its fingers press on it in their closing
    direction, else minus the distance of its tool centre point to the item's box."""
    left, right = probe.hands(item)[arm]
    box, tcp = Box(probe, item), probe.tcp_position(arm)

    def margin() -> float:
        held = left in probe.pairs and right in probe.pairs and probe.squeezed(item, arm)
        return TOUCH if held else -max(box.distance(tcp), APART)

    return margin


def misses(side: str) -> Callable[[World, Args, Params], Iterator[NearMiss]]:
    """The near misses of the predicate of that side."""

    def near_misses(world: World, args: Args, params: Params) -> Iterator[NearMiss]:
        arm = arm_of(world, side)
        if arm is not None:
            yield from out_of_hand(world, args[0], arm)

    return near_misses


def check(assets: Assets, args: Args, params: Params) -> list[str]:
    """Something must be there to take hold of."""
    return [] if assets[args[0]].affordances.grasps else [f"'{args[0]}' has nothing to take hold of"]
