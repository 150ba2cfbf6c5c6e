"""When to be where: time parametrisation of joint paths under velocity and acceleration limits (toppra)."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import toppra
import toppra.algorithm
import toppra.constraint

from embodiedsmith.motion.errors import MotionError
from embodiedsmith.world import transforms as tf

GRID = 8  # points between two knots at which toppra keeps the limits: with fewer they are broken in corners
BEND = 0.1  # [rad] between legs from which they make a corner
CORNER = 0.03  # [rad] from a corner to the knots beside it: the spline leaves the path by less than a tenth of this
KNOT = 0.5  # [rad] between spline knots on a long straight: keeps the spline from bulging


def parametrize(path: tf.Float, velocity: tf.Float, acceleration: tf.Float, dt: float, *, stage: str) -> tf.Float:
    """Joint targets every `dt` [s], shape (T, n), fastest under the limits, ending at rest on the last row of `path`.

    Raises:
        MotionError: `<stage>.timing` when toppra finds no parametrisation.
    """
    toppra.setup_logging("ERROR")
    knots = _densify(path)
    if len(knots) < 2 or _within_a_step(knots, velocity, acceleration, dt):
        return path[-1:]
    length = np.r_[0, np.cumsum(np.linalg.norm(np.diff(knots, axis=0), axis=1))]
    at = length / length[-1]
    curve = toppra.SplineInterpolator(at, knots)
    grid = np.unique(np.concatenate([np.linspace(a, b, GRID + 1) for a, b in pairwise(at)]))
    limits = [
        toppra.constraint.JointVelocityConstraint(np.stack([-velocity, velocity], axis=1)),
        toppra.constraint.JointAccelerationConstraint(np.stack([-acceleration, acceleration], axis=1)),
    ]
    trajectory = toppra.algorithm.TOPPRA(
        limits, curve, gridpoints=grid, parametrizer="ParametrizeConstAccel"
    ).compute_trajectory()
    if trajectory is None:
        raise MotionError(f"{stage}.timing", "no time parametrisation under the joint limits")
    times = np.arange(dt, trajectory.duration, dt)
    targets = trajectory(times) if len(times) else np.empty((0, path.shape[1]))
    return np.vstack([targets, path[-1:]])


def _within_a_step(knots: tf.Float, velocity: tf.Float, acceleration: tf.Float, dt: float) -> bool:
    """Whether every joint gets from rest to rest in `dt` [s]. So short a motion toppra often finds no parametrisation for."""
    way = np.abs(np.diff(knots, axis=0)).sum(axis=0)
    return bool((way <= np.minimum(velocity * dt / 2, acceleration * dt**2 / 4)).all())


def _densify(path: tf.Float) -> tf.Float:
    """Knots (k, n) on the path: close by each side of a corner, so that the spline turns there and nowhere else."""
    rows = _without_repeats(path)
    if len(rows) < 2:
        return rows
    legs = np.diff(rows, axis=0)
    lengths = np.linalg.norm(legs, axis=1)
    ways = legs / lengths[:, None]
    bends = np.r_[False, (ways[:-1] * ways[1:]).sum(axis=1) < np.cos(BEND), False]
    knots = [rows[0]]
    for k, length in enumerate(lengths):
        after = _graded(length) if bends[k] else []
        before = [length - s for s in reversed(_graded(length))] if bends[k + 1] else []
        start, end = (after or [0.0])[-1], (before or [length])[0]
        widest = KNOT / float(np.abs(ways[k]).max())
        count = max(2 if len(rows) == 2 else 1, int(np.ceil((end - start) / widest)))
        between = [start + (end - start) * i / count for i in range(1, count)]
        knots += [rows[k] + ways[k] * s for s in (*after, *between, *before, length)]
    return np.array(knots)


def _graded(length: float) -> list[float]:
    """Distances of knots from a corner along a leg, ever wider apart, up to its middle: a spline's swing dies out over them."""
    found, at = [], min(CORNER, length / 3)
    while at < length / 2:
        found.append(at)
        at *= 3
    return found


def _without_repeats(path: tf.Float) -> tf.Float:
    keep = np.r_[True, np.abs(np.diff(path, axis=0)).max(axis=1) > 1e-6] if len(path) > 1 else np.array([True])
    return np.asarray(path)[keep]
