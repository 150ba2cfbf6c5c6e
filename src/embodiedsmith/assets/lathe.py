"""Things turned on a lathe: smooth to look at, convex wedges to touch, exact in mass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import trimesh
from numpy.typing import NDArray

from embodiedsmith.assets import solids
from embodiedsmith.assets.asset import Cavity, Rim
from embodiedsmith.assets.fragment import CLEARANCE, Finish, Fragment
from embodiedsmith.spec import Pose

WEDGES = 16
"""Convex pieces in a ring: the polygon is within 1 % of the radius of the circle."""
BASE_SIDES = 32
"""Of the prism that a vessel stands on, within 0.3 % of the circle. MuJoCo makes four contacts of any two flat faces; of this
prism they stay where they are, of a cylinder, or of prisms of fewer sides, they change places all the time."""
VISUAL_SECTIONS = 40
MASS_SECTIONS = 160
"""Sections of the mesh whose volume gives the mass: within 0.03 % of the true body of revolution."""


@dataclass(frozen=True, kw_only=True)
class Station:
    """Outer and inner radius of a wall at a height [m]."""

    z: float
    outer: float
    inner: float


@dataclass(frozen=True, kw_only=True)
class Vessel:
    """A round vessel: a wall through its stations, from bottom to top, and a floor up to `floor`.

    The first station lies at the height of the outer bottom; the inner surface starts at `floor` [m].
    """

    stations: tuple[Station, ...]
    floor: float

    def at(self, z: float) -> Station:
        """The wall at a height, between its stations."""
        heights = [station.z for station in self.stations]
        outer = np.interp(z, heights, [station.outer for station in self.stations])
        inner = np.interp(z, heights, [station.inner for station in self.stations])
        return Station(z=z, outer=float(outer), inner=float(inner))

    @property
    def rim(self) -> Station:
        """The top of the wall."""
        return self.stations[-1]

    def outline(self) -> NDArray[np.float64]:
        """The half section as a closed line of (radius, z) [m], shape (n, 2), from the axis outside up and inside down."""
        bottom = self.stations[0].z
        outside = [(0.0, bottom)] + [(station.outer, station.z) for station in self.stations]
        above = [(station.inner, station.z) for station in reversed(self.stations) if station.z > self.floor + 1e-6]
        inside = [*above, (self.at(self.floor).inner, self.floor), (0.0, self.floor)]
        return np.asarray(outside + inside, dtype=np.float64)


def add_vessel(fragment: Fragment, body: str, vessel: Vessel, finish: Finish) -> None:
    """Add a vessel to a body: its looks, its mass and its collision shapes. It stands on its base alone."""
    add_turned(fragment, body, vessel.outline(), finish)
    foot = vessel.stations[0]
    _base(fragment, body, foot.outer, foot.z, vessel.floor, finish)
    for below, above in pairwise((vessel.at(foot.z + CLEARANCE), *vessel.stations[1:])):
        _ring(fragment, body, below, above, finish)


def add_turned(fragment: Fragment, body: str, outline: Sequence[Sequence[float]] | NDArray[np.float64], finish: Finish) -> None:
    """Add the looks and the mass of the solid that a half section (radius, z) [m] sweeps about z; nothing to touch."""
    line = np.asarray(outline, dtype=np.float64)
    fine = trimesh.creation.revolve(line, sections=MASS_SECTIONS)
    shown = trimesh.creation.revolve(line, sections=VISUAL_SECTIONS)
    fragment.mesh(body, shown, finish, inertial=solids.mesh_inertial(fine, finish.material.density))


def rounded(outline: Sequence[tuple[float, float]]) -> NDArray[np.float64]:
    """The outline with its corners cut once at a quarter of their sides (Chaikin's subdivision), its two ends kept."""
    line = np.asarray(outline, dtype=np.float64)
    cuts = [point for a, b in pairwise(line) for point in (0.75 * a + 0.25 * b, 0.25 * a + 0.75 * b)]
    return np.asarray([line[0], *cuts[1:-1], line[-1]], dtype=np.float64)


def _base(fragment: Fragment, body: str, radius: float, low: float, high: float, finish: Finish) -> None:
    """A disc to touch, as a prism: what a vessel stands on, and what stands in it."""
    angle = np.arange(BASE_SIDES) * 2 * np.pi / BASE_SIDES
    corner = radius * _reach(BASE_SIDES)
    points = [(corner * np.cos(a), corner * np.sin(a), z) for z in (low, high) for a in angle]
    fragment.hull(body, np.asarray(points, dtype=np.float64), finish)


def _ring(fragment: Fragment, body: str, below: Station, above: Station, finish: Finish) -> None:
    """Convex pieces of a wall between two stations: boxes where it is upright, for their better contacts, else wedges."""
    half = np.pi / WEDGES
    upright = abs(below.outer - above.outer) < 1e-6 and abs(below.inner - above.inner) < 1e-6
    grow = _reach(WEDGES)
    for index in range(WEDGES):
        angle = 2 * half * index
        if upright:
            radius = (below.outer + below.inner) / 2 * grow * np.cos(half)
            size = (below.outer - below.inner, 2 * below.outer * grow * np.sin(half), above.z - below.z)
            center = (radius * np.cos(angle), radius * np.sin(angle), (below.z + above.z) / 2)
            quat = (np.cos(angle / 2), 0.0, 0.0, np.sin(angle / 2))
            fragment.box(body, size, center, finish, quat=quat, visible=False, density=0.0)
        else:
            points = [
                (radius * grow * np.cos(angle + side * half), radius * grow * np.sin(angle + side * half), station.z)
                for station in (below, above)
                for radius in (station.outer, station.inner)
                for side in (-1, 1)
            ]
            fragment.hull(body, np.asarray(points, dtype=np.float64), finish)


def _reach(sides: int) -> float:
    """Radius of a polygon's corners over the circle's, halfway between the inscribed and the circumscribed polygon.

    Its faces are as far inside the circle as its corners are outside.
    """
    return float(2 / (1 + np.cos(np.pi / sides)))


def add_hollow(fragment: Fragment, body: str, outline: Sequence[Sequence[float]], wall: float, finish: Finish) -> None:
    """Add the looks and the mass of a closed shell of thickness `wall` [m] inside a half section (radius, z) [m].

    The inner surface is the outline shrunk towards its middle: the wall is even where the outline is upright or level.
    """
    line = np.asarray(outline, dtype=np.float64)
    low, high = line[:, 1].min(), line[:, 1].max()
    inner = np.column_stack([np.maximum(line[:, 0] - wall, 0.0), np.clip(line[:, 1], low + wall, high - wall)])
    inner[[0, -1], 0] = 0.0
    meshes = []
    for sections in (MASS_SECTIONS, VISUAL_SECTIONS):
        outside = trimesh.creation.revolve(line, sections=sections)
        void = trimesh.creation.revolve(_without_repeats(inner), sections=sections)
        void.invert()
        meshes.append(trimesh.util.concatenate([outside, void]))
    fine, shown = meshes
    fragment.mesh(body, shown, finish, inertial=solids.mesh_inertial(fine, finish.material.density))


def _without_repeats(line: NDArray[np.float64]) -> NDArray[np.float64]:
    keep = np.ones(len(line), dtype=bool)
    keep[1:] = np.linalg.norm(np.diff(line, axis=0), axis=1) > 1e-7
    return line[keep]


def open_vessel(vessel: Vessel, *, body: str = "root") -> tuple[Cavity, Rim]:
    """What an upright open vessel offers: the cavity `inside`, as wide as its floor lets things stand, and its rim.

    The cavity's diameter is the mean of that of the floor and of the rim.
    """
    top = vessel.rim
    width = vessel.at(vessel.floor).inner + top.inner
    cavity = Cavity(
        name="inside",
        body=body,
        pose=Pose(position=(0.0, 0.0, vessel.floor)),
        opening=(0.0, 0.0, 1.0),
        size=(width, width, top.z - vessel.floor),
        shape="disc",
    )
    return cavity, Rim(name="rim", body=body, pose=Pose(position=(0.0, 0.0, top.z)), radius=top.inner)
