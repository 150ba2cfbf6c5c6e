"""Lemon: a citrus fruit lying along x."""

from math import cos, pi, sin

import numpy as np
import trimesh

from embodiedsmith.assets.asset import Affordances, Asset
from embodiedsmith.assets.category import Category, Param, Params
from embodiedsmith.assets.fragment import Fragment
from embodiedsmith.assets.grasps import bar_grasps
from embodiedsmith.spec import AssetSpec


def build(spec: AssetSpec, params: Params) -> Asset:
    """A spindle with two tips to see, a capsule to touch."""
    fragment = Fragment(spec, color="yellow", material="citrus")
    radius, length = params.number("diameter") / 2, params.number("length")
    half = length / 2
    outline = [(0.0, -half)]
    for angle in np.linspace(0.12, pi - 0.12, 15):
        tip = 0.10 * half * np.sign(-cos(angle)) * abs(cos(angle)) ** 6
        outline.append((radius * sin(angle), -0.9 * half * cos(angle) + tip))
    outline.append((0.0, half))
    shape = trimesh.creation.revolve(np.asarray(outline), sections=32)
    lying = np.array([[0.0, 0, 1, 0], [0, 1, 0, 0], [-1, 0, 0, radius], [0, 0, 0, 1]])
    shape.apply_transform(lying)
    fragment.mesh("root", shape, fragment.main)
    straight = half - radius
    start, end = (-straight, 0, radius), (straight, 0, radius)
    fragment.capsule("root", start, end, radius, fragment.main, visible=False, density=0.0, rolls=True)
    grasps = bar_grasps("root", points=[(0, 0, radius)], along=(1, 0, 0), width=2 * radius, pitches=(90, 75, 60, 45))
    return fragment.finish(Affordances(grasps=tuple(grasps)))


CATEGORY = Category(
    name="lemon",
    title="Lemon",
    names={"en": ("lemon",), "zh": ("柠檬",)},
    role="object",
    tags=frozenset({"fruit", "food"}),
    build=build,
    params={
        "diameter": Param(
            default=0.054, low=0.04, high=0.068, unit="m", meaning="across", source="UNECE FFV-14: lemons 45-90 mm", scales=True
        ),
        "length": Param(
            default=0.078, low=0.06, high=0.10, unit="m", meaning="tip to tip", source="1.3-1.5 times the diameter", scales=True
        ),
    },
    colors=("yellow", "green"),
    materials=("citrus",),
    sizes={"small": 0.85, "medium": 1.0, "large": 1.12},
)
