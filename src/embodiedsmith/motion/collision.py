"""Is the robot clear of everything? MuJoCo's own checker on a copy of the model, with a margin around the world.

The copy differs from the world's model in two ways: things of the scene do not collide with one another, only with the
robot and with what it holds; and scene geoms carry a margin so that distances up to `MARGIN` are seen.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import mujoco
import numpy as np

from embodiedsmith.world import World
from embodiedsmith.world import transforms as tf

MARGIN = 0.02  # [m] kept around the world on free motions
TOUCH = 0.0  # [m] for motions that must come close
STEP = 0.04  # [rad or m] between the configurations of a path that are checked
_ROBOT, _THINGS, _HELD, _BODY = 1, 2, 4, 8  # collision bits; the last one: the robot but for the hand


@dataclass(frozen=True)
class Hit:
    """The nearest forbidden contact found."""

    first: str
    second: str
    distance: float
    """[m], negative when overlapping."""


class Space(ABC):
    """Configurations and what they would touch."""

    @abstractmethod
    def hit(self, configuration: tf.Float, clearance: float = TOUCH) -> Hit | None:
        """The deepest forbidden contact closer than `clearance` [m] at a configuration (n,); None when there is none."""

    def path_hit(self, path: tf.Float, clearance: float = TOUCH, *, step: float = STEP) -> Hit | None:
        """The first hit along straight segments through `path` (k, n), sampled every `step` [rad or m] but for its first row."""
        for a, b in pairwise(path):
            count = max(1, int(np.ceil(np.abs(b - a).max() / step)))
            for s in range(1, count + 1):
                found = self.hit(a + (b - a) * (s / count), clearance)
                if found is not None:
                    return found
        return None


class CollisionChecker(Space):
    """Checks configurations of one arm against the world as it stood at the last `sync`; other arms stay as they are."""

    def __init__(self, world: World, arm: int = 0) -> None:
        self._world = world
        self._index, self._site = arm, world.tcp_sites[arm]
        self.model = copy.copy(world.model)
        self.data = mujoco.MjData(self.model)
        model = self.model
        collides = (model.geom_contype | model.geom_conaffinity) != 0
        self._robot_geoms = np.isin(world.geom_owner, world.robot_owners)
        for heap in world.heaps.values():  # grains give way
            loose = np.isin(model.geom_bodyid, heap.bodies)
            model.geom_contype[loose] = model.geom_conaffinity[loose] = 0
            collides &= ~loose
        if world.footing is not None:
            collides[world.footing.feet] = False
            model.geom_contype[world.footing.feet] = model.geom_conaffinity[world.footing.feet] = 0
        robot, things = collides & self._robot_geoms, collides & ~self._robot_geoms
        model.geom_contype[robot], model.geom_conaffinity[robot] = _ROBOT, _ROBOT
        model.geom_contype[robot & ~self._hand_geoms()] |= _BODY
        model.geom_contype[things], model.geom_conaffinity[things] = _THINGS, _ROBOT
        model.geom_margin[things] = MARGIN
        self._geom_arm = self._arms_of_geoms()
        if len(world.grippers) > 1:  # arms keep it from one another, too
            model.geom_margin[robot & (self._geom_arm >= 0)] = MARGIN
        model.flex_contype[:] = model.flex_conaffinity[:] = model.flex_selfcollide[:] = 0  # what is soft gives way
        model.body_margin[:] = 0.0
        np.maximum.at(model.body_margin, model.geom_bodyid, model.geom_margin)  # what the broad phase goes by
        self._things_type, self._things_affinity = model.geom_contype.copy(), model.geom_conaffinity.copy()
        count = len(world.owners)
        self._allowed = np.zeros((count, count), dtype=bool)
        self._held: tuple[str, tf.Float] | None = None
        self._cargo: dict[str, tf.Float] = {}
        self._opening = 0.0
        self.hand = world.grippers[arm]
        """How the fingers go from open to closed."""
        self._arm = world.arm_slices[arm]
        for a, b in map(world.fingers, range(len(world.grippers))):
            self.allow([(a, b), (a, a), (b, b), ("robot", a), ("robot", b)])
        self.allow([("world", "world")])
        self._always = self._allowed.copy()
        self.elsewhere: list[tuple[str, str]] = []
        """Pairs of owners that touch where other arms hold something."""
        self.checks = 0

    def _hand_geoms(self) -> np.ndarray:
        """Which geoms belong to the hand: the body that carries the tool's site, and all that hangs on it."""
        model = self.model
        hand = {int(model.site_bodyid[self._site])}
        for body in range(model.nbody):  # parents come first
            if int(model.body_parentid[body]) in hand:
                hand.add(body)
        return np.isin(model.geom_bodyid, sorted(hand))

    def _arms_of_geoms(self) -> np.ndarray:
        """Which arm each geom moves with; -1: with none."""
        model, world = self.model, self._world
        of_body = np.full(model.nbody, -1)
        for arm, part in enumerate(world.arm_slices):
            of_body[model.dof_bodyid[world.robot_dof[part.start]]] = arm
        for body in range(1, model.nbody):  # parents come first
            if of_body[body] < 0:
                of_body[body] = of_body[model.body_parentid[body]]
        return np.asarray(of_body[model.geom_bodyid])

    def sync(self) -> None:
        """Take over the world's present positions."""
        self.data.qpos[:] = self._world.positions()

    def set_arm(self, arm: int, joints: tf.Float, closing: float | None = None) -> None:
        """Imagine another arm at joints (n,), until the next `sync`, and its fingers at a closing, 0 open to 1 closed."""
        world = self._world
        self.data.qpos[world.robot_qpos[world.arm_slices[arm]]] = joints
        if closing is not None:
            self._set_fingers(arm, closing)

    def _set_fingers(self, arm: int, closing: float) -> None:
        hand = self.hand if arm == self._index else self._world.grippers[arm]
        for address, opened, closed in zip(self._world.finger_qpos[arm], hand.open_qpos, hand.closed_qpos, strict=True):
            self.data.qpos[address] = opened + closing * (closed - opened)

    def allow(self, pairs: list[tuple[str, str]]) -> None:
        """Let pairs of owners touch, on top of what is allowed already."""
        for first, second in pairs:
            a, b = self._world.owners.index(first), self._world.owners.index(second)
            self._allowed[a, b] = self._allowed[b, a] = True

    def forbid_all(self) -> None:
        """Back to the robot touching nothing but itself at the fingers, and with other arms what they hold."""
        self._allowed[:] = self._always
        self.allow(self.elsewhere)

    def in_the_open(self, joints: tf.Float) -> bool:
        """Whether arm joints are free of everything, also of what may be touched now: a motion can begin there."""
        allowed = self._allowed.copy()
        self.forbid_all()
        free = self.hit(joints) is None
        self._allowed[:] = allowed
        return free

    def hold(self, item: str | None, T_tcp_item: tf.Float | None = None) -> None:
        """Carry an item, with what lies in it now, along with the tool (None: nothing)."""
        model = self.model
        model.geom_contype[:], model.geom_conaffinity[:] = self._things_type, self._things_affinity
        self._held, self._cargo = None, {}
        if item is not None and T_tcp_item is not None:
            self._held, self._cargo = (item, T_tcp_item), self._lying_in(item)
            for name in (item, *self._cargo):
                self.carry(name)

    def carry(self, item: str) -> None:
        """Let an item collide as what is held does: with things, and with the robot but for the hand."""
        model, geoms = self.model, self._world.items[item].geoms
        solid = geoms[(model.geom_contype[geoms] | model.geom_conaffinity[geoms]) != 0]
        model.geom_contype[solid], model.geom_conaffinity[solid] = _HELD, _THINGS | _BODY

    def lay(self, item: str, T_world_item: tf.Float) -> None:
        """Put an item, with what lies in it now, down at a world pose (4, 4)."""
        self._set(item, T_world_item)
        for name, T_item in self._lying_in(item).items():
            self._set(name, T_world_item @ T_item)

    def _set(self, item: str, T: tf.Float) -> None:
        at = self._world.items[item].qpos
        self.data.qpos[at : at + 3] = T[:3, 3]
        self.data.qpos[at + 3 : at + 7] = tf.quaternion(T[:3, :3])

    def _lying_in(self, item: str) -> dict[str, tf.Float]:
        """Free things in the cavities of an item as the world is now, with their poses (4, 4) in its frame."""
        world, found = self._world, {}
        T_item_world = tf.inverse(world.item_pose(item))
        for cavity in world.assets[item].affordances.cavities:
            T_cavity_world = tf.inverse(world.cavity(f"{item}.{cavity.name}")[1])
            half = np.array([cavity.size[0] / 2, cavity.size[1] / 2, cavity.size[2]])
            for other, index in world.items.items():
                T = world.item_pose(other)
                local = (T_cavity_world @ T)[:3, 3]
                if other != item and index.qpos >= 0 and (np.abs(local) < half).all():
                    found[other] = T_item_world @ T
        return found

    @property
    def held(self) -> str | None:
        """The item carried along."""
        return self._held[0] if self._held else None

    def set_gripper(self, closing: float) -> None:
        """Opening of the fingers assumed from now on: 0 open to 1 closed."""
        self._opening = closing

    def set_base(self, base: tf.Float) -> None:
        """Stand the vehicle at (x, y, yaw)."""
        self.data.qpos[self._world.robot_qpos[: len(base)]] = base

    def pose(self, joints: tf.Float) -> tf.Float:
        """World pose (4, 4) of the tool at arm joints."""
        self._put(joints)
        T = np.eye(4)
        T[:3, :3] = self.data.site_xmat[self._site].reshape(3, 3)
        T[:3, 3] = self.data.site_xpos[self._site]
        return T

    def hit(self, configuration: tf.Float, clearance: float = TOUCH) -> Hit | None:
        """See `Space.hit`; a configuration is the arm's joints."""
        self.checks += 1
        self._put(configuration)
        mujoco.mj_collision(self.model, self.data)
        contact = self.data.contact
        dist = contact.dist
        if not len(dist):
            return None
        owners = self._world.geom_owner[contact.geom]
        bad = (dist < clearance) & ~self._allowed[owners[:, 0], owners[:, 1]]
        if self._held is not None:  # what is held may touch the hand, but never the rest of the robot
            held = self._world.owners.index(self._held[0])
            bad |= (dist < clearance) & (np.sort(owners, axis=1) == (1, held)).all(axis=1)
        # an arm never keeps a margin from itself
        arms = self._geom_arm[contact.geom]
        mine = self._robot_geoms[contact.geom].all(axis=1)
        crossed = mine & (arms[:, 0] != arms[:, 1]) & (arms >= 0).all(axis=1)
        bad = (bad & ((dist < TOUCH) | ~mine)) | (crossed & (dist < clearance))
        if not bad.any():
            return None
        k = int(np.argmin(np.where(bad, dist, np.inf)))
        names = self._world.owners
        return Hit(names[owners[k, 0]], names[owners[k, 1]], float(dist[k]))

    def depths(self, joints: tf.Float, item: str, bodies: Sequence[int]) -> tf.Float:
        """How deep [m] each of some bodies of the robot, shape (n,), would be in an item at arm joints; 0 where none of it is."""
        self._put(joints)
        mujoco.mj_collision(self.model, self.data)
        contact, found = self.data.contact, np.zeros(len(bodies))
        of_item = self._world.geom_owner[contact.geom] == self._world.owners.index(item)
        others = self.model.geom_bodyid[contact.geom]
        for k, body in enumerate(bodies):
            between = (of_item & (others[:, ::-1] == body)).any(axis=1)
            found[k] = -float(contact.dist[between].min(initial=0.0))
        return found

    def free(self, joints: tf.Float, clearance: float = TOUCH) -> bool:
        """Whether nothing forbidden is closer than `clearance` [m]."""
        return self.hit(joints, clearance) is None

    def _put(self, joints: tf.Float) -> None:
        world, data = self._world, self.data
        data.qpos[world.robot_qpos[self._arm]] = joints
        self._set_fingers(self._index, self._opening)
        mujoco.mj_kinematics(self.model, data)
        if self._held is not None:
            item, T_tcp_item = self._held
            T = np.eye(4)
            T[:3, :3] = data.site_xmat[self._site].reshape(3, 3)
            T[:3, 3] = data.site_xpos[self._site]
            self._set(item, T @ T_tcp_item)
            for name, T_item in self._cargo.items():
                self._set(name, T @ T_tcp_item @ T_item)
            mujoco.mj_kinematics(self.model, data)
