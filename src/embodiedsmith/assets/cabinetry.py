"""Cupboards: a carcass of boards divided into cells, with drawers and doors in front of them.

The carcass stands on z = 0, centred on the origin, and faces +x. Fronts lie over the carcass's front edges, so that a
door hung on its outer front edge swings free; gaps keep neighbours apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from embodiedsmith.assets.asset import Cavity, Handle, Support
from embodiedsmith.assets.fragment import Finish, Fragment
from embodiedsmith.spec import Pose, Vec3

GAP = 0.003
"""Gap round a front [m]; kitchen fitters leave 3 mm."""
HANDLE_RADIUS = 0.006
HANDLE_CLEAR = 0.040
"""Free depth between a panel and its handle [m]: fingertips reach 10 mm past the bar's centre, fingers are 20 mm deep."""
POST_RADIUS = 0.005
DRAWER_WALL = 0.010
TRAVEL = 0.87
"""Travel of a drawer as a fraction of its depth: single-extension runners give 0.75-0.8, full extension 1."""

Side = Literal["left", "right"]
Area = tuple[tuple[float, float], tuple[float, float]]
"""Ranges of y and z in the root frame [m]."""


@dataclass(frozen=True, kw_only=True)
class Cell:
    """The opening of a compartment in the carcass's front plane, in the root frame [m]."""

    y: tuple[float, float]
    z: tuple[float, float]

    @property
    def width(self) -> float:
        """[m]"""
        return self.y[1] - self.y[0]

    @property
    def height(self) -> float:
        """[m]"""
        return self.z[1] - self.z[0]

    @property
    def middle(self) -> tuple[float, float]:
        """Centre in y and z [m]."""
        return (self.y[0] + self.y[1]) / 2, (self.z[0] + self.z[1]) / 2


@dataclass(frozen=True, kw_only=True)
class Carcass:
    """Outer dimensions of a cupboard with its fronts on, and the boards it is made of [m]."""

    width: float
    """Along y."""
    depth: float
    """Along x, fronts included, handles not."""
    height: float
    board: float
    """Thickness of sides, top, bottom and partitions."""
    front: float = 0.018
    """Thickness of the fronts; 0 for an open cupboard."""
    back: float = 0.006
    plinth: float = 0.0
    """Height of the bottom board above z = 0."""
    shelf: float | None = None
    """Thickness of the boards between rows; None: `board`."""

    @property
    def face(self) -> float:
        """x of the plane that the fronts lie against."""
        return self.depth / 2 - self.front

    @property
    def inside(self) -> tuple[float, float]:
        """x of the inner face of the back, and of the opening."""
        return -self.depth / 2 + self.back, self.face

    @property
    def divider(self) -> float:
        """Thickness of the boards between rows."""
        return self.board if self.shelf is None else self.shelf

    def column(self, rows: Sequence[float], cells: Sequence[int]) -> list[list[Cell]]:
        """Divide the inside into rows, top to bottom, of relative heights `rows` with so many equal `cells` each."""
        between = self.divider
        free = self.height - self.plinth - 2 * self.board - between * (len(rows) - 1)
        heights = [free * row / sum(rows) for row in rows]
        grid, top = [], self.height - self.board
        for height, count in zip(heights, cells, strict=True):
            width = (self.width - self.board * (count + 1)) / count
            left = -self.width / 2 + self.board
            grid.append(
                [
                    Cell(y=(left + i * (width + self.board), left + i * (width + self.board) + width), z=(top - height, top))
                    for i in range(count)
                ]
            )
            top -= height + between
        return grid


def add_carcass(fragment: Fragment, carcass: Carcass, grid: Sequence[Sequence[Cell]], finish: Finish) -> None:
    """The fixed boards: sides, top, bottom, back, a board between rows and a partition between cells."""
    c = carcass
    x0, x1 = -c.depth / 2, c.face
    deep, mid = x1 - x0, (x0 + x1) / 2
    inner = c.width - 2 * c.board
    for side in (-1, 1):
        y = side * (c.width - c.board) / 2
        fragment.box("root", (deep, c.board, c.height), (mid, y, c.height / 2), finish)
    fragment.box("root", (deep, inner, c.board), (mid, 0, c.height - c.board / 2), finish)
    fragment.box("root", (deep, inner, c.board), (mid, 0, c.plinth + c.board / 2), finish)
    tall = c.height - c.plinth - 2 * c.board
    fragment.box("root", (c.back, inner, tall), (x0 + c.back / 2, 0, c.plinth + c.board + tall / 2), finish)
    inner_deep, inner_mid = deep - c.back, mid + c.back / 2
    for row in grid[:-1]:
        z = row[0].z[0] - c.divider / 2
        fragment.box("root", (inner_deep, inner, c.divider), (inner_mid, 0, z), finish)
    for row in grid:
        for cell in row[:-1]:
            height, z = cell.height, cell.middle[1]
            fragment.box("root", (inner_deep, c.board, height), (inner_mid, cell.y[1] + c.board / 2, z), finish)
    if c.plinth > 0:
        # Set back from the front, as room for toes.
        set_back = min(0.05, 0.15 * c.depth)
        fragment.box("root", (deep - set_back, inner, c.plinth), (mid - set_back / 2, 0, c.plinth / 2), finish)


def front_area(carcass: Carcass, cells: Iterable[Cell]) -> Area:
    """The y and z range of a front over some cells [m]: to the carcass's outer edges, or half-way over inner boards."""
    some = list(cells)
    half = carcass.board / 2

    def edge(value: float, limit: float, sign: int) -> float:
        outer = abs(value + sign * carcass.board - limit) < 1e-6
        return limit - sign * GAP / 2 if outer else value + sign * (half - GAP / 2)

    y0 = edge(min(cell.y[0] for cell in some), -carcass.width / 2, -1)
    y1 = edge(max(cell.y[1] for cell in some), carcass.width / 2, 1)
    z0 = edge(min(cell.z[0] for cell in some), carcass.plinth, -1)
    z1 = edge(max(cell.z[1] for cell in some), carcass.height, 1)
    return (y0, y1), (z0, z1)


def add_handle(
    fragment: Fragment, body: str, *, panel: Vec3, vertical: bool, length: float, push: Vec3, finish: Finish
) -> Handle:
    """A bar on two posts before the point `panel` of a front's outer face, in the body's frame, which looks along +x."""
    along = np.array([0.0, 0.0, 1.0]) if vertical else np.array([0.0, 1.0, 0.0])
    foot = np.asarray(panel, dtype=np.float64)
    center = foot + np.array([HANDLE_CLEAR + HANDLE_RADIUS, 0.0, 0.0])
    fragment.capsule(body, center - along * length / 2, center + along * length / 2, HANDLE_RADIUS, finish)
    for side in (-1, 1):
        end = along * side * (length / 2)
        fragment.capsule(body, foot + end, center + end, POST_RADIUS, finish)
    return Handle(
        name=body,
        body=body,
        joint=body,
        center=_vec(center),
        axis=_vec(along),
        outward=(1.0, 0.0, 0.0),
        radius=HANDLE_RADIUS,
        length=length - 2 * POST_RADIUS,
        push=push,
    )


def add_drawer(
    fragment: Fragment, carcass: Carcass, cell: Cell, name: str, *, finish: Finish, box: Finish, metal: Finish
) -> tuple[Cavity, Handle]:
    """A drawer filling a cell: a front with a level handle in its upper half, and an open box behind it.

    The body's origin is the centre of the front's outer face when shut.
    """
    (y0, y1), (z0, z1) = front_area(carcass, [cell])
    center = (carcass.depth / 2, (y0 + y1) / 2, (z0 + z1) / 2)
    body = fragment.body(name, center)
    fragment.box(body, (carcass.front, y1 - y0, z1 - z0), (-carcass.front / 2, 0, 0), finish)

    wall, room = DRAWER_WALL, 0.004
    deep = carcass.inside[1] - carcass.inside[0] - 0.01
    width = cell.width - 2 * room
    bottom, top = cell.z[0] + room - center[2], cell.z[1] - 0.012 - center[2]
    y = cell.middle[0] - center[1]
    x = -carcass.front - deep / 2
    fragment.box(body, (deep, width, wall), (x, y, bottom + wall / 2), box)
    tall = top - bottom - wall
    for side in (-1, 1):
        fragment.box(body, (deep, wall, tall), (x, y + side * (width - wall) / 2, bottom + wall + tall / 2), box)
    inner_width = width - 2 * wall
    fragment.box(body, (wall, inner_width, tall), (-carcass.front - deep + wall / 2, y, bottom + wall + tall / 2), box)

    fragment.joint(body, "slide", axis=(1.0, 0.0, 0.0), travel=TRAVEL * deep, damping=6.0, friction=2.0)
    # High on the front: the hand, 0.2 m wide, then stays clear of what the lowest drawer stands on.
    up = 0.22 * (z1 - z0)
    handle = add_handle(
        fragment,
        body,
        panel=(0.0, 0.0, up),
        vertical=False,
        length=min(0.16, 0.5 * (y1 - y0)),
        push=(0.0, 0.0, 0.0),
        finish=metal,
    )
    cavity = Cavity(
        name=name,
        body=body,
        joint=name,
        opening=(0.0, 0.0, 1.0),
        pose=Pose(position=_vec((-carcass.front - (deep - wall) / 2, y, bottom + wall))),
        size=(deep - wall, inner_width, tall),
    )
    return cavity, handle


def add_door(
    fragment: Fragment,
    carcass: Carcass,
    area: Area,
    name: str,
    *,
    hinge: Side,
    finish: Finish,
    metal: Finish,
    travel: float = 1.9,
    handle_height: float | None = None,
    handle_length: float = 0.14,
    window: Finish | None = None,
) -> Handle:
    """A door over an area of the front (see `front_area`), hung on its outer front edge.

    `left` and `right` are those of a person looking at it.
    The body's origin is on the hinge axis, half-way up. `handle_height` is in the root frame [m]; None: half-way up.
    """
    (y0, y1), (z0, z1) = area
    # Looking at the front, along -x, the left-hand side is -y.
    inward = 1.0 if hinge == "left" else -1.0
    width, height, middle = y1 - y0, z1 - z0, (z0 + z1) / 2
    body = fragment.body(name, (carcass.depth / 2, y0 if hinge == "left" else y1, middle))
    t = carcass.front
    if window is None:
        fragment.box(body, (t, width, height), (-t / 2, inward * width / 2, 0), finish)
    else:
        _framed_panel(fragment, body, size=(t, width, height), inward=inward, finish=finish, window=window)
    fragment.joint(body, "hinge", axis=(0.0, 0.0, -inward), travel=travel, damping=0.35, friction=0.25)
    y = inward * (width - min(0.05, 0.15 * width))
    up = 0.0 if handle_height is None else handle_height - middle
    return add_handle(
        fragment,
        body,
        panel=(0.0, y, up),
        vertical=True,
        length=min(handle_length, 0.7 * height),
        push=(0.0, inward * 0.8 * width, 0.0),
        finish=metal,
    )


def _framed_panel(fragment: Fragment, body: str, *, size: Vec3, inward: float, finish: Finish, window: Finish) -> None:
    """A door with a dark window: one collision box, the frame and the pane to look at."""
    t, width, height = size
    frame = min(0.045, 0.2 * height)
    middle = inward * width / 2
    fragment.box(body, (t, width, height), (-t / 2, middle, 0), finish, visible=False, density=0.0)
    for side in (-1, 1):
        fragment.box(body, (t, width, frame), (-t / 2, middle, side * (height - frame) / 2), finish, collides=False)
        post = (-t / 2, middle + side * (width - frame) / 2, 0)
        fragment.box(body, (t, frame, height - 2 * frame), post, finish, collides=False)
    pane = (0.5 * t, width - 2 * frame, height - 2 * frame)
    fragment.box(body, pane, (-t / 2, middle, 0), window, collides=False)


def compartment(carcass: Carcass, cell: Cell, name: str, joint: str | None) -> tuple[Cavity, Support]:
    """What a cell offers when open at the front: a cavity and the board it stands on, both called `name`."""
    x0, x1 = carcass.inside
    pose = Pose(position=_vec(((x0 + x1) / 2, cell.middle[0], cell.z[0])))
    cavity = Cavity(
        name=name, body="root", pose=pose, size=(x1 - x0, cell.width, cell.height), opening=(1.0, 0.0, 0.0), joint=joint
    )
    support = Support(name=name, body="root", pose=pose, size=(x1 - x0, cell.width), headroom=cell.height)
    return cavity, support


def top_of(carcass: Carcass) -> Support:
    """The upper face of a cupboard, called `top`."""
    deep = carcass.face + carcass.depth / 2
    pose = Pose(position=_vec(((carcass.face - carcass.depth / 2) / 2, 0.0, carcass.height)))
    return Support(name="top", body="root", pose=pose, size=(deep, carcass.width))


def positions(part: str, count: int) -> tuple[str, ...]:
    """Names for `count` like parts from top to bottom: `drawer`; `drawer_top`, `drawer_bottom`; with `middle`; else numbered."""
    words = {1: (), 2: ("top", "bottom"), 3: ("top", "middle", "bottom")}.get(count)
    if words == ():
        return (part,)
    if words is None:
        return tuple(f"{part}_{index}" for index in range(count))
    return tuple(f"{part}_{word}" for word in words)


def _vec(values: ArrayLike) -> Vec3:
    x, y, z = (float(value) for value in np.asarray(values, dtype=np.float64))
    return (x, y, z)
