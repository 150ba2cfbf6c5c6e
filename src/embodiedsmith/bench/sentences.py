"""What becomes of a sentence: is it forged, and is it then done again from other draws?

One scenario is forged from a sentence and a seed, then attempted up to three times with draws that are not its witness's, as
`collect` does. With a folder, trials are kept line by line and a second call goes on where the first stopped.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from embodiedsmith.episodes.staging import attempt_rng
from embodiedsmith.forge.loop import ForgeError, forge
from embodiedsmith.motion import demonstrate
from embodiedsmith.runtime.errors import SmithError
from embodiedsmith.runtime.executors import JobResult, run_jobs
from embodiedsmith.runtime.files import storage_errors
from embodiedsmith.spec import Brief
from embodiedsmith.tasks import Session
from embodiedsmith.world import SettleError, World

ATTEMPTS = 3


@dataclass(frozen=True, kw_only=True)
class Sentence:
    """A brief to try."""

    text: str
    robot: str = "panda"
    group: str = ""
    """What it stands for: an embodiment, a kind of matter; empty: nothing in particular."""


@dataclass(frozen=True, kw_only=True)
class Trial:
    """One sentence with one seed."""

    text: str
    robot: str
    seed: int
    forged: bool = False
    verified: bool = False
    """Whether the scenario gave a verified demonstration within `ATTEMPTS`."""
    attempts: int = 0
    proposals: int = 0
    seconds: float = 0.0
    """Wall clock."""
    failures: dict[str, int] = field(default_factory=dict)
    """Codes of failed attempts and of why it could not be forged."""

    @property
    def key(self) -> tuple[str, str, int]:
        """What was asked."""
        return self.text, self.robot, self.seed


@dataclass(frozen=True)
class _Job:
    sentence: Sentence
    seed: int

    @property
    def key(self) -> tuple[str, str, int]:
        return self.sentence.text, self.sentence.robot, self.seed


def measure(
    sentences: Sequence[Sentence],
    *,
    seeds: int,
    workers: int = 1,
    folder: Path | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> dict[str, Any]:
    """Try every sentence with seeds 0 to `seeds` - 1.

    Args:
        sentences: What to try.
        seeds: Seeds a sentence.
        workers: Processes.
        folder: Where trials are kept (`sentences.jsonl`); None: nowhere.
        say: Told of every trial.

    Returns:
        `asked`, `forged`, `verified`, `attempts`: sums; `briefs`: the same for every sentence, with `seconds` in all, `proposals`
        and `failures` by code; `table`: lines of a Markdown table of them.
    """
    file = None if folder is None else folder / "sentences.jsonl"
    done = _kept(file)
    jobs = [_Job(sentence, seed) for sentence in sentences for seed in range(seeds)]

    def keep(job: _Job, result: JobResult[Trial]) -> None:
        if result.value is None:
            raise result.error or SmithError("a trial gave nothing back", where=job.sentence.text)
        done[job.key] = result.value
        _append(file, result.value)
        state = "verified" if result.value.verified else "forged only" if result.value.forged else "not forged"
        count = sum(j.key in done for j in jobs)
        failures = f" {result.value.failures}" if result.value.failures else ""
        say(f"{count}/{len(jobs)} {state} in {result.value.seconds:.0f} s: {job.sentence.text} [{job.sentence.robot}]{failures}")

    left = [job for job in jobs if job.key not in done]
    if left:
        run_jobs(_try, left, min(workers, len(left)), keep)
    rows = [_summed(s, [done[s.text, s.robot, seed] for seed in range(seeds)]) for s in sentences]
    sums = {name: sum(row[name] for row in rows) for name in ("asked", "forged", "verified", "attempts")}
    return {**sums, "briefs": rows, "table": _table(rows)}


def _summed(sentence: Sentence, trials: Sequence[Trial]) -> dict[str, Any]:
    failures: Counter[str] = Counter()
    for trial in trials:
        failures.update(trial.failures)
    return {
        "group": sentence.group, "brief": sentence.text, "embodiment": sentence.robot, "asked": len(trials),
        "forged": sum(t.forged for t in trials), "verified": sum(t.verified for t in trials),
        "attempts": sum(t.attempts for t in trials), "proposals": sum(t.proposals for t in trials if t.forged),
        "seconds": round(sum(t.seconds for t in trials), 1), "failures": dict(failures.most_common()),
    }  # fmt: skip


def _table(rows: Sequence[dict[str, Any]]) -> list[str]:
    grouped = any(row["group"] for row in rows)
    names = ["sentence", "robot", "forged", "verified", "attempts", "proposals a scenario", "seconds a seed"]
    names = (["what"] if grouped else []) + names
    lines = [f"| {' | '.join(names)} |", "|" + "---|" * len(names)]
    for row in rows:
        cells = [row["group"]] if grouped else []
        proposals = f"{row['proposals'] / row['forged']:.1f}" if row["forged"] else "-"
        cells += [
            row["brief"], row["embodiment"], f"{row['forged']} of {row['asked']}", f"{row['verified']} of {row['forged']}",
            str(row["attempts"]), proposals, f"{row['seconds'] / max(row['asked'], 1):.1f}",
        ]  # fmt: skip
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def _try(job: _Job) -> Trial:
    started = time.perf_counter()
    asked: dict[str, Any] = {"text": job.sentence.text, "robot": job.sentence.robot, "seed": job.seed}
    try:
        made = forge(Brief(text=job.sentence.text, embodiment=job.sentence.robot, seed=job.seed))
    except SmithError as error:
        codes = (
            {f"forge: {code}": 1 for code in error.reasons} if isinstance(error, ForgeError) else {f"refused: {error.what}": 1}
        )
        return Trial(**asked, seconds=round(time.perf_counter() - started, 2), failures=codes)
    session = Session(World(made.scenario), seed=job.seed)
    failures: Counter[str] = Counter()
    attempts, verified = 0, False
    while attempts < ATTEMPTS and not verified:
        try:
            recording = demonstrate(session, attempt_rng(job.seed, made.scenario.id, attempts))
        except SettleError:
            failures["world.unsettled"] += 1
        else:
            verified = recording.outcome == "success"
            if recording.failure is not None:
                failures[recording.failure.code] += 1
        attempts += 1
    return Trial(
        **asked, forged=True, verified=verified, attempts=attempts, proposals=made.proposals,
        seconds=round(time.perf_counter() - started, 2), failures=dict(failures.most_common()),
    )  # fmt: skip


def _kept(file: Path | None) -> dict[tuple[str, str, int], Trial]:
    if file is None or not file.is_file():
        return {}
    with storage_errors(file):
        lines = file.read_text("utf-8").splitlines()
    trials = [Trial(**json.loads(line)) for line in lines]
    return {trial.key: trial for trial in trials}


def _append(file: Path | None, trial: Trial) -> None:
    if file is None:
        return
    with storage_errors(file):
        file.parent.mkdir(parents=True, exist_ok=True)
        with open(file, "a", encoding="utf-8") as out:
            out.write(json.dumps(asdict(trial), ensure_ascii=False, sort_keys=True) + "\n")
