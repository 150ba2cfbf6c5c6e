"""One thing in two hands: how both take hold of it, and how both arms move it as one, its pose leading theirs.

A thing held by two hands closes a chain: the arms may only move as it moves. So the thing's own pose is what is planned, along
straight lines and level, and the joints of both arms follow from it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise, permutations

import numpy as np

from embodiedsmith.assets.asset import Grasp
from embodiedsmith.motion import together
from embodiedsmith.motion.collision import TOUCH
from embodiedsmith.motion.controller import Controller, Held, opening
from embodiedsmith.motion.errors import MotionError
from embodiedsmith.motion.grasping import APPROACH, FLIP, SHORT_APPROACH, Tally, pairs_fitting
from embodiedsmith.motion.kinematics import kinematics
from embodiedsmith.motion.placing import Spot
from embodiedsmith.motion.together import TeamSpace
from embodiedsmith.world import transforms as tf

MOST_PAIRS = 60
"""Pairs of grasps looked at."""
MOST_LATER = 3
"""Of them, those for which it is looked at what comes after."""
SPACING = 0.015
"""[m] between the poses of the thing for which joints are sought."""
TURN = 0.08
"""[rad] likewise."""
JUMP = 0.4
"""[rad] from one of those poses to the next that joints may change."""
RISES = (0.0, 0.05, 0.10)
"""[m] above the higher of both ends of a way, at which it leads across."""
LIFTS = (0.12, 0.08, 0.065)
"""[m] by which a thing is lifted."""
CALM = 1.7
"""By how much slower than what is in one hand; what lies on it is not held by anything."""
RETREAT = (0.10, 0.06, 0.04)
"""[m] back along its approach, by which each hand leaves."""
SLOW = 0.5
"""Fraction of the joint limits used with a thing in both hands, and close to it."""
OPEN = 6
"""Control steps for the fingers to open."""


@dataclass(frozen=True)
class PairPlan:
    """Two hands' grasps of a thing, in reach and free."""

    item: str
    arms: tuple[int, int]
    grasps: tuple[Grasp, Grasp]
    T_tcp_item: Mapping[int, tf.Float]
    """By arm, how the thing hangs in its hand."""
    approach: tf.Float
    """Joint path (k, n) of both arms from before the grasps to them."""
    lift: tf.Float
    """Joint path (k, n) of both arms with the thing, straight up."""


def holders(control: Controller, item: str) -> tuple[int, ...]:
    """Arms that hold an item."""
    return tuple(arm for arm, load in enumerate(control.loads) if load is not None and load.item == item)


# ------------------------------------------------------------------ taking hold


def plans(control: Controller, item: str, tally: Tally, *, ready: Callable[[PairPlan], MotionError | None]) -> Iterator[PairPlan]:
    """Ways to take an item with two hands and lift it, best first.

    Args:
        control: The robot, both hands empty.
        item: What to take.
        tally: Counts why candidates were turned down.
        ready: Says why a way is of no use for what comes after it (None: it is of use).
    """
    T_item = control.world.item_pose(item)
    for arms, grasps in islice(_candidates(control, item, T_item), MOST_PAIRS):
        tally.tried += 1
        found = _hands_on(control, item, arms, grasps, T_item, tally)
        if found is None:
            continue
        error = ready(found)
        if error is None:
            yield found
            continue
        tally.later += 1
        tally.later_error = error
        if tally.later == MOST_LATER:
            return


def _candidates(
    control: Controller, item: str, T_item: tf.Float
) -> Iterator[tuple[tuple[int, int], tuple[tuple[Grasp, tf.Float], tuple[Grasp, tf.Float]]]]:
    """Which arm takes hold where: the nearer arm of each end first, every hand at the turn nearest to its home."""
    T_base = control.base_pose()
    mounts = [(T_base @ np.append(kinematics(control.robot.name, k).mount, 1.0))[:3] for k in range(len(control.loads))]
    found: list[tuple[float, int, tuple[int, int], tuple[tuple[Grasp, tf.Float], tuple[Grasp, tf.Float]]]] = []
    for k, pair in enumerate(pairs_fitting(control.robot, control.world.assets[item])):
        for arms in permutations(range(len(mounts)), 2):
            ends = [_turned(control, arm, T_item @ tf.matrix(grasp.pose)) for arm, grasp in zip(arms, pair, strict=True)]
            away = sum(float(np.linalg.norm(T[:2, 3] - mounts[arm][:2])) for arm, T in zip(arms, ends, strict=True))
            found.append((round(away, 2), k, (arms[0], arms[1]), ((pair[0], ends[0]), (pair[1], ends[1]))))
    found.sort(key=lambda f: f[:2])
    return ((arms, grasps) for _, _, arms, grasps in found)


def _turned(control: Controller, arm: int, T: tf.Float) -> tf.Float:
    """A tool pose, or the same with the fingers changed about: whichever is the less turn from home."""
    kin = kinematics(control.robot.name, arm)
    R_home = control.base_pose()[:3, :3] @ kin.forward(kin.home)[:3, :3]
    return min((T, T @ FLIP), key=lambda T: float(np.linalg.norm(tf.rotation_vector(R_home.T @ T[:3, :3]))))


def _hands_on(
    control: Controller, item: str, arms: tuple[int, int], grasps: tuple[tuple[Grasp, tf.Float], ...], T_item: tf.Float,
    tally: Tally,
) -> PairPlan | None:  # fmt: skip
    """The plan with one pair of grasps; None when it is out of reach or something is in the way."""
    space = TeamSpace(control, arms)
    space.checker.look(control, {}, {a: opening(control.hands[a], g.width) for a, (g, _) in zip(arms, grasps, strict=True)})
    joints: list[tf.Float] = []
    for arm, (_, T) in zip(arms, grasps, strict=True):
        control.use(arm)
        posture = next(control.postures(T))
        if tally.misses(posture):
            return None
        joints.append(posture.joints)
    start = np.concatenate(joints)
    tools = dict(zip(arms, (T for _, T in grasps), strict=True))
    fingers = [(item, finger) for arm in arms for finger in control.world.fingers(arm)]
    hit = space.hit(start)
    if hit is None:
        for distance in (APPROACH, SHORT_APPROACH):
            back = moved(control, arms, tools, {a: T @ tf.translate((0.0, 0.0, -distance)) for a, T in tools.items()}, start)
            if back is not None and (hit := space.path_hit(back)) is None:
                break
        else:
            back = None
        held = {a: Held(item, tf.inverse(T) @ T_item) for a, T in tools.items()}
        lift = None if back is None else lifted(control, space, held, T_item, start, fingers)
        if back is not None and lift is not None:
            chosen = (grasps[0][0], grasps[1][0])
            return PairPlan(item, arms, chosen, {a: load.T_tcp_item for a, load in held.items()}, back[::-1], lift)
    tally.met(hit)
    tally.blocked += 1
    return None


def lifted(
    control: Controller, space: TeamSpace, held: Mapping[int, Held], T_item: tf.Float, start: tf.Float,
    allowed: Sequence[tuple[str, str]] = (),
) -> tf.Float | None:  # fmt: skip
    """Joint path (k, n) of both arms that lifts what they hold, or are going to, from where it is; None when there is none.

    Args:
        control: The robot.
        space: Of both arms.
        held: How the thing hangs in each hand.
        T_item: World pose (4, 4) of the thing now.
        start: Joints (n,) of both arms at it.
        allowed: Owners that may touch besides: fingers and the thing do anyway.
    """
    item = next(iter(held.values())).item
    closings = {arm: control.hands[arm].closing_on(_width(control, arm, load)) for arm, load in held.items()}
    space.checker.look(control, held, closings)
    world = control.world
    space.checker.allow(
        [*allowed, *((item, owner) for owner in world.owners if owner != "robot" and world.touching(item, owner))]
    )
    for rise in LIFTS:
        path = chain(control, held, (T_item, tf.translate((0.0, 0.0, rise)) @ T_item), start)
        if path is not None and space.path_hit(path) is None:
            return path
    return None


def _width(control: Controller, arm: int, load: Held) -> float:
    """What a hand holds, across its fingers [m]: of the nearest of the thing's grasps."""
    pairs = control.world.assets[load.item].affordances.pairs
    grasps = [grasp for pair in pairs for grasp in pair]
    at = tf.inverse(load.T_tcp_item)[:3, 3]
    return min(grasps, key=lambda g: float(np.linalg.norm(np.subtract(g.pose.position, at)))).width


# ------------------------------------------------------------------ moving


def chain(control: Controller, held: Mapping[int, Held], T_items: Sequence[tf.Float], start: tf.Float) -> tf.Float | None:
    """Joint path (k, n) of the arms of `held`, in their order, that leads a thing along straight lines; None out of reach.

    Args:
        control: The robot.
        held: How the thing hangs in each hand.
        T_items: World poses (4, 4) it is led through, the first of them where it is.
        start: Joints (n,) of the arms now.
    """
    rows = [start]
    for T_from, T_to in pairwise(T_items):
        for T in _between(T_from, T_to, _count(T_from, T_to)):
            found = _joints(control, {arm: T @ tf.inverse(load.T_tcp_item) for arm, load in held.items()}, rows[-1])
            if found is None:
                return None
            rows.append(found)
    return np.array(rows)


def _count(T_from: tf.Float, T_to: tf.Float) -> int:
    """How many poses a straight way between two is made of, the first left out."""
    shift, turn = T_to[:3, 3] - T_from[:3, 3], tf.rotation_vector(T_from[:3, :3].T @ T_to[:3, :3])
    return max(1, int(np.ceil(max(float(np.linalg.norm(shift)) / SPACING, float(np.linalg.norm(turn)) / TURN))))


def _between(T_from: tf.Float, T_to: tf.Float, count: int) -> list[tf.Float]:
    """So many poses on the straight way between two, the first left out."""
    shift, turn = T_to[:3, 3] - T_from[:3, 3], tf.rotation_vector(T_from[:3, :3].T @ T_to[:3, :3])
    angle = float(np.linalg.norm(turn))
    axis = turn / angle if angle > 1e-9 else np.array([0.0, 0.0, 1.0])
    poses = []
    for k in range(1, count + 1):
        T = T_from @ tf.turn(axis, angle * k / count)
        T[:3, 3] = T_from[:3, 3] + shift * k / count
        poses.append(T)
    return poses


def moved(
    control: Controller, arms: Sequence[int], T_from: Mapping[int, tf.Float], T_to: Mapping[int, tf.Float], start: tf.Float
) -> tf.Float | None:
    """Joint path (k, n) of several arms whose tools go along straight lines at once, each from and to a world pose."""
    count = max(_count(T_from[arm], T_to[arm]) for arm in arms)
    ways = {arm: _between(T_from[arm], T_to[arm], count) for arm in arms}
    rows = [start]
    for k in range(count):
        found = _joints(control, {arm: way[k] for arm, way in ways.items()}, rows[-1])
        if found is None:
            return None
        rows.append(found)
    return np.array(rows)


def _joints(control: Controller, tools: Mapping[int, tf.Float], near: tf.Float) -> tf.Float | None:
    """Joints (n,) of several arms with their tools at world poses, near others; None when there are none."""
    T_base = tf.inverse(control.base_pose())
    parts, at = [], 0
    for arm, T in tools.items():
        kin = kinematics(control.robot.name, arm)
        before = near[at : at + len(kin.home)]
        found = kin.inverse(T_base @ T, before, iterations=15)
        if not found.ok or np.abs(found.joints - before).max() > JUMP:
            return None
        parts.append(found.joints)
        at += len(kin.home)
    return np.concatenate(parts)


def _across(
    control: Controller, space: TeamSpace, held: Mapping[int, Held], T_item: tf.Float, spot: Spot, owner: str, start: tf.Float,
    tally: Tally,
) -> tf.Float | None:  # fmt: skip
    """Joint path (k, n) of both arms from where they hold a thing to where it stands at a spot on `owner`.

    Up or down to the height of the way, across at that height, and down; None with the reasons in `tally`.
    """
    item = next(iter(held.values())).item
    high, last = spot.via[0], spot.via[-1]
    for rise in RISES:
        T_up, T_over = T_item.copy(), high.copy()
        T_up[2, 3] = T_over[2, 3] = max(float(T_item[2, 3]), float(high[2, 3])) + rise
        free = chain(control, held, (T_item, T_up, T_over, *spot.via), start)
        down = None if free is None else chain(control, held, (last, spot.T_world_item), free[-1])
        if free is None or down is None:
            tally.unreachable += 1
            tally.nearest = min(tally.nearest, JUMP)
            return None
        space.checker.forbid()
        hit = space.path_hit(free, TOUCH)
        if hit is None:
            space.checker.allow([(item, owner)])
            hit = space.path_hit(down, TOUCH)
            space.checker.forbid()
        if hit is None:
            return np.vstack([free, down[1:]])
        tally.met(hit)
    tally.blocked += 1
    return None


def _away(control: Controller, space: TeamSpace, held: Mapping[int, Held], T_item: tf.Float, start: tf.Float) -> tf.Float | None:
    """Joint path (k, n) of both hands, opened, away from a thing that stands at a pose; None when there is no way."""
    item = next(iter(held.values())).item
    arms = tuple(held)
    wide = {arm: opening(control.hands[arm], _width(control, arm, load)) for arm, load in held.items()}
    space.checker.look(control, {}, wide)
    space.checker.lay(item, T_item)
    space.checker.allow([(item, finger) for arm in arms for finger in control.world.fingers(arm)])
    tools = {arm: T_item @ tf.inverse(load.T_tcp_item) for arm, load in held.items()}
    for distance in RETREAT:
        back = moved(control, arms, tools, {a: T @ tf.translate((0.0, 0.0, -distance)) for a, T in tools.items()}, start)
        if back is not None and space.path_hit(back) is None:
            return back
    return None


# ------------------------------------------------------------------ putting down


def way_down(
    control: Controller, held: Mapping[int, Held], T_item: tf.Float, start: tf.Float, spots: Iterable[Spot], owner: str,
    tally: Tally,
) -> tuple[Spot, tf.Float] | None:  # fmt: skip
    """The first of some spots to which both arms bring what they hold, and the joint path (k, n) there.

    Args:
        control: The robot.
        held: How the thing hangs, or is going to hang, in each hand.
        T_item: World pose (4, 4) it is held at.
        start: Joints (n,) of both arms then.
        spots: Where it may stand, best first.
        owner: What it is put on or in.
        tally: Counts why spots were turned down.
    """
    space = TeamSpace(control, tuple(held))
    closings = {arm: control.hands[arm].closing_on(_width(control, arm, load)) for arm, load in held.items()}
    for spot in spots:
        tally.tried += 1
        if not _in_reach(control, held, spot, start, tally):
            continue
        space.checker.look(control, held, closings)
        path = _across(control, space, held, T_item, spot, owner, start, tally)
        if path is None:
            continue
        if _away(control, space, held, spot.T_world_item, path[-1]) is not None:
            return spot, path
        tally.blocked += 1
    return None


def put_down(control: Controller, item: str, spots: Iterable[Spot], owner: str, *, stage: str, about: tuple[str, ...]) -> None:
    """Put what both hands hold down at the first of some spots that they get it to, let go and bring both arms home.

    Raises:
        MotionError: `<stage>.unreachable`, `<stage>.blocked`, `<stage>.slipped`, ...
    """
    arms = holders(control, item)
    held = take(control, arms, item)
    start = commanded(control, arms)
    tally = Tally()
    found = way_down(control, held, control.world.item_pose(item), start, spots, owner, tally)
    if found is None:
        raise tally.error(stage, item, about)
    space = TeamSpace(control, arms)
    together.follow(control, space, found[1], stage=stage, speed=SLOW, calm=CALM)
    leave(control, arms, held, stage=stage)


def leave(control: Controller, arms: Sequence[int], held: Mapping[int, Held], *, stage: str) -> None:
    """Open both hands round what they hold, back off, and bring both arms home.

    Raises:
        MotionError: `<stage>.stuck` when there is no way back.
    """
    item = held[arms[0]].item
    for arm in arms:
        control.loads[arm] = None
        control.closings[arm] = opening(control.hands[arm], _width(control, arm, held[arm]))
    control.wait(OPEN)
    space = TeamSpace(control, tuple(arms))
    back = _away(control, space, held, control.world.item_pose(item), commanded(control, arms))
    if back is None:
        raise MotionError(f"{stage}.stuck", f"the hands cannot leave {item}", subjects=(item,))
    together.follow(control, space, back, stage=stage, speed=SLOW)
    for arm in arms:
        control.closings[arm] = 0.0
    together.move(control, {arm: kinematics(control.robot.name, arm).home for arm in arms}, stage=stage)


def take(control: Controller, arms: Sequence[int], item: str) -> dict[int, Held]:
    """From now on an item is in each of these hands, as it is there now; by arm."""
    held = {}
    for arm in arms:
        control.use(arm)
        held[arm] = control.take(item)
    control.use(arms[0])
    return held


def commanded(control: Controller, arms: Sequence[int]) -> tf.Float:
    """Joints (n,) last commanded of several arms, one's after another's."""
    return np.concatenate([control.world.command[control.world.arm_slices[arm]] for arm in arms])


def _in_reach(control: Controller, held: Mapping[int, Held], spot: Spot, start: tf.Float, tally: Tally) -> bool:
    """Whether each arm has joints for a spot; counts it when one has not."""
    T_base, at = tf.inverse(control.base_pose()), 0
    for arm, load in held.items():
        kin = kinematics(control.robot.name, arm)
        found = kin.inverse(T_base @ spot.T_world_item @ tf.inverse(load.T_tcp_item), start[at : at + len(kin.home)])
        at += len(kin.home)
        if tally.misses(found):
            return False
    return True
