"""Things: parametric generators, each a MuJoCo fragment with true mass properties and affordances."""

from embodiedsmith.assets.asset import Affordances, Asset, Cavity, Grasp, Handle, JointInfo, Matter, Rim, Support
from embodiedsmith.assets.category import TAGS, Category, InvalidAsset, Param, Params, UnknownCategory
from embodiedsmith.assets.colors import COLORS, Color, similar
from embodiedsmith.assets.gallery import gallery, picture
from embodiedsmith.assets.materials import MATERIALS, Material
from embodiedsmith.assets.registry import build, categories, category

__all__ = [
    "COLORS", "MATERIALS", "TAGS", "Affordances", "Asset", "Category", "Cavity", "Color", "Grasp", "Handle", "InvalidAsset",
    "JointInfo", "Material", "Matter", "Param", "Params", "Rim", "Support", "UnknownCategory", "build", "categories", "category",
    "gallery", "picture", "similar",
]  # fmt: skip
