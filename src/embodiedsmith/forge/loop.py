"""The forge: an agent proposes, the layout solver places, the critics judge; what is refused is drawn again, up to a budget."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from embodiedsmith import embodiments
from embodiedsmith.forge import agents
from embodiedsmith.forge.certificate import Certificate, certify
from embodiedsmith.forge.critics import Context, Cost, Critic, critics, measured, review
from embodiedsmith.forge.layout import LayoutError, layout
from embodiedsmith.runtime.errors import SmithError, UsageError
from embodiedsmith.runtime.seeds import generator
from embodiedsmith.runtime.versions import versions
from embodiedsmith.spec import Brief, Finding, Provenance, Scenario
from embodiedsmith.tasks.recording import Recording
from embodiedsmith.world import CompileError

BUDGET = 20


@dataclass(frozen=True, kw_only=True)
class Proposal:
    """What became of one proposal."""

    number: int
    """From 1."""
    scenario: str | None
    """Id of the laid-out scenario; None when it was refused before it had a layout."""
    stage: str
    """Where it ended: `draft`, `layout`, `review` or `accepted`."""
    findings: tuple[Finding, ...]

    @property
    def accepted(self) -> bool:
        """Whether no critic found an error."""
        return self.stage == "accepted"

    def to_json(self) -> dict[str, Any]:
        """As JSON values."""
        return {
            "number": self.number, "scenario": self.scenario, "stage": self.stage,
            "findings": [f.model_dump(mode="json") for f in self.findings],
        }  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class ForgeResult:
    """A scenario that may be released. All of it is deterministic but `cost` and the costs in the certificate."""

    scenario: Scenario
    certificate: Certificate
    witness: Recording
    """The demonstration that the execution critic accepted."""
    reading: str
    """How the agent understood the brief."""
    warnings: tuple[str, ...]
    log: tuple[Proposal, ...]
    """Every proposal, refused ones and the accepted one."""
    cost: dict[str, float] = field(default_factory=dict)
    """Seconds of wall clock by stage: `propose`, `layout` and every critic, over all proposals."""

    @property
    def proposals(self) -> int:
        """How many were drawn."""
        return len(self.log)


class ForgeError(SmithError):
    """The budget is spent and no proposal passed; `log` holds them all, `reasons` counts why."""

    def __init__(self, log: tuple[Proposal, ...], cost: dict[str, float], *, embodiment: str | None = None) -> None:
        self.log = log
        self.cost = cost
        self.reasons = Counter(code for p in log for code in sorted({f.code for f in p.findings if f.severity == "error"}))
        """Finding code to the number of proposals it was found in."""
        example = {f.code: f.message for p in reversed(log) for f in p.findings}
        super().__init__(
            f"no scenario passed the critics in {len(log)} proposal{'s' if len(log) != 1 else ''}",
            faults=[f"{n} x {code}: {example[code]}" for code, n in self.reasons.most_common()],
            remedy="ask for fewer, smaller or other things; another seed or a larger budget draws other scenes"
            + (_drivers(self.reasons) if embodiment is not None and embodiments.get(embodiment).base.kind == "fixed" else ""),
        )


def _drivers(reasons: Iterable[str]) -> str:
    """Which robots drive to what a fixed one cannot get at, when that is what went wrong."""
    if not {"geometry.no_space", "reach.unreachable", "execution.failed"} & set(reasons):
        return ""
    moving = [name for name in embodiments.names() if embodiments.get(name).base.kind == "planar"]
    return f"; a robot that drives reaches more: {', '.join(moving)}" if moving else ""


Event = Callable[[Proposal], None]


def forge(
    brief: Brief,
    *,
    seed: int | None = None,
    index: int = 0,
    budget: int = BUDGET,
    agent: agents.Agent | str | None = None,
    on_event: Event | None = None,
    among: Iterable[Critic] | None = None,
) -> ForgeResult:
    """Forge scenario number `index` of a brief.

    Args:
        brief: What is wanted.
        seed: Run seed; None: the brief's. Proposal t of this scenario draws from (seed, "forge", index, t).
        index: Which of the scenarios of this brief.
        budget: Most proposals drawn; in mode `none` it is one.
        agent: Who proposes, or its name; None: the one the brief names.
        on_event: Called with every proposal once it is judged.
        among: Critics that judge; None: all. A scenario needs a witness, so the execution critic must be among them.

    Raises:
        ForgeError: no proposal passed within the budget; says why, counted.
        UsageError: a budget below one.
        SmithError: what the agent raises about the brief itself (words not understood), at once.
    """
    if budget < 1:
        raise UsageError(f"a budget of {budget} proposals forges nothing", remedy="give at least 1")
    run = _Run(brief, brief.seed if seed is None else seed, index, tuple(critics() if among is None else among))
    proposer = agents.get(agent or brief.agent) if agent is None or isinstance(agent, str) else agent
    for number in range(1, (1 if brief.mode == "none" else budget) + 1):
        result = run.draw(proposer, number)
        if on_event is not None:
            on_event(run.log[-1])
        if result is not None:
            return result
    raise ForgeError(tuple(run.log), run.seconds(), embodiment=brief.embodiment)


class _Run:
    """The proposals of one scenario so far."""

    def __init__(self, brief: Brief, seed: int, index: int, judges: tuple[Critic, ...]) -> None:
        self.brief, self.seed, self.index = brief, seed, index
        self.on_draft = [c for c in judges if c.on_draft]
        self.on_scene = [c for c in judges if not c.on_draft]
        self.log: list[Proposal] = []
        self.costs: dict[str, Cost] = {}

    def draw(self, proposer: agents.Agent, number: int) -> ForgeResult | None:
        """Draw and judge one proposal; None: refused, and the log says why."""
        with measured(self.costs, "propose"):
            draft = proposer.propose(self.brief, self._rng(number, "propose"))
        early = self._context(draft.scenario)
        first = review(early, among=self.on_draft)
        if not first.accepted:
            self._refuse(number, None, "draft", first.findings)
            return None
        try:
            with measured(self.costs, "layout"):
                scenario = layout(draft.scenario, self._rng(number, "layout"))
        except LayoutError as error:
            self._refuse(number, None, "layout", [*first.findings, *error.findings])
            return None
        except CompileError as error:
            finding = Finding(code="layout.cannot_build", message=str(error))
            self._refuse(number, None, "layout", [*first.findings, finding])
            return None
        origin = Provenance(
            brief=self.brief, agent=self.brief.agent, seed=self.seed, index=self.index, proposals=number, versions=versions()
        )
        scenario = scenario.model_copy(update={"provenance": origin})
        context = self._context(scenario)
        verdict = review(context, among=self.on_scene)
        findings = [*first.findings, *verdict.findings]
        if not verdict.accepted:
            self._refuse(number, scenario.id, "review", findings)
            return None
        if context.witness is None:
            raise UsageError("no critic made a witness", remedy="let the execution critic judge too")
        self.log.append(Proposal(number=number, scenario=scenario.id, stage="accepted", findings=tuple(findings)))
        certificate = certify(context.witness, (*first.passed, *verdict.passed), self.seconds())
        said = (*draft.warnings, *(f.message for f in findings))
        return ForgeResult(
            scenario=scenario, certificate=certificate, witness=context.witness, reading=draft.reading,
            warnings=tuple(dict.fromkeys(said)), log=tuple(self.log), cost=self.seconds(),
        )  # fmt: skip

    def seconds(self) -> dict[str, float]:
        """Seconds by stage so far."""
        return {name: cost.seconds for name, cost in self.costs.items()}

    def _refuse(self, number: int, scenario: str | None, stage: str, findings: list[Finding]) -> None:
        self.log.append(Proposal(number=number, scenario=scenario, stage=stage, findings=tuple(findings)))

    def _rng(self, number: int, stream: str) -> np.random.Generator:
        return generator(self.seed, "forge", self.index, number, stream)

    def _context(self, scenario: Scenario) -> Context:
        return Context(scenario, seed=self.seed, costs=self.costs)
