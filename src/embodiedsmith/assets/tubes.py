"""Bent round bars, such as a banana."""

from __future__ import annotations

from typing import Any

import numpy as np
import trimesh
from numpy.typing import ArrayLike


def tube(points: ArrayLike, radii: ArrayLike, *, sections: int = 16) -> Any:
    """A watertight `trimesh.Trimesh` of circles of `radii` [m] round `points` [m], shape (n, 3), in the plane z = const.

    The circles stand across the line; the first and the last are closed by flat caps.
    """
    line = np.asarray(points, dtype=np.float64)
    tangent = np.gradient(line, axis=0)
    tangent /= np.linalg.norm(tangent, axis=1, keepdims=True)
    across = np.cross(tangent, [0.0, 0.0, 1.0])
    angle = np.arange(sections) * 2 * np.pi / sections
    ring = np.cos(angle)[None, :, None] * across[:, None, :] + np.sin(angle)[None, :, None] * np.array([0.0, 0.0, 1.0])
    circles = line[:, None, :] + ring * np.asarray(radii, dtype=np.float64)[:, None, None]  # (n, sections, 3)
    count = len(line)
    vertices = np.concatenate([circles.reshape(-1, 3), line[:1], line[-1:]])
    faces = []
    for index in range(sections):
        after = (index + 1) % sections
        for row in range(count - 1):
            a, b = row * sections + index, row * sections + after
            faces += [(a, b, a + sections), (b, b + sections, a + sections)]
        last = (count - 1) * sections
        faces += [(count * sections, after, index), (count * sections + 1, last + index, last + after)]
    mesh = trimesh.Trimesh(vertices=vertices, faces=faces, process=False)
    if mesh.volume < 0:
        mesh.invert()
    return mesh
