"""Whether the hand gets where the task needs it, by distances from the robot's base: quick, and a little too careful."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from embodiedsmith import embodiments
from embodiedsmith.assets.asset import Asset
from embodiedsmith.forge.layout.needs import Part
from embodiedsmith.forge.layout.prisms import Float
from embodiedsmith.forge.layout.volumes import apply, volumes
from embodiedsmith.motion.kinematics import kinematics
from embodiedsmith.spec import Item, Pose
from embodiedsmith.world import transforms as tf

if TYPE_CHECKING:
    from embodiedsmith.forge.layout.attempt import Attempt

SHOULDER_AXIS = 0.33  # [m] height of the first joint that lifts the arm above its mount (Franka: 0.333 m)
KEEP_OUT = 0.08  # [m] before where the robot works, nothing stands
NEARER, FARTHER, DEEPER = 0.05, 0.10, 0.12  # [m] beyond where the robot takes things from above: handles, handles, into something
ENTRY = 0.2  # part of a cavity's depth before its middle where things are set down from its front
EDGE_REACH = 0.40  # [m] from a surface's near edge that a mobile robot in front of it reaches
FROM_FRONT = 0.35  # least cosine between a front's normal and the way to the base from which an arm gets into it (70 degrees)
WORK_PLAY = 0.08  # [m] that the hand goes beyond the middle of what it works on
CLIMB = 12  # steps that bring furniture within reach
ANYWHERE = -math.inf  # excess of what need not be in reach


def grasp_reach(attempt: Attempt) -> tuple[float, float]:
    """Distances [m] horizontally from the base, to grasp from above."""
    return attempt.robot.work


def handle_reach(attempt: Attempt) -> tuple[float, float]:
    """The same, to pull a handle."""
    return attempt.robot.work[0] - NEARER, attempt.robot.work[1] + FARTHER


def cavity_reach(attempt: Attempt) -> tuple[float, float]:
    """The same, to reach into something."""
    return attempt.robot.work[0], attempt.robot.work[1] + DEEPER


def excess(attempt: Attempt, item: Item, T: Float) -> float:
    """By how much [m] an item at world pose `T` is beyond the robot's reach in the ways that the task needs; negative: within."""
    if not attempt.anticipate:
        return ANYWHERE
    if item.fixed:
        return _furniture(attempt, item, T)
    return _thing(attempt, item, T)


def point_excess(attempt: Attempt, item: str, point: Float) -> float:
    """By how much [m] a point is beyond where the robot grasps, for a thing that the task concerns; negative: within."""
    if not attempt.anticipate or not attempt.robot.base.stands or not attempt.needs.concerns(item):
        return ANYWHERE
    return _outside(distance(attempt, point, item), grasp_reach(attempt), 0.04 * attempt.comfort)


def _thing(attempt: Attempt, item: Item, T: Float) -> float:
    """For a free item: whether it can be grasped where it is, which is only asked of what the task concerns."""
    if attempt.robot.base.stands:
        away = distance(attempt, T[:3, 3], item.id)
        if not attempt.needs.concerns(item.id):
            return attempt.robot.work[0] - KEEP_OUT - away
        comfort = 0.04 * attempt.comfort
        inside = item.relation == "inside" and item.parent is not None and attempt.items[item.parent].fixed
        return _outside(away, cavity_reach(attempt) if inside else grasp_reach(attempt), comfort)
    if not attempt.needs.concerns(item.id) or item.parent is None or item.relation == "inside":
        return ANYWHERE
    return from_front(attempt, item.parent, T[:3, 3]) - EDGE_REACH


def _furniture(attempt: Attempt, item: Item, T: Float) -> float:
    """For furniture: handles that are to be pulled, over their way, and cavities that are to be used."""
    ways = [part for part in attempt.needs.parts if part.item == item.id]
    required = [part_excess(attempt, item, part, T) for part in ways if part.required]
    choices = [part_excess(attempt, item, part, T) for part in ways if not part.required]
    if item.id in attempt.needs.worked and attempt.robot.base.stands:
        return _outside(distance(attempt, T[:3, 3]), grasp_reach(attempt), WORK_PLAY)
    if not ways and attempt.robot.base.stands:
        if any(i.parent == item.id and i.relation == "on" and attempt.needs.concerns(i.id) for i in attempt.items.values()):
            beyond = _outside(distance(attempt, T[:3, 3]), grasp_reach(attempt), 0.0)
            return min(beyond, _edge(attempt, item, T) - attempt.robot.work[0])
        if attempt.needs.concerns(item.id):
            return _outside(distance(attempt, T[:3, 3]), (handle_reach(attempt)[0], cavity_reach(attempt)[1]), 0.0)
    worst = max([*required, min(choices, default=ANYWHERE)])
    faced = attempt.robot.base.stands and any(part.joint or _entered(attempt, item, part) for part in ways)
    return max(worst, _behind(attempt, T)) if faced else worst


def climbed(
    attempt: Attempt, item: Item, T_world_frame: Float, start: Float, step: Float, make: Callable[[Float], Pose | None]
) -> Pose | None:
    """A pose near the one that `make` gives for numbers `start`, with the numbers changed until the item is within reach.

    A random walk of at most `CLIMB` steps up to `step` large that keeps what is nearer to being within reach; what never gets
    there ends at its nearest.
    """
    at, pose = start, make(start)
    if pose is None:
        return None
    beyond = excess(attempt, item, T_world_frame @ tf.matrix(pose))
    for _ in range(CLIMB):
        if beyond <= 0:
            break
        there = at + step * attempt.rng.uniform(-1.0, 1.0, len(step))
        changed = make(there)
        if changed is None:
            continue
        left = excess(attempt, item, T_world_frame @ tf.matrix(changed))
        if left < beyond:
            at, pose, beyond = there, changed, left
    return pose


def part_excess(attempt: Attempt, item: Item, part: Part, T: Float) -> float:
    """By how much [m] one part of furniture is beyond reach; negative: within."""
    points, grips = attempt.points[part]
    if not attempt.robot.base.stands:
        if item.parent is None or not grips:
            return ANYWHERE
        return max(from_front(attempt, item.parent, p) for p in apply(T, points[:grips])) - EDGE_REACH - 0.1
    if not len(points):
        return ANYWHERE
    points = apply(_from_base(attempt.base) @ T, points)
    robot = attempt.robot.name
    return min(_beyond(attempt, points - (*mount, 0.0), grips) for mount in mounts(robot))


def _beyond(attempt: Attempt, points: Float, grips: int) -> float:
    """By how much [m] points (n, 3) of a part, its handle's first, seen from where an arm is mounted, are beyond its reach."""
    away = np.hypot(points[:, 0], points[:, 1])
    found = float(np.hypot(away, points[:, 2] - attempt.robot.arm_height - SHOULDER_AXIS).max()) - attempt.robot.arm.reach
    if grips:
        low, high = handle_reach(attempt)[0] + 0.1 * attempt.comfort, handle_reach(attempt)[1] - 0.05 * attempt.comfort
        found = max(found, low - float(away[:grips].min()), float(away[:grips].max()) - high)
    if len(points) > grips:
        found = max(found, _outside(float(away[-1]), cavity_reach(attempt), 0.0))
    return found


@lru_cache(maxsize=64)
def _from_base(base: Pose) -> Float:
    """The transform from the world to the frame of the robot's base."""
    return tf.inverse(tf.matrix(base))


def points_of(asset: Asset, part: Part) -> tuple[Float, int]:
    """Points (n, 3) in furniture's root frame that a part is used at, and how many of them are its handle's.

    First its handle's over the way it is pulled, then the one in its cavity where things are set down; there is none of the
    latter in a drawer, which comes out to the hand.
    """
    grips = [s.grips for s in volumes(asset).sweeps if s.joint == part.joint]
    meant = [c for c in asset.affordances.cavities if c.name == part.cavity and c.body == "root"][:1]
    inner = [np.add(c.pose.position, (ENTRY * c.size[0] if c.opening[2] < 0.7 else 0.0, 0.0, 0.05)) for c in meant]
    return np.concatenate([np.zeros((0, 3)), *grips, np.array(inner).reshape(-1, 3)]), sum(map(len, grips))


def _entered(attempt: Attempt, item: Item, part: Part) -> bool:
    """Whether a part is used through the front."""
    return any(c.name == part.cavity and c.opening[2] < 0.7 for c in attempt.built[item.id].affordances.cavities)


def _behind(attempt: Attempt, T: Float) -> float:
    """How far [m] the base is from standing before furniture whose front is +x of `T`; negative: it does."""
    way = np.asarray(attempt.base.position[:2]) - T[:2, 3]
    return FROM_FRONT * math.hypot(*way) - float(way @ T[:2, 0])


def _outside(value: float, span: tuple[float, float], play: float) -> float:
    """By how much a value is outside a span made narrower by `play` at both ends; negative: inside."""
    return max(span[0] + play - value, value - span[1] + play)


def distance(attempt: Attempt, point: Float, item: str | None = None) -> float:
    """Horizontal distance [m] of a world point from the robot's base.

    Of several arms, from where the nearest is mounted, or the one that is to take `item`, which is there.
    """
    local = apply(_from_base(attempt.base), np.asarray(point, dtype=np.float64)[None, :3])[0]
    names = [arm.name for arm in attempt.robot.arms]
    hand = dict(attempt.needs.hands).get(item) if item is not None and len(names) > 1 else None
    from_there = mounts(attempt.robot.name)
    if hand in names:
        from_there = from_there[names.index(hand) :][:1]
    return min(math.dist(local[:2], mount) for mount in from_there)


@lru_cache(maxsize=16)
def mounts(robot: str) -> tuple[tuple[float, float], ...]:
    """Where arms are mounted, level in the frame of the robot's base [m]: a single arm counts as mounted in its middle."""
    arms = embodiments.get(robot).arms
    if len(arms) == 1:
        return ((0.0, 0.0),)
    points = [kinematics(robot, k).mount for k in range(len(arms))]
    return tuple((float(p[0]), float(p[1])) for p in points)


def _edge(attempt: Attempt, item: Item, T: Float) -> float:
    """Horizontal distance [m] of the nearest point of furniture from the robot's base."""
    low, high = (np.asarray(c)[:2] for c in attempt.built[item.id].extents)
    base = apply(tf.inverse(T), np.asarray(attempt.base.position)[None])[0, :2]
    return float(np.linalg.norm(np.maximum(np.maximum(low - base, base - high), 0.0)))


def from_front(attempt: Attempt, carrier: str, point: Float) -> float:
    """Distance [m] of a point behind the front face of the floor furniture that carries it."""
    while (parent := attempt.items[carrier].parent) is not None:
        carrier = parent
    local = apply(tf.inverse(attempt.roots[carrier]), np.asarray(point)[None])[0]
    return float(attempt.built[carrier].extents[1][0] - local[0])
