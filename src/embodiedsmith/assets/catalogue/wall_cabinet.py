"""Wall cabinet: a cupboard that hangs on a wall."""

from embodiedsmith.assets.asset import Affordances, Asset
from embodiedsmith.assets.cabinetry import Carcass, add_carcass, add_door, compartment, front_area, top_of
from embodiedsmith.assets.category import Category, Param, Params
from embodiedsmith.assets.fragment import Finish, Fragment
from embodiedsmith.spec import AssetSpec


def build(spec: AssetSpec, params: Params) -> Asset:
    """One compartment a door; with two doors they open to both sides."""
    fragment = Fragment(spec, color="white", material="chipboard")
    doors = params.count("doors")
    carcass = Carcass(width=params.number("width"), depth=params.number("depth"), height=params.number("height"), board=0.016)
    grid = carcass.column([1.0], [doors])
    add_carcass(fragment, carcass, grid, fragment.main)
    names = ("door",) if doors == 1 else ("door_left", "door_right")
    cavities, boards, handles = [], [], []
    for cell, name in zip(grid[0], names, strict=True):
        area = front_area(carcass, [cell])
        # Handles low, within reach from below.
        handles.append(
            add_door(
                fragment,
                carcass,
                area,
                name,
                hinge="right" if name == "door_right" else "left",
                finish=fragment.main,
                metal=Finish.of("steel"),
                handle_height=area[1][0] + min(0.13, 0.5 * carcass.height),
            )
        )
        cavity, board = compartment(carcass, cell, name, name)
        cavities.append(cavity)
        boards.append(board)
    return fragment.finish(
        Affordances(supports=(*boards, top_of(carcass)), cavities=tuple(cavities), handles=tuple(handles)), fixed=True
    )


CATEGORY = Category(
    name="wall_cabinet",
    title="Wall cabinet",
    names={
        "en": ("wall cabinet", "upper cabinet", "hanging cabinet", "wall cupboard", "overhead cabinet"),
        "zh": ("吊柜", "壁柜", "上柜", "墙柜"),
    },
    role="furniture",
    tags=frozenset({"storage"}),
    build=build,
    params={
        "doors": Param(default=2, low=1, high=2, meaning="number of doors"),
        "width": Param(
            default=0.70, low=0.3, high=1.0, unit="m", meaning="along y", source="EN 1116: multiples of 0.1 m", scales=True
        ),
        "depth": Param(
            default=0.35, low=0.25, high=0.5, unit="m", meaning="along x, fronts included", source="EN 1116: 320-370 mm"
        ),
        "height": Param(default=0.45, low=0.3, high=1.0, unit="m", meaning="overall", source="short wall units 0.4-0.6 m"),
    },
    colors=("white", "grey", "beige", "brown", "black", "blue", "green", "red"),
    materials=("chipboard", "wood"),
)
