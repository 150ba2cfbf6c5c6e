"""What people say of pouring, filling and not spilling, in English and Chinese, and what is said back."""

import numpy as np
import pytest

from embodiedsmith.assets import build
from embodiedsmith.forge.agents.rule import RuleAgent
from embodiedsmith.runtime.errors import SmithError
from embodiedsmith.spec import All, Brief, Not, Predicate, Scenario
from embodiedsmith.tasks import predicate
from embodiedsmith.world.liquid.grid import body_shapes, distance_grid
from embodiedsmith.world.liquid.vessel import Vessel


def proposed(text: str) -> Scenario:
    return RuleAgent().propose(Brief(text=text, embodiment="panda", seed=0), np.random.default_rng(0)).scenario


NOT_SPILLED = Not(goal=Predicate(name="spilled", args=("water",)))


@pytest.mark.parametrize(
    "text",
    [
        "fill the cup with water", "fill the beaker with water", "fill up the cup", "把杯子倒满水", "给杯子倒满水",
        "把水倒满杯子", "用水壶把杯子倒满水",
    ],
)  # fmt: skip
def test_to_fill_is_understood(text: str) -> None:
    scenario = proposed(text)
    assert scenario.task.goal == Predicate(name="filled", args=("cup",))
    water = scenario.scene.item("water")
    assert (water.parent, water.relation) == ("jug", "inside")


@pytest.mark.parametrize("text", ["pour water into the cup", "给杯子倒水", "往杯子里倒水", "给红色的杯子倒水"])
def test_to_pour_without_a_source_is_understood(text: str) -> None:
    assert proposed(text).task.goal == Predicate(name="poured", args=("water", "cup"))


@pytest.mark.parametrize(
    "text",
    [
        "pour the water from the jug into the bowl without spilling", "pour the water into the bowl without spilling any of it",
        "without spilling the water, pour it into the bowl", "pour the water into the bowl and don't spill a drop",
        "把水壶里的水倒进碗里，不要洒出来", "不要把水洒出来，把水倒进碗里", "把水倒进碗里，别洒了", "把水倒进碗里，水不要洒出来",
    ],
)  # fmt: skip
def test_not_to_spill_is_part_of_the_goal_and_said_last(text: str) -> None:
    goal = proposed(text).task.goal
    assert goal == All(goals=(Predicate(name="poured", args=("water", "bowl")), NOT_SPILLED))


@pytest.mark.parametrize(
    ("text", "vessel"),
    [
        ("put the mug on the plate without spilling", "mug"),
        ("put the jug on the plate without spilling the water", "jug"),
        ("把杯子放到盘子上，不要洒出水", "cup"),
    ],
)
def test_what_is_not_to_be_spilled_is_in_what_is_moved(text: str, vessel: str) -> None:
    scenario = proposed(text)
    assert scenario.task.goal == All(goals=(Predicate(name="on", args=(vessel, "plate")), NOT_SPILLED))
    assert scenario.scene.item("water").parent == vessel


@pytest.mark.parametrize("text", ["fill the cup without spilling", "把一半的水倒进碗里，不要洒出来"])
def test_what_is_said_back_means_the_same(text: str) -> None:
    first = proposed(text)
    for said in first.task.instructions.values():
        assert proposed(said).task.goal == first.task.goal


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("do not spill the water", "is no goal by itself"),
        ("put the apple on the plate without spilling", "there is nothing to spill"),
        ("put the mug on the plate without spilling the apple", "only liquids and grains can be spilled"),
    ],
)
def test_what_cannot_be_spilled_is_refused(text: str, why: str) -> None:
    with pytest.raises(SmithError, match=why):
        proposed(text)


@pytest.mark.parametrize("text", ["fill the cup with water", "fill the bowl with water"])
def test_there_is_enough_to_fill_it_with(text: str) -> None:
    """More than two fifths of the room, less than makes it run over."""
    scenario = proposed(text)
    goal = scenario.task.goal
    assert isinstance(goal, Predicate)
    scene = scenario.scene
    target, water = build(scene.item(goal.args[0]).asset), build(scene.item("water").asset)
    model = target.mjspec.compile()
    shapes = body_shapes(model, int(model.body("root").id))
    share = water.mass / 1000 / Vessel.of(distance_grid(shapes), target.affordances.cavity(None)).capacity
    assert predicate("filled").resolve({})["level"] + 0.04 < share < 0.85
