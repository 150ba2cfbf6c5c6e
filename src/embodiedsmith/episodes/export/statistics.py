"""Statistics of features as training code expects them, gathered in bounded memory."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from embodiedsmith.episodes.export.selection import Pixels
from embodiedsmith.tasks.recording import Float

Stats = dict[str, NDArray[np.float64] | NDArray[np.int64]]

QUANTILES = {"q01": 0.01, "q10": 0.10, "q50": 0.50, "q90": 0.90, "q99": 0.99}
CONSTANT = 1e-6
"""A dimension whose standard deviation is below this fraction of its size (at least of 1) counts as constant."""


def array_stats(values: Float) -> Stats:
    """Statistics over the rows of `values`, shape (n, d)."""
    found: Stats = {"min": values.min(0), "max": values.max(0), "mean": values.mean(0), "std": values.std(0)}
    found |= dict(zip(QUANTILES, np.quantile(values, list(QUANTILES.values()), axis=0), strict=True))
    found["count"] = np.array([len(values)])
    return found


class Moments:
    """Running minimum, maximum, mean and variance over rows of width d (merging as in Chan, Golub and LeVeque 1979)."""

    def __init__(self, width: int) -> None:
        self.count = 0
        self._mean = np.zeros(width)
        self._squares = np.zeros(width)
        self._min = np.full(width, np.inf)
        self._max = np.full(width, -np.inf)

    def add(self, values: Float) -> None:
        """Take in rows, shape (n, d)."""
        n = len(values)
        mean = values.mean(0)
        step = mean - self._mean
        total = self.count + n
        self._squares += ((values - mean) ** 2).sum(0) + step**2 * self.count * n / total
        self._mean = self._mean + step * n / total
        self._min = np.minimum(self._min, values.min(0))
        self._max = np.maximum(self._max, values.max(0))
        self.count = total

    def stats(self) -> Stats:
        """Statistics so far, without quantiles."""
        std = np.sqrt(self._squares / max(self.count, 1))
        return {"min": self._min, "max": self._max, "mean": self._mean, "std": std, "count": np.array([self.count])}


def without_zero_std(stats: Stats) -> Stats:
    """The statistics with the deviation of constant dimensions set to 1.

    Policies divide by it: with 0 (or rounding noise) a dimension that never moved in the data would blow up by a factor of
    10^8 the first time it moves in use. With 1 it stays itself, centred.
    """
    std, size = stats["std"], np.maximum(np.abs(stats["mean"]), 1.0)
    return {**stats, "std": np.where(std < CONSTANT * size, 1.0, std)}


class PixelCounts:
    """Counts of each of the 256 values of each channel: every statistic of a camera, exact for the pixels looked at."""

    def __init__(self) -> None:
        self._counts = np.zeros((3, 256), dtype=np.int64)
        self._frames = 0

    def add(self, frames: Pixels) -> None:
        """Take in every fifth frame and every second pixel of them along each side, shape (n, height, width, 3)."""
        sample = frames[::5, ::2, ::2]
        self._frames += len(sample)
        for channel in range(3):
            self._counts[channel] += np.bincount(sample[..., channel].ravel(), minlength=256)

    def merge(self, other: PixelCounts) -> None:
        """Take in what another has counted."""
        self._counts += other._counts
        self._frames += other._frames

    def stats(self) -> Stats:
        """Statistics in [0, 1], each of shape (3, 1, 1); `count` is the number of frames looked at."""
        level = np.arange(256) / 255.0
        total = self._counts.sum(1, keepdims=True)
        share = self._counts / total
        mean = (share * level).sum(1)
        std = np.sqrt((share * (level - mean[:, None]) ** 2).sum(1))
        below = np.cumsum(share, axis=1)
        found: Stats = {
            "min": np.array([level[c.nonzero()[0][0]] for c in self._counts]),
            "max": np.array([level[c.nonzero()[0][-1]] for c in self._counts]),
            "mean": mean,
            "std": std,
        }
        for name, quantile in QUANTILES.items():
            found[name] = np.array([level[min(int(np.searchsorted(row, quantile - 1e-12)), 255)] for row in below])
        shaped: Stats = {name: value.reshape(3, 1, 1) for name, value in found.items()}
        shaped["count"] = np.array([self._frames])
        return shaped
