"""Distances between the bounding boxes of things, each box turned with its thing."""

from __future__ import annotations

import math

import numpy as np

from embodiedsmith.tasks.probe import Float, Probe

ROUNDS = 24
"""Projections from box to box at most. Two boxes side by side need two; the result is never below the true distance."""
SAME = 1e-5
"""[m] The search stops when a round brings the boxes nearer by less than this."""


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

    def gap(self, other: Box) -> float:
        """Distance [m] between two boxes, 0 when they overlap, by alternating projections (Bregman 1965)."""
        R, p = self._frame()
        here = R @ self._middle + p
        gap = before = math.inf
        for _ in range(ROUNDS):
            there = other.nearest(here)
            here = self.nearest(there)
            away = there - here
            gap = math.sqrt(float(away @ away))
            if before - gap < SAME:
                break
            before = gap
        return gap
