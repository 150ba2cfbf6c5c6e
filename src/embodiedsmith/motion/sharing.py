"""Where to put a thing on or in something that others share: beside what is there, with room left for what is still to come."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, product

import numpy as np

from embodiedsmith.assets.asset import Cavity, Support
from embodiedsmith.motion.operators import Step
from embodiedsmith.world import transforms as tf

TURN = 12
"""Points round a disc, on each of `RINGS`."""
RINGS = (1.0, 0.6)  # fractions of the way out
STEPS = 5
"""Points along each side of a rectangle."""
WALL = 0.004  # [m] kept from the wall of a container
AMPLE = 0.02  # [m] between things: more is no better
GRAIN = 0.002  # [m] by which gaps are told apart


def coming(steps: Sequence[Step], reference: str, item: str) -> tuple[str, ...]:
    """Items other than this one that `steps` put to the place named by `reference`, each once."""
    put = (s.args[0] for s in steps if s.skill == "place" and s.args[1] == reference)
    return tuple(dict.fromkeys(other for other in put if other != item))


def points(
    place: Support | Cavity, radius: float, there: Sequence[tuple[float, float, float]], later: Sequence[float]
) -> tf.Float:
    """Points (n, 2) in the place's frame [m] for a thing, those first where it and those to come stand farthest apart.

    Args:
        place: What they stand on or in.
        radius: Half the thing's width [m].
        there: Middle (x, y) and radius [m] of each thing that is there.
        later: Radii [m] of those that are still to come.
    """
    own = candidates(place, radius)
    gaps = np.array([_gap(place, point, radius, there, later) for point in own])
    return own[np.argsort(-np.round(np.minimum(gaps, AMPLE) / GRAIN), kind="stable")]


def room(place: Support | Cavity, radii: Sequence[float]) -> float:
    """Least gap [m] between things of those radii that are put there one after the other; negative when they do not fit."""
    around: list[tuple[float, float, float]] = []
    for k, radius in enumerate(radii):
        x, y = points(place, radius, around, radii[k + 1 :])[0]
        around.append((float(x), float(y), radius))
    gaps = (float(np.hypot(a[0] - b[0], a[1] - b[1])) - a[2] - b[2] for a, b in combinations(around, 2))
    return min(gaps, default=float("inf"))


def candidates(place: Support | Cavity, radius: float) -> tf.Float:
    """Points (n, 2) in the place's frame at which a thing of that radius is all on it, and the middle, whatever its size."""
    wall = WALL if isinstance(place, Cavity) else 0.0
    half = np.maximum(np.asarray(place.size[:2]) / 2 - radius - wall, 0.0)
    if place.shape == "disc":
        angles = np.linspace(-np.pi, np.pi, TURN, endpoint=False)
        round_it = [half * ring * (np.cos(a), np.sin(a)) for ring in RINGS for a in angles]
    else:
        round_it = [half * way for way in product(np.linspace(-1.0, 1.0, STEPS), repeat=2)]
    return np.array([*round_it, np.zeros(2)])


def _gap(
    place: Support | Cavity, point: tf.Float, radius: float, there: Sequence[tuple[float, float, float]], later: Sequence[float]
) -> float:
    """Least gap [m] between things with this one at a point and each that comes where it is then farthest from all."""
    around = np.array([*there, (*point, radius)])
    least = float(_apart(point[None], radius, np.array(there).reshape(-1, 3))[0])
    for other in later:
        free = candidates(place, other)
        gaps = _apart(free, other, around)
        best = int(gaps.argmax())
        least = min(least, float(gaps[best]))
        around = np.vstack([around, (*free[best], other)])
    return least


def _apart(spots: tf.Float, radius: float, around: tf.Float) -> tf.Float:
    """Gap [m] between a disc at each of the spots (n, 2) and the nearest of the discs (k, 3) around, shape (n,)."""
    if not len(around):
        return np.full(len(spots), np.inf)
    away = np.linalg.norm(spots[:, None] - around[None, :, :2], axis=2)
    gaps: tf.Float = (away - around[:, 2]).min(axis=1) - radius
    return gaps
