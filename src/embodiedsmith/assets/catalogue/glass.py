"""Glass: a tall drinking glass with a thick bottom, which holds liquid."""

from embodiedsmith.assets.asset import Affordances, Asset
from embodiedsmith.assets.category import Category, Param, Params
from embodiedsmith.assets.fragment import Fragment
from embodiedsmith.assets.grasps import azimuths, rim_grasps, round_grasps
from embodiedsmith.assets.lathe import Station, Vessel, add_vessel, open_vessel
from embodiedsmith.spec import AssetSpec

BASE = 2.5
"""Thickness of the bottom over that of the wall."""


def build(spec: AssetSpec, params: Params) -> Asset:
    """A straight vessel, held round its body or by its rim."""
    fragment = Fragment(spec, color="cyan", material="glass")
    radius, height, wall = params.number("diameter") / 2, params.number("height"), params.number("wall")
    stations = tuple(Station(z=z, outer=radius, inner=radius - wall) for z in (0.0, height))
    vessel = Vessel(stations=stations, floor=BASE * wall)
    add_vessel(fragment, "root", vessel, fragment.main)
    grasps = (
        *round_grasps("root", radius=radius, top=height, pitches=(90, 60, 45, 30)),
        *round_grasps("root", radius=radius, top=height, pitches=(0,), heights=(0.6 * height, 0.72 * height, 0.48 * height)),
        *rim_grasps("root", radius=radius - wall / 2, wall=wall, rim=height, directions=azimuths(8), pitches=(90, 60, 45)),
    )
    cavity, rim = open_vessel(vessel)
    return fragment.finish(Affordances(cavities=(cavity,), grasps=grasps, rims=(rim,)))


CATEGORY = Category(
    name="glass",
    title="Glass",
    names={"en": ("glass", "drinking glass", "water glass"), "zh": ("玻璃杯", "玻璃水杯")},
    role="object",
    tags=frozenset({"tableware", "drinkware"}),
    build=build,
    params={
        "diameter": Param(
            default=0.066, low=0.055, high=0.075, unit="m", meaning="outer diameter", source="long drink glasses 60-75 mm"
        ),
        "height": Param(
            default=0.115, low=0.09, high=0.16, unit="m", meaning="outer height", source="0.25-0.3 l glasses 105-150 mm"
        ),
        "wall": Param(default=0.0032, low=0.003, high=0.005, unit="m", meaning="wall thickness", source="pressed glass 3-4 mm"),
    },
    colors=("cyan", "white", "green", "blue", "grey", "purple", "pink", "orange"),
    materials=("glass", "plastic"),
)
