"""Stain: a film of something spilt and half dried on a surface, in cells that are wiped away one by one."""

from dataclasses import replace

from embodiedsmith.assets.asset import Affordances, Asset, Matter
from embodiedsmith.assets.category import Category, Param, Params
from embodiedsmith.assets.fragment import Fragment
from embodiedsmith.spec import AssetSpec

CELL = 0.01
"""[m] Side of a cell."""
FILM = 0.0006
"""[m] Thickness of the film: what a spoonful of sauce spreads to."""


def build(spec: AssetSpec, params: Params) -> Asset:
    """An oval of square cells that nothing touches: what rubs over the surface that it is on wipes it; see `world.marks`."""
    fragment = Fragment(spec, color="brown", material="liquid")
    length, width = params.number("length"), params.number("width")
    columns, rows = round(length / CELL), round(width / CELL)
    for i in range(columns):
        for j in range(rows):
            x, y = (i + 0.5 - columns / 2) * CELL, (j + 0.5 - rows / 2) * CELL
            if (2 * x / length) ** 2 + (2 * y / width) ** 2 <= 1.0:
                fragment.box("root", (CELL, CELL, FILM), (x, y, FILM / 2), fragment.main, collides=False)
    return replace(fragment.finish(Affordances(), fixed=True), matter=Matter(kind="marks", spacing=CELL))


CATEGORY = Category(
    name="stain",
    title="Stain",
    names={
        "en": ("stain", "spot", "smudge", "smear", "spill", "dirt", "dirty spot", "mess"),
        "zh": ("污渍", "污迹", "污点", "脏东西", "脏痕", "油渍"),
    },
    role="furniture",
    build=build,
    params={
        "length": Param(
            default=0.12, low=0.06, high=0.20, unit="m", meaning="along x", source="a spoonful spread thin", scales=True
        ),
        "width": Param(
            default=0.10, low=0.05, high=0.16, unit="m", meaning="along y", source="a spoonful spread thin", scales=True
        ),
    },
    colors=("brown", "red", "green", "orange", "black"),
    materials=("liquid",),
)
