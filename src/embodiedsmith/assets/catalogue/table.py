"""Table: a top on four legs."""

from embodiedsmith.assets.asset import Affordances, Asset, Support
from embodiedsmith.assets.category import Category, Param, Params
from embodiedsmith.assets.fragment import Finish, Fragment
from embodiedsmith.spec import AssetSpec, Pose

LEG = 0.055


def build(spec: AssetSpec, params: Params) -> Asset:
    """A board at `height`, legs set in from its corners."""
    fragment = Fragment(spec, color="brown", material="wood")
    width, depth = params.number("width"), params.number("depth")
    height, board = params.number("height"), params.number("board")
    fragment.box("root", (depth, width, board), (0, 0, height - board / 2), fragment.main)
    tall = height - board
    for x in (-1, 1):
        for y in (-1, 1):
            place = (x * (depth / 2 - LEG), y * (width / 2 - LEG), tall / 2)
            fragment.box("root", (LEG, LEG, tall), place, Finish.of("wood", spec.color or "brown"))
    top = Support(name="top", body="root", pose=Pose(position=(0.0, 0.0, height)), size=(depth, width))
    return fragment.finish(Affordances(supports=(top,)), fixed=True)


CATEGORY = Category(
    name="table",
    title="Table",
    names={"en": ("table", "desk", "dining table", "workbench"), "zh": ("桌子", "桌", "书桌", "餐桌", "桌面", "工作台")},
    role="furniture",
    build=build,
    params={
        "width": Param(
            default=1.2, low=0.4, high=2.5, unit="m", meaning="along y", source="desks and tables 1.2-1.6 m", scales=True
        ),
        "depth": Param(
            default=0.75, low=0.4, high=1.4, unit="m", meaning="along x", source="EN 527-1: at least 0.8 m; small 0.6-0.75"
        ),
        "height": Param(default=0.74, low=0.3, high=1.1, unit="m", meaning="of the top", source="EN 527-1: 740 mm"),
        "board": Param(default=0.030, low=0.015, high=0.08, unit="m", meaning="thickness of the top", source="25-40 mm boards"),
    },
    colors=("brown", "beige", "white", "black", "grey"),
    materials=("wood", "chipboard"),
)
