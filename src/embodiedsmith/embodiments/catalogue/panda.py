"""Franka Emika Panda bolted to a fixed mount."""

from __future__ import annotations

from embodiedsmith.embodiments import franka
from embodiedsmith.embodiments.description import Base, Robot, RobotCamera

ROBOT = Robot(
    name="panda",
    title="Franka Emika Panda on a fixed mount",
    licence=franka.LICENCE,
    source=franka.SOURCE,
    models=(franka.MODEL,),
    build=franka.arm_on_base,
    base=Base(kind="fixed", radius=0.2, footprint=(0.3, 0.25)),
    arms=(franka.ARM,),
    cameras=(RobotCamera(name="wrist", body="hand"),),
    excluded_collisions=franka.EXCLUDED,
)
