"""Where and how to tip a vessel so that what it holds runs over its rim into another.

The vessel turns about a level axis through the point of its rim that the liquid leaves by. That point stays over the
mouth of the other vessel, a little behind its middle because a jet flies forwards, and as low as the tipped vessel's body allows.
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

ROOM = 0.015  # [m] kept between the vessels
STEP = np.deg2rad(3.0)  # between the poses of a tipping path
FURTHEST = np.deg2rad(123.0)
ANGLES = np.arange(0.0, FURTHEST, STEP)
LEAST = np.deg2rad(105.0)  # to which it must be possible to tip, or what is at the bottom stays there
BACK = 0.40  # of the opening's radius, by which the jet begins behind its middle
HEADINGS = tuple(np.deg2rad([0.0, 30.0, -30.0, 60.0, -60.0, 90.0, -90.0, 120.0, -120.0]))
"""Turns of the vessel about the vertical that are tried, from how it is held, in order."""
LIFTS = (0.0, 0.03)
"""Heights above what the vessel and the hand need that are tried [m]."""
AROUND = 12  # directions to pour to that are tried
COARSE = 6  # rows between those looked at first
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
    assert held is not None
    rim = _rim(control, vessel)
    if rim is None:
        raise MotionError("pour.no_rim", f"{vessel} has no rim to pour from", subjects=(vessel,))
    mouth = opening(control, target)
    walls = outline(control, vessel)
    unreachable, blocked = 0, 0
    fallback: PourPlan | None = None
    for heading, bearing, lift in _ways(control):
        poses = tipping(world.item_pose(vessel), walls, rim, mouth, heading, bearing, lift, ANGLES)
        found, hit = follow_tipping(control, [T @ tf.inverse(held.T_tcp_item) for T in poses], ANGLES, LEAST)
        if found is not None and found.carry is not None:
            return found
        fallback = fallback or found
        blocked += hit
        unreachable += not hit
    if fallback is not None:
        return fallback
    code, value = ("pour.blocked", blocked) if blocked else ("pour.unreachable", unreachable)
    said = f"no way to tip {vessel} over {target}: {unreachable} out of reach, {blocked} blocked"
    raise MotionError(code, said, subjects=(vessel, split_reference(target)[0]), value=float(value), limit=0.0)


def outline(control: Controller, vessel: str) -> tf.Float:
    """Points (n, 3) on a vessel and on the hand that holds it, in the vessel's root frame [m]."""
    world = control.world
    model, data = world.model, world.data
    hand = int(model.site_bodyid[world.tcp_sites[control.index]])
    T = tf.inverse(world.item_pose(vessel))
    solid = set(model.geom_bodyid[(model.geom_contype | model.geom_conaffinity) != 0].tolist())
    found = []
    for body in [*world.items[vessel].bodies.tolist(), hand, *np.flatnonzero(model.body_parentid == hand).tolist()]:
        if body in solid:
            points = world.flow.vessels.shell(body) @ data.xmat[body].reshape(3, 3).T + data.xpos[body]
            found.append(points @ T[:3, :3].T + T[:3, 3])
    return np.concatenate(found)


def _ways(control: Controller) -> Iterator[tuple[float, float, float]]:
    """Turns of the vessel about the vertical, bearings to pour to in the world [rad], and how much higher than need be [m].

    Those that roll the wrist come first.
    """
    approach = control.world.tcp(control.index)[:3, 2]
    ahead = float(np.arctan2(approach[1], approach[0]))
    for heading in HEADINGS:
        for lift in LIFTS:
            yield from ((heading, ahead + heading + side, lift) for side in (np.pi / 2, -np.pi / 2))
    for heading in HEADINGS[:5]:
        for k in range(AROUND):
            yield heading, ahead + 2 * np.pi * k / AROUND, LIFTS[0]


def tipping(
    T_world_vessel: tf.Float,
    walls: tf.Float,
    rim: Rim,
    mouth: Opening,
    heading: float,
    bearing: float,
    lift: float,
    angles: tf.Float,
) -> list[tf.Float]:
    """World poses (4, 4) of a vessel at each angle (m,) by which it is tipped over a mouth [rad].

    Args:
        T_world_vessel: Its pose now (4, 4).
        walls: Points (n, 3) on it and on the hand, in its frame: none gets lower than the mouth where that is below.
        rim: What it pours over.
        mouth: Where to.
        heading: By which it is turned about the vertical [rad].
        bearing: World direction it tips to [rad].
        lift: How much higher than need be [m].
        angles: From upright [rad].
    """  # fmt: skip
    upright = tf.turn_z(heading)[:3, :3] @ levelled(T_world_vessel[:3, :3])
    toward = np.array([np.cos(bearing), np.sin(bearing), 0.0])
    axis = np.cross([0.0, 0.0, 1.0], toward)
    lip = np.asarray(rim.pose.position) + rim.radius * (upright.T @ toward)
    poses = []
    for angle in angles:
        R = tf.turn(axis, angle)[:3, :3] @ upright
        around = (walls - lip) @ R.T  # from the lip, world axes
        over = np.hypot(*(around[:, :2] - BACK * mouth.radius * toward[:2]).T) < mouth.outer + ROOM
        height = ROOM + lift - min(0.0, float(around[over, 2].min(initial=0.0)))
        T = np.eye(4)
        T[:3, :3] = R
        T[:3, 3] = mouth.center - BACK * mouth.radius * toward + [0.0, 0.0, height] - R @ lip
        poses.append(T)
    return poses


def levelled(R: tf.Float) -> tf.Float:
    """The upright rotation (3, 3) nearest to one."""
    return tf.turn_z(float(np.arctan2(R[1, 0] - R[0, 1], R[0, 0] + R[1, 1])))[:3, :3]


def follow_tipping(control: Controller, poses: list[tf.Float], angles: tf.Float, least: float) -> tuple[PourPlan | None, bool]:
    """The way through tool poses at angles (m,) from where the arm is, at least up to the angle `least` [rad]; None, and whether
    because something is in the way."""
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
    if angles[len(rows) - 1] < least:
        return None, False
    tip = np.array(rows)
    coarse = (control.checker.hit(joints) is not None for joints in tip[::-COARSE])
    if any(coarse) or control.checker.path_hit(tip) is not None or not control.checker.free(tip[0]):
        return None, True
    return PourPlan(carry, angles[: len(rows)], tip), False


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
