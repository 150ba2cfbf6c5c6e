"""Where an arm rests, how far it reaches, and which of its bodies always touch: found by trying postures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray
from scipy import optimize

from embodiedsmith.embodiments.imported.anatomy import Anatomy

Float = NDArray[np.float64]
SAMPLES = 3000
STARTS = 24
"""Postures from which a rest posture is looked for."""
ALWAYS = 0.6
"""Part of all postures in which two bodies overlap when they do so by construction."""
BEFORE, ABOVE = 0.55, 0.28
"""Where the tool rests: before and above the arm's base, as parts of its reach."""
AIMS = np.radians(20.0)
"""Farthest that the resting tool may point from straight down [rad]."""


@dataclass(frozen=True)
class Found:
    """What trying postures showed."""

    home: tuple[float, ...]
    reach: float
    """[m]"""
    excluded: tuple[tuple[str, str], ...]
    """Bodies that overlap by construction."""
    downward: float
    """Angle between the resting tool and straight down [rad]."""


class Postures:
    """An arm with a tool, moved about."""

    def __init__(self, model: Any, anatomy: Anatomy) -> None:
        self.model = model
        self.data = mujoco.MjData(model)
        joints = [model.joint(name) for name in anatomy.arm_joints]
        self.where = np.array([joint.qposadr[0] for joint in joints])
        self.low = np.array([joint.range[0] for joint in joints])
        self.high = np.array([joint.range[1] for joint in joints])
        self.site = model.site("tcp").id
        self.shoulder = model.jnt_bodyid[joints[0].id]

    def tool(self, arm: Float) -> tuple[Float, Float]:
        """Place [m] and rotation matrix of the tool in the base's frame."""
        self.data.qpos[self.where] = arm
        mujoco.mj_kinematics(self.model, self.data)
        return self.data.site_xpos[self.site].copy(), self.data.site_xmat[self.site].reshape(3, 3).copy()

    def touching(self, arm: Float) -> set[tuple[str, str]]:
        """Pairs of bodies that overlap."""
        self.data.qpos[self.where] = arm
        mujoco.mj_kinematics(self.model, self.data)
        mujoco.mj_collision(self.model, self.data)
        pairs = set()
        for touch in self.data.contact:
            if touch.dist < 0:
                a, b = sorted(self.model.body(self.model.geom_bodyid[geom]).name for geom in touch.geom)
                pairs.add((a, b))
        return pairs


def explore(model: Any, anatomy: Anatomy, given: Sequence[float] | None, finger_qpos: Float) -> Found:
    """Try postures. `given` is the rest posture that the model names, taken when the tool points down before the base."""
    postures = Postures(model, anatomy)
    postures.data.qpos[:] = finger_qpos
    rng = np.random.default_rng(7)
    samples = rng.uniform(postures.low, postures.high, size=(SAMPLES, len(postures.low)))
    origin = postures.data.xpos[postures.shoulder].copy()
    mujoco.mj_kinematics(model, postures.data)
    origin = postures.data.xpos[postures.shoulder].copy()
    places = np.array([postures.tool(arm)[0] for arm in samples])
    reach = float(np.quantile(np.linalg.norm(places - origin, axis=1), 0.995))
    excluded = _by_construction(postures, samples[:200])
    home = _home(postures, samples, origin, reach, given, excluded)
    down = float(np.arccos(np.clip(-postures.tool(home)[1][2, 2], -1, 1)))
    return Found(tuple(float(q) for q in home), reach, tuple(sorted(excluded)), down)


def _by_construction(postures: Postures, samples: Float) -> set[tuple[str, str]]:
    counts: dict[tuple[str, str], int] = {}
    for arm in samples:
        for pair in postures.touching(arm):
            counts[pair] = counts.get(pair, 0) + 1
    return {pair for pair, count in counts.items() if count > ALWAYS * len(samples)}


def _home(
    postures: Postures, samples: Float, origin: Float, reach: float, given: Sequence[float] | None, excluded: set[tuple[str, str]]
) -> Float:
    target = origin + np.array([BEFORE * reach, 0.0, 0.0])
    target[2] = ABOVE * reach + min(origin[2], 0.2)
    middle, half = (postures.low + postures.high) / 2, (postures.high - postures.low) / 2
    half = np.maximum(half, 1e-6)

    def cost(arm: Float) -> float:
        place, turn = postures.tool(arm)
        off = float(np.sum(((place - target) / (0.2 * reach)) ** 2))
        aim = 8.0 * (1.0 + turn[2, 2])
        level = 1.0 - turn[1, 1] ** 2  # fingers close sideways
        limits = 0.15 * float(np.mean(((arm - middle) / half) ** 4))
        return float(off + aim + level + limits)

    if given is not None:
        arm = np.asarray(given, dtype=np.float64)
        place, turn = postures.tool(arm)
        if -turn[2, 2] > np.cos(AIMS) and place[0] > 0.2 * reach and not postures.touching(arm) - excluded:
            return arm
    starts = sorted(samples, key=cost)[:STARTS]
    if given is not None:
        starts.insert(0, np.clip(np.asarray(given, dtype=np.float64), postures.low, postures.high))
    room = 0.03 * half
    bounds = list(zip(postures.low + room, postures.high - room, strict=True))
    found = [optimize.minimize(cost, start, method="L-BFGS-B", bounds=bounds, options={"maxiter": 120}) for start in starts]
    found.sort(key=lambda result: float(result.fun))
    free = [result.x for result in found if not postures.touching(result.x) - excluded]
    return np.asarray(free[0] if free else found[0].x, dtype=np.float64)
