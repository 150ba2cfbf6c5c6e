"""Episodes of a run: committed whole or not at all, failures too, and read back bit for bit."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path

from pydantic import ValidationError

from embodiedsmith.episodes.format import EpisodeError, decode, encode, failure_to_json, faults_of
from embodiedsmith.episodes.scores import Scores
from embodiedsmith.forge.certificate import Certificate
from embodiedsmith.runtime.errors import UsageError
from embodiedsmith.runtime.files import read_json, storage_errors, write_atomic, write_json
from embodiedsmith.runtime.index import AttemptRow
from embodiedsmith.runtime.run import Run
from embodiedsmith.spec import Scenario
from embodiedsmith.tasks.recording import Failure, Outcome, Recording


class EpisodeStore:
    """What a run keeps: scenarios with their certificates and witnesses, and one file an episode.

    A commit writes the episode beside its place, flushes it, renames it, and only then enters it in the index. A process
    killed in between leaves a file the index does not know; the attempt is run again and writes the same bytes over it.
    """

    def __init__(self, run: Run) -> None:
        self.run = run
        self.control_hz = float(run.config.get("fps", 20))
        """Control steps a second."""

    def release(self, scenario: Scenario, certificate: Certificate, witness: Recording) -> str:
        """Keep a scenario under its id, which is returned, with what proves it good; one already there is left as it is.

        The scenario is written last: where it is, its certificate and its witness are too.

        Raises:
            EpisodeError: The certificate is not about this scenario and this witness, or the witness is not sound; lists every
                fault. Nothing is kept.
        """
        if faults := [*certificate.faults(scenario, witness), *faults_of(witness)]:
            raise EpisodeError("the scenario cannot be released", where=f"{self.run.path}: {scenario.id}", faults=faults)
        path = self.run.file("scenarios", f"{scenario.id}.json")
        if not path.exists():
            write_atomic(self.run.file("scenarios", f"{scenario.id}.witness.parquet"), encode(witness, self.control_hz))
            content = {"id": certificate.id, **certificate.model_dump(mode="json")}
            write_json(self.run.file("scenarios", f"{scenario.id}.certificate.json"), content)
            write_atomic(path, (scenario.to_json(indent=2) + "\n").encode("utf-8"))
        return scenario.id

    def scenario(self, scenario_id: str) -> Scenario:
        """The scenario of that id.

        Raises:
            UsageError: The run has no such scenario; lists those it has.
            EpisodeError: Its file is damaged or holds another scenario.
        """
        path = self.run.file("scenarios", f"{scenario_id}.json")
        if not path.is_file():
            raise UsageError(f"no scenario '{scenario_id}'", where=str(self.run.path), choices=self.scenario_ids())
        with storage_errors(path):
            data = path.read_bytes()
        try:
            scenario = Scenario.from_json(data)
        except ValidationError as error:
            raise EpisodeError("is not a scenario", where=str(path), faults=str(error).splitlines()) from error
        if scenario.id != scenario_id:
            raise EpisodeError(f"holds the scenario '{scenario.id}': it was changed after it was written", where=str(path))
        return scenario

    def scenario_ids(self) -> list[str]:
        """Ids of the scenarios kept, sorted."""
        return sorted(p.stem for p in (self.run.path / "scenarios").glob("*.json") if not p.stem.endswith(".certificate"))

    def certificate(self, scenario_id: str) -> Certificate:
        """What proves the scenario good.

        Raises:
            EpisodeError: There is none, its file was changed, or it is not valid; lists every fault.
            StorageError: The file cannot be read, or is not JSON.
        """
        path = self.run.file("scenarios", f"{scenario_id}.certificate.json")
        if not path.is_file():
            raise EpisodeError("the scenario has no certificate", where=str(path))
        content = read_json(path)
        identity = content.pop("id", None) if isinstance(content, dict) else None
        try:
            certificate = Certificate.model_validate(content)
        except ValidationError as error:
            raise EpisodeError("is not a valid certificate", where=str(path), faults=str(error).splitlines()) from error
        if certificate.id != identity:
            raise EpisodeError(
                f"is certificate '{certificate.id}', not '{identity}': it was changed after it was written", where=str(path)
            )
        return certificate

    def witness(self, scenario_id: str) -> Recording:
        """The demonstration that proves that the scenario can be done.

        Raises:
            EpisodeError: There is none, or its file is damaged.
        """
        path = self.run.file("scenarios", f"{scenario_id}.witness.parquet")
        if not path.is_file():
            raise EpisodeError("the scenario has no witness", where=str(path))
        with storage_errors(path):
            data = path.read_bytes()
        return decode(data, str(path))

    def commit(self, slot: int, recording: Recording, scores: Scores | Mapping[str, float | None]) -> AttemptRow:
        """Keep an episode; when this returns it is on the disk and in the index, and a kill cannot take it back.

        Raises:
            EpisodeError: The recording is not sound (lists every fault), or its scenario or seed is not of this run.
            DiskFullError: Nothing was kept of it; everything committed before is intact.
        """
        faults = faults_of(recording)
        if recording.seed != self.run.seed:
            faults.append(f"its run seed is {recording.seed}, the run's is {self.run.seed}")
        if not self.run.file("scenarios", f"{recording.scenario_id}.json").is_file():
            faults.append(f"its scenario '{recording.scenario_id}' was not saved in the run")
        name = _file_name(slot, recording.attempt)
        if faults:
            raise EpisodeError("the recording cannot be kept", where=f"{self.run.path}: {name}", faults=faults)
        data = encode(recording, self.control_hz)
        write_atomic(self.run.file("episodes", name), data)
        row = AttemptRow(
            slot=slot,
            attempt=recording.attempt,
            scenario_id=recording.scenario_id,
            seed=recording.seed,
            outcome=recording.outcome,
            failure_code=None if recording.failure is None else recording.failure.code,
            failure=failure_to_json(recording.failure),
            length=recording.length,
            scores=scores.to_json() if isinstance(scores, Scores) else dict(scores),
            cost=recording.cost,
            file=f"episodes/{name}",
            checksum=hashlib.sha256(data).hexdigest(),
        )
        self.run.index.add(row)
        return row

    def commit_failure(
        self, slot: int, attempt: int, scenario_id: str, failure: Failure, cost: Mapping[str, float] | None = None
    ) -> AttemptRow:
        """Enter an attempt that left no recording (its worker died, its world would not compile) with its typed reason."""
        row = AttemptRow(
            slot=slot,
            attempt=attempt,
            scenario_id=scenario_id,
            seed=self.run.seed,
            outcome="failure",
            failure_code=failure.code,
            failure=failure_to_json(failure),
            cost=cost or {},
        )
        self.run.index.add(row)
        return row

    def rows(self, *, outcome: Outcome | None = None, scenario_id: str | None = None) -> list[AttemptRow]:
        """Index rows in the order (slot, attempt), with or without a recording."""
        return self.run.index.rows(outcome=outcome, scenario_id=scenario_id)

    def path(self, row: AttemptRow) -> Path:
        """Where the row's episode file is; raises `EpisodeError` when the attempt left none."""
        if row.file is None:
            raise EpisodeError(
                f"attempt {row.attempt} of slot {row.slot} left no recording ({row.failure_code})", where=str(self.run.path)
            )
        return self.run.file("episodes", Path(row.file).name)

    def load(self, row: AttemptRow) -> Recording:
        """The row's recording, with its cost from the index.

        Raises:
            EpisodeError: There is none, or the file does not have the checksum of the index.
            StorageError: The file cannot be read.
        """
        path = self.path(row)
        with storage_errors(path):
            data = path.read_bytes()
        if hashlib.sha256(data).hexdigest() != row.checksum:
            raise EpisodeError(
                f"episode of slot {row.slot}, attempt {row.attempt}, was changed after it was written: its checksum differs",
                where=str(path),
                remedy=f"`smith validate {self.run.path}` lists everything damaged",
            )
        recording = decode(data, str(path))
        recording.cost.update(row.cost)
        return recording

    def episodes(self, *, outcome: Outcome | None = None) -> Iterator[tuple[AttemptRow, Recording]]:
        """Every attempt that left a recording, one at a time, in the order (slot, attempt)."""
        for row in self.rows(outcome=outcome):
            if row.file is not None:
                yield row, self.load(row)


def _file_name(slot: int, attempt: int) -> str:
    return f"{slot:06d}-{attempt:03d}.parquet"
