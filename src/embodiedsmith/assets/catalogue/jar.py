"""Jar: a glass jar with a screw lid, filled."""

from embodiedsmith.assets.asset import Affordances, Asset, Support
from embodiedsmith.assets.category import Category, Param, Params
from embodiedsmith.assets.fragment import Finish, Fragment
from embodiedsmith.assets.grasps import round_grasps
from embodiedsmith.assets.lathe import add_hollow
from embodiedsmith.spec import AssetSpec, Pose

LID = 0.016


def build(spec: AssetSpec, params: Params) -> Asset:
    """A glass shell below a flat lid; two cylinders to touch."""
    fragment = Fragment(spec, color="orange", material="glass")
    radius, height, wall = params.number("diameter") / 2, params.number("height"), params.number("wall")
    body, lid = height - LID, 0.94 * radius
    outline = [(0, 0), (0.9 * radius, 0), (radius, 0.006), (radius, body - 0.012), (0.88 * radius, body), (0, body)]
    add_hollow(fragment, "root", outline, wall, fragment.main)
    fragment.cylinder("root", (0, 0, 0), (0, 0, body), radius, fragment.main, visible=False, density=0.0, rolls=True)
    fragment.cylinder("root", (0, 0, body), (0, 0, height), lid, Finish.of("plastic", "white"))
    fragment.contents("root", params.number("fill"), center=(0, 0, 0.45 * body), radius=radius - wall, height=0.85 * body)
    grasps = (
        *round_grasps("root", radius=lid, top=height, center=height - 0.010, pitches=(90,)),
        *round_grasps("root", radius=radius, top=body, pitches=(0,), heights=(0.5 * height, 0.62 * height)),
        *round_grasps("root", radius=lid, top=height, center=height - 0.008, pitches=(60, 45)),
    )
    top = Support(name="top", body="root", pose=Pose(position=(0.0, 0.0, height)), size=(2 * lid, 2 * lid), shape="disc")
    return fragment.finish(Affordances(supports=(top,), grasps=grasps))


CATEGORY = Category(
    name="jar",
    title="Jar",
    names={"en": ("jar", "jam jar", "glass jar"), "zh": ("罐子", "果酱瓶", "玻璃罐", "广口瓶")},
    role="object",
    tags=frozenset({"food"}),
    build=build,
    params={
        "diameter": Param(default=0.066, low=0.05, high=0.07, unit="m", meaning="of the body", source="212 ml jam jars 65-70 mm"),
        "height": Param(
            default=0.105,
            low=0.07,
            high=0.15,
            unit="m",
            meaning="with the lid",
            source="212-314 ml jam jars 85-115 mm",
            scales=True,
        ),
        "wall": Param(default=0.0025, low=0.0015, high=0.005, unit="m", meaning="glass thickness", source="2-3 mm"),
        "fill": Param(
            default=0.20,
            low=0.0,
            high=0.35,
            unit="kg",
            meaning="mass of the contents",
            source="212 ml jar, nearly full",
            scales=True,
        ),
    },
    colors=("orange", "red", "purple", "yellow", "green", "brown", "white", "pink", "black", "cyan", "blue", "grey"),
    materials=("glass", "plastic", "ceramic"),
    sizes={"small": 0.8, "medium": 1.0, "large": 1.2},
)
