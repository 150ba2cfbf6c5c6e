"""Repairs: which edits could cure what a critic found. One file a family of findings."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from embodiedsmith.forge.agents.agent import Case, Repair


def repairs(case: Case, rng: np.random.Generator) -> Iterator[Repair]:
    """Repairs to try for a case, the likeliest first."""
    yield from ()
