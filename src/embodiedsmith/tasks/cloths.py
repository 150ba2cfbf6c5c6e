"""What the predicates about cloth share: its corners, how much it covers, and states it can be put into for near misses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import mujoco
import numpy as np
from scipy.spatial import ConvexHull, QhullError

from embodiedsmith.assets.asset import Asset
from embodiedsmith.spec import split_reference
from embodiedsmith.tasks.kind import HELD, Bound, NearMiss
from embodiedsmith.tasks.probe import Float, Probe
from embodiedsmith.world import World

LAYER = 0.006
"""[m] Between the middles of two layers that lie on each other."""
DIRECTIONS = 24
"""Level directions in which cloth and what it lies over are compared."""
_ANGLES = np.arange(DIRECTIONS) * (2 * np.pi / DIRECTIONS)
TOWARDS = np.stack([np.cos(_ANGLES), np.sin(_ANGLES), np.zeros(DIRECTIONS)])
"""Those, shape (3, DIRECTIONS)."""


def corners(grid: tuple[int, int]) -> tuple[int, int, int, int]:
    """Numbers of a sheet's corner points: at its least x and y, least x and greatest y, greatest x and least y, greatest both."""
    nx, ny = grid
    return 0, ny - 1, (nx - 1) * ny, nx * ny - 1


def sides(asset: Asset) -> tuple[float, float]:
    """Lengths of a sheet along its x and y, laid flat [m]."""
    thick = float(asset.size[2])
    return float(asset.size[0]) - thick, float(asset.size[1]) - thick


def outline(points: Float) -> Float:
    """Corners of the convex hull of points seen from above, in order, shape (k, 2) [m]; empty when they are on a line."""
    try:
        hull = ConvexHull(points[:, :2])
    except QhullError:
        return np.zeros((0, 2))
    found: Float = points[hull.vertices, :2]
    return found


def area(polygon: Float) -> float:
    """Of a polygon (k, 2) with its corners in order [m^2]."""
    x, y = polygon[:, 0], polygon[:, 1]
    return 0.5 * abs(float(x @ np.roll(y, -1) - y @ np.roll(x, -1)))


def let_go(probe: Probe, item: str, margin: Callable[[], float]) -> Bound:
    """Binds a margin that is at most `HELD` while a hand still pinches the cloth, or both its fingers touch it."""
    arms = range(len(probe.world.grippers))
    hands = [probe.held(item, arm) for arm in arms]
    sheet, data = probe.world.sheets[item], probe.world.data

    def put() -> float:
        pairs = probe.pairs
        pinched = any(sheet.tied(data, arm) is not None for arm in arms)
        return min(margin(), HELD) if pinched or any(a in pairs and b in pairs for a, b in hands) else margin()

    return Bound(put, anyway=margin)


def laid(name: str, item: str, points: Float) -> NearMiss:
    """The near miss of that name in which the points of a sheet are at world positions (n, 3) [m]."""
    return NearMiss(name, partial(_lay, item=item, points=points))


def _lay(world: World, item: str, points: Float) -> None:
    world.sheets[item].put(world.data, points)
    world.data.qvel[world.sheets[item].dofs] = 0.0
    mujoco.mj_forward(world.model, world.data)


def flat(world: World, item: str) -> Float:
    """World positions (n, 3) [m] of a sheet's points if it were spread out where it lies, turned as laid out."""
    sheet = world.sheets[item]
    points = sheet.points(world.data)
    spread = sheet.rest @ sheet.T_world_root[:3, :3].T
    at = np.append(points[:, :2].mean(axis=0), points[:, 2].min())
    found: Float = spread - [*spread[:, :2].mean(axis=0), spread[:, 2].min()] + at
    return found


def creased(points: Float, through: Float, normal: Float) -> Float:
    """Points (n, 3) of a flat sheet folded over a vertical plane, one layer up: what is on the side of its `normal` (3,) is
    turned over to the other."""
    beyond = (points - through) @ normal
    over = beyond > 0
    found = points.copy()
    found[over] -= 2 * beyond[over, None] * normal
    found[over, 2] += LAYER
    return found


@dataclass(frozen=True)
class Edge:
    """One edge of a sheet, by the numbers of its points."""

    middle: int
    opposite: int
    """The middle of the edge opposite to it."""


def edges(grid: tuple[int, int]) -> tuple[Edge, ...]:
    """The four edges of a sheet."""
    nx, ny = grid
    low_x, high_x, low_y, high_y = ny // 2, (nx - 1) * ny + ny // 2, (nx // 2) * ny, (nx // 2) * ny + ny - 1
    return Edge(low_x, high_x), Edge(high_x, low_x), Edge(low_y, high_y), Edge(high_y, low_y)


def hanging(world: World, item: str, reference: str, *, off: float) -> Float:
    """World positions (n, 3) [m] of a sheet's points hung over a bar, `item` or `item.part`, across its longer side.

    Args:
        world: As it is now.
        item: The cloth.
        reference: The bar.
        off: How far the sheet's middle is from the bar's top, along the sheet towards the bar's front [m].
    """
    owner, name = split_reference(reference)
    bar, sheet = world.assets[owner].affordances.bar(name), world.sheets[item]
    T = world.item_pose(owner, bar.body)
    axis = T[:3, :3] @ np.asarray(bar.axis)
    across = np.cross(axis, [0.0, 0.0, 1.0])
    flat_points = sheet.rest - sheet.rest.mean(axis=0)
    longer = int(np.ptp(flat_points[:, 1]) > np.ptp(flat_points[:, 0]))
    along, down = flat_points[:, 1 - longer], flat_points[:, longer] + off
    radius = bar.radius + sheet.radius
    turn = np.clip(down / radius, -np.pi / 2, np.pi / 2)
    below = np.abs(down) - np.abs(turn) * radius
    found: Float = (T @ np.append(bar.center, 1.0))[:3] + along[:, None] * axis
    found = found + (radius * np.sin(turn))[:, None] * across
    found[:, 2] += radius * np.cos(turn) - below
    return found


@dataclass(frozen=True)
class Overlay:
    """How a cloth lies over an item."""

    middle: Float
    """Of the item, seen from above, shape (3,), at height 0 [m]."""
    beyond: Float
    """In each of the directions `TOWARDS`, how much farther than is needed the cloth reaches from there, shape (n,) [m]."""
    above: float
    """How much higher than the item's middle is what of the cloth is over it [m]."""


def overlay(probe: Probe, cloth: str, item: str, part: float) -> Callable[[], Overlay]:
    """Binds how a cloth lies over an item, of which it is to reach farther than `part`, from its middle, all round."""
    sheet, data = probe.world.sheets[cloth], probe.world.data
    shape, frame = probe.shape(item), probe.frame(item)

    def now() -> Overlay:
        R, p = frame()
        solid = shape.points @ R.T + p
        reach = (solid @ TOWARDS + shape.radii[:, None]).max(axis=0)
        middle = _middle(reach)
        needed = part * (reach - middle @ TOWARDS)
        points = sheet.points(data)
        hull = outline(points)
        if not len(hull):
            return Overlay(middle, -needed, -float(needed.max()))
        over = np.linalg.norm((points - middle)[:, :2], axis=1) < needed.max()
        low, high = float((solid[:, 2] - shape.radii).min()), float((solid[:, 2] + shape.radii).max())
        above = float(points[over, 2].mean()) - (low + high) / 2 if over.any() else -float(needed.max())
        return Overlay(middle, _within(hull, middle[:2], TOWARDS[:2]) - needed, above)

    return now


def _middle(reach: Float) -> Float:
    """Middle (3,), at height 0, of what reaches so far in each of the directions."""
    half = DIRECTIONS // 2
    across = (reach[:half] - reach[half:]) / 2
    return np.array([across[0], across[half // 2], 0.0])


def _within(hull: Float, at: Float, towards: Float) -> Float:
    """How far a convex polygon (k, 2) reaches from a point (2,) in level directions (2, n), shape (n,); negative outside."""
    edges = np.roll(hull, -1, axis=0) - hull
    normals = np.stack([edges[:, 1], -edges[:, 0]], axis=1) / np.linalg.norm(edges, axis=1)[:, None]
    depth = ((hull - at) * normals).sum(axis=1)  # of the point behind every edge
    facing = normals @ towards
    if depth.min() < 0:
        return np.full(towards.shape[1], float(depth.min()))
    along = np.where(facing > 1e-9, depth[:, None] / np.maximum(facing, 1e-9), np.inf)
    found: Float = along.min(axis=0)
    return found
