"""Does a robot's description fit its model? Everything that would otherwise fail in the middle of a run, found at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import mujoco
import numpy as np

from embodiedsmith.embodiments.balance import Balance
from embodiedsmith.embodiments.description import Arm, Base, Robot
from embodiedsmith.embodiments.errors import EmbodimentError, InvalidRobot

_TOLERANCE = 1e-6
"""How far beyond a limit a value may lie and still count as on it [m or rad]."""

_SERVO = "<position name={name!r} joint={joint!r} kp=... kv=... forcerange=.../>"


def validate(robot: Robot) -> mujoco.MjModel:
    """The robot's compiled model, if its description fits it.

    Raises:
        InvalidRobot: it does not; lists every fault with its remedy.
    """
    try:
        spec = robot.build()
        model = spec.compile()
    except (ValueError, EmbodimentError) as error:
        raise InvalidRobot(robot.name, [f"its model does not build: {error}"]) from error
    faults = [*_fragment_faults(spec, robot), *_base_faults(model, robot.base)]
    for arm in robot.arms:
        faults += _arm_faults(model, arm)
    faults += _onboard_faults(model, robot)
    if not robot.arms:
        faults.append("it has no arm; give at least one Arm")
    faults += _name_faults(model, robot)
    if not faults:
        faults += _home_faults(model, robot)
    if faults:
        raise InvalidRobot(robot.name, faults)
    return model


def _fragment_faults(spec: mujoco.MjSpec, robot: Robot) -> Iterator[str]:
    top = spec.worldbody.bodies
    if [body.name for body in top] != ["base"]:
        yield f"top-level bodies are {[body.name for body in top]}; there must be one, called 'base'"
    elif np.any(top[0].pos) or not np.allclose(np.abs(top[0].quat), (1, 0, 0, 0)):
        yield f"'base' is at {list(top[0].pos)} turned by {list(top[0].quat)}; it must be at the origin, unturned"
    for what, things in (("keyframes", spec.keys), ("lights", spec.lights), ("geoms fixed to the world", spec.worldbody.geoms)):
        if things:
            yield f"the fragment has {len(things)} {what}; delete them, they belong to the scene"
    extra = sorted({camera.name for camera in spec.cameras} - {camera.name for camera in robot.cameras})
    if extra:
        yield f"cameras {extra} are in the model but not in the description; add a RobotCamera or delete them"


def _base_faults(model: mujoco.MjModel, base: Base) -> Iterator[str]:
    wanted = 3 if base.kind == "planar" else 0
    for field in ("joints", "actuators", "velocity_limits", "acceleration_limits"):
        count = len(getattr(base, field))
        if count != wanted:
            yield f"a {base.kind} base has {wanted} {field}; base.{field} has {count}"
            return
    kinds = (mujoco.mjtJoint.mjJNT_SLIDE, mujoco.mjtJoint.mjJNT_SLIDE, mujoco.mjtJoint.mjJNT_HINGE)
    for name, kind, axis in zip(base.joints, kinds, np.eye(3), strict=False):
        joint = _find(model, mujoco.mjtObj.mjOBJ_JOINT, name)
        if joint < 0:
            yield f"no joint {name!r} for the base"
        elif model.jnt_type[joint] != kind or not np.allclose(model.jnt_axis[joint], axis):
            yield f"base joint {name!r} must be the {kind.name[6:].lower()} along {axis.tolist()}: x, then y, then yaw"
    yield from _servo_faults(model, base.joints, base.actuators)
    yield from _limit_faults("base", base.velocity_limits, base.acceleration_limits)


def _arm_faults(model: mujoco.MjModel, arm: Arm) -> Iterator[str]:
    count = len(arm.joints)
    for field in ("actuators", "home", "velocity_limits", "acceleration_limits"):
        if len(getattr(arm, field)) != count:
            yield f"the arm has {count} joints but {len(getattr(arm, field))} {field}; give one a joint, in the same order"
    if len(set(arm.joints)) != count:
        yield f"arm joints are named twice: {sorted({j for j in arm.joints if arm.joints.count(j) > 1})}"
    yield from _servo_faults(model, arm.joints, arm.actuators)
    yield from _position_faults(model, arm.joints, arm.home, "home")
    yield from _limit_faults("arm", arm.velocity_limits, arm.acceleration_limits)
    if _find(model, mujoco.mjtObj.mjOBJ_SITE, arm.tcp_site) < 0:
        yield f"no site {arm.tcp_site!r} for the TCP; add one midway between the pads, z out of the palm, y closing"
    if arm.reach <= 0:
        yield f"reach is {arm.reach} m; it must be positive"
    yield from _gripper_faults(model, arm)


def _onboard_faults(model: mujoco.MjModel, robot: Robot) -> Iterator[str]:
    """Whether a robot stands on feet exactly if it is said to, and what its balance controller needs is there."""
    onboard = robot.onboard
    if (onboard is not None) != (robot.base.kind == "floating"):
        yield f"a {robot.base.kind} base {'has no' if onboard is not None else 'needs an'} onboard balance"
    if onboard is None:
        return
    if _find(model, mujoco.mjtObj.mjOBJ_JOINT, "free") < 0:
        yield "no joint 'free' under 'base': a floating base moves by a free joint of that name"
    if np.any(model.body_gravcomp):
        yield "some bodies have gravcomp, which would make a robot on its feet weightless; take it away"
    if len(onboard.actuators) != len(onboard.joints) or len(onboard.stance) != len(onboard.joints):
        yield f"onboard has {len(onboard.joints)} joints, {len(onboard.actuators)} actuators and {len(onboard.stance)} stance"
    if len(onboard.legs) != 12 or set(onboard.legs) - set(onboard.joints):
        yield f"onboard.legs must be 12 of onboard.joints, six a leg; there are {len(onboard.legs)}"
    yield from _servo_faults(model, onboard.joints, onboard.actuators)
    yield from _position_faults(model, onboard.joints, onboard.stance, "stance")
    yield from (f"no site {s!r} for a foot" for s in onboard.feet if _find(model, mujoco.mjtObj.mjOBJ_SITE, s) < 0)
    if _find(model, mujoco.mjtObj.mjOBJ_BODY, onboard.mount) < 0:
        yield f"no body {onboard.mount!r} that carries the arms"


def _gripper_faults(model: mujoco.MjModel, arm: Arm) -> Iterator[str]:
    gripper = arm.gripper
    for field in ("open_ctrl", "closed_ctrl"):
        if len(getattr(gripper, field)) != len(gripper.actuators):
            yield f"the gripper has {len(gripper.actuators)} actuators but {len(getattr(gripper, field))} {field}; give one each"
    for k, name in enumerate(gripper.actuators):
        actuator = _find(model, mujoco.mjtObj.mjOBJ_ACTUATOR, name)
        if actuator < 0:
            yield f"no actuator {name!r} for the gripper; add a force-limited <position name={name!r} .../>"
            continue
        low, high = model.actuator_ctrlrange[actuator]
        for field in ("open_ctrl", "closed_ctrl"):
            for value in getattr(gripper, field)[k : k + 1]:
                if model.actuator_ctrllimited[actuator] and not low - _TOLERANCE <= value <= high + _TOLERANCE:
                    yield f"gripper {field} {value} is outside the control range [{low:g}, {high:g}] of {name!r}"
        joint = model.actuator_trnid[actuator, 0]
        on_joint = model.actuator_trntype[actuator] == mujoco.mjtTrn.mjTRN_JOINT
        if not (model.actuator_forcelimited[actuator] or (on_joint and model.jnt_actfrclimited[joint])):
            yield f"gripper actuator {name!r} has no force limit; add forcerange, or it expels what it holds"
    if gripper.open_ctrl == gripper.closed_ctrl:
        yield "the gripper's open_ctrl and closed_ctrl are equal; 0 is open and 1 is closed"
    yield from _position_faults(model, gripper.joints, gripper.open_qpos, "open_qpos")
    yield from _position_faults(model, gripper.joints, gripper.closed_qpos, "closed_qpos")
    for side in gripper.finger_bodies:
        bodies = {name: _find(model, mujoco.mjtObj.mjOBJ_BODY, name) for name in side}
        yield from (f"no finger body {name!r}" for name, body in bodies.items() if body < 0)
        found = [body for body in bodies.values() if body >= 0]
        if found and not np.any(model.geom_contype[np.isin(model.geom_bodyid, found)]):
            yield f"finger bodies {sorted(side)} have no geom that collides, so they cannot touch anything"
    for field in ("max_width", "force", "speed"):
        if getattr(gripper, field) <= 0:
            yield f"gripper {field} is {getattr(gripper, field)}; it must be positive"


def _servo_faults(model: mujoco.MjModel, joints: Sequence[str], actuators: Sequence[str]) -> Iterator[str]:
    """Whether each actuator is a position servo on its joint: force = kp (ctrl - q) - kv q'."""
    for joint_name, name in zip(joints, actuators, strict=False):
        joint = _find(model, mujoco.mjtObj.mjOBJ_JOINT, joint_name)
        actuator = _find(model, mujoco.mjtObj.mjOBJ_ACTUATOR, name)
        if joint < 0:
            yield f"no joint {joint_name!r} in the model"
        if actuator < 0:
            servo = _SERVO.format(name=name, joint=joint_name)
            yield f"joint {joint_name!r} has no actuator {name!r}; add {servo} under <actuator>"
        elif joint >= 0:
            on_joint = (
                model.actuator_trntype[actuator] == mujoco.mjtTrn.mjTRN_JOINT and model.actuator_trnid[actuator, 0] == joint
            )
            kp = model.actuator_gainprm[actuator, 0]
            if not on_joint:
                yield f"actuator {name!r} does not drive joint {joint_name!r}; list actuators in the order of the joints"
            elif kp <= 0 or not np.isclose(kp, -model.actuator_biasprm[actuator, 1]) or model.actuator_biasprm[actuator, 2] > 0:
                yield f"actuator {name!r} is not a position servo; make it {_SERVO.format(name=name, joint=joint_name)}"


def _position_faults(model: mujoco.MjModel, joints: Sequence[str], positions: Sequence[float], what: str) -> Iterator[str]:
    if len(joints) != len(positions):
        yield f"{what} has {len(positions)} values for {len(joints)} joints"
    for name, value in zip(joints, positions, strict=False):
        joint = _find(model, mujoco.mjtObj.mjOBJ_JOINT, name)
        if joint >= 0 and model.jnt_limited[joint]:
            low, high = model.jnt_range[joint]
            if not low - _TOLERANCE <= value <= high + _TOLERANCE:
                yield f"{what} of joint {name!r} is {value:g}, outside its range [{low:g}, {high:g}]"


def _limit_faults(what: str, velocity: Sequence[float], acceleration: Sequence[float]) -> Iterator[str]:
    for field, values in (("velocity_limits", velocity), ("acceleration_limits", acceleration)):
        if any(value <= 0 for value in values):
            yield f"{what} {field} {tuple(values)} must all be positive"


def _name_faults(model: mujoco.MjModel, robot: Robot) -> Iterator[str]:
    for camera in robot.cameras:
        index = _find(model, mujoco.mjtObj.mjOBJ_CAMERA, camera.name)
        if index < 0:
            yield f"no camera {camera.name!r} in the model"
        elif model.body(model.cam_bodyid[index]).name != camera.body:
            yield f"camera {camera.name!r} is on body {model.body(model.cam_bodyid[index]).name!r}, not on {camera.body!r}"
    for name in sorted({name for pair in robot.excluded_collisions for name in pair}):
        if _find(model, mujoco.mjtObj.mjOBJ_BODY, name) < 0:
            yield f"excluded_collisions names a body {name!r} that is not in the model"
    described = [*robot.base.actuators, *(robot.onboard.actuators if robot.onboard is not None else ())]
    for arm in robot.arms:
        described += [*arm.actuators, *arm.gripper.actuators]
    twice = sorted({name for name in described if described.count(name) > 1})
    if twice:
        yield f"actuators {twice} are described twice"
    idle = sorted({model.actuator(i).name for i in range(model.nu)} - set(described))
    if idle:
        yield f"actuators {idle} are in the model but nothing in the description drives them"


def _home_faults(model: mujoco.MjModel, robot: Robot) -> Iterator[str]:
    """Whether the robot touches itself at home with its grippers open."""
    data = mujoco.MjData(model)
    for arm in robot.arms:
        pairs = [*zip(arm.joints, arm.home, strict=True), *zip(arm.gripper.joints, arm.gripper.open_qpos, strict=True)]
        for name, value in pairs:
            data.joint(name).qpos = value
    if robot.onboard is not None:
        Balance(robot).place(data.qpos)
    mujoco.mj_kinematics(model, data)
    mujoco.mj_collision(model, data)
    for contact in data.contact:
        a, b = (model.body(model.geom_bodyid[geom]).name for geom in (contact.geom1, contact.geom2))
        yield f"at home, bodies {a!r} and {b!r} overlap by {-1e3 * contact.dist:.1f} mm; choose another home or exclude the pair"


def _find(model: mujoco.MjModel, kind: mujoco.mjtObj, name: str) -> int:
    """Index of the named element, -1 when there is none."""
    return int(mujoco.mj_name2id(model, kind, name))
