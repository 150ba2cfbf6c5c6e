"""The forge: deterministic, bounded, and what it releases has been done."""

from __future__ import annotations

import pickle
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from forge_scenes import DRAFTS, draft, item, says

from embodiedsmith.forge import Certificate, ForgeError, ForgeResult, Proposal, forge, recording_digest
from embodiedsmith.forge.agents import Draft
from embodiedsmith.forge.certificate import certify
from embodiedsmith.forge.critics import critics
from embodiedsmith.forge.language import NotUnderstood
from embodiedsmith.runtime.errors import SmithError, UsageError
from embodiedsmith.runtime.seeds import generator
from embodiedsmith.spec import All, Brief, Finding, Scenario
from embodiedsmith.tasks import replay
from embodiedsmith.world import World

BRIEF = Brief(text="stack the blue block on the green block", seed=5)


class Scripted:
    """An agent that proposes given drafts in turn, the last one for ever."""

    name = "scripted"

    def __init__(self, *scenarios: Scenario) -> None:
        self.scenarios = list(scenarios)

    def propose(self, brief: Brief, rng: np.random.Generator) -> Draft:
        scenario = self.scenarios.pop(0) if len(self.scenarios) > 1 else self.scenarios[0]
        return Draft(scenario=scenario, reading="as written", warnings=("one word was guessed",))


def already_done() -> Scenario:
    return draft([item("table"), item("block_1", "table")], says("on", "block_1", "table"))


def too_many() -> Scenario:
    apples = [item(f"apple_{k}", "table") for k in range(9)]
    return draft([item("table"), item("bowl", "table"), *apples], All(goals=tuple(says("inside", a.id, "bowl") for a in apples)))


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
    with pytest.raises(ForgeError, match="no scenario passed the critics in 3 proposals") as caught:
        forge(BRIEF, agent=agent, budget=3)
    error = caught.value
    assert error.exit_code == 1
    assert dict(error.reasons) == {"logic.already_true": 2, "geometry.too_many": 1}
    assert "2 x logic.already_true" in str(error) and "another seed" in str(error)
    assert len(error.log) == 3
    sent = pickle.loads(pickle.dumps(error))
    assert (str(sent), sent.reasons, sent.log) == (str(error), error.reasons, error.log)


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


def test_a_failure_is_no_witness() -> None:
    with pytest.raises(ValueError, match="must have succeeded"):
        certify(replace(forged().witness, outcome="failure"), ("spec",), {})


@pytest.mark.parametrize(("embodiment", "named"), [("panda", True), ("panda_mobile", False)])
def test_what_a_fixed_robot_cannot_reach_names_one_that_drives(embodiment: str, named: bool) -> None:
    refused = Proposal(number=1, scenario=None, stage="layout", findings=(Finding(code="geometry.no_space", message="far"),))
    assert ("panda_mobile" in str(ForgeError((refused,), {}, embodiment=embodiment))) == named
