"""Banana: a bent fruit lying on its side."""

from itertools import pairwise
from math import cos, sin

import numpy as np

from embodiedsmith.assets.asset import Affordances, Asset, Grasp
from embodiedsmith.assets.category import Category, Param, Params
from embodiedsmith.assets.fragment import Fragment
from embodiedsmith.assets.grasps import bar_grasps
from embodiedsmith.assets.tubes import tube
from embodiedsmith.spec import AssetSpec

BEND = 1.1
"""Angle of the arc it follows [rad]."""
SEGMENTS = 4


def build(spec: AssetSpec, params: Params) -> Asset:
    """A tapering tube along an arc to see, capsules to touch; the tips point to +x."""
    fragment = Fragment(spec, color="yellow", material="fruit")
    radius, length = params.number("diameter") / 2, params.number("length")
    arc = length / BEND

    def point(angle: float) -> tuple[float, float, float]:
        return (arc * (cos(BEND / 4) - cos(angle)), arc * sin(angle), radius)

    def thickness(share: float) -> float:
        return radius * min(1.0, 0.35 + 2.6 * (0.5 - abs(share)))

    shares = np.linspace(-0.5, 0.5, 21)
    fragment.mesh("root", tube([point(s * BEND) for s in shares], [thickness(s) for s in shares]), fragment.main)
    joints = np.linspace(-0.42, 0.42, SEGMENTS + 1)
    for start, end in pairwise(joints):
        fragment.capsule(
            "root", point(start * BEND), point(end * BEND), 0.97 * radius, fragment.main, visible=False, density=0.0, rolls=True
        )
    grasps: list[Grasp] = []
    for pitches in ((90.0,), (60.0, 45.0)):
        for share in (0.0, 0.15, -0.15):
            angle = share * BEND
            along = (sin(angle), cos(angle), 0.0)
            grasps += bar_grasps("root", points=[point(angle)], along=along, width=2 * radius, pitches=pitches)
    return fragment.finish(Affordances(grasps=tuple(grasps)))


CATEGORY = Category(
    name="banana",
    title="Banana",
    names={"en": ("banana",), "zh": ("香蕉",)},
    role="object",
    tags=frozenset({"fruit", "food"}),
    build=build,
    params={
        "diameter": Param(
            default=0.036,
            low=0.028,
            high=0.045,
            unit="m",
            meaning="across",
            source="Commission Regulation (EU) 1333/2011: at least 27 mm; common 32-38 mm",
            scales=True,
        ),
        "length": Param(
            default=0.175,
            low=0.12,
            high=0.22,
            unit="m",
            meaning="along its bend",
            source="Commission Regulation (EU) 1333/2011: at least 140 mm",
            scales=True,
        ),
    },
    colors=("yellow", "green", "brown"),
    materials=("fruit",),
    sizes={"small": 0.85, "medium": 1.0, "large": 1.15},
)
