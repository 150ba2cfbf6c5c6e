"""Robots: descriptions over real robot models, and what every one of them can do."""

from embodiedsmith.embodiments.description import Arm, Base, Gripper, Robot, RobotCamera
from embodiedsmith.embodiments.errors import EmbodimentError, InvalidRobot, ModelNotFound, UnknownRobot
from embodiedsmith.embodiments.registry import full_name, get, names
from embodiedsmith.embodiments.validation import validate

__all__ = [
    "Arm", "Base", "EmbodimentError", "Gripper", "InvalidRobot", "ModelNotFound", "Robot", "RobotCamera", "UnknownRobot",
    "full_name", "get", "names", "validate",
]  # fmt: skip
