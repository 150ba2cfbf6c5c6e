"""Why a scenario may be released: who judged it, the demonstration that proves it can be done, and what its checker refused."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Literal

import numpy as np
from pydantic import Field, model_validator

from embodiedsmith.runtime.errors import SmithError
from embodiedsmith.spec import Noun, Scenario, digest
from embodiedsmith.tasks.goal_misses import Missed
from embodiedsmith.tasks.recording import Recording

LEAST_MISSES = 8
"""Near misses that a certificate shows at least."""


class CertificateError(SmithError):
    """A scenario cannot be certified, or its certificate does not fit; lists every fault."""


class NearMiss(Noun):
    """A state that only looks like success, and the goal's margin there: not positive, for the checker saw through it."""

    name: str = Field(min_length=1)
    """What is almost right: "hovering 1 mm over it"."""
    predicate: str = Field(min_length=1)
    """What is missed, as people write it."""
    margin: float = Field(le=0.0)
    """Margin of the goal (of an earlier part of a sequence: of that part), in SI units of the tightest predicate."""


class SolverStep(Noun):
    """One line of the solver's log."""

    said: str
    """The step, such as `pick(mug)`; for a new plan, its steps."""
    outcome: Literal["done", "failed", "replanned"]
    start: int = Field(ge=0)
    """Control step at which it began."""
    end: int = Field(ge=0)
    """Control step at which it was over."""
    reason: str = ""
    """Why it failed."""

    @model_validator(mode="after")
    def _forward(self) -> SolverStep:
        if self.end < self.start:
            raise ValueError(f"'{self.said}' ends at step {self.end}, before it begins at step {self.start}")
        return self


class Certificate(Noun):
    """What was checked of one scenario, and its witness."""

    scenario: str = Field(pattern=r"^[0-9a-f]{16}$")
    """Id of the scenario it is about."""
    critics: tuple[str, ...] = Field(min_length=1)
    """Critics that found no error, in the order in which they judged."""
    seed: int = Field(ge=0)
    """Run seed of the witness."""
    attempt: int = Field(ge=0)
    """Attempt number of the witness: its draws come from (seed, scenario id, "witness", attempt)."""
    length: int = Field(ge=1)
    """Control steps of the witness."""
    margin: float = Field(gt=0.0)
    """Goal margin at the end of the witness, in SI units of the tightest predicate."""
    witness: str = Field(pattern=r"^[0-9a-f]{64}$")
    """SHA-256 (hexadecimal) of the witness's states and actions; see `recording_digest`."""
    log: tuple[SolverStep, ...] = ()
    """What the solver did, in order of time."""
    near_misses: tuple[NearMiss, ...] = Field(min_length=LEAST_MISSES)
    """What the goal's checker was shown and refused; each once."""
    costs: dict[str, float] = Field(default_factory=dict)
    """Seconds of wall clock by critic. Measured, hence not part of `id`."""

    @model_validator(mode="after")
    def _coherent(self) -> Certificate:
        shown = [(miss.predicate, miss.name) for miss in self.near_misses]
        if len(set(shown)) < len(shown):
            raise ValueError(f"near misses are counted twice: {sorted({s for s in shown if shown.count(s) > 1})}")
        if late := [step.said for step in self.log if step.end > self.length]:
            raise ValueError(f"steps end after the witness, which has {self.length}: {late}")
        return self

    @property
    def id(self) -> str:
        """Hash of everything but the costs."""
        return digest(self.model_dump(mode="json", exclude={"costs"}))

    def faults(self, scenario: Scenario, witness: Recording) -> list[str]:
        """How it differs from the scenario and the witness it should be about; empty when it fits both."""
        said = {
            "scenario": (self.scenario, scenario.id), "witness of scenario": (witness.scenario_id, scenario.id),
            "seed": (self.seed, witness.seed), "attempt": (self.attempt, witness.attempt),
            "length": (self.length, witness.length), "digest of the witness": (self.witness, recording_digest(witness)),
            "margin": (self.margin, float(witness.margins[-1])), "solver's log": (self.log, solver_log(witness)),
            "outcome of the witness": ("success", witness.outcome),
        }  # fmt: skip
        return [f"{what}: {ours} is certified, it is {theirs}" for what, (ours, theirs) in said.items() if ours != theirs]


def certify(
    recording: Recording, critics: tuple[str, ...], costs: dict[str, float], near_misses: Iterable[Missed]
) -> Certificate:
    """The certificate of a scenario.

    Args:
        recording: Its witness, a success.
        critics: Critics that found no error, in order.
        costs: Seconds of wall clock by critic.
        near_misses: What the goal's checker was shown at the witness; see `tasks.goal_misses`.

    Raises:
        CertificateError: the witness failed, a near miss was accepted, or too few were tried; lists all of it.
    """
    shown = list(near_misses)
    faults = [] if recording.outcome == "success" else [f"a witness must have succeeded; this one failed: {recording.failure}"]
    faults += [f"{m.predicate} is accepted when it is missed: {m.name} (margin {m.margin:.4g})" for m in shown if not m.rejected]
    if len(shown) < LEAST_MISSES:
        faults.append(f"only {len(shown)} near misses were tried, at least {LEAST_MISSES} are needed")
    if faults:
        raise CertificateError("the scenario cannot be certified", where=recording.scenario_id, faults=faults)
    return Certificate(
        scenario=recording.scenario_id, critics=critics, seed=recording.seed, attempt=recording.attempt, length=recording.length,
        margin=float(recording.margins[-1]), witness=recording_digest(recording), log=solver_log(recording),
        near_misses=tuple(NearMiss(name=m.name, predicate=m.predicate, margin=m.margin) for m in shown), costs=costs,
    )  # fmt: skip


def solver_log(recording: Recording) -> tuple[SolverStep, ...]:
    """What the solver did in a demonstration, from what it noted on the way."""
    log: list[SolverStep] = []
    begun = 0
    step = ""
    for event in recording.events:
        if event.kind == "skill_started":
            begun, step = event.step, event.text
        elif event.kind == "skill_done":
            log.append(SolverStep(said=step, outcome="done", start=begun, end=event.step))
        elif event.kind == "skill_failed":
            log.append(SolverStep(said=step, outcome="failed", start=begun, end=event.step, reason=event.text))
        elif event.kind == "replanned":
            log.append(SolverStep(said=event.text, outcome="replanned", start=event.step, end=event.step))
    return tuple(log)


def recording_digest(recording: Recording) -> str:
    """SHA-256 (hexadecimal) over the shapes and bytes of states and actions: equal exactly when the run replays bit for bit."""
    text = hashlib.sha256()
    for array in (recording.states, recording.actions):
        text.update(repr(array.shape).encode())
        text.update(np.ascontiguousarray(array, dtype=np.float64).tobytes())
    return text.hexdigest()
