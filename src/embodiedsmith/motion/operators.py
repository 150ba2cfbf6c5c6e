"""What a skill is to the planner: an operator over facts, and a step of a plan."""

from __future__ import annotations

from dataclasses import dataclass, field

from embodiedsmith.tasks.sides import SIDES

FACTS: dict[str, tuple[str, ...]] = {
    "at": ("item", "place"),
    "holding": ("item",),
    "empty_hand": (),
    "held_by": ("item", "arm"),
    "other_arm": ("arm", "arm"),
    "opened": ("part",),
    "shut": ("part",),
    "away": ("part",),
    "covers": ("part", "place"),
    "blocks": ("item", "part"),
    "aside": ("item",),
    "gate": ("place", "part"),
    "ungated": ("place",),
    "bare": ("place",),
    "roomy": ("place",),
    "on_top": ("place", "item"),
    "untopped": ("item",),
    "broad_top": ("place", "item"),
    "off": ("item", "place"),
    "crowds": ("item", "item", "place"),
    "near": ("item", "item"),
    "beside": ("item", "item", "side"),
    "between": ("item", "item", "item"),
    "touching": ("item", "item"),
    "posed": ("item",),
    "cloth": ("item",),
    "folded": ("item",),
    "draped": ("item", "item"),
    "wanted_draped": ("item", "item"),
    "hung": ("item", "bar"),
    "bar_zone": ("bar", "zone"),
    "wiped": ("mark", "item"),
    "mark_zone": ("mark", "zone"),
    "upright": ("item",),
    "place_zone": ("place", "zone"),
    "part_zone": ("part", "zone"),
    "item_zone": ("item", "zone"),
    "standing": ("zone",),
    "mobile": (),
    "graspable": ("item",),
    "bulky": ("item",),
    "paired": ("item",),
    "two_handed": ("item",),
    "in_both": ("item",),
    "wanted_both": ("item",),
    "loose": ("item",),
    "contains": ("item", "item"),
    "pours": ("item", "item", "item"),
    "poured": ("item", "item"),
    "scoops": ("item", "item", "item", "item"),
    "scooped": ("item", "item"),
    "soft": ("item",),
    "squeezed": ("item",),
    "rope": ("item",),
    "straight": ("item",),
    "cradled": ("item",),
    "reoriented": ("item",),
    "wanted_held": ("item",),
    "wanted_steady": ("item",),
    "wanted_near": ("item", "item"),
    "wanted_beside": ("item", "item", "side"),
    "wanted_between": ("item", "item", "item"),
    "wanted_touching": ("item", "item"),
    "wanted_posed": ("item", "place"),
}
"""Every fact the planner knows, with the types of its arguments."""

ARRANGED = frozenset({"near", "beside", "between"})
"""Facts about where an item is among others: one that puts it down brings about all that are wanted of it, where they stand."""

STALE = ARRANGED | {"touching", "posed"}
"""Facts about where an item is that are lost, without an operator saying so, once it or one of the others is in the hand."""


@dataclass(frozen=True)
class Step:
    """One skill to run."""

    skill: str
    args: tuple[str, ...]
    stage: int = field(default=0, compare=False)
    """Which stage of a goal that is a sequence it is for."""

    def __str__(self) -> str:
        return f"{self.skill}({', '.join(self.args)})"


def things_of(step: Step) -> tuple[str, ...]:
    """Items and parts that a step is about, the one it handles first."""
    return tuple(arg for arg in step.args if arg not in SIDES)


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
