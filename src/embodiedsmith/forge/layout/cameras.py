"""Where the cameras and lights of a laid-out scene go: they must see what the task is about."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from embodiedsmith.forge.layout.attempt import Attempt
from embodiedsmith.forge.layout.prisms import Float, Kind, Prism
from embodiedsmith.forge.layout.volumes import apply
from embodiedsmith.spec import CameraSpec, LightSpec
from embodiedsmith.world import transforms as tf

FOVY = 48.0  # [degrees]
FILL = 0.93  # distance as a fraction of that from which a ball round all that matters fits into the picture: it is mostly empty
UPWARDS = 0.7  # a cavity whose opening points up by more than this cosine is seen into from above
ROOM_EDGE = 0.4  # [m] shown beyond the things in several rooms, which are at the far ends of furniture
ROOM_VIEW = 1.1  # [m] least radius of what a camera of a room shows: the furniture and a robot before it
BEFORE_HANDLE = 0.08  # [m]
FACING = 0.2  # least cosine between the way to the eye and the normal of a front that is seen
FRONTS = 3  # what a front counts that the task opens or fills, against 1 for a thing
SPREAD = (
    0.0,
    0.2,
    -0.2,
    0.4,
    -0.4,
    0.65,
    -0.65,
    0.95,
    -0.95,
    1.25,
    -1.25,
    1.6,
    -1.6,
    1.9,
    -1.9,
)  # [rad] azimuths tried, from the best one outwards


@dataclass(frozen=True)
class Sight:
    """A point to be seen."""

    point: Float
    """World position [m]."""
    normal: Float | None = None
    """Unit vector out of the side it is to be seen from; None: any."""

    @property
    def weight(self) -> int:
        """What it counts: where the work is done, more than a thing that is lifted into view anyway."""
        return 1 if self.normal is None else FRONTS

    def faces(self, eye: Float) -> bool:
        """Whether an eye is on its side."""
        way = eye - self.point
        return self.normal is None or float(self.normal @ way) > FACING * float(np.linalg.norm(way))


def look(attempt: Attempt) -> tuple[CameraSpec, ...]:
    """`front`, opposite the robot, and `over_shoulder`, behind and above it: each from the first side that sees everything.

    Of several rooms each has a camera more, of its name.
    """
    sights, focus, radius = _interest(attempt)
    shift = float(attempt.rng.uniform(-0.1, 0.1))
    front = _best(attempt, sights, focus, radius, azimuth=attempt.base.yaw + shift, pitch=math.radians(32))
    behind = _best(attempt, sights, focus, radius, azimuth=attempt.base.yaw + math.pi + 0.45, pitch=math.radians(48))
    return (_camera("front", front, focus), _camera("over_shoulder", behind, focus), *_of_rooms(attempt, sights))


def _of_rooms(attempt: Attempt, sights: list[Sight]) -> Iterator[CameraSpec]:
    """Where there are several rooms, one that looks from above into each in which something is to be seen."""
    for room in attempt.rooms if len(attempt.rooms) > 1 else ():
        inside = [sight for sight in sights if room.holds(*sight.point[:2])]
        if not inside or room.middle is None:
            continue
        points = np.array([sight.point for sight in inside])
        focus = (points.min(axis=0) + points.max(axis=0)) / 2
        radius = float(np.linalg.norm(points - focus, axis=1).max())
        eye = _best(attempt, inside, focus, max(ROOM_VIEW, radius), azimuth=room.middle.yaw + math.pi, pitch=math.radians(50))
        yield _camera(room.name, eye, focus)


def lights(attempt: Attempt) -> tuple[LightSpec, ...]:
    """A key light before the robot and a weaker one behind it, above everything."""
    _, focus, radius = _interest(attempt)
    rng = attempt.rng
    x, y, z = (float(v) for v in focus)
    reach = max(1.0, radius)
    key = (x + 0.6 * reach * float(rng.uniform(0.5, 1.0)), y + reach * float(rng.choice((-0.8, 0.8))), z + 1.8 + 0.5 * reach)
    fill = (x - 0.8 * reach, y - 0.5 * reach * math.copysign(1.0, key[1] - y), z + 2.0 + 0.5 * reach)
    return (
        LightSpec(name="key", position=key, target=(x, y, z), intensity=0.55),
        LightSpec(name="fill", position=fill, target=(x, y, z), intensity=0.25),
    )


def _interest(attempt: Attempt) -> tuple[list[Sight], Float, float]:
    """What is to be seen, its middle, and the radius round it that holds the work and the robot's arm."""
    wanted = [i for i in attempt.roots if attempt.needs.concerns(i) or not attempt.items[i].fixed]
    if not wanted:
        wanted = list(attempt.roots)
    points = [attempt.roots[i][:3, 3] + (0, 0, attempt.built[i].size[2] / 2) for i in wanted]
    fronts = [*_handles(attempt), *_mouths(attempt)]
    points += [sight.point for sight in fronts]
    x, y, z = attempt.base.position
    z += attempt.robot.arm_height
    c, s = math.cos(attempt.base.yaw), math.sin(attempt.base.yaw)
    work = [(x + 0.1 * c, y + 0.1 * s, z + 0.6), (x + 0.55 * c, y + 0.55 * s, z + 0.05)]  # the arm, and where it works
    everything = np.array([*points, *work])
    focus = (everything.min(axis=0) + everything.max(axis=0)) / 2
    radius = float(np.linalg.norm(everything - focus, axis=1).max())
    plain = [Sight(np.asarray(point)) for point in (*points[: len(wanted)], work[0])]
    return [*plain, *fronts], focus, max(0.5, radius + (ROOM_EDGE if len(attempt.rooms) > 1 else 0.08))


def _handles(attempt: Attempt) -> list[Sight]:
    """Points just before the handles that the task moves, seen from the side one pulls to."""
    moved = {(part.item, part.joint) for part in attempt.needs.parts if part.required}
    return [
        Sight(apply(attempt.roots[item], np.add(sweep.grips[:1], (BEFORE_HANDLE, 0.0, 0.0)))[0], attempt.roots[item][:3, 0])
        for item in attempt.roots
        for sweep in attempt.spaces[item].sweeps
        if (item, sweep.joint) in moved and len(sweep.grips)
    ]


def _mouths(attempt: Attempt) -> list[Sight]:
    """Points in the openings of what the task puts things into from the front, seen from outside."""
    found = []
    for target in attempt.needs.targets:
        asset = attempt.built[target.place]
        fronts = [c for c in asset.affordances.cavities if c.opening[2] < UPWARDS and c.body == "root"]
        for cavity in fronts:
            if target.part in (None, cavity.name):
                before = np.multiply(cavity.opening, np.asarray(cavity.size) / 2 + BEFORE_HANDLE)
                mouth = before + np.array([0.0, 0.0, cavity.size[2] / 2])
                T = attempt.roots[target.place] @ tf.matrix(cavity.pose)
                found.append(Sight(apply(T, mouth[None])[0], T[:3, :3] @ np.asarray(cavity.opening)))
    return found


def _best(attempt: Attempt, sights: list[Sight], focus: Float, radius: float, *, azimuth: float, pitch: float) -> Float:
    away = FILL * radius / math.sin(math.radians(FOVY / 2))
    best, most = focus, -1
    screens = _Screens([p for p in attempt.plan.prisms if p.kind in (Kind.FIXED, Kind.MOUNT, Kind.ARM)])
    points = np.array([sight.point for sight in sights])
    everything = sum(s.weight for s in sights)
    for lift in (0.0, 0.25, 0.5):
        for spread in SPREAD:
            angle, up = azimuth + spread, pitch + lift
            eye = focus + away * np.array([math.cos(up) * math.cos(angle), math.cos(up) * math.sin(angle), math.sin(up)])
            hidden = screens.hide(eye, points)
            seen = sum(s.weight for s, behind in zip(sights, hidden, strict=True) if not behind and s.faces(eye))
            if seen > most:
                best, most = eye, seen
            if most == everything:
                return best
    return best


class _Screens:
    """What hides things: furniture, the robot's mount, and its arm as it is held at the start."""

    def __init__(self, prisms: list[Prism]) -> None:
        turns = np.array([p.yaw for p in prisms])
        c, s = np.cos(turns), np.sin(turns)
        self._turn = np.stack([np.stack([c, s], axis=-1), np.stack([-s, c], axis=-1)], axis=-2)  # (p, 2, 2) world to prism
        self._center = np.array([p.center for p in prisms]).reshape(-1, 2)
        self._low = np.array([(-p.half[0], -p.half[1], p.low) for p in prisms]).reshape(-1, 3)
        self._high = np.array([(*p.half, p.high) for p in prisms]).reshape(-1, 3)

    def hide(self, eye: Float, points: Float) -> NDArray[np.bool_]:
        """Which points (n, 3) lie behind any of them for an eye (3,); a point inside or on one is not hidden by it."""
        if not len(self._center):
            return np.zeros(len(points), dtype=bool)
        start, end = self._seen_from(eye[None]), self._seen_from(points)  # (p, 1, 3), (p, n, 3)
        low, high = self._low[:, None], self._high[:, None]
        on = ((end > low - 0.03) & (end < high + 0.03)).all(axis=2)
        way = end - start
        way = np.where(np.abs(way) < 1e-9, 1e-9, way)
        enter, leave = (low - start) / way, (high - start) / way
        first, last = np.minimum(enter, leave).max(axis=2), np.maximum(enter, leave).min(axis=2)
        return np.asarray((~on & (first < last) & (first > 0.0) & (first < 0.98)).any(axis=0))

    def _seen_from(self, points: Float) -> Float:
        """Points (n, 3) in every prism's own frame (p, n, 3)."""
        flat = np.einsum("pij,pnj->pni", self._turn, points[None, :, :2] - self._center[:, None])
        heights = np.broadcast_to(points[None, :, 2:], (*flat.shape[:2], 1))
        return np.concatenate([flat, heights], axis=2)


def _camera(name: str, eye: Float, focus: Float) -> CameraSpec:
    x, y, z = (float(v) for v in eye)
    fx, fy, fz = (float(v) for v in focus)
    return CameraSpec(name=name, position=(x, y, z), target=(fx, fy, fz), fovy=FOVY)
