"""Base cabinet: a kitchen floor unit with drawers and doors in any arrangement."""

import re

from embodiedsmith.assets.asset import Affordances, Asset, Cavity, Handle, Support
from embodiedsmith.assets.cabinetry import (
    Carcass,
    Cell,
    Side,
    add_carcass,
    add_door,
    add_drawer,
    compartment,
    front_area,
    positions,
    top_of,
)
from embodiedsmith.assets.category import Category, InvalidAsset, Param, Params
from embodiedsmith.assets.fragment import Finish, Fragment
from embodiedsmith.spec import AssetSpec

KINDS = ("drawer", "door_left", "door_right")
ROW = re.compile(rf"({'|'.join(KINDS)})(\|({'|'.join(KINDS)}))*")
DOOR_ROWS = 2.2
"""How much taller a row with a door is than a row of drawers."""


def build(spec: AssetSpec, params: Params) -> Asset:
    """A carcass with the cells of `layout`, each behind a drawer front or a door, under a worktop."""
    layout = [row.split("|") for row in params.words("layout")]
    faults = _layout_faults(params, layout)
    if faults:
        raise InvalidAsset(spec.category, faults)
    fragment = Fragment(spec, color="white", material="chipboard")
    carcass = _carcass(params)
    grid = carcass.column([_row_height(row) for row in layout], [len(row) for row in layout])
    add_carcass(fragment, carcass, grid, fragment.main)

    metal, box = Finish.of("steel"), Finish.of("chipboard", "beige")
    cavities: list[Cavity] = []
    handles: list[Handle] = []
    boards: list[Support] = []
    for cell, kind, name in _named_cells(grid, layout):
        if kind == "drawer":
            cavity, handle = add_drawer(fragment, carcass, cell, name, finish=fragment.main, box=box, metal=metal)
        else:
            hinge: Side = "left" if kind == "door_left" else "right"
            area = front_area(carcass, [cell])
            # Near the upper edge, as on floor units, where a hand reaches it from above too.
            handle = add_door(
                fragment,
                carcass,
                area,
                name,
                hinge=hinge,
                finish=fragment.main,
                metal=metal,
                handle_height=area[1][1] - min(0.14, 0.5 * (area[1][1] - area[1][0])),
            )
            cavity, board = compartment(carcass, cell, name, name)
            boards.append(board)
        cavities.append(cavity)
        handles.append(handle)
    return fragment.finish(
        Affordances(supports=(top_of(carcass), *boards), cavities=tuple(cavities), handles=tuple(handles)), fixed=True
    )


def _carcass(params: Params) -> Carcass:
    return Carcass(
        width=params.number("width"), depth=params.number("depth"), height=params.number("height"), board=0.018, plinth=0.10
    )


def _row_height(row: list[str]) -> float:
    return 1.0 if all(kind == "drawer" for kind in row) else DOOR_ROWS


def _layout_faults(params: Params, layout: list[list[str]]) -> list[str]:
    bad = [word for word in params.words("layout") if not ROW.fullmatch(word)]
    if bad:
        return [
            f"parameter 'layout' has rows {bad}; a row is one of {list(KINDS)} or several joined by '|', such as 'drawer|drawer'"
        ]
    grid = _carcass(params).column([_row_height(row) for row in layout], [len(row) for row in layout])
    faults = []
    for row, words in zip(grid, layout, strict=True):
        if row[0].height < 0.08 or row[0].width < 0.20:
            size = f"{row[0].width:.2f} m wide and {row[0].height:.2f} m high"
            faults.append(
                f"parameter 'layout': the cells of row '{'|'.join(words)}' are {size}; each needs 0.20 x 0.08 m: use fewer"
            )
    return faults


def _named_cells(grid: list[list[Cell]], layout: list[list[str]]) -> list[tuple[Cell, str, str]]:
    """Cells with their kind and part name: drawers by height when one above the other; two doors side by side by side."""
    cells = [(cell, kind) for row, kinds in zip(grid, layout, strict=True) for cell, kind in zip(row, kinds, strict=True)]
    drawers = [index for index, (_, kind) in enumerate(cells) if kind == "drawer"]
    doors = [index for index, (_, kind) in enumerate(cells) if kind != "drawer"]
    stacked = len({cells[index][0].z for index in drawers}) == len(drawers)
    drawer_names = positions("drawer", len(drawers)) if stacked else [f"drawer_{index}" for index in range(len(drawers))]
    side_by_side = len(doors) == 2 and cells[doors[0]][0].z == cells[doors[1]][0].z
    door_names = ("door_left", "door_right") if side_by_side else positions("door", len(doors))
    names = dict(zip(drawers, drawer_names, strict=True)) | dict(zip(doors, door_names, strict=True))
    return [(cell, kind, names[index]) for index, (cell, kind) in enumerate(cells)]


CATEGORY = Category(
    name="base_cabinet",
    title="Base cabinet",
    names={
        "en": ("base cabinet", "cabinet", "kitchen cabinet", "cupboard", "floor cabinet"),
        "zh": ("柜子", "地柜", "橱柜", "厨柜", "下柜", "柜"),
    },
    role="furniture",
    tags=frozenset({"storage"}),
    build=build,
    params={
        "layout": Param(
            default=("drawer", "door_left|door_right"),
            meaning="rows from the top, each 'drawer', 'door_left' (hinges left), 'door_right' or several joined by '|'",
        ),
        "width": Param(
            default=0.60,
            low=0.3,
            high=1.2,
            unit="m",
            meaning="along y",
            source="EN 1116: multiples of 0.1 m, 0.6 common",
            scales=True,
        ),
        "depth": Param(
            default=0.56, low=0.35, high=0.7, unit="m", meaning="along x, fronts included", source="EN 1116: 560-600 mm"
        ),
        "height": Param(default=0.86, low=0.5, high=1.0, unit="m", meaning="overall", source="EN 1116: 850-900 mm"),
    },
    colors=("white", "grey", "beige", "brown", "black", "blue", "green", "red"),
    materials=("chipboard", "wood"),
)
