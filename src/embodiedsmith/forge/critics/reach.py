"""Reach: can the arm's joints bring the hand to what is grasped, to the handles over their way, and to where things must go?

Inverse kinematics only, without obstacles, and hopeful: one way to hold a thing, one spot on a surface is enough. A robot on
wheels drives up to things: of it only heights are asked, and the execution critic decides.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import permutations

import numpy as np

from embodiedsmith.assets.asset import Handle
from embodiedsmith.forge.critics.base import Context, at_best_start
from embodiedsmith.forge.layout import needs
from embodiedsmith.forge.layout.needs import Target
from embodiedsmith.forge.layout.volumes import USED
from embodiedsmith.motion.errors import MotionError
from embodiedsmith.motion.grasping import FINGER_ROOM, FLIP, pairs_fitting
from embodiedsmith.motion.kinematics import Kinematics, kinematics
from embodiedsmith.spec import EditKind, Finding, predicates
from embodiedsmith.tasks import predicate
from embodiedsmith.tasks.cloths import corners
from embodiedsmith.tasks.kind import cavities, surfaces
from embodiedsmith.world import SettleError, World
from embodiedsmith.world import transforms as tf
from embodiedsmith.world.compile import body_frame

TILTS = (0.0, 0.5, -0.5, 0.9, -0.9)  # [rad] about a bar, by which a hand may hold it
MISS = 0.002  # [m] by which a tool pose may be missed
NEARLY = 0.05  # [m] by which the spots looked at may all be missed where a thing is put down: others lie between them
AJAR = 0.3  # opening fraction from which a part need not be held by its handle
FROM_ABOVE = 12  # yaws of a hand that points down
SPOTS = ((0.0, 0.0), (0.4, 0.0), (-0.4, 0.0), (0.0, 0.4), (0.0, -0.4), (0.4, 0.4), (0.4, -0.4), (-0.4, 0.4), (-0.4, -0.4))
"""Fractions of a place's sides from its middle, where the hand may put something down."""
SLOPES = (math.pi, 0.75 * math.pi, 0.5 * math.pi)  # [rad] from straight up, by which a hand comes that puts something down
ASIDE = (0.0, 0.7, -0.7, 1.4, -1.4)  # [rad] from straight away from the robot, to which that hand points
BESIDE = 0.15  # [m] from the middle of one thing to another beside it


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
        """What is out of reach, with the distance that is missing; nothing when from any start looked at all is within."""
        return at_best_start(lambda attempt: _faults(context, attempt))


def _faults(context: Context, attempt: int) -> list[Finding]:
    try:
        world = context.start(attempt)
    except SettleError as error:
        return [f.model_copy(update={"code": "reach.start_moves"}) for f in error.findings]
    wanted = needs.read(context.scenario, context.assets)
    pushed = _pushed(context, attempt)
    arm = _Arm(world)
    findings = [f for item in sorted(wanted.handled - pushed) if (f := _grasp(arm, item)) is not None]
    for part in wanted.parts:
        if part.required and part.joint is not None:
            findings += _handles(arm, part.item, part.joint)
    findings += [f for target in wanted.targets if target.item not in pushed and (f := _target(arm, target)) is not None]
    return findings + _points(arm, context)


class _Arm:
    """Whether tool poses are in reach of the arm, where the robot stands or wherever it may drive to."""

    def __init__(self, world: World) -> None:
        base = world.scenario.embodiment.base
        assert base is not None  # a world has one
        self.world = world
        self.kins: list[Kinematics] = [kinematics(world.robot.name, k) for k in range(len(world.robot.arms))]
        self.stands = world.robot.base.stands
        self.T_world_base = tf.matrix(base)
        self._T_base_world = tf.inverse(self.T_world_base)

    def finding(self, subjects: tuple[str, ...], what: str, tools: Iterable[tf.Float], limit: float = MISS) -> Finding | None:
        """None when one of the tool poses is in reach up to `limit` [m]; else by how much the nearest is missed."""
        missed = math.inf
        for T in tools:
            missed = min(missed, self._missed(T) if self.stands else self._missed_height(T))
            if missed < limit:
                return None
        return _unreachable(subjects, f"{what} is out of reach: the hand stays", missed, limit)

    def both(
        self, subjects: tuple[str, ...], what: str, ends: Iterable[tuple[tf.Float, tf.Float]], limit: float = MISS
    ) -> Finding | None:
        """None when two arms reach both of two tool poses up to `limit` [m], at either turn; else by how much they miss."""
        missed = math.inf
        for pair in ends:
            kins = min(permutations(self.kins, 2), key=lambda kins: self._away(kins, pair))
            miss = 0.0
            for kin, T in zip(kins, pair, strict=True):
                miss = max(miss, min(self._missed_by(kin, T @ turn) for turn in (np.eye(4), FLIP)))
                if miss >= min(missed, limit + NEARLY):
                    break
            missed = min(missed, miss)
            if missed < limit:
                return None
        return _unreachable(subjects, f"{what} is out of reach for two hands: one stays", missed, limit)

    def _missed(self, T_world_tool: tf.Float) -> float:
        """By how much the arm that comes nearest misses a tool pose [m]."""
        missed = math.inf
        for kin in self.kins:
            missed = min(missed, self._missed_by(kin, T_world_tool))
            if missed < MISS:
                break
        return missed

    def _missed_by(self, kin: Kinematics, T_world_tool: tf.Float) -> float:
        """By how much one arm misses a tool pose [m]."""
        T, missed = self._T_base_world @ T_world_tool, math.inf
        for start in self._starts(kin, T):
            found = kin.inverse(T, start)
            missed = min(missed, max(found.position_error, 0.1 * found.rotation_error))
            if missed < MISS:
                break
        return missed

    def _away(self, kins: Sequence[Kinematics], tools: Sequence[tf.Float]) -> float:
        """Distances [m], added up, of tool poses from where the arms for them are mounted."""
        points = [(self._T_base_world @ T)[:2, 3] for T in tools]
        return sum(float(np.linalg.norm(p - kin.mount[:2])) for kin, p in zip(kins, points, strict=True))

    def _starts(self, kin: Kinematics, T_base_tool: tf.Float) -> Iterator[tf.Float]:
        """Home, and home turned towards the tool about the first joint."""
        yield kin.home
        turned = kin.home.copy()
        turned[0] += math.atan2(T_base_tool[1, 3] - kin.mount[1], T_base_tool[0, 3] - kin.mount[0])
        yield np.clip(turned, kin.lower, kin.upper)

    def _missed_height(self, T_world_tool: tf.Float) -> float:
        robot = self.world.robot
        return max(0.0, abs(float(T_world_tool[2, 3]) - robot.arm_height) - robot.arm.reach)


def _unreachable(subjects: tuple[str, ...], said: str, missed: float, limit: float) -> Finding | None:
    if missed == math.inf:  # nothing was asked
        return None
    return Finding(
        code="reach.unreachable", subjects=subjects, value=missed, limit=limit, unit="m",
        message=f"{said} {100 * missed:.1f} cm away",
    )  # fmt: skip


def _pushed(context: Context, attempt: int) -> frozenset[str]:
    """What the plan pushes and never takes up."""
    try:
        steps = context.steps(attempt)
    except MotionError:
        return frozenset()  # the logic critic says so
    taken = {s.args[0] for s in steps if s.skill == "pick"}
    return frozenset(s.args[0] for s in steps if s.skill == "push") - taken


# ------------------------------------------------------------------ what is taken


def _grasp(arm: _Arm, item: str) -> Finding | None:
    """None when some grasp that the gripper is wide enough for is in reach."""
    world = arm.world
    matter = world.assets[item].matter
    if matter is not None and matter.kind == "rope":
        ends = world.matter(item)[[0, -1]]
        return arm.finding((item,), f"either end of {item}", (T for end in ends for T in _from_above(end)))
    if matter is not None and matter.kind == "cloth":
        points = world.matter(item)
        found = (arm.finding((item,), f"a corner of {item}", _from_above(points[k])) for k in corners(matter.grid))
        return next((finding for finding in found if finding is not None), None)
    if _by_two(world, item):
        return arm.both((item,), item, _ends(world, item))
    limit = world.robot.arm.gripper.max_width - FINGER_ROOM
    grasps = [g for g in world.assets[item].affordances.grasps if g.width <= limit]
    if not grasps:
        narrowest = min((g.width for g in world.assets[item].affordances.grasps), default=None)
        return Finding(
            code="reach.no_grasp", subjects=(item,), value=narrowest, limit=limit, unit="m",
            message=f"no grasp of {item} fits the gripper, which takes {100 * limit:.1f} cm",
        )  # fmt: skip
    carried = _carried(world, item)
    tools = (T @ world.item_pose(item, g.body) @ tf.matrix(g.pose) for T in carried for g in grasps)
    return arm.finding((item,), item, (T @ turned for T in tools for turned in (np.eye(4), FLIP)))


def _by_two(world: World, item: str) -> bool:
    """Whether an item can only be held by two hands, and the robot has such."""
    asset = world.assets[item]
    return not asset.affordances.grasps and bool(pairs_fitting(world.robot, asset))


def _ends(world: World, item: str) -> Iterator[tuple[tf.Float, tf.Float]]:
    """World tool poses of two hands that hold an item."""
    T = world.item_pose(item)
    for one, other in pairs_fitting(world.robot, world.assets[item]):
        yield T @ tf.matrix(one.pose), T @ tf.matrix(other.pose)


def _carried(world: World, item: str) -> list[tf.Float]:
    """World transforms (4, 4) by which an item can have come nearer before it is taken: with the drawer it lies in."""
    spec = world.scenario.scene.item(item)
    if spec.relation != "inside" or spec.parent is None:
        return [np.eye(4)]
    cavity = world.assets[spec.parent].affordances.cavity(spec.support)
    if cavity.joint is None:
        return [np.eye(4)]
    now = world.joint(f"{spec.parent}.{cavity.joint}")[1]
    moved = _body(world, spec.parent, cavity.joint, max(USED, now), cavity.body)
    return [np.eye(4), moved @ tf.inverse(world.item_pose(spec.parent, cavity.body))]


def _body(world: World, item: str, joint: str, fraction: float, body: str) -> tf.Float:
    """World pose (4, 4) of a body of an item with one joint at an opening fraction."""
    return world.item_pose(item) @ body_frame(world.assets[item].spec.to_json(), ((joint, fraction),), body)


# ------------------------------------------------------------------ what is opened


def _handles(arm: _Arm, item: str, joint: str) -> list[Finding]:
    """The handle closed, and as far open as it must be pulled; what starts open is pushed, not pulled.

    A door that stands ajar can be taken anywhere along its edge: its handle only has to be followed at first.
    """
    world = arm.world
    asset = world.assets[item]
    if world.joint(f"{item}.{joint}")[1] > AJAR:
        return []
    pulled = USED if asset.joints[joint].kind == "slide" else AJAR
    findings = []
    for handle in asset.affordances.handles:
        for fraction in (0.0, pulled) if handle.joint == joint else ():
            said = f"the handle of {item}.{joint} when {round(100 * fraction)} % open"
            found = arm.finding((f"{item}.{joint}",), said, _holds(handle, _body(world, item, joint, fraction, handle.body)))
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


# ------------------------------------------------------------------ where things go


def _target(arm: _Arm, target: Target) -> Finding | None:
    """None when a hand that holds the thing gets to some spot of the place it goes to; of two the motion critic says it."""
    if _by_two(arm.world, target.item):
        return None
    reference = target.place if target.part is None else f"{target.place}.{target.part}"
    others = (reference, *target.others[1:])
    said = f"the place of {target.item} {target.relation.replace('_', ' ')} {' and '.join(others)}"
    return arm.finding((target.item, *others), said, _putting(arm, target), NEARLY)


def _putting(arm: _Arm, target: Target) -> Iterator[tf.Float]:
    """Tool poses of a hand that puts the thing down: from above, or leaning away from the robot."""
    height = 0.5 * float(arm.world.assets[target.item].size[2])
    for point in _spots(arm.world, target):
        away = point - arm.T_world_base[:3, 3]
        for slope in SLOPES:
            for aside in ASIDE:
                T = tf.turn_z(math.atan2(away[1], away[0]) + aside) @ tf.turn((0.0, 1.0, 0.0), slope)
                T[:3, 3] = np.add(point, (0.0, 0.0, height))
                yield T


def _spots(world: World, target: Target) -> Iterator[tf.Float]:
    """World points (3,) on the floor of the place where a thing may end."""
    asset = world.assets[target.place]
    frames: list[tuple[tf.Float, tuple[float, ...]]]
    if target.relation == "on":
        frames = [(world.support(f"{target.place}.{s.name}")[1], s.size) for s in surfaces(asset, target.part)]
    elif target.relation == "inside":
        frames = [f for c in cavities(asset, target.part) for f in _cavity_frames(world, target.place, c.name)]
    else:
        T = world.item_pose(target.place)
        frames = [(tf.translate((T[0, 3], T[1, 3], float(world.corners(target.place)[:, 2].min()))), (2 * BESIDE, 2 * BESIDE))]
    for T, size in frames:
        for x, y in SPOTS:
            yield T[:3, :3] @ (x * size[0], y * size[1], 0.0) + T[:3, 3]


def _cavity_frames(world: World, item: str, name: str) -> Iterator[tuple[tf.Float, tuple[float, ...]]]:
    """The cavity as it is now, and where it is when its drawer has been pulled."""
    cavity, T = world.cavity(f"{item}.{name}")
    yield T, cavity.size
    if cavity.joint is not None and cavity.body != "root":
        yield _body(world, item, cavity.joint, USED, cavity.body) @ tf.matrix(cavity.pose), cavity.size


def _points(arm: _Arm, context: Context) -> list[Finding]:
    """Places that the goal gives by their coordinates."""
    findings = []
    for p in predicates(context.scenario.task.goal):
        if p.name == "at":
            numbers = predicate("at").resolve(p.params)
            point = np.array([numbers["x"], numbers["y"], numbers.get("z", arm.world.item_pose(p.args[0])[2, 3])])
            said = f"the place ({point[0]:.2f}, {point[1]:.2f}, {point[2]:.2f}) m of {p.args[0]}"
            found = arm.finding(p.args, said, _from_above(point))
            if found is not None:
                findings.append(found)
    return findings


def _from_above(point: tf.Float) -> Iterator[tf.Float]:
    for yaw in np.arange(FROM_ABOVE) * (math.pi / FROM_ABOVE):
        T = tf.turn_z(float(yaw)) @ tf.turn((1.0, 0.0, 0.0), math.pi)
        T[:3, 3] = point
        yield T


CRITIC = ReachCritic()
