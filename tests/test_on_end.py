"""What is too long to lie in a mug stands in it on its end: what fits so, how it is put there, and what only looks like it."""

from functools import cache

import numpy as np
import pytest
from task_worlds import STILL, TABLE, p

from embodiedsmith import assets
from embodiedsmith.forge.layout import LayoutError, fit, needs
from embodiedsmith.motion import demonstrate
from embodiedsmith.motion.placing import stands_on_end
from embodiedsmith.spec import AssetSpec, EmbodimentSpec, Item, Pose, Scenario, SceneSpec, TaskSpec
from embodiedsmith.tasks import Session, predicate
from embodiedsmith.world import World

GOAL = p("inside", "spoon", "mug")


def scenario(length: float = 0.2) -> Scenario:
    """A spoon and a mug on a table before a Panda."""
    spoon = AssetSpec(category="spoon", params={"length": length})
    items = (
        Item(id="table", asset=AssetSpec(category="table"), pose=Pose.planar(0.6, 0.0), fixed=True),
        Item(id="mug", asset=AssetSpec(category="mug"), parent="table", pose=Pose.planar(-0.05, -0.2)),
        Item(id="spoon", asset=spoon, parent="table", pose=Pose.planar(-0.1, 0.2, yaw=1.4)),
    )
    return Scenario(
        scene=SceneSpec(items=items), task=TaskSpec(goal=GOAL, horizon=30.0, hold_steps=5),
        embodiment=EmbodimentSpec(name="panda", base=Pose.planar(0.0, 0.0, TABLE)), randomization=STILL,
    )  # fmt: skip


@cache
def done() -> tuple[World, np.ndarray, str]:
    """A world in which the spoon has been put in the mug, its state, and the outcome."""
    session = Session(World(scenario()))
    recording = demonstrate(session, np.random.default_rng(0))
    return session.world, session.world.save(), recording.outcome


@pytest.mark.parametrize(
    ("thing", "place", "stands"),
    [
        (AssetSpec(category="spoon"), "mug", True),
        (AssetSpec(category="spoon", params={"length": 0.32}), "mug", False),  # it would fall out over the rim
        (AssetSpec(category="plate"), "mug", False),  # too wide
        (AssetSpec(category="bottle"), "mug", False),  # as it stands it is too wide, and lies nowhere
        (AssetSpec(category="spoon"), "bowl", False),  # too shallow: it fell out of one
        (AssetSpec(category="apple"), "bowl", False),  # it lies in it
        (AssetSpec(category="spoon"), "drawer_unit", False),  # not open above
    ],
)  # fmt: skip
def test_what_stands_on_its_end(thing: AssetSpec, place: str, stands: bool) -> None:
    for cavity in assets.build(AssetSpec(category=place)).affordances.cavities:
        assert stands_on_end(assets.build(thing), cavity) == stands


def test_a_spoon_in_a_mug_is_no_misfit_and_a_ladle_of_32_cm_is() -> None:
    for length, fits in ((0.2, True), (0.32, False)):
        draft = scenario(length)
        built = {item.id: assets.build(item.asset) for item in draft.scene.items}
        wanted = needs.read(draft, built)
        assert fit.on_end(wanted.targets[0], built) == fits
        if fits:
            assert fit.fitted(draft, built, wanted)[0] == draft
        else:
            with pytest.raises(LayoutError, match="does not fit"):
                fit.fitted(draft, built, wanted)


def test_a_spoon_is_put_in_a_mug_its_bowl_down() -> None:
    world, state, outcome = done()
    world.restore(state)
    assert outcome == "success"
    assert world.item_pose("spoon")[2, 0] < -0.8, "the bowl is at +x"
    assert world.item_pose("mug")[2, 2] > 0.99
    assert world.touching("spoon", "mug") and not world.touching("spoon", "table")


def test_near_misses_of_a_spoon_in_a_mug_are_refused_one_across_the_rim_among_them() -> None:
    world, state, _ = done()
    world.restore(state)
    kind = predicate("inside")
    misses = list(kind.near_misses(world, GOAL.args, kind.resolve({})))
    assert "lying across its rim" in {miss.name for miss in misses}
    for miss in misses:
        world.restore(state)
        miss.apply(world)
        assert kind.margin(world, GOAL.args) <= 0, miss.name
