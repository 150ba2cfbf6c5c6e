"""Reading files that others made: their surfaces, colours and what they say of mass. Nothing in them is trusted.

Meshes are read by trimesh, models of bodies (URDF, MJCF) by MuJoCo after every file they name was looked up here: it must lie
below the folder of the model or at most two folders up, as `package://` and `../meshes` ask for.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import trimesh

from embodiedsmith.assets.colors import Rgba
from embodiedsmith.assets.imported import models
from embodiedsmith.assets.imported.faults import Fault, ImportRefused
from embodiedsmith.assets.imported.surface import GREY, Float, Surface
from embodiedsmith.runtime.files import storage_errors

MESHES = (".obj", ".stl", ".glb", ".gltf", ".ply")
MODELS = (".urdf", ".xml")
MOST_BYTES = 100_000_000
"""Largest file that is read [bytes]."""
MOST_FACES = 300_000
"""Most triangles that a thing may have: what takes a minute to look over."""
Y_UP = (".glb", ".gltf")
"""Formats whose definition says that y is up (glTF 2.0, section 3.4)."""


@dataclass(frozen=True)
class Source:
    """What a file holds."""

    surfaces: tuple[Surface, ...]
    up: str
    """The axis that the format holds to point up: `z` or `y`."""
    mass: float | None = None
    """What the file says it weighs [kg]."""
    faults: tuple[Fault, ...] = field(default=())
    """What is wrong with what it says."""


def read(path: Path) -> Source:
    """Everything a file says of one thing.

    Raises:
        ImportRefused: it is of no known format, too large, cannot be parsed, empty, or names files that are not there.
        StorageError: it cannot be read.
    """
    suffix = path.suffix.lower()
    if suffix not in MESHES + MODELS:
        known = ", ".join(MESHES + MODELS)
        raise ImportRefused(path, [Fault(f"'{path.suffix}' is no format that can be read", f"give one of {known}")])
    with storage_errors(path):
        size = path.stat().st_size
    if size > MOST_BYTES:
        raise ImportRefused(path, [Fault(f"{size / 1e6:.0f} MB are too many", f"simplify it to {MOST_BYTES / 1e6:.0f} MB")])
    source = _model(path) if suffix in MODELS else Source(_mesh(path, path.stem), "y" if suffix in Y_UP else "z")
    faces = sum(len(surface.faces) for surface in source.surfaces)
    if faces == 0:
        raise ImportRefused(path, [Fault("there is no triangle in it", "export the shape as a triangle mesh"), *source.faults])
    if faces > MOST_FACES:
        raise ImportRefused(path, [Fault(f"{faces} triangles are too many", f"simplify it to {MOST_FACES}"), *source.faults])
    return source


def _mesh(path: Path, name: str) -> tuple[Surface, ...]:
    """The surfaces of a mesh file, one a material."""
    if path.stat().st_size > MOST_BYTES:
        raise ImportRefused(path, [Fault("it is too large", f"simplify it to {MOST_BYTES / 1e6:.0f} MB")])
    try:
        logging.getLogger("trimesh").setLevel(logging.ERROR)
        loaded = trimesh.load(path, process=False, skip_texture=False)
        scene = loaded if isinstance(loaded, trimesh.Scene) else trimesh.Scene(loaded)
        return tuple(_of_scene(scene, name))
    except ImportRefused:
        raise
    except Exception as error:  # whatever a parser makes of a damaged file
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        raise ImportRefused(path, [Fault(f"it cannot be read as {path.suffix[1:]} ({reason})", "export it again")]) from error


def _of_scene(scene: Any, name: str) -> Iterator[Surface]:
    for index, node in enumerate(sorted(scene.graph.nodes_geometry)):
        transform, geometry = scene.graph[node]
        mesh = scene.geometry[geometry]
        if not isinstance(mesh, trimesh.Trimesh) or not len(mesh.faces):
            continue
        vertices = trimesh.transform_points(mesh.vertices, transform)
        if not np.isfinite(vertices).all():
            raise ValueError("coordinates that are no numbers")
        faces = np.asarray(mesh.faces)
        if np.linalg.det(transform[:3, :3]) < 0:
            faces = faces[:, ::-1]
        yield Surface.of(f"{name}_{index}", vertices, faces, _color(mesh))


def _color(mesh: Any) -> Rgba:
    """The mean colour of a mesh, of its texture too."""
    try:
        visual = mesh.visual
        if isinstance(visual, trimesh.visual.TextureVisuals):
            material = visual.material
            image = getattr(material, "baseColorTexture", None) or getattr(material, "image", None)
            if image is not None and visual.uv is not None:
                colors = trimesh.visual.uv_to_color(visual.uv, image)
                mean = np.asarray(colors, dtype=np.float64).mean(axis=0) / 255.0
            else:
                mean = np.asarray(material.main_color, dtype=np.float64) / 255.0
        elif visual.defined:
            mean = np.asarray(visual.face_colors, dtype=np.float64).mean(axis=0) / 255.0
        else:
            return GREY
    except Exception:  # looks are not worth refusing a shape for
        return GREY
    red, green, blue = (float(np.clip(value, 0.0, 1.0)) for value in mean[:3])
    return (round(red, 3), round(green, 3), round(blue, 3), 1.0)


def _model(path: Path) -> Source:
    """The surfaces of all bodies of a URDF or MJCF as they stand at zero, and the mass that it gives them."""
    parsed = models.parse(path)
    model = parsed.model
    faults = list(parsed.faults)
    moving = [model.joint(j).name for j in range(model.njnt) if model.jnt_type[j] != mujoco.mjtJoint.mjJNT_FREE]
    if moving:
        faults.append(
            Fault(f"it has moving parts (joints {', '.join(moving[:5])})", "import its parts one by one, or fix the joints")
        )
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    geoms = [g for g in range(model.ngeom) if not model.geom_contype[g] and not model.geom_conaffinity[g]]
    shown = geoms or list(range(model.ngeom))
    return Source(tuple(_of_geoms(model, data, shown)), "z", parsed.mass, tuple(faults))


def _of_geoms(model: Any, data: Any, geoms: list[int]) -> Iterator[Surface]:
    for geom in geoms:
        shape = _triangles(model, geom)
        if shape is None:
            continue
        vertices, faces = shape
        placed = vertices @ data.geom_xmat[geom].reshape(3, 3).T + data.geom_xpos[geom]
        material = int(model.geom_matid[geom])
        rgba = model.mat_rgba[material] if material >= 0 else model.geom_rgba[geom]
        red, green, blue = (round(float(np.clip(value, 0.0, 1.0)), 3) for value in rgba[:3])
        yield Surface.of(model.geom(geom).name or f"geom_{geom}", placed, faces, (red, green, blue, 1.0))


def _triangles(model: Any, geom: int) -> tuple[Float, Any] | None:
    """Vertices and faces of a geom in its own frame; None for planes and the like."""
    size = np.asarray(model.geom_size[geom], dtype=np.float64)
    kinds = mujoco.mjtGeom
    match mujoco.mjtGeom(int(model.geom_type[geom])):
        case kinds.mjGEOM_MESH:
            mesh = int(model.geom_dataid[geom])
            start, count = int(model.mesh_vertadr[mesh]), int(model.mesh_vertnum[mesh])
            first, number = int(model.mesh_faceadr[mesh]), int(model.mesh_facenum[mesh])
            vertices = np.asarray(model.mesh_vert[start : start + count], dtype=np.float64)
            return vertices, np.asarray(model.mesh_face[first : first + number], dtype=np.int64)
        case kinds.mjGEOM_BOX:
            shape = trimesh.creation.box(2 * size)
        case kinds.mjGEOM_SPHERE:
            shape = trimesh.creation.icosphere(subdivisions=3, radius=size[0])
        case kinds.mjGEOM_CYLINDER:
            shape = trimesh.creation.cylinder(radius=size[0], height=2 * size[1], sections=48)
        case kinds.mjGEOM_CAPSULE:
            shape = trimesh.creation.capsule(radius=size[0], height=2 * size[1], count=[24, 24])
        case kinds.mjGEOM_ELLIPSOID:
            shape = trimesh.creation.icosphere(subdivisions=3)
            shape.apply_scale(size)
        case _:
            return None
    return np.asarray(shape.vertices, dtype=np.float64), np.asarray(shape.faces, dtype=np.int64)
