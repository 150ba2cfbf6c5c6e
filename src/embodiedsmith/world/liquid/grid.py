"""Signed distance grids of rigid bodies, from the same convex shapes that rigid things touch with.

Distances are to the outer surface of the union, sampled densely; samples that lie inside another of the shapes are no surface.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import math
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import mujoco
import numpy as np
from numpy.typing import NDArray
from scipy.spatial import ConvexHull, QhullError, cKDTree

from embodiedsmith.runtime.files import StorageError, write_atomic
from embodiedsmith.runtime.home import cache_directory
from embodiedsmith.world import transforms as tf

Float = NDArray[np.float64]

PAD = 0.012
"""[m] the grid reaches beyond the shapes, and distances are told up to this; farther away is said to be so far."""
CELL_PER_WALL = 0.7
"""Cells are at most this fraction of the thinnest wall, so that both of its faces are told apart."""
FINEST, COARSEST = 0.0015, 0.006  # [m]
MOST_CELLS = 96
"""Along the longest side: 3.5 MB a grid."""
_FORMAT = b"2"
"""Part of every cache key: raise it when the computation changes."""


@dataclass(frozen=True)
class Grid:
    """Signed distances [m], negative inside, at the points of a regular grid in a body's frame."""

    values: NDArray[np.float32]
    """Shape (nx, ny, nz)."""
    low: Float
    """Position (3,) of the first point [m]."""
    cell: float
    """Distance of neighbouring points [m]."""

    def at(self, points: Float) -> Float:
        """Distances (n,) at points (n, 3), by trilinear interpolation; beyond the grid, those of its edge."""
        shape = np.array(self.values.shape)
        u = np.clip((points - self.low) / self.cell, 0.0, shape - 1.001)
        i = u.astype(int)
        w = u - i
        out = np.zeros(len(points))
        for corner in np.ndindex(2, 2, 2):
            share = np.prod(np.where(corner, w, 1 - w), axis=1)
            out += share * self.values[tuple((i + corner).T)]
        return out


def thinnest(shapes: Sequence[Float]) -> float:
    """Least thickness of any of the convex shapes, each (n, 3) [m]: that of the walls of a vessel."""
    return min(_thickness(points) for points in shapes)


def _thickness(points: Float) -> float:
    normals = ConvexHull(points).equations[:, :3]
    reach = points @ normals.T  # (n, faces)
    return float((reach.max(axis=0) - reach.min(axis=0)).min())


def distance_grid(shapes: Sequence[Float]) -> Grid:
    """The grid of a union of convex shapes, each the corners (n, 3) of a hull in the body's frame [m].

    Remembered in this process by content, and on disk; a damaged file is made anew.
    """
    blob = b"".join(np.ascontiguousarray(points, dtype=np.float32).tobytes() + b"|" for points in shapes)
    return _remembered(blob, tuple(len(points) for points in shapes))


@lru_cache(maxsize=64)
def _remembered(blob: bytes, counts: tuple[int, ...]) -> Grid:
    path = cache_directory() / "distances" / f"{hashlib.sha256(_FORMAT + blob).hexdigest()[:32]}.npz"
    with contextlib.suppress(OSError, KeyError, ValueError, zipfile.BadZipFile), np.load(path) as kept:
        return Grid(kept["values"], kept["low"], float(kept["cell"]))
    shapes, at = [], 0
    for count in counts:
        size = 12 * count
        shapes.append(np.frombuffer(blob[at : at + size], dtype=np.float32).reshape(count, 3).astype(np.float64))
        at += size + 1
    grid = _measure(shapes)
    with contextlib.suppress(OSError, StorageError):  # a cache that cannot be written is no fault
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(path, _packed(grid))
    return grid


def _packed(grid: Grid) -> bytes:
    out = io.BytesIO()
    np.savez_compressed(out, values=grid.values, low=grid.low, cell=np.float64(grid.cell))
    return out.getvalue()


def _measure(shapes: list[Float]) -> Grid:
    points = np.concatenate(shapes)
    low, high = points.min(axis=0) - PAD, points.max(axis=0) + PAD
    longest = float((high - low).max())
    cell = max(float(np.clip(CELL_PER_WALL * thinnest(shapes), FINEST, COARSEST)), longest / MOST_CELLS)
    size = np.ceil((high - low) / cell).astype(int) + 1
    axes = [low[a] + cell * np.arange(size[a]) for a in range(3)]
    nodes = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    faces = [ConvexHull(shape).equations for shape in shapes]
    surface = _outer_surface(shapes, faces, 0.5 * cell)
    away = np.minimum(cKDTree(surface).query(nodes, distance_upper_bound=PAD)[0], PAD)  # farther: at least so far
    within = _inside_any(nodes, shapes, faces, 1e-7)
    return Grid(np.where(within, -away, away).astype(np.float32).reshape(tuple(size)), low, cell)


def _inside_any(points: Float, shapes: list[Float], faces: list[Float], margin: float) -> NDArray[np.bool_]:
    """Which points (n, 3) lie in any of the shapes, or closer to it than `margin`, which may be negative."""
    inside = np.zeros(len(points), dtype=bool)
    for shape, planes in zip(shapes, faces, strict=True):
        near = np.flatnonzero(((points >= shape.min(axis=0)) & (points <= shape.max(axis=0))).all(axis=1) & ~inside)
        deepest = (points[near] @ planes[:, :3].T + planes[:, 3]).max(axis=1)
        inside[near[deepest < margin]] = True
    return inside


def _outer_surface(shapes: list[Float], faces: list[Float], spacing: float) -> Float:
    """Points (n, 3) of the union's surface, about `spacing` apart [m]."""
    samples = []
    for shape in shapes:
        hull = ConvexHull(shape)
        for corners, plane in zip(hull.simplices, hull.equations, strict=True):
            samples.append(_on_triangle(shape[corners], spacing) + 1e-5 * plane[:3])
    found = np.concatenate(samples)
    return found[~_inside_any(found, shapes, faces, 0.0)]


def _on_triangle(corners: Float, spacing: float) -> Float:
    """Points (n, 3) in rows along the longest side of a triangle (3, 3), its edges among them."""
    turns = [np.roll(corners, k, axis=0) for k in range(3)]
    a, b, c = max(turns, key=lambda t: float(np.linalg.norm(t[1] - t[0])))
    base = float(np.linalg.norm(b - a))
    rows = max(1, math.ceil(float(np.linalg.norm(np.cross(b - a, c - a))) / base / spacing))
    up = np.linspace(0, 1, rows + 1)[:, None, None]
    along = np.linspace(0, 1, max(1, math.ceil(base / spacing)) + 1)[None, :, None]
    start, end = a + up * (c - a), b + up * (c - b)
    points: Float = (start + along * (end - start)).reshape(-1, 3)
    return points


# ---------------------------------------------------------------------- shapes of geoms

_ROUND = 32
"""Corners that stand for a circle."""
_BALL = 200


def corners_of(model: mujoco.MjModel, geom: int) -> Float:
    """Corners (n, 3) in the geom's frame [m] whose hull stands for its collision shape."""
    kind, size = int(model.geom_type[geom]), np.asarray(model.geom_size[geom], dtype=np.float64)
    types = mujoco.mjtGeom
    if kind == types.mjGEOM_MESH:
        mesh = int(model.geom_dataid[geom])
        start, count = int(model.mesh_vertadr[mesh]), int(model.mesh_vertnum[mesh])
        points = np.asarray(model.mesh_vert[start : start + count], dtype=np.float64)
        with contextlib.suppress(QhullError):
            points = points[ConvexHull(points).vertices]
        return points
    if kind == types.mjGEOM_BOX:
        return np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * size
    if kind == types.mjGEOM_CYLINDER:
        angle = np.arange(_ROUND) * (2 * np.pi / _ROUND)
        ring = size[0] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
        return np.concatenate([np.column_stack([ring, np.full(_ROUND, z)]) for z in (-size[1], size[1])])
    ball = _ball()
    if kind == types.mjGEOM_CAPSULE:
        half = np.array([0.0, 0.0, size[1]])
        return np.concatenate([size[0] * ball + half, size[0] * ball - half])
    return ball * (size if kind == types.mjGEOM_ELLIPSOID else size[0])


def body_shape(model: mujoco.MjModel, geom: int) -> Float:
    """Corners (n, 3) of a geom's collision shape in its body's frame [m]."""
    moved: Float = corners_of(model, geom) @ tf.rotation(model.geom_quat[geom]).T + model.geom_pos[geom]
    return moved


def body_shapes(model: mujoco.MjModel, body: int) -> list[Float]:
    """All collision shapes of a body."""
    solid = (model.geom_contype | model.geom_conaffinity) != 0
    return [body_shape(model, int(g)) for g in np.flatnonzero(solid & (model.geom_bodyid == body))]


def _ball() -> Float:
    """Points (n, 3) spread evenly over the unit sphere along a golden spiral."""
    k = np.arange(_BALL) + 0.5
    z = 1 - 2 * k / _BALL
    turn = np.pi * (1 + np.sqrt(5)) * k
    r = np.sqrt(1 - z * z)
    return np.stack([r * np.cos(turn), r * np.sin(turn), z], axis=1)
