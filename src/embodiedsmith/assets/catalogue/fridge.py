"""Fridge: a small refrigerator with shelves behind one door."""

from embodiedsmith.assets.asset import Affordances, Asset
from embodiedsmith.assets.cabinetry import Carcass, add_carcass, add_door, compartment, positions, top_of
from embodiedsmith.assets.category import Category, Param, Params
from embodiedsmith.assets.fragment import Finish, Fragment
from embodiedsmith.spec import AssetSpec

WALL = 0.04
"""Thickness of insulated walls and door [m]."""
TRAVEL = 2.2
"""How far the door swings [rad]."""
PREFERRED = ("board_middle", "board_top", "board", "board_bottom")
"""Which board is meant when none is named: the one within easiest reach."""


def build(spec: AssetSpec, params: Params) -> Asset:
    """An insulated carcass with glass-thin boards; the part that moves is `door`."""
    fragment = Fragment(spec, color="white", material="appliance")
    count = params.count("boards")
    carcass = Carcass(
        width=params.number("width"),
        depth=params.number("depth"),
        height=params.number("height"),
        board=WALL,
        front=WALL,
        back=WALL,
        plinth=0.02,
        shelf=0.008,
    )
    grid = carcass.column([1.0] * count, [1] * count)
    add_carcass(fragment, carcass, grid, fragment.main)
    area = ((-carcass.width / 2, carcass.width / 2), (0.022, carcass.height))
    handle = add_door(
        fragment,
        carcass,
        area,
        "door",
        hinge="left",
        finish=fragment.main,
        metal=Finish.of("steel"),
        travel=TRAVEL,
        handle_height=min(0.8, 0.66 * carcass.height),
        handle_length=0.26,
    )
    names = positions("board", count)
    boards = [compartment(carcass, row[0], name, "door") for row, name in zip(grid, names, strict=True)]
    boards.sort(key=lambda board: PREFERRED.index(board[0].name))
    supports = (*(support for _, support in boards), top_of(carcass))
    return fragment.finish(
        Affordances(supports=supports, cavities=tuple(cavity for cavity, _ in boards), handles=(handle,)), fixed=True
    )


CATEGORY = Category(
    name="fridge",
    title="Fridge",
    names={"en": ("fridge", "refrigerator", "icebox"), "zh": ("冰箱", "电冰箱", "冷藏柜")},
    role="furniture",
    tags=frozenset({"appliance"}),
    build=build,
    params={
        "boards": Param(default=3, low=1, high=3, meaning="number of compartments"),
        "width": Param(
            default=0.55, low=0.45, high=0.75, unit="m", meaning="along y", source="undercounter and mid-size fridges 0.55-0.60 m"
        ),
        "depth": Param(default=0.56, low=0.45, high=0.75, unit="m", meaning="along x, door included", source="0.55-0.60 m"),
        "height": Param(
            default=1.20, low=0.5, high=1.5, unit="m", meaning="overall", source="mid-size fridges 1.2-1.25 m", scales=True
        ),
    },
    colors=("white", "silver", "grey", "black", "red", "blue", "cyan"),
    materials=("appliance",),
    sizes={"small": 0.95, "medium": 1.0, "large": 1.15},
)
