"""The Franka Panda arm with its hand, as every robot that carries one uses it."""

from __future__ import annotations

import math
from typing import Any

import mujoco

from embodiedsmith.embodiments import contact, models
from embodiedsmith.embodiments.description import Arm, Gripper
from embodiedsmith.embodiments.meshes import simplify_visuals

MODEL = "franka_emika_panda"
SOURCE = "MuJoCo Menagerie, franka_emika_panda (from Franka Robotics' franka_description)"
LICENCE = "Apache-2.0"

_LINKS = ("link0", "link1", "link2", "link3", "link4", "link5", "link6", "link7", "hand")

Point = tuple[float, float, float]

_CAPSULES: dict[str, tuple[tuple[Point, Point, float], ...]] = {
    # Ends and radius [m] in the link's frame: round the menagerie visual surfaces, which stand out by at most 4 mm. Ends reach
    # into the neighbouring link, where they cost nothing and cover the flat rims that links turn on.
    "link1": (
        ((0, 0, -0.172), (0, 0, -0.005), 0.0575),
        ((0, 0, 0), (0, -0.08, 0), 0.059),
        ((0, -0.024, -0.07), (0, -0.066, -0.028), 0.057),
    ),
    "link2": (
        ((0, 0, 0), (0, 0, 0.08), 0.059),
        ((0, -0.005, 0), (0, -0.174, 0), 0.0575),
        ((0, -0.07, 0.024), (0, -0.028, 0.066), 0.057),
    ),
    "link3": (
        ((0, 0, -0.102), (0, 0, -0.06), 0.058),
        ((0.0825, 0.0, 0), (0.0825, 0.062, 0), 0.059),
        ((0, 0, -0.06), (0.0825, 0.01, 0), 0.059),
        ((0.01, 0.018, -0.048), (0.066, 0.045, -0.012), 0.058),
    ),
    "link4": (
        ((0, 0, 0.002), (0, 0, 0.062), 0.059),
        ((-0.0825, 0.105, 0), (-0.0825, 0.06, 0), 0.058),
        ((-0.0825, 0.06, 0), (0, 0, 0.01), 0.059),
        ((-0.07, 0.06, 0.03), (-0.025, 0.02, 0.05), 0.056),
    ),
    "link5": (
        ((0, 0.0, -0.238), (0, 0.015, -0.19), 0.06),
        ((0, 0.085, -0.03), (0, 0.055, -0.18), 0.046),
        ((0, 0.04, -0.0), (0, 0.08, 0), 0.0595),
    ),
    "link6": (
        ((0, -0.0, 0.003), (0.0, 0.01, 0.0), 0.0595),
        ((0.088, -0.03, 0), (0.088, 0.036, 0), 0.053),
        ((0.01, 0.012, 0), (0.07, 0.028, 0), 0.053),
        ((0.0, -0.01, 0.012), (0.085, -0.01, 0.012), 0.051),
    ),
    "link7": (
        ((0, 0, 0.074), (0.015, 0.015, 0.078), 0.054),
        ((0.04, 0.04, 0.068), (0.052, 0.052, 0.08), 0.038),
    ),
}

_BOXES: dict[str, tuple[tuple[Point, Point], ...]] = {
    # Centre and half extents [m] in the body's frame: bounds of the visual surfaces.
    "link0": (((-0.041, 0, 0.07), (0.113, 0.095, 0.07)),),
    "hand": (((0, 0, 0.02), (0.032, 0.104, 0.046)),),
    # Behind the pad: the arm of the finger, then the carriage that it is screwed to.
    "left_finger": (((0, 0.0165, 0.024), (0.0105, 0.0095, 0.012)), ((0, 0.0145, 0.006), (0.0105, 0.0115, 0.006))),
}
_BOXES["right_finger"] = _BOXES["left_finger"]

_PAD = ((0.0, 0.007, 0.0445), (0.0088, 0.007, 0.0093))
"""Centre and half extents [m] in a finger's frame. One flat box with its face in the plane where the fingers meet: the pad and
the fingertip behind it, from the menagerie visual surfaces."""

TCP_IN_HAND = 0.1034
"""Distance from the hand's flange to the middle of the pads [m] (Franka, "Franka Hand" product manual; also Franka Desk's default
end effector)."""

FORCE = 30.0
"""Force of each pad [N]. The hand gives up to 70 N continuously (Franka Hand data sheet). Holding 0.5 kg through 5 m/s^2 takes
3.7 N a pad at friction 1, but a mug of 0.5 kg pinched by its wall hangs 40 mm beside the pads: their 9 mm half height must carry
0.28 N m, which takes 30 N."""

_SPEED = 0.05
"""Speed of each finger [m/s] (Franka Hand data sheet). It comes from the drive's damping, force over speed, so that a finger
meets an object gently."""

_ROTOR = 1.0
"""Inertia of the drive felt at each finger [kg]: it is geared so far down that it cannot be pushed back. Not published; chosen so
that a held thing of 0.5 kg does not move the fingers."""

_STIFFNESS = (8000.0, 8000.0, 6500.0, 6500.0, 900.0, 900.0, 900.0)
"""Servo stiffness [N m/rad]. The big joints stiffer than menagerie's, for the arm's inertia to pull it off a path by less than
2 mrad; the wrist softer, for fast motions not to reach its force limit of 12 N m."""
_SETTLING = 0.02
"""Servo damping over stiffness [s]. At the end of a control step the wanted speed jumps by up to 0.4 rad/s (big joints) or 0.5
rad/s (wrist): damping times that jump, 60 and 9 N m, stays below the force limits of 87 and 12 N m. A servo at its limit is
integrated explicitly and chatters: damped by 500 N m s/rad the shoulder rocked at 3 rad/s, from limit to limit every physics
step, whenever axes 1 and 3 lined up."""

EXCLUDED = (
    *((a, b) for i, a in enumerate(_LINKS) for b in _LINKS[i + 1 : i + 3]),
    ("link5", "hand"),
    ("hand", "left_finger"), ("hand", "right_finger"), ("left_finger", "right_finger"),
    ("link7", "left_finger"), ("link7", "right_finger"),
)  # fmt: skip
"""Neighbours, whose shapes overlap at their joint by construction, and pairs that the joint limits keep apart, such as the
fingers of a hand closed on nothing."""

ARM = Arm(
    joints=tuple(f"joint{i}" for i in range(1, 8)),
    actuators=tuple(f"actuator{i}" for i in range(1, 8)),
    home=(0.0, -0.45, 0.0, -2.35, 0.0, 1.9, 0.7853981633974483),
    # Franka Control Interface documentation, "Robot and interface specifications", Panda.
    velocity_limits=(2.175, 2.175, 2.175, 2.175, 2.61, 2.61, 2.61),
    # The same page gives 15, 7.5, 10, 12.5, 15, 20, 20; planning uses at most 10, and at most 7.5 where the arm's own inertia is
    # large, so that the servos stay below their force limits at the end of every control step.
    acceleration_limits=(7.5, 7.5, 7.5, 7.5, 10.0, 10.0, 10.0),
    tcp_site="tcp",
    gripper=Gripper(
        actuators=("gripper",),
        open_ctrl=(0.04,),
        closed_ctrl=(-0.002,),
        joints=("finger_joint1", "finger_joint2"),
        open_qpos=(0.04, 0.04),
        closed_qpos=(0.0, 0.0),
        finger_bodies=(("left_finger",), ("right_finger",)),
        max_width=0.08,
        force=FORCE,
        speed=2 * _SPEED,
    ),
    reach=0.855,
)


@models.made_once
def arm_on_base() -> mujoco.MjSpec:
    """A fresh model of a bare body `base` that carries the arm (`link0` to `hand`) with TCP site and wrist camera."""
    directory = models.folder(MODEL)
    spec = models.on_base(directory / "panda.xml")
    contact.OPTIONS.apply(spec)
    _replace_collisions(spec)
    simplify_visuals(spec, directory / spec.meshdir)
    for exclude in list(spec.excludes):
        spec.delete(exclude)
    for a, b in EXCLUDED:
        spec.add_exclude(bodyname1=a, bodyname2=b)
    for name, stiffness in zip(ARM.actuators, _STIFFNESS, strict=True):
        servo = spec.actuator(name)
        servo.gainprm = [stiffness] + [0.0] * 9
        servo.biasprm = [0.0, -stiffness, -_SETTLING * stiffness] + [0.0] * 7
    for body in spec.bodies:
        body.gravcomp = 1.0  # the real controller compensates the arm's own weight
    hand = spec.body("hand")
    hand.add_site(name="tcp", pos=(0, 0, TCP_IN_HAND), size=(0.005, 0.005, 0.005), group=4)
    _add_camera(hand)
    _drive_fingers(spec)
    return spec


def _replace_collisions(spec: mujoco.MjSpec) -> None:
    """Primitives in place of collision meshes: several times faster, and flat where the fingers touch."""
    for geom in list(spec.geoms):
        if geom.contype or geom.conaffinity:
            spec.delete(geom)
    for name, capsules in _CAPSULES.items():
        for start, end, radius in capsules:
            _collision(spec.body(name), type=mujoco.mjtGeom.mjGEOM_CAPSULE, fromto=(*start, *end), size=(radius, 0, 0))
    for name, boxes in _BOXES.items():
        for centre, half in boxes:
            _collision(spec.body(name), type=mujoco.mjtGeom.mjGEOM_BOX, pos=centre, size=half)
    for side in ("left", "right"):
        body = spec.body(f"{side}_finger")
        contact.make_pad(_collision(body, name=f"{side}_pad", type=mujoco.mjtGeom.mjGEOM_BOX, pos=_PAD[0], size=_PAD[1]))


def _collision(body: Any, **properties: Any) -> Any:
    return body.add_geom(group=3, mass=0.0, density=0.0, **properties)


def _add_camera(hand: Any) -> None:
    """A camera above the fingers on the hand's front, tilted so that it sees the fingertips and what lies before them."""
    tilt = math.radians(15.0)  # towards the fingertips, which lie 37 degrees off the hand's own direction from there
    hand.add_camera(name="wrist", pos=(0.07, 0.0, 0.01), xyaxes=(0, 1, 0, math.cos(tilt), 0, math.sin(tilt)), fovy=75.0)


def _drive_fingers(spec: mujoco.MjSpec) -> None:
    """A force-limited servo on the mean finger position [m] in place of menagerie's soft spring (2 N on a 4 cm object)."""
    spec.delete(spec.actuator("actuator8"))
    # The tendon is the mean of the two fingers, so each gets half of the actuator's force.
    drive = 2.0 * FORCE
    stiffness = 20000.0  # [N/m]: full force from 3 mm before the target, which is 2 mm past closed: a 2 mm sheet is held firmly
    spec.add_actuator(
        name="gripper",
        trntype=mujoco.mjtTrn.mjTRN_TENDON,
        target="split",
        gaintype=mujoco.mjtGain.mjGAIN_FIXED,
        biastype=mujoco.mjtBias.mjBIAS_AFFINE,
        gainprm=[stiffness] + [0.0] * 9,
        biasprm=[0.0, -stiffness] + [0.0] * 8,
        ctrlrange=(-0.002, 0.04),
        ctrllimited=True,
        forcerange=(-drive, drive),
        forcelimited=True,
    )
    for name in ("finger_joint1", "finger_joint2"):
        joint = spec.joint(name)
        joint.damping = [FORCE / _SPEED, 0.0, 0.0]  # linear, quadratic and cubic in speed
        joint.armature = _ROTOR
