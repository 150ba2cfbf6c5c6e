"""Grains in a world: where they are, and how they are put somewhere.

Grains have no root that moves: each moves along three slides in the frame of its root as laid out, and turns in a ball joint.
"""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np

from embodiedsmith.assets.asset import Asset
from embodiedsmith.world import transforms as tf


@dataclass(frozen=True)
class Heap:
    """Where one item of grains lives in the model's arrays."""

    bodies: np.ndarray
    """Shape (n,)."""
    qpos: np.ndarray
    """Addresses of the grains' slides, shape (n, 3)."""
    dofs: np.ndarray
    """Those of their velocities, shape (n, 3)."""
    rest: tf.Float
    """Where they begin in their root's frame [m], shape (n, 3)."""
    T_world_root: tf.Float
    """The root as laid out, shape (4, 4)."""
    radius: float
    """Of every grain [m]."""

    @classmethod
    def of(cls, model: mujoco.MjModel, item: str, asset: Asset, T_world_root: tf.Float) -> Heap:
        """The grains of an item in a compiled model."""
        assert asset.matter is not None
        bodies = np.array([model.body(f"{item}/{name}").id for name in asset.matter.bodies], dtype=int)
        joints = model.body_jntadr[bodies][:, None] + np.arange(3)
        return cls(
            bodies, model.jnt_qposadr[joints], model.jnt_dofadr[joints], model.body_pos[bodies].copy(), T_world_root,
            asset.matter.spacing / 2,
        )  # fmt: skip

    def points(self, data: mujoco.MjData) -> tf.Float:
        """World positions of the grains [m], shape (n, 3)."""
        found: tf.Float = data.xpos[self.bodies]
        return found

    def put(self, data: mujoco.MjData, points: tf.Float) -> None:
        """Put the grains at world positions (n, 3) [m]; forward kinematics is left to the caller."""
        R, origin = self.T_world_root[:3, :3], self.T_world_root[:3, 3]
        data.qpos[self.qpos] = (points - origin) @ R - self.rest

    def lay(self, data: mujoco.MjData, T_world_root: tf.Float) -> None:
        """Put them as they begin, with their root at a world pose (4, 4)."""
        self.put(data, self.rest @ T_world_root[:3, :3].T + T_world_root[:3, 3])

    def middle(self, data: mujoco.MjData) -> tf.Float:
        """Origin of their pose: under the middle of them, as low as the lowest, shape (..., 3) [m]."""
        points = data.xpos[..., self.bodies, :]
        below: tf.Float = points.mean(axis=-2)
        below[..., 2] = points[..., 2].min(axis=-1) - self.radius
        return below

    def pose(self, data: mujoco.MjData) -> tf.Float:
        """World pose (4, 4), turned as they were laid out."""
        T = self.T_world_root.copy()
        T[:3, 3] = self.middle(data)
        return T

    def speed(self, data: mujoco.MjData) -> float:
        """Mean speed of the grains [m/s]: one that still rolls to its place does not make the heap move."""
        return float(np.linalg.norm(data.qvel[self.dofs], axis=1).mean())
