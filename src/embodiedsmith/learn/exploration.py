"""Noise on what a policy does, so that it meets states that it would not come to by itself.

An Ornstein-Uhlenbeck process on each component of the tools' motion: what is random lasts for some control steps, so that it
moves the tool somewhere instead of shaking it (Uhlenbeck and Ornstein 1930, "On the theory of Brownian motion"; Lillicrap et al.
2016, "Continuous control with deep reinforcement learning"). It depends on the attempt alone.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.signal import lfilter

from embodiedsmith.runtime.seeds import generator
from embodiedsmith.spec.base import Noun
from embodiedsmith.world.transforms import Float


class Exploration(Noun):
    """How much noise: standard deviations of each component of a tool's motion in one control step, at noise 1."""

    position: float = 0.004
    """[m]; about half of what a demonstration moves in a control step."""
    rotation: float = 0.03
    """[rad]"""
    correlation: float = 0.8
    """Of the noise of one control step with that of the next."""

    def draw(self, names: Sequence[str], steps: int, seed: int, scenario_id: str, attempt: int) -> Float:
        """The noise of one attempt, shape (steps, len(names)).

        Args:
            names: Components of the action space; only a tool's deltas get noise.
            steps: Control steps.
            seed: Run seed.
            scenario_id: Id of the scenario.
            attempt: Number of the attempt.
        """
        draws = generator(seed, scenario_id, attempt, "explore")
        spread = np.array([self._spread(name) for name in names])
        out = np.zeros((steps, len(names)))
        if steps and (moved := spread > 0).any():
            drive = draws.standard_normal((steps, int(moved.sum()))) * spread[moved]
            drive[1:] *= np.sqrt(1.0 - self.correlation**2)
            out[:, moved] = lfilter([1.0], [1.0, -self.correlation], drive, axis=0)
        return out

    def _spread(self, name: str) -> float:
        """By how much a component is off: `tcp_dx` by `position`, `tcp_1_rz` by `rotation`, a closing not at all."""
        if not name.startswith("tcp"):
            return 0.0
        return {"d": self.position, "r": self.rotation}.get(name[-2], 0.0)
