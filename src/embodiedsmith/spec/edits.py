"""Typed, minimal changes of a scenario: of its scene, its task or its embodiment. What they do is in `forge.edits`."""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from pydantic import Field

from embodiedsmith.spec.base import Noun
from embodiedsmith.spec.pose import Pose
from embodiedsmith.spec.rooms import Room, Wall
from embodiedsmith.spec.scene import ID_PATTERN, AssetSpec, CameraSpec, Item, LightSpec, ParamValue, Relation, Size
from embodiedsmith.spec.task import Language


class MoveItem(Noun):
    """Put an item elsewhere on its support."""

    kind: Literal["move"] = "move"
    item: str
    pose: Pose | None = None
    """Where, in the support's frame; None: wherever the layout finds a place."""


class TurnItem(Noun):
    """Turn an item where it stands."""

    kind: Literal["turn"] = "turn"
    item: str
    yaw: float
    """Its new angle about the support's normal [rad]."""


class Unblock(Noun):
    """Put away an item that is in the way of something."""

    kind: Literal["unblock"] = "unblock"
    item: str
    blocked: str
    """What it was in the way of: an item, a part of one, or `robot`."""
    pose: Pose | None = None
    """Where it goes, in its support's frame; None: wherever the layout finds a place."""


class SwapAsset(Noun):
    """Build an item from another asset: another category, colour, material or parameters."""

    kind: Literal["swap_asset"] = "swap_asset"
    item: str
    asset: AssetSpec


class Resize(Noun):
    """Build an item larger or smaller, of the same category and looks."""

    kind: Literal["resize"] = "resize"
    item: str
    size: Size = "medium"
    params: dict[str, ParamValue] = Field(default_factory=dict)
    """Dimensions that change; lengths [m]."""


class AddItem(Noun):
    """Add an item."""

    kind: Literal["add"] = "add"
    item: Item


class RemoveItem(Noun):
    """Take an item away, with all that stands in or on it."""

    kind: Literal["remove"] = "remove"
    item: str


class ChangeSupport(Noun):
    """Let another item carry an item, or another part of the same one."""

    kind: Literal["change_support"] = "change_support"
    item: str
    parent: str | None
    relation: Relation = "on"
    support: str | None = None
    pose: Pose | None = None
    """Where, in the new support's frame; None: wherever the layout finds a place."""


class SetJoint(Noun):
    """Open or close a joint of an item before the start; `fraction` 0 closed to 1 open."""

    kind: Literal["set_joint"] = "set_joint"
    item: str
    joint: str
    fraction: float = Field(ge=0.0, le=1.0)


class MoveBase(Noun):
    """Put the robot's base elsewhere, or turn it."""

    kind: Literal["move_base"] = "move_base"
    pose: Pose | None = None
    """World pose of the base frame; None: wherever the layout puts it."""


class ChangeEmbodiment(Noun):
    """Use another robot; the layout finds it a place."""

    kind: Literal["change_embodiment"] = "change_embodiment"
    name: str = Field(pattern=ID_PATTERN)


class ChangeArgument(Noun):
    """Let a predicate of the goal speak of another thing or part."""

    kind: Literal["change_argument"] = "change_argument"
    predicate: int = Field(ge=0)
    """Which predicate, in the order of `spec.predicates(goal)`."""
    argument: int = Field(ge=0)
    value: str
    """The new reference."""


class SplitGoal(Noun):
    """Let some parts of a goal be reached before the whole: all of them still hold at the end."""

    kind: Literal["split_goal"] = "split_goal"
    first: tuple[int, ...] = Field(min_length=1)
    """Which parts of the outermost `all` come first."""


class SetTolerance(Noun):
    """Relax or tighten a number of a predicate of the goal."""

    kind: Literal["set_tolerance"] = "set_tolerance"
    predicate: int = Field(ge=0)
    """Which predicate, in the order of `spec.predicates(goal)`."""
    name: str
    value: float


class Rephrase(Noun):
    """Say the goal in other words."""

    kind: Literal["rephrase"] = "rephrase"
    language: Language
    text: str = Field(min_length=1, max_length=2000)


class LayOut(Noun):
    """Give what has no place yet its place: how the layout answered. Made by the forge, never by an agent."""

    kind: Literal["lay_out"] = "lay_out"
    poses: dict[str, Pose]
    """Poses in their supports' frames, by item id."""
    assets: dict[str, AssetSpec] = Field(default_factory=dict)
    """Things that the layout built in another size, by item id."""
    base: Pose
    """World pose of the robot's base frame."""
    cameras: tuple[CameraSpec, ...]
    lights: tuple[LightSpec, ...]
    rooms: tuple[Room, ...] = Field(default=(), exclude_if=lambda rooms: not rooms)
    walls: tuple[Wall, ...] = Field(default=(), exclude_if=lambda walls: not walls)


SceneEdit = MoveItem | TurnItem | Unblock | SwapAsset | Resize | AddItem | RemoveItem | ChangeSupport | SetJoint
TaskEdit = ChangeArgument | SplitGoal | SetTolerance | Rephrase
EmbodimentEdit = MoveBase | ChangeEmbodiment

Edit = Annotated[SceneEdit | EmbodimentEdit | TaskEdit | LayOut, Field(discriminator="kind")]

EditKind = Literal[
    "move", "turn", "unblock", "swap_asset", "resize", "add", "remove", "change_support", "set_joint",
    "move_base", "change_embodiment", "change_argument", "split_goal", "set_tolerance", "rephrase",
]  # fmt: skip
"""Kinds of edit that cure something; `lay_out` only follows from them."""

SCENE_EDITS: frozenset[str] = frozenset(e.model_fields["kind"].default for e in get_args(SceneEdit))
TASK_EDITS: frozenset[str] = frozenset(e.model_fields["kind"].default for e in get_args(TaskEdit))
EMBODIMENT_EDITS: frozenset[str] = frozenset(e.model_fields["kind"].default for e in get_args(EmbodimentEdit))
