"""What an imported thing does in physics: how it comes to rest, whether a ball dropped in stays, which grasps hold it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
import trimesh

from embodiedsmith.assets import solids
from embodiedsmith.assets.asset import Grasp
from embodiedsmith.assets.fragment import STIFFNESS, TORSIONAL_FRICTION
from embodiedsmith.assets.imported.surface import Float, Surface

HZ = 240
"""Physics steps a second, those of the world."""
SETTLING = 3.0
"""[s] in which a thing comes to rest."""
STILL = 0.02
"""Speed [m/s, rad/s] below which it has."""
ROOM = 0.004
"""Room between each open finger and what it will hold [m]."""
FORCE = 20.0
"""Closing force of each finger [N]."""
LIFT = 0.12
"""Height to which it is lifted [m]."""
MOST_SLIP = 0.012
"""Largest shift of a thing in the fingers [m]."""
MOST_TURN = np.radians(10.0)
"""Largest turn of a thing in the fingers [rad]."""
PALM_BACK, PALM_HALF = 0.067, (0.030, 0.100, 0.030)
"""Centre of the palm behind the tool centre point and its half extents [m]: a Franka hand's, from its collision box."""
PAD_HALF = (0.010, 0.0075, 0.009)
"""Half extents of a fingertip [m], across, closing, approach."""
FINGER_HALF, FINGER_BACK = 0.0140, 0.023
"""Half length of a finger behind its pad, and the middle of it behind the tool centre point [m]."""
STROKE = 0.04
"""Farthest each finger opens from the middle [m]."""


@dataclass(frozen=True, kw_only=True)
class Physics:
    """How things touch in the world: handed in, as the robots' room, which says so, stands above this one."""

    options: Callable[[Any], None]
    """Sets the engine's options on an `MjSpec`."""
    pad: Callable[[Any], None]
    """Makes a geom a fingertip pad."""


@dataclass(frozen=True, kw_only=True)
class Body:
    """A rigid thing as physics sees it, in its own frame."""

    pieces: tuple[Float, ...]
    inertial: solids.Inertial
    friction: float


def settle(thing: Body, physics: Physics) -> tuple[Float, bool]:
    """Put a thing down as it is and let go: its rotation matrix after some seconds, and whether it has come to rest."""
    spec = _scene(physics)
    _add(spec, thing, height=0.001 - float(min(piece[:, 2].min() for piece in thing.pieces)))
    model = spec.compile()
    data = mujoco.MjData(model)
    for _ in range(round(SETTLING * HZ)):
        mujoco.mj_step(model, data)
    still = bool(np.abs(data.qvel).max() < STILL)
    return data.body("thing").xmat.reshape(3, 3).copy(), still


def ball_stays(thing: Body, physics: Physics, *, opening: Float, radius: float, inside: tuple[Float, Float]) -> bool:
    """Whether a ball dropped on `opening` [m] comes to rest with its middle in the box `inside` (lower and upper corner)."""
    spec = _scene(physics)
    _add(spec, thing, height=0.0)
    ball = spec.worldbody.add_body(name="ball", pos=opening + np.array([0.0, 0.0, radius + 0.01]))
    ball.add_freejoint()
    ball.add_geom(
        type=mujoco.mjtGeom.mjGEOM_SPHERE,
        size=[radius, 0, 0],
        mass=0.01,
        condim=6,
        friction=[0.5, 0.005, 0.002],
        solref=STIFFNESS,
    )
    model = spec.compile()
    data = mujoco.MjData(model)
    for _ in range(round(SETTLING * HZ)):
        mujoco.mj_step(model, data)
    turn = data.body("thing").xmat.reshape(3, 3)
    place = turn.T @ (data.body("ball").xpos - data.body("thing").xpos)
    return bool((place > inside[0]).all() and (place < inside[1]).all())


class Holding:
    """A hand of two fingers that tries grasps on a thing standing on a floor, one after the other."""

    def __init__(self, thing: Body, physics: Physics) -> None:
        spec = _scene(physics)
        _add(spec, thing, height=0.0)
        lift = spec.worldbody.add_body(name="lift", mass=1.0, inertia=[0.01] * 3, explicitinertial=True, gravcomp=1)
        lift.add_joint(name="lift", type=mujoco.mjtJoint.mjJNT_SLIDE, axis=[0, 0, 1])
        hand = lift.add_body(name="hand")
        box = mujoco.mjtGeom.mjGEOM_BOX
        hand.add_geom(name="palm", type=box, pos=[0, 0, -PALM_BACK], size=PALM_HALF, mass=0.0)
        for number, side in enumerate((-1, 1)):
            finger = hand.add_body(name=f"finger_{number}", gravcomp=1)
            finger.add_joint(
                name=f"finger_{number}", type=mujoco.mjtJoint.mjJNT_SLIDE, axis=[0, side, 0], range=[0, STROKE],
                limited=mujoco.mjtLimited.mjLIMITED_TRUE, damping=[10, 0, 0], armature=0.1,
            )  # fmt: skip
            pad = finger.add_geom(name=f"pad_{number}", type=box, size=PAD_HALF, pos=[0, side * PAD_HALF[1], 0], mass=0.05)
            physics.pad(pad)
            finger.add_geom(
                type=box,
                size=[PAD_HALF[0], PAD_HALF[1], FINGER_HALF],
                pos=[0, side * (PAD_HALF[1] + 0.002), -FINGER_BACK],
                mass=0.01,
            )
            motor = spec.add_actuator(name=f"finger_{number}", target=f"finger_{number}", trntype=mujoco.mjtTrn.mjTRN_JOINT)
            motor.set_to_motor()
            spec.add_exclude(bodyname1="hand", bodyname2=f"finger_{number}")
        spec.add_exclude(bodyname1="finger_0", bodyname2="finger_1")
        spec.add_actuator(name="lift", target="lift", trntype=mujoco.mjtTrn.mjTRN_JOINT).set_to_position(kp=20000, kv=400)
        self.model = spec.compile()
        self.data = mujoco.MjData(self.model)
        self.hand = self.model.body("hand").id
        self.thing = self.model.body("thing").id

    def fits(self, grasp: Grasp) -> bool:
        """Whether the open hand has room round the thing and over the floor."""
        self._place(grasp)
        mujoco.mj_kinematics(self.model, self.data)
        mujoco.mj_collision(self.model, self.data)
        for contact in self.data.contact:
            bodies = {int(self.model.geom_bodyid[geom]) for geom in contact.geom}
            if max(bodies) >= self.hand and contact.dist < 0:
                return False
        return True

    def holds(self, grasp: Grasp) -> bool:
        """Whether the fingers, closed on it, lift the thing against gravity without its slipping or turning in them."""
        self._place(grasp)
        before: tuple[Float, Float] | None = None
        for step in range(round(2.2 * HZ)):
            time = step / HZ
            if before is None and time >= 0.5:
                before = self._in_hand()
            self.data.ctrl[:] = (-FORCE, -FORCE, LIFT * np.clip((time - 0.55) / 1.0, 0, 1))
            mujoco.mj_step(self.model, self.data)
            if not np.isfinite(self.data.qpos).all():
                return False
        assert before is not None
        after = self._in_hand()
        cosine = np.clip((np.trace(before[1].T @ after[1]) - 1) / 2, -1, 1)
        slip = float(np.linalg.norm(after[0] - before[0]))
        raised = float(self.data.xpos[self.thing][2])
        return slip < MOST_SLIP and float(np.arccos(cosine)) < MOST_TURN and raised > LIFT - MOST_SLIP

    def _place(self, grasp: Grasp) -> None:
        mujoco.mj_resetData(self.model, self.data)
        self.model.body_pos[self.hand] = grasp.pose.position
        self.model.body_quat[self.hand] = grasp.pose.rotation
        for finger in range(2):
            self.data.joint(f"finger_{finger}").qpos = min(STROKE, grasp.width / 2 + ROOM)

    def _in_hand(self) -> tuple[Float, Float]:
        """Place of the thing's centre of mass and its orientation in the hand's frame."""
        turn = self.data.xmat[self.hand].reshape(3, 3)
        offset = turn.T @ (self.data.xipos[self.thing] - self.data.xpos[self.hand])
        return offset, turn.T @ self.data.xmat[self.thing].reshape(3, 3)


class Rays:
    """Lines of sight against the true surface of a thing."""

    def __init__(self, surfaces: Iterable[Surface]) -> None:
        whole = trimesh.util.concatenate([surface.mesh for surface in surfaces])
        spec = mujoco.MjSpec()
        spec.add_mesh(
            name="surface",
            uservert=np.asarray(whole.vertices, dtype=np.float64).ravel(),
            userface=np.asarray(whole.faces, dtype=np.int32).ravel(),
            inertia=mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL,
        )
        spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_MESH, meshname="surface")
        self.mesh = whole
        self.model = spec.compile()
        self.data = mujoco.MjData(self.model)
        mujoco.mj_kinematics(self.model, self.data)
        self._geom = np.zeros(1, dtype=np.int32)

    def distance(self, start: Sequence[float] | Float, direction: Sequence[float] | Float) -> float:
        """How far it is from a point [m] along a unit vector to the surface; infinite when it is missed."""
        found = mujoco.mj_ray(
            self.model,
            self.data,
            np.asarray(start, dtype=np.float64),
            np.asarray(direction, dtype=np.float64),
            None,
            1,
            -1,
            self._geom,
        )
        return float("inf") if found < 0 else float(found)


def _scene(physics: Physics) -> Any:
    spec = mujoco.MjSpec()
    physics.options(spec)
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[3, 3, 0.1])
    return spec


def _add(spec: Any, thing: Body, *, height: float) -> None:
    body = spec.worldbody.add_body(name="thing", pos=[0, 0, height])
    body.add_freejoint()
    body.mass = thing.inertial.mass
    body.ipos = thing.inertial.com
    inertia = thing.inertial.inertia
    body.fullinertia = [*np.diag(inertia), inertia[0, 1], inertia[0, 2], inertia[1, 2]]
    body.explicitinertial = True
    for index, piece in enumerate(thing.pieces):
        spec.add_mesh(name=f"piece_{index}", uservert=np.asarray(piece, dtype=np.float64).ravel())
        body.add_geom(
            type=mujoco.mjtGeom.mjGEOM_MESH, meshname=f"piece_{index}", mass=0.0, condim=4,
            friction=[thing.friction, TORSIONAL_FRICTION, 0.0001], solref=STIFFNESS,
        )  # fmt: skip
