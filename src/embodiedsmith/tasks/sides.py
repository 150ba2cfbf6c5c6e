"""Which side of a thing another one is on, as the robot sees it: what `left_of` and its like, and `between`, share.

Sides are those of the frame of the robot's base as laid out, whatever way the robot turns later: left is its +y, behind its +x.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np

from embodiedsmith.spec import Pose
from embodiedsmith.tasks.kind import HELD, Args, Bound, NearMiss, Param, Params
from embodiedsmith.tasks.near_misses import SLIP, beyond, held, shifted, span
from embodiedsmith.tasks.probe import Float, Probe
from embodiedsmith.world import World

SIDES: dict[str, tuple[float, float]] = {
    "left_of": (0.0, 1.0), "right_of": (0.0, -1.0), "in_front_of": (-1.0, 0.0), "behind": (1.0, 0.0),
}  # fmt: skip
"""Predicate to direction (x, y) in the frame of the robot's base, from the other thing to the item."""
UP = np.array([0.0, 0.0, 1.0])
SIDE_PARAMS = {
    "distance": Param(0.25, "m", "largest gap between the two along the direction"),
    "across": Param(0.02, "m", "largest gap between the two across the direction; never more than the one along it"),
    "level": Param(0.03, "m", "largest difference in height of what the two stand on"),
}
"""Numbers that all four take."""


def toward(name: str, base: Pose) -> Float:
    """The direction (3,) of a side, level, in the world of a robot whose base was laid out at `base`."""
    x, y = SIDES[name]
    c, s = math.cos(base.yaw), math.sin(base.yaw)
    return np.array([c * x - s * y, s * x + c * y, 0.0])


class Outline:
    """How far an item's collision shapes reach, joints closed, where it is now."""

    def __init__(self, probe: Probe, item: str) -> None:
        shape = probe.shape(item)
        self._points, self._radii = shape.points, shape.radii[:, None]
        self._frame = probe.frame(item)

    def span(self, directions: Float) -> tuple[Float, Float]:
        """Least and greatest coordinates, each (k,) [m], along unit world directions (3, k)."""
        R, p = self._frame()
        along = self._points @ (R.T @ directions)
        offset = p @ directions
        low: Float = (along - self._radii).min(axis=0) + offset
        high: Float = (along + self._radii).max(axis=0) + offset
        return low, high


def let_go(probe: Probe, anyway: Callable[[], float], *items: str) -> Bound:
    """Binds a margin that is at most `HELD` while both fingers touch one of the items: what is in the hand has not been put."""
    hands = [keys for item in items if probe.world.items[item].qpos >= 0 for keys in probe.hands(item)]

    def margin() -> float:
        pairs = probe.pairs
        return min(anyway(), HELD) if any(left in pairs and right in pairs for left, right in hands) else anyway()

    return Bound(margin, anyway=anyway)


def side(name: str) -> Callable[[Probe, Args, Params], Bound]:
    """How the predicate `name` is bound.

    Margin [m]: the least of

    - the gap between the two along the direction, and what it is short of `distance`,
    - how much their gap across the direction is short of `across`, or of the gap along it if that is less,
    - how much the difference in height of their lowest points is short of `level`.

    While both fingers touch either it is at most `HELD`.
    """

    def bind(probe: Probe, args: Args, params: Params) -> Bound:
        base = probe.world.scenario.embodiment.base
        assert base is not None  # worlds are made of laid-out scenarios only
        ahead = toward(name, base)
        directions = np.stack([ahead, np.cross(UP, ahead), UP], axis=1)
        item, other = Outline(probe, args[0]), Outline(probe, args[1])
        distance, across, level = params["distance"], params["across"], params["level"]

        def margin() -> float:
            low, high = item.span(directions)
            other_low, other_high = other.span(directions)
            gap = float(low[0] - other_high[0])
            beside = float(max(low[1] - other_high[1], other_low[1] - high[1]))
            height = abs(float(low[2] - other_low[2]))
            return min(gap, distance - gap, min(across, gap) - beside, level - height)

        return let_go(probe, margin, *args)

    return bind


def near_misses(name: str) -> Callable[[World, Args, Params], Iterator[NearMiss]]:
    """The near misses of the predicate `name`: on each other side, too far off, off to either side, not clear of it, too high or
    low, on top, still in the hand."""

    def states(world: World, args: Args, params: Params) -> Iterator[NearMiss]:
        item, other = args
        base = world.scenario.embodiment.base
        assert base is not None
        ahead = toward(name, base)
        aside = np.cross(UP, ahead)
        centred = centre(world, item, other)
        gap = span(world, item, ahead)[0] - span(world, other, ahead)[1]
        for where, axis in (("opposite", -ahead), ("next", aside), ("other next", -aside)):
            across = centred - (centred @ axis) * axis
            yield shifted(world, f"on the {where} side", item, across + beyond(world, item, other, axis, gap))
        yield shifted(world, "too far off", item, beyond(world, item, other, ahead, params["distance"] + SLIP))
        for where, axis in (("one", aside), ("the other", -aside)):
            clear = min(params["across"], gap) + SLIP
            yield shifted(world, f"off to {where} side", item, beyond(world, item, other, axis, clear))
        yield shifted(world, "not quite clear of it", item, beyond(world, item, other, ahead, -SLIP))
        yield from level_misses(world, item, other, params["level"], centred)

    return states


def level_misses(world: World, item: str, other: str, level: float, centred: Float) -> Iterator[NearMiss]:
    """Near misses of what is to stand as high as another thing: above and below it by too much, on top of it, still in the hand.

    Args:
        world: Where the two stand as they should.
        item: What is to stand there.
        other: Beside what.
        level: Largest difference in height [m].
        centred: By what (3,) [m] the item must be shifted to be in the middle of the other, seen from above.
    """
    difference = span(world, item, UP)[0] - span(world, other, UP)[0]
    yield shifted(world, "too high", item, (level + SLIP - difference) * UP)
    yield shifted(world, "too low", item, -(level + SLIP + difference) * UP)
    yield shifted(world, f"on top of {other}", item, centred + beyond(world, item, other, UP, 0.0))
    yield from held(world, item)


def centre(world: World, item: str, other: str) -> Float:
    """By what (3,) [m] an item must be shifted to be in the middle of another, seen from above."""
    axes = np.eye(3)[:2]
    middles = [[sum(span(world, thing, axis)) / 2 for axis in axes] for thing in (item, other)]
    return np.array([middles[1][0] - middles[0][0], middles[1][1] - middles[0][1], 0.0])
