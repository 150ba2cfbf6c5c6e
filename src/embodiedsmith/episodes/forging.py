"""Forging as a stage of a run: the scenarios a run still lacks, kept with their certificates, witnesses and logs.

Scenario i of a run depends on the brief, the seed and i alone, so that they can be forged in any order and after any
interruption. In the run's `scenarios/`: `<id>.json`, `<id>.certificate.json`, `<id>.witness.parquet` (the solver's own
demonstration) and `forge-<i>.jsonl`, one line a proposal with what the critics found and every repair tried, then one line that
says what came of it.
The log is written last: an index without one is forged again, to the same bytes.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TextIO

from embodiedsmith.episodes.lessons import lessons_of
from embodiedsmith.episodes.store import EpisodeStore
from embodiedsmith.forge import agents
from embodiedsmith.forge.lessons import Lessons
from embodiedsmith.forge.log import Proposal
from embodiedsmith.forge.loop import ForgeError, ForgeResult, forge
from embodiedsmith.runtime.errors import SmithError
from embodiedsmith.runtime.executors import JobResult, WorkerError, run_jobs
from embodiedsmith.runtime.files import storage_errors, write_atomic
from embodiedsmith.runtime.progress import Progress
from embodiedsmith.spec import Brief, Scenario


@dataclass(frozen=True, kw_only=True)
class Forged:
    """What a run remembers of forging one scenario."""

    index: int
    scenario: str | None
    """Its id; None when no proposal passed."""
    reading: str = ""
    """How the brief was understood."""
    proposals: int = 0
    edits: int = 0
    """Edits that the accepted proposal took."""
    distance: int = 0
    """Edit distance between the accepted proposal as first laid out and the scenario."""
    tries: int = 0
    """Repairs tried in all, those rolled back included."""
    units: float = 0.0
    """What it cost: simulated seconds and plans."""
    rejections: Mapping[str, int] = field(default_factory=dict)
    """Finding code to number of proposals rejected with it."""
    warnings: tuple[str, ...] = ()
    error: str | None = None
    """Why there is none."""
    cost: Mapping[str, float] = field(default_factory=dict)
    """Seconds by stage."""


@dataclass(frozen=True)
class _Job:
    index: int
    brief: Brief
    budget: float
    lessons: Lessons
    log: Path
    """Where an agent writes down what it says to a language model."""


def forge_missing(
    store: EpisodeStore,
    brief: Brief,
    wanted: int,
    *,
    budget: float,
    first: int = 0,
    workers: int = 1,
    quiet: bool = False,
    stream: TextIO | None = None,
) -> list[Forged]:
    """Forge what is missing of the run's scenarios `first` to `first + wanted` - 1; gives all that the run has, in order.

    Repairs are tried in the order that the run's own copy of the lessons gives (`episodes.lessons`).

    Raises:
        SmithError: The brief itself is at fault (words not understood, an agent that does not exist). A scenario for which no
            proposal passes is not an error here: its `Forged.scenario` is None.
    """
    known = {entry.index: entry for entry in forged(store)}
    lessons = lessons_of(store)
    log = store.run.path / "llm"
    jobs = [_Job(index, brief, budget, lessons, log) for index in range(first, first + wanted) if index not in known]
    done = sum(e.scenario is not None for e in known.values() if first <= e.index < first + wanted)
    with Progress("scenarios", wanted, done=done, quiet=quiet, stream=stream) as progress:

        def keep(job: _Job, result: JobResult[ForgeResult]) -> None:
            entry = keep_result(store, job.index, result)
            progress.update(entry.scenario is not None, "" if entry.error is None else f"scenario {job.index}: {entry.error}")

        run_jobs(_forge, jobs, min(workers, max(len(jobs), 1)), keep)
    return forged(store)


def forged(store: EpisodeStore) -> list[Forged]:
    """What the run remembers of forging, by index."""
    entries = []
    for path in sorted((store.run.path / "scenarios").glob("forge-*.jsonl")):
        with storage_errors(path):
            content = json.loads(path.read_text("utf-8").splitlines()[-1])
        entries.append(Forged(**{**content, "warnings": tuple(content["warnings"])}))
    return sorted(entries, key=lambda entry: entry.index)


def scenarios_of(store: EpisodeStore) -> list[Scenario]:
    """The run's scenarios in the order of their forging, each once."""
    return [store.scenario(i) for i in dict.fromkeys(e.scenario for e in forged(store) if e.scenario is not None)]


def _forge(job: _Job) -> ForgeResult:
    brief = job.brief
    agent = agents.get(brief.agent, log=job.log)
    return forge(brief, seed=brief.seed, index=job.index, budget=job.budget, agent=agent, lessons=job.lessons)


def keep_result(store: EpisodeStore, index: int, result: JobResult[ForgeResult]) -> Forged:
    """Put what came of forging scenario `index` on the disk, the log last; raises what is at fault with the brief itself."""
    log: Sequence[Proposal] = ()
    if result.value is not None:
        made = result.value
        log = made.log
        identity = store.release(made.scenario, made.certificate, made.witness)
        entry = Forged(
            index=index,
            scenario=identity,
            reading=made.reading,
            proposals=len(log),
            edits=made.edits,
            distance=made.distance,
            tries=_tries(log),
            units=made.units,
            rejections=_rejections(log),
            warnings=made.warnings,
            cost=made.cost,
        )
    elif isinstance(result.error, ForgeError):
        log = result.error.log
        entry = Forged(
            index=index,
            scenario=None,
            proposals=len(log),
            tries=_tries(log),
            units=result.error.units,
            rejections=_rejections(log),
            error=str(result.error),
            cost=result.error.cost,
        )
    elif isinstance(result.error, WorkerError):
        entry = Forged(index=index, scenario=None, error=str(result.error))
    else:
        raise result.error or SmithError("the forge gave nothing back", where=f"scenario {index}")
    lines = [*(proposal.to_json() for proposal in log), asdict(entry)]
    text = "".join(json.dumps(line, sort_keys=True, ensure_ascii=False) + "\n" for line in lines)
    write_atomic(store.run.file("scenarios", f"forge-{index:04d}.jsonl"), text.encode("utf-8"))
    return entry


def _tries(log: Sequence[Proposal]) -> int:
    return sum(step.kind is not None for proposal in log for step in proposal.steps)


def _rejections(log: Sequence[Proposal]) -> dict[str, int]:
    """How many of the proposals had each error as first laid out."""
    refused = [{f.code for f in proposal.steps[0].findings if f.severity == "error"} for proposal in log]
    return dict(Counter(code for codes in refused for code in sorted(codes)).most_common())
