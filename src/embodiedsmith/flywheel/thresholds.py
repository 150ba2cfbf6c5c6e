"""Which episodes of a round are kept: two thresholds, one on quality and one on efficiency, that follow what the policy can do.

Both are the mean success of the last rounds times a factor. When a round would keep too little they are eased until it does not,
and stay eased until rounds keep enough by themselves. A fixed variant serves the control experiments.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import Field

from embodiedsmith.flywheel.journal import Decision
from embodiedsmith.spec import Noun

PART = "thresholds"
MOST_EASED = 8
"""Times the thresholds are eased before they are gone."""


class ThresholdConfig(Noun):
    """How the thresholds follow success."""

    kind: Literal["adaptive", "fixed", "success", "none"] = "adaptive"
    """`success`: every success is kept, whatever its quality; `none`: everything, failures too."""
    window: int = Field(default=5, ge=1)
    """Rounds whose success is averaged."""
    factor: float = Field(default=0.8, ge=0.0, le=1.0)
    """Times that mean: the threshold on quality."""
    efficiency_factor: float = Field(default=0.8, ge=0.0, le=1.0)
    """Times that mean: the threshold on efficiency."""
    highest: float = Field(default=0.8, ge=0.0, le=1.0)
    """No threshold is above this."""
    fixed_quality: float = Field(default=0.6, ge=0.0, le=1.0)
    """The thresholds of the fixed kind, which nothing eases."""
    fixed_efficiency: float = Field(default=0.5, ge=0.0, le=1.0)
    ease: float = Field(default=0.75, gt=0.0, lt=1.0)
    """What easing multiplies both thresholds by: 0.8 becomes 0.6."""
    least_part: float = Field(default=0.2, ge=0.0, le=1.0)
    """Part of a round's successes that is kept at least."""
    least_number: int = Field(default=8, ge=0)
    """Successes of a round that are kept at least, if there are so many."""


@dataclass(frozen=True, kw_only=True)
class Choice:
    """What a round keeps."""

    keep: NDArray[np.bool_]
    """For each episode whether it is kept, shape (n,)."""
    quality: float
    """Threshold that held."""
    efficiency: float
    """Threshold that held."""
    decisions: tuple[Decision, ...]


class Thresholds(Noun):
    """The thresholds of one task, as a value: `observed` and `choose` give the next one."""

    config: ThresholdConfig = ThresholdConfig()
    successes: tuple[float, ...] = ()
    """Success of the latest `window` rounds."""
    eased: int = Field(default=0, ge=0)
    """How often the thresholds are eased now."""
    held: tuple[float, float] | None = None
    """Thresholds on quality and efficiency that held in the latest round."""

    @property
    def mean(self) -> float:
        """Mean success of the latest rounds; 0 before the first."""
        return sum(self.successes) / len(self.successes) if self.successes else 0.0

    @property
    def quality(self) -> float:
        """Quality below which an episode is dropped."""
        return self._at(self.config.factor, self.config.fixed_quality)

    @property
    def efficiency(self) -> float:
        """Efficiency below which an episode is dropped."""
        return self._at(self.config.efficiency_factor, self.config.fixed_efficiency)

    def observed(self, success: float) -> Self:
        """After a round with that success rate."""
        return self.model_copy(update={"successes": (*self.successes, success)[-self.config.window :]})

    def choose(
        self, round: int, success: ArrayLike, quality: ArrayLike, efficiency: ArrayLike, *, task: str = ""
    ) -> tuple[Self, Choice]:
        """Which episodes of a round are kept; failures never are, unless everything is.

        Args:
            round: Number of the round.
            success: For each episode whether it succeeded, shape (n,).
            quality: Its quality in [0, 1], shape (n,).
            efficiency: Its efficiency in [0, 1], shape (n,).
            task: Named in the decisions.
        """
        good = np.asarray(success, dtype=bool)
        q, e = np.asarray(quality, dtype=np.float64), np.asarray(efficiency, dtype=np.float64)

        def passing(state: Self) -> NDArray[np.bool_]:
            return good & (q >= state.quality) & (e >= state.efficiency)

        match self.config.kind:
            case "none":
                return self._chosen(round, good, np.ones(len(good), dtype=bool), self, "everything is kept", task)
            case "success":
                return self._chosen(round, good, good, self, "every success is kept", task)
            case "fixed":
                return self._chosen(round, good, passing(self), self, "the thresholds are fixed", task)
        wanted = min(int(good.sum()), max(self.config.least_number, math.ceil(self.config.least_part * good.sum() - 1e-9)))
        after = self
        while passing(after).sum() < wanted and after.eased < MOST_EASED:
            after = after.model_copy(update={"eased": after.eased + 1})
        keep = passing(after)
        why = f"{self.mean:.2f} is the mean success of {len(self.successes)} rounds"
        if after.eased > self.eased:
            why += f"; eased {after.eased - self.eased} times, for fewer than {wanted} of {int(good.sum())} would be kept"
            return after._chosen(round, good, keep, after, why, task)
        if self.eased and keep.sum() >= 2 * wanted:
            after = self.model_copy(update={"eased": self.eased - 1})
            why += f"; eased {self.eased} times, one less from the next round on, for {int(keep.sum())} are kept"
        elif self.eased:
            why += f"; still eased {self.eased} times"
        return self._chosen(round, good, keep, after, why, task)

    def lowered(self, round: int, reason: str, *, task: str = "") -> tuple[Self, Decision]:
        """Eased once more, because a guard says so."""
        after = self.model_copy(update={"eased": min(self.eased + 1, MOST_EASED)})
        decided = Decision(
            round=round, part=PART, what="quality_threshold", before=self.quality, after=after.quality, reason=reason, task=task
        )
        return after, decided

    def _at(self, factor: float, fixed: float) -> float:
        match self.config.kind:
            case "none" | "success":
                return 0.0
            case "fixed":
                return fixed
        if self.eased >= MOST_EASED:
            return 0.0
        return min(factor * self.mean, self.config.highest) * self.config.ease**self.eased

    def _chosen(
        self, round: int, good: NDArray[np.bool_], keep: NDArray[np.bool_], after: Self, reason: str, task: str
    ) -> tuple[Self, Choice]:
        """What is kept under these thresholds, and the thresholds as they go on from `after`."""
        now = self.quality, self.efficiency
        before = self.held or (None, None)
        numbers = {"episodes": len(good), "successes": int(good.sum()), "kept": int(keep.sum()), "mean_success": self.mean}
        decisions = tuple(
            Decision(
                round=round, part=PART, what=what, before=before[k], after=now[k], reason=reason, numbers=numbers, task=task
            )
            for k, what in enumerate(("quality_threshold", "efficiency_threshold"))
        )  # fmt: skip
        choice = Choice(keep=keep, quality=now[0], efficiency=now[1], decisions=decisions)
        return after.model_copy(update={"held": now}), choice
