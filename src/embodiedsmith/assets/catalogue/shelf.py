"""Shelf: an open shelf that stands on a table or on the floor."""

from embodiedsmith.assets.asset import Affordances, Asset
from embodiedsmith.assets.cabinetry import Carcass, add_carcass, compartment, positions, top_of
from embodiedsmith.assets.category import Category, Param, Params
from embodiedsmith.assets.fragment import Fragment
from embodiedsmith.spec import AssetSpec


def build(spec: AssetSpec, params: Params) -> Asset:
    """Boards one above the other between two sides, closed at the back, open at the front."""
    fragment = Fragment(spec, color="beige", material="wood")
    count, board = params.count("boards"), 0.016
    height = count * (params.number("headroom") + board) + board
    carcass = Carcass(width=params.number("width"), depth=params.number("depth"), height=height, board=board, front=0.0)
    grid = carcass.column([1.0] * count, [1] * count)
    add_carcass(fragment, carcass, grid, fragment.main)
    names = ("board_bottom",) if count == 1 else positions("board", count)
    boards = [compartment(carcass, row[0], name, None) for row, name in zip(grid, names, strict=True)]
    # From the lowest board up: the first is the one meant when none is named, and it is the easiest to reach on a table.
    boards.reverse()
    return fragment.finish(
        Affordances(
            supports=(*(support for _, support in boards), top_of(carcass)), cavities=tuple(cavity for cavity, _ in boards)
        ),
        fixed=True,
    )


CATEGORY = Category(
    name="shelf",
    title="Shelf",
    names={"en": ("shelf", "bookshelf", "bookcase", "rack", "shelves"), "zh": ("架子", "书架", "置物架", "货架", "搁架")},
    role="furniture",
    tags=frozenset({"storage"}),
    build=build,
    params={
        "boards": Param(default=2, low=1, high=5, meaning="number of compartments"),
        "width": Param(
            default=0.60, low=0.35, high=1.2, unit="m", meaning="along y", source="desk shelves 0.4-0.8 m", scales=True
        ),
        "depth": Param(default=0.26, low=0.18, high=0.5, unit="m", meaning="along x", source="bookcases 0.24-0.30 m"),
        "headroom": Param(
            default=0.28, low=0.18, high=0.5, unit="m", meaning="free height over each board", source="bookcases 0.25-0.35 m"
        ),
    },
    colors=("beige", "brown", "white", "grey", "black", "blue", "green", "red"),
    materials=("wood", "chipboard"),
)
