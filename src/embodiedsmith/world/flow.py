"""What flows in a world, liquids and grains alike: where it is, and how much of it is in which vessel."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import mujoco
import numpy as np
from numpy.typing import NDArray

from embodiedsmith.assets.asset import Asset
from embodiedsmith.spec import SceneSpec
from embodiedsmith.world import transforms as tf
from embodiedsmith.world.heaps import Heap
from embodiedsmith.world.liquid.vessel import Vessel, Vessels

if TYPE_CHECKING:
    from embodiedsmith.world.liquid.liquids import Liquids


@dataclass(frozen=True, kw_only=True)
class Flow:
    """The liquids and the grains of one world.

    Attributes:
        model: Of the world.
        data: Its state.
        scene: What is in it, and where it begins.
        assets: Item id to asset.
        vessels: The rooms of what can hold things.
        heaps: Items of grains.
        liquids: Its liquids; None: there are none.
    """

    model: mujoco.MjModel
    data: mujoco.MjData
    scene: SceneSpec
    assets: Mapping[str, Asset]
    vessels: Vessels
    heaps: Mapping[str, Heap]
    liquids: Liquids | None

    @property
    def items(self) -> tuple[str, ...]:
        """Everything that flows, in the order of the scene."""
        wet = () if self.liquids is None else self.liquids.pools
        return tuple(item.id for item in self.scene.items if item.id in self.heaps or item.id in wet)

    def points(self, item: str) -> tf.Float:
        """World positions (n, 3) of what it consists of [m]."""
        if item in self.heaps:
            return self.heaps[item].points(self.data)
        assert self.liquids is not None
        return self.liquids.points(item)

    def spacing(self, item: str) -> float:
        """Distance at which its points are packed [m]."""
        if item in self.heaps:
            return 2 * self.heaps[item].radius
        assert self.liquids is not None
        return self.liquids.solver.spacing

    def put(self, item: str, points: tf.Float) -> None:
        """Put its points at world positions (n, 3) [m]; a liquid is at rest there. Time does not pass."""
        if item in self.heaps:
            self.heaps[item].put(self.data, points)
        else:
            assert self.liquids is not None
            self.liquids.put(item, points, self.data)
        mujoco.mj_forward(self.model, self.data)

    def first(self, item: str) -> str | None:
        """What it begins in, as `item.cavity`; None: it lies about."""
        spec = self.scene.item(item)
        if spec.parent is None or spec.relation != "inside":
            return None
        return f"{spec.parent}.{self.assets[spec.parent].affordances.cavity(spec.support).name}"

    def vessel(self, reference: str) -> tuple[Vessel, tf.Float]:
        """The room inside a cavity named `item.cavity`, and the world pose (4, 4) of the body it moves with."""
        vessel, body = self.vessels.vessel(reference)
        T = np.eye(4)
        T[:3, :3], T[:3, 3] = self.data.xmat[body].reshape(3, 3), self.data.xpos[body]
        return vessel, T

    def within(self, points: tf.Float, reference: str) -> NDArray[np.bool_]:
        """Which world points (n, 3) are in a cavity named `item.cavity`, shape (n,)."""
        vessel, T = self.vessel(reference)
        return vessel.holds((points - T[:3, 3]) @ T[:3, :3])

    def share(self, item: str, reference: str) -> float:
        """Share of an item that is in a cavity named `item.cavity`."""
        return float(self.within(self.points(item), reference).mean())

    def packed(self, item: str, reference: str) -> tf.Float | None:
        """World positions (n, 3) for all of an item in a cavity named `item.cavity`, from its floor up; None: too many."""
        vessel, T = self.vessel(reference)
        places = vessel.lattice(len(self.points(item)), self.spacing(item))
        return None if places is None else places @ T[:3, :3].T + T[:3, 3]
