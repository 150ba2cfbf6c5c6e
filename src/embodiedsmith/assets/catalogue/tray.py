"""Tray: a flat rectangular tray with low walls, and, where asked for, a post at either end to carry it by with two hands."""

from itertools import product
from math import cos, pi, sin

import numpy as np

from embodiedsmith.assets.asset import Affordances, Asset, Grasp, Support
from embodiedsmith.assets.boxes import FLOOR, add_open_box, open_box_asset
from embodiedsmith.assets.category import Category, Param, Params
from embodiedsmith.assets.fragment import CLEARANCE, Fragment
from embodiedsmith.assets.grasps import grasp_pose
from embodiedsmith.spec import AssetSpec, Vec3

POST = 0.015  # [m] radius of a handle
OUT = 0.040  # [m] from the outer face of a wall to the middle of a handle: fingertips have room between the two
EAR = (0.060, 0.060)  # [m] along x and y of what carries a handle, from the wall outwards
TALL = 0.120  # [m] height of the top of a handle: a hand whose palm is upright has room below it
HELD = (0.075, 0.085, 0.068)  # [m] heights at which a handle is held
SLOPES = (0.0, pi / 9, pi / 5)  # [rad] of the approach below the horizontal
SKEWS = (0.0, pi / 9, -pi / 9, pi / 4, -pi / 4)  # [rad] of the approach from straight inwards


def build(spec: AssetSpec, params: Params) -> Asset:
    """A floor and four walls; with handles it is held by both of them at once, else by a wall."""
    fragment = Fragment(spec, color="brown", material="wood")
    size = (params.number("depth"), params.number("width"), params.number("height"))
    wall = params.number("wall")
    return _handled(fragment, size, wall) if params.flag("handles") else open_box_asset(fragment, size, wall=wall, stand=True)


def _handled(fragment: Fragment, size: Vec3, wall: float) -> Asset:
    cavity = add_open_box(fragment, size, wall=wall, finish=fragment.main)
    middle = size[1] / 2 + OUT
    for side in (-1, 1):
        ear = (EAR[0], EAR[1], FLOOR)
        fragment.box("root", ear, (0, side * (size[1] / 2 + EAR[1] / 2), FLOOR / 2), fragment.main, raised=CLEARANCE)
        fragment.cylinder("root", (0, side * middle, FLOOR), (0, side * middle, TALL), POST, fragment.main)
    surface = Support(name=cavity.name, body="root", pose=cavity.pose, size=cavity.size[:2])
    ways = product(SKEWS, SLOPES, HELD)
    pairs = tuple((_on_post(middle, height, slope, skew), _on_post(-middle, height, slope, skew)) for skew, slope, height in ways)
    return fragment.finish(Affordances(supports=(surface,), cavities=(cavity,), pairs=pairs))


def _on_post(y: float, height: float, slope: float, skew: float) -> Grasp:
    """Round a handle, the hand coming from outside, `slope` [rad] downwards and `skew` [rad] towards +x."""
    inward = -np.sign(y)
    approach = np.array([sin(skew) * cos(slope), inward * cos(skew) * cos(slope), -sin(slope)])
    closing = np.array([cos(skew), -inward * sin(skew), 0.0])
    return Grasp(body="root", pose=grasp_pose((0.0, y, height), approach, closing), width=2 * POST, kind="bar")


_SOURCE = "bed and serving trays 0.3-0.45 m"
CATEGORY = Category(
    name="tray",
    title="Tray",
    names={"en": ("tray", "serving tray"), "zh": ("托盘", "端盘")},
    role="container",
    tags=frozenset({"tableware"}),
    build=build,
    params={
        "width": Param(default=0.32, low=0.15, high=0.6, unit="m", meaning="outer, along y", source=_SOURCE, scales=True),
        "depth": Param(default=0.22, low=0.12, high=0.5, unit="m", meaning="outer, along x", source=_SOURCE, scales=True),
        "height": Param(default=0.035, low=0.028, high=0.3, unit="m", meaning="outer", source=_SOURCE),
        "wall": Param(default=0.008, low=0.003, high=0.02, unit="m", meaning="thickness of the walls", source=_SOURCE),
        "handles": Param(default=False, meaning="whether it has a post at either end to be carried by"),
    },
    colors=("brown", "white", "red", "blue", "green", "yellow", "orange", "black", "grey", "beige", "pink", "purple", "cyan"),
    materials=("wood", "plastic", "steel"),
    sizes={"small": 0.85, "medium": 1.0, "large": 1.2},
)
