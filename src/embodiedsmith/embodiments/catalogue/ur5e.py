"""Universal Robots UR5e with a Robotiq 2F-85 gripper on a fixed mount."""

from __future__ import annotations

import itertools
import math
from typing import Any

import mujoco

from embodiedsmith.embodiments import contact, models, universal
from embodiedsmith.embodiments.description import Base, Gripper, Robot, RobotCamera
from embodiedsmith.embodiments.meshes import simplify_visuals

_FORCE = 30.0
"""Force of each pad [N]; the 2F-85 gives 20 to 235 N (Robotiq 2F-85 data sheet)."""
_LEVER = 0.053
"""Pad travel per turn of the driver [m/rad]: half of the 85 mm stroke over 0.8 rad."""
_SPEED = 0.1
"""Closing speed of the gap [m/s]; the data sheet gives 0.02 to 0.15."""
_STROKE = 0.8
"""Driver angle from open to closed [rad]."""
_BITE = 0.03
"""How far past closed the servo aims [rad], so that thin things are held as firmly as thick ones."""

_EXCLUDED = (
    *universal.EXCLUDED,
    ("wrist_1_link", "gripper/base"), ("wrist_2_link", "gripper/base"), ("wrist_3_link", "gripper/base"),
)  # fmt: skip
"""Neighbours, whose shapes overlap at their joint by construction."""

_MOVING = tuple(f"gripper/{side}_{link}" for side in ("left", "right") for link in ("coupler", "follower", "pad"))
_EXCLUDED_IN_GRIPPER = tuple(itertools.combinations(("gripper/base", *_MOVING), 2))
"""The linkage and its joint limits keep the gripper's own links apart, also when it closes on nothing."""


@models.made_once
def build() -> mujoco.MjSpec:
    """A fresh fragment: the arm on a bare base body, the gripper with its linkage at its flange."""
    spec = universal.build_arm()
    spec.attach(_gripper(), prefix="gripper/", site=spec.site("attachment_site"))
    palm = spec.body("gripper/base")
    palm.add_site(name="tcp", pos=(0, 0, _TCP_IN_BASE), size=(0.005, 0.005, 0.005), group=4)
    tilt = math.radians(15.0)  # towards the fingertips
    palm.add_camera(name="wrist", pos=(0.075, 0.0, 0.02), xyaxes=(0, 1, 0, math.cos(tilt), 0, math.sin(tilt)), fovy=75.0)
    for a, b in (*_EXCLUDED, *_EXCLUDED_IN_GRIPPER):
        spec.add_exclude(bodyname1=a, bodyname2=b)
    for body in spec.bodies:
        body.gravcomp = 1.0  # the real controller compensates the arm's and tool's weight
    return spec


def _gripper() -> mujoco.MjSpec:
    folder = models.folder("robotiq_2f85")
    spec = mujoco.MjSpec.from_file(str(folder / "2f85.xml"))
    contact.OPTIONS.apply(spec)
    for geom in list(spec.geoms):
        if geom.contype or geom.conaffinity:
            spec.delete(geom)
    simplify_visuals(spec, folder / spec.meshdir)
    for exclude in list(spec.excludes):
        spec.delete(exclude)
    _collisions(spec)
    _drive(spec)
    return spec


_TCP_IN_BASE = 0.150
"""[m] The pads swing forward as they close: their middles are 19 mm behind this point when open, 8 mm at 43 mm and 6 mm when
closed, their tips then 13 mm beyond it."""


def _collisions(spec: mujoco.MjSpec) -> None:
    """Boxes round the links that can touch something, from the bounds of the menagerie meshes; one flat box a pad."""
    box = mujoco.mjtGeom.mjGEOM_BOX
    _collision(spec.body("base"), type=box, pos=(0, 0, 0.041), size=(0.0375, 0.0424, 0.049))
    for side in ("left", "right"):
        _collision(spec.body(f"{side}_coupler"), type=box, pos=(0, 0.003, 0.0235), size=(0.0135, 0.009, 0.0295))
        _collision(spec.body(f"{side}_follower"), type=box, pos=(0, -0.009, 0.019), size=(0.0075, 0.0145, 0.025))
        pad = _collision(
            spec.body(f"{side}_pad"), name=f"{side}_pad", type=box, pos=(0, -0.0026, 0.01875), size=(0.011, 0.004, 0.01875)
        )
        contact.make_pad(pad)


def _collision(body: Any, **properties: Any) -> Any:
    return body.add_geom(group=3, mass=0.0, density=0.0, **properties)


def _drive(spec: mujoco.MjSpec) -> None:
    """A force-limited servo on the mean driver angle [rad]."""
    actuator = spec.actuator("fingers_actuator")
    torque = _FORCE * _LEVER  # of each driver [N m]; the tendon halves what the actuator gives
    stiffness = 100.0
    actuator.gainprm = [stiffness] + [0.0] * 9
    actuator.biasprm = [0.0, -stiffness] + [0.0] * 8
    actuator.forcerange = (-2 * torque, 2 * torque)
    actuator.ctrlrange = (0.0, _STROKE + _BITE)
    for side in ("left", "right"):
        # The geared drive limits the speed, and a held object cannot push the fingers apart quickly.
        spec.joint(f"{side}_driver_joint").damping = [torque * 2 * _LEVER / _SPEED, 0.0, 0.0]


_FINGER_JOINTS = tuple(
    f"gripper/{side}_{link}_joint" for link in ("driver", "spring_link", "follower") for side in ("left", "right")
)

ROBOT = Robot(
    name="ur5e",
    title="Universal Robots UR5e with a Robotiq 2F-85 gripper on a fixed mount",
    licence="BSD-3-Clause (UR5e), BSD-2-Clause (2F-85)",
    source="MuJoCo Menagerie, universal_robots_ur5e and robotiq_2f85",
    models=("universal_robots_ur5e", "robotiq_2f85"),
    build=build,
    base=Base(kind="fixed", radius=0.2, footprint=(0.25, 0.25)),
    arms=(
        universal.arm(
            tcp_site="tcp",
            gripper=Gripper(
                actuators=("gripper/fingers_actuator",),
                open_ctrl=(0.0,),
                closed_ctrl=(_STROKE + _BITE,),
                joints=_FINGER_JOINTS,
                open_qpos=(0.0,) * 6,
                closed_qpos=(_STROKE,) * 4 + (-_STROKE,) * 2,
                finger_bodies=(("gripper/left_pad",), ("gripper/right_pad",)),
                max_width=0.085,
                force=_FORCE,
                speed=_SPEED,
            ),
            reach=0.98,
        ),
    ),
    cameras=(RobotCamera(name="wrist", body="gripper/base"),),
    excluded_collisions=(*_EXCLUDED, *_EXCLUDED_IN_GRIPPER),
)
