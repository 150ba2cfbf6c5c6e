"""How much of the speed of raw batched physics is left when a policy acts, and everything is followed and recorded."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from embodiedsmith.embodiments.actions import ActionSpace
from embodiedsmith.episodes.staging import attempt_rng
from embodiedsmith.learn.normalization import Statistics
from embodiedsmith.learn.observation import ObservationConfig
from embodiedsmith.learn.policy import Policy, PolicyConfig
from embodiedsmith.learn.rollout import Fleet
from embodiedsmith.learn.samples import default_space
from embodiedsmith.spec import Scenario
from embodiedsmith.world import Batch

STEPS = 80
"""Control steps of an attempt."""
MOTION = 1e-3
"""[m, rad] Largest motion of a tool in a control step: worlds stay near where raw physics has them."""


@dataclass(frozen=True)
class Throughput:
    """Speeds of one scenario, settling of new attempts included."""

    ratio: float
    """Rate of rollouts over that of raw physics, by wall clock, as one waits for it."""
    cpu_ratio: float
    """The same by processor time of all threads: below `ratio` where processors are idle beside the engine's threads."""
    raw_steps_per_second: float
    """World-steps [1/s] of a batch that steps constant actions."""
    steps_per_second: float
    """World-steps [1/s] with a policy in the loop."""


def throughput(scenario: Scenario, worlds: int = 64, threads: int = 1, *, repeats: int = 3) -> Throughput:
    """Measure rollouts of a scenario against a batch of the same worlds on the same threads that steps constant actions.

    The policy is a network of 4 x 256 with drawn weights, chunk 8, of which 4 are carried out. Both are measured in turns, so
    that what else the machine does falls on both.

    Args:
        scenario: A laid-out scenario.
        worlds: How many worlds.
        threads: Threads that step them.
        repeats: Turns of each.
    """
    horizon = STEPS / 20.0
    task = scenario.task.model_copy(update={"horizon": horizon, "hold_steps": STEPS + 1})  # no attempt ends early
    scenario = scenario.model_copy(update={"task": task})
    batch, fleet = Batch(scenario, worlds, threads=threads), Fleet(scenario, worlds, threads=threads)
    policy = _policy(scenario, batch)
    raw, full = _Clock(), _Clock()
    for repeat in range(repeats + 1):
        if repeat == 1:  # the first turn warms caches
            raw, full = _Clock(), _Clock()
        attempts = range(repeat * worlds, (repeat + 1) * worlds)
        with raw:
            raw.steps += _raw(batch, attempts)
        with full:
            full.steps += sum(recording.length for recording in fleet.rollout(policy, attempts, seed=0))
    return Throughput(
        ratio=full.rate / raw.rate,
        cpu_ratio=full.cpu_rate / raw.cpu_rate,
        raw_steps_per_second=raw.rate,
        steps_per_second=full.rate,
    )


def _raw(batch: Batch, attempts: range) -> int:
    """World-steps of attempts in which nobody acts."""
    batch.reset([attempt_rng(0, batch.worlds[0].scenario.id, k) for k in attempts])
    still = batch.command.copy()
    for _ in range(STEPS):
        batch.step(still)
    return STEPS * batch.count


def _policy(scenario: Scenario, batch: Batch) -> Policy:
    robot = batch.worlds[0].robot
    space = ActionSpace(robot, default_space(bool(robot.base.joints)), batch.control_dt)
    config = PolicyConfig(action_space=space.name, observation=ObservationConfig.covering([scenario]))
    policy = Policy.create(config, config.observation.names, space.names, seed=0)
    seen, said = np.ones(len(config.observation.names)), np.full(space.size, MOTION)
    policy.fit_normalizer(Statistics(0.0 * seen, seen, 0.0 * said, said, -said, said, 0.0 * said))
    return policy


class _Clock:
    """Adds up wall and processor seconds of what is done inside it."""

    def __init__(self) -> None:
        self.steps, self._wall, self._cpu = 0, 0.0, 0.0

    def __enter__(self) -> _Clock:
        self._wall -= time.perf_counter()
        self._cpu -= time.process_time()
        return self

    def __exit__(self, *_: object) -> None:
        self._wall += time.perf_counter()
        self._cpu += time.process_time()

    @property
    def rate(self) -> float:
        """Steps a second."""
        return self.steps / self._wall

    @property
    def cpu_rate(self) -> float:
        """Steps a second of processor time."""
        return self.steps / self._cpu
