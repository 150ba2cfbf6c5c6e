"""Checking a run from its files alone: nothing damaged, nothing missing, everything in step."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from embodiedsmith.episodes.certified import Recheck, certificate_findings, orphans
from embodiedsmith.episodes.format import EpisodeError, decode, faults_of
from embodiedsmith.episodes.store import EpisodeStore
from embodiedsmith.runtime.errors import SmithError
from embodiedsmith.runtime.files import StorageError, storage_errors
from embodiedsmith.runtime.index import AttemptRow
from embodiedsmith.runtime.run import Run
from embodiedsmith.spec import Finding, Scenario
from embodiedsmith.tasks.recording import Recording

Replay = Callable[[Recording, Scenario], float]
"""Rebuilds the world, sets the first state, applies the actions: the largest difference from the recorded states."""


def validate_run(run: Run, replay: Replay | None = None, recheck: Recheck | None = None) -> list[Finding]:
    """Everything wrong with a run, each finding naming the file and the episode; empty when all is well.

    Checked: every file against the checksum in the index, the index against the files and against what the files say, shapes,
    alignment, finiteness and time of every episode, scenarios against their ids, their certificates and witnesses; with `replay`
    that every success gives its recorded states again to the last bit; with `recheck` that every witness does, that it still
    reaches the goal, and that the goal sees through the near misses it is certified to see through.
    """
    store = EpisodeStore(run)
    findings: list[Finding] = []
    scenarios: dict[str, Scenario] = {}
    for scenario_id in store.scenario_ids():
        try:
            scenario = scenarios[scenario_id] = store.scenario(scenario_id)
        except SmithError as error:
            findings.append(_finding("run.scenario_damaged", f"scenarios/{scenario_id}.json", None, error.what))
        else:
            findings += certificate_findings(store, scenario, recheck)
    findings += orphans(store)
    rows = store.rows()
    for row in rows:
        findings += _check(store, row, scenarios, replay)
    known = {row.file for row in rows}
    for path in sorted((run.path / "episodes").iterdir()):
        name = f"episodes/{path.name}"
        if name not in known:
            message = "is not in the index: left by a killed writer, `smith resume` runs the attempt again and writes over it"
            findings.append(_finding("run.not_indexed", name, None, message, severity="warning"))
    findings += [
        Finding(code="run.versions", severity="warning", subjects=("run.json",), message=f"other version: {change}")
        for change in run.version_changes()
    ]
    return findings


def _check(store: EpisodeStore, row: AttemptRow, scenarios: dict[str, Scenario], replay: Replay | None) -> list[Finding]:
    name = row.file
    if name is None:
        return []
    path = store.path(row)
    if not path.is_file():
        return [_finding("run.file_missing", name, row, "is in the index and not on the disk")]
    try:
        with storage_errors(path):
            data = path.read_bytes()
    except StorageError as error:
        return [_finding("run.file_unreadable", name, row, error.what)]
    findings = []
    if hashlib.sha256(data).hexdigest() != row.checksum:
        findings.append(_finding("run.checksum", name, row, "was changed after it was written: its checksum differs"))
    try:
        recording = decode(data, name)
    except EpisodeError as error:
        return [*findings, _finding("run.file_damaged", name, row, error.what)]
    said = (recording.scenario_id, recording.attempt, recording.seed, recording.outcome, recording.length)
    indexed = (row.scenario_id, row.attempt, row.seed, row.outcome, row.length)
    if said != indexed:
        findings.append(_finding("run.index_differs", name, row, f"says {said}, the index says {indexed}"))
    findings += [_finding("episode.unsound", name, row, fault) for fault in faults_of(recording)]
    findings += _check_time(data, store.control_hz, name, row)
    if recording.scenario_id not in scenarios:
        findings.append(_finding("run.scenario_missing", name, row, f"its scenario {recording.scenario_id} is not in the run"))
    elif replay is not None and recording.outcome == "success":
        findings += _check_replay(recording, scenarios[recording.scenario_id], replay, name, row)
    return findings


def _check_replay(recording: Recording, scenario: Scenario, replay: Replay, name: str, row: AttemptRow) -> list[Finding]:
    try:
        difference = replay(recording, scenario)
    except SmithError as error:
        return [_finding("episode.replay_failed", name, row, f"cannot be replayed: {error.what}")]
    if difference != 0.0:  # NaN too
        message = f"its actions give other states when replayed: they differ by up to {difference:.3g}"
        return [_finding("episode.replay_differs", name, row, message, value=difference)]
    return []


def _check_time(data: bytes, control_hz: float, name: str, row: AttemptRow) -> list[Finding]:
    table = pq.read_table(pa.BufferReader(data), columns=["step", "time"])
    step, time = table["step"].to_numpy(), table["time"].to_numpy()
    if not np.array_equal(step, np.arange(len(step))):
        return [_finding("episode.steps", name, row, "its steps are not 0, 1, 2 ...")]
    late = np.flatnonzero(np.abs(time - step / control_hz) > 1e-9)
    if len(late):
        message = f"its time is off the control rate, first in row {late[0]}: {time[late[0]]:.6f} s"
        return [_finding("episode.time", name, row, message)]
    return []


def _finding(
    code: str, file: str | Path, row: AttemptRow | None, message: str, *, severity: str = "error", value: float | None = None
) -> Finding:
    subjects = (str(file),) if row is None else (str(file), f"slot {row.slot}", f"attempt {row.attempt}")
    finite = value if value is not None and np.isfinite(value) else None
    return Finding.model_validate(
        {"code": code, "severity": severity, "subjects": subjects, "value": finite, "message": f"{file}: {message}"}
    )
