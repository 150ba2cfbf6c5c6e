"""What is remembered of each round: one line of `rounds.jsonl` a task and round, for the page and whoever resumes."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError

from embodiedsmith.evaluate.intervals import Interval
from embodiedsmith.runtime.errors import SmithError
from embodiedsmith.runtime.files import storage_errors, write_atomic
from embodiedsmith.spec.base import Noun

FILE = "rounds.jsonl"
Training = Literal["cold", "finetune", "retrain", "none"]


class Clip(Noun):
    """A video of an episode."""

    file: str
    """Relative to the page's folder."""
    which: Literal["best", "worst"]
    success: bool
    quality: float | None = None
    text: str = ""
    """What there is to see, or why it failed."""


class RoundRow(Noun):
    """What one round did for one task. Round 0 is the cold start."""

    round: int = Field(ge=0)
    task: str = Field(min_length=1)
    success: Interval | None = None
    """Success on the held-out suite without exploration noise, after the round's training; None: not evaluated."""
    trials: int = Field(default=0, ge=0)
    """Starts of the suite tried."""
    rollout_success: float | None = Field(default=None, ge=0.0, le=1.0)
    """Success while collecting, at the round's level and with exploration noise: understates what the policy can do."""
    level: int = Field(ge=1)
    """Level at which was collected."""
    collected: int = Field(default=0, ge=0)
    kept: int = Field(default=0, ge=0)
    """Episodes of the round that passed the filter."""
    stored: int = Field(default=0, ge=0)
    """Episodes in the replay after the round."""
    quality: float | None = Field(default=None, ge=0.0, le=1.0)
    """Mean quality of what was kept."""
    quality_threshold: float | None = None
    efficiency_threshold: float | None = None
    failures: dict[str, int] = Field(default_factory=dict)
    """Collected episodes that failed, by class."""
    forgetting: dict[int, Interval] = Field(default_factory=dict)
    """Success on the held-out suite by level, earlier levels included."""
    loss: float | None = None
    """Training loss at the end of the round."""
    lr: float | None = None
    """Learning rate that the round began with."""
    mode: Training = "finetune"
    alarms: tuple[str, ...] = ()
    decisions: tuple[str, ...] = ()
    """What was decided in or after the round, each with its reason."""
    seconds: dict[str, float] = Field(default_factory=dict)
    """Wall clock by stage."""
    clips: tuple[Clip, ...] = ()


class RoundsError(SmithError):
    """`rounds.jsonl` cannot be read."""


def append_row(folder: Path, row: RoundRow) -> None:
    """Add a line to the folder's rounds; it is on the disk when this returns. What a killed process left of one is cut off."""
    path = folder / FILE
    with storage_errors(path):
        if path.exists() and not path.read_bytes().endswith(b"\n"):
            whole = path.read_bytes().rpartition(b"\n")
            write_atomic(path, whole[0] + whole[1])
        with open(path, "ab") as file:
            file.write(row.to_json().encode("utf-8") + b"\n")
            file.flush()
            os.fsync(file.fileno())


def read_rows(folder: Path) -> list[RoundRow]:
    """The rounds of a folder, by round, tasks in the order in which they began. A round done again counts as it was done last.

    Raises:
        RoundsError: a line that is not the last one is damaged; names it. An unfinished last line is left out.
    """
    path = folder / FILE
    if not path.exists():
        return []
    with storage_errors(path):
        data = path.read_bytes()
    found: dict[tuple[str, int], RoundRow] = {}
    for number, line in enumerate(data.split(b"\n")[:-1], start=1):
        try:
            row = RoundRow.from_json(line)
        except ValidationError as error:
            faults = [f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in error.errors()]
            raise RoundsError("is damaged", where=f"{path}:{number}", faults=faults, remedy="remove the line") from error
        found.pop((row.task, row.round), None)
        found[row.task, row.round] = row
    return ordered(found.values())


def rewind(folder: Path, last: int) -> None:
    """Forget every round after `last`, as if it had never been: what a roll-back or a resumed run goes on from."""
    rows = [row for row in read_rows(folder) if row.round <= last]
    write_atomic(folder / FILE, b"".join(row.to_json().encode("utf-8") + b"\n" for row in rows))


def ordered(rows: Iterable[RoundRow]) -> list[RoundRow]:
    """Rows by round, tasks in the order in which they are first named."""
    given = list(rows)
    tasks = {name: k for k, name in enumerate(dict.fromkeys(row.task for row in sorted(given, key=lambda r: r.round)))}
    return sorted(given, key=lambda row: (row.round, tasks[row.task]))
