"""Kinematics of one arm for many rows at once, in the frame of the robot's base."""

from __future__ import annotations

import mujoco
import numpy as np
from numpy.typing import NDArray

from embodiedsmith.embodiments.description import Arm

Float = NDArray[np.float64]

ITERATIONS = 100
DAMPING = 1e-6
"""Added to J J^T: bounds the steps beside singularities, and vanishes at the solution."""
LARGEST_STEP = 0.3  # [rad] an iteration, so that linearisation holds
EXACT = 1e-10  # [m + rad]


class Chain:
    """The joints between a robot's base and the tool of one of its arms.

    Joints on the way that are not the arm's own (a vehicle's, a waist's) stay where the model has them.

    Args:
        model: The robot alone, as `Robot.build` gives it, or as part of a scene.
        arm: Which arm.
        prefix: What the names of the robot begin with in the model.
    """

    def __init__(self, model: mujoco.MjModel, arm: Arm, prefix: str = "") -> None:
        own = {int(model.joint(prefix + name).id): k for k, name in enumerate(arm.joints)}
        site = model.site(prefix + arm.tcp_site)
        offset, turn = np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0])
        offsets, turns, order = [], [], []
        for body in _path(model, int(site.bodyid[0])):
            if model.body_parentid[body] != 0:  # the base itself is the frame
                offset, turn = _then(offset, turn, model.body_pos[body], model.body_quat[body])
            first = int(model.body_jntadr[body])
            for joint in range(first, first + int(model.body_jntnum[body])):
                if joint in own:
                    offsets.append(offset)
                    turns.append(turn)
                    order.append(joint)
                    offset, turn = np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0])
        offset, turn = _then(offset, turn, site.pos, site.quat)
        if [own[joint] for joint in order] != list(range(len(arm.joints))):
            raise ValueError(f"the joints of {arm.name} are not in a row from the base to {arm.tcp_site}")
        hinges = np.array([int(model.jnt_type[j]) == mujoco.mjtJoint.mjJNT_HINGE for j in order])
        self._zero = np.array([float(model.qpos0[model.jnt_qposadr[j]]) for j in order])
        self._tables = (
            np.array([*offsets, offset]), np.array([*turns, turn]),
            model.jnt_axis[order].copy(), model.jnt_pos[order].copy(), hinges,
        )  # fmt: skip
        limited = model.jnt_limited[order].astype(bool)
        self.low: Float = np.where(limited, model.jnt_range[order, 0], -np.inf)
        """Lower limit of each joint, shape (k,); -inf: none."""
        self.high: Float = np.where(limited, model.jnt_range[order, 1], np.inf)
        self._rest = np.asarray(arm.home, dtype=np.float64)

    def clip(self, joints: Float) -> Float:
        """The joints, brought within their limits: one a hair beyond is no fault."""
        return np.clip(joints, self.low, self.high)

    def forward(self, joints: Float) -> tuple[Float, Float]:
        """Positions (n, 3) [m] and quaternions (n, 4) (w, x, y, z) of the tool at joints (n, k)."""
        from embodiedsmith.embodiments import chain_kernels  # brings a compiler along

        rows = np.ascontiguousarray(joints, dtype=np.float64)
        positions, quaternions = np.empty((len(rows), 3)), np.empty((len(rows), 4))
        chain_kernels.forward(rows, self._zero, *self._tables, positions, quaternions)
        return positions, quaternions

    def inverse(self, positions: Float, quaternions: Float, starts: Float, pull: float = 0.0) -> tuple[Float, Float]:
        """Joints near `starts` whose tool is at the poses: damped least squares within limits, so with the least motion.

        Args:
            positions: Where the tool is to be, shape (n, 3) [m].
            quaternions: How it is to be turned, shape (n, 4).
            starts: Joints to begin from, shape (n, k).
            pull: Fraction of the way home that the joints of an arm with more than six go, as far as that leaves its tool alone.

        Returns:
            Joints (n, k), and how far their tool is from its pose, shape (n, 2) [m, rad]: not zero when that is out of reach.
        """
        from embodiedsmith.embodiments import chain_kernels

        given = (np.ascontiguousarray(a, dtype=np.float64) for a in (positions, quaternions, starts))
        out, errors = np.empty(starts.shape), np.empty((len(starts), 2))
        spare = starts.shape[1] > 6
        chain_kernels.inverse(
            *given, self._zero, *self._tables, self.low, self.high, self._rest, float(pull) if spare else 0.0,
            ITERATIONS, DAMPING, LARGEST_STEP, EXACT, out, errors,
        )  # fmt: skip
        return out, errors


def _path(model: mujoco.MjModel, body: int) -> list[int]:
    """Bodies from the one below the world down to `body`."""
    path: list[int] = []
    while body != 0:
        path.append(body)
        body = int(model.body_parentid[body])
    return path[::-1]


def _then(offset: Float, turn: Float, position: Float, quaternion: Float) -> tuple[Float, Float]:
    """A transform followed by another, as position and quaternion."""
    moved, turned = np.empty(3), np.empty(4)
    mujoco.mju_rotVecQuat(moved, np.asarray(position, dtype=np.float64), turn)
    mujoco.mju_mulQuat(turned, turn, np.asarray(quaternion, dtype=np.float64))
    return offset + moved, turned
