"""Lessons of a run: the copy it works from, and what it teaches those that come after.

`lessons.json` in the run's folder is the copy, made when the run begins; `learnt.json` is what its own repairs taught, written
when its scenarios are forged and it has been added to the lessons kept across runs.
"""

from __future__ import annotations

import json
import time
from pathlib import Path

from pydantic import TypeAdapter

from embodiedsmith.episodes.store import EpisodeStore
from embodiedsmith.forge.lessons import Lessons, Outcome, load, save
from embodiedsmith.runtime.files import storage_errors, write_atomic
from embodiedsmith.runtime.lock import RunLockedError, WriterLock

COPY, LEARNT = "lessons.json", "learnt.json"
TRIES, PAUSE = 50, 0.1  # times to ask for the lock, [s] between them: adding takes milliseconds
_OUTCOMES = TypeAdapter(list[Outcome])


def begin(store: EpisodeStore, kept: Path | None) -> None:
    """Give a run its copy of the lessons kept at a path, unless it has one; None: it works from none."""
    copy = store.run.path / COPY
    if not copy.exists():
        save(copy, Lessons() if kept is None else load(kept))


def lessons_of(store: EpisodeStore) -> Lessons:
    """The lessons a run works from."""
    return load(store.run.path / COPY)


def outcomes_of(store: EpisodeStore) -> list[Outcome]:
    """Every repair tried in a run, in the order of its scenarios."""
    outcomes: list[Outcome] = []
    for path in sorted((store.run.path / "scenarios").glob("forge-*.jsonl")):
        with storage_errors(path):
            lines = path.read_text("utf-8").splitlines()
        found = [step["outcome"] for line in lines[:-1] for step in json.loads(line)["steps"] if step["outcome"] is not None]
        outcomes += _OUTCOMES.validate_python(found)
    return outcomes


def finish(store: EpisodeStore, kept: Path | None) -> None:
    """Add what a run learnt to the lessons kept at a path, once; None: only the run itself remembers it."""
    learnt = store.run.path / LEARNT
    if learnt.exists():
        return
    outcomes = outcomes_of(store)
    if kept is not None and outcomes:
        _add(kept, outcomes)
    text = json.dumps([o.model_dump(mode="json") for o in outcomes], indent=1, sort_keys=True) + "\n"
    write_atomic(learnt, text.encode("utf-8"))


def _add(kept: Path, outcomes: list[Outcome]) -> None:
    """Add outcomes to a file that other runs may be adding to; raises RunLockedError when one holds it for long."""
    kept.parent.mkdir(parents=True, exist_ok=True)
    for left in reversed(range(TRIES)):
        try:
            lock = WriterLock(kept.with_name(kept.name + ".lock"))
        except RunLockedError:
            if not left:
                raise
            time.sleep(PAUSE)
            continue
        try:
            save(kept, load(kept).learn(outcomes))
        finally:
            lock.release()
        return
