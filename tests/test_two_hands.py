"""Two hands at one task: a tray carried by both, and a thing held by one while the other works, in real physics."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from task_worlds import TABLE, kitchen, p

from embodiedsmith import assets
from embodiedsmith.forge.agents.effects import goal_of
from embodiedsmith.forge.agents.ground import Grounding
from embodiedsmith.forge.agents.stage import Stage
from embodiedsmith.forge.language import read
from embodiedsmith.motion import carrying, demonstrate, symbolic
from embodiedsmith.motion.controller import Controller, Held
from embodiedsmith.motion.errors import MotionError
from embodiedsmith.motion.grasping import pairs_fitting
from embodiedsmith.motion.kinematics import kinematics
from embodiedsmith.motion.skills import skills
from embodiedsmith.motion.wishes import steadied
from embodiedsmith.spec import (
    All,
    AssetSpec,
    CameraSpec,
    EmbodimentSpec,
    Goal,
    Item,
    Pose,
    Randomization,
    Scenario,
    SceneSpec,
    Sequence,
    TaskSpec,
)
from embodiedsmith.tasks import Recording, Session, predicate
from embodiedsmith.world import World
from embodiedsmith.world import transforms as tf

HANDLED = AssetSpec(category="tray", params={"handles": True})
MIDDLE = 0.505  # [m] of the table before the humanoid
NOISY = Randomization(position=0.01, yaw=0.1, robot_joints=0.02)
LIFTED = All(goals=(p("in_both_hands", "tray"), p("lifted", "tray")))
AWAY = {"x": 0.33, "y": 0.12, "z": TABLE}
CARRIED = Sequence(goals=(p("in_both_hands", "tray"), p("at", "tray", **AWAY)))
HELD = Sequence(
    goals=(
        p("in_left_hand", "box"),
        All(goals=(p("in_left_hand", "box"), p("in_right_hand", "lemon"))),
        All(goals=(p("in_left_hand", "box"), p("inside", "lemon", "box"))),
    )
)


def tray(goal: Goal, robot: str = "g1_stand", tray: AssetSpec = HANDLED) -> Scenario:
    """A tray with an apple on it before a humanoid at a table."""
    items = (
        Item(id="table", asset=AssetSpec(category="table"), pose=Pose.planar(MIDDLE, 0.0, 0.0, np.pi), fixed=True),
        Item(id="tray", asset=tray, parent="table", pose=Pose.planar(MIDDLE - 0.33, 0.0, 0.0, np.pi)),
        Item(
            id="apple", asset=AssetSpec(category="apple"), parent="tray", support="inside", relation="inside",
            pose=Pose.planar(0.03, 0.02),
        ),
    )  # fmt: skip
    height = {"g1": 0.0, "g1_stand": TABLE - 0.23}[robot]
    return Scenario(
        scene=SceneSpec(items=items, cameras=(CameraSpec(name="front", position=(1.9, 0.0, 1.7), target=(0.4, 0.0, 0.8)),)),
        task=TaskSpec(goal=goal, horizon=60.0, hold_steps=10),
        embodiment=EmbodimentSpec(name=robot, base=Pose.planar(0.0, 0.0, height)),
        randomization=NOISY,
    )


def boxed(goal: Goal) -> Scenario:
    """A box and a lemon before ALOHA."""
    items = (
        Item(id="table", asset=AssetSpec(category="table"), pose=Pose.planar(0.575, 0.0), fixed=True),
        Item(id="box", asset=AssetSpec(category="box"), parent="table", pose=Pose.planar(-0.25, 0.12)),
        Item(id="lemon", asset=AssetSpec(category="lemon"), parent="table", pose=Pose.planar(-0.3, -0.16)),
    )
    return Scenario(
        scene=SceneSpec(items=items),
        task=TaskSpec(goal=goal, horizon=60.0, hold_steps=10),
        embodiment=EmbodimentSpec(name="aloha", base=Pose.planar(0.0, 0.0, TABLE)),
        randomization=Randomization(position=0.01, yaw=0.26, robot_joints=0.02),
    )


GOALS = {"lifted": LIFTED, "carried": CARRIED}


@cache
def shown(goal: str, robot: str = "g1_stand", seed: int = 0) -> tuple[World, Recording]:
    world = World(tray(GOALS[goal], robot))
    return world, demonstrate(Session(world), np.random.default_rng(seed))


@cache
def steady() -> tuple[World, Recording]:
    world = World(boxed(HELD))
    return world, demonstrate(Session(world), np.random.default_rng(0))


@cache
def controller() -> Controller:
    world = World(tray(LIFTED))
    session = Session(world)
    session.reset(np.random.default_rng(0))
    return Controller(session, np.random.default_rng(0))


def steps_of(recording: Recording) -> list[str]:
    return [e.text for e in recording.events if e.kind == "skill_done"]


def poses(world: World, recording: Recording, item: str) -> np.ndarray:
    """World poses (T+1, 4, 4) of an item in the states of a recording."""
    before = world.save()
    found = []
    for state in recording.states:
        world.restore(state)
        found.append(world.item_pose(item))
    world.restore(before)
    return np.array(found)


# ------------------------------------------------------------------ the tray


def test_a_tray_with_handles_is_held_by_both_and_by_no_one_hand() -> None:
    asset, plain = assets.build(HANDLED), assets.build(AssetSpec(category="tray"))
    assert asset.affordances.pairs and not asset.affordances.grasps
    assert plain.affordances.grasps and not plain.affordances.pairs
    for one, other in asset.affordances.pairs:
        ends = np.array([one.pose.position, other.pose.position])
        assert np.allclose(ends[0] * (1, -1, 1), ends[1])
        assert np.linalg.norm(ends[0] - ends[1]) > 0.3
        for grasp in (one, other):
            inward = tf.rotation(grasp.pose.rotation)[:, 2]
            assert inward[1] * grasp.pose.position[1] < 0 and inward[2] < 1e-9  # from outside, level or downwards


def test_only_robots_with_two_hands_wide_enough_have_pairs() -> None:
    asset = assets.build(HANDLED)
    robots = {name: World(scenario).robot for name, scenario in (("panda", kitchen(p("lifted", "block"))), ("g1", tray(LIFTED)))}
    assert not pairs_fitting(robots["panda"], asset)
    assert pairs_fitting(robots["g1"], asset) == asset.affordances.pairs


def test_what_only_two_hands_take_is_told_and_carried() -> None:
    world = World(tray(p("lifted", "tray")))
    world.reset(np.random.default_rng(0))
    facts = symbolic.describe(world, p("lifted", "tray"), None).facts
    assert {("two_handed", "tray"), ("paired", "tray")} <= facts and ("graspable", "tray") not in facts
    assert [str(s) for s in symbolic.plan(world, p("lifted", "tray"))] == ["carry(tray, table.top)"]


# ------------------------------------------------------------------ a closed chain


def test_both_arms_follow_the_thing_they_hold() -> None:
    control = controller()
    plan = next(carrying.plans(control, "tray", carrying.Tally(), ready=lambda plan: None))
    held = {arm: Held("tray", T) for arm, T in plan.T_tcp_item.items()}
    start = plan.approach[-1]
    T_item = control.world.item_pose("tray")
    aside = tf.translate((0.0, 0.05, 0.1)) @ T_item @ tf.turn_z(0.2)
    path = carrying.chain(control, held, (T_item, aside), start)
    assert path is not None
    kins = [kinematics("g1_stand", arm) for arm in plan.arms]
    relative = []
    for row in path:
        one, other = (kin.forward(part) for kin, part in zip(kins, np.split(row, 2), strict=True))
        relative.append(tf.inverse(one) @ other)
    relative = np.array(relative)
    assert np.linalg.norm(relative[:, :3, 3] - relative[0, :3, 3], axis=1).max() < 4e-3
    turned = [float(np.linalg.norm(tf.rotation_vector(relative[0, :3, :3].T @ R[:3, :3]))) for R in relative]
    assert max(turned) < 0.03
    end = control.base_pose() @ kins[0].forward(path[-1][:7]) @ plan.T_tcp_item[plan.arms[0]]
    assert np.allclose(end, aside, atol=5e-3)
    assert carrying.chain(control, held, (T_item, tf.translate((1.5, 0.0, 0.0)) @ T_item), start) is None


@pytest.mark.parametrize("robot", ["g1_stand", "g1"])
def test_a_tray_is_carried_level_with_what_lies_on_it(robot: str) -> None:
    world, recording = shown("carried", robot)
    assert recording.outcome == "success", recording.failure
    assert steps_of(recording)[0] == "carry(tray, table.top)"
    T = poses(world, recording, "tray")
    assert np.linalg.norm(T[-1, :2, 3] - (AWAY["x"], AWAY["y"])) < 0.02
    assert T[:, 2, 3].max() > TABLE + 0.05
    assert np.degrees(np.arccos(np.clip(T[:, 2, 2], -1.0, 1.0))).max() < 6.0
    world.restore(recording.states[-1])
    assert predicate("inside").margin(world, ("apple", "tray")) > 0
    assert not [e for e in recording.events if e.kind == "dropped"]


def test_lifted_by_both_hands_is_told_from_what_only_looks_like_it() -> None:
    world, recording = shown("lifted")
    assert recording.outcome == "success", recording.failure
    world.restore(recording.states[-1])
    kind = predicate("in_both_hands")
    assert kind.margin(world, ("tray",)) > 0
    misses = list(kind.near_misses(world, ("tray",), {}))
    assert len(misses) >= 8
    before = world.save()
    for miss in misses:
        world.restore(before)
        miss.apply(world)
        assert kind.margin(world, ("tray",)) < 0, miss.name
    world.restore(before)
    assert len({miss.name for miss in misses}) == len(misses)


def test_a_robot_with_one_arm_is_told_why_it_cannot() -> None:
    with pytest.raises(MotionError, match="panda does not hold block with two hands"):
        symbolic.plan(World(kitchen(p("lifted", "block"))), p("in_both_hands", "block"))
    assert predicate("in_both_hands").faults(World(tray(LIFTED)).assets, ("apple",), {})


# ------------------------------------------------------------------ one holds, the other acts


def test_one_hand_holds_while_the_other_puts_something_in() -> None:
    world, recording = steady()
    assert recording.outcome == "success", recording.failure
    assert steps_of(recording) == [
        "hold(box, table.top, left)", "pick(lemon, table.top, right)", "place(lemon, box.inside)",
    ]  # fmt: skip
    T = poses(world, recording, "box")
    assert np.linalg.norm(T[:, :3, 3] - T[0, :3, 3], axis=1).max() < 0.03
    world.restore(recording.states[-1])
    assert world.grasped(0) == ("box",) and world.grasped(1) == ()
    assert predicate("inside").margin(world, ("lemon", "box")) > 0


def test_what_is_held_to_the_end_is_held_steady() -> None:
    assert steadied(HELD) == {"box"}
    assert steadied(p("in_left_hand", "box")) == frozenset()
    assert steadied(Sequence(goals=(p("in_left_hand", "stick"), p("in_right_hand", "stick")))) == frozenset()
    assert steadied(Sequence(goals=(HELD.goals[2], p("on", "box", "table")))) == frozenset()


def test_a_full_hand_takes_nothing_more() -> None:
    world = World(boxed(HELD))
    session = Session(world)
    session.reset(np.random.default_rng(0))
    control = Controller(session, np.random.default_rng(0))
    control.loads[:] = [Held("box", np.eye(4)), Held("box", np.eye(4))]
    with pytest.raises(MotionError, match="no hand is free for lemon"):
        skills()["pick"].run(control, ("lemon", "table.top"), ())


# ------------------------------------------------------------------ words


def meant(text: str) -> tuple[Goal | None, Stage]:
    stage = Stage(np.random.default_rng(0))
    grounding = Grounding(read(text), stage)
    grounding.run()
    for thing in stage.things:
        thing.id = thing.category
    return goal_of(grounding.effects), stage


BESIDE = Sequence(goals=(p("in_both_hands", "tray"), p("left_of", "tray", "bowl")))
STEADY = Sequence(goals=tuple(HELD.goals[k] for k in (0, 2)))


@pytest.mark.parametrize(
    ("text", "goal"),
    [
        ("lift the tray with both hands", LIFTED),
        ("with both hands, lift the tray", LIFTED),
        ("take the tray in both hands and lift it", LIFTED),
        ("用双手把托盘抬起来", LIFTED),
        ("carry the tray with both hands to the left of the bowl", BESIDE),
        ("move the tray to the left of the bowl using both hands", BESIDE),
        ("use both hands to put the tray to the left of the bowl", BESIDE),
        ("first take the tray in both hands, then put it to the left of the bowl", BESIDE),
        ("用双手把托盘放到碗的左边", BESIDE),
        ("先用双手拿住托盘，然后把它放到碗的左边", BESIDE),
        ("hold the box with the left hand and put the lemon in it with the right hand", HELD),
        ("用左手扶住盒子，用右手把柠檬放进盒子里", HELD),
        ("hold the box with the left hand and put the lemon in it", STEADY),
        ("first take the box in the left hand, then put the lemon in it", STEADY),
    ],
)
def test_hands_are_understood(text: str, goal: Goal) -> None:
    found, stage = meant(text)
    assert found == goal
    assert not stage.reasons
    assert all(thing.params == {"handles": True} for thing in stage.things if thing.category == "tray")


def test_what_has_no_two_grips_is_refused_for_both_hands() -> None:
    _, stage = meant("lift the mug with both hands")
    assert stage.reasons == ["'mug' has no two places far apart to hold it by; a tray has"]
