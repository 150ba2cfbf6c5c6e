"""One attempt: resets a world, steps it, and has it watched."""

from __future__ import annotations

import math

import numpy as np

from embodiedsmith.runtime.errors import UsageError
from embodiedsmith.tasks.recording import Float, Recording
from embodiedsmith.tasks.watch import Watch
from embodiedsmith.world import World, WorldFault


class Session(Watch):
    """An attempt in progress. Call `reset`, then `step` as often as wanted, then `finish`; then `reset` again.

    Nobody else steps its world meanwhile. How it is followed and remembered is `Watch`.
    """

    def reset(self, rng: np.random.Generator) -> float:
        """Begin an attempt with the variation drawn from `rng`; gives the goal's margin at the start.

        Raises:
            SettleError: the world does not come to rest.
        """
        self.abandon()
        self.world.reset(rng)
        return self.begin()

    def step(self, action: np.ndarray, label: str = "") -> float:
        """Advance one control step; gives the goal's margin after it.

        Args:
            action: Canonical action, shape (world.action_size,).
            label: What the robot is doing: "pick(mug)".

        Raises:
            WorldFault: the world went bad; the attempt is over and only `finish` may follow. The action is not recorded.
        """
        if not self.running:
            raise UsageError("the attempt is not running", remedy="call reset() first" if self.fault is None else "call finish()")
        try:
            self.world.step(action)
        except WorldFault as fault:
            self.went_bad(fault)
            raise
        return self.took(action, label)


def replay(world: World, recording: Recording, rng: np.random.Generator) -> float:
    """Repeat an attempt and compare: the largest difference of any state from the recorded one; 0.0 when it repeats bit for bit.

    Args:
        world: A world of the recording's scenario.
        recording: What happened then.
        rng: The generator the attempt was reset with, fresh.

    Raises:
        UsageError: the recording is of another scenario.
        SettleError, WorldFault: the world goes bad, which it did not then.
    """
    if recording.scenario_id != world.scenario.id:
        raise UsageError(f"the recording is of scenario {recording.scenario_id}, the world of {world.scenario.id}")
    world.reset(rng)
    worst = _difference(world.save(), recording.states[0])
    for t, action in enumerate(recording.actions):
        world.step(action)
        worst = max(worst, _difference(world.save(), recording.states[t + 1]))
    return worst


def _difference(a: Float, b: Float) -> float:
    return math.inf if a.shape != b.shape else float(np.abs(a - b).max(initial=0.0))
