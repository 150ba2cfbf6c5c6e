"""Grains in a world: where they are, and how they are put somewhere.

Each grain turns in a ball joint beside its three slides.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np

from embodiedsmith.assets.asset import Asset
from embodiedsmith.world import transforms as tf
from embodiedsmith.world.points import Points


@dataclass(frozen=True, kw_only=True)
class Heap(Points):
    """Where one item of grains lives in the model's arrays."""

    @classmethod
    def of(cls, model: mujoco.MjModel, item: str, asset: Asset, T_world_root: tf.Float) -> Heap:
        """The grains of an item in a compiled model."""
        assert asset.matter is not None
        bodies = np.array([model.body(f"{item}/{name}").id for name in asset.matter.bodies], dtype=int)
        return cls(**cls.addresses(model, bodies), T_world_root=T_world_root, radius=asset.matter.spacing / 2)

    def middle(self, data: Any) -> tf.Float:
        """Origin of their pose: under the middle of them, as low as the lowest, shape (..., 3) [m]."""
        points = data.xpos[..., self.bodies, :]
        below: tf.Float = points.mean(axis=-2)
        below[..., 2] = points[..., 2].min(axis=-1) - self.radius
        return below

    def speed(self, data: mujoco.MjData) -> float:
        """Mean speed of the grains [m/s]: one that still rolls to its place does not make the heap move."""
        return float(np.linalg.norm(data.qvel[self.dofs], axis=1).mean())
