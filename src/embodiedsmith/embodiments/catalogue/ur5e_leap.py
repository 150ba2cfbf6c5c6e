"""Universal Robots UR5e with a LEAP hand on a fixed mount."""

from __future__ import annotations

import math

import mujoco

from embodiedsmith.embodiments import leap, models, universal
from embodiedsmith.embodiments.description import Base, Cradle, Robot, RobotCamera

_PALM = (-leap.TCP[0], leap.TCP[1], 0.03)
"""Where the palm's frame is in the flange's, turned over [m]: its back on the flange, the tool centre point on its axis."""
_PLATE = (0.036, 0.009)
"""Radius and half the thickness of the plate between flange and hand [m]."""

_PALM_UP = (-0.0760, -0.6707, 1.6815, 0.5600, -1.5708, -2.3)
"""Arm joints [rad] with the palm up and level, 0.45 m before the base and 0.35 m above it at the tool centre point, the fingers
away from the forearm."""

_EXCLUDED = (
    *universal.EXCLUDED,
    *((f"wrist_{k}_link", f"hand/{link}") for k in (1, 2, 3) for link in ("palm", "th_mp", "if_bs", "mf_bs", "rf_bs")),
    *((f"hand/{a}", f"hand/{b}") for a, b in leap.EXCLUDED),
)


@models.made_once
def build() -> mujoco.MjSpec:
    """A fresh fragment: the arm on a bare base body, the hand on a plate at its flange."""
    spec = universal.build_arm()
    hand = leap.build_hand()
    hand.body("palm").pos, hand.body("palm").quat = _PALM, (0.0, 1.0, 0.0, 0.0)
    spec.attach(hand, prefix="hand/", site=spec.site(universal.FLANGE))
    palm = spec.body("hand/palm")
    radius, half = _PLATE
    palm.add_geom(
        type=mujoco.mjtGeom.mjGEOM_CYLINDER, pos=(-_PALM[0], _PALM[1], _PALM[2] - half), size=(radius, half, 0.0),
        contype=0, conaffinity=0, group=2, mass=0.0, density=0.0, rgba=(0.2, 0.2, 0.2, 1.0),
    )  # fmt: skip
    palm.add_site(name="tcp", pos=leap.TCP, xyaxes=(0, 1, 0, 1, 0, 0), size=(0.005, 0.005, 0.005), group=4)
    tilt = math.radians(25.0)  # towards the fingertips
    palm.add_camera(name="wrist", pos=(-0.03, 0.075, 0.0), xyaxes=(1, 0, 0, 0, math.cos(tilt), -math.sin(tilt)), fovy=75.0)
    for exclude in list(spec.excludes):
        spec.delete(exclude)
    for a, b in _EXCLUDED:
        spec.add_exclude(bodyname1=a, bodyname2=b)
    for body in spec.bodies:
        body.gravcomp = 1.0  # the real controller compensates the arm's and tool's weight
    return spec


ROBOT = Robot(
    name="ur5e_leap",
    title="Universal Robots UR5e with a LEAP hand on a fixed mount",
    licence="BSD-3-Clause (UR5e), MIT (LEAP hand)",
    source="MuJoCo Menagerie, universal_robots_ur5e and leap_hand",
    models=(universal.MODEL, leap.MODEL),
    build=build,
    base=Base(kind="fixed", radius=0.2, footprint=(0.25, 0.25)),
    arms=(
        universal.arm(
            tcp_site="tcp",
            gripper=leap.gripper("hand/"),
            reach=0.95,
            cradle=Cradle(joints=_PALM_UP, fingers=leap.LYING, place=leap.PALM, play=leap.PLAY),
        ),
    ),
    cameras=(RobotCamera(name="wrist", body="hand/palm"),),
    excluded_collisions=_EXCLUDED,
)
