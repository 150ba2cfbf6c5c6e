"""The first half of a round: explore, score, filter. Everything tried is kept in the run; what passes is to be trained on."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from embodiedsmith import motion
from embodiedsmith.episodes.store import EpisodeStore
from embodiedsmith.evaluate.quality import Quality, profile, quality
from embodiedsmith.evaluate.robustness import Shaker
from embodiedsmith.flywheel.collecting import Episode, HandOff, commit, demonstrate, explore, hand_off, shares
from embodiedsmith.flywheel.failures import Tally, classify, tally
from embodiedsmith.flywheel.journal import Decision
from embodiedsmith.flywheel.population import Population
from embodiedsmith.flywheel.settings import FlywheelSettings
from embodiedsmith.flywheel.state import TaskState
from embodiedsmith.flywheel.tasks import Task
from embodiedsmith.flywheel.variants import Variants
from embodiedsmith.learn.policy import Policy
from embodiedsmith.runtime.errors import SmithError
from embodiedsmith.runtime.seeds import generator
from embodiedsmith.spec import Scenario
from embodiedsmith.world.world import CONTROL_HZ

SLOTS = 100_000
"""Attempts that a round may make of all tasks together, and `SLOTS / TASKS` of one."""
TASKS = 10
APART = SLOTS // TASKS // 2
"""Between the slots of the policy's attempts and those of the demonstrator's."""
SPARE = 3
"""Demonstrations tried for each one wanted."""
LEAST_BEGUN, MOST_BEGUN = 8, 0.9
"""Control steps that the policy has at least before the demonstrator takes over, and the part of a demonstration's that it has at
most."""

Say = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class Gathered:
    """What a round has of one task."""

    level: int
    episodes: tuple[Episode, ...]
    qualities: tuple[Quality, ...]
    keep: NDArray[np.bool_]
    """Which of them train, shape (n,)."""
    failures: Tally = field(default_factory=Tally)
    """Of the policy's attempts."""
    quality_threshold: float | None = None
    efficiency_threshold: float | None = None
    decisions: tuple[Decision, ...] = ()
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def tried(self) -> list[Episode]:
        """The policy's own attempts."""
        return [episode for episode in self.episodes if episode.source == "policy"]

    @property
    def kept(self) -> list[tuple[Episode, Quality]]:
        """What is to be trained on."""
        return [(e, q) for e, q, k in zip(self.episodes, self.qualities, self.keep, strict=True) if k]

    @property
    def clean(self) -> list[Episode]:
        """The policy's attempts at the round's level without exploration."""
        return [episode for episode in self.tried if not episode.noisy and episode.level == self.level]

    def success(self, *, clean: bool = False) -> float | None:
        """Success of the policy's attempts, or of the clean ones; None when there are none."""
        chosen = [episode.success for episode in (self.clean if clean else self.tried)]
        return float(np.mean(chosen)) if chosen else None


class Gatherer:
    """Collects for the rounds of one run.

    Args:
        store: Of the run, open for writing.
        settings: How much of what.
        variants: Where scenarios at levels come from.
        threads: Threads that step worlds.
        workers: Processes that demonstrate.
    """

    def __init__(
        self, store: EpisodeStore, settings: FlywheelSettings, variants: Variants, *, threads: int, workers: int
    ) -> None:
        self._store, self._settings, self._variants = store, settings, variants
        self._threads, self._workers = threads, workers
        self._seed = store.run.seed
        self._pushes = motion.Pushes.of(settings.pushes)

    def begin(self, task: Task, state: TaskState) -> Gathered:
        """Demonstrations of the first level for the cold start; those that failed are kept in the run and not trained on.

        Raises:
            SmithError: none succeeded; says why.
        """
        began = time.perf_counter()
        level = self._settings.start_level
        scenarios = self._at(task, state, level)
        episodes = self._demonstrated(scenarios, _first(task, 0), self._settings.demonstrations, level)
        commit(self._store, episodes, APART)
        if not any(episode.success for episode in episodes):
            codes = Counter(e.recording.failure.code for e in episodes if e.recording.failure is not None)
            raise SmithError(
                f"no demonstration of '{task.name}' succeeded at level {level}",
                faults=[f"{count} x {code}" for code, count in codes.most_common()],
                remedy="forge other scenarios with another seed, or a larger budget",
            )
        keep = np.array([episode.success for episode in episodes])
        seconds = {"collect": time.perf_counter() - began}
        return Gathered(
            level=level, episodes=tuple(episodes), qualities=self._qualities(episodes, state), keep=keep, seconds=seconds
        )

    def gather(
        self, policies: Sequence[Policy], population: Population, folder: Path, task: Task, state: TaskState, round: int, say: Say
    ) -> tuple[TaskState, Gathered]:
        """A round's episodes of one task at its level, and the task's thresholds and emphasis after them.

        Args:
            policies: One a member of the population.
            population: At which levels they explore.
            folder: Of its leader's policy.
            task: What they attempt.
            state: Where the task stands.
            round: Number of the round.
            say: Told what is being done.
        """
        level = state.level
        if not self._settings.new_data:
            return state, Gathered(level=level, episodes=(), qualities=(), keep=np.zeros(0, dtype=bool))
        began = time.perf_counter()
        tried = self._tried(policies, population, task, state, round, say)
        seconds = {"explore": time.perf_counter() - began}
        began = time.perf_counter()
        say(f"demonstrating at level {level}")
        helped = self._helped(policies[population.leader], folder, task, state, tried, round)
        seconds["expert"] = time.perf_counter() - began
        episodes = [*tried, *helped]
        commit(self._store, episodes, APART)
        return self._filtered(task, state, round, level, episodes, seconds)

    def _tried(
        self, policies: Sequence[Policy], population: Population, task: Task, state: TaskState, round: int, say: Say
    ) -> list[Episode]:
        """What the policies try, each at its own level."""
        tried: list[Episode] = []
        first, wanted = _first(task, round), self._settings.rollouts
        levels, counts = population.levels(state.level), population.shares(wanted)
        for policy, level, count in zip(policies, levels, counts, strict=True):
            scenarios = self._at(task, state, level)
            weights = state.emphasis.weights([self._variants.origin(s.id) for s in scenarios])
            asks = shares(scenarios, weights, count, first, level)
            first += count
            sample = policy.config.kind == "flow"
            for episode in explore(
                policy, asks, seed=self._seed, noise=self._settings.noise, sample=sample, threads=self._threads
            ):
                tried.append(episode)
                say(f"exploring at level {level}: {len(tried)}/{wanted}")
        return tried

    # ------------------------------------------------------------------ the demonstrator

    def _helped(
        self, policy: Policy, folder: Path, task: Task, state: TaskState, tried: Sequence[Episode], round: int
    ) -> list[Episode]:
        level = state.level
        scenarios = self._at(task, state, level)
        wanted = self._settings.experts
        failed = [(e.scenario, e.recording.attempt) for e in tried if not e.success and e.level == level]
        first = _first(task, round) + self._settings.rollouts
        match self._settings.expert:
            case "none":
                return []
            case "plain":
                return self._demonstrated(scenarios, first, wanted, level)
            case "failures":
                order = generator(self._seed, "experts", task.number, round).permutation(len(failed))
                found = self._again([failed[k] for k in order.tolist()], wanted, level)
                missing = wanted - sum(episode.success for episode in found)
                return found + (self._demonstrated(scenarios, first, missing, level) if missing > 0 else [])
            case "handoff":
                rng = generator(self._seed, "hand off", task.number, round)
                chosen = [failed[k] for k in rng.permutation(len(failed))[:wanted].tolist()]
                numbers = iter(range(first, first + SLOTS))
                while len(chosen) < wanted:
                    chosen.append((scenarios[len(chosen) % len(scenarios)], next(numbers)))
                most = LEAST_BEGUN + 1 if state.reference is None else int(MOST_BEGUN * state.reference.duration * CONTROL_HZ)
                begun = rng.integers(LEAST_BEGUN, max(most, LEAST_BEGUN + 1), len(chosen)).tolist()
                mark = policy.fingerprint()
                jobs = [
                    HandOff(folder, mark, scenario, attempt, self._seed, steps, self._pushes)
                    for (scenario, attempt), steps in zip(chosen, begun, strict=True)
                ]
                return hand_off(jobs, level=level, workers=self._workers)

    def _again(self, starts: Sequence[tuple[Scenario, int]], wanted: int, level: int) -> list[Episode]:
        """Demonstrations from starts at which the policy failed, until `wanted` have succeeded or there are no more starts."""
        found: list[Episode] = []
        at = 0
        while (missing := wanted - sum(episode.success for episode in found)) > 0 and at < len(starts):
            part = starts[at : at + missing]
            at += missing
            found += demonstrate(
                [scenario for scenario, _ in part], [[attempt] for _, attempt in part],
                seed=self._seed, wanted=len(part), workers=self._workers,
                level=level, pushes=self._pushes,
            )  # fmt: skip
        return found

    def _demonstrated(self, scenarios: Sequence[Scenario], first: int, wanted: int, level: int) -> list[Episode]:
        """`wanted` successful demonstrations, dealt to the scenarios in turn."""
        count = SPARE * wanted
        numbers = [range(first + k, first + count, len(scenarios)) for k in range(len(scenarios))]
        return demonstrate(
            scenarios, numbers, seed=self._seed, wanted=wanted, workers=self._workers, level=level, pushes=self._pushes
        )

    # ------------------------------------------------------------------ score and filter

    def _filtered(
        self, task: Task, state: TaskState, round: int, level: int, episodes: list[Episode], seconds: dict[str, float]
    ) -> tuple[TaskState, Gathered]:
        """What is kept: of the policy's attempts what passes both thresholds, of the demonstrator's every success."""
        qualities = self._qualities(episodes, state)
        mine = np.array([episode.source == "policy" for episode in episodes], dtype=bool)
        success = np.array([episode.success for episode in episodes], dtype=bool)
        value = np.array([q.value for q in qualities])
        efficiency = np.array([1.0 if q.efficiency is None else q.efficiency for q in qualities])
        clean = [e.success for e in episodes if e.source == "policy" and not e.noisy and e.level == level]
        thresholds = state.thresholds.observed(float(np.mean(clean))) if clean else state.thresholds
        thresholds, choice = thresholds.choose(round, success[mine], value[mine], efficiency[mine], task=task.name)
        keep = success.copy()
        keep[mine] = choice.keep
        counts = tally(
            (self._variants.origin(e.scenario.id), None if e.success else classify(e.recording, e.scenario))
            for e in episodes
            if e.source == "policy"
        )
        emphasis, emphasised = state.emphasis.update(round, counts.attempts, counts.failures, task=task.name)
        gathered = Gathered(
            level=level, episodes=tuple(episodes), qualities=qualities, keep=keep, failures=counts,
            quality_threshold=choice.quality, efficiency_threshold=choice.efficiency,
            decisions=(*choice.decisions, emphasised), seconds=seconds,
        )  # fmt: skip
        return state.model_copy(update={"thresholds": thresholds, "emphasis": emphasis}), gathered

    def _qualities(self, episodes: Sequence[Episode], state: TaskState) -> tuple[Quality, ...]:
        weights, repeats = profile(self._settings.profile), self._settings.repeats
        shaken: dict[int, float] = {}
        by_scenario: dict[str, list[int]] = {}
        for k, episode in enumerate(episodes):
            if repeats and episode.success and episode.source == "policy":
                by_scenario.setdefault(episode.scenario.id, []).append(k)
        for numbers in by_scenario.values():
            shaker = Shaker(episodes[numbers[0]].scenario, repeats, threads=self._threads)
            shaken |= {k: shaker.success(episodes[k].recording).value for k in numbers}
        return tuple(quality(e.scores, state.reference, weights, shaken.get(k)) for k, e in enumerate(episodes))

    def scenarios(self, task: Task, state: TaskState) -> list[Scenario]:
        """A task's scenarios as forged, those asked for on the way included."""
        return [*task.scenarios, *(self._store.scenario(identity) for identity in state.added)]

    def _at(self, task: Task, state: TaskState, level: int) -> list[Scenario]:
        """The task's scenarios at a level, or at the nearest one below that any of them stands."""
        for lower in range(level, 0, -1):
            if found := self._variants.at(self.scenarios(task, state), lower):
                return found
        raise SmithError(
            f"no scenario of '{task.name}' passes the critics at level {level} or below",
            faults=self._variants.refused(),
            remedy="forge other scenarios with another seed, or more of them",
        )


def _first(task: Task, round: int) -> int:
    """The first of the attempt numbers that a task has for itself in a round."""
    return round * SLOTS + (task.number % TASKS) * (SLOTS // TASKS)
