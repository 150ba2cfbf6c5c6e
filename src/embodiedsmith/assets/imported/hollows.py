"""Hollows and flat tops, found by looking straight down on a thing: what a ball would lie in, and what things could stand on."""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from embodiedsmith.assets.asset import Cavity, Rim, Support
from embodiedsmith.assets.imported.surface import Float
from embodiedsmith.assets.imported.trials import Body, Physics, Rays, ball_stays
from embodiedsmith.spec import Pose, Vec3

CELLS = 96
"""Lines of sight along each side of the footprint."""
LEAST_DEPTH = 0.012
"""Least depth of a hollow that counts as one [m]."""
LEAST_WIDTH = 0.024
"""Least width of a hollow [m]: a ball of 8 mm with some room."""
LEAST_TOP = 0.03
"""Least width of a flat top that things can stand on [m]."""
FLAT = 0.0015
"""How uneven a top may be [m]."""
FLOOR_HEIGHT = 0.3
"""Height over a hollow's deepest point, as part of its depth, at which its floor's width is taken."""

Bool = NDArray[np.bool_]


@dataclass(frozen=True)
class Relief:
    """Height of the surface seen from above, on a grid."""

    heights: Float
    """Shape (nx, ny) [m]; where nothing is, minus infinity."""
    low: Float
    """Corner of the grid, (x, y) [m]."""
    cell: Float
    """Sides of a cell [m], shape (2,)."""

    def place(self, i: int, j: int) -> tuple[float, float]:
        """Middle of a cell [m]."""
        x, y = self.low + self.cell * (np.array([i, j]) + 0.5)
        return float(x), float(y)


@dataclass(frozen=True)
class Hollow:
    """A hollow in which a ball lies when it looks like one: what a cavity and its rim are made of."""

    center: tuple[float, float]
    floor: float
    rim: float
    width: float
    """Diameter of the largest upright cylinder that reaches from its floor to its rim [m]."""
    opening: float
    """Diameter of the largest disc at its rim [m]."""


def relief(rays: Rays) -> Relief:
    """The surface as seen from straight above."""
    low, high = np.asarray(rays.mesh.bounds, dtype=np.float64)
    cell = (high[:2] - low[:2]) / CELLS
    top = high[2] + 0.01
    heights = np.full((CELLS, CELLS), -np.inf)
    for i in range(CELLS):
        for j in range(CELLS):
            x, y = low[:2] + cell * (np.array([i, j]) + 0.5)
            distance = rays.distance((x, y, top), (0.0, 0.0, -1.0))
            if np.isfinite(distance):
                heights[i, j] = top - distance
    return Relief(heights, low[:2], cell)


def find_hollow(seen: Relief) -> Hollow | None:
    """The largest hollow that would hold water, if there is one of the size that counts."""
    level = _water(seen.heights)
    depth = np.where(np.isfinite(seen.heights), level - np.where(np.isfinite(seen.heights), seen.heights, 0.0), 0.0)
    areas, count = ndimage.label(depth > LEAST_DEPTH)
    best: Hollow | None = None
    for number in range(1, count + 1):
        area = areas == number
        rim = float(level[area].max())
        floor = float(np.quantile(seen.heights[area], 0.02))
        deep = area & (seen.heights < floor + FLOOR_HEIGHT * (rim - floor))
        width, (i, j) = _disc(deep, seen.cell)
        opening, _ = _disc(area, seen.cell)
        if width >= LEAST_WIDTH and rim - floor >= LEAST_DEPTH and (best is None or width > best.width):
            best = Hollow(seen.place(i, j), floor, rim, width, max(width, opening))
    return best


def probe(hollow: Hollow, thing: Body, physics: Physics) -> bool:
    """Whether a ball dropped into the hollow, in physics, stays in it."""
    x, y = hollow.center
    radius = min(0.35 * hollow.width, 0.4 * (hollow.rim - hollow.floor), 0.02)
    half = hollow.opening / 2
    inside = np.array([x - half, y - half, hollow.floor]), np.array([x + half, y + half, hollow.rim + 0.5 * radius])
    return ball_stays(thing, physics, opening=np.array([x, y, hollow.rim]), radius=radius, inside=inside)


def as_cavity(hollow: Hollow) -> tuple[Cavity, Rim]:
    """The cavity and the rim of a hollow."""
    x, y = hollow.center
    size: Vec3 = (round(hollow.width, 4), round(hollow.width, 4), round(hollow.rim - hollow.floor, 4))
    floor = Pose(position=(round(x, 4), round(y, 4), round(hollow.floor, 4)))
    cavity = Cavity(name="inside", body="root", pose=floor, size=size, opening=(0.0, 0.0, 1.0), shape="disc")
    rim = Pose(position=(round(x, 4), round(y, 4), round(hollow.rim, 4)))
    return cavity, Rim(name="rim", body="root", pose=rim, radius=round(hollow.opening / 2, 4))


def find_top(seen: Relief) -> Support | None:
    """The largest level, even area with nothing above it, as a disc; None when nothing could stand on it."""
    heights = np.where(np.isfinite(seen.heights), seen.heights, seen.heights[np.isfinite(seen.heights)].min() - 1.0)
    edges = np.arange(heights[np.isfinite(seen.heights)].min(), heights.max() + FLAT, FLAT)
    best: tuple[float, float, tuple[int, int]] = (0.0, 0.0, (0, 0))
    for level in edges:
        even = np.abs(heights - level) <= FLAT / 2 + 1e-9
        if even.sum() * float(np.prod(seen.cell)) < LEAST_TOP**2 / 2:
            continue
        even = np.abs(heights - float(np.median(heights[even]))) <= FLAT / 2
        width, place = _disc(even, seen.cell)
        if width > best[0]:
            best = width, float(np.median(heights[even])), place
    width, height, (i, j) = best
    if width < LEAST_TOP:
        return None
    x, y = seen.place(i, j)
    pose = Pose(position=(round(x, 4), round(y, 4), round(height, 4)))
    return Support(name="top", body="root", pose=pose, size=(round(width, 4), round(width, 4)), shape="disc")


def _water(heights: Float) -> Float:
    """To which level each cell fills up before it spills over the edge of the grid: priority flood (Barnes et al. 2014)."""
    ground = np.where(np.isfinite(heights), heights, -1e3)
    nx, ny = ground.shape
    level = np.full_like(ground, np.inf)
    queue: list[tuple[float, int, int]] = []
    for i in range(nx):
        for j in range(ny):
            if i in (0, nx - 1) or j in (0, ny - 1) or not np.isfinite(heights[i, j]):
                level[i, j] = ground[i, j]
                queue.append((float(ground[i, j]), i, j))
    heapq.heapify(queue)
    while queue:
        height, i, j = heapq.heappop(queue)
        for a, b in ((i + 1, j), (i - 1, j), (i, j + 1), (i, j - 1)):
            if 0 <= a < nx and 0 <= b < ny and np.isinf(level[a, b]):
                level[a, b] = max(height, float(ground[a, b]))
                heapq.heappush(queue, (float(level[a, b]), a, b))
    return level


def _disc(area: Bool, cell: Float) -> tuple[float, tuple[int, int]]:
    """Diameter [m] and middle (cell) of the largest disc in an area."""
    padded = np.pad(area, 1)
    distance = ndimage.distance_transform_edt(padded, sampling=(float(cell[0]), float(cell[1])))[1:-1, 1:-1]
    i, j = np.unravel_index(int(np.argmax(distance)), distance.shape)
    reach = float(distance[i, j]) - 0.5 * float(cell.max())
    # Of several middles as good, the one amid them.
    best = np.argwhere(distance >= distance[i, j] - 0.25 * float(cell.min()))
    middle = best[np.argmin(np.linalg.norm(best - best.mean(axis=0), axis=1))]
    return 2 * max(reach, 0.0), (int(middle[0]), int(middle[1]))
