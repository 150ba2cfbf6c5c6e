"""Joint paths: straight when the way is free, sampled (RRT-Connect) when it is blocked.

Demonstrations are learnt from: detours are taken only where there is something to go round.
"""

from __future__ import annotations

import numpy as np
from ompl import base as ob
from ompl import geometric as og
from ompl import util as ou

from embodiedsmith.motion.collision import MARGIN, Space
from embodiedsmith.motion.errors import MotionError
from embodiedsmith.world import transforms as tf

MAX_CHECKS = 6000  # configurations checked before a sampled plan is given up
RESOLUTION = 0.005  # fraction of the space's extent between checks along an edge
RANGE = 0.6  # [rad or m] longest edge of the tree
SHORTCUTS = 40
FINE = 0.015  # [rad or m] between configurations checked on a straight that cuts a corner


class Region(Space):
    """A space with bounds: the arm's joints, or the places a vehicle can stand."""

    lower: tf.Float
    """Least configuration, shape (n,)."""
    upper: tf.Float
    """Greatest configuration, shape (n,)."""


def plan(start: tf.Float, goal: tf.Float, space: Region, rng: np.random.Generator, *, stage: str) -> tf.Float:
    """A path (k, n) from `start` to `goal` that keeps `MARGIN` from the world where the ends allow it.

    Raises:
        MotionError: `<stage>.blocked` when no path was found, naming what is in the way.
    """
    straight = np.stack([start, goal])
    clearance = min(_room(space, start), _room(space, goal))
    if clearance < 0:
        hit = space.hit(goal, 0.0) or space.hit(start, 0.0)
        assert hit is not None
        raise MotionError(
            f"{stage}.blocked", f"{hit.first} would touch {hit.second} ({-100 * hit.distance:.1f} cm deep)",
            subjects=(hit.first, hit.second), value=hit.distance, limit=0.0,
        )  # fmt: skip
    hit = space.path_hit(straight, clearance)
    if hit is None:
        return straight
    path = _sample(start, goal, space, clearance, rng)
    if path is None:
        raise MotionError(
            f"{stage}.blocked", f"no way past {hit.second} for {hit.first} within {MAX_CHECKS} configurations",
            subjects=(hit.first, hit.second), value=hit.distance, limit=clearance,
        )  # fmt: skip
    return path


def _room(space: Region, configuration: tf.Float) -> float:
    """The largest of the margins tried that a configuration keeps; negative when it touches something."""
    for clearance in (MARGIN, 0.5 * MARGIN, 0.0):
        if space.hit(configuration, clearance) is None:
            return clearance
    return -1.0


def _sample(start: tf.Float, goal: tf.Float, space: Region, clearance: float, rng: np.random.Generator) -> tf.Float | None:
    ou.setLogLevel(ou.LOG_NONE)
    ou.RNG.setSeed(int(rng.integers(1, 2**31)))
    n = len(start)
    vectors = ob.RealVectorStateSpace(n)
    bounds = ob.RealVectorBounds(n)
    for i in range(n):
        bounds.setLow(i, float(min(space.lower[i], start[i], goal[i])))
        bounds.setHigh(i, float(max(space.upper[i], start[i], goal[i])))
    vectors.setBounds(bounds)
    setup = og.SimpleSetup(vectors)
    count = 0

    def valid(state: ob.State) -> bool:
        nonlocal count
        count += 1
        return space.hit(np.array([state[i] for i in range(n)]), clearance) is None

    setup.setStateValidityChecker(valid)
    information = setup.getSpaceInformation()
    information.setStateValidityCheckingResolution(RESOLUTION)
    a, b = vectors.allocState(), vectors.allocState()
    for i in range(n):
        a[i], b[i] = float(start[i]), float(goal[i])
    setup.setStartAndGoalStates(a, b)
    planner = og.RRTConnect(information)
    planner.setRange(RANGE)
    setup.setPlanner(planner)
    setup.solve(ob.PlannerTerminationCondition(lambda: count > MAX_CHECKS))
    if not setup.haveExactSolutionPath():
        return None
    found = setup.getSolutionPath()
    path = np.array([[found.getState(k)[i] for i in range(n)] for k in range(found.getStateCount())])
    return _shortcut(path, space, clearance, rng)


def _shortcut(path: tf.Float, space: Region, clearance: float, rng: np.random.Generator) -> tf.Float:
    """Cut corners: straight lines between random points of the path where they are free."""
    for _ in range(SHORTCUTS):
        if len(path) < 3:
            break
        lengths = np.r_[0, np.cumsum(np.linalg.norm(np.diff(path, axis=0), axis=1))]
        s, t = np.sort(rng.uniform(0, lengths[-1], 2))
        i, j = (int(np.searchsorted(lengths, x, side="right")) - 1 for x in (s, t))
        if i == j:
            continue
        p, q = (
            path[k] + (x - lengths[k]) / max(lengths[k + 1] - lengths[k], 1e-9) * (path[k + 1] - path[k])
            for k, x in ((i, s), (min(j, len(path) - 2), t))
        )
        if space.path_hit(np.stack([p, q]), clearance, step=FINE) is None:
            path = np.vstack([path[: i + 1], p, q, path[j + 1 :]])
    return path
