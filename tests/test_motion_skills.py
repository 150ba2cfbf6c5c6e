"""Skills in real physics: each does what it says, on every kind of task, repeatably, or fails with a type and numbers."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import mujoco
import numpy as np
import pytest
from forge_scenes import DRAFTS, draft, item, says
from task_worlds import STILL, TABLE

from embodiedsmith.assets.asset import Affordances
from embodiedsmith.forge.layout import layout
from embodiedsmith.motion import Step, demonstrate
from embodiedsmith.motion.articulation import Articulation, plan_arc
from embodiedsmith.motion.controller import HELD_ACCELERATION, HELD_SPEED, Controller
from embodiedsmith.motion.errors import MotionError
from embodiedsmith.motion.grasping import FINGER_ROOM
from embodiedsmith.motion.skills import place, skills
from embodiedsmith.motion.skills.open import WIDE
from embodiedsmith.spec import All, AssetSpec, EmbodimentSpec, Item, Pose, Predicate, Scenario, SceneSpec, TaskSpec
from embodiedsmith.tasks import Recording, Session, predicate
from embodiedsmith.world import World

PART = "drawer_unit.drawer_top"


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


@cache
def laid_out(name: str, robot: str = "panda") -> Scenario:
    made = DRAFTS[name]
    if made.embodiment.name != robot:
        made = made.model_copy(update={"embodiment": EmbodimentSpec(name=robot)})
    return layout(made, rng(0))


@cache
def scene(name: str, robot: str = "panda") -> World:
    return World(laid_out(name, robot))


@cache
def shown(name: str, robot: str = "panda") -> Recording:
    """One demonstration a task: the first of three attempts that succeeds, as when collecting."""
    for attempt in range(3):
        recording = demonstrate(Session(scene(name, robot), attempt=attempt), rng(attempt))
        if recording.outcome == "success":
            break
    return recording


def skills_of(recording: Recording) -> list[str]:
    """Names of the skills done, in order."""
    return [e.text.split("(")[0] for e in recording.events if e.kind == "skill_done"]


TASKS = [
    ("stack", "panda", ["pick", "place"]),
    ("stack", "ur5e", ["pick", "place"]),
    ("drawer", "panda", ["open", "pick", "place", "close"]),
    ("take_out", "panda", ["open", "pick", "place"]),
    ("basket", "panda", ["pick", "place"] * 3),
    ("mobile", "panda_mobile", ["navigate", "pick", "place"]),
]


@pytest.mark.parametrize(("name", "robot", "expected"), TASKS, ids=[f"{n}-{r}" for n, r, _ in TASKS])
def test_tasks_are_done_in_physics(name: str, robot: str, expected: list[str]) -> None:
    recording = shown(name, robot)
    assert recording.outcome == "success", recording.failure
    assert recording.failure is None and recording.margins[-1] > 0
    done = skills_of(recording)
    if not any(e.kind in ("skill_failed", "replanned") for e in recording.events):
        if robot == "panda_mobile":
            assert set(expected) <= set(done) and done[0] == "navigate"
        else:
            assert sorted(done) == sorted(expected)
    assert len(recording.labels) == recording.length and all(recording.labels)
    world = scene(name, robot)
    world.restore(recording.states[-1])
    assert world.grasped() == () and world.speed() < 0.02
    last = {name: at[-1] for name, at in recording.observations.items()}
    np.testing.assert_array_equal(last["joint_position"], world.data.qpos[world.robot_qpos])


@pytest.mark.parametrize(("name", "robot", "_"), TASKS, ids=[f"{n}-{r}" for n, r, _ in TASKS])
def test_commands_keep_the_robot_s_limits(name: str, robot: str, _: Any) -> None:
    recording, world = shown(name, robot), scene(name, robot)
    base, arm = len(world.robot.base.joints), world.robot.arm
    joints = slice(base, world.joint_count)
    commands = np.vstack([recording.states[0][-world.action_size :], recording.actions])
    speed = np.abs(np.diff(commands[:, joints], axis=0)) / world.control_dt
    assert (speed <= np.asarray(arm.velocity_limits) * 1.02).all()
    limits = np.array([world.model.joint(f"robot/{j}").range for j in arm.joints])
    bounded = world.model.jnt_limited[[world.model.joint(f"robot/{j}").id for j in arm.joints]].astype(bool)
    swing = 0.02  # [rad] by which a timed path may swing out at its corners
    assert (commands[:, joints][:, bounded] >= limits[bounded, 0] - swing).all()
    assert (commands[:, joints][:, bounded] <= limits[bounded, 1] + swing).all()
    if base:
        drive = np.abs(np.diff(commands[:, :base], axis=0)) / world.control_dt
        assert (drive <= np.asarray(world.robot.base.velocity_limits) * 1.02).all()
    assert (recording.actions[:, -1] >= 0).all() and (recording.actions[:, -1] <= 1).all()
    gains = np.abs(np.diff(commands[:, joints], n=2, axis=0)) / world.control_dt**2
    assert (gains <= np.asarray(arm.acceleration_limits) * 1.05).mean() > 0.98  # the last step of a motion is a short one


def test_the_robot_keeps_off_the_furniture() -> None:
    for name in ("stack", "basket"):
        hits = [e for e in shown(name).events if e.kind == "collision"]
        assert hits == []


def test_what_is_held_stays_between_the_fingers() -> None:
    recording, world = shown("stack"), scene("stack")
    grasped = next(e.step for e in recording.events if e.kind == "grasped" and e.subjects == ("block_1",))
    released = next(e.step for e in recording.events if e.kind == "released" and e.subjects == ("block_1",))
    assert released - grasped > 10
    centre = recording.observations["items/block_1"][grasped : released - 2, :3] + (0, 0, world.assets["block_1"].size[2] / 2)
    away = np.linalg.norm(centre - recording.observations["tcp_pose"][grasped : released - 2, :3], axis=1)
    assert away.max() < 0.03


# ------------------------------------------------------------------ one skill at a time


def begin(name: str) -> tuple[Session, Controller]:
    session = Session(scene(name))
    session.reset(rng())
    return session, Controller(session, rng())


@pytest.mark.parametrize("seed", range(2))
def test_flat_things_are_taken_by_long_fingertips(seed: int) -> None:
    """Fingertips that would touch the table take a thing a little higher."""
    made = draft([item("table"), item("spoon", "table")], says("lifted", "spoon"), robot="ur5e")
    recording = demonstrate(Session(World(layout(made, rng(seed)))), rng(seed))
    assert recording.outcome == "success", recording.failure
    assert not [e for e in recording.events if e.kind == "collision"]


def test_what_is_held_is_moved_gently() -> None:
    """A long way round at full speed would throw it out of the fingers."""
    session, control = begin("stack")
    world = control.world
    skills()["pick"].run(control, ("block_1", "table.top"), ())
    here = control.joints
    there = here + np.array([1.2, -0.4, 0.4, 0.3, 0.0, -0.3, 0.5])
    first = session.steps
    control.follow(np.stack([here, there]), stage="place")
    recording = session.finish()
    way = []
    for state in recording.states[first:]:
        world.restore(state)
        way.append(world.data.xipos[world.items["block_1"].body].copy())
    velocity = np.diff(np.array(way), axis=0) / control.dt
    assert 0.8 * HELD_SPEED < np.linalg.norm(velocity, axis=1).max() < 1.1 * HELD_SPEED
    lag = 1.5  # servos follow a change of the target a little harder than it is
    assert np.linalg.norm(np.diff(velocity, axis=0), axis=1).max() / control.dt < lag * HELD_ACCELERATION
    assert control.held is not None


def test_open_and_close_move_the_drawer_and_nothing_else() -> None:
    session, control = begin("drawer")
    world = control.world
    others = ("mug", "apple")
    before = [world.item_pose(name)[:3, 3] for name in others]
    skills()["open"].run(control, (PART,), ())
    assert world.joint(PART)[1] > 0.6 and predicate("open").margin(world, (PART,)) > 0
    skills()["close"].run(control, (PART,), ())
    assert predicate("closed").margin(world, (PART,)) > 0
    assert world.joint("drawer_unit.drawer_bottom")[1] == pytest.approx(0.0, abs=0.01)
    np.testing.assert_allclose([world.item_pose(name)[:3, 3] for name in others], before, atol=0.005)
    assert session.steps < 400


def test_pick_lifts_and_place_puts_down() -> None:
    _, control = begin("stack")
    world = control.world
    height = world.item_pose("block_1")[2, 3]
    place = Step("place", ("block_1", "block_2.top"))
    skills()["pick"].run(control, ("block_1", "table.top"), (place,))
    assert control.held is not None and control.held.item == "block_1"
    assert world.grasped() == ("block_1",) and world.item_pose("block_1")[2, 3] > height + 0.03
    skills()["place"].run(control, place.args, ())
    assert control.held is None and world.grasped() == ()
    assert predicate("on").margin(world, ("block_1", "block_2")) > 0


def test_a_thing_is_put_down_where_it_was_found_that_it_can_be(monkeypatch: pytest.MonkeyPatch) -> None:
    """Spots are drawn: a grasp chosen for one of them must not have to do with others."""
    _, control = begin("stack")
    step = Step("place", ("mug", "table.top"))
    skills()["pick"].run(control, ("mug", "table.top"), (step,))
    promised = control.promised[step]
    monkeypatch.setattr(place, "spots", lambda *_: iter(()))
    skills()["place"].run(control, step.args, ())
    assert step not in control.promised
    np.testing.assert_allclose(control.world.item_pose("mug")[:2, 3], promised.T_world_item[:2, 3], atol=0.005)
    skills()["pick"].run(control, ("mug", "table.top"), ())
    with pytest.raises(MotionError, match="there is no spot for mug") as caught:
        skills()["place"].run(control, step.args, ())
    assert caught.value.code == "place.no_spot" and caught.value.subjects == ("mug", "table.top")


@pytest.mark.parametrize("seed", range(3))
def test_letting_go_in_a_bowl_does_not_take_the_bowl_along(seed: int) -> None:
    """The fingers open no farther than there is room between what they hold and the wall."""
    goal = All(goals=(says("inside", "apple", "bowl"), says("unmoved", "bowl")))
    scenario = layout(draft([item("table"), item("bowl", "table"), item("apple", "table")], goal), rng(seed))
    recording = demonstrate(Session(World(scenario)), rng(seed))
    assert recording.outcome == "success", recording.failure


def test_what_lies_in_a_drawer_is_seen_where_it_is() -> None:
    """A drawer that is moved twice carries its things along twice."""
    _, control = begin("drawer")
    world, checker = control.world, control.checker
    part = Articulation(control, PART)
    at, slide = world.items["mug"].qpos, world.joint_qpos[PART]
    for fraction in (0.9, 0.3):
        world.data.qpos[slide] = part.at(fraction)
        mujoco.mj_kinematics(world.model, world.data)
        world.data.qpos[at : at + 3] = world.cavity(PART)[1][:3, 3]
        mujoco.mj_kinematics(world.model, world.data)
        control.look()
        part.look()
        out = world.cavity(PART)[1][:3, 3] - world.item_pose("drawer_unit")[:3, 3]
        part.imagine(part.at(0.0))
        moved = checker.data.qpos[at : at + 3] - world.data.qpos[at : at + 3]
        travel = fraction * abs(part.info.open - part.info.closed)
        assert float(np.linalg.norm(moved)) == pytest.approx(travel, abs=1e-6) and float(moved @ out) < 0
    control.look()
    plan_arc(part, (0.0,), push=True, stage="close")
    part.imagine(part.position)
    np.testing.assert_allclose(checker.data.qpos[at : at + 3], world.data.qpos[at : at + 3], atol=1e-9)


def test_a_door_is_opened_so_that_it_does_not_shut_the_arm_in() -> None:
    """Of the ways to lead a handle the first from whose end the arm gets home is taken; shut in, if there is no other."""
    _, control = begin("microwave")
    part = Articulation(control, "microwave.door")
    wide = WIDE["hinge"]
    plan = plan_arc(part, wide, push=False, stage="open")
    assert plan.free and plan.fraction == wide[0]
    assert part.leaves(plan.arc[-1], part.at(plan.fraction), plan.grips)
    home = control.kin.home
    T_under = control.kin.forward(home)
    T_under[:3, 3] = 0.5, 0.0, -0.1
    control.kin.home = control.kin.inverse(T_under, home).joints  # in the counter: no way leads there
    try:
        assert not plan_arc(part, wide, push=False, stage="open").free
    finally:
        control.kin.home = home


def test_putting_down_what_is_not_in_the_hand_is_refused() -> None:
    _, control = begin("stack")
    with pytest.raises(MotionError, match="not in the hand") as caught:
        skills()["place"].run(control, ("block_1", "block_2.top"), ())
    assert caught.value.code == "place.empty_hand"


def bare(goal: Predicate | All, *items: Item, horizon: float = 60.0) -> Scenario:
    """A table before a Panda, with what a test puts there."""
    table = Item(id="table", asset=AssetSpec(category="table"), pose=Pose.planar(0.6, 0.0), fixed=True)
    return Scenario(
        scene=SceneSpec(items=(table, *items)),
        task=TaskSpec(goal=goal, horizon=horizon),
        embodiment=EmbodimentSpec(name="panda", base=Pose.planar(0.0, 0.0, TABLE)),
        randomization=STILL,
    )


def on_table(name: str, x: float, y: float, **asset: Any) -> Item:
    return Item(
        id=name, asset=AssetSpec(category=asset.pop("category", name), **asset), parent="table", pose=Pose.planar(x - 0.6, y)
    )


def test_a_thing_is_put_at_the_point_asked_for() -> None:
    goal = says("at", "block", x=0.5, y=-0.25, z=TABLE)
    recording = demonstrate(Session(World(bare(goal, on_table("block", 0.45, 0.1)))), rng())
    assert recording.outcome == "success", recording.failure
    assert skills_of(recording) == ["pick", "place_at"]
    np.testing.assert_allclose(recording.observations["items/block"][-1, :2], (0.5, -0.25), atol=0.02)


@pytest.mark.parametrize(
    ("thing", "target", "relation"), [("knife", "box", "inside"), ("mug", "tray", "on"), ("can", "bin", "inside")]
)
def test_what_is_let_go_of_stays_where_it_falls(thing: str, target: str, relation: str) -> None:
    """A knife does not pass through the floor of a box, a mug stands on a tray, a can drops into a narrow bin."""
    goal = says(relation, thing, target)
    world = World(bare(goal, on_table(thing, 0.45, 0.2), on_table(target, 0.5, -0.15)))
    recording = demonstrate(Session(world), rng())
    assert recording.outcome == "success", recording.failure
    world.restore(recording.states[-1])
    assert not world.touching(thing, "table")
    assert world.corners(thing)[:, 2].min() > TABLE


def test_two_things_share_a_bowl() -> None:
    """The second finds its place beside the first, which lies in the middle."""
    bowl = on_table("bowl", 0.5, -0.15, params={"diameter": 0.18})
    apples = [on_table(f"apple_{k}", 0.45, y, category="apple") for k, y in ((1, 0.12), (2, 0.25))]
    goal = All(goals=tuple(says("inside", f"apple_{k}", "bowl") for k in (1, 2)))
    recording = demonstrate(Session(World(bare(goal, bowl, *apples))), rng())
    assert recording.outcome == "success", recording.failure
    assert skills_of(recording) == ["pick", "place", "pick", "place"]


def test_a_thing_is_put_near_another() -> None:
    scenario = bare(says("near", "apple", "block"), on_table("apple", 0.45, 0.25), on_table("block", 0.5, -0.15))
    recording = demonstrate(Session(World(scenario)), rng())
    assert recording.outcome == "success", recording.failure
    assert skills_of(recording) == ["pick", "place_near"]
    away = recording.observations["items/apple"][-1, :2] - recording.observations["items/block"][-1, :2]
    assert np.linalg.norm(away) < 0.2


# ------------------------------------------------------------------ failures have types


def test_what_is_out_of_reach_is_said_with_the_distance() -> None:
    """Case 14 in a scene: a block 3 m away."""
    table = Item(id="far_table", asset=AssetSpec(category="table"), pose=Pose.planar(3.0, 0.0), fixed=True)
    far = Item(id="block", asset=AssetSpec(category="block"), parent="far_table", pose=Pose.planar(0.0, 0.0))
    recording = demonstrate(Session(World(bare(says("grasped", "block"), table, far))), rng())
    assert recording.outcome == "failure" and recording.failure is not None
    assert recording.failure.code == "pick.unreachable"
    assert recording.failure.skill == "pick(block, far_table.top)" and recording.failure.subjects == ("block",)
    assert recording.failure.value == pytest.approx(3.0 - 0.9, abs=0.4)
    assert "in reach" in recording.failure.message and recording.length == 0


def test_a_thing_no_hand_can_hold_is_a_typed_failure_before_any_motion() -> None:
    """Case 28, last part: at 0 % yield, with its reason."""
    world = World(bare(says("lifted", "bowl"), on_table("bowl", 0.5, 0.0)))
    world.assets["bowl"] = replace(world.assets["bowl"], affordances=Affordances())
    recording = demonstrate(Session(world), rng())
    assert recording.outcome == "failure" and recording.failure is not None
    assert recording.failure.code == "plan.no_symbolic_plan" and "holding(bowl)" in recording.failure.message
    assert recording.length == 0


def test_a_thing_too_wide_for_the_hand_is_said_with_its_width() -> None:
    world = World(bare(says("lifted", "bowl"), on_table("bowl", 0.5, 0.0)))
    affordances = world.assets["bowl"].affordances
    wide = tuple(replace(grasp, width=0.2) for grasp in affordances.grasps)
    world.assets["bowl"] = replace(world.assets["bowl"], affordances=replace(affordances, grasps=wide))
    failure = demonstrate(Session(world), rng()).failure
    assert failure is not None and failure.code == "plan.no_symbolic_plan" and failure.subjects == ("bowl",)
    assert (failure.value, failure.limit) == (0.2, world.robot.arm.gripper.max_width - FINGER_ROOM)
    assert "bowl is 20.0 cm wide where it is narrowest" in failure.message


def test_time_runs_out_as_a_typed_failure() -> None:
    goal = says("at", "block", x=0.5, y=-0.25, z=TABLE)
    recording = demonstrate(Session(World(bare(goal, on_table("block", 0.45, 0.1), horizon=1.0))), rng())
    assert recording.outcome == "failure" and recording.failure is not None
    assert recording.failure.code == "goal.timeout" and recording.length == 20


def test_a_world_that_goes_wrong_ends_the_attempt(monkeypatch: pytest.MonkeyPatch) -> None:
    """Case 12: nothing after the fault is recorded, and the failure carries the fault's type."""
    world = World(bare(says("grasped", "block"), on_table("block", 0.45, 0.1)))
    step = world.step

    def spoilt(action: np.ndarray) -> None:
        if world.control_step == 10:
            world.data.qvel[world.items["block"].dof] = 1e12
        step(action)

    monkeypatch.setattr(world, "step", spoilt)
    recording = demonstrate(Session(world), rng())
    assert recording.outcome == "failure" and recording.failure is not None
    assert recording.failure.code == "world.engine_warning" and recording.failure.step == 10
    assert recording.length == 10 and np.isfinite(recording.states).all()
    assert recording.events[-1].kind == "world_fault"


# ------------------------------------------------------------------ repeatable


@pytest.mark.parametrize("name", ["stack", "drawer"])
def test_the_same_draws_give_the_same_bits(name: str) -> None:
    """In two worlds, one of them used before."""
    first, again = (demonstrate(Session(world), rng(5)) for world in (World(laid_out(name)), scene(name)))
    for field in ("states", "actions", "margins"):
        np.testing.assert_array_equal(getattr(first, field), getattr(again, field))
    assert first.labels == again.labels and first.events == again.events and first.outcome == again.outcome
    other = demonstrate(Session(scene(name)), rng(6))
    assert other.states.shape != first.states.shape or not np.array_equal(other.states, first.states)


def test_mirrored_drafts_do_not_depend_on_names() -> None:
    """The planner looks at affordances, not ids: renaming the things changes nothing but their names."""
    made = draft(
        [item("table"), item("block_1", "table"), item("block_2", "table")], says("on", "block_1", "block_2"),
        position=0.0, yaw=0.0, robot_joints=0.0,
    )  # fmt: skip
    scenario = layout(made, rng(1))
    text = scenario.to_json().replace("block_1", "zebra_1").replace("block_2", "zebra_2")
    first, renamed = (demonstrate(Session(World(s)), rng(2)) for s in (scenario, Scenario.from_json(text)))
    np.testing.assert_array_equal(first.actions, renamed.actions)
    assert [label.replace("block", "zebra") for label in first.labels] == list(renamed.labels)
