"""Open boxes: a floor and four walls."""

from __future__ import annotations

from embodiedsmith.assets.asset import Affordances, Asset, Cavity, Support
from embodiedsmith.assets.fragment import Finish, Fragment
from embodiedsmith.assets.grasps import edge_grasps
from embodiedsmith.spec import Pose, Vec3

FLOOR = 0.008
"""Thickness of the floor [m]: what falls 0.2 m onto it must not pass through within the few physics steps that stop it."""


def add_open_box(fragment: Fragment, size: Vec3, *, wall: float, finish: Finish) -> Cavity:
    """Add a box open above to the root, standing at z = 0; returns its cavity, `inside`. Outer extents `size` [m]."""
    x, y, z = size
    fragment.box("root", (x, y, FLOOR), (0, 0, FLOOR / 2), finish)
    tall = z - FLOOR
    for side in (-1, 1):
        fragment.box("root", (wall, y, tall), (side * (x - wall) / 2, 0, FLOOR + tall / 2), finish)
        fragment.box("root", (x - 2 * wall, wall, tall), (0, side * (y - wall) / 2, FLOOR + tall / 2), finish)
    return Cavity(
        name="inside",
        body="root",
        pose=Pose(position=(0.0, 0.0, FLOOR)),
        opening=(0.0, 0.0, 1.0),
        size=(x - 2 * wall, y - 2 * wall, tall),
    )


def open_box_asset(fragment: Fragment, size: Vec3, *, wall: float, stand: bool = False) -> Asset:
    """An asset that is an open box in the fragment's main finish, held by its walls; with `stand` things stand on its floor."""
    cavity = add_open_box(fragment, size, wall=wall, finish=fragment.main)
    surface = Support(name=cavity.name, body="root", pose=cavity.pose, size=cavity.size[:2])
    grasps = tuple(edge_grasps("root", size=size, wall=wall))
    return fragment.finish(Affordances(supports=(surface,) if stand else (), cavities=(cavity,), grasps=grasps))
