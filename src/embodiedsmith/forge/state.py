"""A scenario in the making: laid out, judged, and compared with what it was before."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from embodiedsmith.forge.critics import Context, Cost, Critic, measured, review, with_cures
from embodiedsmith.forge.edits import difference
from embodiedsmith.forge.layout import LayoutError, layout
from embodiedsmith.forge.log import STAGES, Stage
from embodiedsmith.spec import Finding, LayOut, Scenario
from embodiedsmith.world import CompileError

NEARER = 0.8
"""Part of what was missing before that may be missing still for an edit to count as an improvement."""
LOOK = 3.0
"""What every judgement costs beside what its critics simulate and plan [units]: drawing, laying out, compiling and looking take
about as long as three simulated seconds."""


@dataclass(frozen=True, kw_only=True)
class State:
    """A scenario and what the critics say of it."""

    scenario: Scenario
    """Laid out, unless `stage` says otherwise."""
    stage: Stage
    findings: tuple[Finding, ...]
    passed: tuple[str, ...]
    """Critics that found no error, in order."""
    placed: LayOut | None
    """What the layout decided, if it had to."""
    context: Context
    """What the critics were given; holds the witness once there is one."""

    @property
    def accepted(self) -> bool:
        """Whether no critic found an error."""
        return self.stage == "accepted"

    @property
    def errors(self) -> tuple[Finding, ...]:
        """Findings that are errors."""
        return tuple(f for f in self.findings if f.severity == "error")

    @property
    def rank(self) -> tuple[int, int, int]:
        """The farther through the critics, and then the fewer errors there, the better."""
        return STAGES.index(self.stage), len(self.passed), -len(self.errors)


class Verdict(NamedTuple):
    """What an edit did."""

    kept: bool
    """Whether it made things better."""
    cured: bool
    """Whether the scenario came farther by it. An edit that only puts one finding in the place of another is kept, for the other
    may be easier to cure, but it teaches nothing good."""
    reason: str
    """Why, in words."""


def verdict(before: State, after: State, finding: Finding) -> Verdict:
    """What an edit that was to cure `finding` did."""
    if after.accepted:
        return Verdict(True, True, "every critic is content")
    left = after.errors[0]
    if after.rank > before.rank:
        far = after.rank[:2] > before.rank[:2]
        return Verdict(True, True, f"{'it comes farther; now' if far else 'fewer errors;'} {left.code}: {left.message}")
    gone = not any(f.code == finding.code and f.subjects[:1] == finding.subjects[:1] for f in after.errors)
    if after.rank == before.rank and gone:
        return Verdict(True, False, f"{finding.code} is gone; in its place {left.code}: {left.message}")
    if after.rank == before.rank and _nearer(finding, after):
        return Verdict(True, False, f"it comes nearer; still {left.code}: {left.message}")
    if after.rank < before.rank:
        return Verdict(False, False, f"it made things worse: {left.code}: {left.message}")
    return Verdict(False, False, f"it cured nothing: {left.code}: {left.message}")


def _nearer(finding: Finding, after: State) -> bool:
    """Whether what is still found misses its limit by clearly less than before."""
    still = [f for f in after.errors if f.code == finding.code and f.subjects[:1] == finding.subjects[:1]]
    misses = [_miss(f) for f in (finding, *still)]
    return len(still) == 1 and None not in misses and misses[1] < NEARER * misses[0]  # type: ignore[operator]


def _miss(finding: Finding) -> float | None:
    return None if finding.value is None or finding.limit is None else abs(finding.value - finding.limit)


class Judge:
    """Lays scenarios out and lets critics judge them, keeping account of the cost.

    Args:
        critics: Who judges.
        seed: Run seed of the critics' draws.
        anticipate: Whether the layout is told what the task needs.
    """

    def __init__(self, critics: Iterable[Critic], *, seed: int, anticipate: bool) -> None:
        judges = tuple(critics)
        self._on_draft = [c for c in judges if c.on_draft]
        self._on_scene = [c for c in judges if not c.on_draft]
        self._seed = seed
        self._anticipate = anticipate
        self.costs: dict[str, Cost] = {}
        self.looks = 0
        """How many scenarios were judged."""

    @property
    def units(self) -> float:
        """What has been spent: simulated seconds, plans, and `LOOK` for every judgement."""
        return self.looks * LOOK + sum(cost.units for cost in self.costs.values())

    def seconds(self) -> dict[str, float]:
        """Seconds of wall clock by stage so far."""
        return {name: cost.seconds for name, cost in self.costs.items()}

    def judge(self, scenario: Scenario, rng: np.random.Generator) -> State:
        """Give what has no place its place, and let the critics judge; `rng` is the layout's."""
        self.looks += 1
        early = self._context(scenario)
        first = review(early, among=self._on_draft)
        if not first.accepted:
            return State(
                scenario=scenario, stage="draft", findings=tuple(first.findings), passed=tuple(first.passed), placed=None,
                context=early,
            )  # fmt: skip
        placed = None
        if _unplaced(scenario):
            try:
                with measured(self.costs, "layout"):
                    laid_out = layout(scenario, rng, anticipate=self._anticipate)
            except LayoutError as error:
                return self._without_layout(scenario, [*first.findings, *error.findings], first.passed)
            except CompileError as error:
                finding = Finding(code="layout.cannot_build", message=str(error))
                return self._without_layout(scenario, [*first.findings, finding], first.passed)
            placed = difference(scenario, laid_out)
            scenario = laid_out
        context = self._context(scenario)
        later = review(context, among=self._on_scene)
        return State(
            scenario=scenario, stage="accepted" if later.accepted else "review", findings=(*first.findings, *later.findings),
            passed=(*first.passed, *later.passed), placed=placed, context=context,
        )  # fmt: skip

    def _without_layout(self, scenario: Scenario, findings: list[Finding], passed: list[str]) -> State:
        return State(
            scenario=scenario, stage="layout", findings=tuple(with_cures(findings)), passed=tuple(passed), placed=None,
            context=self._context(scenario),
        )  # fmt: skip

    def _context(self, scenario: Scenario) -> Context:
        return Context(scenario, seed=self._seed, costs=self.costs)


def _unplaced(scenario: Scenario) -> bool:
    scene = scenario.scene
    return scenario.embodiment.base is None or not scene.cameras or any(item.pose is None for item in scene.items)
