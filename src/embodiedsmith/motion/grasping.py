"""Which way to take hold of an item: the asset's grasps, as the robot can reach them here and now."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from embodiedsmith.assets.asset import Asset, Grasp
from embodiedsmith.embodiments.description import Gripper, Robot
from embodiedsmith.motion.collision import Hit
from embodiedsmith.motion.controller import FINGER_PLAY, SNUG_PLAY, Controller, opening
from embodiedsmith.motion.errors import MotionError
from embodiedsmith.motion.fingertips import fitted
from embodiedsmith.motion.kinematics import POSITION_TOLERANCE, Solution
from embodiedsmith.spec import split_reference
from embodiedsmith.world import transforms as tf
from embodiedsmith.world.compile import RESERVED, ROBOT

FINGER_ROOM = 0.006  # [m] the open gripper must be wider than the item
APPROACH = 0.10  # [m] straight approach before the grasp
SHORT_APPROACH = 0.05
NEAR = 0.002  # [m] kept from everything else while approaching
MAX_TRIED = 200
ALIKE, ALIKE_SHIFT = 0.15, 0.015  # [rad, m] between grasps that lead to the same dead end
UPWARDS = 0.7  # a cavity whose opening points up by more than this cosine is entered from above
BEFORE_FRONT = 0.06  # [m] before a front the tool is in the open
BACKWARDS = 0.2  # cosine to the way out from which a hand would come from behind
SHALLOWER = 0.012  # [m] by which a grasp may be shallower than the asset says, for fingertips that would touch something else
FLIP = tf.turn_z(np.pi)
BITE = 0.002  # [m] by which a finger that closes comes into a thing at least, to hold it and not to slip past it
CLOSINGS = tuple(np.linspace(0.0, 1.0, 11))
"""Closings at which it is looked whether the fingers come into the thing: of hollow things they pass the walls."""
NAMED = 3  # things in the way that a failure names


@dataclass(frozen=True)
class GraspPlan:
    """A grasp in reach with a free approach."""

    grasp: Grasp
    T_world_tcp: tf.Float
    joints: tf.Float
    """Arm joints at the grasp."""
    approach: tf.Float
    """Joint path (k, n) from the pre-grasp to the grasp."""
    T_tcp_item: tf.Float
    hand: Gripper
    """How the fingers go from open to closed round the item."""
    play: float = FINGER_PLAY
    """How much wider [m] than the item they are opened for it."""


@dataclass
class Tally:
    """Why candidates were turned down, for the message when none is left."""

    tried: int = 0
    unreachable: int = 0
    nearest: float = float("inf")
    lost: int = 0
    """How many of those out of reach are not so themselves, but the way on from them is."""
    blocked: int = 0
    blocker: Hit | None = None
    """The last forbidden contact found."""
    in_the_way: Counter[str] = field(default_factory=Counter)
    """Things of the scene that were met, by how often."""
    later: int = 0
    later_error: MotionError | None = None
    """Why the last of those that could be taken were of no use for what comes after."""

    def met(self, hit: Hit | None) -> None:
        """Count what stood in the way, if anything did."""
        if hit is not None:
            self.blocker = hit
            self.in_the_way.update(o for o in (hit.first, hit.second) if o not in RESERVED)

    def things(self, *beside: str) -> tuple[str, ...]:
        """What stood in the way most often, `beside` left out."""
        return tuple(name for name, _ in self.in_the_way.most_common() if name not in beside)[:NAMED]

    def misses(self, posture: Solution) -> bool:
        """Count a tool pose that no joints reach; False when they do."""
        if posture.ok:
            return False
        self.unreachable += 1
        self.nearest = min(self.nearest, max(posture.position_error, 0.1 * posture.rotation_error))
        return True

    def error(self, stage: str, item: str, about: tuple[str, ...] = ()) -> MotionError:
        """The typed failure that says what stood in the way of most candidates; `about` is where the item was to go."""
        if self.tried == 0 and stage != "pick":
            return MotionError(f"{stage}.no_spot", f"there is no spot for {item}", subjects=(item, *about))
        if self.tried == 0:
            return MotionError(
                f"{stage}.no_grasp", f"no grasp of {item} fits the gripper", subjects=(item,), value=0.0, limit=1.0
            )
        if self.unreachable == self.tried and self.lost:
            return MotionError(
                f"{stage}.unreachable", f"none of {self.tried} poses at {item} has a way on from it that is in reach",
                subjects=(item, *about), limit=0.001,
            )  # fmt: skip
        if self.unreachable == self.tried:
            return MotionError(
                f"{stage}.unreachable",
                f"none of {self.tried} poses at {item} is in reach; the nearest misses by {100 * self.nearest:.1f} cm",
                subjects=(item, *about), value=self.nearest, limit=0.001,
            )  # fmt: skip
        if self.later >= self.blocked and (later := self.later_error) is not None:
            error = MotionError(
                f"{stage}.dead_end", f"{item} can be reached, but then {later.what}",
                subjects=tuple(dict.fromkeys((item, *later.subjects))), value=later.value, limit=later.limit,
            )  # fmt: skip
            error.__cause__ = later
            return error
        if self.blocker is None and self.blocked == self.tried - self.unreachable:
            return MotionError(
                f"{stage}.unreachable", f"none of {self.tried} poses at {item} has a straight way to it in reach",
                subjects=(item, *about), limit=0.001,
            )  # fmt: skip
        other = f"{self.blocker.first} against {self.blocker.second}" if self.blocker else "something"
        return MotionError(
            f"{stage}.blocked",
            f"{self.blocked} of {self.tried} poses at {item} are blocked ({other}), {self.unreachable} out of reach",
            subjects=(item, *self.things(item, split_reference(item)[0])), value=float(self.blocked), limit=0.0,
        )  # fmt: skip


def candidates(control: Controller, item: str, *, level: bool = False) -> list[tuple[Grasp, tf.Float]]:
    """Grasps of `item` that fit the gripper, as world tool poses, best first.

    Order: the asset's own preference in coarse steps, then the least turn of the wrist from where it is, so that motions are
    short and much alike. With `level`, hands that point sideways come first: they get through a front.
    """
    world = control.world
    limit = control.hand.max_width - FINGER_ROOM
    poses = {body: world.item_pose(item, body) for body in {g.body for g in world.assets[item].affordances.grasps}}
    R_now = control.base_pose()[:3, :3] @ control.kin.forward(control.kin.home)[:3, :3]
    found = []
    kinds: list[str] = []
    for grasp in world.assets[item].affordances.grasps:
        if grasp.width > limit:
            continue
        if not kinds or kinds[-1] != grasp.kind:
            kinds.append(grasp.kind)
        T = poses[grasp.body] @ tf.matrix(grasp.pose)
        if T[2, 2] > 0.35:  # approach from below
            continue
        for flipped in (T, T @ FLIP):
            turn = float(np.linalg.norm(tf.rotation_vector(R_now.T @ flipped[:3, :3])))
            steep = 4.0 * abs(float(flipped[2, 2])) if level else 0.0
            found.append((len(kinds) + turn + steep, grasp, flipped))
    found.sort(key=lambda c: c[0])
    return [(grasp, T) for _, grasp, T in found]


def pairs_fitting(robot: Robot, asset: Asset) -> tuple[tuple[Grasp, Grasp], ...]:
    """Pairs of grasps of an asset for which a robot's hands open far enough; none for a robot with one arm."""
    if len(robot.arms) < 2:
        return ()
    limit = min(arm.gripper.max_width for arm in robot.arms) - FINGER_ROOM
    return tuple(pair for pair in asset.affordances.pairs if max(grasp.width for grasp in pair) <= limit)


def plans(
    control: Controller,
    item: str,
    tally: Tally,
    *,
    ready: Callable[[GraspPlan], MotionError | None],
    level: bool = False,
    out: tf.Float | None = None,
    failed: Sequence[GraspPlan] = (),
) -> Iterator[GraspPlan]:
    """Grasps of `item` in reach with a free straight approach, best first; then those at which not every finger meets it, then
    those at which fingers opened as far as usual would touch the item beside what they take, as in the hole of a ring.

    Args:
        control: The robot, with the checker looking at the present world.
        item: What to hold.
        tally: Counts why candidates were turned down.
        level: Whether the hand should point sideways.
        out: The straight way (3,) into the open [m], for what lies in something that is entered from its front; see `outward`.
        ready: Says why a grasp is of no use for what comes after it (None: it is of use).
        failed: Grasps that were tried and did not hold: none like them comes again.
    """
    checker = control.checker
    T_world_item = control.world.item_pose(item)
    fingers = _Fingers(control, item, out) if control.hand.fingertips else None
    digits = () if control.hand.fingertips else _digits(control)
    dead = [kind_of(tf.inverse(plan.T_tcp_item)) for plan in failed]
    past: list[tuple[GraspPlan, tf.Float]] = []
    tight: list[tuple[Grasp, tf.Float, tf.Float]] = []

    def of_use(plan: GraspPlan, kind: tf.Float) -> bool:
        error = ready(plan)
        if error is not None:
            tally.later += 1
            tally.later_error = error
            dead.append(kind)
        return error is None

    for grasp, T in candidates(control, item, level=level)[:MAX_TRIED]:
        kind = kind_of(tf.inverse(T_world_item) @ T)
        if out is not None and float(T[:3, 2] @ out) > BACKWARDS * float(np.linalg.norm(out)):
            continue  # a hand that comes from behind
        if any(_alike(kind, other) for other in dead):
            continue
        tally.tried += 1
        checker.hand = control.hand
        checker.set_gripper(opening(control.hand, grasp.width))
        before = tally.blocker
        way = _way(control, item, T, out, tally)
        if way is None:
            if (hit := tally.blocker) is not before and hit is not None and _beside_itself(control, item, hit):
                tight.append((grasp, T, kind))
            continue
        hand = control.hand
        if fingers is not None and grasp.body == "root" and (better := fingers.around(way[0], grasp.width)) is not None:
            hand, way = better
        T_tcp, path = way
        plan = GraspPlan(grasp, T_tcp, path[-1], path, tf.inverse(T_tcp) @ T_world_item, hand)
        if digits and not _all_meet(control, item, path[-1], grasp.width, digits):
            past.append((plan, kind))
        elif of_use(plan, kind):
            yield plan
    for plan, kind in past:
        if not any(_alike(kind, other) for other in dead) and of_use(plan, kind):
            yield plan
    for grasp, T, kind in tight:
        if any(_alike(kind, other) for other in dead):
            continue
        checker.hand = control.hand
        checker.set_gripper(opening(control.hand, grasp.width, SNUG_PLAY))
        if (way := _way(control, item, T, out, Tally())) is None:
            continue
        T_tcp, path = way
        plan = GraspPlan(grasp, T_tcp, path[-1], path, tf.inverse(T_tcp) @ T_world_item, control.hand, SNUG_PLAY)
        if of_use(plan, kind):
            yield plan


def _beside_itself(control: Controller, item: str, hit: Hit) -> bool:
    """Whether a finger of a hand of two, open, met the very item that it was to take."""
    return (
        not control.hand.fingertips and item in (hit.first, hit.second) and bool({hit.first, hit.second} & set(control.fingers))
    )


def _digits(control: Controller) -> tuple[int, ...]:
    """Bodies of the tips of the hand in use, when a side of it has several fingers: what is slim passes between those."""
    model = control.world.model
    tips: list[int] = []
    for side in control.hand.finger_bodies:
        bodies = [model.body(ROBOT + name).id for name in side]
        inner = {int(model.body_parentid[body]) for body in bodies}
        tips += [body for body in bodies if body not in inner]
    return tuple(tips) if len(tips) > len(control.hand.finger_bodies) else ()


def _all_meet(control: Controller, item: str, joints: tf.Float, width: float, digits: tuple[int, ...]) -> bool:
    """Whether every finger meets the item, somewhere between open and closed; the hand is then open for its `width` again."""
    deepest = np.zeros(len(digits))
    for closing in CLOSINGS:
        control.checker.set_gripper(closing)
        deepest = np.maximum(deepest, control.checker.depths(joints, item, digits))
    control.checker.set_gripper(opening(control.hand, width))
    return bool((deepest > BITE).all())


class _Fingers:
    """The fingertips of the hand in use round one item as it lies now."""

    def __init__(self, control: Controller, item: str, out: tf.Float | None) -> None:
        self._control, self._item, self._out = control, item, out
        self._asset = control.world.assets[item]

    def around(self, T_world_tcp: tf.Float, width: float) -> tuple[Gripper, tuple[tf.Float, tf.Float]] | None:
        """The hand that holds the item from a tool pose with wrench closure, and its way there; the checker then wears it."""
        control = self._control
        T_item_tcp = tf.inverse(control.world.item_pose(self._item)) @ T_world_tcp
        key = np.round(T_item_tcp, 5).tobytes()  # what is remembered depends on nothing finer
        hand = fitted(control.robot.name, control.index, self._asset.spec.model_dump_json(), key, width)
        if hand is None:
            return None
        control.checker.hand = hand
        control.checker.set_gripper(opening(hand, width))
        way = _way(control, self._item, T_world_tcp, self._out, Tally())
        if way is None or not np.allclose(way[0], T_world_tcp):
            control.checker.hand = control.hand
            control.checker.set_gripper(opening(control.hand, width))
            return None
        return hand, way


def _way(control: Controller, item: str, T: tf.Float, out: tf.Float | None, tally: Tally) -> tuple[tf.Float, tf.Float] | None:
    """World tool pose (4, 4) and approach (k, n) to it for a grasp, a little shallower when the fingertips have no room below."""
    for posture in control.postures(T):
        if tally.misses(posture):
            return None
        here, joints = T, posture.joints
        hit = _hit(control, item, joints)
        tally.met(hit)
        if hit is not None:
            deep = NEAR - hit.distance + 2 * POSITION_TOLERANCE  # what inverse kinematics may leave of it
            if not {hit.first, hit.second} & set(control.fingers) or item in (hit.first, hit.second) or deep > SHALLOWER:
                continue
            here = T @ tf.translate((0.0, 0.0, -deep))
            above = next(control.postures(here, joints))
            if not above.ok or _hit(control, item, above.joints) is not None:
                continue
            joints = above.joints
        path = _approach(control, here, joints, out, tally)
        if path is not None:
            return here, path
    tally.blocked += 1
    return None


def kind_of(T_item_tcp: tf.Float) -> tf.Float:
    """A grasp with its turn about the item's axis taken out, shape (4, 4): it may be put down at any turn."""
    approach, closing = T_item_tcp[:3, 2], T_item_tcp[:3, 1]
    pointer = approach if np.hypot(approach[0], approach[1]) > 0.25 else closing
    return tf.turn_z(-float(np.arctan2(pointer[1], pointer[0]))) @ T_item_tcp


def _alike(grasp: tf.Float, other: tf.Float) -> bool:
    turn = float(np.trace(grasp[:3, :3].T @ other[:3, :3]))
    return turn > 1 + 2 * np.cos(ALIKE) and float(np.linalg.norm(grasp[:3, 3] - other[:3, 3])) < ALIKE_SHIFT


def _hit(control: Controller, item: str, joints: tf.Float) -> Hit | None:
    """What the open hand round the item would touch: the item itself not at all, anything else with a little room."""
    checker = control.checker
    hit = checker.hit(joints)
    if hit is None:
        checker.allow([(item, finger) for finger in control.fingers])
        hit = checker.hit(joints, NEAR)
        checker.forbid_all()
    return hit


def _approach(control: Controller, T: tf.Float, joints: tf.Float, out: tf.Float | None, tally: Tally) -> tf.Float | None:
    for distance in (APPROACH, SHORT_APPROACH):
        T_back = T @ tf.translate((0.0, 0.0, -distance))
        back = control.straight(T, T_back, joints, met=tally.met)
        if back is None:
            continue
        if out is None:
            return back[::-1]
        T_open = T_back.copy()
        way = out / np.linalg.norm(out)
        T_open[:3, 3] += max(0.0, float(np.linalg.norm(out) - (T_back - T)[:3, 3] @ way)) * way
        more = control.straight(T_back, T_open, back[-1], met=tally.met)
        if more is not None:
            return np.vstack([back, more[1:]])[::-1]
    return None


def outward(control: Controller, item: str, place: str) -> tf.Float | None:
    """World vector (3,) [m] from an item to the open before the front of the place it lies in; None when it lies in no such."""
    owner, part = split_reference(place)
    asset = control.world.assets.get(owner)
    cavity = next((c for c in asset.affordances.cavities if c.name == part), None) if asset is not None else None
    if cavity is None or cavity.opening[2] > UPWARDS:
        return None
    T_cavity = control.world.cavity(place)[1]
    opening = np.asarray(cavity.opening)
    way: tf.Float = T_cavity[:3, :3] @ opening
    inside = float((control.world.item_pose(item)[:3, 3] - T_cavity[:3, 3]) @ way)
    return (0.5 * float(np.abs(opening) @ cavity.size) - inside + BEFORE_FRONT) * way
