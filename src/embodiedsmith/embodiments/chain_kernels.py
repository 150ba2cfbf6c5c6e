"""The loops of an arm's kinematics, compiled by numba: forward, and inverse by damped least squares.

A chain is its k joints in a row from the robot's base to the tool: before joint i lies a constant transform (row i of `offsets`
and `turns`; row k goes from the last joint's frame to the tool), then the joint itself about or along `axes[i]`, a hinge through
`anchors[i]`.
Quaternions are (w, x, y, z). Rows do not know of each other, and no sum is reordered: a row has the same bits in any company.
"""

# mypy: disable-error-code="no-untyped-def,untyped-decorator,no-untyped-call"

from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np

from embodiedsmith.runtime.home import cache_directory

if not numba.config.CACHE_DIR:  # beside the code it could be read-only
    numba.config.CACHE_DIR = str(cache_directory() / "numba")

jit: Any = numba.njit(cache=True, error_model="numpy")
inline: Any = numba.njit(error_model="numpy", inline="always")


@inline
def _rotate(w, x, y, z, a, b, c):
    """The vector (a, b, c) turned by the unit quaternion (w, x, y, z)."""
    s, t, u = 2.0 * (y * c - z * b), 2.0 * (z * a - x * c), 2.0 * (x * b - y * a)
    return a + w * s + y * u - z * t, b + w * t + z * s - x * u, c + w * u + x * t - y * s


@inline
def _multiply(a, b, c, d, e, f, g, h):
    """Product of the quaternions (a, b, c, d) and (e, f, g, h)."""
    return (
        a * e - b * f - c * g - d * h,
        a * f + b * e + c * h - d * g,
        a * g - b * h + c * e + d * f,
        a * h + b * g - c * f + d * e,
    )


@jit
def _walk(joints, offsets, turns, axes, anchors, hinges, ways, points):
    """The tool's position and quaternion; fills the world axis and anchor of every joint, `ways` and `points` (k, 3)."""
    px, py, pz = 0.0, 0.0, 0.0
    qw, qx, qy, qz = 1.0, 0.0, 0.0, 0.0
    for i in range(len(joints) + 1):
        dx, dy, dz = _rotate(qw, qx, qy, qz, offsets[i, 0], offsets[i, 1], offsets[i, 2])
        px, py, pz = px + dx, py + dy, pz + dz
        qw, qx, qy, qz = _multiply(qw, qx, qy, qz, turns[i, 0], turns[i, 1], turns[i, 2], turns[i, 3])
        if i == len(joints):
            break
        ax, ay, az = _rotate(qw, qx, qy, qz, axes[i, 0], axes[i, 1], axes[i, 2])
        cx, cy, cz = _rotate(qw, qx, qy, qz, anchors[i, 0], anchors[i, 1], anchors[i, 2])
        ways[i, 0], ways[i, 1], ways[i, 2] = ax, ay, az
        points[i, 0], points[i, 1], points[i, 2] = px + cx, py + cy, pz + cz
        if hinges[i]:
            c, s = math.cos(0.5 * joints[i]), math.sin(0.5 * joints[i])
            qw, qx, qy, qz = _multiply(qw, qx, qy, qz, c, s * axes[i, 0], s * axes[i, 1], s * axes[i, 2])
            dx, dy, dz = _rotate(qw, qx, qy, qz, anchors[i, 0], anchors[i, 1], anchors[i, 2])
            px, py, pz = px + cx - dx, py + cy - dy, pz + cz - dz
        else:
            px, py, pz = px + joints[i] * ax, py + joints[i] * ay, pz + joints[i] * az
    norm = 1.0 / math.sqrt(qw * qw + qx * qx + qy * qy + qz * qz)
    return px, py, pz, qw * norm, qx * norm, qy * norm, qz * norm


@jit
def forward(joints, zero, offsets, turns, axes, anchors, hinges, positions, quaternions):
    """Fill the tool's positions (n, 3) and quaternions (n, 4) at joints (n, k); `zero` (k,) are joints without displacement."""
    k = joints.shape[1]
    ways, points, at = np.empty((k, 3)), np.empty((k, 3)), np.empty(k)
    for row in range(len(joints)):
        for i in range(k):
            at[i] = joints[row, i] - zero[i]
        x, y, z, w, a, b, c = _walk(at, offsets, turns, axes, anchors, hinges, ways, points)
        positions[row, 0], positions[row, 1], positions[row, 2] = x, y, z
        quaternions[row, 0], quaternions[row, 1], quaternions[row, 2], quaternions[row, 3] = w, a, b, c


@jit
def _solve(A, b):
    """Solve A x = b in place for a symmetric positive definite A (6, 6), by Cholesky; the solution is left in `b` (6,)."""
    for j in range(6):
        for i in range(j, 6):
            s = A[i, j]
            for m in range(j):
                s -= A[i, m] * A[j, m]
            A[i, j] = math.sqrt(s) if i == j else s / A[j, j]
    for i in range(6):
        s = b[i]
        for m in range(i):
            s -= A[i, m] * b[m]
        b[i] = s / A[i, i]
    for i in range(5, -1, -1):
        s = b[i]
        for m in range(i + 1, 6):
            s -= A[m, i] * b[m]
        b[i] = s / A[i, i]


@jit
def _step(error, joints, low, high, jacobian, wish, damping, free, step, A, b):
    """Fill a damped least-squares step (k,) that undoes `error` (6,) and otherwise does what `wish` (k,) says.

    Joints that it would push beyond a limit are left out of it.
    """
    k = len(joints)
    for i in range(k):
        free[i] = True
    for _ in range(k):
        for r in range(6):
            b[r] = error[r]
            for i in range(k):
                if free[i]:
                    b[r] -= jacobian[r, i] * wish[i]
            for c in range(r + 1):
                s = damping if r == c else 0.0
                for i in range(k):
                    if free[i]:
                        s += jacobian[r, i] * jacobian[c, i]
                A[r, c] = s
        _solve(A, b)
        blocked = False
        for i in range(k):
            step[i] = 0.0
            if free[i]:
                s = wish[i]
                for r in range(6):
                    s += jacobian[r, i] * b[r]
                step[i] = s
        for i in range(k):
            if free[i] and ((joints[i] <= low[i] and step[i] < 0.0) or (joints[i] >= high[i] and step[i] > 0.0)):
                free[i] = False
                blocked = True
        if not blocked:
            break


@jit
def inverse(
    positions, quaternions, starts, zero, offsets, turns, axes, anchors, hinges,
    low, high, rest, pull, iterations, damping, largest, exact, out, errors,
):  # fmt: skip
    """Fill `out` (n, k) with the joints near `starts` (n, k) whose tool comes nearest to the poses, and `errors` (n, 2).

    The errors are the tool's distance and angle from its pose. The first step also goes the fraction `pull` of the way to `rest`
    (k,) as far as the tool allows.
    """
    k = starts.shape[1]
    ways, points, at, joints = np.empty((k, 3)), np.empty((k, 3)), np.empty(k), np.empty(k)
    jacobian, error, wish, step = np.empty((6, k)), np.empty(6), np.zeros(k), np.empty(k)
    A, b, free = np.empty((6, 6)), np.empty(6), np.empty(k, dtype=np.bool_)
    for row in range(len(starts)):
        for i in range(k):
            joints[i] = min(max(starts[row, i], low[i]), high[i])
            out[row, i] = joints[i]
        best = np.inf
        errors[row, 0] = errors[row, 1] = np.inf
        tw, tx, ty, tz = quaternions[row, 0], quaternions[row, 1], quaternions[row, 2], quaternions[row, 3]
        for turn in range(iterations):
            for i in range(k):
                at[i] = joints[i] - zero[i]
            px, py, pz, qw, qx, qy, qz = _walk(at, offsets, turns, axes, anchors, hinges, ways, points)
            error[0], error[1], error[2] = positions[row, 0] - px, positions[row, 1] - py, positions[row, 2] - pz
            dw, dx, dy, dz = _multiply(tw, tx, ty, tz, qw, -qx, -qy, -qz)
            if dw < 0.0:
                dw, dx, dy, dz = -dw, -dx, -dy, -dz
            sine = math.sqrt(dx * dx + dy * dy + dz * dz)
            scale = 2.0 * math.atan2(sine, dw) / sine if sine > 1e-15 else 2.0
            error[3], error[4], error[5] = scale * dx, scale * dy, scale * dz
            distance = math.sqrt(error[0] ** 2 + error[1] ** 2 + error[2] ** 2)
            angle = scale * sine
            pulled = turn == 0 and pull > 0.0
            if distance + angle < best and not pulled:
                best = distance + angle
                errors[row, 0], errors[row, 1] = distance, angle
                for i in range(k):
                    out[row, i] = joints[i]
            if distance + angle < exact and not pulled:
                break
            for i in range(k):
                wish[i] = pull * (rest[i] - joints[i]) if pulled else 0.0
                ax, ay, az = ways[i, 0], ways[i, 1], ways[i, 2]
                if hinges[i]:
                    rx, ry, rz = px - points[i, 0], py - points[i, 1], pz - points[i, 2]
                    jacobian[0, i], jacobian[1, i], jacobian[2, i] = ay * rz - az * ry, az * rx - ax * rz, ax * ry - ay * rx
                    jacobian[3, i], jacobian[4, i], jacobian[5, i] = ax, ay, az
                else:
                    jacobian[0, i], jacobian[1, i], jacobian[2, i] = ax, ay, az
                    jacobian[3, i], jacobian[4, i], jacobian[5, i] = 0.0, 0.0, 0.0
            _step(error, joints, low, high, jacobian, wish, damping, free, step, A, b)
            most = 1e-12
            for i in range(k):
                most = max(most, abs(step[i]))
            shrink = min(1.0, largest / most)
            for i in range(k):
                joints[i] = min(max(joints[i] + shrink * step[i], low[i]), high[i])
