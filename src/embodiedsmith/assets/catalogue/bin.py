"""Bin: a small round waste bin."""

from math import atan2, sin

from embodiedsmith.assets.asset import Affordances, Asset
from embodiedsmith.assets.category import Category, Param, Params
from embodiedsmith.assets.fragment import Fragment
from embodiedsmith.assets.grasps import rim_grasps
from embodiedsmith.assets.lathe import Station, Vessel, add_vessel, open_vessel
from embodiedsmith.spec import AssetSpec

FLOOR = 0.010
"""Thickness of the weighted floor [m]: what is dropped in from above must not pass through within one physics step."""


def build(spec: AssetSpec, params: Params) -> Asset:
    """A slightly conical open vessel."""
    fragment = Fragment(spec, color="grey", material="plastic")
    radius, height, wall = params.number("diameter") / 2, params.number("height"), params.number("wall")
    foot = 0.86 * radius
    vessel = Vessel(
        stations=(Station(z=0.0, outer=foot, inner=foot - wall), Station(z=height, outer=radius, inner=radius - wall)),
        floor=FLOOR,
    )
    add_vessel(fragment, "root", vessel, fragment.main)
    lean = atan2(height, radius - foot)
    grasps = rim_grasps("root", radius=radius - wall / 2, rim=height, wall=wall * sin(lean), lean=lean, pitches=(90, 60))
    cavity, rim = open_vessel(vessel)
    return fragment.finish(Affordances(cavities=(cavity,), grasps=tuple(grasps), rims=(rim,)))


CATEGORY = Category(
    name="bin",
    title="Bin",
    names={
        "en": (
            "bin",
            "trash can",
            "waste bin",
            "garbage can",
            "trash bin",
            "wastebasket",
            "dustbin",
            "rubbish bin",
            "garbage",
            "trash",
            "rubbish",
        ),
        "zh": ("垃圾桶", "垃圾箱", "废纸篓"),
    },
    role="container",
    tags=frozenset({"storage"}),
    build=build,
    params={
        "diameter": Param(
            default=0.20,
            low=0.16,
            high=0.35,
            unit="m",
            meaning="outer, at the rim",
            source="desk and bathroom bins 180-240 mm",
            scales=True,
        ),
        "height": Param(
            default=0.18,
            low=0.12,
            high=0.40,
            unit="m",
            meaning="outer",
            source="desk bins 150-200 mm, floor bins 250-350 mm",
            scales=True,
        ),
        "wall": Param(default=0.0030, low=0.003, high=0.006, unit="m", meaning="wall thickness", source="moulded 2-4 mm"),
    },
    colors=("grey", "black", "white", "green", "blue", "red", "yellow", "orange", "pink", "brown"),
    materials=("plastic", "steel", "wicker"),
)
