"""push(item, other): slide an item along what it stands on until it is near or touches another.

For what no grasp fits, and for contacts, which a hand that must open can hardly make. The closed fingers come down behind the
item, push it in a straight line while the goal's own margin is watched, and back off; an item that turned away is aimed at anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from embodiedsmith.motion import arms
from embodiedsmith.motion.controller import CARE, Controller
from embodiedsmith.motion.errors import MotionError
from embodiedsmith.motion.grasping import NEAR, Tally
from embodiedsmith.motion.operators import Operator, Step
from embodiedsmith.motion.skills import Skill
from embodiedsmith.motion.wishes import staying
from embodiedsmith.spec import Predicate
from embodiedsmith.tasks.probe import Probe
from embodiedsmith.tasks.registry import predicate
from embodiedsmith.world import transforms as tf

CREEP = 0.05  # [m/s] of the hand while it pushes: things stop when it stops
RAMP = 6  # control steps to that speed, and to a stop
CHECK = 2  # control steps between looks at the margin
PUSHES = 5  # times an item is aimed at
CLOSE_BY = 0.02  # [m] nearer than asked for, so that it stays near
BEYOND = 0.03  # [m] pushed at most beyond where it should be enough
SLANT = 1.3  # by which a push that does not lead straight there is longer
GAP = 0.025  # [m] between the fingers and the item before the push
FINGER_SIDE = 0.012  # [m] from the TCP to the outer sides of the closed fingers
FINGERTIP = 0.016  # [m] of the TCP above the surface at least: fingertips reach 0.010 beyond it
DESCENT, BACK = 0.10, 0.03  # [m] straight down before the push, straight back after it
ASTRAY = 0.03  # [m] beside its line from which an item is aimed at anew
LEANS = ((0.0, 0.0), (0.35, 0.0), (0.7, 0.0), (0.0, 0.5), (0.0, -0.5), (0.5, 0.5), (0.5, -0.5))
"""[rad] by which the hand leans back from the item, and to a side."""
ROLLS = (0.0, np.pi, np.pi / 2, -np.pi / 2, np.pi / 4, -np.pi / 4)
"""[rad] turns of the hand about its approach; at 0 the fingers are side by side across the push."""
LOW = (0.35, 0.55, 0.8)  # fractions of the item's height at which it is pushed: pushed high, it tips and rocks back
SLANTS = (0.35, -0.35, 0.7, -0.7)  # [rad] from straight at the other thing
STEEPEST = 0.75  # cosine of the steepest of these
OFF_MIDDLE = 0.7  # of half their widths by which the two may meet off their middles
MIDDLE = 0.5  # of another thing's extent: the part of it that is aimed at
WAIT = 6  # control steps for things to come to rest


@dataclass(frozen=True)
class PushPlan:
    """A way to push that is in reach and free."""

    item: str
    """What is pushed."""
    approach: tf.Float
    """Joint path (k, n) from the open down to behind the item."""
    push: tf.Float
    """Joint path (m, n) of the straight push, evenly spaced along it."""
    length: float
    """Of the push [m]."""
    direction: tf.Float
    """World direction (3,) of the push, level."""


def run(control: Controller, args: tuple[str, ...], upcoming: tuple[Step, ...]) -> None:
    """Push until the goal's own margin says that it is enough, aiming anew as often as it takes."""
    item, other = args
    if control.held is not None:
        raise MotionError("push.hand_full", f"{control.held.item} is in the hand", subjects=(control.held.item,))
    wanted = _wanted(control, args)
    margin = _margin(control, wanted)
    enough = 0.0 if wanted.name == "touching" else min(CLOSE_BY, 0.5 * predicate("near").resolve(wanted.params)["distance"])
    for k in range(PUSHES):
        if k:
            control.session.note("recovery", (item,), f"{item} is aimed at anew")
        farthest = SLANT * (enough - margin()) + BEYOND
        pairs = [(item, other)]
        stays = staying(control.world.scenario.task.goal)
        if wanted.name == "touching" and control.world.items[other].qpos >= 0 and other not in stays:  # it works from both ends
            pairs.append((other, item))
        _push(control, _plan(control, pairs, farthest), lambda: margin() > enough)
        control.wait(WAIT)
        if margin() > 0:
            return
    raise MotionError(
        "push.effect", f"{item} is not {wanted.name} {other} after {PUSHES} pushes (margin {100 * margin():.1f} cm)",
        subjects=args, value=margin(), limit=0.0,
    )  # fmt: skip


def _wanted(control: Controller, args: tuple[str, ...]) -> Predicate:
    """What the goal asks of the two: the contact, if it asks for both."""
    asked = [p for p in control.stages(control.stage)[0] if p.name in ("touching", "near") and p.args == args]
    return max(asked, key=lambda p: p.name == "touching", default=Predicate(name="touching", args=args))


def _margin(control: Controller, wanted: Predicate) -> Callable[[], float]:
    probe, kind = Probe(control.world), predicate(wanted.name)
    bound = kind.bind(probe, wanted.args, kind.resolve(wanted.params))
    bound.reset()

    def margin() -> float:
        probe.refresh()
        return bound.margin()

    return margin


# ------------------------------------------------------------------ where to push


def _plan(control: Controller, pairs: list[tuple[str, str]], farthest: float) -> PushPlan:
    """The first way found to push the first of a pair to the second, not farther than `farthest` [m].

    Raises:
        MotionError: `push.unreachable` or `push.blocked`.
    """
    order = control.arms_for(control.world.item_pose(pairs[0][0])[:3, 3])
    return arms.first_that_can(control, order, lambda: _first_plan(control, pairs, farthest))


def _first_plan(control: Controller, pairs: list[tuple[str, str]], farthest: float) -> PushPlan:
    """See `_plan`: by the arm in use."""
    control.look()
    control.checker.set_gripper(1.0)
    tally = Tally()
    for item, other in pairs:
        for direction, whole in _lines(control, item, other):
            length = min(whole, farthest)
            for T in _hands(control, item, direction):
                tally.tried += 1
                for posture in control.postures(T):
                    if tally.misses(posture):
                        break
                    plan = _try(control, item, other, T, posture.joints, direction, length, tally)
                    if plan is not None:
                        return plan
                else:
                    tally.blocked += 1
    raise tally.error("push", pairs[0][0])


def _lines(control: Controller, item: str, other: str) -> Iterator[tuple[tf.Float, float]]:
    """Level directions (3,) to push in, and how far [m], such that the item meets the middle part of the other.

    Square to a side of the item first, since a box pushed square keeps its heading; then straight at the other, then aslant.
    """
    world = control.world
    here, there = world.corners(item), world.corners(other)
    centre = here.mean(axis=0)
    way = (_aim(control, item, other) - centre) * (1.0, 1.0, 0.0)
    length = float(np.linalg.norm(way))
    if length < 0.001:
        raise MotionError("push.blocked", f"{item} and {other} stand on each other", subjects=(item, other))
    straight = way / length
    sides = [s * world.item_pose(item)[:3, k] for k in (0, 1) for s in (1.0, -1.0)]
    square = max((side for side in sides if abs(side[2]) < 0.1), key=lambda side: float(side @ straight), default=straight)
    square = square * (1.0, 1.0, 0.0) / np.hypot(square[0], square[1])
    for direction in (square, straight, *(tf.turn_z(turn)[:3, :3] @ straight for turn in SLANTS)):
        across = np.array([-direction[1], direction[0], 0.0])
        room = 0.5 * float(np.ptp(here @ across) + np.ptp(there @ across))
        miss = abs(float((there.mean(axis=0) - centre) @ across))
        if direction is straight or (miss < OFF_MIDDLE * room and direction @ straight > STEEPEST):
            yield direction, length + BEYOND


def _aim(control: Controller, item: str, other: str) -> tf.Float:
    """World point (3,) in the middle part of the other's box that is nearest to the item's centre."""
    low, high = (np.asarray(corner) for corner in control.world.assets[other].extents)
    T = control.world.item_pose(other)
    middle, half = (low + high) / 2, MIDDLE * (high - low) / 2
    local = T[:3, :3].T @ (control.world.corners(item).mean(axis=0) - T[:3, 3]) - middle
    nearest: tf.Float = T[:3, :3] @ (np.clip(local, -half, half) + middle) + T[:3, 3]
    return nearest


def _hands(control: Controller, item: str, direction: tf.Float) -> Iterator[tf.Float]:
    """World tool poses (4, 4) behind the item, `GAP` away: the hand upright and low, fingers side by side, first."""
    box = control.world.corners(item)
    centre, bottom, height = box.mean(axis=0), float(box[:, 2].min()), float(np.ptp(box[:, 2]))
    behind = float(((box - centre) @ -direction).max()) + FINGER_SIDE + GAP
    up = np.array([0.0, 0.0, 1.0])
    across = np.cross(up, direction)
    for low, (back, aside), roll in product(LOW, LEANS, ROLLS):
        approach = tf.turn(across, -back)[:3, :3] @ tf.turn(direction, aside)[:3, :3] @ -up
        closing = tf.turn(approach, roll)[:3, :3] @ _square_to(approach, across)
        T = np.eye(4)
        T[:3, :3] = np.stack([np.cross(closing, approach), closing, approach], axis=1)
        T[:3, 3] = centre - behind * direction
        T[2, 3] = bottom + max(low * height, FINGERTIP)
        yield T


def _square_to(approach: tf.Float, hint: tf.Float) -> tf.Float:
    out = hint - (hint @ approach) * approach
    square: tf.Float = out / np.linalg.norm(out)
    return square


def _try(
    control: Controller, item: str, other: str, T: tf.Float, joints: tf.Float, direction: tf.Float, length: float, tally: Tally
) -> PushPlan | None:
    checker, world = control.checker, control.world
    fingers = [(finger, item) for finger in control.fingers]
    checker.forbid_all()
    if (hit := checker.hit(joints, NEAR)) is not None:  # most hands fail here: long before there is a way to work out
        if tally.blocker is None:
            tally.met(hit)
        return None
    down = control.straight(T, _shifted(T, np.array([0.0, 0.0, DESCENT])), joints, clearance=NEAR)
    if down is None:
        return None
    push = control.line(T, _shifted(T, (GAP + length) * direction), joints)
    if push is None:
        tally.unreachable += 1
        tally.lost += 1
        return None
    checker.allow(fingers)
    meets = checker.path_hit(push[: 1 + int(np.ceil(GAP / (GAP + length) * (len(push) - 1)))])
    if meets is not None:  # the palm would push, not the fingers
        if tally.blocker is None:
            tally.met(meets)
        return None
    checker.allow([(item, owner) for owner in (other, *world.owners) if owner == other or world.touching(item, owner)])
    checker.allow([(finger, other) for finger in control.fingers])  # it gives way
    checker.hold(item, tf.inverse(_shifted(T, GAP * direction)) @ world.item_pose(item))
    hit = checker.path_hit(push[1:])
    control.look()
    checker.set_gripper(1.0)
    if hit is not None:
        tally.met(hit)  # what stands in the item's way says more than what is in the hand's
        return None
    return PushPlan(item, down[::-1], push, GAP + length, direction)


def _shifted(T: tf.Float, shift: tf.Float) -> tf.Float:
    out = T.copy()
    out[:3, 3] += shift
    return out


# ------------------------------------------------------------------ pushing


def _push(control: Controller, plan: PushPlan, done: Callable[[], bool]) -> None:
    control.park_others(stage="push")
    control.look()
    control.gripper = 1.0
    control.reach(plan.approach[0], stage="push")
    control.await_gripper()
    control.follow(plan.approach, stage="push", speed=CARE)
    _creep(control, plan, done)
    _back_off(control, plan.item, plan.direction)


def _creep(control: Controller, plan: PushPlan, done: Callable[[], bool]) -> None:
    """Along the push until `done`, the end, or the item has left its line; then to a gentle stop.

    A sudden stop would let what is pushed slide on, and what touches come apart.
    """
    start = control.world.item_pose(plan.item)[:3, 3]
    across = np.array([-plan.direction[1], plan.direction[0], 0.0])
    rows = np.linspace(0.0, plan.length, len(plan.push))
    change = CREEP / RAMP
    braking = 0.5 * RAMP * CREEP * control.dt
    travelled, speed, stop = 0.0, 0.0, False
    for k in range(int(plan.length / (CREEP * control.dt)) + 3 * RAMP):
        speed = max(0.0, speed - change) if stop else min(CREEP, speed + change)
        if speed == 0.0:
            return
        travelled = min(plan.length, travelled + speed * control.dt)
        control.step(np.array([np.interp(travelled, rows, joint) for joint in plan.push.T]))
        if k % CHECK == 0 and not stop:
            astray = abs(float((control.world.item_pose(plan.item)[:3, 3] - start) @ across)) > ASTRAY
            stop = astray or travelled > plan.length - braking or done()


def _back_off(control: Controller, item: str, direction: tf.Float) -> None:
    control.look()
    control.checker.allow([(finger, item) for finger in (*control.fingers, "robot")])
    T = control.checker.pose(control.joints)
    T_back = _shifted(T, -BACK * direction)
    back = control.straight(T, T_back, control.joints)
    up = None if back is None else control.straight(T_back, _shifted(T_back, np.array([0.0, 0.0, DESCENT])), back[-1])
    if back is not None and up is not None:
        back = np.vstack([back, up[1:]])
    elif back is None:
        back = control.exit(T, control.joints)
    if back is None:
        raise MotionError("push.stuck", f"no way back from {item}", subjects=(item,))
    control.follow(back, stage="push", speed=0.6)


_BASE = Operator(
    skill="push",
    parameters=(("item", "item"), ("other", "item"), ("place", "place"), ("zone", "zone")),
    needs=(
        ("empty_hand",),
        ("loose", "item"),
        ("at", "item", "place"),
        ("at", "other", "place"),
        ("ungated", "place"),
        ("roomy", "place"),
        ("place_zone", "place", "zone"),
        ("standing", "zone"),
    ),
    adds=(("near", "item", "other"),),
    removes=(("posed", "item"),),
    passes=("item", "other"),
)

_CONTACT = ("touching", "item", "other")

SKILL = Skill(
    name="push",
    operators=(
        # What can be carried is: only the last centimetres are pushed.
        replace(_BASE, needs=(*_BASE.needs, ("wanted_touching", "item", "other"), ("near", "item", "other")), adds=(_CONTACT,)),
        replace(
            _BASE, needs=(*_BASE.needs, ("wanted_touching", "item", "other"), ("bulky", "item")), adds=(*_BASE.adds, _CONTACT)
        ),
        replace(_BASE, needs=(*_BASE.needs, ("wanted_near", "item", "other"), ("bulky", "item"))),
    ),
    run=run,
)
