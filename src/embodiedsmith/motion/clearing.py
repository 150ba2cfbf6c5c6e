"""What stands in the way of a door or a drawer, and where things may be put down so that they do not.

A part sweeps its own solids, and before its handle a box that the hand needs. Both are moved through the joint's range by
kinematics alone and compared, as convex shapes, with what stands there or would.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import mujoco
import numpy as np

from embodiedsmith.spec import split_reference
from embodiedsmith.tasks.probe import geom_points
from embodiedsmith.world import World
from embodiedsmith.world import transforms as tf

if TYPE_CHECKING:
    from embodiedsmith.motion.controller import Controller
    from embodiedsmith.motion.placing import Spot

USED = 0.75  # opening fraction that a part must get to
HAND = (0.12, 0.10, 0.10)  # [m] from a bar outwards, and to either side along and across it, that a hand needs
ARC_STEP, SLIDE_STEP = 0.06, 0.03  # [rad, m] between the positions looked at
CLEAR = 0.003  # [m] from what moves below which a thing blocks it
HAND_CLEAR = -0.005  # [m] the same for the hand, which can give way by a little
FINGERS = 0.05  # [m] kept from what is still to be taken
SPARE = 0.02  # [m] kept from all that moves where something is put down


@dataclass(frozen=True)
class Solid:
    """A convex shape in the world: the hull of balls of one radius."""

    points: tf.Float
    """Shape (n, 3) [m]."""
    radius: float
    axes: tf.Float
    """Unit directions (k, 3) along which it is looked at whether something is apart from it."""
    low: tf.Float
    """Corner (3,) of its upright bounding box; `high`: the opposite one."""
    high: tf.Float

    @classmethod
    def of(cls, points: tf.Float, radius: float, R: tf.Float) -> Solid:
        """From world points and the rotation (3, 3) of the shape's own axes."""
        return cls(points, radius, R.T, points.min(axis=0) - radius, points.max(axis=0) + radius)

    def gap(self, other: Solid) -> float:
        """Distance [m] along the axis on which the two are farthest apart: never more than the true one; negative: overlap."""
        between = self.points.mean(axis=0) - other.points.mean(axis=0)
        length = float(np.linalg.norm(between))
        axes = np.vstack([self.axes, other.axes, between / length if length > 1e-9 else (0.0, 0.0, 1.0)])
        a, b = self.points @ axes.T, other.points @ axes.T
        apart = np.maximum(a.min(axis=0) - b.max(axis=0), b.min(axis=0) - a.max(axis=0))
        return float(apart.max()) - self.radius - other.radius


class Room:
    """Solids that something is to keep apart from, looked up by their bounding boxes."""

    def __init__(self, solids: Iterable[Solid]) -> None:
        self.solids = tuple(solids)
        self._low = np.array([s.low for s in self.solids]).reshape(-1, 3)
        self._high = np.array([s.high for s in self.solids]).reshape(-1, 3)

    def meets(self, solids: Iterable[Solid], clear: float) -> bool:
        """Whether one of the solids is nearer than `clear` [m] to one of these."""
        for solid in solids:
            close = ((self._low - solid.high < clear) & (solid.low - self._high < clear)).all(axis=1)
            if any(self.solids[k].gap(solid) < clear for k in np.flatnonzero(close)):
                return True
        return False


@dataclass(frozen=True)
class Sweep:
    """What a part passes through, and the hand that leads it by its handle."""

    moving: Room
    hand: Room

    def meets(self, solids: list[Solid], clear: float = CLEAR, hand_clear: float = HAND_CLEAR) -> bool:
        """Whether one of the solids is nearer than `clear` [m] to what moves, or than `hand_clear` to the hand."""
        return self.moving.meets(solids, clear) or self.hand.meets(solids, hand_clear)


def sweep(world: World, part: str, upto: float = 1.0) -> Sweep:
    """What the joint named `item.joint` passes through between closed and an opening fraction."""
    item, joint = split_reference(part)
    asset = world.assets[item]
    assert joint is not None
    info = asset.joints[joint]
    data = mujoco.MjData(world.model)
    data.qpos[:] = world.data.qpos
    span = upto * (info.open - info.closed)
    count = 1 + int(np.ceil(abs(span) / (SLIDE_STEP if info.kind == "slide" else ARC_STEP)))
    bodies = _moved(world.model, int(world.model.joint(f"{item}/{joint}").bodyid[0]))
    solid_geoms = [
        int(g) for g in world.items[item].geoms if world.model.geom_bodyid[g] in bodies and _collides(world.model, int(g))
    ]
    handles = [h for h in asset.affordances.handles if h.joint == joint]
    moving: list[Solid] = []
    hand: list[Solid] = []
    for position in np.linspace(info.closed, info.closed + span, count):
        data.qpos[world.joint_qpos[part]] = position
        mujoco.mj_kinematics(world.model, data)
        moving += [_solid(world.model, data, geom) for geom in solid_geoms]
        for handle in handles:
            body = data.body(f"{item}/{handle.body}")
            R = body.xmat.reshape(3, 3)
            hand.append(_hand(R @ np.asarray(handle.center) + body.xpos, R @ np.asarray(handle.outward)))
    return Sweep(Room(moving), Room(hand))


def _moved(model: mujoco.MjModel, mover: int) -> set[int]:
    bodies = {mover}
    for body in range(mover + 1, model.nbody):  # parents come first
        if int(model.body_parentid[body]) in bodies:
            bodies.add(body)
    return bodies


def _collides(model: mujoco.MjModel, geom: int) -> bool:
    return bool(model.geom_contype[geom] or model.geom_conaffinity[geom])


def _solid(model: mujoco.MjModel, data: mujoco.MjData, geom: int) -> Solid:
    points, radius = geom_points(model, geom)
    R = data.geom_xmat[geom].reshape(3, 3)
    return Solid.of(points @ R.T + data.geom_xpos[geom], radius, R)


def _hand(bar: tf.Float, outward: tf.Float) -> Solid:
    depth, along, across = HAND
    R = tf.turn_z(float(np.arctan2(outward[1], outward[0])))[:3, :3]
    local = np.array([[x, y, z] for x in (0.0, depth) for y in (-along, along) for z in (-across, across)])
    return Solid.of(local @ R.T + bar, 0.0, R)


def solids(world: World, item: str, T_world_item: tf.Float | None = None) -> list[Solid]:
    """The collision shapes of a free item where it is, or as they would be with its root at another world pose."""
    data = world.data
    there = [_solid(world.model, data, int(g)) for g in world.items[item].geoms if _collides(world.model, int(g))]
    if T_world_item is None:
        return there
    moved = T_world_item @ tf.inverse(world.item_pose(item))
    R, p = moved[:3, :3], moved[:3, 3]
    return [Solid.of(s.points @ R.T + p, s.radius, R @ s.axes.T) for s in there]


def blockers(world: World, part: str, items: Iterable[str]) -> tuple[str, ...]:
    """Those of the free `items` that keep a part, named `item.joint`, from moving, or the hand from leading it.

    Looked at is all that it passes through from closed until it is open for use, or as far as it is open now.
    """
    near = [item for item in items if _within(world, part, item)]
    if not near:
        return ()
    swept = sweep(world, part, max(USED, world.joint(part)[1]))
    return tuple(item for item in near if swept.meets(solids(world, item)))


def _within(world: World, part: str, item: str) -> bool:
    """Whether an item is so near to a part that it could be in its way at all."""
    owner, joint = split_reference(part)
    corners = world.corners(item)
    middle, radius = corners.mean(axis=0), 0.5 * float(np.linalg.norm(np.ptp(corners, axis=0)))
    info = world.assets[owner].joints[str(joint)]
    size = float(np.linalg.norm(world.assets[owner].size))
    travel = abs(info.open - info.closed) if info.kind == "slide" else size
    away = float(np.linalg.norm(middle - world.corners(owner).mean(axis=0)))
    return away < 0.5 * size + travel + HAND[0] + HAND[1] + radius


def in_the_way(control: Controller, item: str, T_world_item: tf.Float) -> bool:
    """Whether an item put down at a world pose would stand in the way of a part that later steps of the plan move."""
    parts = dict.fromkeys(step.args[0] for step in control.ahead if step.skill in ("open", "close"))
    if not parts:
        return False
    there = solids(control.world, item, T_world_item)
    return any(_sweep(control, part).meets(there, SPARE, SPARE) for part in parts)


def barred(control: Controller, item: str) -> Callable[[tf.Float], bool]:
    """Whether an item would be put down in furniture as it is now, in the way of a part, or where a hand still has to get in
    beside another thing; by its world pose."""
    world = control.world
    fixed = [i.id for i in world.scenario.scene.items if i.fixed]
    furniture = Room(solid for name in fixed for solid in solids(world, name))
    taken = dict.fromkeys(step.args[0] for step in control.ahead if step.skill == "pick")
    things = Room(solid for name in taken if name != item for solid in solids(world, name))

    def bars(T_world_item: tf.Float) -> bool:
        there = solids(world, item, T_world_item)
        return furniture.meets(there, 0.0) or things.meets(there, FINGERS) or in_the_way(control, item, T_world_item)

    return bars


def free_only(control: Controller, item: str, spots: Iterable[Spot]) -> Iterator[Spot]:
    """Spots for an item that are in the way of nothing that is still to be moved."""
    return (spot for spot in spots if not in_the_way(control, item, spot.T_world_item))


def free_first(control: Controller, item: str, spots: Iterable[Spot]) -> Iterator[Spot]:
    """The same, and after them the others: where something must stand for the goal's sake, it may be in the way."""
    late = []
    for spot in spots:
        if in_the_way(control, item, spot.T_world_item):
            late.append(spot)
        else:
            yield spot
    yield from late


def _sweep(control: Controller, part: str) -> Sweep:
    """Furniture stays where it is: what a part passes through is worked out once an episode."""
    if part not in control.sweeps:
        control.sweeps[part] = sweep(control.world, part)
    return control.sweeps[part]
