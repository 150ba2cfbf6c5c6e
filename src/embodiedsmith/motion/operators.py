"""What a skill is to the planner: an operator over facts, and a step of a plan."""

from __future__ import annotations

from dataclasses import dataclass

FACTS: dict[str, tuple[str, ...]] = {
    "at": ("item", "place"),
    "holding": ("item",),
    "empty_hand": (),
    "opened": ("part",),
    "shut": ("part",),
    "gate": ("place", "part"),
    "ungated": ("place",),
    "bare": ("place",),
    "roomy": ("place",),
    "on_top": ("place", "item"),
    "untopped": ("item",),
    "near": ("item", "item"),
    "touching": ("item", "item"),
    "posed": ("item",),
    "upright": ("item",),
    "place_zone": ("place", "zone"),
    "part_zone": ("part", "zone"),
    "item_zone": ("item", "zone"),
    "standing": ("zone",),
    "mobile": (),
    "graspable": ("item",),
    "bulky": ("item",),
    "wanted_near": ("item", "item"),
    "wanted_touching": ("item", "item"),
    "wanted_posed": ("item", "place"),
}
"""Every fact the planner knows, with the types of its arguments."""

STALE = frozenset({"near", "touching", "posed"})
"""Facts about where an item is that are lost, without an operator saying so, once the item is in the hand."""


@dataclass(frozen=True)
class Step:
    """One skill to run."""

    skill: str
    args: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.skill}({', '.join(self.args)})"


@dataclass(frozen=True)
class Operator:
    """A skill as the planner sees it. Facts are tuples of a name and parameter names."""

    skill: str
    parameters: tuple[tuple[str, str], ...]
    """Name and type."""
    needs: tuple[tuple[str, ...], ...]
    adds: tuple[tuple[str, ...], ...]
    removes: tuple[tuple[str, ...], ...]
    passes: tuple[str, ...]
    """The parameters that become the step's arguments."""
