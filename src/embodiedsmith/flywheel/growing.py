"""The flywheel asks the forge: more scenarios like those that fail, and for what no episode has covered."""

from __future__ import annotations

from embodiedsmith.episodes.forging import forge_missing
from embodiedsmith.episodes.store import EpisodeStore
from embodiedsmith.evaluate.coverage import coverage
from embodiedsmith.flywheel.gathering import Gathered
from embodiedsmith.flywheel.journal import Decision
from embodiedsmith.flywheel.requests import Request, carry_out, plan
from embodiedsmith.flywheel.settings import FlywheelSettings
from embodiedsmith.flywheel.state import TaskState
from embodiedsmith.flywheel.tasks import STRIDE, Task
from embodiedsmith.runtime.seeds import generator
from embodiedsmith.spec import Scenario

PART = "requests"


def covered(state: TaskState, gathered: Gathered) -> TaskState:
    """With what a round's kept episodes covered."""
    seen = state.covered
    for episode, _ in gathered.kept:
        seen += coverage(episode.scenario, [episode.recording])
    return state.model_copy(update={"covered": seen})


def grow(
    store: EpisodeStore, task: Task, state: TaskState, scenarios: list[Scenario], round: int, settings: FlywheelSettings,
    budget: float,
) -> tuple[TaskState, tuple[Decision, ...]]:  # fmt: skip
    """Ask for scenarios after a round, and take in those that pass the critics and that the suite does not test on.

    Args:
        store: Of the run, open for writing.
        task: Whose.
        state: Of the task, with this round's failures and coverage.
        scenarios: The task's, as forged.
        round: Number of the round.
        settings: How many to ask for.
        budget: What drawing the brief again may cost.
    """
    wanted = min(settings.requests, settings.most_scenarios - len(scenarios))
    if wanted <= 0:
        return state, ()
    rng = generator(store.run.seed, "requests", task.number, round)
    known = {scenario.id: scenario for scenario in scenarios}
    requests, decisions = plan(round, known, state.emphasis, wanted, rng, seen=state.covered, task=task.name)
    told = list(decisions)
    for request in requests:
        state, scenario = _carried_out(store, task, state, known[request.scenario], request, settings.scenarios, budget)
        outcome, reason = "refused", "the forge made none, or the suite tests on it"
        if scenario is not None and scenario.id not in known and not task.suite.shared([scenario]):
            known[scenario.id] = scenario
            state = state.model_copy(update={"added": (*state.added, scenario.id)})
            outcome, reason = f"scenario {scenario.id}", request.reason
        told.append(Decision(round=round, part=PART, what="scenario", after=outcome, reason=reason, task=task.name))
    return state, tuple(told)


def _carried_out(
    store: EpisodeStore, task: Task, state: TaskState, scenario: Scenario, request: Request, begun_with: int, budget: float
) -> tuple[TaskState, Scenario | None]:
    """What the forge makes of a request: a variant of the scenario, or the task's brief drawn once more."""
    if request.kind == "variant":
        made = carry_out(request, scenario, store.run.seed)
        if made is None:
            return state, None
        store.release(made.scenario, made.certificate, made.witness)
        return state, made.scenario
    number = begun_with + state.drawn
    after = state.model_copy(update={"drawn": state.drawn + 1})
    if number >= STRIDE:
        return after, None
    index = task.number * STRIDE + number
    entries = forge_missing(store, task.brief, 1, budget=budget, first=index, quiet=True)
    identity = next((entry.scenario for entry in entries if entry.index == index), None)
    return after, None if identity is None else store.scenario(identity)
