"""Sponge: a kitchen sponge, soft."""

from embodiedsmith.assets.asset import Affordances, Asset, Support
from embodiedsmith.assets.category import Category, Param, Params
from embodiedsmith.assets.fragment import Fragment
from embodiedsmith.assets.grasps import box_grasps
from embodiedsmith.assets.softbody import soft_block
from embodiedsmith.spec import AssetSpec, Pose

YOUNG = 5e4
"""[Pa] Young's modulus: moist cellulose and polyurethane sponges are 20-100 kPa."""


def build(spec: AssetSpec, params: Params) -> Asset:
    """A block of foam."""
    fragment = Fragment(spec, color="yellow", material="foam")
    x, y, z = params.number("length"), params.number("width"), params.number("height")
    top = Support(name="top", body="root", pose=Pose(position=(0.0, 0.0, z)), size=(x, y))
    grasps = tuple(box_grasps("root", size=(x, y, z), pitches=(90, 60, 45)))
    return soft_block(fragment, (x, y, z), Affordances(supports=(top,), grasps=grasps), young=YOUNG)


CATEGORY = Category(
    name="sponge",
    title="Sponge",
    names={"en": ("sponge", "scrubber", "scouring pad", "kitchen sponge"), "zh": ("海绵", "洗碗海绵", "百洁布")},
    role="object",
    tags=frozenset({"cleaning"}),
    build=build,
    params={
        "length": Param(
            default=0.095, low=0.06, high=0.15, unit="m", meaning="along x", source="kitchen sponges 90-110 mm", scales=True
        ),
        "width": Param(
            default=0.060, low=0.04, high=0.07, unit="m", meaning="along y", source="kitchen sponges 60-75 mm", scales=True
        ),
        "height": Param(default=0.035, low=0.025, high=0.06, unit="m", meaning="along z", source="kitchen sponges 30-45 mm"),
    },
    colors=("yellow", "blue", "green", "pink", "orange", "white", "grey", "red", "purple"),
    materials=("foam",),
    sizes={"small": 0.85, "medium": 1.0, "large": 1.15},
)
