"""Action spaces: what a policy may speak, and how it becomes what the world takes.

The canonical action is absolute: `[base joint targets (planar bases), arm joint targets (arm after arm), hands (arm after arm: a
closing, or one target a finger joint)]`, lengths in metres, angles in radians, closings 0 open to 1 closed, reached at the end of
a control step. Every other space is a pair of a way to say where the tools go and a way to say where the base goes:

- `joint_position` is the canonical action itself;
- `ee_pose` says each tool's pose in the robot's base frame: position, then quaternion (w, x, y, z);
- `ee_delta` says each tool's motion in the step in its own frame at the step's start: translation, then rotation vector;
- `base_velocity` says the base's velocity in its own frame at the step's start, and arm joints as they are.

Poses are those of the commanded joints, by forward kinematics: encoding loses nothing to tracking errors, and decoding an encoded
trajectory brings the tools along the same path. How an arm of more than six joints holds its elbow is not said by the tool: when
deltas are decoded joints move least, and go a little towards home all the time.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from embodiedsmith.embodiments.chains import Chain
from embodiedsmith.embodiments.description import Robot
from embodiedsmith.embodiments.errors import EmbodimentError
from embodiedsmith.embodiments.turns import multiply, quaternion_of, rotate, rotation_vector

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

PULL = 0.05
"""[1] For deltas, which are decoded one after the other. Without it the joints of a Panda whose tool wanders about its home pose
come back to it 0.14 rad off after 1,000 steps and 0.31 rad off after 4,000 (medians), and of 8 demonstrations at a microwave one
decodes to a tool 8 cm off, at the joints' limits; with it 0.01 rad at any time, and none."""

_CONJUGATE = np.array([1.0, -1.0, -1.0, -1.0])


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
        pull: Fraction of the way home that the joints of an arm with more than six go in every decoding of a tool's motion, as
            far as that leaves the tool alone; None: `PULL` for deltas, none for poses.

    Raises:
        EmbodimentError: no such space, or a base velocity for a robot that stands still.
    """

    def __init__(self, robot: Robot, name: str, control_dt: float = 0.05, *, pull: float | None = None) -> None:
        if name not in SPACES:
            raise EmbodimentError(f"no action space is called {name!r}", choices=SPACES)
        self.name = name
        self.control_dt = control_dt
        self._tool_space, self._base_space = SPACES[name]
        self._pull = (PULL if self._tool_space == "delta" else 0.0) if pull is None else pull
        self._base_size = len(robot.base.joints)
        if self._base_space == "velocity" and not self._base_size:
            choices = [space for space, (_, base) in SPACES.items() if base == "position"]
            raise EmbodimentError(f"{robot.name} stands still: it has no space {name!r}", choices=choices)
        model = robot.build().compile()
        self._chains = [Chain(model, arm) for arm in robot.arms]
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
            columns.append(self._encode_tool(chain, actions[:, part], start[part]))
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
        out, errors = self._decode(values[None], np.asarray(current, dtype=np.float64)[None])
        return Decoded(out[0], float(errors[0, 0]), float(errors[0, 1]))

    def decode_many(self, actions: Float, commands: Float) -> Float:
        """What `decode` gives, for many robots at once; a row has the same bits whatever rows are beside it.

        Args:
            actions: Actions of this space, shape (n, size).
            commands: The canonical actions in force, shape (n, na).

        Returns:
            Canonical actions, shape (n, na).
        """
        values, current = np.asarray(actions, dtype=np.float64), np.asarray(commands, dtype=np.float64)
        wanted = (len(current), self.size), (len(values), len(self.canonical_names))
        if (values.shape, current.shape) != wanted:
            raise EmbodimentError(f"actions {values.shape} and commands {current.shape} have wrong shapes; expected {wanted}")
        return self._decode(values, current)[0]

    def _decode(self, values: Float, current: Float) -> tuple[Float, Float]:
        """Canonical actions (n, na), and the largest errors of their tools (n, 2) [m, rad]."""
        out = np.empty((len(values), len(self.canonical_names)))
        out[:, : self._base_size] = self._decode_base(values[:, : self._base_size], current[:, : self._base_size])
        out[:, self._grippers] = values[:, self.size - (self._grippers.stop - self._grippers.start) :]
        at = self._grippers.start
        for hand in self._hands:
            if not hand.dexterous:
                out[:, at] = np.clip(out[:, at], 0.0, 1.0)
            at += hand.size
        at, errors = self._base_size, np.zeros((len(values), 2))
        for chain, part in zip(self._chains, self._slices, strict=True):
            width = {"joints": part.stop - part.start, "pose": 7, "delta": 6}[self._tool_space]
            said, at = values[:, at : at + width], at + width
            if self._tool_space == "joints":
                out[:, part] = chain.clip(said)
            else:
                positions, turns = self._tool_targets(chain, said, current[:, part])
                out[:, part], error = chain.inverse(positions, turns, current[:, part], self._pull)
                errors = np.maximum(errors, error)
        return out, errors

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
        cos, sin = np.cos(current[:, 2]), np.sin(current[:, 2])
        velocity = np.stack([cos * said[:, 0] - sin * said[:, 1], sin * said[:, 0] + cos * said[:, 1], said[:, 2]], axis=1)
        return np.asarray(current + self.control_dt * velocity)

    # ------------------------------------------------------------------ tools

    def _tool_names(self, robot: Robot) -> tuple[str, ...]:
        parts = {"pose": ("x", "y", "z", "qw", "qx", "qy", "qz"), "delta": ("dx", "dy", "dz", "rx", "ry", "rz")}
        if self._tool_space == "joints":
            return tuple(joint for arm in robot.arms for joint in arm.joints)
        return tuple(f"tcp{_suffix(i)}_{part}" for i in range(len(robot.arms)) for part in parts[self._tool_space])

    def _encode_tool(self, chain: Chain, joints: Float, start: Float) -> Float:
        if self._tool_space == "joints":
            return joints
        positions, turns = chain.forward(np.vstack([start[None], joints]))
        if self._tool_space == "delta":
            inverse = turns[:-1] * _CONJUGATE
            step = rotate(inverse, positions[1:] - positions[:-1])
            return np.hstack([step, rotation_vector(multiply(inverse, turns[1:]))])
        turns[0] = 1.0, 0.0, 0.0, 0.0  # nearest to no turn begins
        flips = np.where(np.sum(turns[1:] * turns[:-1], axis=1) < 0, -1.0, 1.0)
        return np.hstack([positions[1:], turns[1:] * np.cumprod(flips)[:, None]])

    def _tool_targets(self, chain: Chain, said: Float, current: Float) -> tuple[Float, Float]:
        if self._tool_space == "pose":
            norms = np.linalg.norm(said[:, 3:], axis=1)
            for row in np.flatnonzero(norms < 1e-6).tolist():
                raise EmbodimentError(f"the quaternion {said[row, 3:].tolist()} is zero; give (w, x, y, z) of norm 1")
            return said[:, :3], said[:, 3:] / norms[:, None]
        positions, turns = chain.forward(current)
        return positions + rotate(turns, said[:, :3]), multiply(turns, quaternion_of(said[:, 3:]))


def hand_names(robot: Robot) -> tuple[str, ...]:
    """Names of the components of the canonical action that move the hands: one closing, or one target a finger joint."""
    names: list[str] = []
    for i, arm in enumerate(robot.arms):
        names += arm.gripper.actuators if arm.gripper.dexterous else (f"gripper{_suffix(i)}",)
    return tuple(names)


def _suffix(index: int) -> str:
    return f"_{index}" if index else ""
