"""Plate: a flat round dish with a low upright lip."""

from math import atan2, sin

from embodiedsmith.assets.asset import Affordances, Asset, Support
from embodiedsmith.assets.category import Category, Param, Params
from embodiedsmith.assets.fragment import Fragment
from embodiedsmith.assets.grasps import azimuths, rim_grasps
from embodiedsmith.assets.lathe import Station, Vessel, add_vessel, open_vessel
from embodiedsmith.spec import AssetSpec, Pose

FLARE = 0.004
"""How far the lip leans out over its height [m]: little, so that fingers can pinch it without touching the table."""


def build(spec: AssetSpec, params: Params) -> Asset:
    """A flat floor and a lip; things can stand on it."""
    fragment = Fragment(spec, color="white", material="plastic")
    radius, height, wall = params.number("diameter") / 2, params.number("height"), params.number("wall")
    foot = radius - FLARE
    vessel = Vessel(
        stations=(Station(z=0.0, outer=foot, inner=foot - wall), Station(z=height, outer=radius, inner=radius - wall)),
        floor=wall,
    )
    add_vessel(fragment, "root", vessel, fragment.main)
    lean = atan2(height, FLARE)
    grasps = rim_grasps(
        "root",
        radius=radius - wall / 2,
        rim=height,
        wall=wall * sin(lean),
        lean=lean,
        pitches=(90,),
        depth=0.011,
        directions=azimuths(16),
    )
    cavity, rim = open_vessel(vessel)
    flat = 2 * (foot - wall)
    top = Support(name="top", body="root", pose=Pose(position=(0.0, 0.0, wall)), size=(flat, flat), shape="disc")
    return fragment.finish(Affordances(supports=(top,), cavities=(cavity,), grasps=tuple(grasps), rims=(rim,)))


CATEGORY = Category(
    name="plate",
    title="Plate",
    names={"en": ("plate", "dish", "dinner plate"), "zh": ("盘子", "碟子", "餐盘", "盘", "碟")},
    role="object",
    tags=frozenset({"tableware"}),
    build=build,
    params={
        "diameter": Param(
            default=0.18, low=0.13, high=0.28, unit="m", meaning="outer diameter", source="side plates 160-200 mm", scales=True
        ),
        "height": Param(
            default=0.028, low=0.026, high=0.05, unit="m", meaning="height of the lip", source="coupe plates 20-35 mm"
        ),
        "wall": Param(
            default=0.0035, low=0.003, high=0.007, unit="m", meaning="thickness", source="melamine 3-4, stoneware 4-6 mm"
        ),
    },
    colors=("white", "red", "blue", "green", "yellow", "orange", "purple", "pink", "black", "grey", "brown", "cyan", "beige"),
    materials=("plastic", "ceramic", "wood", "steel"),
    sizes={"small": 0.85, "medium": 1.0, "large": 1.25},
)
