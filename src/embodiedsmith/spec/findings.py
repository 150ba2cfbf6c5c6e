"""What a critic finds and what an edit changes."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from embodiedsmith.spec.base import Noun
from embodiedsmith.spec.pose import Pose
from embodiedsmith.spec.scene import ID_PATTERN, AssetSpec, Item, Relation
from embodiedsmith.spec.task import Goal

Severity = Literal["warning", "error"]


class Finding(Noun):
    """One fault, measured: what, which things, how much, against which limit."""

    code: str = Field(pattern=r"^[a-z]+(\.[a-z_]+)+$")
    """`critic.fault`, such as `geometry.overlap`."""
    severity: Severity = "error"
    subjects: tuple[str, ...] = ()
    """Item ids, `item.part` references or joint names concerned."""
    value: float | None = None
    """What was measured, in `unit`."""
    limit: float | None = None
    """What it was compared with, in `unit`."""
    unit: str = ""
    message: str


class MoveItem(Noun):
    """Put an item at another pose on its support."""

    kind: Literal["move"] = "move"
    item: str
    pose: Pose


class SwapAsset(Noun):
    """Build an item from another asset (another category, size, colour or parameters)."""

    kind: Literal["swap_asset"] = "swap_asset"
    item: str
    asset: AssetSpec


class AddItem(Noun):
    """Add an item."""

    kind: Literal["add"] = "add"
    item: Item


class RemoveItem(Noun):
    """Take an item away."""

    kind: Literal["remove"] = "remove"
    item: str


class ChangeSupport(Noun):
    """Let another item carry an item."""

    kind: Literal["change_support"] = "change_support"
    item: str
    parent: str | None
    relation: Relation = "on"
    support: str | None = None


class SetJoint(Noun):
    """Open or close a joint of an item before the start; `fraction` 0 closed to 1 open."""

    kind: Literal["set_joint"] = "set_joint"
    item: str
    joint: str
    fraction: float = Field(ge=0.0, le=1.0)


class SetGoal(Noun):
    """Replace the task's goal."""

    kind: Literal["set_goal"] = "set_goal"
    goal: Goal


class MoveBase(Noun):
    """Put the robot's base elsewhere."""

    kind: Literal["move_base"] = "move_base"
    pose: Pose


class ChangeEmbodiment(Noun):
    """Use another robot."""

    kind: Literal["change_embodiment"] = "change_embodiment"
    name: str = Field(pattern=ID_PATTERN)


Edit = Annotated[
    MoveItem | SwapAsset | AddItem | RemoveItem | ChangeSupport | SetJoint | SetGoal | MoveBase | ChangeEmbodiment,
    Field(discriminator="kind"),
]
