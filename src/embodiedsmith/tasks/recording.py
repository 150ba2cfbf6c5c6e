"""What is remembered of one attempt, in memory: arrays over control steps, events, outcome."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Float = NDArray[np.float64]

Outcome = Literal["success", "failure"]


@dataclass(frozen=True, kw_only=True)
class Event:
    """Something that happened at a control step."""

    step: int
    kind: str
    """`skill_started`, `skill_done`, `skill_failed`, `replanned`, `recovery`, `goal_reached`, `grasped`,
    `released`, `dropped`, `collision`, `world_fault`, `balance` ..."""
    subjects: tuple[str, ...] = ()
    text: str = ""


@dataclass(frozen=True, kw_only=True)
class Failure:
    """Why an attempt did not succeed: typed, with numbers."""

    code: str
    """`stage.reason`, such as `pick.slip`, `place.unreachable`, `plan.no_symbolic_plan`, `world.not_finite`, `goal.timeout`."""
    skill: str | None = None
    step: int | None = None
    """Control step at which it happened; None before the first."""
    subjects: tuple[str, ...] = ()
    value: float | None = None
    limit: float | None = None
    message: str = ""


@dataclass(frozen=True, kw_only=True)
class Recording:
    """T actions between T+1 states. Row t pairs what was observed before action t with action t."""

    scenario_id: str
    seed: int
    """Run seed."""
    attempt: int
    """Number of the attempt: with the seed and the scenario it gives the episode's random draws."""
    states: Float
    """Integration states, shape (T+1, ns)."""
    actions: Float
    """Canonical actions (see `World.step`), shape (T, na)."""
    observations: dict[str, Float]
    """Low-dimensional observations by name, each of shape (T+1, d)."""
    margins: Float
    """Goal margin, shape (T+1,); SI units of the tightest predicate."""
    predicate_names: tuple[str, ...]
    predicate_margins: Float
    """Margins of the goal's predicates, shape (T+1, P)."""
    labels: tuple[str, ...]
    """Per action, what the robot was doing ("pick(mug)"), length T; "" when not said."""
    events: tuple[Event, ...]
    outcome: Outcome
    failure: Failure | None = None
    cost: dict[str, float] = field(default_factory=dict)
    """Seconds of wall clock by stage and counts (plans, IK calls). Not part of the episode's checksum."""

    @property
    def length(self) -> int:
        """Number of actions."""
        return len(self.actions)
