"""How a thing looks the same when it is turned about its own z axis: a can at any angle, a block at every quarter turn."""

from __future__ import annotations

from typing import Literal

import numpy as np

from embodiedsmith.tasks.probe import Float, Shape

Order = Literal[0, 1, 2, 4]
"""How many turns within a full one leave it as it is; 0: any."""

SAME = 0.02
"""Greatest change of reach, as a part of the thing's own reach from its axis, that does not count."""
LEAST = 0.001  # [m] greatest change that never counts
AZIMUTHS = 48  # directions round the axis: quarter turns, eighths and odd angles are among them
ELEVATIONS = np.radians([0.0, 30.0, 60.0, -30.0, -60.0])


def order(shape: Shape) -> Order:
    """The order of a shape's symmetry about the z axis through the middle of its outline."""
    around = 2 * np.pi * np.arange(AZIMUTHS) / AZIMUTHS
    level = np.stack([np.cos(around), np.sin(around), np.zeros(AZIMUTHS)], axis=1)
    flat = _reach(shape, level)
    x, y = 0.5 * (flat[0] - flat[AZIMUTHS // 2]), 0.5 * (flat[AZIMUTHS // 4] - flat[3 * AZIMUTHS // 4])
    up = np.array([0.0, 0.0, 1.0])
    rings = [np.cos(e) * level + np.sin(e) * up for e in ELEVATIONS]
    reach = np.stack([_reach(shape, ring) - ring[:, :2] @ (x, y) for ring in rings])  # (elevations, azimuths)
    limit = max(LEAST, SAME * float(reach[0].max()))
    if np.ptp(reach, axis=1).max() <= limit:
        return 0
    if _changes(reach, 4) <= limit:
        return 4
    return 2 if _changes(reach, 2) <= limit else 1


def _changes(reach: Float, turns: int) -> float:
    return float(np.abs(reach - np.roll(reach, AZIMUTHS // turns, axis=1)).max())


def _reach(shape: Shape, directions: Float) -> Float:
    """How far the shape reaches from its root along unit directions (m, 3), shape (m,) [m]."""
    out: Float = (shape.points @ directions.T + shape.radii[:, None]).max(axis=0)
    return out
