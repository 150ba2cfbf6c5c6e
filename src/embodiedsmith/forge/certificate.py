"""Why a scenario may be released: who judged it, and the demonstration that proves it can be done."""

from __future__ import annotations

import hashlib

import numpy as np
from pydantic import Field

from embodiedsmith.spec import Noun, digest
from embodiedsmith.tasks.recording import Recording


class Certificate(Noun):
    """What was checked of one scenario, and its witness."""

    scenario: str
    """Id of the scenario it is about."""
    critics: tuple[str, ...]
    """Critics that found no error, in the order in which they judged."""
    seed: int
    """Run seed of the witness."""
    attempt: int
    """Attempt number of the witness: its draws come from (seed, scenario id, "witness", attempt)."""
    length: int = Field(ge=1)
    """Control steps of the witness."""
    margin: float = Field(gt=0.0)
    """Goal margin at the end of the witness, in SI units of the tightest predicate."""
    witness: str
    """SHA-256 (hexadecimal) of the witness's states and actions; see `recording_digest`."""
    costs: dict[str, float] = Field(default_factory=dict)
    """Seconds of wall clock by critic. Measured, hence not part of `id`."""

    @property
    def id(self) -> str:
        """Hash of everything but the costs."""
        return digest(self.model_dump(mode="json", exclude={"costs"}))


def certify(recording: Recording, critics: tuple[str, ...], costs: dict[str, float]) -> Certificate:
    """The certificate of a scenario whose witness is `recording`; raises ValueError when that did not succeed."""
    if recording.outcome != "success":
        raise ValueError(f"a witness must have succeeded; this one failed: {recording.failure}")
    return Certificate(
        scenario=recording.scenario_id, critics=critics, seed=recording.seed, attempt=recording.attempt, length=recording.length,
        margin=float(recording.margins[-1]), witness=recording_digest(recording), costs=costs,
    )  # fmt: skip


def recording_digest(recording: Recording) -> str:
    """SHA-256 (hexadecimal) over the shapes and bytes of states and actions: equal exactly when the run replays bit for bit."""
    text = hashlib.sha256()
    for array in (recording.states, recording.actions):
        text.update(repr(array.shape).encode())
        text.update(np.ascontiguousarray(array, dtype=np.float64).tobytes())
    return text.hexdigest()
