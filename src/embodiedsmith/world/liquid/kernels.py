"""The loops of the fluid, compiled by numba: contact, neighbours, density constraint, velocities.

Position-based fluids after Macklin and Mueller (ACM TOG 32(4), 2013): positions are predicted, then moved until no place is
denser than water at rest, and velocities follow from where particles went. Colliders are signed distances in their own frames;
a particle is carried from its place in a collider's old frame to its place in the new one in short steps, so that no wall
passes over it.

Neighbours are found among particles in the order of their cells: `X` (3, n) are positions in that order, `order` (n,) says which
particle each is. `close` lists the colliders that any particle can come near to.
All floats are single precision [m, s, kg]; loops run on one thread, so the same input gives the same bits.
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

jit: Any = numba.njit(fastmath=True, cache=True, error_model="numpy")
inlined: Any = numba.njit(fastmath=True, cache=True, error_model="numpy", forceinline=True)
"""For what is called per particle with many arrays: handing them over costs several times what is done with them."""
f4 = np.float32

MOST_NEIGHBOURS = 62
GRID, BOX = 0, 1
"""Kinds of colliders: a grid of signed distances, or a box with its exact distance."""
FAR = 0.02  # [m] beyond a collider's bounding ball where nothing is looked up


@inlined
def _in_grid(values, at, nx, ny, nz, lx, ly, lz, per_cell, x, y, z):
    """Signed distance and its gradient (not of unit length) by trilinear interpolation; beyond the grid, that of its edge."""
    u = min(max((x - lx) * per_cell, f4(0)), f4(nx - 1.001))
    v = min(max((y - ly) * per_cell, f4(0)), f4(ny - 1.001))
    w = min(max((z - lz) * per_cell, f4(0)), f4(nz - 1.001))
    i, j, k = int(u), int(v), int(w)
    u, v, w = f4(u - i), f4(v - j), f4(w - k)
    b = at + (i * ny + j) * nz + k
    slab = ny * nz
    a0, a1, a2, a3 = values[b], values[b + 1], values[b + nz], values[b + nz + 1]
    a4, a5, a6, a7 = values[b + slab], values[b + slab + 1], values[b + slab + nz], values[b + slab + nz + 1]
    b0, b1, b2, b3 = a0 + (a1 - a0) * w, a2 + (a3 - a2) * w, a4 + (a5 - a4) * w, a6 + (a7 - a6) * w
    c0, c1 = b0 + (b1 - b0) * v, b2 + (b3 - b2) * v
    one = f4(1)
    gy = (b1 - b0) * (one - u) + (b3 - b2) * u
    gz = ((a1 - a0) * (one - v) + (a3 - a2) * v) * (one - u) + ((a5 - a4) * (one - v) + (a7 - a6) * v) * u
    return c0 + (c1 - c0) * u, c1 - c0, gy, gz


@inlined
def _in_box(hx, hy, hz, x, y, z):
    """Signed distance to a box of those half extents and its gradient, of unit length."""
    dx, dy, dz = abs(x) - hx, abs(y) - hy, abs(z) - hz
    sx, sy, sz = math.copysign(f4(1), x), math.copysign(f4(1), y), math.copysign(f4(1), z)
    zero = f4(0)
    if dx <= zero and dy <= zero and dz <= zero:
        if dx >= dy and dx >= dz:
            return dx, sx, zero, zero
        if dy >= dz:
            return dy, zero, sy, zero
        return dz, zero, zero, sz
    px, py, pz = max(dx, zero), max(dy, zero), max(dz, zero)
    s = math.sqrt(px * px + py * py + pz * pz)
    return s, sx * px / s, sy * py / s, sz * pz / s


@inlined
def _distance(c, kinds, numbers, values, x, y, z):
    if kinds[c, 0] == 1:
        return _in_box(numbers[c, 0], numbers[c, 1], numbers[c, 2], x, y, z)
    return _in_grid(
        values, kinds[c, 1], kinds[c, 2], kinds[c, 3], kinds[c, 4],
        numbers[c, 0], numbers[c, 1], numbers[c, 2], numbers[c, 3], x, y, z,
    )  # fmt: skip


@inlined
def _carry(
    i, ax, ay, az, x, y, z, kinds, numbers, values, close, R0, T0, R1, T1, com, load, radius, stride, force, rough, clear, still
):
    """Where a particle that goes from (ax, ay, az) to (x, y, z) ends, while colliders go from frames R0, T0 to R1, T1.

    `clear[c, i]` is how far the particle may still go without meeting collider c: look-ups are spared while it lasts, if
    colliders stand `still`. What the colliders are pushed with is added to `load` (force and torque about `com`).
    """
    dx, dy, dz = x - ax, y - ay, z - az
    moved = math.sqrt(dx * dx + dy * dy + dz * dz)
    for c in close:
        if still and moved < clear[c, i]:
            clear[c, i] -= moved
            continue
        dx, dy, dz = x - T1[c, 0], y - T1[c, 1], z - T1[c, 2]
        bx = R1[c, 0, 0] * dx + R1[c, 1, 0] * dy + R1[c, 2, 0] * dz
        by = R1[c, 0, 1] * dx + R1[c, 1, 1] * dy + R1[c, 2, 1] * dz
        bz = R1[c, 0, 2] * dx + R1[c, 1, 2] * dy + R1[c, 2, 2] * dz
        ex, ey, ez = bx - numbers[c, 4], by - numbers[c, 5], bz - numbers[c, 6]
        off = math.sqrt(ex * ex + ey * ey + ez * ez) - numbers[c, 7] - radius
        if off > f4(FAR):
            clear[c, i] = off
            continue
        dx, dy, dz = ax - T0[c, 0], ay - T0[c, 1], az - T0[c, 2]
        px = R0[c, 0, 0] * dx + R0[c, 1, 0] * dy + R0[c, 2, 0] * dz
        py = R0[c, 0, 1] * dx + R0[c, 1, 1] * dy + R0[c, 2, 1] * dz
        pz = R0[c, 0, 2] * dx + R0[c, 1, 2] * dy + R0[c, 2, 2] * dz
        sx, sy, sz = bx - px, by - py, bz - pz
        way = math.sqrt(sx * sx + sy * sy + sz * sz)
        s, gx, gy, gz = f4(0), f4(0), f4(0), f4(0)
        if way > stride:  # else the one look-up at its end says as much
            s, gx, gy, gz = _distance(c, kinds, numbers, values, px, py, pz)
            if s - radius > way:
                clear[c, i] = s - radius - way
                continue
        count = min(max(math.ceil(way / stride), 1), 16)
        part = f4(1) / f4(count)
        sx, sy, sz = sx * part, sy * part, sz * part
        qx, qy, qz = px, py, pz
        hit = False
        for _ in range(count):
            qx, qy, qz = qx + sx, qy + sy, qz + sz
            s, gx, gy, gz = _distance(c, kinds, numbers, values, qx, qy, qz)
            if s < radius:
                unit = f4(1) / math.sqrt(gx * gx + gy * gy + gz * gz + f4(1e-12))
                gx, gy, gz, depth = gx * unit, gy * unit, gz * unit, radius - s
                qx, qy, qz = qx + gx * depth, qy + gy * depth, qz + gz * depth
                hit = True
                tx, ty, tz = qx - px, qy - py, qz - pz
                along = tx * gx + ty * gy + tz * gz
                tx, ty, tz = tx - gx * along, ty - gy * along, tz - gz * along
                slid = math.sqrt(tx * tx + ty * ty + tz * tz)
                if slid > f4(1e-9):
                    held = min(rough * depth / slid, f4(1))
                    qx, qy, qz = qx - tx * held, qy - ty * held, qz - tz * held
        clear[c, i] = 0
        if hit:
            wx = R1[c, 0, 0] * qx + R1[c, 0, 1] * qy + R1[c, 0, 2] * qz + T1[c, 0]
            wy = R1[c, 1, 0] * qx + R1[c, 1, 1] * qy + R1[c, 1, 2] * qz + T1[c, 1]
            wz = R1[c, 2, 0] * qx + R1[c, 2, 1] * qy + R1[c, 2, 2] * qz + T1[c, 2]
            fx, fy, fz = (x - wx) * force, (y - wy) * force, (z - wz) * force
            rx, ry, rz = wx - com[c, 0], wy - com[c, 1], wz - com[c, 2]
            x, y, z = wx, wy, wz
            load[c, 0] += fx
            load[c, 1] += fy
            load[c, 2] += fz
            load[c, 3] += ry * fz - rz * fy
            load[c, 4] += rz * fx - rx * fz
            load[c, 5] += rx * fy - ry * fx
        elif s - radius > 0:
            clear[c, i] = s - radius
    return x, y, z


@jit
def predict(P, x, v, dt, gravity, kinds, numbers, values, close, R0, T0, R1, T1, com, load, radius, stride, force, rough, clear):
    """Where particles fall to: P (3, n) from x and v (n, 3), with colliders moving from frames R0, T0 to R1, T1."""
    for i in range(P.shape[1]):
        v[i, 2] -= gravity * dt
        a, b, c = _carry(
            i, x[i, 0], x[i, 1], x[i, 2], x[i, 0] + v[i, 0] * dt, x[i, 1] + v[i, 1] * dt, x[i, 2] + v[i, 2] * dt,
            kinds, numbers, values, close, R0, T0, R1, T1, com, load, radius, stride, force, rough, clear, False,
        )  # fmt: skip
        P[0, i], P[1, i], P[2, i] = a, b, max(c, radius)


@jit
def cell_keys(P, h, keys):
    """Cell of every particle as one number, keys (n,); gives by how much it grows from a cell to the next along x and along y.

    Cells of the same x and y follow each other along z; there are empty ones all round.
    """
    n = P.shape[1]
    low = np.empty(3, np.float32)
    size = np.empty(3, np.int64)
    for a in range(3):
        least, most = P[a, 0], P[a, 0]
        for i in range(n):
            least, most = min(least, P[a, i]), max(most, P[a, i])
        low[a] = least - f4(2) * h
        size[a] = int((most - low[a]) / h) + 3
    for i in range(n):
        ix, iy, iz = int((P[0, i] - low[0]) / h), int((P[1, i] - low[1]) / h), int((P[2, i] - low[2]) / h)
        keys[i] = (ix * size[1] + iy) * size[2] + iz
    return size[1] * size[2], size[2]


@jit
def neighbours(X, h, keys, stride_x, stride_y, near, count):
    """Indices `near` (n, 62) and number `count` (n,) of particles closer than `h`, by the sorted cells `keys` (n,).

    Each pair is looked at from its first particle: the rest of its own column of cells, and the four columns after it.
    """
    h2 = h * h
    n = X.shape[1]
    squares = np.empty(n, np.float32)
    found = np.empty(n + 1, np.int32)
    ahead = (0, stride_y, stride_x - stride_y, stride_x, stride_x + stride_y)
    begin = np.zeros(5, np.int64)
    end = np.zeros(5, np.int64)
    count[:] = 0
    for i in range(n):
        for k in range(5):  # cells are in order, and so are the columns beside them
            column = keys[i] + ahead[k]
            while begin[k] < n and keys[begin[k]] < column - 1:
                begin[k] += 1
            while end[k] < n and keys[end[k]] < column + 2:
                end[k] += 1
        begin[0] = i + 1
        x, y, z = X[0, i], X[1, i], X[2, i]
        m = 0
        for k in range(5):
            s, e = begin[k], end[k]
            for j in range(s, e):
                squares[j - s] = (x - X[0, j]) ** 2 + (y - X[1, j]) ** 2 + (z - X[2, j]) ** 2
            for j in range(s, e):
                found[m] = j
                m += squares[j - s] < h2
        c = count[i]
        for k in range(m):
            j = found[k]
            if c < MOST_NEIGHBOURS:
                near[i, c] = j
                c += 1
            if count[j] < MOST_NEIGHBOURS:
                near[j, count[j]] = i
                count[j] += 1
        count[i] = c


@jit
def pressures(X, near, count, h, poly, spiky, own, soft, out):
    """How hard each particle pushes (Lagrange multiplier of its density), `out` (n,); only what is too dense pushes."""
    h2 = h * h
    zero = f4(0)
    for i in range(X.shape[1]):
        x, y, z = X[0, i], X[1, i], X[2, i]
        density, gx, gy, gz, squares = own, zero, zero, zero, zero
        for k in range(count[i]):
            j = near[i, k]
            rx, ry, rz = x - X[0, j], y - X[1, j], z - X[2, j]
            r2 = rx * rx + ry * ry + rz * rz
            d = max(h2 - r2, zero)
            r = math.sqrt(r2) + f4(1e-9)
            u = max(h - r, zero)
            q = spiky * u * u
            density += poly * d * d * d
            t = q / r
            gx += rx * t
            gy += ry * t
            gz += rz * t
            squares += q * q
        out[i] = -max(density - f4(1), zero) / (squares + gx * gx + gy * gy + gz * gz + soft)


@jit
def spread(X, near, count, h, spiky, push, Y):
    """Move particles apart by their pressures `push` (n,): Y (3, n) from X (3, n), as if there were no colliders."""
    zero = f4(0)
    for i in range(X.shape[1]):
        x, y, z, mine = X[0, i], X[1, i], X[2, i], push[i]
        dx, dy, dz = zero, zero, zero
        for k in range(count[i]):
            j = near[i, k]
            rx, ry, rz = x - X[0, j], y - X[1, j], z - X[2, j]
            r = math.sqrt(rx * rx + ry * ry + rz * rz) + f4(1e-9)
            u = max(h - r, zero)
            t = (mine + push[j]) * spiky * u * u / r
            dx += rx * t
            dy += ry * t
            dz += rz * t
        Y[0, i], Y[1, i], Y[2, i] = x + dx, y + dy, z + dz


@jit
def keep_out(X, Y, kinds, numbers, values, close, R, T, com, load, radius, stride, force, rough, clear):
    """Stop particles that go from X to Y (3, n) at colliders, which stand still, and at the floor; Y is overwritten."""
    for i in range(X.shape[1]):
        a, b, c = _carry(
            i, X[0, i], X[1, i], X[2, i], Y[0, i], Y[1, i], Y[2, i], kinds, numbers, values, close, R, T, R, T, com, load,
            radius, stride, force, rough, clear, True,
        )  # fmt: skip
        Y[0, i], Y[1, i], Y[2, i] = a, b, max(c, radius)


@jit
def finish(x, v, X, order, near, count, h, dt, viscosity, fastest, V):
    """New velocities from where particles went, evened out among neighbours (XSPH); x and v (n, 3) are overwritten."""
    h2 = h * h
    per_dt, zero, per_h2 = f4(1) / dt, f4(0), f4(1) / h2
    n = X.shape[1]
    for i in range(n):
        p = order[i]
        for a in range(3):
            V[a, i] = (X[a, i] - x[p, a]) * per_dt
    for i in range(n):
        p = order[i]
        a, b, c = V[0, i], V[1, i], V[2, i]
        sx, sy, sz, total = zero, zero, zero, zero
        for k in range(count[i]):
            j = near[i, k]
            rx, ry, rz = X[0, i] - X[0, j], X[1, i] - X[1, j], X[2, i] - X[2, j]
            d = max(h2 - rx * rx - ry * ry - rz * rz, zero) * per_h2
            w = d * d * d
            sx += (V[0, j] - a) * w
            sy += (V[1, j] - b) * w
            sz += (V[2, j] - c) * w
            total += w
        t = viscosity / max(total, f4(0.3))
        a, b, c = a + sx * t, b + sy * t, c + sz * t
        speed = math.sqrt(a * a + b * b + c * c)
        if speed > fastest:
            t = fastest / speed
            a, b, c = a * t, b * t, c * t
        v[p, 0], v[p, 1], v[p, 2] = a, b, c
    for i in range(n):
        p = order[i]
        x[p, 0], x[p, 1], x[p, 2] = X[0, i], X[1, i], X[2, i]
