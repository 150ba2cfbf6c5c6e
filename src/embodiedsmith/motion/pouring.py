"""Where and how to tip a vessel so that what it holds runs over its rim into another.

The vessel turns about a level axis through the point of its rim that the liquid leaves by. That point stays over the other vessel's
opening, a little behind its middle because a jet flies forwards, and as low as the tipped vessel's body allows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from embodiedsmith.assets.asset import Rim
from embodiedsmith.motion.controller import Controller
from embodiedsmith.motion.errors import MotionError
from embodiedsmith.spec import split_reference
from embodiedsmith.world import transforms as tf
from embodiedsmith.world.liquid.liquids import Liquids

ROOM = 0.015  # [m] kept between the vessels
STEP = np.deg2rad(3.0)  # between the poses of a tipping path
FURTHEST = np.deg2rad(123.0)
LEAST = np.deg2rad(105.0)  # to which it must be possible to tip, or what is at the bottom stays there
BACK = 0.40  # of the opening's radius, by which the jet begins behind its middle
HEADINGS = tuple(np.deg2rad([0.0, 30.0, -30.0, 60.0, -60.0, 90.0, -90.0, 120.0, -120.0]))
"""Turns of the vessel about the vertical that are tried, from how it is held, in order."""
AROUND = 12  # directions to pour to that are tried
JUMP = 0.4  # [rad] most between neighbouring joints of a path
TRAVEL = (0.0, 0.08, 0.16)  # [m] higher than the vessel begins to tip, on the way there


@dataclass(frozen=True)
class PourPlan:
    """A way to pour."""

    carry: tf.Float | None
    """Joint path (k, n) on which the vessel gets over the other, level; None: a sampled one to the first of `tip`."""
    angles: tf.Float
    """How far it is tipped at each row of `tip` [rad], shape (m,)."""
    tip: tf.Float
    """Joints at each angle, shape (m, n)."""

    def at(self, angle: float) -> tf.Float:
        """Joints at an angle [rad]."""
        return np.array([np.interp(angle, self.angles, column) for column in self.tip.T])


@dataclass(frozen=True)
class Opening:
    """The mouth of the vessel that is poured into."""

    center: tf.Float
    """World position of its middle [m]."""
    radius: float
    outer: float
    """Of all that is around it, seen from above [m]."""


def opening(control: Controller, target: str) -> Opening:
    """Where to pour into."""
    cavity, T = control.world.cavity(target)
    item, _ = split_reference(target)
    rim = _rim(control, item)
    radius = min(cavity.size[:2]) / 2 if rim is None else rim.radius
    corners = control.world.corners(item)
    center = T[:3, 3] + T[:3, 2] * cavity.size[2]
    outer = float(np.linalg.norm(corners[:, :2] - center[:2], axis=1).max()) / np.sqrt(2)
    return Opening(center, radius, max(outer, radius))


def _rim(control: Controller, item: str) -> Rim | None:
    return next(iter(control.world.assets[item].affordances.rims), None)


def plan_pour(control: Controller, vessel: str, target: str) -> PourPlan:
    """The first way found to pour from what is in the hand into a cavity named `item.cavity`. The checker must look at the world.

    Raises:
        MotionError: `pour.no_rim`, `pour.unreachable`, `pour.blocked`.
    """
    world, held = control.world, control.held
    assert held is not None and world.liquids is not None
    rim = _rim(control, vessel)
    if rim is None:
        raise MotionError("pour.no_rim", f"{vessel} has no rim to pour from", subjects=(vessel,))
    mouth = opening(control, target)
    walls = _walls(world.liquids, vessel, world.assets[vessel].affordances.cavity().name)
    unreachable, blocked = 0, 0
    for heading, bearing in _ways(control, held.T_tcp_item):
        poses = _poses(world.item_pose(vessel), walls, rim, mouth, heading, bearing)
        found, hit = _follow(control, [T @ tf.inverse(held.T_tcp_item) for T in poses])
        if found is not None:
            return found
        blocked += hit
        unreachable += not hit
    code, value = ("pour.blocked", blocked) if blocked else ("pour.unreachable", unreachable)
    said = f"no way to tip {vessel} over {target}: {unreachable} out of reach, {blocked} blocked"
    raise MotionError(code, said, subjects=(vessel, split_reference(target)[0]), value=float(value), limit=0.0)


def _walls(liquids: Liquids, vessel: str, cavity: str) -> tf.Float:
    """Points (n, 3) of a vessel's walls in its body's frame [m]."""
    grid = liquids.vessel(f"{vessel}.{cavity}")[0].grid
    inside = np.argwhere((grid.values < 0) & (grid.values > -1.5 * grid.cell))
    points: tf.Float = grid.low + grid.cell * inside
    return points


def _ways(control: Controller, T_tcp_item: tf.Float) -> Iterator[tuple[float, float]]:
    """Turns of the vessel about the vertical, and bearings to pour to in the world [rad]: those that roll the wrist first."""
    approach = control.world.tcp(control.index)[:3, 2]
    ahead = float(np.arctan2(approach[1], approach[0]))
    for heading in HEADINGS:
        rolls = [ahead + heading + side for side in (np.pi / 2, -np.pi / 2)]
        yield from ((heading, bearing) for bearing in rolls)
    for heading in HEADINGS[:5]:
        for k in range(AROUND):
            yield heading, ahead + 2 * np.pi * k / AROUND


def _poses(
    T_world_vessel: tf.Float, walls: tf.Float, rim: Rim, mouth: Opening, heading: float, bearing: float
) -> list[tf.Float]:
    """World poses (4, 4) of the vessel on its way from upright to tipped as far as it goes."""
    upright = tf.turn_z(heading)[:3, :3] @ _levelled(T_world_vessel[:3, :3])
    toward = np.array([np.cos(bearing), np.sin(bearing), 0.0])
    axis = np.cross([0.0, 0.0, 1.0], toward)
    lip = np.asarray(rim.pose.position) + rim.radius * (upright.T @ toward)
    poses = []
    for angle in np.arange(0.0, FURTHEST, STEP):
        R = tf.turn(axis, angle)[:3, :3] @ upright
        around = (walls - lip) @ R.T  # from the lip, world axes
        over = np.hypot(*(around[:, :2] - BACK * mouth.radius * toward[:2]).T) < mouth.outer + ROOM
        height = ROOM - min(0.0, float(around[over, 2].min(initial=0.0)))
        T = np.eye(4)
        T[:3, :3] = R
        T[:3, 3] = mouth.center - BACK * mouth.radius * toward + [0.0, 0.0, height] - R @ lip
        poses.append(T)
    return poses


def _levelled(R: tf.Float) -> tf.Float:
    """The upright rotation (3, 3) nearest to one."""
    return tf.turn_z(float(np.arctan2(R[1, 0] - R[0, 1], R[0, 0] + R[1, 1])))[:3, :3]


def _follow(control: Controller, poses: list[tf.Float]) -> tuple[PourPlan | None, bool]:
    """The way through tool poses from where the arm is; None, and whether because something is in the way."""
    carry = _carry(control, poses[0])
    start = None if carry is None else carry[-1]
    if start is None:
        found = next(control.postures(poses[0]), None)
        if found is None or not found.ok:
            return None, False
        start = found.joints
    T_base = tf.inverse(control.base_pose())
    rows = [start]
    for T in poses[1:]:
        solved = control.kin.inverse(T_base @ T, rows[-1], iterations=15)
        if not solved.ok or np.abs(solved.joints - rows[-1]).max() > JUMP:
            break
        rows.append(solved.joints)
    if (len(rows) - 1) * STEP < LEAST:
        return None, False
    tip = np.array(rows)
    if control.checker.path_hit(tip) is not None or not control.checker.free(tip[0]):
        return None, True
    return PourPlan(carry, STEP * np.arange(len(rows)), tip), False


def _carry(control: Controller, T_to: tf.Float) -> tf.Float | None:
    """Joint path that keeps the tool as level as it is: up, across and down on straight lines; None when there is none."""
    T_from, joints = control.checker.pose(control.joints), control.joints
    for more in TRAVEL:
        top = max(T_from[2, 3], T_to[2, 3]) + more
        T_up, T_over = T_from.copy(), T_to.copy()
        T_up[2, 3] = T_over[2, 3] = top
        rows, T, at = [joints[None]], T_from, joints
        for T_next in (T_up, T_over, T_to):
            part = control.straight(T, T_next, at)
            if part is None:
                break
            rows.append(part[1:])
            T, at = T_next, part[-1]
        else:
            return np.vstack(rows)
    return None
