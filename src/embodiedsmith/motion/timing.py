"""When to be where: time parametrisation of joint paths under velocity and acceleration limits (toppra)."""

from __future__ import annotations

import numpy as np
import toppra
import toppra.algorithm
import toppra.constraint

from embodiedsmith.motion.errors import MotionError
from embodiedsmith.world import transforms as tf

KNOT = 0.5  # [rad] between spline knots on a long straight: keeps the spline from bulging


def parametrize(path: tf.Float, velocity: tf.Float, acceleration: tf.Float, dt: float, *, stage: str) -> tf.Float:
    """Joint targets every `dt` [s], shape (T, n), fastest under the limits, ending at rest on the last row of `path`.

    Raises:
        MotionError: `<stage>.timing` when toppra finds no parametrisation.
    """
    toppra.setup_logging("ERROR")
    knots = _densify(path)
    if len(knots) < 2:
        return path[-1:]
    length = np.r_[0, np.cumsum(np.linalg.norm(np.diff(knots, axis=0), axis=1))]
    curve = toppra.SplineInterpolator(length / length[-1], knots)
    limits = [
        toppra.constraint.JointVelocityConstraint(np.stack([-velocity, velocity], axis=1)),
        toppra.constraint.JointAccelerationConstraint(np.stack([-acceleration, acceleration], axis=1)),
    ]
    trajectory = toppra.algorithm.TOPPRA(limits, curve, parametrizer="ParametrizeConstAccel").compute_trajectory()
    if trajectory is None:
        raise MotionError(f"{stage}.timing", "no time parametrisation under the joint limits")
    times = np.arange(dt, trajectory.duration, dt)
    targets = trajectory(times) if len(times) else np.empty((0, path.shape[1]))
    return np.vstack([targets, path[-1:]])


def _densify(path: tf.Float) -> tf.Float:
    rows = [path[0]]
    for a, b in zip(path[:-1], path[1:], strict=True):
        span = float(np.abs(b - a).max())
        if span < 1e-6:
            continue
        count = max(2 if len(path) == 2 else 1, int(np.ceil(span / KNOT)))
        rows += [a + (b - a) * (k / count) for k in range(1, count + 1)]
    return np.array(rows)
