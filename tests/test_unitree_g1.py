"""The Unitree G1: its hands, its balance, and pick and place on a stand and on its own feet."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import mujoco
import numpy as np
import pytest

from embodiedsmith import embodiments
from embodiedsmith.bench import feet
from embodiedsmith.embodiments import unitree_g1
from embodiedsmith.embodiments.balance import Balance
from embodiedsmith.episodes.staging import attempt_rng
from embodiedsmith.motion import demonstrate, grasping
from embodiedsmith.motion.controller import Controller
from embodiedsmith.spec import (
    AssetSpec,
    CameraSpec,
    EmbodimentSpec,
    Item,
    Pose,
    Predicate,
    Randomization,
    Scenario,
    SceneSpec,
    TaskSpec,
)
from embodiedsmith.tasks import Session
from embodiedsmith.tasks.session import replay
from embodiedsmith.world import World, WorldFault

TABLE = 0.74
MIDDLE = 0.505  # [m] of the table before the robot
PUSH = 100.0  # [N] for a tenth of a second
ROBOTS = ("g1", "g1_stand")


def scenario(robot: str, start: tuple[float, float], goal: tuple[float, float], category: str = "can") -> Scenario:
    """One thing on a table that is to go to another place on it."""
    items = (
        Item(id="table", asset=AssetSpec(category="table"), parent=None, pose=Pose.planar(MIDDLE, 0.0, 0.0, np.pi), fixed=True),
        Item(id="thing", asset=AssetSpec(category=category), parent="table", pose=Pose.planar(MIDDLE - start[0], -start[1])),
    )
    described = embodiments.get(robot)
    height = 0.0 if described.onboard is not None else TABLE - described.arm_height
    at = {"x": goal[0], "y": goal[1], "z": TABLE}
    return Scenario(
        scene=SceneSpec(items=items, cameras=(CameraSpec(name="front", position=(1.9, 0.0, 1.7), target=(0.5, 0.0, 0.8)),)),
        task=TaskSpec(goal=Predicate(name="at", args=("thing",), params=at), horizon=60.0, hold_steps=10),
        embodiment=EmbodimentSpec(name=robot, base=Pose.planar(0.0, 0.0, height)),
        randomization=Randomization(),
    )


@pytest.fixture(scope="module")
def standing() -> World:
    world = World(scenario("g1", (0.30, -0.20), (0.30, -0.05)))
    world.reset(np.random.default_rng(0))
    return world


@pytest.fixture
def world(standing: World) -> Iterator[World]:
    """Standing with its arms at home."""
    start = standing.save()
    yield standing
    standing.data.xfrc_applied[:] = 0.0
    standing.restore(start)


# ---------------------------------------------------------------------- hands


@pytest.mark.parametrize("side", unitree_g1.SIDES)
def test_thumb_and_fingers_meet_at_the_tool_centre(side: str) -> None:
    model = embodiments.get("g1_stand").build().compile()
    data = mujoco.MjData(model)
    hand = unitree_g1.arm(side).gripper
    gaps = []
    for closing in np.linspace(0.0, 1.0, 5):
        for name, opened, closed in zip(hand.joints, hand.open_qpos, hand.closed_qpos, strict=True):
            data.joint(name).qpos = opened + closing * (closed - opened)
        mujoco.mj_forward(model, data)
        site = data.site(f"{side}_tcp")
        thumb, finger = (pad(model, f"{side}_hand_{name}_link") for name in ("thumb_2", "index_1"))
        ends = np.empty(6)
        mujoco.mj_geomDistance(model, data, thumb, finger, 1.0, ends)
        local = (ends.reshape(2, 3) - site.xpos) @ site.xmat.reshape(3, 3)  # nearest points in the tool's frame
        gaps.append(local[1, 1] - local[0, 1])
        assert abs(local[:, 1].mean()) < 6e-3  # midway along the closing direction
        assert np.abs(local[:, 2]).max() < 0.02  # and as deep as the tool centre
    assert gaps[0] == pytest.approx(hand.max_width, abs=4e-3) and abs(gaps[-1]) < 5e-3
    assert np.all(np.diff(gaps) < 0)


def pad(model: mujoco.MjModel, body: str) -> int:
    (geom,) = np.flatnonzero((model.geom_bodyid == model.body(body).id) & (model.geom_priority == 1))
    return int(geom)


def test_the_left_arm_is_the_mirror_of_the_right() -> None:
    model = embodiments.get("g1_stand").build().compile()
    data = mujoco.MjData(model)
    for arm in unitree_g1.ARMS:
        for name, value in zip(arm.joints, arm.home, strict=True):
            data.joint(name).qpos = value
    mujoco.mj_kinematics(model, data)
    right, left = data.site("right_tcp"), data.site("left_tcp")
    assert np.allclose(right.xpos * (1, -1, 1), left.xpos, atol=1e-4)
    for column in (1, 2):  # closing and approach; the third then points the other way
        R, L = (site.xmat.reshape(3, 3)[:, column] for site in (right, left))
        assert np.allclose(R * (1, -1, 1), L, atol=1e-3)


# ---------------------------------------------------------------------- balance


def test_a_stance_keeps_the_feet_and_the_centre_of_mass_where_they_are() -> None:
    robot = embodiments.get("g1")
    balance = Balance(robot)
    model, data = balance.model, balance._data
    home = np.concatenate([arm.home for arm in robot.arms])
    rng = np.random.default_rng(1)
    feet = []
    for posture in (home, *(home + rng.uniform(-0.5, 0.5, len(home)) for _ in range(5))):
        stance = balance.stance(posture)
        feet.append(np.array([[*data.site(name).xpos, *data.site(name).xmat] for name in robot.onboard.feet]))
        assert np.abs(data.subtree_com[model.body("base").id][:2] - balance._middle()).max() < 1e-9
        weight = np.zeros(model.nv)
        mujoco.mj_rne(model, data, 0, weight)
        net = weight.copy()
        net[balance._driven] -= stance.torque
        jacobian = balance._constraints()[0][:12]  # what is left is carried by the floor at the feet
        force = np.linalg.lstsq(jacobian.T, net, rcond=None)[0]
        bent = np.setdiff1d(np.arange(model.nv), _finger_dofs(model))
        assert np.abs(net - jacobian.T @ force)[bent].max() < 1e-8
        assert force[[2, 8]].min() > 0.25 * model.body_mass.sum() * 9.81  # both feet press
    assert np.ptp(feet, axis=0).max() < 1e-9
    stretched = home.copy()
    stretched[0] -= 0.9  # the right arm forward and up
    assert np.linalg.norm(balance.stance(stretched).shift) > 2e-3


def _finger_dofs(model: mujoco.MjModel) -> np.ndarray:
    return np.array([model.jnt_dofadr[j] for j in range(model.njnt) if "_hand_" in model.joint(j).name])


def test_it_stands_still_and_steadily_while_its_arms_move(world: World) -> None:
    home = world.home
    reached = home.copy()
    reached[[0, 3]] = -1.3, -0.6
    place = world.data.xpos[world.base_body].copy()
    least = np.inf
    for k in range(100):
        action = world.command.copy()
        action[: len(home)] = home + (reached - home) * min(1.0, k / 30)
        world.step(action)
        least = min(least, world.footing.margin(world.data))
        assert np.abs(world.data.qpos[world.robot_qpos] - world.command[: len(home)]).max() < 0.01
    assert least > 0.07 and world.least_margin == least
    gone = world.data.xpos[world.base_body] - place
    assert abs(gone[2]) < 1e-3 and 2e-3 < np.linalg.norm(gone[:2]) < 0.05  # the body makes up for the arm
    assert np.abs(gone[:2] - world.footing._balance.stance(reached).shift).max() < 1e-3


@pytest.mark.parametrize("direction", [(1, 0), (-1, 0), (0, 1), (0, -1)])
def test_a_push_is_survived(world: World, direction: tuple[int, int]) -> None:
    pushed(world, PUSH * np.array([*direction, 0.0]))
    assert world.data.xmat[world.base_body, 8] > np.cos(0.02)
    assert world.footing.margin(world.data) > 0.06


def test_a_fall_is_a_fault_of_the_world(world: World) -> None:
    with pytest.raises(WorldFault) as caught:
        pushed(world, np.array([-4 * PUSH, 0.0, 0.0]))
    assert caught.value.code == "world.fall" and caught.value.value > caught.value.limit
    assert "leans" in str(caught.value) or "sunk" in str(caught.value)


def pushed(world: World, force: np.ndarray) -> None:
    """Push the pelvis for a tenth of a second and let three seconds pass."""
    for k in range(60):
        world.data.xfrc_applied[world.model.body("robot/pelvis").id, :3] = force if k < 2 else 0.0
        world.step(world.command)


def test_a_saved_stance_goes_on_with_the_same_bits(world: World) -> None:
    rng = np.random.default_rng(5)
    actions = [world.command.copy()]
    for _ in range(30):
        actions.append(
            actions[-1] + np.where(np.arange(len(world.command)) < 14, rng.uniform(-0.02, 0.02, len(world.command)), 0.0)
        )
    for action in actions[:15]:
        world.step(action)
    middle = world.save()
    ends = []
    for _ in range(2):
        for action in actions[15:]:
            world.step(action)
        ends.append(world.save())
        world.restore(middle)
    assert np.array_equal(*ends)


def test_a_robot_on_feet_without_a_balance_is_refused() -> None:
    robot = embodiments.get("g1")
    with pytest.raises(embodiments.InvalidRobot, match="a floating base needs an onboard balance"):
        embodiments.validate(dataclasses.replace(robot, onboard=None))
    short = dataclasses.replace(robot.onboard, legs=robot.onboard.legs[:6], feet=("right_foot", "nowhere"))
    with pytest.raises(embodiments.InvalidRobot) as caught:
        embodiments.validate(dataclasses.replace(robot, onboard=short))
    assert "six a leg" in str(caught.value) and "no site 'nowhere' for a foot" in str(caught.value)


# ---------------------------------------------------------------------- at work


def test_the_hand_goes_where_it_was_meant_to_while_the_body_sways() -> None:
    session = Session(World(scenario("g1", (0.30, -0.30), (0.30, -0.05))))
    session.reset(np.random.default_rng(3))
    control = Controller(session, np.random.default_rng(3))
    control.look()
    place = control.base_pose()
    goal = np.clip(control.kin.home + np.array([-0.6, 0.5, 0.0, 0.2, 0.0, 0.0, 0.0]), control.kin.lower, control.kin.upper)
    meant = place @ control.kin.forward(goal)
    control.follow(np.array([control.joints, goal]), stage="test")
    assert np.linalg.norm((control.base_pose() - place)[:3, 3]) > 5e-3
    assert np.linalg.norm(session.world.tcp()[:3, 3] - meant[:3, 3]) < 3e-3


@pytest.mark.parametrize("robot", ROBOTS)
def test_a_can_is_put_where_it_is_to_go_and_the_episode_repeats(robot: str) -> None:
    asked = scenario(robot, (0.32, -0.24), (0.28, -0.06))
    world = World(asked)
    recording = demonstrate(Session(world, seed=1), attempt_rng(1, asked.id, 0))
    assert recording.outcome == "success", recording.failure
    assert recording.margins[-1] > 0.015  # within 5 mm
    assert ("base_pose" in recording.observations) == (robot == "g1")
    told = [event.text for event in recording.events if event.kind == "balance"]
    assert len(told) == (robot == "g1")
    if robot == "g1":
        assert world.least_margin > 0.05
    assert replay(World(asked), recording, attempt_rng(1, asked.id, 0)) == 0.0


def test_a_slim_neck_is_not_taken_between_two_fingers() -> None:
    world = World(feet.scenario("bottle", 0, 1))
    session = Session(world)
    session.reset(np.random.default_rng(0))
    control = Controller(session, np.random.default_rng(0))
    control.look()
    plan = next(grasping.plans(control, "thing", grasping.Tally(), ready=lambda _: None))
    assert plan.grasp.width == pytest.approx(0.064)  # of its body: the neck of 28 mm slips through
    digits = [world.model.body(f"robot/right_hand_{name}_link").id for name in ("thumb_2", "index_1", "middle_1")]
    control.checker.set_gripper(0.7)
    assert (control.checker.depths(plan.joints, "thing", digits) > 0.01).all()
    control.checker.set_gripper(0.0)
    assert (control.checker.depths(plan.joints, "thing", digits) == 0.0).all()
