"""What an agent is: it proposes a draft of a scenario for a brief, and edits for findings. Code accepts or rejects both."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from embodiedsmith.forge.lessons import Lessons
from embodiedsmith.spec import Asked, Brief, Edit, EditKind, Finding, Scenario


@dataclass(frozen=True, kw_only=True)
class Draft:
    """A proposal: complete but for where things stand."""

    scenario: Scenario
    """Items have no poses yet, the robot no base: the layout gives them."""
    reading: str
    """How the brief was understood, for the user to check."""
    warnings: tuple[str, ...] = ()
    """Where a word or a relation was taken for a near one."""
    asked: Asked | None = None
    """What the user's words fix; None: only the goal."""


@dataclass(frozen=True, kw_only=True)
class Case:
    """A scenario that critics have found fault with."""

    brief: Brief
    scenario: Scenario
    """As judged: laid out, unless the layout itself failed."""
    findings: tuple[Finding, ...]
    """Errors first, the likeliest cause of the others first."""
    asked: Asked
    allowed: frozenset[EditKind]
    """Kinds of edit the forge's mode permits."""
    lessons: Lessons = field(default_factory=Lessons)
    """What cured the like before."""


@dataclass(frozen=True, kw_only=True)
class Repair:
    """Edits that belong together and are tried as one."""

    edits: tuple[Edit, ...]
    kind: EditKind
    """The kind of edit that is to cure it, of which lessons are learnt."""
    finding: Finding
    """What it is meant for."""
    why: str
    """One line for people: "move the box away from the microwave's door"."""


class Agent(Protocol):
    """Proposes scenarios, and repairs of them."""

    name: str

    def propose(self, brief: Brief, rng: np.random.Generator) -> Draft:
        """A draft for a brief; other draws of `rng` give other scenes for the same goal.

        Raises:
            NotUnderstood: words of the brief mean nothing here.
            CannotBe: what it asks for cannot be.
        """
        ...

    def edit(self, case: Case, rng: np.random.Generator) -> Iterator[Repair]:
        """Repairs to try for a case, the likeliest first; the forge takes the first that makes things better."""
        ...
