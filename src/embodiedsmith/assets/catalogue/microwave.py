"""Microwave oven: a box with a cavity behind a door hung on the left, and a panel on the right."""

from embodiedsmith.assets.asset import Affordances, Asset
from embodiedsmith.assets.cabinetry import Carcass, Cell, add_door, compartment, top_of
from embodiedsmith.assets.category import Category, Param, Params
from embodiedsmith.assets.fragment import Finish, Fragment
from embodiedsmith.spec import AssetSpec

SIDE, FLOOR, ROOF, BACK = 0.03, 0.04, 0.04, 0.05
"""Thickness of the walls round the cavity [m]: sheet metal with the works behind."""
PANEL = 0.115
"""Width of the control panel [m]."""


def build(spec: AssetSpec, params: Params) -> Asset:
    """Walls of boxes round the cavity; the part is `door`."""
    fragment = Fragment(spec, color="grey", material="appliance")
    c = Carcass(
        width=params.number("width"),
        depth=params.number("depth"),
        height=params.number("height"),
        board=SIDE,
        front=0.025,
        back=BACK,
    )
    cell = Cell(y=(-c.width / 2 + SIDE, c.width / 2 - PANEL - 0.015), z=(FLOOR, c.height - ROOF))
    back, face = c.inside
    shell, dark = fragment.main, Finish.of("plastic", "black")
    full, mid = c.face + c.depth / 2, (c.face - c.depth / 2) / 2
    fragment.box("root", (full, c.width, FLOOR), (mid, 0, FLOOR / 2), shell)
    fragment.box("root", (full, c.width, ROOF), (mid, 0, c.height - ROOF / 2), shell)
    tall, z = cell.height, cell.middle[1]
    fragment.box("root", (full, SIDE, tall), (mid, -(c.width - SIDE) / 2, z), shell)
    works = c.width / 2 - cell.y[1]
    fragment.box("root", (full, works, tall), (mid, c.width / 2 - works / 2, z), shell)
    fragment.box("root", (BACK, cell.width, tall), (back - BACK / 2, cell.middle[0], z), shell)
    panel = PANEL - 0.003
    fragment.box("root", (c.front, panel, c.height), (face + c.front / 2, (c.width - panel) / 2, c.height / 2), shell)
    _controls(fragment, x=c.depth / 2, y=(c.width - panel) / 2, height=c.height, dark=dark)

    area = ((-c.width / 2, c.width / 2 - PANEL), (0.004, c.height))
    handle = add_door(
        fragment, c, area, "door", hinge="left", finish=shell, metal=Finish.of("steel"), handle_length=0.16, window=dark
    )
    cavity, floor = compartment(c, cell, "door", "door")
    return fragment.finish(Affordances(supports=(top_of(c), floor), cavities=(cavity,), handles=(handle,)), fixed=True)


def _controls(fragment: Fragment, *, x: float, y: float, height: float, dark: Finish) -> None:
    """A display and two knobs to look at."""
    fragment.box("root", (0.001, 0.07, 0.035), (x + 0.0005, y, 0.80 * height), dark, collides=False)
    for share in (0.55, 0.28):
        fragment.cylinder("root", (x, y, share * height), (x + 0.006, y, share * height), 0.02, dark, collides=False)


CATEGORY = Category(
    name="microwave",
    title="Microwave oven",
    names={"en": ("microwave", "microwave oven"), "zh": ("微波炉",)},
    role="furniture",
    tags=frozenset({"appliance"}),
    build=build,
    params={
        "width": Param(default=0.50, low=0.44, high=0.60, unit="m", meaning="along y", source="20-23 l ovens 0.45-0.50 m"),
        "depth": Param(
            default=0.38, low=0.34, high=0.50, unit="m", meaning="along x, door included", source="20-23 l ovens 0.33-0.40 m"
        ),
        "height": Param(
            default=0.33, low=0.26, high=0.42, unit="m", meaning="overall", source="25-32 l ovens 0.29-0.35 m", scales=True
        ),
    },
    colors=("grey", "white", "black", "silver", "red"),
    materials=("appliance",),
    sizes={"small": 0.9, "medium": 1.0, "large": 1.15},
)
