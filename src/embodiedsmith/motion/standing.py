"""Where a vehicle can stand at a piece of furniture, which way it drives there, and how it carries what it holds.

Places are drawn from a fixed grid in front of the furniture, square to it first, so that the same task is done from much the same
place every time.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import mujoco
import numpy as np

from embodiedsmith.motion.articulation import Articulation
from embodiedsmith.motion.collision import MARGIN, TOUCH, Hit
from embodiedsmith.motion.controller import BaseSpace, Controller
from embodiedsmith.motion.errors import MotionError
from embodiedsmith.motion.kinematics import Kinematics
from embodiedsmith.motion.paths import plan
from embodiedsmith.world import transforms as tf
from embodiedsmith.world.compile import ROBOT
from embodiedsmith.world.walls import doorways, pieces

GAPS = (0.06, 0.12, 0.18, 0.24, 0.30, 0.38, 0.50)
"""[m] from the vehicle to the furniture."""
SIDESTEPS = (0.0, 0.1, -0.1, 0.2, -0.2, 0.3, -0.3, 0.45, -0.45, 0.6, -0.6)
"""[m] along the furniture from what is to be reached."""
TURNS = (0.0, 0.4, -0.4, 0.8, -0.8)
"""[rad] of the vehicle from square to the furniture."""
SIDES = ((0.0, 0.0), (np.pi / 2, 2.0), (-np.pi / 2, 2.0), (np.pi, 3.0))
"""Sides of the furniture as turns from its front [rad], with what each costs: its front is preferred."""
BEST_REACH = 0.52  # [m] horizontally from the arm's axis, in the middle of what it reaches
REACH_COST, SIDE_COST, TURN_COST = 4.0, 1.2, 1.0  # per metre off the best reach, metre along, radian turned
ROOM = 0.05  # [m] kept from furniture while standing
PASSING = 0.02  # [m] kept from furniture while driving
BACK = (0.0, 0.2, 0.4, 0.6)  # [m] backed off before turning away from furniture, and come straight in from
AHEAD = 0.7  # [m] before and behind the middle of a doorway, where the vehicle is lined up with it
STEP = 0.05  # [m or rad] between places checked along a drive
OPEN = 0.8  # opening fraction a part is supposed to be left at
CARRY_FORWARD = (0.30, 0.35, 0.40, 0.45, 0.50, 0.55, 0.60)
"""[m] ahead of the vehicle's centre where a tool is carried, most tucked in first."""
CARRY_HEIGHT = (1.20, 1.10, 1.00, 1.30)  # [m] above the floor
LEVEL = 0.3  # horizontal part of the approach from which a hand points somewhere
CARRY_TURNS = (0.0, 0.6, -0.6, 1.2, -1.2)  # [rad] of the tool about the vertical, from forward


@dataclass(frozen=True)
class Rectangle:
    """A rectangle on the floor."""

    centre: tf.Float
    """World x, y [m]."""
    half: tuple[float, float]
    """Half extents along its own x and y [m]."""
    yaw: float

    def gap(self, other: Rectangle) -> float:
        """Largest separation [m] along the sides of either, never more than their distance; negative when they overlap."""
        offset, best = other.centre - self.centre, -np.inf
        for yaw in (self.yaw, self.yaw + np.pi / 2, other.yaw, other.yaw + np.pi / 2):
            axis = np.array([np.cos(yaw), np.sin(yaw)])
            best = max(best, abs(float(offset @ axis)) - self._along(yaw) - other._along(yaw))
        return float(best)

    def _along(self, yaw: float) -> float:
        """Half its extent [m] along a world direction."""
        turn = yaw - self.yaw
        return self.half[0] * abs(float(np.cos(turn))) + self.half[1] * abs(float(np.sin(turn)))


class Floor:
    """What stands on the floor, seen from above, for a vehicle to keep clear of, even where it could go underneath."""

    def __init__(self, control: Controller) -> None:
        length, width = control.robot.base.footprint
        self._half = (length / 2, width / 2)
        height = control.robot.arm_height
        self.furniture: dict[str, Rectangle] = {}
        world = control.world
        for item in world.scenario.scene.items:
            low, high = (np.asarray(corner) for corner in world.assets[item.id].extents)
            T = world.item_pose(item.id)
            if not item.fixed or item.parent is not None or T[2, 3] + low[2] > height:
                continue
            centre = T[:3, :3] @ ((low + high) / 2) + T[:3, 3]
            half = (float(high[0] - low[0]) / 2, float(high[1] - low[1]) / 2)
            self.furniture[item.id] = Rectangle(centre[:2], half, float(np.arctan2(T[1, 0], T[0, 0])))
        scene = world.scenario.scene
        parts = [piece for wall in scene.walls for piece in pieces(wall)]
        self.walls = {f"wall_{k}": Rectangle(np.array(p.centre), p.half, p.yaw) for k, p in enumerate(parts)}
        self._rooms = scene.rooms if scene.walls else ()
        self._doorways = doorways(scene)

    def nearest(self, base: tf.Float) -> tuple[float, str]:
        """Gap [m] from the vehicle at (x, y, yaw) to the nearest furniture, and its id; infinite when there is none."""
        vehicle = Rectangle(base[:2], self._half, float(base[2]))
        others = (*self.furniture.items(), *self.walls.items())
        return min(((vehicle.gap(other), name) for name, other in others), default=(np.inf, ""))

    def clear(self, base: tf.Float, room: float) -> bool:
        """Whether the vehicle at (x, y, yaw) keeps `room` [m] from all furniture."""
        return self.nearest(base)[0] >= room - 1e-9

    def room(self, point: tf.Float) -> str | None:
        """The room in which a world point (x, y, ...) is; None outside, and where there are no rooms."""
        return next((room.name for room in self._rooms if room.holds(float(point[0]), float(point[1]))), None)

    def passages(self, start: tf.Float, goal: tf.Float) -> list[tuple[tf.Float, tf.Float]]:
        """Doorways on the way from a room to another, each as the places (x, y, yaw) before it and behind it."""
        if self.room(start) == self.room(goal):
            return []
        found = []
        for T in self._doorways:
            through = T[:2, 0] if T[:2, 0] @ (goal[:2] - start[:2]) > 0 else -T[:2, 0]
            yaw = float(np.arctan2(through[1], through[0]))
            before, behind = (np.array([*(T[:2, 3] + side * AHEAD * through), yaw]) for side in (-1.0, 1.0))
            found.append((before, behind))
        return found


class Aisle(BaseSpace):
    """Places (x, y, yaw) a vehicle can be at, the arm as it is: clear of everything, and beside furniture, never under it."""

    def __init__(self, control: Controller, goal: tf.Float, floor: Floor) -> None:
        super().__init__(control, goal)
        self._floor = floor

    def hit(self, configuration: tf.Float, clearance: float = TOUCH) -> Hit | None:
        """See `Space.hit`."""
        gap, name = self._floor.nearest(configuration)
        return Hit("robot", name, gap) if gap < clearance - 1e-9 else super().hit(configuration, clearance)


def stands(control: Controller, zone: str, points: list[tf.Float], floor: Floor) -> list[tf.Float]:
    """Places (x, y, yaw) at the furniture `zone` from which world `points` (3,) may be reached, best first.

    Best: square to the front, right before the points, the points neither near nor far. Furniture does not overlap them; doors
    and things may.
    """
    asset, T_zone = control.world.assets[zone], control.world.item_pose(zone)
    low, high = (np.asarray(corner)[:2] for corner in asset.extents)
    ahead = float(np.arctan2(T_zone[1, 0], T_zone[0, 0]))
    target = np.mean(points, axis=0)[:2] - T_zone[:2, 3]
    arm = _arm_in_base(control)
    length, width = control.robot.base.footprint
    ranked: list[tuple[float, tf.Float]] = []
    for side, aside in SIDES:
        normal = np.array([np.cos(ahead + side), np.sin(ahead + side)])
        along = np.array([-normal[1], normal[0]])
        local = np.array([np.cos(side), np.sin(side)])
        face = float(np.maximum(local * low, local * high).sum())
        for turn in TURNS:
            deep = (length * abs(np.cos(turn)) + width * abs(np.sin(turn))) / 2
            yaw = ahead + side + np.pi + turn
            for gap in GAPS:
                for step in SIDESTEPS:
                    place = T_zone[:2, 3] + (face + gap + deep) * normal + (float(target @ along) + step) * along
                    base = np.array([place[0], place[1], yaw])
                    off = _off_reach(control, base, arm, points)
                    if off is not None:
                        ranked.append((aside + REACH_COST * off + SIDE_COST * abs(step) + TURN_COST * abs(turn), base))
    ranked.sort(key=lambda r: r[0])
    here = floor.room(T_zone[:2, 3])  # never from behind a wall
    return [base for _, base in ranked if floor.room(base) == here and floor.clear(base, ROOM)]


def _arm_in_base(control: Controller) -> tf.Float:
    """Where the arm's first axis stands on the vehicle (2,) [m]."""
    world = control.world
    anchor = world.data.xanchor[world.model.joint(ROBOT + control.robot.arm.joints[0]).id]
    local: tf.Float = tf.inverse(control.base_pose(control.base)) @ np.append(anchor, 1.0)
    return local[:2]


def _off_reach(control: Controller, base: tf.Float, arm: tf.Float, points: list[tf.Float]) -> float | None:
    """Mean distance [m] of the points from the best reach, seen from a place; None when one is certainly too far."""
    c, s = np.cos(base[2]), np.sin(base[2])
    x, y = base[0] + c * arm[0] - s * arm[1], base[1] + s * arm[0] + c * arm[1]
    off = 0.0
    for point in points:
        flat = float(np.hypot(point[0] - x, point[1] - y))
        if np.hypot(flat, point[2] - control.robot.arm_height) > control.robot.arm.reach:
            return None
        off += abs(flat - BEST_REACH)
    return off / len(points)


@contextmanager
def supposed(control: Controller, parts: tuple[str, ...]) -> Iterator[None]:
    """Inside the `with`, see the world with `parts` open and what lies in them moved along; nothing is simulated."""
    world = control.world
    before = world.data.qpos.copy()
    try:
        for name in parts:
            part = Articulation(control, name)
            if part.fraction < OPEN:
                suppose(part, OPEN)
        control.look()
        yield
    finally:
        world.data.qpos[:] = before
        mujoco.mj_kinematics(world.model, world.data)
        control.look()


def suppose(part: Articulation, fraction: float) -> None:
    """Put a part, and what lies in it, where it would be when open to `fraction`; the robot stays. Nothing is simulated."""
    control, world = part.control, part.control.world
    robot = np.concatenate([world.robot_qpos, *world.finger_qpos])
    stays = world.data.qpos[robot].copy()
    control.look()
    part.imagine(part.at(fraction))
    world.data.qpos[:] = control.checker.data.qpos
    world.data.qpos[robot] = stays
    mujoco.mj_kinematics(world.model, world.data)


def carrying(control: Controller) -> tf.Float:
    """Arm joints to drive with: the tool pulled in over the vehicle, what it holds as level as it is now.

    The home posture when nothing else is free.
    """
    control.look()
    R = control.checker.pose(control.joints)[:3, :3] if control.held is not None else _pointing_down(control)
    pointing = R[:2, 2] if np.hypot(*R[:2, 2]) > LEVEL else R[:2, 0]  # a hand that points down has its front ahead, as at home
    T_base = control.base_pose()
    forward = float(np.arctan2(T_base[1, 0], T_base[0, 0]) - np.arctan2(pointing[1], pointing[0]))
    starts = (control.kin.home, control.joints) if control.held is None else (control.joints, control.kin.home)
    for ahead in CARRY_FORWARD:
        for height in CARRY_HEIGHT:
            for turn in CARRY_TURNS[: 1 if control.held is None else None]:
                T = T_base @ tf.translate((ahead, 0.0, height))
                T[:3, :3] = tf.turn_z(forward + turn)[:3, :3] @ R
                for start in starts:
                    found = control.kin.inverse(tf.inverse(T_base) @ T, start)
                    if found.ok and control.checker.hit(found.joints, MARGIN) is None:
                        return found.joints
    return control.kin.home


@lru_cache(maxsize=8)
def _tucked(kin: Kinematics) -> tuple[float, ...]:
    T = kin.forward(kin.home)
    T[:3, 3] = CARRY_FORWARD[0], 0.0, CARRY_HEIGHT[0]
    return tuple(kin.inverse(T, kin.home).joints)


def fits(control: Controller) -> bool:
    """Whether the vehicle, its arm tucked in and its hand empty, keeps `ROOM` from everything where it is imagined to stand."""
    return control.checker.hit(np.array(_tucked(control.kin)), ROOM) is None


def _pointing_down(control: Controller) -> tf.Float:
    return (control.base_pose() @ control.kin.forward(control.kin.home))[:3, :3]


def route(control: Controller, goal: tf.Float, floor: Floor) -> list[tf.Float]:
    """Places (x, y, yaw) to drive to one after the other, the last is `goal`.

    Through doorways it goes straight, lined up with them. Within a room: straight there when the way is free; else backing off
    first, coming straight in last, or both, turning on the way, before or
    after it; else by sampled places; only `goal` when there is no way beside the furniture.
    """
    try:
        places, at = [], control.base
        for before, behind in floor.passages(at, goal):
            places += _leg(control, at, before, floor)
            at = _turned(places[-1], behind)
            places.append(at)
        return [*places, *_leg(control, at, goal, floor)]
    except MotionError:
        return [_turned(control.base, goal)]
    finally:
        control.look()


def _leg(control: Controller, start: tf.Float, goal: tf.Float, floor: Floor) -> list[tf.Float]:
    """Places to drive to from one place to another in the same room."""
    goal = _turned(start, goal)
    space = Aisle(control, goal, floor)
    for places in _ways(start, goal):
        if space.path_hit(np.array(places), PASSING, step=STEP) is None:
            return places[1:]
    return list(plan(start, goal, space, control.rng, stage="navigate")[1:])


def _turned(start: tf.Float, goal: tf.Float) -> tf.Float:
    """A place with its yaw counted so that the way from `start` turns by half a turn at most."""
    yaw = start[2] + (goal[2] - start[2] + np.pi) % (2 * np.pi) - np.pi
    return np.array([goal[0], goal[1], yaw])


def _ways(start: tf.Float, goal: tf.Float) -> Iterator[list[tf.Float]]:
    """Ways from start to goal, each a list of places; the plainest first."""
    ways = sorted(((a, b) for a in BACK for b in BACK), key=lambda w: ((w[0] > 0) + (w[1] > 0), w[0] + w[1]))
    for off, run_up in ways:
        first, last = _behind(start, off), _behind(goal, run_up)
        turned = (None, np.array([first[0], first[1], goal[2]]), np.array([last[0], last[1], start[2]]))
        for turn in turned:
            places = [start, first, *([] if turn is None else [turn]), last, goal]
            yield [places[0], *(b for a, b in pairwise(places) if np.abs(b - a).max() > 1e-9)]


def _behind(base: tf.Float, distance: float) -> tf.Float:
    return base - distance * np.array([np.cos(base[2]), np.sin(base[2]), 0.0])
