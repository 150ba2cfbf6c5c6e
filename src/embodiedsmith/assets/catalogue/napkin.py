"""Napkin: a square of thin cloth, spread out flat."""

from embodiedsmith.assets.asset import Asset
from embodiedsmith.assets.category import Category, Param, Params
from embodiedsmith.assets.cloth import add_cloth
from embodiedsmith.spec import AssetSpec


def build(spec: AssetSpec, params: Params) -> Asset:
    """A square of woven cotton."""
    side = params.number("side")
    return add_cloth(spec, size=(side, side), thickness=params.number("thickness"), color="white", material="cotton")


CATEGORY = Category(
    name="napkin",
    title="Napkin",
    names={"en": ("napkin", "serviette", "table napkin", "handkerchief"), "zh": ("餐巾", "餐巾布", "手帕")},
    role="object",
    tags=frozenset({"tableware"}),
    build=build,
    params={
        "side": Param(
            default=0.27, low=0.24, high=0.36, unit="m", meaning="along x and y", source="cocktail napkins 25, luncheon 35 cm",
            scales=True,
        ),
        "thickness": Param(
            default=0.001, low=0.0005, high=0.002, unit="m", meaning="of the cloth", source="cotton of 200 g/m2: about 1 mm"
        ),
    },
    colors=("white", "red", "blue", "green", "yellow", "pink", "beige", "orange", "purple", "grey"),
    materials=("cotton",),
    sizes={"small": 0.85, "medium": 1.0, "large": 1.15},
)  # fmt: skip
