"""Moving a drawer or a door: by its handle, or by pushing its front."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from embodiedsmith.assets.asset import Handle
from embodiedsmith.motion import arms
from embodiedsmith.motion.controller import CARE, Controller, opening
from embodiedsmith.motion.errors import MotionError
from embodiedsmith.motion.grasping import APPROACH, SHORT_APPROACH, Tally
from embodiedsmith.spec import split_reference
from embodiedsmith.world import transforms as tf

TILTS = (0.0, 0.35, -0.35, 0.7, -0.7, 1.05, -1.05, 1.4, -1.4)
"""[rad] turns of the approach about the bar tried at the handle."""
KNOB_ROLLS = tuple(k * np.pi / 8 for k in (0, 1, -1, 2, -2, 3, -3, 4, -4, 5, -5, 6, -6, 7, -7, 8))
"""[rad] turns of the hand about a knob's axis tried, least first."""
ALONG = 0.7
"""Cosine between a hinge's axis and the front's outward direction above which pushing the front does not turn it."""
LAGS = (0.0, 0.5, 1.0, 0.25, 0.75)
"""Fractions of a door's turn that the hand does not follow: a vertical bar turns in the fingers."""
ARC_STEP = 0.06  # [rad] of a hinge between waypoints
SLIDE_STEP = 0.02  # [m] of a slide
YIELD = 0.15  # [rad] the arm may end off its target at the end of an arc: hinges and grips give; what counts is the part
SHUT_IN = 12  # ways looked at from whose end the arm does not get home straight, before one of them is taken
MOVES = 3  # times the hand takes hold anew
LEAST_MOVE = 0.04  # of the opening range: less is not worth a move
OVERSHOOT = {"slide": 0.006, "hinge": 0.02}
"""[m, rad] pushed beyond closed, so that it is."""
GRASP_DEPTH = 0.006  # [m] the bar's centre lies this far behind the TCP, towards the palm
FINGERTIP = 0.010  # [m] how far the closed fingertips reach beyond the TCP
LET_GO = 5  # control steps for the fingers to open round a bar
FINGER_SIDE = 0.012  # [m] from the TCP to the outer sides of the closed fingers
PUSH_ROLLS = (0.0, np.pi / 2, -np.pi / 2, np.pi)
PUSH_TILTS = (0.0, 0.4, -0.4, 0.8, -0.8, 1.1, -1.1)


@dataclass(frozen=True)
class ArcPlan:
    """A motion of the arm together with a joint of the scene."""

    approach: tf.Float
    """Joint path (k, n) to the handle or the front."""
    arc: tf.Float
    """Joint path (m, n) along the joint's motion."""
    fraction: float
    """Opening fraction at its end."""
    grips: bool
    free: bool
    """Whether the arm gets home from its end on a straight way, rather than being shut in by what it has moved."""


class Articulation:
    """One joint of the scene, with the geometry of moving it."""

    def __init__(self, control: Controller, reference: str) -> None:
        self.control = control
        self.reference = reference
        self.item, part = split_reference(reference)
        world = control.world
        asset = world.assets[self.item]
        self.handle: Handle = asset.affordances.handle(part or next(iter(asset.joints)))
        self.info = asset.joints[self.handle.joint]
        joint = world.model.joint(f"{self.item}/{self.info.name}")
        self.joint_id = joint.id
        self._address = int(joint.qposadr[0])
        self.name = f"{self.item}.{self.info.name}"
        self.look()

    def look(self) -> None:
        """See anew what lies in the part, and where: to be called whenever it, or what is in it, has moved."""
        self._cargo = self._carried()

    def _carried(self) -> list[tuple[int, tf.Float]]:
        """Free items lying in what moves: address of their position and their world pose (4, 4) now."""
        world = self.control.world
        moving = [c for c in world.assets[self.item].affordances.cavities if c.body == self.handle.body]
        found = []
        for other, index in world.items.items():
            if index.qpos < 0:
                continue
            T = world.item_pose(other)
            for cavity in moving:
                _, T_cavity = world.cavity(f"{self.item}.{cavity.name}")
                local = np.abs(T_cavity[:3, :3].T @ (T[:3, 3] - T_cavity[:3, 3]))
                if (local < (cavity.size[0] / 2, cavity.size[1] / 2, cavity.size[2])).all():
                    found.append((index.qpos, T))
        return found

    def imagine(self, position: float) -> None:
        """Move the part, and what lies in it, to a joint position in the checker's picture of the world."""
        data = self.control.checker.data
        data.qpos[self._address] = position
        for address, T_now in self._cargo:
            T = self.motion(position) @ T_now
            data.qpos[address : address + 3] = T[:3, 3]
            data.qpos[address + 3 : address + 7] = tf.quaternion(T[:3, :3])

    @property
    def opening(self) -> float:
        """Gripper command round the bar before it is gripped."""
        return opening(self.control.hand, 2 * self.handle.radius)

    @property
    def position(self) -> float:
        """Joint position now [m or rad]."""
        return self.control.world.joint(self.name)[0]

    @property
    def fraction(self) -> float:
        """Opening fraction now."""
        return self.control.world.joint(self.name)[1]

    def at(self, fraction: float) -> float:
        """Joint position at an opening fraction."""
        return self.info.closed + fraction * (self.info.open - self.info.closed)

    def motion(self, position: float) -> tf.Float:
        """World transform (4, 4) that carries the part from where it is now to a joint position."""
        data = self.control.world.data
        axis, anchor = data.xaxis[self.joint_id], data.xanchor[self.joint_id]
        delta = position - self.position
        if self.info.kind == "slide":
            return tf.translate(delta * axis)
        return tf.translate(anchor) @ tf.turn(axis, delta) @ tf.translate(-anchor)

    def grips(self) -> Iterator[tuple[tf.Float, tf.Float]]:
        """World tool poses that hold the bar now, likeliest first, each with the bar's world axis."""
        T_body = self.control.world.item_pose(self.item, self.handle.body)
        R = T_body[:3, :3]
        center = T_body[:3, :3] @ np.asarray(self.handle.center) + T_body[:3, 3]
        bar, outward = R @ np.asarray(self.handle.axis), R @ np.asarray(self.handle.outward)
        if self.handle.knob:
            yield from self._round_grips(center, bar, outward)
            return
        for tilt in TILTS:
            approach = tf.turn(bar, tilt)[:3, :3] @ -outward
            if approach[2] > 0.5:
                continue
            for sign in (1.0, -1.0):
                closing = sign * np.cross(bar, approach)
                T = np.eye(4)
                T[:3, :3] = np.stack([np.cross(closing, approach), closing, approach], axis=1)
                T[:3, 3] = center + GRASP_DEPTH * approach
                yield T, bar

    def _round_grips(self, center: tf.Float, bar: tf.Float, outward: tf.Float) -> Iterator[tuple[tf.Float, tf.Float]]:
        """World tool poses that hold a knob, along its axis, in turns all round it."""
        for roll in KNOB_ROLLS:
            across = tf.turn(outward, roll)[:3, :3] @ bar
            closing = np.cross(-outward, across)
            T = np.eye(4)
            T[:3, :3] = np.stack([across, closing, -outward], axis=1)
            T[:3, 3] = center - GRASP_DEPTH * outward
            yield T, across

    @property
    def pushable(self) -> bool:
        """Whether pushing against its front moves it: not when its axis points out of it, as with a knob or a lever."""
        T_body = self.control.world.item_pose(self.item, self.handle.body)
        axis = self.control.world.data.xaxis[self.joint_id]
        along = abs(float(axis @ (T_body[:3, :3] @ np.asarray(self.handle.outward))))
        return self.info.kind == "slide" or along < ALONG

    def pushes(self) -> Iterator[tf.Float]:
        """World tool poses with the closed fingertips against the part's front, ready to push it shut."""
        T_body = self.control.world.item_pose(self.item, self.handle.body)
        R = T_body[:3, :3]
        point = R @ np.asarray(self.handle.push) + T_body[:3, 3]
        outward = R @ np.asarray(self.handle.outward)
        bar = R @ np.asarray(self.handle.axis)
        side = np.cross(outward, bar)
        for tilt in PUSH_TILTS:
            for about in (bar, side):
                approach = tf.turn(about, tilt)[:3, :3] @ -outward
                if approach[2] > 0.5:
                    continue
                for roll in PUSH_ROLLS:
                    closing = tf.turn(approach, roll)[:3, :3] @ _perpendicular(approach, bar)
                    T = np.eye(4)
                    T[:3, :3] = np.stack([np.cross(closing, approach), closing, approach], axis=1)
                    T[:3, 3] = point - FINGERTIP * approach
                    yield T
                if tilt == 0.0:
                    break
        yield from self._pushes_from_above(point, outward)

    def _pushes_from_above(self, point: tf.Float, outward: tf.Float) -> Iterator[tf.Float]:
        """The hand points down and the sides of the fingers push: for a front that stands too close to reach round."""
        if abs(outward[2]) > 0.3:
            return
        down = np.array([0.0, 0.0, -1.0])
        flat = outward - outward[2] * np.array([0.0, 0.0, 1.0])
        flat /= np.linalg.norm(flat)
        for closing in (np.cross(down, flat), -np.cross(down, flat), flat, -flat):
            for below in (0.0, -0.03, 0.03):
                T = np.eye(4)
                T[:3, :3] = np.stack([np.cross(closing, down), closing, down], axis=1)
                T[:3, 3] = point + FINGER_SIDE * flat + below * down
                yield T

    def arc(
        self, T_start: tf.Float, target: float, lag: float, axis: tf.Float | None, start: tf.Float, tally: Tally
    ) -> tf.Float | None:
        """Arm joints (m, n) that carry the tool along with the part from now to `target`; None when out of reach or blocked.

        Args:
            T_start: World tool pose now.
            target: Joint position at the end [m or rad].
            lag: Fraction of a hinge's turn that the hand does not follow, turning about the bar instead.
            axis: World axis of the bar, for `lag`.
            start: Arm joints at `T_start`.
            tally: Counts what is in the way.
        """
        control, checker = self.control, self.control.checker
        span = target - self.position
        count = max(2, int(np.ceil(abs(span) / (SLIDE_STEP if self.info.kind == "slide" else ARC_STEP))))
        path = [start]
        T_base = tf.inverse(control.base_pose())
        now = self.position
        try:
            for k in range(1, count + 1):
                delta = span * k / count
                T = self.motion(now + delta) @ T_start
                if lag and axis is not None and self.info.kind == "hinge":
                    sense = float(np.sign(np.dot(control.world.data.xaxis[self.joint_id], axis))) or 1.0
                    turned = self.motion(now + delta)[:3, :3] @ axis
                    T[:3, :3] = tf.turn(turned, -sense * lag * delta)[:3, :3] @ T[:3, :3]
                found = control.kin.inverse(T_base @ T, path[-1], iterations=15)
                if not found.ok or np.abs(found.joints - path[-1]).max() > 0.5:
                    return None
                self.imagine(now + delta)
                if (hit := checker.hit(found.joints)) is not None:
                    tally.met(hit)
                    return None
                path.append(found.joints)
        finally:
            self.imagine(now)
        return np.array(path)

    def run(self, plan: ArcPlan, stage: str) -> None:
        """Approach, take hold or touch, move, let go and leave."""
        control = self.control
        control.park_others(stage=stage)
        control.look()
        if plan.grips:
            control.preshape(2 * self.handle.radius)
        else:
            control.gripper = 1.0
        control.reach(plan.approach[0], stage=stage)
        control.await_gripper()
        control.follow(plan.approach, stage=stage, speed=CARE)
        if plan.grips:
            control.grip(control.hand.taking(2 * self.handle.radius))
            if not all(control.world.touching(finger, self.item) for finger in control.fingers):
                self.leave(plan.grips, stage)
                raise MotionError(
                    f"{stage}.missed", f"the fingers closed beside the handle of {self.reference}", subjects=(self.reference,)
                )
        control.follow(plan.arc, stage=stage, speed=CARE, tolerance=YIELD)
        control.wait(2)
        self.leave(plan.grips, stage)

    def leave(self, grips: bool, stage: str) -> None:
        """Open the hand if it grips and back off the way it points."""
        control = self.control
        if grips:
            control.preshape(2 * self.handle.radius)
            control.wait(LET_GO)
        control.look()
        back = None
        for touching in (self.control.fingers, (*self.control.fingers, "robot")):  # a link may lean on it already
            control.checker.allow([(owner, self.item) for owner in touching])
            back = control.exit(control.checker.pose(control.joints), control.joints)
            if back is not None:
                break
        if back is None:
            raise MotionError(f"{stage}.stuck", f"no way back from {self.reference}", subjects=(self.reference,))
        control.follow(back, stage=stage, speed=0.6)

    def leaves(self, end: tf.Float, position: float, grips: bool) -> bool | None:
        """Whether the arm, after joints `end` with the part at `position`, backs off and gets home on a straight way.

        None when it cannot even back off.
        """
        control, checker = self.control, self.control.checker
        now = self.position
        self.imagine(position)
        checker.set_gripper(self.opening if grips else 1.0)
        try:
            back = control.exit(checker.pose(end), end)
            return None if back is None else checker.path_hit(np.stack([back[-1], control.kin.home])) is None
        finally:
            self.imagine(now)


def _perpendicular(direction: tf.Float, hint: tf.Float) -> tf.Float:
    out = hint - np.dot(hint, direction) * direction
    if np.linalg.norm(out) < 1e-3:
        out = np.cross(direction, (0.0, 0.0, 1.0))
    return np.asarray(out / np.linalg.norm(out))


def move(part: Articulation, targets: tuple[float, ...], enough: float, *, push: bool, stage: str) -> None:
    """Bring the part to one of the opening fractions `targets`, wanted most first, in as few moves as it takes.

    A way that gets only part of the distance is taken when no way gets all of it; then the hand takes hold anew.

    Args:
        part: What to move.
        targets: Opening fractions.
        enough: Fraction at or beyond which no further move is made.
        push: Whether fronts may be pushed (to close).
        stage: For the failures.

    Raises:
        MotionError: `<stage>.unreachable`, `<stage>.blocked`, `<stage>.missed`, or `<stage>.slipped` when it stays put.
    """
    closing = targets[0] < enough or targets[0] == 0.0
    for _ in range(MOVES):
        before = part.fraction
        part.run(plan_arc(part, targets, push=push, stage=stage), stage)
        after = part.fraction
        if (after <= enough) if closing else (after >= enough):
            return
        if abs(after - before) < 0.05:
            raise MotionError(
                f"{stage}.slipped", f"{part.reference} stays {100 * after:.0f} % open", subjects=(part.reference,),
                value=after, limit=enough,
            )  # fmt: skip


def plan_arc(part: Articulation, targets: tuple[float, ...], *, push: bool, stage: str) -> ArcPlan:
    """A way to bring the part to the most wanted target, the first from whose end the arm gets home; else one that gets farthest.

    Raises:
        MotionError: `<stage>.unreachable` or `<stage>.blocked`.
    """
    control = part.control
    T_body = control.world.item_pose(part.item, part.handle.body)
    order = control.arms_for((T_body @ np.append(part.handle.center, 1.0))[:3])
    return arms.first_that_can(control, order, lambda: _plan_arc(part, targets, push=push, stage=stage))


def _plan_arc(part: Articulation, targets: tuple[float, ...], *, push: bool, stage: str) -> ArcPlan:
    """See `plan_arc`: by the arm in use."""
    control, checker = part.control, part.control.checker
    control.look()
    part.look()
    now = part.fraction
    ahead = [t for t in targets if abs(t - now) > LEAST_MOVE and (t - now) * (targets[0] - now) > 0]
    tally = Tally()
    starts: list[tuple[tf.Float, tf.Float | None]] = [*part.grips()]
    if push and part.pushable:
        starts = [*((T, None) for T in part.pushes()), *starts]
    best: ArcPlan | None = None
    shut_in: list[ArcPlan] = []
    for T, bar in starts:
        if len(shut_in) == SHUT_IN:
            break
        tally.tried += 1
        for posture in control.postures(T):
            if tally.misses(posture):
                break
            checker.forbid_all()
            checker.allow([(finger, part.item) for finger in control.fingers])
            checker.set_gripper(1.0 if bar is None else part.opening)
            tally.met(checker.hit(posture.joints))
            approach = _come(control, T, posture.joints, tally)
            if approach is None:
                continue
            wanted = ahead if best is None else ahead[: ahead.index(best.fraction)]
            plan = _arc_plan(part, Start(T, bar, approach), wanted, tally)
            if plan is not None and plan.fraction == ahead[0]:
                if plan.free:
                    return plan
                shut_in.append(plan)
                break
            best = plan or best
    if shut_in:
        return shut_in[0]
    tally.blocked = tally.tried - tally.unreachable
    if best is None:
        raise tally.error(stage, part.reference)
    return best


@dataclass(frozen=True)
class Start:
    """A tool pose that touches the part, the bar's world axis if it grips it, and the way there."""

    T_world_tcp: tf.Float
    bar: tf.Float | None
    approach: tf.Float


def _arc_plan(part: Articulation, start: Start, wanted: list[float], tally: Tally) -> ArcPlan | None:
    """The motion to the first of the targets in reach."""
    data, joints = part.control.world.data, start.approach[-1]
    axis = data.xaxis[part.joint_id].copy() if start.bar is None else start.bar
    for fraction in wanted:
        goal = part.at(fraction)
        if fraction == 0.0:
            goal -= OVERSHOOT[part.info.kind] * float(np.sign(part.info.open - part.info.closed))
        for lag in LAGS if part.info.kind == "hinge" and not part.handle.knob else LAGS[:1]:
            arc = part.arc(start.T_world_tcp, goal, lag, axis, joints, tally)
            free = None if arc is None else part.leaves(arc[-1], goal, start.bar is not None)
            if arc is not None and free is not None:
                return ArcPlan(start.approach, arc, fraction, start.bar is not None, free)
    return None


def _come(control: Controller, T: tf.Float, joints: tf.Float, tally: Tally) -> tf.Float | None:
    for distance in (APPROACH, SHORT_APPROACH):
        back = control.straight(T, T @ tf.translate((0.0, 0.0, -distance)), joints, met=tally.met)
        if back is not None and control.checker.in_the_open(back[-1]):
            return back[::-1]
    return None
