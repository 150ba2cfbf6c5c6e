"""Skills as the planner sees them, and the plans it finds for goals."""

from __future__ import annotations

import pkgutil

import numpy as np
import pytest
from task_worlds import DEEP, TABLE, Bench, bench, p

from embodiedsmith.motion import MotionError, Step, symbolic
from embodiedsmith.motion import skills as folder
from embodiedsmith.motion.operators import FACTS, Operator
from embodiedsmith.motion.skills import skills
from embodiedsmith.spec import All, Any, Goal, Not, Sequence
from embodiedsmith.tasks import predicate_names

OPERATORS = [pytest.param(o, id=f"{o.skill}-{k}") for k, o in enumerate(symbolic.operators())]


@pytest.fixture
def kitchen() -> Bench:
    made = bench()
    made.reset()
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
    assert set(types.values()) <= {"item", "place", "part", "zone"}
    for fact in (*operator.needs, *operator.adds, *operator.removes):
        assert fact[0] in FACTS, fact
        assert tuple(types[a] for a in fact[1:]) == FACTS[fact[0]], fact
    assert set(operator.passes) <= set(types)
    used = {a for fact in operator.needs for a in fact[1:]} | set(operator.passes)
    assert set(types) <= used, "a parameter that is neither spoken of nor passed on"
    assert operator.adds and not set(operator.adds) & set(operator.removes)


def test_facts_that_change_are_told_from_the_world_or_brought_about() -> None:
    added = {fact[0] for o in symbolic.operators() for fact in o.adds}
    removed = {fact[0] for o in symbolic.operators() for fact in o.removes}
    needed = {fact[0] for o in symbolic.operators() for fact in o.needs}
    told = {fact[0] for fact in symbolic.describe(bench().world, p("on", "mug", "table"), None).facts}
    told |= {"mobile", "opened", "wanted_near", "wanted_posed"}  # of other worlds and goals
    assert needed <= told | added
    assert removed <= told | added


def test_every_predicate_can_be_planned_for() -> None:
    assert set(symbolic._WANTED) == set(predicate_names())


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
        (p("near", "apple", "block"), ["pick(apple, table.top)", "place_near(apple, block)"]),
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
    ],
)
def test_goals_no_plan_reaches_are_typed_failures(kitchen: Bench, goal: Goal, code: str, said: str) -> None:
    with pytest.raises(MotionError) as caught:
        symbolic.plan(kitchen.world, goal)
    assert caught.value.code.startswith(code) and said in caught.value.what
    assert caught.value.failure(step=0).code == caught.value.code


def test_planning_is_repeatable(kitchen: Bench) -> None:
    symbolic.search.cache_clear()
    first = plan(kitchen, IN_DRAWER)
    symbolic.search.cache_clear()
    assert plan(kitchen, IN_DRAWER) == first
    assert np.array_equal(kitchen.world.save(), kitchen._start)
