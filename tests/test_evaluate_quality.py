"""Quality of episodes: its parts against real demonstrations and the same with noise, its ranges, its weights."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from test_collect import STACK, scene

from embodiedsmith.episodes.scores import Scores, score
from embodiedsmith.episodes.staging import attempt_rng, warm_world
from embodiedsmith.evaluate.quality import (
    PROFILES,
    Profile,
    Quality,
    Reference,
    efficiency,
    profile,
    quality,
    reference,
    smoothness,
)
from embodiedsmith.motion import demonstrate
from embodiedsmith.runtime.errors import UsageError
from embodiedsmith.tasks import Recording, Session

SCORES = Scores(
    completion=1.0, duration=5.0, path_length=1.5, smoothness=1e3, energy=10.0, clearance=0.02, goal_margin=0.005
)  # fmt: skip
TASK = Reference(duration=5.0, path_length=1.5, energy=10.0)


@pytest.fixture(scope="module")
def demonstrations() -> list[Recording]:
    scenario = scene(STACK)
    session = Session(warm_world(scenario))
    return [demonstrate(session, attempt_rng(0, scenario.id, k)) for k in range(3)]


def shaken(recording: Recording, sigma: float) -> Recording:
    """The same actions with noise on every arm joint's target [rad], in the same world."""
    session = Session(warm_world(scene(STACK)))
    session.reset(attempt_rng(0, recording.scenario_id, recording.attempt))
    rng = np.random.default_rng(1)
    for action in recording.actions:
        session.step(np.concatenate([action[:7] + sigma * rng.standard_normal(7), action[7:]]))
    return session.finish()


def test_demonstrations_are_good_and_noise_makes_them_worse(demonstrations: list[Recording]) -> None:
    assert [r.outcome for r in demonstrations] == ["success"] * 3
    task = reference(score(r) for r in demonstrations)
    for weights in PROFILES.values():
        values = [
            quality(score(recording), task, weights).value
            for recording in (demonstrations[0], shaken(demonstrations[0], 0.002), shaken(demonstrations[0], 0.01))
        ]
        assert values[0] > values[1] > values[2]
        assert values[0] > 0.75
    shown = quality(score(demonstrations[0]), task, profile("benchmark"))
    assert shown.completion == 1.0
    assert shown.smoothness is not None and shown.smoothness > 0.6
    assert shown.efficiency == pytest.approx(6.0 / 7.0, abs=0.05)
    assert shown.robustness is None
    assert Quality.from_json(shown.to_json()) == shown


def test_a_real_robot_minds_shaking_more(demonstrations: list[Recording]) -> None:
    task = reference(score(r) for r in demonstrations)
    plain, rough = score(demonstrations[0]), score(shaken(demonstrations[0], 0.002))
    loss = {name: quality(plain, task, w).value - quality(rough, task, w).value for name, w in PROFILES.items()}
    assert loss["real_robot"] > 1.5 * loss["benchmark"]


def test_ranges_are_as_stated() -> None:
    assert smoothness(1e2) == smoothness(0.0) == 1.0
    assert smoothness(1e5) == smoothness(1e9) == smoothness(float("inf")) == 0.0
    assert smoothness(10**3.5) == pytest.approx(0.5)
    assert efficiency(SCORES, TASK) == pytest.approx(3.0 / 3.5)
    assert efficiency(replace(SCORES, duration=2.5, path_length=0.75), TASK) == 1.0
    assert efficiency(replace(SCORES, duration=20.0, path_length=6.0), TASK) == 0.0
    assert efficiency(replace(SCORES, duration=20.0), TASK) == pytest.approx(3.0 / 7.0)  # the way was as short as ever
    assert efficiency(replace(SCORES, path_length=None), TASK) == pytest.approx(3.0 / 3.5)


def test_what_is_unknown_is_left_out_and_the_rest_weighs_more() -> None:
    weights = PROFILES["benchmark"]
    bare = Scores(
        completion=0.5, duration=5.0, path_length=None, smoothness=None, energy=None, clearance=None, goal_margin=-1.0
    )  # fmt: skip
    assert quality(bare, None, weights).value == 0.5
    assert quality(bare, None, weights, robustness=1.0).value == pytest.approx((0.4 * 0.5 + 0.1) / 0.5)
    broken = replace(SCORES, energy=float("nan"), smoothness=float("nan"))
    shown = quality(broken, TASK, weights)
    assert shown.energy is None and shown.smoothness is None
    assert shown.value == pytest.approx((0.4 + 0.3 * 3.0 / 3.5) / 0.7)


def test_every_part_pulls_the_way_it_should() -> None:
    for weights in PROFILES.values():
        usual = quality(SCORES, TASK, weights, robustness=0.5).value
        for worse in ({"completion": 0.5}, {"duration": 8.0}, {"path_length": 3.0}, {"smoothness": 1e4}, {"energy": 20.0}):
            assert quality(replace(SCORES, **worse), TASK, weights, robustness=0.5).value < usual
        assert (
            quality(SCORES, TASK, weights, robustness=0.25).value < usual < quality(SCORES, TASK, weights, robustness=1.0).value
        )


def test_faults_name_the_remedy() -> None:
    with pytest.raises(UsageError, match="no demonstration succeeded"):
        reference([replace(SCORES, completion=0.5)])
    with pytest.raises(UsageError, match="real_robot"):
        profile("robot")
    with pytest.raises(ValueError, match="nothing counts"):
        Profile(completion=0, efficiency=0, smoothness=0, energy=0, robustness=0)
    assert reference([replace(SCORES, energy=0.0, path_length=None)]) == Reference(duration=5.0)
