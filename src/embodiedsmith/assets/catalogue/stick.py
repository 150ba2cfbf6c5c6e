"""Stick: a straight wooden bar, lying along x; long enough for two hands."""

from embodiedsmith.assets.asset import Affordances, Asset
from embodiedsmith.assets.category import Category, Param, Params
from embodiedsmith.assets.fragment import Fragment
from embodiedsmith.assets.grasps import bar_grasps
from embodiedsmith.spec import AssetSpec

SHARES = (0.0, 0.17, -0.17, 0.34, -0.34)
"""Where it is held, as fractions of its length from its middle: there first, then towards its ends."""


def build(spec: AssetSpec, params: Params) -> Asset:
    """A solid bar of square section."""
    fragment = Fragment(spec, color="brown", material="wood")
    length, side = params.number("length"), params.number("side")
    fragment.box("root", (length, side, side), (0, 0, side / 2), fragment.main)
    points = [(share * length, 0.0, max(side / 2, 0.0125)) for share in SHARES]
    return fragment.finish(Affordances(grasps=tuple(bar_grasps("root", points=points, along=(1, 0, 0), width=side))))


CATEGORY = Category(
    name="stick",
    title="Stick",
    names={"en": ("stick", "wooden stick", "rod", "baton", "bar"), "zh": ("木棍", "棍子", "棒子", "木棒", "木条")},
    role="object",
    tags=frozenset({"toy"}),
    build=build,
    params={
        "length": Param(
            default=0.24, low=0.16, high=0.34, unit="m", meaning="along x", source="relay batons 280-300 mm", scales=True
        ),
        "side": Param(default=0.026, low=0.020, high=0.040, unit="m", meaning="of its square section", source="bars 20-40 mm"),
    },
    colors=("brown", "red", "blue", "green", "yellow", "orange", "white", "black", "beige"),
    materials=("wood", "plastic"),
    sizes={"small": 0.8, "medium": 1.0, "large": 1.25},
)
