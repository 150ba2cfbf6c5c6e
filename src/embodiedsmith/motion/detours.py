"""Ways round for an arm when the straight one is blocked: by way of a posture above or before the goal, the tool turned as there.

They look alike from one attempt to the next, and what is in the hand stays level; sampled paths do neither.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from embodiedsmith.motion.collision import MARGIN
from embodiedsmith.world import transforms as tf

if TYPE_CHECKING:
    from embodiedsmith.motion.controller import Controller

WAYS = ((0.15, 0.0), (0.0, 0.15), (0.15, 0.15), (0.3, 0.0), (0.3, 0.15), (0.3, 0.3), (0.45, 0.15), (0.45, 0.3))
"""[m] of a posture on the way above its end, and nearer to the arm than it: tried in turn."""
CLEARANCES = (MARGIN, 0.5 * MARGIN, 0.25 * MARGIN)  # [m] kept from the world between postures on the way


def detour(control: Controller, goal: tf.Float) -> tf.Float | None:
    """Arm joints (k, n) from where the arm is to `goal`; None when no such way is free. The checker must look at the world.

    The tool comes in a straight line from a posture above or before the goal, and may leave to one above or before the start.
    """
    start = control.joints
    if control.checker.path_hit(np.stack([start, goal]), MARGIN) is None:
        return np.stack([start, goal])
    arrivals = [np.stack([goal]), *_legs(control, goal)]
    departures = [np.stack([start]), *_legs(control, start)]
    for clearance in CLEARANCES:
        for first in departures:
            for last in arrivals:
                if control.checker.path_hit(np.stack([first[-1], last[-1]]), clearance) is None:
                    return np.vstack([first, last[::-1]])
    return None


def _legs(control: Controller, joints: tf.Float) -> list[tf.Float]:
    """Straight tool motions (k, n) that are free, from arm joints to postures above them and nearer to the arm."""
    T = control.checker.pose(joints)
    toward = control.mount()[:2] - T[:2, 3]
    toward = toward / max(float(np.linalg.norm(toward)), 1e-6)
    legs = []
    for rise, back in WAYS:
        T_via = T.copy()
        T_via[:3, 3] += back * toward[0], back * toward[1], rise
        leg = control.straight(T, T_via, joints)
        if leg is not None:
            legs.append(leg)
    return legs
