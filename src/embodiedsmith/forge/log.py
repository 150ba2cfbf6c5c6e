"""What the forge remembers of its work: every proposal, every repair tried, and what came of each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from embodiedsmith.forge.lessons import Outcome
from embodiedsmith.spec import Edit, EditKind, Finding, Scenario

Stage = Literal["draft", "layout", "review", "accepted"]
"""How far a scenario came: refused before it had a layout, without a layout, by a critic, or not at all."""
STAGES: tuple[Stage, ...] = ("draft", "layout", "review", "accepted")


@dataclass(frozen=True, kw_only=True)
class Step:
    """One repair that was tried, or the first layout of a draft."""

    edits: tuple[Edit, ...]
    """What was changed, with what the layout then decided (`lay_out`), when it found places."""
    kind: EditKind | None
    """The kind of edit that was to cure the finding; None: the first layout."""
    cures: Finding | None
    """What it was meant for."""
    why: str
    kept: bool
    """Whether the forge went on from it; else it was rolled back."""
    reason: str
    """Why it was kept or rolled back."""
    scenario: str | None
    """Id of the scenario it made; None: it could not be applied, or broke what the user asked for."""
    findings: tuple[Finding, ...]
    """What the critics found afterwards."""
    outcome: Outcome | None = None
    """What is learnt from it."""

    def to_json(self) -> dict[str, Any]:
        """As JSON values."""
        return {
            "edits": [e.model_dump(mode="json") for e in self.edits], "kind": self.kind,
            "cures": None if self.cures is None else self.cures.model_dump(mode="json"), "why": self.why, "kept": self.kept,
            "reason": self.reason, "scenario": self.scenario, "findings": [f.model_dump(mode="json") for f in self.findings],
            "outcome": None if self.outcome is None else self.outcome.model_dump(mode="json"),
        }  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Proposal:
    """What became of one proposal."""

    number: int
    """From 1."""
    draft: Scenario
    """As the agent proposed it."""
    scenario: str | None
    """Id of the scenario it ended as; None when it never had a layout."""
    stage: Stage
    findings: tuple[Finding, ...]
    """What the critics found in the end."""
    steps: tuple[Step, ...] = field(default=())
    """The first layout and every repair, kept or rolled back, in order."""

    @property
    def accepted(self) -> bool:
        """Whether no critic found an error."""
        return self.stage == "accepted"

    @property
    def edits(self) -> tuple[Edit, ...]:
        """The edits kept, layouts included: `edits.replay(draft, edits)` is the scenario."""
        return tuple(edit for step in self.steps if step.kept for edit in step.edits)

    @property
    def repairs(self) -> int:
        """How many edits were kept, layouts not counted."""
        return sum(edit.kind != "lay_out" for edit in self.edits)

    def outcomes(self) -> Iterator[Outcome]:
        """What is learnt from it."""
        return (step.outcome for step in self.steps if step.outcome is not None)

    def to_json(self) -> dict[str, Any]:
        """As JSON values; the draft only where edits are to be replayed from it."""
        return {
            "number": self.number, "scenario": self.scenario, "stage": self.stage,
            "draft": self.draft.model_dump(mode="json") if self.accepted else None,
            "findings": [f.model_dump(mode="json") for f in self.findings], "steps": [s.to_json() for s in self.steps],
        }  # fmt: skip
