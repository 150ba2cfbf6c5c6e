"""Draping: a cloth is drawn over what it is to cover without rubbing on it, covers it and stays."""

import numpy as np
import pytest
from task_worlds import STILL, TABLE, p

from embodiedsmith.motion import MotionError, symbolic
from embodiedsmith.motion.controller import Controller
from embodiedsmith.motion.skills import drape
from embodiedsmith.spec import AssetSpec, EmbodimentSpec, Item, Pose, Scenario, SceneSpec, TaskSpec
from embodiedsmith.tasks import Session, predicate
from embodiedsmith.tasks.cloths import corners
from embodiedsmith.world import World

GOAL = p("covers", "napkin", "bowl")
SIDE = 0.33
"""[m] Of the napkin."""


BOWL = AssetSpec(category="bowl", params={"diameter": 0.12})
BOX = AssetSpec(category="box", params={"width": 0.2, "depth": 0.15, "height": 0.06})


def covering(under: AssetSpec, yaw: float, *others: Item) -> World:
    """A napkin on a table before a Panda, beside it what is to be covered, turned by `yaw` [rad], and other things."""
    napkin = AssetSpec(category="napkin", params={"side": SIDE})
    items = (
        Item(id="table", asset=AssetSpec(category="table"), pose=Pose.planar(0.6, 0.0), fixed=True),
        Item(id="napkin", asset=napkin, parent="table", pose=Pose.planar(-0.1, -0.17, yaw=0.3)),
        Item(id="bowl", asset=under, parent="table", pose=Pose.planar(-0.1, 0.17, yaw=yaw)),
        *others,
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


def test_a_cloth_is_drawn_straight_over_the_middle_and_laid_down_on_arcs_on_which_it_does_not_slide() -> None:
    made = covering(BOX, 0.5)
    control = start(made)
    way = next(drape._ways(control, "napkin", "bowl", "table.top"))
    matter, points = made.assets["napkin"].matter, made.matter("napkin")
    assert matter is not None and way.point in corners(matter.grid)
    middle, diagonal = made.corners("bowl").mean(axis=0), SIDE * np.sqrt(2)
    across = np.array([-way.along[1], way.along[0], 0.0])
    path = np.array([*way.up(points[way.point]), *way.down(way.reach)]) - middle
    assert np.abs(path @ across).max() < 1e-9 and (np.diff(path @ way.along) > -0.01).all()
    assert 2 * way.half + 2 * way.overhang == pytest.approx(diagonal, abs=1e-3)
    near, far = way.at(-way.half, way.height), way.at(way.half, way.height)
    held = diagonal - way.overhang
    assert np.linalg.norm(way.up(points[way.point])[-1] - near) == pytest.approx(held, abs=1e-3)
    assert np.linalg.norm(way.down(way.reach)[-1] - far) == pytest.approx(held - 2 * way.half, abs=0.011)
    assert way.down(way.reach)[-1][2] < far[2]


def test_cloth_is_not_drawn_over_what_lies_between() -> None:
    can = Item(id="can", asset=AssetSpec(category="can"), parent="table", pose=Pose.planar(-0.16, 0.05))
    with pytest.raises(MotionError, match="can is in the way of napkin") as error:
        drape._first(start(covering(BOWL, 0.0, can)), "napkin", "bowl", "table.top")
    assert error.value.code == "drape.blocked" and error.value.subjects == ("napkin", "can")
    aside = can.model_copy(update={"pose": Pose.planar(0.2, 0.3)})
    drape._first(start(covering(BOWL, 0.0, aside)), "napkin", "bowl", "table.top")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_a_napkin_is_drawn_over_a_bowl_and_stays_and_the_bowl_too(seed: int) -> None:
    made = covering(BOWL, 0.4 * seed)
    assert [step.skill for step in symbolic.plan(made, GOAL)] == ["drape"]
    control, before = start(made, seed), made.item_pose("bowl")[:3, 3]
    drape.SKILL.run(control, ("napkin", "bowl", "table.top"), ())
    for _ in range(100):
        made.step(made.command)
    assert predicate("covers").margin(made, GOAL.args) > 0.015
    assert np.linalg.norm(made.item_pose("bowl")[:3, 3] - before) < 0.01
    assert made.speed() < 0.02 and made.overlaps(0.003) == {}
