"""Towel rack: a bar between two posts that stand on feet, for cloth to hang over."""

from embodiedsmith.assets.asset import Affordances, Asset, Bar
from embodiedsmith.assets.category import Category, Param, Params
from embodiedsmith.assets.fragment import Fragment
from embodiedsmith.spec import AssetSpec

BAR = 0.022
"""[m] Radius of the bar: of a handrail. Over one of half of that, bunched cloth creases so sharply between its points, 30 mm
apart, that the bar comes through it."""
POST = 0.010
FOOT = (0.15, 0.03, 0.012)
"""[m] Extents of each foot."""


def build(spec: AssetSpec, params: Params) -> Asset:
    """A bar along y; things are hung over it from the front or from behind."""
    fragment = Fragment(spec, color="brown", material="wood")
    wood, height, length = fragment.main, params.number("height"), params.number("length")
    level = height - BAR
    for side in (-1, 1):
        y = side * length / 2
        fragment.box("root", FOOT, (0.0, y, FOOT[2] / 2), wood)
        fragment.cylinder("root", (0.0, y, FOOT[2]), (0.0, y, level), POST, wood)
    fragment.capsule("root", (0.0, -length / 2, level), (0.0, length / 2, level), BAR, wood)
    bar = Bar(
        name="bar", body="root", center=(0.0, 0.0, level), axis=(0.0, 1.0, 0.0), radius=BAR, length=length - 2 * POST,
    )  # fmt: skip
    return fragment.finish(Affordances(bars=(bar,)), fixed=True)


CATEGORY = Category(
    name="towel_rack",
    title="Towel rack",
    names={
        "en": ("towel rack", "towel bar", "towel rail", "towel stand", "drying rack", "clothes rack", "rail"),
        "zh": ("毛巾架", "毛巾杆", "晾衣架", "衣架", "挂杆", "横杆", "杆子"),
    },
    role="furniture",
    build=build,
    params={
        "height": Param(
            default=0.26, low=0.20, high=0.40, unit="m", meaning="of the bar's top", source="countertop towel stands 0.25-0.40 m",
            scales=True,
        ),
        "length": Param(
            default=0.44, low=0.34, high=0.70, unit="m", meaning="between the posts", source="stands 0.35-0.50 m", scales=True,
        ),
    },
    colors=("brown", "beige", "white", "black"),
    materials=("wood",),
)  # fmt: skip
