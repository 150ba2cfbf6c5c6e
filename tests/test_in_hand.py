"""Turning a thing in the hand: how it begins, what counts, what only looks like it, and how the fingers do it."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
import pytest

from embodiedsmith import assets
from embodiedsmith.bench.hand import CUBE, in_hand
from embodiedsmith.forge.agents import get
from embodiedsmith.forge.certificate import LEAST_MISSES
from embodiedsmith.forge.language import CannotBe, read
from embodiedsmith.forge.layout import layout
from embodiedsmith.motion import symbolic
from embodiedsmith.motion.controller import Controller
from embodiedsmith.motion.demonstrator import demonstrate
from embodiedsmith.motion.imagining import Imagined
from embodiedsmith.motion.reorienting import Reorienting
from embodiedsmith.motion.skills import reorient
from embodiedsmith.spec import (
    AssetSpec,
    Brief,
    Item,
    Predicate,
    Randomization,
    Scenario,
)
from embodiedsmith.tasks import Session, check_text, replay
from embodiedsmith.tasks.goal import GoalMonitor
from embodiedsmith.tasks.near_misses import UP, turned
from embodiedsmith.tasks.registry import predicate
from embodiedsmith.world import CompileError, World
from embodiedsmith.world import transforms as tf
from embodiedsmith.world.compile import palm_pose

GOAL = Predicate(name="reoriented", args=("block",))


def scene(robot: str = "ur5e_leap", goal: Predicate = GOAL, random: Randomization | None = None) -> Scenario:
    return in_hand(CUBE, robot, goal, random)


@lru_cache(maxsize=1)
def world() -> World:
    return World(scene())


def begun(seed: int = 0) -> World:
    made = world()
    made.reset(np.random.default_rng(seed))
    return made


def middle(made: World) -> np.ndarray:
    T = made.item_pose("block")
    return T[:3, 3] + T[:3, :3] @ np.mean(made.assets["block"].extents, axis=0)


def test_what_is_held_lies_in_the_palm_at_rest_however_the_arm_begins() -> None:
    made = world()
    palm = palm_pose(made.scenario)
    assert palm is not None and palm[2, 2] > 0.999  # palm up
    for seed in range(3):
        made.reset(np.random.default_rng(seed))
        T_tool = made.tcp() @ tf.translate(made.robot.cradle.place) if made.robot.cradle else np.eye(4)
        local = tf.inverse(T_tool) @ made.item_pose("block")
        assert np.linalg.norm(local[:2, 3]) < 0.02 and abs(local[2, 3]) < 0.006
        assert made.item_pose("block")[2, 2] > 0.98 and made.speed() < 0.01
        assert {a for pair in made.contacts() for a in pair if "block" in pair} <= {"block", "robot", "finger_0", "finger_1"}


def test_a_robot_without_such_a_hand_holds_nothing_at_the_start() -> None:
    with pytest.raises(CompileError, match="held: the robot has no hand that things lie in"):
        World(scene("panda"))
    with pytest.raises(ValueError, match="is held: the robot carries it"):
        Item(id="block", asset=CUBE, relation="held", parent="table")


def test_held_by_its_start_the_goal_counts_the_whole_orientation() -> None:
    made = begun()
    monitor = GoalMonitor(GOAL, made, hold_steps=1)
    assert monitor.reset() < -0.05
    start = made.save()
    for angle, right in ((90.0, True), (82.0, True), (98.0, True), (79.0, False), (101.0, False), (-90.0, False)):
        made.restore(start)
        turned(made, "", "block", UP, math.radians(angle)).apply(made)
        assert (monitor.update() > 0) == right, angle
    for tip, right in ((8.0, True), (12.0, False)):  # turned right, but tipped
        made.restore(start)
        turned(made, "", "block", UP, math.pi / 2).apply(made)
        turned(made, "", "block", np.array([1.0, 0.0, 0.0]), math.radians(tip)).apply(made)
        assert (monitor.update() > 0) == right, tip
    made.restore(start)


def test_near_misses_are_seen_through() -> None:
    made = begun()
    monitor = GoalMonitor(GOAL, made, hold_steps=1)
    monitor.reset()
    turned(made, "", "block", UP, math.pi / 2).apply(made)
    assert monitor.update() > 0
    held = made.save()
    kind = predicate("reoriented")
    misses = list(kind.near_misses(made, GOAL.args, kind.resolve({})))
    assert len(misses) >= LEAST_MISSES
    for miss in misses:
        made.restore(held)
        miss.apply(made)
        assert monitor.update() <= 0, miss.name


def test_what_is_turned_but_moves_has_not_been_turned() -> None:
    session = Session(begun())
    session.reset(np.random.default_rng(0))
    made = session.world
    turned(made, "", "block", UP, math.pi / 2).apply(made)
    made.data.qvel[made.items["block"].dof] = 0.2
    assert session.monitor.update() > 0 and made.speed() > 0.1 and not session.succeeded


@pytest.mark.parametrize(("angle", "fault"), [(0.1, "needs an angle"), (3.0, "needs an angle")])
def test_angles_that_fingers_do_not_turn_are_refused(angle: float, fault: str) -> None:
    (said,) = predicate("reoriented").faults({"block": assets.build(CUBE)}, ("block",), {"angle": angle})
    assert fault in said


def test_only_what_fills_the_hand_is_turned_in_it() -> None:
    built = {"block": assets.build(AssetSpec(category="block")), "toy": assets.build(AssetSpec(category="plush_block"))}
    assert "55 to 75 mm" in predicate("reoriented").faults(built, ("block",), {})[0]
    assert "no firm shape" in predicate("reoriented").faults(built, ("toy",), {})[0]


@pytest.mark.parametrize(
    ("text", "angle"),
    [
        ("rotate the cube in the hand by 90 degrees", 90.0), ("turn the red block in your hand 60 degrees", 60.0),
        ("rotate the cube 90 degrees clockwise in the hand", -90.0), ("rotate the cube in the hand", 90.0),
        ("把手里的方块旋转90度", 90.0), ("在手里把方块顺时针旋转60度", -60.0), ("旋转手里的方块90度", 90.0),
    ],
)  # fmt: skip
def test_words_become_a_scene_and_words_again(text: str, angle: float) -> None:
    (command,) = read(text).commands
    assert (command.action, math.degrees(command.angle)) == ("reorient", pytest.approx(angle))
    draft = get("rule").propose(Brief(text=text, embodiment="ur5e_leap"), np.random.default_rng(0))
    goal = draft.scenario.task.goal
    assert isinstance(goal, Predicate) and goal.name == "reoriented"
    assert math.degrees(predicate("reoriented").resolve(goal.params)["angle"]) == pytest.approx(angle)
    assert draft.scenario.task.hold_steps == 20
    laid = layout(draft.scenario, np.random.default_rng(0))
    assert laid.scene.item("block").relation == "held" and laid.scene.item("block").parent is None
    for words in draft.scenario.task.instructions.values():
        assert check_text(words, goal) is None
        assert math.degrees(read(words).commands[0].angle) == pytest.approx(angle)


def test_knobs_are_still_turned_and_other_robots_refuse() -> None:
    assert read("turn the knob").commands[0].action == "turn"
    with pytest.raises(CannotBe, match="panda has no hand that things lie in"):
        get("rule").propose(Brief(text="rotate the cube in the hand by 90 degrees"), np.random.default_rng(0))
    chosen = get("rule").propose(
        Brief(text="rotate the cube in the hand by 90 degrees", embodiment="any"), np.random.default_rng(0)
    )
    assert chosen.scenario.embodiment.name == "ur5e_leap"


def test_the_plan_turns_what_lies_in_the_hand_and_nothing_else() -> None:
    assert [str(step) for step in symbolic.plan(begun(), GOAL)] == ["reorient(block)"]


def test_imagined_is_near_what_comes() -> None:
    made = begun()
    imagined = Imagined(made, "block")
    imagined.look()
    hand = made.hand_slices[0]
    commands = np.repeat(made.command[hand][None], 9, axis=0)
    commands[1:, 0] += np.linspace(0.05, 0.4, 8)  # the index finger bends
    position, quat, velocity = imagined.run(commands[None])
    imagined.close()
    assert position.shape == (1, 8, 3) and quat.shape == (1, 8, 4) and velocity.shape == (1, 8, 6)
    for command in commands[1:]:
        action = made.command.copy()
        action[hand] = command
        made.step(action)
    palm = made.data.xpos[made.model.site_bodyid[made.tcp_sites[0]]]
    np.testing.assert_allclose(position[0, -1], made.item_pose("block")[:3, 3] - palm, atol=0.01)
    R = tf.rotation(quat[0, -1]).T @ made.item_pose("block")[:3, :3]
    assert np.linalg.norm(tf.rotation_vector(R)) < 0.2


def test_same_draws_same_fingers() -> None:
    made = begun()
    state = made.save()

    def commands() -> np.ndarray:
        made.restore(state)
        turning = Reorienting(made, "block", made.item_pose("block"), math.pi / 2, np.random.default_rng(3))
        rows = []
        for _ in range(4):
            rows.append(turning.next())
            action = made.command.copy()
            action[made.hand_slices[0]] = rows[-1]
            made.step(action)
        turning.close()
        return np.array(rows)

    np.testing.assert_array_equal(commands(), commands())


def test_what_falls_out_of_the_hand_is_told() -> None:
    session = Session(begun())
    session.reset(np.random.default_rng(0))
    made = session.world
    made.data.qpos[made.items["block"].qpos + 2] -= 0.2
    with pytest.raises(reorient.MotionError, match="fell out of the hand") as caught:
        reorient.run(Controller(session, np.random.default_rng(0)), ("block",), ())
    assert caught.value.code == "reorient.dropped"


def test_a_block_is_turned_in_the_hand_and_the_actions_replay() -> None:
    session = Session(world())
    recording = demonstrate(session, np.random.default_rng(2))
    assert recording.outcome == "success", recording.failure
    assert recording.labels[-1] in ("rest", "reorient(block)")
    assert (recording.margins[-20:] > 0).all()
    joints = recording.actions[:, : session.world.joint_count]
    assert np.abs(np.diff(joints, axis=0)).max() == 0.0, "the arm holds still: fingers turn it"
    assert replay(session.world, recording, np.random.default_rng(2)) == 0.0


@pytest.mark.slow
def test_blocks_are_turned_over_seeds() -> None:
    session = Session(world())
    done = [demonstrate(session, np.random.default_rng(seed)).outcome == "success" for seed in range(10, 20)]
    assert sum(done) >= 8, done
