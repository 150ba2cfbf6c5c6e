"""Book: a bound book standing upright, or lying on its back cover; its spine towards -x."""

from embodiedsmith.assets.asset import Affordances, Asset, Support
from embodiedsmith.assets.category import Category, Param, Params
from embodiedsmith.assets.fragment import Finish, Fragment
from embodiedsmith.assets.grasps import box_grasps
from embodiedsmith.spec import AssetSpec, Pose

COVER = 0.0025


def build(spec: AssetSpec, params: Params) -> Asset:
    """Covers and spine round a block of pages, thin along y (lying: along z); one box to touch.

    A book that lies cannot be taken: there is no way under it for a finger.
    """
    fragment = Fragment(spec, color="blue", material="cardboard")
    deep, thick, tall = params.number("width"), params.number("thickness"), params.number("height")
    lying = params.flag("lying")

    def solid(x: float, y: float, z: float, at: tuple[float, float], finish: Finish) -> None:
        """A part of the upright book, `at` x, y and half way up, laid down with the rest."""
        size, pos = (x, y, z), (at[0], at[1], tall / 2)
        if lying:
            size, pos = (x, z, y), (at[0], 0.0, thick / 2 + at[1])
        fragment.box("root", size, pos, finish, collides=False)

    for side in (-1, 1):
        solid(deep, COVER, tall, (0.0, side * (thick - COVER) / 2), fragment.main)
    inner = thick - 2 * COVER
    solid(COVER, inner, tall, ((COVER - deep) / 2, 0.0), fragment.main)
    inset = 0.003
    solid(deep - COVER - inset, inner, tall - 2 * inset, ((COVER - inset) / 2, 0.0), Finish.of("paper"))
    size = (deep, tall, thick) if lying else (deep, thick, tall)
    fragment.box("root", size, (0, 0, size[2] / 2), fragment.main, visible=False, density=0.0)
    top = Support(name="top", body="root", pose=Pose(position=(0.0, 0.0, size[2])), size=(size[0], size[1]))
    if lying:
        return fragment.finish(Affordances(supports=(top,)))
    grasps = (
        *box_grasps("root", size=size, pitches=(90, 60, 45, 30)),
        *box_grasps("root", size=size, pitches=(0,), heights=(0.55 * tall, 0.4 * tall, 0.7 * tall)),
    )
    return fragment.finish(Affordances(supports=(top,), grasps=grasps))


CATEGORY = Category(
    name="book",
    title="Book",
    names={"en": ("book", "novel", "notebook", "textbook"), "zh": ("书", "书本", "本子", "笔记本", "课本")},
    role="object",
    tags=frozenset({"stationery"}),
    build=build,
    params={
        "lying": Param(default=False, meaning="whether it lies on its back cover"),
        "width": Param(
            default=0.110,
            low=0.08,
            high=0.16,
            unit="m",
            meaning="from spine to edge, along x",
            source="pocket format 110 x 178 mm",
            scales=True,
        ),
        "thickness": Param(default=0.032, low=0.015, high=0.06, unit="m", meaning="along y", source="400 pages of 0.08 mm"),
        "height": Param(
            default=0.165, low=0.12, high=0.25, unit="m", meaning="along z", source="pocket format 165-180 mm", scales=True
        ),
    },
    colors=("blue", "red", "green", "yellow", "orange", "purple", "pink", "black", "white", "brown", "grey", "cyan"),
    materials=("cardboard",),
    sizes={"small": 0.88, "medium": 1.0, "large": 1.08},
)
