"""What goals of every kind must not accept, on demonstrations that reached them; and the critic that looks at it."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from forge_scenes import DRAFTS, draft, item, says
from task_worlds import kitchen, p

from embodiedsmith.forge.certificate import LEAST_MISSES
from embodiedsmith.forge.critics import Context, critics
from embodiedsmith.forge.layout import layout
from embodiedsmith.motion import demonstrate
from embodiedsmith.runtime.errors import UsageError
from embodiedsmith.spec import All, Any, Finding, Goal, Not, Scenario, Sequence
from embodiedsmith.tasks import GoalMonitor, Recording, Session
from embodiedsmith.tasks.goal_misses import Missed, near_misses, said
from embodiedsmith.world import World

ON = p("on", "block", "block2")
IN_BASKET = p("inside", "block", "basket")
IN_DRAWER = All(goals=(p("inside", "block", "unit.drawer_top"), p("closed", "unit.drawer_top")))
CRITIC = next(critic for critic in critics() if critic.name == "near_misses")


def done(goal: Goal, scenario: Scenario | None = None) -> tuple[World, Recording]:
    """A world and a demonstration in it that reached the goal; in the kitchen unless said otherwise."""
    return _done((scenario or kitchen(goal)).to_json())


@cache
def _done(scenario: str) -> tuple[World, Recording]:
    world = World(Scenario.from_json(scenario))
    recording = demonstrate(Session(world), np.random.default_rng(1))
    assert recording.outcome == "success", recording.failure
    return world, recording


def missed(goal: Goal) -> list[Missed]:
    found = near_misses(goal, *done(goal))
    assert [m for m in found if not m.rejected] == []
    assert len({(m.predicate, m.name) for m in found}) == len(found)
    assert (found[0].name, found[0].predicate) == ("at the start", said(goal))
    return found


def names(found: list[Missed], predicate: str) -> set[str]:
    return {m.name for m in found if m.predicate == predicate}


@pytest.mark.parametrize(
    "goal",
    [
        ON, p("near", "apple", "mug"), p("left_of", "block", "mug"), p("lifted", "mug"), p("grasped", "apple"),
        p("touching", "block", "block2"), p("at", "block", x=0.5, y=-0.1, z=0.74), p("open", "unit.drawer_top"),
    ],
    ids=lambda goal: goal.name,
)  # fmt: skip
def test_a_goal_of_one_predicate_sees_through_eight_near_misses(goal: Goal) -> None:
    found = missed(goal)
    assert len(found) >= LEAST_MISSES
    assert max(m.margin for m in found) > -0.02


def test_the_world_is_left_at_the_end_and_the_goal_holds_there_again() -> None:
    world, recording = done(ON)
    near_misses(ON, world, recording)
    assert np.array_equal(world.save(), recording.states[-1])
    assert GoalMonitor(ON, world).reset() > 0


def test_each_part_of_all_is_missed_alone() -> None:
    goal = All(goals=(p("near", "apple", "mug"), p("unmoved", "mug")))
    found = missed(goal)
    assert "apple just before the hand let go" in names(found, "near(apple, mug)")
    assert len(names(found, "unmoved(mug)")) >= 6  # each alone, although the predicate remembers the worst it saw
    alone = [m for m in found if m.predicate == "unmoved(mug)"]
    assert {m.margin for m in alone} == {m.value for m in alone}


def test_what_is_in_a_drawer_goes_with_it_so_that_only_the_drawer_is_missed() -> None:
    found = missed(IN_DRAWER)
    ajar = [m for m in found if m.predicate == "closed(unit.drawer_top)" and m.name.startswith("unit.drawer_top open by")]
    assert len(ajar) >= 6
    assert all(m.margin == m.value for m in ajar)  # it is the least of the two: the block is still in the drawer
    assert max(m.margin for m in ajar) == pytest.approx(-0.001, abs=1e-6)
    assert "unit.drawer_top just before it was closed" in names(found, "closed(unit.drawer_top)")


def test_alternatives_that_do_not_hold_need_not_be_missed() -> None:
    found = missed(Any(goals=(ON, IN_BASKET)))
    assert len(names(found, "on(block, block2)")) >= LEAST_MISSES
    assert names(found, "inside(block, basket)") == set()


def test_alternatives_that_hold_are_missed_together() -> None:
    goal = Any(goals=(ON, p("on", "mug", "table")))
    world, recording = done(ON)  # the mug stands on the table all the time
    found = near_misses(goal, world, recording)
    together = [m for m in found if m.predicate == "on(block, block2), on(mug, table)"]
    assert len(together) >= LEAST_MISSES
    assert [m for m in together if not m.rejected] == []


def test_parts_of_a_sequence_are_missed_where_they_were_reached() -> None:
    found = missed(Sequence(goals=(IN_BASKET, ON)))
    assert len(names(found, "inside(block, basket)")) >= 8
    assert len(names(found, "on(block, block2)")) >= 8
    skipped = next(m for m in found if m.name == "the end, had nothing come before")
    assert skipped.margin < -1.0  # a stage that was left out


def test_what_is_to_be_undone_is_not_when_the_hand_just_holds_it() -> None:
    found = missed(Not(goal=p("on", "block", "table")))
    assert {"block in the hand, where it was", "at the start"} <= {m.name for m in found}
    assert len(found) >= LEAST_MISSES


def test_taken_out_of_a_drawer_is_out() -> None:
    scenario = layout(DRAFTS["take_out"], np.random.default_rng(0))
    goal = scenario.task.goal
    found = near_misses(goal, *done(goal, scenario))
    assert len(found) >= LEAST_MISSES
    assert [m for m in found if not m.rejected] == []


# ---------------------------------------------------------------------- the critic


def judged(goal: Goal, scenario: Scenario | None = None) -> tuple[Context, list[Finding]]:
    world, recording = done(goal, scenario)
    context = Context(world.scenario)
    context.world = world
    context.witness = recording
    return context, CRITIC.review(context)


def test_the_critic_accepts_a_goal_that_sees_through_its_near_misses_and_keeps_them() -> None:
    context, findings = judged(ON)
    assert findings == []
    assert len(context.near_misses) >= LEAST_MISSES


def test_a_tolerance_that_lets_near_misses_pass_is_refused_by_name() -> None:
    bowl = draft([item("table"), item("bowl", "table"), item("apple", "table")], says("inside", "apple", "bowl", tolerance=0.15))
    scenario = layout(bowl, np.random.default_rng(0))
    _, findings = judged(scenario.task.goal, scenario)
    assert {f.code for f in findings} == {"near_misses.accepted"}
    under = next(f for f in findings if "(under it)" in f.message)
    assert under.subjects == ("apple", "bowl")
    assert under.value is not None and under.value > 0 == under.limit
    assert "inside(apple, bowl, tolerance=0.15) is missed (under it), yet the goal holds" in under.message
    assert CRITIC.codes["near_misses.accepted"][0] == "set_tolerance"


def test_a_goal_with_too_few_near_misses_is_refused() -> None:
    anything = Any(goals=(Not(goal=p("on", "block", "table")), p("on", "block", "block2")))
    _, findings = judged(anything)
    assert [(f.code, f.value, f.limit) for f in findings] == [("near_misses.too_few", 1.0, float(LEAST_MISSES))]
    assert findings[0].subjects == ("block", "table", "block2")


def test_near_misses_need_a_witness() -> None:
    with pytest.raises(UsageError, match="tried at the end of a witness"):
        CRITIC.review(Context(kitchen(ON)))
