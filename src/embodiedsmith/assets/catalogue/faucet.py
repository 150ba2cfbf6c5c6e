"""Tap: a column with a spout over the front and a lever on top that swings about the column's axis."""

import math

from embodiedsmith.assets.asset import Affordances, Asset, Handle
from embodiedsmith.assets.category import Category, Param, Params
from embodiedsmith.assets.fragment import Finish, Fragment
from embodiedsmith.assets.lathe import add_hollow
from embodiedsmith.spec import AssetSpec

FOOT, FOOT_HEIGHT = 0.035, 0.012
"""Radius and height of the flange that it is bolted down by [m]."""
COLUMN, SPOUT = 0.019, 0.012
"""Radii of the column and of the spout [m]."""
WALL = 0.003
"""Thickness of the column's wall [m]; spout, lever and foot are cast solid."""
LEVER, TIP = 0.008, 0.011
"""Radii of the lever and of the ball at its end [m]."""
LEVER_LENGTH = 0.135
CLEAR = 0.040
"""Free height between the column's cap and the lever [m]: fingertips reach past a bar."""
HELD = 0.082
"""How far from the column's axis the lever is held [m]."""
TRAVEL = math.radians(115.0)
"""From shut to fully open: lever taps turn by 90 to 120 degrees."""


def build(spec: AssetSpec, params: Params) -> Asset:
    """A hollow column on a flange, a spout of capsules; the part is `lever`, which points to the left when shut."""
    fragment = Fragment(spec, color="silver", material="steel")
    metal, height, reach = fragment.main, params.number("height"), params.number("reach")
    fragment.cylinder("root", (0, 0, 0), (0, 0, FOOT_HEIGHT), FOOT, metal)
    outline = ((0.0, FOOT_HEIGHT), (COLUMN, FOOT_HEIGHT), (COLUMN, height), (0.0, height))
    add_hollow(fragment, "root", outline, WALL, metal)
    fragment.cylinder("root", (0, 0, FOOT_HEIGHT), (0, 0, height), COLUMN, metal, visible=False, density=0.0)
    low, bend, end = 0.55 * height, (reach - 0.03, 0.0, 0.72 * height), (reach, 0.0, 0.60 * height)
    fragment.capsule("root", (0, 0, low), bend, SPOUT, metal)
    fragment.capsule("root", bend, end, SPOUT, metal)
    body = fragment.body("lever", (0.0, 0.0, height))
    up = CLEAR + LEVER
    fragment.cylinder(body, (0, 0, 0.001), (0, 0, up + LEVER), 0.7 * COLUMN, metal)
    fragment.capsule(body, (0, 0, up), (0, -LEVER_LENGTH, up), LEVER, metal)
    fragment.sphere(body, (0, -LEVER_LENGTH, up), TIP, Finish.of("plastic", "black"))
    fragment.joint(body, "hinge", axis=(0.0, 0.0, 1.0), travel=TRAVEL, damping=0.05, friction=0.10)
    handle = Handle(
        name=body, body=body, joint=body, center=(0.0, -HELD, up), axis=(0.0, 1.0, 0.0), outward=(0.0, 0.0, 1.0),
        radius=LEVER, length=0.10, push=(0.0, -HELD, up + LEVER),
    )  # fmt: skip
    return fragment.finish(Affordances(handles=(handle,)), fixed=True)


CATEGORY = Category(
    name="faucet",
    title="Tap with a lever",
    names={"en": ("faucet", "tap", "water tap", "lever tap"), "zh": ("水龙头", "龙头")},
    role="furniture",
    build=build,
    params={
        "height": Param(
            default=0.17, low=0.12, high=0.26, unit="m", meaning="of the column", source="basin mixers 0.15-0.20 m", scales=True
        ),
        "reach": Param(default=0.14, low=0.10, high=0.22, unit="m", meaning="of the spout", source="basin mixers 0.10-0.16 m"),
    },
    colors=("silver", "black", "white"),
    materials=("steel",),
)
