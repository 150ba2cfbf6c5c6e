"""Control box with a round knob on top that turns about its own axis, as on amplifiers, stoves and valves."""

import math

from embodiedsmith.assets.asset import Affordances, Asset, Handle
from embodiedsmith.assets.category import Category, Param, Params
from embodiedsmith.assets.fragment import Finish, Fragment
from embodiedsmith.spec import AssetSpec

TRAVEL = math.radians(150.0)
"""From off to full: stove knobs turn by 90 to 270 degrees."""
GRIP = 0.024
"""Height above the panel at which the knob is held [m]: fingertips reach 17 mm below that."""


def build(spec: AssetSpec, params: Params) -> Asset:
    """A box of sheet metal and a cylinder with a pointer on it; the part is `knob`."""
    fragment = Fragment(spec, color="grey", material="appliance")
    width, depth, height = (params.number(name) for name in ("width", "depth", "height"))
    radius, tall = params.number("diameter") / 2, params.number("knob_height")
    dark, light = Finish.of("plastic", "black"), Finish.of("plastic", "white")
    fragment.box("root", (depth, width, height), (0, 0, height / 2), fragment.main)
    body = fragment.body("knob", (0.0, 0.0, height))
    fragment.cylinder(body, (0, 0, 0.001), (0, 0, tall), radius, dark)
    fragment.box(body, (0.004, 0.8 * radius, 0.001), (0, -0.55 * radius, tall), light, collides=False)
    fragment.joint(body, "hinge", axis=(0.0, 0.0, 1.0), travel=TRAVEL, damping=0.02, friction=0.08)
    handle = Handle(
        name=body, body=body, joint=body, center=(0.0, 0.0, min(GRIP, tall)), axis=(1.0, 0.0, 0.0), outward=(0.0, 0.0, 1.0),
        radius=radius, length=2 * radius, push=(0.0, 0.0, tall), knob=True,
    )  # fmt: skip
    return fragment.finish(Affordances(handles=(handle,)), fixed=True)


CATEGORY = Category(
    name="knob",
    title="Control box with a knob",
    names={"en": ("knob", "dial", "control knob"), "zh": ("旋钮",)},
    role="furniture",
    build=build,
    params={
        "width": Param(default=0.16, low=0.10, high=0.30, unit="m", meaning="of the box, along y", source="control boxes"),
        "depth": Param(default=0.16, low=0.10, high=0.30, unit="m", meaning="of the box, along x", source="control boxes"),
        "height": Param(default=0.08, low=0.04, high=0.20, unit="m", meaning="of the box", source="control boxes"),
        "diameter": Param(
            default=0.048, low=0.036, high=0.060, unit="m", meaning="of the knob", source="stove knobs 40-50 mm", scales=True
        ),
        "knob_height": Param(
            default=0.032, low=0.028, high=0.050, unit="m", meaning="of the knob", source="stove knobs 25-40 mm"
        ),
    },
    colors=("grey", "white", "black", "silver", "red", "blue"),
    materials=("appliance",),
)
