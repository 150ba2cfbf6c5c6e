"""Every decision of the flywheel with its reason: one JSON object a line, in the order they were taken."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import Field, field_validator

from embodiedsmith.runtime.files import storage_errors, sync_folder, write_atomic
from embodiedsmith.spec import Noun

Value = float | int | str | None


class Decision(Noun):
    """Something that a part of the loop decided in a round. Nothing changed when `before` equals `after`."""

    round: int = Field(ge=0)
    part: str
    """Who decided: `curriculum`, `thresholds`, `replay`, `guards`, `requests`, `population`, `loop`."""
    what: str
    """What it is about: `level`, `quality_threshold`, `policy` ..."""
    before: Value = None
    after: Value = None
    reason: str
    """Why, in words, with the numbers that decided."""
    numbers: dict[str, float | None] = Field(default_factory=dict)
    """The numbers that decided, by name, in SI units; what is not finite is None."""
    task: str = ""
    """Which of several tasks it concerns; empty: all."""

    @field_validator("numbers", mode="before")
    @classmethod
    def _finite(cls, numbers: Mapping[str, Any]) -> dict[str, float | None]:
        return {name: None if v is None or not np.isfinite(v) else float(v) for name, v in numbers.items()}

    @property
    def changed(self) -> bool:
        """Whether anything is otherwise than before."""
        return self.before != self.after

    @property
    def said(self) -> str:
        """What was decided and why, for people who know of which round and task."""
        before, after = _shown(self.before), _shown(self.after)
        change = f"stays {after}" if not self.changed else f"is {after}" if self.before is None else f"{before} -> {after}"
        return f"{self.part}: {self.what.replace('_', ' ')} {change}: {self.reason}"

    def __str__(self) -> str:
        return f"round {self.round}, {self.task + ', ' if self.task else ''}{self.said}"


def _shown(value: Value) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


class Journal:
    """The decisions of a run, in a file that only grows.

    A line that a kill cut short is dropped when the journal is opened; `rewind` drops the lines of rounds that are run again.

    Args:
        path: The file; made with the first decision.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        if path.is_file():
            with storage_errors(path):
                data = path.read_bytes()
            whole = data[: data.rfind(b"\n") + 1]
            if whole != data:
                write_atomic(path, whole)

    def add(self, decisions: Iterable[Decision]) -> None:
        """Write decisions down; they are on the disk when this returns."""
        lines = "".join(decision.to_json() + "\n" for decision in decisions)
        if not lines:
            return
        new = not self.path.exists()
        with storage_errors(self.path):
            with open(self.path, "ab") as file:
                file.write(lines.encode("utf-8"))
                file.flush()
                os.fsync(file.fileno())
            if new:
                sync_folder(self.path.parent)

    def read(self) -> list[Decision]:
        """All decisions, oldest first."""
        if not self.path.is_file():
            return []
        with storage_errors(self.path):
            text = self.path.read_text("utf-8")
        return [Decision.model_validate(json.loads(line)) for line in text.splitlines()]

    def rewind(self, round: int) -> None:
        """Drop the decisions of this round and of later ones: they are about to be taken again."""
        kept = [decision for decision in self.read() if decision.round < round]
        if self.path.is_file():
            write_atomic(self.path, "".join(decision.to_json() + "\n" for decision in kept).encode("utf-8"))
