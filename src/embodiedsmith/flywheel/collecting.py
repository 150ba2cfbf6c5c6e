"""A round's episodes: what the policy tries at its level, and where the demonstrator helps; kept in the run, failures too."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import Literal, TypeVar

import numpy as np

from embodiedsmith import motion
from embodiedsmith.embodiments.actions import ActionSpace
from embodiedsmith.episodes.collect import Attempted
from embodiedsmith.episodes.collect import Job as Demonstration
from embodiedsmith.episodes.collect import attempt as demonstrated
from embodiedsmith.episodes.scores import Scores, score
from embodiedsmith.episodes.staging import warm_world
from embodiedsmith.episodes.store import EpisodeStore
from embodiedsmith.learn.observation import Encoder, ObservationConfig
from embodiedsmith.learn.policy import Policy
from embodiedsmith.learn.rollout import LABEL, Fleet, finish_by_expert
from embodiedsmith.learn.samples import EncodedEpisode, encode_stretches
from embodiedsmith.runtime.executors import JobResult, run_jobs
from embodiedsmith.spec import Scenario
from embodiedsmith.tasks import Recording

Source = Literal["policy", "expert"]
Job = TypeVar("Job", Demonstration, "HandOff")
TONGUES = 4
"""Scenarios whose encoder a process keeps: each holds a world of some 30 MB."""
WORLDS = 48
"""Worlds that a scenario is attempted in at once, at most."""


@dataclass(frozen=True)
class Episode:
    """One attempt of a round."""

    scenario: Scenario
    recording: Recording
    scores: Scores
    source: Source
    level: int
    """At which it was made."""
    noisy: bool = False
    """Whether the policy explored."""

    @property
    def success(self) -> bool:
        """Whether it reached its goal."""
        return self.recording.outcome == "success"


@dataclass(frozen=True)
class Ask:
    """Attempts of one scenario, by number."""

    scenario: Scenario
    attempts: tuple[int, ...]
    level: int
    noisy: bool


def shares(scenarios: Sequence[Scenario], weights: np.ndarray, count: int, first: int, level: int) -> list[Ask]:
    """Deal `count` attempts to scenarios by weight, half of each scenario's with exploration; numbers go on from `first`.

    Largest remainders: what is dealt adds up.
    """
    exact = np.asarray(weights, dtype=np.float64) * count
    dealt = np.floor(exact + 1e-9).astype(int)
    for k in np.argsort(-(exact - dealt), kind="stable")[: count - int(dealt.sum())]:
        dealt[k] += 1
    asks: list[Ask] = []
    at = first
    for scenario, number in zip(scenarios, dealt.tolist(), strict=True):
        clean = (number + 1) // 2
        for size, noisy in ((clean, False), (number - clean, True)):
            if size:
                asks.append(Ask(scenario, tuple(range(at, at + size)), level, noisy))
            at += size
    return asks


def explore(policy: Policy, asks: Iterable[Ask], *, seed: int, noise: float, sample: bool, threads: int) -> Iterator[Episode]:
    """The policy's attempts, in order; those of one scenario in the same worlds."""
    for _, group in groupby(asks, key=lambda ask: ask.scenario.id):
        same = list(group)
        worlds = min(WORLDS, max(len(ask.attempts) for ask in same))
        fleet = Fleet(same[0].scenario, worlds, threads=threads)
        for ask in same:
            amount = noise if ask.noisy else 0.0
            for recording in fleet.rollout(policy, ask.attempts, seed=seed, noise=amount, sample=sample and ask.noisy):
                yield Episode(ask.scenario, recording, score(recording), "policy", ask.level, noisy=ask.noisy)


def demonstrate(
    scenarios: Sequence[Scenario], attempts: Sequence[Sequence[int]], *, seed: int, wanted: int, workers: int, level: int = 0,
    pushes: motion.Pushes | None = None,
) -> list[Episode]:  # fmt: skip
    """Demonstrations until `wanted` have succeeded or the attempts are used up: one attempt of each scenario in turn.

    Args:
        scenarios: What to demonstrate.
        attempts: Numbers of the attempts of each.
        seed: Run seed.
        wanted: Successes; what is made beyond them is left out, so that the result does not depend on `workers`.
        workers: Processes.
        level: What level the scenarios are at.
        pushes: What leads the demonstrator astray now and then.
    """
    turns = max((len(numbers) for numbers in attempts), default=0)
    order = [(s, numbers[t]) for t in range(turns) for s, numbers in zip(scenarios, attempts, strict=True) if t < len(numbers)]
    episodes: list[Episode] = []
    while order and sum(episode.success for episode in episodes) < wanted:
        missing = wanted - sum(episode.success for episode in episodes)
        part, order = order[:missing], order[missing:]
        made: dict[int, Attempted] = {}

        def keep(job: Demonstration, result: JobResult[Attempted], made: dict[int, Attempted] = made) -> None:
            if result.value is not None:  # a start that does not settle, or a dead worker, gives none
                made[job.slot] = result.value

        asked = [Demonstration(k, attempt, seed, scenario, pushes) for k, (scenario, attempt) in enumerate(part)]
        run_jobs(demonstrated, _grouped(asked), min(workers, len(part)), keep)
        episodes += [Episode(part[k][0], made[k].recording, made[k].scores, "expert", level) for k in sorted(made)]
    return episodes


@dataclass(frozen=True)
class HandOff:
    """An attempt that the policy in a folder begins and the demonstrator finishes."""

    policy: Path
    fingerprint: str
    """Of that policy: a folder may come to hold another."""
    scenario: Scenario
    attempt: int
    seed: int
    steps: int
    """Control steps that the policy has."""
    pushes: motion.Pushes | None = None
    """What leads the demonstrator astray then."""


def hand_off(jobs: Sequence[HandOff], *, level: int, workers: int) -> list[Episode]:
    """The policy begins, the demonstrator finishes. Those that leave nothing to be finished, or do not settle, are left out."""
    made: dict[int, Attempted | None] = {}
    numbers = {id(job): k for k, job in enumerate(jobs)}

    def keep(job: HandOff, result: JobResult[Attempted | None]) -> None:
        made[numbers[id(job)]] = result.value

    run_jobs(_handed, _grouped(jobs), max(1, min(workers, len(jobs))), keep)
    found = [(jobs[k].scenario, made[k]) for k in sorted(made)]
    return [Episode(scenario, got.recording, got.scores, "expert", level) for scenario, got in found if got is not None]


def _grouped(jobs: Iterable[Job]) -> list[Job]:
    """Jobs of one scenario one after the other, so that its compiled world is used again."""
    return sorted(jobs, key=lambda job: job.scenario.id)


def _handed(job: HandOff) -> Attempted | None:
    policy = _policy(job.policy, job.fingerprint)
    recording = finish_by_expert(policy, job.scenario, job.attempt, seed=job.seed, steps=job.steps, pushes=job.pushes)
    if recording is None:
        return None
    world = warm_world(job.scenario)
    return Attempted(recording, score(recording, 1.0 / world.control_dt, motion.clearance(world, recording)))


@lru_cache(maxsize=2)
def _policy(folder: Path, fingerprint: str) -> Policy:
    return Policy.load(folder)


def encoded(episode: Episode, observation: ObservationConfig, action_space: str) -> list[EncodedEpisode]:
    """An episode as a policy learns from it: of the demonstrator's neither what the policy did before nor what led it astray."""
    encoder, space = _tongue(episode.scenario.to_json(), observation, action_space)
    return encode_stretches(encoder, space, episode.recording, (LABEL, motion.PUSHED) if episode.source == "expert" else ())


def commit(store: EpisodeStore, episodes: Iterable[Episode], apart: int) -> None:
    """Keep episodes in the run. An attempt's number is its slot; the demonstrator's are `apart` from those of the policy, for
    both may begin at one start."""
    for episode in episodes:
        recording = episode.recording
        if recording.length > 0:
            slot = recording.attempt + (apart if episode.source == "expert" else 0)
            store.commit(slot, recording, episode.scores)


def dealer(scenario: Scenario, observation: ObservationConfig, action_space: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names of the features and of the actions."""
    encoder, space = _tongue(scenario.to_json(), observation, action_space)
    return tuple(encoder.names), tuple(space.names)


@lru_cache(maxsize=TONGUES)
def _tongue(scenario_json: str, observation: ObservationConfig, action_space: str) -> tuple[Encoder, ActionSpace]:
    scenario = Scenario.from_json(scenario_json)
    world = warm_world(scenario)
    return Encoder(scenario, observation, world=world), ActionSpace(world.robot, action_space, world.control_dt)
