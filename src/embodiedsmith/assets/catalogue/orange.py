"""Orange: a nearly round fruit."""

from math import cos, pi, sin

import numpy as np

from embodiedsmith.assets.asset import Affordances, Asset
from embodiedsmith.assets.category import Category, Param, Params
from embodiedsmith.assets.fragment import Fragment
from embodiedsmith.assets.grasps import ball_grasps
from embodiedsmith.assets.lathe import add_turned
from embodiedsmith.spec import AssetSpec


def build(spec: AssetSpec, params: Params) -> Asset:
    """A turned body to see, a ball to touch."""
    fragment = Fragment(spec, color="orange", material="citrus")
    radius = params.number("diameter") / 2
    outline = [(sin(angle), 1 - cos(angle)) for angle in np.linspace(0, pi, 15)]
    add_turned(fragment, "root", radius * np.asarray(outline), fragment.main)
    fragment.sphere("root", (0, 0, radius), radius, fragment.main, visible=False, density=0.0, rolls=True)
    return fragment.finish(Affordances(grasps=tuple(ball_grasps("root", radius=radius))))


CATEGORY = Category(
    name="orange",
    title="Orange",
    names={"en": ("orange", "orange fruit", "tangerine", "mandarin"), "zh": ("橙子", "橘子", "柑橘", "脐橙")},
    role="object",
    tags=frozenset({"fruit", "food"}),
    build=build,
    params={
        "diameter": Param(
            default=0.068,
            low=0.045,
            high=0.07,
            unit="m",
            meaning="largest",
            source="UNECE FFV-14: oranges 53-110 mm, mandarins 45-78 mm",
            scales=True,
        ),
    },
    colors=("orange",),
    materials=("citrus",),
    sizes={"small": 0.85, "medium": 1.0, "large": 1.025},
)
