"""Two arms: which of them works, both moved as one, and things handed from one to the other, in real physics."""

from __future__ import annotations

import copy
from functools import cache

import mujoco
import numpy as np
import pytest
from task_worlds import TABLE, kitchen, p

from embodiedsmith import embodiments
from embodiedsmith.embodiments import validate
from embodiedsmith.forge.language import NotUnderstood, read
from embodiedsmith.motion import demonstrate, placing, symbolic, together
from embodiedsmith.motion.collision import MARGIN
from embodiedsmith.motion.controller import Controller
from embodiedsmith.motion.errors import MotionError
from embodiedsmith.motion.kinematics import kinematics
from embodiedsmith.motion.skills import hand_over, skills
from embodiedsmith.spec import AssetSpec, EmbodimentSpec, Goal, Item, Pose, Randomization, Scenario, SceneSpec, Sequence, TaskSpec
from embodiedsmith.tasks import Recording, Session, predicate
from embodiedsmith.tasks.goal import predicates
from embodiedsmith.world import World
from embodiedsmith.world import transforms as tf

NOISY = Randomization(position=0.01, yaw=0.26, robot_joints=0.02)
LIFTED, IN_TRAY = p("lifted", "thing"), p("inside", "thing", "tray")
PASSED = Sequence(goals=(p("in_left_hand", "thing"), p("in_right_hand", "thing")))


def table(goal: Goal, category: str = "stick", y: float = 0.15, tray: float = -0.35) -> Scenario:
    """ALOHA at a table with a thing and a tray, at distances `y` and `tray` to its left [m]."""
    items = (
        Item(id="table", asset=AssetSpec(category="table"), pose=Pose.planar(0.575, 0.0), fixed=True),
        Item(id="thing", asset=AssetSpec(category=category), parent="table", pose=Pose.planar(-0.15, y)),
        Item(id="tray", asset=AssetSpec(category="tray"), parent="table", pose=Pose.planar(-0.15, tray)),
    )
    return Scenario(
        scene=SceneSpec(items=items),
        task=TaskSpec(goal=goal, horizon=60.0, hold_steps=10),
        embodiment=EmbodimentSpec(name="aloha", base=Pose.planar(0.0, 0.0, TABLE)),
        randomization=NOISY,
    )


GOALS = {"lifted": LIFTED, "passed": PASSED, "in_tray": IN_TRAY}


@cache
def shown(goal: str, category: str = "stick", y: float = 0.15, tray: float = -0.35) -> tuple[World, Recording]:
    world = World(table(GOALS[goal], category, y, tray))
    return world, demonstrate(Session(world), np.random.default_rng(0))


def steps_of(recording: Recording) -> list[str]:
    return [e.text for e in recording.events if e.kind == "skill_done"]


def closest(world: World, states: np.ndarray) -> float:
    """Least distance [m] between the two arms over states, at most 0.02."""
    model = copy.copy(world.model)
    names = [model.body(int(b)).name for b in model.geom_bodyid]
    arm = np.array([0 if n.startswith("robot/left/") else 1 if n.startswith("robot/right/") else -1 for n in names])
    model.geom_margin[arm >= 0] = 0.02
    model.body_margin[:] = 0.0
    np.maximum.at(model.body_margin, model.geom_bodyid, model.geom_margin)
    data, least = mujoco.MjData(model), 0.02
    first = mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_TIME)
    for state in states:
        data.qpos[:] = state[first : first + model.nq]
        mujoco.mj_kinematics(model, data)
        mujoco.mj_collision(model, data)
        arms = arm[data.contact.geom]
        between = (arms[:, 0] != arms[:, 1]) & (arms >= 0).all(axis=1)
        least = min(least, float(data.contact.dist[between].min(initial=0.02)))
    return least


@cache
def control() -> Controller:
    world = World(table(LIFTED))
    session = Session(world)
    session.reset(np.random.default_rng(0))
    return Controller(session, np.random.default_rng(0))


def test_aloha_fits_its_description() -> None:
    robot = embodiments.get("aloha")
    assert validate(robot).nu == 14
    left, right = (kinematics("aloha", k) for k in range(2))
    assert np.allclose(left.mount * (1, -1, 1), right.mount)
    assert np.allclose(left.forward(left.home)[:3, 3] * (1, -1, 1), right.forward(right.home)[:3, 3], atol=1e-6)


# ------------------------------------------------------------------ which arm


@pytest.mark.parametrize(("y", "arm"), [(0.3, 0), (-0.3, 1)])
def test_the_nearer_arm_works_and_the_other_stays(y: float, arm: int) -> None:
    world, recording = shown("lifted", "stick", y, 0.0)
    assert recording.outcome == "success", recording.failure
    moved = [float(np.ptp(recording.actions[:, part], axis=0).max()) for part in world.arm_slices]
    assert moved[arm] > 0.3
    assert moved[1 - arm] < 0.05


def test_arms_are_ordered_by_what_is_farthest_and_full_hands_come_last() -> None:
    robot = control()
    assert robot.arms_for(np.array([0.4, 0.3, TABLE])) == (0, 1)
    assert robot.arms_for(np.array([0.4, 0.1, TABLE]), np.array([0.4, -0.4, TABLE])) == (1, 0)
    robot.loads[1] = robot.loads[0]
    robot.use(1)
    robot.take("thing")
    assert robot.arms_for(np.array([0.4, -0.3, TABLE])) == (0, 1)
    robot.let_go()
    robot.use(0)


# ------------------------------------------------------------------ both at once


def crossed() -> dict[int, np.ndarray]:
    """Joints of both arms with the tools at one point between them."""
    joints = {}
    for arm in range(2):
        kin = kinematics("aloha", arm)
        T = kin.forward(kin.home)
        T[:3, 3] = 0.35, 0.0, 0.2
        joints[arm] = kin.inverse(T, kin.home).joints
    return joints


def test_a_team_is_checked_for_the_arms_against_one_another() -> None:
    robot = control()
    space = together.TeamSpace(robot, (0, 1))
    home = [kinematics("aloha", k).home for k in range(2)]
    there = crossed()
    assert space.hit(np.concatenate(home), MARGIN) is None
    assert space.hit(np.concatenate([there[0], home[1]]), MARGIN) is None
    assert space.hit(np.concatenate([home[0], there[1]]), MARGIN) is None
    hit = space.hit(np.concatenate([there[0], there[1]]))
    assert hit is not None and hit.distance < 0


def test_an_arm_sees_the_fingers_of_the_other() -> None:
    robot = control()
    robot.use(0)
    robot.look()
    there = crossed()
    assert robot.checker.hit(there[0]) is None
    robot.checker.set_arm(1, there[1])
    assert robot.checker.hit(there[0]) is not None


def test_an_arm_that_stays_near_home_is_seen_where_it_is() -> None:
    world = World(table(LIFTED))
    session = Session(world)
    session.reset(np.random.default_rng(0))
    robot = Controller(session, np.random.default_rng(0))
    at, home = world.robot_qpos[world.arm_slices[1]], kinematics("aloha", 1).home
    robot.look()
    assert np.array_equal(robot.checker.data.qpos[at], world.data.qpos[at])
    assert 0.005 < np.abs(world.data.qpos[at] - home).max() < 0.03
    robot.park_others(stage="test")
    assert session.steps == 0  # so near is home
    world.command[world.arm_slices[1]] += 0.2
    robot.look()
    assert np.array_equal(robot.checker.data.qpos[at], home)  # where it goes before the other moves


def test_two_arms_come_close_at_once_without_touching() -> None:
    world = World(table(LIFTED, y=0.0, tray=0.5))
    session = Session(world)
    session.reset(np.random.default_rng(0))
    robot = Controller(session, np.random.default_rng(0))
    goals = {}
    for arm, side in ((0, 0.11), (1, -0.11)):
        kin = kinematics("aloha", arm)
        T = kin.forward(kin.home)
        T[:3, 3] = 0.34, side, 0.2
        found = kin.inverse(T, kin.home)
        assert found.ok
        goals[arm] = found.joints
    together.move(robot, goals, stage="test")
    for arm, joints in goals.items():
        assert np.abs(world.data.qpos[world.robot_qpos[world.arm_slices[arm]]] - joints).max() < 0.03
    recording = session.finish(None, {})
    assert 0 < closest(world, recording.states[-1:]) <= closest(world, recording.states[:1])
    assert closest(world, recording.states) > 0


def test_goals_at_which_arms_meet_are_refused() -> None:
    with pytest.raises(MotionError) as refused:
        together.move(control(), crossed(), stage="test")
    assert refused.value.code == "test.blocked"


# ------------------------------------------------------------------ handing over


@pytest.mark.parametrize("category", ["stick", "banana", "spoon", "knife"])
def test_a_thing_is_passed_from_hand_to_hand(category: str) -> None:
    world, recording = shown("passed", category)
    assert recording.outcome == "success", recording.failure
    assert steps_of(recording) == ["pick(thing, table.top, left)", "hand_over(thing, right)"]
    assert world.grasped(1) == ("thing",) and world.grasped(0) == ()
    assert closest(world, recording.states) > 0
    assert not [e for e in recording.events if e.kind == "dropped"]


def test_what_no_arm_can_both_take_and_put_down_is_handed_over() -> None:
    world, recording = shown("in_tray", "stick", 0.36, -0.42)
    assert recording.outcome == "success", recording.failure
    assert steps_of(recording) == ["pick(thing, table.top)", "hand_over(thing, right)", "place(thing, tray.inside)"]
    assert closest(world, recording.states) > 0


def test_what_is_too_long_to_lie_across_a_tray_is_put_along_it() -> None:
    robot = control()
    world, T_thing = robot.world, robot.world.item_pose("thing")
    low, high = world.assets["thing"].extents
    box = np.array([(x, y, low[2], 1.0) for x in (low[0], high[0]) for y in (low[1], high[1])])
    cavity, T_cavity = world.cavity("tray.inside")
    T_tcp_item = tf.turn((1.0, 0.0, 0.0), np.pi)
    for yaw in np.linspace(0.0, np.pi, 7):
        load = placing.Load("thing", T_thing @ tf.turn_z(float(yaw)), T_tcp_item, 0.5)
        spots = list(placing.inside_cavity(robot, load, "tray.inside"))
        assert len(spots) >= 6
        for spot in spots:
            there = box @ (tf.inverse(T_cavity) @ spot.T_world_item).T
            assert (np.abs(there[:, :2]) <= 0.5 * np.array(cavity.size[:2]) + 1e-9).all()


def test_what_has_no_room_for_two_hands_is_not_handed_over() -> None:
    _, recording = shown("passed", "block")
    assert recording.failure is not None
    assert recording.failure.code == "pick.no_grasp"
    assert "leaves no room for a second hand" in recording.failure.message
    assert recording.length == 0


def test_an_arm_that_is_not_there_is_named() -> None:
    with pytest.raises(MotionError, match="no middle arm; it has left, right"):
        hand_over.arm_index(control(), "middle")
    with pytest.raises(MotionError, match="thing is in no hand"):
        skills()["hand_over"].run(control(), ("thing", "right"), ())


def test_a_robot_with_one_arm_has_no_left_and_right_hand() -> None:
    scenario = kitchen(p("in_right_hand", "block"))
    with pytest.raises(MotionError, match="panda has no right hand"):
        symbolic.plan(World(scenario), scenario.task.goal)


def test_which_hand_holds_it_is_told_apart() -> None:
    world, _ = shown("passed", "stick")
    assert predicate("in_right_hand").margin(world, ("thing",)) > 0
    assert predicate("in_left_hand").margin(world, ("thing",)) < 0
    assert predicate("grasped").margin(world, ("thing",)) > 0
    assert predicate("on").margin(world, ("thing", "table")) < 0
    misses = list(predicate("in_right_hand").near_misses(world, ("thing",), {}))
    before = world.save()
    for miss in misses:
        world.restore(before)
        miss.apply(world)
        assert predicate("in_right_hand").margin(world, ("thing",)) < 0, miss.name
    world.restore(before)
    assert len(misses) >= 4


# ------------------------------------------------------------------ words


@pytest.mark.parametrize(
    ("text", "hands"),
    [
        ("hand the stick to the right hand", ("left", "right")),
        ("pass the stick from the left hand to the right", ("left", "right")),
        ("give the stick to the left arm", ("right", "left")),
        ("pick up the stick with the left hand", ("left",)),
        ("把木棍从左手递给右手", ("left", "right")),
        ("把木棍递给左手", ("right", "left")),
        ("用右手拿起木棍", ("right",)),
    ],
)
def test_hands_are_named_in_words(text: str, hands: tuple[str, ...]) -> None:
    (command,) = read(text).commands
    assert (command.action, command.hands) == ("hand", hands)


@pytest.mark.parametrize("text", ["pass the stick", "把木棍递给盘子"])
def test_handing_to_nobody_is_not_understood(text: str) -> None:
    with pytest.raises(NotUnderstood, match=r"hand|递给右手"):
        read(text)


def test_every_goal_used_here_is_known() -> None:
    assert {q.name for q in predicates(PASSED)} == {"in_left_hand", "in_right_hand"}
