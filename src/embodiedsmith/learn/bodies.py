"""Where the parts of things are, from what is observed: the pose of every item's root, and the positions of joints.

A part is carried by bodies below its item's root; each is where the model has it, moved by its own slides and hinges.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import mujoco
import numpy as np

from embodiedsmith.tasks.probe import Float
from embodiedsmith.world import World
from embodiedsmith.world import transforms as tf

WORLD = 0
"""The frame that never moves."""


@dataclass(frozen=True)
class Joint:
    """A joint of a body, in that body's frame."""

    axis: Float
    anchor: Float
    hinge: bool
    zero: float
    """Position at which the body is where the model has it [m or rad]."""
    column: int
    """Of the observation that tells its position."""


@dataclass(frozen=True)
class _Part:
    parent: int
    offset: Float
    turn: Float
    """Rotation (3, 3) in the parent's frame."""
    joints: tuple[Joint, ...]


@dataclass
class Bodies:
    """The bodies of a world's items that somebody has asked for, and the frames they make."""

    world: World
    _roots: dict[str, int] = field(default_factory=dict)
    _frames: dict[int, int] = field(default_factory=dict)
    _parts: list[_Part] = field(default_factory=list)

    def __post_init__(self) -> None:
        items = list(self.world.items)
        self._roots = {name: 1 + k for k, name in enumerate(items)}
        self._frames = {self.world.items[name].body: 1 + k for k, name in enumerate(items)}
        slices = self.world.observation_slices
        self._columns = np.array([slices[f"items/{name}"].start for name in items], dtype=int)[:, None] + np.arange(7)
        model = self.world.model
        self._observed = {
            int(model.joint(name.replace(".", "/", 1)).id): slices[f"joints/{name}"].start for name in self.world.joint_qpos
        }

    def root(self, item: str) -> int:
        """Frame of an item's root."""
        return self._roots[item]

    def frame(self, item: str, body: str) -> int:
        """Frame of a body of an item."""
        return self._roots[item] if body == "root" else self._add(int(self.world.model.body(f"{item}/{body}").id))

    def _add(self, body: int) -> int:
        if body not in self._frames:
            model = self.world.model
            parent = self._add(int(model.body_parentid[body]))
            first = int(model.body_jntadr[body])
            joints = tuple(self.joint(j) for j in range(first, first + int(model.body_jntnum[body])))
            part = _Part(parent, model.body_pos[body].copy(), tf.rotation(model.body_quat[body]), joints)
            self._parts.append(part)
            self._frames[body] = len(self._roots) + len(self._parts)
        return self._frames[body]

    def joint(self, joint: int) -> Joint:
        """A joint of the model that moves a part."""
        model = self.world.model
        hinge = int(model.jnt_type[joint]) == mujoco.mjtJoint.mjJNT_HINGE
        zero = float(model.qpos0[model.jnt_qposadr[joint]])
        return Joint(model.jnt_axis[joint].copy(), model.jnt_pos[joint].copy(), hinge, zero, self._observed[joint])

    def poses(self, observed: Float) -> tuple[Float, Float]:
        """Origins (n, frames, 3) [m] and rotations (n, frames, 3, 3) of all frames in the world.

        Args:
            observed: Observations (n, observation_size).
        """
        n, roots = len(observed), len(self._roots)
        count = 1 + roots + len(self._parts)
        origins, turns = np.zeros((n, count, 3)), np.empty((n, count, 3, 3))
        turns[:, WORLD] = np.eye(3)
        rows = observed[:, self._columns]  # (n, roots, 7)
        origins[:, 1 : 1 + roots] = rows[..., :3]
        turns[:, 1 : 1 + roots] = rotations(rows[..., 3:])
        for k, part in enumerate(self._parts, start=1 + roots):
            turn = turns[:, part.parent]
            origins[:, k] = origins[:, part.parent] + turn @ part.offset
            turns[:, k] = turn @ part.turn
            for joint in part.joints:
                _move(origins[:, k], turns[:, k], joint, observed[:, joint.column] - joint.zero)
        return origins, turns


def rotations(quaternions: Float) -> Float:
    """Rotation matrices (..., 3, 3) of unit quaternions wxyz (..., 4)."""
    w, x, y, z = np.moveaxis(quaternions, -1, 0)
    out = np.empty((*quaternions.shape[:-1], 3, 3))
    out[..., 0, 0], out[..., 1, 1], out[..., 2, 2] = 1 - 2 * (y * y + z * z), 1 - 2 * (x * x + z * z), 1 - 2 * (x * x + y * y)
    out[..., 0, 1], out[..., 1, 0] = 2 * (x * y - w * z), 2 * (x * y + w * z)
    out[..., 0, 2], out[..., 2, 0] = 2 * (x * z + w * y), 2 * (x * z - w * y)
    out[..., 1, 2], out[..., 2, 1] = 2 * (y * z - w * x), 2 * (y * z + w * x)
    return out


def _move(origins: Float, turns: Float, joint: Joint, by: Float) -> None:
    """Move frames (n, 3), (n, 3, 3) by displacements (n,) of a joint, in place."""
    if not joint.hinge:
        origins += (turns @ joint.axis) * by[:, None]
        return
    half = 0.5 * by
    turned = rotations(np.concatenate([np.cos(half)[:, None], np.sin(half)[:, None] * joint.axis], axis=1))
    origins += (turns @ (joint.anchor - (turned @ joint.anchor))[..., None])[..., 0]
    turns[:] = turns @ turned
