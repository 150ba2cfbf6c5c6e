"""Knife: a table knife with a thick handle, lying flat, its blade towards +x."""

from embodiedsmith.assets.asset import Affordances, Asset
from embodiedsmith.assets.category import Category, Param, Params
from embodiedsmith.assets.fragment import Finish, Fragment
from embodiedsmith.assets.grasps import bar_grasps
from embodiedsmith.spec import AssetSpec

BLADE = (0.022, 0.0018)
"""Width and thickness of the blade [m]."""
HANDLE = (0.018, 0.017)
"""Width and height of the handle [m]: high enough for fingertips that keep clear of the table."""
SOLID = 0.006
"""Thickness of what collides of the blade [m]: a thinner one is pushed through what it falls on."""
HOLD = 0.012
"""Height at which it is held [m]."""


def build(spec: AssetSpec, params: Params) -> Asset:
    """A handle box and a thin blade; the origin is midway."""
    fragment = Fragment(spec, color="black", material="plastic")
    length = params.number("length")
    handle, blade = 0.46 * length, 0.54 * length
    middle = -length / 2 + handle / 2
    fragment.box("root", (handle, *HANDLE), (middle, 0, HANDLE[1] / 2), fragment.main)
    middle_of_blade = length / 2 - blade / 2
    fragment.box("root", (blade, *BLADE), (middle_of_blade, 0, BLADE[1] / 2), Finish.of("steel"), collides=False)
    fragment.box(
        "root", (blade, BLADE[0], SOLID), (middle_of_blade, 0, SOLID / 2), Finish.of("steel"), visible=False, density=0.0
    )
    points = [(middle + share * handle, 0.0, HOLD) for share in (0.3, 0.1, -0.1, -0.3)]
    grasps = tuple(bar_grasps("root", points=points, along=(1, 0, 0), width=HANDLE[0], pitches=(90,)))
    return fragment.finish(Affordances(grasps=grasps))


CATEGORY = Category(
    name="knife",
    title="Knife",
    names={"en": ("knife", "table knife", "butter knife"), "zh": ("刀", "餐刀", "刀子", "小刀")},
    role="object",
    tags=frozenset({"cutlery", "tableware"}),
    build=build,
    params={
        "length": Param(
            default=0.22, low=0.16, high=0.32, unit="m", meaning="overall", source="table knives 210-240 mm", scales=True
        ),
    },
    colors=("black", "red", "blue", "green", "white", "brown", "yellow", "orange", "grey"),
    materials=("plastic", "wood"),
    sizes={"small": 0.85, "medium": 1.0, "large": 1.2},
)
