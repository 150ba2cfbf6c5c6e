"""Action spaces: what a policy may speak, and how it becomes what the world takes.

The canonical action is absolute: `[base joint targets (planar bases), arm joint targets (arm after arm), hands (arm after arm: a
closing, or one target a finger joint)]`, lengths in metres, angles in radians, closings 0 open to 1 closed, reached at the end of
a control step. Every other space is a pair of a way to say where the tools go and a way to say where the base goes:

- `joint_position` is the canonical action itself;
- `ee_pose` says each tool's pose in the robot's base frame: position, then quaternion (w, x, y, z);
- `ee_delta` says each tool's motion in the step in its own frame at the step's start: translation, then rotation vector;
- `base_velocity` says the base's velocity in its own frame at the step's start, and arm joints as they are.

Poses are those of the commanded joints, by forward kinematics: encoding loses nothing to tracking errors, and decoding an encoded
trajectory brings the tools along the same path.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import mujoco
import numpy as np
from numpy.typing import NDArray

from embodiedsmith.embodiments.description import Arm, Robot
from embodiedsmith.embodiments.errors import EmbodimentError

Float = NDArray[np.float64]
ToolSpace = Literal["joints", "pose", "delta"]
BaseSpace = Literal["position", "velocity"]

SPACES: dict[str, tuple[ToolSpace, BaseSpace]] = {
    "joint_position": ("joints", "position"),
    "ee_pose": ("pose", "position"),
    "ee_delta": ("delta", "position"),
    "base_velocity": ("joints", "velocity"),
    "ee_delta_base_velocity": ("delta", "velocity"),
}
"""Name of each action space: what it says of the tools and of the base."""

_ITERATIONS = 100
_DAMPING = 1e-6
"""Added to J J^T: bounds the steps beside singularities, and vanishes at the solution."""
_LARGEST_STEP = 0.3  # [rad] an iteration, so that linearisation holds
_EXACT = 1e-10


@dataclass(frozen=True)
class Decoded:
    """A canonical action, and how far its tools are from what was asked."""

    action: Float
    """Canonical action (na,)."""
    position_error: float
    """Largest distance of a tool from where it was asked to be [m]: not zero when that is out of reach."""
    rotation_error: float
    """Largest angle likewise [rad]."""


class ActionSpace:
    """One robot's actions in one space.

    Args:
        robot: Whose actions.
        name: One of `SPACES`.
        control_dt: Duration of a control step [s]; only velocities depend on it.

    Raises:
        EmbodimentError: no such space, or a base velocity for a robot that stands still.
    """

    def __init__(self, robot: Robot, name: str, control_dt: float = 0.05) -> None:
        if name not in SPACES:
            raise EmbodimentError(f"no action space is called {name!r}", choices=SPACES)
        self.name = name
        self.control_dt = control_dt
        self._tool_space, self._base_space = SPACES[name]
        self._base_size = len(robot.base.joints)
        if self._base_space == "velocity" and not self._base_size:
            choices = [space for space, (_, base) in SPACES.items() if base == "position"]
            raise EmbodimentError(f"{robot.name} stands still: it has no space {name!r}", choices=choices)
        model = robot.build().compile()
        self._chains = [_Chain(model, arm) for arm in robot.arms]
        starts = np.cumsum([self._base_size, *(len(arm.joints) for arm in robot.arms)])
        self._slices = [slice(a, b) for a, b in itertools.pairwise(starts)]
        self._hands = [arm.gripper for arm in robot.arms]
        self._grippers = slice(int(starts[-1]), int(starts[-1]) + sum(hand.size for hand in self._hands))
        self.canonical_names = (
            *robot.base.joints,
            *(joint for arm in robot.arms for joint in arm.joints),
            *hand_names(robot),
        )
        self.names = (*self._base_names(robot), *self._tool_names(robot), *self.canonical_names[self._grippers])
        """Name of each component; quaternions in the order w, x, y, z."""

    @property
    def size(self) -> int:
        """Number of components."""
        return len(self.names)

    def encode(self, actions: Float, start: Float) -> Float:
        """A trajectory in this space.

        Args:
            actions: Canonical actions (T, na).
            start: Canonical action in force before the first one (na,).

        Returns:
            Shape (T, size). Quaternions do not flip sign from row to row.
        """
        before = np.vstack([start[None], actions[:-1]])
        columns = [self._encode_base(actions, before)]
        for chain, part in zip(self._chains, self._slices, strict=True):
            columns.append(self._encode_tool(chain, actions[:, part], before[:, part]))
        return np.hstack([*columns, actions[:, self._grippers]])

    def decode(self, action: Sequence[float] | Float, current: Float) -> Decoded:
        """The canonical action that does what `action` (size,) of this space says, from the canonical action `current` (na,).

        Tool poses are turned into joints by damped least squares from the current joints, within joint limits; when a pose is out
        of reach the nearest found is returned with its error. To act on the measured state, give that as `current`.
        """
        values = np.asarray(action, dtype=np.float64)
        if values.shape != (self.size,):
            raise EmbodimentError(
                f"an action of shape {values.shape} is not one of {self.name}, which has {self.size} components"
            )
        out = np.empty(len(self.canonical_names))
        out[: self._base_size] = self._decode_base(values[: self._base_size], current[: self._base_size])
        out[self._grippers] = values[self.size - (self._grippers.stop - self._grippers.start) :]
        at = self._grippers.start
        for hand in self._hands:
            if not hand.dexterous:
                out[at] = min(max(out[at], 0.0), 1.0)
            at += hand.size
        at, errors = self._base_size, [(0.0, 0.0)]
        for chain, part in zip(self._chains, self._slices, strict=True):
            width = {"joints": part.stop - part.start, "pose": 7, "delta": 6}[self._tool_space]
            said, at = values[at : at + width], at + width
            if self._tool_space == "joints":
                out[part] = chain.clip(said)
            else:
                position, turn = self._tool_target(chain, said, current[part])
                out[part], *error = chain.inverse(position, turn, current[part])
                errors.append((error[0], error[1]))
        return Decoded(out, max(e[0] for e in errors), max(e[1] for e in errors))

    # ------------------------------------------------------------------ base

    def _base_names(self, robot: Robot) -> tuple[str, ...]:
        return ("base_vx", "base_vy", "base_wz") if self._base_space == "velocity" else robot.base.joints

    def _encode_base(self, actions: Float, before: Float) -> Float:
        base = actions[:, : self._base_size]
        if self._base_space == "position":
            return base
        change = (base - before[:, :3]) / self.control_dt
        cos, sin = np.cos(before[:, 2]), np.sin(before[:, 2])
        return np.stack([cos * change[:, 0] + sin * change[:, 1], cos * change[:, 1] - sin * change[:, 0], change[:, 2]], axis=1)

    def _decode_base(self, said: Float, current: Float) -> Float:
        if self._base_space == "position":
            return said
        cos, sin = np.cos(current[2]), np.sin(current[2])
        velocity = np.array([cos * said[0] - sin * said[1], sin * said[0] + cos * said[1], said[2]])
        return np.asarray(current + self.control_dt * velocity)

    # ------------------------------------------------------------------ tools

    def _tool_names(self, robot: Robot) -> tuple[str, ...]:
        parts = {"pose": ("x", "y", "z", "qw", "qx", "qy", "qz"), "delta": ("dx", "dy", "dz", "rx", "ry", "rz")}
        if self._tool_space == "joints":
            return tuple(joint for arm in robot.arms for joint in arm.joints)
        return tuple(f"tcp{_suffix(i)}_{part}" for i in range(len(robot.arms)) for part in parts[self._tool_space])

    def _encode_tool(self, chain: _Chain, joints: Float, before: Float) -> Float:
        if self._tool_space == "joints":
            return joints
        rows = []
        last = np.array([1.0, 0.0, 0.0, 0.0])
        for now, then in zip(joints, before, strict=True):
            position, turn = chain.forward(now)
            if self._tool_space == "pose":
                last = turn if turn @ last >= 0 else -turn
                rows.append(np.concatenate([position, last]))
            else:
                origin, orientation = chain.forward(then)
                step = _rotate(_conjugate(orientation), position - origin)
                rows.append(np.concatenate([step, _difference(orientation, turn)]))
        return np.array(rows).reshape(len(joints), -1)

    def _tool_target(self, chain: _Chain, said: Float, current: Float) -> tuple[Float, Float]:
        if self._tool_space == "pose":
            norm = float(np.linalg.norm(said[3:]))
            if norm < 1e-6:
                raise EmbodimentError(f"the quaternion {said[3:].tolist()} is zero; give (w, x, y, z) of norm 1")
            return said[:3], said[3:] / norm
        origin, orientation = chain.forward(current)
        turned = orientation.copy()
        mujoco.mju_quatIntegrate(turned, said[3:], 1.0)
        return origin + _rotate(orientation, said[:3]), turned


def hand_names(robot: Robot) -> tuple[str, ...]:
    """Names of the components of the canonical action that move the hands: one closing, or one target a finger joint."""
    names: list[str] = []
    for i, arm in enumerate(robot.arms):
        names += arm.gripper.actuators if arm.gripper.dexterous else (f"gripper{_suffix(i)}",)
    return tuple(names)


class _Chain:
    """Forward and inverse kinematics of one arm, in the frame of the robot's base."""

    def __init__(self, model: mujoco.MjModel, arm: Arm) -> None:
        self._model, self._data = model, mujoco.MjData(model)
        self._site = model.site(arm.tcp_site).id
        joints = [model.joint(name) for name in arm.joints]
        self._qpos = np.array([joint.qposadr[0] for joint in joints])
        self._dofs = np.array([joint.dofadr[0] for joint in joints])
        limited = np.array([bool(model.jnt_limited[joint.id]) for joint in joints])
        self._low = np.where(limited, [joint.range[0] for joint in joints], -np.inf)
        self._high = np.where(limited, [joint.range[1] for joint in joints], np.inf)
        self._jacobian = np.empty((6, model.nv))

    def clip(self, joints: Float) -> Float:
        """The joints, brought within their limits: one a hair beyond is no fault."""
        return np.clip(joints, self._low, self._high)

    def forward(self, joints: Float) -> tuple[Float, Float]:
        """Position [m] and quaternion (w, x, y, z) of the tool."""
        self._data.qpos[self._qpos] = joints
        mujoco.mj_kinematics(self._model, self._data)
        quaternion = np.empty(4)
        mujoco.mju_mat2Quat(quaternion, self._data.site_xmat[self._site])
        return self._data.site_xpos[self._site].copy(), quaternion

    def inverse(self, position: Float, quaternion: Float, start: Float) -> tuple[Float, float, float]:
        """Joints nearest to `start` whose tool is at the pose, and its distance [m] and angle [rad] from it."""
        joints = self.clip(np.asarray(start, dtype=np.float64))
        best = (joints, np.inf, np.inf)
        for _ in range(_ITERATIONS):
            at, turned = self.forward(joints)
            error = np.concatenate([position - at, _rotate(turned, _difference(turned, quaternion))])
            distance, angle = float(np.linalg.norm(error[:3])), float(np.linalg.norm(error[3:]))
            if distance + angle < best[1] + best[2]:
                best = (joints, distance, angle)
            if distance + angle < _EXACT:
                break
            joints = self.clip(joints + self._step(error, joints))
        return best

    def _step(self, error: Float, joints: Float) -> Float:
        """A damped least-squares step; joints that it would push beyond a limit are left out of it."""
        mujoco.mj_comPos(self._model, self._data)
        mujoco.mj_jacSite(self._model, self._data, self._jacobian[:3], self._jacobian[3:], self._site)
        jacobian = self._jacobian[:, self._dofs]  # (6, n)
        free = np.ones(len(joints), dtype=bool)
        step = np.zeros(len(joints))
        for _ in range(len(joints)):
            part = jacobian[:, free]
            step[:] = 0.0
            step[free] = part.T @ np.linalg.solve(part @ part.T + _DAMPING * np.eye(6), error)
            blocked = free & (((joints <= self._low) & (step < 0)) | ((joints >= self._high) & (step > 0)))
            if not blocked.any():
                break
            free &= ~blocked
        return step * min(1.0, _LARGEST_STEP / max(float(np.abs(step).max()), 1e-12))


def _suffix(index: int) -> str:
    return f"_{index}" if index else ""


def _conjugate(quaternion: Float) -> Float:
    return quaternion * (1.0, -1.0, -1.0, -1.0)


def _rotate(quaternion: Float, vector: Float) -> Float:
    out = np.empty(3)
    mujoco.mju_rotVecQuat(out, vector, quaternion)
    return out


def _difference(start: Float, end: Float) -> Float:
    """Rotation vector [rad], in the frame of `start`, that turns it into `end`."""
    out = np.empty(3)
    mujoco.mju_subQuat(out, end, start)
    return out
