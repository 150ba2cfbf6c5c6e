"""Things put down among others, in physics: on a side, between, near; what must stay stays; failures name what stands there."""

from __future__ import annotations

import math
from functools import cache

import mujoco
import numpy as np
import pytest
from forge_scenes import draft, item, says
from task_worlds import BLOCK_GRIP, STILL, Bench, bench, p
from task_worlds import kitchen as furnish

from embodiedsmith.forge.layout import layout
from embodiedsmith.motion import MotionError, Step, arranging, demonstrate
from embodiedsmith.motion.collision import Hit
from embodiedsmith.motion.controller import Controller
from embodiedsmith.motion.grasping import Tally
from embodiedsmith.motion.placing import Load
from embodiedsmith.motion.skills import skills
from embodiedsmith.spec import All, Goal, Predicate, Scenario, Sequence
from embodiedsmith.tasks import Recording, Session, predicate
from embodiedsmith.world import World
from embodiedsmith.world import transforms as tf

TABLE = 0.74


def on_table(goal: Goal, *names: str) -> Scenario:
    """The first scene in which the goal does not hold already."""
    made = draft([item("table"), *(item(name, "table") for name in names)], goal)
    for seed in range(10):
        scenario = layout(made, np.random.default_rng(seed))
        if Session(World(scenario)).reset(np.random.default_rng(0)) < 0:
            return scenario
    raise AssertionError("the goal always holds by chance")


def shown(scenario: Scenario) -> Recording:
    """One demonstration: the first of two attempts that succeeds."""
    for attempt in range(2):
        recording = demonstrate(Session(World(scenario), attempt=attempt), np.random.default_rng(attempt))
        if recording.outcome == "success":
            break
    return recording


def done(recording: Recording) -> list[str]:
    return [e.text for e in recording.events if e.kind == "skill_done"]


LEFT, BEHIND = says("left_of", "mug", "plate"), says("behind", "block", "bowl")
KNIFE = says("right_of", "knife", "plate")
BETWEEN = says("between", "block", "mug", "bowl")
STAYS = All(goals=(says("in_front_of", "apple", "bowl"), says("near", "apple", "bowl"), says("unmoved", "bowl")))


@pytest.mark.parametrize(
    ("goal", "names", "last"),
    [
        (LEFT, ("mug", "plate", "apple"), "place_beside(mug, plate, left_of)"),
        (KNIFE, ("knife", "plate", "spoon"), "place_beside(knife, plate, right_of)"),
        (BEHIND, ("block", "bowl", "can"), "place_beside(block, bowl, behind)"),
        (BETWEEN, ("block", "mug", "bowl"), "place_beside(block, mug, bowl)"),
        (STAYS, ("apple", "bowl", "mug"), "place_beside(apple, bowl, in_front_of)"),
    ],
    ids=["left", "long", "behind", "between", "stays"],
)
def test_things_are_put_among_others(goal: Goal, names: tuple[str, ...], last: str) -> None:
    recording = shown(on_table(goal, *names))
    assert recording.outcome == "success", recording.failure
    assert recording.margins[-1] > 0.005
    assert done(recording)[-1] == last


def test_a_row_is_laid_one_after_the_other() -> None:
    goal = All(goals=(says("left_of", "spoon", "plate"), says("left_of", "cup", "spoon")))
    recording = shown(on_table(goal, "plate", "spoon", "cup"))
    assert recording.outcome == "success", recording.failure


def test_each_stage_of_a_sequence_has_its_own_relation() -> None:
    first, second = says("left_of", "block", "bowl"), says("right_of", "block", "bowl")
    recording = shown(on_table(Sequence(goals=(first, second, first)), "block", "bowl"))
    assert recording.outcome == "success", recording.failure
    steps = [text for text in done(recording) if text.startswith("place")]
    assert steps[-2:] == ["place_beside(block, bowl, right_of)", "place_beside(block, bowl, left_of)"]


# ------------------------------------------------------------------ spots


@cache
def robot() -> Controller:
    """A robot in a still kitchen, asked for all at once: only what it looks at matters."""
    session = Session(World(furnish(p("left_of", "block", "block2"), randomization=STILL)))
    session.reset(np.random.default_rng(0))
    return Controller(session, np.random.default_rng(0))


def spots(control: Controller, *relations: Predicate) -> list[tf.Float]:
    item = relations[0].args[0]
    T = control.world.item_pose(item)
    return [spot.T_world_item for spot in arranging.spots(control, Load(item, T, np.eye(4), 0.5), relations)]


@pytest.mark.parametrize(
    "relations",
    [
        (p("left_of", "mug", "block2"),),
        (p("right_of", "block", "basket"),),
        (p("near", "apple", "mug"),),
        (p("near", "apple", "mug", distance=0.03),),
        (p("between", "block", "mug", "block2"),),
        (p("left_of", "block", "block2"), p("near", "block", "mug")),
    ],
)  # fmt: skip
def test_all_relations_hold_at_every_spot_and_nothing_has_moved(relations: tuple[Predicate, ...]) -> None:
    made: Bench = bench()
    made.reset()
    control = robot()
    world = control.world
    before = world.save()
    found = spots(control, *relations)
    assert found and np.array_equal(world.save(), before)
    rows = np.array([world.item_pose(name) for name in world.items])
    for T in found:
        made.put(relations[0].args[0], tuple(T[:3, 3]), tuple(tf.quaternion(T[:3, :3])))
        for relation in relations:
            assert made.margin(relation.name, *relation.args, **relation.params) > arranging.SURE - 1e-6
    assert np.array_equal(rows, np.array([world.item_pose(name) for name in world.items]))


def test_between_things_that_touch_there_is_no_room() -> None:
    control = robot()
    world = control.world
    x, y, z = world.item_pose("block2")[:3, 3]
    start = world.data.qpos.copy()
    at = world.items["mug"].qpos
    world.data.qpos[at : at + 3] = x + 0.09, y, z
    try:
        with pytest.raises(MotionError, match=r"no spot for between\(block, block2, mug\): .* cm between them") as caught:
            spots(control, p("between", "block", "block2", "mug"))
    finally:
        world.data.qpos[:] = start
        Session(world).reset(np.random.default_rng(0))
    assert caught.value.code == "place_beside.no_room"
    assert caught.value.subjects == ("block", "block2", "mug")
    assert caught.value.value is not None and caught.value.limit is not None and caught.value.value < caught.value.limit
    assert math.isclose(caught.value.limit, 0.045, abs_tol=1e-6)


def test_nothing_is_put_beside_what_stands_on_the_floor() -> None:
    with pytest.raises(MotionError, match="nothing is put down on the floor"):
        spots(robot(), p("left_of", "block", "can"))


def test_what_was_put_elsewhere_is_a_typed_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    """The hand lets go, and the thing is not where it should be: told from the world, not from what was planned."""
    session = Session(World(on_table(LEFT, "mug", "plate")))
    session.reset(np.random.default_rng(0))
    control = Controller(session, np.random.default_rng(0))
    step = Step("place_beside", ("mug", "plate", "left_of"))
    with pytest.raises(MotionError, match="mug is not in the hand") as caught:
        skills()["place_beside"].run(control, step.args, ())
    assert caught.value.code == "place_beside.empty_hand" and caught.value.subjects == ("mug",)
    skills()["pick"].run(control, ("mug", "table.top"), ())
    monkeypatch.setattr(arranging, "wanted", lambda *_: (says("right_of", "plate", "mug"),))
    monkeypatch.setattr(arranging, "spots", lambda control, load, _: iter(right(control, load)))
    with pytest.raises(MotionError, match=r"right_of\(plate, mug\) is missed by") as caught:
        skills()["place_beside"].run(control, step.args, ())
    assert caught.value.code == "place_beside.effect" and caught.value.value is not None and caught.value.value < 0


def right(control: Controller, load: Load) -> list[arranging.Spot]:
    """Where the mug is to the right of the plate."""
    return list(SPOTS(control, load, (says("right_of", "mug", "plate"),)))


SPOTS = arranging.spots


# ------------------------------------------------------------------ failures that help


def test_failures_name_what_is_handled_first_and_what_is_in_the_way() -> None:
    """A bowl ringed by cans: the failure names the bowl's neighbours, in the scenario's own ids."""
    names = ("block", "can_1", "can_2", "can_3", "can_4")
    scenario = on_table(says("lifted", "block"), *names)
    block = scenario.scene.item("block").pose
    assert block is not None
    ring = [(0.058, 0.0), (-0.058, 0.0), (0.0, 0.058), (0.0, -0.058)]
    x, y, _ = block.position
    posed = {
        name: block.model_copy(update={"position": (x + dx, y + dy, block.position[2])})
        for name, (dx, dy) in zip(names[1:], ring, strict=True)
    }
    posed["block"] = block.model_copy(update={"rotation": (1.0, 0.0, 0.0, 0.0)})
    items = tuple(i.model_copy(update={"pose": posed.get(i.id, i.pose)}) for i in scenario.scene.items)
    crowded = scenario.model_copy(update={"scene": scenario.scene.model_copy(update={"items": items}), "randomization": STILL})
    recording = demonstrate(Session(World(crowded)), np.random.default_rng(0))
    failure = recording.failure
    assert failure is not None and failure.code == "pick.blocked", failure
    assert failure.subjects[0] == "block" and {*failure.subjects[1:]} <= {*names[1:]} and len(failure.subjects) >= 3


@pytest.mark.parametrize(
    ("tally", "code", "subjects", "said"),
    [
        (Tally(), "place.no_spot", ("mug", "bowl.inside"), "no spot for mug"),
        (Tally(tried=3, unreachable=3, nearest=0.04), "place.unreachable", ("mug", "bowl.inside"), "misses by 4.0 cm"),
        (Tally(tried=3, unreachable=1, blocked=2), "place.unreachable", ("mug", "bowl.inside"), "straight way"),
        (Tally(tried=3, blocked=3, blocker=Hit("robot", "can", -0.01)), "place.blocked", ("mug", "can"), "robot against can"),
    ],
    ids=["none", "far", "no line", "blocked"],
)
def test_candidates_turned_down_are_a_typed_failure(tally: Tally, code: str, subjects: tuple[str, ...], said: str) -> None:
    if tally.blocker is not None:
        tally.met(tally.blocker)
    error = tally.error("place", "mug", ("bowl.inside",))
    assert (error.code, error.subjects) == (code, subjects) and said in error.what


def test_what_the_hand_and_what_it_holds_touch_is_known() -> None:
    control = robot()
    world = control.world
    before = world.save()
    T = world.tcp() @ tf.translate((0.0, 0.0, -0.0225))
    x, y, z = (T @ np.array([0.0, 0.0, 0.0, 1.0]))[:3]
    try:
        world.set_robot(world.data, world.home, BLOCK_GRIP)
        for item, rise in (("block", 0.0), ("block2", 0.045 - 1e-4)):
            at = world.items[item].qpos
            world.data.qpos[at : at + 3] = x, y, z - rise
            world.data.qpos[at + 3 : at + 7] = tf.quaternion(T[:3, :3] @ tf.turn((1.0, 0.0, 0.0), math.pi)[:3, :3])
        mujoco.mj_forward(world.model, world.data)
        assert "block" in control.touched()
        control.take("block")
        assert control.touched() == ("block2",)
    finally:
        control.let_go()
        world.restore(before)


def test_a_goal_that_is_missed_after_all_names_its_things() -> None:
    """What stays must stay: a goal that the steps cannot keep fails with the thing that moved."""
    goal = All(goals=(says("left_of", "mug", "plate"), says("unmoved", "mug")))
    recording = demonstrate(Session(World(on_table(goal, "mug", "plate"))), np.random.default_rng(0))
    assert recording.failure is not None and recording.failure.code == "plan.in_the_way"
    assert recording.failure.subjects == ("mug",)


def test_margins_of_relations_are_those_of_the_predicates() -> None:
    control = robot()
    T = spots(control, p("behind", "block", "block2"))[0]
    made = bench()
    made.reset()
    made.put("block", tuple(T[:3, 3]), tuple(tf.quaternion(T[:3, :3])))
    assert predicate("behind").margin(made.world, ("block", "block2")) > 0
