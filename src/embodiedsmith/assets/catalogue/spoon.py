"""Spoon: a wooden spoon lying on its back, its bowl towards +x."""

import numpy as np
import trimesh

from embodiedsmith.assets.asset import Affordances, Asset
from embodiedsmith.assets.category import Category, Param, Params
from embodiedsmith.assets.fragment import Fragment
from embodiedsmith.assets.grasps import bar_grasps
from embodiedsmith.spec import AssetSpec

HANDLE = (0.013, 0.016)
"""Width and height of the handle [m]: high enough for fingertips that keep clear of the table."""
HOLD = 0.012
"""Height at which it is held [m]."""
BOWL = (0.030, 0.021, 0.008)
"""Half extents of the bowl [m]."""


def build(spec: AssetSpec, params: Params) -> Asset:
    """A bar and a flat rounded bowl."""
    fragment = Fragment(spec, color="beige", material="wood")
    length = params.number("length")
    handle = length - 1.9 * BOWL[0]
    middle = -length / 2 + handle / 2
    fragment.box("root", (handle, *HANDLE), (middle, 0, HANDLE[1] / 2), fragment.main)
    bowl = trimesh.creation.icosphere(subdivisions=2)
    bowl.apply_scale(BOWL)
    center = np.array([length / 2 - BOWL[0], 0.0, BOWL[2]])
    bowl.apply_translation(center)
    fragment.mesh("root", bowl, fragment.main)
    fragment.hull("root", np.asarray(bowl.vertices, dtype=np.float64)[::3], fragment.main)
    points = [(middle + share * handle, 0.0, HOLD) for share in (0.25, 0.05, -0.15, -0.35)]
    grasps = tuple(bar_grasps("root", points=points, along=(1, 0, 0), width=HANDLE[0], pitches=(90,)))
    return fragment.finish(Affordances(grasps=grasps))


CATEGORY = Category(
    name="spoon",
    title="Spoon",
    names={"en": ("spoon", "wooden spoon"), "zh": ("勺子", "汤匙", "勺", "调羹", "木勺")},
    role="object",
    tags=frozenset({"cutlery", "tableware"}),
    build=build,
    params={
        "length": Param(
            default=0.20, low=0.14, high=0.32, unit="m", meaning="overall", source="wooden spoons 200-300 mm", scales=True
        ),
    },
    colors=("beige", "brown", "red", "blue", "green", "black", "white", "yellow", "orange", "grey"),
    materials=("wood", "plastic"),
    sizes={"small": 0.85, "medium": 1.0, "large": 1.2},
)
