"""Cup: an upright cylindrical tumbler without a handle."""

from embodiedsmith.assets.asset import Affordances, Asset
from embodiedsmith.assets.category import Category, Param, Params
from embodiedsmith.assets.fragment import Fragment
from embodiedsmith.assets.grasps import azimuths, rim_grasps, round_grasps
from embodiedsmith.assets.lathe import Station, Vessel, add_vessel, open_vessel
from embodiedsmith.spec import AssetSpec


def build(spec: AssetSpec, params: Params) -> Asset:
    """A straight vessel."""
    fragment = Fragment(spec, color="white", material="ceramic")
    radius, height, wall = params.number("diameter") / 2, params.number("height"), params.number("wall")
    vessel = Vessel(
        stations=(Station(z=0.0, outer=radius, inner=radius - wall), Station(z=height, outer=radius, inner=radius - wall)),
        floor=1.5 * wall,
    )
    add_vessel(fragment, "root", vessel, fragment.main)
    middle = radius - wall / 2
    grasps = (
        *round_grasps("root", radius=radius, top=height, pitches=(90, 60, 45, 30)),
        *round_grasps("root", radius=radius, top=height, pitches=(0,), heights=(0.6 * height, 0.75 * height)),
        *rim_grasps("root", radius=middle, wall=wall, rim=height, directions=azimuths(8), pitches=(90, 60, 45)),
    )
    cavity, rim = open_vessel(vessel)
    return fragment.finish(Affordances(cavities=(cavity,), grasps=grasps, rims=(rim,)))


CATEGORY = Category(
    name="cup",
    title="Cup",
    names={"en": ("cup", "tumbler", "beaker"), "zh": ("杯子", "水杯", "茶杯", "杯")},
    role="object",
    tags=frozenset({"tableware", "drinkware"}),
    build=build,
    params={
        "diameter": Param(
            default=0.066, low=0.05, high=0.09, unit="m", meaning="outer diameter", source="0.2 l tumblers 60-75 mm", scales=True
        ),
        "height": Param(default=0.085, low=0.06, high=0.16, unit="m", meaning="outer height", source="0.2 l tumblers 80-100 mm"),
        "wall": Param(
            default=0.0035, low=0.0025, high=0.007, unit="m", meaning="wall thickness", source="ceramic and glass 2.5-4 mm"
        ),
    },
    colors=("white", "red", "blue", "green", "yellow", "orange", "purple", "pink", "black", "grey", "brown", "cyan", "beige"),
    materials=("ceramic", "glass", "plastic", "steel"),
    sizes={"small": 0.85, "medium": 1.0, "large": 1.2},
)
