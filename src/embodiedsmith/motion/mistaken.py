"""A world as a demonstrator sees it that is mistaken about where things are: how much error of perception does it stand?"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from embodiedsmith.world import World
from embodiedsmith.world import transforms as tf


class MistakenWorld(World):
    """The same world, with the same state, but that some things seem to be beside where they are.

    What is felt is true: what touches what, and what is between the fingers. The mistake about a thing stays the same in the
    thing's own frame, as that of a pose estimate does, so that in a hand it moves along with the thing.

    Args:
        world: The world as it is; steps of either are steps of both.
        beside: How far [m] from its true place each thing seems to be, in its own frame, shape (3,). Only rigid things that are
            free.

    Raises:
        KeyError: there is no such thing in the world.
        ValueError: a thing is fixed, or not rigid.
    """

    __slots__ = ("_beside",)

    def __init__(self, world: World, beside: Mapping[str, ArrayLike]) -> None:
        self.__dict__ = world.__dict__  # one state; the mistakes are in a slot, apart from it
        self._beside: dict[str, tf.Float] = {item: np.asarray(off, dtype=np.float64) for item, off in beside.items()}
        for item in self._beside:
            if self.items[item].qpos < 0 or item in self.loose:
                raise ValueError(f"nobody is mistaken about {item}: it is fixed, or not rigid")

    def item_pose(self, item: str, body: str = "root") -> tf.Float:
        """Where an item's body seems to be: world pose (4, 4)."""
        T = super().item_pose(item, body)
        if item in self._beside:
            root = T if body == "root" else super().item_pose(item)
            T[:3, 3] += root[:3, :3] @ self._beside[item]
        return T

    def positions(self) -> tf.Float:
        """As `World.positions`, the things where they seem to be."""
        qpos = super().positions()
        for item in self._beside:
            at = self.items[item].qpos
            qpos[at : at + 3] = self.item_pose(item)[:3, 3]
        return qpos
