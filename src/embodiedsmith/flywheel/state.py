"""Where a flywheel stands after a round: everything that the next one depends on beside the replay and the checkpoints."""

from __future__ import annotations

from pathlib import Path
from typing import Self

from pydantic import Field

from embodiedsmith.evaluate.coverage import Coverage
from embodiedsmith.evaluate.intervals import Interval
from embodiedsmith.evaluate.quality import Reference
from embodiedsmith.flywheel.curriculum import EntropyCurriculum, FailureEmphasis, SuccessCurriculum
from embodiedsmith.flywheel.guards import Guards
from embodiedsmith.flywheel.journal import Decision
from embodiedsmith.flywheel.levels import LEVELS
from embodiedsmith.flywheel.population import Population
from embodiedsmith.flywheel.settings import FlywheelSettings
from embodiedsmith.flywheel.thresholds import ThresholdConfig, Thresholds
from embodiedsmith.runtime.files import read_json, write_json
from embodiedsmith.spec import Noun


class TaskState(Noun):
    """One task's own curriculum and thresholds."""

    by_success: SuccessCurriculum | None = None
    by_entropy: EntropyCurriculum | None = None
    """Which of the two schedules; neither: every round at the highest level."""
    thresholds: Thresholds
    emphasis: FailureEmphasis = FailureEmphasis()
    guards: Guards = Guards()
    added: tuple[str, ...] = ()
    """Ids of scenarios that were asked for on the way."""
    drawn: int = Field(default=0, ge=0)
    """How often the task's brief was drawn again for it."""
    covered: Coverage = Coverage()
    """By what was kept."""
    reference: Reference | None = None
    """What the task takes the demonstrator."""
    initial: Interval | None = None
    """Success on the suite after the cold start."""
    demonstrator: Interval | None = None
    """What the demonstrator makes of a part of the same starts."""

    @classmethod
    def first(cls, settings: FlywheelSettings, task: str) -> Self:
        """As a task begins."""
        return cls(
            guards=Guards(task=task),
            by_success=SuccessCurriculum(level=settings.start_level) if settings.curriculum == "success" else None,
            by_entropy=EntropyCurriculum() if settings.curriculum == "entropy" else None,
            thresholds=Thresholds(config=ThresholdConfig(kind=settings.filter)),
        )

    @property
    def level(self) -> int:
        """Level of the next round."""
        scheduler = self.by_success or self.by_entropy
        return LEVELS if scheduler is None else scheduler.level

    def scheduled(self, round: int, success: float, uncertainty: float | None, task: str) -> tuple[Self, tuple[Decision, ...]]:
        """After a round with that success at its level, and that uncertainty of the policy's actions."""
        if self.by_success is not None:
            by_success, decided = self.by_success.update(round, success, task=task)
            return self.model_copy(update={"by_success": by_success}), (decided,)
        if self.by_entropy is not None and uncertainty is not None:
            by_entropy, decided = self.by_entropy.update(round, uncertainty, task=task)
            return self.model_copy(update={"by_entropy": by_entropy}), (decided,)
        return self, ()

    def moved(self, round: int, level: int, reason: str, task: str) -> tuple[Self, tuple[Decision, ...]]:
        """At another level, because a guard or somebody says so."""
        if self.by_success is not None:
            by_success, decided = self.by_success.moved(round, level, reason, task=task)
            return self.model_copy(update={"by_success": by_success}), (decided,)
        if self.by_entropy is not None:
            by_entropy, decided = self.by_entropy.moved(round, level, reason, task=task)
            return self.model_copy(update={"by_entropy": by_entropy}), (decided,)
        return self, ()


class State(Noun):
    """After a round is done with."""

    round: int = Field(default=-1, ge=-1)
    """The last round done; -1: not even the cold start."""
    policy: int = 0
    """Round whose checkpoint acts next: an earlier one after a roll-back."""
    population: Population = Population.of(1)
    """Who explores; its leader is what came of the flywheel so far."""
    retrain: bool = False
    """Whether a guard wants the next round's policy trained from scratch."""
    tasks: tuple[TaskState, ...] = ()
    kept: int = 0
    """Episodes that passed the filter so far, demonstrations included."""
    alarms: tuple[str, ...] = ()

    @property
    def rate(self) -> float:
        """Times the learning rates: what the most careful guard wants."""
        return min((task.guards.rate for task in self.tasks), default=1.0)

    def save(self, path: Path) -> None:
        """Write it down, whole or not at all."""
        write_json(path, self.model_dump(mode="json"))

    @classmethod
    def load(cls, path: Path) -> Self:
        """What `save` wrote; the first state when there is none."""
        return cls.model_validate(read_json(path)) if path.is_file() else cls()
