"""Convex pieces of a thing: what it is touched by. Approximate convex decomposition (CoACD), kept on disk.

Wei, Liu, Ling, Su: Approximate Convex Decomposition for 3D Meshes with Collision-Aware Concavity and Tree Search, SIGGRAPH 2022.
"""

from __future__ import annotations

import hashlib
import logging
import os
import tempfile
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import trimesh

from embodiedsmith.assets.imported.surface import Float, Surface, examine, shells
from embodiedsmith.runtime.home import cache_directory

log = logging.getLogger(__name__)

CONCAVITY = 0.05
"""Deepest dent that a piece may cover up, as part of the size of the thing."""
FINE_CONCAVITY = 0.03
"""The same, for what looks hollow but does not hold a ball with the coarser pieces."""
MOST_PIECES = 32
"""Most pieces of a thing of one shell; those of several share them by size, and get two at least."""
MOST_SHELLS = 40
"""Shells beyond this number, the smallest first, are not touched: screws, letters."""
FACES = 2500
"""Triangles of the surface that is taken apart: fewer cost time in proportion."""
VERTICES = 64
"""Most corners of a piece."""
CONVEX = 0.97
"""Part of its hull that a shell fills when it needs no taking apart."""
FLATTEST = 0.0005
"""Least thickness of a piece [m]: thinner ones are made this thick, for nothing without volume can be touched."""
_FORMAT = b"1"
"""Part of every cache key: raise it when the decomposition changes."""


def convex_pieces(surfaces: Iterable[Surface], concavity: float = CONCAVITY) -> tuple[Float, ...]:
    """Corners of convex pieces that together are the things' shapes, each of shape (n, 3) [m]."""
    whole = [shell for surface in surfaces for shell in _shells(surface)]
    whole.sort(key=lambda shell: -float(np.prod(np.ptp(shell.vertices, axis=0) + 1e-4)))
    whole = whole[:MOST_SHELLS]
    bulk = [float(np.prod(np.ptp(shell.vertices, axis=0) + 1e-4)) for shell in whole]
    pieces: list[Float] = []
    for shell, size in zip(whole, bulk, strict=True):
        pieces.extend(_kept(shell, concavity, max(2, round(MOST_PIECES * size / sum(bulk)))))
    return tuple(pieces)


def simplified(surface: Surface, faces: int) -> Surface:
    """The surface with at most about `faces` triangles; as it is when it has no more, or when that would open it."""
    import fast_simplification

    if len(surface.faces) <= faces:
        return surface
    vertices, triangles = fast_simplification.simplify(
        surface.vertices.astype(np.float32), surface.faces.astype(np.int32), target_count=faces
    )
    return Surface.of(surface.name, np.asarray(vertices, dtype=np.float64), np.asarray(triangles, dtype=np.int64), surface.rgba)


def _shells(surface: Surface) -> list[Surface]:
    numbers = shells(surface.faces)
    count = int(numbers.max()) + 1 if len(numbers) else 0
    parts = []
    for number in range(count):
        faces = surface.faces[numbers == number]
        used, faces = np.unique(faces, return_inverse=True)
        part = Surface(surface.name, surface.vertices[used], faces.reshape(-1, 3), surface.rgba)
        if count > 1 and not examine(part).open_edges and float(part.mesh.volume) < 0:
            continue  # a void inside another shell
        parts.append(part)
    return parts


def _kept(shell: Surface, concavity: float, most: int) -> list[Float]:
    """The pieces of one shell, from disk or made now."""
    digest = hashlib.sha256(_FORMAT + repr((concavity, most, FACES, VERTICES)).encode())
    digest.update(shell.vertices.tobytes() + shell.faces.tobytes())
    path = cache_directory() / "pieces" / f"{digest.hexdigest()[:32]}.npz"
    pieces = _read(path)
    if pieces is None:
        pieces = [_solid(piece) for piece in _decompose(shell, concavity, most)]
        _write(path, pieces)
    return pieces


def _decompose(shell: Surface, concavity: float, most: int) -> list[Float]:
    around = hull(shell.vertices)
    if around is None or (examine(shell).sound and shell.mesh.volume > CONVEX * around.volume):
        return [shell.vertices if around is None else np.asarray(around.vertices, dtype=np.float64)]
    import coacd

    coacd.set_log_level("error")
    light = simplified(shell, FACES)
    if examine(shell).closed and not examine(light).closed:
        light = shell
    parts = coacd.run_coacd(
        coacd.Mesh(light.vertices, light.faces),
        threshold=concavity,
        max_convex_hull=most,
        preprocess_mode="off" if examine(light).closed else "on",
        preprocess_resolution=30,
        resolution=1000,
        mcts_iterations=60,
        mcts_nodes=12,
        max_ch_vertex=VERTICES,
        seed=0,
    )
    return [np.asarray(vertices, dtype=np.float64) for vertices, _ in parts]


def hull(points: Float) -> Any:
    """The convex hull as a `trimesh.Trimesh`; None of points in one plane."""
    try:
        return trimesh.Trimesh(points, process=False).convex_hull
    except Exception:  # Qhull, on points in one plane or line
        return None


def _solid(points: Float) -> Float:
    """The corners of a piece's hull; of a piece without thickness, the corners of the box round it."""
    if (around := hull(points)) is not None and around.volume > 1e-12:
        return np.asarray(around.vertices, dtype=np.float64)
    low, high = points.min(axis=0), points.max(axis=0)
    grow = np.maximum(0.0, FLATTEST - (high - low)) / 2
    return np.asarray(trimesh.creation.box(bounds=np.array([low - grow, high + grow])).vertices, dtype=np.float64)


def _read(path: Path) -> list[Float] | None:
    """The pieces kept in `path`; None when there are none or the file is damaged."""
    try:
        with np.load(path, allow_pickle=False) as kept:
            return [np.asarray(kept[name], dtype=np.float64) for name in sorted(kept.files)]
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError, KeyError, zipfile.BadZipFile, EOFError) as error:
        log.warning("cached pieces %s cannot be read (%s); they are made again", path, error)
    return None


def _write(path: Path, pieces: list[Float]) -> None:
    """Keep the pieces; a cache that cannot be written costs time, not the work."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, suffix=".part", delete=False) as aside:
            np.savez(aside, **{f"piece_{index:03d}": piece for index, piece in enumerate(pieces)})  # type: ignore[arg-type]
        os.replace(aside.name, path)
    except OSError as error:
        log.warning("pieces cannot be kept in %s (%s); set EMBODIEDSMITH_CACHE to a writable folder", path.parent, error)
