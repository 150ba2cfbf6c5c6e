"""The world of an attempt, put as it was at its start: warm worlds by scenario, and the draws that belong to an attempt."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from embodiedsmith.motion import Pushes, Pushing
from embodiedsmith.runtime.seeds import generator
from embodiedsmith.spec import Scenario
from embodiedsmith.tasks import Recording, replay
from embodiedsmith.world import World

WARM_WORLDS = 8
"""Worlds a process keeps compiled: compiling one takes about as long as a short episode, and each holds some 30 MB."""


def attempt_rng(seed: int, scenario_id: str, attempt: int) -> np.random.Generator:
    """The draws of one attempt of a run: its variation first, then those of its planner."""
    return generator(seed, scenario_id, attempt, "attempt")


def pushing(pushes: Pushes | None, seed: int, scenario_id: str, attempt: int) -> Pushing | None:
    """What leads the demonstrator astray in an attempt, with draws of its own, so that it starts as it would without."""
    return Pushing(pushes, generator(seed, scenario_id, attempt, "pushes")) if pushes else None


def warm_world(scenario: Scenario) -> World:
    """A compiled world of the scenario, in whatever state it was left; one a process, never shared between threads."""
    return _world(scenario.to_json())


@lru_cache(maxsize=WARM_WORLDS)
def _world(scenario_json: str) -> World:
    return World(Scenario.from_json(scenario_json))


def restage(world: World, recording: Recording) -> None:
    """Put the world as it was when the recorded attempt began, with the masses, lights and cameras drawn for it."""
    world.reset(attempt_rng(recording.seed, recording.scenario_id, recording.attempt))


def replay_difference(recording: Recording, scenario: Scenario) -> float:
    """Repeat a recorded attempt in a world of its scenario; the largest difference of any state (0.0: the same bits)."""
    rng = attempt_rng(recording.seed, recording.scenario_id, recording.attempt)
    return replay(warm_world(scenario), recording, rng)
