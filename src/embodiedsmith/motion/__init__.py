"""How a robot does it: grasps, inverse kinematics, paths, timing, skills, symbolic plans, demonstrations."""

from embodiedsmith.motion.clearance import clearance
from embodiedsmith.motion.demonstrator import complete, demonstrate
from embodiedsmith.motion.errors import MotionError
from embodiedsmith.motion.operators import Step
from embodiedsmith.motion.pushing import PUSHED, Pushes, Pushing

__all__ = ["PUSHED", "MotionError", "Pushes", "Pushing", "Step", "clearance", "complete", "demonstrate"]
