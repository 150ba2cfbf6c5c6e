"""How sure a number is: intervals of rates, of differences of rates, of paired trials, and of means over training seeds.

All are of 95 % confidence unless another normal quantile `z` is given.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtrit

from embodiedsmith.runtime.errors import UsageError
from embodiedsmith.spec.base import Noun

Z95 = 1.96
"""Normal quantile of a two-sided interval of 95 % confidence."""
RESAMPLES = 10_000


class Interval(Noun):
    """An estimate with the range that it may well lie in."""

    value: float
    low: float
    high: float

    @property
    def half(self) -> float:
        """Half of its width."""
        return (self.high - self.low) / 2.0

    def __str__(self) -> str:
        return f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}]"


def wilson(successes: int, trials: int, z: float = Z95) -> tuple[float, float]:
    """Wilson score interval of a rate (E. B. Wilson, 1927); (0, 1) without trials.

    Raises:
        UsageError: there are more successes than trials, or fewer than none.
    """
    if not 0 <= successes <= trials:
        raise UsageError(f"{successes} successes in {trials} trials")
    if not trials:
        return 0.0, 1.0
    p, z2 = successes / trials, z * z
    middle = (p + z2 / (2 * trials)) / (1 + z2 / trials)
    half = z * math.sqrt(p * (1 - p) / trials + z2 / (4 * trials * trials)) / (1 + z2 / trials)
    # at the ends the bound is exactly 0 or 1, which rounding misses
    return 0.0 if successes == 0 else max(0.0, middle - half), 1.0 if successes == trials else min(1.0, middle + half)


def rate(successes: int, trials: int, z: float = Z95) -> Interval:
    """A rate with its Wilson interval; 0 in (0, 1) without trials."""
    low, high = wilson(successes, trials, z)
    return Interval(value=successes / trials if trials else 0.0, low=low, high=high)


def newcombe(first: tuple[int, int], second: tuple[int, int], z: float = Z95) -> Interval:
    """Difference of two independent rates, first minus second, each as (successes, trials).

    The hybrid score interval without continuity correction: method 10 of R. G. Newcombe,
    Statistics in Medicine 17 (1998) 873-890.
    """
    a, b = rate(*first, z), rate(*second, z)
    difference = a.value - b.value
    return Interval(
        value=difference,
        low=max(-1.0, difference - math.hypot(a.value - a.low, b.high - b.value)),
        high=min(1.0, difference + math.hypot(a.high - a.value, b.value - b.low)),
    )


def mcnemar(first: Sequence[bool] | NDArray[np.bool_], second: Sequence[bool] | NDArray[np.bool_]) -> float:
    """Exact two-sided p-value that two policies tried from the same starts succeed equally often (Q. McNemar, 1947).

    Only the starts count from which one succeeds and the other does not. 1 without such starts.
    """
    a, b = _paired(first, second)
    only_first, only_second = int(np.sum(a & ~b)), int(np.sum(b & ~a))
    discordant = only_first + only_second
    tail = sum(math.comb(discordant, k) for k in range(min(only_first, only_second) + 1))
    return min(1.0, 2 * tail / (1 << discordant))


def paired(
    first: Sequence[bool] | NDArray[np.bool_],
    second: Sequence[bool] | NDArray[np.bool_],
    rng: np.random.Generator,
    *,
    groups: Sequence[object] | None = None,
    resamples: int = RESAMPLES,
) -> Interval:
    """Difference of the success of two policies tried from the same starts, first minus second, by a bootstrap over the starts.

    Args:
        first: Whether each start was a success of the one, length n.
        second: The same of the other.
        rng: For the resampling.
        groups: What starts share (their scenario, their training seed), length n: whole groups are resampled, for starts of one
            group are not independent. None: each is its own.
        resamples: How many.
    """
    a, b = _paired(first, second)
    gained = a.astype(np.float64) - b.astype(np.float64)
    sums, sizes = _by_group(gained, range(len(gained)) if groups is None else groups)
    means = np.empty(resamples)
    for k in range(resamples):
        drawn = rng.integers(len(sums), size=len(sums))
        means[k] = sums[drawn].sum() / sizes[drawn].sum()
    low, high = np.quantile(means, (0.025, 0.975))
    return Interval(value=float(gained.mean()), low=float(low), high=float(high))


def mean(values: ArrayLike, confidence: float = 0.95) -> Interval:
    """Mean of a few independent numbers, such as one success a training seed, with Student's t interval.

    Raises:
        UsageError: fewer than two values, or one that is not finite.
    """
    given = np.asarray(values, dtype=np.float64).reshape(-1)
    if len(given) < 2 or not np.isfinite(given).all():
        raise UsageError(
            f"the spread of {given.tolist()} is unknown", remedy="give two or more finite values, one a training seed"
        )
    spread = float(given.std(ddof=1)) / math.sqrt(len(given))
    half = float(stdtrit(len(given) - 1, 0.5 + confidence / 2.0)) * spread
    middle = float(given.mean())
    return Interval(value=middle, low=middle - half, high=middle + half)


def _paired(first: ArrayLike, second: ArrayLike) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    a, b = np.asarray(first, dtype=bool).reshape(-1), np.asarray(second, dtype=bool).reshape(-1)
    if len(a) != len(b) or not len(a):
        raise UsageError(f"{len(a)} and {len(b)} trials are not pairs", remedy="try both from the same starts, in the same order")
    return a, b


def _by_group(values: NDArray[np.float64], groups: Sequence[object]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Sum and number of the values of each group, each of shape (groups,)."""
    if len(groups) != len(values):
        raise UsageError(f"{len(groups)} groups for {len(values)} trials")
    number = {group: k for k, group in enumerate(dict.fromkeys(groups))}
    at = np.array([number[group] for group in groups])
    return np.bincount(at, weights=values).astype(np.float64), np.bincount(at).astype(np.float64)
