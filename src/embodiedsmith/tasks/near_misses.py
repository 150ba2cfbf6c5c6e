"""Ways to put a world into a state that only looks right, for the near misses of predicates.

Nothing here lets time pass: poses, joints and fingers are set, then `mj_forward` tells what touches what. What stands on or in
a thing goes with it, so that one relation breaks at a time.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator
from functools import partial

import mujoco
import numpy as np
from numpy.typing import ArrayLike

from embodiedsmith.assets.asset import Shape
from embodiedsmith.spec import split_reference
from embodiedsmith.tasks.joints import Travel
from embodiedsmith.tasks.kind import NearMiss
from embodiedsmith.tasks.probe import BEARING, Float, geom_points
from embodiedsmith.world import World
from embodiedsmith.world import transforms as tf

SLIP = 0.01
"""[m] How far off a near miss is when nothing else decides it."""
SIDES: tuple[tuple[str, tuple[float, float]], ...] = (
    ("+x", (1.0, 0.0)), ("-x", (-1.0, 0.0)), ("+y", (0.0, 1.0)), ("-y", (0.0, -1.0)),
)  # fmt: skip
"""The four horizontal directions of a frame, by name."""
UP = np.array([0.0, 0.0, 1.0])
_TURNS = 60  # steps of inverse kinematics
_NEAR_ENOUGH = (5e-4, 5e-3)  # [m], [rad] at which the hand counts as where it should be
_FARTHER = 1.3  # times its reach: farther from the arm's first joint no grasp is tried
_GRASPS = 8  # grasps tried at most, spread over those there are
_CLOSINGS = 81  # openings of the hand that are looked at while it closes


# ---------------------------------------------------------------------- things


def put(world: World, item: str, pose: Float) -> None:
    """Put an item's root at a world pose (4, 4), with all that stands on or in it."""
    by = pose @ tf.inverse(world.item_pose(item))
    _place(world, {name: by @ world.item_pose(name) for name in (item, *_riders(world, item, world.items[item].bodies))})


def shift(world: World, item: str, by: Float) -> None:
    """Shift an item by a world vector (3,) [m], with all that stands on or in it."""
    put(world, item, tf.translate(by) @ world.item_pose(item))


def put_joint(world: World, reference: str, position: float) -> None:
    """Set the joint named `item.joint` to a position [m or rad], with all that stands on or in what it moves."""
    item, _ = split_reference(reference)
    joint = world.model.joint(reference.replace(".", "/", 1))
    body = int(joint.bodyid[0])
    moving = np.array([b for b in world.items[item].bodies if _within(world.model, int(b), body)], dtype=int)
    before = _body_pose(world.data, body)
    riders = _riders(world, item, moving)
    world.data.qpos[world.joint_qpos[reference]] = position
    mujoco.mj_kinematics(world.model, world.data)
    by = _body_pose(world.data, body) @ tf.inverse(before)
    _place(world, {name: by @ world.item_pose(name) for name in riders})


def opened_at_most(name: str, most: dict[str, tuple[Travel, float]]) -> NearMiss:
    """The near miss of that name in which each joint that is open farther than given [m or rad] is open by so much."""

    def apply(world: World) -> None:
        for reference, (info, opening) in most.items():
            if info.sign * (world.joint(reference)[0] - info.closed) > opening:
                put_joint(world, reference, info.at(max(opening, 0.0)))

    return NearMiss(name, apply)


def shifted(world: World, name: str, item: str, by: Float) -> NearMiss:
    """The near miss of that name in which an item is off by a world vector (3,) [m]."""
    return posed(name, item, tf.translate(by) @ world.item_pose(item))


def posed(name: str, item: str, pose: Float) -> NearMiss:
    """The near miss of that name in which an item's root is at a world pose (4, 4)."""
    return NearMiss(name, partial(put, item=item, pose=pose))


def turned(world: World, name: str, item: str, axis: Float, angle: float) -> NearMiss:
    """The near miss in which an item is turned by `angle` [rad] about a world axis, its lowest point as high as before."""
    T = world.item_pose(item)
    R = tf.turn(axis, angle)
    center = T[:3, 3] + T[:3, :3] @ np.mean(world.assets[item].extents, axis=0)
    there = tf.translate(center) @ R @ tf.translate(-center) @ T
    points, radii = _points(world, item)
    local = (points - T[:3, 3]) @ T[:3, :3]
    sunk = float((local @ there[2, :3] + there[2, 3] - radii).min()) - float((points[:, 2] - radii).min())
    return posed(name, item, tf.translate((0.0, 0.0, -sunk)) @ there)


def span(world: World, item: str, axis: ArrayLike) -> tuple[float, float]:
    """From where to where an item reaches along a world unit vector (3,) [m], doors and drawers as they stand."""
    points, radii = _points(world, item)
    along = points @ np.asarray(axis, dtype=np.float64)
    return float((along - radii).min()), float((along + radii).max())


def beyond(world: World, item: str, other: str, axis: Float, gap: float) -> Float:
    """By what (3,) [m] an item must be shifted along a world unit vector to stand `gap` [m] clear of another's far side."""
    return np.asarray(axis) * (span(world, other, axis)[1] + gap - span(world, item, axis)[0])


def past(size: tuple[float, float], shape: Shape, at: Float, side: tuple[float, float]) -> Float:
    """By what (3,) [m] a point `at` of a flat region's frame must be shifted to be `SLIP` past its edge on a side of it.

    Args:
        size: Extents of the region along the frame's x and y [m].
        shape: Of the region: a rectangle, or a disc.
        at: Where the point is, shape (3,) [m].
        side: One of `SIDES`.
    """
    to = np.asarray(side) * (np.asarray(size) / 2 + SLIP)
    kept = np.zeros(2) if shape == "disc" else at[:2] * (np.asarray(side) == 0.0)
    return np.array([*(to + kept - at[:2]), 0.0])


def clearance(world: World, item: str, other: str, axis: ArrayLike) -> float:
    """By how much [m] an item must be shifted along a world unit vector until it does not touch another, to the millimetre.

    Infinite where it still touches after 5 cm, as between walls.
    """
    data = copy.copy(world.data)
    at = world.items[item].qpos
    for k in range(51):
        data.qpos[at : at + 3] = world.data.qpos[at : at + 3] + 0.001 * k * np.asarray(axis, dtype=np.float64)
        mujoco.mj_kinematics(world.model, data)
        mujoco.mj_collision(world.model, data)
        if other not in _touched(world, data, item):
            return 0.001 * k
    return math.inf


def free_things(world: World, *but: str) -> list[str]:
    """Ids of the items that can be moved, without those named."""
    return [name for name, index in world.items.items() if index.qpos >= 0 and name not in but]


# ---------------------------------------------------------------------- the hand


def held(world: World, item: str) -> Iterator[NearMiss]:
    """The near miss in which the hand has not let go yet, where it can reach a grasp of the item; else none."""
    posture = _gripping(world, item)
    if posture is not None:
        yield NearMiss("still between both fingers", partial(_set_posture, posture=posture))


def holder(world: World, item: str) -> int:
    """The arm whose fingers touch an item from both sides; the first when none does."""
    return next((arm for arm in range(len(world.grippers)) if all(world.touching(f, item) for f in world.fingers(arm))), 0)


def set_fingers(world: World, closing: float, arm: int = 0) -> None:
    """Open or close an arm's fingers, 0 open to 1 closed, leaving the arms where they are."""
    _close(world, world.data, closing, arm)
    mujoco.mj_forward(world.model, world.data)


def _close(world: World, data: mujoco.MjData, closing: float, arm: int) -> None:
    hand = world.grippers[arm]
    for address, opened, closed in zip(world.finger_qpos[arm], hand.open_qpos, hand.closed_qpos, strict=True):
        data.qpos[address] = opened + closing * (closed - opened)


def let_go(world: World, item: str, arm: int = 0) -> float:
    """How far closed, 0 open to 1 closed, a hand may be without a finger touching the item; the world stays as it is."""
    data = copy.copy(world.data)
    closing = world.gripper(arm)
    while closing > 0.0 and any(_finger_contacts(world, data, item, arm)):
        closing = max(closing - 1.0 / (_CLOSINGS - 1), 0.0)
        _look(world, data, closing, arm)
    return closing


def _set_posture(world: World, posture: tuple[Float, float]) -> None:
    joints, closing = posture
    world.set_robot(world.data, joints, closing)
    mujoco.mj_forward(world.model, world.data)


def _gripping(world: World, item: str) -> tuple[Float, float] | None:
    """Robot joints and closing with which both fingers hold an item where it is; None: no grasp of it is reached."""
    grasps = world.assets[item].affordances.grasps
    chosen = grasps[:: max(1, math.ceil(len(grasps) / _GRASPS))]
    data = copy.copy(world.data)
    first = world.model.dof_jntid[world.robot_dof[len(world.robot.base.joints)]]
    shoulder = world.data.xanchor[first].copy()
    for grasp in chosen:
        target = world.item_pose(item, grasp.body) @ tf.matrix(grasp.pose)
        if np.linalg.norm(target[:3, 3] - shoulder) > _FARTHER * world.robot.arm.reach:
            continue
        for start in (
            world.data.qpos[world.robot_qpos],
            np.concatenate([_base(world), world.home[len(world.robot.base.joints) :]]),
        ):
            data.qpos[:] = world.data.qpos
            if not _reach(world, data, target, start):
                continue
            for closing in np.linspace(0.0, 1.0, _CLOSINGS):
                _look(world, data, float(closing))
                if all(_finger_contacts(world, data, item)):
                    return data.qpos[world.robot_qpos].copy(), float(closing)
    return None


def _base(world: World) -> Float:
    joints: Float = world.data.qpos[world.robot_qpos[: len(world.robot.base.joints)]]
    return joints


def _reach(world: World, data: mujoco.MjData, target: Float, start: Float) -> bool:
    """Bring the hand of `data` to a world pose by damped least squares, from robot joints `start`; the base stays."""
    model = world.model
    qpos, dofs = world.robot_qpos[world.arm_slices[0]], world.robot_dof[world.arm_slices[0]]
    limits = np.array([model.jnt_range[model.dof_jntid[d]] for d in dofs]).T
    data.qpos[world.robot_qpos] = start
    jacobian = np.zeros((6, model.nv))
    for _ in range(_TURNS):
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        R = data.site_xmat[world.tcp_sites[0]].reshape(3, 3)
        off = np.concatenate([target[:3, 3] - data.site_xpos[world.tcp_sites[0]], tf.rotation_vector(target[:3, :3] @ R.T)])
        if np.linalg.norm(off[:3]) < _NEAR_ENOUGH[0] and np.linalg.norm(off[3:]) < _NEAR_ENOUGH[1]:
            return True
        mujoco.mj_jacSite(model, data, jacobian[:3], jacobian[3:], world.tcp_sites[0])
        J = jacobian[:, dofs]
        step = J.T @ np.linalg.solve(J @ J.T + 1e-4 * np.eye(6), off)
        data.qpos[qpos] = np.clip(data.qpos[qpos] + np.clip(step, -0.3, 0.3), *limits)
    return False


def _look(world: World, data: mujoco.MjData, closing: float, arm: int = 0) -> None:
    _close(world, data, closing, arm)
    mujoco.mj_kinematics(world.model, data)
    mujoco.mj_collision(world.model, data)


def _finger_contacts(world: World, data: mujoco.MjData, item: str, arm: int = 0) -> tuple[bool, bool]:
    """Whether the first and the second finger of an arm touch an item in `data`."""
    touched = _touched(world, data, item)
    one, other = world.fingers(arm)
    return one in touched, other in touched


def _touched(world: World, data: mujoco.MjData, item: str) -> set[str]:
    """The owners that an item touches in `data`."""
    owners = world.solid_owner[world.solids(data)]
    mine = (owners == world.owners.index(item)).any(axis=1) & (data.contact.dist < 0)
    return {world.owners[k] for k in np.unique(owners[mine])}


# ---------------------------------------------------------------------- what goes along


def _place(world: World, poses: dict[str, Float]) -> None:
    for name, T in poses.items():
        at = world.items[name].qpos
        world.data.qpos[at : at + 3] = T[:3, 3]
        world.data.qpos[at + 3 : at + 7] = tf.quaternion(T[:3, :3])
    mujoco.mj_forward(world.model, world.data)


def _riders(world: World, item: str, bodies: np.ndarray) -> list[str]:
    """Free things that stand on or in bodies of an item, or on what does, by the contacts there are."""
    contact = world.data.contact
    soft = [world.items[world.owners[k]].body for k in world.solid_owner[world.model.ngeom :]]
    pairs = np.append(world.model.geom_bodyid, soft).astype(int)[world.solids()]  # normals point from the first to the second
    upward = contact.frame[:, 2]
    lower = np.where(upward > 0, pairs[:, 0], pairs[:, 1])
    upper = np.where(upward > 0, pairs[:, 1], pairs[:, 0])
    standing = (np.abs(upward) > BEARING) & (contact.dist < 0)
    riders: list[str] = []
    carrying = {int(b) for b in bodies}
    lowest = span(world, item, UP)[0]
    waiting = {int(b): name for name in free_things(world, item) for b in world.items[name].bodies}
    while True:
        found = {waiting[b] for b in upper[standing & np.isin(lower, list(carrying))].tolist() if b in waiting} - set(riders)
        found = {name for name in found if span(world, name, UP)[0] > lowest}
        if not found:
            return riders
        riders += sorted(found)
        carrying |= {int(b) for name in found for b in world.items[name].bodies}


def _within(model: mujoco.MjModel, body: int, root: int) -> bool:
    while body not in (0, root):
        body = int(model.body_parentid[body])
    return body == root


def _body_pose(data: mujoco.MjData, body: int) -> Float:
    T = np.eye(4)
    T[:3, :3] = data.xmat[body].reshape(3, 3)
    T[:3, 3] = data.xpos[body]
    return T


def _points(world: World, item: str) -> tuple[Float, Float]:
    """World points (n, 3) and the radii (n,) of the balls round them that span an item's collision shapes now [m]."""
    model, data = world.model, world.data
    points, radii = [], []
    for geom in world.items[item].geoms:
        if model.geom_contype[geom] or model.geom_conaffinity[geom]:
            local, radius = geom_points(model, int(geom))
            points.append(local @ data.geom_xmat[geom].reshape(3, 3).T + data.geom_xpos[geom])
            radii.append(np.full(len(local), radius))
    return np.concatenate(points), np.concatenate(radii)
