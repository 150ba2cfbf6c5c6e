"""Drawer unit: a box of drawers that stands on a table."""

from embodiedsmith.assets.asset import Affordances, Asset
from embodiedsmith.assets.cabinetry import Carcass, add_carcass, add_drawer, positions, top_of
from embodiedsmith.assets.category import Category, Param, Params
from embodiedsmith.assets.fragment import Finish, Fragment
from embodiedsmith.spec import AssetSpec


def build(spec: AssetSpec, params: Params) -> Asset:
    """A carcass with equal drawers one above the other."""
    fragment = Fragment(spec, color="beige", material="wood")
    count, board = params.count("drawers"), 0.015
    height = count * (params.number("drawer_height") + board) + board + 0.01
    carcass = Carcass(
        width=params.number("width"), depth=params.number("depth"), height=height, board=board, front=0.015, plinth=0.01
    )
    grid = carcass.column([1.0] * count, [1] * count)
    add_carcass(fragment, carcass, grid, fragment.main)
    cavities, handles = [], []
    box, metal = Finish.of("chipboard", "white"), Finish.of("steel")
    for row, name in zip(grid, positions("drawer", count), strict=True):
        cavity, handle = add_drawer(fragment, carcass, row[0], name, finish=fragment.main, box=box, metal=metal)
        cavities.append(cavity)
        handles.append(handle)
    affordances = Affordances(supports=(top_of(carcass),), cavities=tuple(cavities), handles=tuple(handles))
    return fragment.finish(affordances, fixed=True)


CATEGORY = Category(
    name="drawer_unit",
    title="Drawer unit",
    names={
        "en": ("drawer unit", "drawer box", "chest of drawers", "drawers", "dresser"),
        "zh": ("抽屉柜", "抽屉盒", "抽屉箱", "桌面抽屉", "斗柜"),
    },
    role="furniture",
    tags=frozenset({"storage"}),
    build=build,
    params={
        "drawers": Param(default=2, low=1, high=4, meaning="number of drawers"),
        "width": Param(
            default=0.36,
            low=0.24,
            high=0.6,
            unit="m",
            meaning="along y",
            source="A4 desktop drawer boxes 0.28-0.37 m",
            scales=True,
        ),
        "depth": Param(
            default=0.32, low=0.26, high=0.5, unit="m", meaning="along x, fronts included", source="A4 boxes 0.30-0.36 m"
        ),
        "drawer_height": Param(
            default=0.150, low=0.10, high=0.25, unit="m", meaning="height of a drawer's opening", source="deep drawers 0.14-0.2 m"
        ),
    },
    colors=("beige", "brown", "white", "grey", "black", "blue", "green", "red", "yellow", "pink"),
    materials=("wood", "chipboard"),
    sizes={"small": 0.85, "medium": 1.0, "large": 1.2},
)
