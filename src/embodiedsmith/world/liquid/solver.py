"""A fluid of particles among colliders: the interface of a solver, and the one that runs on the CPU.

A solver knows neither scenes nor MuJoCo: it is given signed distances, frames and time, and gives back where particles are and
what they press on. One for another device fills the same interface.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from embodiedsmith.world.liquid import kernels
from embodiedsmith.world.liquid.grid import Float, Grid

Single = NDArray[np.float32]

GRAVITY = 9.81  # [m/s2]


@dataclass(frozen=True, kw_only=True)
class FluidOptions:
    """Numbers of the fluid. Measured: with fewer iterations the bottom gives way, with a shorter reach it jitters."""

    iterations: int = 4
    """Rounds of the density constraint in a step."""
    reach: float = 2.0
    """Of the kernels, in spacings of the particles."""
    viscosity: float = 0.1
    """Share of the difference to the neighbours' velocity that is evened out in a step (XSPH)."""
    packing: float = 1.15
    """Density of the particles' lattice over that of rest: free particles pack closer than a lattice; with 1 a level reads
    12 % low."""
    softness: float = 0.01
    """Of the density constraint, in squares of a full neighbourhood's gradients."""
    friction: float = 0.1
    """Of particles along colliders: what is spilled comes to rest."""
    stride: float = 0.002
    """[m] steps in which a particle is carried past colliders."""
    fastest: float = 6.0
    """[m/s] speed at which particles are capped; one falls 1.8 m until it has it."""


@dataclass(frozen=True)
class Collider:
    """A rigid thing as the fluid sees it, in its own frame."""

    grid: Grid | None
    """Its signed distances; None: it is a box of half extents `half`."""
    half: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """[m]"""


@dataclass(frozen=True)
class Frames:
    """Where colliders are: rotations (c, 3, 3), world from collider, and origins (c, 3) [m]."""

    R: Single
    p: Single


class Solver(Protocol):
    """Steps particles among colliders."""

    x: Single
    """Positions (n, 3) [m]; the order never changes."""
    v: Single
    """Velocities (n, 3) [m/s]."""

    def step(self, dt: float, before: Frames, after: Frames, centers: Single) -> Float:
        """Advance by `dt` [s] while colliders go from `before` to `after`.

        Gives force [N] and torque [N m] about `centers` (c, 3) on each collider, shape (c, 6), world axes.
        """
        ...


class CpuSolver:
    """The solver on one thread of the CPU.

    Args:
        x: Positions (n, 3) [m].
        spacing: Distance of particles on a cubic lattice that fills the liquid's volume [m].
        mass: Of one particle [kg].
        colliders: What they meet, besides a floor at z = 0.
        options: Numbers of the fluid.
    """

    def __init__(
        self, x: Float, spacing: float, mass: float, colliders: Sequence[Collider], options: FluidOptions | None = None
    ) -> None:
        self.options = options = options or FluidOptions()
        self.x = np.ascontiguousarray(x, dtype=np.float32)
        self.v = np.zeros_like(self.x)
        self.spacing, self._mass = spacing, mass
        self.radius = np.float32(spacing / 2)
        self._h = np.float32(options.reach * spacing)
        self._kernels()
        self._colliders(colliders)

    def _kernels(self) -> None:
        """Scale the kernels: a cubic lattice at the spacing of the particles has density `packing`, each itself included."""
        options, h = self.options, float(self._h)
        a = np.arange(-4, 5) * self.spacing
        r = np.sqrt((np.stack(np.meshgrid(a, a, a), -1) ** 2).sum(-1)).ravel()
        poly = options.packing / (np.maximum(h * h - r * r, 0) ** 3).sum()
        spiky = -45 / np.pi / h**6 * poly * 64 * np.pi * h**9 / 315
        gradients = spiky * np.maximum(h - r[r > 0], 0) ** 2
        self._poly, self._spiky, self._own = np.float32(poly), np.float32(spiky), np.float32(poly * h**6)
        self._soft = np.float32(options.softness * (gradients**2).sum())

    def _colliders(self, colliders: Sequence[Collider]) -> None:
        kinds, numbers, values, at = [], [], [np.zeros(1, np.float32)], 1
        for collider in colliders:
            grid = collider.grid
            if grid is None:
                kinds.append([kernels.BOX, 0, 0, 0, 0])
                numbers.append([*collider.half, 0.0, 0.0, 0.0, 0.0, float(np.linalg.norm(collider.half))])
                continue
            half = (np.array(grid.values.shape) - 1) * grid.cell / 2
            kinds.append([kernels.GRID, at, *grid.values.shape])
            numbers.append([*grid.low, 1 / grid.cell, *(grid.low + half), float(np.linalg.norm(half))])
            values.append(grid.values.ravel())
            at += grid.values.size
        self._kinds = np.array(kinds, np.int64).reshape(-1, 5)
        self._numbers = np.array(numbers, np.float32).reshape(-1, 8)
        self._values = np.concatenate(values)

    def _close(self, before: Frames, after: Frames, dt: float) -> NDArray[np.int64]:
        """Colliders whose bounding ball comes near the box round all particles."""
        low, high = self.x.min(axis=0), self.x.max(axis=0)
        way = float(np.sqrt((self.v**2).sum(axis=1).max(initial=0.0))) * dt + GRAVITY * dt * dt + kernels.FAR
        close = np.zeros(len(self._kinds), dtype=bool)
        for frames in (before, after):
            middle = np.einsum("cij,cj->ci", frames.R, self._numbers[:, 4:7]) + frames.p
            away = middle - np.clip(middle, low, high)
            close |= np.sqrt((away**2).sum(axis=1)) < self._numbers[:, 7] + way
        return np.flatnonzero(close)

    def step(self, dt: float, before: Frames, after: Frames, centers: Single) -> Float:
        """See `Solver.step`."""
        n, options, dt32 = len(self.x), self.options, np.float32(dt)
        load = np.zeros((len(self._kinds), 6))
        if n == 0:
            return load
        close = self._close(before, after, dt)
        clear = np.zeros((len(self._kinds), n), np.float32)
        world = (self._kinds, self._numbers, self._values, close)
        contact = (
            centers, load, self.radius, np.float32(options.stride), np.float32(self._mass / dt**2), np.float32(options.friction),
        )  # fmt: skip
        P = np.empty((3, n), np.float32)
        kernels.predict(
            P, self.x, self.v, dt32, np.float32(GRAVITY), *world, before.R, before.p, after.R, after.p, *contact, clear
        )
        keys = np.empty(n, np.int64)
        strides = kernels.cell_keys(P, self._h, keys)
        order = np.argsort(keys, kind="stable")
        X, clear = np.ascontiguousarray(P[:, order]), np.ascontiguousarray(clear[:, order])
        near, count = np.empty((n, kernels.MOST_NEIGHBOURS), np.int32), np.empty(n, np.int32)
        kernels.neighbours(X, self._h, keys[order], *strides, near, count)
        push, Y = np.empty(n, np.float32), np.empty_like(X)
        for _ in range(options.iterations):
            kernels.pressures(X, near, count, self._h, self._poly, self._spiky, self._own, self._soft, push)
            kernels.spread(X, near, count, self._h, self._spiky, push, Y)
            kernels.keep_out(X, Y, *world, after.R, after.p, *contact, clear)
            X, Y = Y, X
        kernels.finish(
            self.x, self.v, X, order, near, count, self._h, dt32, np.float32(options.viscosity), np.float32(options.fastest), Y
        )
        return load
