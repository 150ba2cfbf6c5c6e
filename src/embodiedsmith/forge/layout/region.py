"""Level areas on and in things, and the poses in which an item fits there."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from embodiedsmith.forge.layout import before, reach
from embodiedsmith.forge.layout.prisms import Float, grown
from embodiedsmith.spec import Pose
from embodiedsmith.tasks.sides import toward

if TYPE_CHECKING:
    from embodiedsmith.forge.layout.attempt import Attempt

TURN_PLAY = 0.25  # [rad] by which furniture may look past the robot
STEP = np.array([0.08, 0.15])  # [m] by which furniture is moved towards where it is within reach
REACH_DRAWS = 12  # points drawn for one that the robot reaches
BACK = 0.6  # chance that furniture on a surface stands in the rear part of it
REAR = 0.35  # that part
ROUNDING = 1e-9  # [m]
TURN_LIMIT = math.radians(60)  # furniture on a surface is turned towards the robot by at most this


@dataclass(frozen=True)
class Region:
    """A level area in which an item is to stand."""

    item: str
    T_world: Float
    size: tuple[float, float]
    shape: str
    carrier: str
    front: bool
    """Whether it is reached from its front (+x) only."""

    def draw(self, attempt: Attempt, heading: float | None, *, varies: bool = True) -> Pose | None:
        """A pose with room to the edges, and for the reset's variation when it `varies`; None when the yaw drawn does not fit."""
        rng = attempt.rng
        jitter, turn = (attempt.jitter, attempt.turn) if varies else (0.0, 0.0)
        part = self._part(attempt)
        if heading is None:
            yaw = float(rng.uniform(-math.pi, math.pi))
        else:
            world = self.T_world @ np.array([*part * self.size, 0.0, 1.0])
            toward = math.atan2(world[1] - attempt.base.position[1], world[0] - attempt.base.position[0])
            yaw = toward + heading + float(rng.uniform(-0.5, 0.5)) - self._turned()
        if self._tight(attempt, jitter, turn):  # no room to play: the middle, square to it
            pose = self._middle(attempt, float(rng.integers(4)) * math.pi / 2)
            return pose if self._within(attempt, pose, 0.0, 0.0) else self._middle(attempt, 0.0)
        points = self._footprint(attempt, yaw, turn)
        within = np.asarray(self.size) / 2 - self._edge(attempt) - jitter
        low, high = -within - points.min(axis=0), within - points.max(axis=0)
        x, y = (float(v) for v in low + (part + 0.5) * (high - low))
        pose = Pose.planar(x, y, 0.0, yaw)
        return pose if self._within(attempt, pose, jitter, turn) else None

    def _part(self, attempt: Attempt) -> Float:
        """A point of the region as parts of its size, shape (2,): where the task concerns the item, preferably within reach."""
        rng = attempt.rng
        low = -0.15 if self.front and attempt.anticipate else -0.5
        item = attempt.items[self.item]
        for _ in range(REACH_DRAWS):
            part = np.array([rng.uniform(low, 0.5), rng.uniform(-0.5, 0.5)])
            world = self.T_world @ np.array([*part * self.size, 0.0, 1.0])
            if self.front or item.fixed or reach.point_excess(attempt, self.item, world) <= 0:
                break
        return part

    def draw_facing(self, attempt: Attempt) -> Pose | None:
        """A pose for furniture: its front towards the robot, turned at most `TURN_LIMIT` from looking over the near edge.

        Without regard to the task it faces any of the four ways.
        """
        rng = attempt.rng
        x, y = rng.uniform(-0.5, 0.5, 2) * self.size
        if not attempt.anticipate:
            return self._facing(attempt, np.array([x, y]), turn=float(rng.integers(4)) * math.pi / 2)
        if rng.random() < BACK:
            x = (REAR * rng.random() - 0.5) * self.size[0]
        play = float(rng.uniform(-TURN_PLAY, TURN_PLAY))
        return reach.climbed(
            attempt,
            attempt.items[self.item],
            self.T_world,
            np.array([x, y]),
            STEP,
            lambda at: self._facing(attempt, at, play=play),
        )

    def _facing(self, attempt: Attempt, at: Float, *, play: float = 0.0, turn: float | None = None) -> Pose | None:
        """A pose near a point (2,), as near as the edges allow; with a given turn, or towards the robot but for some play."""
        x, y = (float(v) for v in at)
        kept = before.room(attempt, self.item)
        before_it = self.T_world[:3, :3].T @ toward("in_front_of", attempt.base)
        for _ in range(2):  # the turn decides how far it may stand to the side, and that decides the turn
            yaw = self._turn_to_robot(attempt, x, y, play) if turn is None else turn
            points = self._footprint(attempt, yaw, 0.0)
            low, high = -np.asarray(self.size) / 2 - points.min(axis=0), np.asarray(self.size) / 2 - points.max(axis=0)
            if kept > 0:
                axis = int(np.abs(before_it).argmax())
                edge, other = (high, low) if before_it[axis] > 0 else (low, high)
                edge[axis] -= kept * float(np.sign(before_it[axis]))
                if (low <= high).all():  # no farther back than need be: what is in it is to be reached, too
                    back = edge[axis] - before.FREEDOM * float(np.sign(before_it[axis]))
                    other[axis] = np.clip(back, low[axis], high[axis])
            if (low > high).any():
                return None
            x, y = float(np.clip(x, low[0], high[0])), float(np.clip(y, low[1], high[1]))
        return Pose.planar(x, y, 0.0, yaw)

    def _turn_to_robot(self, attempt: Attempt, x: float, y: float, play: float) -> float:
        """Yaw in the region's frame with which furniture at (x, y) faces a fixed robot; for one that drives, the region's own."""
        if not attempt.robot.base.stands:
            return play
        world = self.T_world @ np.array([x, y, 0.0, 1.0])
        toward = math.atan2(attempt.base.position[1] - world[1], attempt.base.position[0] - world[0])
        edge = attempt.base.yaw + math.pi  # out over the edge at which the robot stands
        turn = (toward - edge + math.pi) % (2 * math.pi) - math.pi + play
        return edge + float(np.clip(turn, -TURN_LIMIT, TURN_LIMIT)) - self._turned()

    def _footprint(self, attempt: Attempt, yaw: float, turn: float) -> Float:
        """Corners of the item's footprint about its root at a yaw, grown for turns up to `turn`, shape (4, 2)."""
        low, high = attempt.built[self.item].extents
        half = grown(((high[0] - low[0]) / 2, (high[1] - low[1]) / 2), turn)
        middle = np.array([(low[0] + high[0]) / 2, (low[1] + high[1]) / 2])
        c, s = math.cos(yaw), math.sin(yaw)
        signs = np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]])
        points: Float = (signs * half + middle) @ np.array([[c, s], [-s, c]])
        return points

    def holds(self, attempt: Attempt, pose: Pose) -> bool:
        """Whether the item's footprint there, with the reset's variation, stays within."""
        return self._within(attempt, pose, attempt.jitter, attempt.turn)

    def _within(self, attempt: Attempt, pose: Pose, jitter: float, turn: float) -> bool:
        points = self._footprint(attempt, pose.yaw, turn) + pose.position[:2]
        limit = np.asarray(self.size) / 2 - self._edge(attempt) - jitter + ROUNDING
        if self.shape == "disc":
            return bool(np.linalg.norm(points, axis=1).max() <= limit[0])
        return bool((np.abs(points) <= limit).all())

    def _edge(self, attempt: Attempt) -> float:
        """Room [m] left to the edges."""
        return 0.01 + 0.015 * attempt.comfort

    def _tight(self, attempt: Attempt, jitter: float, turn: float) -> bool:
        """Whether the item would not fit anywhere at any yaw with its variation."""
        return not any(self._within(attempt, self._middle(attempt, yaw), jitter, turn) for yaw in (0.0, math.pi / 2))

    def _middle(self, attempt: Attempt, yaw: float) -> Pose:
        low, high = attempt.built[self.item].extents
        x, y = (low[0] + high[0]) / 2, (low[1] + high[1]) / 2
        c, s = math.cos(yaw), math.sin(yaw)
        return Pose.planar(-(c * x - s * y), -(s * x + c * y), 0.0, yaw)

    def _turned(self) -> float:
        return math.atan2(self.T_world[1, 0], self.T_world[0, 0])
