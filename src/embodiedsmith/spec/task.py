"""What is to be achieved: goals as expressions of predicates, and the task around them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field

from embodiedsmith.spec.base import Noun

Language = Literal["en", "zh"]


class Predicate(Noun):
    """A named relation between things of the scene, such as `inside(mug, drawer_unit.drawer_top)`.

    Arguments are references: an item id, or `item.part` for a named part of it (a drawer, a door, a shelf board).
    """

    kind: Literal["predicate"] = "predicate"
    name: str
    args: tuple[str, ...] = ()
    params: dict[str, float] = Field(default_factory=dict)
    """Numbers the predicate takes, in SI units; missing ones are the predicate's defaults."""


class All(Noun):
    """True when every goal in it is: the margin is their minimum."""

    kind: Literal["all"] = "all"
    goals: tuple[Goal, ...] = Field(min_length=1)


class Any(Noun):
    """True when at least one goal in it is: the margin is their maximum."""

    kind: Literal["any"] = "any"
    goals: tuple[Goal, ...] = Field(min_length=1)


class Not(Noun):
    """True when the goal in it is false: the margin is its negative."""

    kind: Literal["not"] = "not"
    goal: Goal


class Sequence(Noun):
    """True when its goals have held one after the other, the last one now."""

    kind: Literal["sequence"] = "sequence"
    goals: tuple[Goal, ...] = Field(min_length=1)


Goal = Annotated[Predicate | All | Any | Not | Sequence, Field(discriminator="kind")]

for _node in (All, Any, Not, Sequence):
    _node.model_rebuild()


def predicates(goal: Goal) -> Iterator[Predicate]:
    """Every predicate of the expression, left to right."""
    match goal:
        case Predicate():
            yield goal
        case Not():
            yield from predicates(goal.goal)
        case All() | Any() | Sequence():
            for part in goal.goals:
                yield from predicates(part)


def split_reference(reference: str) -> tuple[str, str | None]:
    """`"cabinet.drawer_top"` to `("cabinet", "drawer_top")`; `"mug"` to `("mug", None)`."""
    item, _, part = reference.partition(".")
    return item, part or None


class TaskSpec(Noun):
    """A goal, the words for it, and how long it may take."""

    goal: Goal
    initial: tuple[Predicate, ...] = ()
    """What must hold when an episode begins, beyond what items and their joints say: the mug left of the plate."""
    instructions: dict[Language, str] = Field(default_factory=dict)
    """Text generated from the goal, by language: it cannot disagree with the checker."""
    user_text: str | None = None
    """What the user typed, unchanged; None when nobody did."""
    horizon: float = Field(default=60.0, gt=0.0, le=3600.0)
    """Longest duration of an episode [s]."""
    hold_steps: int = Field(default=10, ge=1)
    """Consecutive control steps for which the goal must hold, in a settled world, to count as success."""
