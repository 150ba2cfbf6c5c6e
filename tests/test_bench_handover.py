"""Handing over with a wrong belief of where the thing is: what is believed, what is true, and one start that is measured."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import pytest
from task_worlds import TABLE, p

from embodiedsmith.bench import handover
from embodiedsmith.forge import forge
from embodiedsmith.motion.controller import Controller
from embodiedsmith.motion.mistaken import MistakenWorld
from embodiedsmith.spec import AssetSpec, EmbodimentSpec, Item, Pose, Randomization, Scenario, SceneSpec, Sequence, TaskSpec
from embodiedsmith.tasks import Session
from embodiedsmith.world import World

PASSED = Sequence(goals=(p("in_left_hand", "thing"), p("in_right_hand", "thing")))
BESIDE = (0.01, -0.004, 0.0)  # [m]


def scenario() -> Scenario:
    items = (
        Item(id="table", asset=AssetSpec(category="table"), pose=Pose.planar(0.575, 0.0), fixed=True),
        Item(id="thing", asset=AssetSpec(category="stick"), parent="table", pose=Pose.planar(-0.15, 0.15, 0.0, 0.8)),
    )
    return Scenario(
        scene=SceneSpec(items=items),
        task=TaskSpec(goal=PASSED, horizon=60.0, hold_steps=10),
        embodiment=EmbodimentSpec(name="aloha", base=Pose.planar(0.0, 0.0, TABLE)),
        randomization=Randomization(position=0.0, yaw=0.0),
    )


def test_a_mistaken_demonstrator_plans_beside_the_thing_and_the_world_stays_as_it_is() -> None:
    world = World(scenario())
    session = Session(world)
    session.reset(np.random.default_rng(0))
    before = world.save()
    control = Controller(session, np.random.default_rng(0), beside={"thing": BESIDE})
    control.look()
    off = math.sin(0.8), math.cos(0.8)
    shift = (0.01 * off[1] + 0.004 * off[0], 0.01 * off[0] - 0.004 * off[1], 0.0)
    np.testing.assert_allclose(control.world.item_pose("thing")[:3, 3] - world.item_pose("thing")[:3, 3], shift, atol=1e-5)
    at = world.items["thing"].qpos
    moved = control.checker.data.qpos - world.data.qpos
    np.testing.assert_allclose(moved[at : at + 3], shift, atol=1e-5)
    assert np.array_equal(world.save(), before)
    control.step()
    assert world.time == control.world.time > 0
    assert np.array_equal(control.world.command, world.command)
    assert np.array_equal(control.world.item_pose("table"), world.item_pose("table"))


def test_nobody_is_mistaken_about_what_is_fixed_or_not_there() -> None:
    world = World(scenario())
    with pytest.raises(ValueError, match="nobody is mistaken about table"):
        MistakenWorld(world, {"table": BESIDE})
    with pytest.raises(KeyError):
        MistakenWorld(world, {"mug": BESIDE})


def test_beliefs_are_drawn_level_within_the_noise_and_again_alike() -> None:
    made = scenario()
    drawn = np.array([handover.believed_beside(made, 0.01, seed) for seed in range(200)])
    assert np.array_equal(drawn[7], handover.believed_beside(made, 0.01, 7))
    assert (drawn[:, 2] == 0.0).all() and np.abs(drawn).max() <= 0.01
    assert np.abs(drawn[:, :2]).mean(axis=0) == pytest.approx([0.005, 0.005], abs=0.001)


def test_a_start_is_forged_done_and_measured() -> None:
    said: list[str] = []
    found = handover.measure(n=1, shapes=("stick",), say=said.append)
    (row,) = found["rows"]
    assert row["succeeded"] and row["failure"] is None and max(map(abs, row["beside_mm"])) <= 10.0
    assert len(said) == found["starts"] == found["succeeded"] == found["shapes"]["stick"]["succeeded"] == 1
    assert handover.lines(found)[0] == "stick: 1 of 1 handed over (21 to 100 %)"


def test_what_cannot_be_forged_counts_as_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handover, "forge", partial(forge, budget=1.0))
    found = handover.measure(n=1, shapes=("block",))
    assert found["succeeded"] == 0 and found["shapes"]["block"]["failures"] == found["failures"]
    assert next(iter(found["failures"])).startswith("forge.")
