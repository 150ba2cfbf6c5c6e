"""ALOHA: two ViperX 300 arms side by side at the edge of a table, each with its parallel gripper and wrist camera."""

from __future__ import annotations

import math
from typing import Any

import mujoco

from embodiedsmith.embodiments import contact, models
from embodiedsmith.embodiments.description import Arm, Base, Gripper, Robot, RobotCamera
from embodiedsmith.embodiments.meshes import simplify_visuals

Point = tuple[float, float, float]

SIDES = ("left", "right")
_CAMERAS = {"left": "wrist", "right": "wrist_right"}
"""The first arm's camera is called as on every other robot."""
_APART = 0.30
"""Each arm stands this far from the robot's middle [m]: both reach what lies between them, neither all of a table."""
_FORWARD = 0.048  # [m] of the arms' first axis before the middle of the mount, which their base plates then fill

_JOINTS = ("waist", "shoulder", "elbow", "forearm_roll", "wrist_angle", "wrist_rotate")
_STIFFNESS = (2500.0, 3000.0, 2500.0, 800.0, 500.0, 200.0)
"""Servo stiffness [N m/rad]. With menagerie's (10 to 265) the arm hangs degrees behind its target."""
_SETTLING = 0.02
"""Servo damping over stiffness [s]: about critical damping of the stretched arm."""
_ROTOR = (0.1, 0.395, 0.383, 0.14, 0.02, 0.02)
"""Inertia of the geared motors felt at the joints [kg m^2]: menagerie's, of the same order where it has next to none."""
_HOME = (0.0, -0.60, 0.40, 0.0, 1.30, 0.0)

_FORCE = 30.0
"""Force of each pad [N]; not published. The rail's crank of some 2 cm at the motor's 4.1 N m could give several times that."""
_SPEED = 0.06
"""Speed of each finger [m/s]; it comes from the drive's damping, force over speed."""
_FINGER_ROTOR = 1.0  # [kg] felt at each finger: geared so far down that what is held does not move it
_OPEN = 0.041  # [m] of the rail each way (menagerie's joint range); the real robot's software stops at 0.037
_MEET = 0.0065
"""Position of the finger joints at which the pads meet [m]."""
_BITE = 0.0025  # [m] past that, where the servo aims, so that thin things are held as firmly as thick ones

_BOXES: dict[str, tuple[tuple[Point, Point], ...]] = {
    # Lowest and highest corner [m] in the link's frame: bounds of the menagerie visual surfaces, in parts.
    "base_link": (((-0.1975, -0.055, 0.0), (-0.097, 0.055, 0.054)), ((-0.097, -0.102, 0.0), (0.102, 0.102, 0.0787))),
    "shoulder_link": (((-0.061, -0.061, -0.003), (0.062, 0.061, 0.0615)),),
    "upper_arm_link": (
        ((-0.016, -0.051, -0.004), (0.016, 0.051, 0.076)),
        ((-0.011, -0.021, 0.076), (0.011, 0.021, 0.236)),
        ((-0.011, -0.047, 0.236), (0.025, 0.047, 0.321)),
        ((0.025, -0.051, 0.276), (0.073, 0.051, 0.321)),
    ),
    "upper_forearm_link": (
        ((-0.004, -0.051, -0.016), (0.076, 0.051, 0.016)),
        ((0.076, -0.022, -0.015), (0.200, 0.022, 0.015)),
    ),
    "lower_forearm_link": (
        ((-0.005, -0.023, -0.023), (0.075, 0.045, 0.023)),
        ((0.075, -0.030, -0.020), (0.114, 0.026, 0.020)),
    ),
    "wrist_link": (((-0.005, -0.028, -0.014), (0.070, 0.027, 0.035)),),
    "gripper_base": (
        ((-0.075, -0.035, -0.003), (0.075, 0.031, 0.022)),  # the rail
        ((-0.035, -0.035, -0.039), (0.035, 0.026, -0.003)),
        ((-0.0235, -0.114, -0.042), (0.0235, -0.035, 0.0)),  # the camera
    ),
    # Of the left finger: the carriage on the rail, and the arm that leans in towards the fingertip.
    "left_finger_link": (
        ((-0.0124, -0.030, 0.0), (0.0417, 0.0094, 0.019)),
        ((-0.0070, -0.062, 0.003), (0.0350, -0.030, 0.017)),
    ),
}
_BOXES["right_finger_link"] = tuple(
    ((low[0], -high[1], low[2]), (high[0], -low[1], high[2])) for low, high in _BOXES["left_finger_link"]
)
_PAD = ((0.0122, -0.0897, 0.0186), (0.0227, -0.0617, 0.0256))
"""Lowest and highest corner [m] in the left finger's frame: the fingertip, with its inner face where the tips meet at `_MEET`."""
_TCP = (0.136, 0.0, -0.0033)  # [m] in the gripper's link: between the pads, 10 mm from their tips

_NEIGHBOURS = (
    ("base_link", "shoulder_link"), ("base_link", "upper_arm_link"), ("shoulder_link", "upper_arm_link"),
    ("upper_arm_link", "upper_forearm_link"), ("upper_forearm_link", "lower_forearm_link"),
    ("lower_forearm_link", "wrist_link"), ("lower_forearm_link", "gripper_base"), ("wrist_link", "gripper_base"),
    ("gripper_base", "left_finger_link"), ("gripper_base", "right_finger_link"), ("left_finger_link", "right_finger_link"),
    ("wrist_link", "left_finger_link"), ("wrist_link", "right_finger_link"),
)  # fmt: skip
_EXCLUDED = tuple((f"{side}/{a}", f"{side}/{b}") for side in SIDES for a, b in _NEIGHBOURS)
"""Neighbours, whose shapes overlap at their joint by construction, and the fingers of a hand closed on nothing."""


@models.made_once
def build() -> mujoco.MjSpec:
    """A fresh fragment: two arms on one base body, both facing +x, with TCP sites and wrist cameras."""
    folder = models.folder("aloha")
    spec = models.on_base(folder / "aloha.xml")
    contact.OPTIONS.apply(spec)
    for geom in list(spec.geoms):
        if geom.contype or geom.conaffinity:
            spec.delete(geom)
    for camera in list(spec.cameras):
        spec.delete(camera)
    simplify_visuals(spec, folder / spec.meshdir)
    for exclude in list(spec.excludes):
        spec.delete(exclude)
    for a, b in _EXCLUDED:
        spec.add_exclude(bodyname1=a, bodyname2=b)
    for side, y in zip(SIDES, (_APART, -_APART), strict=True):
        root = spec.body(f"{side}/base_link")
        root.pos, root.quat = (_FORWARD, y, 0.0), (1.0, 0.0, 0.0, 0.0)
        _arm(spec, side)
        _hand(spec, side)
    for body in spec.bodies:
        body.gravcomp = 1.0  # the arms' own weight, and the tool's, is fed forward
    return spec


def _arm(spec: mujoco.MjSpec, side: str) -> None:
    """Stiff servos on joints without friction of their own, and boxes in place of collision meshes."""
    for name, stiffness, rotor in zip(_JOINTS, _STIFFNESS, _ROTOR, strict=True):
        servo, joint = spec.actuator(f"{side}/{name}"), spec.joint(f"{side}/{name}")
        servo.gainprm = [stiffness] + [0.0] * 9
        servo.biasprm = [0.0, -stiffness, -_SETTLING * stiffness] + [0.0] * 7
        joint.damping, joint.frictionloss, joint.armature = [0.0, 0.0, 0.0], 0.0, rotor  # the servo's damping stands for both
    for link, boxes in _BOXES.items():
        for low, high in boxes:
            _collision(spec.body(f"{side}/{link}"), low, high)


def _hand(spec: mujoco.MjSpec, side: str) -> None:
    """Pads, TCP, camera, and one force-limited servo on the mean finger position [m]."""
    low, high = _PAD
    for finger in ("left", "right"):
        a, b = (low, high) if finger == "left" else ((low[0], -high[1], low[2]), (high[0], -low[1], high[2]))
        contact.make_pad(_collision(spec.body(f"{side}/{finger}_finger_link"), a, b, name=f"{side}/{finger}_pad"))
        joint = spec.joint(f"{side}/{finger}_finger")
        joint.damping, joint.armature = [_FORCE / _SPEED, 0.0, 0.0], _FINGER_ROTOR
    link, palm = spec.body(f"{side}/gripper_link"), spec.body(f"{side}/gripper_base")
    half = math.sqrt(0.5)  # z along the link's x, out of the palm; y along the rail
    link.add_site(name=f"{side}/tcp", pos=_TCP, quat=(half, 0.0, half, 0.0), size=(0.005, 0.005, 0.005), group=4)
    tilt = 2.70525955359 / 2.0  # menagerie's: the camera looks past the fingertips
    palm.add_camera(
        name=_CAMERAS[side], pos=(0.0, -0.0824748, -0.0095955), quat=(math.cos(tilt), math.sin(tilt), 0.0, 0.0), fovy=58.0
    )  # the RealSense D405 of menagerie's model sees 87 by 58 degrees (data sheet)
    spec.delete(spec.actuator(f"{side}/gripper"))
    tendon = spec.add_tendon(name=f"{side}/fingers")
    for finger in ("left", "right"):
        tendon.wrap_joint(f"{side}/{finger}_finger", 0.5)
    stiffness, drive = 20000.0, 2.0 * _FORCE  # the tendon is the mean, so each finger gets half of the drive
    spec.add_actuator(
        name=f"{side}/gripper",
        trntype=mujoco.mjtTrn.mjTRN_TENDON,
        target=f"{side}/fingers",
        gaintype=mujoco.mjtGain.mjGAIN_FIXED,
        biastype=mujoco.mjtBias.mjBIAS_AFFINE,
        gainprm=[stiffness] + [0.0] * 9,
        biasprm=[0.0, -stiffness] + [0.0] * 8,
        ctrlrange=(_MEET - _BITE, _OPEN),
        ctrllimited=True,
        forcerange=(-drive, drive),
        forcelimited=True,
    )


def _collision(body: Any, low: Point, high: Point, **properties: Any) -> Any:
    middle = tuple((a + b) / 2 for a, b in zip(low, high, strict=True))
    half = tuple((b - a) / 2 for a, b in zip(low, high, strict=True))
    return body.add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, pos=middle, size=half, group=3, mass=0.0, density=0.0, **properties)


def _described(side: str) -> Arm:
    fingers = (f"{side}/left_finger", f"{side}/right_finger")
    return Arm(
        name=side,
        joints=tuple(f"{side}/{joint}" for joint in _JOINTS),
        actuators=tuple(f"{side}/{joint}" for joint in _JOINTS),
        home=_HOME,
        # Interbotix' description of the vx300s gives pi rad/s each (its motors turn at 30 and 46 rpm at 12 V, unloaded).
        velocity_limits=(2.5, 2.5, 2.5, math.pi, math.pi, math.pi),
        acceleration_limits=(6.0, 6.0, 6.0, 8.0, 8.0, 8.0),  # not published; within the force limits of the joints
        tcp_site=f"{side}/tcp",
        gripper=Gripper(
            actuators=(f"{side}/gripper",),
            open_ctrl=(_OPEN,),
            closed_ctrl=(_MEET - _BITE,),
            joints=fingers,
            open_qpos=(_OPEN, _OPEN),
            closed_qpos=(_MEET, _MEET),
            finger_bodies=((f"{fingers[0]}_link",), (f"{fingers[1]}_link",)),
            max_width=2 * (_OPEN - _MEET),
            force=_FORCE,
            speed=2 * _SPEED,
        ),
        reach=0.75,  # Trossen Robotics, ViperX 300 S specifications: 750 mm
    )


ROBOT = Robot(
    name="aloha",
    title="ALOHA: two ViperX 300 arms side by side on a fixed mount",
    licence="BSD-3-Clause",
    source="MuJoCo Menagerie, aloha (from Trossen Robotics' interbotix_ros_manipulators)",
    models=("aloha",),
    work=(0.22, 0.56),
    build=build,
    base=Base(kind="fixed", radius=0.45, footprint=(0.30, 0.82)),
    arms=tuple(_described(side) for side in SIDES),
    cameras=tuple(RobotCamera(name=_CAMERAS[side], body=f"{side}/gripper_base") for side in SIDES),
    excluded_collisions=_EXCLUDED,
)
