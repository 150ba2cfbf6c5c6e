"""Rotations of many rows at once, as quaternions (w, x, y, z) of norm 1, shape (n, 4)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Float = NDArray[np.float64]


def multiply(first: Float, second: Float) -> Float:
    """The turn `second` in the frame that `first` makes."""
    a, b, c, d = np.moveaxis(first, -1, 0)
    e, f, g, h = np.moveaxis(second, -1, 0)
    product = [
        a * e - b * f - c * g - d * h,
        a * f + b * e + c * h - d * g,
        a * g - b * h + c * e + d * f,
        a * h + b * g - c * f + d * e,
    ]
    return np.stack(product, axis=-1)


def rotate(turns: Float, vectors: Float) -> Float:
    """Vectors (n, 3), turned."""
    w, x, y, z = np.moveaxis(turns, -1, 0)
    a, b, c = np.moveaxis(vectors, -1, 0)
    s, t, u = 2.0 * (y * c - z * b), 2.0 * (z * a - x * c), 2.0 * (x * b - y * a)
    return np.stack([a + w * s + y * u - z * t, b + w * t + z * s - x * u, c + w * u + x * t - y * s], axis=-1)


def quaternion_of(vectors: Float) -> Float:
    """The turns by rotation vectors (n, 3) [rad]: axis times angle."""
    half = 0.5 * np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.concatenate([np.cos(half), 0.5 * np.sinc(half / np.pi) * vectors], axis=-1)


def rotation_vector(turns: Float) -> Float:
    """Rotation vectors (n, 3) [rad], at most pi long."""
    near = np.where(turns[..., :1] < 0.0, -turns, turns)
    sine = np.linalg.norm(near[..., 1:], axis=-1, keepdims=True)
    angle = 2.0 * np.arctan2(sine, near[..., :1])
    return near[..., 1:] * np.where(sine > 1e-15, angle / np.maximum(sine, 1e-15), 2.0)
