"""Rooms: which furniture stands in which, and the walls that go round it once it stands.

All rooms have one frame, that of `furniture.room_frame`: x from where the robot starts towards the work surface. A second room
lies beside the first, to the left or the right, behind a wall with a doorway.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from embodiedsmith.forge.layout import furniture
from embodiedsmith.forge.layout.failures import Failure, NoPlaceError
from embodiedsmith.forge.layout.furniture import Draw
from embodiedsmith.forge.layout.prisms import Float, Kind, Prism, prism
from embodiedsmith.forge.layout.volumes import apply, corners
from embodiedsmith.spec import Doorway, Item, Pose, Room, Wall
from embodiedsmith.world import transforms as tf
from embodiedsmith.world.walls import pieces

if TYPE_CHECKING:
    from embodiedsmith.forge.layout.attempt import Attempt

OWNER = "wall"
"""Whose the prisms of walls are."""
APART = (3.9, 4.4)  # [m] between the middles of two rooms
BEHIND = (0.03, 0.12)  # [m] between the back of furniture and the wall
BESIDE = (0.25, 0.7)  # [m] between what stands at the sides and the wall
BEFORE = (0.7, 1.2)  # [m] of free floor behind where robots stand
THICK = 0.1  # [m]
PARTED = 0.3  # [m] least room between what stands in two rooms, for the wall between them
DOOR = 1.1  # [m] wide
THROUGH = 0.8  # [m] of floor kept clear on both sides of a doorway
DOOR_TRIES = 24


def beside(attempt: Attempt, item: Item) -> bool:
    """Whether an item on the floor stands in another room than the robot does at the start."""
    here = _named(attempt, attempt.surface)
    return here is not None and _named(attempt, item.id) not in (None, here)


def _named(attempt: Attempt, item: str | None) -> str | None:
    return next((room.name for room in attempt.scenario.scene.rooms if item in room.furniture), None)


def in_other_room(attempt: Attempt, item: Item) -> Draw:
    """With its back to the far walls of the room beside the robot's."""
    low, high = attempt.built[item.id].extents
    rng, (T_room, back, _) = attempt.rng, furniture.room_frame(attempt)
    hand = _hand(attempt)
    apart = _apart(attempt)

    def draw() -> Pose:
        if rng.random() < 0.5:
            local = Pose.planar(back + low[0], hand * (apart + float(rng.uniform(-0.4, 0.5))), 0.0, math.pi)
        else:
            local = Pose.planar(float(rng.uniform(-0.6, 0.6)), hand * (apart + 1.0 + high[0]), 0.0, -hand * math.pi / 2)
        return tf.to_pose(T_room @ tf.matrix(local))

    return draw


def _hand(attempt: Attempt) -> float:
    """On which side of the first room the second is: 1 left, -1 right."""
    return attempt.beside[0]


def _apart(attempt: Attempt) -> float:
    return APART[0] + attempt.beside[1] * (APART[1] - APART[0])


def enclose(attempt: Attempt) -> None:
    """Put walls round what stands on the floor and round the robot; raises NoPlaceError where none go between two rooms."""
    rooms = attempt.scenario.scene.rooms
    if not rooms:
        return
    T_room = furniture.room_frame(attempt)[0]
    here = _named(attempt, attempt.surface) or rooms[0].name
    boxes = {room.name: _box(attempt, room, T_room, own=room.name == here) for room in rooms}
    rng = attempt.rng
    low_x = min(box[0, 0] for box in boxes.values()) - float(rng.uniform(*BEFORE))
    high_x = max(box[1, 0] for box in boxes.values()) + float(rng.uniform(*BEHIND))
    order = sorted(rooms, key=lambda room: float(boxes[room.name][:, 1].mean()))
    edges = [float(boxes[order[0].name][0, 1]) - float(rng.uniform(*BESIDE))]
    for left, right in pairwise(order):
        free = float(boxes[right.name][0, 1] - boxes[left.name][1, 1])
        if free < PARTED:
            failure = Failure(_subject(attempt), f"a wall between {left.name} and {right.name}", (THICK, PARTED), clear=PARTED)
            failure.taken(right.name, PARTED - free)
            raise NoPlaceError(failure)
        edges.append(float(boxes[left.name][1, 1]) + free * float(rng.uniform(0.4, 0.6)))
    edges.append(float(boxes[order[-1].name][1, 1]) + float(rng.uniform(*BESIDE)))
    attempt.rooms = tuple(
        room.model_copy(update=_outline(T_room, (low_x, high_x), edges[k : k + 2])) for k, room in enumerate(order)
    )
    attempt.walls = _walls(attempt, T_room, (low_x, high_x), edges)
    attempt.plan.add(prisms(attempt.walls))


def _box(attempt: Attempt, room: Room, T_room: Float, *, own: bool) -> Float:
    """Lower and upper corner (2, 2) in the rooms' frame of what a room has to hold."""
    mine = [p for p in attempt.plan.prisms if p.owner in room.furniture or _stray(attempt, p, own)]
    if not mine:
        middle = _hand(attempt) * _apart(attempt)
        return np.array([[-1.0, middle - 1.2], [1.0, middle + 1.2]])
    T = tf.inverse(T_room)
    points = np.concatenate([apply(T, _corners(p)) for p in mine])[:, :2]
    return np.stack([points.min(axis=0), points.max(axis=0)])


def _subject(attempt: Attempt) -> str:
    """Whom to blame: the furniture that the rooms are laid round."""
    return attempt.surface or "robot"


def _stray(attempt: Attempt, p: Prism, own: bool) -> bool:
    """Whether a prism belongs to no room by name, and so to that of the robot."""
    return own and p.owner != OWNER and _named(attempt, p.owner) is None


def _corners(p: Prism) -> Float:
    half = np.array([[x * p.half[0], y * p.half[1], 0.0] for x in (-1, 1) for y in (-1, 1)])
    return apply(tf.translate((*p.center, 0.0)) @ tf.turn_z(p.yaw), half)


def _outline(T_room: Float, x: tuple[float, float], y: list[float]) -> dict[str, object]:
    middle = T_room @ tf.translate(((x[0] + x[1]) / 2, (y[0] + y[1]) / 2, 0.0))
    within = (x[1] - x[0], y[1] - y[0] - THICK)
    return {
        "middle": Pose.planar(float(middle[0, 3]), float(middle[1, 3]), 0.0, math.atan2(middle[1, 0], middle[0, 0])),
        "size": within,
    }


def _walls(attempt: Attempt, T_room: Float, x: tuple[float, float], edges: list[float]) -> tuple[Wall, ...]:
    """Round the outside, and between each two rooms one with a doorway; middle lines half a thickness off the rooms."""
    low, high = x[0] - THICK / 2, x[1] + THICK / 2
    first, last = edges[0], edges[-1]

    def wall(a: tuple[float, float], b: tuple[float, float], doorway: Doorway | None = None) -> Wall:
        start, end = (apply(T_room, np.array([[*p, 0.0]]))[0] for p in (a, b))
        return Wall(
            start=(float(start[0]), float(start[1])), end=(float(end[0]), float(end[1])), thickness=THICK, doorway=doorway
        )

    over = THICK / 2  # the corners
    around = (
        wall((high, first - over), (high, last + over)), wall((low, first - over), (low, last + over)),
        wall((low + over, first), (high - over, first)), wall((low + over, last), (high - over, last)),
    )  # fmt: skip
    between = tuple(wall((low + over, y), (high - over, y), _doorway(attempt, T_room, x, y)) for y in edges[1:-1])
    return (*around, *between)


def _doorway(attempt: Attempt, T_room: Float, x: tuple[float, float], y: float) -> Doorway:
    """Where a vehicle can go through a wall: no furniture in the way on either side."""
    failure = Failure(_subject(attempt), "a doorway", (DOOR, 2 * THROUGH), clear=0.05)
    solid = [k for k, p in enumerate(attempt.plan.prisms) if p.kind == Kind.FIXED]
    half = np.array([DOOR / 2, THROUGH, 0.0])
    for _ in range(DOOR_TRIES):
        at = float(attempt.rng.uniform(x[0] + DOOR / 2 + 0.1, x[1] - DOOR / 2 - 0.1))
        box = corners(np.array([at, y, 0.0]) - half, np.array([at, y, 1.5]) + half)
        way = prism(Kind.STAND, OWNER, apply(T_room, box), math.atan2(T_room[1, 0], T_room[0, 0]))
        gaps = attempt.plan.separations([way])[0, solid]
        if not len(gaps) or gaps.min() > 0.05:
            return Doorway(at=at - x[0], width=DOOR)
        failure.taken(attempt.plan.prisms[solid[int(gaps.argmin())]].owner, float(0.05 - gaps.min()))
    raise NoPlaceError(failure)


def prisms(walls: tuple[Wall, ...]) -> list[Prism]:
    """What walls take."""
    return [
        Prism(kind=Kind.FIXED, owner=OWNER, center=p.centre, half=p.half, yaw=p.yaw, low=0.0, high=p.height)
        for wall in walls
        for p in pieces(wall)
    ]


def outside(attempt: Attempt, base: Pose) -> bool:
    """Whether a place is in none of the rooms, where there are some."""
    laid_out = [room for room in attempt.rooms if room.middle is not None]
    return bool(laid_out) and not any(room.holds(*base.position[:2]) for room in laid_out)
