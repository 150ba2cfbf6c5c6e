"""Cloth in a world: where its points are, how it is put somewhere, and how fingers pinch it.

A sheet of cloth has no root that moves: its points do, each along three slides in the frame of its root as laid out.

Pinch. Two flat pads hold a woven thing by pressing its threads into each other, which contact with a sheet of a few hundred points
does not reproduce: it slips, and snags when let go. So while both pads of a hand press on a sheet from opposite sides with little
between them, the point of it that is nearest to the tool centre is tied there, and let go of when the fingers part. The tie is
one of MuJoCo's equalities, whose being active is part of the integration state: nothing is remembered anywhere else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from embodiedsmith.assets.asset import Asset
from embodiedsmith.embodiments.description import Robot
from embodiedsmith.world import transforms as tf

if TYPE_CHECKING:
    from embodiedsmith.world.world import Readable, World

PINCHED = 0.012
"""[m] The most that is between the pads of a hand that pinches: four layers."""
PARTED = 0.020
"""[m] Between the pads of a hand that has let go."""
WITHIN = 0.022
"""[m] From the tool centre to the point of the sheet that it is tied to, at most: no farther than neighbouring points are apart."""
ACROSS = 0.5
"""Least cosine between the closing direction and a pad's contact normal for it to press on the sheet, not lie on it."""


def add_ties(spec: Any, item: str, asset: Asset, robot: Robot, prefix: str) -> None:
    """Give every point of an item of cloth an equality, not active, with the tool centre of every arm of a robot in the model."""
    assert asset.matter is not None
    count = asset.matter.grid[0] * asset.matter.grid[1]
    for arm, each in enumerate(robot.arms):
        for k in range(count):
            spec.add_equality(
                name=f"{item}/pinch_{arm}_{k}", type=mujoco.mjtEq.mjEQ_CONNECT, objtype=mujoco.mjtObj.mjOBJ_SITE, active=False,
                name1=f"{prefix}{each.tcp_site}", name2=f"{item}/{asset.matter.flex}_{k}",
            )  # fmt: skip


@dataclass(frozen=True)
class Sheet:
    """Where one item of cloth lives in the model's arrays."""

    item: str
    flex: int
    bodies: np.ndarray
    """Bodies of its points, shape (n,)."""
    qpos: np.ndarray
    """Addresses of its points' slides, shape (n, 3)."""
    dofs: np.ndarray
    """Those of their velocities, shape (n, 3)."""
    rest: tf.Float
    """Its points laid flat in its root frame [m], shape (n, 3)."""
    T_world_root: tf.Float
    """Its root as laid out, shape (4, 4)."""
    radius: float
    """Of the ball round every point [m]."""
    ties: tuple[np.ndarray, ...]
    """Of every arm, the equalities that tie its points to the tool centre, shape (n,)."""

    @classmethod
    def of(cls, model: mujoco.MjModel, item: str, flex_name: str, T_world_root: tf.Float, arms: int) -> Sheet:
        """The sheet of an item in a compiled model."""
        flex = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_FLEX, f"{item}/{flex_name}")
        start, count = int(model.flex_vertadr[flex]), int(model.flex_vertnum[flex])
        bodies = model.flex_vertbodyid[start : start + count].copy()
        joints = model.body_jntadr[bodies][:, None] + np.arange(3)
        ties = tuple(np.array([model.equality(f"{item}/pinch_{arm}_{k}").id for k in range(count)]) for arm in range(arms))
        return cls(
            item, flex, bodies, model.jnt_qposadr[joints], model.jnt_dofadr[joints], model.body_pos[bodies].copy(), T_world_root,
            float(model.flex_radius[flex]), ties,
        )  # fmt: skip

    def points(self, data: mujoco.MjData) -> tf.Float:
        """World positions of its points [m], shape (n, 3)."""
        found: tf.Float = data.xpos[self.bodies]
        return found

    def put(self, data: mujoco.MjData, points: tf.Float) -> None:
        """Put its points at world positions (n, 3) [m]; forward kinematics is left to the caller."""
        R, origin = self.T_world_root[:3, :3], self.T_world_root[:3, 3]
        data.qpos[self.qpos] = (points - origin) @ R - self.rest

    def lay(self, data: mujoco.MjData, T_world_root: tf.Float) -> None:
        """Spread it out flat with its root at a world pose (4, 4)."""
        self.put(data, self.rest @ T_world_root[:3, :3].T + T_world_root[:3, 3])

    def middle(self, data: Readable) -> tf.Float:
        """Origin of its pose: under the middle of its points by what a flat sheet's is, shape (..., 3) [m]."""
        below: tf.Float = data.xpos[..., self.bodies, :].mean(axis=-2) - self.radius * self.T_world_root[:3, 2]
        return below

    def pose(self, data: mujoco.MjData) -> tf.Float:
        """World pose (4, 4), turned as it was laid out."""
        T = self.T_world_root.copy()
        T[:3, 3] = self.middle(data)
        return T

    def speed(self, data: mujoco.MjData) -> float:
        """Of its fastest point [m/s]."""
        return float(np.linalg.norm(data.qvel[self.dofs], axis=1).max())

    def tied(self, data: mujoco.MjData, arm: int) -> int | None:
        """The point that an arm pinches; None when it pinches none."""
        active = np.flatnonzero(data.eq_active[self.ties[arm]])
        return int(active[0]) if len(active) else None

    def tie(self, data: mujoco.MjData, arm: int, T_world_tcp: tf.Float) -> None:
        """Let an arm pinch the point nearest to its tool centre, if one is near enough."""
        away = np.linalg.norm(self.points(data) - T_world_tcp[:3, 3], axis=1)
        nearest = int(away.argmin())
        if away[nearest] < WITHIN:
            data.eq_active[self.ties[arm][nearest]] = 1

    def untie(self, data: mujoco.MjData, arm: int) -> None:
        """Let an arm pinch none of its points."""
        data.eq_active[self.ties[arm]] = 0


def pinch(world: World) -> None:
    """Let hands that have closed on cloth take hold of it, and hands that have opened let go of it; once a control step."""
    for arm, hand in enumerate(world.grippers):
        apart = (1.0 - world.gripper(arm)) * hand.max_width
        for item, sheet in world.sheets.items():
            if apart > PARTED:
                sheet.untie(world.data, arm)
            elif apart < PINCHED and sheet.tied(world.data, arm) is None and pressed(world, item, arm):
                sheet.tie(world.data, arm, world.tcp(arm))


def pressed(world: World, item: str, arm: int) -> bool:
    """Whether both sides of a hand press on an item of cloth along the closing direction."""
    contact = world.data.contact
    owners = world.solid_owner[world.solids()]
    along = np.abs(contact.frame[:, :3] @ world.tcp(arm)[:3, 1]) > ACROSS
    mine = (owners == world.owners.index(item)).any(axis=1) & (contact.dist < 0) & along
    return all(bool((mine & (owners == world.owners.index(side)).any(axis=1)).any()) for side in world.fingers(arm))
