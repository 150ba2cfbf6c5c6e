"""Scoop: a shovel-like measure, open at the front (+x), with a post to hold it by over its back."""

from embodiedsmith.assets.asset import Affordances, Asset, Cavity, Grasp, Lip
from embodiedsmith.assets.category import Category, Param, Params
from embodiedsmith.assets.fragment import CLEARANCE, Fragment
from embodiedsmith.assets.grasps import grasp_pose
from embodiedsmith.spec import AssetSpec, Pose

POST = (0.022, 0.022)
"""Sides of the post [m]."""
HOLD = 0.016
"""[m] Below the top of the post at which it is held."""


def build(spec: AssetSpec, params: Params) -> Asset:
    """A floor, three walls and a post."""
    fragment = Fragment(spec, color="silver", material="aluminium")
    length, width, depth = params.number("length"), params.number("width"), params.number("depth")
    wall, height = params.number("wall"), params.number("height")
    fragment.box("root", (length, width, wall), (0, 0, wall / 2), fragment.main)
    for side in (-1, 1):
        fragment.box("root", (length, wall, depth), (0, side * (width - wall) / 2, depth / 2), fragment.main, raised=CLEARANCE)
    back = -length / 2
    fragment.box("root", (wall, width, depth), (back + wall / 2, 0, depth / 2), fragment.main, raised=CLEARANCE)
    fragment.box("root", (*POST, height), (back, 0, height / 2), fragment.main)
    cavity = Cavity(
        name="inside",
        body="root",
        pose=Pose(position=(wall / 2, 0.0, wall)),
        size=(length - wall, width - 2 * wall, depth - wall),
        opening=(0.0, 0.0, 1.0),
    )
    grasps = tuple(
        Grasp(body="root", pose=grasp_pose((back, 0.0, height - HOLD), (0.0, 0.0, -1.0), closing), width=POST[1], kind="top")
        for closing in ((0, 1, 0), (0, -1, 0))
    )
    lip = Lip(name="lip", body="root", pose=Pose(position=(length / 2, 0.0, 0.0)), width=width)
    return fragment.finish(Affordances(cavities=(cavity,), grasps=grasps, lips=(lip,)))


CATEGORY = Category(
    name="scoop",
    title="Scoop",
    names={"en": ("scoop", "measuring scoop", "flour scoop"), "zh": ("量勺", "铲勺", "勺铲", "小铲子")},
    role="object",
    tags=frozenset({"cookware"}),
    build=build,
    params={
        "length": Param(default=0.055, low=0.04, high=0.09, unit="m", meaning="along x", source="coffee scoops 45-60 mm"),
        "width": Param(default=0.050, low=0.04, high=0.07, unit="m", meaning="along y", source="coffee scoops 40-55 mm"),
        "depth": Param(default=0.022, low=0.015, high=0.03, unit="m", meaning="of the walls", source="coffee scoops 20-30 mm"),
        "height": Param(default=0.10, low=0.07, high=0.16, unit="m", meaning="of the post", source="ladles 100-300 mm"),
        "wall": Param(default=0.003, low=0.0025, high=0.004, unit="m", meaning="thickness", source="as pans have it"),
    },
    colors=("silver", "white", "red", "blue", "green", "black"),
    materials=("aluminium", "plastic", "steel"),
)
