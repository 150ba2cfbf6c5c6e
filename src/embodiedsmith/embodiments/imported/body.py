"""A model of others made fit for work: one base, known inertias, servos that track, pads that hold."""

from __future__ import annotations

import io
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
import trimesh
from numpy.typing import NDArray

from embodiedsmith.assets.imported.models import Parsed
from embodiedsmith.assets.imported.pieces import simplified
from embodiedsmith.assets.imported.surface import Surface
from embodiedsmith.embodiments import contact
from embodiedsmith.embodiments.imported.anatomy import Anatomy
from embodiedsmith.embodiments.imported.jaws import Jaws

Float = NDArray[np.float64]
PREFIX = "model/"
FACES = 500
"""Triangles of each of its meshes."""
FORCE = 30.0
"""Closing force of each pad [N], as for the robots of the catalogue."""
FINGER_SPEED = 0.05
"""Speed of each pad [m/s]."""
BITE = 0.05
"""How far past closed the gripper aims, as part of its stroke: thin things are held as firmly as thick ones."""
ROTOR = 1.0
"""Inertia of the drive felt at each pad [kg]."""
BAND = 50.0
"""Speed of the arm's servos [rad/s]: stiffness is what moves the joint's inertia that fast."""
SETTLING = 0.025
"""Servo damping over stiffness [s]."""
STIFFEST, SOFTEST = 10000.0, 300.0
"""[N m/rad]"""
PAD_HALF = (0.010, 0.004, 0.0095)
"""Largest half extents of a pad [m]: across, closing, approach."""


@dataclass(frozen=True)
class Drive:
    """What moves a gripper: one transmission."""

    name: str
    target: str
    tendon: bool
    low: float
    high: float
    """Its ends, as lengths [m or rad]."""
    joints: tuple[str, ...]


def on_base(parsed: Parsed, shift: Sequence[float] = (0.0, 0.0, 0.0)) -> tuple[Any, dict[str, float]]:
    """The model under one body `base`, every name prefixed, and the joint positions of its first keyframe (or none).

    `shift` [m] is added to the place of everything.

    Raises:
        ValueError: MuJoCo refuses it.
    """
    child = parsed.spec()
    for mesh in child.meshes:
        mesh.inertia = mujoco.mjtMeshInertia.mjMESH_INERTIA_CONVEX
    for joint in list(child.joints):
        if joint.type == mujoco.mjtJoint.mjJNT_FREE:  # the importer has said so
            child.delete(joint)
    model = child.compile()
    home = _home(model)
    for kind in ("keys", "lights", "cameras", "sensors"):
        for element in list(getattr(child, kind)):
            child.delete(element)
    for geom in list(child.worldbody.geoms):
        if geom.type == mujoco.mjtGeom.mjGEOM_PLANE:
            child.delete(geom)
    for body in child.bodies[1:]:
        index = model.body(body.name).id
        body.explicitinertial = True
        body.mass, body.ipos, body.iquat = model.body_mass[index], model.body_ipos[index], model.body_iquat[index]
        body.inertia, body.fullinertia = model.body_inertia[index], [math.nan] * 6
    spec = mujoco.MjSpec()
    contact.OPTIONS.apply(spec)
    contact.OPTIONS.apply(child)
    base = spec.worldbody.add_body(name="base")
    spec.attach(child, prefix=PREFIX, frame=base.add_frame(pos=shift))
    for body in spec.bodies:
        body.gravcomp = 1.0  # real controllers compensate the robot's own weight
    return spec, {PREFIX + name: value for name, value in home.items()}


def _home(model: Any) -> dict[str, float]:
    names = [model.key(k).name for k in range(model.nkey)]
    if not names:
        return {}
    key = names.index("home") if "home" in names else 0
    simple = (mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtJoint.mjJNT_SLIDE)
    return {
        model.joint(j).name: float(model.key_qpos[key, model.jnt_qposadr[j]])
        for j in range(model.njnt)
        if any(model.jnt_type[j] == kind for kind in simple)
    }


def light(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Mesh files with few triangles each."""
    lighter = {}
    for name, data in files.items():
        if name.endswith(".msh"):
            lighter[name] = data
            continue
        mesh = trimesh.load(io.BytesIO(data), file_type=name.rpartition(".")[2], force="mesh", process=True)
        if len(mesh.faces) > FACES:
            small = simplified(Surface.of(name, mesh.vertices, mesh.faces), FACES)
            mesh = small.mesh if len(small.faces) >= 4 else mesh
        buffer = io.BytesIO()
        mesh.export(buffer, file_type="stl")
        lighter[name.rpartition(".")[0] + ".stl"] = buffer.getvalue()
    return lighter


def leave_out(spec: Any, model: Any, anatomy: Anatomy) -> tuple[str, ...]:
    """Delete the branches with joints that are neither arm nor gripper; their topmost bodies."""
    keep = set()
    body = model.body(anatomy.palm).id
    while body > 0:
        keep.add(body)
        body = int(model.body_parentid[body])
    gone = []
    for name in anatomy.others:
        body = int(model.jnt_bodyid[model.joint(name).id])
        while int(model.body_parentid[body]) not in keep and model.body_parentid[body] > 0:
            body = int(model.body_parentid[body])
        gone.append(model.body(body).name)
    topmost = tuple(dict.fromkeys(gone))
    for name in topmost:
        spec.delete(spec.body(name))
    return topmost


def drives(model: Any, anatomy: Anatomy) -> list[Drive]:
    """The transmissions of the actuators that move finger joints."""
    fingers = {model.joint(name).id: name for name in anatomy.finger_joints}
    found: dict[str, Drive] = {}
    for i in range(model.nu):
        index = int(model.actuator_trnid[i, 0])
        if model.actuator_trntype[i] == mujoco.mjtTrn.mjTRN_JOINT and index in fingers:
            low, high = (float(value) for value in model.jnt_range[index])
            drive = Drive(model.actuator(i).name, fingers[index], False, low, high, (fingers[index],))
            found.setdefault(drive.target, drive)
        elif model.actuator_trntype[i] == mujoco.mjtTrn.mjTRN_TENDON and (pull := _tendon(model, i, index, fingers)):
            found.setdefault(pull.target, pull)
    return list(found.values())


def _tendon(model: Any, actuator: int, tendon: int, fingers: Mapping[int, str]) -> Drive | None:
    start, count = int(model.tendon_adr[tendon]), int(model.tendon_num[tendon])
    wraps = [(int(model.wrap_objid[k]), float(model.wrap_prm[k])) for k in range(start, start + count)]
    if model.wrap_type[start] != mujoco.mjtWrap.mjWRAP_JOINT or any(joint not in fingers for joint, _ in wraps):
        return None
    ends = [sorted((coef * model.jnt_range[joint, 0], coef * model.jnt_range[joint, 1])) for joint, coef in wraps]
    low, high = float(sum(e[0] for e in ends)), float(sum(e[1] for e in ends))
    return Drive(
        model.actuator(actuator).name, model.tendon(tendon).name, True, low, high, tuple(fingers[joint] for joint, _ in wraps)
    )


def free_drives(model: Any, anatomy: Anatomy) -> list[Drive]:
    """A transmission for each finger joint that follows no other: for models that name no actuators."""
    followers = {
        int(model.eq_obj1id[k])
        for k in range(model.neq)
        if model.eq_type[k] == mujoco.mjtEq.mjEQ_JOINT and model.eq_obj2id[k] >= 0
    }
    found = []
    for name in anatomy.finger_joints:
        joint = model.joint(name).id
        if joint not in followers:
            low, high = (float(value) for value in model.jnt_range[joint])
            found.append(Drive(f"drive_{name}", name, False, low, high, (name,)))
    return found


def drop_actuators(spec: Any) -> None:
    """Delete every actuator."""
    for actuator in list(spec.actuators):
        spec.delete(actuator)


def add_drive(spec: Any, drive: Drive, *, stiffness: float, force: float, low: float, high: float) -> None:
    """A force-limited position servo on a transmission."""
    kind = mujoco.mjtTrn.mjTRN_TENDON if drive.tendon else mujoco.mjtTrn.mjTRN_JOINT
    actuator = spec.add_actuator(name=drive.name, target=drive.target, trntype=kind)
    actuator.set_to_position(kp=stiffness)
    actuator.ctrlrange, actuator.ctrllimited = (min(low, high), max(low, high)), True
    actuator.forcerange, actuator.forcelimited = (-force, force), True


def trial_drives(spec: Any, model: Any, found: Iterable[Drive]) -> None:
    """Gentle servos to find out how the gripper moves."""
    for drive in found:
        slide = model.jnt_type[model.joint(drive.joints[0]).id] == mujoco.mjtJoint.mjJNT_SLIDE
        for name in drive.joints:
            joint = spec.joint(name)
            joint.damping, joint.armature = [100.0 if slide else 0.2, 0, 0], 0.1 if slide else 0.005
        stiffness, force = (2000.0, 20.0) if slide else (20.0, 2.0)
        add_drive(spec, drive, stiffness=stiffness, force=force, low=drive.low, high=drive.high)


def final_drives(spec: Any, model: Any, found: Sequence[Drive], jaws: Jaws) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Servos of the force and speed that hold; the controls when open and when closed, a little past it."""
    drop = {drive.name for drive in found}
    for actuator in list(spec.actuators):
        if actuator.name in drop:
            spec.delete(actuator)
    opened, closed = [], []
    for k, drive in enumerate(found):
        start, end = jaws.opened.lengths[k], jaws.closed.lengths[k]
        travel = end - start
        # Virtual work: what the drive does over its travel is what the pads do over the stroke, shared among the drives.
        force = FORCE * jaws.stroke / (abs(travel) * len(found))
        past = end + BITE * travel
        add_drive(spec, drive, stiffness=force / (BITE * abs(travel)), force=force, low=start, high=past)
        opened.append(start)
        closed.append(past)
        for name in drive.joints:
            index = int(model.jnt_qposadr[model.joint(name).id])
            lever = (jaws.stroke / 2.0) / max(abs(float(jaws.closed.qpos[index] - jaws.opened.qpos[index])), 1e-6)
            joint = spec.joint(name)
            joint.damping = [FORCE * lever**2 / FINGER_SPEED, 0, 0]
            joint.armature = ROTOR * lever**2
            joint.stiffness = [0.0, 0.0, 0.0] if np.ndim(joint.stiffness) else 0.0
    return tuple(opened), tuple(closed)


def add_pads(spec: Any, jaws: Jaws) -> None:
    """Flat boxes at the tips, and a box behind each, in place of what the pad bodies touched with before."""
    for side, (name, box, axes) in enumerate(zip(jaws.pads, jaws.inner, jaws.axes, strict=True)):
        body = spec.body(name)
        for geom in list(body.geoms):
            if geom.contype or geom.conaffinity:
                geom.contype = geom.conaffinity = 0
                geom.group = 3 if any(not g.contype and g.group != 3 and g is not geom for g in body.geoms) else 2
        low, high = box[:, 0], box[:, 1]
        inward = 1.0 if side == 0 else -1.0
        face = high[1] if side == 0 else low[1]
        half = np.minimum(PAD_HALF, np.maximum((high - low) / 2, 0.003))
        middle = (low + high) / 2
        center = np.array([middle[0], face - inward * half[1], high[2] - half[2]])
        quat = np.zeros(4)
        mujoco.mju_mat2Quat(quat, axes.ravel())
        pad = body.add_geom(
            name=f"pad_{side}",
            type=mujoco.mjtGeom.mjGEOM_BOX,
            size=half,
            pos=axes @ center,
            quat=quat,
            group=3,
            mass=0.0,
            density=0.0,
        )
        contact.make_pad(pad)
        behind = np.array([half[0], max(half[1] * 0.7, 0.002), 0.012])
        place = center + np.array([0.0, -inward * 0.003, -half[2] - behind[2]])
        body.add_geom(
            type=mujoco.mjtGeom.mjGEOM_BOX,
            size=behind,
            pos=axes @ place,
            quat=quat,
            group=3,
            mass=0.0,
            density=0.0,
            contype=1,
            conaffinity=1,
        )


def add_tool(spec: Any, palm: str, jaws: Jaws) -> None:
    """The site at the tool centre point, and a camera beside it that looks at the tips."""
    body = spec.body(palm)
    quat = np.zeros(4)
    mujoco.mju_mat2Quat(quat, np.ascontiguousarray(jaws.turn).ravel())
    body.add_site(name="tcp", pos=jaws.center, quat=quat, size=(0.005, 0.005, 0.005), group=4)
    tilt = math.radians(15.0)
    x, y, z = jaws.turn.T
    place = jaws.center + 0.07 * x - 0.093 * z
    body.add_camera(name="wrist", pos=place, xyaxes=(*y, *(x * math.cos(tilt) + z * math.sin(tilt))), fovy=75.0)


def add_servos(
    spec: Any, model: Any, anatomy: Anatomy, home: Sequence[float], forces: Sequence[float | None]
) -> tuple[float, ...]:
    """A position servo of its own for each arm joint, named after it; the greatest force of each [N m or N]."""
    data = mujoco.MjData(model)
    data.qpos[[model.joint(name).qposadr[0] for name in anatomy.arm_joints]] = home
    mujoco.mj_forward(model, data)
    mass = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, mass)
    limits = []
    for name, force in zip(anatomy.arm_joints, forces, strict=True):
        dof = int(model.joint(name).dofadr[0])
        inertia = float(mass[dof, dof]) * 1.5  # stretched out, it is more than at home
        limit = force or max(20.0, 25.0 * inertia)
        stiffness = float(np.clip(inertia * BAND**2, SOFTEST, STIFFEST))
        joint = spec.joint(name)
        actuator = spec.add_actuator(name=name, target=name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
        actuator.set_to_position(kp=stiffness, kv=SETTLING * stiffness)
        actuator.ctrlrange, actuator.ctrllimited = joint.range, True
        actuator.forcerange, actuator.forcelimited = (-limit, limit), True
        joint.frictionloss = 0.0
        limits.append(limit)
    return tuple(limits)
