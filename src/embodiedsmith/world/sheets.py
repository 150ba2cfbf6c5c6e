"""Cloth in a world: where its points are, how it is put somewhere, and how fingers pinch it.

A sheet of cloth has no root that moves: its points do, each along three slides in the frame of its root as laid out.

Pinch. Two flat pads hold a woven thing by pressing its threads into each other, which contact with a sheet of a few hundred
points does not reproduce: it slips, and snags when let go. So once both pads of a hand press on a sheet from opposite sides
with little between them, the point of it that is nearest to the tool centre is tied there, and let go of when the fingers part.
From the pinch until the hand has left, the tie stands for contact between its fingers and cloth, of which there is none then.
The tie is one of MuJoCo's equalities; whether it is active, and whether a hand is still leaving, are part of the integration
state.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from embodiedsmith.assets.asset import Asset
from embodiedsmith.assets.cloth import FLEX
from embodiedsmith.embodiments.description import Robot
from embodiedsmith.world import transforms as tf
from embodiedsmith.world.points import Points

if TYPE_CHECKING:
    from embodiedsmith.world.compile import Compiled
    from embodiedsmith.world.world import Readable, World

PINCHED = 0.012
"""[m] The most that is between the pads of a hand that pinches: four layers."""
PARTED = 0.020
"""[m] Between the pads of a hand that has let go."""
WITHIN = 0.022
"""[m] From the tool centre to the point of the sheet that it is tied to, at most: nearer than neighbouring points are."""
LEFT = 0.05
"""[m] Between the tool centre and the nearest point of cloth for a hand to have left it."""
TIE = (0.999, 0.9999, 0.001, 0.5, 2.0)
"""Impedance of a tie. With the engine's 0.9 to 0.95 a point of cloth, which weighs a third of a gram, stays 2 cm behind the hand
under the weight of a towel that hangs from it, and 10 cm when the hand pulls the towel over a bar."""
IMPRATIO = 5.0
"""Where there is cloth, instead of the 20 of elsewhere, with which cloth crept under the solver before this one; not tried again.
With 1, cloth over a bar creeps off it within 10 s."""
_TOUCHES_CLOTH, _CLOTH = 4, 8
"""Contact bits: of what cloth rests on and is touched by, and of cloth itself."""
ACROSS = 0.5
"""Least cosine between the closing direction and a pad's contact normal for it to press on the sheet, not lie on it."""


def cloths(built: Mapping[str, Asset]) -> list[str]:
    """The items that are cloth."""
    return [item for item, asset in built.items() if asset.matter is not None and asset.matter.kind == "cloth"]


def prepare(spec: Any, items: list[str], robot: Robot, prefix: str) -> None:
    """Make a scene with cloth ready for hands: ties, not active, of the points of every sheet to the tool centre of every arm; a
    number for every hand and sheet that says whether it is leaving; contact bits of cloth.

    The solver is Newton's, which takes three iterations. Conjugate gradients are stopped by their limit of 100 in most steps in
    which cloth is pulled: they cost as much, and now and then a sheet flew apart, its points at 10 m/s.
    """
    if not items:
        return
    spec.option.solver = mujoco.mjtSolver.mjSOL_NEWTON
    spec.option.impratio = IMPRATIO
    spec.nuserdata = len(items) * len(robot.arms)
    sheets = {f"{item}/{FLEX}": item for item in items}
    for geom in spec.geoms:
        if geom.contype or geom.conaffinity:
            geom.contype |= _TOUCHES_CLOTH
    for flex in spec.flexes:
        if flex.name in sheets:
            flex.contype, flex.conaffinity = _CLOTH, _TOUCHES_CLOTH | _CLOTH
        else:
            flex.contype |= _TOUCHES_CLOTH
    for arm, each in enumerate(robot.arms):
        for body in list(spec.bodies):
            item, _, name = body.name.partition("/")
            if item in items and name.startswith(f"{FLEX}_"):
                spec.add_equality(
                    name=f"{item}/pinch_{arm}_{name.removeprefix(f'{FLEX}_')}", type=mujoco.mjtEq.mjEQ_CONNECT,
                    objtype=mujoco.mjtObj.mjOBJ_SITE, active=False, name1=f"{prefix}{each.tcp_site}", name2=body.name,
                    solimp=TIE,
                )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Sheet(Points):
    """Where one item of cloth lives in the model's arrays."""

    item: str
    flex: int
    ties: tuple[np.ndarray, ...]
    """Of every arm, the equalities that tie its points to the tool centre, shape (n,)."""
    leaving: int
    """Address in the engine's user data of what says, arm by arm, whether its hand has let go of it but not left yet."""

    @classmethod
    def of(cls, compiled: Compiled, item: str) -> Sheet:
        """The sheet of an item in a compiled model."""
        model, arms = compiled.model, len(compiled.robot.arms)
        T_world_root = compiled.nominal[item]
        flex = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_FLEX, f"{item}/{FLEX}")
        start, count = int(model.flex_vertadr[flex]), int(model.flex_vertnum[flex])
        bodies = model.flex_vertbodyid[start : start + count].copy()
        ties = tuple(np.array([model.equality(f"{item}/pinch_{arm}_{k}").id for k in range(count)]) for arm in range(arms))
        return cls(
            **cls.addresses(model, bodies), T_world_root=T_world_root, radius=float(model.flex_radius[flex]), item=item,
            flex=flex, ties=ties, leaving=cloths(compiled.assets).index(item) * arms,
        )  # fmt: skip

    def middle(self, data: Readable) -> tf.Float:
        """Origin of its pose: under the middle of its points by what a flat sheet's is, shape (..., 3) [m]."""
        below: tf.Float = data.xpos[..., self.bodies, :].mean(axis=-2) - self.radius * self.T_world_root[:3, 2]
        return below

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
        """Let an arm pinch none of its points; its hand is leaving then."""
        if self.tied(data, arm) is not None:
            data.eq_active[self.ties[arm]] = 0
            data.userdata[self.leaving + arm] = 1.0


def pinch(world: World) -> None:
    """Let hands that have closed on cloth take hold of it, and hands that have opened let go of it; once a control step."""
    data = world.data
    for arm, hand in enumerate(world.grippers):
        apart = (1.0 - world.gripper(arm)) * hand.max_width
        for item, sheet in world.sheets.items():
            if apart > PARTED:
                sheet.untie(data, arm)
            elif apart < PINCHED and sheet.tied(data, arm) is None and pressed(world, item, arm):
                sheet.tie(data, arm, world.tcp(arm))
            away = np.linalg.norm(sheet.points(data) - world.tcp(arm)[:3, 3], axis=1).min()
            if data.userdata[sheet.leaving + arm] and away > LEFT:
                data.userdata[sheet.leaving + arm] = 0.0
    grant(world)


def grant(world: World) -> None:
    """Let fingers touch cloth or not, as the state says: not from a pinch until the hand has left."""
    for arm in range(len(world.grippers) if world.sheets else 0):
        sides = [world.owners.index(side) for side in world.fingers(arm)]
        geoms = np.flatnonzero(
            np.isin(world.geom_owner, sides) & ((world.model.geom_contype | world.model.geom_conaffinity) != 0)
        )
        busy = any(s.tied(world.data, arm) is not None or world.data.userdata[s.leaving + arm] for s in world.sheets.values())
        bits = world.model.geom_contype[geoms] & ~_TOUCHES_CLOTH
        world.model.geom_contype[geoms] = bits if busy else bits | _TOUCHES_CLOTH


def pressed(world: World, item: str, arm: int) -> bool:
    """Whether both sides of a hand press on an item of cloth along the closing direction."""
    contact = world.data.contact
    owners = world.solid_owner[world.solids()]
    along = np.abs(contact.frame[:, :3] @ world.tcp(arm)[:3, 1]) > ACROSS
    mine = (owners == world.owners.index(item)).any(axis=1) & (contact.dist < 0) & along
    return all(bool((mine & (owners == world.owners.index(side)).any(axis=1)).any()) for side in world.fingers(arm))
