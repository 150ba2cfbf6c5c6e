"""Mug: an upright cylindrical cup with a handle."""

from itertools import pairwise
from math import cos, pi, sin

import numpy as np

from embodiedsmith.assets.asset import Affordances, Asset, Cavity, Rim
from embodiedsmith.assets.category import Category, Param, Params
from embodiedsmith.assets.fragment import Fragment
from embodiedsmith.assets.grasps import azimuths, rim_grasps, round_grasps
from embodiedsmith.assets.lathe import Station, Vessel, add_vessel
from embodiedsmith.spec import AssetSpec, Pose

HANDLE_THICKNESS = 0.011
HANDLE_SEGMENTS = 5


def build(spec: AssetSpec, params: Params) -> Asset:
    """A vessel with a half-ring handle towards +x."""
    fragment = Fragment(spec, color="red", material="ceramic")
    radius, height, wall = params.number("diameter") / 2, params.number("height"), params.number("wall")
    floor = 1.4 * wall
    vessel = Vessel(
        stations=(Station(z=0.0, outer=radius, inner=radius - wall), Station(z=height, outer=radius, inner=radius - wall)),
        floor=floor,
    )
    add_vessel(fragment, "root", vessel, fragment.main)

    reach, rise = 0.030, 0.34 * height
    angles = np.linspace(-pi / 2, pi / 2, HANDLE_SEGMENTS + 1)
    start = radius + 0.25 * HANDLE_THICKNESS
    bend = [(start + reach * cos(angle), 0.0, 0.52 * height + rise * sin(angle)) for angle in angles]
    for lower, upper in pairwise(bend):
        fragment.capsule("root", lower, upper, HANDLE_THICKNESS / 2, fragment.main)

    inner = radius - wall
    away = 0.7 + 0.012 / radius

    def free_of_handle(azimuth: float) -> bool:
        return cos(azimuth) < cos(away)

    grasps = (
        *round_grasps("root", radius=radius, top=height, directions=azimuths(16), pitches=(90,), free=free_of_handle),
        *rim_grasps(
            "root", radius=radius - wall / 2, wall=wall, rim=height, directions=azimuths(12), pitches=(90,), free=free_of_handle
        ),
        *round_grasps("root", radius=radius, top=height, directions=azimuths(16), pitches=(60, 45, 30), free=free_of_handle),
        *round_grasps(
            "root",
            radius=radius,
            top=height,
            directions=azimuths(16),
            pitches=(0,),
            free=free_of_handle,
            heights=(0.6 * height, 0.75 * height),
        ),
        *rim_grasps(
            "root",
            radius=radius - wall / 2,
            wall=wall,
            rim=height,
            directions=azimuths(12),
            pitches=(60, 45),
            free=free_of_handle,
        ),
    )
    return fragment.finish(
        Affordances(
            cavities=(
                Cavity(
                    name="inside",
                    body="root",
                    pose=Pose(position=(0.0, 0.0, floor)),
                    opening=(0.0, 0.0, 1.0),
                    size=(2 * inner, 2 * inner, height - floor),
                    shape="disc",
                ),
            ),
            grasps=grasps,
            rims=(Rim(name="rim", body="root", pose=Pose(position=(0.0, 0.0, height)), radius=inner),),
        )
    )


CATEGORY = Category(
    name="mug",
    title="Mug",
    names={"en": ("mug", "coffee mug", "coffee cup"), "zh": ("马克杯", "咖啡杯", "带把杯子")},
    role="object",
    tags=frozenset({"tableware", "drinkware"}),
    build=build,
    params={
        "diameter": Param(
            default=0.070,
            low=0.055,
            high=0.10,
            unit="m",
            meaning="outer diameter of the body",
            source="slim mugs of 0.25-0.3 l; standard ones are 80 mm",
            scales=True,
        ),
        "height": Param(default=0.095, low=0.07, high=0.12, unit="m", meaning="outer height", source="common 0.3 l mugs"),
        "wall": Param(default=0.0045, low=0.003, high=0.008, unit="m", meaning="wall thickness", source="stoneware 4-5 mm"),
    },
    colors=("red", "blue", "white", "green", "yellow", "orange", "purple", "pink", "black", "grey", "brown", "cyan", "beige"),
    materials=("ceramic", "plastic", "steel"),
    sizes={"small": 0.85, "medium": 1.0, "large": 1.2},
)
