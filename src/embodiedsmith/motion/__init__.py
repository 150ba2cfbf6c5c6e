"""How a robot does it: grasps, inverse kinematics, paths, timing, skills, symbolic plans, demonstrations."""

from embodiedsmith.motion.clearance import clearance
from embodiedsmith.motion.demonstrator import complete, demonstrate
from embodiedsmith.motion.errors import MotionError
from embodiedsmith.motion.operators import Step

__all__ = ["MotionError", "Step", "clearance", "complete", "demonstrate"]
