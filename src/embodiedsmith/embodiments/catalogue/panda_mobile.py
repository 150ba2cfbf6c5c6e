"""A mobile manipulator: the Panda on a column on an omnidirectional vehicle."""

from __future__ import annotations

from typing import Any

import mujoco

from embodiedsmith.embodiments import franka, models
from embodiedsmith.embodiments.description import Base, Robot, RobotCamera

_LENGTH, _WIDTH = 0.50, 0.45
"""Footprint of the vehicle [m]; with the masses below it is of the size of small omnidirectional research platforms."""
_CLEARANCE, _DECK = 0.04, 0.35
"""Heights of the underside and of the deck [m]."""
_ARM_X, _ARM_Z = 0.10, 0.55
"""Where the arm stands [m]: forward, so that it reaches past the vehicle's front, and with its shoulder at 0.88 m, so that it
works on tables of 0.75 m and counters of 0.9 m and reaches shelves from 0.3 to 1.4 m."""
_MASS, _ARM_MASS = 60.0, 18.0  # [kg]; the arm's from its own data sheet

_BANDWIDTH = 60.0
"""Natural frequency of the drives [rad/s]: the arm's reactions (100 N) then move the vehicle by 0.4 mm."""
_TRACTION = 600.0
"""Largest driving force [N]: what wheels with a friction coefficient of 0.8 hold under 78 kg."""


@models.made_once
def build() -> mujoco.MjSpec:
    """A fresh fragment: vehicle with its three joints and drives, arm on top."""
    spec = franka.arm_on_base()
    base = spec.body("base")
    spec.body("link0").pos = (_ARM_X, 0.0, _ARM_Z)
    _vehicle(base)
    total = _MASS + _ARM_MASS
    yaw_inertia = 6.0  # [kg m^2] about the vehicle's axis with the arm half stretched
    for name, kind, axis, inertia, limit in (
        ("base_x", mujoco.mjtJoint.mjJNT_SLIDE, (1, 0, 0), total, _TRACTION),
        ("base_y", mujoco.mjtJoint.mjJNT_SLIDE, (0, 1, 0), total, _TRACTION),
        ("base_yaw", mujoco.mjtJoint.mjJNT_HINGE, (0, 0, 1), yaw_inertia, _TRACTION * _LENGTH / 2),
    ):
        base.add_joint(name=name, type=kind, axis=axis)
        stiffness, damping = inertia * _BANDWIDTH**2, 2.0 * inertia * _BANDWIDTH  # critically damped
        spec.add_actuator(
            name=name,
            trntype=mujoco.mjtTrn.mjTRN_JOINT,
            target=name,
            gaintype=mujoco.mjtGain.mjGAIN_FIXED,
            biastype=mujoco.mjtBias.mjBIAS_AFFINE,
            gainprm=[stiffness] + [0.0] * 9,
            biasprm=[0.0, -stiffness, -damping] + [0.0] * 7,
            forcerange=(-limit, limit),
            forcelimited=True,
        )
    return spec


def _vehicle(base: Any) -> None:
    """Chassis and column (they collide) and wheels (seen only). The chassis clears the floor, so it never rubs on it."""
    box, cylinder = mujoco.mjtGeom.mjGEOM_BOX, mujoco.mjtGeom.mjGEOM_CYLINDER
    middle = (_CLEARANCE + _DECK) / 2
    half = (_LENGTH / 2, _WIDTH / 2, (_DECK - _CLEARANCE) / 2)
    white, dark = (0.86, 0.87, 0.88, 1.0), (0.16, 0.17, 0.19, 1.0)
    column = {"pos": (_ARM_X - 0.04, 0.0, (_DECK + _ARM_Z) / 2), "size": (0.12, 0.10, (_ARM_Z - _DECK) / 2)}
    base.mass = _MASS
    base.ipos = (0.0, 0.0, 0.18)  # batteries low
    base.inertia = tuple(_MASS / 12 * (a**2 + b**2) for a, b in ((_WIDTH, _DECK), (_LENGTH, _DECK), (_LENGTH, _WIDTH)))
    base.explicitinertial = True
    base.add_geom(name="chassis", type=box, pos=(0, 0, middle), size=half, group=3)
    base.add_geom(name="column", type=box, group=3, **column)
    seen = {"contype": 0, "conaffinity": 0, "group": 2, "mass": 0.0, "density": 0.0}
    base.add_geom(type=box, pos=(0, 0, middle), size=half, rgba=white, **seen)
    base.add_geom(type=box, pos=(0, 0, _DECK - 0.05), size=(half[0] + 0.001, half[1] + 0.001, 0.012), rgba=dark, **seen)
    base.add_geom(type=box, rgba=dark, **column, **seen)
    for x in (-1, 1):
        for y in (-1, 1):
            base.add_geom(
                type=cylinder, pos=(x * 0.17, y * (_WIDTH / 2 - 0.035), 0.075), size=(0.075, 0.03, 0),
                quat=(0.7071067811865476, 0.7071067811865476, 0, 0), rgba=dark, **seen,
            )  # fmt: skip


ROBOT = Robot(
    name="panda_mobile",
    title="Franka Emika Panda on an omnidirectional vehicle",
    licence=franka.LICENCE,
    source=franka.SOURCE + "; the vehicle is this project's own",
    models=(franka.MODEL,),
    build=build,
    base=Base(
        kind="planar",
        joints=("base_x", "base_y", "base_yaw"),
        actuators=("base_x", "base_y", "base_yaw"),
        radius=0.34,
        velocity_limits=(0.5, 0.5, 1.0),
        acceleration_limits=(1.0, 1.0, 2.0),
        footprint=(_LENGTH, _WIDTH),
    ),
    arms=(franka.ARM,),
    cameras=(RobotCamera(name="wrist", body="hand"),),
    arm_height=_ARM_Z,
    excluded_collisions=(*franka.EXCLUDED, ("base", "link0"), ("base", "link1")),
)
