"""The archive of autonomous mode: what was made, what failed and why, and which cells are emptiest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embodiedsmith.forge.auto.cells import Cell, cell_of, reachable
from embodiedsmith.forge.auto.signature import Signature, distance, signature
from embodiedsmith.spec import Noun, Scenario

NEAR = 0.2
"""Least distance of a new scenario from every one in the archive; nearer ones are duplicates. The same goal with the same robot
in the same setting must differ in half of everything else."""
AXES = ("setting", "predicates", "family", "embodiment", "horizon")
TRIED = 0.5
"""What one failure counts against a combination of predicates and horizon, where a scenario made counts 1 against its cell."""


class Entry(Noun):
    """One scenario that was made."""

    index: int
    scenario: str
    """Its id."""
    cell: Cell
    signature: Signature
    instruction: str


class Failed(Noun):
    """One attempt at a cell that came to nothing."""

    index: int
    cell: Cell
    codes: dict[str, int]
    """Finding code to number of proposals refused with it; `auto.no_plot` when no goal was found."""


class Archive:
    """What is known of a run of autonomous mode. Equal contents plan equal targets.

    Args:
        robots: Robots that may be used.
        entries: What was made.
        failed: What was not.
    """

    def __init__(self, robots: Sequence[str], entries: Sequence[Entry] = (), failed: Sequence[Failed] = ()) -> None:
        self.robots = tuple(robots)
        self.entries = list(entries)
        self.failed = list(failed)

    def made(self, index: int, scenario: Scenario, skills: int) -> Entry:
        """Add a scenario that takes so many skills."""
        entry = Entry(
            index=index,
            scenario=scenario.id,
            cell=cell_of(scenario, skills),
            signature=signature(scenario),
            instruction=scenario.task.instructions["en"],
        )
        self.entries.append(entry)
        return entry

    def missed(self, index: int, cell: Cell, codes: dict[str, int]) -> None:
        """Note that a cell was tried in vain."""
        self.failed.append(Failed(index=index, cell=cell, codes=codes))

    def nearest(self, scenario: Scenario) -> tuple[Entry, float] | None:
        """The entry nearest to a scenario, with its distance; None when there is none."""
        mine = signature(scenario)
        ranked = [(distance(mine, entry.signature), k) for k, entry in enumerate(self.entries)]
        return (self.entries[min(ranked)[1]], min(ranked)[0]) if ranked else None

    @property
    def used(self) -> Counter[str]:
        """Category to how many scenarios have it."""
        return Counter(name for entry in self.entries for name in set(entry.signature.assets))

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """Every cell that can be filled, in a fixed order."""
        return reachable(self.robots)

    @property
    def filled(self) -> set[Cell]:
        """Cells that hold a scenario."""
        return {entry.cell for entry in self.entries}

    @property
    def pairs_filled(self) -> int:
        """Pairs of values of two axes, such as (kitchen, 7+) or (open, fruit), that scenarios have."""
        return len(_pairs(self.filled))

    @cached_property
    def pairs_reachable(self) -> int:
        """Pairs of values of two axes that scenarios can have."""
        return len(_pairs(self.cells))

    def emptiest(self, count: int, rng: np.random.Generator) -> list[Cell]:
        """The cells to try next, as if each were filled before the next is chosen.

        Of the cells with the fewest scenarios and failures, the one whose setting, predicates, family, robot and horizon are
        rarest so far; ties fall by `rng`.
        """
        load, rare = self._counts()
        order = rng.permutation(len(self.cells))
        chosen = []
        for _ in range(count):
            scores = load * 1e6 + self._rarity(rare)
            best = int(order[np.argmin(scores[order])])
            chosen.append(self.cells[best])
            self._count(load, rare, best, 1.0)
        return chosen

    # ------------------------------------------------------------------ counting, on arrays

    @cached_property
    def _columns(self) -> dict[str, tuple[NDArray[np.float64], dict[str, int]]]:
        """Per axis, which cell has which value, as shares (cells, values): a set of predicates is shared by its names."""
        columns = {}
        for axis in AXES:
            values = [_values(cell, axis) for cell in self.cells]
            names = {name: k for k, name in enumerate(sorted({n for value in values for n in value}))}
            shares = np.zeros((len(values), len(names)))
            for row, value in enumerate(values):
                for name in value:
                    shares[row, names[name]] = 1.0 / len(value)
            columns[axis] = (shares, names)
        return columns

    @cached_property
    def _place(self) -> dict[Cell, int]:
        return {cell: k for k, cell in enumerate(self.cells)}

    def _counts(self) -> tuple[NDArray[np.float64], dict[str, NDArray[np.float64]]]:
        """Load of every cell, and how often every axis' values were had."""
        load = np.zeros(len(self.cells))
        rare = {axis: np.zeros(len(names)) for axis, (_, names) in self._columns.items()}
        for entry in self.entries:
            if entry.cell in self._place:
                self._count(load, rare, self._place[entry.cell], 1.0)
        for failure in self.failed:
            if failure.cell in self._place:
                load[self._place[failure.cell]] += 1.0
                load += TRIED * self._alike(failure.cell)
        return load, rare

    def _count(self, load: NDArray[np.float64], rare: dict[str, NDArray[np.float64]], place: int, weight: float) -> None:
        load[place] += weight
        for axis, (shares, _) in self._columns.items():
            rare[axis] += weight * shares[place]

    def _rarity(self, rare: dict[str, NDArray[np.float64]]) -> NDArray[np.float64]:
        """How common each cell's values are so far, every axis counting alike."""
        total = np.zeros(len(self.cells))
        for axis, (shares, names) in self._columns.items():
            total += shares @ rare[axis] * len(names)
        return total

    @cached_property
    def _kinds(self) -> NDArray[np.int64]:
        """Which combination of predicates and horizon each cell has, shape (cells,)."""
        numbers: dict[tuple[Any, ...], int] = {}
        return np.array([numbers.setdefault((c.predicates, c.horizon), len(numbers)) for c in self.cells], dtype=np.int64)

    def _alike(self, cell: Cell) -> NDArray[np.float64]:
        """1 for the cells of the same predicates and horizon, else 0."""
        alike: NDArray[np.float64] = np.where(self._kinds == self._kinds[self._place[cell]], 1.0, 0.0)
        return alike

    # ------------------------------------------------------------------ JSON

    def to_json(self) -> dict[str, Any]:
        """As JSON values."""
        return {
            "robots": list(self.robots),
            "cells": {"reachable": len(self.cells), "filled": len(self.filled)},
            "entries": [entry.model_dump(mode="json") for entry in self.entries],
            "failed": [failure.model_dump(mode="json") for failure in self.failed],
        }

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> Archive:
        """What `to_json` gave."""
        entries = [Entry.model_validate(e) for e in content["entries"]]
        return cls(content["robots"], entries, [Failed.model_validate(f) for f in content["failed"]])


def _values(cell: Cell, axis: str) -> tuple[str, ...]:
    """A cell's values on an axis: of its predicates each counts for itself."""
    value = getattr(cell, axis)
    return value if isinstance(value, tuple) else (value,)


def _pairs(cells: Iterable[Cell]) -> set[tuple[str, str, str, str]]:
    return {
        (first, a, second, b)
        for cell in cells
        for first, second in combinations(AXES, 2)
        for a in _values(cell, first)
        for b in _values(cell, second)
    }
