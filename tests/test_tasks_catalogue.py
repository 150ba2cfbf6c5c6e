"""Predicates against every movable thing of the catalogue, in physics."""

import numpy as np
import pytest
from task_worlds import STILL

from embodiedsmith import assets
from embodiedsmith.spec import AssetSpec, EmbodimentSpec, Item, Pose, Predicate, Scenario, SceneSpec, TaskSpec
from embodiedsmith.tasks import Session, predicate
from embodiedsmith.world import World

MOVABLE = [
    name
    for name, category in assets.categories().items()
    if category.role != "furniture" and getattr(assets.build(AssetSpec(category=name)).matter, "kind", "soft") == "soft"
]
STEPS = 15
SMALL = ("scoop",)
"""Containers with no room for a lemon: a scoop measures grains."""


def table_with(name: str) -> Session:
    items = (
        Item(id="table", asset=AssetSpec(category="table"), pose=Pose.planar(0.6, 0.0), fixed=True),
        Item(id="thing", asset=AssetSpec(category=name), parent="table", pose=Pose()),
        Item(id="lemon", asset=AssetSpec(category="lemon", size="small"), parent="table", pose=Pose.planar(-0.2, -0.4)),
        Item(
            id="block",
            asset=AssetSpec(category="block", params=dict.fromkeys(("length", "width", "height"), 0.02)),
            parent="table",
            pose=Pose.planar(-0.2, 0.4),
        ),
    )
    goal = Predicate(name="on", args=("thing", "table"))
    return Session(
        World(
            Scenario(
                scene=SceneSpec(items=items),
                task=TaskSpec(goal=goal, hold_steps=STEPS),
                embodiment=EmbodimentSpec(name="panda", base=Pose.planar(-2.0, 0.0, 0.1)),
                randomization=STILL,
            )
        )
    )


@pytest.mark.parametrize("name", MOVABLE)
def test_everything_that_stands_on_a_table_is_on_it_upright_and_stays_so(name: str) -> None:
    s = table_with(name)
    s.reset(np.random.default_rng(0))
    for _ in range(STEPS):
        assert 0.004 < s.step(s.world.command) <= 0.005  # the tolerance, less how deep the engine lets it sink
    assert s.succeeded
    assert predicate("upright").margin(s.world, ("thing",)) > 0.15
    assert predicate("touching").margin(s.world, ("thing", "table")) > 0


@pytest.mark.parametrize("name", [n for n in MOVABLE if assets.build(AssetSpec(category=n)).affordances.cavities])
def test_a_lemon_dropped_into_an_open_container_ends_inside(name: str) -> None:
    """Or a small block where a lemon is refused for want of room."""
    s = table_with(name)
    s.reset(np.random.default_rng(0))
    w = s.world
    inside = predicate("inside")
    dropped = "block" if name in SMALL else "lemon"
    cavity, T = w.cavity("thing")
    assert bool(inside.faults(w.assets, ("lemon", "thing"), {})) == (name in SMALL)
    assert inside.faults(w.assets, (dropped, "thing"), {}) == []
    assert inside.margin(w, (dropped, "thing")) < -0.1
    at = w.items[dropped].qpos
    w.data.qpos[at : at + 3] = T[:3, 3] + (0.0, 0.0, cavity.size[2] + 0.03)
    w.data.qpos[at + 3 : at + 7] = (0.5**0.5, 0.0, 0.5**0.5, 0.0)  # long axis down: it fits every cup
    for _ in range(30):
        w.step(w.command)
    assert inside.margin(w, (dropped, "thing")) > 0
