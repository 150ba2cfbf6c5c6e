"""Rigid poses as data."""

from __future__ import annotations

import math
from typing import Self

from pydantic import model_validator

from embodiedsmith.spec.base import Noun

Vec3 = tuple[float, float, float]
Quat = tuple[float, float, float, float]


class Pose(Noun):
    """A rigid pose: where a frame is in its parent frame."""

    position: Vec3 = (0.0, 0.0, 0.0)
    """Translation (x, y, z) [m]."""
    rotation: Quat = (1.0, 0.0, 0.0, 0.0)
    """Unit quaternion (w, x, y, z)."""

    @model_validator(mode="after")
    def _unit(self) -> Self:
        norm = math.sqrt(sum(c * c for c in self.rotation))
        if abs(norm - 1.0) > 1e-6:
            raise ValueError(f"rotation {self.rotation} has norm {norm:.6g}; give a unit quaternion (w, x, y, z)")
        return self

    @classmethod
    def planar(cls, x: float, y: float, z: float = 0.0, yaw: float = 0.0) -> Pose:
        """A pose turned by `yaw` [rad] about z only; positions [m]."""
        return cls(position=(x, y, z), rotation=(math.cos(yaw / 2), 0.0, 0.0, math.sin(yaw / 2)))

    @property
    def yaw(self) -> float:
        """Rotation about z [rad], in (-pi, pi], of the frame's x axis projected on the horizontal plane."""
        w, x, y, z = self.rotation
        return math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))
