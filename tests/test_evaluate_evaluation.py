"""Evaluation of real policies and of the demonstrator, start by start."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pytest
from test_collect import STACK, scene

from embodiedsmith.embodiments.actions import ActionSpace
from embodiedsmith.evaluate.coverage import CELL, Coverage, coverage
from embodiedsmith.evaluate.evaluation import Evaluation, compare, evaluate, evaluate_demonstrator, try_out
from embodiedsmith.evaluate.intervals import rate
from embodiedsmith.evaluate.suites import Entry, Suite, suite
from embodiedsmith.learn.normalization import Statistics
from embodiedsmith.learn.observation import Encoder, ObservationConfig
from embodiedsmith.learn.policy import Policy, PolicyConfig
from embodiedsmith.runtime.errors import UsageError
from embodiedsmith.spec import EmbodimentSpec, Pose, Scenario
from embodiedsmith.tasks import Recording
from embodiedsmith.world import CONTROL_HZ, World


def short(scenario: Scenario, horizon: float = 8.0) -> Scenario:
    return scenario.model_copy(update={"task": scenario.task.model_copy(update={"horizon": horizon})})


SCENES = (short(scene(STACK)), short(scene(STACK, color="green")))


@pytest.fixture(scope="module")
def tested() -> Suite:
    return suite("blocks", {1: [SCENES[0]], 2: [SCENES[1]]}, 3, seed=0)


@pytest.fixture(scope="module")
def untrained() -> Policy:
    """A policy of random weights that moves a little."""
    config = PolicyConfig(kind="bc_mlp", width=16, depth=2, observation=ObservationConfig(predicates=("on",), robots=("panda",)))
    names = Encoder(SCENES[0], config.observation).names
    space = ActionSpace(World(SCENES[0]).robot, config.action_space, 1.0 / CONTROL_HZ)
    policy = Policy.create(config, names, space.names, seed=0)
    rng = np.random.default_rng(0)
    policy.fit_normalizer(Statistics.of(rng.normal(size=(64, len(names))), 1e-3 * rng.normal(size=(64, space.size))))
    return policy


@pytest.fixture(scope="module")
def expert(tested: Suite) -> Evaluation:
    return evaluate_demonstrator(tested)


@pytest.fixture(scope="module")
def novice(tested: Suite, untrained: Policy) -> Evaluation:
    return evaluate(untrained, tested, worlds=2)


def test_the_demonstrator_succeeds_and_a_policy_that_knows_nothing_does_not(
    expert: Evaluation, novice: Evaluation, tested: Suite
) -> None:
    assert expert.success == rate(6, 6) and expert.failures == {}
    assert novice.success == rate(0, 6) and novice.failures == {"goal.timeout": 6}
    assert [t.start for t in expert.trials] == [t.start for t in novice.trials]
    assert {t.steps for t in novice.trials} == {8 * CONTROL_HZ}
    assert expert.suite == novice.suite == tested.id
    found = compare(expert, novice, np.random.default_rng(0))
    assert found.difference.value == 1.0
    assert found.p == pytest.approx(2 / 2**6)


def test_results_do_not_depend_on_how_many_worlds_there_are(untrained: Policy, novice: Evaluation, tested: Suite) -> None:
    again = evaluate(untrained, tested, worlds=3, threads=2, classify=lambda recording: "slow")
    assert [t.model_copy(update={"kind": "goal.timeout"}) for t in again.trials] == list(novice.trials)
    assert again.failures == {"slow": 6}
    assert again.coverage == novice.coverage


def test_levels_scenarios_and_summary(expert: Evaluation, novice: Evaluation) -> None:
    mixed = expert.model_copy(update={"trials": (*expert.trials[:3], *novice.trials[3:])})
    assert mixed.levels == {1: rate(3, 3), 2: rate(0, 3)}
    assert mixed.scenarios == {SCENES[0].id: rate(3, 3), SCENES[1].id: rate(0, 3)}
    told = mixed.summary()
    assert told["success"] == rate(3, 6).model_dump()
    assert told["codes"] == told["failures"] == {"goal.timeout": 3}
    assert Evaluation.from_json(mixed.to_json()) == mixed


def test_only_equal_suites_are_compared(expert: Evaluation, novice: Evaluation) -> None:
    with pytest.raises(UsageError, match="cannot be compared"):
        compare(expert, novice.model_copy(update={"suite": "other"}), np.random.default_rng(0))


def test_episodes_out_of_order_are_noticed(tested: Suite, untrained: Policy) -> None:
    first = tested.at(1)

    def none(scenario: Scenario, attempts: Sequence[int], seed: int) -> Iterable[Recording]:
        return ()

    with pytest.raises(UsageError, match="gave nothing"):
        try_out(none, first, actor="nobody")


def test_coverage_counts_what_was_grasped_and_where_things_began(expert: Evaluation, novice: Evaluation) -> None:
    assert expert.coverage.episodes == 6
    assert expert.coverage.present == {"block": 6}
    assert expert.coverage.grasped == {"block": 6} and expert.coverage.never_grasped == ()
    assert novice.coverage.grasped == {} and novice.coverage.never_grasped == ("block",)
    assert expert.coverage.cells == novice.coverage.cells  # the same starts
    # 0.55 m before the robot, 0.1 m to its right and 0.15 m to its left, give or take the variation
    cells = expert.coverage.cells["block"]
    assert all(abs((i + 0.5) * CELL - 0.55) < 0.075 for i, _ in cells)
    assert any(j < 0 for _, j in cells) and any(j > 0 for _, j in cells)


def test_coverage_adds_up_and_names_gaps(tested: Suite) -> None:
    seen: list[tuple[Entry, Recording]] = []
    evaluate_demonstrator(tested.at(1), on_episode=lambda entry, recording: seen.append((entry, recording)))
    parts = [coverage(entry.scenario, [recording]) for entry, recording in seen]
    assert parts[0] + parts[1] + parts[2] == coverage(SCENES[0], [recording for _, recording in seen])
    assert parts[0].missing(Coverage()) == {}
    assert Coverage().missing(parts[0]) == parts[0].cells
    assert parts[0].missing(parts[0] + Coverage(cells={"mug": ((1, 2),)})) == {"mug": ((1, 2),)}


def test_cells_turn_with_the_robot() -> None:
    kept: list[Recording] = []
    evaluate_demonstrator(suite("one", {None: [SCENES[0]]}, 1, seed=0), on_episode=lambda _, recording: kept.append(recording))
    plain = coverage(SCENES[0], kept).cells["block"]
    base = Pose.planar(0.0, 0.0, 0.75, yaw=np.pi / 2)
    turned = SCENES[0].model_copy(update={"embodiment": EmbodimentSpec(name="panda", base=base)})
    # what stood before the robot now stands to its right
    assert coverage(turned, kept).cells["block"] == tuple(sorted((j, -i - 1) for i, j in plain))


def test_a_start_that_does_not_come_to_rest_fails_for_everybody(untrained: Policy) -> None:
    second = SCENES[0].scene.item("block_2").model_copy(update={"pose": SCENES[0].scene.item("block").pose})
    overlapping = SCENES[0].model_copy(update={"scene": SCENES[0].scene.with_item(second)})
    tested = suite("overlapping", {None: [overlapping]}, 2, seed=0)
    for found in (evaluate_demonstrator(tested), evaluate(untrained, tested)):
        assert found.success == rate(0, 2)
        assert [trial.steps for trial in found.trials] == [0, 0]
        assert list(found.failures) == ["world.not_settled"]
