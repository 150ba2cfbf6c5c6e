"""What an agent is: it proposes a draft of a scenario for a brief. Code accepts or rejects it, never the agent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from embodiedsmith.spec import Brief, Scenario


@dataclass(frozen=True, kw_only=True)
class Draft:
    """A proposal: complete but for where things stand."""

    scenario: Scenario
    """Items have no poses yet, the robot no base: the layout gives them."""
    reading: str
    """How the brief was understood, for the user to check."""
    warnings: tuple[str, ...] = ()
    """Where a word or a relation was taken for a near one."""


class Agent(Protocol):
    """Proposes scenarios."""

    name: str

    def propose(self, brief: Brief, rng: np.random.Generator) -> Draft:
        """A draft for a brief; other draws of `rng` give other scenes for the same goal.

        Raises:
            NotUnderstood: words of the brief mean nothing here.
            CannotBe: what it asks for cannot be.
        """
        ...
