"""Where and how one arm hands a thing to another: a pose between them at which the other finds a grasp beside the first's."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np

from embodiedsmith.assets.asset import Grasp
from embodiedsmith.motion.collision import MARGIN
from embodiedsmith.motion.controller import Controller, opening
from embodiedsmith.motion.errors import MotionError
from embodiedsmith.motion.grasping import APPROACH, FINGER_ROOM, FLIP, SHORT_APPROACH, Tally
from embodiedsmith.motion.kinematics import kinematics
from embodiedsmith.motion.placing import Load
from embodiedsmith.world import transforms as tf

FORWARD = (0.30, 0.36, 0.24)  # [m] before the line through the mounts of both arms, where the thing's middle is handed over
HEIGHTS = (0.24, 0.32, 0.17)  # [m] above the base
YAWS = tuple(np.radians(d) for d in (0.0, 30.0, -30.0, 60.0, -60.0, 90.0, -90.0))
"""Turns of the thing about the vertical, from where its free end points at the taker."""
TILTS = (0.0, 0.5, -0.5, 1.0)  # [rad] about its length, by which the giver's hand points away from straight down
LEANS = (0.0, 0.6, -0.6, 1.1, -1.1, 1.57, -1.57)
"""Turns [rad] of the taker's hand about the line between its fingertips: in the air it need not come from above, and two hands
that lean away from each other have room on a short handle."""
BESIDE = 0.045  # [m] between the two tool centre points at least: fingers are 2 cm wide, and need room
MOST_MEETINGS = 60  # poses that the giver can bring the thing to, looked at for a grasp of the taker
MOST_TAKES = 60  # grasps of the taker looked at, each
RETREAT = (0.10, 0.06, 0.035)  # [m] back along its approach, by which the giver leaves
NEAR = 0.002  # [m] kept between the hands, and from everything else, while the taker comes


@dataclass(frozen=True)
class HandOver:
    """A hand-over in reach and free of collisions."""

    giver: int
    taker: int
    item: str
    T_world_item: tf.Float
    """Where the item is handed over."""
    meet: tf.Float
    """The giver's joints then."""
    approach: tf.Float
    """The taker's joint path (k, n) from before its grasp to it."""
    grasp: Grasp
    """The taker's."""
    T_tcp_item: tf.Float
    """How the item hangs in the taker's hand."""
    retreat: tf.Float
    """The giver's joint path (k, n) away from it."""


def plans(
    control: Controller, giver: int, taker: int, load: Load, tally: Tally, *, ready: Callable[[HandOver], MotionError | None]
) -> Iterator[HandOver]:
    """Ways for one arm to hand to another what it holds, or will hold, as `load` says; likeliest first.

    Args:
        control: The robot; which arm is in use afterwards is not said.
        giver: Who holds it.
        taker: Who is to have it, its hand empty and its arm at home.
        load: The item in the giver's hand.
        tally: Counts why candidates were turned down.
        ready: Says why the item in the taker's hand is of no use for what comes after it (None: it is of use).
    """
    meetings = 0
    for T_item in _poses(control, giver, taker, load):
        joints = _brought(control, giver, load, T_item)
        if joints is None:
            continue
        meetings += 1
        for found in _takes(control, giver, taker, load, T_item, joints, tally):
            error = ready(found)
            if error is None:
                yield found
                continue
            tally.later += 1
            tally.later_error = error
        if meetings == MOST_MEETINGS:
            return


def as_arranged(control: Controller, plan: HandOver, load: Load) -> HandOver | None:
    """A hand-over found before, for the item as it hangs in the giver's hand now; None when it does not go like that."""
    joints = _brought(control, plan.giver, load, plan.T_world_item)
    if joints is None:
        return None
    T_tcp = plan.T_world_item @ tf.inverse(plan.T_tcp_item)
    grasp = plan.grasp, T_tcp
    return _take(control, plan.giver, plan.taker, load, plan.T_world_item, joints, grasp, Tally(), near=plan.approach[-1])


def take_again(control: Controller, plan: HandOver, load: Load) -> HandOver | None:
    """The same hand-over with the item as it really hangs where it was brought; None when it does not go like that any more."""
    now = control.world.item_pose(plan.item)
    T_tcp = now @ tf.inverse(plan.T_tcp_item)
    return _take(control, plan.giver, plan.taker, load, now, plan.meet, (plan.grasp, T_tcp), Tally(), near=plan.approach[-1])


def room(control: Controller, item: str, T_tcp_item: tf.Float | None = None) -> float:
    """How far [m] the farthest grasp of an item is from where a hand holds it; None: from any other grasp."""
    limit = control.hand.max_width - FINGER_ROOM
    grasps = [g for g in control.world.assets[item].affordances.grasps if g.body == "root" and g.width <= limit]
    points = np.array([g.pose.position for g in grasps]).reshape(-1, 3)
    mine = points if T_tcp_item is None else tf.inverse(T_tcp_item)[None, :3, 3]
    return float(np.linalg.norm(points[:, None] - mine[None], axis=2).max(initial=0.0))


# ------------------------------------------------------------------ where


def _poses(control: Controller, giver: int, taker: int, load: Load) -> Iterator[tf.Float]:
    """World poses (4, 4) of the item, level as it is now, its free end towards the taker, between the two arms."""
    T_base = control.base_pose()
    mounts = [kinematics(control.robot.name, arm).mount for arm in (giver, taker)]
    middle, way = (mounts[0] + mounts[1]) / 2, mounts[1] - mounts[0]
    ahead = np.array([way[1], -way[0], 0.0]) / np.hypot(way[0], way[1])
    ahead *= np.sign(ahead[0]) or 1.0
    R_now = load.T_world_item[:3, :3]
    low, high = control.world.assets[load.item].extents
    centre = (np.asarray(low) + np.asarray(high)) / 2
    free_end = R_now @ (centre - tf.inverse(load.T_tcp_item)[:3, 3])
    toward = T_base[:3, :3] @ way
    length = R_now[:, int(np.argmax(np.subtract(high, low)))]
    pointer = free_end if np.hypot(*free_end[:2]) > 0.02 else length
    level = np.hypot(pointer[0], pointer[1]) > 0.02
    turn = np.arctan2(toward[1], toward[0]) - np.arctan2(pointer[1], pointer[0]) if level else 0.0
    for height, forward, tilt, yaw in product(HEIGHTS, FORWARD, TILTS, YAWS):
        R = tf.turn_z(turn + yaw)[:3, :3] @ tf.turn(length, tilt)[:3, :3] @ R_now
        T = np.eye(4)
        T[:3, :3] = R
        at = T_base @ np.append(middle[:3] * (1.0, 1.0, 0.0) + forward * ahead + (0.0, 0.0, height), 1.0)
        T[:3, 3] = at[:3] - R @ centre
        yield T


def _brought(control: Controller, giver: int, load: Load, T_item: tf.Float) -> tf.Float | None:
    """The giver's joints with the item at a pose; None when out of reach or blocked."""
    control.use(giver)
    control.look()
    checker = control.checker
    checker.hold(load.item, load.T_tcp_item)
    checker.allow([(load.item, finger) for finger in control.fingers])
    checker.set_gripper(load.closing)
    for posture in control.postures(T_item @ tf.inverse(load.T_tcp_item)):
        if posture.ok and checker.free(posture.joints, MARGIN):
            return posture.joints
    return None


# ------------------------------------------------------------------ how


def _takes(
    control: Controller, giver: int, taker: int, load: Load, T_item: tf.Float, joints: tf.Float, tally: Tally
) -> Iterator[HandOver]:
    """Grasps of the taker on the item at a pose: those that lean least, then those farthest from the giver's hand, first."""
    world = control.world
    T_giver = T_item @ tf.inverse(load.T_tcp_item)
    limit = world.grippers[taker].max_width - FINGER_ROOM
    found: list[tuple[float, float, int, Grasp, tf.Float]] = []
    for grasp in world.assets[load.item].affordances.grasps:
        if grasp.width > limit or grasp.body != "root":
            continue
        T_grasp = T_item @ tf.matrix(grasp.pose)
        apart = float(np.linalg.norm(T_grasp[:3, 3] - T_giver[:3, 3]))
        if apart > BESIDE:
            for lean, turned in product(LEANS, (np.eye(4), FLIP)):
                T = T_grasp @ tf.turn((0.0, 1.0, 0.0), lean) @ turned
                found.append((abs(lean), -round(apart, 2), len(found), grasp, T))
    found.sort(key=lambda f: f[:3])
    for _, _, _, grasp, T in found[:MOST_TAKES]:
        tally.tried += 1
        plan = _take(control, giver, taker, load, T_item, joints, (grasp, T), tally)
        if plan is not None:
            yield plan


def _take(
    control: Controller, giver: int, taker: int, load: Load, T_item: tf.Float, joints: tf.Float,
    take: tuple[Grasp, tf.Float], tally: Tally, near: tf.Float | None = None,
) -> HandOver | None:  # fmt: skip
    """The hand-over with one grasp of the taker; None when it is out of reach or something is in the way."""
    grasp, T = take
    control.use(taker)
    for posture in control.postures(T, near):
        if tally.misses(posture):
            return None
        _imagine(control, giver, load, T_item, joints)
        checker = control.checker
        checker.set_gripper(opening(control.hand, grasp.width))
        hit = checker.hit(posture.joints)
        if hit is None:
            checker.allow([(load.item, finger) for finger in control.fingers])
            hit = checker.hit(posture.joints, NEAR)
            checker.forbid_all()
            checker.allow([(load.item, finger) for finger in control.world.fingers(giver)])
        if hit is not None:
            tally.met(hit)
            continue
        for distance in (APPROACH, SHORT_APPROACH):
            back = control.straight(T, T @ tf.translate((0.0, 0.0, -distance)), posture.joints, met=tally.met)
            if back is None or checker.path_hit(np.stack([control.kin.home, back[-1]])) is not None:
                continue
            retreat = _leave(control, giver, taker, load, T_item, joints, (grasp, posture.joints))
            if retreat is not None:
                return HandOver(giver, taker, load.item, T_item, joints, back[::-1], grasp, tf.inverse(T) @ T_item, retreat)
            control.use(taker)
            break
    tally.blocked += 1
    return None


def _imagine(control: Controller, giver: int, load: Load, T_item: tf.Float, joints: tf.Float) -> None:
    """Let the taker, in use, see the giver hold the item at the meeting."""
    checker = control.checker
    control.look()
    checker.hold(None)
    checker.set_arm(giver, joints, load.closing)
    checker.lay(load.item, T_item)
    checker.forbid_all()
    checker.allow([(load.item, finger) for finger in control.world.fingers(giver)])


def _leave(
    control: Controller, giver: int, taker: int, load: Load, T_item: tf.Float, joints: tf.Float, taken: tuple[Grasp, tf.Float]
) -> tf.Float | None:
    """The giver's way back from the item, the taker holding it."""
    control.use(giver)
    checker = control.checker
    control.look()
    checker.hold(None)
    closing = 1.0 - taken[0].width / control.world.grippers[taker].max_width
    checker.set_arm(taker, taken[1], closing)
    checker.lay(load.item, T_item)
    checker.forbid_all()
    checker.allow([(load.item, f) for arm in (giver, taker) for f in control.world.fingers(arm)])
    checker.set_gripper(max(0.0, load.closing - 0.015 / control.hand.max_width))
    T = T_item @ tf.inverse(load.T_tcp_item)
    for distance in RETREAT:
        back = control.straight(T, T @ tf.translate((0.0, 0.0, -distance)), joints)
        if back is not None:
            return back
    return None
