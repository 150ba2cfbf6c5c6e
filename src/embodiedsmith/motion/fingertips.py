"""Grasps by several fingertips: where they touch an item's real surface, whether that holds it, and the finger joints for it.

A grasp from an asset says where the palm goes. For a hand whose fingers can each be put somewhere, this module looks from
there for the places at which thumb and fingers touch: rays from the open fingertips to the item's collision shapes give points
and normals. They are good when they have wrench closure: the contacts can push against any force and torque within their
friction cones (Murray, Li and Sastry, "A Mathematical Introduction to Robotic Manipulation", 1994, chapter 5). Inverse
kinematics of each finger then gives the joints before, at and behind its point.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import mujoco
import numpy as np
from scipy.optimize import linprog

from embodiedsmith import assets
from embodiedsmith.assets.asset import Asset
from embodiedsmith.assets.fragment import COLLISION_GROUP
from embodiedsmith.embodiments.description import Fingertip, Gripper
from embodiedsmith.motion.kinematics import Kinematics, kinematics
from embodiedsmith.spec import AssetSpec
from embodiedsmith.world import transforms as tf

OPEN = 0.022  # [m] by which fingertips stay off the surface before they close
SPREADS = (0.0, 0.5, 0.9)
"""[rad] by which the outer fingers' rays lean towards the middle: none for flat things, more round a round one."""
DEPTHS = (0.0, -0.008)  # [m] along the approach by which all fingertips are tried off their place
APART = 0.0245  # [m] least distance of the middles of two fingertips, which are 24 mm wide
FRICTION = 0.6
"""Friction taken for granted: less than that of the pads on anything, as a margin."""
EDGES = 8
"""Edges of the pyramid that a friction cone is taken for."""
CLOSURE = 0.05
"""Least force withstood from any side for each newton that all push with: 20 N of thumb and fingers together then hold 1 N."""
MISS = 0.004  # [m] by which a fingertip may be off
TRIED = 5  # ways to touch looked at from one tool pose
ITERATIONS, DAMPING, POSTURE, STEP = 40, 1e-5, 1e-3, 0.3

_GROUPS = np.array([k == COLLISION_GROUP for k in range(6)], dtype=np.uint8)


@dataclass(frozen=True)
class Touch:
    """Where a fingertip touches, in the tool's frame."""

    point: tf.Float
    """(3,) [m]"""
    normal: tf.Float
    """(3,), out of the item."""

    def centre(self, tip: Fingertip, off: float) -> tf.Float:
        """Where the middle of a fingertip is that stays `off` [m] the surface; within it when negative."""
        return self.point + (tip.radius + off) * self.normal


class Surface:
    """The collision shapes of one asset, at rest at its own origin."""

    def __init__(self, asset: Asset) -> None:
        self._model = asset.mjspec.copy().compile()
        self._data = mujoco.MjData(self._model)
        mujoco.mj_forward(self._model, self._data)

    def met(self, point: tf.Float, direction: tf.Float) -> Touch | None:
        """Where a ray (3,), (3,) in the item's frame meets it first."""
        geom, normal = np.full((1, 1), -1, dtype=np.int32), np.zeros((3, 1))
        way = direction / np.linalg.norm(direction)
        far = mujoco.mj_ray(self._model, self._data, point[:, None], way[:, None], _GROUPS, True, -1, geom, normal)
        return None if far < 0 else Touch(point + far * way, normal[:, 0])


def wrench_closure(touches: Sequence[Touch], centre: tf.Float, size: float, friction: float = FRICTION) -> float:
    """Least force [N] from any side that contacts withstand when all of them together push with 1 N; 0 without closure.

    Torques about `centre` (3,) count as forces at the distance `size` [m]. Each direction of the six is a linear program over the
    edges of the friction cones.
    """
    wrenches = np.hstack([_edges(touch, centre, size, friction) for touch in touches])  # (6, n)
    count = wrenches.shape[1]
    least = np.inf
    for side in (*np.eye(6), *-np.eye(6)):
        held = linprog(
            np.append(np.zeros(count), -1.0),
            A_ub=np.append(np.ones(count), 0.0)[None], b_ub=[1.0],
            A_eq=np.hstack([wrenches, side[:, None]]), b_eq=np.zeros(6), bounds=(0, None), method="highs",
        )  # fmt: skip
        if not held.success:
            return 0.0
        least = min(least, float(held.x[-1]))
        if least < 1e-6:
            return 0.0
    return least


def _edges(touch: Touch, centre: tf.Float, size: float, friction: float) -> tf.Float:
    """Forces and torques (6, EDGES) along the edges of a contact's friction cone, each with a normal force of 1 N."""
    inward = -touch.normal
    side = np.cross(inward, np.eye(3)[np.argmin(np.abs(inward))])
    side /= np.linalg.norm(side)
    other = np.cross(inward, side)
    turns = 2 * np.pi * np.arange(EDGES) / EDGES
    forces = inward[:, None] + friction * (np.outer(side, np.cos(turns)) + np.outer(other, np.sin(turns)))
    torques = np.cross((touch.point - centre)[:, None], forces, axis=0) / size
    return np.vstack([forces, torques])


class Fingertips:
    """The fingers of one hand, in the frame of its tool."""

    def __init__(self, arm: Kinematics) -> None:
        self.hand = arm.arm.gripper
        self.tips = self.hand.fingertips
        model = self._model = arm.model
        self._data = mujoco.MjData(model)
        self._tool = model.site(arm.arm.tcp_site).id
        self._sites = [model.site(tip.site).id for tip in self.tips]
        joints = [[model.joint(name) for name in tip.joints] for tip in self.tips]
        self._qpos = [np.array([j.qposadr[0] for j in chain]) for chain in joints]
        self._dofs = [np.array([j.dofadr[0] for j in chain]) for chain in joints]
        self._ranges = [np.array([j.range for j in chain]).T for chain in joints]
        self._order = [[self.hand.joints.index(name) for name in tip.joints] for tip in self.tips]

    def starts(self, closing: float) -> list[tf.Float]:
        """Where the fingertips are in the tool's frame at a closing of the hand as described, each (3,)."""
        return [self._forward(k, self._posture(k, closing)) for k in range(len(self.tips))]

    def _posture(self, k: int, closing: float) -> tf.Float:
        opened, closed = np.asarray(self.hand.open_qpos), np.asarray(self.hand.closed_qpos)
        posture: tf.Float = (opened + closing * (closed - opened))[self._order[k]]
        return posture

    def _forward(self, k: int, joints: tf.Float) -> tf.Float:
        data = self._data
        data.qpos[self._qpos[k]] = joints
        mujoco.mj_kinematics(self._model, data)
        R = data.site_xmat[self._tool].reshape(3, 3)
        found: tf.Float = R.T @ (data.site_xpos[self._sites[k]] - data.site_xpos[self._tool])
        return found

    def inverse(self, k: int, target: tf.Float, start: tf.Float) -> tf.Float | None:
        """Joints of finger `k` that bring its tip to `target` (3,) in the tool's frame, near `start`; None when out of reach."""
        low, high = self._ranges[k]
        joints = np.clip(start, low, high)
        jacobian = np.empty((3, self._model.nv))
        for _ in range(ITERATIONS):
            error = target - self._forward(k, joints)
            mujoco.mj_comPos(self._model, self._data)
            mujoco.mj_jacSite(self._model, self._data, jacobian, None, self._sites[k])
            J = self._data.site_xmat[self._tool].reshape(3, 3).T @ jacobian[:, self._dofs[k]]
            H = J.T @ J + (DAMPING + POSTURE * 1e-3) * np.eye(len(joints))
            step = np.linalg.solve(H, J.T @ error + POSTURE * 1e-3 * (start - joints))
            joints = np.clip(joints + step * min(1.0, STEP / max(float(np.abs(step).max()), 1e-9)), low, high)
        return joints if np.linalg.norm(target - self._forward(k, joints)) < MISS else None

    def touches(self, surface: Surface, T_item_tcp: tf.Float, width: float) -> Iterator[list[Touch]]:
        """Ways for all fingertips to touch an item, seen from a tool pose, likeliest first.

        `width` is the item's along the closing direction [m], as the grasp says.
        """
        starts = self.starts(self.hand.closing_on(width + 2 * OPEN))
        for depth, spread in itertools.product(DEPTHS, SPREADS):
            found = []
            for k, start in enumerate(starts):
                lean = spread * float(np.sign(round(float(start[0]), 3))) if k else 0.0
                way = np.array([-np.sin(lean), -np.cos(lean), 0.0]) if k else np.array([0.0, 1.0, 0.0])
                begin = start + np.array([0.0, 0.0, depth])
                touch = surface.met(T_item_tcp[:3, :3] @ begin + T_item_tcp[:3, 3], T_item_tcp[:3, :3] @ way)
                if touch is None:
                    break
                R = T_item_tcp[:3, :3].T
                found.append(Touch(R @ (touch.point - T_item_tcp[:3, 3]), R @ touch.normal))
            else:
                centres = [touch.centre(tip, 0.0) for touch, tip in zip(found, self.tips, strict=True)]
                if all(np.linalg.norm(a - b) > APART for a, b in itertools.combinations(centres, 2)):
                    yield found

    def hand_for(self, touches: Sequence[Touch], width: float) -> Gripper | None:
        """The hand whose fingers go from just off their points, closing 0, to behind them, closing 1; None when out of reach."""
        opened, closed = np.array(self.hand.open_qpos), np.array(self.hand.closed_qpos)
        deep = self.hand.squeeze / 2
        for k, (touch, tip) in enumerate(zip(touches, self.tips, strict=True)):
            start = self._posture(k, self.hand.closing_on(width))
            at = self.inverse(k, touch.centre(tip, 0.0), start)
            if at is None:
                return None
            for posture, off in ((opened, OPEN), (closed, -deep)):
                joints = self.inverse(k, touch.centre(tip, off), at)
                if joints is None:
                    return None
                posture[self._order[k]] = joints
        return replace(
            self.hand,
            open_ctrl=tuple(opened), open_qpos=tuple(opened), closed_ctrl=tuple(closed), closed_qpos=tuple(closed),
            max_width=width + 2 * OPEN, closed_width=width - self.hand.squeeze,
        )  # fmt: skip

    def grasp(self, surface: Surface, asset: Asset, T_item_tcp: tf.Float, width: float) -> Gripper | None:
        """The hand that holds an item from a tool pose (4, 4) in its frame with wrench closure; None when no fingertips do."""
        low, high = (np.asarray(corner) for corner in asset.extents)
        middle = tf.inverse(T_item_tcp) @ np.append((low + high) / 2, 1.0)
        size = float(np.linalg.norm(high - low)) / 2
        for touches in itertools.islice(self.touches(surface, T_item_tcp, width), TRIED):
            hand = self.hand_for(touches, width)
            if hand is not None and wrench_closure(touches, middle[:3], size) > CLOSURE:
                return hand
        return None


@lru_cache(maxsize=4096)
def fitted(robot: str, arm: int, spec: str, pose: bytes, width: float) -> Gripper | None:
    """`Fingertips.grasp`, remembered: for an asset's spec as JSON and the bytes of a tool pose in its frame."""
    T_item_tcp = np.frombuffer(pose, dtype=np.float64).reshape(4, 4)
    surface, asset = _surface(spec)
    return _fingertips(robot, arm).grasp(surface, asset, T_item_tcp, width)


@lru_cache(maxsize=64)
def _surface(spec: str) -> tuple[Surface, Asset]:
    asset = assets.build(AssetSpec.model_validate_json(spec))
    return Surface(asset), asset


@lru_cache(maxsize=8)
def _fingertips(robot: str, arm: int) -> Fingertips:
    return Fingertips(kinematics(robot, arm))
