"""Requests to the forge follow failures and gaps, and what they come to is certified and differs from what was there."""

from __future__ import annotations

import numpy as np
from flywheel_scenes import forged

from embodiedsmith.evaluate.coverage import Coverage, coverage
from embodiedsmith.flywheel.clutter import clutter
from embodiedsmith.flywheel.curriculum import FailureEmphasis
from embodiedsmith.flywheel.failures import CLASSES
from embodiedsmith.flywheel.levels import at_level
from embodiedsmith.flywheel.requests import Request, RequestConfig, carry_out, plan
from embodiedsmith.forge.certificate import recording_digest
from embodiedsmith.motion import demonstrate
from embodiedsmith.runtime.seeds import generator
from embodiedsmith.spec import ChangeArgument, MoveItem, Pose, Scenario, SwapAsset, predicates
from embodiedsmith.tasks import Session
from embodiedsmith.world import World

VARIANTS = RequestConfig(again=0.0)


def failing(kind: str, name: str = "basket", count: int = 12) -> tuple[dict[str, Scenario], FailureEmphasis]:
    scenario = forged(name)
    emphasis, _ = FailureEmphasis().update(3, {scenario.id: 20}, {scenario.id: {kind: count}})
    return {scenario.id: scenario}, emphasis


def planned(kind: str, name: str = "basket", count: int = 4, **more: object) -> tuple[Request, ...]:
    scenarios, emphasis = failing(kind, name)
    return plan(4, scenarios, emphasis, count, np.random.default_rng(0), **{"config": VARIANTS, **more})[0]  # type: ignore[arg-type]


def test_without_failures_and_gaps_nothing_is_asked_for() -> None:
    scenario = forged("basket")
    emphasis, _ = FailureEmphasis().update(3, {scenario.id: 20}, {})
    assert plan(4, {scenario.id: scenario}, emphasis, 8, np.random.default_rng(0)) == ((), ())


def test_every_class_of_failure_leads_to_requests_and_equal_draws_to_equal_ones() -> None:
    for kind in CLASSES:
        requests = planned(kind)
        assert requests
        assert requests == planned(kind)
        assert all(request.failure == kind and kind in request.reason for request in requests)
        assert all(request.edits for request in requests if request.kind == "variant")
        assert {request.kind for request in requests} == {"again" if kind in ("unplanned", "world_fault") else "variant"}


def test_what_slips_is_asked_for_in_other_sizes() -> None:
    requests = planned("slip")
    edits = [edit for request in requests for edit in request.edits]
    assert edits
    assert all(isinstance(edit, SwapAsset) and edit.item == "can" for edit in edits)
    assert len({edit.asset.to_json() for edit in edits if isinstance(edit, SwapAsset)}) == len(edits) > 1


def test_half_of_the_requests_are_the_same_brief_drawn_again() -> None:
    scenarios, emphasis = failing("misplaced")
    requests, decisions = plan(4, scenarios, emphasis, 40, np.random.default_rng(1), task="basket")
    again = sum(request.kind == "again" for request in requests)
    assert 10 <= again <= 30
    assert len(decisions) == len(requests)
    assert {d.task for d in decisions} == {"basket"}
    assert all(d.round == 4 and d.part == "requests" for d in decisions)


def test_scenarios_that_fail_more_are_asked_for_more() -> None:
    first, second = forged("basket"), forged("stack")
    emphasis, _ = FailureEmphasis().update(0, {first.id: 20, second.id: 20}, {first.id: {"slip": 18}, second.id: {"slip": 2}})
    requests, _ = plan(
        1, {s.id: s for s in (first, second)}, emphasis, 60, np.random.default_rng(0), config=RequestConfig(again=1.0)
    )
    assert sum(request.scenario == first.id for request in requests) > 40


def test_a_variant_is_certified_or_refused() -> None:
    scenario = forged("basket")
    made = [carry_out(request, scenario, seed=0) for request in planned("missed_grasp", count=3)]
    good = [m for m in made if m is not None]
    assert good
    for variant in good:
        assert variant.scenario.id != scenario.id
        assert variant.scenario.scene.item("can").asset != scenario.scene.item("can").asset
        assert variant.scenario.task.goal == scenario.task.goal
        assert variant.witness.outcome == "success"
        assert variant.witness.scenario_id == variant.certificate.scenario == variant.scenario.id
        assert variant.certificate.witness == recording_digest(variant.witness)
    impossible = Request(
        kind="variant", scenario=scenario.id, reason="off the table", edits=(MoveItem(item="can", pose=Pose.planar(5.0, 0.0)),)
    )
    assert carry_out(impossible, scenario, seed=0) is None
    assert carry_out(impossible.model_copy(update={"edits": (MoveItem(item="nobody"),)}), scenario, seed=0) is None


def test_clutter_is_of_other_kinds_and_levels_take_it_out_again() -> None:
    scenario = forged("basket")
    edits = clutter(scenario, 3, np.random.default_rng(2))
    assert edits == clutter(scenario, 3, np.random.default_rng(2))
    kinds = {edit.item.asset.category for edit in edits}
    assert len(kinds) == 3
    assert not kinds & {item.asset.category for item in scenario.scene.items}
    assert {edit.item.parent for edit in edits} == {"table"}
    made = carry_out(Request(kind="variant", scenario=scenario.id, edits=edits, reason="clutter"), scenario, seed=0)
    assert made is not None
    added = {edit.item.id for edit in edits}
    counts = [len(added & {i.id for i in at_level(made.scenario, level).scene.items}) for level in (1, 4, 7, 10)]
    assert counts == [0, 1, 2, 3]
    assert clutter(scenario, 0, np.random.default_rng(0)) == ()


def test_what_was_never_grasped_takes_the_place_of_what_is() -> None:
    scenario = forged("drawer")
    seen = Coverage(episodes=5, present={"mug": 5, "glass": 5, "spoon": 5}, grasped={"mug": 5})
    emphasis, _ = FailureEmphasis().update(0, {scenario.id: 5}, {})
    requests, _ = plan(1, {scenario.id: scenario}, emphasis, 8, np.random.default_rng(0), seen=seen)
    assert 1 <= len(requests) <= 2
    glass = next(r for r in requests if "glass" in r.reason)
    assert glass.failure is None
    assert glass.edits == (ChangeArgument(predicate=0, argument=0, value="glass"),)
    made = carry_out(glass, scenario, seed=0)
    assert made is not None
    assert [p.args[0] for p in predicates(made.scenario.task.goal)] == ["glass", "drawer_unit.drawer_top"]
    assert "glass" in made.scenario.task.instructions["en"]


def test_things_are_put_where_the_test_begins_and_training_never_did() -> None:
    scenario = forged("basket")
    world = World(scenario)
    recording = demonstrate(Session(world), generator(0, "shown"))
    seen = coverage(scenario, [recording])
    (x, y), *_ = seen.cells["can"]
    wanted = Coverage(episodes=1, present={"can": 1}, grasped={"can": 1}, cells={"can": ((x, y), (x + 1, y + 1), (90, 90))})
    emphasis, _ = FailureEmphasis().update(0, {scenario.id: 5}, {})
    requests, _ = plan(1, {scenario.id: scenario}, emphasis, 8, np.random.default_rng(0), seen=seen, wanted=wanted)
    assert len(requests) == 1  # one is known, one is not on the table
    made = carry_out(requests[0], scenario, seed=0)
    assert made is not None
    assert made.scenario.scene.item("basket").pose != scenario.scene.item("basket").pose  # it was in the way
    still = made.scenario.model_copy(
        update={"randomization": made.scenario.randomization.model_copy(update={"position": 0.0, "yaw": 0.0})}
    )
    begun = demonstrate(Session(World(still)), generator(0, "shown"))
    assert coverage(still, [begun]).cells["can"] == ((x + 1, y + 1),)
