"""Basket: a low rectangular wicker basket."""

from embodiedsmith.assets.asset import Asset
from embodiedsmith.assets.boxes import open_box_asset
from embodiedsmith.assets.category import Category, Param, Params
from embodiedsmith.assets.fragment import Fragment
from embodiedsmith.spec import AssetSpec


def build(spec: AssetSpec, params: Params) -> Asset:
    """A floor and four walls."""
    fragment = Fragment(spec, color="brown", material="wicker")
    size = (params.number("depth"), params.number("width"), params.number("height"))
    return open_box_asset(fragment, size, wall=params.number("wall"))


_SOURCE = "bread and fruit baskets 0.25-0.35 m, 80-120 mm high"
CATEGORY = Category(
    name="basket",
    title="Basket",
    names={"en": ("basket", "fruit basket", "wicker basket"), "zh": ("篮子", "果篮", "筐", "竹篮")},
    role="container",
    tags=frozenset({"storage"}),
    build=build,
    params={
        "width": Param(default=0.32, low=0.15, high=0.6, unit="m", meaning="outer, along y", source=_SOURCE, scales=True),
        "depth": Param(default=0.24, low=0.12, high=0.5, unit="m", meaning="outer, along x", source=_SOURCE, scales=True),
        "height": Param(default=0.09, low=0.028, high=0.3, unit="m", meaning="outer", source=_SOURCE),
        "wall": Param(default=0.007, low=0.003, high=0.02, unit="m", meaning="thickness of the walls", source=_SOURCE),
    },
    colors=("brown", "white", "red", "blue", "green", "yellow", "orange", "black", "grey", "beige", "pink", "purple", "cyan"),
    materials=("wicker", "plastic"),
    sizes={"small": 0.85, "medium": 1.0, "large": 1.2},
)
