"""Water: a liquid that begins inside something."""

import mujoco

from embodiedsmith.assets.asset import Affordances, Asset, Matter
from embodiedsmith.assets.category import Category, Param, Params
from embodiedsmith.assets.colors import COLORS
from embodiedsmith.spec import AssetSpec

DENSITY = 1000.0  # [kg/m3]


def build(spec: AssetSpec, params: Params) -> Asset:
    """A root without shape: what there is of it are the particles that a world fills into what carries it."""
    mjspec = mujoco.MjSpec()
    mjspec.modelname = spec.category
    mjspec.worldbody.add_body(name="root")
    mjspec.add_material(name="liquid", rgba=COLORS[spec.color or "blue"].rgba)
    volume = params.number("volume") / 1000  # [m3]
    half = 0.25 * volume ** (1 / 3)  # of a cube of an eighth of it: liquid fits wherever its volume does
    spacing = (volume / params.count("particles")) ** (1 / 3)
    return Asset(
        spec=spec,
        mjspec=mjspec,
        mass=DENSITY * volume,
        extents=((-half, -half, 0.0), (half, half, 2 * half)),
        affordances=Affordances(),
        matter=Matter(kind="liquid", spacing=spacing),
    )


CATEGORY = Category(
    name="water",
    title="Water",
    names={"en": ("water",), "zh": ("水",)},
    role="object",
    tags=frozenset({"food"}),
    build=build,
    params={
        "volume": Param(default=0.15, low=0.03, high=1.0, unit="l", meaning="volume", source="a small glass"),
        "particles": Param(
            default=1000, low=200, high=6000, meaning="how finely it is simulated", source="points 5.3 mm apart at 0.15 l"
        ),
    },
    colors=("blue",),
    materials=("liquid",),
)
