"""Clearing the way: what keeps a door or a drawer from moving is found, and put where it does so no more."""

from __future__ import annotations

from dataclasses import replace

import mujoco
import numpy as np
import pytest
from forge_scenes import draft, item, says
from task_worlds import DEEP, TABLE, Bench, bench, p

from embodiedsmith.motion import MotionError, demonstrate, symbolic
from embodiedsmith.motion.clearing import SPARE, USED, blockers, solids, sweep
from embodiedsmith.motion.grasping import FINGER_ROOM
from embodiedsmith.spec import All, Goal, Item, Pose, Scenario
from embodiedsmith.tasks import Recording, Session, predicate
from embodiedsmith.world import World

DOOR, DRAWER = "microwave.door", "unit.drawer_top"
FREE = ("basket", "mug", "block", "block2", "apple", "can")


@pytest.fixture
def kitchen() -> Bench:
    made = bench()
    made.reset()
    made.put("basket", (0.78, -0.3, TABLE))  # out of the drawers' way
    return made


def oven(goal: Goal, *things: Item) -> Scenario:
    """A microwave on a deep table before a Panda, and things about it."""
    furniture = [
        item("table", params={"depth": 1.0, "width": 2.0}, pose=Pose.planar(0.7, 0.0, 0.0, np.pi)),
        item("microwave", "table", pose=Pose.planar(-0.07, 0.0)),
    ]
    return draft([*furniture, *things], goal, base=Pose.planar(0.0, 0.0, TABLE), position=0.0, yaw=0.0)


def before(name: str, x: float = 0.3, y: float = 0.0, **changes: object) -> Item:
    """On the table, by default right before the microwave."""
    return item(name, "table", pose=Pose.planar(x, y), **changes)


def started(scenario: Scenario) -> World:
    world = World(scenario)
    world.reset(np.random.default_rng(0))
    return world


def steps(scenario: Scenario) -> list[str]:
    return [str(step) for step in symbolic.plan(started(scenario), scenario.task.goal)]


# ------------------------------------------------------------------ what is in the way


def hits(made: Bench, part: str, other: str) -> bool:
    """Whether a part touches an item anywhere on its way, by MuJoCo's own contacts."""
    world = made.world
    owner, name = part.split(".")
    joint = world.assets[owner].joints[name]
    data = mujoco.MjData(world.model)
    data.qpos[:] = world.data.qpos
    for fraction in np.linspace(0.0, USED, 60):
        data.qpos[world.joint_qpos[part]] = joint.closed + fraction * (joint.open - joint.closed)
        mujoco.mj_kinematics(world.model, data)
        mujoco.mj_collision(world.model, data)
        pairs = {frozenset(world.owners[k] for k in pair) for pair in world.geom_owner[data.contact.geom][data.contact.dist < 0]}
        if frozenset((owner, other)) in pairs:
            return True
    return False


def test_whatever_a_part_would_touch_is_in_its_way(kitchen: Bench) -> None:
    rng = np.random.default_rng(0)
    touched = 0
    for name in ("apple", "block", "basket", "mug"):
        for _ in range(12):
            x, y = rng.uniform((0.45, -0.25), (1.0, 0.2))
            kitchen.put(name, (float(x), float(y), TABLE - DEEP))
            if hits(kitchen, "unit.drawer_bottom", name):
                touched += 1
                assert name in blockers(kitchen.world, "unit.drawer_bottom", FREE), (name, x, y)
        kitchen.reset()
    assert touched > 8


def test_what_stands_aside_above_or_beyond_is_not_in_the_way(kitchen: Bench) -> None:
    assert blockers(kitchen.world, DRAWER, FREE) == () == blockers(kitchen.world, DOOR, FREE)
    kitchen.put("apple", (0.75, 0.12, TABLE - DEEP))  # the upper drawer and the hand at it pass over it
    assert blockers(kitchen.world, "unit.drawer_bottom", FREE) == ("apple",)
    assert blockers(kitchen.world, DRAWER, FREE) == ()
    kitchen.put("apple", (0.75, 0.38, kitchen.world.corners("unit")[:, 2].max()))
    assert blockers(kitchen.world, "unit.drawer_bottom", FREE) == ()


def test_a_hand_needs_room_beyond_the_part(kitchen: Bench) -> None:
    swept = sweep(kitchen.world, "unit.drawer_bottom", USED)
    edge = min(float(s.low[1]) for s in swept.moving.solids)
    kitchen.put("block", (0.75, edge - 0.06, TABLE - DEEP))
    there = solids(kitchen.world, "block")
    assert not swept.moving.meets(there, 0.0) and swept.hand.meets(there, 0.0)
    assert blockers(kitchen.world, "unit.drawer_bottom", FREE) == ("block",)


def test_what_comes_along_with_a_part_is_not_in_its_way(kitchen: Bench) -> None:
    x, y, z = kitchen.world.cavity(DRAWER)[1][:3, 3]
    kitchen.put("apple", (x, y, z - DEEP))
    assert [str(s) for s in symbolic.plan(kitchen.world, p("open", DRAWER))] == [f"open({DRAWER})"]


# ------------------------------------------------------------------ plans


def test_everything_in_the_way_is_put_elsewhere_first() -> None:
    scenario = oven(says("open", DOOR), before("bowl"), before("can", 0.2, 0.12), before("apple", 0.3, 0.7))
    planned = steps(scenario)
    assert {s for s in planned if s.startswith("pick")} == {"pick(bowl, table.top)", "pick(can, table.top)"}
    assert planned[-1] == f"open({DOOR})" and len(planned) == 5


def test_what_lies_in_a_thing_in_the_way_goes_with_it() -> None:
    scenario = oven(says("open", DOOR), before("basket"), item("apple", "basket", relation="inside", pose=Pose()))
    assert steps(scenario) == ["pick(basket, table.top)", "place(basket, table.top)", f"open({DOOR})"]


def test_an_open_door_is_shut_once_its_way_is_clear() -> None:
    scenario = oven(says("closed", DOOR), before("bowl", 0.3, -0.1))
    opened = scenario.scene.item("microwave").model_copy(update={"joints": {"door": 0.9}})
    scenario = scenario.model_copy(update={"scene": scenario.scene.with_item(opened)})
    assert steps(scenario) == ["pick(bowl, table.top)", "place(bowl, table.top)", f"close({DOOR})"]


def test_what_is_to_stand_before_a_door_is_put_there_when_it_has_moved() -> None:
    scenario = oven(All(goals=(says("open", DOOR), says("in_front_of", "bowl", "microwave"))), before("bowl"))
    planned = steps(scenario)
    assert planned.index(f"open({DOOR})") > planned.index("place(bowl, table.top)")
    assert planned[-1] == "place_beside(bowl, microwave, in_front_of)"


def test_what_must_stay_is_named_when_it_is_in_the_way() -> None:
    goal = All(goals=(says("open", DOOR), says("unmoved", "bowl")))
    with pytest.raises(MotionError, match="bowl would have to be moved") as caught:
        steps(oven(goal, before("bowl")))
    assert caught.value.code == "plan.in_the_way" and caught.value.subjects == ("bowl",)


@pytest.mark.parametrize("width", [0.2, None])
def test_what_no_hand_takes_is_named_when_it_is_in_the_way(width: float | None) -> None:
    scenario = oven(says("open", DOOR), before("bowl"))
    world = started(scenario)
    known = world.assets["bowl"].affordances
    grasps = () if width is None else tuple(replace(grasp, width=width) for grasp in known.grasps)
    world.assets["bowl"] = replace(world.assets["bowl"], affordances=replace(known, grasps=grasps))
    with pytest.raises(MotionError, match=r"bowl is in the way of microwave\.door and no hand takes it from there") as caught:
        symbolic.plan(world, scenario.task.goal)
    assert caught.value.code == "plan.in_the_way" and caught.value.subjects == ("bowl", DOOR)
    assert (caught.value.value, caught.value.limit) == ((None, None) if width is None else (width, 0.08 - FINGER_ROOM))


# ------------------------------------------------------------------ in physics


def shown(scenario: Scenario) -> Recording:
    """One demonstration: the first of two attempts that succeeds."""
    for attempt in range(2):
        recording = demonstrate(Session(World(scenario), attempt=attempt), np.random.default_rng(attempt))
        if recording.outcome == "success":
            break
    return recording


@pytest.mark.parametrize("thing", ["bowl", "box"])
def test_a_door_is_opened_once_its_way_is_clear(thing: str) -> None:
    scenario = oven(says("open", DOOR), before(thing), before("mug", 0.2, 0.5))
    recording = shown(scenario)
    assert recording.outcome == "success", recording.failure
    done = [e.text for e in recording.events if e.kind == "skill_done"]
    assert done == [f"pick({thing}, table.top)", f"place({thing}, table.top)", f"open({DOOR})"]
    world = started(scenario)
    world.restore(recording.states[-1])
    assert not sweep(world, DOOR).meets(solids(world, thing), SPARE / 2, SPARE / 2)


def test_what_lies_in_a_thing_is_carried_out_of_the_way_with_it() -> None:
    scenario = oven(says("open", DOOR), before("box"), item("apple", "box", relation="inside", pose=Pose()))
    recording = shown(scenario)
    assert recording.outcome == "success", recording.failure
    world = started(scenario)
    start = world.item_pose("box")[:3, 3].copy()
    world.restore(recording.states[-1])
    assert np.linalg.norm(world.item_pose("box")[:3, 3] - start) > 0.2
    assert predicate("inside").margin(world, ("apple", "box")) > 0


def test_nothing_is_put_down_where_a_drawer_is_still_to_come_out() -> None:
    goal = All(goals=(says("on", "apple", "table"), says("open", "drawer_unit.drawer_bottom")))
    things = [
        item("table", pose=Pose.planar(0.575, 0.0, 0.0, np.pi)),
        item("drawer_unit", "table", pose=Pose.planar(-0.15, 0.0)),
        item("plate", "table", pose=Pose.planar(0.2, 0.45)),
        item("apple", "plate", pose=Pose()),
    ]
    scenario = draft(things, goal, base=Pose.planar(0.0, 0.0, TABLE), position=0.0, yaw=0.0)
    recording = shown(scenario)
    assert recording.outcome == "success", recording.failure
    world = started(scenario)
    world.restore(recording.states[-1])
    assert not sweep(world, "drawer_unit.drawer_bottom").meets(solids(world, "apple"), SPARE / 2, SPARE / 2)
