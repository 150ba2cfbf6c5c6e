"""Draping: a cloth is turned along what it is laid over, and covers it."""

import numpy as np
import pytest
from task_worlds import STILL, TABLE, p

from embodiedsmith.motion import symbolic
from embodiedsmith.motion.controller import Controller
from embodiedsmith.motion.skills import drape
from embodiedsmith.spec import AssetSpec, EmbodimentSpec, Item, Pose, Scenario, SceneSpec, TaskSpec
from embodiedsmith.tasks import Session, predicate
from embodiedsmith.tasks.cloths import edges
from embodiedsmith.world import World
from embodiedsmith.world import transforms as tf

GOAL = p("covers", "napkin", "bowl")
SIDE = 0.33
"""[m] Of the napkin."""


def covering(under: AssetSpec, yaw: float) -> World:
    """A napkin on a table before a Panda, and beside it what is to be covered, turned by `yaw` [rad]."""
    napkin = AssetSpec(category="napkin", params={"side": SIDE})
    items = (
        Item(id="table", asset=AssetSpec(category="table"), pose=Pose.planar(0.6, 0.0), fixed=True),
        Item(id="napkin", asset=napkin, parent="table", pose=Pose.planar(-0.1, -0.17, yaw=0.3)),
        Item(id="bowl", asset=under, parent="table", pose=Pose.planar(-0.1, 0.17, yaw=yaw)),
    )
    return World(
        Scenario(
            scene=SceneSpec(items=items), task=TaskSpec(goal=GOAL, horizon=60.0, hold_steps=10),
            embodiment=EmbodimentSpec(name="panda", base=Pose.planar(0.0, 0.0, TABLE)), randomization=STILL,
        )
    )  # fmt: skip


def start(made: World, seed: int = 0) -> Controller:
    session = Session(made)
    session.reset(np.random.default_rng(seed))
    return Controller(session, np.random.default_rng(seed))


def test_a_cloth_is_turned_along_what_it_is_laid_over() -> None:
    made = covering(AssetSpec(category="box", params={"width": 0.2, "depth": 0.15, "height": 0.06}), 0.5)
    control = start(made)
    way = next(iter(drape._ways(control, "napkin", "bowl", "table.top")))
    matter, points = made.assets["napkin"].matter, made.matter("napkin")
    assert matter is not None
    edge = next(e for e in edges(matter.grid) if e.middle == way.point)
    leads = tf.turn_z(way.turn)[:3, :3] @ (points[edge.middle] - points[edge.opposite])
    along = made.item_pose("bowl")[:3, :2].T @ leads / np.linalg.norm(leads)
    assert np.abs(along).max() > 0.999 and np.abs(along).min() < 0.02
    assert abs(way.turn) <= np.pi / 4 + 1e-6
    over = points[way.point] + way.via[-1] - made.corners("bowl").mean(axis=0)
    assert over[:2] @ leads[:2] / np.linalg.norm(leads) == pytest.approx(SIDE / 2 + drape.CLEAR, abs=0.01)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_a_napkin_is_laid_over_a_bowl_and_stays(seed: int) -> None:
    made = covering(AssetSpec(category="bowl", params={"diameter": 0.12}), 0.4 * seed)
    assert [step.skill for step in symbolic.plan(made, GOAL)] == ["drape"]
    drape.SKILL.run(start(made, seed), ("napkin", "bowl", "table.top"), ())
    for _ in range(100):
        made.step(made.command)
    assert predicate("covers").margin(made, GOAL.args) > 0
    assert made.speed() < 0.02 and made.overlaps(0.003) == {}
