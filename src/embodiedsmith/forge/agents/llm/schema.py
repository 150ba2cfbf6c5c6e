"""What a model may answer: the shape of a proposal, with names taken from the catalogue. No answer can say anything else.

Every field must be given and every list is bounded, so that the same shape can constrain how a model writes and be read back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, GetCoreSchemaHandler
from pydantic_core import core_schema

from embodiedsmith import embodiments
from embodiedsmith.assets import COLORS, MATERIALS, TAGS, categories
from embodiedsmith.spec.scene import Setting, Size
from embodiedsmith.tasks.registry import predicate, predicate_names


@dataclass(frozen=True)
class OneOf:
    """Marks a string as one of the names that a registry knows."""

    names: Callable[[], Iterable[str]]

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        return core_schema.literal_schema(sorted(self.names()))


def _numbers() -> set[str]:
    return {number for name in predicate_names() for number in predicate(name).params}


def _groups() -> set[str]:
    return {*categories(), *TAGS}


Id = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,31}$")]
Reference = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,31}(\.[a-z][a-z0-9_]{0,31})?$")]
Line = Annotated[str, Field(max_length=240)]
CategoryName = Annotated[str, OneOf(categories)]
ColorName = Annotated[str, OneOf(lambda: COLORS)]
MaterialName = Annotated[str, OneOf(lambda: MATERIALS)]
GroupName = Annotated[str, OneOf(_groups)]
PredicateName = Annotated[str, OneOf(predicate_names)]
NumberName = Annotated[str, OneOf(_numbers)]
RobotName = Annotated[str, OneOf(embodiments.names)]
How = Literal["all", "any", "sequence"]
Said = Literal["category", "color", "material", "size", "parts", "place", "state"]
"""What of an item the user's words fix; the rest is the model's own choice and may be changed."""


class Answered(BaseModel):
    """Part of an answer: frozen, unknown fields refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class JointState(Answered):
    """A drawer or door that is open or closed at the start."""

    joint: Id
    state: Literal["open", "closed"]


class ProposedItem(Answered):
    """One thing of the scene."""

    id: Id
    category: CategoryName
    color: ColorName | None
    material: MaterialName | None
    size: Size
    parts: int | None = Field(ge=1, le=5)
    """How many drawers, boards or doors; null: as usual."""
    parent: Id | None
    """The item it is on or in at the start; null: the work surface, or where such furniture stands."""
    relation: Literal["on", "inside"]
    part: Id | None
    """On or in which part of the parent."""
    joints: tuple[JointState, ...] = Field(max_length=6)
    said: tuple[Said, ...] = Field(max_length=7)


class Number(Answered):
    """A number of a predicate, in SI units."""

    name: NumberName
    value: float = Field(ge=-100.0, le=100.0)


class Clause(Answered):
    """A predicate that is to be true or false."""

    predicate: PredicateName
    args: tuple[Reference, ...] = Field(min_length=1, max_length=3)
    numbers: tuple[Number, ...] = Field(max_length=4)
    holds: bool
    """False: it must not be so."""


class InnerGroup(Answered):
    """Clauses under one connective."""

    how: How
    parts: tuple[Clause, ...] = Field(min_length=1, max_length=12)


class Group(Answered):
    """Clauses and groups of them under one connective."""

    how: How
    parts: tuple[Clause | InnerGroup, ...] = Field(min_length=1, max_length=12)


class ProposedGoal(Answered):
    """The whole goal: at most three connectives deep."""

    how: How
    parts: tuple[Clause | Group, ...] = Field(min_length=1, max_length=12)


class Counted(Answered):
    """How many of a category or group there are, when the words range over all of them."""

    group: GroupName
    count: int = Field(ge=1, le=10)


class Plan(Answered):
    """A scene and what is to be done in it."""

    setting: Setting | None
    """Only when the words say it."""
    robot: RobotName | None
    """Only when the words name it."""
    items: tuple[ProposedItem, ...] = Field(min_length=1, max_length=24)
    start: tuple[Clause, ...] = Field(max_length=8)
    """What the words say of how things lie to each other at the start."""
    goal: ProposedGoal
    at_least: int = Field(ge=0, le=12)
    """Fewest free things that the words ask for; 0 when they do not."""
    absent: tuple[GroupName, ...] = Field(max_length=8)
    counted: tuple[Counted, ...] = Field(max_length=4)


class Problem(Answered):
    """Something of the words that cannot be met."""

    kind: Literal["unknown", "impossible"]
    """A word for something the catalogue has not, or a wish that cannot be."""
    words: Annotated[str, Field(min_length=1, max_length=60)]
    """The user's words, copied."""
    why: Line


class Answer(Answered):
    """What a model makes of a brief: a plan, or why there is none."""

    understood: Line
    problems: tuple[Problem, ...] = Field(max_length=8)
    plan: Plan | None
