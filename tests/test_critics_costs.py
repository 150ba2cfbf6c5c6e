"""What judging costs: counted, the same again, and no start settled twice."""

from __future__ import annotations

import numpy as np
import pytest
from critic_scenes import BY_NAME, changed, drawers, on_table

from embodiedsmith.forge.critics import Context, critics, review
from embodiedsmith.spec import Pose
from embodiedsmith.world import SettleError, World


def test_cost_is_counted_in_what_is_simulated_and_planned_and_is_the_same_again() -> None:
    judges = [c for c in critics() if c.name not in ("novelty", "near_misses")]
    contexts = [Context(drawers()) for _ in range(2)]
    for context in contexts:
        assert review(context, among=judges).accepted
    costs = contexts[0].costs
    counted = {name: (cost.simulated, cost.plans, cost.units) for name, cost in costs.items()}
    assert counted == {name: (cost.simulated, cost.plans, cost.units) for name, cost in contexts[1].costs.items()}
    assert all(cost.units == cost.simulated + cost.plans for cost in costs.values())
    assert sum(cost.simulated for cost in costs.values()) == pytest.approx(contexts[0].simulated)
    witness = contexts[0].witness
    assert witness is not None
    assert costs["execution"].simulated == pytest.approx(witness.length * contexts[0].world.control_dt)  # its start is known
    assert costs["execution"].plans == witness.cost["plans"] > 0
    assert costs["motion"].plans == 2 and costs["motion"].simulated == 0.0  # a drawer to open, a mug to take and put there
    assert costs["spec"].units == costs["geometry"].units == costs["reach"].units == 0.0
    assert 1.0 < costs["physics"].simulated < 2.5  # nothing stirs: a glance is enough


def test_a_start_is_settled_once_and_is_the_same_bits_as_in_a_fresh_world() -> None:
    scenario = drawers()
    context = Context(scenario, seed=4)
    states = [context.start(k).save() for k in (0, 1)]
    spent = context.simulated
    context.world.step(context.world.command)
    for k in (1, 0):
        assert np.array_equal(context.start(k).save(), states[k])
    assert context.simulated == pytest.approx(spent + context.world.control_dt)
    fresh = World(scenario)
    rng, known = context.start_rng(1), context.start_rng(1)
    fresh.reset(rng)
    context.world.reset(known)
    assert np.array_equal(fresh.save(), states[1])
    assert rng.bit_generator.state == known.bit_generator.state
    for world in (fresh, context.world):
        for _ in range(20):
            world.step(world.command + 0.01)
    assert np.array_equal(fresh.save(), context.world.save())


def test_what_does_not_come_to_rest_is_remembered_too() -> None:
    context = Context(changed(on_table((0.0, 0.2), (0.0, -0.2)), "block_1", pose=Pose(position=(0.0, 0.2, 0.05))))
    with pytest.raises(SettleError) as first:
        context.start()
    spent = context.simulated
    with pytest.raises(SettleError) as second:
        context.start()
    assert context.simulated == spent > 0
    assert first.value.findings == second.value.findings


@pytest.mark.parametrize(("pace", "watched"), [(0.0, 1.0), (0.0015, 5.0)])
def test_what_creeps_too_slowly_for_a_glance_is_watched_for_five_seconds(pace: float, watched: float) -> None:
    """1.5 mm/s: 1.5 mm in the first second, 7.5 mm in five."""
    context = Context(on_table((0.05, 0.2), (0.05, -0.2)))
    world, step = context.world, context.world.step
    at = world.items["block_1"].qpos

    def crawling(action: np.ndarray) -> None:
        step(action)
        world.data.qpos[at] += pace * world.control_dt

    world.step = crawling  # type: ignore[method-assign]
    context.start()
    before = context.simulated
    findings = BY_NAME["physics"].review(context)
    assert context.simulated - before == pytest.approx(watched)
    assert [(f.code, f.subjects) for f in findings] == ([("physics.drifts", ("block_1",))] if pace else [])
    assert all(f.value == pytest.approx(0.0075, abs=5e-4) for f in findings)
