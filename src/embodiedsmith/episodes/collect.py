"""Collecting: demonstrations of a run's scenarios until as many episodes as wanted have succeeded.

The plan is fixed before anything runs, so that the result is the same for any number of workers and after any
interruption. A *slot* is one wanted episode. Slot k belongs to scenario k mod S and makes up to `ATTEMPTS` attempts,
numbered 3k, 3k+1, 3k+2, each with its own draws, and stops at the first success. For N episodes the slots 0 to N-1 run
first; when D of them fail, the next D slots follow, and so on, up to slot `SPARE` N - 1. Every attempt is committed,
failed or not.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TextIO

from embodiedsmith import motion
from embodiedsmith.episodes.scores import Scores, score
from embodiedsmith.episodes.staging import attempt_rng, pushing, warm_world
from embodiedsmith.episodes.store import EpisodeStore
from embodiedsmith.runtime.errors import SmithError, UsageError
from embodiedsmith.runtime.executors import JobResult, run_jobs
from embodiedsmith.runtime.index import AttemptRow
from embodiedsmith.runtime.progress import Progress
from embodiedsmith.spec import Scenario
from embodiedsmith.tasks import Failure, Recording, Session
from embodiedsmith.world import CompileError, SettleError

ATTEMPTS = 3
"""Attempts a slot makes."""
SPARE = 3
"""Slots tried at most for each wanted episode."""


@dataclass(frozen=True)
class Job:
    """One attempt to make."""

    slot: int
    attempt: int
    seed: int
    scenario: Scenario
    pushes: motion.Pushes | None = None
    """What leads the demonstrator astray now and then."""


@dataclass(frozen=True)
class Attempted:
    """What a worker sends back."""

    recording: Recording
    scores: Scores


@dataclass(frozen=True, kw_only=True)
class Collection:
    """Where a run stands after collecting."""

    wanted: int
    episodes: int
    """Slots that succeeded."""
    attempts: int
    failures: Mapping[str, int]
    """Failure code to number of attempts, most frequent first."""
    seconds: float
    """Wall clock of this call."""

    @property
    def complete(self) -> bool:
        """Whether there are as many episodes as wanted."""
        return self.episodes >= self.wanted


def collect(
    store: EpisodeStore,
    scenarios: Sequence[Scenario],
    wanted: int,
    *,
    pushes: motion.Pushes | None = None,
    workers: int = 1,
    quiet: bool = False,
    stream: TextIO | None = None,
) -> Collection:
    """Make attempts until the run holds `wanted` successful episodes, or its slots are used up.

    What the run already holds counts; an interrupted slot goes on with its first missing attempt.

    Args:
        store: Of a run open for writing.
        scenarios: In the order slots are dealt to them; the same on every call for a run.
        wanted: Successful episodes the run shall hold in all.
        pushes: What leads the demonstrator astray now and then; the same on every call for a run.
        workers: Processes.
        quiet: No progress.
        stream: Where progress goes; standard error when not given.

    Raises:
        UsageError: There is no scenario, one is not of this run, or `wanted` is less than one.
        DiskFullError: Everything committed before is intact.
    """
    if not scenarios or wanted < 1:
        raise UsageError(f"cannot collect {wanted} episodes from {len(scenarios)} scenarios", where=str(store.run.path))
    started = time.monotonic()
    known = store.scenario_ids()
    if strangers := sorted({scenario.id for scenario in scenarios} - set(known)):
        raise UsageError(
            f"scenarios that this run has not released: {', '.join(strangers)}", where=str(store.run.path), choices=known
        )
    limit = wanted
    done = _successes(store, limit)
    with Progress("episodes", wanted, done=done, quiet=quiet, stream=stream) as progress:
        while True:
            _run_slots(store, scenarios, limit, pushes, workers, progress)
            missing = wanted - _successes(store, limit)
            if missing <= 0 or limit >= SPARE * wanted:
                break
            limit = min(limit + missing, SPARE * wanted)
    rows = store.rows()
    failures = Counter(row.failure_code for row in rows if row.failure_code is not None)
    return Collection(
        wanted=wanted,
        episodes=sum(row.outcome == "success" for row in rows),
        attempts=len(rows),
        failures=dict(failures.most_common()),
        seconds=time.monotonic() - started,
    )


def attempt(job: Job) -> Attempted:
    """Make one attempt in this process's warm world of the scenario."""
    world = warm_world(job.scenario)
    session = Session(world, seed=job.seed, attempt=job.attempt)
    draws = job.seed, job.scenario.id, job.attempt
    recording = motion.demonstrate(session, attempt_rng(*draws), pushing(job.pushes, *draws))
    return Attempted(recording, score(recording, 1.0 / world.control_dt, motion.clearance(world, recording)))


def _run_slots(
    store: EpisodeStore, scenarios: Sequence[Scenario], limit: int, pushes: motion.Pushes | None, workers: int, progress: Progress
) -> None:
    """Run what is missing of the slots below `limit`."""

    def keep(job: Job, result: JobResult[Attempted]) -> Iterator[Job]:
        row = _commit(store, job, result)
        succeeded = row.outcome == "success"
        progress.update(succeeded, "" if succeeded else f"slot {job.slot}: {row.failure_code}")
        following = job.attempt + 1
        if not succeeded and following < ATTEMPTS * (job.slot + 1):
            yield replace(job, attempt=following)

    run_jobs(attempt, list(_missing(store, scenarios, limit, pushes)), workers, keep)


def _missing(store: EpisodeStore, scenarios: Sequence[Scenario], limit: int, pushes: motion.Pushes | None) -> Iterator[Job]:
    """The next attempt of every unfinished slot below `limit`, scenario by scenario so that warm worlds are used."""
    made: dict[int, int] = {}
    finished: set[int] = set()
    for row in store.rows():
        made[row.slot] = max(made.get(row.slot, -1), row.attempt)
        if row.outcome == "success":
            finished.add(row.slot)
    for slot in sorted(range(limit), key=lambda k: (k % len(scenarios), k)):
        following = made.get(slot, ATTEMPTS * slot - 1) + 1
        if slot not in finished and following < ATTEMPTS * (slot + 1):
            yield Job(slot, following, store.run.seed, scenarios[slot % len(scenarios)], pushes)


def _commit(store: EpisodeStore, job: Job, result: JobResult[Attempted]) -> AttemptRow:
    if result.value is not None:
        return store.commit(job.slot, result.value.recording, result.value.scores)
    return store.commit_failure(job.slot, job.attempt, job.scenario.id, _as_failure(result.error))


def _as_failure(error: SmithError | None) -> Failure:
    """Why an attempt left no recording: the world would not build, something unforeseen, a dead worker."""
    code = {SettleError: "world.not_settled", CompileError: "world.not_compiled"}.get(type(error), "worker.error")
    return Failure(code=code, message=str(error))


def _successes(store: EpisodeStore, limit: int) -> int:
    return sum(row.slot < limit for row in store.rows(outcome="success"))
