"""Block: a wooden toy cube."""

from embodiedsmith.assets.asset import Affordances, Asset, Support
from embodiedsmith.assets.category import Category, Param, Params
from embodiedsmith.assets.fragment import Fragment
from embodiedsmith.assets.grasps import box_grasps
from embodiedsmith.spec import AssetSpec, Pose


def build(spec: AssetSpec, params: Params) -> Asset:
    """A solid box with a flat top."""
    fragment = Fragment(spec, color="red", material="wood")
    size = (params.number("length"), params.number("width"), params.number("height"))
    fragment.box("root", size, (0, 0, size[2] / 2), fragment.main)
    top = Support(name="top", body="root", pose=Pose(position=(0.0, 0.0, size[2])), size=size[:2])
    return fragment.finish(Affordances(supports=(top,), grasps=tuple(box_grasps("root", size=size))))


_SOURCE = "wooden alphabet and stacking blocks, 40-50 mm"
CATEGORY = Category(
    name="block",
    title="Block",
    names={
        "en": ("block", "cube", "brick", "building block", "toy block"),
        "zh": ("积木", "方块", "木块", "立方体", "积木块"),
    },
    role="object",
    tags=frozenset({"toy"}),
    build=build,
    params={
        "length": Param(default=0.045, low=0.02, high=0.20, unit="m", meaning="along x", source=_SOURCE, scales=True),
        "width": Param(default=0.045, low=0.02, high=0.07, unit="m", meaning="along y", source=_SOURCE, scales=True),
        "height": Param(default=0.045, low=0.02, high=0.20, unit="m", meaning="along z", source=_SOURCE, scales=True),
    },
    colors=("red", "blue", "green", "yellow", "orange", "purple", "pink", "white", "black", "brown", "grey", "cyan", "beige"),
    materials=("wood", "plastic", "foam"),
    sizes={"small": 0.75, "medium": 1.0, "large": 1.3},
)
