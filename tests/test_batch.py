"""Batches: the same bits as one by one on any number of threads, faults of one world only, states that replay."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np
import pytest
from task_worlds import STILL
from test_world import small

from embodiedsmith.runtime.errors import UsageError
from embodiedsmith.spec import AssetSpec, Item, Pose, Randomization
from embodiedsmith.tasks import GoalMonitor
from embodiedsmith.world import Batch, SettleError, World, WorldFault
from embodiedsmith.world.batch_warp import why_not

COUNT = 4
VARIED = Randomization(position=0.01, yaw=0.2, mass=(0.7, 1.4), friction=(0.7, 1.3), robot_joints=0.02)
NOISY = VARIED.model_copy(update={"torque_noise": 0.05, "observation_noise": 0.02})


def rngs(count: int = COUNT, start: int = 0) -> list[np.random.Generator]:
    return [np.random.default_rng(start + k) for k in range(count)]


def waves(batch: Batch, step: int) -> np.ndarray:
    """Actions that differ from world to world, move every joint and open and close the gripper."""
    k, j = np.arange(batch.count)[:, None], np.arange(batch.action_size)
    actions = batch.command + 0.04 * np.sin(0.3 * step + k + j)
    actions[:, -1] = 0.5 - 0.7 * np.cos(0.2 * step + k[:, 0])  # beyond both ends, too
    return actions


@cache
def plain() -> Batch:
    """The batch of varied worlds that tests share; each resets it."""
    return Batch(small(random=VARIED), COUNT)


# ------------------------------------------------------------------ the same as one by one


@pytest.mark.parametrize(("robot", "random", "threads"), [
    ("panda", VARIED, 1), ("panda", NOISY, 2), ("ur5e", VARIED, 2), ("panda_mobile", NOISY, 1),
])  # fmt: skip
def test_a_batch_does_what_its_worlds_do_one_by_one(robot: str, random: Randomization, threads: int) -> None:
    scenario = small(random=random, robot=robot)
    batch, alone = Batch(scenario, COUNT, threads=threads), [World(scenario) for _ in range(COUNT)]
    assert batch.reset(rngs()) == (None,) * COUNT
    for world, rng in zip(alone, rngs(), strict=True):
        world.reset(rng)
    monitors = [[GoalMonitor(scenario.task.goal, world) for world in worlds] for worlds in (batch.worlds, alone)]
    assert [m.reset() for m in monitors[0]] == [m.reset() for m in monitors[1]]
    for step in range(24):
        actions = waves(batch, step)
        assert batch.step(actions) == (None,) * COUNT
        for world, action in zip(alone, actions, strict=True):
            world.step(action)
        np.testing.assert_array_equal(batch.save(), [world.save() for world in alone])
        np.testing.assert_array_equal(batch.observe(), [world.observe() for world in alone])
        if step % 5 == 4:
            for k, world in enumerate(alone):
                seen = batch.world(k)
                assert seen.contacts() == world.contacts() and seen.control_step == step + 1
                np.testing.assert_array_equal(seen.save(), world.save())
                np.testing.assert_array_equal(seen.observe(), world.observe())
                np.testing.assert_array_equal(seen.data.xpos, world.data.xpos)
                assert monitors[0][k].update() == monitors[1][k].update()


def test_worlds_vary_each_by_itself() -> None:
    batch = plain()
    batch.reset(rngs())
    masses = {float(world.model.body_mass[world.items["mug"].body]) for world in batch.worlds}
    places = {tuple(batch.world(k).item_pose("mug")[:2, 3]) for k in range(COUNT)}
    assert len(masses) == len(places) == COUNT
    weighed = batch.save()
    batch.reset(rngs(1), ids=[2])  # the draws of world 0
    np.testing.assert_array_equal(batch.save()[2], weighed[0])
    np.testing.assert_array_equal(batch.save()[[0, 1, 3]], weighed[[0, 1, 3]])
    for step in range(6):
        actions = waves(batch, step)
        actions[2] = actions[0]
        batch.step(actions)
    np.testing.assert_array_equal(batch.save()[2], batch.save()[0])
    assert not np.array_equal(batch.save()[1], batch.save()[0])


def test_a_step_of_some_leaves_the_others_alone() -> None:
    batch = plain()
    batch.reset(rngs())
    before = batch.save()
    assert batch.step(waves(batch, 0)[[3, 1]], ids=[3, 1]) == (None, None)
    after = batch.save()
    np.testing.assert_array_equal(after[[0, 2]], before[[0, 2]])
    np.testing.assert_allclose(batch.time, [0.0, batch.control_dt, 0.0, batch.control_dt])
    seen = batch.observe()
    np.testing.assert_array_equal(batch.observe([3, 0]), seen[[3, 0]])
    np.testing.assert_array_equal(batch.save([3, 0]), after[[3, 0]])
    batch.world(3)  # from now on it is read from, and not posed again
    np.testing.assert_array_equal(batch.observe([1, 3]), seen[[1, 3]])
    np.testing.assert_array_equal(batch.observe(), [batch.world(k).observe() for k in range(COUNT)])
    batch.reset(rngs())
    batch.step(waves(batch, 0))
    np.testing.assert_array_equal(batch.save()[[1, 3]], after[[1, 3]])


@pytest.mark.parametrize("matter", ["towel", "water", "plush_block"])
def test_worlds_of_cloth_and_liquid_and_soft_things_do_in_a_batch_what_they_do_alone(matter: str) -> None:
    scenario = small(random=VARIED)
    corner = Pose.planar(0.15, -0.25)
    items = [Item(id="it", asset=AssetSpec(category=matter), parent="table", pose=corner)]
    if matter == "water":
        items = [Item(id="jug", asset=AssetSpec(category="jug"), parent="table", pose=corner)]
        items += [Item(id="it", asset=AssetSpec(category="water"), parent="jug", relation="inside", pose=Pose())]
    scene = scenario.scene.model_copy(update={"items": (scenario.scene.items[0], *items)})
    scenario = scenario.model_copy(update={"scene": scene})
    batch, alone = Batch(scenario, 2, threads=2), [World(scenario) for _ in range(2)]
    assert batch.reset(rngs(2)) == (None, None)
    for world, rng in zip(alone, rngs(2), strict=True):
        world.reset(rng)
    for step in range(4):
        actions = waves(batch, step)
        assert batch.step(actions) == (None, None)
        for k, world in enumerate(alone):
            world.step(actions[k])
            np.testing.assert_array_equal(batch.save()[k], world.save())
            np.testing.assert_array_equal(batch.observe()[k], world.observe())
            np.testing.assert_array_equal(batch.world(k).matter("it"), world.matter("it"))


# ------------------------------------------------------------------ states


def test_worlds_restored_in_the_middle_go_on_with_the_same_bits() -> None:
    batch = Batch(small(random=NOISY), COUNT)
    batch.reset(rngs())
    rows = []
    for step in range(16):
        batch.step(waves(batch, step))
        rows.append((batch.save(), batch.observe()))
    for back, ids in ((4, None), (9, [0, 2])):
        chosen = list(range(COUNT)) if ids is None else ids
        batch.restore(rows[back][0][chosen], ids=ids)
        np.testing.assert_array_equal(batch.save()[chosen], rows[back][0][chosen])
        np.testing.assert_array_equal(batch.observe()[chosen], rows[back][1][chosen])
        for step in range(back + 1, 16):
            batch.step(waves(batch, step)[chosen], ids=ids)
            np.testing.assert_array_equal(batch.save()[chosen], rows[step][0][chosen])
    np.testing.assert_array_equal(batch.save(), rows[-1][0])


# ------------------------------------------------------------------ going wrong


def _spoil(batch: Batch, k: int, value: float) -> None:
    """Give the mug of one world a speed that the engine cannot bear."""
    world = batch.world(k)
    world.data.qvel[world.items["mug"].dof] = value
    batch.restore(world.save()[None], ids=[k])


@pytest.mark.parametrize(("value", "code"), [(1e12, "world.engine_warning"), (np.nan, "world.engine_warning")])
def test_a_world_gone_wrong_is_a_fault_of_that_world_only(value: float, code: str) -> None:
    batch = plain()
    batch.reset(rngs())
    batch.step(waves(batch, 0))
    good = batch.save()
    batch.step(waves(batch, 1))
    expected = batch.save()
    batch.restore(good)
    _spoil(batch, 1, value)
    faults = batch.step(waves(batch, 1))
    assert isinstance(faults[1], WorldFault) and faults[1].code == code
    assert [f is None for f in faults] == batch.alive.tolist() == [True, False, True, True]
    np.testing.assert_array_equal(batch.save()[[0, 2, 3]], expected[[0, 2, 3]])
    stopped = batch.save()[1]
    assert batch.step(waves(batch, 2))[1] is faults[1]
    np.testing.assert_array_equal(batch.save()[1], stopped)  # it stands still
    batch.restore(good)
    assert batch.alive.all() and batch.step(waves(batch, 1)) == (None,) * COUNT
    np.testing.assert_array_equal(batch.save(), expected)
    _spoil(batch, 1, value)
    batch.step(waves(batch, 2))
    batch.reset(rngs(1), ids=[1])
    assert batch.alive.all() and batch.time[1] == 0.0


def test_an_action_that_is_not_finite_stops_that_world_and_changes_nothing() -> None:
    batch = plain()
    batch.reset(rngs())
    before, actions = batch.save(), waves(batch, 0)
    actions[2, 3] = np.nan
    faults = batch.step(actions)
    assert isinstance(faults[2], WorldFault) and faults[2].code == "world.bad_action" and "not finite" in str(faults[2])
    np.testing.assert_array_equal(batch.save()[2], before[2])
    assert batch.alive.tolist() == [True, True, False, True] and (batch.time[[0, 1, 3]] > 0).all()


def test_worlds_that_do_not_settle_say_why_and_stand_still() -> None:
    scenario = small(random=STILL)
    box = AssetSpec(category="block", params={"length": 0.07, "width": 0.07, "height": 0.07})
    boxes = tuple(Item(id=f"box_{k}", asset=box, parent="table", pose=Pose.planar(-0.1 + 0.01 * k, 0.0)) for k in range(2))
    scene = scenario.scene.model_copy(update={"items": (scenario.scene.items[0], *boxes)})
    batch = Batch(scenario.model_copy(update={"scene": scene}), 2)
    errors = batch.reset(rngs(2))
    assert all(isinstance(error, SettleError) and error.findings[0].code == "physics.overlap" for error in errors)
    assert batch.step(batch.command) == errors and not batch.alive.any() and (batch.time == 0.0).all()


def _wrong(batch: Batch) -> Iterator[tuple[str, str]]:
    calls = {
        "3 generators for 4 worlds": lambda: batch.reset(rngs(3)),
        "actions have shape": lambda: batch.step(np.zeros((COUNT, 3))),
        "1 actions for 4 worlds": lambda: batch.step(np.zeros((1, batch.action_size))),
        "each may be named once": lambda: batch.step(np.zeros((2, batch.action_size)), ids=[1, 1]),
        "from 0 to 3": lambda: batch.step(np.zeros((1, batch.action_size)), ids=[4]),
        "state has shape": lambda: batch.restore(batch.save()[:, :-1]),
        "a batch of 0 worlds": lambda: Batch(small(), 0),
    }
    for expected, call in calls.items():
        with pytest.raises(UsageError) as caught:
            call()
        yield expected, str(caught.value)


def test_what_is_asked_wrongly_is_refused() -> None:
    batch = plain()
    batch.reset(rngs())
    before = batch.save()
    said = list(_wrong(batch))
    assert len(said) == 7
    for expected, text in said:
        assert expected in text
    np.testing.assert_array_equal(batch.save(), before)


# ------------------------------------------------------------------ graphics cards


@pytest.mark.skipif(why_not() is not None, reason=f"no batch on a graphics card here: {why_not()}")
def test_a_graphics_card_computes_nearly_the_same() -> None:
    scenario = small(random=NOISY.model_copy(update={"mass": (0.5, 2.0)}))
    near, exact = Batch(scenario, COUNT, device="cuda"), Batch(scenario, COUNT)
    for batch in (near, exact):
        assert batch.reset(rngs()) == (None,) * COUNT
    np.testing.assert_array_equal(near.save(), exact.save())
    for step in range(10):
        actions = waves(exact, step)
        ids = None if step < 5 else [0, 3]
        for batch in (near, exact):
            faults = batch.step(actions if ids is None else actions[ids], ids=ids)
            assert faults == (None,) * len(faults)
        np.testing.assert_allclose(near.time, exact.time, atol=1e-12)
        np.testing.assert_allclose(near.observe(), exact.observe(), atol=0.02)  # efforts are stiff: 4500 N m a rad
    assert all(near.world(k).contacts() == exact.world(k).contacts() for k in range(COUNT))
    _spoil(near, 1, np.nan)
    faults = near.step(near.command)
    assert isinstance(faults[1], WorldFault) and [f is None for f in faults] == [True, False, True, True]


@pytest.mark.skipif(why_not() is None, reason="there is a graphics card")
def test_without_a_graphics_card_asking_for_one_says_why_not() -> None:
    with pytest.raises(UsageError, match="worlds cannot be stepped on cuda") as caught:
        Batch(small(), 2, device="cuda")
    assert str(why_not()) in str(caught.value) and "leave device at 'cpu'" in str(caught.value)
