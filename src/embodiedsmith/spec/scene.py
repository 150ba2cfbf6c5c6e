"""What stands where: assets, items, cameras, lights and the scene that holds them."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from embodiedsmith.spec.base import Noun
from embodiedsmith.spec.pose import Pose, Vec3
from embodiedsmith.spec.rooms import Room, Wall

Identifier = str
ID_PATTERN = r"^[a-z][a-z0-9_]*$"
Setting = Literal["tabletop", "counter", "kitchen", "room"]
Relation = Literal["on", "inside", "attached", "held"]
"""How an item is where it is; `held`: it lies in the hand of the robot's first arm, which begins palm up."""
Size = Literal["small", "medium", "large"]
ParamValue = bool | int | float | str | tuple[str, ...]


class AssetSpec(Noun):
    """What to build: a category of the catalogue with its parameters. Defaults are the category's own."""

    category: str = Field(pattern=ID_PATTERN)
    params: dict[str, ParamValue] = Field(default_factory=dict)
    """Overrides of the category's parameters by name; lengths [m], masses [kg]."""
    color: str | None = None
    """A colour name the catalogue knows ("red"); None is the category's default."""
    material: str | None = None
    """A material name the catalogue knows ("wood"); None is the category's default."""
    size: Size = "medium"
    """The word for the size; the category says what it means in metres."""


class Item(Noun):
    """One thing in the scene."""

    id: Identifier = Field(pattern=ID_PATTERN)
    asset: AssetSpec
    parent: Identifier | None = None
    """The item that carries this one; None: the floor."""
    relation: Relation = "on"
    support: str | None = None
    """Name of the parent's support surface or cavity; None: its first one."""
    pose: Pose | None = None
    """Pose of the item's root in the support's frame; empty until laid out. On the floor: in the world. Held: in the frame of the
    middle of the palm, z out of it."""
    joints: dict[str, float] = Field(default_factory=dict)
    """Joint name to opening fraction: 0 closed (lower limit), 1 fully open (upper limit)."""
    fixed: bool = False
    """Whether it is bolted in place (furniture) rather than free to move."""

    @model_validator(mode="after")
    def _fractions(self) -> Self:
        bad = {name: f for name, f in self.joints.items() if not 0.0 <= f <= 1.0}
        if bad:
            raise ValueError(f"joints of '{self.id}' are fractions in [0, 1]; got {bad}")
        if self.relation == "held" and (self.parent is not None or self.fixed):
            raise ValueError(f"'{self.id}' is held: the robot carries it, so that it has no parent and is not fixed")
        return self


class CameraSpec(Noun):
    """A pinhole camera standing still in the world. Wrist cameras belong to the robot."""

    name: Identifier = Field(pattern=ID_PATTERN)
    position: Vec3
    """World position [m]."""
    target: Vec3
    """World point it looks at [m]; up in the picture is world z."""
    fovy: float = Field(default=45.0, gt=1.0, lt=170.0)
    """Vertical field of view [degrees], MuJoCo's unit for it."""


class LightSpec(Noun):
    """A light shining from `position` to `target`."""

    name: Identifier = Field(pattern=ID_PATTERN)
    position: Vec3
    target: Vec3 = (0.0, 0.0, 0.0)
    intensity: float = Field(default=0.6, ge=0.0, le=2.0)


class SceneSpec(Noun):
    """A setting and everything in it."""

    setting: Setting = "tabletop"
    items: tuple[Item, ...] = ()
    cameras: tuple[CameraSpec, ...] = ()
    lights: tuple[LightSpec, ...] = ()
    rooms: tuple[Room, ...] = Field(default=(), exclude_if=lambda rooms: not rooms)
    """Rooms with walls round them, for robots that drive; without any the floor is open."""
    walls: tuple[Wall, ...] = Field(default=(), exclude_if=lambda walls: not walls)
    """Their walls; empty until laid out."""

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        faults: list[str] = []
        ids = [item.id for item in self.items]
        for names, what in (
            (ids, "item ids"),
            ([camera.name for camera in self.cameras], "camera names"),
            ([light.name for light in self.lights], "light names"),
            ([room.name for room in self.rooms], "room names"),
            ([name for room in self.rooms for name in room.furniture], "items in rooms"),
        ):
            repeated = sorted({name for name in names if names.count(name) > 1})
            if repeated:
                faults.append(f"{what} must be unique; repeated: {repeated}")
        known = set(ids)
        faults += [
            f"the {room.name} holds unknown item '{name}'; items are {sorted(known)}"
            for room in self.rooms
            for name in room.furniture
            if name not in known
        ]
        parents = {item.id: item.parent for item in self.items}
        faults += [
            f"item '{item.id}' stands on unknown item '{item.parent}'; items are {sorted(known)}"
            for item in self.items
            if item.parent is not None and item.parent not in known
        ]
        for start in parents:
            seen: set[str] = set()
            at: str | None = start
            while at is not None and at in parents:
                if at in seen:
                    faults.append(f"item '{start}' stands on itself through its parents")
                    break
                seen.add(at)
                at = parents[at]
        if faults:
            raise ValueError("; ".join(faults))
        return self

    def item(self, item_id: Identifier) -> Item:
        """The item of that id; raises KeyError naming the ids there are."""
        for item in self.items:
            if item.id == item_id:
                return item
        raise KeyError(f"no item '{item_id}'; items are {[i.id for i in self.items]}")

    def with_item(self, changed: Item) -> SceneSpec:
        """This scene with the item of the same id replaced."""
        self.item(changed.id)
        return self.model_copy(update={"items": tuple(changed if i.id == changed.id else i for i in self.items)})
