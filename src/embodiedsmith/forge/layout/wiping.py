"""Room over a stain for the hand that wipes it away, which goes all over it with fingers and a tool about it."""

from __future__ import annotations

import math

import numpy as np

from embodiedsmith.assets.asset import Asset
from embodiedsmith.forge.layout.needs import Needs
from embodiedsmith.forge.layout.prisms import Float, Kind, Prism, prism
from embodiedsmith.forge.layout.volumes import apply, corners
from embodiedsmith.motion.skills.wipe import PAST

ROUND = 0.05
"""[m] From the middle of the tool to the outside of the fingers about it, and to the ends of a sponge."""
HIGH = 0.25
"""[m] Over the surface: fingers, hand and wrist."""


def swept(needs: Needs, item: str, asset: Asset, T: Float) -> list[Prism]:
    """What the hand and what it holds go through when the task wipes the item, at world pose `T` (4, 4), away; else nothing."""
    if item not in needs.worked or asset.matter is None or asset.matter.kind != "marks":
        return []
    beyond = np.array([PAST + ROUND, PAST + ROUND, 0.0])
    low, high = (np.asarray(corner) for corner in asset.extents)
    box = corners(low - beyond, high + beyond + (0.0, 0.0, HIGH))
    return [prism(Kind.HAND, item, apply(T, box), math.atan2(T[1, 0], T[0, 0]))]
