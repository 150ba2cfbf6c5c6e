"""Cheap measurements of a world that the predicates of a goal share: contacts once a step, shapes once a world.

Arrays handed out are live views into the engine's data: read them, never keep or change them.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable
from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray
from scipy.spatial import ConvexHull, QhullError

from embodiedsmith.runtime.errors import UsageError
from embodiedsmith.spec import Pose
from embodiedsmith.world import World
from embodiedsmith.world import transforms as tf

Float = NDArray[np.float64]
Frame = Callable[[], tuple[Float, Float]]
"""Gives a frame's rotation (3, 3), world from frame, and its origin in the world (3,) [m], as they are now."""

RING = 64
"""Points that stand for a circle: they miss a radius of 5 cm by at most 0.06 mm."""
BALL = 600
"""Points that stand for an ellipsoid: they miss a radius of 5 cm by at most 0.2 mm."""
FAR = 100.0
"""[m] Distances are not measured beyond this."""
NOBODY = -1
"""In place of a pair's key where things do not touch, or a thing touches itself."""
BEARING = 0.5
"""Least cosine between a contact's normal and the vertical for one thing to stand on the other."""
OPPOSED = 0.5
"""Least cosine between the closing direction and a finger's contact normal for the finger to squeeze, not lean on, a thing."""


@dataclass(frozen=True)
class Shape:
    """The convex hull of an item's collision shapes in its root frame, joints closed, as balls round points."""

    points: Float
    """Shape (n, 3) [m]."""
    radii: Float
    """Shape (n,) [m]; 0 for corners."""


class Probe:
    """Measures one world. `refresh()` after every step; everything else reads the state as it is now."""

    def __init__(self, world: World) -> None:
        self.world = world
        model = world.model
        self._rest = mujoco.MjData(model)  # joints at zero: where static bodies are, and how geoms sit on their items
        mujoco.mj_kinematics(model, self._rest)
        count = len(world.owners)
        self._owner = {name: k for k, name in enumerate(world.owners)}
        owner = world.solid_owner
        key = np.minimum.outer(owner, owner) * count + np.maximum.outer(owner, owner)
        self._key = np.where(owner[:, None] == owner[None, :], NOBODY, key).astype(np.int32)
        self._count = count
        self._shapes: dict[str, Shape] = {}
        self._tcps = [world.data.site_xmat[site].reshape(3, 3) for site in world.tcp_sites]
        self.pairs: set[int] = set()
        """Keys of the pairs of owners in contact at the last `refresh`, see `pair`; perhaps `NOBODY` besides."""
        self._touching: NDArray[np.int32] = np.zeros(0, dtype=np.int32)
        self._bearing: set[int] | None = set()

    def refresh(self) -> None:
        """Look at the contacts again. They are those of the last physics step, 1/240 s before the poses."""
        first, second = self.world.solids().T
        self._touching = np.where(self.world.data.contact.dist < 0, self._key[first, second], NOBODY)
        self.pairs = set(self._touching.tolist())
        self._bearing = None

    @property
    def bearing(self) -> set[int]:
        """Those of `pairs` in which one stands on the other, rather than leans on it."""
        if self._bearing is None:  # looked at only when a predicate asks
            steep = np.abs(self.world.data.contact.frame[:, 2]) > BEARING
            self._bearing = set(self._touching[steep].tolist())
        return self._bearing

    def pair(self, first: str, second: str) -> int:
        """Key of a pair of owners (see `World.owners`), in either order: in `pairs` while they touch."""
        a, b = sorted((self._owner[first], self._owner[second]))
        return a * self._count + b

    def held(self, item: str, arm: int = 0) -> tuple[int, int]:
        """Keys of the contacts of the two sides of an arm's gripper with an item: it is held while both are in `pairs`."""
        one, other = self.world.fingers(arm)
        return self.pair(one, item), self.pair(other, item)

    def hands(self, item: str) -> tuple[tuple[int, int], ...]:
        """What `held` tells, of every arm."""
        return tuple(self.held(item, arm) for arm in range(len(self.world.grippers)))

    def squeezed(self, item: str, arm: int = 0) -> bool:
        """Whether both sides of an arm's gripper press on the item along their closing direction, rather than lean on it."""
        world = self.world
        contact = world.data.contact
        owners = world.solid_owner[world.solids()]
        along = np.abs(contact.frame[:, :3] @ self._tcps[arm][:, 1]) > OPPOSED
        mine = (owners == self._owner[item]).any(axis=1) & (contact.dist < 0) & along
        return all(bool((mine & (owners == self._owner[f]).any(axis=1)).any()) for f in world.fingers(arm))

    def tcp_position(self, arm: int = 0) -> Float:
        """World position (3,) of an arm's tool centre point [m], a live view."""
        position: Float = self.world.data.site_xpos[self.world.tcp_sites[arm]]
        return position

    def body(self, item: str, body: str = "root") -> int:
        """Model index of an item's body."""
        return int(self.world.model.body(f"{item}/{body}").id)

    def frame(self, item: str, body: str = "root", pose: Pose | None = None) -> Frame:
        """The frame `pose` on a body of an item; what cannot move is worked out once."""
        index = self.body(item, body)
        local = tf.matrix(pose or Pose())
        R_local, p_local = local[:3, :3].copy(), local[:3, 3].copy()
        still = self.world.model.body_weldid[index] == 0
        data = self._rest if still else self.world.data
        R_body, p_body = data.xmat[index].reshape(3, 3), data.xpos[index]
        if still:
            fixed = R_body @ R_local, p_body + R_body @ p_local
            return lambda: fixed
        if pose is None:
            return lambda: (R_body, p_body)
        return lambda: (R_body @ R_local, p_body + R_body @ p_local)

    def distance(self, first: str, second: str) -> Callable[[], float]:
        """What gives the distance [m] between the collision shapes of two items as they are now, 0 when they overlap."""
        world = self.world
        pairs = [(int(a), int(b)) for a in self._solid(first) for b in self._solid(second)]
        one, other = (np.array(geoms) for geoms in zip(*pairs, strict=True))
        reach = world.model.geom_rbound[one] + world.model.geom_rbound[other]
        centers = world.data.geom_xpos

        def measure() -> float:
            away = centers[one] - centers[other]
            least = np.sqrt(np.einsum("ij,ij->i", away, away)) - reach
            nearest = FAR
            for k in np.argsort(least).tolist():
                if least[k] >= nearest or nearest <= 0.0:
                    break
                nearest = min(nearest, mujoco.mj_geomDistance(world.model, world.data, *pairs[k], nearest, None))
            return max(nearest, 0.0)

        return measure

    def _solid(self, item: str) -> list[int]:
        """The geoms of an item that collide; raises `UsageError` when there is none."""
        model = self.world.model
        geoms = [int(g) for g in self.world.items[item].geoms if model.geom_contype[g] or model.geom_conaffinity[g]]
        if not geoms:
            raise UsageError(f"item '{item}' has no collision shape: nothing can be said about where it is")
        return geoms

    def center(self, item: str) -> Float:
        """World position (3,) of an item's centre of mass [m], a live view. It decides what carries the item."""
        position: Float = self.world.data.xipos[self.world.items[item].body]
        return position

    def shape(self, item: str) -> Shape:
        """The item's convex hull, worked out once.

        Raises:
            UsageError: the item has no collision shape.
        """
        if item not in self._shapes:
            self._shapes[item] = self._measure(item)
        return self._shapes[item]

    def _measure(self, item: str) -> Shape:
        model, rest = self.world.model, self._rest
        index = self.world.items[item]
        R, p = rest.xmat[index.body].reshape(3, 3), rest.xpos[index.body]
        points: list[Float] = []
        radii: list[Float] = []
        for geom in self._solid(item):
            local, radius = geom_points(model, geom)
            world = local @ rest.geom_xmat[geom].reshape(3, 3).T + rest.geom_xpos[geom]
            points.append((world - p) @ R)
            radii.append(np.full(len(local), radius))
        return _hull(np.concatenate(points), np.concatenate(radii))


def _hull(points: Float, radii: Float) -> Shape:
    """Keep the balls, and of the plain points those on the hull."""
    plain = radii == 0.0
    kept = points[plain]
    if len(kept) > 8:
        with contextlib.suppress(QhullError):  # flat: every point may matter
            kept = kept[ConvexHull(kept).vertices]
    order = np.concatenate([kept, points[~plain]])
    return Shape(np.ascontiguousarray(order), np.concatenate([np.zeros(len(kept)), radii[~plain]]))


def geom_points(model: mujoco.MjModel, geom: int) -> tuple[Float, float]:
    """Points (n, 3) in the geom's frame and the radius of the ball round each that together span the geom [m]."""
    kind, size = int(model.geom_type[geom]), np.asarray(model.geom_size[geom], dtype=np.float64)
    types = mujoco.mjtGeom
    if kind == types.mjGEOM_SPHERE:
        return np.zeros((1, 3)), float(size[0])
    if kind == types.mjGEOM_CAPSULE:
        return np.array([[0.0, 0.0, -size[1]], [0.0, 0.0, size[1]]]), float(size[0])
    if kind == types.mjGEOM_BOX:
        signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=np.float64)
        return signs * size, 0.0
    if kind == types.mjGEOM_CYLINDER:
        angle = np.arange(RING) * (2 * math.pi / RING)
        ring = np.stack([size[0] * np.cos(angle), size[0] * np.sin(angle)], axis=1)
        return np.concatenate([np.column_stack([ring, np.full(RING, z)]) for z in (-size[1], size[1])]), 0.0
    if kind == types.mjGEOM_ELLIPSOID:
        return _sphere_points() * size, 0.0
    if kind == types.mjGEOM_MESH:
        mesh = int(model.geom_dataid[geom])
        start, count = int(model.mesh_vertadr[mesh]), int(model.mesh_vertnum[mesh])
        return np.asarray(model.mesh_vert[start : start + count], dtype=np.float64), 0.0
    raise UsageError(f"geom '{model.geom(geom).name}' is a {types(kind).name}: things are made of convex shapes")


def _sphere_points() -> Float:
    """Points spread evenly over the unit sphere along a golden spiral, shape (BALL, 3)."""
    k = np.arange(BALL) + 0.5
    z = 1 - 2 * k / BALL
    turn = math.pi * (1 + math.sqrt(5)) * k
    r = np.sqrt(1 - z * z)
    return np.stack([r * np.cos(turn), r * np.sin(turn), z], axis=1)
