"""Light visual meshes: merged by body and material, simplified once, kept on disk.

Rendering and kinematics cost per geom and per face: the Panda's 59 visual geoms with 200,000 faces become some 25 with at
most 800 faces each, which is what makes a 128 x 128 frame take milliseconds on a CPU.
"""

from __future__ import annotations

import functools
import hashlib
import logging
import os
import tempfile
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from embodiedsmith.runtime.home import cache_directory

log = logging.getLogger(__name__)

MAX_FACES = 800
_ROUNDS = 30
"""Most rounds of simplification: cells have then grown to twice the size of the mesh, which leaves nothing."""
_FORMAT = b"2"
"""Part of every cache key: raise it when the simplification changes."""

_memory: dict[str, _Surface] = {}


@dataclass(frozen=True)
class _Surface:
    vertices: NDArray[np.float32]  # (n, 3) [m], in the body's frame
    faces: NDArray[np.int32]  # (m, 3)


@dataclass(frozen=True)
class _Source:
    """One mesh file as a geom places it in its body."""

    file: Path
    scale: NDArray[np.float64]
    position: NDArray[np.float64]
    rotation: NDArray[np.float64]  # (3, 3)


def simplify_visuals(spec: mujoco.MjSpec, directory: Path, max_faces: int = MAX_FACES) -> None:
    """Replace the visual mesh geoms of `spec` (those that collide with nothing) by light ones, in place.

    Args:
        spec: A model parsed from a file and not yet attached; mesh assets left without a user are deleted.
        directory: Where the model's mesh files are.
        max_faces: Largest number of faces of each new mesh.
    """
    meshes = {name: mesh for mesh in reversed(spec.meshes) for name in (Path(mesh.file).stem, mesh.name)}
    for body in spec.bodies:
        groups: dict[str, list[Any]] = {}
        for geom in body.geoms:
            if geom.type == mujoco.mjtGeom.mjGEOM_MESH and not geom.contype and not geom.conaffinity:
                groups.setdefault(geom.material, []).append(geom)
        for index, (material, geoms) in enumerate(groups.items()):
            surface = _light([_source(meshes[geom.meshname], geom, directory) for geom in geoms], max_faces)
            name = f"{body.name}_visual{index}"
            # Shell inertia: a simplified surface need not be closed, and the body's inertia is given anyway.
            spec.add_mesh(
                name=name,
                uservert=surface.vertices.ravel(),
                userface=surface.faces.ravel(),
                inertia=mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL,
            )
            body.add_geom(
                type=mujoco.mjtGeom.mjGEOM_MESH, meshname=name, material=material,
                contype=0, conaffinity=0, group=2, mass=0.0, density=0.0,
            )  # fmt: skip
            for geom in geoms:
                spec.delete(geom)
    used = {geom.meshname for geom in spec.geoms if geom.type == mujoco.mjtGeom.mjGEOM_MESH}
    for mesh in spec.meshes:
        if mesh.name not in used and not (mesh.file and Path(mesh.file).stem in used):
            spec.delete(mesh)


def _source(mesh: Any, geom: Any, directory: Path) -> _Source:
    rotation = np.empty(9)
    mujoco.mju_quat2Mat(rotation, np.asarray(geom.quat, dtype=float) / np.linalg.norm(geom.quat))
    return _Source(
        directory / mesh.file, np.array(mesh.scale, dtype=float), np.array(geom.pos, dtype=float), rotation.reshape(3, 3)
    )


def _light(sources: list[_Source], max_faces: int) -> _Surface:
    """The union of the sources as one light surface, from memory, from disk, or made now."""
    key = _key(sources, max_faces)
    if key not in _memory:
        path = cache_directory() / "meshes" / f"{key}.npz"
        surface = _read(path)
        if surface is None:
            surface = _simplify(sources, max_faces)
            _write(path, surface)
        _memory[key] = surface
    return _memory[key]


def _key(sources: Iterable[_Source], max_faces: int) -> str:
    digest = hashlib.sha256(_FORMAT + str(max_faces).encode())
    for source in sources:
        state = source.file.stat()
        digest.update(_digest(source.file, state.st_mtime_ns, state.st_size))
        digest.update(source.scale.tobytes() + source.position.tobytes() + source.rotation.tobytes())
    return digest.hexdigest()[:32]


@functools.lru_cache(maxsize=1024)
def _digest(file: Path, changed: int, size: int) -> bytes:
    """SHA-256 of a file as it was when `changed` last: robots are built often, their files hardly ever change."""
    return hashlib.sha256(file.read_bytes()).digest()


def _simplify(sources: list[_Source], max_faces: int) -> _Surface:
    import fast_simplification
    import trimesh

    parts = []
    for source in sources:
        part = trimesh.load(source.file, force="mesh", process=False)
        # Bare points and faces: texture seams would keep coincident vertices apart and tear the surface when simplified.
        part = trimesh.Trimesh(part.vertices * source.scale, part.faces, process=True)
        part.vertices = part.vertices @ source.rotation.T + source.position
        parts.append(part)
    whole = trimesh.util.concatenate(parts)
    vertices, faces = np.asarray(whole.vertices, dtype=np.float32), np.asarray(whole.faces, dtype=np.int32)
    cell = float(np.linalg.norm(np.ptp(vertices, axis=0))) / 400.0
    for _ in range(_ROUNDS):
        if len(faces) <= max_faces:
            break
        light_vertices, light_faces = fast_simplification.simplify(vertices, faces, target_count=max_faces)
        if len(light_faces) <= max_faces:
            vertices, faces = light_vertices, light_faces
            break
        # Edge collapse gets stuck on flat plates full of holes; welding what lies within a cell frees it.
        vertices, faces = _weld(vertices, faces, cell)
        cell *= 1.25
    return _Surface(np.ascontiguousarray(vertices, dtype=np.float32), np.ascontiguousarray(faces, dtype=np.int32))


def _weld(vertices: NDArray[np.float32], faces: NDArray[np.int32], cell: float) -> tuple[NDArray[np.float32], NDArray[np.int32]]:
    """Merge the vertices that share a cubic cell of side `cell` [m] into their mean; faces that collapse go."""
    cells = np.floor(vertices / cell).astype(np.int64)
    _, owner, count = np.unique(cells, axis=0, return_inverse=True, return_counts=True)
    owner = owner.ravel()
    means = np.stack([np.bincount(owner, weights=vertices[:, axis]) for axis in range(3)], axis=1) / count[:, None]
    welded = owner[faces]
    whole = (welded[:, 0] != welded[:, 1]) & (welded[:, 1] != welded[:, 2]) & (welded[:, 2] != welded[:, 0])
    return means.astype(np.float32), welded[whole].astype(np.int32)


def _read(path: Path) -> _Surface | None:
    """The surface kept in `path`; None when there is none or it is damaged."""
    try:
        with np.load(path, allow_pickle=False) as kept:
            surface = _Surface(kept["vertices"], kept["faces"])
            if str(kept["check"]) == _checksum(surface):
                return surface
            log.warning("cached mesh %s is damaged; it is made again", path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError, KeyError, zipfile.BadZipFile, EOFError) as error:
        log.warning("cached mesh %s cannot be read (%s); it is made again", path, error)
    return None


def _write(path: Path, surface: _Surface) -> None:
    """Keep the surface; a cache that cannot be written costs time, not the work, so it is only reported."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, suffix=".part", delete=False) as aside:
            np.savez(aside, vertices=surface.vertices, faces=surface.faces, check=np.array(_checksum(surface)))
        os.replace(aside.name, path)
    except OSError as error:
        _report_unwritable(path.parent, error.strerror or str(error))


@functools.cache
def _report_unwritable(directory: Path, reason: str) -> None:
    """Say so once, not once a mesh."""
    log.warning("simplified meshes cannot be kept in %s (%s); set EMBODIEDSMITH_CACHE to a writable folder", directory, reason)


def _checksum(surface: _Surface) -> str:
    return hashlib.sha256(surface.vertices.tobytes() + surface.faces.tobytes()).hexdigest()
