"""Turning knobs and levers: by the joint's own geometry, with jaws and with a hand of fingers."""

from __future__ import annotations

import numpy as np
import pytest

from embodiedsmith import assets
from embodiedsmith.bench.hand import PARTS, turning
from embodiedsmith.forge.certificate import LEAST_MISSES
from embodiedsmith.motion.articulation import Articulation, plan_arc
from embodiedsmith.motion.controller import Controller
from embodiedsmith.motion.demonstrator import demonstrate
from embodiedsmith.spec import AssetSpec
from embodiedsmith.tasks.registry import predicate
from embodiedsmith.tasks.session import Session
from embodiedsmith.world import World


@pytest.mark.parametrize(
    ("category", "robot", "goal", "start"),
    [
        ("knob", "panda", "turned", 0.0), ("knob", "ur5e_leap", "turned", 0.0), ("knob", "panda", "closed", 0.7),
        ("faucet", "panda", "closed", 0.8), ("faucet", "ur5e_leap", "open", 0.0), ("faucet", "panda", "turned", 0.0),
    ],
)  # fmt: skip
def test_knobs_and_levers_are_turned_in_physics(category: str, robot: str, goal: str, start: float) -> None:
    world = World(turning(category, robot, goal, start=start, at=(-0.08, 0.06)))
    recording = demonstrate(Session(world), np.random.default_rng(0))
    assert recording.outcome == "success", recording.failure
    turn = world.joint(PARTS[category])[0]
    assert turn > 1.2 if goal != "closed" else turn < 0.03
    assert all(e.kind != "skill_failed" for e in recording.events)


def test_the_hand_turns_with_a_knob_and_stays_on_its_axis() -> None:
    session = Session(World(turning("knob", "panda", "turned")))
    session.reset(np.random.default_rng(0))
    control = Controller(session, np.random.default_rng(0))
    part = Articulation(control, PARTS["knob"])
    plan = plan_arc(part, (0.8,), push=False, stage="open")
    first, last = (control.checker.pose(joints) for joints in (plan.arc[0], plan.arc[-1]))
    np.testing.assert_allclose(first[:3, 3], last[:3, 3], atol=1.5e-3)
    turned = np.arccos((np.trace(first[:3, :3].T @ last[:3, :3]) - 1) / 2)
    assert turned == pytest.approx(0.8 * part.info.open, abs=0.02) and first[2, 2] < -0.999


def test_a_lever_cannot_be_pushed_shut_against_its_face() -> None:
    session = Session(World(turning("faucet", "panda", "closed", start=0.8)))
    session.reset(np.random.default_rng(0))
    part = Articulation(Controller(session, np.random.default_rng(0)), PARTS["faucet"])
    assert not part.pushable
    assert plan_arc(part, (0.0,), push=True, stage="close").grips


@pytest.mark.parametrize(("turn", "margin"), [(0.0, -1.2), (1.19, -0.01), (1.3, 0.1)])
def test_the_margin_of_turned_is_the_angle_that_is_left(turn: float, margin: float) -> None:
    world = World(turning("knob", "panda", "turned"))
    world.reset(np.random.default_rng(0))
    world.data.qpos[world.joint_qpos["knob.knob"]] = turn
    assert predicate("turned").margin(world, ("knob.knob",)) == pytest.approx(margin, abs=1e-6)


@pytest.mark.parametrize("angle", [0.4, 1.2])
def test_a_turn_alone_has_near_misses_enough_for_a_certificate(angle: float) -> None:
    world = World(turning("knob", "panda", "turned"))
    world.reset(np.random.default_rng(0))
    kind = predicate("turned")
    params = kind.resolve({"angle": angle})
    world.data.qpos[world.joint_qpos["knob.knob"]] = angle + 0.1
    held = world.save()
    misses = list(kind.near_misses(world, ("knob.knob",), params))
    assert len({miss.name for miss in misses}) >= LEAST_MISSES
    for miss in misses:
        world.restore(held)
        assert kind.margin(world, ("knob.knob",), params) > 0
        miss.apply(world)
        assert kind.margin(world, ("knob.knob",), params) <= 0, miss.name


def test_what_slides_or_does_not_go_so_far_is_not_asked_to_turn() -> None:
    built = {"unit": assets.build(AssetSpec(category="drawer_unit")), "knob": assets.build(AssetSpec(category="knob"))}
    drawer = next(iter(built["unit"].joints))
    kind = predicate("turned")
    assert "only slides" in kind.check(built, (f"unit.{drawer}",), kind.resolve({}))[0]
    assert "at most 1.60 rad" in kind.check(built, ("knob.knob",), {"angle": 2.0})[0]
    assert kind.check(built, ("knob.knob",), kind.resolve({})) == []
