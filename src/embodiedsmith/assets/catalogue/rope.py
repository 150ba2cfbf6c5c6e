"""Rope: a short thick cotton rope, lying in waves."""

import numpy as np

from embodiedsmith.assets.asset import Asset
from embodiedsmith.assets.category import Category, Param, Params
from embodiedsmith.assets.fragment import Fragment
from embodiedsmith.assets.rope import rope
from embodiedsmith.spec import AssetSpec

WAVES = 1.5


def build(spec: AssetSpec, params: Params) -> Asset:
    """Links on ball joints."""
    fragment = Fragment(spec, color="beige", material="cotton")
    return rope(
        fragment, length=params.number("length"), radius=params.number("diameter") / 2, links=params.count("links"),
        bend=np.radians(params.number("bend")), waves=WAVES,
    )  # fmt: skip


CATEGORY = Category(
    name="rope",
    title="Rope",
    names={"en": ("rope", "cord", "piece of rope", "string"), "zh": ("绳子", "绳", "麻绳", "绳索")},
    role="object",
    tags=frozenset({"toy"}),
    build=build,
    params={
        "length": Param(
            default=0.42, low=0.30, high=0.60, unit="m", meaning="from end to end", source="tug ropes 30-60 cm", scales=True
        ),
        "diameter": Param(
            default=0.012, low=0.010, high=0.016, unit="m", meaning="of its section", source="cotton rope 10-16 mm"
        ),
        "links": Param(default=30, low=10, high=40, meaning="how many stiff pieces stand for it"),
        "bend": Param(
            default=60.0, low=0.0, high=75.0, unit="degree", meaning="largest turn out of its direction", source="as dropped"
        ),
    },
    colors=("beige", "white", "red", "blue", "green", "yellow", "orange", "brown", "black", "grey"),
    materials=("cotton",),
    sizes={"small": 0.85, "medium": 1.0, "large": 1.15},
)
