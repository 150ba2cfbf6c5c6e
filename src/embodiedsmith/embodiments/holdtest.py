"""Does a robot hold what it picks up? A grip on a box, a cylinder and a mug, at rest and shaken by the robot's own arm.

The arm stands at home with its fingers round the object, the fingers close, the object is let go, and for ten seconds nothing
moves but what slips. Then the arm shakes it along each axis of the tool in turn. Slip is how far the point of the object that was
midway between the pads has moved in the tool's frame.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from embodiedsmith.embodiments import contact
from embodiedsmith.embodiments.description import Robot
from embodiedsmith.embodiments.errors import EmbodimentError

STATIC_SECONDS = 10.0
STATIC_LIMIT = 1e-3
"""Largest slip at rest [m]."""
SHAKE_FREQUENCY = 2.0
"""[Hz]"""
SHAKE_ACCELERATION = 5.0
"""Peak [m/s^2]."""
SHAKE_LIMIT = 2e-3
"""Largest slip through the shake [m]."""
GIVE = 0.1
"""How far soft fingers may bend with what they hold, on top of both, for each metre that they squeeze it: that is no slip."""
TURN_LIMIT = math.radians(10.0)
"""Largest turn in the grip at any time [rad]: a mug that hangs askew is not held."""
_CYCLES = 4  # of shaking along each axis, the first one swelling
_CLOSE_SECONDS, _SETTLE_SECONDS = 1.5, 0.5

Float = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class HoldResult:
    """What became of one object in one robot's grip."""

    robot: str
    shape: str
    mass: float
    """[kg]"""
    static_slip: float
    """Largest slip over ten seconds at rest [m]."""
    shake_slip: float
    """Largest slip through the shake along any one axis [m]."""
    turn: float
    """Largest turn of the object in the tool's frame over both [rad]."""
    acceleration: float
    """Peak acceleration that the tool really had along the weakest of the shaken axes [m/s^2], from its measured stroke."""
    held: bool
    """Whether both fingers still touch the object at the end."""
    give: float = 0.0
    """How far the fingers may bend with it [m]."""

    def __str__(self) -> str:
        """One line for people, in millimetres."""
        return (
            f"{'holds' if self.passed else 'DROPS'}  {self.shape:<8} {1e3 * self.mass:4.0f} g  "
            f"at rest {1e3 * self.static_slip:.2f} mm  "
            f"shaken {1e3 * self.shake_slip:.2f} mm  turned {math.degrees(self.turn):.1f} deg  at {self.acceleration:.1f} m/s2"
        )

    @property
    def passed(self) -> bool:
        """Whether it held: within every limit, under at least 90 % of the acceleration asked for."""
        moves = self.static_slip < STATIC_LIMIT + self.give and self.shake_slip < SHAKE_LIMIT + self.give
        return self.held and moves and self.turn < TURN_LIMIT and self.acceleration > 0.9 * SHAKE_ACCELERATION


def hold_test(
    robot: Robot,
    shapes: Sequence[str] = ("box", "cylinder", "mug"),
    masses: Sequence[float] = (0.05, 0.2, 0.5),
) -> list[HoldResult]:
    """Hold every shape with every mass [kg].

    Raises:
        EmbodimentError: a shape is unknown.
    """
    unknown = [shape for shape in shapes if shape not in SHAPES]
    if unknown:
        raise EmbodimentError(f"the hold test knows no shape {unknown}", choices=SHAPES)
    return [_hold(robot, shape, mass) for shape in shapes for mass in masses]


def _hold(robot: Robot, shape: str, mass: float) -> HoldResult:
    test = _Test(robot, shape, mass)
    test.run(_CLOSE_SECONDS)
    test.let_go()
    test.run(_SETTLE_SECONDS)
    start = test.grip()
    rest = test.run(STATIC_SECONDS)
    static_slip, static_turn = _slip(start, rest)
    shakes = [(test.grip(), *test.shake(axis)) for axis in range(3)]
    slips = [_slip(before, poses) for before, poses, _ in shakes]
    return HoldResult(
        robot=robot.name,
        shape=shape,
        mass=mass,
        static_slip=static_slip,
        shake_slip=max(distance for distance, _ in slips),
        turn=max(static_turn, *(turn for _, turn in slips)),
        acceleration=min(acceleration for _, _, acceleration in shakes),
        held=test.touched_by_both(),
        give=GIVE * robot.arm.gripper.squeeze,
    )


Grip = tuple[Float, Float]
"""Position [m] and rotation matrix of the object in the tool's frame."""


def _slip(start: Grip, poses: Sequence[Grip]) -> tuple[float, float]:
    """Largest distance [m] and angle [rad] from `start`."""
    distance = max(float(np.linalg.norm(position - start[0])) for position, _ in poses)
    cosine = min((float(np.trace(start[1].T @ rotation)) - 1.0) / 2.0 for _, rotation in poses)
    return distance, math.acos(min(1.0, max(-1.0, cosine)))


class _Test:
    """One object between one robot's fingers."""

    def __init__(self, robot: Robot, shape: str, mass: float) -> None:
        arm, gripper = robot.arm, robot.arm.gripper
        spec = mujoco.MjSpec()
        contact.OPTIONS.apply(spec)
        spec.attach(robot.build(), prefix="robot/", frame=spec.worldbody.add_frame())
        if robot.base.kind == "floating":  # only the grip is tested here: held up by its base, its weight carried
            spec.delete(spec.joint("robot/free"))
            for link in spec.bodies:
                link.gravcomp = float(link.name.startswith("robot/"))
        thing = spec.worldbody.add_body(name="thing")
        thing.add_freejoint()
        SHAPES[shape](thing, mass)
        spec.add_equality(
            name="hand_over", type=mujoco.mjtEq.mjEQ_WELD, objtype=mujoco.mjtObj.mjOBJ_BODY, name1="world", name2="thing"
        )
        model = self.model = spec.compile()
        self.data = mujoco.MjData(model)
        self.site = model.site(f"robot/{arm.tcp_site}").id
        self.thing = model.body("thing").id
        self.fingers = [[model.body(f"robot/{name}").id for name in side] for side in gripper.finger_bodies]
        joints = [model.joint(f"robot/{name}") for name in arm.joints]
        self.qpos = np.array([joint.qposadr[0] for joint in joints])
        self.dofs = np.array([joint.dofadr[0] for joint in joints])
        self.motors = np.array([model.actuator(f"robot/{name}").id for name in arm.actuators])
        self.lead = -model.actuator_biasprm[self.motors, 2] / model.actuator_gainprm[self.motors, 0]  # kv / kp [s]
        self.data.qpos[self.qpos] = self.target = np.array(arm.home)
        for name, opened in zip(gripper.joints, gripper.open_qpos, strict=True):
            self.data.joint(f"robot/{name}").qpos = opened
        mujoco.mj_kinematics(model, self.data)
        pose = np.empty(4)
        mujoco.mju_mat2Quat(pose, self.data.site_xmat[self.site])
        self.data.joint(model.body_jntadr[self.thing]).qpos = np.concatenate([self.data.site_xpos[self.site], pose])
        model.equality("hand_over").data[:10] = np.concatenate([np.zeros(3), self.data.site_xpos[self.site], pose])
        self.data.ctrl[self.motors] = self.target
        closed = gripper.controls(gripper.taking(WIDTHS[shape]))
        for name, control in zip(gripper.actuators, closed, strict=True):
            self.data.actuator(f"robot/{name}").ctrl = control

    def let_go(self) -> None:
        """From here on only the fingers hold the object."""
        self.data.eq_active[self.model.equality("hand_over").id] = 0

    def grip(self) -> Grip:
        """The object's pose in the tool's frame, after the latest step."""
        mujoco.mj_kinematics(self.model, self.data)
        tool = self.data.site_xmat[self.site].reshape(3, 3)
        position = tool.T @ (self.data.xpos[self.thing] - self.data.site_xpos[self.site])
        return position, tool.T @ self.data.xmat[self.thing].reshape(3, 3)

    def run(self, seconds: float) -> list[Grip]:
        """Stand still; returns the grip ten times a second."""
        poses = []
        for step in range(round(seconds / self.model.opt.timestep)):
            mujoco.mj_step(self.model, self.data)
            if step % 24 == 23:
                poses.append(self.grip())
        return poses

    def shake(self, axis: int) -> tuple[list[Grip], float]:
        """Shake along one axis of the tool; returns the grips and the peak acceleration that the tool really had [m/s^2]."""
        step = self.model.opt.timestep
        omega = 2.0 * math.pi * SHAKE_FREQUENCY
        times = np.arange(round(_CYCLES / SHAKE_FREQUENCY / step) + 1) * step
        swell = np.clip(times * SHAKE_FREQUENCY, 0.0, 1.0) * np.clip((times[-1] - times) * SHAKE_FREQUENCY, 0.0, 1.0)
        offsets = SHAKE_ACCELERATION / omega**2 * np.sin(omega * times) * swell
        path = self._joint_path(self.data.site_xmat[self.site].reshape(3, 3)[:, axis].copy(), offsets)
        velocity = np.gradient(path, step, axis=0)
        origin, poses, strokes = self.data.site_xpos[self.site].copy(), [], []
        direction = self.data.site_xmat[self.site].reshape(3, 3)[:, axis].copy()
        for target, speed in zip(path, velocity, strict=True):
            self.data.ctrl[self.motors] = target + self.lead * speed
            mujoco.mj_step(self.model, self.data)
            poses.append(self.grip())
            strokes.append(float(direction @ (self.data.site_xpos[self.site] - origin)))
        return poses, (max(strokes) - min(strokes)) / 2.0 * omega**2

    def _joint_path(self, direction: Float, offsets: Float) -> Float:
        """Arm joint targets (T, n) that move the tool by `offsets` (T,) along `direction`, without turning it."""
        ghost = mujoco.MjData(self.model)
        ghost.qpos[:] = self.data.qpos
        jacobian = np.empty((6, self.model.nv))
        target, path, done = self.target.copy(), [], 0.0
        for offset in offsets:
            ghost.qpos[self.qpos] = target
            mujoco.mj_kinematics(self.model, ghost)
            mujoco.mj_comPos(self.model, ghost)
            mujoco.mj_jacSite(self.model, ghost, jacobian[:3], jacobian[3:], self.site)
            twist = np.concatenate([direction * (offset - done), np.zeros(3)])
            target = target + np.linalg.pinv(jacobian[:, self.dofs]) @ twist
            path.append(target)
            done = float(offset)
        return np.array(path)

    def touched_by_both(self) -> bool:
        """Whether each finger is in contact with the object now."""
        mujoco.mj_forward(self.model, self.data)
        touching = set()
        for contact_ in self.data.contact:
            bodies = {int(self.model.geom_bodyid[contact_.geom1]), int(self.model.geom_bodyid[contact_.geom2])}
            if self.thing in bodies:
                touching |= bodies
        return all(touching & set(side) for side in self.fingers)


def _box(body: Any, mass: float) -> None:
    """A carton of 60 x 40 x 80 mm held across its 40 mm, 25 mm below its top."""
    body.add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, pos=(0, 0, 0.015), size=(0.03, 0.02, 0.04), mass=mass)


def _cylinder(body: Any, mass: float) -> None:
    """A can of 50 mm by 100 mm held across its diameter, 25 mm below its top."""
    body.add_geom(type=mujoco.mjtGeom.mjGEOM_CYLINDER, pos=(0, 0, 0.025), size=(0.025, 0.05, 0), mass=mass)


def _mug(body: Any, mass: float) -> None:
    """A mug of 80 mm by 95 mm with 5 mm walls, held by its wall 15 mm below the rim, its weight 40 mm to the side."""
    radius, wall, height, pieces = 0.04, 0.005, 0.095, 16
    middle = radius - wall / 2
    centre = np.array([0.0, -middle, height / 2 - 0.015])  # of the mug; the tool's z points down into it
    half = (middle + wall / 2) * math.tan(math.pi / pieces)
    share = mass * 0.85 / pieces
    for i in range(pieces):
        angle = 2.0 * math.pi * i / pieces + math.pi / 2
        body.add_geom(
            type=mujoco.mjtGeom.mjGEOM_BOX,
            pos=centre + middle * np.array([math.cos(angle), math.sin(angle), 0.0]),
            size=(wall / 2, half, height / 2),
            quat=(math.cos(angle / 2), 0.0, 0.0, math.sin(angle / 2)),
            mass=share,
        )
    bottom = centre + np.array([0.0, 0.0, height / 2 - wall / 2])
    body.add_geom(type=mujoco.mjtGeom.mjGEOM_CYLINDER, pos=bottom, size=(middle, wall / 2, 0), mass=mass * 0.15)


SHAPES: dict[str, Callable[[Any, float], None]] = {"box": _box, "cylinder": _cylinder, "mug": _mug}
"""What is held: each adds its geoms to a body whose frame is the tool's."""

WIDTHS = {"box": 0.04, "cylinder": 0.05, "mug": 0.005}
"""How wide each is where it is held [m]."""
