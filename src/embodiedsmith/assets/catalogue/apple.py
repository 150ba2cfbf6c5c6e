"""Apple: a nearly round fruit."""

from embodiedsmith.assets.asset import Affordances, Asset
from embodiedsmith.assets.category import Category, Param, Params
from embodiedsmith.assets.fragment import Finish, Fragment
from embodiedsmith.assets.grasps import ball_grasps
from embodiedsmith.assets.lathe import add_turned, rounded
from embodiedsmith.spec import AssetSpec


def build(spec: AssetSpec, params: Params) -> Asset:
    """A turned body to see, a ball to touch."""
    fragment = Fragment(spec, color="red", material="fruit")
    radius = params.number("diameter") / 2
    outline = [
        (0.0, 0.10),
        (0.20, 0.03),
        (0.45, 0.02),
        (0.72, 0.25),
        (0.92, 0.62),
        (1.0, 1.08),
        (0.95, 1.45),
        (0.75, 1.76),
        (0.45, 1.92),
        (0.18, 1.88),
        (0.0, 1.70),
    ]
    add_turned(fragment, "root", radius * rounded(outline), fragment.main)
    fragment.capsule("root", (0, 0, 1.7 * radius), (0.003, 0, 1.97 * radius), 0.0012, Finish.of("wood", "brown"), collides=False)
    fragment.sphere("root", (0, 0, radius), radius, fragment.main, visible=False, density=0.0, rolls=True)
    return fragment.finish(Affordances(grasps=tuple(ball_grasps("root", radius=radius))))


CATEGORY = Category(
    name="apple",
    title="Apple",
    names={"en": ("apple",), "zh": ("苹果",)},
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
            source="UNECE FFV-50: dessert apples 60-80 mm, about 150-200 g",
            scales=True,
        ),
    },
    colors=("red", "green", "yellow"),
    materials=("fruit",),
    sizes={"small": 0.85, "medium": 1.0, "large": 1.025},
)
