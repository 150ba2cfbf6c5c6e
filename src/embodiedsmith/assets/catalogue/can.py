"""Can: a full drinks can."""

from embodiedsmith.assets.asset import Affordances, Asset, Support
from embodiedsmith.assets.category import Category, Param, Params
from embodiedsmith.assets.fragment import Finish, Fragment
from embodiedsmith.assets.grasps import round_grasps
from embodiedsmith.assets.lathe import add_hollow
from embodiedsmith.spec import AssetSpec, Pose


def build(spec: AssetSpec, params: Params) -> Asset:
    """A thin shell with bevelled ends; one cylinder to touch."""
    fragment = Fragment(spec, color="red", material="aluminium")
    radius, height, bevel = params.number("diameter") / 2, params.number("height"), 0.006
    low, high = 0.0006, height - 0.0006
    outline = [(0, low), (radius - bevel, low), (radius, bevel), (radius, height - bevel), (radius - bevel, high), (0, high)]
    add_hollow(fragment, "root", outline, 0.00025, fragment.main)
    silver = Finish.of("aluminium")
    for start, end in ((0.0, low), (high, height)):
        fragment.cylinder("root", (0, 0, start), (0, 0, end), radius - bevel, silver, collides=False)
    fragment.cylinder("root", (0, 0, 0), (0, 0, height), radius, fragment.main, visible=False, density=0.0, rolls=True)
    fragment.contents("root", params.number("fill"), center=(0, 0, 0.48 * height), radius=radius - 0.001, height=0.92 * height)
    grasps = (
        *round_grasps("root", radius=radius, top=height, pitches=(90, 60, 45, 30)),
        *round_grasps("root", radius=radius, top=height, pitches=(0,), heights=(0.55 * height, 0.7 * height)),
    )
    size = 2 * (radius - bevel)
    top = Support(name="top", body="root", pose=Pose(position=(0.0, 0.0, height)), size=(size, size), shape="disc")
    return fragment.finish(Affordances(supports=(top,), grasps=grasps))


CATEGORY = Category(
    name="can",
    title="Can",
    names={"en": ("can", "soda can", "tin", "soup can", "tin can"), "zh": ("罐头", "易拉罐", "汽水罐", "饮料罐")},
    role="object",
    tags=frozenset({"food"}),
    build=build,
    params={
        "diameter": Param(
            default=0.066, low=0.05, high=0.07, unit="m", meaning="of the body", source="330 ml standard can: 66.2 mm"
        ),
        "height": Param(
            default=0.115, low=0.07, high=0.17, unit="m", meaning="overall", source="330 ml standard can: 115.2 mm", scales=True
        ),
        "fill": Param(
            default=0.33, low=0.0, high=0.5, unit="kg", meaning="mass of the contents", source="330 ml of water", scales=True
        ),
    },
    colors=("red", "blue", "green", "yellow", "orange", "white", "black", "silver", "purple", "pink", "grey", "cyan"),
    materials=("aluminium", "steel"),
    sizes={"small": 0.8, "medium": 1.0, "large": 1.2},
)
