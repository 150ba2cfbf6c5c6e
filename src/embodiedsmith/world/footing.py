"""A robot on its own feet in a world: what its balance controller drives, how safely it stands, when it has fallen."""

from __future__ import annotations

import math

import mujoco
import numpy as np
from scipy.spatial import ConvexHull, QhullError

from embodiedsmith.embodiments.balance import Balance, Stance
from embodiedsmith.embodiments.description import Robot
from embodiedsmith.world import transforms as tf
from embodiedsmith.world.compile import ROBOT
from embodiedsmith.world.errors import WorldFault


class Footing:
    """The balance controller of a robot in a world's model.

    Args:
        model: The world's model.
        robot: A robot with an `onboard` balance.
        arm_servos: Actuators (k,) of all arm joints, in the order of the arms.
        T_world_base: Where the robot was put, shape (4, 4).
    """

    def __init__(self, model: mujoco.MjModel, robot: Robot, arm_servos: np.ndarray, T_world_base: tf.Float) -> None:
        assert robot.onboard is not None
        self._model = model
        self._balance = Balance(robot)
        self._onboard = robot.onboard
        self._T_world_base = T_world_base
        self._servos = np.array([model.actuator(ROBOT + name).id for name in robot.onboard.actuators], dtype=int)
        self._driven = np.concatenate([self._servos, arm_servos])
        kp = model.actuator_gainprm[self._driven, 0]
        self._give = 1.0 / kp
        self._feed = -model.actuator_biasprm[self._servos, 2] / kp[: len(self._servos)]
        self._qpos = np.array([model.joint(ROBOT + name).qposadr[0] for name in robot.onboard.joints], dtype=int)
        self._free = int(model.joint(f"{ROBOT}free").qposadr[0])
        self._base = model.body(f"{ROBOT}base").id
        self._mount = model.body(ROBOT + robot.onboard.mount).id
        self._T_mount_base = _offset(self._balance.model, robot.onboard.mount)
        bodies = [int(model.site_bodyid[model.site(ROBOT + foot).id]) for foot in robot.onboard.feet]
        self.feet = np.flatnonzero(np.isin(model.geom_bodyid, bodies) & (model.geom_contype != 0))
        """Geoms that it stands on."""

    def controls(self, start: tf.Float, target: tf.Float, substeps: int, dt: float) -> tf.Float:
        """What is added to the controls at each substep between two postures of all arms, shape (substeps, nu).

        Args:
            start: Arm joints (k,) commanded at the beginning of the control step.
            target: Those at its end (k,).
            substeps: Physics steps in it.
            dt: Its duration [s].
        """
        before, after = self._balance.stance(start), self._balance.stance(target)
        first, last = self._still(before), self._still(after)
        ways = np.arange(1, substeps + 1)[:, None] / substeps
        out = first + ways * (last - first)
        out[:, self._servos] += self._feed * (after.joints - before.joints) / dt
        return out

    def _still(self, stance: Stance) -> tf.Float:
        out = np.zeros(self._model.nu)
        out[self._servos] = stance.joints
        out[self._driven] += stance.torque * self._give
        return out

    def place(self, data: mujoco.MjData, arms: tf.Float) -> None:
        """Write base, legs and waist of the stance at joints of all arms (k,) into the positions of `data`."""
        stance = self._balance.stance(arms)
        T = self._T_world_base @ tf.translate((*stance.shift, 0.0))
        data.qpos[self._free : self._free + 3] = T[:3, 3]
        data.qpos[self._free + 3 : self._free + 7] = tf.quaternion(T[:3, :3])
        data.qpos[self._qpos] = stance.joints

    def base_pose(self, data: mujoco.MjData) -> tf.Float:
        """World pose (4, 4) of the robot's base as the arms see it: measured at what carries them, so that a waist may give."""
        return tf.compose(data.xpos[self._mount], data.xquat[self._mount]) @ self._T_mount_base

    def margin(self, data: mujoco.MjData) -> float:
        """How far [m] the centre of pressure is inside the outline of what stands on the ground; 0 when nothing does.

        Of the contacts of the physics step before.
        """
        points, forces = [], []
        for k in np.flatnonzero(np.isin(data.contact.geom, self.feet).any(axis=1)):
            force = np.zeros(6)
            mujoco.mj_contactForce(self._model, data, int(k), force)
            points.append(data.contact.pos[k, :2].copy())
            forces.append(force[0])
        if len(points) < 3 or sum(forces) <= 0.0:
            return 0.0
        centre = np.average(points, axis=0, weights=forces)
        try:
            edges = ConvexHull(np.array(points)).equations
        except QhullError:  # on a line
            return 0.0
        return max(0.0, -float((edges[:, :2] @ centre + edges[:, 2]).max()))

    def fault(self, data: mujoco.MjData) -> WorldFault | None:
        """Whether it has fallen."""
        sink, tilt = self._onboard.fallen
        sunk = float(self._T_world_base[2, 3] - data.xpos[self._base, 2])
        if sunk > sink:
            return WorldFault("world.fall", f"the robot has sunk by {100 * sunk:.0f} cm", value=sunk, limit=sink)
        tilted = math.acos(float(np.clip(data.xmat[self._base, 8], -1.0, 1.0)))
        if tilted > tilt:
            said = f"the robot leans by {math.degrees(tilted):.0f} degrees"
            return WorldFault("world.fall", said, value=tilted, limit=tilt)
        return None


def _offset(model: mujoco.MjModel, mount: str) -> tf.Float:
    """Pose (4, 4) of the robot's base in the body that carries the arms, waist straight."""
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    body, base = model.body(mount).id, model.body("base").id
    T = tf.compose(data.xpos[body], data.xquat[body])
    return tf.inverse(T) @ tf.compose(data.xpos[base], data.xquat[base])
