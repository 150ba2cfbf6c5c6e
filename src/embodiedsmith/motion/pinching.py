"""Taking hold of cloth where it lies, carrying a point of it, and letting go: what skills for cloth share.

Where a sheet can be held is where its points are now: on its corners and edges. The hand points down, comes with its fingers
so wide apart that they stand beside a corner rather than on it, and gathers it between them by closing; the world then ties what
is pinched (`world.sheets`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np

from embodiedsmith.motion.controller import CARE, Controller
from embodiedsmith.motion.errors import MotionError
from embodiedsmith.motion.grasping import Tally
from embodiedsmith.spec import split_reference
from embodiedsmith.tasks.probe import geom_points
from embodiedsmith.world import transforms as tf

GATHERED = 0.040
"""[m] Between the fingers before they close. Nearer than 36 mm they come down on the corner, slide over it and close without it;
at 36 to 50 mm, straight over the corner, they gathered the corner in 32 of 32 trials."""
LOOSE = 0.04
"""[m] Between the fingers once they have let go."""
PRESS = 0.0015
"""[m] How far below the middle of the cloth's topmost layer the fingertips come."""
ABOVE = 0.08
"""[m] Straight down before the pinch, straight up after letting go."""
INSET, EDGE_INSET = 0.004, 0.009
"""[m] From a corner, and from an edge, to where it is pinched, inwards."""
PAD = 0.010
"""[m] From a corner along an edge to where that is pinched beside it: the whole fingertip is over cloth there."""
TURNS, EDGE_TURNS = (0.0, 0.4, -0.4), (0.0, 0.25, -0.25, 0.5, -0.5)
"""[rad] by which the closing direction is turned away from the best one, at a corner and along an edge. Of 8 to 12 pinches along
edges all held to 0.5 and three of four at 0.6. At corners, turned by 0.8 fingers close along an edge, one of them half on the
cloth: with one towel they slid over it nine times of nine, and beside the corner, wholly on it, they held four times of four."""
SLOW = 0.2
"""Fraction of the joint limits for rising out of cloth: fast, it is drawn along."""
SETTLED = 4
"""Control steps to wait after opening."""
TRIES = 3


def tip(control: Controller) -> float:
    """How far the closed fingertips reach beyond the tool centre along the approach [m]."""
    world, checker = control.world, control.checker
    checker.set_gripper(1.0)
    T = checker.pose(control.joints)
    reach = 0.0
    owners = {world.owners.index(side) for side in control.fingers}
    for geom in np.flatnonzero(np.isin(world.geom_owner, sorted(owners))).tolist():
        if not (world.model.geom_contype[geom] or world.model.geom_conaffinity[geom]):
            continue
        points, radius = geom_points(world.model, geom)
        placed = points @ checker.data.geom_xmat[geom].reshape(3, 3).T + checker.data.geom_xpos[geom]
        reach = max(reach, float(((placed - T[:3, 3]) @ T[:3, 2]).max()) + radius)
    return reach


def downward(position: tf.Float, closing: tf.Float) -> tf.Float:
    """Tool pose (4, 4) that points down at a world position (3,), its fingers closing along a level direction (3,)."""
    T = np.eye(4)
    T[:3, 1] = closing / np.linalg.norm(closing)
    T[:3, 2] = (0.0, 0.0, -1.0)
    T[:3, 0] = np.cross(T[:3, 1], T[:3, 2])
    T[:3, 3] = position
    return T


def hands(control: Controller, item: str, point: int) -> Iterator[tf.Float]:
    """Tool poses (4, 4) that pinch a point of a sheet, best first.

    Fingers come down on both sides of a corner, side by side across the way inwards; of another point of an edge, one beside
    the sheet and one on it. So they do right beside a corner, on either of its edges, when only a hand turned so far is in
    reach: closing along an edge over the corner itself, they would slide over it.
    """
    world = control.world
    matter = world.assets[item].matter
    assert matter is not None
    points = world.matter(item)
    beside = neighbours(matter.grid, point)
    inwards = sum((unit(points[k] - points[point]) for k in beside), np.zeros(3))
    inwards = unit(inwards * (1.0, 1.0, 0.0))
    corner = len(beside) == 2
    at = points[point] + (INSET if corner else EDGE_INSET) * inwards
    at[2] = points[point][2] - PRESS + tip(control)
    closing = np.array([-inwards[1], inwards[0], 0.0]) if corner else inwards
    for turn, flip in product(TURNS if corner else EDGE_TURNS, (1.0, -1.0)):
        yield downward(at, flip * (tf.turn_z(turn)[:3, :3] @ closing))
    if corner:
        first, second = (unit((points[k] - points[point]) * (1.0, 1.0, 0.0)) for k in beside)
        for across, along in ((first, second), (second, first)):
            near = points[point] + EDGE_INSET * across + PAD * along
            near[2] = at[2]
            for flip in (1.0, -1.0):
                yield downward(near, flip * across)


def neighbours(grid: tuple[int, int], point: int) -> list[int]:
    """Numbers of the points beside a point of a sheet, along its rows and columns."""
    i, j = divmod(point, grid[1])
    around = ((i - 1, j), (i + 1, j), (i, j - 1), (i, j + 1))
    return [k * grid[1] + m for k, m in around if 0 <= k < grid[0] and 0 <= m < grid[1]]


def unit(vector: tf.Float) -> tf.Float:
    """A vector (3,) of length one in its direction; none is left as it is."""
    found: tf.Float = vector / max(float(np.linalg.norm(vector)), 1e-9)
    return found


def pinch(control: Controller, item: str, point: int, *, stage: str, via: Sequence[tf.Float] = (), turn: float = 0.0) -> None:
    """Take hold of a point of a sheet.

    Args:
        control: The robot, its hand empty.
        item: The cloth.
        point: Number of the point.
        stage: Names failures.
        via: Where the tool is to go afterwards from where it pinches, (3,) each [m]: only ways to pinch from which all of it is
            in reach are used.
        turn: About the vertical, how far the tool turns on the way to the second of these [rad].

    Raises:
        MotionError: `<stage>.unreachable`, `<stage>.blocked`; `<stage>.missed` when the fingers close without it.
    """
    sheet, world = control.world.sheets[item], control.world
    for k in range(TRIES):
        control.look()
        path = _way_down(control, item, point, stage=stage, via=via, turn=turn, skip=k)
        control.reach(path[0], stage=stage)
        control.await_gripper()
        control.look()
        control.follow(path, stage=stage, speed=CARE)
        control.grip(1.0)
        if sheet.tied(world.data, control.index) is not None:
            return
        control.session.note("recovery", (item,), "the fingers closed without cloth")
        release(control, stage=stage)
    raise MotionError(f"{stage}.missed", f"the fingers close beside {item}", subjects=(item,), value=world.gripper(), limit=1.0)


def reachable(control: Controller, item: str, point: int, via: Sequence[tf.Float], *, stage: str, turn: float = 0.0) -> None:
    """Raise what `pinch` would, as far as it can be known before."""
    _way_down(control, item, point, stage=stage, via=via, turn=turn, skip=0)


def _way_down(
    control: Controller, item: str, point: int, *, stage: str, via: Sequence[tf.Float], turn: float, skip: int
) -> tf.Float:
    """Joint path (k, n) straight down to a pinch; `skip` leaves out the first ways found."""
    tally = Tally()
    candidates = list(hands(control, item, point))
    control.gripper = control.hand.closing_on(GATHERED)
    control.checker.set_gripper(control.gripper)
    found = []
    for T in candidates:
        tally.tried += 1
        T_above = T @ tf.translate((0.0, 0.0, -ABOVE))
        out_of_reach = False
        for posture in control.postures(T_above):
            if tally.misses(posture):
                break
            path = control.straight(T_above, T, posture.joints, met=tally.met)
            if path is None or control.checker.hit(posture.joints) is not None:
                continue
            beyond = way(control, T, [T[:3, 3] + by for by in via], path[-1], turn=turn)
            if beyond is None:
                out_of_reach = True
                continue
            if (hit := control.checker.path_hit(beyond)) is not None:
                tally.met(hit)
                continue
            found.append(path)
            if len(found) > skip:
                return path
        else:
            tally.unreachable += out_of_reach
            tally.lost += out_of_reach
            tally.blocked += not out_of_reach
    if found:
        return found[-1]
    raise tally.error(stage, item)


def way(control: Controller, T: tf.Float, via: Sequence[tf.Float], start: tf.Float, *, turn: float = 0.0) -> tf.Float | None:
    """Joint path (k, n) of the tool from a pose (4, 4) through world positions; None when not in reach.

    It stays turned as it is but for `turn` [rad] about the vertical, on the way from the first position to the second.
    """
    rows, at, here = [start[None]], start, T
    for k, position in enumerate(via):
        there = tf.turn_z(turn) @ here if k == 1 else here.copy()
        there[:3, 3] = position
        part = control.line(here, there, at)
        if part is None:
            return None
        rows.append(part[1:])
        here, at = there, part[-1]
    return np.vstack(rows)


def arc(start: tf.Float, end: tf.Float, rise: float, pieces: int = 8) -> list[tf.Float]:
    """World positions (3,) on a way up and over from one to another, `rise` [m] above the line between them in the middle."""
    found = []
    for t in np.linspace(0.0, 1.0, pieces + 1)[1:]:
        at = start + (end - start) * (0.5 - 0.5 * np.cos(np.pi * t))
        at[2] = start[2] + (end[2] - start[2]) * t + rise * np.sin(np.pi * t)
        found.append(at)
    return found


def carry(control: Controller, item: str, via: Sequence[tf.Float], *, stage: str, speed: float = CARE, turn: float = 0.0) -> None:
    """Carry what is pinched through world positions (3,) of the tool [m]; `turn` as of `way`.

    Raises:
        MotionError: `<stage>.unreachable`; `<stage>.slipped` when the cloth was lost on the way.
    """
    path = way(control, control.world.tcp(control.index), via, control.joints, turn=turn)
    if path is None:
        raise MotionError(f"{stage}.unreachable", f"{item} cannot be carried that far", subjects=(item,))
    control.look()
    control.follow(path, stage=stage, speed=speed)
    if control.world.sheets[item].tied(control.world.data, control.index) is None:
        raise MotionError(f"{stage}.slipped", f"{item} slipped out of the hand", subjects=(item,))


def release(control: Controller, *, stage: str, rise: float = ABOVE) -> None:
    """Open the hand, wait, and rise out of the cloth."""
    control.grip(control.hand.closing_on(LOOSE))
    control.wait(SETTLED)
    T = control.world.tcp(control.index)
    path = way(control, T, [T[:3, 3] + (0.0, 0.0, rise)], control.joints)
    if path is not None:
        control.follow(path, stage=stage, speed=SLOW)


def level(control: Controller, place: str) -> float:
    """Height of the surface of a place, `item.part` [m]; 0 on the floor."""
    if split_reference(place)[0] not in control.world.assets:
        return 0.0
    return float(control.world.support(place)[1][2, 3])
