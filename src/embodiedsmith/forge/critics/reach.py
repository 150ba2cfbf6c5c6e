"""Reach: can the arm's joints bring the hand to what is grasped, to the handles over their way, and to where things must go?

Inverse kinematics only, without obstacles. A robot on wheels drives up to things: for it the execution critic decides.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from embodiedsmith.assets.asset import Handle
from embodiedsmith.forge.critics.base import Context
from embodiedsmith.forge.layout import needs
from embodiedsmith.forge.layout.volumes import USED
from embodiedsmith.motion.kinematics import Kinematics, kinematics
from embodiedsmith.spec import EditKind, Finding, predicates
from embodiedsmith.tasks import predicate
from embodiedsmith.world import SettleError, World
from embodiedsmith.world import transforms as tf
from embodiedsmith.world.compile import body_frame

TILTS = (0.0, 0.5, -0.5, 0.9, -0.9)  # [rad] about a bar, by which a hand may hold it
MISS = 0.002  # [m] by which a place may be missed
AJAR = 0.3  # opening fraction from which a part need not be held by its handle
FROM_ABOVE = 12  # yaws of a hand that points down


class ReachCritic:
    """Solves for the joints at every place the hand must go to, in the order of their cost."""

    name = "reach"
    tier = 40
    on_draft = False
    codes: Mapping[str, tuple[EditKind, ...]] = {
        "reach.unreachable": ("move", "move_base", "turn", "change_support", "change_embodiment", "change_argument"),
        "reach.no_grasp": ("resize", "swap_asset", "change_embodiment", "change_argument"),
        "reach.start_moves": ("move", "turn", "change_support", "swap_asset", "remove"),
    }

    def review(self, context: Context) -> list[Finding]:
        """What is out of reach, with the distance that is missing."""
        if context.world.robot.base.kind != "fixed":
            return []
        try:
            world = context.start()
        except SettleError as error:
            return [f.model_copy(update={"code": "reach.start_moves"}) for f in error.findings]
        wanted = needs.read(context.scenario, context.assets)
        findings = [f for item in sorted(wanted.handled) if (f := _grasp(world, item)) is not None]
        for part in wanted.parts:
            if part.required and part.joint is not None:
                findings += _handles(world, part.item, part.joint)
        return findings + _points(context, world)


def _grasp(world: World, item: str) -> Finding | None:
    """None when some grasp that the gripper is wide enough for is in reach."""
    limit = world.robot.arm.gripper.max_width
    grasps = [g for g in world.assets[item].affordances.grasps if g.width < limit]
    if not grasps:
        narrowest = min((g.width for g in world.assets[item].affordances.grasps), default=None)
        return Finding(
            code="reach.no_grasp", subjects=(item,), value=narrowest, limit=limit, unit="m",
            message=f"no grasp of {item} fits the gripper, which opens {100 * limit:.1f} cm",
        )  # fmt: skip
    tools = (world.item_pose(item, g.body) @ tf.matrix(g.pose) for g in grasps)
    return _finding(world, (item,), f"{item}", tools)


def _handles(world: World, item: str, joint: str) -> list[Finding]:
    """The handle closed, and as far open as it must be pulled; what starts open is pushed, not pulled.

    A door that stands ajar can be taken anywhere along its edge: its handle only has to be followed at first.
    """
    asset = world.assets[item]
    if world.joint(f"{item}.{joint}")[1] > AJAR:
        return []
    spec, root = asset.spec.to_json(), world.item_pose(item)
    pulled = USED if asset.joints[joint].kind == "slide" else AJAR
    findings = []
    for handle in asset.affordances.handles:
        for fraction in (0.0, pulled) if handle.joint == joint else ():
            body = root @ body_frame(spec, ((joint, fraction),), handle.body)
            said = f"the handle of {item}.{joint} when {round(100 * fraction)} % open"
            found = _finding(world, (f"{item}.{joint}",), said, _holds(handle, body))
            if found is not None:
                findings.append(found)
                break
    return findings


def _holds(handle: Handle, T_world_body: tf.Float) -> Iterator[tf.Float]:
    """Tool poses that hold a bar: fingers across it, the palm straight before it or tilted about it."""
    axis = T_world_body[:3, :3] @ np.asarray(handle.axis)
    outward = T_world_body[:3, :3] @ np.asarray(handle.outward)
    center = T_world_body[:3, :3] @ np.asarray(handle.center) + T_world_body[:3, 3]
    for tilt in TILTS:
        z = -(tf.turn(axis, tilt)[:3, :3] @ outward)
        for side in (1.0, -1.0):
            y = side * np.cross(z, axis)
            T = np.eye(4)
            T[:3, :3] = np.stack([np.cross(y, z), y, z], axis=1)
            T[:3, 3] = center
            yield T


def _points(context: Context, world: World) -> list[Finding]:
    """Places that the goal gives by their coordinates."""
    findings = []
    for p in predicates(context.scenario.task.goal):
        if p.name == "at":
            numbers = predicate("at").resolve(p.params)
            point = np.array([numbers["x"], numbers["y"], numbers.get("z", world.item_pose(p.args[0])[2, 3])])
            said = f"the place ({point[0]:.2f}, {point[1]:.2f}, {point[2]:.2f}) m of {p.args[0]}"
            found = _finding(world, p.args, said, _from_above(point))
            if found is not None:
                findings.append(found)
    return findings


def _from_above(point: tf.Float) -> Iterator[tf.Float]:
    for yaw in np.arange(FROM_ABOVE) * (math.pi / FROM_ABOVE):
        T = tf.turn_z(float(yaw)) @ tf.turn((1.0, 0.0, 0.0), math.pi)
        T[:3, 3] = point
        yield T


def _finding(world: World, subjects: tuple[str, ...], what: str, tools: Iterable[tf.Float]) -> Finding | None:
    """None when one of the tool poses is in reach; else by how much the nearest is missed."""
    kin = kinematics(world.robot.name)
    base = world.scenario.embodiment.base
    assert base is not None  # a world has one
    T_base_world = tf.inverse(tf.matrix(base))
    missed = math.inf
    for T in tools:
        for start in _starts(kin, T_base_world @ T):
            found = kin.inverse(T_base_world @ T, start)
            missed = min(missed, max(found.position_error, 0.1 * found.rotation_error))
            if missed < MISS:
                return None
    return Finding(
        code="reach.unreachable", subjects=subjects, value=missed, limit=MISS, unit="m",
        message=f"{what} is out of reach: the hand stays {100 * missed:.1f} cm away",
    )  # fmt: skip


def _starts(kin: Kinematics, T_base_tool: tf.Float) -> Iterator[tf.Float]:
    """Home, and home turned towards the tool about the first joint."""
    yield kin.home
    turned = kin.home.copy()
    turned[0] += math.atan2(T_base_tool[1, 3], T_base_tool[0, 3])
    yield np.clip(turned, kin.lower, kin.upper)


CRITIC = ReachCritic()
