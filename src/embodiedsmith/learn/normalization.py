"""What a network sees and says is of order one: moments of features and actions, and the normaliser made of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

Float = NDArray[np.float64]

CLIP = 10.0
"""Largest normalised feature: one that hardly moved in training and moves later stays bounded."""
CONSTANT = 1e-6
"""A feature whose standard deviation is below this was constant: it is centred, and keeps its own unit."""
FEATURE_FLOOR = 1e-2
"""Least standard deviation [unit of the feature] of one that moved: a centimetre, a hundredth of a radian or of a flag."""
ALIKE = 1e-4
"""[unit of the action] Between values of an action that count as one."""
ACTION_FLOOR = 1e-3
"""Least standard deviation [unit of the action] likewise: a millimetre or a milliradian in a step."""


_RANGE = ("low", "high", "two")


@dataclass(frozen=True)
class Statistics:
    """Moments of a source: of features, each (F,), and of actions, each (A,), in their own units."""

    feature_mean: Float
    feature_std: Float
    action_mean: Float
    action_std: Float
    action_low: Float
    action_high: Float
    action_two: Float
    """1 for what is never anything but its lowest or highest, as a gripper's that is told to open or to close, else 0."""

    @classmethod
    def of(cls, features: ArrayLike, actions: ArrayLike) -> Statistics:
        """Statistics of features (N, F) and actions (M, A)."""
        moments = Moments()
        moments.add(features, actions)
        return moments.statistics()

    def __iter__(self) -> Any:
        """The arrays in the order of the fields."""
        return iter([getattr(self, part.name) for part in fields(self)])


@dataclass
class Moments:
    """Statistics that grow by parts (a shard, a round) and can be written down between them.

    Means and squared deviations are joined by the formula of Chan, Golub and LeVeque (1979), so that no part is read twice.
    """

    count: int = 0
    sums: dict[str, list[float]] = field(default_factory=dict)
    """`mean_f`, `square_f` of the features, `mean_a`, `square_a`, `low`, `high`, `two` of the actions."""
    action_count: int = 0

    def add(self, features: ArrayLike, actions: ArrayLike) -> None:
        """Take in features (N, F) and actions (M, A); the numbers of rows may differ."""
        f, a = np.asarray(features, dtype=np.float64), np.asarray(actions, dtype=np.float64)
        if not len(f) or not len(a):
            return
        self.count = self._join("f", f, self.count)
        self.action_count = self._join("a", a, self.action_count)
        low, high = a.min(axis=0), a.max(axis=0)
        two = (np.minimum(a - low, high - a) < ALIKE).all(axis=0).astype(np.float64)
        before = [tuple(np.array(self.sums[name]) for name in _RANGE)] if _RANGE[0] in self.sums else []
        self.sums |= {name: values.tolist() for name, values in zip(_RANGE, joined([*before, (low, high, two)]), strict=True)}

    def statistics(self) -> Statistics:
        """The moments of all that was taken in.

        Raises:
            ValueError: Nothing was.
        """
        if not self.count:
            raise ValueError("no rows were taken in: there are no statistics of nothing")
        part = {name: np.array(values) for name, values in self.sums.items()}
        return Statistics(
            feature_mean=part["mean_f"],
            feature_std=np.sqrt(part["square_f"] / self.count),
            action_mean=part["mean_a"],
            action_std=np.sqrt(part["square_a"] / self.action_count),
            action_low=part["low"],
            action_high=part["high"],
            action_two=part["two"],
        )

    def to_json(self) -> dict[str, Any]:
        """JSON values; `from_json` of them goes on as this would."""
        return {"count": self.count, "action_count": self.action_count, "sums": self.sums}

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> Self:
        """The moments that `to_json` wrote."""
        return cls(count=content["count"], action_count=content["action_count"], sums=content["sums"])

    def _join(self, part: str, rows: Float, before: int) -> int:
        mean, total = rows.mean(axis=0), before + len(rows)
        square = ((rows - mean) ** 2).sum(axis=0)
        if before:
            old = np.array(self.sums[f"mean_{part}"])
            change = mean - old
            square += np.array(self.sums[f"square_{part}"]) + change**2 * (before * len(rows) / total)
            mean = old + change * (len(rows) / total)
        self.sums[f"mean_{part}"], self.sums[f"square_{part}"] = mean.tolist(), square.tolist()
        return total


def joined(ranges: Sequence[tuple[Float, ...]]) -> tuple[Float, Float, Float]:
    """Lowest, highest and `action_two` (see `Statistics`), each (A,), of all the data of which these are the ranges."""
    low, high = np.min([part[0] for part in ranges], axis=0), np.max([part[1] for part in ranges], axis=0)
    ends = np.array([part[:2] for part in ranges])  # (parts, 2, A)
    same = (np.minimum(ends - low, high - ends) < ALIKE).all(axis=(0, 1))
    return low, high, np.min([part[2] for part in ranges], axis=0) * same


class Normalizer(torch.nn.Module):
    """Features to numbers of order one within +-`CLIP`, actions likewise and back; actions never leave the range seen, and those
    of two values are one of them: what lies between open and closed holds nothing.

    All that it knows are its buffers, float32: they are saved with the weights.
    """

    def __init__(self, features: int, actions: int) -> None:
        super().__init__()
        for name, size, value in (
            ("feature_mean", features, 0.0),
            ("feature_scale", features, 1.0),
            ("action_mean", actions, 0.0),
            ("action_scale", actions, 1.0),
            ("action_low", actions, -torch.inf),
            ("action_high", actions, torch.inf),
            ("action_two", actions, 0.0),
        ):
            self.register_buffer(name, torch.full((size,), value))

    feature_mean: Tensor
    feature_scale: Tensor
    action_mean: Tensor
    action_scale: Tensor
    action_low: Tensor
    action_high: Tensor
    action_two: Tensor

    @property
    def fitted(self) -> bool:
        """Whether it was made of data."""
        return bool(torch.isfinite(self.action_low).all())

    def fit(self, statistics: Statistics) -> None:
        """Take mean, scale and range from the data."""
        std = statistics.feature_std
        values = {
            "feature_mean": statistics.feature_mean,
            "feature_scale": np.where(std < CONSTANT, 1.0, np.maximum(std, FEATURE_FLOOR)),
            "action_mean": statistics.action_mean,
            "action_scale": np.maximum(statistics.action_std, ACTION_FLOOR),
            "action_low": statistics.action_low,
            "action_high": statistics.action_high,
            "action_two": statistics.action_two,
        }
        for name, value in values.items():
            getattr(self, name).copy_(torch.from_numpy(value.astype(np.float32)))

    def widen(self, statistics: Statistics) -> None:
        """Let actions reach what new data reach; mean and scale stay, as a network that goes on learning needs."""
        buffers = (self.action_low, self.action_high, self.action_two)
        low, high, two = (buffer.numpy().astype(np.float64) for buffer in buffers)
        new = (statistics.action_low, statistics.action_high, statistics.action_two)
        for buffer, value in zip(buffers, joined([(low, high, two), new]), strict=True):
            buffer.copy_(torch.from_numpy(value.astype(np.float32)))

    def features(self, features: Tensor) -> Tensor:
        """Normalised features of `features` (..., F)."""
        return ((features - self.feature_mean) / self.feature_scale).clamp_(-CLIP, CLIP)

    def actions(self, actions: Tensor) -> Tensor:
        """Normalised actions of `actions` (..., A) in SI units."""
        return (actions - self.action_mean) / self.action_scale

    def restore(self, actions: Tensor) -> Tensor:
        """Actions (..., A) in SI units, within the range of the data, from normalised ones."""
        said = torch.clamp(actions * self.action_scale + self.action_mean, self.action_low, self.action_high)
        nearest = torch.where(said - self.action_low < self.action_high - said, self.action_low, self.action_high)
        return torch.where(self.action_two > 0, nearest, said)
