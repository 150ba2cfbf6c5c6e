"""Skills as the planner sees them, and the plans it finds for goals."""

from __future__ import annotations

import os
import pkgutil
import subprocess
import sys
from collections import deque
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import test_cloth
import test_grains
import test_in_hand
import test_rope_grains
import test_soft
import test_two_arms
import test_two_hands
from liquid_worlds import water_scene
from task_worlds import DEEP, STILL, TABLE, Bench, bench, p
from task_worlds import kitchen as furnish

from embodiedsmith.motion import MotionError, Step, planner, symbolic
from embodiedsmith.motion import skills as folder
from embodiedsmith.motion.operators import FACTS, STALE, Operator
from embodiedsmith.motion.planner import Action, Fact, Situation
from embodiedsmith.motion.skills import skills
from embodiedsmith.motion.wishes import WANTED
from embodiedsmith.spec import All, Any, EmbodimentSpec, Goal, Not, Pose, Sequence
from embodiedsmith.tasks import predicate_names
from embodiedsmith.world import World

OPERATORS = [pytest.param(o, id=f"{o.skill}-{k}") for k, o in enumerate(symbolic.operators())]


@pytest.fixture
def kitchen() -> Bench:
    made = bench()
    made.reset()
    made.put("basket", (0.78, -0.3, TABLE))  # out of the drawers' way
    return made


def plan(made: Bench, goal: Goal) -> list[str]:
    return [str(step) for step in symbolic.plan(made.world, goal)]


# ------------------------------------------------------------------ operators


def test_every_skill_is_registered_once_under_its_own_name() -> None:
    files = [module.name for module in pkgutil.iter_modules(folder.__path__)]
    assert len(skills()) == len(files)
    assert set(skills()) == set(files)
    assert {"pick", "place", "open", "close", "navigate"} <= set(skills())
    for name, skill in skills().items():
        assert skill.name == name and skill.operators
        assert {operator.skill for operator in skill.operators} == {name}


@pytest.mark.parametrize("operator", OPERATORS)
def test_operators_are_well_typed(operator: Operator) -> None:
    types = dict(operator.parameters)
    assert len(types) == len(operator.parameters), "a parameter is named twice"
    assert set(types.values()) <= {"item", "place", "part", "zone", "side", "arm", "mark", "bar"}
    for fact in (*operator.needs, *operator.adds, *operator.removes):
        assert fact[0] in FACTS, fact
        assert tuple(types[a] for a in fact[1:]) == FACTS[fact[0]], fact
    assert set(operator.passes) <= set(types)
    used = {a for fact in operator.needs for a in fact[1:]} | set(operator.passes)
    assert set(types) <= used, "a parameter that is neither spoken of nor passed on"
    assert operator.adds and not set(operator.adds) & set(operator.removes)


def facts_told() -> set[str]:
    """The names of the facts of a kitchen, of worlds with cloth, a rope, something soft and water, and of one with two arms."""
    passed = Sequence(goals=(p("in_left_hand", "thing"), p("in_right_hand", "thing")))
    water = World(water_scene(particles=200))
    water.reset(np.random.default_rng(0))  # fills the jug
    cradling = World(test_in_hand.scene())
    cradling.reset(np.random.default_rng(0))
    goals = {
        bench().world: p("on", "mug", "table"),
        cradling: test_in_hand.GOAL,
        World(test_cloth.scenario()): p("covers", "towel", "bowl"),
        World(test_rope_grains.rope_scenario()): p("straightened", "rope"),
        World(test_soft.scenario(p("squeezed", "toy"))): p("squeezed", "toy"),
        water: p("poured", "water", "bowl"),
        test_grains.fresh(): test_grains.says("scooped"),
        World(test_two_arms.table(passed)): passed.goals[0],
        World(test_two_hands.tray(test_two_hands.LIFTED)): test_two_hands.LIFTED,
        World(test_two_hands.boxed(test_two_hands.HELD)): test_two_hands.HELD.goals[2],
    }
    return {fact[0] for world, goal in goals.items() for fact in symbolic.describe(world, goal, None).facts}


def test_facts_that_change_are_told_from_the_world_or_brought_about() -> None:
    added = {fact[0] for o in symbolic.operators() for fact in o.adds}
    removed = {fact[0] for o in symbolic.operators() for fact in o.removes}
    needed = {fact[0] for o in symbolic.operators() for fact in o.needs}
    told = facts_told()
    told |= {
        "mobile",
        "opened",
        "bulky",
        "wanted_near",
        "wanted_touching",
        "wanted_posed",
        "wanted_beside",
        "wanted_between",
        "bar_zone",
        "mark_zone",
    }  # of other worlds and goals
    assert added >= STALE
    assert needed <= told | added
    assert removed <= told | added


def test_every_predicate_can_be_planned_for() -> None:
    assert set(WANTED) == set(predicate_names()) - {"spilled"}  # which is only ever to be avoided


# ------------------------------------------------------------------ facts


def test_facts_are_read_off_the_world(kitchen: Bench) -> None:
    facts = symbolic.describe(kitchen.world, p("on", "mug", "table"), None).facts
    assert ("at", "mug", "table.top") in facts and ("at", "can", "floor") in facts
    assert ("shut", "unit.drawer_top") in facts and ("opened", "unit.drawer_top") not in facts
    assert {("graspable", "mug"), ("graspable", "block"), ("untopped", "block2"), ("empty_hand",)} <= facts
    assert ("gate", "unit.drawer_top", "unit.drawer_top") in facts and ("ungated", "table.top") in facts
    assert not any(fact[0] == "holding" for fact in facts)
    for fact in facts:
        assert len(fact) == 1 + len(FACTS[fact[0]])
    slide = kitchen.world.assets["unit"].joints["drawer_top"]
    kitchen.joint("unit.drawer_top", slide.closed + 0.9 * (slide.open - slide.closed))
    facts = symbolic.describe(kitchen.world, p("on", "mug", "table"), "mug").facts
    assert ("opened", "unit.drawer_top") in facts and ("shut", "unit.drawer_top") not in facts
    assert ("holding", "mug") in facts and ("empty_hand",) not in facts
    assert not any(fact[:2] == ("at", "mug") for fact in facts)


# ------------------------------------------------------------------ plans

DRAWER = "unit.drawer_top"
IN_DRAWER = All(goals=(p("inside", "mug", DRAWER), p("closed", DRAWER)))


@pytest.mark.parametrize(
    ("goal", "expected"),
    [
        (p("on", "block", "block2"), ["pick(block, table.top)", "place(block, block2.top)"]),
        (p("grasped", "apple"), ["pick(apple, table.top)"]),
        (p("lifted", "apple"), ["pick(apple, table.top)"]),
        (p("open", DRAWER), [f"open({DRAWER})"]),
        (p("closed", DRAWER), []),
        (Not(goal=p("closed", DRAWER)), [f"open({DRAWER})"]),
        (p("on", "mug", "table"), []),
        (IN_DRAWER, [f"open({DRAWER})", "pick(mug, table.top)", f"place(mug, {DRAWER})", f"close({DRAWER})"]),
        (p("inside", "apple", "basket"), ["pick(apple, table.top)", "place(apple, basket.inside)"]),
        (p("inside", "can", "basket"), ["pick(can, floor)", "place(can, basket.inside)"]),
        (p("touching", "apple", "block"), ["pick(apple, table.top)", "place_near(apple, block)", "push(apple, block)"]),
        (p("near", "block2", "unit"), ["pick(block2, table.top)", "place_near(block2, unit)"]),
        (
            All(goals=(p("on", "apple", "table"), p("near", "apple", "block"))),
            ["pick(apple, table.top)", "place_near(apple, block)"],
        ),
        (
            All(goals=(p("on", "block", "table"), p("at", "block", x=0.5, y=-0.3, z=TABLE))),
            ["pick(block, table.top)", "place_at(block)"],
        ),
        (
            Sequence(goals=(p("near", "apple", "block"), p("grasped", "apple"))),
            ["pick(apple, table.top)", "place_near(apple, block)", "pick(apple, table.top)"],
        ),
        (p("near", "apple", "block"), ["pick(apple, table.top)", "place_near(apple, block)"]),
        (p("left_of", "apple", "block"), ["pick(apple, table.top)", "place_beside(apple, block, left_of)"]),
        (p("right_of", "block", "block2"), ["pick(block, table.top)", "place_beside(block, block2, right_of)"]),
        (p("left_of", "block", "block2"), []),
        (p("behind", "mug", "unit"), ["pick(mug, table.top)", "place_beside(mug, unit, behind)"]),
        (p("between", "apple", "block", "mug"), ["pick(apple, table.top)", "place_beside(apple, block, mug)"]),
        (
            All(goals=(p("near", "apple", "block"), p("behind", "apple", "block2"), p("unmoved", "block"))),
            ["pick(apple, table.top)", "place_beside(apple, block2, behind)"],
        ),
        (p("unmoved", "apple"), []),
        (p("at", "block", x=0.5, y=-0.3, z=TABLE), ["pick(block, table.top)", "place_at(block)"]),
        (Any(goals=(p("on", "mug", "table"), p("on", "mug", "block"))), []),
        (
            Sequence(goals=(p("open", DRAWER), p("closed", DRAWER))),
            [f"open({DRAWER})", f"close({DRAWER})"],
        ),
        (
            Sequence(goals=(p("grasped", "apple"), p("inside", "apple", "basket"))),
            ["pick(apple, table.top)", "place(apple, basket.inside)"],
        ),
    ],
)
def test_goals_become_the_steps_that_bring_them_about(kitchen: Bench, goal: Goal, expected: list[str]) -> None:
    assert plan(kitchen, goal) == expected


def test_what_is_put_beside_a_thing_that_goes_elsewhere_comes_after_it(kitchen: Bench) -> None:
    goal = All(goals=(p("left_of", "apple", "mug"), p("right_of", "mug", "block2")))
    assert plan(kitchen, goal) == [
        "pick(mug, table.top)", "place_beside(mug, block2, right_of)", "pick(apple, table.top)",
        "place_beside(apple, mug, left_of)",
    ]  # fmt: skip


# ------------------------------------------------------------------ what must stay


def test_what_must_stay_is_not_put_aside(kitchen: Bench) -> None:
    x, y, z = kitchen.world.item_pose("block2")[:3, 3]
    kitchen.put("apple", (x, y, z + kitchen.world.assets["block2"].size[2] - DEEP))
    stack = p("on", "block", "block2")
    assert plan(kitchen, stack)[0] == "pick(apple, block2.top)"
    with pytest.raises(MotionError, match="no plan without moving what must stay: apple would have to be moved") as caught:
        symbolic.plan(kitchen.world, All(goals=(stack, p("unmoved", "apple"))))
    assert caught.value.code == "plan.in_the_way" and caught.value.subjects == ("apple",)
    with pytest.raises(MotionError) as caught:  # what carries it must stay, too
        symbolic.plan(kitchen.world, Sequence(goals=(p("unmoved", "apple"), p("grasped", "block2"))))
    assert caught.value.code == "plan.in_the_way" and set(caught.value.subjects) == {"apple", "block2"}


def test_a_drawer_with_what_must_stay_in_it_is_left_alone(kitchen: Bench) -> None:
    x, y, z = kitchen.world.cavity(DRAWER)[1][:3, 3]
    kitchen.put("apple", (x, y, z - DEEP))
    with pytest.raises(MotionError, match="apple would have to be moved") as caught:
        symbolic.plan(kitchen.world, All(goals=(p("open", DRAWER), p("unmoved", "apple"))))
    assert caught.value.code == "plan.in_the_way" and caught.value.subjects == ("apple",)
    below = "unit.drawer_bottom"
    assert plan(kitchen, All(goals=(p("open", below), p("unmoved", "apple")))) == [f"open({below})"]


def test_a_goal_out_of_reach_of_any_plan_is_not_blamed_on_what_must_stay(kitchen: Bench) -> None:
    with pytest.raises(MotionError, match=r"near\(apple, shelf\)") as caught:
        symbolic.plan(kitchen.world, All(goals=(p("near", "apple", "shelf"), p("unmoved", "mug"))))
    assert caught.value.code == "plan.no_symbolic_plan"


# ------------------------------------------------------------------ sequences


def steps_of(made: Bench, *stages: Goal, reached: int = 0) -> list[str]:
    return [str(s) for s in symbolic.plan(made.world, Sequence(goals=stages), reached=reached)]


def test_what_a_stage_brings_about_lasts(kitchen: Bench) -> None:
    put = [f"open({DRAWER})", "pick(apple, table.top)", f"place(apple, {DRAWER})", f"close({DRAWER})"]
    inside = All(goals=(p("inside", "apple", DRAWER), p("closed", DRAWER)))
    assert steps_of(kitchen, inside, p("open", DRAWER)) == [*put, f"open({DRAWER})"]
    first, then = p("on", "apple", "block"), p("on", "block", "block2")
    steps = steps_of(kitchen, first, then)
    assert steps[-2:] == ["pick(apple, table.top)", "place(apple, block.top)"] and "place(block, block2.top)" in steps
    assert steps_of(kitchen, p("left_of", "apple", "mug"), p("on", "mug", "block"))[-1] == "place(mug, block.top)"


def test_a_later_stage_may_undo_an_earlier_one(kitchen: Bench) -> None:
    assert steps_of(kitchen, p("closed", DRAWER), p("inside", "apple", DRAWER))[-1] == f"place(apple, {DRAWER})"
    assert steps_of(kitchen, p("right_of", "apple", "mug"), p("left_of", "apple", "mug"))[1::2] == [
        "place_beside(apple, mug, right_of)", "place_beside(apple, mug, left_of)",
    ]  # fmt: skip
    assert steps_of(kitchen, p("on", "mug", "block"), p("inside", "mug", "basket"))[-1] == "place(mug, basket.inside)"


def test_stages_reached_are_not_done_again(kitchen: Bench) -> None:
    stages = (p("open", DRAWER), p("closed", DRAWER), p("inside", "apple", "basket"))
    assert steps_of(kitchen, *stages, reached=2) == ["pick(apple, table.top)", "place(apple, basket.inside)"]
    steps = symbolic.plan(kitchen.world, Sequence(goals=stages))
    assert [step.stage for step in steps] == [0, 1, 2, 2]


def test_what_lies_below_an_open_drawer_is_reached_once_that_is_shut(kitchen: Bench) -> None:
    slide = kitchen.world.assets["unit"].joints["drawer_top"]
    kitchen.joint(DRAWER, slide.closed + 0.9 * (slide.open - slide.closed))
    below = "unit.drawer_bottom"
    assert plan(kitchen, p("inside", "apple", below)) == [
        f"close({DRAWER})", f"open({below})", "pick(apple, table.top)", f"place(apple, {below})",
    ]  # fmt: skip
    both = All(goals=(p("inside", "apple", below), p("inside", "mug", DRAWER), p("open", DRAWER)))
    steps = plan(kitchen, both)
    assert len(steps) == 7 and steps[-1] == f"open({DRAWER})"
    assert steps.index(f"close({DRAWER})") < steps.index(f"place(apple, {below})") < steps.index(f"open({DRAWER})")


def test_tidying_many_things_away_is_planned_without_many_looks(kitchen: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planner, "ROUNDS", ((1, 250), (3, 250)))
    symbolic.search.cache_clear()
    things, below = ("mug", "apple", "block", "block2", "can", "basket"), "unit.drawer_bottom"
    stages = tuple(p("inside", thing, DRAWER if k % 2 else below) for k, thing in enumerate(things[:5]))
    steps = steps_of(kitchen, *stages, All(goals=(p("closed", DRAWER), p("closed", below))))
    assert len([s for s in steps if s.startswith("place")]) == 5 and steps[-1].startswith("close")


def test_the_order_of_independent_steps_keeps_what_was_done(kitchen: Bench) -> None:
    goal = All(goals=(p("on", "block", "block2"), p("on", "apple", "block")))
    assert plan(kitchen, goal) == [
        "pick(block, table.top)", "place(block, block2.top)", "pick(apple, table.top)", "place(apple, block.top)",
    ]  # fmt: skip


def test_what_stands_in_the_way_is_moved_first(kitchen: Bench) -> None:
    x, y, z = kitchen.world.item_pose("block2")[:3, 3]
    top = kitchen.world.assets["block2"].size[2]
    kitchen.put("apple", (x, y, z + top - DEEP))
    assert symbolic.place_of(kitchen.world, "apple") == "block2.top"
    steps = symbolic.plan(kitchen.world, p("on", "block", "block2"))
    assert steps[0] == Step("pick", ("apple", "block2.top"))
    assert steps[1].skill == "place" and steps[1].args[0] == "apple" and steps[1].args[1] != "block2.top"
    assert steps[2:] == (Step("pick", ("block", "table.top")), Step("place", ("block", "block2.top")))


def test_taking_out_of_a_drawer_opens_it_and_puts_the_thing_elsewhere(kitchen: Bench) -> None:
    _, T = kitchen.world.cavity(DRAWER)
    x, y, z = T[:3, 3]
    kitchen.put("apple", (x, y, z - DEEP))
    assert symbolic.place_of(kitchen.world, "apple") == DRAWER
    steps = symbolic.plan(kitchen.world, Not(goal=p("inside", "apple", DRAWER)))
    assert [s.skill for s in steps] == ["open", "pick", "place"]
    assert steps[1].args == ("apple", DRAWER) and not steps[2].args[1].startswith("unit")


def test_plans_reach_what_is_wanted_and_need_only_what_holds(kitchen: Bench) -> None:
    for goal in (IN_DRAWER, p("on", "block", "block2"), All(goals=(p("inside", "apple", "basket"), p("open", DRAWER)))):
        situation = symbolic.describe(kitchen.world, goal, None)
        steps = list(symbolic.search(situation))
        assert set(situation.wanted) <= symbolic.progress(situation, steps)
        assert not set(situation.wanted) <= symbolic.progress(situation, steps[:-1])


def test_what_is_in_the_hand_need_not_be_picked(kitchen: Bench) -> None:
    steps = symbolic.plan(kitchen.world, p("on", "block", "block2"), "block")
    assert steps == (Step("place", ("block", "block2.top")),)


@pytest.mark.parametrize(
    ("goal", "code", "said"),
    [
        (p("on", "unit", "table"), "plan.unsupported", "cannot be moved"),
        (Not(goal=p("grasped", "mug")), "plan.unsupported", "opposite"),
        (All(goals=(p("on", "mug", "block"), p("on", "block", "mug"))), "plan.unsupported", "mug has no support"),
        (p("inside", "mug", "table"), "plan.unsupported", "no cavity"),
        (p("at", "block", x=0.5, y=-0.3, z=2.0), "plan.unsupported", "nothing to put block on"),
        (p("near", "apple", "shelf"), "plan.no_symbolic_plan", "brings about near(apple, shelf)"),
        (p("left_of", "apple", "shelf"), "plan.no_symbolic_plan", "beside(apple, shelf, left_of)"),
        (Not(goal=p("left_of", "apple", "mug")), "plan.unsupported", "opposite"),
        (Not(goal=p("unmoved", "mug")), "plan.unsupported", "opposite"),
        (All(goals=(p("left_of", "apple", "mug"), p("on", "mug", "block"))), "plan.no_symbolic_plan", "no sequence"),
        (
            Any(goals=(p("inside", "mug", "table"), All(goals=(p("grasped", "mug"), p("grasped", "apple"))))),
            "plan.contradictory",
            "exclude each other",
        ),
        (
            Any(goals=(p("near", "apple", "shelf"), p("near", "mug", "shelf"))),
            "plan.no_symbolic_plan",
            "none of 2 ways",
        ),
    ],
)
def test_goals_no_plan_reaches_are_typed_failures(kitchen: Bench, goal: Goal, code: str, said: str) -> None:
    with pytest.raises(MotionError) as caught:
        symbolic.plan(kitchen.world, goal)
    assert caught.value.code.startswith(code) and said in caught.value.what
    assert caught.value.failure(step=0).code == caught.value.code


CONTRADICTIONS = [
    (("left_of", "mug", "block"), ("behind", "mug", "block"), "beside(mug, block, left_of)", "beside(mug, block, behind)"),
    (("left_of", "mug", "block"), ("left_of", "block", "mug"), "beside(mug, block, left_of)", "beside(block, mug, left_of)"),
    (("open", DRAWER), ("closed", DRAWER), f"opened({DRAWER})", f"shut({DRAWER})"),
    (("on", "mug", "table"), ("inside", "mug", "basket"), "at(mug, table.top)", "at(mug, basket.inside)"),
    (("grasped", "mug"), ("lifted", "apple"), "holding(mug)", "holding(apple)"),
    (("grasped", "mug"), ("on", "mug", "block"), "holding(mug)", "at(mug, block.top)"),
    (("on", "block", "block2"), ("on", "block2", "block"), "at(block, block2.top)", "at(block2, block.top)"),
    (("on", "apple", "block"), ("on", "mug", "block"), "at(apple, block.top)", "at(mug, block.top)"),
    (("on", "apple", "block"), ("grasped", "block"), "at(apple, block.top)", "holding(block)"),
]


@pytest.mark.parametrize(("first", "second", "one", "other"), CONTRADICTIONS)
def test_contradictions_are_named_without_any_search(
    kitchen: Bench, monkeypatch: pytest.MonkeyPatch, first: tuple[str, ...], second: tuple[str, ...], one: str, other: str
) -> None:
    monkeypatch.delattr(planner, "solve")
    for goals in ((p(*first), p(*second)), (p(*second), p(*first))):
        with pytest.raises(MotionError) as caught:
            symbolic.plan(kitchen.world, All(goals=goals))
        assert caught.value.code == "plan.contradictory"
        assert one in caught.value.what and other in caught.value.what and first[1] in caught.value.subjects


def test_the_first_way_that_has_a_plan_is_taken(kitchen: Bench) -> None:
    both = All(goals=(p("grasped", "mug"), p("grasped", "apple")))
    goal = Any(goals=(p("inside", "mug", "table"), both, p("near", "apple", "shelf"), p("grasped", "apple"), p("open", DRAWER)))
    assert plan(kitchen, goal) == ["pick(apple, table.top)"]


# ------------------------------------------------------------------ choices


def at(made: Bench, goal: Goal) -> list[str]:
    """The places that a goal's facts name."""
    return [f[2] for f in symbolic.describe(made.world, goal, None).wanted if f[0] == "at"]


def test_a_thing_goes_where_the_words_point_and_the_way_is_open(kitchen: Bench) -> None:
    assert at(kitchen, p("on", "mug", "unit")) == ["unit.top"]  # what is in a drawer is in the unit, not on it
    assert at(kitchen, p("inside", "mug", "unit")) == ["unit.drawer_top"]
    closing = All(goals=(p("inside", "mug", "unit"), p("closed", "unit.drawer_bottom")))
    assert at(kitchen, closing) == ["unit.drawer_bottom"]
    slide = kitchen.world.assets["unit"].joints["drawer_bottom"]
    kitchen.joint("unit.drawer_bottom", slide.closed + 0.9 * (slide.open - slide.closed))
    assert at(kitchen, p("inside", "mug", "unit")) == ["unit.drawer_bottom"]
    assert at(kitchen, p("inside", "mug", DRAWER)) == [DRAWER]
    assert plan(kitchen, p("open", "unit")) == []


def test_a_full_board_sends_the_rest_to_the_next(kitchen: Bench) -> None:
    assert at(kitchen, p("on", "mug", "shelf")) == ["shelf.board_bottom"]
    things = ("mug", "apple", "block", "block2", "basket")
    chosen = at(kitchen, All(goals=tuple(p("on", thing, "shelf") for thing in things)))
    assert chosen[0] == "shelf.board_bottom" and chosen[-1] == "shelf.board_top" and len(chosen) == len(things)


def test_what_is_too_wide_is_pushed(kitchen: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    basket = kitchen.world.assets["basket"]
    bare = replace(basket, affordances=replace(basket.affordances, grasps=()))
    monkeypatch.setitem(kitchen.world.assets, "basket", bare)
    assert plan(kitchen, p("near", "basket", "block2", distance=0.02)) == ["push(basket, block2)"]
    assert plan(kitchen, p("touching", "basket", "block2")) == ["push(basket, block2)"]
    with pytest.raises(MotionError, match=r"holding\(basket\)"):
        symbolic.plan(kitchen.world, p("grasped", "basket"))


def test_a_vehicle_goes_to_what_lies_on_the_floor() -> None:
    scenario = furnish(p("inside", "can", "basket"), randomization=STILL)
    base = EmbodimentSpec(name="panda_mobile", base=Pose.planar(-1.0, 0.0))
    world = World(scenario.model_copy(update={"embodiment": base}))
    world.reset(np.random.default_rng(0))
    steps = [str(step) for step in symbolic.plan(world, scenario.task.goal)]
    assert steps == ["navigate(can)", "pick(can, floor.can)", "navigate(table)", "place(can, basket.inside)"]
    goal = All(goals=(p("inside", "mug", "microwave"), p("closed", "microwave")))
    assert [str(step) for step in symbolic.plan(world, goal)] == [
        "navigate(microwave)", "open(microwave.door)", "navigate(table)", "pick(mug, table.top)",
        "navigate(microwave)", "place(mug, microwave.door)", "close(microwave.door)",
    ]  # fmt: skip


# ------------------------------------------------------------------ search


def test_tidying_takes_no_step_too_many(kitchen: Bench) -> None:
    things = ("mug", "apple", "block", "block2", "can")
    steps = plan(kitchen, All(goals=(*(p("inside", thing, DRAWER) for thing in things), p("closed", DRAWER))))
    assert steps[0] == f"open({DRAWER})" and steps[-1] == f"close({DRAWER})" and len(steps) == 2 + 2 * len(things)
    assert [s for s in steps if s.startswith("place")] == [f"place({thing}, {DRAWER})" for thing in things]  # as said


def test_planning_does_not_wait_for_the_clock(kitchen: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bounds are counts: the search ends after so many situations, and says so."""
    monkeypatch.setattr(planner, "ROUNDS", ((1, 3), (3, 2)))
    symbolic.search.cache_clear()
    with pytest.raises(MotionError, match="5 situations looked at") as caught:
        symbolic.plan(kitchen.world, IN_DRAWER)
    assert caught.value.code == "plan.no_symbolic_plan" and caught.value.value == caught.value.limit == 5


def small_world(rng: np.random.Generator) -> tuple[Situation, tuple[Action, ...]]:
    """Three things, two of which can be stood on, a table, a drawer and a vehicle or none; everything drawn."""
    things = ("a", "b", "c")
    tops = {"a.top": "a", "b.top": "b"}
    facts: set[Fact] = {("roomy", "t.top"), ("ungated", "t.top"), ("roomy", "d.in"), ("gate", "d.in", "d.in"), ("empty_hand",)}
    facts |= {("place_zone", "t.top", "t"), ("place_zone", "d.in", "d"), ("part_zone", "d.in", "d")}
    facts |= {(name, thing) for thing in things for name in ("graspable", "loose", "untopped")}
    facts.add(("opened" if rng.random() < 0.5 else "shut", "d.in"))
    for top, owner in tops.items():
        facts |= {("on_top", top, owner), ("bare", top), ("ungated", top), ("place_zone", top, "t")}
    for thing in things:
        facts.add(("at", thing, str(rng.choice(["t.top", "d.in"]))))
    if rng.random() < 0.5:
        facts -= {f for f in facts if f[:2] == ("at", "c")} | {("bare", "a.top"), ("untopped", "a")}
        facts.add(("at", "c", "a.top"))
    if rng.random() < 0.4:
        facts |= {("mobile",), ("standing", "t")}
    else:
        facts |= {("standing", "t"), ("standing", "d")}
    options: list[Fact] = [("at", "a", "d.in"), ("at", "b", "a.top"), ("holding", "c"), ("shut", "d.in"), ("at", "c", "t.top")]
    count = int(rng.integers(1, 4))
    wanted = tuple(options[k] for k in rng.choice(len(options), count, replace=False))
    objects = [(n, "item") for n in things] + [(n, "place") for n in ("t.top", "d.in", *tops)]
    situation = Situation((*objects, ("d.in", "part"), ("t", "zone"), ("d", "zone")), frozenset(facts), wanted)
    return situation, planner.ground(situation, symbolic.operators(), symbolic._impossible)


def fewest(situation: Situation, actions: tuple[Action, ...]) -> int | None:
    """Number of steps of the shortest plan, by looking at everything."""
    queue, seen = deque([(situation.facts, 0)]), {situation.facts}
    while queue:
        facts, depth = queue.popleft()
        if set(situation.wanted) <= facts:
            return depth
        for action in actions:
            after = action.apply(facts)
            if action.needs <= facts and after not in seen:
                seen.add(after)
                queue.append((after, depth + 1))
    return None


@pytest.mark.parametrize("seed", range(12))
def test_plans_are_shortest(seed: int) -> None:
    """Landmark cuts never promise more than it takes: weight 1 finds what looking at everything finds."""
    situation, actions = small_world(np.random.default_rng(seed))
    shortest = fewest(situation, actions)
    steps, _, exhausted = planner._search(planner._Task(situation, actions), 1, 10_000)
    assert (None if steps is None else len(steps)) == shortest
    assert exhausted == (shortest is None)
    found = planner.solve(situation, actions)
    assert (found.steps is None) == (shortest is None) and found.exhausted == (shortest is None)
    facts = situation.facts
    for step in found.steps or ():
        facts = next(a for a in actions if a.step == step and a.needs <= facts).apply(facts)
    assert shortest is None or set(situation.wanted) <= facts


HASHED = """
import sys; sys.path.insert(0, sys.argv[1])
import numpy as np
from test_motion_symbolic import small_world
from embodiedsmith.motion import planner
for seed in range(12):
    print(*(planner.solve(*small_world(np.random.default_rng(seed))).steps or ("none",)))
"""


@cache
def in_another_process(hash_seed: str) -> str:
    here = os.path.dirname(__file__)
    env = {**os.environ, "PYTHONHASHSEED": hash_seed}
    return subprocess.run([sys.executable, "-c", HASHED, here], env=env, check=True, capture_output=True, text=True).stdout


def test_plans_do_not_depend_on_the_order_of_sets() -> None:
    one = in_another_process("1")
    assert one == in_another_process("2") and "pick(c" in one


def test_planning_is_repeatable(kitchen: Bench) -> None:
    symbolic.search.cache_clear()
    before = kitchen.world.save()
    first = plan(kitchen, IN_DRAWER)
    symbolic.search.cache_clear()
    assert plan(kitchen, IN_DRAWER) == first
    assert np.array_equal(kitchen.world.save(), before)
