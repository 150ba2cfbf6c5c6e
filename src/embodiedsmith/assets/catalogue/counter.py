"""Kitchen counter: a stone or wooden worktop on a closed body with a plinth."""

from embodiedsmith.assets.asset import Affordances, Asset, Support
from embodiedsmith.assets.category import Category, Param, Params
from embodiedsmith.assets.fragment import Finish, Fragment
from embodiedsmith.spec import AssetSpec, Pose

PLINTH = 0.10
OVERHANG = 0.02
TOE_ROOM = 0.05


def build(spec: AssetSpec, params: Params) -> Asset:
    """Worktop, body and plinth; the front faces +x, with seams to look at."""
    fragment = Fragment(spec, color="grey", material="stone")
    width, depth = params.number("width"), params.number("depth")
    height, slab = params.number("height"), params.number("slab")
    body = Finish.of("fitted_unit", "white")
    fragment.box("root", (depth, width, slab), (0, 0, height - slab / 2), fragment.main)
    tall = height - slab - PLINTH
    deep = depth - OVERHANG
    fragment.box("root", (deep, width, tall), (-OVERHANG / 2, 0, PLINTH + tall / 2), body)
    dark = Finish.of("fitted_unit", "black")
    fragment.box("root", (deep - TOE_ROOM, width, PLINTH), (-(OVERHANG + TOE_ROOM) / 2, 0, PLINTH / 2), dark)
    units = max(1, round(width / 0.6))
    for index in range(1, units):
        y = -width / 2 + index * width / units
        seam = (0.001, 0.004, tall)
        fragment.box("root", seam, (depth / 2 - OVERHANG + 0.0002, y, PLINTH + tall / 2), dark, collides=False, density=0.0)
    top = Support(name="top", body="root", pose=Pose(position=(0.0, 0.0, height)), size=(depth, width))
    return fragment.finish(Affordances(supports=(top,)), fixed=True)


CATEGORY = Category(
    name="counter",
    title="Kitchen counter",
    names={
        "en": ("counter", "kitchen counter", "countertop", "worktop", "counter top"),
        "zh": ("台面", "厨房台面", "操作台", "料理台", "橱柜台面"),
    },
    role="furniture",
    build=build,
    params={
        "width": Param(default=1.8, low=0.6, high=3.6, unit="m", meaning="along y", source="three 0.6 m units", scales=True),
        "depth": Param(default=0.62, low=0.4, high=1.0, unit="m", meaning="along x", source="EN 1116: worktops 600-650 mm"),
        "height": Param(default=0.90, low=0.6, high=1.1, unit="m", meaning="of the worktop", source="EN 1116: 850-900 mm"),
        "slab": Param(default=0.030, low=0.012, high=0.06, unit="m", meaning="thickness of the worktop", source="20-40 mm slabs"),
    },
    colors=("grey", "white", "black", "beige", "brown"),
    materials=("stone", "wood"),
)
