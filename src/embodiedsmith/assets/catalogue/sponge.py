"""Sponge: a kitchen sponge, rigid."""

from embodiedsmith.assets.asset import Affordances, Asset, Support
from embodiedsmith.assets.category import Category, Param, Params
from embodiedsmith.assets.fragment import Finish, Fragment
from embodiedsmith.assets.grasps import box_grasps
from embodiedsmith.spec import AssetSpec, Pose

SCOURER = 0.006
"""Thickness of the scouring layer on top [m]."""


def build(spec: AssetSpec, params: Params) -> Asset:
    """A foam box with a darker layer on top; one box to touch."""
    fragment = Fragment(spec, color="yellow", material="foam")
    x, y, z = params.number("length"), params.number("width"), params.number("height")
    soft = z - SCOURER
    fragment.box("root", (x, y, soft), (0, 0, soft / 2), fragment.main, collides=False)
    scourer = Finish.of("foam", "grey" if fragment.main.color == "green" else "green")
    fragment.box("root", (x, y, SCOURER), (0, 0, z - SCOURER / 2), scourer, collides=False)
    fragment.box("root", (x, y, z), (0, 0, z / 2), fragment.main, visible=False, density=0.0)
    top = Support(name="top", body="root", pose=Pose(position=(0.0, 0.0, z)), size=(x, y))
    grasps = tuple(box_grasps("root", size=(x, y, z), pitches=(90, 60, 45)))
    return fragment.finish(Affordances(supports=(top,), grasps=grasps))


CATEGORY = Category(
    name="sponge",
    title="Sponge",
    names={"en": ("sponge", "scrubber", "scouring pad", "kitchen sponge"), "zh": ("海绵", "洗碗海绵", "百洁布", "海绵擦")},
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
