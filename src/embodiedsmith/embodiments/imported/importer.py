"""From somebody's robot file to a robot of the house: asked what it is, made fit for work, looked over, and kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import mujoco
import numpy as np

from embodiedsmith.assets.imported import models
from embodiedsmith.assets.imported.faults import Fault, ImportRefused
from embodiedsmith.embodiments.errors import InvalidRobot
from embodiedsmith.embodiments.imported import body, jaws, posture, store
from embodiedsmith.embodiments.imported.anatomy import Anatomy, Float, NoArm, dissect
from embodiedsmith.embodiments.imported.store import ImportedRobot, RobotRecord
from embodiedsmith.embodiments.validation import validate
from embodiedsmith.runtime.files import sha256_file

SPEED, ACCELERATION = 2.0, 8.0
"""Speed [rad/s] and acceleration [rad/s^2] of joints whose file says nothing, and the most that is used."""
SHARE = 0.4
"""Part of a joint's greatest force that accelerating it may take."""


@dataclass(frozen=True, kw_only=True)
class Wishes:
    """What the user says of the file."""

    name: str
    title: str | None = None
    licence: str = "unknown"
    palm: str | None = None
    """The body that carries the gripper to use, where there are several."""
    repair: bool = False
    replace: bool = False


def import_robot(path: Path, wishes: Wishes) -> ImportedRobot:
    """Make a robot of a URDF or MJCF file, and keep it.

    Raises:
        ImportRefused: it cannot work as it is; names every fault with its remedy.
        EmbodimentError: there is a robot of that name already.
    """
    parsed = models.parse(path)
    faults = [*parsed.faults, *_free_faults(parsed)]
    parsed = replace(parsed, files=body.light(parsed.files), text=_stl_names(parsed))
    try:
        spec, home = body.on_base(parsed)
        model = spec.compile()
    except ValueError as error:
        reason = " ".join(str(error).split())[:300]
        raise ImportRefused(path, [*faults, Fault(f"MuJoCo refuses it ({reason})", "mend the model")]) from error
    try:
        anatomy, palms = dissect(model, None if wishes.palm is None else body.PREFIX + wishes.palm.removeprefix(body.PREFIX))
    except NoArm as error:
        faults.append(Fault(str(error), "import an arm with a two-finger gripper as one model"))
        raise ImportRefused(path, faults) from error
    if np.linalg.norm(off := _off_center(model, anatomy)) > 1e-3:
        spec, home = body.on_base(parsed, shift=tuple(float(value) for value in -off))
        model = spec.compile()
    faults += [*_actuator_faults(model, anatomy, parsed.urdf), *_range_faults(model, anatomy)]
    if any(not (wishes.repair and fault.cured) for fault in faults):
        raise ImportRefused(path, faults)
    notes = [f"mended: {fault.what}; {fault.cured}" for fault in faults]
    if gone := body.leave_out(spec, model, anatomy):
        notes.append(f"left out, with their joints: {', '.join(name.removeprefix(body.PREFIX) for name in gone)}")
    forces, speeds = _limits(model, anatomy, _urdf_speeds(path) if parsed.urdf else {})
    found = body.drives(model, anatomy) or body.free_drives(model, anatomy)
    body.drop_actuators(spec)
    body.trial_drives(spec, model, found)
    _exclude(spec, spec.compile(), anatomy)
    model = spec.compile()
    arm_home = [home[name] for name in anatomy.arm_joints] if all(name in home for name in anatomy.arm_joints) else None
    still = arm_home or [float(np.mean(model.joint(name).range)) for name in anatomy.arm_joints]
    try:
        hand = jaws.explore(model, anatomy, [drive.name for drive in found], still)
    except jaws.NoJaws as error:
        raise ImportRefused(path, [Fault(str(error), "check the ranges of the finger joints")]) from error
    opened, closed = body.final_drives(spec, model, found, hand)
    body.add_pads(spec, hand)
    body.add_tool(spec, anatomy.palm, hand)
    tried = posture.explore(spec.compile(), anatomy, arm_home, _fitted(hand.opened.qpos, spec))
    for a, b in tried.excluded:
        spec.add_exclude(bodyname1=a, bodyname2=b)
    greatest = body.add_servos(spec, spec.compile(), anatomy, tried.home, forces)
    model = spec.compile()
    record = _record(path, wishes, model, anatomy, hand, tried, opened, closed, found, speeds, greatest)
    guesses = _guesses(record, anatomy, palms, arm_home is not None)
    record = record.model_copy(update={"guesses": guesses, "notes": (*notes, *_notes(tried, speeds))})
    kept = store.save(record, spec.to_xml(), dict(parsed.files), replace=wishes.replace)
    try:
        validate(store.as_robot(kept))
    except InvalidRobot as error:
        store.remove(record.name)
        raise ImportRefused(path, [Fault(fault, "mend the model") for fault in error.faults]) from error
    return kept


def _stl_names(parsed: models.Parsed) -> str:
    """The model's text with its meshes called as `body.light` calls them."""
    text = parsed.text
    for name in parsed.files:
        text = text.replace(f'"{name}"', f'"{name.rpartition(".")[0]}.stl"') if not name.endswith(".msh") else text
    return text


def _off_center(model: Any, anatomy: Anatomy) -> Float:
    """How far beside the origin the arm's first joint stands [m], shape (3,), z zero."""
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    place = np.asarray(data.xanchor[model.joint(anatomy.arm_joints[0]).id], dtype=np.float64)
    return place * [1.0, 1.0, 0.0]


# Faults


def _free_faults(parsed: models.Parsed) -> list[Fault]:
    """A base that floats: an MJCF says so, in a URDF nothing does."""
    root = ElementTree.fromstring(parsed.text)
    free = [joint for joint in root.iter("joint") if joint.get("type") in ("free", "floating")] + list(root.iter("freejoint"))
    names = ", ".join(joint.get("name", "without a name") for joint in free)
    remedy = "remove the joint: only robots that stand fast can be imported"
    return [Fault(f"its base floats (free joint {names})", remedy)] if free else []


def _actuator_faults(model: Any, anatomy: Anatomy, urdf: bool) -> list[Fault]:
    """Joints that an MJCF leaves without an actuator. A URDF names none: its joints are taken to be driven."""
    if urdf:
        return []
    driven = {int(model.actuator_trnid[i, 0]) for i in range(model.nu) if model.actuator_trntype[i] == mujoco.mjtTrn.mjTRN_JOINT}
    bare = [name.removeprefix(body.PREFIX) for name in anatomy.arm_joints if model.joint(name).id not in driven]
    faults = []
    if bare:
        lines = " ".join(f'<position joint="{name}" kp="..." kv="..."/>' for name in bare)
        what = f"arm joints {', '.join(bare)} have no actuator"
        faults.append(Fault(what, f"add under <actuator>: {lines}", cured="gave each a position servo"))
    if not body.drives(model, anatomy):
        names = ", ".join(name.removeprefix(body.PREFIX) for name in anatomy.finger_joints)
        remedy = "add a <position> actuator on a finger joint or on a tendon of both"
        faults.append(Fault(f"nothing drives the gripper's joints {names}", remedy, cured="gave each a position servo"))
    return faults


def _range_faults(model: Any, anatomy: Anatomy) -> list[Fault]:
    """Fingers without limits: how far they open is not to be guessed."""
    bare = [n.removeprefix(body.PREFIX) for n in anatomy.finger_joints if not model.jnt_limited[model.joint(n).id]]
    bare = [] if len(bare) < len(anatomy.finger_joints) else bare
    return [Fault(f"finger joints {', '.join(bare)} have no limits", 'give them range="closed open"')] if bare else []


# Limits


def _limits(model: Any, anatomy: Anatomy, said: Mapping[str, float]) -> tuple[list[float | None], tuple[float, ...]]:
    """Greatest force of each arm joint (None: not said), and its speed [rad/s or m/s]."""
    forces: list[float | None] = []
    for name in anatomy.arm_joints:
        joint = model.joint(name).id
        limits = [abs(float(model.jnt_actfrcrange[joint, 1]))] if model.jnt_actfrclimited[joint] else []
        for i in range(model.nu):
            if model.actuator_trnid[i, 0] == joint and model.actuator_trntype[i] == mujoco.mjtTrn.mjTRN_JOINT:
                if model.actuator_forcelimited[i]:
                    limits.append(abs(float(model.actuator_forcerange[i, 1])))
                elif model.actuator_biasprm[i, 1] == 0 and model.actuator_ctrllimited[i]:  # a motor
                    limits.append(
                        abs(float(model.actuator_ctrlrange[i, 1] * model.actuator_gainprm[i, 0] * model.actuator_gear[i, 0]))
                    )
        positive = [limit for limit in limits if limit > 0]
        forces.append(min(positive) if positive else None)
    speeds = tuple(min(said.get(name.removeprefix(body.PREFIX), SPEED), 3.0) for name in anatomy.arm_joints)
    return forces, speeds


def _urdf_speeds(path: Path) -> dict[str, float]:
    root = ElementTree.fromstring(path.read_bytes())
    speeds = {}
    for joint in root.iter("joint"):
        limit = joint.find("limit")
        if limit is not None and (value := float(limit.get("velocity", 0.0))) > 0:
            speeds[joint.get("name", "")] = value
    return speeds


# The model


def _exclude(spec: Any, model: Any, anatomy: Anatomy) -> None:
    """No contact between neighbours, nor within the gripper and the link that carries it."""
    for exclude in list(spec.excludes):
        spec.delete(exclude)
    pairs = set()
    for index in range(1, model.nbody):
        parent = int(model.body_parentid[index])
        above = [parent, int(model.body_parentid[parent])] if parent else []
        pairs |= {(index, other) for other in above if other > 0}
    held = [model.body(name).id for side in anatomy.sides for name in side] + [model.body(anatomy.palm).id]
    held.append(int(model.body_parentid[held[-1]]))
    pairs |= {(a, b) for a in held for b in held if a > b > 0}
    for a, b in sorted({(max(pair), min(pair)) for pair in pairs}):
        spec.add_exclude(bodyname1=model.body(a).name, bodyname2=model.body(b).name)


def _fitted(qpos: Float, spec: Any) -> Float:
    model = spec.compile()
    return qpos if len(qpos) == model.nq else model.qpos0


def _record(
    path: Path, wishes: Wishes, model: Any, anatomy: Anatomy, hand: jaws.Jaws, tried: posture.Found, opened: Sequence[float],
    closed: Sequence[float], found: Sequence[body.Drive], speeds: Sequence[float], greatest: Sequence[float],
) -> RobotRecord:  # fmt: skip
    at = [int(model.joint(name).qposadr[0]) for name in anatomy.finger_joints]
    data = mujoco.MjData(model)
    data.qpos[[model.joint(name).qposadr[0] for name in anatomy.arm_joints]] = tried.home
    mujoco.mj_forward(model, data)
    mass = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, mass)
    dofs = [int(model.joint(name).dofadr[0]) for name in anatomy.arm_joints]
    fast = [min(ACCELERATION, SHARE * force / (1.5 * float(mass[d, d]))) for force, d in zip(greatest, dofs, strict=True)]

    def within(end: jaws.End) -> tuple[float, ...]:
        values = []
        for name, index in zip(anatomy.finger_joints, at, strict=True):
            low, high = model.joint(name).range if model.jnt_limited[model.joint(name).id] else (-np.inf, np.inf)
            values.append(float(np.clip(end.qpos[index], low, high)))
        return tuple(values)

    a, b = hand.pads
    return RobotRecord(
        name=wishes.name,
        title=wishes.title or f"{wishes.name.replace('_', ' ').capitalize()}, imported from {path.name}",
        licence=wishes.licence,
        source=path.name,
        source_sha256=sha256_file(path),
        joints=anatomy.arm_joints,
        home=tried.home,
        velocity_limits=tuple(speeds),
        acceleration_limits=tuple(max(0.5, value) for value in fast),
        reach=tried.reach,
        gripper_actuators=tuple(drive.name for drive in found),
        open_ctrl=tuple(opened),
        closed_ctrl=tuple(closed),
        gripper_joints=anatomy.finger_joints,
        open_qpos=within(hand.opened),
        closed_qpos=within(hand.closed),
        fingers=((a,), (b,)),
        max_width=round(hand.gaps[0], 4),
        force=body.FORCE,
        speed=2 * body.FINGER_SPEED,
        palm=anatomy.palm,
        excluded=tried.excluded,
        footprint=_footprint(model, data),
        meshes=(),
    )


def _footprint(model: Any, data: Any) -> tuple[float, float]:
    """Extents of what stands still and low, along x and y [m]."""
    still = [g for g in range(model.ngeom) if model.body_weldid[model.geom_bodyid[g]] == 0 and data.geom_xpos[g][2] < 0.3]
    if not still:
        return (0.25, 0.25)
    reach = [np.abs(data.geom_xpos[g][:2]) + model.geom_rbound[g] * 0.7 for g in still]
    x, y = np.clip(2 * np.max(reach, axis=0), 0.15, 0.6)
    return (round(float(x), 3), round(float(y), 3))


# For people


def _guesses(record: RobotRecord, anatomy: Anatomy, palms: Sequence[str], has_home: bool) -> tuple[str, ...]:
    def short(names: Sequence[str]) -> str:
        return ", ".join(name.removeprefix(body.PREFIX) for name in names)

    home = ", ".join(f"{value:.2f}" for value in record.home)
    return (
        f"arm: {len(anatomy.arm_joints)} joints ({short(anatomy.arm_joints)})",
        f"gripper on {short([anatomy.palm])}: {short(record.fingers[0])} against {short(record.fingers[1])}, "
        f"opens {100 * record.max_width:.1f} cm, driven by {short(record.gripper_actuators)}",
        *([f"candidates for the palm: {short(palms)}; choose with --palm"] if len(palms) > 1 else []),
        "tool centre point: between the fingertips, 10 mm before their ends",
        f"rest posture {'of its keyframe' if has_home else 'found by search'}: {home}",
        f"reach {record.reach:.2f} m",
    )


def _notes(tried: posture.Found, speeds: Sequence[float]) -> list[str]:
    notes = []
    if all(speed == SPEED for speed in speeds):
        notes.append(f"the file says nothing of joint speeds: {SPEED} rad/s is assumed; look at the data sheet")
    if tried.downward > posture.AIMS:
        notes.append(
            f"at rest the tool points {np.degrees(tried.downward):.0f} degrees off straight down: no better posture was found"
        )
    return notes
