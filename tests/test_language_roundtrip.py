"""Whatever goal the language can say, its instruction read back gives the same goal, in both languages."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from roundtrip_goals import Drawn, drawn
from roundtrip_same import differences
from task_worlds import p

from embodiedsmith.forge.agents import RuleAgent
from embodiedsmith.runtime.seeds import generator
from embodiedsmith.spec import All, Any, AssetSpec, Brief, Goal, Item, Language, Not, Scenario, SceneSpec, Sequence
from embodiedsmith.tasks import check_text, instruction


def read(text: str) -> Scenario:
    return RuleAgent().propose(Brief(text=text), generator(0, "roundtrip")).scenario


def many(examples: int) -> settings:
    return settings(
        max_examples=examples,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow],
    )


@pytest.mark.parametrize("language", ["en", "zh"])
@many(200)
@given(said=drawn())
def test_instructions_read_back_give_the_same_goal(language: Language, said: Drawn) -> None:
    reads_back(said, language)


@pytest.mark.slow
@pytest.mark.parametrize("language", ["en", "zh"])
@many(1000)
@given(said=drawn())
def test_a_thousand_instructions_read_back_give_the_same_goal(language: Language, said: Drawn) -> None:
    reads_back(said, language)


def reads_back(said: Drawn, language: Language) -> None:
    """Fail where the words for a goal are read as another."""
    text = instruction(said.goal, said.scene, language, said.initial)
    finding = check_text(text, said.goal)
    assert finding is None, finding
    scenario = read(text)
    assert not (unlike := differences(said, scenario.task, scenario.scene)), f"{text}: {unlike}"


def scene(**things: AssetSpec) -> SceneSpec:
    return SceneSpec(items=tuple(Item(id=name, asset=asset) for name, asset in things.items()))


def a(category: str, color: str | None = None, **params: int) -> AssetSpec:
    return AssetSpec(category=category, color=color, params=dict(params))


THINGS = scene(
    mug=a("mug"), red=a("mug", "red"), other=a("mug"), plate=a("plate"), tray=a("tray"), unit=a("drawer_unit", drawers=4),
    cabinet=a("base_cabinet"), spoon=a("spoon"), fridge=a("fridge"), can=a("can"), jar=a("jar"),
)  # fmt: skip

FOUND: list[Goal] = [
    # The drawers told by their numbers are those from the top, and there are enough of them for all that are named
    All(goals=(p("inside", "spoon", "unit.drawer_1"), p("inside", "can", "unit.drawer_3"))),
    Sequence(goals=(p("inside", "spoon", "unit.drawer_2"), p("inside", "spoon", "unit.drawer_3"))),
    # The bottom drawer is not the cabinet's only one, which was spoken of last
    Sequence(goals=(p("inside", "spoon", "cabinet.drawer"), p("inside", "spoon", "unit.drawer_3"))),
    # Everything that is to touch, not only the first
    All(goals=(p("touching", "spoon", "plate"), p("touching", "can", "plate"))),
    # What is held last, though it comes first
    All(goals=(p("lifted", "spoon"), p("upright", "spoon"), p("on", "mug", "plate"), p("closed", "fridge.door"))),
    # "It" after where a thing is, is not that place
    All(goals=(p("open", "fridge.door"), p("behind", "spoon", "fridge"), p("unmoved", "plate"))),
    # The same one of two that are alike
    Sequence(goals=(p("on", "mug", "plate"), p("on", "mug", "tray"), p("on", "other", "plate"))),
    All(goals=(p("left_of", "spoon", "mug"), p("unmoved", "mug"))),
]  # fmt: skip


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("goal", FOUND, ids=[instruction(goal, THINGS, "en") for goal in FOUND])
def test_goals_that_once_read_back_otherwise(goal: Goal, language: Language) -> None:
    text = instruction(goal, THINGS, language)
    scenario = read(text)
    assert not (unlike := differences(Drawn(goal, THINGS), scenario.task, scenario.scene)), f"{text}: {unlike}"


APPLES = scene(
    table=a("table"), block=a("block", "red"), other=a("block", "red"), red=a("apple", "red"), green=a("apple", "green"),
    like=a("apple", "green"), shelf=a("shelf"), tray=a("tray"), far=a("apple", "green"),
)  # fmt: skip


def around(*on_table: str, on_tray: tuple[str, ...] = ()) -> SceneSpec:
    """Some of the apples and blocks with the shelf, where they start."""
    carriers = dict.fromkeys((*on_table, "shelf", "tray"), "table") | dict.fromkeys(on_tray, "tray")
    items = [i.model_copy(update={"parent": carriers[i.id]}) for i in APPLES.items if i.id in carriers]
    return SceneSpec(items=(APPLES.item("table"), *items))


STAGED = [
    # What is put elsewhere first may be put back where it began
    Drawn(
        All(goals=(Sequence(goals=(p("between", "block", "green", "shelf"), p("on", "block", "table"))), p("unmoved", "green"))),
        around("block", "green", "like", on_tray=("other",)),
    ),
    # One of two on the table, of which another is on the tray: both are on the table, and the same one is that one
    Drawn(
        All(goals=(Sequence(goals=(p("between", "red", "green", "shelf"), p("on", "red", "shelf"))), p("unmoved", "green"))),
        around("red", "green", "like", on_tray=("far",)),
    ),
]


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("said", STAGED, ids=["put back", "one of two told by their place"])
def test_goals_with_things_told_by_their_place_read_back(said: Drawn, language: Language) -> None:
    text = instruction(said.goal, said.scene, language)
    scenario = read(text)
    assert not (unlike := differences(said, scenario.task, scenario.scene)), f"{text}: {unlike}"


@pytest.mark.parametrize("language", ["en", "zh"])
def test_things_told_by_what_is_beside_them_start_there(language: Language) -> None:
    goal = p("between", "spoon", "mug", "red")
    beside = (p("near", "mug", "plate"), p("near", "red", "tray"))
    text = instruction(goal, THINGS, language, beside)
    scenario = read(text)
    assert not (unlike := differences(Drawn(goal, THINGS, beside), scenario.task, scenario.scene)), f"{text}: {unlike}"


DRAWER = "unit.drawer_0"
OPPOSITES: list[tuple[Goal, str]] = [
    (Not(goal=p("open", DRAWER)), "closed"),
    (Not(goal=p("closed", DRAWER)), "open"),
    (Not(goal=p("on", "spoon", "plate")), "on"),
    (Not(goal=p("inside", "spoon", DRAWER)), "on"),
]
"""Goals that something be false, and the state by which the language brings that about. It can say no goal to be false as such,
so what is read is another goal that makes it so: a drawer that is not to be open is to be closed, a thing that is not to be in it
is to be on the work surface."""


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize(("goal", "becomes"), OPPOSITES, ids=[instruction(goal, THINGS, "en") for goal, _ in OPPOSITES])
def test_what_is_to_be_false_reads_back_as_what_makes_it_so(goal: Not, becomes: str, language: Language) -> None:
    read_back = read(instruction(goal, THINGS, language))
    found = read_back.task.goal
    assert found.kind == "predicate"
    assert found.name == becomes
    assert goal.goal.kind == "predicate"
    first = read_back.scene.item(found.args[0].partition(".")[0])
    assert first.asset.category == THINGS.item(goal.goal.args[0].partition(".")[0]).asset.category
    if goal.goal.name == "inside":
        assert first.parent is not None
        assert read_back.scene.item(first.parent).asset.category == "drawer_unit"


def test_a_choice_is_said_and_not_read() -> None:
    """ "Or" leaves open what is to be done, and the reader refuses that: `any` is not drawn above."""
    text = instruction(Any(goals=(p("on", "spoon", "plate"), p("on", "can", "plate"))), THINGS, "en")
    with pytest.raises(Exception, match="a choice cannot be left open"):
        read(text)
