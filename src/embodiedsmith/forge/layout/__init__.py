"""Where everything stands: items, robot, cameras and lights of a draft get their poses."""

from embodiedsmith.forge.layout.errors import LayoutError
from embodiedsmith.forge.layout.solver import base_poses, layout

__all__ = ["LayoutError", "base_poses", "layout"]
