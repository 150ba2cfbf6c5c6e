"""Where a thing must stand for a relation to hold: left of another as the robot sees it, behind it, near it, between two.

Gaps are measured along level directions, from above.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from embodiedsmith.forge.layout.furniture import Draw
from embodiedsmith.forge.layout.prisms import Float, Kind, Prism, grown, pairwise
from embodiedsmith.forge.layout.region import Region
from embodiedsmith.forge.layout.volumes import outline
from embodiedsmith.spec import Item, Pose, Predicate
from embodiedsmith.tasks import predicate as kind_of
from embodiedsmith.tasks.sides import SIDES, toward
from embodiedsmith.world import transforms as tf

if TYPE_CHECKING:
    from embodiedsmith.forge.layout.attempt import Attempt

PLACING = frozenset({*SIDES, "near", "between"})
"""Relations that say where a thing stands by other things."""
WIDTH = 0.10  # [m] range of the gaps drawn
SLIDE = 0.3  # part of the two half widths by which a thing beside another is shifted along it
LEAST = 0.005  # [m] by which a relation holds at least before anything varies


# ---------------------------------------------------------------------- whether a relation holds, whatever the reset draws


def broken(attempt: Attempt, moved: Mapping[str, Float]) -> tuple[str, tuple[str, ...]] | None:
    """A relation of the start that would not hold with things at new world poses: in words, and the others it speaks of."""
    for relation in attempt.scenario.task.initial:
        concerned = any(a in moved for a in relation.args)
        if relation.name not in PLACING or not concerned or any(a not in moved and a not in attempt.roots for a in relation.args):
            continue
        if slack(attempt, relation, {a: moved[a] if a in moved else attempt.roots[a] for a in relation.args}) < 0:
            return said(relation), tuple(a for a in relation.args if a not in moved)
    return None


def said(relation: Predicate) -> str:
    """A relation in words: "left of plate"."""
    return f"{relation.name.replace('_', ' ')} {' and '.join(relation.args[1:])}"


def slack(attempt: Attempt, relation: Predicate, roots: Mapping[str, Float]) -> float:
    """How far [m] a relation of the start is from being broken by the reset's variation; negative: it can be."""
    numbers = kind_of(relation.name).resolve(relation.params)
    play = attempt.jitter * sum(not attempt.items[a].fixed for a in relation.args[:2])
    if relation.name == "near":
        boxes = [_box(attempt, a, roots[a]) for a in relation.args]
        return _near(attempt, boxes, numbers["distance"], play)
    prints = [Footprint.of(attempt, a, roots[a]) for a in relation.args]
    if relation.name == "between":
        return _between(prints, numbers["across"], play)
    item, other = prints
    ahead = toward(relation.name, attempt.base)[:2]
    across = np.array([-ahead[1], ahead[0]])
    least = item.gap(other, ahead, least=True)
    most = item.gap(other, ahead, least=False)
    beside = max(item.gap(other, across, least=False), item.gap(other, -across, least=False))
    return min(least - play, numbers["distance"] - most - play, min(numbers["across"], least) - beside - play)


def _near(attempt: Attempt, boxes: list[Prism], distance: float, play: float) -> float:
    """What is asked to be nearer than the variation allows for sure is put as near as it may be."""
    gap = float(pairwise(boxes[:1], boxes[1:])[0, 0])
    spread = gap - float(pairwise([_turned(attempt, b) for b in boxes[:1]], [_turned(attempt, b) for b in boxes[1:]])[0, 0])
    closest = float(attempt.gaps[boxes[0].kind, boxes[1].kind]) + spread
    sure = min(play, max(0.0, distance - closest - 2 * LEAST))
    return distance - gap - max(sure, LEAST)


def _between(prints: list[Footprint], across: float, play: float) -> float:
    item, first, second = prints
    way = second.middle - first.middle
    length = float(np.linalg.norm(way))
    along = way / length if length > 1e-6 else np.array([1.0, 0.0])
    off = abs(float(along[0] * (item.middle - first.middle)[1] - along[1] * (item.middle - first.middle)[0]))
    gaps = item.gap(first, along, least=True), second.gap(item, along, least=True)
    return min(*(gap - play for gap in gaps), across - off - play)


def _box(attempt: Attempt, item: str, T: Float) -> Prism:
    fixed = attempt.items[item].fixed
    return attempt.spaces[item].solid(Kind.FIXED if fixed else Kind.FREE, item, T)


def _turned(attempt: Attempt, box: Prism) -> Prism:
    """A box, that of a free thing grown to hold it at every turn of the reset."""
    return replace(box, half=grown(box.half, attempt.turn)) if box.kind == Kind.FREE else box


@dataclass(frozen=True)
class Footprint:
    """An item from above as it may stand after a reset, but for its shift."""

    turns: Float
    """Points in the world at several turns within the reset's, as laid out the middle one, shape (k, n, 2)."""
    radii: Float
    """Of the discs round them, shape (n,)."""

    @classmethod
    def of(cls, attempt: Attempt, item: str, T: Float) -> Footprint:
        """The footprint of an item at world pose `T`."""
        points, radii = outline(attempt.built[item])
        turn = 0.0 if attempt.items[item].fixed else attempt.turn
        yaw = math.atan2(T[1, 0], T[0, 0]) + turn * np.linspace(-1.0, 1.0, 5)
        c, s = np.cos(yaw), np.sin(yaw)
        R = np.stack([np.stack([c, -s], -1), np.stack([s, c], -1)], 1)  # (k, 2, 2)
        return cls(np.einsum("kij,nj->kni", R, points) + T[:2, 3], radii)

    @property
    def middle(self) -> Float:
        """The middle of the box along the world's axes round it as laid out, shape (2,)."""
        there = self.turns[len(self.turns) // 2]
        low, high = (there - self.radii[:, None]).min(axis=0), (there + self.radii[:, None]).max(axis=0)
        middle: Float = (low + high) / 2
        return middle

    def gap(self, other: Footprint, direction: Float, *, least: bool) -> float:
        """Least or greatest gap [m] from another footprint on to this one along a direction (2,), over the turns of both."""
        low = (self.turns @ direction - self.radii).min(axis=1)
        high = (other.turns @ direction + other.radii).max(axis=1)
        return float(low.min() - high.max() if least else low.max() - high.min())


def reach_along(box: Prism, direction: Float) -> float:
    """How far [m] a box reaches from its middle along a level unit direction (2,)."""
    c, s = math.cos(box.yaw), math.sin(box.yaw)
    along, across = abs(c * direction[0] + s * direction[1]), abs(-s * direction[0] + c * direction[1])
    return float(box.half[0] * along + box.half[1] * across)


# ---------------------------------------------------------------------- places where one holds


def waits(attempt: Attempt, item: Item) -> bool:
    """Whether a relation of the start places the item by things that have no place yet."""
    return any(
        relation.args[0] == item.id and any(a in attempt.items and a not in attempt.roots for a in relation.args[1:])
        for relation in attempt.scenario.task.initial
        if relation.name in PLACING
    )


def guided(attempt: Attempt, item: Item, region: Region) -> tuple[Predicate, Draw] | None:
    """The first relation of the start that speaks of the item, and poses in a region where it holds; None: none does."""
    for relation in attempt.scenario.task.initial:
        if relation.name not in PLACING or item.id not in relation.args:
            continue
        if all(a == item.id or a in attempt.roots for a in relation.args):
            others = {a: attempt.roots[a] for a in relation.args if a != item.id}
            return relation, within(attempt, region, lambda: place(attempt, relation, item.id, others))  # noqa: B023
    return None


def within(attempt: Attempt, region: Region, draw: Draw) -> Draw:
    """World poses drawn, as poses in a region's frame; None where they stick out of it."""
    T_region_world = tf.inverse(region.T_world)

    def drawn() -> Pose | None:
        pose = draw()
        if pose is None:
            return None
        x, y, _ = pose.position
        local = tf.to_pose(T_region_world @ tf.matrix(Pose.planar(x, y, float(region.T_world[2, 3]), pose.yaw)))
        return local if region.holds(attempt, local) else None

    return drawn


def place(attempt: Attempt, relation: Predicate, item: str, others: Mapping[str, Float]) -> Pose | None:
    """A world pose of one of the things a relation speaks of, drawn so that it holds, given the poses of the others."""
    numbers = kind_of(relation.name).resolve(relation.params)
    if relation.name == "between":
        return _in_line(attempt, relation, item, others)
    first = relation.args[0] == item
    other = relation.args[1] if first else relation.args[0]
    anchor = _box(attempt, other, others[other])
    if relation.name == "near":
        angle = anchor.yaw + float(attempt.rng.integers(4)) * math.pi / 2
        return _beside(attempt, item, anchor, np.array([math.cos(angle), math.sin(angle)]), numbers["distance"], anchor.yaw)
    ahead = toward(relation.name, attempt.base)[:2] * (1 if first else -1)
    square = attempt.base.yaw if (item, other) in attempt.needs.cleared else None  # so that it takes the least room
    return _beside(attempt, item, anchor, ahead, numbers["distance"], square)


def _beside(attempt: Attempt, item: str, anchor: Prism, direction: Float, distance: float, square: float | None = None) -> Pose:
    """Beside a box in a direction, at a gap between the least and `distance`; `square`: with its sides along that yaw [rad]."""
    rng = attempt.rng
    yaw = _yaw(attempt, item, square)
    box = _box(attempt, item, tf.matrix(Pose.planar(0.0, 0.0, 0.0, yaw)))
    least = _least_gap(attempt, box, anchor, direction)
    most = max(least, distance - LEAST - attempt.jitter * 2)
    gap = float(rng.uniform(least, min(least + WIDTH, most)))
    across = np.array([-direction[1], direction[0]])
    slide = SLIDE * (reach_along(box, across) + reach_along(anchor, across)) * float(rng.uniform(-1.0, 1.0))
    away = reach_along(anchor, direction) + gap + reach_along(box, direction)
    middle = np.asarray(anchor.center) + away * direction + slide * across
    x, y = middle - box.center
    return Pose.planar(float(x), float(y), anchor.low, yaw)


def _yaw(attempt: Attempt, item: str, square: float | None) -> float:
    if square is not None:
        return square + float(attempt.rng.integers(4)) * math.pi / 2
    heading = attempt.heading(attempt.items[item])
    if heading is None:
        return float(attempt.rng.uniform(-math.pi, math.pi))
    return attempt.base.yaw + heading + float(attempt.rng.uniform(-0.5, 0.5))


def _least_gap(attempt: Attempt, box: Prism, anchor: Prism, direction: Float) -> float:
    """The least gap [m] between two boxes that keeps them apart however they vary, each turned as much as it may be."""
    gap = max(0.0, float(attempt.gaps[box.kind, anchor.kind]))
    for b in (box, anchor):
        if b.kind == Kind.FREE:
            gap += reach_along(_turned(attempt, b), direction) - reach_along(b, direction)
    return gap + 0.002


def _in_line(attempt: Attempt, relation: Predicate, item: str, others: Mapping[str, Float]) -> Pose | None:
    """For `between`: the middle of the two, or the other end of a line that begins at one of them and leaves room in it."""
    rng = attempt.rng
    yaw = _yaw(attempt, item, None)
    box = _box(attempt, item, tf.matrix(Pose.planar(0.0, 0.0, 0.0, yaw)))
    if item == relation.args[0]:
        ends = [_box(attempt, a, others[a]) for a in relation.args[1:]]
        start, end = (np.asarray(e.center) for e in ends)
        middle = start + (end - start) * float(rng.uniform(0.4, 0.6))
    else:
        begins = next(a for a in relation.args[1:] if a != item)
        start = np.asarray(_box(attempt, begins, others[begins]).center)
        if relation.args[0] in others:
            way = np.asarray(_box(attempt, relation.args[0], others[relation.args[0]]).center) - start
            middle = start + way * float(rng.uniform(1.7, 2.5))
        else:
            angle = float(rng.uniform(-math.pi, math.pi))
            away = opening(attempt, relation) * float(rng.uniform(1.0, 1.4))
            middle = start + away * np.array([math.cos(angle), math.sin(angle)])
    x, y = middle - box.center
    return Pose.planar(float(x), float(y), 0.0, yaw)


def opening(attempt: Attempt, relation: Predicate) -> float:
    """Distance [m] between the middles of two things that leaves room for a third between them."""
    item, *ends = (attempt.built[a].size[:2] for a in relation.args)
    gap = float(attempt.gaps[Kind.FREE, Kind.FREE])
    return float(np.hypot(*item)) + sum(float(np.hypot(*e)) / 2 for e in ends) + 2 * gap
