"""What cloth and grains in a world have in common: many points without a root that moves.

Each point is a body that moves along three slides in the frame of the root as laid out.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np

from embodiedsmith.world import transforms as tf


@dataclass(frozen=True, kw_only=True)
class Points(ABC):
    """Where the points of one item live in the model's arrays."""

    bodies: np.ndarray
    """Shape (n,)."""
    qpos: np.ndarray
    """Addresses of the points' slides, shape (n, 3)."""
    dofs: np.ndarray
    """Those of their velocities, shape (n, 3)."""
    rest: tf.Float
    """Where they begin in their root's frame [m], shape (n, 3)."""
    T_world_root: tf.Float
    """The root as laid out, shape (4, 4)."""
    radius: float
    """Of the ball round every point [m]."""

    @staticmethod
    def addresses(model: mujoco.MjModel, bodies: np.ndarray) -> dict[str, Any]:
        """`bodies`, `qpos`, `dofs` and `rest` of points that are these bodies (n,)."""
        joints = model.body_jntadr[bodies][:, None] + np.arange(3)
        return {
            "bodies": bodies, "qpos": model.jnt_qposadr[joints], "dofs": model.jnt_dofadr[joints],
            "rest": model.body_pos[bodies].copy(),
        }  # fmt: skip

    @abstractmethod
    def middle(self, data: Any) -> tf.Float:
        """Origin of their pose, shape (..., 3) [m], in data whose `xpos` has shape (..., bodies, 3)."""

    @abstractmethod
    def speed(self, data: mujoco.MjData) -> float:
        """How fast they move as a whole [m/s]."""

    def points(self, data: mujoco.MjData) -> tf.Float:
        """World positions [m], shape (n, 3)."""
        found: tf.Float = data.xpos[self.bodies]
        return found

    def put(self, data: mujoco.MjData, points: tf.Float) -> None:
        """Put them at world positions (n, 3) [m]; forward kinematics is left to the caller."""
        R, origin = self.T_world_root[:3, :3], self.T_world_root[:3, 3]
        data.qpos[self.qpos] = (points - origin) @ R - self.rest

    def lay(self, data: mujoco.MjData, T_world_root: tf.Float) -> None:
        """Put them as they begin, with their root at a world pose (4, 4)."""
        self.put(data, self.rest @ T_world_root[:3, :3].T + T_world_root[:3, 3])

    def pose(self, data: mujoco.MjData) -> tf.Float:
        """World pose (4, 4), turned as they were laid out."""
        T = self.T_world_root.copy()
        T[:3, 3] = self.middle(data)
        return T
