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
