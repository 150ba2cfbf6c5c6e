"""The forge: deterministic, bounded, and what it releases has been done."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from functools import cache

import numpy as np
import pytest
from forge_scenes import DRAFTS, draft, item, says

from embodiedsmith.forge import Certificate, ForgeError, ForgeResult, Proposal, edits, forge, recording_digest
from embodiedsmith.forge.agents import Case, Draft, Repair, RuleAgent
from embodiedsmith.forge.critics import Context, critics
from embodiedsmith.forge.language import NotUnderstood
from embodiedsmith.forge.lessons import Lessons, context_of
from embodiedsmith.forge.loop import ALIKE
from embodiedsmith.forge.state import State, verdict
from embodiedsmith.runtime.errors import SmithError, UsageError
from embodiedsmith.runtime.seeds import generator
from embodiedsmith.spec import (
    All,
    Asked,
    Brief,
    ChangeSupport,
    Edit,
    Finding,
    MoveItem,
    RemoveItem,
    Scenario,
    SetTolerance,
    TurnItem,
)
from embodiedsmith.spec.scenario import Mode
from embodiedsmith.tasks import replay
from embodiedsmith.world import World

Repaired = tuple[Edit, ...]
BRIEF = Brief(text="stack the blue block on the green block", seed=5)


class Scripted:
    """An agent that proposes given drafts in turn, the last one for ever, and offers given repairs of whatever is found."""

    name = "scripted"

    def __init__(self, *scenarios: Scenario, offers: Sequence[Repaired] = (), asked: Asked | None = None) -> None:
        self.scenarios = list(scenarios)
        self.offers = offers
        self.asked = asked
        self.cases: list[Case] = []

    def propose(self, brief: Brief, rng: np.random.Generator) -> Draft:
        scenario = self.scenarios.pop(0) if len(self.scenarios) > 1 else self.scenarios[0]
        return Draft(scenario=scenario, reading="as written", warnings=("one word was guessed",), asked=self.asked)

    def edit(self, case: Case, rng: np.random.Generator) -> Iterator[Repair]:
        self.cases.append(case)
        for offer in self.offers:
            yield Repair(edits=offer, kind=offer[0].kind, finding=case.findings[0], why="as scripted")  # type: ignore[arg-type]


def already_done() -> Scenario:
    return draft([item("table"), item("block_1", "table")], says("on", "block_1", "table"))


def too_many() -> Scenario:
    apples = [item(f"apple_{k}", "table", size="large") for k in range(9)]
    return draft(
        [item("table"), item("bowl", "table", size="small"), *apples],
        All(goals=tuple(says("inside", a.id, "bowl") for a in apples)),
    )


def nonsense() -> Scenario:
    return draft([item("table"), item("mug", "table")], says("inside", "table", "mug"))


@cache
def forged() -> ForgeResult:
    return forge(BRIEF, index=2)


def test_a_brief_becomes_a_scenario_that_has_been_done() -> None:
    made = forged()
    assert made.scenario.task.user_text == BRIEF.text
    assert made.witness.outcome == "success"
    assert made.certificate.critics == tuple(c.name for c in critics())
    assert made.certificate.scenario == made.scenario.id == made.witness.scenario_id
    assert made.certificate.margin == made.witness.margins[-1] > 0
    assert made.certificate.length == made.witness.length
    assert made.certificate.witness == recording_digest(made.witness)
    assert made.log[-1].accepted and made.log[-1].scenario == made.scenario.id
    origin = made.scenario.provenance
    assert (origin.brief, origin.seed, origin.index, origin.proposals) == (BRIEF, 5, 2, made.proposals)
    assert "mujoco" in origin.versions
    assert {"propose", "layout", "geometry", "execution"} <= set(made.cost)
    assert origin.asked is not None and origin.asked.goal == made.scenario.task.goal
    assert made.units > made.witness.length / 20  # the witness alone was simulated for that long


def test_the_witness_replays_bit_for_bit_from_the_certificate() -> None:
    made = forged()
    world = World(Scenario.from_json(made.scenario.to_json()))
    seen = made.certificate
    assert replay(world, made.witness, generator(seen.seed, seen.scenario, "witness", seen.attempt)) == 0.0


def test_the_same_seed_and_index_forge_the_same_and_others_another() -> None:
    made, again = forged(), forge(BRIEF, index=2)
    assert again.scenario == made.scenario
    assert again.certificate.id == made.certificate.id
    assert [p.to_json() for p in again.log] == [p.to_json() for p in made.log]
    assert forge(BRIEF, index=3).scenario.id != made.scenario.id


def test_what_is_refused_is_drawn_again_and_remembered() -> None:
    seen: list[Proposal] = []
    agent = Scripted(nonsense(), too_many(), already_done(), DRAFTS["stack"])
    made = forge(BRIEF, agent=agent, on_event=seen.append)
    assert [p.stage for p in made.log] == ["draft", "layout", "review", "accepted"]
    assert tuple(seen) == made.log
    assert [p.findings[0].code for p in made.log[:3]] == ["spec.goal", "geometry.too_many", "logic.already_true"]
    assert [p.number for p in made.log] == [1, 2, 3, 4]
    assert made.scenario.provenance.proposals == made.proposals == 4
    assert made.reading == "as written"
    assert made.warnings == ("one word was guessed",)


def test_a_spent_budget_ends_with_the_reasons_counted() -> None:
    agent = Scripted(too_many(), already_done())
    with pytest.raises(ForgeError, match=r"no scenario passed the critics in \d+ proposals") as caught:
        forge(BRIEF, agent=agent, budget=30)
    error = caught.value
    assert error.exit_code == 1
    assert error.units >= 30
    assert error.reasons["geometry.too_many"] == 1 and error.reasons["logic.already_true"] == len(error.log) - 1 > 1
    assert "x logic.already_true" in str(error) and "another seed" in str(error)
    sent = pickle.loads(pickle.dumps(error))
    assert (str(sent), sent.reasons, sent.log, sent.units) == (str(error), error.reasons, error.log, error.units)


def test_proposals_that_all_end_alike_are_not_drawn_until_the_budget_is_spent() -> None:
    with pytest.raises(ForgeError) as caught:
        forge(BRIEF, agent=Scripted(nonsense()))
    assert len(caught.value.log) == ALIKE


def test_mode_none_draws_once() -> None:
    with pytest.raises(ForgeError, match="in 1 proposal"):
        forge(BRIEF.model_copy(update={"mode": "none"}), agent=Scripted(already_done()))


@pytest.mark.parametrize(
    ("text", "said"),
    [("put the flux capacitor in the bowl", "flux capacitor"), ("put the table in the mug", "table")],
)
def test_what_cannot_be_meant_is_refused_at_once(text: str, said: str) -> None:
    seen: list[Proposal] = []
    with pytest.raises(SmithError, match=said) as caught:
        forge(Brief(text=text), on_event=seen.append)
    assert seen == []
    assert caught.value.exit_code == 1
    assert not isinstance(caught.value, ForgeError)


def test_unknown_words_are_named() -> None:
    with pytest.raises(NotUnderstood) as caught:
        forge(Brief(text="tidy the desk: pens are not needed, put the two cans in the bin"))
    assert "pens" in str(caught.value)


def test_a_budget_of_nothing_and_an_unknown_agent_are_usage_errors() -> None:
    with pytest.raises(UsageError, match="budget of 0"):
        forge(BRIEF, budget=0)
    with pytest.raises(UsageError, match="oracle"):
        forge(BRIEF, agent="oracle")


def test_without_a_witness_nothing_is_released() -> None:
    cheap = [c for c in critics() if c.name in ("spec", "geometry")]
    with pytest.raises(UsageError, match="no critic made a witness"):
        forge(BRIEF, agent=Scripted(DRAFTS["stack"]), among=cheap)


def test_a_certificate_is_known_by_what_was_proved_not_by_what_it_cost() -> None:
    seen = forged().certificate
    dearer = seen.model_copy(update={"costs": {"execution": 1e6}})
    assert dearer.id == seen.id
    assert seen.model_copy(update={"attempt": seen.attempt + 1}).id != seen.id
    assert Certificate.from_json(seen.to_json()) == seen


@pytest.mark.parametrize(("embodiment", "named"), [("panda", True), ("panda_mobile", False)])
def test_what_a_fixed_robot_cannot_reach_names_one_that_drives(embodiment: str, named: bool) -> None:
    finding = Finding(code="geometry.no_space", message="far")
    refused = Proposal(number=1, draft=nonsense(), scenario=None, stage="layout", findings=(finding,))
    assert ("panda_mobile" in str(ForgeError((refused,), {}, embodiment=embodiment))) == named


# ---------------------------------------------------------------------- repairs


def on_the_plate() -> Scenario:
    """A mug that is to be put on the plate it stands on."""
    return draft(
        [item("table"), item("plate", "table"), item("mug", "plate"), item("apple", "table")], says("on", "mug", "plate")
    )


OFF: Repaired = (ChangeSupport(item="mug", parent="table"),)


@cache
def repaired() -> ForgeResult:
    agent = Scripted(on_the_plate(), offers=[(RemoveItem(item="mug"),), (MoveItem(item="apple"),), OFF])
    return forge(BRIEF, agent=agent)


def test_what_is_found_is_repaired_and_what_does_not_help_is_rolled_back() -> None:
    made = repaired()
    first, useless, helpless, cured = made.log[-1].steps
    assert made.proposals == 1 and first.kind is None
    assert [s.kept for s in made.log[-1].steps] == [True, False, False, True]
    assert "the task needs mug" in useless.reason and useless.scenario is None
    assert "logic.already_true" in helpless.reason and helpless.scenario is not None
    assert cured.cures is not None and cured.cures.code == "logic.already_true" and cured.scenario == made.scenario.id
    assert made.edits == made.scenario.provenance.edits == 1
    assert made.scenario.scene.item("apple").pose == first.edits[0].poses["apple"]  # type: ignore[union-attr]


def test_the_log_of_edits_replays_to_the_scenario() -> None:
    made = repaired()
    log = made.log[-1]
    again = edits.replay(Scenario.from_json(log.draft.to_json()), log.edits)
    assert again.id == made.scenario.id
    laid_out = edits.replay(log.draft, log.steps[0].edits)
    assert made.distance == edits.distance(laid_out, made.scenario) >= 2  # another carrier, another place


def test_every_try_teaches_and_lessons_order_the_next() -> None:
    made = repaired()
    learnt = Lessons().learn(made.outcomes)
    finding = made.log[-1].steps[-1].cures
    assert finding is not None
    context = context_of(finding, made.log[-1].draft)
    kinds = learnt.records[context]
    assert (kinds["change_support"].cured, kinds["change_support"].tried) == (1, 1)
    assert (kinds["move"].cured, kinds["move"].tried) == (0, 1)
    assert kinds["move"].units > 0
    order = learnt.order(finding.model_copy(update={"cures": ("move", "change_support", "remove")}), made.log[-1].draft)
    assert order.index("change_support") < order.index("move")
    assert Lessons.from_json(learnt.to_json()) == learnt


def test_no_edit_breaks_what_the_user_asked_for() -> None:
    goal = says("on", "mug", "plate")
    agent = Scripted(
        on_the_plate(), offers=[(SetTolerance(predicate=0, name="tolerance", value=1.0),), OFF], asked=Asked(goal=goal)
    )
    made = forge(BRIEF, agent=agent)
    assert made.log[-1].steps[1].scenario is None
    assert "breaks what was asked for: the goal is not the one asked for" in made.log[-1].steps[1].reason
    assert made.scenario.task.goal == goal


@pytest.mark.parametrize(("mode", "permitted"), [("scene", True), ("task", False), ("joint", True), ("resample", False)])
def test_a_mode_permits_its_own_edits_only(mode: Mode, permitted: bool) -> None:
    agent = Scripted(on_the_plate(), offers=[OFF])
    brief = BRIEF.model_copy(update={"mode": mode})
    if permitted:
        assert forge(brief, agent=agent).edits == 1
        return
    with pytest.raises(ForgeError) as caught:
        forge(brief, agent=agent, budget=12)
    steps = [s for p in caught.value.log for s in p.steps if s.kind is not None]
    assert all(s.scenario is None and s.reason == "the mode does not permit it" for s in steps)
    assert bool(steps) == (mode == "task")


def test_the_rule_agents_own_repairs_cure_what_starts_true() -> None:
    class Real(Scripted):
        def edit(self, case: Case, rng: np.random.Generator) -> Iterator[Repair]:
            return RuleAgent().edit(case, rng)

    made = forge(BRIEF, agent=Real(on_the_plate()))
    assert made.proposals == 1 and made.edits >= 1
    assert made.scenario.scene.item("mug").parent != "plate"


def test_an_edit_is_told_what_was_found_and_what_may_be_done() -> None:
    agent = Scripted(on_the_plate(), offers=[(TurnItem(item="mug", yaw=0.5),), OFF])
    forge(BRIEF, agent=agent)
    case = agent.cases[0]
    assert case.findings[0].code == "logic.already_true" and "change_support" in case.findings[0].cures
    assert "lay_out" not in case.allowed and {"move", "move_base", "split_goal"} <= case.allowed
    assert case.asked.goal == says("on", "mug", "plate")


def test_a_finding_put_in_the_place_of_another_is_kept_but_teaches_nothing_good() -> None:
    scenario = on_the_plate()

    def state(*codes: str, passed: int = 1) -> State:
        findings = tuple(Finding(code=code, subjects=("mug",), message=code) for code in codes)
        names = ("spec", "geometry", "physics")[:passed]
        context = Context(scenario, seed=0, costs={})
        return State(scenario=scenario, stage="review", findings=findings, passed=names, placed=None, context=context)

    before = state("reach.unreachable")
    cured = before.errors[0]
    beside = verdict(before, state("geometry.overlap"), cured)
    farther = verdict(before, state("motion.grasp_blocked", passed=2), cured)
    worse = verdict(before, state("reach.unreachable", "geometry.overlap"), cured)
    assert (beside.kept, beside.cured) == (True, False) and "in its place geometry.overlap" in beside.reason
    assert (farther.kept, farther.cured) == (True, True)
    assert (worse.kept, worse.cured) == (False, False)
