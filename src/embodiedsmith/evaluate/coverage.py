"""What episodes have seen: which kinds of things were there and were grasped, and where the things of the goal began.

Success rates hide what is never tried: a thing that no policy takes hold of, a corner of the table where nothing ever stood.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable

from pydantic import Field

from embodiedsmith.spec import Pose, Scenario, predicates, split_reference
from embodiedsmith.spec.base import Noun
from embodiedsmith.tasks import Recording

CELL = 0.05
"""Side of a cell of start positions [m]."""

Cell = tuple[int, int]
"""Number of a cell along x and y of the robot's base; (0, 0) begins at its origin."""


class Coverage(Noun):
    """What a number of episodes have seen, by kind of thing (its category)."""

    episodes: int = 0
    present: dict[str, int] = Field(default_factory=dict)
    """Episodes in which a free thing of that kind was there."""
    grasped: dict[str, int] = Field(default_factory=dict)
    """Episodes in which one was taken hold of."""
    cells: dict[str, tuple[Cell, ...]] = Field(default_factory=dict)
    """Cells in which things of that kind began that the goal names, in order."""

    @property
    def never_grasped(self) -> tuple[str, ...]:
        """Kinds that were there and that nothing ever took hold of."""
        return tuple(sorted(self.present.keys() - self.grasped.keys()))

    def __add__(self, other: Coverage) -> Coverage:
        """What both have seen together."""
        return Coverage(
            episodes=self.episodes + other.episodes,
            present=_sum(self.present, other.present),
            grasped=_sum(self.grasped, other.grasped),
            cells={
                kind: tuple(sorted({*self.cells.get(kind, ()), *other.cells.get(kind, ())}))
                for kind in sorted(self.cells.keys() | other.cells.keys())
            },
        )

    def missing(self, wanted: Coverage) -> dict[str, tuple[Cell, ...]]:
        """Cells that `wanted` has seen and this has not, by kind: where a policy is tested and was never trained."""
        gaps = {kind: tuple(sorted(set(cells) - set(self.cells.get(kind, ())))) for kind, cells in wanted.cells.items()}
        return {kind: cells for kind, cells in gaps.items() if cells}


def coverage(scenario: Scenario, recordings: Iterable[Recording]) -> Coverage:
    """What the episodes of one scenario have seen. Of grasps what the recorder noted counts (`grasped` events)."""
    items = {item.id: item for item in scenario.scene.items}
    free = {name: item.asset.category for name, item in items.items() if not item.fixed}
    named = {split_reference(argument)[0] for p in predicates(scenario.task.goal) for argument in p.args} & items.keys()
    base = scenario.embodiment.base or Pose()
    present: Counter[str] = Counter()
    grasped: Counter[str] = Counter()
    cells: dict[str, set[Cell]] = {}
    episodes = 0
    for recording in recordings:
        episodes += 1
        present.update(set(free.values()))
        held = {subject for event in recording.events if event.kind == "grasped" for subject in event.subjects}
        grasped.update({free[name] for name in held if name in free})
        for name in sorted(named & free.keys()):
            x, y = recording.observations[f"items/{name}"][0, :2].tolist()
            cells.setdefault(free[name], set()).add(_cell(base, x, y))
    return Coverage(
        episodes=episodes,
        present=dict(sorted(present.items())),
        grasped=dict(sorted(grasped.items())),
        cells={kind: tuple(sorted(found)) for kind, found in sorted(cells.items())},
    )


def _cell(base: Pose, x: float, y: float) -> Cell:
    """The cell of a world position [m]."""
    dx, dy, yaw = x - base.position[0], y - base.position[1], base.yaw
    forward, left = math.cos(yaw) * dx + math.sin(yaw) * dy, -math.sin(yaw) * dx + math.cos(yaw) * dy
    return math.floor(forward / CELL), math.floor(left / CELL)


def _sum(first: dict[str, int], second: dict[str, int]) -> dict[str, int]:
    return {kind: first.get(kind, 0) + second.get(kind, 0) for kind in sorted(first.keys() | second.keys())}
