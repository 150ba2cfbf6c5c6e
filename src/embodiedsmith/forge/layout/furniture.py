"""Where furniture on the floor and on walls may stand: before the robot, beside it, along walls, over the work surface."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from embodiedsmith.assets.asset import Support
from embodiedsmith.forge.layout import reach
from embodiedsmith.forge.layout.prisms import Float, Kind, Prism, prism
from embodiedsmith.forge.layout.volumes import apply, corners
from embodiedsmith.spec import Item, Pose
from embodiedsmith.world import transforms as tf
from embodiedsmith.world.compile import WALL_MARGIN, WALL_THICKNESS

if TYPE_CHECKING:
    from embodiedsmith.forge.layout.attempt import Attempt

SURFACE_HEIGHTS = (0.45, 1.2)  # [m] heights at which furniture is worked on
NEAR_EDGE = (0.04, 0.07)  # [m] between the mount and the work surface
DRAWERS_BEFORE = 0.45  # [m] most of that where the surface has drawers of its own that come out towards the robot
VEHICLE_BEFORE = 0.55  # [m] from a vehicle's middle to the work surface, at the least
BESIDE = {True: (0.30, 0.65), False: (0.75, 1.3)}  # [m] from a fixed robot to a front that the task concerns, or does not
STEP = np.array([0.15, 0.4, 0.3])  # by which what stands beside the robot is moved to be within reach: see `_beside`
STANDING_ROOM = 0.90  # [m] in front of what a mobile robot works at
WALL_HEIGHT = (0.35, 0.50)  # [m] between a work surface and what hangs over it
WALL_BEHIND = 0.25  # [m] at most, from the back of a work surface to the wall
AISLE = (0.75, 1.4)  # [m] between a work surface and the walls of the room, laid out without regard to the task

Draw = Callable[[], Pose | None]


def work_surface(attempt: Attempt) -> str | None:
    """The floor furniture that carries most, or would."""

    def score(item: Item) -> tuple[int, float]:
        carried = sum(1 for i in attempt.items.values() if i.parent == item.id and i.relation == "on")
        wanted = sum(1 for t in attempt.needs.targets if t.place == item.id and t.relation == "on")
        areas = [s.size[0] * s.size[1] for s in _work_supports(attempt, item.id)]
        return carried + wanted, max(areas, default=0.0)

    floor = [i for i in attempt.items.values() if i.parent is None and i.fixed and i.relation == "on"]
    able = [item for item in floor if _work_supports(attempt, item.id)]
    return max(able, key=score).id if able else None


def _work_supports(attempt: Attempt, item: str) -> list[Support]:
    low, high = SURFACE_HEIGHTS
    affordances = attempt.built[item].affordances
    inner = {c.name for c in affordances.cavities}
    return [s for s in affordances.supports if s.body == "root" and s.name not in inner and low <= s.pose.position[2] <= high]


def surface_height(attempt: Attempt) -> float:
    """World height [m] of the work surface; 0 without one."""
    if attempt.surface is None:
        return 0.0
    support = _work_supports(attempt, attempt.surface)[0]
    return float(attempt.roots[attempt.surface][2, 3]) + support.pose.position[2]


def before_robot(attempt: Attempt, item: Item) -> Draw:
    """The work surface in front of the robot, whose base is at the world's origin facing +x unless it is given."""
    asset, rng = attempt.built[item.id], attempt.rng
    given = attempt.scenario.embodiment.base
    T_base = np.eye(4) if given is None else tf.matrix(Pose.planar(*given.position[:2], 0.0, given.yaw))
    fixed = attempt.robot.base.kind == "fixed"
    near = attempt.robot.base.footprint[0] / 2 + (0.0 if fixed else VEHICLE_BEFORE)
    turns = sides(attempt) if fixed and not attempt.anticipate else (math.pi,)

    def draw() -> Pose:
        turn = float(rng.choice(turns)) if len(turns) > 1 else turns[0]
        back, along = _half_extents(asset.extents, turn)
        gap = rng.uniform(*NEAR_EDGE)
        if asset.joints and fixed and attempt.anticipate:  # its own drawers need room before it
            gap = rng.uniform(NEAR_EDGE[0], DRAWERS_BEFORE)
        shift = min(0.15, max(0.0, along - 0.45)) if attempt.anticipate else max(0.0, along - 0.15)
        local = Pose.planar(near + gap + back, float(rng.uniform(-shift, shift)), 0.0, turn)
        return tf.to_pose(T_base @ tf.matrix(local))

    return draw


def sides(attempt: Attempt) -> tuple[float, ...]:
    """Turns [rad] of the work surface seen from a robot at its front, its sides or, where no wall is behind it, its back."""
    hung = any(i.relation == "attached" for i in attempt.items.values())
    return (math.pi, math.pi / 2, -math.pi / 2) if hung else (math.pi, math.pi / 2, -math.pi / 2, 0.0)


def _half_extents(extents: tuple[tuple[float, ...], tuple[float, ...]], turn: float) -> tuple[float, float]:
    """How far something turned by quarters reaches from its root towards -x [m], and half its length along y."""
    low, high = extents
    c, s = round(math.cos(turn)), round(math.sin(turn))
    xs = [c * x - s * y for x in (low[0], high[0]) for y in (low[1], high[1])]
    ys = [s * x + c * y for x in (low[0], high[0]) for y in (low[1], high[1])]
    return -min(xs), (max(ys) - min(ys)) / 2


def on_floor(attempt: Attempt, item: Item) -> Draw:
    """Beside a fixed robot, within its reach when the task needs it; else along the walls of the room."""
    if item.relation == "attached":
        return on_wall(attempt, item)
    if not attempt.anticipate:
        return _along_walls(attempt, item)
    return _beside(attempt, item) if attempt.robot.base.kind == "fixed" else _in_room(attempt, item)


def _beside(attempt: Attempt, item: Item) -> Draw:
    base, rng = np.asarray(attempt.base.position), attempt.rng
    low, high = attempt.built[item.id].extents
    half = (high[1] - low[1]) / 2
    span = BESIDE[attempt.needs.concerns(item.id)]

    def made(at: Float) -> Pose:
        """The robot is `away` before the item's front and `side` along it; the item's front looks in direction `facing`."""
        away, side, bearing = high[0] + at[0], half * at[1], at[2]
        facing = attempt.base.yaw + bearing + math.pi
        c, s = math.cos(facing), math.sin(facing)
        return Pose.planar(float(base[0] - c * away + s * side), float(base[1] - s * away - c * side), 0.0, float(facing))

    def draw() -> Pose | None:
        bearing = rng.choice((-1.0, 1.0)) * rng.uniform(math.radians(50), math.radians(150))
        start = np.array([rng.uniform(*span), rng.uniform(-1.3, 1.3), bearing])
        return reach.climbed(attempt, item, np.eye(4), start, STEP, made)

    return draw


def _in_room(attempt: Attempt, item: Item) -> Draw:
    """Along the wall behind the work surface, or along those to its left and right, for a robot that drives up to it."""
    low, high = attempt.built[item.id].extents
    half = max(high[1], -low[1])
    rng, (T_room, back, side) = attempt.rng, room_frame(attempt)

    def draw() -> Pose:
        hand = float(rng.choice((-1.0, 1.0)))
        if rng.random() < 0.5:
            local = Pose.planar(back + low[0], hand * (side + half + float(rng.uniform(0.05, 0.7))), 0.0, math.pi)
        else:
            x = float(rng.uniform(-1.0, 0.6))
            local = Pose.planar(x, hand * float(rng.uniform(1.2, 1.7) + high[0]), 0.0, -hand * math.pi / 2)
        return tf.to_pose(T_room @ tf.matrix(local))

    return draw


def room_frame(attempt: Attempt) -> tuple[Float, float, float]:
    """A frame looking at the work surface from where the robot starts, the depth of its back in it, and half its width [m]."""
    if attempt.surface is None:
        return np.eye(4), 1.6, 0.6
    T, (low, high) = attempt.roots[attempt.surface], attempt.built[attempt.surface].extents
    T_room = T @ tf.matrix(Pose.planar(high[0] + VEHICLE_BEFORE, (low[1] + high[1]) / 2, 0.0, math.pi))
    T_room[2, 3] = 0.0
    return T_room, high[0] - low[0] + VEHICLE_BEFORE, (high[1] - low[1]) / 2


def _along_walls(attempt: Attempt, item: Item) -> Draw:
    """With its back to any of the four walls of a room round the work surface."""
    low, high = attempt.built[item.id].extents
    rng = attempt.rng
    T, half = np.eye(4), np.array([0.4, 0.4])
    if attempt.surface is not None:
        T = attempt.roots[attempt.surface]
        half = attempt.built[attempt.surface].size[:2] / 2

    def draw() -> Pose:
        turn = float(rng.integers(4)) * math.pi / 2  # of its front, in the work surface's frame
        deep, wide = half if round(math.sin(turn)) == 0 else half[::-1]
        away = deep + rng.uniform(*AISLE) + high[0] - low[0]  # of the wall from the middle of the room
        side = rng.uniform(-1.0, 1.0) * (wide + AISLE[0])
        local = tf.matrix(Pose.planar(0.0, 0.0, 0.0, turn)) @ tf.matrix(Pose.planar(float(-away - low[0]), float(side)))
        world = T @ local
        world[2, 3] = 0.0
        return tf.to_pose(world)

    return draw


def on_wall(attempt: Attempt, item: Item) -> Draw:
    """Hung on the wall behind the work surface, over it; poses in the world."""
    low, _ = attempt.built[item.id].extents
    floor = surface_height(attempt) - low[2]
    rng = attempt.rng

    def draw() -> Pose:
        height = floor + float(rng.uniform(*WALL_HEIGHT))
        behind, y = float(rng.uniform(0.0, WALL_BEHIND)), float(rng.uniform(-0.5, 0.5))
        if attempt.surface is None:
            return Pose.planar(0.7 + behind, y, height, math.pi)
        back = attempt.built[attempt.surface].extents[0][0]
        T = attempt.roots[attempt.surface] @ tf.matrix(Pose.planar(back - behind - low[0], -y, 0.0, 0.0))
        T[2, 3] = height
        return tf.to_pose(T)

    return draw


def standing_room(attempt: Attempt, item: Item, T: Float) -> list[Prism]:
    """Floor before furniture at world pose `T` on which a robot on wheels stands to work at it."""
    if attempt.robot.base.kind == "fixed" or not item.fixed or item.parent is not None or item.relation == "attached":
        return []
    low, high = (np.asarray(c) for c in attempt.built[item.id].extents)
    half = max(0.35, (high[1] - low[1]) / 2 - 0.05)
    box = corners(np.array([high[0] + 0.01, -half, 0.0]), np.array([high[0] + STANDING_ROOM, half, 1.5]))
    return [prism(Kind.STAND, item.id, apply(T, box), math.atan2(T[1, 0], T[0, 0]))]


def wall(attempt: Attempt, item: Item, T: Float) -> list[Prism]:
    """The piece of wall behind what hangs at world pose `T`, from the floor up."""
    if item.relation != "attached":
        return []
    low, high = (np.asarray(c) for c in attempt.built[item.id].extents)
    front = low[0] - 0.001
    box = corners(
        np.array([front - WALL_THICKNESS, low[1] - WALL_MARGIN, -float(T[2, 3])]),
        np.array([front, high[1] + WALL_MARGIN, high[2] + WALL_MARGIN]),
    )
    return [prism(Kind.FIXED, item.id, apply(T, box), math.atan2(T[1, 0], T[0, 0]))]
