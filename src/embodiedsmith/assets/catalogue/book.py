"""Book: a bound book standing upright, its spine towards -x."""

from embodiedsmith.assets.asset import Affordances, Asset, Support
from embodiedsmith.assets.category import Category, Param, Params
from embodiedsmith.assets.fragment import Finish, Fragment
from embodiedsmith.assets.grasps import box_grasps
from embodiedsmith.spec import AssetSpec, Pose

COVER = 0.0025


def build(spec: AssetSpec, params: Params) -> Asset:
    """Covers and spine round a block of pages, thin along y; one box to touch."""
    fragment = Fragment(spec, color="blue", material="cardboard")
    deep, thick, tall = params.number("width"), params.number("thickness"), params.number("height")
    for side in (-1, 1):
        fragment.box("root", (deep, COVER, tall), (0, side * (thick - COVER) / 2, tall / 2), fragment.main, collides=False)
    inner = thick - 2 * COVER
    fragment.box("root", (COVER, inner, tall), ((COVER - deep) / 2, 0, tall / 2), fragment.main, collides=False)
    pages, inset = Finish.of("paper"), 0.003
    block = (deep - COVER - inset, inner, tall - 2 * inset)
    fragment.box("root", block, ((COVER - inset) / 2, 0, tall / 2), pages, collides=False)
    fragment.box("root", (deep, thick, tall), (0, 0, tall / 2), fragment.main, visible=False, density=0.0)
    size = (deep, thick, tall)
    grasps = (
        *box_grasps("root", size=size, pitches=(90, 60, 45, 30)),
        *box_grasps("root", size=size, pitches=(0,), heights=(0.55 * tall, 0.4 * tall, 0.7 * tall)),
    )
    top = Support(name="top", body="root", pose=Pose(position=(0.0, 0.0, tall)), size=(deep, thick))
    return fragment.finish(Affordances(supports=(top,), grasps=grasps))


CATEGORY = Category(
    name="book",
    title="Book",
    names={"en": ("book", "novel", "notebook", "textbook"), "zh": ("书", "书本", "本子", "笔记本", "课本")},
    role="object",
    tags=frozenset({"stationery"}),
    build=build,
    params={
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
