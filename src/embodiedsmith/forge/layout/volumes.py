"""The room an asset takes: its solid, what its doors and drawers sweep, and where the hand goes with their handles."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache

import mujoco
import numpy as np

from embodiedsmith import assets, embodiments
from embodiedsmith.assets.asset import Asset, Handle
from embodiedsmith.embodiments.balance import Balance
from embodiedsmith.forge.layout.prisms import Float, Kind, Prism, prism
from embodiedsmith.spec import AssetSpec
from embodiedsmith.tasks.probe import geom_points
from embodiedsmith.world import transforms as tf

HAND_WIDTH = 0.20  # [m] across a Franka hand
HAND_DEPTH = 0.12  # [m] from the bar to behind the fingers
SAMPLES = 7  # joint positions a sweep is made of
USED = 0.75  # part of a joint's range that opening for use needs


@dataclass(frozen=True)
class Sweep:
    """What one joint does, in the asset's root frame. Point sets have shape (n, 3)."""

    joint: str
    moving: tuple[tuple[Float, float], ...]
    """Corners and yaw of the moving parts, by joint position."""
    hand: tuple[tuple[Float, float], ...]
    """Corners and yaw of the hand at the handle, by joint position."""
    grips: Float
    """Centre of the handle's bar from closed to `USED` open, shape (k, 3); empty without a handle."""


@dataclass(frozen=True)
class Volumes:
    """The room one asset takes, in its root frame."""

    box: Float
    """Corners of the bounding box, shape (8, 3)."""
    sweeps: tuple[Sweep, ...]

    def solid(self, kind: Kind, owner: str, T_world_root: Float) -> Prism:
        """The asset's bounding box in the world."""
        yaw = math.atan2(T_world_root[1, 0], T_world_root[0, 0])
        return prism(kind, owner, apply(T_world_root, self.box), yaw)

    def moving(self, owner: str, T_world_root: Float, used: Collection[str]) -> list[Prism]:
        """What its joints sweep, in the world, and where the hand goes with the handles of those that are `used`."""
        turn = math.atan2(T_world_root[1, 0], T_world_root[0, 0])
        out: list[Prism] = []
        for sweep in self.sweeps:
            swing = Kind.SWING if sweep.joint in used else Kind.IDLE
            out += [prism(swing, owner, apply(T_world_root, p), turn + yaw) for p, yaw in sweep.moving]
            if sweep.joint in used:
                out += [prism(Kind.HAND, owner, apply(T_world_root, p), turn + yaw) for p, yaw in sweep.hand]
        return out


def apply(T: Float, points: Float) -> Float:
    """Points (n, 3) carried by a transform."""
    return points @ T[:3, :3].T + T[:3, 3]


def corners(low: Float, high: Float) -> Float:
    """The eight corners of an axis-aligned box, shape (8, 3)."""
    return np.array([[x, y, z] for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])])


def volumes(asset: Asset) -> Volumes:
    """The room an asset takes; equal specs share the work."""
    return _volumes(asset.spec.to_json())


@lru_cache(maxsize=512)
def _volumes(asset_json: str) -> Volumes:
    asset = assets.build(AssetSpec.from_json(asset_json))
    box = corners(np.asarray(asset.extents[0]), np.asarray(asset.extents[1]))
    if not asset.joints:
        return Volumes(box, ())
    model = asset.mjspec.compile()
    data = mujoco.MjData(model)
    return Volumes(box, tuple(_sweep(asset, model, data, name) for name in asset.joints))


def _sweep(asset: Asset, model: mujoco.MjModel, data: mujoco.MjData, joint: str) -> Sweep:
    info = asset.joints[joint]
    address = int(model.joint(joint).qposadr[0])
    below = [b for b in range(model.nbody) if _moves_with(model, b, int(model.joint(joint).bodyid[0]))]
    handles = [h for h in asset.affordances.handles if h.joint == joint]
    moving: list[tuple[Float, float]] = []
    hand: list[tuple[Float, float]] = []
    grips: list[Float] = []
    for fraction in np.linspace(0.0, 1.0, SAMPLES):
        mujoco.mj_resetData(model, data)
        data.qpos[address] = info.closed + fraction * (info.open - info.closed)
        mujoco.mj_kinematics(model, data)
        for body in below:
            points = _body_corners(model, data, body)
            if len(points):
                moving.append((points, _yaw(data.xmat[body].reshape(3, 3))))
        for handle in handles:
            T = tf.compose(data.body(handle.body).xpos, data.body(handle.body).xquat)
            hand.append(_hand_box(handle, T))
            if fraction <= USED + 1e-9:
                grips.append(apply(T, np.asarray(handle.center)[None])[0])
    if info.kind == "slide":
        moving, hand = _merged(moving), _merged(hand)
    return Sweep(joint, tuple(moving), tuple(hand), np.array(grips).reshape(-1, 3))


def _moves_with(model: mujoco.MjModel, body: int, mover: int) -> bool:
    while body:
        if body == mover:
            return True
        body = int(model.body_parentid[body])
    return False


def _body_corners(model: mujoco.MjModel, data: mujoco.MjData, body: int) -> Float:
    """Corners of the boxes round a body's geoms, in the model's world frame, shape (8 n, 3)."""
    out = [np.zeros((0, 3))]
    for geom in range(int(model.body_geomadr[body]), int(model.body_geomadr[body]) + int(model.body_geomnum[body])):
        middle, half = model.geom_aabb[geom, :3], model.geom_aabb[geom, 3:]
        local = corners(middle - half, middle + half)
        out.append(local @ data.geom_xmat[geom].reshape(3, 3).T + data.geom_xpos[geom])
    return np.concatenate(out)


def _hand_box(handle: Handle, T: Float) -> tuple[Float, float]:
    """Box in front of a handle that a hand needs, seen from the bar outwards; and its yaw."""
    outward = T[:3, :3] @ np.asarray(handle.outward)
    yaw = math.atan2(outward[1], outward[0])
    half = HAND_WIDTH / 2
    local = corners(np.array([0.0, -half, -half]), np.array([HAND_DEPTH, half, half]))
    return apply(tf.translate(apply(T, np.asarray(handle.center)[None])[0]) @ tf.turn_z(yaw), local), yaw


def _merged(parts: list[tuple[Float, float]]) -> list[tuple[Float, float]]:
    """What slides straight sweeps one box."""
    return [(np.concatenate([p for p, _ in parts]), parts[0][1])] if parts else []


def outline(asset: Asset) -> tuple[Float, Float]:
    """What an asset looks like from above: level discs round points (n, 2) in its root frame, and their radii (n,) [m].

    Their convex hull is that of its collision shapes, joints closed.
    """
    return _outline(asset.spec.to_json())


@lru_cache(maxsize=512)
def _outline(asset_json: str) -> tuple[Float, Float]:
    model = assets.build(AssetSpec.from_json(asset_json)).mjspec.compile()
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    points, radii = [np.zeros((0, 2))], [np.zeros(0)]
    for geom in range(model.ngeom):
        if model.geom_contype[geom] or model.geom_conaffinity[geom]:
            local, radius = geom_points(model, geom)
            world = local @ data.geom_xmat[geom].reshape(3, 3).T + data.geom_xpos[geom]
            points.append(world[:, :2])
            radii.append(np.full(len(local), radius))
    return np.concatenate(points), np.concatenate(radii)


@lru_cache(maxsize=16)
def arm_at_home(robot: str, *, cradling: bool = False) -> tuple[Float, ...]:
    """Boxes round the links of a robot held as at the start, in its base frame: corners, shape (8 n, 3), by link.

    `cradling`: with something lying in its first hand.

    Legs are left out: there is room for knees under a table, which counts as one box down to the floor.
    """
    description = embodiments.get(robot)
    model = description.build().compile()
    data = mujoco.MjData(model)
    for arm in description.arms:
        for name, position in zip((*arm.joints, *arm.gripper.joints), (*arm.home, *arm.gripper.open_qpos), strict=True):
            data.qpos[model.joint(name).qposadr[0]] = position
    if cradling and (cradle := description.cradle) is not None:
        names, positions = (*description.arm.joints, *description.arm.gripper.joints), (*cradle.joints, *cradle.fingers)
        for name, position in zip(names, positions, strict=True):
            data.qpos[model.joint(name).qposadr[0]] = position
    if description.onboard is not None:
        Balance(description).place(data.qpos)
    mujoco.mj_kinematics(model, data)
    legs = {int(model.joint(name).bodyid[0]) for name in description.onboard.legs} if description.onboard is not None else set()
    links = [_body_corners(model, data, body) for body in range(1, model.nbody) if body not in legs]
    return tuple(points for points in links if len(points))


def _yaw(R: Float) -> float:
    return math.atan2(R[1, 0], R[0, 0])
