"""Goals compose as logic does; sequences remember; rewards add up."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from task_worlds import TABLE, Bench, bench, p

from embodiedsmith.runtime.errors import UsageError
from embodiedsmith.spec import All, Any, Goal, Not, Predicate, Sequence
from embodiedsmith.tasks import GoalMonitor, reward, title
from embodiedsmith.tasks.goal import STAGE, progress


@pytest.fixture
def world() -> Bench:
    bench().reset()
    return bench()


def margin(goal: Goal) -> float:
    return GoalMonitor(goal, bench().world).reset()


leaves = st.builds(
    lambda item, x, z: p("at", item, x=x, y=0.0, z=z),
    st.sampled_from(["mug", "block", "apple"]), st.floats(0, 1), st.floats(0, 1),
)  # fmt: skip
goals = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.builds(lambda g: All(goals=tuple(g)), st.lists(inner, min_size=1, max_size=3)),
        st.builds(lambda g: Any(goals=tuple(g)), st.lists(inner, min_size=1, max_size=3)),
        st.builds(lambda g: Not(goal=g), inner),
    ),
    max_leaves=5,
)


@settings(max_examples=25, deadline=None)
@given(goals, goals, goals)
def test_margins_compose_as_a_lattice(a: Goal, b: Goal, c: Goal) -> None:
    m = {name: margin(goal) for name, goal in (("a", a), ("b", b), ("c", c))}
    assert margin(All(goals=(a, b, c))) == min(m.values())
    assert margin(Any(goals=(a, b, c))) == max(m.values())
    assert margin(Not(goal=a)) == -m["a"]
    assert margin(Not(goal=Not(goal=a))) == m["a"]
    assert margin(Not(goal=All(goals=(a, b)))) == margin(Any(goals=(Not(goal=a), Not(goal=b))))
    assert margin(Not(goal=Any(goals=(a, b)))) == margin(All(goals=(Not(goal=a), Not(goal=b))))
    assert margin(All(goals=(a, Any(goals=(a, b))))) == m["a"]
    assert margin(Sequence(goals=(a,))) == max(m["a"], -STAGE)


def test_names_and_margins_of_predicates_are_aligned_and_each_is_measured_once(world: Bench) -> None:
    on, high = p("on", "block", "table"), p("lifted", "block", height=0.1)
    monitor = GoalMonitor(All(goals=(on, Not(goal=high), Any(goals=(on, p("lifted", "block"))))), world.world)
    assert monitor.predicate_names == ("on(block, table)", "lifted(block, height=0.1)", "lifted(block)")
    total = monitor.reset()
    assert monitor.predicate_margins == pytest.approx([world.margin("on", "block", "table"), -0.1, -0.05])
    assert total == monitor.predicate_margins[0]
    assert title(high) == "lifted(block, height=0.1)"


def test_a_goal_that_makes_no_sense_is_refused_with_every_fault(world: Bench) -> None:
    goal = All(goals=(p("inside", "table", "mug"), p("open", "table"), p("sing", "mug")))
    with pytest.raises(UsageError) as caught:
        GoalMonitor(goal, world.world)
    assert len(caught.value.faults) == 3
    assert "furniture" in str(caught.value)


class Stages:
    """Three things that can be put to be true or not, and the sequence of them."""

    def __init__(self, hold_steps: int) -> None:
        self.world = bench()
        self.world.reset()
        names = ("mug", "block", "apple")
        self.truths = dict.fromkeys(names, False)
        goal = Sequence(goals=tuple(p("at", name, x=0.0, y=0.0, z=3.0 + k) for k, name in enumerate(names)))
        self.monitor = GoalMonitor(goal, self.world.world, hold_steps=hold_steps)
        self._place()
        self.start = self.monitor.reset()

    def _place(self) -> None:
        for k, (name, true) in enumerate(self.truths.items()):
            self.world.put(name, (0.0 if true else 0.3, 0.0, 3.0 + k))

    def look(self, **truths: bool) -> float:
        self.truths.update(truths)
        self._place()
        return self.monitor.update()


def test_a_sequence_goes_stage_by_stage() -> None:
    s = Stages(hold_steps=2)
    assert s.start == pytest.approx(0.02 - 0.3 - 2 * STAGE)
    assert s.look(apple=True) == pytest.approx(s.start)  # the last stage alone is worth nothing
    assert s.look(mug=True) == -2 * STAGE  # holds, but not yet for two looks
    assert s.monitor.stages == (0,)
    assert s.look() == pytest.approx(-0.28 - STAGE)
    assert s.monitor.stages == (1,)
    assert s.look(mug=False, block=True) == -STAGE  # the first was reached, for good
    assert s.look() == pytest.approx(0.02)  # apple has been true all along, and is now asked for
    assert s.monitor.stages == (2,)
    assert s.look(apple=False) == pytest.approx(-0.28)
    assert s.look(apple=True, block=False) == pytest.approx(0.02)


def test_a_stage_must_hold_without_a_break() -> None:
    s = Stages(hold_steps=3)
    for mug in (True, True, False, True, True):
        s.look(mug=mug)
    assert s.monitor.stages == (0,)
    s.look(mug=True)
    assert s.monitor.stages == (1,)


def test_reset_forgets_the_stages() -> None:
    s = Stages(hold_steps=1)
    s.look(mug=True)
    assert s.monitor.stages == (1,)
    s.truths["mug"] = False
    s._place()
    assert s.monitor.reset() == pytest.approx(s.start)
    assert s.monitor.stages == (0,)


@settings(max_examples=20, deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.booleans(), st.booleans()), max_size=12))
def test_a_sequence_is_true_only_if_its_stages_were_and_its_last_is(history: list[tuple[bool, bool, bool]]) -> None:
    s = Stages(hold_steps=1)
    stage = 0
    for now in history:
        if stage < 2 and now[stage]:
            stage += 1
        assert (s.look(mug=now[0], block=now[1], apple=now[2]) > 0) == (stage == 2 and now[2])
        assert s.monitor.stages == (stage,)


def test_nested_sequences_start_when_their_stage_does(world: Bench) -> None:
    inner = Sequence(goals=(p("on", "block", "table"), p("at", "mug", x=0.0, y=0.0, z=3.0)))
    monitor = GoalMonitor(Sequence(goals=(p("at", "apple", x=0.0, y=0.0, z=4.0), inner)), world.world)
    monitor.reset()
    assert monitor.stages == (0, 0)  # the inner one's first stage holds, and is not looked at
    world.put("apple", (0.0, 0.0, 4.0))
    monitor.update()
    assert monitor.stages == (1, 1)
    world.put("mug", (0.0, 0.0, 3.0))
    assert monitor.update() == pytest.approx(0.02)


def test_lifted_counts_from_reset(world: Bench) -> None:
    monitor = GoalMonitor(p("lifted", "mug"), world.world)
    assert monitor.reset() == pytest.approx(-0.05)
    world.put("mug", (0.45, 0.0, TABLE + 0.2))
    assert monitor.update() == pytest.approx(0.15, abs=1e-3)
    assert monitor.reset() == pytest.approx(-0.05)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(-5, 5), min_size=2, max_size=10))
def test_rewards_of_an_episode_add_up_to_the_progress_made(margins: list[float]) -> None:
    steps = [reward(a, b) for a, b in itertools.pairwise(margins)]
    assert sum(steps) == pytest.approx(progress(margins[-1]) - progress(margins[0]), abs=1e-9)
    assert all(-1 < step < 1 for step in steps)
    assert reward(margins[0], margins[1], success=True) == steps[0] + 1


def test_progress_is_one_at_the_goal_half_near_it_and_grows() -> None:
    assert progress(0.0) == progress(0.3) == 1.0
    assert progress(-0.1) == 0.5
    values = [progress(m) for m in np.linspace(-3, 0, 30)]
    assert all(a < b for a, b in itertools.pairwise(values))
    assert math.isclose(progress(-1e9), 0.0, abs_tol=1e-6)


def test_titles_tell_goals_apart() -> None:
    assert title(Predicate(name="on", args=("a", "b"))) == "on(a, b)"
    assert title(Predicate(name="at", args=("a",), params={"z": 1.0, "x": 0.25, "y": 0.0})) == "at(a, x=0.25, y=0, z=1)"
