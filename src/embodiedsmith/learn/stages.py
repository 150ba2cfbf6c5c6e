"""The stages of a task: what is asked for now, and how far an attempt has come.

A goal that is a sequence, alone or among other goals, has one stage a part; any other goal has one.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from embodiedsmith.runtime.errors import UsageError
from embodiedsmith.spec import All, Any, Goal, Not, Predicate, Sequence, TaskSpec, predicates
from embodiedsmith.tasks.goal import GoalMonitor, title
from embodiedsmith.tasks.recording import Float, Recording

Asked = tuple[Predicate, bool]
"""A predicate that a goal names, and whether it is to be false."""


class Stages:
    """The stages of one task.

    Args:
        task: Its goal, and how long a stage must hold to count as reached.
    """

    def __init__(self, task: TaskSpec) -> None:
        self._goal, self._hold_steps = task.goal, task.hold_steps
        self._sequence = _outermost(task.goal)
        self._index = 0 if self._sequence is None else list(_innermost_first(task.goal)).index(self._sequence)
        parts = (task.goal,) if self._sequence is None else self._sequence.goals
        beside = () if self._sequence is None else tuple(_asked(task.goal, without=self._sequence))
        self.asked: tuple[tuple[Asked, ...], ...] = tuple((*_asked(part), *beside) for part in parts)
        """For each stage the predicates asked for in it, left to right, then those asked for all along."""

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.asked)

    def now(self, monitor: GoalMonitor) -> int:
        """How many stages the attempt that `monitor` follows has behind it."""
        return 0 if self._sequence is None else monitor.stages[self._index]

    def along(self, recording: Recording) -> np.ndarray:
        """How many stages the attempt had behind it at each of its states, shape (T+1,)."""
        if self._sequence is None:
            return np.zeros(len(recording.margins), dtype=np.int64)
        if self._sequence is self._goal:
            return self._from_margins(recording.margins)
        columns = dict(zip(recording.predicate_names, recording.predicate_margins.T, strict=True))
        parts = np.stack([_margin(part, columns) for part in self._sequence.goals])  # (stages, T+1)
        out, reached, held = [], 0, 0
        for row in parts.T > 0:
            held = held + 1 if row[reached] else 0
            if reached < self.count - 1 and held >= self._hold_steps:
                reached, held = reached + 1, 0
            out.append(reached)
        return np.array(out, dtype=np.int64)

    def _from_margins(self, margins: Float) -> np.ndarray:
        """The margin of a sequence with `left` stages to come is -left while the current one holds, and else below it."""
        out, left, held = [], self.count - 1, 0
        for margin in margins.tolist():
            held = held + 1 if margin >= -left else 0
            if left and held >= self._hold_steps:
                left, held = left - 1, 0
            out.append(self.count - 1 - left)
        return np.array(out, dtype=np.int64)


def _outermost(goal: Goal) -> Sequence | None:
    """The first sequence of a goal that is in no other one."""
    match goal:
        case Sequence():
            return goal
        case Not():
            return _outermost(goal.goal)
        case All() | Any():
            return next((found for part in goal.goals if (found := _outermost(part)) is not None), None)
    return None


def _innermost_first(goal: Goal) -> Iterator[Sequence]:
    """The sequences of a goal in the order in which a `GoalMonitor` counts them."""
    match goal:
        case Not():
            yield from _innermost_first(goal.goal)
        case All() | Any() | Sequence():
            for part in goal.goals:
                yield from _innermost_first(part)
            if isinstance(goal, Sequence):
                yield goal


def _asked(goal: Goal, negated: bool = False, without: Goal | None = None) -> Iterator[Asked]:
    if goal is without:
        return
    match goal:
        case Predicate():
            yield goal, negated
        case Not():
            yield from _asked(goal.goal, not negated, without)
        case _:
            for part in goal.goals:
                yield from _asked(part, negated, without)


def _margin(goal: Goal, columns: dict[str, Float]) -> Float:
    """Margins of a goal without sequences over an episode, from those of its predicates."""
    match goal:
        case Predicate():
            return columns[title(goal)]
        case Not():
            return -_margin(goal.goal, columns)
        case All():
            return np.asarray(np.min([_margin(part, columns) for part in goal.goals], axis=0))
        case Any():
            return np.asarray(np.max([_margin(part, columns) for part in goal.goals], axis=0))
    raise UsageError(f"a sequence within a sequence, beside other goals: {[title(p) for p in predicates(goal)]}")
