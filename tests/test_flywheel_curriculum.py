"""Schedulers: levels with hysteresis, a difficulty that follows uncertainty, weights that follow failures."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from embodiedsmith.flywheel.curriculum import (
    EntropyCurriculum,
    FailureEmphasis,
    SuccessConfig,
    SuccessCurriculum,
    scale_of,
    spread,
)
from embodiedsmith.flywheel.levels import LEVELS, difficulty


def after(curriculum: SuccessCurriculum, successes: list[float]) -> tuple[SuccessCurriculum, list[int]]:
    levels = []
    for round, success in enumerate(successes):
        before = curriculum.level
        curriculum, decided = curriculum.update(round, success)
        assert (decided.before, decided.after) == (before, curriculum.level)
        levels.append(curriculum.level)
    return curriculum, levels


def test_a_level_comes_after_three_good_rounds_each() -> None:
    _, levels = after(SuccessCurriculum(), [0.9] * 9)
    assert levels == [1, 1, 2, 2, 2, 3, 3, 3, 4]


def test_between_the_limits_nothing_moves_and_the_limits_themselves_are_between() -> None:
    _, levels = after(SuccessCurriculum(level=4), [0.7, 0.8, 0.6, 0.8, 0.8, 0.8])
    assert levels == [4] * 6


def test_below_the_lower_limit_the_level_before_comes_back() -> None:
    curriculum, levels = after(SuccessCurriculum(level=3), [0.5] * 6 + [0.1] * 6)
    assert levels == [3, 3, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1]
    _, decided = curriculum.update(9, 0.1)
    assert "there is none below" in decided.reason


def test_the_highest_level_stays() -> None:
    curriculum, levels = after(SuccessCurriculum(level=LEVELS), [1.0] * 4)
    assert levels == [LEVELS] * 4
    assert curriculum.difficulty == 1.0


def test_old_rounds_are_forgotten() -> None:
    _, levels = after(SuccessCurriculum(level=2), [0.0, 0.7, 0.9, 0.9, 0.9])
    assert levels == [2, 2, 1, 1, 1]
    _, levels = after(SuccessCurriculum(level=2), [0.6, 0.7, 0.7, 0.9, 0.9])
    assert levels == [2, 2, 2, 2, 3]


@given(st.lists(st.floats(0, 1), max_size=40), st.integers(1, LEVELS))
def test_levels_move_one_at_a_time_and_rest_in_between(successes: list[float], start: int) -> None:
    _, levels = after(SuccessCurriculum(level=start), successes)
    steps = np.diff([start, *levels])
    assert (np.abs(steps) <= 1).all()
    moves = np.flatnonzero(steps)
    assert (np.diff([-1, *moves]) >= 3).all()
    assert all(1 <= level <= LEVELS for level in levels)


def test_a_level_can_be_set_and_is_observed_anew() -> None:
    curriculum, _ = after(SuccessCurriculum(level=5), [0.9, 0.9])
    curriculum, decided = curriculum.moved(7, 3, "rolled back with the policy")
    assert (curriculum.level, curriculum.seen) == (3, ())
    assert (decided.before, decided.after, decided.reason) == (5, 3, "rolled back with the policy")
    assert SuccessCurriculum().moved(0, 99, "x")[0].level == LEVELS


def test_schedulers_survive_json_in_the_middle() -> None:
    successes = [0.9, 0.85, 0.7, 0.95, 0.2, 0.3]
    whole, _ = after(SuccessCurriculum(config=SuccessConfig(observe=2)), successes)
    half, _ = after(SuccessCurriculum(config=SuccessConfig(observe=2)), successes[:3])
    again, _ = after(SuccessCurriculum.from_json(half.to_json()), successes[3:])
    assert again == whole
    entropy = EntropyCurriculum()
    for round, value in enumerate([0.5, 0.6, 0.2]):
        entropy, _ = entropy.update(round, value)
    assert EntropyCurriculum.from_json(entropy.to_json()) == entropy


# ---------------------------------------------------------------------- uncertainty


def test_a_policy_too_sure_gets_harder_and_one_too_lost_easier() -> None:
    curriculum = EntropyCurriculum()
    for round in range(2):
        curriculum, decided = curriculum.update(round, 1.0)
        assert curriculum.difficulty == 0.0
    hard = [0.0]
    for round in range(2, 12):
        curriculum, decided = curriculum.update(round, 0.2)
        hard.append(curriculum.difficulty)
    assert "too sure" in decided.reason
    steps = np.diff(hard)
    assert (steps >= 0).all()
    assert (steps <= 0.1 + 1e-12).all()
    assert hard[-1] > 0.5
    for round in range(12, 20):
        curriculum, decided = curriculum.update(round, 3.0)
    assert "too lost" in decided.reason
    assert curriculum.difficulty < hard[-1]


def test_within_the_band_the_difficulty_stays() -> None:
    curriculum = EntropyCurriculum(difficulty=0.4, reference=2.0)
    for round, value in enumerate([1.5, 2.4, 2.0]):
        curriculum, _ = curriculum.update(round, value)
    assert curriculum.difficulty == 0.4


def test_a_loop_that_answers_difficulty_with_uncertainty_settles_within_the_band() -> None:
    """A policy whose uncertainty falls as it learns and rises with the difficulty is led to a hard task and kept within reach."""
    curriculum, skill = EntropyCurriculum(), 0.0
    for round in range(60):
        uncertainty = 1.0 + 1.5 * curriculum.difficulty - skill
        curriculum, _ = curriculum.update(round, max(uncertainty, 0.05))
        skill = min(skill + 0.05, 1.0)
    assert curriculum.reference is not None
    assert curriculum.smoothed is not None
    assert 0.65 <= curriculum.smoothed / curriculum.reference <= 1.35
    assert 0.3 < curriculum.difficulty < 1.0
    moved, decided = curriculum.moved(60, 4, "rolled back")
    assert moved.difficulty == difficulty(4)
    assert moved.level == 4
    assert decided.before == curriculum.difficulty


def test_the_spread_of_an_ensemble_is_in_parts_of_the_actions_scale() -> None:
    rng = np.random.default_rng(0)
    scale = np.array([0.01, 2.0, 0.0])
    predictions = rng.normal(size=(500, 20, 8, 3)) * np.array([0.005, 1.0, 9.0])
    assert spread(predictions, scale) == pytest.approx(0.5, rel=0.01)
    assert spread(np.repeat(predictions[:1], 4, axis=0), scale) == pytest.approx(0.0, abs=1e-12)
    assert spread(predictions, np.zeros(3)) == 0.0


def test_an_entropy_becomes_a_scale() -> None:
    stds = np.array([0.1, 0.4])
    entropy = float(np.sum(np.log(stds * math.sqrt(2 * math.pi * math.e))))
    assert scale_of(entropy, 2) == pytest.approx(0.2)


# ---------------------------------------------------------------------- failures


def test_scenarios_that_fail_in_the_dominating_way_are_preferred() -> None:
    emphasis, decided = FailureEmphasis().update(
        1, {"a": 20, "b": 20, "c": 20}, {"a": {"slip": 14, "timeout": 1}, "b": {"slip": 2, "collision": 3}, "c": {}}
    )
    assert decided.after == "slip"
    assert emphasis.dominating() == ("slip",)
    assert decided.numbers == emphasis.shares() == {"slip": 0.8, "collision": 0.15, "timeout": 0.05}
    weights = emphasis.weights(["a", "b", "c"])
    assert weights.sum() == pytest.approx(1.0)
    assert weights[0] > weights[1] > weights[2] >= 0.1
    unknown = emphasis.weights(["a", "b", "c", "new"])
    assert unknown[0] > unknown[3] > unknown[2]


def test_without_failures_all_scenarios_weigh_alike() -> None:
    emphasis, decided = FailureEmphasis().update(0, {"a": 5, "b": 5}, {})
    assert emphasis.weights(["a", "b"]).tolist() == [0.5, 0.5]
    assert FailureEmphasis().weights(["a"]).tolist() == [1.0]
    assert FailureEmphasis().weights([]).shape == (0,)
    assert decided.reason == "nothing fails"


def test_what_was_cured_fades() -> None:
    emphasis, _ = FailureEmphasis().update(0, {"a": 20, "b": 20}, {"a": {"slip": 20}})
    first = emphasis.weights(["a", "b"])[0]
    for round in range(1, 8):
        emphasis, decided = emphasis.update(round, {"a": 20, "b": 20}, {"b": {"collision": 10}})
    assert first > 0.7
    assert emphasis.weights(["a", "b"])[1] > 0.6
    assert decided.after == "collision"
    assert FailureEmphasis.from_json(emphasis.to_json()) == emphasis
