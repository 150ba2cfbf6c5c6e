"""Several arms as one: a path in the joint space of all of them, free of collisions between them, timed and run as one motion."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

import mujoco
import numpy as np

from embodiedsmith.motion.collision import MARGIN, TOUCH, CollisionChecker, Hit
from embodiedsmith.motion.controller import ARRIVE, ARRIVE_STEPS, CARRY, OFF, Controller, Held
from embodiedsmith.motion.errors import MotionError
from embodiedsmith.motion.kinematics import kinematics
from embodiedsmith.motion.paths import Region, plan
from embodiedsmith.motion.timing import parametrize
from embodiedsmith.world import World
from embodiedsmith.world import transforms as tf


class TeamChecker(CollisionChecker):
    """Checks configurations of several arms, one's joints after another's, with what each of them holds.

    Of arms that hold something one comes first: what it holds may touch all of its hand, that of others only the fingers.
    """

    def __init__(self, world: World, arms: tuple[int, ...]) -> None:
        super().__init__(world, arms[0])
        self._arms = arms
        self._loads: dict[int, tuple[str, tf.Float]] = {}
        self._cargoes: dict[str, dict[str, tf.Float]] = {}
        self._closings = dict.fromkeys(arms, 0.0)
        ends = np.cumsum([0, *(world.arm_slices[a].stop - world.arm_slices[a].start for a in arms)])
        self._parts = [slice(int(a), int(b)) for a, b in pairwise(ends)]

    def look(
        self, control: Controller, loads: Mapping[int, Held] | None = None, closings: Mapping[int, float] | None = None
    ) -> None:
        """Take the world as it is now, with what each arm holds, what lies in that, and how far its fingers are open.

        Args:
            control: The robot.
            loads: What arms are imagined to hold, in place of what they do.
            closings: How far arms are imagined to be closed, in place of how far they are.
        """
        self.sync()
        self.hold(None)
        self._loads, self._cargoes = {}, {}
        for arm in self._arms:
            self._closings[arm] = self._world.gripper(arm) if closings is None else closings[arm]
            if (load := control.loads[arm] if loads is None else loads.get(arm)) is not None:
                self._loads[arm] = load.item, load.T_tcp_item
                self._cargoes[load.item] = self._lying_in(load.item)
                for name in (load.item, *self._cargoes[load.item]):
                    self.carry(name)
        self.forbid()

    def forbid(self) -> None:
        """Back to the fingers of each arm touching only what it holds."""
        self.forbid_all()
        for arm, (item, _) in self._loads.items():
            self.allow([(item, finger) for finger in self._world.fingers(arm)])

    def split(self, configuration: tf.Float) -> dict[int, tf.Float]:
        """Joints by arm."""
        return {arm: configuration[part] for arm, part in zip(self._arms, self._parts, strict=True)}

    def _put(self, joints: tf.Float) -> None:
        for arm, part in self.split(joints).items():
            self.set_arm(arm, part, self._closings[arm])
        mujoco.mj_kinematics(self.model, self.data)
        for arm, (item, T_tcp_item) in self._loads.items():
            site = self._world.tcp_sites[arm]
            T = np.eye(4)
            T[:3, :3], T[:3, 3] = self.data.site_xmat[site].reshape(3, 3), self.data.site_xpos[site]
            self._set(item, T @ T_tcp_item)
            for name, T_item in self._cargoes[item].items():
                self._set(name, T @ T_tcp_item @ T_item)
        if self._loads:
            mujoco.mj_kinematics(self.model, self.data)


class TeamSpace(Region):
    """Joints of several arms, one's after another's."""

    def __init__(self, control: Controller, arms: tuple[int, ...]) -> None:
        self.arms = arms
        self.checker = TeamChecker(control.world, arms)
        self.checker.look(control)
        kins = [kinematics(control.robot.name, arm) for arm in arms]
        self.lower, self.upper = (np.concatenate([getattr(kin, end) for kin in kins]) for end in ("lower", "upper"))

    def hit(self, configuration: tf.Float, clearance: float = TOUCH) -> Hit | None:
        """See `Space.hit`."""
        return self.checker.hit(configuration, clearance)


def move(control: Controller, goals: Mapping[int, tf.Float], *, stage: str) -> None:
    """Bring several arms to joints, by arm, in one motion round obstacles and round one another.

    Raises:
        MotionError: `<stage>.blocked` when there is no free path, `<stage>.timing`, `<stage>.stuck` when an arm does not arrive.
    """
    arms = tuple(sorted(goals, key=lambda arm: (control.loads[arm] is None, arm)))
    space = TeamSpace(control, arms)
    start = np.concatenate([control.world.command[control.world.arm_slices[arm]] for arm in arms])
    goal = np.concatenate([goals[arm] for arm in arms])
    control.plans += 1
    path = np.stack([start, goal])
    if space.path_hit(path, MARGIN) is not None:
        path = plan(start, goal, space, control.rng, stage=stage)
    follow(control, space, path, stage=stage)


def follow(control: Controller, space: TeamSpace, path: tf.Float, *, stage: str, speed: float = 1.0, calm: float = 1.0) -> None:
    """Run a path (k, n) of several arms that starts where they are.

    Args:
        control: The robot.
        space: Whose joints the path is of.
        path: One row a configuration.
        stage: What failures are named after.
        speed: Scales the joint limits.
        calm: By how much harder than usual things in the hands must be shaken to count as shaken.

    Raises:
        MotionError: `<stage>.timing`, `<stage>.slipped`, `<stage>.stuck`.
    """
    targets = _timed(control, space, path, stage, speed, calm)
    for k, target in enumerate(targets):
        control.step(arms=space.checker.split(target))
        if k % 4 == 3:
            _check(control, space.arms, stage)
    _arrive(control, space.checker.split(path[-1]), stage)
    _check(control, space.arms, stage)


def _timed(control: Controller, space: TeamSpace, path: tf.Float, stage: str, speed: float, calm: float) -> tf.Float:
    """The path as joint targets of all arms, one row a control step; arms that hold something set the pace."""
    described = [control.robot.arms[arm] for arm in space.arms]
    gentle = CARRY if any(control.loads[arm] is not None for arm in space.arms) else 1.0
    velocity = speed * gentle * np.concatenate([arm.velocity_limits for arm in described])
    acceleration = min(1.0, 1.5 * speed) * gentle * np.concatenate([arm.acceleration_limits for arm in described])
    targets = parametrize(path, velocity, acceleration, control.dt, stage=stage)
    haste = calm * max(control.haste(arm, np.array([space.checker.split(t)[arm] for t in targets])) for arm in space.arms)
    if haste <= 1.0:
        return targets
    return parametrize(path, velocity / haste, acceleration / haste**2, control.dt, stage=stage)


def _check(control: Controller, arms: tuple[int, ...], stage: str) -> None:
    mine = control.index
    for arm in arms:
        control.use(arm)
        control.check_held(stage)
    control.use(mine)


def _arrive(control: Controller, goals: Mapping[int, tf.Float], stage: str) -> None:
    def error() -> float:
        at = {arm: control.world.robot_qpos[control.world.arm_slices[arm]] for arm in goals}
        there = {arm: control.followed(arm, goal) for arm, goal in goals.items()}
        return max(float(np.abs(control.world.data.qpos[at[arm]] - there[arm]).max()) for arm in goals)

    for _ in range(ARRIVE_STEPS):
        if error() < ARRIVE:
            return
        control.step(arms=goals)
    if (left := error()) > OFF:
        raise MotionError(
            f"{stage}.stuck", f"the arms stop {np.rad2deg(left):.1f} degrees short of their target", value=left, limit=OFF
        )
