"""The Unitree G1 humanoid with its three-finger hands: body, arms and hands as every robot made of it uses them.

Two robots are made of it: the upper body on a stand (`g1_stand`), and the whole of it on its own feet (`g1`).
"""

from __future__ import annotations

import math
from typing import Any

import mujoco

from embodiedsmith.embodiments import contact, models
from embodiedsmith.embodiments.description import Arm, Gripper, RobotCamera
from embodiedsmith.embodiments.meshes import simplify_visuals

MODEL = "unitree_g1"
SOURCE = "MuJoCo Menagerie, unitree_g1 (g1_29dof_with_hand_rev_1_0 of Unitree Robotics)"
LICENCE = "BSD-3-Clause"

Point = tuple[float, float, float]

SIDES = {"right": 1.0, "left": -1.0}
"""Arms in their order, and the sign of what is mirrored: the right palm looks along +y of its link, the left along -y."""

WAIST = ("waist_yaw", "waist_roll", "waist_pitch")
LEG = ("hip_pitch", "hip_roll", "hip_yaw", "knee", "ankle_pitch", "ankle_roll")
_ARM = ("shoulder_pitch", "shoulder_roll", "shoulder_yaw", "elbow", "wrist_roll", "wrist_pitch", "wrist_yaw")

_HOME = (-0.35, -1.02, -0.20, -0.21, -0.23, 0.60, 0.56)
"""Of the right arm [rad]: the hand before the shoulder, the palm turned down and inwards. Chosen among postures in the middle of
the joints' ranges for slow joints at a given speed of the hand: contacts know nothing of the centripetal part of a motion, and
what is held creeps by it (see `contact.PAD_SOLREF`), 1.9 mm in the shake of the hold test here, 7 mm with the elbow bent more."""
_MIRRORED = (1.0, -1.0, -1.0, 1.0, -1.0, 1.0, -1.0)
"""Signs that turn joints of the right arm into the same posture of the left."""

PELVIS_BELOW = 0.06
"""How far below a work surface the pelvis is best [m]: things that stand on it are then at the height of elbow and ribs."""
WORK = (0.22, 0.40)
"""Where the hands work best [m]: see `Robot.work`."""

_STIFFNESS = (400.0, 400.0, 300.0, 300.0, 150.0, 120.0, 120.0)
"""Arm servos [N m/rad]: menagerie's 500, less where the arm beyond is light, so that a step of the wanted speed does not drive
the 5 N m of the wrist to their limit."""
_SETTLING = 0.03
"""Servo damping over stiffness [s]."""

_FINGER_TORQUE = 1.4
"""Of the first joint of each finger [N m] (menagerie, from Unitree's description)."""
_FINGER_SPEED = 2.5
"""[rad/s] of the first joint of a finger, from the drive's damping: chosen, so that a finger meets things gently."""
_FINGER_STIFFNESS = 30.0
_BEND = 1.17
"""[rad] second joint of a finger, the same at any opening: the fingertip then moves nearly straight towards the thumb's."""
_THUMB_BEND = 1.6
"""[rad] last joint of the thumb: thumb and fingers reach equally far beyond the palm."""
_OPEN, _CLOSED = 0.25, 1.05
"""First joint of the fingers [rad]."""
_THUMB_OPEN, _THUMB_CLOSED = 0.72, 0.01
"""Middle joint of the thumb [rad] when the fingers are at those."""
TCP = (0.116, 0.070, 0.0)
"""In `right_wrist_yaw_link` [m]: where thumb and fingers meet. The palm ends 53 mm behind it."""

_CAPSULES: dict[str, tuple[tuple[Point, Point, float], ...]] = {
    # Ends and radius [m] in the frame of the right side's link: round menagerie's collision meshes, whose bounds they keep to
    # within 5 mm.
    "shoulder_pitch_link": (((0, -0.02, -0.005), (0, -0.055, -0.012), 0.032),),
    "shoulder_roll_link": (((-0.003, -0.006, -0.035), (-0.003, -0.006, -0.070), 0.032),),
    "shoulder_yaw_link": (((0, 0, 0), (0.008, 0.004, -0.08), 0.036),),
    "elbow_link": (((0.0, 0, -0.01), (0.07, 0, -0.01), 0.033),),
    "wrist_roll_link": (((0.015, 0, 0), (0.03, 0, 0), 0.029),),
    "wrist_pitch_link": (((0.0, 0, 0), (0.045, 0, 0), 0.0285),),
    "wrist_yaw_link": (((0.01, -0.003, 0), (0.03, -0.003, 0), 0.028),),
    "hand_thumb_0_link": (((0, 0.005, 0), (0, 0.02, 0), 0.010),),
    "hand_thumb_1_link": (((0, 0.008, 0), (0, 0.040, 0), 0.010),),
    "hand_index_0_link": (((0.0, 0, 0), (0.042, 0, 0), 0.012),),
    "hip_roll_link": (((0.03, 0, -0.03), (0.03, 0, -0.09), 0.047),),
    "hip_yaw_link": (((0, 0, -0.04), (-0.07, 0, -0.18), 0.044),),
    "knee_link": (((0, 0, 0), (0.01, 0, -0.26), 0.040),),
}
_CAPSULES["hand_middle_0_link"] = _CAPSULES["hand_index_0_link"]

_TIPS: dict[str, tuple[Point, Point, float]] = {
    "hand_thumb_2_link": ((0, 0.008, 0), (0, 0.042, 0), 0.010),
    "hand_index_1_link": ((0.008, 0, 0), (0.042, 0, 0), 0.010),
    "hand_middle_1_link": ((0.008, 0, 0), (0.042, 0, 0), 0.010),
}
"""The last links of thumb and fingers, whose tips are the pads; as above."""

_DIGITS = ("thumb_0", "thumb_1", "thumb_2", "index_0", "index_1", "middle_0", "middle_1")

_PALM = ((0.085, -0.0035, 0.0), (0.043, 0.0205, 0.043))
"""Centre and half extents [m] of the palm's box in `right_wrist_yaw_link`."""
_TORSO = ((0.0085, 0.0, 0.155), (0.072, 0.100, 0.150))
_HEAD = ((0.008, 0, 0.36), (0.008, 0, 0.42), 0.07)
_PELVIS = ((0.0, 0.0, -0.09), (0.055, 0.062, 0.055))


def joints(side: str) -> tuple[str, ...]:
    """Names of an arm's joints, which are those of its servos as well."""
    return tuple(f"{side}_{joint}_joint" for joint in _ARM)


def _hand(side: str) -> Gripper:
    sign = SIDES[side]
    names = ("index_0", "middle_0", "index_1", "middle_1", "thumb_0", "thumb_2")
    still = (sign * _BEND, sign * _BEND, 0.0, -sign * _THUMB_BEND)
    opened, closed = sign * _OPEN, sign * _CLOSED
    driven = tuple(f"{side}_hand_{name}_joint" for name in names)
    thumb = f"{side}_hand_thumb_1_joint"
    return Gripper(
        actuators=driven,
        open_ctrl=(opened, opened, *still),
        closed_ctrl=(closed + sign * 0.05, closed + sign * 0.05, *still),
        joints=(*driven, thumb),
        open_qpos=(opened, opened, *still, sign * _THUMB_OPEN),
        closed_qpos=(closed, closed, *still, sign * _THUMB_CLOSED),
        finger_bodies=(
            tuple(f"{side}_hand_thumb_{k}_link" for k in range(3)),
            tuple(f"{side}_hand_{finger}_{k}_link" for finger in ("index", "middle") for k in range(2)),
        ),
        max_width=0.082,
        force=15.0,
        speed=0.15,
    )


def arm(side: str) -> Arm:
    """The right or the left arm with its hand."""
    home = tuple(q * s for q, s in zip(_HOME, _MIRRORED, strict=True)) if side == "left" else _HOME
    return Arm(
        name=side,
        joints=joints(side),
        actuators=joints(side),
        home=home,
        # Not published for the arms; a fifth of what their motors reach unloaded, slow enough for 5 N m of wrist torque.
        velocity_limits=(2.0, 2.0, 2.0, 2.0, 2.5, 2.5, 2.5),
        acceleration_limits=(6.0, 6.0, 6.0, 6.0, 8.0, 8.0, 8.0),
        tcp_site=f"{side}_tcp",
        gripper=_hand(side),
        reach=0.48,
    )


ARMS = tuple(arm(side) for side in SIDES)
CAMERAS = (RobotCamera(name="head", body="torso_link"), RobotCamera(name="wrist", body="right_wrist_yaw_link"))


def _chain(side: str) -> tuple[str, ...]:
    return ("torso_link", *(f"{side}_{joint}_link" for joint in _ARM))


def excluded(side: str) -> tuple[tuple[str, str], ...]:
    """Pairs of links of an arm and its hand whose shapes overlap at their joints, or that joint limits keep apart."""
    chain = _chain(side)
    near = tuple((a, b) for i, a in enumerate(chain) for b in chain[i + 1 : i + 3])
    wrist = (f"{side}_wrist_roll_link", f"{side}_wrist_pitch_link", f"{side}_wrist_yaw_link")
    digits = tuple(f"{side}_hand_{name}_link" for name in _DIGITS)
    inner = tuple((a, b) for i, a in enumerate(digits) for b in digits[i + 1 :])
    return (*near, (wrist[0], wrist[2]), *((w, d) for w in wrist for d in digits), *inner)


EXCLUDED_ARMS = (*excluded("right"), *excluded("left"), ("pelvis", "torso_link"))


@models.made_once
def body() -> mujoco.MjSpec:
    """A fresh model of a bare body `base` that carries the whole robot, its pelvis at menagerie's height and its free joint gone.

    Servos drive arms and hands as described; legs and waist are as menagerie has them.
    """
    folder = models.folder(MODEL)
    spec = models.on_base(folder / "g1_with_hands.xml")
    contact.OPTIONS.apply(spec)
    spec.delete(spec.joint("floating_base_joint"))
    _replace_collisions(spec)
    simplify_visuals(spec, folder / spec.meshdir)
    for exclude in list(spec.excludes):
        spec.delete(exclude)
    for a, b in EXCLUDED_ARMS:
        spec.add_exclude(bodyname1=a, bodyname2=b)
    for side, sign in SIDES.items():
        for joint, stiffness in zip(joints(side), _STIFFNESS, strict=True):
            servo(spec, joint, stiffness, _SETTLING)
        _drive_fingers(spec, side, sign)
        wrist = spec.body(f"{side}_wrist_yaw_link")
        y, z = sign * TCP[1], TCP[2]
        # z out of the palm, y from the thumb to the fingers
        wrist.add_site(name=f"{side}_tcp", pos=(TCP[0], y, z), xyaxes=(0, 0, sign, 1, 0, 0), size=(0.005,) * 3, group=4)
    _add_cameras(spec)
    return spec


def servo(spec: mujoco.MjSpec, name: str, stiffness: float, settling: float) -> None:
    """Make the actuator of a joint a position servo of that stiffness [N m/rad], damped by `settling` [s] times it."""
    actuator = spec.actuator(name)
    actuator.gainprm = [stiffness] + [0.0] * 9
    actuator.biasprm = [0.0, -stiffness, -settling * stiffness] + [0.0] * 7


def _replace_collisions(spec: mujoco.MjSpec) -> None:
    """Primitives in place of collision meshes, but for the feet's spheres; pads at the tips of thumb and fingers."""
    for geom in list(spec.geoms):
        feet = geom.type == mujoco.mjtGeom.mjGEOM_SPHERE
        if (geom.contype or geom.conaffinity) and not feet:
            spec.delete(geom)
    capsule, box = mujoco.mjtGeom.mjGEOM_CAPSULE, mujoco.mjtGeom.mjGEOM_BOX
    for side, sign in SIDES.items():
        for name, capsules in _CAPSULES.items():
            for start, end, radius in capsules:
                _collision(spec.body(f"{side}_{name}"), type=capsule, fromto=_ends(start, end, sign), size=(radius, 0, 0))
        for name, (start, end, radius) in _TIPS.items():
            tip = _collision(spec.body(f"{side}_{name}"), type=capsule, fromto=_ends(start, end, sign), size=(radius, 0, 0))
            contact.make_pad(tip)
        (x, y, z), half = _PALM
        _collision(spec.body(f"{side}_wrist_yaw_link"), type=box, pos=(x, sign * y, z), size=half)
    _collision(spec.body("torso_link"), type=box, pos=_TORSO[0], size=_TORSO[1])
    _collision(spec.body("torso_link"), type=capsule, fromto=(*_HEAD[0], *_HEAD[1]), size=(_HEAD[2], 0, 0))
    _collision(spec.body("pelvis"), type=box, pos=_PELVIS[0], size=_PELVIS[1])


def _ends(start: Point, end: Point, sign: float) -> tuple[float, ...]:
    return (start[0], sign * start[1], start[2], end[0], sign * end[1], end[2])


def _collision(link: Any, **properties: Any) -> Any:
    return link.add_geom(group=3, mass=0.0, density=0.0, **properties)


def _drive_fingers(spec: mujoco.MjSpec, side: str, sign: float) -> None:
    """Force-limited servos on the fingers; the thumb's middle joint follows their mean, so that a grip stays where it closes.

    That is what a hand's own controller does with two opposed drives, either of which would else push the other open.
    """
    names = {name: f"{side}_hand_{name}_joint" for name in _DIGITS}
    spec.delete(spec.actuator(names["thumb_1"]))
    for key, name in names.items():
        joint = spec.joint(name)
        joint.frictionloss = 0.0
        joint.armature = 0.003
        driven = key in ("index_0", "middle_0")
        joint.damping = [_FINGER_TORQUE / _FINGER_SPEED if driven else 0.1, 0.0, 0.0]
        if key != "thumb_1":
            servo(spec, name, _FINGER_STIFFNESS, 0.0)
            actuator = spec.actuator(name)
            actuator.forcerange, actuator.forcelimited = (-_FINGER_TORQUE, _FINGER_TORQUE), True
    fingers, thumb = spec.add_tendon(name=f"{side}_fingers"), spec.add_tendon(name=f"{side}_thumb")
    for key in ("index_0", "middle_0"):
        fingers.wrap_joint(names[key], 0.5)
    thumb.wrap_joint(names["thumb_1"], 1.0)
    slope = (_THUMB_CLOSED - _THUMB_OPEN) / (_CLOSED - _OPEN)
    # MuJoCo counts both from their lengths at zero angles: thumb = offset + slope fingers
    offset = sign * (_THUMB_OPEN - slope * _OPEN)
    spec.add_equality(
        type=mujoco.mjtEq.mjEQ_TENDON, objtype=mujoco.mjtObj.mjOBJ_TENDON, name1=f"{side}_thumb", name2=f"{side}_fingers",
        data=[offset, slope] + [0.0] * 10,
    )  # fmt: skip


def _add_cameras(spec: mujoco.MjSpec) -> None:
    """One in the head that looks at the work before the robot, one above the right palm that looks past the fingertips."""
    down = math.radians(50.0)  # below the horizontal
    spec.body("torso_link").add_camera(
        name="head", pos=(0.09, 0.0, 0.44), xyaxes=(0, -1, 0, math.sin(down), 0, math.cos(down)), fovy=75.0
    )
    tilt = math.radians(20.0)  # towards the fingers
    spec.body("right_wrist_yaw_link").add_camera(
        name="wrist", pos=(0.02, 0.05, 0.0), xyaxes=(0, 0, 1, math.cos(tilt), -math.sin(tilt), 0), fovy=80.0
    )
