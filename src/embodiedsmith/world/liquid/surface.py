"""The surface of a liquid as a mesh: a smooth field of its particles, cut at a level, in one pass over a grid (surface nets).

Each cell of the grid that the surface passes through has one vertex, at the mean of where it crosses the cell's edges (Gibson,
"Constrained elastic surface nets", 1998); each crossed edge joins four of them to two triangles.
"""

# mypy: disable-error-code="no-untyped-def,untyped-decorator,no-untyped-call"

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from embodiedsmith.world.liquid.kernels import f4, jit

CELL = 0.75  # of the particles' spacing
REACH = 1.4  # of the field of a particle, in spacings
LEVEL = 0.55  # of the field at which the surface is: 0.7 spacings outside the outermost particles, and round a lone one
COARSER = 1.25
ROUNDS = 8
MOST_NODES = 60_000_000  # of which only those near particles are ever touched
BRICK = 8  # nodes along a side of the blocks that are skipped where there is nothing


@dataclass(frozen=True)
class Surface:
    """A triangle mesh in the world."""

    vertices: NDArray[np.float32]
    """Shape (n, 3) [m]."""
    normals: NDArray[np.float32]
    """Outwards, of unit length, shape (n, 3)."""
    faces: NDArray[np.int32]
    """Shape (m, 3), counter-clockwise from outside."""


def surface(points: NDArray[np.float32], spacing: float, most_vertices: int, most_faces: int) -> Surface:
    """The surface of particles at `points` (n, 3) [m] `spacing` apart; coarser when it would have more than the most allowed."""
    cell = CELL * spacing
    for _ in range(ROUNDS):
        reach = REACH * spacing
        low = points.min(axis=0) - np.float32(reach + 2 * cell)
        size = np.ceil((points.max(axis=0) + reach + 2 * cell - low) / cell).astype(np.int64) + 1
        if size.prod() <= MOST_NODES:
            field, index = np.zeros(tuple(size), np.float32), np.zeros(tuple(size), np.int32)
            bricks = np.zeros(tuple(size // BRICK + 1), np.bool_)
            _splat(points, low, f4(1 / cell), f4(reach), field, bricks)
            vertices, normals = np.empty((most_vertices, 3), np.float32), np.empty((most_vertices, 3), np.float32)
            faces = np.empty((most_faces, 3), np.int32)
            n, m = _net(field, bricks, index, f4(LEVEL), low, f4(cell), vertices, normals, faces)
            if n <= most_vertices and m <= most_faces:
                return Surface(vertices[:n], normals[:n], faces[:m])
        cell *= COARSER
    return Surface(np.zeros((0, 3), np.float32), np.zeros((0, 3), np.float32), np.zeros((0, 3), np.int32))


@jit
def _splat(points, low, per_cell, reach, field, bricks):
    """Add (1 - (distance / reach)^2)^3 of every particle to the nodes around it, and mark the bricks that they are in."""
    nx, ny, nz = field.shape
    r2 = reach * reach
    wide = math.ceil(reach * per_cell)
    cell = f4(1) / per_cell
    for p in range(points.shape[0]):
        x, y, z = points[p, 0] - low[0], points[p, 1] - low[1], points[p, 2] - low[2]
        i0, j0, k0 = int(x * per_cell), int(y * per_cell), int(z * per_cell)
        for i in range(max(i0 - wide - 1, 0) // BRICK, (i0 + wide + 2) // BRICK + 1):
            for j in range(max(j0 - wide - 1, 0) // BRICK, (j0 + wide + 2) // BRICK + 1):
                for k in range(max(k0 - wide - 1, 0) // BRICK, (k0 + wide + 2) // BRICK + 1):
                    if i < bricks.shape[0] and j < bricks.shape[1] and k < bricks.shape[2]:
                        bricks[i, j, k] = True
        for i in range(max(i0 - wide, 0), min(i0 + wide + 2, nx)):
            dx = i * cell - x
            for j in range(max(j0 - wide, 0), min(j0 + wide + 2, ny)):
                dy = j * cell - y
                for k in range(max(k0 - wide, 0), min(k0 + wide + 2, nz)):
                    dz = k * cell - z
                    t = f4(1) - (dx * dx + dy * dy + dz * dz) / r2
                    if t > 0:
                        field[i, j, k] += t * t * t


@jit
def _brick(bi, bj, bk, field, index, level, low, cell, vertices, normals, faces, n, m):
    """The part of `_net` in one brick, with the numbers of vertices and triangles before and after."""
    nx, ny, nz = field.shape
    for i in range(bi * BRICK, min(bi * BRICK + BRICK, nx - 1)):
        for j in range(bj * BRICK, min(bj * BRICK + BRICK, ny - 1)):
            for k in range(bk * BRICK, min(bk * BRICK + BRICK, nz - 1)):
                first = field[i, j, k] > level
                mixed = False
                for c in range(1, 8):
                    if (field[i + (c & 1), j + ((c >> 1) & 1), k + (c >> 2)] > level) != first:
                        mixed = True
                        break
                if not mixed:
                    continue
                sx, sy, sz, count = f4(0), f4(0), f4(0), 0
                for axis in range(3):
                    for c in range(4):
                        u, v = c & 1, c >> 1
                        if axis == 0:
                            a, b = field[i, j + u, k + v], field[i + 1, j + u, k + v]
                        elif axis == 1:
                            a, b = field[i + u, j, k + v], field[i + u, j + 1, k + v]
                        else:
                            a, b = field[i + u, j + v, k], field[i + u, j + v, k + 1]
                        if (a > level) == (b > level):
                            continue
                        t = (level - a) / (b - a)
                        count += 1
                        if axis == 0:
                            sx, sy, sz = sx + t, sy + f4(u), sz + f4(v)
                        elif axis == 1:
                            sx, sy, sz = sx + f4(u), sy + t, sz + f4(v)
                        else:
                            sx, sy, sz = sx + f4(u), sy + f4(v), sz + t
                if n < vertices.shape[0]:
                    part = f4(1) / f4(count)
                    sx, sy, sz = sx * part, sy * part, sz * part
                    vertices[n, 0] = low[0] + cell * (i + sx)
                    vertices[n, 1] = low[1] + cell * (j + sy)
                    vertices[n, 2] = low[2] + cell * (k + sz)
                    gx, gy, gz = f4(0), f4(0), f4(0)
                    for c in range(4):
                        u, v = c & 1, c >> 1
                        wu, wv = (sy if u else 1 - sy), (sz if v else 1 - sz)
                        gx += (field[i + 1, j + u, k + v] - field[i, j + u, k + v]) * wu * wv
                        wu, wv = (sx if u else 1 - sx), (sz if v else 1 - sz)
                        gy += (field[i + u, j + 1, k + v] - field[i + u, j, k + v]) * wu * wv
                        wu, wv = (sx if u else 1 - sx), (sy if v else 1 - sy)
                        gz += (field[i + u, j + v, k + 1] - field[i + u, j + v, k]) * wu * wv
                    long = math.sqrt(gx * gx + gy * gy + gz * gz) + f4(1e-12)
                    normals[n, 0], normals[n, 1], normals[n, 2] = -gx / long, -gy / long, -gz / long
                index[i, j, k] = n
                n += 1
                for axis in range(3):  # the edges from this cell's first corner; the other cells round them came before
                    if axis == 0:
                        a, b = field[i, j, k], field[i + 1, j, k]
                        inner = j > 0 and k > 0
                    elif axis == 1:
                        a, b = field[i, j, k], field[i, j + 1, k]
                        inner = i > 0 and k > 0
                    else:
                        a, b = field[i, j, k], field[i, j, k + 1]
                        inner = i > 0 and j > 0
                    if not inner or (a > level) == (b > level):
                        continue
                    p = index[i, j, k]
                    if axis == 0:
                        q, r, s = index[i, j - 1, k], index[i, j - 1, k - 1], index[i, j, k - 1]
                    elif axis == 1:
                        q, r, s = index[i, j, k - 1], index[i - 1, j, k - 1], index[i - 1, j, k]
                    else:
                        q, r, s = index[i - 1, j, k], index[i - 1, j - 1, k], index[i, j - 1, k]
                    if b > a:
                        q, s = s, q
                    if m + 1 < faces.shape[0]:
                        faces[m, 0], faces[m, 1], faces[m, 2] = p, q, r
                        faces[m + 1, 0], faces[m + 1, 1], faces[m + 1, 2] = p, r, s
                    m += 2
    return n, m


@jit
def _net(field, bricks, index, level, low, cell, vertices, normals, faces):
    """Vertices and triangles of the surface net; their numbers are right also when they are more than fit.

    `index` holds, for every cell that has one, the number of its vertex: those before a cell in each direction come first.
    """
    n, m = 0, 0
    for bi, bj, bk in np.ndindex(bricks.shape):
        if bricks[bi, bj, bk]:
            n, m = _brick(bi, bj, bk, field, index, level, low, cell, vertices, normals, faces, n, m)
    return n, m
