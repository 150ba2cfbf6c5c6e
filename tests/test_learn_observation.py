"""What policies see: the right geometry from where the tool is, and the same for scenes that are the same."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache

import mujoco
import numpy as np
import pytest
from task_worlds import STILL, TABLE, kitchen, p

from embodiedsmith import embodiments
from embodiedsmith.embodiments.actions import ActionSpace
from embodiedsmith.learn.bodies import Bodies
from embodiedsmith.learn.observation import Encoder, ObservationConfig
from embodiedsmith.learn.samples import default_space, encode_episode, encode_stretches, idle
from embodiedsmith.learn.scenery import folded
from embodiedsmith.learn.stages import Stages
from embodiedsmith.learn.symmetry import order
from embodiedsmith.motion.demonstrator import demonstrate
from embodiedsmith.runtime.errors import UsageError
from embodiedsmith.spec import All, AssetSpec, EmbodimentSpec, Goal, Item, Not, Pose, Scenario, SceneSpec, Sequence, TaskSpec
from embodiedsmith.tasks import predicate
from embodiedsmith.tasks.probe import Probe
from embodiedsmith.tasks.recording import Recording
from embodiedsmith.tasks.session import Session
from embodiedsmith.world import World

IN_BASKET = p("inside", "block", "basket")
IN_DRAWER = All(goals=(p("inside", "mug", "unit.drawer_top"), p("closed", "unit.drawer_top")))
FIRST_THEN = Sequence(goals=(p("lifted", "block", height=0.1), All(goals=(IN_BASKET, p("unmoved", "block2")))))


def seen(world: World, goal: Goal | None = None, stage: int = 0, **changes: object) -> dict[str, float]:
    """Features of a world as it is now, by name."""
    scenario = world.scenario
    if goal is not None:
        scenario = scenario.model_copy(update={"task": scenario.task.model_copy(update={"goal": goal})})
    config = ObservationConfig.covering([scenario]).model_copy(update=changes)
    encoder = Encoder(scenario, config, world=None if goal is not None else world)
    features = encoder.encode(world.observe()[None], world.command[None], np.array([stage]))
    return dict(zip(encoder.names, features[0].tolist(), strict=True))


def vector(features: dict[str, float], name: str) -> np.ndarray:
    return np.array([features[f"{name}_{axis}"] for axis in "xyz"])


@cache
def still(task: str) -> tuple[World, np.ndarray]:
    """A world of the kitchen with a task (JSON) and its state at the start; whoever takes it restores it."""
    world = World(kitchen(TaskSpec.from_json(task).goal, randomization=STILL))
    world.reset(np.random.default_rng(0))
    return world, world.save()


def started(goal: Goal) -> World:
    world, state = still(TaskSpec(goal=goal).to_json())
    world.restore(state)
    return world


def put(world: World, item: str, position: np.ndarray, yaw: float) -> None:
    """Stand an item somewhere, turned by `yaw` from how its own axes point at 0."""
    at = world.items[item].qpos
    world.data.qpos[at : at + 7] = (*position, math.cos(yaw / 2), 0.0, 0.0, math.sin(yaw / 2))
    mujoco.mj_forward(world.model, world.data)


@cache
def demonstrated() -> tuple[World, Recording]:
    """A demonstration of a goal with two stages."""
    world = World(kitchen(FIRST_THEN, hold_steps=5))
    for attempt in range(3):
        recording = demonstrate(Session(world, attempt=attempt), np.random.default_rng(attempt))
        if recording.outcome == "success":
            return world, recording
    raise AssertionError(f"no demonstration: {recording.failure}")


# ---------------------------------------------------------------------- geometry


def test_moving_parts_are_where_the_engine_has_them() -> None:
    world = started(IN_DRAWER)
    rng = np.random.default_rng(1)
    bodies = Bodies(world)
    named = [
        (item, handle.body, bodies.frame(item, handle.body))
        for item in ("unit", "microwave") for handle in world.assets[item].affordances.handles
    ]  # fmt: skip
    assert {body for _, body, _ in named} and len(named) >= 3
    for reference, at in world.joint_qpos.items():
        item, joint = reference.split(".")
        info = world.assets[item].joints[joint]
        world.data.qpos[at] = info.closed + rng.uniform(0.2, 0.9) * (info.open - info.closed)
    put(world, "mug", np.array([0.4, 0.1, 0.9]), 1.0)
    origins, turns = bodies.poses(world.observe()[None])
    for item, body, frame in [*named, ("mug", "root", bodies.root("mug")), ("unit", "root", bodies.root("unit"))]:
        T = world.item_pose(item, body)
        assert np.allclose(origins[0, frame], T[:3, 3], atol=1e-9) and np.allclose(turns[0, frame], T[:3, :3], atol=1e-9)


@pytest.mark.parametrize("reference", ["unit.drawer_top", "microwave.door"])
def test_handles_openings_and_how_they_move(reference: str) -> None:
    world = started(p("open", reference))
    item, joint = reference.split(".")
    info, handle = world.assets[item].joints[joint], world.assets[item].affordances.handle(joint)

    def at(fraction: float) -> dict[str, float]:
        world.data.qpos[world.joint_qpos[reference]] = info.closed + fraction * (info.open - info.closed)
        mujoco.mj_forward(world.model, world.data)
        return seen(world)

    for fraction in (0.0, 0.4, 1.0):
        here, there = at(fraction), at(fraction + 1e-3)
        slope = (vector(there, "arm0/slot0/handle") - vector(here, "arm0/slot0/handle")) / 1e-3
        assert np.allclose(vector(here, "arm0/slot0/handle_pull"), slope, atol=2e-3)
        assert here["slot0/opening"] == pytest.approx(fraction, abs=1e-6)
        assert here["slot0/opening_left"] == pytest.approx(max(0.6 - fraction, 0.0), abs=1e-6)
    T = np.linalg.inv(world.tcp()) @ world.item_pose(item, handle.body)
    assert np.allclose(vector(there, "arm0/slot0/handle"), T[:3, :3] @ handle.center + T[:3, 3], atol=1e-6)
    assert np.allclose(vector(there, "arm0/slot0/handle_outward"), T[:3, :3] @ handle.outward, atol=1e-6)
    assert (there["slot0/slides"], there["slot0/turns"]) == ((1, 0) if item == "unit" else (0, 1))


def test_things_and_spots_are_seen_from_the_tool() -> None:
    world = started(IN_BASKET)
    features = seen(world)
    T = np.linalg.inv(world.tcp())

    def from_tool(point: np.ndarray) -> np.ndarray:
        return T[:3, :3] @ point + T[:3, 3]

    low, high = (np.array(v) for v in world.assets["block"].extents)
    block, floor = world.item_pose("block"), world.cavity("basket")[1]
    middle = block[:3, :3] @ (0.5 * (low + high)) + block[:3, 3]
    spot = floor[:3, 3] + 0.5 * (high - low)[2] * floor[:3, 2]
    assert np.allclose(vector(features, "arm0/slot0/position"), from_tool(middle), atol=1e-6)
    assert np.allclose(vector(features, "arm0/slot0/spot"), from_tool(spot), atol=1e-6)
    assert np.allclose(vector(features, "arm0/slot0/spot_off"), T[:3, :3] @ (spot - middle), atol=1e-6)
    assert np.allclose(vector(features, "arm0/up"), T[:3, 2], atol=1e-6)
    assert features["arm0/height"] == pytest.approx(world.tcp()[2, 3] - TABLE, abs=1e-6)
    assert np.allclose(vector(features, "slot0/size"), high - low, atol=1e-6)


def test_a_closing_hand_and_a_tool_behind_its_command_are_told() -> None:
    world = started(IN_BASKET)
    before = seen(world)
    assert np.abs(vector(before, "arm0/lag")).max() < 2e-3 and before["arm0/gripper_commanded"] == 0.0
    world.command = world.command.copy()
    world.command[-1] = 0.8
    world.command[:7] += 0.02
    after = seen(world)
    assert after["arm0/gripper_commanded"] == pytest.approx(0.8)
    assert after["arm0/gripper_lag"] == pytest.approx(0.8 - after["arm0/gripper"], abs=1e-6)
    pose = ActionSpace(world.robot, "ee_pose").encode(world.command[None], world.command)[0]
    assert np.linalg.norm(vector(after, "arm0/lag")) == pytest.approx(
        float(np.linalg.norm(pose[:3] + np.array([0, 0, TABLE]) - world.tcp()[:3, 3])), abs=1e-3
    )


# ---------------------------------------------------------------------- what is the same looks the same


@pytest.mark.parametrize("robot", ["panda", "panda_mobile"])
def test_a_scene_moved_and_turned_with_its_robot_looks_the_same(robot: str) -> None:
    scenario = kitchen(IN_DRAWER, randomization=STILL)
    height = TABLE if robot == "panda" else 0.0
    scenario = scenario.model_copy(update={"embodiment": EmbodimentSpec(name=robot, base=Pose.planar(0.0, 0.0, height))})

    def moved(x: float, y: float, yaw: float) -> Scenario:
        def along(pose: Pose | None) -> Pose:
            assert pose is not None
            px, py, pz = pose.position
            c, s = math.cos(yaw), math.sin(yaw)
            return Pose.planar(x + c * px - s * py, y + s * px + c * py, pz, pose.yaw + yaw)

        items = tuple(i if i.parent else i.model_copy(update={"pose": along(i.pose)}) for i in scenario.scene.items)
        base = EmbodimentSpec(name=robot, base=along(scenario.embodiment.base))
        return scenario.model_copy(
            update={"scene": scenario.scene.model_copy(update={"items": items, "cameras": ()}), "embodiment": base}
        )

    looks = []
    for place in ((0.0, 0.0, 0.0), (1.3, -0.7, 2.1)):
        world = World(moved(*place))
        world.reset(np.random.default_rng(0))
        target = world.command.copy()
        target[-8:-1] += 0.05
        for _ in range(5):
            world.step(target)
        looks.append(seen(world))
    assert looks[0].keys() == looks[1].keys()
    for name, value in looks[0].items():
        assert looks[1][name] == pytest.approx(value, abs=2e-4), name


@pytest.mark.parametrize(
    ("item", "turn", "same"),
    [
        ("can", 0.7, True), ("can", 2.9, True), ("block", math.pi / 2, True), ("block", 0.4, False), ("mug", math.pi, False),
        ("basket", math.pi, True), ("basket", math.pi / 2, False), ("apple", 1.1, True),
    ],
)  # fmt: skip
def test_turns_about_the_axis_are_folded_by_symmetry(item: str, turn: float, same: bool) -> None:
    world = started(p("upright", item))
    position = np.array([0.5, 0.1, 0.9])
    put(world, item, position, 0.3)
    before = seen(world)
    put(world, item, position, 0.3 + turn)
    after = seen(world)
    assert all(after[name] == pytest.approx(before[name], abs=1e-5) for name in before) == same


def test_unnamed_things_that_change_places_look_the_same() -> None:
    world = started(IN_BASKET)
    near, far = np.array([0.45, -0.3, TABLE]), np.array([0.6, 0.3, TABLE])
    put(world, "block2", near, 0.0)
    put(world, "apple", far, 0.0)
    before = seen(world, others=3)
    names = [name for name in before if "/other" in name]
    assert sum(before[name] for name in names if name.endswith("present")) == 3
    put(world, "block2", far, 0.0)
    put(world, "apple", near, 0.0)
    after = seen(world, others=3)
    assert [n for n in before if "/other" not in n and before[n] != pytest.approx(after[n], abs=1e-9)] == []
    sizes = {k: vector(after, f"arm0/other{k}/size") for k in range(3)}
    apple = world.assets["apple"].size
    k = min(range(3), key=lambda k: float(np.abs(sizes[k] - apple).sum()))
    low, high = world.assets["apple"].extents
    T = np.linalg.inv(world.tcp())
    assert np.allclose(
        vector(after, f"arm0/other{k}/position"), T[:3, :3] @ (near + 0.5 * np.add(low, high)) + T[:3, 3], atol=1e-6
    )
    distances = [float(np.linalg.norm(vector(after, f"arm0/other{j}/position"))) for j in range(3)]
    assert distances == sorted(distances)


def test_equal_things_that_change_places_and_names_look_the_same() -> None:
    """Two blocks of one kind, of which the goal names the one and then the other: nothing but roles is told."""
    world = started(p("inside", "block", "basket"))
    here, there = np.array([0.45, -0.3, TABLE]), np.array([0.5, -0.1, TABLE])
    put(world, "block", here, 0.2)
    put(world, "block2", there, 0.5)
    one = seen(world)
    put(world, "block2", here, 0.2)
    put(world, "block", there, 0.5)
    other = seen(world, p("inside", "block2", "basket"))
    for name, value in one.items():
        assert other[name] == pytest.approx(value, abs=1e-6), name


@pytest.mark.parametrize(
    ("category", "turns"),
    [("can", 0), ("block", 4), ("box", 2), ("mug", 1), ("book", 2), ("bowl", 0), ("lemon", 2), ("banana", 1)],
)
def test_the_order_of_symmetry_is_found_from_the_shape(category: str, turns: int) -> None:
    item = Item(id="thing", asset=AssetSpec(category=category), pose=Pose.planar(1.0, 1.0))
    scenario = Scenario(
        scene=SceneSpec(items=(item,)),
        task=TaskSpec(goal=p("upright", "thing")),
        embodiment=EmbodimentSpec(base=Pose()),
    )
    assert order(Probe(World(scenario)).shape("thing")) == turns


def test_folding_tells_the_least_turn() -> None:
    angles = np.linspace(-3.0, 3.0, 25)
    along = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    for turns in (1, 2, 4):
        told = folded(along, np.full(25, turns))
        assert np.abs(told[:, 0]).max() <= math.pi / turns + 1e-9
        assert np.allclose(np.sin(turns * (told[:, 0] - angles)), 0.0, atol=1e-9)
        assert np.allclose(told[:, 1:], np.stack([np.cos(turns * angles), np.sin(turns * angles)], axis=1), atol=1e-9)
    assert not folded(along, np.zeros(25, dtype=int)).any()


# ---------------------------------------------------------------------- roles and stages


def test_slots_are_filled_in_the_order_of_the_goal() -> None:
    world = started(All(goals=(p("on", "block", "block2"), p("on", "block2", "table"))))
    features = seen(world)
    flags = [[features[f"slot{k}/{flag}"] for flag in ("present", "subject", "support", "spot")] for k in range(4)]
    assert flags == [[1, 1, 0, 1], [1, 1, 1, 1], [1, 0, 1, 0], [0, 0, 0, 0]]
    assert [features[f"slot{k}/size_x"] for k in range(3)] == pytest.approx(
        [0.045, 0.045, world.assets["table"].size[0]], abs=1e-6
    )


def test_a_drawer_is_one_thing_that_holds_and_is_shut() -> None:
    world = started(IN_DRAWER)
    features = seen(world)
    told = ("container", "articulated", "handle", "opening_asked", "does/closed", "does/inside")
    assert [features[f"slot1/{name}"] for name in told] == [1, 1, 1, 1, 1, 0]
    assert features["slot2/present"] == 0 and features["slot0/does/inside"] == 1
    assert features["does/closed"] == features["does/inside"] == 1


def test_what_is_to_be_false_says_so() -> None:
    features = seen(started(Not(goal=p("inside", "mug", "unit.drawer_top"))))
    assert features["does/inside"] == features["slot0/does/inside"] == -1 and features["slot0/undone"] == 1


@pytest.mark.parametrize(
    "goal",
    [
        p("left_of", "block", "mug"), p("between", "block", "mug", "apple"), p("near", "block", "mug"), p("grasped", "block"),
        p("at", "block", x=0.5, y=0.1, z=TABLE), p("lifted", "block", height=0.1), p("on", "block", "shelf"),
        p("inside", "block", "microwave"),
    ],
)  # fmt: skip
def test_a_thing_at_its_spot_is_where_the_goal_wants_it(goal: Goal) -> None:
    """The spot of a goal, taken as where the thing is, is one from which the goal is nearly or truly reached."""
    world = started(goal)
    features = seen(world)
    assert features["slot0/spot"] == 1
    T = world.tcp()
    off = T[:3, :3] @ vector(features, "arm0/slot0/spot_off")
    assert np.linalg.norm(off) > 0.05
    put(world, "block", world.item_pose("block")[:3, 3] + off, 0.0)
    assert np.abs(vector(seen(world), "arm0/slot0/spot_off")).max() < 1e-5
    assert goal.kind == "predicate"
    if goal.name not in ("grasped", "between", "near"):  # these are about a hand, or their spot is taken
        assert predicate(goal.name).margin(world, goal.args, goal.params) > -0.011


def _on_table(goal: Goal, *things: tuple[str, str]) -> World:
    """A world of a table with things (category, parent) in a row, each called as its category."""
    table = Item(id="table", asset=AssetSpec(category="table"), pose=Pose.planar(0.6, 0.0), fixed=True)
    items = [
        Item(
            id=category, asset=AssetSpec(category=category), parent=parent, fixed=category == "knob",
            relation="on" if parent == "table" else "inside", pose=Pose.planar(0.0, 0.3 * k if parent == "table" else 0.0),
        )
        for k, (category, parent) in enumerate(things)
    ]  # fmt: skip
    scenario = Scenario(
        scene=SceneSpec(items=(table, *items)),
        task=TaskSpec(goal=goal),
        embodiment=EmbodimentSpec(base=Pose.planar(0.0, 0.0, TABLE)),
        randomization=STILL,
    )
    world = World(scenario)
    world.reset(np.random.default_rng(0))
    return world


def test_a_knob_is_held_and_turned() -> None:
    features = seen(_on_table(p("turned", "knob.knob", angle=1.3), ("knob", "table")))
    assert [features[f"slot0/{name}"] for name in ("articulated", "turns", "handle", "knob")] == [1, 1, 1, 1]
    assert np.abs(vector(features, "arm0/slot0/handle_pull")).max() < 1e-6  # its middle stays where it is
    assert 0 < features["slot0/opening_left"] <= 1


@pytest.mark.parametrize(("goal", "container"), [(p("poured", "water", "bowl"), 1), (p("filled", "bowl"), 0)])
def test_what_holds_a_liquid_is_told_with_it(goal: Goal, container: int) -> None:
    features = seen(_on_table(goal, ("cup", "table"), ("bowl", "table"), ("water", "cup")))
    assert features[f"slot{container}/container"] == 1
    holder = container + 1
    assert features[f"slot{holder}/reference"] == features[f"slot{holder}/active"] == 1
    assert features[f"slot{holder + 1}/present"] == 0
    assert np.linalg.norm(vector(features, f"arm0/slot{holder}/position") - vector(features, "arm0/slot0/position")) > 0


def test_cloth_is_told_by_its_root() -> None:
    features = seen(_on_table(p("covers", "towel", "box"), ("towel", "table"), ("box", "table")))
    assert features["slot0/subject"] == features["slot1/reference"] == features["slot0/spot"] == 1
    assert all(math.isfinite(value) for value in features.values())


def test_stages_are_counted_the_same_from_a_recording_as_live() -> None:
    world, recording = demonstrated()
    encoder = Encoder(world.scenario, ObservationConfig.covering([world.scenario]), world=world)
    session = Session(world, attempt=recording.attempt)
    session.reset(np.random.default_rng(recording.attempt))
    stages, rows = [encoder.stages.now(session.monitor)], []
    for action in recording.actions:
        rows.append(encoder.encode(world.observe()[None], world.command[None], np.array(stages[-1:]))[0])
        session.step(action)
        stages.append(encoder.stages.now(session.monitor))
    assert np.array_equal(encoder.stages.along(recording), stages) and stages[0] == 0 and stages[-1] == 1
    assert np.array_equal(encoder.encode_recording(recording), np.array(rows))
    beside = FIRST_THEN.model_copy(update={"goals": (FIRST_THEN.goals[0], IN_BASKET)})
    task = world.scenario.task.model_copy(update={"goal": All(goals=(beside, p("unmoved", "block2")))})
    assert np.array_equal(Stages(task).along(recording), stages)


def test_the_stage_decides_which_things_come_first() -> None:
    world = started(Sequence(goals=(p("on", "block", "block2"), All(goals=(p("on", "block", "block2"), IN_BASKET)))))
    first, second = seen(world), seen(world, stage=1)
    assert first["stages_left"] == second["stage"] == 1 and first["does/inside"] == 0 and second["does/inside"] == 1
    assert first["slot0/does/on"] == 1 and second["slot0/does/inside"] == 1
    assert first["slot2/active"] == 0 and first["slot2/container"] == 1 and second["slot1/container"] == 1


# ---------------------------------------------------------------------- many rows, episodes, refusals


def test_a_row_has_the_same_bits_in_any_company() -> None:
    world, recording = demonstrated()
    encoder = Encoder(world.scenario, ObservationConfig.covering([world.scenario]), world=world)
    observed = np.concatenate(list(recording.observations.values()), axis=1)
    commands, stages = encoder.commands(recording), encoder.stages.along(recording)
    together = encoder.encode(observed, commands, stages)
    assert together.shape == (len(observed), len(encoder.names)) and np.isfinite(together).all()
    for n in (1, 7, 64, 100):
        rows = slice(11, 11 + n)
        assert np.array_equal(encoder.encode(observed[rows], commands[rows], stages[rows]), together[rows])


def test_an_episode_decoded_step_by_step_leads_the_tool_along_the_same_path() -> None:
    world, recording = demonstrated()
    encoder = Encoder(world.scenario, ObservationConfig.covering([world.scenario]), world=world)
    space = ActionSpace(world.robot, default_space(vehicle=False), world.control_dt)
    episode = encode_episode(encoder, space, recording)
    assert episode.features.shape == (recording.length, encoder.size) and episode.actions.shape == (recording.length, 7)
    assert episode.features.dtype == episode.actions.dtype == np.float32
    current, poses = encoder.commands(recording)[0], ActionSpace(world.robot, "ee_pose")
    decoded = []
    for action in episode.actions.astype(np.float64):
        current = space.decode_many(action[None], current[None])[0]
        decoded.append(current)
    start = encoder.commands(recording)[0]
    off = poses.encode(np.array(decoded), start) - poses.encode(recording.actions, start)
    assert np.abs(off[:, :3]).max() < 1e-5 and np.abs(off[:, 3:7]).max() < 1e-5


def test_an_episode_falls_into_stretches_between_what_is_not_to_be_imitated() -> None:
    world, recording = demonstrated()
    encoder = Encoder(world.scenario, ObservationConfig.covering([world.scenario]), world=world)
    space = ActionSpace(world.robot, default_space(vehicle=False), world.control_dt)
    episode, end = encode_episode(encoder, space, recording), recording.length
    busy = np.flatnonzero(~idle(recording, encoder.commands(recording)))
    labels = ["policy"] * 20 + [*recording.labels[20:30], *["pushed"] * 3, *recording.labels[33:]]
    parts = encode_stretches(encoder, space, replace(recording, labels=tuple(labels)), ("policy", "pushed"))
    for part, (since, until), whole in zip(parts, ((20, 30), (33, end)), (False, True), strict=True):
        rows = busy[(busy >= since) & (busy < until)]
        assert np.array_equal(part.features, episode.features[rows]) and np.array_equal(part.actions, episode.actions[rows])
        assert part.whole is whole
    (same,) = encode_stretches(encoder, space, recording, ("policy", "pushed"))
    assert same.whole and np.array_equal(same.actions, episode.actions[busy])
    assert encode_stretches(encoder, space, replace(recording, labels=("policy",) * end), ("policy",)) == []


def test_waiting_is_no_lesson_but_a_hand_that_closes_is() -> None:
    """Many moments only wait for the arm to arrive or for the goal to be held; while fingers move, or what
    the goal measures does, a command that stays as it is means something."""
    world, recording = demonstrated()
    encoder = Encoder(world.scenario, ObservationConfig.covering([world.scenario]), world=world)
    commands = encoder.commands(recording)
    still = idle(recording, commands)
    moved = np.abs(np.diff(recording.observations["tcp_pose"][:, :3], axis=0)).max(axis=1)
    closing = np.abs(np.diff(recording.observations["gripper"][:, 0]))
    assert 0.05 < still.mean() < 0.4
    assert closing[still].max() < 0.03 and moved[still].max() < 0.01 < moved.max()
    assert still[-world.scenario.task.hold_steps + 3 :].all(), "the goal is only held"
    flowing = replace(recording, predicate_margins=recording.predicate_margins + 0.01 * np.arange(recording.length + 1)[:, None])
    assert not idle(flowing, commands).any(), "something goes on that the goal measures"


def test_six_joints_come_back_from_an_episode() -> None:
    robot = embodiments.get("ur5e")
    space = ActionSpace(robot, "ee_delta")
    start = np.array([*robot.arm.home, 0.0])
    path = start + np.cumsum(np.random.default_rng(0).normal(0, 0.01, (200, 7)), axis=0) * (1, 1, 1, 1, 1, 1, 0)
    current = start
    for action, wanted in zip(space.encode(path, start).astype(np.float32), path, strict=True):
        current = space.decode_many(action.astype(np.float64)[None], current[None])[0]
        assert np.abs(current - wanted).max() < 1e-4


def test_two_arms_see_each_other_and_the_scene_from_both() -> None:
    items = (
        Item(id="table", asset=AssetSpec(category="table"), pose=Pose.planar(0.0, 0.0), fixed=True),
        Item(id="block", asset=AssetSpec(category="block"), parent="table", pose=Pose.planar(0.0, 0.1)),
    )
    scenario = Scenario(
        scene=SceneSpec(items=items),
        task=TaskSpec(goal=p("in_right_hand", "block")),
        embodiment=EmbodimentSpec(name="aloha", base=Pose.planar(0.0, 0.0, TABLE)),
        randomization=STILL,
    )
    world = World(scenario)
    world.reset(np.random.default_rng(0))
    features = seen(world)
    T = np.linalg.inv(world.tcp(0)) @ world.tcp(1)
    assert np.allclose(vector(features, "arm0/tool0/position"), T[:3, 3], atol=1e-6)
    back = np.linalg.inv(T)
    assert np.allclose(vector(features, "arm1/tool0/position"), back[:3, 3], atol=1e-6)
    assert np.allclose(vector(features, "arm1/tool0/approach"), back[:3, 2], atol=1e-6)
    here, there = (vector(features, f"arm{k}/slot0/position") for k in (0, 1))
    assert np.allclose(back[:3, :3] @ here + back[:3, 3], there, atol=1e-5)
    one = seen(world, arms=1)
    assert all(features[name] == value for name, value in one.items() if name in features)
    assert not any(name.startswith("arm1/") for name in one)


def test_what_is_not_there_is_zero_and_the_size_depends_on_the_configuration_alone() -> None:
    world = started(IN_BASKET)
    wide = ObservationConfig(
        slots=6, others=8, predicates=("inside", "on", "open"), robots=("aloha", "panda", "panda_mobile"), arms=2, vehicle=True
    )
    encoder = Encoder(world.scenario, wide, world=world)
    features = encoder.encode(world.observe()[None], world.command[None], np.array([0]))[0]
    assert encoder.names == wide.names and len(set(wide.names)) == len(wide.names) == len(features)
    told = dict(zip(wide.names, features.tolist(), strict=True))
    absent = [v for name, v in told.items() if name.startswith(("arm1/", "slot5/", "arm0/base/", "arm0/tool0/", "arm0/slot5/"))]
    assert absent and not any(absent)
    assert told["robot/panda"] == 1 and told["robot/aloha"] == 0
    assert sum(told[f"arm0/other{k}/present"] for k in range(8)) == 4  # block2, mug, apple and can


def test_strangers_are_refused() -> None:
    world = started(IN_BASKET)
    with pytest.raises(UsageError, match=r"predicate 'inside' is not among(.|\n)*robot 'panda' is not among(.|\n)*covering"):
        Encoder(world.scenario, ObservationConfig(predicates=("on",), robots=("ur5e",)), world=world)
    senseless = world.scenario.model_copy(update={"task": TaskSpec(goal=p("on", "block", "mug"))})
    with pytest.raises(UsageError, match="goal makes no sense"):
        Encoder(senseless, ObservationConfig.covering([senseless]), world=world)
    _, recording = demonstrated()
    other = started(p("upright", "can"))
    config = ObservationConfig.covering([other.scenario])
    observations = {name: rows for name, rows in recording.observations.items() if name != "items/can"}
    broken = Recording(**{**recording.__dict__, "observations": observations})
    with pytest.raises(UsageError, match=r"another scenario: \['items/can'\] differ"):
        Encoder(other.scenario, config, world=other).encode_recording(broken)
