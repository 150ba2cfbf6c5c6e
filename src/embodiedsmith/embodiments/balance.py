"""How a robot on two feet stands: for every posture of its arms, where its body goes and what its legs do.

Whole-body inverse kinematics under constraints that hold exactly: both feet stay where they are, the pelvis keeps its height and
stays upright, and the centre of mass is over the middle of the feet. The torques that keep that posture are fed forward: weight
less what the floor carries, shared between the feet by least squares. Both are functions of the arms' joints alone, so that the
same command gives the same bits, from whatever state.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import mujoco
import numpy as np
from numpy.typing import NDArray

from embodiedsmith.embodiments.description import Onboard, Robot
from embodiedsmith.embodiments.errors import EmbodimentError

Float = NDArray[np.float64]

_ITERATIONS = 12
_EXACT = 1e-10
"""Residual [m, rad] at which the stance is found; Newton's method squares it, so three iterations are usual."""
_PRESSED = 3e-4
"""How deep the soles are put into the floor at the start [m], about as deep as the weight presses them."""
_SHARE = np.array([1.0, 1.0, 1.0, 0.2, 0.2, 0.2] * 2)
"""Weights by which the floor's forces [N] and moments [N m] on the feet are shared: moments are dear, soles being short."""
_KEPT = 8  # stances remembered


@dataclass(frozen=True)
class Stance:
    """A posture of the whole robot, and what keeps it."""

    shift: Float
    """Horizontal position (2,) of the robot's base from where it stands with its arms at home [m]."""
    joints: Float
    """Of `Onboard.joints` (n,) [rad]."""
    torque: Float
    """Of `Onboard.joints`, then of all arm joints, that keeps the posture at rest (n + arms,) [N m]."""


class Balance:
    """Stances of one robot. Not thread-safe: one a world.

    Args:
        robot: A robot with an `onboard` balance.

    Raises:
        EmbodimentError: its legs do not reach the floor from the height that the description gives.
    """

    def __init__(self, robot: Robot) -> None:
        if robot.onboard is None:
            raise EmbodimentError(f"{robot.name} does not stand on feet of its own")
        self.model = model = _compiled(robot)
        self._onboard: Onboard = robot.onboard
        self._data = mujoco.MjData(model)
        legs, arms = robot.onboard.joints, [j for arm in robot.arms for j in arm.joints]
        self._qpos, self._dof = _addresses(model, legs)
        self._arm_qpos, arm_dof = _addresses(model, arms)
        self._driven = np.concatenate([self._dof, arm_dof])
        self._feet = [model.site(name).id for name in robot.onboard.feet]
        self._soles = _soles(model, self._feet)
        self._base = model.body("base").id
        moving = np.array([name in robot.onboard.legs for name in legs])
        self._leg_qpos = self._qpos[moving]
        self._unknown = np.concatenate([[0, 1], self._dof[moving]])
        self._start = model.qpos0.copy()
        self._start[self._qpos] = robot.onboard.stance
        self._start[self._arm_qpos] = [q for arm in robot.arms for q in arm.home]
        for arm in robot.arms:
            self._start[_addresses(model, arm.gripper.joints)[0]] = arm.gripper.open_qpos
        self._kept: dict[bytes, Stance] = {}
        self._footing = self._stand()

    def stance(self, arms: Float) -> Stance:
        """The stance at joints of all arms (k,) [rad]; at most `_KEPT` are remembered.

        Raises:
            EmbodimentError: there is none: the legs do not get there.
        """
        key = np.asarray(arms, dtype=np.float64).tobytes()
        if key not in self._kept:
            if len(self._kept) >= _KEPT:
                self._kept.pop(next(iter(self._kept)))
            q = self._start.copy()
            q[self._arm_qpos] = arms
            self._solve(q)
            self._kept[key] = Stance(q[:2].copy(), q[self._qpos].copy(), self._torque())
        return self._kept[key]

    def place(self, qpos: Float) -> None:
        """Write the legs and the waist as they are with the arms at home into positions (nq,) of the robot's own model."""
        qpos[self._qpos] = self._start[self._qpos]

    def _stand(self) -> list[tuple[Float, Float]]:
        """Where the feet are put: soles flat on the floor under the centre of mass, with the base at the origin; pose of each."""
        q = self._start
        for _ in range(_ITERATIONS):
            self._forward(q)
            shift = self._data.subtree_com[self._base][0] - self._middle()[0]
            poses = []
            for foot in self._feet:
                x, y, z = self._data.site_xpos[foot]
                poses.append((np.array([x + shift, y, z - self._lowest() - _PRESSED]), np.eye(3)))
            self._footing = poses
            self._solve(q, free_base=False)
            if abs(shift) < 0.1 * _EXACT:
                break
        return poses

    def _solve(self, q: Float, *, free_base: bool = True) -> None:
        """Newton's method on the constraints: changes base and legs of `q` in place."""
        columns = self._unknown if free_base else self._unknown[2:]
        for _ in range(_ITERATIONS):
            self._forward(q)
            J, error = self._constraints()
            if not free_base:
                J, error = J[:12], error[:12]
            if np.abs(error).max() < _EXACT:
                return
            step = np.linalg.solve(J[:, columns], error)
            if free_base:
                q[:2] += step[:2]
            q[self._leg_qpos] += step[2:] if free_base else step
        if np.abs(error).max() > 1e-4:
            raise EmbodimentError(f"no stance: feet or centre of mass stay {1e3 * float(np.abs(error).max()):.1f} mm off")

    def _forward(self, q: Float) -> None:
        self._data.qpos[:] = q
        mujoco.mj_kinematics(self.model, self._data)
        mujoco.mj_comPos(self.model, self._data)

    def _constraints(self) -> tuple[Float, Float]:
        """Jacobian (14, nv) and what is missing (14,): both feet's positions and turns, the centre of mass over their middle."""
        model, data = self.model, self._data
        J, error = np.zeros((15, model.nv)), np.zeros(14)
        for k, (foot, (position, rotation)) in enumerate(zip(self._feet, self._footing, strict=True)):
            at = 6 * k
            mujoco.mj_jacSite(model, data, J[at : at + 3], J[at + 3 : at + 6], foot)
            error[at : at + 3] = position - data.site_xpos[foot]
            R = rotation @ data.site_xmat[foot].reshape(3, 3).T
            error[at + 3 : at + 6] = 0.5 * np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
        mujoco.mj_jacSubtreeCom(model, data, J[12:], self._base)
        error[12:] = self._middle() - data.subtree_com[self._base][:2]
        return J[:14], error

    def _torque(self) -> Float:
        """Torques of the driven joints that carry the present posture."""
        model, data = self.model, self._data
        weight = np.zeros(model.nv)
        mujoco.mj_rne(model, data, 0, weight)
        J = self._constraints()[0][:12]
        A = J[:, :6].T  # what the floor does to the base
        force = _SHARE * (A.T @ np.linalg.solve((A * _SHARE) @ A.T, weight[:6]))
        carried: Float = (weight - J.T @ force)[self._driven]
        return carried

    def _middle(self) -> Float:
        """Middle (2,) of the soles as the feet are now."""
        middle: Float = self._data.geom_xpos[self._soles, :2].mean(axis=0)
        return middle

    def _lowest(self) -> float:
        return float((self._data.geom_xpos[self._soles, 2] - self.model.geom_size[self._soles, 0]).min())


@lru_cache(maxsize=4)
def _compiled(robot: Robot) -> mujoco.MjModel:
    model: mujoco.MjModel = robot.build().compile()
    return model


def _addresses(model: mujoco.MjModel, joints: tuple[str, ...] | list[str]) -> tuple[NDArray[np.int_], NDArray[np.int_]]:
    """Where joints are in positions and in velocities."""
    found = [model.joint(name) for name in joints]
    return np.array([j.qposadr[0] for j in found], dtype=int), np.array([j.dofadr[0] for j in found], dtype=int)


def _soles(model: mujoco.MjModel, feet: list[int]) -> NDArray[np.int_]:
    """The spheres that the feet stand on."""
    bodies = [int(model.site_bodyid[foot]) for foot in feet]
    on_feet = np.isin(model.geom_bodyid, bodies) & (model.geom_type == mujoco.mjtGeom.mjGEOM_SPHERE)
    return np.flatnonzero(on_feet & (model.geom_contype != 0))
