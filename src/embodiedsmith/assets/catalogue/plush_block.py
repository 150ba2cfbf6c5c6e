"""Plush block: a soft toy cube that fingers press in."""

from embodiedsmith.assets.asset import Affordances, Asset, Support
from embodiedsmith.assets.category import Category, Param, Params
from embodiedsmith.assets.fragment import Fragment
from embodiedsmith.assets.grasps import box_grasps
from embodiedsmith.assets.softbody import soft_block
from embodiedsmith.spec import AssetSpec, Pose

YOUNG = 6e4
"""[Pa] Young's modulus: firm polyurethane foam and packed polyester wadding are 20-100 kPa."""


def build(spec: AssetSpec, params: Params) -> Asset:
    """A block of soft material."""
    fragment = Fragment(spec, color="pink", material="plush")
    x, y, z = params.number("length"), params.number("width"), params.number("height")
    top = Support(name="top", body="root", pose=Pose(position=(0.0, 0.0, z)), size=(x, y))
    grasps = tuple(box_grasps("root", size=(x, y, z), pitches=(90, 60, 45)))
    return soft_block(fragment, (x, y, z), Affordances(supports=(top,), grasps=grasps), young=YOUNG)


_SOURCE = "soft toy blocks for babies 50-90 mm"

CATEGORY = Category(
    name="plush_block",
    title="Plush block",
    names={
        "en": ("plush block", "plush cube", "soft block", "soft cube", "plush toy", "soft toy", "stuffed toy"),
        "zh": ("毛绒方块", "毛绒块", "软积木", "毛绒积木", "布积木", "毛绒玩具", "软方块"),
    },
    role="object",
    tags=frozenset({"toy"}),
    build=build,
    params={
        "length": Param(default=0.055, low=0.04, high=0.10, unit="m", meaning="along x", source=_SOURCE, scales=True),
        "width": Param(default=0.055, low=0.04, high=0.07, unit="m", meaning="along y", source=_SOURCE, scales=True),
        "height": Param(default=0.055, low=0.04, high=0.10, unit="m", meaning="along z", source=_SOURCE, scales=True),
    },
    colors=("pink", "red", "blue", "green", "yellow", "orange", "purple", "white", "black", "brown", "grey", "cyan", "beige"),
    materials=("plush",),
    sizes={"small": 0.8, "medium": 1.0, "large": 1.2},
)
