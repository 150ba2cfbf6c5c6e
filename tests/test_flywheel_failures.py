"""Failures of real attempts get the class of what happened in them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
from flywheel_scenes import forged

from embodiedsmith.flywheel.failures import CLASSES, Classified, classify, tally
from embodiedsmith.motion import demonstrate
from embodiedsmith.runtime.seeds import generator
from embodiedsmith.spec import Goal, Predicate, Scenario
from embodiedsmith.tasks import Failure, Recording, Session
from embodiedsmith.world import World, WorldFault

Meddle = Callable[[Session, int], None]


@cache
def world(name: str) -> World:
    return World(forged(name))


@cache
def shown(name: str) -> Recording:
    """A demonstration of the scenario."""
    recording = demonstrate(Session(world(name)), generator(0, "shown"))
    assert recording.outcome == "success"
    return recording


def act(
    actions: np.ndarray, *, name: str = "basket", goal: Goal | None = None, meddle: Meddle | None = None, steps: int | None = None
) -> tuple[Recording, Scenario]:
    """Repeat actions from the same start, the last one until the time is over, while somebody meddles with the world."""
    scenario = forged(name)
    if goal is not None:
        scenario = scenario.model_copy(update={"task": scenario.task.model_copy(update={"goal": goal})})
    stage = world(name) if goal is None else World(scenario)
    session = Session(stage)
    session.horizon_steps = len(actions) + 20 if steps is None else steps
    session.reset(generator(0, "shown"))
    for t in range(session.horizon_steps):
        if meddle is not None:
            meddle(session, t)
        session.step(actions[min(t, len(actions) - 1)])
        if session.succeeded:
            break
    return session.finish(), scenario


def event(recording: Recording, kind: str, item: str) -> int:
    return next(e.step for e in recording.events if e.kind == kind and item in e.subjects)


def kind_of(result: tuple[Recording, Scenario]) -> str | None:
    found = classify(*result)
    return None if found is None else found.kind


def push(item: str, x: float, y: float, at: int = 0) -> Meddle:
    """Puts an item elsewhere at a control step."""

    def meddle(session: Session, t: int) -> None:
        if t == at:
            address = session.world.items[item].qpos
            session.world.data.qpos[address : address + 2] += x, y

    return meddle


def test_a_success_has_no_class() -> None:
    assert kind_of(act(shown("basket").actions)) is None


def test_a_hand_that_closes_beside_the_can_missed_it() -> None:
    recording, scenario = act(shown("basket").actions, meddle=push("can", 0.05, 0.03))
    found = classify(recording, scenario)
    assert found is not None
    assert (found.kind, found.subject) == ("missed_grasp", "can")
    assert "the hand closed at can" in found.reason


def test_a_can_of_ice_slips() -> None:
    grasped = event(shown("basket"), "grasped", "can")

    def ice(session: Session, t: int) -> None:
        if t == grasped + 12:
            for part in ("can", "robot"):
                geoms = session.world.items["can"].geoms if part == "can" else np.arange(session.world.model.ngeom)
                session.world.model.geom_friction[geoms] = 1e-4

    recording, scenario = act(shown("basket").actions, meddle=ice)
    assert [e for e in recording.events if e.kind == "dropped"]
    assert kind_of((recording, scenario)) == "slip"


def test_a_hand_that_never_opens_does_not_release() -> None:
    actions = shown("basket").actions.copy()
    grasped, released = event(shown("basket"), "grasped", "can"), event(shown("basket"), "released", "can")
    actions = actions[: released - 2]
    actions[grasped - 2 :, -1] = 1.0
    assert kind_of(act(actions)) == "not_released"


def test_what_is_held_far_from_its_place_ran_out_of_time() -> None:
    grasped = event(shown("basket"), "grasped", "can")
    actions = shown("basket").actions[: grasped + 14].copy()
    actions[-1, -1] = 1.0
    found = classify(*act(actions))
    assert found is not None
    assert (found.kind, found.subject) == ("timeout", "can")
    assert "still in the hand" in found.reason


def test_a_can_let_go_beside_the_basket_is_misplaced() -> None:
    lifted = event(shown("basket"), "grasped", "can") + 8
    recording, scenario = act(shown("basket").actions, meddle=push("basket", 0.0, 0.5, at=lifted))
    assert kind_of((recording, scenario)) == "misplaced"


def test_doing_nothing_is_a_timeout() -> None:
    found = classify(*act(shown("basket").actions[:1], steps=30))
    assert found == Classified(kind="timeout", subject="can", reason="the hand never closed at can")


def test_taking_another_block_is_the_wrong_object() -> None:
    recording = shown("stack")
    first = next(e for e in recording.events if e.kind == "grasped")
    other = next(b for b in ("block_1", "block_2", "block_3") if b not in first.subjects)
    third = next(b for b in ("block_1", "block_2", "block_3") if b not in (*first.subjects, other))
    goal = Predicate(name="on", args=(other, third))
    found = classify(*act(recording.actions[: first.step + 5], name="stack", goal=goal))
    assert found is not None
    assert (found.kind, found.subject) == ("wrong_object", first.subjects[0])


def test_an_arm_that_drives_into_the_table_collides() -> None:
    home = world("basket").home
    down = np.repeat(np.append(home, 1.0)[None], 40, axis=0)
    down[:, 5] = 0.4  # fingers back towards the base, so that the wrist arrives first
    down[:, 1] = home[1] + 0.05 * np.minimum(np.arange(40), 34)
    recording, scenario = act(down)
    assert any("table" in e.subjects for e in recording.events if e.kind == "collision")
    assert kind_of((recording, scenario)) == "collision"


def test_what_follows_a_missed_grasp_is_not_its_cause() -> None:
    """A hand that misses and then drives into the table has missed; one that drives into the table and then closes has hit it."""
    home = world("basket").home
    down = np.repeat(np.append(home, 1.0)[None], 40, axis=0)
    down[:, 5] = 0.4
    down[:, 1] = home[1] + 0.05 * np.minimum(np.arange(40), 34)
    missed = np.concatenate([shown("basket").actions[:60], down])
    recording, scenario = act(missed, meddle=push("can", 0.05, 0.03))
    assert [e for e in recording.events if e.kind == "collision"]
    assert kind_of((recording, scenario)) == "missed_grasp"
    hit, scenario = act(np.concatenate([down, shown("basket").actions[:60]]), meddle=push("can", 0.05, 0.03))
    assert kind_of((hit, scenario)) == "collision"


def test_a_drawer_left_shut_is_not_opened_and_one_left_open_is_not_closed() -> None:
    recording = shown("drawer")
    assert kind_of(act(recording.actions[:1], name="drawer", steps=20)) == "not_opened"
    opened = recording.observations["joints/drawer_unit.drawer_top"][:, 0]
    inside = recording.predicate_margins[:, list(recording.predicate_names).index("inside(mug, drawer_unit.drawer_top)")]
    released = event(recording, "released", "mug")
    still_open = np.flatnonzero((inside > 0) & (opened > 0.5 * opened.max()) & (np.arange(len(opened)) > released + 15))
    found = classify(*act(recording.actions[: still_open[0]], name="drawer"))
    assert found is not None
    assert (found.kind, found.subject) == ("not_closed", "drawer_unit.drawer_top")


def test_a_bad_world_and_a_demonstrator_without_a_plan_are_told_by_their_codes() -> None:
    session = Session(world("basket"))
    session.reset(generator(0, "shown"))
    with pytest.raises(WorldFault):
        session.step(np.full(session.world.action_size, np.nan))
    assert kind_of((session.finish(), forged("basket"))) == "world_fault"
    for code, kind in (
        ("pick.unreachable", "unplanned"),
        ("plan.no_symbolic_plan", "unplanned"),
        ("pick.slipped", "slip"),
        ("pick.missed", "missed_grasp"),
        ("open.slipped", "not_opened"),
        ("close.ajar", "not_closed"),
    ):
        session.reset(generator(0, "shown"))
        session.step(session.world.command)
        recording = session.finish(Failure(code=code, subjects=("can",), message="as it said"))
        assert classify(recording, forged("basket")) == Classified(kind=kind, subject="can", reason="as it said")  # type: ignore[arg-type]


def test_a_tally_counts_by_scenario() -> None:
    slip, late = Classified(kind="slip", reason=""), Classified(kind="timeout", reason="")
    counted = tally([("a", slip), ("a", None), ("b", slip), ("a", late), ("b", slip)])
    assert counted.attempts == {"a": 3, "b": 2}
    assert counted.failures == {"a": {"slip": 1, "timeout": 1}, "b": {"slip": 2}}
    assert counted.classes == {"slip": 3, "timeout": 1}
    assert set(counted.classes) <= set(CLASSES)
