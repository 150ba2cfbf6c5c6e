"""What is inside a vessel: the room that its walls enclose below its rim, read off its distance grid."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from embodiedsmith.assets.asset import Asset, Cavity
from embodiedsmith.spec import Item, SceneSpec
from embodiedsmith.world import transforms as tf
from embodiedsmith.world.liquid.grid import Float, Grid, body_shapes, distance_grid, thinnest

LEAST_WALL = 0.003  # [m] through thinner walls particles could be pushed
ROUNDING = 1e-4  # [m] by which a wall of exactly that thickness may measure less
DENSITY = 1000.0  # [kg/m3] of water
CALM = 0.02  # [m/s] root mean square speed of a liquid at rest
FULL = 0.95  # share of a vessel's room that a liquid may take, at most


@dataclass(frozen=True)
class Vessel:
    """The room inside one cavity of a body.

    Attributes:
        grid: The body's signed distances.
        room: Nodes of the grid that are in the room, of the grid's shape.
        T_body_cavity: The cavity's frame in the body's (4, 4).
        capacity: Volume of the room [m3].
        leaks: Whether it holds no liquid: it has gaps, or is open at a side like a scoop. Its room then ends at the cavity's box.
    """

    grid: Grid
    room: NDArray[np.bool_]
    T_body_cavity: Float
    capacity: float
    leaks: bool

    @classmethod
    def of(cls, grid: Grid, cavity: Cavity) -> Vessel:
        """The room of a cavity: all that is joined with the middle of its floor without passing a wall or the rim."""
        T = tf.matrix(cavity.pose)
        nodes = np.stack(np.meshgrid(*(np.arange(n) for n in grid.values.shape), indexing="ij"), axis=-1)
        points = (grid.low + grid.cell * nodes).reshape(-1, 3)
        height = ((points - T[:3, 3]) @ T[:3, 2]).reshape(grid.values.shape)
        free = (grid.values > 0) & (height < cavity.size[2]) & (height > -grid.cell)
        labels, _ = ndimage.label(free)
        start = T[:3, 3] + T[:3, 2] * min(0.5 * cavity.size[2], 2 * grid.cell)
        label = int(labels[tuple(np.round((start - grid.low) / grid.cell).astype(int))])
        room = (labels == label) if label else np.zeros_like(free)
        leaks = not room.any() or any(bool(face.any()) for a in range(3) for face in (room.take(0, a), room.take(-1, a)))
        if leaks:
            aside = np.abs((points - T[:3, 3]) @ T[:3, :2]) < np.array(cavity.size[:2]) / 2
            room &= aside.all(axis=1).reshape(room.shape)
        return cls(grid, room, T, float(room.sum()) * grid.cell**3, leaks)

    def holds(self, points: Float) -> NDArray[np.bool_]:
        """Which points (n, 3) in the body's frame are in the room; walls are thicker than the cells between its nodes."""
        shape = np.array(self.room.shape)
        low = np.floor((points - self.grid.low) / self.grid.cell).astype(int)
        near = ((low >= 0) & (low < shape - 1)).all(axis=1)
        inside = np.zeros(len(points), dtype=bool)
        for corner in np.ndindex(2, 2, 2):
            inside[near] |= self.room[tuple((low[near] + corner).T)]
        return inside

    def lattice(self, count: int, spacing: float) -> Float | None:
        """Places (count, 3) in the body's frame for particles in the room, from its floor up; None when it does not take them.

        They are a cubic lattice, each moved by up to 5 % of the spacing, the same at every call: in rank and file they would
        stand on each other.
        """
        nodes = np.argwhere(self.room) * self.grid.cell + self.grid.low
        local = (nodes - self.T_body_cavity[:3, 3]) @ self.T_body_cavity[:3, :3]
        low, high = local.min(axis=0), local.max(axis=0)
        axes = [np.arange(np.floor(low[a] / spacing), np.ceil(high[a] / spacing) + 1) * spacing for a in range(2)]
        up = np.arange(0.6 * spacing, high[2] + self.grid.cell, spacing)
        z, x, y = np.meshgrid(up, *axes, indexing="ij")
        cavity = np.stack([x, y, z], axis=-1).reshape(-1, 3)
        points = cavity @ self.T_body_cavity[:3, :3].T + self.T_body_cavity[:3, 3]
        keep = np.flatnonzero(self.holds(points) & (self.grid.at(points) > 0.52 * spacing))[:count]
        if len(keep) < count:
            return None
        return points[keep] + 0.05 * spacing * _scatter(count)


def _scatter(count: int) -> Float:
    """Offsets (count, 3) in [-1, 1], without pattern: multiples of irrational numbers (Roberts' R3 sequence)."""
    root = 1.22074408460575947536  # of x^4 = x + 1
    k = np.arange(1, count + 1)[:, None]
    return 2.0 * ((0.5 + k * root ** -np.arange(1.0, 4.0)) % 1.0) - 1.0


class Vessels:
    """The rooms inside the cavities of a world's things, each made when it is first asked for.

    Args:
        model: Of the world.
        assets: Item id to asset.
    """

    def __init__(self, model: mujoco.MjModel, assets: Mapping[str, Asset]) -> None:
        self._model, self._assets = model, assets
        self._grids: dict[int, Grid] = {}
        self._vessels: dict[str, tuple[Vessel, int]] = {}

    def vessel(self, reference: str) -> tuple[Vessel, int]:
        """The room inside a cavity named `item.cavity`, and the body it moves with."""
        if reference not in self._vessels:
            item, _, name = reference.partition(".")
            cavity = self._assets[item].affordances.cavity(name or None)
            body = int(self._model.body(f"{item}/{cavity.body}").id)
            self._vessels[reference] = Vessel.of(self.grid(body), cavity), body
        return self._vessels[reference]

    def grid(self, body: int) -> Grid:
        """Signed distances round a body's collision shapes, in its frame."""
        if body not in self._grids:
            self._grids[body] = distance_grid(body_shapes(self._model, body))
        return self._grids[body]

    def shell(self, body: int) -> Float:
        """Points (n, 3) about a cell apart on the surface of a body, in its frame [m]."""
        grid = self.grid(body)
        points: Float = grid.low + grid.cell * np.argwhere(np.abs(grid.values) < grid.cell / 2)
        return points


def liquid_items(scene: SceneSpec, assets: Mapping[str, Asset]) -> tuple[Item, ...]:
    """The items of a scene that are liquid, in its order."""
    return tuple(i for i in scene.items if (m := assets[i.id].matter) is not None and m.kind == "liquid")


def faults(model: mujoco.MjModel, scene: SceneSpec, assets: Mapping[str, Asset]) -> list[str]:
    """Why the liquids of a compiled scene cannot be where they are to be; empty when all is well."""
    found = []
    for item in liquid_items(scene, assets):
        if item.parent is None or item.relation != "inside":
            found.append(f"item '{item.id}' is liquid: it must be inside something with an open cavity")
            continue
        fault = _vessel_fault(model, item, assets)
        if fault:
            found.append(f"item '{item.id}': {fault}")
    return found


def wall_fault(name: str, asset: Asset, cavity: Cavity) -> str:
    """Why a thing of that name is no vessel for liquid by the walls of its cavity; empty when they are thick enough."""
    model = asset.mjspec.copy().compile()
    return _thin(name, body_shapes(model, int(model.body(cavity.body).id)))


def _thin(name: str, shapes: Sequence[Float]) -> str:
    wall = thinnest(shapes)
    if wall >= LEAST_WALL - ROUNDING:
        return ""
    return (
        f"the walls of '{name}' are {1000 * wall:.1f} mm thick, and liquid needs {1000 * LEAST_WALL:.0f} mm: "
        "give it thicker walls or take something else for the liquid"
    )


def _vessel_fault(model: mujoco.MjModel, item: Item, assets: Mapping[str, Asset]) -> str:
    assert item.parent is not None
    asset, matter = assets[item.id], assets[item.id].matter
    assert matter is not None
    cavity = assets[item.parent].affordances.cavity(item.support)
    shapes = body_shapes(model, int(model.body(f"{item.parent}/{cavity.body}").id))
    if thin := _thin(item.parent, shapes):
        return thin
    vessel = Vessel.of(distance_grid(shapes), cavity)
    if vessel.leaks:
        return f"'{item.parent}' does not hold liquid: its walls have gaps or its cavity is open at the side"
    volume = asset.mass / DENSITY
    if volume > FULL * vessel.capacity or vessel.lattice(max(1, round(volume / matter.spacing**3)), matter.spacing) is None:
        return f"{1000 * volume:.2f} l do not fit into '{item.parent}', which takes {1000 * FULL * vessel.capacity:.2f} l"
    return ""
