"""Drawer unit: a box of drawers that stands on a table."""

from embodiedsmith.assets.asset import Affordances, Asset
from embodiedsmith.assets.cabinetry import Carcass, add_carcass, add_drawer, positions, top_of
from embodiedsmith.assets.category import Category, Param, Params
from embodiedsmith.assets.fragment import Finish, Fragment
from embodiedsmith.spec import AssetSpec

NARROWER = 0.8
"""Width of one of two columns as a part of the width of a single one: a hand still gets in, and an arm reaches both."""


def build(spec: AssetSpec, params: Params) -> Asset:
    """A carcass with equal drawers one above the other, in one column or two."""
    fragment = Fragment(spec, color="beige", material="wood")
    count, columns, board = params.count("drawers"), params.count("columns"), 0.015
    height = count * (params.number("drawer_height") + board) + board + 0.01
    width = params.number("width") * (1.0 if columns == 1 else 2 * NARROWER)
    carcass = Carcass(width=width, depth=params.number("depth"), height=height, board=board, front=0.015, plinth=0.01)
    grid = carcass.column([1.0] * count, [columns] * count)
    add_carcass(fragment, carcass, grid, fragment.main)
    cavities, handles = [], []
    box, metal = Finish.of("chipboard", "white"), Finish.of("steel")
    for row, name in zip(grid, positions("drawer", count), strict=True):
        sides = (name,) if columns == 1 else (f"{name}_left", f"{name}_right")
        for cell, side in zip(row, sides, strict=True):
            cavity, handle = add_drawer(fragment, carcass, cell, side, finish=fragment.main, box=box, metal=metal)
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
        "drawers": Param(default=2, low=1, high=4, meaning="number of drawers one above the other"),
        "columns": Param(default=1, low=1, high=2, meaning="number of drawers side by side"),
        "width": Param(
            default=0.36,
            low=0.24,
            high=0.6,
            unit="m",
            meaning="of a single column, along y",
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
