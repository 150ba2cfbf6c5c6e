"""Bottle: a plastic bottle with a neck and a cap, filled."""

from embodiedsmith.assets.asset import Affordances, Asset
from embodiedsmith.assets.category import Category, Param, Params
from embodiedsmith.assets.fragment import Finish, Fragment
from embodiedsmith.assets.grasps import round_grasps
from embodiedsmith.assets.lathe import add_hollow
from embodiedsmith.spec import AssetSpec

NECK = 0.014
"""Radius of neck and cap [m]: PCO-1881 caps are 28-30 mm across."""
CAP = 0.022
"""Height of the cap [m]; sports caps 20-25 mm."""


def build(spec: AssetSpec, params: Params) -> Asset:
    """A shell with a conical shoulder; the contents weigh but do not slosh."""
    fragment = Fragment(spec, color="green", material="plastic")
    radius, height, wall = params.number("diameter") / 2, params.number("height"), params.number("wall")
    shoulder, neck = 0.68 * height, height - CAP - 0.008
    outline = [
        (0, 0),
        (0.92 * radius, 0),
        (radius, 0.008),
        (radius, shoulder),
        (0.8 * radius, shoulder + 0.45 * (neck - shoulder)),
        (NECK, neck),
        (NECK, height - CAP),
        (0, height - CAP),
    ]
    add_hollow(fragment, "root", outline, wall, fragment.main)
    fragment.cylinder("root", (0, 0, height - CAP), (0, 0, height), NECK, Finish.of("plastic", "white"))
    # Cylinders touch better than cones: body, the widest of the shoulder that fits, neck.
    fragment.cylinder("root", (0, 0, 0), (0, 0, shoulder), radius, fragment.main, visible=False, density=0.0, rolls=True)
    middle = shoulder + 0.45 * (neck - shoulder)
    fragment.cylinder("root", (0, 0, shoulder), (0, 0, middle), 0.85 * radius, fragment.main, visible=False, density=0.0)
    fragment.cylinder("root", (0, 0, middle), (0, 0, height - CAP), NECK, fragment.main, visible=False, density=0.0)
    fill = 0.62 * height
    fragment.contents("root", params.number("fill"), center=(0, 0, wall + fill / 2), radius=radius - wall, height=fill)
    grasps = (
        *round_grasps("root", radius=NECK, top=height, center=height - 0.013, pitches=(90,)),
        *round_grasps("root", radius=radius, top=shoulder, pitches=(0,), heights=(0.5 * height, 0.38 * height, 0.6 * height)),
        *round_grasps("root", radius=NECK, top=height, center=height - 0.013, pitches=(60, 45)),
    )
    return fragment.finish(Affordances(grasps=grasps))


CATEGORY = Category(
    name="bottle",
    title="Bottle",
    names={"en": ("bottle", "water bottle", "plastic bottle"), "zh": ("瓶子", "水瓶", "塑料瓶", "瓶")},
    role="object",
    tags=frozenset({"drinkware", "food"}),
    build=build,
    params={
        "diameter": Param(
            default=0.064, low=0.05, high=0.07, unit="m", meaning="of the body", source="0.5 l PET bottles 62-67 mm", scales=True
        ),
        "height": Param(
            default=0.200,
            low=0.15,
            high=0.26,
            unit="m",
            meaning="with the cap",
            source="0.5 l PET bottles 200-225 mm",
            scales=True,
        ),
        "wall": Param(
            default=0.0010, low=0.0005, high=0.002, unit="m", meaning="wall thickness", source="reusable bottles about 1 mm"
        ),
        "fill": Param(
            default=0.33, low=0.02, high=0.60, unit="kg", meaning="mass of the contents", source="0.5 l bottle, two thirds full"
        ),
    },
    colors=("green", "blue", "red", "white", "yellow", "orange", "purple", "pink", "black", "brown", "cyan", "grey"),
    materials=("plastic", "glass", "steel"),
    sizes={"small": 0.85, "medium": 1.0, "large": 1.09},
)
