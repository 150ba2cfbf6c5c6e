"""One robot in one session: where it is, what it holds, and how it gets elsewhere.

Skills speak to the robot only through this class. Every motion is planned on the collision checker, timed under the joint
limits and run as control steps of the session, so that it is recorded like anything else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from embodiedsmith.embodiments.description import Gripper
from embodiedsmith.motion.collision import TOUCH, CollisionChecker, Hit
from embodiedsmith.motion.detours import detour
from embodiedsmith.motion.errors import MotionError
from embodiedsmith.motion.kinematics import Kinematics, Solution, kinematics
from embodiedsmith.motion.mistaken import MistakenWorld
from embodiedsmith.motion.operators import Step
from embodiedsmith.motion.paths import Region, plan
from embodiedsmith.motion.pushing import PUSHED, Pushing
from embodiedsmith.motion.timing import parametrize
from embodiedsmith.spec import Predicate, Sequence, predicates
from embodiedsmith.tasks.session import Session
from embodiedsmith.world import transforms as tf

if TYPE_CHECKING:
    from embodiedsmith.motion.clearing import Sweep
    from embodiedsmith.motion.handing import HandOver
    from embodiedsmith.motion.placing import Spot

SLIP = 0.02  # [m] a held item may shift in the hand before it counts as lost
ARRIVE = 0.004  # [rad] largest joint error at the end of a motion
OFF = 0.03  # [rad] the arm may stay off its target
ALIKE = 0.05  # [rad] between joints that count as one posture
HOPELESS = 0.08  # [m] by which a tool pose is missed from home so that it is not worth trying from elsewhere
ARRIVE_STEPS = 8
GRIP_STEPS = 24
FINGER_PLAY = 0.03  # [m] by which the gripper is opened wider than what it is going to take
SNUG_PLAY = 0.016  # [m] the same where there is no more room, as in the hole of a ring
EXITS: tuple[tuple[tuple[float, float], ...], ...] = (
    ((0.10, 0.0),), ((0.05, 0.0),), ((0.05, 0.0), (0.0, 0.10)), ((0.0, 0.12),), ((0.03, 0.0), (0.05, 0.05)), ((0.03, 0.0),),
)  # fmt: skip
"""Ways back tried in turn, as moves along the approach backwards and straight up [m]."""
DRIVE = 0.8  # fraction of the vehicle's limits used
ROOM = 3.5  # [m] farthest a vehicle goes from where it is and where it wants to be
CARRY = 0.6  # fraction of the joint limits used with something in the hand, which swings about the fingers
HELD_SPEED, HELD_ACCELERATION = 1.0, 3.5  # [m/s], [m/s2] of the middle of what is held, at most
CARE = 0.35  # fraction of the joint limits used close to things


def opening(hand: Gripper, width: float, play: float = FINGER_PLAY) -> float:
    """Gripper command (0 open to 1 closed) that leaves `play` [m] around something `width` [m] wide."""
    return hand.closing_on(width + play)


@dataclass(frozen=True)
class Held:
    """An item in the hand."""

    item: str
    T_tcp_item: tf.Float


class Controller:
    """Moves the robot of a session.

    Args:
        session: A session that has been reset.
        rng: Draws of planners and ties; derived from the episode's seed.
        pushing: What leads its arms astray now and then; None: nothing.
        beside: How far from its true place it takes some things to be; see `MistakenWorld`.
    """

    def __init__(
        self,
        session: Session,
        rng: np.random.Generator,
        pushing: Pushing | None = None,
        beside: Mapping[str, ArrayLike] | None = None,
    ) -> None:
        self.session = session
        self.world = MistakenWorld(session.world, beside) if beside else session.world
        self.rng = rng
        self._pushing = pushing
        self.robot = self.world.robot
        self.base_size = len(self.robot.base.joints)
        self.dt = self.world.control_dt
        self.label = ""
        self.hands = list(self.world.grippers)
        """How each arm's fingers go from open to closed: as described, or as they were put for what they are to take."""
        hands = zip(self.hands, self.world.hand_slices, strict=True)
        self.closings = [hand.closing(self.world.command[part].tolist()) for hand, part in hands]
        """Closing last commanded of each arm's gripper."""
        self.loads: list[Held | None] = [None] * len(self.robot.arms)
        """What each arm holds."""
        self._checkers: dict[int, CollisionChecker] = {}
        self.use(0)
        self.both = False
        """Whether it is planned where to put what both hands hold, which they turn but a little."""
        self.plans = 0
        self.stage = 0
        """Which stage of a goal that is a sequence the present step is for."""
        self.ahead: tuple[Step, ...] = ()
        """The steps of the plan after the present one."""
        self.sweeps: dict[str, Sweep] = {}
        """What doors and drawers pass through, by `item.joint`; see `clearing`."""
        self._imagined: tf.Float | None = None
        self._T_planned = self.base_pose()
        """Where the base was at the last look: arm paths are meant from there."""
        self.promised: dict[Step, Spot] = {}
        """Where it was found, when an item was picked, that the step that puts it down can be done."""
        self.dead_ends: dict[tuple[object, ...], MotionError | None] = {}
        """What has been found out about putting things down after a drive; see `skills.navigate.dead_end`."""
        self.arranged: dict[str, HandOver] = {}
        """How each item was found, when it was picked, to be handed over."""
        self.inserted: tuple[Step, ...] = ()
        """Steps found necessary after the present one, to be done before those that were planned."""
        self.served: int | None = None
        """How many of the steps after a drive can be done from where it ended; None: as many as there are."""

    # ------------------------------------------------------------------ which arm

    def use(self, index: int) -> None:
        """Plan and move with that arm from now on; the others stay as they are, holding what they hold."""
        self.index = index
        self.arm = self.world.arm_slices[index]
        """Where the arm's joints are in actions."""
        self.fingers = self.world.fingers(index)
        """The owners that are the two sides of its gripper."""
        self.kin: Kinematics = kinematics(self.robot.name, index)
        if index not in self._checkers:
            self._checkers[index] = CollisionChecker(self.world, index)
        self.checker = self._checkers[index]
        self._velocity = np.asarray(self.robot.arms[index].velocity_limits)
        self._acceleration = np.asarray(self.robot.arms[index].acceleration_limits)

    def arms_for(self, *points: tf.Float) -> tuple[int, ...]:
        """Arms by how near they are mounted to the farthest of some world points (3,), nearest first; full hands last."""
        T = self.base_pose()
        mounts = [(T @ np.append(kinematics(self.robot.name, k).mount, 1.0))[:2] for k in range(len(self.loads))]
        away = [max(float(np.linalg.norm(p[:2] - mount)) for p in points) for mount in mounts]
        return tuple(sorted(range(len(mounts)), key=lambda k: (self.loads[k] is not None, round(away[k], 3), k)))

    def mount(self) -> tf.Float:
        """World point (3,) that the arm in use is mounted at."""
        point: tf.Float = (self.base_pose() @ np.append(self.kin.mount, 1.0))[:3]
        return point

    def park_others(self, *, stage: str) -> None:
        """Bring every other arm whose hand is empty home, out of the way of the one in use."""
        mine = self.index
        for arm, load in enumerate(self.loads):
            if arm == mine or load is not None:
                continue
            self.use(arm)
            if self._strayed(arm):
                self.look()
                self.reach(self.kin.home, stage=stage)
        self.use(mine)

    def _strayed(self, arm: int) -> bool:
        """Whether an arm is commanded to somewhere else than home, which attempts begin near."""
        off = self.world.command[self.world.arm_slices[arm]] - kinematics(self.robot.name, arm).home
        return bool(np.abs(off).max() > ALIKE)

    @property
    def hand(self) -> Gripper:
        """How the fingers of the arm in use go from open to closed."""
        return self.hands[self.index]

    def wear(self, hand: Gripper) -> None:
        """From now on the fingers of the arm in use go from open to closed like this."""
        if hand is not self.hand:
            self.closings[self.index] = hand.closing(self.world.command[self.world.hand_slices[self.index]].tolist())
            self.hands[self.index] = hand
        self.checker.hand = hand

    def relax(self) -> None:
        """Let the fingers of every arm with nothing in hand go from open to closed as described again."""
        for arm, load in enumerate(self.loads):
            plain = self.world.grippers[arm]
            if load is None and self.hands[arm] is not plain:
                self.hands[arm], self.closings[arm] = plain, 0.0
        self.checker.hand = self.hand

    @property
    def closing(self) -> float:
        """Measured closing of the gripper in use, 0 open to 1 closed."""
        return self.world.gripper(self.index, self.hand)

    @property
    def held(self) -> Held | None:
        """What the arm in use holds."""
        return self.loads[self.index]

    @held.setter
    def held(self, load: Held | None) -> None:
        self.loads[self.index] = load

    @property
    def gripper(self) -> float:
        """Closing last commanded of the gripper in use, 0 open to 1 closed."""
        return self.closings[self.index]

    @gripper.setter
    def gripper(self, closing: float) -> None:
        self.closings[self.index] = closing

    # ------------------------------------------------------------------ where things are

    @property
    def joints(self) -> tf.Float:
        """Joints last commanded of the arm in use."""
        return self.world.command[self.arm].copy()

    @property
    def base(self) -> tf.Float:
        """Base joints last commanded (x, y, yaw), empty for a fixed base."""
        return self.world.command[: self.base_size].copy()

    def base_pose(self, base: tf.Float | None = None) -> tf.Float:
        """World pose (4, 4) of the robot's base, or of where it would be at base joints (x, y, yaw)."""
        if (footing := self.world.footing) is not None:
            return footing.base_pose(self.world.data)
        if self.base_size == 0:
            spec = self.world.scenario.embodiment.base
            assert spec is not None
            return tf.matrix(spec)
        if base is None:
            base = self._imagined if self._imagined is not None else self.base
        x, y, yaw = base
        return tf.translate((x, y, 0.0)) @ tf.turn_z(yaw)

    def stages(self, last: int) -> list[tuple[Predicate, ...]]:
        """Predicates of the stages of the goal up to that one, the last one first; a goal that is no sequence has one stage."""
        goal = self.world.scenario.task.goal
        stages = goal.goals if isinstance(goal, Sequence) else (goal,)
        return [tuple(predicates(stage)) for stage in reversed(stages[: last + 1])]

    def postures(self, T_world_tcp: tf.Float, near: tf.Float | None = None) -> Iterator[Solution]:
        """Arm joints for a world pose of the tool: from home, then from where the arm is; a miss only when both miss.

        Home comes first so that the same tool pose gets the same posture whatever came before: data that is easier to learn. Only
        joints `near` which the pose is known to be good come before it.
        """
        target = tf.inverse(self.base_pose()) @ T_world_tcp
        if near is not None and (known := self.kin.inverse(target, near)).ok:
            yield known
        first = self.kin.inverse(target, self.kin.home)
        if first.ok:
            yield first
        at_home = np.abs(self.joints - self.kin.home).max() < ALIKE
        if at_home or first.position_error > HOPELESS:  # the search from elsewhere ends in the same place
            if not first.ok:
                yield first
            return
        second = self.kin.inverse(target, self.joints)
        if second.ok and not (first.ok and np.abs(first.joints - second.joints).max() < ALIKE):
            yield second
        elif not first.ok:
            yield min((first, second), key=lambda s: s.position_error)

    def line(self, T_from: tf.Float, T_to: tf.Float, start: tf.Float) -> tf.Float | None:
        """Arm joints (k, n) along the straight tool motion between two world poses; None when it leaves reach."""
        T_base = tf.inverse(self.base_pose())
        return self.kin.line(T_base @ T_from, T_base @ T_to, start)

    # ------------------------------------------------------------------ moving

    def look(self) -> None:
        """Take the world as it is now into the checker: what is held, how far the fingers are open, nothing allowed.

        Other arms with empty hands count as at home when they are somewhere else, for they go there before this one moves; see
        `park_others`.
        """
        self.checker.sync()
        self._T_planned = self.base_pose()
        for arm, load in enumerate(self.loads):
            if arm != self.index and load is None and self._strayed(arm):
                self.checker.set_arm(arm, kinematics(self.robot.name, arm).home)
        if self._imagined is not None:
            self.checker.set_base(self._imagined)
        others = [(arm, load.item) for arm, load in enumerate(self.loads) if arm != self.index and load is not None]
        self.checker.elsewhere = [(item, finger) for arm, item in others for finger in self.world.fingers(arm)]
        self.checker.forbid_all()
        self.checker.hand = self.hand
        self.checker.set_gripper(self.closing)
        self.checker.hold(*((self.held.item, self.held.T_tcp_item) if self.held is not None else (None,)))
        for load in self.loads:
            if load is not None:
                self.checker.allow([(load.item, "robot")])
        if self.held is not None:
            self.checker.allow([(self.held.item, finger) for finger in self.fingers])

    def reach(self, goal: tf.Float, *, stage: str) -> None:
        """Move the arm freely to joints `goal`, round obstacles, with what is held.

        Raises:
            MotionError: no free path, or it did not get there.
        """
        if np.abs(goal - self.joints).max() < 1e-6:
            return
        self.plans += 1
        self.escape(stage=stage)
        path = detour(self, goal)
        if path is None:
            path = plan(self.joints, goal, ArmSpace(self), self.rng, stage=stage)
        self.follow(path, stage=stage)

    def follow(self, path: tf.Float, *, stage: str, speed: float = 1.0, tolerance: float = OFF) -> None:
        """Run a joint path (k, n) that starts where the arm is; `speed` scales the joint limits.

        Raises:
            MotionError: `<stage>.slipped` when what is held is lost on the way, `<stage>.stuck` when the arm does not get there.
        """
        targets = self._timed(path, speed, stage)
        for k, target in enumerate(targets):
            self.step(target)
            if k % 4 == 3:
                self.check_held(stage)
        self.arrive(path[-1], stage=stage, tolerance=tolerance)
        self.check_held(stage)

    def _timed(self, path: tf.Float, speed: float, stage: str) -> tf.Float:
        """The path as a joint target a control step, shape (k, n); what is held is neither thrown about nor shaken out."""
        gentle = CARRY if self.held is not None else 1.0
        velocity, acceleration = speed * gentle * self._velocity, min(1.0, 1.5 * speed) * gentle * self._acceleration
        targets = parametrize(path, velocity, acceleration, self.dt, stage=stage)
        haste = self.haste(self.index, targets)
        if haste <= 1.0:
            return targets
        return parametrize(path, velocity / haste, acceleration / haste**2, self.dt, stage=stage)

    def haste(self, arm: int, targets: tf.Float) -> float:
        """By what a motion (k, n) of an arm must be slowed down for what it holds; at most 1 when it may stay as it is."""
        held = self.loads[arm]
        if held is None or len(targets) < 2:
            return 1.0
        body = self.world.items[held.item].body
        centre = held.T_tcp_item @ np.append(self.world.model.body_ipos[body], 1.0)
        kin = kinematics(self.robot.name, arm)
        way = np.array([(kin.forward(joints) @ centre)[:3] for joints in (targets[0], *targets, targets[-1])])
        velocity = np.diff(way, axis=0) / self.dt
        fastest = float(np.linalg.norm(velocity, axis=1).max())
        hardest = float(np.linalg.norm(np.diff(velocity, axis=0), axis=1).max()) / self.dt
        return max(fastest / HELD_SPEED, float(np.sqrt(hardest / HELD_ACCELERATION)))

    def arrive(self, goal: tf.Float, *, stage: str, tolerance: float) -> None:
        """Hold `goal` until the arm is there.

        Raises:
            MotionError: `<stage>.stuck` when it stays farther than `tolerance` [rad] away.
        """
        address = self.world.robot_qpos[self.arm]
        for _ in range(ARRIVE_STEPS):
            if np.abs(self.world.data.qpos[address] - self.followed(self.index, goal)).max() < ARRIVE:
                return
            self.step(goal)
        error = float(np.abs(self.world.data.qpos[address] - self.followed(self.index, goal)).max())
        if error > tolerance:
            raise MotionError(
                f"{stage}.stuck", f"the arm stops {np.rad2deg(error):.1f} degrees short of its target",
                subjects=self.touched(), value=error, limit=tolerance,
            )  # fmt: skip

    def touched(self) -> tuple[str, ...]:
        """Items that the robot touches now, or that what it holds touches."""
        mine = {"robot", *self.fingers} | ({self.held.item} if self.held else set())
        pairs = [{c.first, c.second} for c in self.world.contacts() if mine & {c.first, c.second}]
        return tuple(sorted(set().union(*pairs) - mine - {"world"}))

    @contextmanager
    def standing(self, base: tf.Float) -> Iterator[None]:
        """Plan as if the vehicle stood at (x, y, yaw): kinematics and checker take it for true inside the `with`."""
        before, self._imagined = self._imagined, base
        self.look()
        try:
            yield
        finally:
            self._imagined = before
            self.look()

    def drive(self, goal: tf.Float, *, stage: str) -> None:
        """Move the vehicle to (x, y, yaw), round obstacles, the arm as it is.

        Raises:
            MotionError: no free path, or something was lost on the way.
        """
        self.look()
        self.plans += 1
        goal = goal.copy()
        goal[2] = self.base[2] + (goal[2] - self.base[2] + np.pi) % (2 * np.pi) - np.pi  # the short way round
        path = plan(self.base, goal, BaseSpace(self, goal), self.rng, stage=stage)
        velocity = DRIVE * np.asarray(self.robot.base.velocity_limits)
        acceleration = DRIVE * np.asarray(self.robot.base.acceleration_limits)
        for k, target in enumerate(parametrize(path, velocity, acceleration, self.dt, stage=stage)):
            self.step(base=target)
            if k % 4 == 3:
                self.check_held(stage)
        self.wait(3)

    def step(
        self, joints: tf.Float | None = None, base: tf.Float | None = None, arms: Mapping[int, tf.Float] | None = None
    ) -> None:
        """One control step towards arm joints (and base joints, and joints of several `arms`), the grippers as last commanded."""
        if self.session.timed_out:
            horizon = self.world.scenario.task.horizon
            raise MotionError("goal.timeout", f"out of time after {horizon:g} s", value=self.world.time, limit=horizon)
        command = self.world.command.copy()
        if base is not None:
            command[: self.base_size] = base
        label = self.label
        for arm, there in {**({} if joints is None else {self.index: joints}), **(arms or {})}.items():
            meant = self.followed(arm, there)
            if self._pushing is not None:
                meant, astray = self._pushing.shifted(arm, kinematics(self.robot.name, arm), meant)
                label = PUSHED if astray else label
            command[self.world.arm_slices[arm]] = meant
        for hand, part, closing in zip(self.hands, self.world.hand_slices, self.closings, strict=True):
            command[part] = hand.action(closing)
        self.session.step(command, label)

    def followed(self, arm: int, joints: tf.Float) -> tf.Float:
        """Joints of an arm that bring its tool to where `joints` were meant to, however the body has swayed since the look."""
        if self.world.footing is None:
            return joints
        kin = kinematics(self.robot.name, arm)
        T_now_planned = tf.inverse(self.base_pose()) @ self._T_planned
        return kin.inverse(T_now_planned @ kin.forward(joints), joints).joints

    def fingers_to(self, command: tf.Float) -> None:
        """One control step of the fingers of the arm in use towards a command of their servos (k,); there they stay afterwards.

        Only for a dexterous hand, whose actions say every finger joint.
        """
        hand = self.world.grippers[self.index]
        self.wear(replace(hand, open_ctrl=tuple(command.tolist())))
        self.gripper = 0.0
        self.step()

    def wait(self, steps: int) -> None:
        """Stand still."""
        for _ in range(steps):
            self.step()

    # ------------------------------------------------------------------ gripping

    def grip(self, closing: float) -> None:
        """Drive the gripper to `closing` (0 open, 1 closed) and wait until the fingers rest."""
        self.gripper = closing
        last = self.closing
        still = 0
        for k in range(GRIP_STEPS):
            self.step()
            now = self.closing
            still = still + 1 if abs(now - last) < 0.004 else 0
            last = now
            if k >= 2 and still >= 2:
                return

    def preshape(self, width: float, play: float = FINGER_PLAY) -> None:
        """Open the gripper, on the way, only as far as something `width` [m] wide needs, with `play` [m] around it."""
        self.gripper = opening(self.hand, width, play)

    def await_gripper(self) -> None:
        """Stand still until the fingers are where they were sent on the way."""
        for _ in range(GRIP_STEPS):
            if abs(self.closing - self.gripper) < 0.06:
                return
            self.step()

    def take(self, item: str) -> Held:
        """From now on `item` is in the hand, as it is there now."""
        self.held = held = Held(item, tf.inverse(self.world.tcp(self.index)) @ self.world.item_pose(item))
        return held

    def feel(self) -> None:
        """Believe what the fingers touch: what is squeezed between them is in the hand, and nothing else is.

        Of several arms, one that holds something is in use afterwards.
        """
        for arm in reversed(range(len(self.loads))):
            self.use(arm)
            self._feel()
        self.use(next((k for k, load in enumerate(self.loads) if load is not None), 0))

    def _feel(self) -> None:
        squeezed = [i for i in self.world.grasped(self.index) if self.world.items[i].qpos >= 0]
        if not squeezed:
            self.let_go()
        elif self.held is None or self.held.item not in squeezed:
            self.take(squeezed[0])

    def let_go(self) -> None:
        """From now on the hand is empty."""
        self.held = None

    def check_held(self, stage: str) -> None:
        """Raises MotionError `<stage>.slipped` when the held item is no longer where it was in the hand."""
        if self.held is None:
            return
        now = tf.inverse(self.world.tcp(self.index)) @ self.world.item_pose(self.held.item)
        moved = now @ tf.inverse(self.held.T_tcp_item)  # of the point between the fingers: a swing about it is no slip
        slip = float(np.linalg.norm(moved[:3, 3]))
        if slip > SLIP:
            item, against = self.held.item, self.touched()
            self.held = None
            raise MotionError(
                f"{stage}.slipped", f"{item} slipped {100 * slip:.1f} cm in the hand",
                subjects=(item, *against), value=slip, limit=SLIP,
            )  # fmt: skip

    # ------------------------------------------------------------------ helpers for skills

    def exit(self, T_from: tf.Float, start: tf.Float) -> tf.Float | None:
        """Joint path of a short straight way back from something touched: along the approach, or a little and then up.

        Pairs that touch at `start` may go on touching; None when every way is blocked or out of reach.
        """
        up = np.array([0.0, 0.0, 1.0])
        back = -T_from[:3, 2]
        for moves in EXITS:
            rows, T, at = [start[None]], T_from, start
            for along, rise in moves:
                T_to = T.copy()
                T_to[:3, 3] += along * back + rise * up
                part = self.straight(T, T_to, at)
                if part is None:
                    break
                rows.append(part[1:])
                T, at = T_to, part[-1]
            else:
                return np.vstack(rows)
        return None

    def escape(self, *, stage: str) -> None:
        """Back off from whatever the arm touches now, if it touches anything.

        Raises:
            MotionError: `<stage>.stuck` when there is no way back.
        """
        hit = self.checker.hit(self.joints)
        if hit is None:
            return
        for _ in range(4):
            self.checker.allow([(hit.first, hit.second)])
            hit = self.checker.hit(self.joints)
            if hit is None:
                break
        path = self.exit(self.checker.pose(self.joints), self.joints)
        if path is None:
            raise MotionError(f"{stage}.stuck", "no way back from what the arm touches", subjects=self.touched())
        self.follow(path, stage=stage, speed=0.5)
        self.look()

    def straight(
        self,
        T_from: tf.Float,
        T_to: tf.Float,
        start: tf.Float,
        *,
        clearance: float = TOUCH,
        met: Callable[[Hit], None] | None = None,
    ) -> tf.Float | None:
        """Joint path of a straight tool motion that is in reach and free, else None; `met` is told what it would touch."""
        path = self.line(T_from, T_to, start)
        if path is None:
            return None
        hit = self.checker.path_hit(path, clearance)
        if hit is not None and met is not None:
            met(hit)
        return path if hit is None else None


class ArmSpace(Region):
    """Arm joints, the vehicle where it stands."""

    def __init__(self, control: Controller) -> None:
        self._checker = control.checker
        self.lower, self.upper = control.kin.lower, control.kin.upper

    def hit(self, configuration: tf.Float, clearance: float = TOUCH) -> Hit | None:
        """See `Space.hit`."""
        return self._checker.hit(configuration, clearance)


class BaseSpace(Region):
    """Places (x, y, yaw) a vehicle can stand at with the arm as it is."""

    def __init__(self, control: Controller, goal: tf.Float) -> None:
        self._checker, self._joints = control.checker, control.joints
        around = np.array([ROOM, ROOM, np.pi])
        self.lower, self.upper = np.minimum(control.base, goal) - around, np.maximum(control.base, goal) + around

    def hit(self, configuration: tf.Float, clearance: float = TOUCH) -> Hit | None:
        """See `Space.hit`."""
        self._checker.set_base(configuration)
        return self._checker.hit(self._joints, clearance)
