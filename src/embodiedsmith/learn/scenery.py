"""Where the things are that play a role, seen from a tool: the geometry behind the features.

Every point and direction that is told is fixed to a frame of `Bodies`, so that a moment is a look-up of frames and one product.
Which things are told may change with the stage; what they are is laid down in tables, one row a stage and one column a slot.
"""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np

from embodiedsmith.assets.asset import Asset, Cavity, Handle, JointInfo, Support
from embodiedsmith.learn.bodies import WORLD, Bodies
from embodiedsmith.learn.roles import FLAGS, Roles, Slot, Spot, Thing
from embodiedsmith.learn.symmetry import order
from embodiedsmith.tasks.probe import Float, Probe
from embodiedsmith.world import World
from embodiedsmith.world import transforms as tf

ARM_VECTORS = ("position", "axis", "handle", "handle_axis", "handle_outward", "handle_pull", "spot", "spot_off", "spot_out")
"""Of a thing in a tool's frame: its middle; its z axis; the middle of its handle, the direction along the bar, the one from the
panel to it, and how it moves while its joint opens all the way, at the rate it has now; where the goal wants the thing's middle,
the same from where that is now, and the direction in which one comes from there."""

Where = tuple[int, Float]
"""A frame and a point (3,), or a direction, in it."""


@dataclass
class Scene:
    """One moment of many worlds: what is told of it whatever the tool, and what tools look at."""

    told: Float
    """Shape (n, slots * k)."""
    scenery: Scenery
    points: Float
    """World points (n, slots, 3, 3) [m]: the middle of each thing, of its handle, of its spot."""
    ways: Float
    """World directions (n, slots, 7, 3): x, y and z axis, along and out of the handle, how it moves, out of the spot."""
    shown: Float
    """Which of `ARM_VECTORS` there are, shape (n, slots, 9, 1)."""
    turns: np.ndarray
    """Order of each thing's symmetry, shape (n, slots); 0: any turn, or no thing."""
    in_hand: np.ndarray
    """Whether the spot is the hand, shape (n, slots)."""
    others: Float
    """World middles (n, c, 3) [m] of the free things."""
    hidden: np.ndarray
    """Which of these are in a slot, shape (n, c)."""

    def slots_from(self, position: Float, turn: Float) -> Float:
        """What is told of the slots from tools at world positions (n, 3) and rotations (n, 3, 3), shape (n, slots * 30)."""
        n, slots = self.turns.shape
        points = np.where(self.in_hand[..., None, None] & _SPOT, position[:, None, None], self.points)
        seen = np.empty((n, slots, len(ARM_VECTORS), 3))
        seen[:, :, (0, 2, 6)] = points - position[:, None, None]
        seen[:, :, 7] = points[:, :, 2] - points[:, :, 0]
        seen[:, :, (1, 3, 4, 5, 8)] = self.ways[:, :, 2:]
        seen = (seen.reshape(n, -1, 3) @ turn).reshape(seen.shape) * self.shown
        closing = turn[:, None, None, :, 1]
        along = np.sum(self.ways[:, :, :2] * closing, axis=-1)  # (n, slots, 2): the closing direction in the thing's x and y
        return np.concatenate([seen.reshape(n, slots, -1), folded(along, self.turns)], axis=-1).reshape(n, -1)

    def others_from(self, position: Float, turn: Float, count: int) -> Float:
        """What is told of the nearest `count` things outside the slots, nearest first, shape (n, count * 7)."""
        n, there = len(position), self.others.shape[1]
        out = np.zeros((n, count, 7))
        away = self.others - position[:, None]
        distance = np.where(self.hidden, np.inf, np.einsum("nci,nci->nc", away, away))
        nearest = np.argsort(distance, axis=1, kind="stable")[:, :count]
        rows, kept = np.arange(n)[:, None], min(count, there)
        seen = np.isfinite(distance[rows, nearest])[..., None]
        out[:, :kept, :1] = seen
        out[:, :kept, 1:4] = (away[rows, nearest] @ turn) * seen
        out[:, :kept, 4:] = self.scenery.sizes[nearest] * seen
        return out.reshape(n, -1)


_SPOT = np.array([False, False, True])[:, None]


def folded(along: Float, turns: np.ndarray) -> Float:
    """The turn of a direction in a thing's own level plane, told so that a thing of some symmetry looks the same at each turn.

    Args:
        along: The direction along the thing's x and y axes, shape (..., 2), at most 1 long: what it lacks points along z, and the
            less there is in the plane the less is told.
        turns: Order of the symmetry; 0: any turn, of which nothing is told.

    Returns:
        Least turn [rad] that brings an axis of symmetry onto the direction; cosine and sine of `turns` times it; shape (..., 3).
    """
    length = np.hypot(along[..., 0], along[..., 1]) * (turns > 0)
    angle = np.maximum(turns, 1) * np.arctan2(along[..., 1], along[..., 0])
    cos, sin = np.cos(angle), np.sin(angle)
    out: Float = np.stack([np.arctan2(sin, cos) / np.maximum(turns, 1), cos, sin], axis=-1) * length[..., None]
    return out


class Scenery:
    """The points, directions and numbers of a scenario's slots, laid down once.

    Args:
        world: A world of the scenario.
        bodies: Frames; those that are needed are added.
        roles: What its things are.
        slots: How many are told.
        predicates: Those of which is told what is asked of a thing.
    """

    def __init__(self, world: World, bodies: Bodies, roles: Roles, slots: int, predicates: tuple[str, ...]) -> None:
        self._world, self._bodies, self._predicates = world, bodies, predicates
        self._probe = Probe(world)
        self._rest = mujoco.MjData(world.model)
        mujoco.mj_kinematics(world.model, self._rest)
        self._where: list[Where] = [(WORLD, np.zeros(3))]  # the first is what is not there
        kept = [stage[:slots] for stage in roles.slots]
        shape = (len(kept), slots)
        self._points = np.zeros((*shape, 3), dtype=int)
        self._spots = np.zeros((*shape, 2), dtype=int)  # points whose mean the spot is
        self._offsets = np.zeros((*shape, 3))
        self._heights = np.full(shape, np.nan)
        self._in_hand = np.zeros(shape, dtype=bool)
        self._ways = np.zeros((*shape, 7), dtype=int)
        self._shown = np.zeros((*shape, len(ARM_VECTORS), 1))
        self._turns = np.zeros(shape, dtype=int)
        self._static = np.zeros((*shape, len(FLAGS) + len(predicates) + 9))
        self._joints = np.zeros((*shape, 5))  # whether, closed, range, whether asked, asked
        self._columns = np.zeros(shape, dtype=int)
        for stage, row in enumerate(kept):
            for k, slot in enumerate(row):
                self._lay((stage, k), slot)
        self._lay_others(kept)
        frames, local = zip(*self._where, strict=True)
        self._frames, self._local = np.array(frames), np.array(local)[..., None]

    # ------------------------------------------------------------------ building

    def _lay(self, at: tuple[int, int], slot: Slot) -> None:
        thing, asset = slot.thing, self._world.assets[slot.thing.item]
        joint, handle = asset.joints.get(thing.part or ""), _handle(asset, thing.part)
        frame, T, size = self._extent(thing, handle)
        whole = thing.part is None and not asset.joints and not asset.fixed
        self._turns[at] = self._symmetry(thing.item) if whole else 1
        self._points[at][0] = self._add(frame, T[:3, 3])
        self._ways[at][:3] = [self._add(frame, axis) for axis in T[:3, :3].T]
        self._shown[at][:2] = 1.0
        if handle is not None:
            self._lay_handle(at, thing.item, handle)
        if slot.spot is not None:
            self._lay_spot(at, thing.item, slot.spot)
        if joint is not None:
            self._columns[at] = self._world.observation_slices[f"joints/{thing.item}.{joint.name}"].start
            asked = slot.opening is not None
            self._joints[at] = 1.0, joint.closed, joint.open - joint.closed, asked, slot.opening or 0.0
        kind = "" if joint is None else joint.kind
        self._static[at] = [
            *(float(flag in slot.flags) for flag in FLAGS), *(slot.does.get(p, 0.0) for p in self._predicates), 1.0, *size,
            kind == "slide", kind == "hinge", handle is not None, handle is not None and handle.knob, slot.spot is not None,
        ]  # fmt: skip

    def _extent(self, thing: Thing, handle: Handle | None) -> tuple[int, tf.Float, Float]:
        """Frame, pose (4, 4) of the middle in it, and size (3,) [m] of a thing."""
        asset = self._world.assets[thing.item]
        place = _place(asset, thing.part)
        if place is not None:
            up = place.size[2] if isinstance(place, Cavity) else 0.0
            T = tf.matrix(place.pose) @ tf.translate((0.0, 0.0, 0.5 * up))
            return self._bodies.frame(thing.item, place.body), T, np.array([place.size[0], place.size[1], up])
        if thing.part is not None and handle is not None:
            return self._bodies.frame(thing.item, handle.body), tf.translate(handle.center), asset.size
        low, high = asset.extents
        return self._bodies.root(thing.item), tf.translate(0.5 * np.add(low, high)), asset.size

    def _symmetry(self, item: str) -> int:
        world = self._world
        solid = any(world.model.geom_contype[g] or world.model.geom_conaffinity[g] for g in world.items[item].geoms)
        return order(self._probe.shape(item)) if solid else 1

    def _lay_handle(self, at: tuple[int, int], item: str, handle: Handle) -> None:
        frame = self._bodies.frame(item, handle.body)
        self._points[at][1] = self._add(frame, handle.center)
        info = self._world.assets[item].joints[handle.joint]
        ways = self._add(frame, handle.axis), self._add(frame, handle.outward), self._add(*self._pull(item, handle, info))
        self._ways[at][3:6] = ways
        self._shown[at][2:6] = 1.0

    def _pull(self, item: str, handle: Handle, info: JointInfo) -> Where:
        """How the middle of a handle moves while its joint opens all the way, at the rate it has now."""
        model, rest = self._world.model, self._rest
        number = int(model.joint(f"{item}/{info.name}").id)
        joint, carried = self._bodies.joint(number), int(model.jnt_bodyid[number])
        on = int(model.body(f"{item}/{handle.body}").id)
        R, origin = rest.xmat[carried].reshape(3, 3), rest.xpos[carried]
        center = (rest.xpos[on] + rest.xmat[on].reshape(3, 3) @ handle.center - origin) @ R
        way = np.cross(joint.axis, center - joint.anchor) if joint.hinge else joint.axis
        return self._bodies.frame(item, model.body(carried).name.split("/", 1)[1]), way * (info.open - info.closed)

    def _lay_spot(self, at: tuple[int, int], item: str, spot: Spot) -> None:
        self._shown[at][6:8] = 1.0
        self._offsets[at] = spot.offset
        if spot.place is not None:
            owner, body, point = spot.place
            frame = self._bodies.frame(owner, body) if owner else WORLD
            self._spots[at] = self._add(frame, point)
            self._shown[at][8] = 1.0
            self._ways[at][6] = self._add(frame, spot.out) if spot.out is not None else self._add(WORLD, (0.0, 0.0, 1.0))
        elif spot.between:
            middles = [self._middle(other) for other in spot.between]
            self._spots[at] = middles[0], middles[-1]
        elif spot.height is not None:
            self._spots[at] = self._middle(item)
            self._heights[at] = spot.height
        else:
            self._in_hand[at] = True

    def _middle(self, item: str) -> int:
        low, high = self._world.assets[item].extents
        return self._add(self._bodies.root(item), 0.5 * np.add(low, high))

    def _lay_others(self, kept: list[tuple[Slot, ...]]) -> None:
        free = [name for name, index in self._world.items.items() if index.dof >= 0]
        self._others = np.array([self._middle(name) for name in free], dtype=int)
        named = [{slot.thing.item for slot in row} for row in kept]
        self._hidden = np.array([[name in row for name in free] for row in named], dtype=bool).reshape(len(kept), len(free))
        self.sizes = np.array([self._world.assets[name].size for name in free]).reshape(-1, 3)
        """Sizes (c, 3) [m] of the free things."""

    def _add(self, frame: int, local: Float | tuple[float, float, float]) -> int:
        self._where.append((frame, np.asarray(local, dtype=np.float64)))
        return len(self._where) - 1

    # ------------------------------------------------------------------ looking

    def look(self, observed: Float, origins: Float, turns: Float, stages: np.ndarray) -> Scene:
        """What there is at moments.

        Args:
            observed: Observations (n, observation_size).
            origins: World origins of the frames (n, frames, 3).
            turns: Their rotations (n, frames, 3, 3).
            stages: Stage of each moment (n,).
        """
        n = len(observed)
        rows = np.arange(n)[:, None, None]
        ways = (turns[:, self._frames] @ self._local)[..., 0]  # (n, where, 3)
        points = ways + origins[:, self._frames]
        told = points[rows, self._points[stages]]  # (n, slots, 3, 3)
        spot = points[rows, self._spots[stages]].mean(axis=2) + self._offsets[stages]
        heights = self._heights[stages]
        spot[..., 2] = np.where(np.isnan(heights), spot[..., 2], heights)
        told[:, :, 2] = spot
        static = np.concatenate([self._static[stages], self._openings(observed, stages)], axis=-1)
        return Scene(
            told=static.reshape(n, -1),
            scenery=self,
            points=told,
            ways=ways[rows, self._ways[stages]],
            shown=self._shown[stages],
            turns=self._turns[stages],
            in_hand=self._in_hand[stages],
            others=points[:, self._others],
            hidden=self._hidden[stages],
        )

    def _openings(self, observed: Float, stages: np.ndarray) -> Float:
        """How far each thing's joint is open, whether that is asked for, and how far it is from what is asked; (n, slots, 3)."""
        there, closed, way, asked, wanted = np.moveaxis(self._joints[stages], -1, 0)
        now = np.take_along_axis(observed, self._columns[stages], axis=1)
        opening = np.where(there > 0, (now - closed) / np.where(way == 0, 1.0, way), 0.0)
        left = np.where(wanted > 0, np.maximum(wanted - opening, 0.0), -opening)
        return np.stack([opening, asked, asked * left], axis=-1)


def _place(asset: Asset, part: str | None) -> Cavity | Support | None:
    """What a part of an asset holds things in or on: behind the joint of that name, or called so."""
    if part is None:
        return None
    affordances = asset.affordances
    inside = (c for c in affordances.cavities if part in (c.joint, c.name))
    return next(inside, next((s for s in affordances.supports if s.name == part), None))


def _handle(asset: Asset, part: str | None) -> Handle | None:
    return next((h for h in asset.affordances.handles if h.joint == part), None)
