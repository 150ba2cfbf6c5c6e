"""Whether a goal holds, by how much, and what that is worth: one number per control step.

Margins are in the SI units of the predicates (metres, or radians for joints and tilts) and compose as in signal temporal
logic: `all` is the minimum, `any` the maximum, `not` the negative (Donze and Maler 2010, "Robust satisfaction of temporal
logic over real-valued signals"). `sequence` remembers; see `_Sequence`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from embodiedsmith.assets.asset import Asset
from embodiedsmith.runtime.errors import SmithError, UsageError
from embodiedsmith.spec import All, Any, Goal, Not, Predicate, Sequence, predicates
from embodiedsmith.tasks.kind import Bound
from embodiedsmith.tasks.probe import Probe
from embodiedsmith.tasks.registry import predicate
from embodiedsmith.world import World

STAGE = 1.0
"""[m or rad] What each stage of a sequence still to come takes off the margin; a stage's own margin counts down to minus this."""
PROGRESS_SCALE = 0.1
"""[m or rad] Distance from the goal at which half of the progress reward is earned."""

Node = Callable[[], float]


def title(p: Predicate) -> str:
    """A predicate as people write it: `on(mug, table)`, `lifted(mug, height=0.1)`."""
    numbers = (f"{name}={value:g}" for name, value in sorted(p.params.items()))
    return f"{p.name}({', '.join((*p.args, *numbers))})"


def goal_faults(goal: Goal, assets: Mapping[str, Asset]) -> list[str]:
    """Everything wrong with a goal that shows without simulating: unknown names, parts and numbers, things that cannot fit."""
    faults: list[str] = []
    for p in predicates(goal):
        try:
            kind = predicate(p.name)
        except UsageError as error:
            faults.append(f"{error.what}; {error.remedy or f'there are {list(error.choices)}'}")
            continue
        faults += [f"{title(p)}: {fault}" for fault in kind.faults(assets, p.args, p.params)]
    return list(dict.fromkeys(faults))


class GoalMonitor:
    """Follows a goal through an episode: `reset()` once, then `update()` after every control step.

    Args:
        goal: The goal.
        world: Where it is to hold.
        hold_steps: Updates in a row for which a stage of a `sequence` must hold to count as reached.
        probe: Measurements to share with others; None: its own.

    Raises:
        UsageError: the goal makes no sense in this world; lists every fault.
    """

    def __init__(self, goal: Goal, world: World, *, hold_steps: int = 1, probe: Probe | None = None) -> None:
        if faults := goal_faults(goal, world.assets):
            raise UsageError("the goal makes no sense", where=world.scenario.id, faults=faults)
        self.probe = Probe(world) if probe is None else probe
        leaves: dict[str, Predicate] = {title(p): p for p in predicates(goal)}
        self.predicate_names: tuple[str, ...] = tuple(leaves)
        """Each different predicate of the goal, left to right."""
        self.predicate_margins: NDArray[np.float64] = np.full(len(leaves), np.nan)
        """Their margins at the last update, shape (P,); overwritten by the next."""
        self._bound: list[Bound] = []
        for p in leaves.values():
            kind = predicate(p.name)
            self._bound.append(kind.bind(self.probe, p.args, kind.resolve(p.params)))
        self._margins = [bound.margin for bound in self._bound]
        self._values = [0.0] * len(leaves)
        self._sequences: list[_Sequence] = []
        self._root = self._compile(goal, hold_steps)

    def reset(self) -> float:
        """Start an episode in the world as it is now; gives the margin."""
        for bound in self._bound:
            bound.reset()
        for sequence in self._sequences:
            sequence.reset()
        return self.update()

    def update(self) -> float:
        """The margin of the goal now: positive inside its truth."""
        self.probe.refresh()
        values = self._values
        for k, margin in enumerate(self._margins):
            values[k] = margin()
        self.predicate_margins[:] = values
        return self._root()

    def mark(self) -> Callable[[], None]:
        """Gives a function that takes back what the updates since have been remembered for: so that states can be looked at in
        turn, each as if it were the next."""
        undo = [bound.mark() for bound in self._bound] + [sequence.mark() for sequence in self._sequences]

        def back() -> None:
            for take_back in undo:
                take_back()

        return back

    @property
    def stages(self) -> tuple[int, ...]:
        """How many stages of each sequence of the goal have been reached."""
        return tuple(sequence.reached for sequence in self._sequences)

    def _compile(self, goal: Goal, hold_steps: int, negated: bool = False) -> Node:
        values = self._values
        match goal:
            case Predicate():
                k = self.predicate_names.index(title(goal))
                anyway = self._bound[k].anyway
                return anyway if negated and anyway is not None else lambda: values[k]
            case Not():
                part = self._compile(goal.goal, hold_steps, not negated)
                return lambda: -part()
            case All():
                parts = [self._compile(g, hold_steps, negated) for g in goal.goals]
                return lambda: min([part() for part in parts])
            case Any():
                parts = [self._compile(g, hold_steps, negated) for g in goal.goals]
                return lambda: max([part() for part in parts])
            case Sequence():
                sequence = _Sequence([self._compile(g, hold_steps, negated) for g in goal.goals], hold_steps)
                self._sequences.append(sequence)
                return sequence
        raise SmithError(f"goals are not made of {type(goal).__name__}")


class _Sequence:
    """Stages one after the other. A stage is reached for good once it has held for `hold_steps` evaluations in a row.

    Margin: with r stages still to come behind the current one, the current one's margin, at most 0 and at least -STAGE, minus
    r * STAGE. So it grows with every stage reached and is positive only while the last stage holds and all earlier ones
    were reached. Stages that have not begun are not looked at.
    """

    def __init__(self, stages: list[Node], hold_steps: int) -> None:
        self._stages = stages
        self._hold_steps = hold_steps
        self.reset()

    def reset(self) -> None:
        self.reached = 0
        self._held = 0

    def mark(self) -> Callable[[], None]:
        """Gives a function that goes back to what has been reached now."""
        reached, held = self.reached, self._held

        def back() -> None:
            self.reached, self._held = reached, held

        return back

    def __call__(self) -> float:
        margin = self._stages[self.reached]()
        last = len(self._stages) - 1
        if self.reached < last:
            self._held = self._held + 1 if margin > 0 else 0
            if self._held >= self._hold_steps:
                self.reached += 1
                self._held = 0
                margin = self._stages[self.reached]()
        left = last - self.reached
        if left:
            margin = min(margin, 0.0)
        return max(margin, -STAGE) - left * STAGE


def progress(margin: float) -> float:
    """How far along a margin is: 1 when the goal holds, falling to 0 far away, 0.5 at `PROGRESS_SCALE`."""
    return 1.0 / (1.0 + max(-margin, 0.0) / PROGRESS_SCALE)


def reward(previous: float, margin: float, *, success: bool = False) -> float:
    """Dense reward of one control step: the change in `progress`, in (-1, 1), plus 1 on success.

    The change is a potential difference, so it does not change which policy is best (Ng, Harada and Russell 1999), and its sum
    over an episode is less than 1.
    """
    return progress(margin) - progress(previous) + (1.0 if success else 0.0)
