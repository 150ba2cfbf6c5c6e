"""The Universal Robots UR5e arm, ready for a hand at its flange."""

from __future__ import annotations

import math

import mujoco

from embodiedsmith.embodiments import contact, models
from embodiedsmith.embodiments.description import Arm, Cradle, Gripper
from embodiedsmith.embodiments.meshes import simplify_visuals

MODEL = "universal_robots_ur5e"
FLANGE = "attachment_site"
"""Site in the middle of the flange, z out of it."""

_JOINTS = ("shoulder_pan", "shoulder_lift", "elbow", "wrist_1", "wrist_2", "wrist_3")
_STIFFNESS = (8000.0, 8000.0, 4000.0, 1000.0, 1000.0, 1000.0)
"""Servo stiffness [N m/rad]. Menagerie's 2000 and 500 with their damping lag behind by 0.2 s."""
_SETTLING = 0.03
"""Servo damping over stiffness [s]: about critical damping of the arm stretched half out."""
_HOME = (-0.3247, -1.7755, 1.5786, -1.3739, -1.5708, -0.3247)

EXCLUDED = (
    ("mount", "shoulder_link"), ("mount", "upper_arm_link"), ("shoulder_link", "upper_arm_link"),
    ("upper_arm_link", "forearm_link"), ("forearm_link", "wrist_1_link"), ("forearm_link", "wrist_2_link"),
    ("wrist_1_link", "wrist_2_link"), ("wrist_1_link", "wrist_3_link"), ("wrist_2_link", "wrist_3_link"),
)  # fmt: skip
"""Neighbours, whose shapes overlap at their joint by construction."""


def build_arm() -> mujoco.MjSpec:
    """A fresh fragment: the arm on a bare base body, nothing at its flange."""
    folder = models.folder(MODEL)
    spec = models.on_base(folder / "ur5e.xml")
    simplify_visuals(spec, folder / spec.meshdir)
    contact.OPTIONS.apply(spec)
    spec.body("mount").quat = (1.0, 0.0, 0.0, 0.0)  # the model stands turned round: with the shoulder at zero the arm faces +x
    for joint, stiffness in zip(_JOINTS, _STIFFNESS, strict=True):
        actuator = spec.actuator(joint)
        actuator.gainprm = [stiffness] + [0.0] * 9
        actuator.biasprm = [0.0, -stiffness, -_SETTLING * stiffness] + [0.0] * 7
        # Half a turn either way reaches everything; the whole turns that the robot allows only make detours.
        spec.joint(f"{joint}_joint").range = (-math.pi, math.pi)
        actuator.ctrlrange = (-math.pi, math.pi)
    return spec


def arm(*, tcp_site: str, gripper: Gripper, reach: float, cradle: Cradle | None = None) -> Arm:
    """The description of the arm with a hand."""
    return Arm(
        joints=tuple(f"{joint}_joint" for joint in _JOINTS),
        actuators=_JOINTS,
        home=_HOME,
        velocity_limits=(math.pi,) * 6,  # UR5e technical details: 180 degrees/s each
        acceleration_limits=(8.0,) * 6,  # not published; within the 150 and 28 N m of the joints with 5 kg
        tcp_site=tcp_site,
        gripper=gripper,
        reach=reach,
        cradle=cradle,
    )
