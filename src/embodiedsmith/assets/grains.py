"""Grains: many small spheres that roll on each other.

The root has no shape and does not move; every grain moves along three slides and turns in a ball joint, which together are what a
free body does. They begin apart, in level layers that may widen upwards as a bowl does, and fall into what they are in.
"""

from __future__ import annotations

from dataclasses import replace

import mujoco
import numpy as np
from numpy.typing import NDArray

from embodiedsmith.assets import solids
from embodiedsmith.assets.asset import Affordances, Asset, Matter
from embodiedsmith.assets.fragment import COLLISION_GROUP, TORSIONAL_FRICTION, VISUAL_GROUP, Fragment

ROLLING = 0.1
"""[s] Time in which a grain's own spinning dies away: real grains are not round."""
STIFFNESS = (1 / 240, 1.0)
"""Time constant [s] and damping ratio of contacts: the stiffest that steps of 1/480 s resolve. Of twenty grains dropped from
0.25 m none goes through the 8 mm floor of a box; with 0.01 s sixteen did."""
MIX = 100.0
"""Weight with which that counts against the stiffness of what is touched."""
PITCH = 1.05
"""Distance of grains to begin with, in diameters."""


def grains(fragment: Fragment, *, count: int, radius: float, spread: float, widening: float) -> Asset:
    """Finish an asset that is nothing but grains.

    Args:
        fragment: The asset under construction, empty so far.
        count: How many.
        radius: Of each [m].
        spread: Radius of the lowest layer of centres [m].
        widening: By how much layers widen with height [m/m].
    """
    centers = _layers(count, radius, spread, widening)
    finish = fragment.main
    part = solids.sphere_inertial(radius, finish.material.density, (0.0, 0.0, 0.0))
    root = fragment.mjspec.body("root")
    spin = float(part.inertia[0, 0]) / ROLLING
    friction = [finish.material.friction, TORSIONAL_FRICTION, 0.0001]
    sphere = {"type": mujoco.mjtGeom.mjGEOM_SPHERE, "size": [radius, 0, 0], "mass": 0.0}
    for k, center in enumerate(centers):
        body = root.add_body(name=f"grain_{k}", pos=center)
        for axis in np.eye(3):
            body.add_joint(type=mujoco.mjtJoint.mjJNT_SLIDE, axis=axis)
        body.add_joint(type=mujoco.mjtJoint.mjJNT_BALL, damping=[spin, 0, 0])
        body.add_geom(group=VISUAL_GROUP, contype=0, conaffinity=0, material=fragment.look(finish), **sphere)
        body.add_geom(group=COLLISION_GROUP, condim=3, friction=friction, solref=STIFFNESS, solmix=MIX, **sphere)
        body.mass, body.ipos, body.explicitinertial = part.mass, part.com, True
        body.inertia = np.diag(part.inertia)
    low, high = centers.min(axis=0) - radius, centers.max(axis=0) + radius
    asset = fragment.loose(low, high)
    return replace(
        asset, mass=count * part.mass, affordances=Affordances(),
        matter=Matter(kind="grains", bodies=tuple(f"grain_{k}" for k in range(count)), spacing=2 * radius),
    )  # fmt: skip


def _layers(count: int, radius: float, spread: float, widening: float) -> NDArray[np.float64]:
    """Centres (count, 3) [m] of grains in level layers, from z = radius upwards, each in rows that are staggered."""
    pitch = 2 * radius * PITCH
    rows: list[NDArray[np.float64]] = []
    total, layer = 0, 0
    while total < count:
        height = radius + layer * pitch
        wide = spread + widening * height
        steps = np.arange(-int(wide / pitch) - 1, int(wide / pitch) + 2)
        x, y = np.meshgrid(steps, steps, indexing="ij")
        row = [(x + 0.5 * (y % 2)) * pitch, y * pitch * np.sqrt(0.75), np.full(x.shape, height)]
        places = np.stack(row, axis=-1).reshape(-1, 3)
        away = np.hypot(places[:, 0], places[:, 1])
        places = places[np.argsort(away, kind="stable")][: int((away <= wide).sum())]
        rows.append(places[: count - total])
        total += len(rows[-1])
        layer += 1
    return np.concatenate(rows)
