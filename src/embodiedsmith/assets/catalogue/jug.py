"""Jug: a tall vessel with a handle, to pour from."""

from itertools import pairwise
from math import cos, pi, sin

import numpy as np

from embodiedsmith.assets.asset import Affordances, Asset, Grasp
from embodiedsmith.assets.category import Category, Param, Params
from embodiedsmith.assets.fragment import Fragment
from embodiedsmith.assets.grasps import azimuths, grasp_pose, round_grasps
from embodiedsmith.assets.lathe import Station, Vessel, add_vessel, open_vessel
from embodiedsmith.spec import AssetSpec

BAR = 0.012  # [m] thickness of the handle
REACH = 0.036  # [m] from the wall to the middle of the handle
FLARE = 0.004  # [m] by which the rim is wider than the body
SHOULDER = 0.85  # of the height, where it begins to widen


def build(spec: AssetSpec, params: Params) -> Asset:
    """A vessel whose rim flares a little, with a handle towards +x; held level, by the handle or round the body."""
    fragment = Fragment(spec, color="white", material="ceramic")
    radius, height, wall = params.number("diameter") / 2, params.number("height"), params.number("wall")
    stations = tuple(
        Station(z=z * height, outer=radius + out, inner=radius + out - wall)
        for z, out in ((0.0, 0.0), (SHOULDER, 0.0), (1.0, FLARE))
    )
    vessel = Vessel(stations=stations, floor=1.4 * wall)
    add_vessel(fragment, "root", vessel, fragment.main)
    low, high, out = 0.22 * height, 0.80 * height, radius + REACH
    bend = [(radius + 0.2 * BAR, low), (out - 0.008, low), (out, low + 0.010), (out, high - 0.010), (out - 0.008, high)]
    bend.append((radius + 0.2 * BAR, high))
    for (x0, z0), (x1, z1) in pairwise(bend):
        fragment.capsule("root", (x0, 0.0, z0), (x1, 0.0, z1), BAR / 2, fragment.main)

    def free_of_handle(azimuth: float) -> bool:
        return cos(azimuth) < cos(0.7 + 0.012 / radius)

    middle = (low + high) / 2
    grasps = (
        *round_grasps(
            "root", radius=radius, top=height, directions=azimuths(16), pitches=(0,), free=free_of_handle,
            heights=(0.55 * height, 0.68 * height, 0.42 * height),
        ),
        *(_on_handle(out, z, slope) for slope in (0.0, pi / 6, pi / 4) for z in (middle, middle + 0.015)),
    )  # fmt: skip
    cavity, rim = open_vessel(vessel)
    return fragment.finish(Affordances(cavities=(cavity,), grasps=grasps, rims=(rim,)))


def _on_handle(out: float, height: float, slope: float) -> Grasp:
    """Across the handle, the hand coming from outside, downwards by `slope` [rad]."""
    approach = np.array([-cos(slope), 0.0, -sin(slope)])
    return Grasp(body="root", pose=grasp_pose((out, 0.0, height), approach, (0.0, 1.0, 0.0)), width=BAR, kind="bar")


CATEGORY = Category(
    name="jug",
    title="Jug",
    names={"en": ("jug", "pitcher", "water jug", "carafe"), "zh": ("水壶", "壶", "水罐")},
    role="object",
    tags=frozenset({"tableware", "drinkware"}),
    build=build,
    params={
        "diameter": Param(
            default=0.068, low=0.055, high=0.070, unit="m", meaning="outer diameter of the body", source="milk jugs of 0.3-0.5 l"
        ),
        "height": Param(default=0.130, low=0.10, high=0.18, unit="m", meaning="outer height", source="milk jugs 110-140 mm"),
        "wall": Param(default=0.0040, low=0.003, high=0.006, unit="m", meaning="wall thickness", source="stoneware 4-5 mm"),
    },
    colors=("white", "blue", "red", "green", "yellow", "orange", "purple", "pink", "black", "grey", "brown", "cyan", "beige"),
    materials=("ceramic", "plastic", "steel"),
)
