"""What a policy is worth on a suite: success with its interval, by level and scenario, and why the rest failed.

suite = Suite.load(path)
result = evaluate(policy, suite, threads=2)
print(result.success, result.failures)
print(compare(result, before, np.random.default_rng(0)).difference)
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from pydantic import Field

from embodiedsmith.episodes.staging import attempt_rng, warm_world
from embodiedsmith.evaluate.coverage import Coverage, coverage
from embodiedsmith.evaluate.intervals import Interval, mcnemar, paired, rate
from embodiedsmith.evaluate.suites import Entry, Suite
from embodiedsmith.learn.rollout import Actor, rollout
from embodiedsmith.motion import demonstrate
from embodiedsmith.runtime.errors import UsageError
from embodiedsmith.spec import Scenario
from embodiedsmith.spec.base import Noun
from embodiedsmith.tasks import Recording, Session, Watch
from embodiedsmith.world import SettleError

Episodes = Callable[[Scenario, Sequence[int], int], Iterable[Recording]]
"""Tries a scenario: (scenario, attempts, run seed) to one recording an attempt, in their order."""
Classify = Callable[[Recording], str | None]
"""The class of a recording's failure."""
OnEpisode = Callable[[Entry, Recording], None]
"""Called with every episode as it ends."""


class Trial(Noun):
    """What came of one start."""

    scenario: str
    """Its id."""
    level: int | None = None
    attempt: int
    success: bool
    steps: int
    """Control steps it took."""
    failure: str | None = None
    """Code of its failure."""
    kind: str | None = None
    """Class of its failure."""

    @property
    def start(self) -> tuple[str, int | None, int]:
        """What is equal for two policies tried from the same start."""
        return self.scenario, self.level, self.attempt


class Evaluation(Noun):
    """What came of a suite."""

    suite: str
    """Its id."""
    name: str
    """The suite's name."""
    actor: str
    """Who acted."""
    trials: tuple[Trial, ...]
    coverage: Coverage = Field(default_factory=Coverage)
    seconds: float = 0.0
    """Wall clock it took: no part of what two evaluations are compared by."""

    @property
    def success(self) -> Interval:
        """Share of the starts that succeeded, with its Wilson interval."""
        return _rate(self.trials)

    @property
    def levels(self) -> dict[int | None, Interval]:
        """Success by level."""
        return _by(self.trials, lambda trial: trial.level)

    @property
    def scenarios(self) -> dict[str, Interval]:
        """Success by scenario id."""
        return _by(self.trials, lambda trial: trial.scenario)

    @property
    def failures(self) -> dict[str, int]:
        """How many starts failed in each class, the commonest first."""
        counted = Counter(trial.kind or "unknown" for trial in self.trials if not trial.success)
        return dict(sorted(counted.items(), key=lambda item: (-item[1], item[0])))

    def summary(self) -> dict[str, Any]:
        """Everything but the single trials, as JSON values."""
        return {
            "suite": self.suite,
            "name": self.name,
            "actor": self.actor,
            "trials": len(self.trials),
            "success": self.success.model_dump(),
            "levels": {str(level): interval.model_dump() for level, interval in self.levels.items()},
            "scenarios": {name: interval.model_dump() for name, interval in self.scenarios.items()},
            "failures": self.failures,
            "codes": dict(Counter(trial.failure for trial in self.trials if trial.failure).most_common()),
            "never_grasped": list(self.coverage.never_grasped),
            "seconds": round(self.seconds, 2),
        }


class Comparison(Noun):
    """One policy against another from the same starts."""

    difference: Interval
    """Success of the first minus that of the second; the bootstrap resamples whole scenarios where there are several."""
    p: float
    """Exact two-sided McNemar p-value over the single starts."""


def evaluate(
    policy: Actor,
    suite: Suite,
    *,
    actor: str = "policy",
    worlds: int = 64,
    threads: int = 1,
    classify: Classify | None = None,
    on_episode: OnEpisode | None = None,
) -> Evaluation:
    """Try a policy from every start of a suite, without exploration noise. The result does not depend on `worlds` and `threads`.

    Args:
        policy: What acts; see `learn.rollout`.
        suite: What it is tried on.
        actor: What to call it.
        worlds: Worlds stepped together.
        threads: Threads that step them.
        classify: Class of a failed recording; None: the code of its failure.
        on_episode: Called with every episode.
    """

    def episodes(scenario: Scenario, attempts: Sequence[int], seed: int) -> Iterable[Recording]:
        return rollout(policy, scenario, attempts, seed=seed, worlds=worlds, threads=threads)

    return try_out(episodes, suite, actor=actor, classify=classify, on_episode=on_episode)


def evaluate_demonstrator(suite: Suite, *, classify: Classify | None = None, on_episode: OnEpisode | None = None) -> Evaluation:
    """What the demonstrator makes of the same starts: what a policy that imitates it can hardly beat."""
    return try_out(_demonstrated, suite, actor="demonstrator", classify=classify, on_episode=on_episode)


def try_out(
    episodes: Episodes, suite: Suite, *, actor: str, classify: Classify | None = None, on_episode: OnEpisode | None = None
) -> Evaluation:
    """Try whatever gives `episodes` from every start of a suite.

    Raises:
        UsageError: `episodes` does not give one recording for each attempt, in their order.
    """
    began = time.perf_counter()
    trials: list[Trial] = []
    seen = Coverage()
    for entry in suite.entries:
        given = iter(episodes(entry.scenario, entry.attempts, suite.seed))
        for attempt in entry.attempts:
            recording = next(given, None)
            if recording is None or recording.attempt != attempt:
                told = "nothing" if recording is None else f"attempt {recording.attempt}"
                raise UsageError(f"attempt {attempt} of {entry.scenario.id} gave {told}")
            trials.append(_trial(entry, recording, classify))
            seen += coverage(entry.scenario, [recording])
            if on_episode is not None:
                on_episode(entry, recording)
    return Evaluation(
        suite=suite.id, name=suite.name, actor=actor, trials=tuple(trials), coverage=seen, seconds=time.perf_counter() - began
    )


def compare(first: Evaluation, second: Evaluation, rng: np.random.Generator) -> Comparison:
    """The first against the second, start by start.

    Raises:
        UsageError: they are of different suites.
    """
    if first.suite != second.suite:
        raise UsageError(
            f"suites {first.suite} and {second.suite} cannot be compared start by start", remedy="evaluate both on one suite"
        )
    others = {trial.start: trial.success for trial in second.trials}
    a = [trial.success for trial in first.trials]
    b = [others[trial.start] for trial in first.trials]
    names = [trial.scenario for trial in first.trials]
    return Comparison(difference=paired(a, b, rng, groups=names if len(set(names)) > 1 else None), p=mcnemar(a, b))


def _demonstrated(scenario: Scenario, attempts: Sequence[int], seed: int) -> Iterable[Recording]:
    world = warm_world(scenario)
    for attempt in attempts:
        rng = attempt_rng(seed, scenario.id, attempt)
        try:
            yield demonstrate(Session(world, seed=seed, attempt=attempt), rng)
        except SettleError as error:  # a start that no policy can begin either
            watch = Watch(world, seed=seed, attempt=attempt)
            watch.begin()
            watch.went_bad(error)
            yield watch.finish()


def _trial(entry: Entry, recording: Recording, classify: Classify | None) -> Trial:
    code = recording.failure.code if recording.failure is not None else None
    failed = recording.outcome != "success"
    return Trial(
        scenario=entry.scenario.id,
        level=entry.level,
        attempt=recording.attempt,
        success=not failed,
        steps=recording.length,
        failure=code,
        kind=(classify(recording) if classify is not None else code) if failed else None,
    )


def _rate(trials: Sequence[Trial]) -> Interval:
    return rate(sum(trial.success for trial in trials), len(trials))


def _by(trials: Sequence[Trial], key: Callable[[Trial], Any]) -> dict[Any, Interval]:
    groups: dict[Any, list[Trial]] = {}
    for trial in trials:
        groups.setdefault(key(trial), []).append(trial)
    return {name: _rate(group) for name, group in groups.items()}
