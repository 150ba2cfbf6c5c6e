"""Towel: a small hand towel, spread out flat."""

from embodiedsmith.assets.asset import Asset
from embodiedsmith.assets.category import Category, Param, Params
from embodiedsmith.assets.cloth import add_cloth
from embodiedsmith.spec import AssetSpec


def build(spec: AssetSpec, params: Params) -> Asset:
    """A rectangle of terry cloth."""
    size = (params.number("length"), params.number("width"))
    return add_cloth(spec, size=size, thickness=params.number("thickness"), color="blue", material="cotton")


CATEGORY = Category(
    name="towel",
    title="Towel",
    names={
        "en": ("towel", "hand towel", "dish towel", "tea towel", "dishcloth", "cloth"),
        "zh": ("毛巾", "擦手巾", "抹布", "布"),
    },
    role="object",
    tags=frozenset({"cleaning"}),
    build=build,
    params={
        "length": Param(
            default=0.30, low=0.24, high=0.42, unit="m", meaning="along x", source="face towels 30 x 30 cm",
            scales=True,
        ),
        "width": Param(
            default=0.24, low=0.21, high=0.33, unit="m", meaning="along y", source="face towels 30 x 30 cm, narrower", scales=True
        ),
        "thickness": Param(
            default=0.002, low=0.0005, high=0.004, unit="m", meaning="of the cloth", source="terry of 400 g/m2: about 2 mm"
        ),
    },
    colors=("blue", "white", "red", "green", "yellow", "pink", "grey", "orange", "purple", "beige"),
    materials=("cotton",),
    sizes={"small": 0.85, "medium": 1.0, "large": 1.15},
)  # fmt: skip
