"""Mass properties of solids, and how several add up to those of a body."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
from numpy.typing import ArrayLike, NDArray

Float = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Inertial:
    """Mass properties in a body's frame."""

    mass: float
    """[kg]"""
    com: Float
    """Centre of mass [m], shape (3,)."""
    inertia: Float
    """Inertia about the centre of mass, body axes [kg m^2], shape (3, 3)."""


def rotation(quat: ArrayLike) -> Float:
    """Rotation matrix of a unit quaternion (w, x, y, z), shape (3, 3)."""
    matrix = np.zeros(9)
    mujoco.mju_quat2Mat(matrix, np.asarray(quat, dtype=np.float64))
    return matrix.reshape(3, 3)


def axis_rotation(axis: ArrayLike) -> Float:
    """A rotation matrix whose third column is `axis`, a unit vector."""
    z = np.asarray(axis, dtype=np.float64)
    helper = np.array([1.0, 0.0, 0.0]) if abs(z[0]) < 0.9 else np.array([0.0, 1.0, 0.0])
    x = np.cross(helper, z)
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(z, x), z])


def box_inertial(size: ArrayLike, density: float, com: ArrayLike, turn: Float) -> Inertial:
    """A box of full extents `size` [m], turned by the matrix `turn`."""
    x, y, z = np.asarray(size, dtype=np.float64)
    mass = density * x * y * z
    local = mass / 12 * np.diag([y * y + z * z, x * x + z * z, x * x + y * y])
    return Inertial(mass=mass, com=np.asarray(com, dtype=np.float64), inertia=turn @ local @ turn.T)


def cylinder_inertial(radius: float, length: float, density: float, com: ArrayLike, axis: ArrayLike) -> Inertial:
    """A cylinder along the unit vector `axis`."""
    mass = density * np.pi * radius**2 * length
    across, along = mass * (3 * radius**2 + length**2) / 12, mass * radius**2 / 2
    turn = axis_rotation(axis)
    return Inertial(mass=mass, com=np.asarray(com, dtype=np.float64), inertia=turn @ np.diag([across, across, along]) @ turn.T)


def capsule_inertial(radius: float, length: float, density: float, com: ArrayLike, axis: ArrayLike) -> Inertial:
    """A capsule whose cylindrical part has `length`, along the unit vector `axis`."""
    tube = density * np.pi * radius**2 * length
    caps = density * 4 / 3 * np.pi * radius**3
    along = tube * radius**2 / 2 + caps * 0.4 * radius**2
    # Each hemisphere's centroid lies 3/8 r beyond the tube's end; 83/320 m r^2 is its inertia across that centroid.
    half = caps / 2 * (83 / 320 * radius**2 + (length / 2 + 3 / 8 * radius) ** 2)
    across = tube * (3 * radius**2 + length**2) / 12 + 2 * half
    turn = axis_rotation(axis)
    return Inertial(
        mass=tube + caps, com=np.asarray(com, dtype=np.float64), inertia=turn @ np.diag([across, across, along]) @ turn.T
    )


def sphere_inertial(radius: float, density: float, com: ArrayLike) -> Inertial:
    """A solid ball."""
    mass = density * 4 / 3 * np.pi * radius**3
    return Inertial(mass=mass, com=np.asarray(com, dtype=np.float64), inertia=0.4 * mass * radius**2 * np.eye(3))


def mesh_inertial(mesh: Any, density: float) -> Inertial:
    """A watertight `trimesh.Trimesh`; raises ValueError when it is not watertight, for then its volume means nothing."""
    if not mesh.is_watertight:
        raise ValueError("mesh is not watertight; close it before asking for its mass")
    return Inertial(
        mass=float(mesh.volume) * density,
        com=np.asarray(mesh.center_mass, dtype=np.float64),
        inertia=np.asarray(mesh.moment_inertia, dtype=np.float64) * density,
    )


def total(parts: Sequence[Inertial]) -> Inertial:
    """The mass properties of all parts together (parallel axis theorem)."""
    mass = sum(part.mass for part in parts)
    com = np.sum([part.mass * part.com for part in parts], axis=0) / mass
    inertia = np.zeros((3, 3))
    for part in parts:
        arm = part.com - com
        inertia += part.inertia + part.mass * (arm @ arm * np.eye(3) - np.outer(arm, arm))
    return Inertial(mass=mass, com=com, inertia=inertia)
