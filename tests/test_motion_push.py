"""Pushing in real physics: contacts are made and kept, what no hand can hold is brought near, and failures have types."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from forge_scenes import draft, item, says
from test_motion_skills import bare, on_table, rng, skills_of

from embodiedsmith.forge.layout import layout
from embodiedsmith.motion import demonstrate
from embodiedsmith.motion.controller import Controller
from embodiedsmith.motion.errors import MotionError
from embodiedsmith.motion.skills import skills
from embodiedsmith.spec import EmbodimentSpec, Scenario
from embodiedsmith.tasks import Recording, Session, predicate
from embodiedsmith.world import World

TABLE = item("table")
TOUCH = draft(
    [TABLE, item("block_1", "table"), item("block_2", "table"), item("mug", "table")], says("touching", "block_1", "block_2")
)
BULKY = draft([TABLE, item("box", "table"), item("mug", "table")], says("near", "box", "mug"))


def too_wide(world: World, name: str) -> World:
    """The world, with a thing that no grasp fits."""
    asset = world.assets[name]
    world.assets[name] = replace(asset, affordances=replace(asset.affordances, grasps=()))
    return world


@cache
def shown(name: str, seed: int, robot: str = "panda") -> tuple[World, Recording]:
    made: Scenario = {"touch": TOUCH, "bulky": BULKY}[name].model_copy(update={"embodiment": EmbodimentSpec(name=robot)})
    world = World(layout(made, rng(seed)))
    if name == "bulky":
        too_wide(world, "box")
    return world, demonstrate(Session(world, attempt=seed), rng(seed))


@pytest.mark.parametrize("seed", range(5))
def test_a_block_is_pushed_against_another(seed: int) -> None:
    world, recording = shown("touch", seed)
    assert recording.outcome == "success", recording.failure
    assert skills_of(recording) == ["pick", "place_near", "push"]
    world.restore(recording.states[-1])
    assert world.touching("block_1", "block_2") and not world.touching("finger_0", "block_1")
    assert predicate("on").margin(world, ("block_1", "table")) > 0 and predicate("upright").margin(world, ("block_2",)) > 0


@pytest.mark.parametrize("seed", range(5))
def test_what_is_too_wide_is_pushed_near(seed: int) -> None:
    _, recording = shown("bulky", seed)
    assert recording.outcome == "success", recording.failure
    assert skills_of(recording) == ["push"] and recording.margins[-1] > 0
    moved = recording.observations["items/mug"][[0, -1], :3]
    assert np.linalg.norm(moved[1] - moved[0]) < 0.005  # it stops before what it is to be near to
    grasped = [e for e in recording.events if e.kind == "grasped"]
    assert grasped == [] and (recording.actions[:, -1][-20:] == 1.0).all()


@pytest.mark.parametrize(("name", "robot"), [("touch", "ur5e"), ("bulky", "panda_mobile")])
def test_other_robots_push_too(name: str, robot: str) -> None:
    _, recording = shown(name, 1, robot)
    assert recording.outcome == "success" and skills_of(recording)[-1] == "push", recording.failure


def test_pushing_is_slow_and_within_the_limits() -> None:
    world, recording = shown("bulky", 0)
    box = recording.observations["items/box"][:, :3]
    assert (np.linalg.norm(np.diff(box, axis=0), axis=1) / world.control_dt).max() < 0.15
    commands = np.vstack([recording.states[0][-world.action_size :], recording.actions])[:, : world.joint_count]
    change = np.abs(np.diff(commands, n=2, axis=0)) / world.control_dt**2
    assert (change <= np.asarray(world.robot.arm.acceleration_limits) * 1.05).mean() > 0.98


def begin(world: World) -> Controller:
    session = Session(world)
    session.reset(rng())
    return Controller(session, rng())


def test_what_stands_in_the_way_is_named_with_the_ways_tried() -> None:
    things = [on_table("box", 0.5, 0.35), on_table("mug", 0.5, -0.35), on_table("can", 0.5, 0.05)]
    control = begin(too_wide(World(bare(says("near", "box", "mug"), *things)), "box"))
    steps = control.session.steps
    with pytest.raises(MotionError) as caught:
        skills()["push"].run(control, ("box", "mug"), ())
    assert caught.value.code == "push.blocked" and caught.value.subjects[0] == "box"
    assert "can against box" in caught.value.what and control.session.steps == steps


def test_a_full_hand_does_not_push() -> None:
    control = begin(World(bare(says("touching", "block", "can"), on_table("block", 0.45, 0.1), on_table("can", 0.5, -0.2))))
    control.take("can")
    with pytest.raises(MotionError, match="can is in the hand") as caught:
        skills()["push"].run(control, ("block", "can"), ())
    assert caught.value.code == "push.hand_full"


def test_out_of_reach_is_said_with_the_distance() -> None:
    things = [on_table("block", 0.9, 0.33), on_table("can", 0.9, 0.1)]
    control = begin(World(bare(says("touching", "block", "can"), *things)))
    control.world.data.qpos[control.world.items["block"].qpos] += 2.0
    control.world.data.qpos[control.world.items["can"].qpos] += 2.0
    control.session.step(control.world.command, "")
    with pytest.raises(MotionError, match="in reach") as caught:
        skills()["push"].run(control, ("block", "can"), ())
    assert caught.value.code == "push.unreachable" and caught.value.value is not None and caught.value.value > 1.0


def test_pushing_is_repeatable() -> None:
    world, first = shown("touch", 0)
    again = demonstrate(Session(world, attempt=0), rng(0))
    np.testing.assert_array_equal(first.states, again.states)
