"""Beans: dried soy beans, as round as peas."""

from embodiedsmith.assets.asset import Asset
from embodiedsmith.assets.category import Category, Param, Params
from embodiedsmith.assets.fragment import Fragment
from embodiedsmith.assets.grains import grains
from embodiedsmith.spec import AssetSpec


def build(spec: AssetSpec, params: Params) -> Asset:
    """Loose grains."""
    fragment = Fragment(spec, color="beige", material="bean")
    return grains(
        fragment, count=params.count("count"), radius=params.number("diameter") / 2, spread=params.number("spread"),
        widening=params.number("widening"),
    )  # fmt: skip


CATEGORY = Category(
    name="beans",
    title="Beans",
    names={
        "en": ("beans", "bean", "dried beans", "soy beans", "chickpeas", "peas"),
        "zh": ("豆子", "豆", "黄豆", "干豆子", "鹰嘴豆"),
    },
    role="object",
    tags=frozenset({"food"}),
    build=build,
    params={
        "count": Param(default=150, low=10, high=300, meaning="how many"),
        "diameter": Param(default=0.010, low=0.008, high=0.014, unit="m", meaning="of each", source="chickpeas 8-11 mm"),
        "spread": Param(default=0.022, low=0.012, high=0.05, unit="m", meaning="radius they begin in", source="fits bowls"),
        "widening": Param(
            default=0.4, low=0.0, high=0.6, unit="m/m", meaning="how much wider they begin with height", source="as bowls"
        ),
    },
    colors=("beige", "brown", "green", "red", "black", "white", "yellow", "orange"),
    materials=("bean",),
)
