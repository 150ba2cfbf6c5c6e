"""Where the robot stands: at the work surface of a new scene, or where it best reaches what stands already."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from embodiedsmith.forge.layout import furniture, reach, rooms
from embodiedsmith.forge.layout.failures import Failure, NoPlaceError
from embodiedsmith.forge.layout.gaps import ARM_PLAY
from embodiedsmith.forge.layout.needs import Part
from embodiedsmith.forge.layout.prisms import Float, Kind, Prism, prism
from embodiedsmith.forge.layout.volumes import apply, arm_at_home, corners
from embodiedsmith.spec import Pose
from embodiedsmith.world import transforms as tf

if TYPE_CHECKING:
    from embodiedsmith.forge.layout.attempt import Attempt

SHOULDER = 0.4  # [m] of the arm above its mount that never moves away
MOUNT_ABOVE = 0.2  # [m] above what furniture on the floor has to be reached: low enough for the mount
SHIFTS = 9  # places along a side of the work surface
TURNS = (0.0, 0.5, -0.5)  # [rad] by which a fixed robot may look past the normal of the side it stands at
ROOM = 2.5  # [m] round the middle of the scene in which a vehicle may start
STARTS = 200  # places drawn for a vehicle


def room(attempt: Attempt, base: Pose) -> list[Prism]:
    """What the robot takes at a base pose: its mount or vehicle up to the shoulder, and its arm as held at the start."""
    x, y = attempt.robot.base.footprint
    if not attempt.robot.base.stands and attempt.scenario.embodiment.base is None:
        x = y = 2 * attempt.robot.base.radius
    top = base.position[2] + attempt.robot.arm_height + SHOULDER
    T = tf.matrix(base)
    box = apply(T, corners(np.array([-x / 2, -y / 2, 0.0]), np.array([x / 2, y / 2, 0.0])))
    box[:, 2] = np.where(np.arange(8) % 2, top, 0.0)
    play = np.array([0.0, 0.0, ARM_PLAY])
    held = any(item.relation == "held" for item in attempt.items.values())
    homes = [np.concatenate([p - play, p + play]) for p in arm_at_home(attempt.robot.name, cradling=held)]
    links = [prism(Kind.ARM, "robot", apply(T, points), base.yaw) for points in homes]
    return [prism(Kind.MOUNT, "robot", box, base.yaw), *links]


def new_base(attempt: Attempt) -> Pose:
    """A base pose for a scene in which nothing stands but the work surface: at the world's origin, facing it."""
    if attempt.robot.base.stands:
        return Pose.planar(0.0, 0.0, mount_height(attempt, 1.0 - float(attempt.rng.uniform(0.0, 0.5)) * attempt.comfort))
    at = attempt.rng.uniform((-0.3, -0.3, -0.3), (0.0, 0.3, 0.3))
    return Pose.planar(float(at[0]), float(at[1]), 0.0, float(at[2]))


def mount_height(attempt: Attempt, part: float) -> float:
    """Height of a base that stays [m]: on the floor for one with feet, else that of the work surface.

    Lower by as much as the arms are above their mount, and by a part of what lower things to be reached ask for.
    """
    if attempt.robot.base.kind == "floating":
        return 0.0
    return max(0.0, furniture.surface_height(attempt) - attempt.robot.arm_height - part * _drop(attempt))


def _drop(attempt: Attempt) -> float:
    """How far below the work surface an arm may be mounted [m], to reach what furniture on the floor has lower down."""
    floor = [
        i.id for i in attempt.items.values() if i.fixed and i.parent is None and i.relation == "on" and i.id != attempt.surface
    ]
    required = [_lowest(attempt, p) for p in attempt.needs.parts if p.item in floor and p.required]
    choices = [_lowest(attempt, p) for p in attempt.needs.parts if p.item in floor and not p.required]
    needed = [*required, *([max(choices)] if choices else [])]
    if not needed:
        return 0.0
    beyond = [p[:, 2].min() for p in arm_at_home(attempt.robot.name) if p[:, 0].max() > attempt.robot.base.footprint[0] / 2]
    most = max(0.0, min(beyond, default=0.0) - 2 * ARM_PLAY)  # the arm is held over the surface at the start
    return float(np.clip(furniture.surface_height(attempt) - MOUNT_ABOVE - min(needed), 0.0, most))


def _lowest(attempt: Attempt, part: Part) -> float:
    """Height above the item's root of the lowest place that the hand goes to at a part [m]."""
    asset = attempt.built[part.item]
    grips = [s.grips[:, 2].min() for s in attempt.spaces[part.item].sweeps if s.joint == part.joint and len(s.grips)]
    floors = [c.pose.position[2] for c in asset.affordances.cavities if c.name == part.cavity and c.body == "root"]
    return float(min([*grips, *floors], default=0.0))


# ---------------------------------------------------------------------- a base for what stands already


def bases(attempt: Attempt, count: int) -> list[Pose]:
    """Base poses clear of all that is placed, at most `count`, best first: those that reach most of what the task needs.

    Of equally good ones the order is drawn, so that other generators give other robots.

    Raises:
        NoPlaceError: it stands nowhere.
    """
    failure = Failure("robot", "the robot", attempt.robot.base.footprint, clear=0.02)
    found: list[tuple[tuple[int, float], Pose]] = []
    for pose in _candidates(attempt):
        if rooms.outside(attempt, pose):
            failure.stuck_out += 1
            continue
        near, slack = attempt.nearest(room(attempt, pose), frozenset())
        if slack < 0:
            failure.taken(near, -slack)
            continue
        found.append((_score(attempt, pose), pose))
    if not found:
        raise NoPlaceError(failure)
    order = sorted(range(len(found)), key=lambda k: found[k][0], reverse=True)
    return [found[k][1] for k in order[:count]]


def _candidates(attempt: Attempt) -> Iterator[Pose]:
    if not attempt.robot.base.stands:
        yield from _starts(attempt)
        return
    rng = attempt.rng
    heights = [mount_height(attempt, part) for part in (1.0, 0.5)] if _drop(attempt) > 0 else [mount_height(attempt, 1.0)]
    for T, length in _edges(attempt):
        for along in np.linspace(-0.5, 0.5, SHIFTS) * max(0.0, length - 0.3):
            gap = float(rng.uniform(*furniture.NEAR_EDGE)) + attempt.robot.base.footprint[0] / 2
            shift = float(along + rng.uniform(-0.03, 0.03))
            for turn in TURNS if attempt.anticipate else TURNS[:1]:
                local = tf.matrix(Pose.planar(-gap, shift, 0.0, turn))
                for height in heights:
                    world = T @ local
                    world[2, 3] = height
                    yield tf.to_pose(world)


def _edges(attempt: Attempt) -> list[tuple[Float, float]]:
    """For every side of the work surface a frame in its middle, x pointing inwards, and its length [m]."""
    if attempt.surface is None:
        return [(tf.turn_z(angle) @ tf.translate((-0.6, 0.0, 0.0)), 0.8) for angle in np.arange(4) * math.pi / 2]
    T, (low, high) = attempt.roots[attempt.surface], attempt.built[attempt.surface].extents
    middle, half = np.add(low, high) / 2, np.subtract(high, low) / 2
    edges = []
    for turn in furniture.sides(attempt):  # of the surface as seen from the robot
        facing = -turn  # of the robot as seen from the surface
        deep, wide = (half[0], half[1]) if abs(round(math.cos(turn))) else (half[1], half[0])
        local = tf.translate((middle[0], middle[1], 0.0)) @ tf.turn_z(facing) @ tf.translate((-deep, 0.0, 0.0))
        edges.append((T @ local, 2 * float(wide)))
    return edges


def _starts(attempt: Attempt) -> Iterator[Pose]:
    """Places for a vehicle: before the work surface at first, then anywhere round it."""
    rng = attempt.rng
    T = np.eye(4)
    if attempt.surface is not None:
        T = attempt.roots[attempt.surface]
        front = attempt.built[attempt.surface].extents[1][0] + furniture.VEHICLE_BEFORE
        for _ in range(STARTS // 2):
            x, y, yaw = rng.uniform((0.0, -0.3, -0.3), (0.5, 0.3, 0.3))
            yield _on_floor(T @ tf.matrix(Pose.planar(front + float(x), float(y), 0.0, math.pi + float(yaw))))
    for _ in range(STARTS):
        x, y, yaw = rng.uniform((-ROOM, -ROOM, -math.pi), (ROOM, ROOM, math.pi))
        yield _on_floor(T @ tf.matrix(Pose.planar(float(x), float(y), 0.0, float(yaw))))


def _on_floor(T: Float) -> Pose:
    T[2, 3] = 0.0
    return tf.to_pose(T)


def _score(attempt: Attempt, pose: Pose) -> tuple[int, float]:
    """How many of the things placed that the task needs are within reach of a base, and then how well: larger is better."""
    if not attempt.robot.base.stands or not attempt.anticipate:
        return 0, float(attempt.rng.random())
    there = attempt.seen_from(pose)
    excesses = [
        reach.excess(there, item, attempt.roots[item.id])
        for item in attempt.items.values()
        if item.id in attempt.roots and attempt.needs.concerns(item.id)
    ]
    missing = [max(0.0, e) for e in excesses]
    return -sum(e > 0 for e in excesses), -sum(missing) + 0.02 * float(attempt.rng.random())
