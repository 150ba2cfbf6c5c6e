"""Intervals against values that others published, and what must hold of any interval."""

from __future__ import annotations

import numpy as np
import pytest

from embodiedsmith.evaluate.intervals import Interval, mcnemar, mean, newcombe, paired, rate, wilson
from embodiedsmith.runtime.errors import UsageError


# R. G. Newcombe, Statistics in Medicine 17 (1998) 857-872, table I, method 3
@pytest.mark.parametrize(
    ("successes", "trials", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_wilson_as_published(successes: int, trials: int, low: float, high: float) -> None:
    assert wilson(successes, trials) == pytest.approx((low, high), abs=1e-4)


# R. G. Newcombe, Statistics in Medicine 17 (1998) 873-890, table II, method 10
@pytest.mark.parametrize(
    ("first", "second", "low", "high"),
    [
        ((56, 70), (48, 80), 0.0524, 0.3339),
        ((9, 10), (3, 10), 0.1705, 0.8090),
        ((6, 7), (2, 7), 0.0582, 0.8062),
        ((5, 56), (0, 29), -0.0381, 0.1926),
        ((0, 10), (0, 20), -0.1611, 0.2775),
        ((10, 10), (0, 20), 0.6791, 1.0),
    ],
)
def test_newcombe_as_published(first: tuple[int, int], second: tuple[int, int], low: float, high: float) -> None:
    found = newcombe(first, second)
    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-4)
    other = newcombe(second, first)
    assert (other.low, other.high) == pytest.approx((-found.high, -found.low))


def test_mean_as_published() -> None:
    # Student, Biometrika 6 (1908) 1-25: hours of sleep gained; the interval as every textbook has it
    found = mean([1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4])
    assert (found.value, found.low, found.high) == pytest.approx((1.58, 0.7001, 2.4599), abs=1e-4)


def test_mcnemar_counts_discordant_starts_exactly() -> None:
    first = [True] * 9 + [False] + [True] * 50 + [False] * 20
    second = [False] * 9 + [True] + [True] * 50 + [False] * 20
    assert mcnemar(first, second) == pytest.approx(2 * (1 + 10) / 2**10)
    assert mcnemar(second, first) == mcnemar(first, second)
    assert mcnemar(first, first) == 1.0


def test_paired_agrees_with_the_normal_interval_and_knows_groups() -> None:
    rng = np.random.default_rng(0)
    base = rng.random(600) < 0.6
    better = base | (rng.random(600) < 0.2)
    found = paired(better, base, np.random.default_rng(1))
    gained = better.astype(float) - base.astype(float)
    half = 1.96 * gained.std(ddof=1) / np.sqrt(600)
    assert found.value == pytest.approx(gained.mean())
    assert found.half == pytest.approx(half, rel=0.05)
    assert found.low > 0.0
    assert found == paired(better, base, np.random.default_rng(1))
    # ten starts that are all alike are one start
    rows, groups = np.repeat(better[:60], 10), np.repeat(np.arange(60), 10).tolist()
    wide = paired(rows, np.repeat(base[:60], 10), np.random.default_rng(1), groups=groups)
    plain = paired(better[:60], base[:60], np.random.default_rng(1))
    assert (wide.value, wide.low, wide.high) == pytest.approx((plain.value, plain.low, plain.high))
    assert wide.half > 2.5 * paired(rows, np.repeat(base[:60], 10), np.random.default_rng(1)).half


def test_intervals_hold_what_they_promise() -> None:
    """Of many experiments with a known rate, about 95 % of the intervals hold it."""
    rng = np.random.default_rng(2)
    p, q, n = 0.8, 0.65, 100
    a, b = rng.binomial(n, p, 1000), rng.binomial(n, q, 1000)
    single = np.mean([low <= p <= high for low, high in (wilson(int(k), n) for k in a)])
    double = np.mean([(f := newcombe((int(k), n), (int(m), n))).low <= p - q <= f.high for k, m in zip(a, b, strict=True)])
    seeds = rng.normal(0.7, 0.1, (1000, 3))
    means = np.mean([(f := mean(row)).low <= 0.7 <= f.high for row in seeds])
    assert 0.92 < single < 0.98
    assert 0.92 < double < 0.98
    assert 0.92 < means < 0.98


def test_what_cannot_be_known_is_said() -> None:
    assert rate(0, 0) == Interval(value=0.0, low=0.0, high=1.0)
    with pytest.raises(UsageError, match="5 successes in 4 trials"):
        wilson(5, 4)
    with pytest.raises(UsageError, match="two or more finite values"):
        mean([0.9])
    with pytest.raises(UsageError, match="not pairs"):
        mcnemar([True], [True, False])
    with pytest.raises(UsageError, match="1 groups for 2 trials"):
        paired([True, False], [True, True], np.random.default_rng(0), groups=[1])
    assert str(rate(8, 10)) == "0.800 [0.490, 0.943]"
