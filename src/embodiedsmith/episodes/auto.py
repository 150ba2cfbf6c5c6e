"""Autonomous forging as a stage of a run: rounds of cells chosen from the archive, until the run has as many scenarios as wanted.

A round is planned from the archive as it stood when the round began, and its results enter the archive by index, so that the
run is the same for any number of workers and after any interruption: what the archive holds follows from the run's scenarios and
logs. Besides what `forging` keeps, `archive.json` in the run's folder shows the archive as of the last round.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import TextIO

from embodiedsmith import embodiments
from embodiedsmith.episodes.forging import Forged, forged, keep_result
from embodiedsmith.episodes.lessons import lessons_of
from embodiedsmith.episodes.store import EpisodeStore
from embodiedsmith.forge.auto.archive import NEAR, Archive
from embodiedsmith.forge.auto.attempt import forge_cell, horizon
from embodiedsmith.forge.auto.cells import Cell
from embodiedsmith.forge.auto.diversity import Diversity, diversity
from embodiedsmith.forge.lessons import Lessons
from embodiedsmith.forge.loop import ForgeResult
from embodiedsmith.runtime.executors import JobResult, run_jobs
from embodiedsmith.runtime.files import storage_errors, write_atomic, write_json
from embodiedsmith.runtime.progress import Progress
from embodiedsmith.runtime.seeds import generator

ROUND = 8
"""Cells planned together: more keep more workers busy, fewer look at a fresher archive."""
SPARE = 3
"""Cells tried at most for each scenario wanted."""
ANY = "any"
"""The embodiment that leaves the choice to the forge."""
ARCHIVE = "archive.json"


@dataclass(frozen=True)
class _Job:
    index: int
    cell: Cell
    seed: int
    archive: Archive
    budget: float
    lessons: Lessons


def robots_of(embodiment: str) -> tuple[str, ...]:
    """The robots that a run may use; raises UsageError for a name there is none of."""
    return embodiments.names(imported=False) if embodiment == ANY else (embodiments.get(embodiment).name,)


def forge_auto(
    store: EpisodeStore,
    wanted: int,
    *,
    embodiment: str,
    budget: float,
    workers: int = 1,
    quiet: bool = False,
    stream: TextIO | None = None,
) -> list[Forged]:
    """Forge until the run holds `wanted` scenarios of autonomous mode, or `SPARE` times as many cells have been tried.

    What the run already holds counts. Gives what came of every cell, by index.

    Args:
        store: Of a run open for writing.
        wanted: Scenarios.
        embodiment: Name of the robot, or `any`.
        budget: What one scenario may cost [simulated seconds and plans].
        workers: Processes.
        quiet: No progress.
        stream: Where progress goes; standard error when not given.
    """
    archive, lessons = Archive(robots_of(embodiment)), lessons_of(store)
    done = sum(entry.scenario is not None for entry in forged(store))
    first = 0
    with Progress("scenarios", wanted, done=done, quiet=quiet, stream=stream) as progress:

        def keep(job: _Job, result: JobResult[ForgeResult]) -> None:
            entry = keep_result(store, job.index, result)
            reason = "" if entry.error is None else entry.error.splitlines()[0]
            progress.update(entry.scenario is not None, f"{job.cell}: {reason}" if reason else str(job.cell))

        while len(archive.entries) < wanted and first < SPARE * wanted:
            count = min(ROUND, wanted - len(archive.entries), SPARE * wanted - first)
            cells = archive.emptiest(count, generator(store.run.seed, "auto", "cells", first))
            known = {entry.index for entry in forged(store)}
            before = Archive(archive.robots, archive.entries, archive.failed)
            jobs = [
                _Job(first + k, cell, store.run.seed, before, budget, lessons)
                for k, cell in enumerate(cells)
                if first + k not in known
            ]
            run_jobs(_forge, jobs, min(workers, max(len(jobs), 1)), keep)
            _fold(store, archive, first, cells)
            first += count
            write_json(store.run.path / ARCHIVE, archive.to_json())
    return forged(store)


def archive_of(store: EpisodeStore) -> Archive:
    """The archive of a run of autonomous mode, as of its last round."""
    path = store.run.path / ARCHIVE
    with storage_errors(path):
        return Archive.from_json(json.loads(path.read_text("utf-8")))


def diversity_of(store: EpisodeStore) -> Diversity:
    """How varied the scenarios of a run of autonomous mode are."""
    return diversity(archive_of(store))


def _forge(job: _Job) -> ForgeResult:
    return forge_cell(
        job.cell, seed=job.seed, index=job.index, archive=job.archive, budget=job.budget, lessons=job.lessons
    )  # fmt: skip


def _fold(store: EpisodeStore, archive: Archive, first: int, cells: Sequence[Cell]) -> None:
    """Enter a round's results into the archive, by index. Of two near-duplicates of one round the first stays."""
    entries = {entry.index: entry for entry in forged(store)}
    for index, cell in enumerate(cells, first):
        entry = entries[index]
        if entry.scenario is None:
            archive.missed(index, cell, dict(entry.rejections) or {"auto.no_goal": 1})
            continue
        scenario = store.scenario(entry.scenario)
        near = archive.nearest(scenario)
        if near is not None and near[1] < NEAR:
            _drop(store, entry, f"is much like scenario {near[0].index}: {near[1]:.2f} apart of {NEAR:g}")
            archive.missed(index, cell, {"novelty.duplicate": 1})
            continue
        archive.made(index, scenario, horizon(store.witness(entry.scenario).events))
    _sweep(store)


def _drop(store: EpisodeStore, entry: Forged, reason: str) -> None:
    """Let a scenario that is too much like another of its round count as refused."""
    path = store.run.file("scenarios", f"forge-{entry.index:04d}.jsonl")
    refused = replace(entry, scenario=None, error=reason, rejections={**entry.rejections, "novelty.duplicate": 1})
    with storage_errors(path):
        lines = path.read_text("utf-8").splitlines()[:-1]
    lines.append(json.dumps(asdict(refused), sort_keys=True, ensure_ascii=False))
    write_atomic(path, "".join(line + "\n" for line in lines).encode("utf-8"))


def _sweep(store: EpisodeStore) -> None:
    """Remove scenarios that no log speaks of: those dropped, and those whose log a killed run did not come to write."""
    kept = {entry.scenario for entry in forged(store)}
    for identity in (i for i in store.scenario_ids() if i not in kept):
        for suffix in (".json", ".certificate.json", ".witness.parquet"):
            store.run.file("scenarios", identity + suffix).unlink(missing_ok=True)
