"""Grasps of an unknown shape: opposite points of its true surface, in the order of promise, kept when they hold in physics.

Two points are antipodal when the line between them lies inside both friction cones (Nguyen, Constructing Force-Closure Grasps,
1988). Approaches are those of the catalogue's families: straight down, sloping and level, across the line.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import cos, radians, sin
from typing import Literal

import numpy as np
import trimesh

from embodiedsmith.assets.asset import Grasp
from embodiedsmith.assets.grasps import FLOOR_ROOM, MAX_WIDTH, PAD_HALF_WIDTH, PALM, TIP, grasp_pose
from embodiedsmith.assets.imported.surface import Float
from embodiedsmith.assets.imported.trials import Holding, Rays

CONE = np.radians(14.0)
"""Half angle of the cone round the surface normal within which the closing direction lies [rad]: pads lie flat, and a friction
coefficient of 0.25 would do."""
SAMPLES = 1500
"""Points of the surface looked at."""
LEVEL = 0.26
"""Most that the closing direction may rise [sine]: fingers side by side, 15 degrees."""
PITCHES = (90.0, 60.0, 45.0, 30.0, 0.0)
"""Slopes of the approach below the horizontal [degrees]."""
THINNEST = 0.001
"""Thinnest wall that can be pinched [m]."""
MOST_BACK = 0.006
"""Farthest that the tool centre point may be drawn back from what it holds [m]: the pads end 9 mm beyond it."""
MOST_TRIED = 140
"""Grasps tried in physics."""
ENOUGH = 48
"""Grasps that hold, after which no more are tried."""
APART = 0.012
"""Least distance of two grasps that point alike [m]."""
ALIKE = 0.9
"""Cosine above which two directions count as one."""

Kind = Literal["top", "side", "rim", "bar"]


def find_grasps(rays: Rays, holding: Holding, rng: np.random.Generator, center: Float) -> tuple[tuple[Grasp, ...], int]:
    """Grasps that held, best first, and how many were tried. `center` is the centre of mass [m]."""
    candidates = sorted(_candidates(rays, rng), key=lambda grasp: _promise(grasp, center))
    kept: list[Grasp] = []
    tried = 0
    for grasp in _spread(candidates):
        if len(kept) >= ENOUGH or tried >= MOST_TRIED:
            break
        if not holding.fits(grasp):
            continue
        tried += 1
        if holding.holds(grasp):
            kept.append(grasp)
    return tuple(sorted(kept, key=lambda grasp: _promise(grasp, center))), tried


def _candidates(rays: Rays, rng: np.random.Generator) -> Iterator[Grasp]:
    points, faces = trimesh.sample.sample_surface(rays.mesh, SAMPLES, seed=int(rng.integers(2**31)))
    normals = np.asarray(rays.mesh.face_normals[faces], dtype=np.float64)
    for point, normal in zip(np.asarray(points, dtype=np.float64), normals, strict=True):
        if abs(normal[2]) > LEVEL:
            continue
        for other in _opposite(rays, point, normal):
            yield from _approaches(rays, point, other)


def _opposite(rays: Rays, point: Float, normal: Float) -> Iterator[Float]:
    """Points across from one: behind the wall that it is on, and on the far side of all that fits between the fingers."""
    inward = -normal * [1.0, 1.0, 0.0]  # fingers close level
    inward /= np.linalg.norm(inward)
    through = rays.distance(point + 1e-4 * inward, inward) + 1e-4
    beyond = MAX_WIDTH + 2e-3
    back = rays.distance(point + beyond * inward, -inward)
    widths = {round(width, 5) for width in (through, beyond - back) if THINNEST < width <= MAX_WIDTH}
    for width in sorted(widths):
        other = point + width * inward
        facing = _normal_at(rays, other)
        if float(-normal @ inward) > cos(CONE) and float(facing @ inward) > cos(CONE):
            yield other


def _normal_at(rays: Rays, point: Float) -> Float:
    """Outward normal of the face nearest to a point on the surface."""
    middles = rays.mesh.triangles_center
    near = np.argsort(np.linalg.norm(middles - point, axis=1))[:12]
    closest = trimesh.triangles.closest_point(rays.mesh.triangles[near], np.repeat(point[None], len(near), axis=0))
    best = near[int(np.argmin(np.linalg.norm(closest - point, axis=1)))]
    return np.asarray(rays.mesh.face_normals[best], dtype=np.float64)


def _approaches(rays: Rays, point: Float, other: Float) -> Iterator[Grasp]:
    closing = other - point
    width = float(np.linalg.norm(closing))
    closing = closing / width
    along = np.array([-closing[1], closing[0], 0.0])
    middle = (point + other) / 2
    for pitch in PITCHES:
        slope = radians(pitch)
        for side in (1.0, -1.0):
            approach = side * along * cos(slope) - np.array([0.0, 0.0, sin(slope)])
            over = _over(rays, middle, approach, closing, width) - PALM
            low = middle[2] - TIP * sin(slope) - PAD_HALF_WIDTH * cos(slope)
            under = (FLOOR_ROOM + 1e-6 - low) / sin(slope) if pitch else (np.inf if low < FLOOR_ROOM else 0.0)
            back = max(0.0, over, under)
            if back > MOST_BACK:
                continue
            pose = grasp_pose(middle - back * approach, approach, closing * side)
            yield Grasp(body="root", pose=pose, width=width, kind=_kind(pitch, width))


def _over(rays: Rays, origin: Float, approach: Float, closing: Float, width: float) -> float:
    """How far the thing reaches from the tool centre point towards the palm, seen along three lines [m]."""
    reach = 0.0
    for share in (-0.35, 0.0, 0.35):
        start = origin + share * width * closing - 0.2 * approach
        distance = rays.distance(start, approach)
        if distance < 0.2:
            reach = max(reach, 0.2 - distance)
    return reach


def _kind(pitch: float, width: float) -> Kind:
    if width < 0.012:
        return "rim" if pitch == 90 else "bar"
    return "top" if pitch == 90 else "side"


def _promise(grasp: Grasp, center: Float) -> tuple[float, float]:
    """Less is better: straight down before sloping, then near the centre of mass, which then hangs little beside the pads."""
    z = _axis(grasp)
    pitch = float(np.degrees(np.arcsin(np.clip(-z[2], -1, 1))))
    return float(sum(pitch < limit for limit in (80, 52, 38, 15))), float(
        np.linalg.norm(np.asarray(grasp.pose.position) - center)
    )


def _axis(grasp: Grasp) -> Float:
    w, x, y, z = grasp.pose.rotation
    return np.array([2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)])


def _closing(grasp: Grasp) -> Float:
    w, x, y, z = grasp.pose.rotation
    return np.array([2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x)])


def _spread(ranked: Sequence[Grasp]) -> Iterator[Grasp]:
    """Those that differ from all before them; first one of each tier in turn, so that no direction is left to the end."""
    tiers: dict[float, list[Grasp]] = {}
    seen: list[tuple[Float, Float, Float]] = []
    center = np.zeros(3)
    for grasp in ranked:
        place, z, y = np.asarray(grasp.pose.position), _axis(grasp), _closing(grasp)
        if any(np.linalg.norm(place - p) < APART and z @ zz > ALIKE and abs(y @ yy) > ALIKE for p, zz, yy in seen):
            continue
        seen.append((place, z, y))
        tiers.setdefault(_promise(grasp, center)[0], []).append(grasp)
    for k in range(max((len(tier) for tier in tiers.values()), default=0)):
        for tier in sorted(tiers):
            if k < len(tiers[tier]):
                yield tiers[tier][k]
