"""Ropes: chains of capsules on ball joints, lying on the table in waves.

The link in the middle is the root, and two chains hang on it: so a rope has a pose, that of its middle, and putting it somewhere
puts all of it there. Links touch each other but for their next two neighbours, with which they overlap where the rope bends.
Where it can be taken hold of is where its links are now: it offers no grasps in the frame of the root.
"""

from __future__ import annotations

from dataclasses import replace

import mujoco
import numpy as np
from numpy.typing import NDArray

from embodiedsmith.assets import solids
from embodiedsmith.assets.asset import Affordances, Asset, Matter
from embodiedsmith.assets.fragment import COLLISION_GROUP, STIFFNESS, TORSIONAL_FRICTION, VISUAL_GROUP, Fragment
from embodiedsmith.spec import Vec3

DAMPING = 1e-4
"""[N m s/rad] Of every joint: a rope of cotton bends without springing back, and does not whip."""
ARMATURE = 1e-6
"""[kg m^2] Added to every joint, about the inertia of a link about its end: chains of many light links are stiff to solve."""


def rope(fragment: Fragment, *, length: float, radius: float, links: int, bend: float, waves: float) -> Asset:
    """Finish an asset that is nothing but a rope, its middle at the root.

    Args:
        fragment: The asset under construction, empty so far.
        length: From end to end when straight [m].
        radius: Of its section [m].
        links: How many capsules.
        bend: Largest angle between it and the root's x axis [rad].
        waves: How many waves it makes.
    """
    middle = links // 2
    along = _segments(length / links, links, bend, waves)
    centers = np.cumsum(along, axis=0) - along / 2
    centers += (0.0, 0.0, radius) - centers[middle]
    names = [f"link_{k}" if k != middle else "root" for k in range(links)]
    fragment.capsule("root", centers[middle] - along[middle] / 2, centers[middle] + along[middle] / 2, radius, fragment.main)
    for k in (*range(middle + 1, links), *range(middle - 1, -1, -1)):
        before = k - 1 if k > middle else k + 1
        origin = np.zeros(3) if before == middle else centers[before]
        _link(fragment, names[before], names[k], centers[k] - origin, along[k], radius, side=1 if k > before else -1)
    for first, second in zip(names, names[2:], strict=False):
        fragment.mjspec.add_exclude(name=f"{first}_{second}", bodyname1=first, bodyname2=second)
    ends = np.concatenate([centers - along / 2, centers + along / 2])
    asset = fragment.finish(Affordances())
    return replace(
        asset, mass=links * asset.mass, extents=(_vec(ends.min(axis=0) - radius), _vec(ends.max(axis=0) + radius)),
        matter=Matter(kind="rope", bodies=tuple(names), spacing=length / links),
    )  # fmt: skip


def _segments(step: float, links: int, bend: float, waves: float) -> NDArray[np.float64]:
    """Vectors (links, 3) [m] along the links of a level wave that is the same from both ends."""
    phase = 2 * np.pi * waves * (np.arange(links) - links // 2) / links
    angle = bend * np.cos(phase)
    return step * np.stack([np.cos(angle), np.sin(angle), np.zeros(links)], axis=1)


def _link(
    fragment: Fragment, parent: str, name: str, pos: NDArray[np.float64], along: NDArray[np.float64], radius: float, *, side: int
) -> None:
    """One more link at `pos` in its parent's frame, on a joint between them; `side` is 1 when it comes after its parent."""
    body = fragment.mjspec.body(parent).add_body(name=name, pos=pos)
    body.add_joint(type=mujoco.mjtJoint.mjJNT_BALL, pos=-side * along / 2, damping=[DAMPING, 0, 0], armature=ARMATURE)
    finish = fragment.main
    shape = {"type": mujoco.mjtGeom.mjGEOM_CAPSULE, "size": [radius, 0, 0], "fromto": [*(-along / 2), *(along / 2)], "mass": 0.0}
    body.add_geom(group=VISUAL_GROUP, contype=0, conaffinity=0, material=fragment.look(finish), **shape)
    friction = [finish.material.friction, TORSIONAL_FRICTION, 0.0001]
    body.add_geom(group=COLLISION_GROUP, condim=4, friction=friction, solref=STIFFNESS, **shape)
    length = float(np.linalg.norm(along))
    part = solids.capsule_inertial(radius, length, finish.material.density, (0.0, 0.0, 0.0), along / length)
    body.mass, body.ipos, body.explicitinertial = part.mass, part.com, True
    body.fullinertia = [*np.diag(part.inertia), part.inertia[0, 1], part.inertia[0, 2], part.inertia[1, 2]]


def _vec(values: NDArray[np.float64]) -> Vec3:
    x, y, z = (float(value) for value in values)
    return (x, y, z)
