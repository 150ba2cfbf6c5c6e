"""How far points are from the bounding boxes of things, each box turned with its thing."""

from __future__ import annotations

import math

import numpy as np

from embodiedsmith.tasks.probe import Float, Probe


class Box:
    """The bounding box of one item, joints closed, where the item is now."""

    def __init__(self, probe: Probe, item: str) -> None:
        low, high = probe.world.assets[item].extents
        self._middle = (np.asarray(low) + np.asarray(high)) / 2
        self._half = (np.asarray(high) - np.asarray(low)) / 2
        self._frame = probe.frame(item)

    def nearest(self, point: Float) -> Float:
        """The point (3,) of the box nearest to a world point (3,) [m]; the point itself when it is inside."""
        R, p = self._frame()
        local = (point - p) @ R - self._middle
        np.minimum(np.maximum(local, -self._half, out=local), self._half, out=local)
        nearest: Float = R @ (local + self._middle) + p
        return nearest

    def distance(self, point: Float) -> float:
        """Distance [m] of a world point (3,) from the box, 0 inside."""
        away = point - self.nearest(point)
        return math.sqrt(float(away @ away))
