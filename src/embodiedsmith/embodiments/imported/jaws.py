"""How a gripper opens: found by driving it, with the arm held still, from one end of its controls to the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from embodiedsmith.embodiments.imported.anatomy import Anatomy

Float = NDArray[np.float64]
SECONDS = 1.5
"""[s] in which a gripper goes from one end to the other."""
LEAST_STROKE = 0.01
"""Least by which a gripper opens [m]."""
TIP_LENGTH = 0.02
"""Length of the pad at a finger's tip [m]."""


@dataclass(frozen=True)
class End:
    """A gripper at one end of its controls."""

    controls: tuple[float, ...]
    qpos: Float
    """Of the whole model."""
    lengths: tuple[float, ...]
    """Of its actuators [m or rad]."""


@dataclass(frozen=True)
class Jaws:
    """What was found."""

    opened: End
    closed: End
    pads: tuple[str, str]
    """The bodies that meet when it closes."""
    center: Float
    """The tool centre point, in the palm's frame [m]."""
    turn: Float
    """Its rotation matrix in the palm's frame: z approach, y closing."""
    gaps: tuple[float, float]
    """Between the pads when open and when closed [m]."""
    inner: tuple[Float, Float]
    """For each pad body the box of its tip in its own frame: the columns are its lower and upper corner in the axes `axes`."""
    axes: tuple[Float, Float]
    """For each pad body the tool's axes in its own frame, when closed, shape (3, 3)."""

    @property
    def stroke(self) -> float:
        """How far the gap opens [m]."""
        return self.gaps[0] - self.gaps[1]


class NoJaws(Exception):
    """A gripper that does not open and close; its text says why."""


def explore(model: Any, anatomy: Anatomy, actuators: Sequence[str], arm_qpos: Sequence[float]) -> Jaws:
    """Drive a gripper to both ends of its controls.

    Raises:
        NoJaws: the gap hardly changes, or its controls have no limits.
    """
    ids = [model.actuator(name).id for name in actuators]
    unlimited = [name for name, i in zip(actuators, ids, strict=True) if not model.actuator_ctrllimited[i]]
    if unlimited:
        raise NoJaws(f'gripper actuators {unlimited} have no control range; give them ctrlrange="closed open"')
    low = _drive(model, anatomy, ids, [float(model.actuator_ctrlrange[i, 0]) for i in ids], arm_qpos)
    high = _drive(model, anatomy, ids, [float(model.actuator_ctrlrange[i, 1]) for i in ids], arm_qpos)
    jaws = _pads(model, anatomy, low, high)
    if jaws.stroke < LEAST_STROKE:
        raise NoJaws(f"driving {list(actuators)} from end to end opens the gripper by {1e3 * jaws.stroke:.1f} mm only")
    return jaws


def _drive(model: Any, anatomy: Anatomy, ids: list[int], controls: list[float], arm_qpos: Sequence[float]) -> End:
    data = mujoco.MjData(model)
    arm = [model.joint(name) for name in anatomy.arm_joints]
    gravity = model.opt.gravity.copy()
    model.opt.gravity[:] = 0.0
    for _ in range(round(SECONDS / model.opt.timestep)):
        for joint, value in zip(arm, arm_qpos, strict=True):  # the arm is held by hand
            data.qpos[joint.qposadr[0]] = value
            data.qvel[joint.dofadr[0]] = 0.0
        data.ctrl[ids] = controls
        mujoco.mj_step(model, data)
    model.opt.gravity[:] = gravity
    for joint, value in zip(arm, arm_qpos, strict=True):
        data.qpos[joint.qposadr[0]] = value
    mujoco.mj_forward(model, data)
    return End(tuple(controls), data.qpos.copy(), tuple(float(data.actuator_length[i]) for i in ids))


def _tips(model: Any, data: Any, anatomy: Anatomy) -> tuple[str, str]:
    """The body of each side that reaches farthest from the palm."""
    palm = model.body(anatomy.palm).id
    names = []
    for side in anatomy.sides:
        touching = [name for name in side if np.any(model.geom_contype[model.geom_bodyid == model.body(name).id])]
        if not touching:
            raise NoJaws(f"nothing of the gripper's side {list(side)} touches anything: give its bodies collision geoms")

        def reach(name: str) -> float:
            points = body_points(model, data, model.body(name).id) - data.xpos[palm]
            return float(np.linalg.norm(points, axis=1).max())

        names.append(max(touching, key=reach))
    return names[0], names[1]


def _pads(model: Any, anatomy: Anatomy, low: End, high: End) -> Jaws:
    """Which end is which, the tool centre point between the tips, and the boxes of the tips."""
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    bodies = _tips(model, data, anatomy)
    palm = model.body(anatomy.palm).id

    def corners(end: End, name: str) -> Float:
        data.qpos[:] = end.qpos
        mujoco.mj_kinematics(model, data)
        R, p = data.xmat[palm].reshape(3, 3), data.xpos[palm]
        return np.asarray((body_points(model, data, model.body(name).id) - p) @ R, dtype=np.float64)

    def apart(end: End) -> Float:
        return np.asarray(corners(end, bodies[1]).mean(axis=0) - corners(end, bodies[0]).mean(axis=0), dtype=np.float64)

    opened, closed = (low, high) if np.linalg.norm(apart(low)) > np.linalg.norm(apart(high)) else (high, low)
    shut_points = [corners(closed, name) for name in bodies]
    closing = _unit(apart(opened) - apart(closed))
    both = np.concatenate(shut_points)
    out = both.mean(axis=0)
    approach = _snapped(_unit(out - closing * (out @ closing)))
    closing = _snapped(_unit(closing - approach * (closing @ approach)))
    across = np.cross(closing, approach)
    turn = np.stack([across, closing, approach], axis=1)
    tip = min(float((points @ approach).max()) for points in shut_points)
    tips = [points[points @ approach > tip - TIP_LENGTH] for points in shut_points]
    faces = float((tips[0] @ closing).max()), float((tips[1] @ closing).min())
    shut = max(0.0, faces[1] - faces[0])
    moved = float((apart(opened) - apart(closed)) @ closing)
    middle = np.array([np.mean([(t @ across).mean() for t in tips]), np.mean(faces), tip - TIP_LENGTH / 2])
    boxes, axes = [], []
    for name in bodies:
        body = model.body(name).id
        data.qpos[:] = closed.qpos
        mujoco.mj_kinematics(model, data)
        to_tool = data.xmat[body].reshape(3, 3).T @ data.xmat[palm].reshape(3, 3) @ turn
        origin = data.xmat[body].reshape(3, 3).T @ (data.xpos[palm] - data.xpos[body])
        local = (body_points(model, data, body) - data.xpos[body]) @ data.xmat[body].reshape(3, 3)
        tool = local @ to_tool
        here = tool[tool[:, 2] > (origin @ to_tool)[2] + tip - TIP_LENGTH]
        boxes.append(np.stack([here.min(axis=0), here.max(axis=0)], axis=1))
        axes.append(to_tool)
    return Jaws(opened, closed, bodies, turn @ middle, turn, (shut + moved, shut), (boxes[0], boxes[1]), (axes[0], axes[1]))


def body_points(model: Any, data: Any, body: int) -> Float:
    """Corners of everything of a body that touches, in the world [m], shape (n, 3)."""
    found = []
    for geom in range(model.ngeom):
        if int(model.geom_bodyid[geom]) != body or not model.geom_contype[geom]:
            continue
        if model.geom_type[geom] == mujoco.mjtGeom.mjGEOM_MESH:
            mesh = int(model.geom_dataid[geom])
            start, count = int(model.mesh_vertadr[mesh]), int(model.mesh_vertnum[mesh])
            local = np.asarray(model.mesh_vert[start : start + count], dtype=np.float64)
        else:
            center, half = model.geom_aabb[geom][:3], model.geom_aabb[geom][3:]
            signs = np.array(np.meshgrid([-1, 1], [-1, 1], [-1, 1])).reshape(3, -1).T
            local = center + signs * half
        found.append(local @ data.geom_xmat[geom].reshape(3, 3).T + data.geom_xpos[geom])
    return np.concatenate(found)


def _unit(vector: Float) -> Float:
    return vector / max(float(np.linalg.norm(vector)), 1e-12)


def _snapped(vector: Float) -> Float:
    """The axis of the palm that a direction lies within 8 degrees of, or the direction itself."""
    k = int(np.argmax(np.abs(vector)))
    axis = np.sign(vector[k]) * np.eye(3)[k]
    return axis if float(vector @ axis) > np.cos(np.radians(8.0)) else vector
