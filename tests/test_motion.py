"""Kinematics, collision checking, paths and timing: identities and limits, on every robot."""

from __future__ import annotations

from functools import cache

import mujoco
import numpy as np
import pytest
from task_worlds import STILL, kitchen, p

from embodiedsmith import embodiments
from embodiedsmith.motion.collision import MARGIN, CollisionChecker
from embodiedsmith.motion.controller import ArmSpace, Controller
from embodiedsmith.motion.errors import MotionError
from embodiedsmith.motion.kinematics import POSITION_TOLERANCE, ROTATION_TOLERANCE, kinematics
from embodiedsmith.motion.paths import MAX_CHECKS, plan
from embodiedsmith.motion.timing import parametrize
from embodiedsmith.spec import EmbodimentSpec, Pose
from embodiedsmith.tasks import Session
from embodiedsmith.world import World
from embodiedsmith.world import transforms as tf

ROBOTS = embodiments.names()


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


@cache
def world(robot: str = "panda") -> World:
    scenario = kitchen(p("on", "block", "table"), randomization=STILL)
    base = Pose.planar(-0.45, 0.0) if robot == "panda_mobile" else scenario.embodiment.base
    made = World(scenario.model_copy(update={"embodiment": EmbodimentSpec(name=robot, base=base)}))
    made.reset(rng())
    return made


@pytest.fixture
def control() -> Controller:
    session = Session(world())
    session.reset(rng())
    made = Controller(session, rng())
    made.look()
    return made


def configurations(robot: str, count: int, *, spread: float = 1.0) -> np.ndarray:
    """Random arm joints within their limits, at most `spread` [rad] from home."""
    kin = kinematics(robot)
    draws = kin.home + rng(1).uniform(-spread, spread, (count, len(kin.home)))
    return np.clip(draws, kin.lower, kin.upper)


# ------------------------------------------------------------------ kinematics


@pytest.mark.parametrize("robot", ROBOTS)
def test_inverse_kinematics_undo_forward_kinematics(robot: str) -> None:
    kin, draws = kinematics(robot), rng(2)
    solved = 0
    wanted = configurations(robot, 60)
    for joints in wanted:
        T = kin.forward(joints)
        found = kin.inverse(T, np.clip(joints + draws.uniform(-0.5, 0.5, len(joints)), kin.lower, kin.upper))
        assert (found.joints >= kin.lower).all() and (found.joints <= kin.upper).all()
        if not found.ok:
            continue
        solved += 1
        reached = kin.forward(found.joints)
        assert np.linalg.norm(reached[:3, 3] - T[:3, 3]) < POSITION_TOLERANCE + 1e-9
        assert np.linalg.norm(tf.rotation_vector(reached[:3, :3].T @ T[:3, :3])) < ROTATION_TOLERANCE + 1e-6
    assert solved >= 0.95 * len(wanted)


@pytest.mark.parametrize("robot", ROBOTS)
def test_no_pose_the_arm_can_take_counts_as_too_far(robot: str) -> None:
    kin = kinematics(robot)
    for joints in rng(3).uniform(kin.lower, kin.upper, (400, len(kin.home))):
        assert kin.inverse(kin.forward(joints), joints).ok


@pytest.mark.parametrize("robot", ROBOTS)
def test_kinematics_agree_with_the_world(robot: str) -> None:
    made = world(robot)
    made.reset(rng())
    session = Session(made)
    session.reset(rng())
    control = Controller(session, rng())
    control.look()
    for joints in configurations(robot, 10):
        T = control.base_pose() @ control.kin.forward(joints)
        np.testing.assert_allclose(control.checker.pose(joints), T, atol=1e-6)
    sag = 0.03 if made.footing is not None else 0.01  # on its feet nothing compensates the arms' weight
    np.testing.assert_allclose(control.base_pose() @ control.kin.forward(control.joints), made.tcp(), atol=sag)


@pytest.mark.parametrize("robot", ROBOTS)
def test_a_goal_three_metres_away_is_out_of_reach_by_what_is_missing(robot: str) -> None:
    """Case 14, first part."""
    kin = kinematics(robot)
    T = kin.forward(kin.home)
    T[:2, 3] = 3.0, 0.0
    found = kin.inverse(T, kin.home)
    assert not found.ok
    assert found.position_error == pytest.approx(3.0 - kin.robot.arm.reach, abs=0.4)


def test_a_start_beyond_its_limit_by_rounding_plans_normally(control: Controller) -> None:
    """Case 14, second part: 1e-8 rad beyond the limit, straight and round an obstacle."""
    space = ArmSpace(control)
    for joint in (1, 3, 5):
        start = control.kin.home.copy()
        name = control.robot.arm.joints[joint]
        limit = control.kin.model.joint(name).range[1 if joint != 3 else 0]
        start[joint] = limit + np.copysign(1e-8, limit)
        if control.checker.hit(start) is not None:
            start[:] = control.kin.home
            start[6] = control.kin.model.joint("joint7").range[1] + 1e-8
        path = plan(start, control.kin.home, space, rng(), stage="test")
        assert np.array_equal(path[0], start) and np.array_equal(path[-1], control.kin.home)
        assert control.kin.inverse(control.kin.forward(control.kin.home), start).joints.max() <= control.kin.upper.max()


def test_a_straight_tool_motion_is_straight(control: Controller) -> None:
    T_from = control.kin.forward(control.kin.home)
    T_to = T_from @ tf.translate((0.0, 0.05, 0.12)) @ tf.turn_z(0.3)
    path = control.kin.line(T_from, T_to, control.kin.home)
    assert path is not None
    points = np.array([control.kin.forward(q)[:3, 3] for q in path])
    along = T_to[:3, 3] - T_from[:3, 3]
    along /= np.linalg.norm(along)
    off = (points - points[0]) - np.outer((points - points[0]) @ along, along)
    assert np.abs(off).max() < 2 * POSITION_TOLERANCE
    assert np.linalg.norm(points[-1] - T_to[:3, 3]) < POSITION_TOLERANCE
    T_far = T_from @ tf.translate((0.0, 0.0, 1.5))
    assert control.kin.line(T_from, T_far, control.kin.home) is None


# ------------------------------------------------------------------ collision checking


def arm_that_moves(made: World, geom: int) -> int:
    """The arm that a geom moves with, -1 for none."""
    firsts = [int(made.model.dof_bodyid[made.robot_dof[part.start]]) for part in made.arm_slices]
    body = int(made.model.geom_bodyid[geom])
    while body > 0:
        if body in firsts:
            return firsts.index(body)
        body = int(made.model.body_parentid[body])
    return -1


@pytest.mark.parametrize("robot", ROBOTS)
def test_the_checker_agrees_with_the_engine_s_contacts(robot: str) -> None:
    made = world(robot)
    made.reset(rng())
    checker = CollisionChecker(made)
    checker.sync()
    checker.set_gripper(0.0)
    data = mujoco.MjData(made.model)
    arm = made.arm_slices[0]
    fingers = {made.owners[k] for k in made.robot_owners[1:]}
    closing = {made.fingers(k) for k in range(len(made.grippers))}
    arm_of = np.array([arm_that_moves(made, geom) for geom in range(made.model.ngeom)])
    standing = [] if made.footing is None else list(made.footing.feet)
    answers = []
    for joints in configurations(robot, 150, spread=1.6):
        data.qpos[:] = made.data.qpos
        full = made.data.qpos[made.robot_qpos].copy()
        full[arm] = joints
        made.set_robot(data, full, 0.0)
        mujoco.mj_forward(made.model, data)
        geoms = data.contact.geom[data.contact.dist < 0].reshape(-1, 2)
        geoms = geoms[~np.isin(geoms, standing).any(axis=1)]
        touching = set()
        for (a, b), arms in zip(made.geom_owner[geoms], arm_of[geoms], strict=True):
            pair = tuple(sorted((made.owners[a], made.owners[b])))
            crossed = min(arms) >= 0 and arms[0] != arms[1]
            own = pair in closing or (set(pair) & fingers and "robot" in pair)
            if {"robot", *fingers} & set(pair) and (crossed or not own):
                touching.add(pair)
        hit = checker.hit(joints)
        assert (hit is not None) == bool(touching), (touching, hit)
        if hit is not None:
            assert tuple(sorted((hit.first, hit.second))) in touching and hit.distance < 0
        answers.append(hit is not None)
    assert 10 < sum(answers) < 140
    assert checker.checks == 150


def test_a_margin_sees_what_is_near(control: Controller) -> None:
    """Lowering the open hand onto the table: the distance found is the height of the lowest finger."""
    checker = control.checker
    T = control.world.tcp()
    _, T_table = control.world.support("table")
    T[:2, 3] = 0.65, -0.35
    T[:3, :3] = np.diag([1.0, -1.0, -1.0])
    for height in (0.05, 0.03, 0.02):
        T[2, 3] = T_table[2, 3] + height
        found = next(control.postures(T))
        assert found.ok
        geoms = np.flatnonzero(np.isin(control.world.geom_owner, (2, 3)) & (control.world.model.geom_contype > 0))
        checker.pose(found.joints)
        low = min(_lowest(checker, g) for g in geoms) - T_table[2, 3]
        hit = checker.hit(found.joints, MARGIN)
        assert (hit is None) == (low > MARGIN)
        if hit is not None:
            assert hit.distance == pytest.approx(low, abs=0.001)
            assert checker.free(found.joints, low - 0.001)


def _lowest(checker: CollisionChecker, geom: int) -> float:
    """World height of the lowest corner of a box geom [m]."""
    model, data = checker.model, checker.data
    reach = np.abs(data.geom_xmat[geom].reshape(3, 3)[2]) @ model.geom_size[geom]
    return float(data.geom_xpos[geom][2] - reach)


def test_what_is_held_is_carried_along_and_seen(control: Controller) -> None:
    checker, made = control.checker, control.world
    T_hang = tf.translate((0.0, 0.0, 0.02))
    T = made.tcp()
    T[:3, :3] = np.diag([1.0, -1.0, -1.0])
    _, T_table = made.support("table")
    T[:3, 3] = 0.65, -0.35, T_table[2, 3] + 0.03
    joints = next(control.postures(T)).joints
    at = made.items["block"].qpos
    assert checker.free(joints)
    checker.hold("block", T_hang)
    assert checker.held == "block"
    checker.allow([("block", "finger_0"), ("block", "finger_1"), ("block", "robot")])
    hit = checker.hit(joints)
    assert hit is not None and {hit.first, hit.second} == {"block", "table"}
    np.testing.assert_allclose(checker.data.qpos[at : at + 3], (checker.pose(joints) @ T_hang)[:3, 3], atol=1e-9)
    T[2, 3] += 0.1
    assert checker.free(next(control.postures(T)).joints)
    checker.hold(None)
    assert checker.held is None and checker.free(joints)
    np.testing.assert_array_equal(made.data.qpos, world().data.qpos)


# ------------------------------------------------------------------ paths


def test_a_free_move_is_a_straight_line(control: Controller) -> None:
    goal = control.kin.home + np.array([0.4, -0.2, 0.1, 0.2, 0.0, -0.2, 0.3])
    path = plan(control.kin.home, goal, ArmSpace(control), rng(), stage="test")
    np.testing.assert_array_equal(path, [control.kin.home, goal])


def blocked_pairs(control: Controller, count: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Free configurations above the table with something on the straight way between them."""
    checker = control.checker
    free = [q for q in configurations("panda", 400, spread=1.2) if checker.free(q, MARGIN)]
    pairs = [(a, b) for a, b in zip(free[::2], free[1::2], strict=False) if checker.path_hit(np.stack([a, b])) is not None]
    assert len(pairs) >= count
    return pairs[:count]


def test_sampled_paths_are_free_and_within_their_budget(control: Controller) -> None:
    space, found = ArmSpace(control), 0
    for k, (start, goal) in enumerate(blocked_pairs(control, 6)):
        before = control.checker.checks
        try:
            path = plan(start, goal, space, rng(k), stage="test")
        except MotionError as error:
            assert error.code == "test.blocked" and len(error.subjects) == 2
            continue
        finally:
            assert control.checker.checks - before < 2 * MAX_CHECKS
        found += 1
        assert len(path) > 2
        assert np.array_equal(path[0], start) and np.array_equal(path[-1], goal)
        assert control.checker.path_hit(path, 0.0, step=0.005) is None
        assert (path >= control.kin.lower - 1e-9).all() and (path <= control.kin.upper + 1e-9).all()
        timed = parametrize(path, np.full(7, 2.0), np.full(7, 8.0), control.dt, stage="test")
        assert control.checker.path_hit(np.vstack([start, timed]), 0.0, step=0.01) is None
    assert found >= 4


def test_paths_are_a_function_of_their_draws(control: Controller) -> None:
    space = ArmSpace(control)
    start, goal = blocked_pairs(control, 1)[0]
    first, again = (plan(start, goal, space, rng(3), stage="test") for _ in range(2))
    np.testing.assert_array_equal(first, again)
    other = plan(start, goal, space, rng(4), stage="test")
    assert first.shape != other.shape or not np.array_equal(first, other)


def test_a_goal_that_touches_something_says_what(control: Controller) -> None:
    T = control.world.tcp()
    T[:3, :3] = np.diag([1.0, -1.0, -1.0])
    _, T_table = control.world.support("table")
    T[:3, 3] = 0.65, -0.35, T_table[2, 3] - 0.02
    inside = next(control.postures(T))
    assert inside.ok
    with pytest.raises(MotionError, match="would touch") as caught:
        plan(control.kin.home, inside.joints, ArmSpace(control), rng(), stage="reach")
    assert caught.value.code == "reach.blocked" and "table" in caught.value.subjects
    assert caught.value.value is not None and caught.value.value < 0


# ------------------------------------------------------------------ timing


@pytest.mark.parametrize("robot", ROBOTS)
@pytest.mark.parametrize("waypoints", [2, 5])
def test_timing_keeps_the_limits_and_ends_at_rest(robot: str, waypoints: int) -> None:
    arm, dt = embodiments.get(robot).arm, 0.05
    velocity, acceleration = np.asarray(arm.velocity_limits), np.asarray(arm.acceleration_limits)
    for seed in range(3):
        path = kinematics(robot).home + rng(seed).uniform(-0.8, 0.8, (waypoints, len(arm.home)))
        rows = parametrize(path, velocity, acceleration, dt, stage="test")
        np.testing.assert_array_equal(rows[-1], path[-1])
        steps = np.diff(np.vstack([path[0], rows]), axis=0) / dt
        assert (np.abs(steps) <= velocity * 1.01).all()
        gains = np.diff(np.vstack([np.zeros_like(path[0]), steps]), axis=0) / dt
        assert (np.abs(gains[:-1]) <= acceleration * 1.1).all()  # the last step is shorter than dt
        assert (np.abs(steps[-1]) <= acceleration * dt).all()
        for waypoint in path[1:-1]:  # and it goes where it should
            assert np.abs(rows - waypoint).max(axis=1).min() < velocity.max() * dt
        fastest = np.abs(np.diff(path, axis=0) / velocity).max(axis=1).sum()
        assert len(rows) * dt < 3 * fastest + 1.0


def test_what_is_timed_stays_on_the_path_that_was_checked() -> None:
    path = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 0.02], [1.0, 0.04], [1.0, 0.06]])
    rows = parametrize(path, np.full(2, 2.0), np.full(2, 8.0), 0.05, stage="test")
    assert rows.min() > -0.02 and rows[:, 0].max() < 1.02 and rows[:, 1].max() < 0.08


def test_timing_of_no_motion_is_one_row() -> None:
    here = np.array([[0.1, 0.2]])
    np.testing.assert_array_equal(parametrize(np.vstack([here, here]), np.ones(2), np.ones(2), 0.05, stage="test"), here)


@pytest.mark.parametrize("robot", ROBOTS)
@pytest.mark.parametrize("length", [2e-6, 1e-5, 1e-4, 1e-3, 4e-3])
def test_short_motions_are_timed_however_short(robot: str, length: float) -> None:
    arm, dt = embodiments.get(robot).arm, 0.05
    velocity, acceleration = np.asarray(arm.velocity_limits), np.asarray(arm.acceleration_limits)
    for seed in range(20):
        way = rng(seed).normal(size=len(arm.home))
        path = np.array([arm.home, arm.home + length * way / np.abs(way).max()])
        rows = parametrize(path, velocity, acceleration, dt, stage="test")
        np.testing.assert_array_equal(rows[-1], path[-1])
        fastest = 2 * np.sqrt(np.abs(path[1] - path[0]) / acceleration).max()
        assert (len(rows) - 1) * dt <= 1.1 * fastest + 0.001


def test_a_straight_motion_stays_straight_in_time() -> None:
    path = np.array([[0.0, 0.0, 0.0], [1.2, -0.6, 0.3]])
    rows = parametrize(path, np.full(3, 2.0), np.full(3, 5.0), 0.05, stage="test")
    np.testing.assert_allclose(rows, np.outer(rows[:, 0] / 1.2, path[1]), atol=1e-9)
