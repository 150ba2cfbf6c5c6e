"""Rigid transforms as 4 x 4 homogeneous matrices, named `T_parent_child`: p_parent = T_parent_child @ p_child."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from embodiedsmith.spec import Pose

Float = NDArray[np.float64]


def matrix(pose: Pose) -> Float:
    """The transform of a `Pose`, shape (4, 4)."""
    return compose(pose.position, pose.rotation)


def compose(position: ArrayLike, quat: ArrayLike = (1.0, 0.0, 0.0, 0.0)) -> Float:
    """Transform from a position [m] and a unit quaternion wxyz, shape (4, 4)."""
    px, py, pz = np.asarray(position, dtype=np.float64).tolist()
    (a, b, c), (d, e, f), (g, h, i) = _rows(quat)
    return np.array([[a, b, c, px], [d, e, f, py], [g, h, i, pz], [0.0, 0.0, 0.0, 1.0]])


def rotation(quat: ArrayLike) -> Float:
    """Rotation matrix (3, 3) of a unit quaternion wxyz."""
    return np.array(_rows(quat))


def _rows(quat: ArrayLike) -> tuple[tuple[float, float, float], ...]:
    """The rows of a rotation matrix, in plain numbers, which are several times quicker than arrays."""
    w, x, y, z = np.asarray(quat, dtype=np.float64).tolist()
    return (
        (1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
        (2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
        (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)),
    )


def quaternion(R: Float) -> Float:
    """Unit quaternion wxyz with w >= 0 of a rotation matrix (3, 3): Shepperd's method, stable at every angle."""
    (a, b, c), (d, e, f), (g, h, i) = R.tolist()  # plain numbers: several times quicker
    largest = max(trace := a + e + i, a, e, i)
    if trace == largest:
        w, x, y, z = 1 + trace, h - f, c - g, d - b
    elif a == largest:
        w, x, y, z = h - f, 1 + a - e - i, b + d, c + g
    elif e == largest:
        w, x, y, z = c - g, b + d, 1 + e - i - a, f + h
    else:
        w, x, y, z = d - b, c + g, f + h, 1 + i - a - e
    norm = math.sqrt(w * w + x * x + y * y + z * z)
    norm = norm if w >= 0 else -norm
    return np.array([w / norm, x / norm, y / norm, z / norm])


def inverse(T: Float) -> Float:
    """Inverse of a rigid transform."""
    out = np.eye(4)
    R = T[:3, :3]
    out[:3, :3] = R.T
    out[:3, 3] = -R.T @ T[:3, 3]
    return out


def turn_z(angle: float) -> Float:
    """Transform turning by `angle` [rad] about z."""
    T = np.eye(4)
    c, s = math.cos(angle), math.sin(angle)
    T[0, 0], T[0, 1], T[1, 0], T[1, 1] = c, -s, s, c
    return T


def turn(axis: ArrayLike, angle: float) -> Float:
    """Transform turning by `angle` [rad] about a unit axis through the origin."""
    half = angle / 2
    return compose((0.0, 0.0, 0.0), (math.cos(half), *(math.sin(half) * np.asarray(axis, dtype=np.float64))))


def translate(offset: ArrayLike) -> Float:
    """Transform shifting by `offset` [m]."""
    return compose(offset)


def to_pose(T: Float) -> Pose:
    """The `Pose` of a transform."""
    x, y, z = (float(v) for v in T[:3, 3])
    qw, qx, qy, qz = (float(v) for v in quaternion(T[:3, :3]))
    return Pose(position=(x, y, z), rotation=(qw, qx, qy, qz))


def look_at(position: ArrayLike, target: ArrayLike) -> Float:
    """Camera rotation (3, 3), world from camera: the camera looks along its -z at `target`, picture up nearest world z."""
    z = np.asarray(position, dtype=np.float64) - np.asarray(target, dtype=np.float64)
    length = float(np.linalg.norm(z))
    if length < 1e-9:
        raise ValueError("a camera cannot look at its own position")
    z /= length
    up = np.array([0.0, 0.0, 1.0]) if abs(z[2]) < 0.999 else np.array([1.0, 0.0, 0.0])
    x = np.cross(up, z)
    x /= np.linalg.norm(x)
    return np.stack([x, np.cross(z, x), z], axis=1)


def rotation_vector(R: Float) -> Float:
    """Rotation vector (3,) [rad] of a rotation matrix: axis times angle."""
    w, *v = quaternion(R)
    sine = float(np.linalg.norm(v))
    if sine < 1e-12:
        return np.zeros(3)
    return np.asarray(v) * (2 * math.atan2(sine, float(w)) / sine)
