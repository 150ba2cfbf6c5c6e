"""Box: a cardboard box without a lid."""

from embodiedsmith.assets.asset import Asset
from embodiedsmith.assets.boxes import open_box_asset
from embodiedsmith.assets.category import Category, Param, Params
from embodiedsmith.assets.fragment import Fragment
from embodiedsmith.spec import AssetSpec


def build(spec: AssetSpec, params: Params) -> Asset:
    """A floor and four walls."""
    fragment = Fragment(spec, color="brown", material="cardboard")
    size = (params.number("depth"), params.number("width"), params.number("height"))
    return open_box_asset(fragment, size, wall=params.number("wall"))


_SOURCE = "parcel boxes S 0.25 x 0.175 x 0.10 m; double wall 5 mm"
CATEGORY = Category(
    name="box",
    title="Box",
    names={"en": ("box", "cardboard box", "carton", "crate"), "zh": ("盒子", "箱子", "纸箱", "纸盒")},
    role="container",
    tags=frozenset({"storage"}),
    build=build,
    params={
        "width": Param(default=0.28, low=0.15, high=0.6, unit="m", meaning="outer, along y", source=_SOURCE, scales=True),
        "depth": Param(default=0.2, low=0.12, high=0.5, unit="m", meaning="outer, along x", source=_SOURCE, scales=True),
        "height": Param(default=0.11, low=0.028, high=0.3, unit="m", meaning="outer", source=_SOURCE),
        "wall": Param(default=0.005, low=0.003, high=0.02, unit="m", meaning="thickness of the walls", source=_SOURCE),
    },
    colors=("brown", "white", "red", "blue", "green", "yellow", "orange", "black", "grey", "beige", "pink", "purple", "cyan"),
    materials=("cardboard", "plastic", "wood"),
    sizes={"small": 0.85, "medium": 1.0, "large": 1.2},
)
