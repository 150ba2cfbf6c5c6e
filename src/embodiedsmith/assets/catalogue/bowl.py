"""Bowl: a round flaring vessel."""

from math import atan2, sin

from embodiedsmith.assets.asset import Affordances, Asset
from embodiedsmith.assets.category import Category, Param, Params
from embodiedsmith.assets.fragment import Fragment
from embodiedsmith.assets.grasps import azimuths, rim_grasps
from embodiedsmith.assets.lathe import Station, Vessel, add_vessel, open_vessel
from embodiedsmith.spec import AssetSpec

PROFILE = ((0.0, 0.44, 2.6), (0.13, 0.70, 2.0), (0.40, 0.93, 1.25), (1.0, 1.0, 1.0))
"""Height and outer radius as fractions of the whole, and wall thickness along the horizontal over the true one."""


def build(spec: AssetSpec, params: Params) -> Asset:
    """A vessel whose wall steepens towards the rim."""
    fragment = Fragment(spec, color="white", material="plastic")
    radius, height, wall = params.number("diameter") / 2, params.number("height"), params.number("wall")
    stations = tuple(Station(z=z * height, outer=r * radius, inner=r * radius - share * wall) for z, r, share in PROFILE)
    vessel = Vessel(stations=stations, floor=1.4 * wall)
    add_vessel(fragment, "root", vessel, fragment.main)

    upper, rim = stations[-2], stations[-1]
    lean = atan2(rim.z - upper.z, rim.outer - upper.outer)
    edge = (rim.outer + rim.inner) / 2
    grasps = tuple(
        rim_grasps(
            "root", radius=edge, wall=wall * sin(lean), rim=height, lean=lean, directions=azimuths(16), pitches=(90, 60, 50)
        )
    )
    cavity, rim_edge = open_vessel(vessel)
    return fragment.finish(Affordances(cavities=(cavity,), grasps=grasps, rims=(rim_edge,)))


CATEGORY = Category(
    name="bowl",
    title="Bowl",
    names={"en": ("bowl", "cereal bowl", "soup bowl", "salad bowl"), "zh": ("碗", "饭碗", "汤碗", "沙拉碗")},
    role="object",
    tags=frozenset({"tableware"}),
    build=build,
    params={
        "diameter": Param(
            default=0.14,
            low=0.10,
            high=0.24,
            unit="m",
            meaning="outer diameter of the rim",
            source="cereal bowls 130-160 mm",
            scales=True,
        ),
        "height": Param(
            default=0.060, low=0.045, high=0.12, unit="m", meaning="outer height", source="cereal bowls 50-70 mm", scales=True
        ),
        "wall": Param(
            default=0.0040, low=0.003, high=0.007, unit="m", meaning="wall thickness", source="melamine and stoneware 3-5 mm"
        ),
    },
    colors=("white", "red", "blue", "green", "yellow", "orange", "purple", "pink", "black", "grey", "brown", "cyan", "beige"),
    materials=("plastic", "ceramic", "wood", "steel"),
    sizes={"small": 0.85, "medium": 1.0, "large": 1.2},
)
