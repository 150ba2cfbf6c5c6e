"""Things that the start puts before a door or a drawer that the task moves: laid out there, and no fault to the critics."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from forge_scenes import draft, item, says

from embodiedsmith.forge.critics import Context
from embodiedsmith.forge.critics.geometry import CRITIC as GEOMETRY
from embodiedsmith.forge.critics.motion import CRITIC as MOTION
from embodiedsmith.forge.layout import LayoutError, layout, needs
from embodiedsmith.forge.layout.compact import compact, handy
from embodiedsmith.forge.layout.failures import NARROW, PATIENCE, Failure, hopeless
from embodiedsmith.motion.clearing import blockers
from embodiedsmith.spec import All, Goal, Item, Scenario
from embodiedsmith.tasks import GoalMonitor
from embodiedsmith.world import World
from embodiedsmith.world.compile import build_assets

OPEN, PULL = says("open", "microwave.door"), says("open", "drawer_unit.drawer_bottom")
AWAY = All(goals=(says("inside", "mug", "microwave"), says("closed", "microwave.door")))


def starting(thing: str, before: str, goal: Goal, *more: Item, counter: Item | None = None, robot: str = "panda") -> Scenario:
    items = [counter or item("counter"), item(before, "counter"), item(thing, "counter"), *more]
    made = draft(items, goal, robot=robot)
    return made.model_copy(update={"task": made.task.model_copy(update={"initial": (says("in_front_of", thing, before),)})})


def laid_out(scenario: Scenario, seed: int = 0) -> Scenario:
    return layout(scenario, np.random.default_rng(seed))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("thing", "before", "goal", "part"),
    [
        ("box", "microwave", OPEN, "microwave.door"),
        ("bowl", "microwave", AWAY, "microwave.door"),
        ("basket", "drawer_unit", PULL, "drawer_unit.drawer_bottom"),
    ],
)
def test_what_the_words_put_before_a_door_stands_in_its_way(thing: str, before: str, goal: Goal, part: str, seed: int) -> None:
    scenario = laid_out(starting(thing, before, goal, item("mug", "counter")), seed)
    world = World(scenario)
    monitor = GoalMonitor(All(goals=scenario.task.initial), world)
    for reset in range(4):
        world.reset(np.random.default_rng(reset))
        assert monitor.reset() > 0
        assert blockers(world, part, [thing, "mug"]) == (thing,)
    found = GEOMETRY.review(Context(scenario))
    assert found and {(f.severity, f.subjects[1]) for f in found} == {("warning", thing)}
    assert all(f.message.endswith(f"the robot has to move {thing} first") for f in found)


def test_there_is_a_way_to_clear_it_and_then_to_open() -> None:
    """The motion critic plans the same steps as the robot."""
    assert MOTION.review(Context(laid_out(starting("bowl", "microwave", OPEN)))) == []


def test_what_is_cleared_is_handled_and_has_somewhere_to_go() -> None:
    scenario = starting("box", "microwave", OPEN)
    read = needs.read(scenario, build_assets(scenario.scene))
    assert read.cleared == (("box", "microwave"),) and "box" in read.handled
    assert [(t.item, t.place, t.relation) for t in read.targets] == [("box", "counter", "on")]
    lifted = scenario.model_copy(update={"task": scenario.task.model_copy(update={"goal": says("lifted", "box")})})
    assert needs.read(lifted, build_assets(lifted.scene)).cleared == ()  # its door stays shut
    there = starting("box", "microwave", All(goals=(OPEN, says("near", "box", "mug"))), item("mug", "counter"))
    assert [t.place for t in needs.read(there, build_assets(there.scene)).targets] == ["mug"]


def test_what_no_hand_takes_stays_a_fault_before_a_door() -> None:
    context = Context(laid_out(starting("bowl", "microwave", OPEN)))
    bowl = context.assets["bowl"]
    context.assets["bowl"] = replace(bowl, affordances=replace(bowl.affordances, grasps=()))
    assert {f.severity for f in GEOMETRY.review(context)} == {"error"}


def test_surfaces_are_built_deeper_for_it_where_their_size_is_free() -> None:
    made = build_assets(laid_out(starting("box", "microwave", OPEN)).scene)
    depth, furniture = made["counter"].size[0], made["microwave"].size[0]
    assert depth > furniture + made["box"].size[:2].min() + 0.05
    small = item("counter", size="small", params={"depth": 0.62})
    with pytest.raises(LayoutError, match="no place for microwave with box in front of it") as caught:
        laid_out(starting("box", "microwave", OPEN, counter=small))
    assert caught.value.findings[0].code == "geometry.no_space"
    assert caught.value.findings[0].subjects == ("microwave", "box")


def test_broad_things_whose_size_is_free_are_made_smaller_together() -> None:
    goal = All(goals=(says("on", "apple", "plate"), says("inside", "can", "bin"), says("inside", "mug", "bowl_2")))
    things = [item(n, "counter") for n in ("plate", "apple", "bin", "can", "mug", "pan")]
    scenario = draft([item("counter"), item("bowl_2", "counter", size="large"), *things], goal)
    built = build_assets(scenario.scene)
    made, smaller = compact(scenario, built, needs.read(scenario, built), 0.8)
    changed = {n for n in built if not np.allclose(built[n].size, smaller[n].size)}
    assert changed == {"plate", "bin"}  # the bowl's size was asked for, the rest is small or no concern of the task
    assert all(smaller[n].size[0] == pytest.approx(0.8 * built[n].size[0], abs=0.01) for n in changed)
    assert smaller.keys() == built.keys() and all(smaller[i.id].spec == i.asset for i in made.scene.items)


def test_nothing_is_made_smaller_than_what_goes_into_it() -> None:
    scenario = draft([item("counter"), item("basket", "counter"), item("pan", "counter")], says("inside", "pan", "basket"))
    built = build_assets(scenario.scene)
    made, smaller = compact(scenario, built, needs.read(scenario, built), 0.5)
    assert (made, smaller) == (scenario, built)


@pytest.mark.parametrize(
    ("size", "place", "smaller"), [("medium", "microwave", True), ("large", "microwave", False), ("medium", "bin", False)]
)
def test_what_goes_through_a_front_is_small_enough_to_be_held_from_its_side(size: str, place: str, smaller: bool) -> None:
    mug = item("mug", "counter", size=size, params={"diameter": 0.074})
    scenario = draft([item("counter"), item(place, "counter"), mug], says("inside", "mug", place))
    built = build_assets(scenario.scene)
    assert {g.kind for g in built["mug"].affordances.grasps} == {"rim"}
    made, there = handy(scenario, built, needs.read(scenario, built))
    assert any(g.kind == "side" for g in there["mug"].affordances.grasps) == smaller
    assert (made == scenario) != smaller and there["mug"].spec == made.scene.item("mug").asset


def failing(what: str, **counts: float) -> Failure:
    failure = Failure(what, what, (0.1, 0.1))
    if "overlap" in counts:
        failure.taken("mug", counts["overlap"])
    else:
        failure.stuck_out += 1
    return failure


def test_attempts_end_when_all_failed_alike() -> None:
    stuck = [failing("box") for _ in range(PATIENCE)]
    assert hopeless(stuck) and not hopeless(stuck[1:])
    assert hopeless([failing("box"), *(failing("plate") for _ in stuck)])  # nothing was in the way of either
    crowded = [failing("box", overlap=NARROW + 0.01) for _ in stuck]
    assert hopeless(crowded)
    assert not hopeless([failing("plate", overlap=0.1), *crowded[1:]])  # another draw may find room for both
    assert not hopeless([failing("box", overlap=NARROW / 2), *crowded[1:]])
