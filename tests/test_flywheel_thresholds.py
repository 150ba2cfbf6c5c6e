"""Thresholds follow success, are eased when a round would keep too little, and never let a failure through."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from embodiedsmith.flywheel.thresholds import ThresholdConfig, Thresholds


def seen(*successes: float, **config: object) -> Thresholds:
    thresholds = Thresholds(config=ThresholdConfig(**config))
    for success in successes:
        thresholds = thresholds.observed(success)
    return thresholds


def test_the_threshold_is_the_mean_success_of_five_rounds_times_a_factor() -> None:
    thresholds = seen(0.1, 0.5, 0.55, 0.6, 0.58, 0.62)  # the first is forgotten
    assert thresholds.mean == pytest.approx(0.57)
    assert thresholds.quality == pytest.approx(0.456)
    assert thresholds.efficiency == pytest.approx(0.456)
    assert seen(1.0, factor=1.0).quality == 0.8
    assert Thresholds().quality == 0.0


def test_what_is_below_either_threshold_and_what_failed_is_dropped() -> None:
    success = [True, True, True, False]
    after, choice = seen(0.75, least_number=1).choose(2, success, [0.9, 0.5, 0.9, 0.9], [0.9, 0.9, 0.5, 0.9])
    assert choice.keep.tolist() == [True, False, False, False]
    assert (choice.quality, choice.efficiency) == (pytest.approx(0.6), pytest.approx(0.6))
    assert [d.what for d in choice.decisions] == ["quality_threshold", "efficiency_threshold"]
    assert choice.decisions[0].numbers == {"episodes": 4, "successes": 3, "kept": 1, "mean_success": 0.75}
    assert choice.decisions[0].before is None
    _, following = after.observed(0.25).choose(3, success, [0.9] * 4, [0.9] * 4)
    assert (following.decisions[0].before, following.decisions[0].after) == (pytest.approx(0.6), pytest.approx(0.4))


def test_a_round_that_would_keep_too_little_eases_both_until_it_does_not() -> None:
    quality = np.linspace(0.3, 0.5, 50)
    thresholds = seen(0.9)  # 0.72, then 0.54, 0.405, ...
    after, choice = thresholds.choose(1, np.ones(50, bool), quality, np.full(50, 0.6))
    assert choice.keep.sum() >= 10
    assert after.eased == 2
    assert choice.quality == pytest.approx(0.405)
    assert "eased 2 times" in choice.decisions[0].reason
    stricter = after.model_copy(update={"eased": 1}).choose(1, np.ones(50, bool), quality, np.full(50, 0.6))[1]
    assert stricter.quality == choice.quality  # no more than needed


def test_it_is_eased_no_longer_once_rounds_keep_enough() -> None:
    thresholds = seen(0.9).model_copy(update={"eased": 2})
    for left in (1, 0, 0):
        thresholds, choice = thresholds.choose(1, np.ones(40, bool), np.full(40, 0.9), np.full(40, 0.9))
        assert choice.keep.all()
        assert thresholds.eased == left


def test_with_fewer_successes_than_wanted_all_are_kept_at_last() -> None:
    success = np.array([True] * 3 + [False] * 30)
    after, choice = seen(0.95).choose(0, success, np.full(33, 1e-3), np.full(33, 0.0))
    assert choice.keep.tolist() == success.tolist()
    assert choice.quality == 0.0
    assert after.quality == 0.0


def test_no_successes_keep_nothing_and_ease_nothing() -> None:
    after, choice = seen(0.5).choose(0, [False] * 4, [0.9] * 4, [0.9] * 4)
    assert not choice.keep.any()
    assert after.eased == 0
    assert seen(0.5).choose(0, [], [], [])[1].keep.shape == (0,)


@given(st.lists(st.tuples(st.booleans(), st.floats(0, 1), st.floats(0, 1)), max_size=60), st.lists(st.floats(0, 1), max_size=6))
def test_never_too_little_and_never_a_failure(episodes: list[tuple[bool, float, float]], rounds: list[float]) -> None:
    success = np.array([e[0] for e in episodes], dtype=bool)
    _, choice = seen(*rounds).choose(0, success, [e[1] for e in episodes], [e[2] for e in episodes])
    assert not (choice.keep & ~success).any()
    assert choice.keep.sum() >= min(8, success.sum())
    assert choice.keep.sum() >= 0.2 * success.sum() - 1e-9


def test_the_kinds_of_the_control_experiments() -> None:
    success, quality, efficiency = [True, True, False], [0.9, 0.1, 0.9], [0.9, 0.9, 0.9]
    fixed = seen(0.1, 0.1, kind="fixed", fixed_quality=0.5).choose(0, success, quality, efficiency)[1]
    assert fixed.keep.tolist() == [True, False, False]
    assert fixed.quality == 0.5
    assert seen(0.9, kind="success").choose(0, success, quality, efficiency)[1].keep.tolist() == [True, True, False]
    assert seen(0.9, kind="none").choose(0, success, quality, efficiency)[1].keep.tolist() == [True, True, True]


def test_a_guard_may_lower_it_and_it_survives_json() -> None:
    thresholds, _ = seen(0.5, 0.6).choose(4, [True] * 9, [0.9] * 9, [0.9] * 9)
    lower, decided = thresholds.lowered(5, "hardly anything was kept for 2 rounds", task="stack")
    assert lower.quality == pytest.approx(0.75 * thresholds.quality)
    assert (decided.before, decided.after, decided.task) == (thresholds.quality, lower.quality, "stack")
    assert Thresholds.from_json(lower.to_json()) == lower
