"""Joint paths: straight when the way is free, sampled (RRT-Connect) when it is blocked.

Demonstrations are learnt from: detours are taken only where there is something to go round.
"""

from __future__ import annotations

import numpy as np
from ompl import base as ob
from ompl import geometric as og
from ompl import util as ou

from embodiedsmith.motion.collision import MARGIN, CollisionChecker
from embodiedsmith.motion.errors import MotionError
from embodiedsmith.motion.kinematics import Kinematics
from embodiedsmith.world import transforms as tf

MAX_CHECKS = 6000  # configurations checked before a sampled plan is given up
RESOLUTION = 0.005  # fraction of the space's extent between checks along an edge
ESCAPE = 0.3  # [rad] largest joint change to step out of a margin before a sampled plan


def plan(
    start: tf.Float, goal: tf.Float, checker: CollisionChecker, kin: Kinematics, rng: np.random.Generator, *, stage: str
) -> tf.Float:
    """A path (k, n) of arm joints from `start` to `goal` that keeps `MARGIN` from the world where the ends allow it.

    Raises:
        MotionError: `<stage>.blocked` when no path was found, naming what is in the way.
    """
    straight = np.stack([start, goal])
    clearance = min(_room(checker, start), _room(checker, goal))
    if clearance < 0:
        hit = checker.hit(goal) or checker.hit(start)
        assert hit is not None
        raise MotionError(
            f"{stage}.blocked", f"{hit.first} would touch {hit.second} ({-100 * hit.distance:.1f} cm deep)",
            subjects=(hit.first, hit.second), value=hit.distance, limit=0.0,
        )  # fmt: skip
    hit = checker.path_hit(straight, clearance)
    if hit is None:
        return straight
    path = _sample(start, goal, checker, kin, clearance, rng)
    if path is None:
        raise MotionError(
            f"{stage}.blocked", f"no way past {hit.second} for {hit.first} within {MAX_CHECKS} configurations",
            subjects=(hit.first, hit.second), value=hit.distance, limit=clearance,
        )  # fmt: skip
    return path


def _room(checker: CollisionChecker, joints: tf.Float) -> float:
    """The largest of the margins tried that a configuration keeps; negative when it touches something."""
    for clearance in (MARGIN, 0.5 * MARGIN, 0.0):
        if checker.free(joints, clearance):
            return clearance
    return -1.0


def _sample(
    start: tf.Float, goal: tf.Float, checker: CollisionChecker, kin: Kinematics, clearance: float, rng: np.random.Generator
) -> tf.Float | None:
    ou.setLogLevel(ou.LOG_NONE)
    ou.RNG.setSeed(int(rng.integers(1, 2**31)))
    n = len(start)
    space = ob.RealVectorStateSpace(n)
    bounds = ob.RealVectorBounds(n)
    for i in range(n):
        bounds.setLow(i, float(min(kin.lower[i], start[i], goal[i])))
        bounds.setHigh(i, float(max(kin.upper[i], start[i], goal[i])))
    space.setBounds(bounds)
    setup = og.SimpleSetup(space)
    count = 0

    def valid(state: ob.State) -> bool:
        nonlocal count
        count += 1
        return checker.free(np.array([state[i] for i in range(n)]), clearance)

    setup.setStateValidityChecker(valid)
    information = setup.getSpaceInformation()
    information.setStateValidityCheckingResolution(RESOLUTION)
    a, b = space.allocState(), space.allocState()
    for i in range(n):
        a[i], b[i] = float(start[i]), float(goal[i])
    setup.setStartAndGoalStates(a, b)
    planner = og.RRTConnect(information)
    planner.setRange(0.6)
    setup.setPlanner(planner)
    setup.solve(ob.PlannerTerminationCondition(lambda: count > MAX_CHECKS))
    if not setup.haveExactSolutionPath():
        return None
    found = setup.getSolutionPath()
    path = np.array([[found.getState(k)[i] for i in range(n)] for k in range(found.getStateCount())])
    return _shortcut(path, checker, clearance, rng)


def _shortcut(
    path: tf.Float, checker: CollisionChecker, clearance: float, rng: np.random.Generator, *, tries: int = 40
) -> tf.Float:
    """Cut corners: straight lines between random points of the path where they are free."""
    for _ in range(tries):
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
        if checker.path_hit(np.stack([p, q]), clearance) is None:
            path = np.vstack([path[: i + 1], p, q, path[j + 1 :]])
    return path
