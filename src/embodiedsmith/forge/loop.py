"""The forge: an agent proposes, the layout places, critics judge; what they find is repaired by edits of scene and task.

A budget is counted in what judging costs: simulated seconds and plans. A repair that makes things worse is rolled back; when none
makes them better, another proposal is drawn.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import count, islice, takewhile

import numpy as np

from embodiedsmith import embodiments
from embodiedsmith.forge import agents
from embodiedsmith.forge.agents import Case, Draft, Repair
from embodiedsmith.forge.asked import faults, only_the_goal
from embodiedsmith.forge.certificate import Certificate, certify
from embodiedsmith.forge.critics import Critic, critics, measured
from embodiedsmith.forge.edits import EditError, distance, replay
from embodiedsmith.forge.lessons import Lessons, Outcome, context_of
from embodiedsmith.forge.log import Proposal, Step
from embodiedsmith.forge.state import Judge, State, Verdict, verdict
from embodiedsmith.runtime.errors import SmithError, UsageError
from embodiedsmith.runtime.seeds import generator
from embodiedsmith.runtime.versions import versions
from embodiedsmith.spec import EMBODIMENT_EDITS, SCENE_EDITS, TASK_EDITS, Asked, Brief, EditKind, Provenance, Scenario
from embodiedsmith.spec.scenario import Mode
from embodiedsmith.tasks.recording import Recording

BUDGET = 300.0
"""What forging one scenario may cost [simulated seconds and plans]."""
MOST_REPAIRS = 8
"""Repairs kept at most on one proposal."""
ALIKE = 20
"""Proposals and repairs judged in a row, without ever a layout or a plan and ending with the same findings, after which no more
are drawn."""
MOST_TRIES = 6
"""Repairs tried at most on one state before the proposal is given up."""

ALLOWED: dict[Mode, frozenset[str]] = {
    "none": frozenset(),
    "resample": frozenset(),
    "scene": SCENE_EDITS | EMBODIMENT_EDITS,
    "task": TASK_EDITS,
    "joint": SCENE_EDITS | EMBODIMENT_EDITS | TASK_EDITS,
}
"""Kinds of edit that each mode permits. `joint` alone tells the layout what the task needs."""


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
    """Every proposal with its repairs, refused ones and the accepted one."""
    units: float
    """What it cost: simulated seconds and plans."""
    cost: dict[str, float] = field(default_factory=dict)
    """Seconds of wall clock by stage: `propose`, `layout` and every critic, over all proposals."""

    @property
    def proposals(self) -> int:
        """How many were drawn."""
        return len(self.log)

    @property
    def edits(self) -> int:
        """How many edits the accepted proposal took."""
        return self.log[-1].repairs

    @property
    def distance(self) -> int:
        """Edit distance between the accepted proposal as first laid out and the scenario."""
        accepted = self.log[-1]
        first = accepted.steps[0]
        return distance(replay(accepted.draft, first.edits), self.scenario)

    @property
    def outcomes(self) -> tuple[Outcome, ...]:
        """What is learnt from it."""
        return tuple(outcome for proposal in self.log for outcome in proposal.outcomes())


class ForgeError(SmithError):
    """The budget is spent and no proposal passed; `log` holds them all, `reasons` counts why."""

    def __init__(
        self, log: tuple[Proposal, ...], cost: dict[str, float], *, units: float = 0.0, embodiment: str | None = None
    ) -> None:
        self.log = log
        self.cost = cost
        self.units = units
        """What it cost: simulated seconds and plans."""
        self.reasons = Counter(code for p in log for code in sorted({f.code for f in p.findings if f.severity == "error"}))
        """Finding code to the number of proposals it was found in at the end."""
        example = {f.code: f.message for p in reversed(log) for f in p.findings}
        tried = sum(step.kind is not None for p in log for step in p.steps)
        repaired = f" and {tried} repair{'s' if tried != 1 else ''}" if tried else ""
        super().__init__(
            f"no scenario passed the critics in {len(log)} proposal{'s' if len(log) != 1 else ''}{repaired}",
            faults=[f"{n} x {code}: {example[code]}" for code, n in self.reasons.most_common()],
            remedy="ask for fewer, smaller or other things; another seed or a larger budget draws other scenes"
            + (_drivers(self.reasons) if embodiment is not None and _stands(embodiment) else ""),
        )


def _stands(embodiment: str) -> bool:
    return embodiment in embodiments.names() and embodiments.get(embodiment).base.kind == "fixed"


def _drivers(reasons: Iterable[str]) -> str:
    """Which robots drive to what a fixed one cannot get at, when that is what went wrong."""
    if not any(code.startswith(("geometry.", "reach.", "motion.", "execution.")) for code in reasons):
        return ""
    moving = [name for name in embodiments.names(imported=False) if embodiments.get(name).base.kind == "planar"]
    return f"; a robot that drives reaches more: {', '.join(moving)}" if moving else ""


Event = Callable[[Proposal], None]


def forge(
    brief: Brief,
    *,
    seed: int | None = None,
    index: int = 0,
    budget: float = BUDGET,
    agent: agents.Agent | str | None = None,
    lessons: Lessons | None = None,
    on_event: Event | None = None,
    among: Iterable[Critic] | None = None,
) -> ForgeResult:
    """Forge scenario number `index` of a brief.

    Args:
        brief: What is wanted.
        seed: Run seed; None: the brief's. Proposal t of this scenario draws from (seed, "forge", index, t).
        index: Which of the scenarios of this brief.
        budget: What it may cost [simulated seconds and plans]: no proposal or repair is begun once it is spent. In mode `none`
            there is one proposal.
        agent: Who proposes and edits, or its name; None: the one the brief names.
        lessons: What was learnt before; None: nothing.
        on_event: Called with every proposal once it is done with.
        among: Critics that judge; None: all. A scenario needs a witness, so the execution critic must be among them.

    Raises:
        ForgeError: no proposal passed within the budget; says why, counted.
        UsageError: a budget that is not above zero.
        SmithError: what the agent raises about the brief itself (words not understood), at once.
    """
    if not budget > 0:
        raise UsageError(f"a budget of {budget:g} forges nothing", remedy="give at least 1")
    judges = tuple(critics() if among is None else among)
    run = _Run(
        brief=brief,
        seed=brief.seed if seed is None else seed,
        index=index,
        agent=agents.get(agent or brief.agent) if agent is None or isinstance(agent, str) else agent,
        lessons=Lessons() if lessons is None else lessons,
        budget=budget,
        judges=judges,
    )
    for number in count(1):
        result = run.draw(number)
        if on_event is not None:
            on_event(run.log[-1])
        if result is not None:
            return result
        if brief.mode == "none" or run.spent or run.stuck:
            break
    raise ForgeError(tuple(run.log), run.judge.seconds(), units=run.judge.units, embodiment=brief.embodiment)


class _Run:
    """The proposals of one scenario so far."""

    def __init__(
        self, *, brief: Brief, seed: int, index: int, agent: agents.Agent, lessons: Lessons, budget: float,
        judges: tuple[Critic, ...],
    ) -> None:  # fmt: skip
        self.brief, self.seed, self.index, self.agent, self.lessons, self.budget = brief, seed, index, agent, lessons, budget
        self.judge = Judge(judges, seed=seed, anticipate=brief.mode == "joint")
        self.allowed: frozenset[EditKind] = frozenset(ALLOWED[brief.mode])  # type: ignore[arg-type]
        self.log: list[Proposal] = []

    @property
    def spent(self) -> bool:
        """Whether nothing more may be begun."""
        return self.judge.units >= self.budget

    @property
    def stuck(self) -> bool:
        """Whether the last proposals all ended alike for want of a layout or a plan: more of them would, too."""
        ends = [(p.stage, tuple((f.code, f.subjects) for f in p.findings if f.severity == "error")) for p in self.log]
        last = self.log[-1]
        if last.stage not in ("draft", "layout") and not any(f.code == "logic.no_plan" for f in last.findings):
            return False
        alike = list(takewhile(lambda pair: pair[1] == ends[-1], zip(reversed(self.log), reversed(ends), strict=True)))
        return sum(sum(step.outcome is not None or step.kind is None for step in p.steps) for p, _ in alike) >= ALIKE

    def draw(self, number: int) -> ForgeResult | None:
        """Draw a proposal, judge it and repair it; None: refused, and the log says why."""
        with measured(self.judge.costs, "propose"):
            draft = self.agent.propose(self.brief, self._rng(number, "propose"))
        asked = only_the_goal(draft.scenario) if draft.asked is None else draft.asked
        state = self.judge.judge(draft.scenario, self._rng(number, "layout"))
        steps = [
            Step(
                edits=() if state.placed is None else (state.placed,),
                kind=None,
                cures=None,
                why="first layout",
                kept=True,
                reason=state.errors[0].message if state.errors else "every critic is content",
                scenario=_id(state),
                findings=state.findings,
            )
        ]
        state = self._repaired(number, state, asked, steps)
        proposal = Proposal(
            number=number,
            draft=draft.scenario,
            scenario=_id(state),
            stage=state.stage,
            findings=state.findings,
            steps=tuple(steps),
        )
        if state.accepted and state.context.witness is None:
            raise UsageError("no critic made a witness", remedy="let the execution critic judge too")
        self.log.append(proposal)
        return self._released(draft, state, asked) if state.accepted else None

    def _released(self, draft: Draft, state: State, asked: Asked) -> ForgeResult:
        origin = Provenance(
            brief=self.brief, agent=self.agent.name, seed=self.seed, index=self.index, proposals=len(self.log),
            edits=self.log[-1].repairs, asked=asked, versions=versions(),
        )  # fmt: skip
        witness = state.context.witness
        assert witness is not None  # looked at by the caller
        said = (*draft.warnings, *(f.message for f in state.findings))
        return ForgeResult(
            scenario=state.scenario.model_copy(update={"provenance": origin}),
            certificate=certify(witness, state.passed, self.judge.seconds(), state.context.near_misses),
            witness=witness, reading=draft.reading,
            warnings=tuple(dict.fromkeys(said)), log=tuple(self.log), units=self.judge.units, cost=self.judge.seconds(),
        )  # fmt: skip

    def _repaired(self, number: int, state: State, asked: Asked, steps: list[Step]) -> State:
        """The best state that repairs lead to; every try is added to `steps`."""
        seen = {state.scenario.id}
        for turn in range(MOST_REPAIRS):
            if state.accepted or not self.allowed or self.spent:
                return state
            case = Case(
                brief=self.brief, scenario=state.scenario, findings=state.findings, asked=asked, allowed=self.allowed,
                lessons=self.lessons,
            )  # fmt: skip
            better = self._first_better(case, state, seen, steps, (number, turn))
            if better is None:
                return state
            state = better
        return state

    def _first_better(self, case: Case, state: State, seen: set[str], steps: list[Step], place: tuple[int, int]) -> State | None:
        """The state after the first repair that makes things better; None: no repair tried does."""
        with measured(self.judge.costs, "edit"):
            offers = self.agent.edit(case, self._rng(*place, "edit"))
        tries = 0
        for repair in islice(offers, 4 * MOST_TRIES):  # those that cannot be applied cost nothing
            if tries == MOST_TRIES or self.spent:
                break
            edited = self._edited(repair, case, seen, steps)
            if edited is None:
                continue
            tries += 1
            seen.add(edited.id)
            before = self.judge.units
            after = self.judge.judge(edited, self._rng(*place, tries, "layout"))
            found = verdict(state, after, repair.finding)
            if broken := faults(case.asked, after.scenario):  # the layout builds some things in other sizes
                found = Verdict(False, False, f"its layout breaks what was asked for: {'; '.join(broken)}")
            steps.append(_step(repair, after, found, self.judge.units - before, state.scenario))
            if found.kept:
                seen.add(after.scenario.id)
                return after
        return None

    def _edited(self, repair: Repair, case: Case, seen: set[str], steps: list[Step]) -> Scenario | None:
        """The scenario with a repair's edits; None when they cannot be, are not allowed, or break what was asked for."""
        edited: Scenario | None = None
        reason = ""
        if any(edit.kind not in case.allowed for edit in repair.edits):
            reason = "the mode does not permit it"
        else:
            try:
                edited = replay(case.scenario, repair.edits)
            except EditError as error:
                reason = str(error)
            else:
                broken = faults(case.asked, edited)
                reason = f"it breaks what was asked for: {'; '.join(broken)}" if broken else ""
        if edited is not None and not reason:
            return None if edited.id in seen else edited
        steps.append(
            Step(
                edits=repair.edits,
                kind=repair.kind,
                cures=repair.finding,
                why=repair.why,
                kept=False,
                reason=reason,
                scenario=None,
                findings=(),
            )
        )
        return None

    def _rng(self, *names: int | str) -> np.random.Generator:
        return generator(self.seed, "forge", self.index, *names)


def _step(repair: Repair, after: State, found: Verdict, units: float, before: Scenario) -> Step:
    edits = repair.edits if after.placed is None else (*repair.edits, after.placed)
    learnt = Outcome(context=context_of(repair.finding, before), kind=repair.kind, cured=found.cured, units=round(units, 3))
    return Step(
        edits=edits, kind=repair.kind, cures=repair.finding, why=repair.why, kept=found.kept, reason=found.reason,
        scenario=_id(after), findings=after.findings, outcome=learnt,
    )  # fmt: skip


def _id(state: State) -> str | None:
    return state.scenario.id if state.stage in ("review", "accepted") else None
