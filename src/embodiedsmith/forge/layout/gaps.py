"""How far apart things are kept: what the engine needs, and what a hand needs besides."""

from __future__ import annotations

import math

import numpy as np

from embodiedsmith.forge.layout.prisms import Float, Kind

ARM_PLAY = 0.03  # [m] that the arm's start varies, in each direction
FINGERS = (0.035, 0.060)  # [m] beside a thing for a finger to come down, at the least and in comfort
SPOT = (0.015, 0.040)  # [m] beside a spot that is kept free, at the least and in comfort
CLEAR = 0.005  # [m] between things whose variation has brought them as near as it can


def stray(position: float) -> float:
    """Farthest [m] that one item is moved by a reset that shifts it by up to `position` along each axis."""
    return math.sqrt(2) * position


def gap_table(position: float, comfort: float, *, anticipate: bool) -> Float:
    """Least gap [m] between two kinds of prism, shape (kinds, kinds); minus infinity where sharing space is no fault.

    Args:
        position: Largest shift of a free item along each axis at reset [m].
        comfort: 1 for generous gaps, 0 for the least that works.
        anticipate: Whether there is to be room for a hand, too; else only nothing may touch, whatever the reset draws.
    """
    table = np.full((len(Kind), len(Kind)), -np.inf)
    rows = _anticipating(stray(position), comfort) if anticipate else _apart(stray(position))
    for a, b, gap in rows:
        table[a, b] = table[b, a] = gap
    return table


def _apart(j: float) -> tuple[tuple[Kind, Kind, float], ...]:
    return (
        (Kind.FREE, Kind.FREE, 2 * j + CLEAR),
        (Kind.FREE, Kind.FIXED, j + CLEAR),
        (Kind.FIXED, Kind.FIXED, 0.01),
        (Kind.FREE, Kind.MOUNT, j + CLEAR),
        (Kind.FIXED, Kind.MOUNT, 0.02),
        (Kind.FREE, Kind.ARM, j + ARM_PLAY),
        (Kind.FIXED, Kind.ARM, ARM_PLAY),
    )


def _anticipating(j: float, comfort: float) -> tuple[tuple[Kind, Kind, float], ...]:
    fingers, spot = (low + comfort * (high - low) for low, high in (FINGERS, SPOT))
    return (
        (Kind.FREE, Kind.FREE, max(fingers, 2 * j + CLEAR)),
        (Kind.FREE, Kind.FIXED, max(fingers + 0.01, j + 0.01)),
        (Kind.FREE, Kind.SWING, j + 0.01),
        (Kind.FREE, Kind.HAND, j),
        (Kind.FREE, Kind.RESERVED, j + spot),
        (Kind.FREE, Kind.MOUNT, j + 0.05),
        (Kind.FREE, Kind.STAND, j),
        (Kind.FIXED, Kind.FIXED, 0.01),
        (Kind.FIXED, Kind.SWING, 0.015),
        (Kind.FIXED, Kind.HAND, 0.0),
        (Kind.FIXED, Kind.RESERVED, 0.03),
        (Kind.FIXED, Kind.MOUNT, 0.02),
        (Kind.FIXED, Kind.STAND, 0.0),
        (Kind.SWING, Kind.SWING, 0.0),
        (Kind.FREE, Kind.IDLE, j + 0.01),
        (Kind.FIXED, Kind.IDLE, 0.015),
        (Kind.RESERVED, Kind.IDLE, 0.01),
        (Kind.SWING, Kind.RESERVED, 0.01),
        (Kind.SWING, Kind.MOUNT, 0.02),
        (Kind.HAND, Kind.RESERVED, 0.0),
        (Kind.HAND, Kind.MOUNT, 0.0),
        (Kind.RESERVED, Kind.RESERVED, 0.006 + 0.024 * comfort),
        (Kind.RESERVED, Kind.MOUNT, 0.05),
        (Kind.FREE, Kind.ARM, j + ARM_PLAY),
        (Kind.FIXED, Kind.ARM, ARM_PLAY),
    )
