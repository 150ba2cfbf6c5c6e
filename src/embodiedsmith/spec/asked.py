"""What the user's words fix: hard constraints for every edit. What an agent added is free."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from embodiedsmith.spec.base import Noun
from embodiedsmith.spec.scene import Identifier, ParamValue, Relation, Setting, Size
from embodiedsmith.spec.task import Goal


class AskedItem(Noun):
    """What the words fix about one item. What is empty or None was not said."""

    item: Identifier
    categories: tuple[str, ...] = Field(min_length=1)
    """Categories any of which answers the word said."""
    color: str | None = None
    materials: tuple[str, ...] = ()
    """Materials any of which answers the word said."""
    size: Size | None = None
    params: dict[str, ParamValue] = Field(default_factory=dict)
    """Parameters that a word fixes (a third drawer)."""
    parent: Identifier | None = None
    """What carries it at the start, when said."""
    relation: Relation | None = None
    """How `parent` carries it, when said."""
    support: str | None = None
    """On or in which part of `parent`, when said."""
    joints: dict[str, Literal["open", "closed"]] = Field(default_factory=dict)
    """What is said to be open or closed at the start."""


class Asked(Noun):
    """Everything the user's words fix about a scenario."""

    items: tuple[AskedItem, ...] = ()
    goal: Goal
    """The goal as read. A reference to a whole item leaves the part open; numbers not given are free within reason."""
    setting: Setting | None = None
    at_least: int = Field(default=0, ge=0)
    """Fewest free things there must be in the scene."""
    absent: tuple[str, ...] = ()
    """Categories and tags of which nothing may be in the scene."""
    counted: dict[str, int] = Field(default_factory=dict)
    """Categories or tags that "every" or "the largest" ranges over, with how many of them there are: no more may be added, none
    taken away."""
    embodiment: str | None = None
    """The robot, when the user named it."""
