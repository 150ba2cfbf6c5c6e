"""Drawing from a replay: by age and quality, with a quota for early episodes, and mixed with fresh and real ones.

The weight of an episode is fixed by the index alone; of its steps each is drawn as often as any other. A window that goes beyond
the end of its episode is filled with standing still and marked as not valid, as in `learn.sources`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.stats import rankdata

from embodiedsmith.flywheel.replay import REAL, Replay, ReplayConfig
from embodiedsmith.learn.normalization import Moments, Statistics, joined
from embodiedsmith.learn.sources import Batch, Source, at_rest
from embodiedsmith.runtime.errors import UsageError

STATISTICS_ROWS = 200_000
"""Rows up to which statistics of features are exact; of more, every k-th is looked at. Those of actions always are."""
REAL_PART = 1 / 11
"""Part of a batch that is real: one of them to ten simulated ones."""


class View:
    """Some episodes of a replay, drawn from as a `Source`. Good until the replay is changed.

    Args:
        replay: Where they are.
        chunk: Actions in a window.
        rounds: First and last round of the episodes; None: any.
        task, source, level: Of the episodes; None: any.
        but: Source that they are not of.
        early: Part of a batch that is of early episodes; None: as the replay is configured.

    Raises:
        UsageError: there is no such episode.
    """

    def __init__(
        self,
        replay: Replay,
        chunk: int,
        *,
        rounds: tuple[int, int] | None = None,
        task: str | None = None,
        source: str | None = None,
        level: int | None = None,
        but: str | None = None,
        early: float | None = None,
    ) -> None:
        table = replay.table
        wanted = np.ones(len(table), dtype=bool)
        if rounds is not None:
            wanted &= (table["round"] >= rounds[0]) & (table["round"] <= rounds[1])
        for column, name in (("task", task), ("source", source)):
            if name is not None:
                wanted &= table[column] == replay.number(column, name)
        if but is not None:
            wanted &= table["source"] != replay.number("source", but)
        if level is not None:
            wanted &= table["level"] == level
        if not wanted.any():
            asked = {"rounds": rounds, "task": task, "source": source, "level": level, "but": but}
            said = ", ".join(f"{k} {v}" for k, v in asked.items() if v is not None) or "any"
            raise UsageError(f"no episode of {len(table)} in the replay is of {said}", where=str(replay.folder))
        table = table[wanted]
        self._replay = replay
        self._shard, self._start = table["shard"].astype(np.int64), table["start"].astype(np.int64)
        self._length = table["length"].astype(np.int64)
        self._whole = table["whole"]
        self.weights = weights(table["round"], table["quality"], self._length, replay.config, early)
        """Probability of each episode, shape (len(self),); replay's order."""
        self._reached = np.cumsum(self.weights)
        self._window = np.arange(chunk)
        self._still = np.array([at_rest(name) for name in replay.action_names])
        self._statistics: Statistics | None = None

    def __len__(self) -> int:
        """Number of episodes."""
        return len(self._length)

    @property
    def steps(self) -> int:
        """Number of steps."""
        return int(self._length.sum())

    def draw(self, rng: np.random.Generator, size: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Episodes, by number in this view, and steps within them, each of shape (size,)."""
        where = rng.random(size) * self._reached[-1]
        episodes = np.minimum(np.searchsorted(self._reached, where, side="right"), len(self._length) - 1)
        return episodes, (rng.random(size) * self._length[episodes]).astype(np.int64)

    def batch(self, rng: np.random.Generator, size: int) -> Batch:
        """`size` windows, drawn with repetition: equal generators, equal batches."""
        episodes, steps = self.draw(rng, size)
        later = steps[:, None] + self._window
        valid = later < self._length[episodes, None]
        later = np.minimum(later, self._length[episodes, None] - 1)
        features = np.empty((size, len(self._replay.feature_names)), dtype=np.float32)
        actions = np.empty((size, len(self._window), len(self._replay.action_names)), dtype=np.float32)
        shards, first = self._shard[episodes], self._start[episodes]
        order = np.argsort(shards, kind="stable")
        for part in np.split(order, np.flatnonzero(np.diff(shards[order])) + 1):
            seen, done = self._replay.shards.rows(int(shards[part[0]]))
            features[part] = seen[first[part] + steps[part]]
            actions[part] = done[first[part, None] + later[part]]
        actions[~valid[..., None] & self._still] = 0.0
        return Batch(*map(torch.from_numpy, (features, actions, valid, self._whole[episodes])))

    def statistics(self) -> Statistics:
        """Moments of the steps of these episodes, each counted once; padding does not count."""
        if self._statistics is None:
            self._statistics = self._moments().statistics()
        return self._statistics

    def _moments(self) -> Moments:
        moments, every, offset = Moments(), max(1, -(-self.steps // STATISTICS_ROWS)), 0
        for number in np.unique(self._shard).tolist():
            seen, done = self._replay.shards.rows(number)
            here = self._shard == number
            spans = zip(self._start[here].tolist(), self._length[here].tolist(), strict=True)
            rows = np.concatenate([np.arange(start, start + length) for start, length in spans])
            looked = rows[(-offset) % every :: every]
            offset += len(rows)
            moments.add(seen[looked] if len(looked) else seen[rows[:1]], done[rows])
        return moments


class Mixture:
    """Several sources in given parts: each window is of source k with probability `shares[k]`.

    Args:
        parts: Sources with their shares, which are made to add up to one.

    Raises:
        UsageError: there is none, or a share is negative.
    """

    def __init__(self, parts: Sequence[tuple[Source, float]]) -> None:
        shares = np.array([share for _, share in parts], dtype=np.float64)
        if not len(shares) or (shares < 0).any() or shares.sum() <= 0:
            raise UsageError(f"sources cannot be mixed in parts of {shares.tolist()}", remedy="give shares above zero")
        self.sources = [source for source, _ in parts]
        self.shares: NDArray[np.float64] = shares / shares.sum()

    def batch(self, rng: np.random.Generator, size: int) -> Batch:
        """`size` windows: how many of each source is drawn, too."""
        counts = rng.multinomial(size, self.shares).tolist()
        parts = [source.batch(rng, count) for source, count in zip(self.sources, counts, strict=True) if count]
        return Batch(
            torch.cat([part.features for part in parts]),
            torch.cat([part.actions for part in parts]),
            torch.cat([part.valid for part in parts]),
            torch.cat([part.whole for part in parts]),
        )

    def statistics(self) -> Statistics:
        """Moments of the mixture: each source weighs its share; lowest and highest actions are those of any."""
        found = [source.statistics() for source in self.sources]
        merged = {}
        for kind in ("feature", "action"):
            means = np.array([getattr(s, f"{kind}_mean") for s in found])
            squares = np.array([getattr(s, f"{kind}_std") for s in found]) ** 2 + means**2
            mean = self.shares @ means
            merged[f"{kind}_mean"] = mean
            merged[f"{kind}_std"] = np.sqrt(np.maximum(self.shares @ squares - mean**2, 0.0))
        low, high, two = joined([(s.action_low, s.action_high, s.action_two) for s in found])
        return Statistics(**merged, action_low=low, action_high=high, action_two=two)


def mix(
    replay: Replay,
    chunk: int,
    *,
    fresh_round: int | None = None,
    fresh: float = 0.5,
    real: float = REAL_PART,
    task: str | None = None,
) -> Source:
    """What a round trains on: all that was kept, of which a part is of this round and a part is real.

    Args:
        replay: What was kept.
        chunk: Actions in a window.
        fresh_round: The round whose episodes make up `fresh` of the simulated part; None, or one that kept nothing: no quota.
        fresh: That part.
        real: Part of every batch that is real, when there are real episodes.
        task: Only episodes of this task; None: of all.

    Raises:
        UsageError: the replay holds nothing of the kind.
    """
    table = replay.table
    of_task = np.ones(len(table), dtype=bool) if task is None else table["task"] == replay.number("task", task)
    is_real = table["source"] == replay.number("source", REAL)
    parts: list[tuple[Source, float]] = []
    simulated = of_task & ~is_real
    if (of_task & is_real).any():
        share = real if simulated.any() else 1.0
        parts.append((View(replay, chunk, source=REAL, task=task), share))
    left = 1.0 - sum(share for _, share in parts)
    new = simulated & (table["round"] == fresh_round)
    if fresh > 0 and new.any() and (simulated & ~new).any() and fresh_round is not None:
        parts.append((View(replay, chunk, rounds=(fresh_round, fresh_round), but=REAL, task=task), left * fresh))
        left *= 1.0 - fresh
    if left > 0 or not parts:
        parts.append((View(replay, chunk, but=REAL, task=task), left or 1.0))
    return parts[0][0] if len(parts) == 1 else Mixture(parts)


def weights(
    rounds: NDArray[np.integer],
    quality: NDArray[np.floating],
    lengths: NDArray[np.int64],
    config: ReplayConfig,
    early: float | None = None,
) -> NDArray[np.float64]:
    """Probability of every episode, oldest first, shape (n,), of sum 1.

    `early` (None: that of `config`) of it goes to the oldest part of the episodes, that same part of their number. The rest goes
    to spans of rounds alike, in each of them to classes of quality of about equally many episodes, the best `config.preference`
    times as often as the worst. Within a class an episode weighs as many as its steps.
    """
    early = config.early if early is None else early
    n = len(rounds)
    out = np.zeros(n)
    first, last = int(rounds.min()), int(rounds.max())
    span = np.minimum((rounds - first) * config.ages // (last - first + 1), config.ages - 1)
    preference = np.geomspace(1.0, config.preference, config.qualities) if config.qualities > 1 else np.ones(1)
    for age in np.unique(span).tolist():
        here = np.flatnonzero(span == age)
        rank = (rankdata(quality[here]) - 0.5) / len(here)  # ties share a class
        classes = np.floor(rank * config.qualities).astype(np.int64)
        filled = np.unique(classes)
        for number in filled.tolist():
            part = here[classes == number]
            out[part] = preference[number] / preference[filled].sum() * lengths[part] / lengths[part].sum()
    out *= (1.0 - early) / out.sum()
    oldest = np.argsort(rounds, kind="stable")[: max(1, round(early * n))]
    out[oldest] += early * lengths[oldest] / lengths[oldest].sum()
    out /= out.sum()
    return out
