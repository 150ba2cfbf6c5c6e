"""The run's index: one row an attempt. SQLite in WAL mode: readers never wait, a kill never corrupts."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from embodiedsmith.runtime.files import DiskFullError, StorageError

_SCHEMA = """
CREATE TABLE IF NOT EXISTS attempts (
    slot INTEGER NOT NULL, attempt INTEGER NOT NULL, scenario_id TEXT NOT NULL, seed INTEGER NOT NULL,
    outcome TEXT NOT NULL CHECK (outcome IN ('success', 'failure')), failure_code TEXT, failure TEXT,
    length INTEGER NOT NULL, scores TEXT NOT NULL, cost TEXT NOT NULL, file TEXT, checksum TEXT,
    PRIMARY KEY (slot, attempt)
) WITHOUT ROWID;
"""
_COLUMNS = "slot, attempt, scenario_id, seed, outcome, failure_code, failure, length, scores, cost, file, checksum"


@dataclass(frozen=True, kw_only=True)
class AttemptRow:
    """What the index knows of one attempt. Everything but `cost` is the same on every repetition of the run."""

    slot: int
    """Place in the run: one wanted episode. Its scenario is tried until it succeeds or its attempts are used up."""
    attempt: int
    scenario_id: str
    seed: int
    """Run seed."""
    outcome: Literal["success", "failure"]
    failure_code: str | None = None
    failure: Mapping[str, Any] | None = None
    """Fields of the `Failure`; None on success."""
    length: int = 0
    """Number of actions."""
    scores: Mapping[str, float | None] = field(default_factory=dict)
    cost: Mapping[str, float] = field(default_factory=dict)
    """Wall clock by stage [s] and counts."""
    file: str | None = None
    """Episode file relative to the run; None when the attempt left no recording (a worker that died, for instance)."""
    checksum: str | None = None
    """SHA-256 of that file."""


class Index:
    """The index of a run, open for reading, or for reading and writing."""

    def __init__(self, path: Path, *, write: bool) -> None:
        self._path = path
        with self._errors():
            if write:
                self._db = sqlite3.connect(path, isolation_level=None)
                self._db.execute("PRAGMA journal_mode=WAL")
                # A power cut may lose the last rows, never consistency; their episodes are then simply run again.
                self._db.execute("PRAGMA synchronous=NORMAL")
                self._db.executescript(_SCHEMA)
            else:
                if not path.is_file():
                    raise StorageError("the run has no index", where=str(path), remedy="is this the folder of a run?")
                self._db = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, isolation_level=None)

    def close(self) -> None:
        """Close the database; a second call does nothing."""
        self._db.close()

    def add(self, row: AttemptRow) -> None:
        """Insert or replace the row of (slot, attempt): durable against a kill of the process when this returns."""
        values = (
            row.slot, row.attempt, row.scenario_id, row.seed, row.outcome, row.failure_code,
            None if row.failure is None else _dump(row.failure),
            row.length, _dump(row.scores), _dump(row.cost), row.file, row.checksum,
        )  # fmt: skip
        with self._errors():
            self._db.execute(f"INSERT OR REPLACE INTO attempts ({_COLUMNS}) VALUES ({', '.join('?' * len(values))})", values)

    def rows(self, *, outcome: str | None = None, scenario_id: str | None = None) -> list[AttemptRow]:
        """Attempts in the order (slot, attempt), whatever order they finished in; optionally only some of them."""
        clauses = {"outcome": outcome, "scenario_id": scenario_id}
        wanted = {name: value for name, value in clauses.items() if value is not None}
        where = f" WHERE {' AND '.join(f'{name} = ?' for name in wanted)}" if wanted else ""
        with self._errors():
            cursor = self._db.execute(f"SELECT {_COLUMNS} FROM attempts{where} ORDER BY slot, attempt", tuple(wanted.values()))
            return [_attempt(values) for values in cursor]

    def row(self, slot: int, attempt: int) -> AttemptRow | None:
        """The row of one attempt; None when it is not there."""
        with self._errors():
            cursor = self._db.execute(f"SELECT {_COLUMNS} FROM attempts WHERE slot = ? AND attempt = ?", (slot, attempt))
            values = cursor.fetchone()
        return None if values is None else _attempt(values)

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL:
                raise DiskFullError(
                    "no space left to write the index; everything committed before is intact and readable",
                    where=str(self._path),
                    remedy="free some space (or raise the quota), then run `smith resume`",
                ) from error
            raise StorageError(f"the index cannot be used: {error}", where=str(self._path)) from error


def _dump(content: Mapping[str, Any]) -> str:
    return json.dumps(dict(content), sort_keys=True, ensure_ascii=False, allow_nan=False)


def _attempt(values: tuple[Any, ...]) -> AttemptRow:
    content: dict[str, Any] = dict(zip(_COLUMNS.split(", "), values, strict=True))
    for name in ("failure", "scores", "cost"):
        content[name] = None if content[name] is None else json.loads(content[name])
    return AttemptRow(**content)
