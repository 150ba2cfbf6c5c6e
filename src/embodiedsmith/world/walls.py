"""Walls as what they are made of: straight pieces, on either side of a doorway."""

from __future__ import annotations

import math
from dataclasses import dataclass

import mujoco

from embodiedsmith.spec import SceneSpec, Wall
from embodiedsmith.world import transforms as tf

BODY = "walls"
"""The body that all pieces belong to: not the world's own, which a vehicle rolls on and never collides with."""
FLOOR = 12.0  # [m] half extent of the floor that is drawn under rooms
COLOR = (0.87, 0.85, 0.80, 1.0)


@dataclass(frozen=True)
class Piece:
    """An upright box that stands on the floor."""

    centre: tuple[float, float]
    """World x, y [m]."""
    half: tuple[float, float]
    """Half its length and half its thickness [m]."""
    yaw: float
    """Turn of its length from world x [rad]."""
    height: float


def pieces(wall: Wall) -> list[Piece]:
    """The pieces of a wall."""
    spans = [(0.0, wall.length)]
    if wall.doorway is not None:
        left, right = wall.doorway.at - wall.doorway.width / 2, wall.doorway.at + wall.doorway.width / 2
        spans = [(0.0, left), (right, wall.length)]
    yaw = math.atan2(wall.end[1] - wall.start[1], wall.end[0] - wall.start[0])
    found = []
    for low, high in spans:
        middle = (low + high) / 2
        centre = (wall.start[0] + middle * math.cos(yaw), wall.start[1] + middle * math.sin(yaw))
        found.append(Piece(centre, ((high - low) / 2, wall.thickness / 2), yaw, wall.height))
    return found


def doorways(scene: SceneSpec) -> list[tf.Float]:
    """World poses (4, 4) of the doorways of a scene, on the floor in their middle, x through the wall and y along it."""
    found = []
    for wall in scene.walls:
        if wall.doorway is not None:
            part = wall.doorway.at / wall.length
            x, y = (a + part * (b - a) for a, b in zip(wall.start, wall.end, strict=True))
            along = math.atan2(wall.end[1] - wall.start[1], wall.end[0] - wall.start[0])
            found.append(tf.translate((x, y, 0.0)) @ tf.turn_z(along - math.pi / 2))
    return found


def add_walls(spec: mujoco.MjSpec, scene: SceneSpec) -> None:
    """Put the walls of a scene into a model."""
    if not scene.walls:
        return
    spec.geom("floor").size = [FLOOR, FLOOR, 0.1]
    body = spec.worldbody.add_body(name=BODY)
    for k, wall in enumerate(scene.walls):
        for n, piece in enumerate(pieces(wall)):
            body.add_geom(
                name=f"room_wall_{k}_{n}", type=mujoco.mjtGeom.mjGEOM_BOX, size=[*piece.half, piece.height / 2],
                pos=[*piece.centre, piece.height / 2], quat=tf.quaternion(tf.turn_z(piece.yaw)[:3, :3]), rgba=COLOR,
            )  # fmt: skip
