"""Marks on a surface, and how they are wiped away: cells that remember what rubbed over them.

A cell is wiped once something soft rubs over it: touches the surface there, is pressed on it with more than its own weight, and
slides. Which thing it was is kept in the engine's user data, so it is part of the integration state; cells that are wiped are not
drawn any more.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from embodiedsmith.assets.asset import Asset
from embodiedsmith.world import transforms as tf

if TYPE_CHECKING:
    from embodiedsmith.world.world import World

PRESSED = 1.0
"""[N] With which something is pressed on a surface to wipe it: a sponge weighs 0.2 N."""
RUBBED = 0.01
"""[m/s] At which it slides, at the least."""
WITHIN = 0.010
"""[m] Level distance from a contact to the middle of a cell that is wiped there: contacts of soft blocks are 12 mm apart."""


def marked(built: Mapping[str, Asset]) -> list[str]:
    """The items that are marks."""
    return [item for item, asset in built.items() if asset.matter is not None and asset.matter.kind == "marks"]


def prepare(spec: Any, built: Mapping[str, Asset]) -> None:
    """Make room in the engine's user data for what every cell remembers, after what is there already."""
    spec.nuserdata += sum(_cells(built[item]) for item in marked(built))


def _cells(asset: Asset) -> int:
    return len(asset.mjspec.geoms)


@dataclass(frozen=True, kw_only=True)
class Marks:
    """Where one item of marks lives in a world."""

    geoms: np.ndarray
    """Of its cells, shape (n,)."""
    cells: tf.Float
    """World positions of their middles, shape (n, 3) [m]."""
    surface: int
    """Owner of what it is on."""
    kept: slice
    """In the user data: 0 while a cell is there, else the owner of what wiped it."""
    wipers: dict[int, int]
    """Owners of what can wipe, with the addresses of their velocities."""

    @classmethod
    def of(cls, world: World, item: str) -> Marks:
        """The marks of an item."""
        geoms = world.items[item].geoms
        T = world.compiled.nominal[item]
        cells = world.model.geom_pos[geoms] @ T[:3, :3].T + T[:3, 3]
        names = marked(world.assets)
        after = sum(_cells(world.assets[name]) for name in names[names.index(item) :])
        begin = world.model.nuserdata - after
        parent = world.scenario.scene.item(item).parent
        return cls(
            geoms=geoms, cells=cells, surface=world.owners.index(parent or "world"), kept=slice(begin, begin + len(geoms)),
            wipers={world.owners.index(name): index.dof for name, index in world.items.items() if _wipes(world.assets[name])},
        )  # fmt: skip

    def left(self, data: mujoco.MjData) -> np.ndarray:
        """Which cells are still there, shape (n,)."""
        left: np.ndarray = data.userdata[self.kept] == 0
        return left

    def wiped(self, data: mujoco.MjData, owner: int) -> float:
        """Share of the cells that an owner has wiped."""
        return float((data.userdata[self.kept] == owner).mean())


def _wipes(asset: Asset) -> bool:
    return asset.matter is not None and asset.matter.kind == "soft"


def rub(world: World) -> None:
    """Wipe the cells that something soft rubs over now; once a control step."""
    data, owners = world.data, world.solid_owner[world.solids()]
    for marks in world.marks.values():
        for wiper, dof in marks.wipers.items():
            both = (np.sort(owners, axis=1) == sorted((wiper, marks.surface))).all(axis=1)
            touching = np.flatnonzero(both & (data.contact.dist < 0))
            if not len(touching) or np.linalg.norm(data.qvel[dof : dof + 2]) < RUBBED or _force(world, touching) < PRESSED:
                continue
            away = marks.cells[:, None, :2] - data.contact.pos[None, touching, :2]
            under = np.linalg.norm(away, axis=2).min(axis=1) < WITHIN
            data.userdata[marks.kept][under & marks.left(data)] = wiper
    show(world)


def _force(world: World, contacts: np.ndarray) -> float:
    """Sum of the normal forces of some contacts [N]."""
    force, total = np.zeros(6), 0.0
    for contact in contacts.tolist():
        mujoco.mj_contactForce(world.model, world.data, contact, force)
        total += float(force[0])
    return total


def show(world: World) -> None:
    """Let the model draw the cells that are still there, and no others."""
    for marks in world.marks.values():
        world.model.geom_rgba[marks.geoms, 3] = marks.left(world.data)
