"""Robustness: repeated actions and policies under perturbations, in real worlds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from test_collect import STACK, scene

from embodiedsmith.episodes.staging import attempt_rng, warm_world
from embodiedsmith.evaluate.intervals import rate
from embodiedsmith.evaluate.robustness import Perturbation, Shaker, perturbed
from embodiedsmith.evaluate.suites import suite
from embodiedsmith.motion import demonstrate
from embodiedsmith.runtime.errors import UsageError
from embodiedsmith.spec import AssetSpec, Item, Pose, Predicate, Randomization, Scenario
from embodiedsmith.spec.scenario import Area
from embodiedsmith.tasks import Recording, Session
from embodiedsmith.world import World
from embodiedsmith.world.world import OVERLAP

SCENE = scene(STACK)
NOTHING = Perturbation(shift=0.0, turn=0.0, joints=0.0, action_noise=0.0, action_bias=0.0, torque_noise=0.0)


def times(factor: float) -> Perturbation:
    return Perturbation(**{name: factor * size for name, size in Perturbation().model_dump().items()})


def demonstration(scenario: Scenario, attempt: int = 0) -> Recording:
    session = Session(warm_world(scenario), attempt=attempt)
    return demonstrate(session, attempt_rng(0, scenario.id, attempt))


@pytest.fixture(scope="module")
def stacked() -> Recording:
    return demonstration(SCENE)


def test_without_perturbation_an_episode_ends_as_it_did(stacked: Recording) -> None:
    assert stacked.outcome == "success"
    shaker = Shaker(SCENE, 2, NOTHING)
    assert shaker.success(stacked) == rate(2, 2)
    half = replace(stacked, actions=stacked.actions[: stacked.length // 2])
    assert shaker.success(half) == rate(0, 2)
    assert shaker.success(stacked) == rate(2, 2)  # what came before leaves nothing behind


def test_more_perturbation_is_less_success(stacked: Recording) -> None:
    found = [Shaker(SCENE, 8, times(factor)).success(stacked).value for factor in (0.4, 1.4, 4.0)]
    assert 1.0 == found[0] > found[1] > found[2]
    assert found[2] <= 0.25


def test_the_same_draws_whatever_the_threads_and_what_was_tried_before(stacked: Recording) -> None:
    off = times(1.4)
    one = Shaker(SCENE, 4, off)
    other = demonstration(SCENE, 1)
    first = one.success(stacked), one.success(other)
    two = Shaker(SCENE, 4, off, threads=2)
    assert (two.success(other), two.success(stacked)) == (first[1], first[0])


def test_a_recording_of_another_scene_is_refused(stacked: Recording) -> None:
    with pytest.raises(UsageError, match=f"of scenario {SCENE.id}, not of"):
        Shaker(scene(STACK, color="green"), 1).success(stacked)


def served() -> Scenario:
    """A block on a tray, another beside it so near that it is in the way of a large shift."""
    table, block, other = SCENE.scene.items
    tray = Item(id="tray", asset=AssetSpec(category="tray"), parent="table", pose=Pose.planar(-0.15, 0.1))
    on_it = block.model_copy(update={"parent": "tray", "pose": Pose.planar(0.02, 0.0)})
    near = other.model_copy(update={"pose": Pose.planar(-0.15, -0.25)})
    scenery = SCENE.scene.model_copy(update={"items": (table, tray, on_it, near)})
    task = SCENE.task.model_copy(update={"goal": Predicate(name="on", args=("block_2", "tray"))})
    still = Randomization(position=0.0, yaw=0.0, robot_joints=0.0)
    return SCENE.model_copy(update={"scene": scenery, "task": task, "randomization": still})


def test_what_stands_on_a_thing_moves_with_it() -> None:
    scenario = served()
    shaker = Shaker(scenario, 1, Perturbation(shift=0.03, turn=0.5))
    world = World(scenario)
    world.reset(np.random.default_rng(0))
    tray, block = (world.item_pose(name) for name in ("tray", "block"))
    held = np.linalg.inv(tray) @ block
    moved = False
    for k in range(5):
        world.restore(shaker.start(world, np.random.default_rng(k)))
        new_tray, new_block = (world.item_pose(name) for name in ("tray", "block"))
        assert np.linalg.inv(new_tray) @ new_block == pytest.approx(held, abs=1e-9)
        assert new_tray[2, 3] == pytest.approx(tray[2, 3], abs=1e-12)
        assert not world.overlaps(OVERLAP)
        moved |= bool(np.linalg.norm(new_tray[:2, 3] - tray[:2, 3]) > 0.01)
        world.reset(np.random.default_rng(0))
    assert moved


def test_a_suite_perturbed_varies_more_and_is_another_suite() -> None:
    areas = {"block": Area(x=(-0.01, 0.02), y=(0.0, 0.0), yaw=3.14)}
    varied = SCENE.model_copy(update={"randomization": Randomization(position=0.02, areas=areas)})
    plain = suite("blocks", {None: [varied]}, 4, seed=0)
    shaken = perturbed(plain)
    assert shaken.id != plain.id and shaken.trials == plain.trials and shaken.seed == plain.seed
    off, random = Perturbation(), shaken.entries[0].scenario.randomization
    assert random.position == pytest.approx(0.02 + off.shift)
    assert random.areas["block"].x == pytest.approx((-0.01 - off.shift, 0.02 + off.shift))
    assert random.areas["block"].yaw == 3.15
    assert (random.torque_noise, random.robot_joints) == pytest.approx((off.torque_noise, 0.02 + off.joints))
    assert shaken.shared([varied]) == (varied.id,)  # still the same situation, so that it is not trained on
    world = World(shaken.entries[0].scenario)
    world.reset(np.random.default_rng(0))
