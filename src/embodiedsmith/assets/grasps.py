"""Families of grasps for two parallel fingers.

A grasp frame is the tool centre point: z the approach, y the closing direction, origin between the fingertips' pads.
The limits below are those of common hands (Franka Hand: 80 mm of opening, fingertips 9 mm beyond the tool centre point, palm
37 mm behind it; Robotiq 2F-85 is roomier).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from math import cos, pi, sin, sqrt
from typing import Literal

import mujoco
import numpy as np
from numpy.typing import ArrayLike

from embodiedsmith.assets.asset import Grasp
from embodiedsmith.spec import Pose

MAX_WIDTH = 0.07
"""Widest object an 80 mm opening takes with 5 mm of room on each side [m]."""
PALM = 0.034
"""Farthest the held part may reach from the tool centre point towards the palm [m], with 3 mm of room."""
TIP = 0.010
"""How far fingertips reach beyond the tool centre point [m]."""
PAD_HALF_WIDTH = 0.010
"""Half the width of a fingertip across closing and approach [m]."""
FLOOR_ROOM = 0.002
"""Room kept between fingertips and what the object stands on [m]."""
PITCHES = (90.0, 60.0, 45.0, 30.0, 0.0)
"""Slopes of the approach below the horizontal [degrees], from straight down to level."""


def grasp_pose(origin: ArrayLike, approach: ArrayLike, closing: ArrayLike) -> Pose:
    """The pose of a tool centre point from its origin [m] and two directions of any length, made orthogonal to the approach."""
    z = np.asarray(approach, dtype=np.float64)
    z = z / np.linalg.norm(z)
    y = np.asarray(closing, dtype=np.float64)
    y = y - z * (y @ z)
    y = y / np.linalg.norm(y)
    matrix = np.empty((3, 3))
    matrix[:, 0] = y[1] * z[2] - y[2] * z[1], y[2] * z[0] - y[0] * z[2], y[0] * z[1] - y[1] * z[0]
    matrix[:, 1], matrix[:, 2] = y, z
    quat = np.zeros(4)
    mujoco.mju_mat2Quat(quat, matrix.ravel())
    quat /= np.linalg.norm(quat)
    x0, y0, z0 = (float(value) for value in np.asarray(origin, dtype=np.float64))
    w, i, j, k = (float(value) for value in quat)
    return Pose(position=(x0, y0, z0), rotation=(w, i, j, k))


def azimuths(count: int, *, start: float = 0.0) -> tuple[float, ...]:
    """`count` directions round the vertical [rad], evenly spread from `start`."""
    return tuple(start + 2 * pi * index / count for index in range(count))


def _everywhere(_: float) -> bool:
    return True


def round_grasps(
    body: str,
    *,
    radius: float,
    top: float,
    center: float | None = None,
    directions: Iterable[float] = azimuths(12),
    pitches: Sequence[float] = PITCHES,
    heights: Sequence[float] = (),
    free: Callable[[float], bool] = _everywhere,
) -> Iterator[Grasp]:
    """Grasps across an upright round thing standing at z = 0, both fingers on its side.

    Args:
        body: body it belongs to.
        radius: of the body where it is held [m].
        top: height of what is under the palm [m].
        center: height at which to hold it [m]; None: as deep as a hand reaches from above, at most 20 mm.
        directions: azimuths the hand comes from when its approach is tilted or level, and of one finger when it comes from
            straight above [rad].
        pitches: slopes of the approach [degrees].
        heights: heights for level approaches [m]; empty: `center`.
        free: whether a finger may touch at that azimuth.
    """
    if 2 * radius > MAX_WIDTH + 1e-9:
        return
    rounds = tuple(directions)
    depth = max(top - 0.020, TIP + FLOOR_ROOM)
    for pitch in pitches:
        slope = np.radians(pitch)
        levels = heights if pitch == 0 and heights else (depth if center is None else center,)
        for height in levels:
            for azimuth in rounds:
                finger = azimuth if pitch == 90 else azimuth + pi / 2
                hand_free = pitch == 90 or free(azimuth)
                if not (free(finger) and free(finger + pi) and hand_free):
                    continue
                closing = (cos(finger), sin(finger), 0.0)
                approach = np.array([-cos(azimuth) * cos(slope), -sin(azimuth) * cos(slope), -sin(slope)])
                reach = radius * cos(slope) + max(0.0, top - height) * sin(slope)
                back = max(0.0, reach - PALM)
                origin = np.array([0.0, 0.0, height]) - approach * back
                if back * cos(slope) > 0.45 * radius or not _clear(origin, slope):
                    continue
                width = 2 * sqrt(radius**2 - (back * cos(slope)) ** 2)
                yield Grasp(body=body, pose=grasp_pose(origin, approach, closing), width=width, kind=_kind(pitch, "side"))


PALM_BEHIND, PALM_HALF = 0.037, 0.032
"""[m] the palm begins this far behind the tool centre point and is half this thick (Franka hand, from its collision box)."""
SHALLOWEST = 0.005  # [m] least depth of a pinch below the rim


def rim_grasps(
    body: str,
    *,
    radius: float,
    wall: float,
    rim: float,
    lean: float = pi / 2,
    depth: float = 0.012,
    directions: Iterable[float] = azimuths(12),
    pitches: Sequence[float] = (90.0, 60.0, 50.0),
    free: Callable[[float], bool] = _everywhere,
) -> Iterator[Grasp]:
    """Pinches of the wall of an open round vessel: one finger inside, one outside, pads flush with the wall.

    Straight down the wall first, in both turns of the hand; then tilted along the rim, from both sides, so that the hand
    stays low.

    Args:
        body: body it belongs to.
        radius: of the middle of the wall at its upper edge [m].
        wall: its true thickness [m].
        rim: height of its upper edge [m].
        lean: its slope from the horizontal, pi/2 when upright [rad]; the hand leans outwards as the wall does.
        depth: of the tool centre point below the edge, along the wall [m].
        directions: azimuths of the pinched places [rad].
        pitches: slopes of the approach in the plane of the wall [degrees].
        free: whether the wall is free at that azimuth.
    """
    rounds = tuple(azimuth for azimuth in directions if free(azimuth))
    up = np.array([0.0, 0.0, 1.0])
    for pitch in pitches:
        slope = np.radians(pitch)
        over = PALM_BEHIND * sin(slope) - PALM_HALF * cos(slope) - 0.001  # what the tilted palm leaves above the rim it crosses
        if over < SHALLOWEST:
            continue
        for azimuth in rounds:
            outward = np.array([cos(azimuth), sin(azimuth), 0.0])
            along = np.array([-sin(azimuth), cos(azimuth), 0.0])
            down = -outward * cos(lean) - up * sin(lean)
            normal = outward * sin(lean) - up * cos(lean)
            origin = radius * outward + rim * up + min(depth, over) * down
            if not _clear(origin, slope * sin(lean)):
                continue
            for side in (1.0, -1.0):
                approach = side * along * cos(slope) + down * sin(slope)
                closing = normal * (side if pitch == 90 else 1.0)
                yield Grasp(body=body, pose=grasp_pose(origin, approach, closing), width=wall, kind="rim")


def box_grasps(
    body: str, *, size: Sequence[float], pitches: Sequence[float] = PITCHES, heights: Sequence[float] = (), depth: float = 0.020
) -> Iterator[Grasp]:
    """Grasps across a box standing at z = 0: from above, tilted about the closing direction, and level.

    For each side that fits the hand, in both turns. `size` full extents, `depth` of the tool centre point below the top when
    the approach is not level, `heights` for level approaches (empty: half-way up) [m].
    """
    axes = sorted((axis for axis in (0, 1) if size[axis] <= MAX_WIDTH + 1e-9), key=lambda axis: size[axis])
    over = max(size[2] - depth, TIP + FLOOR_ROOM)
    for pitch in pitches:
        slope = np.radians(pitch)
        for height in (heights or (size[2] / 2,)) if pitch == 0 else (over,):
            for closing_axis in axes:
                closing, along = np.eye(3)[closing_axis], np.eye(3)[1 - closing_axis]
                reach = size[1 - closing_axis] / 2
                # Tilted, the hand comes over the near edge: as far in as its palm allows, at most to the middle.
                short = max(0.0, reach * cos(slope) + (size[2] - height) * sin(slope) - PALM)
                out = 0.0 if pitch == 90 else short / cos(slope)
                if out > reach - PAD_HALF_WIDTH:
                    continue
                for side in (1.0, -1.0):
                    approach = side * along * cos(slope) - np.array([0.0, 0.0, sin(slope)])
                    origin = np.array([0.0, 0.0, height]) - side * along * out
                    if not _clear(origin, slope):
                        continue
                    turned = grasp_pose(origin, approach, closing * side)
                    yield Grasp(body=body, pose=turned, width=size[closing_axis], kind=_kind(pitch, "side"))


def bar_grasps(
    body: str, *, points: Iterable[ArrayLike], along: ArrayLike, width: float, pitches: Sequence[float] = (90.0, 60.0, 45.0)
) -> Iterator[Grasp]:
    """Grasps across a lying bar at `points` [m]: closing level and across it, straight down or tilted along the bar.

    `along` is the bar's level direction, `width` its extent across.
    """
    direction = np.asarray(along, dtype=np.float64)
    direction = direction / np.linalg.norm(direction)
    closing = np.cross([0.0, 0.0, 1.0], direction)
    for pitch in pitches:
        slope = np.radians(pitch)
        for point in points:
            for side in (1.0, -1.0):
                approach = side * direction * cos(slope) - np.array([0.0, 0.0, sin(slope)])
                origin = np.asarray(point, dtype=np.float64)
                if not _clear(origin, slope):
                    continue
                turned = grasp_pose(origin, approach, closing * side)
                yield Grasp(body=body, pose=turned, width=width, kind=_kind(pitch, "bar"))


def _kind(pitch: float, tilted: Literal["side", "bar"]) -> Literal["top", "side", "bar"]:
    return "top" if pitch == 90 else tilted


def _clear(origin: ArrayLike, slope: float) -> bool:
    """Whether fingertips keep clear of z = 0 when the approach slopes down by `slope` [rad]."""
    lowest = float(np.asarray(origin, dtype=np.float64)[2]) - TIP * sin(slope) - PAD_HALF_WIDTH * cos(slope)
    return lowest > FLOOR_ROOM - 1e-9


def ball_grasps(
    body: str, *, radius: float, directions: Iterable[float] = azimuths(12), pitches: Sequence[float] = PITCHES
) -> Iterator[Grasp]:
    """Grasps across a ball resting on z = 0, through its centre or, when it is too big for the palm, just before it."""
    back = max(0.0, radius - PALM)
    width = 2 * sqrt(radius**2 - back**2)
    if width > MAX_WIDTH + 1e-9:
        return
    rounds = tuple(directions)
    for pitch in pitches:
        slope = np.radians(pitch)
        for azimuth in rounds:
            approach = np.array([-cos(azimuth) * cos(slope), -sin(azimuth) * cos(slope), -sin(slope)])
            closing = (-sin(azimuth), cos(azimuth), 0.0)
            origin = np.array([0.0, 0.0, radius]) - approach * back
            if not _clear(origin, slope):
                continue
            yield Grasp(body=body, pose=grasp_pose(origin, approach, closing), width=width, kind=_kind(pitch, "side"))


def edge_grasps(
    body: str, *, size: Sequence[float], wall: float, depth: float = 0.013, pitches: Sequence[float] = (90.0, 60.0)
) -> Iterator[Grasp]:
    """Pinches of the four walls of an open box standing at z = 0: at the middle of each, then nearer its corners.

    `size` outer extents, `wall` thickness [m]; tilted approaches lean along the wall.
    """
    for pitch in pitches:
        slope = np.radians(pitch)
        for share in (0.0, 0.25, -0.25):
            for axis in sorted((0, 1), key=lambda axis: size[axis]):
                outward, along = np.eye(3)[axis], np.eye(3)[1 - axis]
                for side in (1.0, -1.0):
                    origin = side * outward * (size[axis] - wall) / 2 + along * share * size[1 - axis]
                    origin = origin + np.array([0.0, 0.0, size[2] - depth])
                    if not _clear(origin, slope):
                        continue
                    for turn in (1.0, -1.0):
                        approach = turn * along * cos(slope) - np.array([0.0, 0.0, sin(slope)])
                        pose = grasp_pose(origin, approach, turn * outward)
                        yield Grasp(body=body, pose=pose, width=wall, kind="rim")
