"""How hard the next round is: by success, by how sure the policy is of its actions, and by what it fails at.

Schedulers are values: `update` gives the scheduler as it is after a round and the decision with its reason. As JSON
(`to_json`, `from_json`) they are all a resumed run needs.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from embodiedsmith.flywheel.journal import Decision
from embodiedsmith.flywheel.levels import LEVELS, difficulty, nearest_level
from embodiedsmith.spec import Noun

PART = "curriculum"
ROUNDING = 1e-9


class SuccessConfig(Noun):
    """When the level changes."""

    levels: int = Field(default=LEVELS, ge=1)
    up: float = Field(default=0.8, ge=0.0, le=1.0)
    """Success above which the next level comes."""
    down: float = Field(default=0.6, ge=0.0, le=1.0)
    """Success below which the level before comes back."""
    observe: int = Field(default=3, ge=1)
    """Rounds observed at a level before it changes again; their mean success decides."""


class SuccessCurriculum(Noun):
    """Ten levels with hysteresis, one at a time."""

    config: SuccessConfig = SuccessConfig()
    level: int = Field(default=1, ge=1)
    seen: tuple[float, ...] = ()
    """Success in the rounds since the level last changed, the latest `observe` of them."""

    @property
    def difficulty(self) -> float:
        """The level's difficulty in [0, 1]."""
        return difficulty(self.level, self.config.levels)

    def update(self, round: int, success: float, *, task: str = "") -> tuple[Self, Decision]:
        """After a round at this level with that success rate, without exploration noise."""
        config = self.config
        seen = (*self.seen, success)[-config.observe :]
        mean = sum(seen) / len(seen)
        level = self.level
        if len(seen) < config.observe:
            left = config.observe - len(seen)
            reason = f"{left} more round{'s' if left > 1 else ''} to be observed at level {level}"
        elif mean > config.up + ROUNDING:
            level = min(level + 1, config.levels)
            top = " and there is none above" if level == self.level else ""
            reason = f"mean success {mean:.2f} of {len(seen)} rounds is above {config.up:g}{top}"
        elif mean < config.down - ROUNDING:
            level = max(level - 1, 1)
            bottom = " and there is none below" if level == self.level else ""
            reason = f"mean success {mean:.2f} of {len(seen)} rounds is below {config.down:g}{bottom}"
        else:
            reason = f"mean success {mean:.2f} of {len(seen)} rounds is between {config.down:g} and {config.up:g}"
        decided = Decision(
            round=round, part=PART, what="level", before=self.level, after=level, reason=reason, task=task,
            numbers={"success": success, "mean": mean, "observed": len(seen)},
        )  # fmt: skip
        return self.model_copy(update={"level": level, "seen": () if level != self.level else seen}), decided

    def moved(self, round: int, level: int, reason: str, *, task: str = "") -> tuple[Self, Decision]:
        """At another level, whatever was observed: after a rollback, or because somebody says so."""
        level = min(max(level, 1), self.config.levels)
        decided = Decision(round=round, part=PART, what="level", before=self.level, after=level, reason=reason, task=task)
        return self.model_copy(update={"level": level, "seen": ()}), decided


class EntropyConfig(Noun):
    """How a continuous difficulty follows the policy's uncertainty."""

    low: float = Field(default=0.7, gt=0.0)
    """Uncertainty, in parts of the reference, below which the policy is too sure: it gets harder."""
    high: float = Field(default=1.3, gt=0.0)
    """Above which it is too lost: it gets easier."""
    gain: float = Field(default=0.3, gt=0.0)
    """Change of difficulty for uncertainty that is off the band by one reference."""
    step: float = Field(default=0.1, gt=0.0, le=1.0)
    """Largest change in a round."""
    reference_rounds: int = Field(default=2, ge=1)
    """Rounds at the start whose mean uncertainty is the reference."""
    smoothing: float = Field(default=0.5, ge=0.0, lt=1.0)
    """Weight of what was observed before against the latest round."""


class EntropyCurriculum(Noun):
    """A difficulty in [0, 1] that keeps the policy's uncertainty within a band round that of its first rounds.

    Uncertainty is any positive number that grows with the spread of the actions: see `spread`, and `scale_of` for entropies.
    """

    config: EntropyConfig = EntropyConfig()
    difficulty: float = Field(default=0.0, ge=0.0, le=1.0)
    reference: float | None = None
    first: tuple[float, ...] = ()
    smoothed: float | None = None

    @property
    def level(self) -> int:
        """The nearest of the ten levels."""
        return nearest_level(self.difficulty)

    def update(self, round: int, uncertainty: float, *, task: str = "") -> tuple[Self, Decision]:
        """After a round in which the policy's actions had that uncertainty."""
        config = self.config
        if self.reference is None:
            first = (*self.first, uncertainty)
            done = len(first) >= config.reference_rounds
            reference = max(sum(first) / len(first), 1e-9)
            after = self.model_copy(update={"first": first, "reference": reference if done else None})
            reason = f"uncertainty {uncertainty:.3g} is taken as the reference ({len(first)} of {config.reference_rounds} rounds)"
            return after, self._decided(round, self.difficulty, reason, {"uncertainty": uncertainty}, task)
        old = uncertainty if self.smoothed is None else self.smoothed
        smoothed = config.smoothing * old + (1.0 - config.smoothing) * uncertainty
        ratio = smoothed / self.reference
        if ratio < config.low:
            change, what = min(config.gain * (config.low - ratio), config.step), f"below {config.low:g}: too sure"
        elif ratio > config.high:
            change, what = -min(config.gain * (ratio - config.high), config.step), f"above {config.high:g}: too lost"
        else:
            change, what = 0.0, f"between {config.low:g} and {config.high:g}"
        hard = min(max(self.difficulty + change, 0.0), 1.0)
        decided = self._decided(
            round, hard, f"uncertainty is {ratio:.2f} of the reference, {what}",
            {"uncertainty": uncertainty, "smoothed": smoothed, "reference": self.reference, "ratio": ratio}, task,
        )  # fmt: skip
        return self.model_copy(update={"difficulty": hard, "smoothed": smoothed}), decided

    def moved(self, round: int, level: int, reason: str, *, task: str = "") -> tuple[Self, Decision]:
        """At the difficulty of a level, whatever was observed."""
        hard = difficulty(min(max(level, 1), LEVELS))
        return self.model_copy(update={"difficulty": hard, "smoothed": None}), self._decided(round, hard, reason, {}, task)

    def _decided(self, round: int, after: float, reason: str, numbers: Mapping[str, float], task: str) -> Decision:
        return Decision(
            round=round, part=PART, what="difficulty", before=self.difficulty, after=after, reason=reason,
            numbers=dict(numbers), task=task,
        )  # fmt: skip


def spread(predictions: NDArray[np.floating], scale: NDArray[np.floating]) -> float:
    """How far several predictions of the same actions lie apart, in parts of the actions' own scale.

    Args:
        predictions: Of m members of an ensemble or m draws of a flow, for n rows, shape (m, n, ..., A).
        scale: Scale of each action component, such as its standard deviation in the training data, shape (A,); components whose
            scale is 0 do not count.
    """
    moving = np.asarray(scale) > 1e-9
    if not moving.any():
        return 0.0
    std = np.asarray(predictions, dtype=np.float64)[..., moving].std(axis=0) / np.asarray(scale, dtype=np.float64)[moving]
    return float(std.mean())


def scale_of(entropy: float, components: int) -> float:
    """The geometric mean of the standard deviations of a normal distribution of that differential entropy [nat]: what an
    `EntropyCurriculum` wants of a policy that gives entropies, which may be negative."""
    return math.exp(entropy / components - 0.5 * math.log(2 * math.pi * math.e))


class EmphasisConfig(Noun):
    """How strongly scenarios that fail in the ways that dominate are preferred."""

    uniform: float = Field(default=0.3, ge=0.0, le=1.0)
    """Part of the attempts that goes to all scenarios alike."""
    cover: float = Field(default=0.7, gt=0.0, le=1.0)
    """Classes dominate that together make up this part of all failures, the most frequent first."""
    memory: float = Field(default=0.7, ge=0.0, lt=1.0)
    """What a round's counts still weigh in the next."""
    prior: float = Field(default=4.0, gt=0.0)
    """Attempts' worth of the average that every scenario is credited with: few attempts do not decide."""


class FailureEmphasis(Noun):
    """Weights of scenarios by how often they fail in the ways that dominate."""

    config: EmphasisConfig = EmphasisConfig()
    attempts: dict[str, float] = Field(default_factory=dict)
    """Scenario id to its attempts, older ones counting less."""
    failures: dict[str, dict[str, float]] = Field(default_factory=dict)
    """Scenario id to failure class to count."""

    def update(
        self, round: int, attempts: Mapping[str, int], failures: Mapping[str, Mapping[str, int]], *, task: str = ""
    ) -> tuple[Self, Decision]:
        """After a round with so many attempts, and failures by class, of each scenario."""
        keep = self.config.memory
        names = sorted({*self.attempts, *attempts})
        tried = {name: keep * self.attempts.get(name, 0.0) + attempts.get(name, 0) for name in names}
        failed: dict[str, dict[str, float]] = {}
        for name in names:
            old, new = self.failures.get(name, {}), failures.get(name, {})
            failed[name] = {kind: keep * old.get(kind, 0.0) + new.get(kind, 0) for kind in sorted({*old, *new})}
        after = self.model_copy(update={"attempts": tried, "failures": failed})
        shares = after.shares()
        before, now = self.dominating(), after.dominating()
        reason = "nothing fails" if not now else ", ".join(f"{kind} is {shares[kind]:.0%} of the failures" for kind in now)
        decided = Decision(
            round=round, part=PART, what="emphasis", before="+".join(before), after="+".join(now), reason=reason, numbers=shares,
            task=task,
        )  # fmt: skip
        return after, decided

    def shares(self) -> dict[str, float]:
        """What part of all failures each class makes up, largest first."""
        total: dict[str, float] = {}
        for kinds in self.failures.values():
            for kind, count in kinds.items():
                total[kind] = total.get(kind, 0.0) + count
        whole = sum(total.values())
        ranked = sorted(total.items(), key=lambda pair: (-pair[1], pair[0]))
        return {kind: count / whole for kind, count in ranked if count > 0}

    def dominating(self) -> tuple[str, ...]:
        """The classes that together make up `cover` of the failures, most frequent first."""
        chosen: list[str] = []
        sum_of = 0.0
        for kind, share in self.shares().items():
            if sum_of >= self.config.cover - 1e-9:
                break
            chosen.append(kind)
            sum_of += share
        return tuple(chosen)

    def weights(self, scenarios: Sequence[str]) -> NDArray[np.float64]:
        """What part of the next attempts each scenario gets, shape (len(scenarios),), of sum 1.

        Those never tried count as average ones.
        """
        n, config = len(scenarios), self.config
        if n == 0:
            return np.zeros(0)
        shares, tried = self.shares(), sum(self.attempts.values())
        score = np.zeros(n)
        for kind in self.dominating():
            average = sum(kinds.get(kind, 0.0) for kinds in self.failures.values()) / tried
            for k, name in enumerate(scenarios):
                count = self.failures.get(name, {}).get(kind, 0.0) + config.prior * average
                score[k] += shares[kind] * count / (self.attempts.get(name, 0.0) + config.prior)
        if score.sum() <= 0:
            return np.full(n, 1.0 / n)
        weights: NDArray[np.float64] = config.uniform / n + (1.0 - config.uniform) * score / score.sum()
        weights /= weights.sum()
        return weights
