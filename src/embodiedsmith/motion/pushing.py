"""Pushes: a demonstrator that is led astray now and then and finds back, so that finding back can be learnt from it.

Commands of the arm are shifted for a few control steps and come back from there by themselves, while the demonstrator goes on
with what it was about. The idea is that of Laskey et al., "DART: Noise injection for robust imitation learning" (2017): a policy
needs to be shown what to do near the demonstrator's way, not only on it.
"""

from __future__ import annotations

from typing import Self

import numpy as np
from pydantic import Field

from embodiedsmith.motion.kinematics import Kinematics
from embodiedsmith.spec.base import Noun
from embodiedsmith.world import transforms as tf

PUSHED = "pushed"
"""What a recording says of actions that lead astray: they are not to be imitated."""
DONE = 1e-3
"""A shift of the joints [rad] below which it is over."""
DAMPING = 1e-3
"""Of the tool's Jacobian, so that no joint turns far where the arm is stretched."""


class Pushes(Noun):
    """How often and how far a demonstrator is led astray."""

    chance: float = Field(default=0.05, ge=0.0, le=1.0)
    """Of a push beginning at a control step, when the last one is over."""
    shift: float = Field(default=0.04, ge=0.0, le=0.2)
    """Standard deviation [m] along each axis of the largest pushes; their size is drawn between nothing and that."""
    turn: float = Field(default=0.1, ge=0.0, le=1.0)
    """The same of their turn about each axis [rad]."""
    least: int = Field(default=3, ge=1)
    most: int = Field(default=8, ge=1)
    """Control steps that a push takes, at least and at most."""
    kept: float = Field(default=0.82, ge=0.0, lt=1.0)
    """Part of the shift that is left a control step later, on the way back."""

    @classmethod
    def of(cls, part: float) -> Self | None:
        """The usual ones, so many times as far; None where that is nothing."""
        usual = cls()
        return usual.model_copy(update={"shift": part * usual.shift, "turn": part * usual.turn}) if part else None


class Pushing:
    """The pushes of one attempt.

    Args:
        pushes: How often and how far.
        rng: Their draws.
    """

    def __init__(self, pushes: Pushes, rng: np.random.Generator) -> None:
        self._pushes, self._rng = pushes, rng
        self._arm: int | None = None
        self._offset = np.zeros(0)
        self._each = np.zeros(0)
        self._left = 0

    def shifted(self, arm: int, kin: Kinematics, joints: tf.Float) -> tuple[tf.Float, bool]:
        """What is commanded in place of an arm's `joints` (n,) in this control step, and whether that leads astray.

        One arm is pushed at a time: another one is left as it is until the first is back.
        """
        pushes, rng = self._pushes, self._rng
        if self._arm is None and rng.random() < pushes.chance:
            self._arm, self._left = arm, int(rng.integers(pushes.least, pushes.most + 1))
            spread = np.repeat([pushes.shift, pushes.turn], 3)
            jacobian = kin.jacobian(joints)
            way = rng.random() * spread * rng.standard_normal(6)
            self._each = jacobian.T @ np.linalg.solve(jacobian @ jacobian.T + DAMPING * np.eye(6), way) / self._left
            self._offset = np.zeros(len(joints))
        if self._arm != arm:
            return joints, False
        astray = self._left > 0
        if astray:
            self._offset = self._offset + self._each
            self._left -= 1
        else:
            self._offset = pushes.kept * self._offset
            if np.abs(self._offset).max() < DONE:
                self._arm = None
                return joints, False
        return np.clip(joints + self._offset, kin.lower, kin.upper), astray
