"""Pan: a small frying pan with a long handle."""

from math import cos, pi

from embodiedsmith.assets.asset import Affordances, Asset, Grasp
from embodiedsmith.assets.category import Category, Param, Params
from embodiedsmith.assets.fragment import Finish, Fragment
from embodiedsmith.assets.grasps import azimuths, bar_grasps, rim_grasps
from embodiedsmith.assets.lathe import Station, Vessel, add_vessel, open_vessel
from embodiedsmith.spec import AssetSpec

HANDLE = (0.14, 0.022, 0.016)
"""Length, width and thickness of the handle [m]."""


def build(spec: AssetSpec, params: Params) -> Asset:
    """A straight-walled vessel with a level handle towards +x."""
    fragment = Fragment(spec, color="black", material="aluminium")
    radius, height, wall = params.number("diameter") / 2, params.number("height"), params.number("wall")
    vessel = Vessel(
        stations=(Station(z=0.0, outer=radius, inner=radius - wall), Station(z=height, outer=radius, inner=radius - wall)),
        floor=wall,
    )
    add_vessel(fragment, "root", vessel, fragment.main)
    length, width, thick = HANDLE
    z = height - thick / 2
    start = radius - 0.5 * wall
    fragment.box("root", (length, width, thick), (start + length / 2, 0, z), Finish.of("wood", "brown"))

    def free(azimuth: float) -> bool:
        return cos(azimuth) < cos(0.35 + 0.012 / radius)

    # The handle makes the near side the heavy one: pinch the wall close to it first, for the least droop.
    around = sorted(azimuths(16), key=lambda azimuth: (-round(cos(azimuth), 6), azimuth % (2 * pi)))
    points = [(start + share * length, 0.0, z) for share in (0.35, 0.55, 0.75)]
    grasps: tuple[Grasp, ...] = (
        *rim_grasps("root", radius=radius - wall / 2, wall=wall, rim=height, directions=around, pitches=(90,), free=free),
        *bar_grasps("root", points=points, along=(1, 0, 0), width=width),
        *rim_grasps("root", radius=radius - wall / 2, wall=wall, rim=height, directions=around, pitches=(60, 45), free=free),
    )
    cavity, rim = open_vessel(vessel)
    return fragment.finish(Affordances(cavities=(cavity,), grasps=grasps, rims=(rim,)))


CATEGORY = Category(
    name="pan",
    title="Frying pan",
    names={"en": ("pan", "frying pan", "skillet"), "zh": ("平底锅", "煎锅", "锅", "炒锅")},
    role="object",
    tags=frozenset({"cookware"}),
    build=build,
    params={
        "diameter": Param(
            default=0.16, low=0.12, high=0.24, unit="m", meaning="outer diameter", source="egg pans 140-180 mm", scales=True
        ),
        "height": Param(default=0.042, low=0.03, high=0.10, unit="m", meaning="of the wall", source="egg pans 35-50 mm"),
        "wall": Param(
            default=0.0030, low=0.002, high=0.005, unit="m", meaning="sheet thickness", source="pressed aluminium 2.5-3.5 mm"
        ),
    },
    colors=("black", "silver", "red", "blue", "grey", "green"),
    materials=("aluminium", "steel"),
    sizes={"small": 0.85, "medium": 1.0, "large": 1.2},
)
