"""Rooms and the walls round them: what a robot on wheels must drive round."""

from __future__ import annotations

import math
from typing import Self

from pydantic import Field, model_validator

from embodiedsmith.spec.base import Noun
from embodiedsmith.spec.pose import Pose

ID_PATTERN = r"^[a-z][a-z0-9_]*$"
Vec2 = tuple[float, float]


class Doorway(Noun):
    """A gap in a wall, from the floor to the wall's top."""

    at: float = Field(gt=0.0)
    """Its middle, from the wall's start along the wall [m]."""
    width: float = Field(default=1.1, gt=0.0)
    """[m]"""


class Wall(Noun):
    """A straight wall that stands on the floor, cut off low so that cameras look into the room, as into a doll's house."""

    start: Vec2
    """World x, y of one end of its middle line [m]."""
    end: Vec2
    """World x, y of the other [m]."""
    height: float = Field(default=1.0, gt=0.0, le=4.0)
    """[m]"""
    thickness: float = Field(default=0.1, ge=0.02, le=1.0)
    """[m]"""
    doorway: Doorway | None = None

    @property
    def length(self) -> float:
        """From end to end [m]."""
        return math.dist(self.start, self.end)

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if self.length < 0.01:
            raise ValueError(f"a wall from {self.start} to {self.end} has no length")
        door = self.doorway
        if door is not None and not door.width / 2 < door.at < self.length - door.width / 2:
            raise ValueError(f"a doorway {door.width} m wide at {door.at} m does not fit into a wall of {self.length:.2f} m")
        return self


class Room(Noun):
    """A rectangular part of the floor with walls round it."""

    name: str = Field(pattern=ID_PATTERN)
    """What people call it: `kitchen`, `living_room`."""
    furniture: tuple[str, ...] = ()
    """Ids of the items on the floor that stand in it."""
    middle: Pose | None = None
    """Planar world pose of its middle; empty until laid out."""
    size: Vec2 | None = None
    """Between its walls, along x and y of `middle` [m]; empty until laid out."""

    def holds(self, x: float, y: float) -> bool:
        """Whether a world point is in it; never before it is laid out."""
        if self.middle is None or self.size is None:
            return False
        dx, dy = x - self.middle.position[0], y - self.middle.position[1]
        c, s = math.cos(self.middle.yaw), math.sin(self.middle.yaw)
        return abs(c * dx + s * dy) <= self.size[0] / 2 and abs(-s * dx + c * dy) <= self.size[1] / 2
