"""The small English language: relations, superlatives, one of several, what must stay, order; and that ambiguity is named."""

from __future__ import annotations

import re

import numpy as np
import pytest
from test_language import BOTTOM, TOP, item, propose, short

from embodiedsmith import assets
from embodiedsmith.forge.agents import Draft
from embodiedsmith.forge.language import CannotBe, NotUnderstood
from embodiedsmith.runtime.errors import SmithError
from embodiedsmith.spec import AskedItem, Predicate
from embodiedsmith.tasks import check_text, goal_faults


def initial(draft: Draft) -> set[str]:
    return {short(relation) for relation in draft.scenario.task.initial}


SENTENCES = [
    # Relations as places to go to
    ("put the mug to the left of the plate", "left_of(mug, plate)"),
    ("move the mug to the right side of the plate", "right_of(mug, plate)"),
    ("put the block in front of the box", "in_front_of(block, box)"),
    ("place the can behind the bottle", "behind(can, bottle)"),
    ("put the block between the mug and the bowl", "between(block, mug, bowl)"),
    ("move the plate between the two mugs", "between(plate, mug_1, mug_2)"),
    ("put the banana next to the apple and the lemon next to the banana", "near(banana, apple) & near(lemon, banana)"),
    ("put two blocks to the left of the box and the third one in it",
     "left_of(block_1, box) & left_of(block_2, box) & inside(block_3, box)"),
    ("push the mug next to the bowl", "near(mug, bowl)"),
    # What must stay
    ("put the mug in the bowl without moving the plate", "inside(mug, bowl) & unmoved(plate)"),
    ("don't touch the bowl, but put the mug on the plate", "on(mug, plate) & unmoved(bowl)"),
    ("leave the plate where it is and put the mug in the bowl", "inside(mug, bowl) & unmoved(plate)"),
    ("put the mug on the tray; the bowl should stay where it is", "on(mug, tray) & unmoved(bowl)"),
    ("put the spoon into the mug without touching the bowl or the plate", "inside(spoon, mug) & unmoved(bowl) & unmoved(plate)"),
    ("put the mug on the plate and do not touch the drawer", f"on(mug, plate) & closed({TOP})"),
    ("lift the red block, not the blue one", "lifted(block_1) & unmoved(block_2)"),
    ("put the apple in the bowl, but keep the banana on the plate", "inside(apple, bowl) & unmoved(banana)"),
    # Open or closed at the end
    ("put the mug in the drawer and leave it open", f"inside(mug, {TOP}) & open({TOP})"),
    ("put the apple in the bowl and leave the drawer closed", f"inside(apple, bowl) & closed({TOP})"),
    ("put the apple in the bowl without opening the drawer", f"inside(apple, bowl) & closed({TOP})"),
    ("make sure the drawer is closed at the end, and put the mug on the plate", f"closed({TOP}) & on(mug, plate)"),
    ("put the bottle on the tray, keeping it upright", "on(bottle, tray) & upright(bottle)"),
    # Order
    ("first put the apple in the bowl, then open the drawer", f"inside(apple, bowl) > inside(apple, bowl) & open({TOP})"),
    ("first put the apple in the bowl, then open the drawer, finally close it",
     f"inside(apple, bowl) > inside(apple, bowl) & open({TOP}) > inside(apple, bowl) & closed({TOP})"),
    ("open the microwave first, then put the bowl in", "open(microwave.door) > open(microwave.door) & inside(bowl, microwave)"),
    ("put the mug in the drawer before closing it", f"inside(mug, {TOP}) > inside(mug, {TOP}) & closed({TOP})"),
    ("before closing the drawer, put the mug in it", f"inside(mug, {TOP}) > inside(mug, {TOP}) & closed({TOP})"),
    ("close the drawer after putting the mug in it", f"inside(mug, {TOP}) > inside(mug, {TOP}) & closed({TOP})"),
    ("after closing the drawer, lift the mug", f"closed({TOP}) > closed({TOP}) & lifted(mug)"),
    ("put the apple and the banana in the bowl in that order",
     "inside(apple, bowl) > inside(apple, bowl) & inside(banana, bowl)"),
    ("put the mug in the microwave, close it and open it again",
     "inside(mug, microwave) & closed(microwave.door) > inside(mug, microwave) & open(microwave.door)"),
    ("put the mug in the box, then take it out", "inside(mug, box) > on(mug, table)"),
    # Several things
    ("put the apple in the bowl, the banana on the plate and the can in the bin",
     "inside(apple, bowl) & on(banana, plate) & inside(can, bin)"),
    ("put the red and the blue block in the bowl", "inside(block_1, bowl) & inside(block_2, bowl)"),
    ("put the red block in the box and the green one in the bowl", "inside(block_1, box) & inside(block_2, bowl)"),
    ("there are three blocks. put one in the bowl and another in the box", "inside(block_1, bowl) & inside(block_2, box)"),
    ("there are two mugs. put one on the plate and the other one in the box", "on(mug_1, plate) & inside(mug_2, box)"),
    ("there are four blocks: two red, one blue and one green. put the red ones in the box",
     "inside(block_1, box) & inside(block_2, box)"),
    ("put one of the three mugs in the box", "inside(mug_1, box)"),
    ("put the apple on the third board of the shelf and the mug in the fourth compartment of the shelf",
     "on(apple, shelf.board_2) & inside(mug, shelf.board_3)"),
    ("open the fridge and move one of the two red apples next to it", "open(fridge.door) & near(apple_1, fridge)"),
    ("open the fridge and move one of the three red apples next to it", "open(fridge.door) & near(apple_1, fridge)"),
    ("put three apples in the bowl and two in the box",
     "inside(apple_1, bowl) & inside(apple_2, bowl) & inside(apple_3, bowl) & inside(apple_4, box) & inside(apple_5, box)"),
    ("put the apple in the bowl and the banana too", "inside(apple, bowl) & inside(banana, bowl)"),
    ("lift the mug and the bowl as well", "lifted(mug) & lifted(bowl)"),
    ("stack the red block on the blue block on the green block", "on(block_2, block_3) & on(block_1, block_2)"),
    ("put the mug in the drawer and the spoon in the other drawer", f"inside(mug, {TOP}) & inside(spoon, {BOTTOM})"),
    ("use the bottom drawer. put the mug in the drawer", f"inside(mug, {BOTTOM})"),
    ("using the tray, put the mug on it", "on(mug, tray)"),
    ("use the box to store the apple", "inside(apple, box)"),
    ("use the plate for the lemon and the bowl for the apple", "on(lemon, plate) & inside(apple, bowl)"),
    ("there are two plates; put the apple on the one on the left", "on(apple, plate_1)"),
    ("the mug on the plate should go in the box", "inside(mug, box)"),
    ("hey robot, uh, so I was thinking, maybe you could put the apple in the bowl?", "inside(apple, bowl)"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "goal"), SENTENCES)
def test_sentence_becomes_goal(text: str, goal: str) -> None:
    draft = propose(text)
    task = draft.scenario.task
    assert short(task.goal) == goal
    built = {i.id: assets.build(i.asset) for i in draft.scenario.scene.items}
    assert [fault for wish in (task.goal, *task.initial) for fault in goal_faults(wish, built)] == []
    assert draft.reading.startswith("I understood: ")
    assert all(check_text(words, task.goal) is None for words in task.instructions.values())


@pytest.mark.parametrize(
    ("text", "relations"),
    [
        ("take the mug to the left of the plate and put it in the box", {"left_of(mug, plate)"}),
        ("put the mug left of the plate in the bowl", {"left_of(mug, plate)"}),
        ("put the apple in the bowl next to the plate", {"near(bowl, plate)"}),
        ("take the spoon from the bowl next to the plate and put it in the mug", {"near(bowl, plate)"}),
        ("put the block that is between the mug and the bowl on the plate", {"between(block, mug, bowl)"}),
        ("the mug is behind the box. put it on the plate", {"behind(mug, box)"}),
        ("behind the plate, lift the mug", {"behind(mug, plate)"}),
        ("put the leftmost of the three blocks on the plate", {"left_of(block_1, block_2)", "left_of(block_2, block_3)"}),
        ("there are two mugs. put the mug closest to the robot in the box", {"in_front_of(mug_1, mug_2)"}),
        ("put the mug that is left of the plate in the box and the mug that is right of the plate in the bowl",
         {"left_of(mug_1, plate)", "right_of(mug_2, plate)"}),
    ],
)  # fmt: skip
def test_relations_said_of_the_start_must_hold_there(text: str, relations: set[str]) -> None:
    assert initial(propose(text)) == relations


def entries(draft: Draft, category: str) -> list[AskedItem]:
    assert draft.asked is not None
    return [entry for entry in draft.asked.items if entry.categories == (category,)]


@pytest.mark.parametrize(
    ("text", "measure"),
    [
        ("put the largest block in the box", 1.0),
        ("put the bigger block in the box", 1.0),
        ("put the largest of the three blocks in the box", 1.0),
        ("put the smallest block in the box", -1.0),
        ("there are three blocks on the table. put the smallest of them in the box", -1.0),
    ],
)
def test_the_extreme_one_is_clearly_so(text: str, measure: float) -> None:
    for seed in range(4):
        draft = propose(text, seed)
        goal = draft.scenario.task.goal
        assert isinstance(goal, Predicate)
        sizes = {i.id: float(max(assets.build(i.asset).size)) for i in draft.scenario.scene.items if i.asset.category == "block"}
        assert len(sizes) >= 2
        others = [size for name, size in sizes.items() if name != goal.args[0]]
        assert all(measure * (sizes[goal.args[0]] - other) > 0.005 for other in others)
        assert {entry.item: entry.size for entry in entries(draft, "block")} == {
            i.id: i.asset.size for i in draft.scenario.scene.items if i.asset.category == "block"
        }


def test_the_tallest_is_of_a_kind_that_comes_in_heights() -> None:
    draft = propose("put the tallest bottle in the box")
    heights = {i.id: assets.build(i.asset).size[2] for i in draft.scenario.scene.items if i.asset.category == "bottle"}
    assert max(heights, key=lambda name: heights[name]) == "bottle_1"
    assert draft.asked is not None and draft.asked.counted == {"bottle": len(heights)}
    with pytest.raises(CannotBe, match="alike in that"):
        propose("put the tallest mug in the box")


def test_the_others_are_all_that_are_left() -> None:
    draft = propose("there are three mugs on the table, one of them red. put the red mug in the box and the others on the tray")
    assert short(draft.scenario.task.goal) == "inside(mug_1, box) & on(mug_2, tray) & on(mug_3, tray)"
    assert item(draft, "mug_1").asset.color == "red"
    assert "red" not in {item(draft, name).asset.color for name in ("mug_2", "mug_3")}
    rest = propose("put the red blocks in the box and the others in the bowl")
    blocks = [i for i in rest.scenario.scene.items if i.asset.category == "block"]
    goal = short(rest.scenario.task.goal)
    for block in blocks:
        assert f"inside({block.id}, {'box' if block.asset.color == 'red' else 'bowl'})" in goal
    assert rest.asked is not None and rest.asked.counted == {"block": len(blocks)}


@pytest.mark.parametrize(
    ("text", "tray"),
    [
        ("lift one of the two mugs on the tray", {"mug_1", "mug_2"}),
        ("put the spoon to the left of one of the two mugs which are on the tray", {"mug_1", "mug_2"}),
        ("lift the mug on the tray", {"mug"}),
    ],
)
def test_where_one_of_a_group_is_all_of_it_is(text: str, tray: set[str]) -> None:
    assert {i.id for i in propose(text).scenario.scene.items if i.parent == "tray"} == tray


def test_what_is_put_elsewhere_first_may_go_back_to_where_it_began() -> None:
    draft = propose("the mug is left of the plate. first put the mug on the tray, then put the mug to the left of the plate")
    assert short(draft.scenario.task.goal) == "on(mug, tray) > left_of(mug, plate)"
    draft = propose("first put the mug on the table on the tray, then put the mug on the table")
    assert short(draft.scenario.task.goal) == "on(mug, tray) > on(mug, table)"
    assert item(draft, "mug").parent == "table"


def test_the_one_chosen_of_a_group_is_meant_after_it() -> None:
    draft = propose("put the spoon to the left of one of the two red mugs which are on the tray, do not move the same red mug")
    assert short(draft.scenario.task.goal) == "left_of(spoon, mug_1) & unmoved(mug_1)"


def test_what_a_group_leaves_out_stays() -> None:
    draft = propose("put every block but the red one in the box")
    blocks = {i.id: i.asset.color for i in draft.scenario.scene.items if i.asset.category == "block"}
    red = [name for name, color in blocks.items() if color == "red"]
    assert len(red) == 1 and len(blocks) >= 3
    wanted = [f"inside({name}, box)" for name in blocks if name not in red]
    assert short(draft.scenario.task.goal) == " & ".join([*wanted, f"unmoved({red[0]})"])
    rest = propose("put everything except the knife in the box")
    goal = short(rest.scenario.task.goal)
    assert "unmoved(knife)" in goal and "inside(knife" not in goal


def test_at_least_so_many_things_are_there() -> None:
    for seed in range(6):
        draft = propose("a cluttered counter with at least nine things on it. put the apple in the bowl", seed)
        assert draft.scenario.scene.items[0].id == "counter"
        assert sum(not i.fixed for i in draft.scenario.scene.items) >= 9
        assert draft.asked is not None and draft.asked.at_least == 9


def test_a_thing_is_told_by_what_is_said_of_it() -> None:
    assert item(propose("there's a mug on the table, it's red. put it in the box"), "mug").asset.color == "red"
    assert item(propose("the mug in the drawer is red. put it on the plate"), "mug").asset.color == "red"
    two = propose("there are two mugs. one is red and the other is blue. put the blue one on the tray")
    goal = two.scenario.task.goal
    assert isinstance(goal, Predicate) and item(two, goal.args[0]).asset.color == "blue"
    held = propose("put the box with the apple in it on the tray")
    assert (item(held, "apple").parent, item(held, "apple").relation) == ("box", "inside")
    one = propose("there is an apple in the bowl and an apple on the plate. put the one in the bowl in the box")
    goal = one.scenario.task.goal
    assert isinstance(goal, Predicate) and item(one, goal.args[0]).parent == "bowl"
    assert item(propose("put the mug in the open drawer"), "drawer_unit").joints == {"drawer_top": 0.8}


@pytest.mark.parametrize(
    ("text", "joints"),
    [
        ("put the apple in the bowl and leave the drawer open", {"drawer_top": 0.8}),
        ("put the apple in the bowl and leave the drawer closed", {}),
        ("put the mug in the drawer and leave it open", {}),
    ],
)
def test_what_is_to_be_left_so_starts_so(text: str, joints: dict[str, float]) -> None:
    assert item(propose(text), "drawer_unit").joints == joints


# Ambiguity


@pytest.mark.parametrize(
    ("text", "warning"),
    [
        ("put the mug on the plate and put it in the box", "'it' is taken to be the mug, not the plate"),
        ("put the red mug on the plate and the blue mug in the box. lift the mug",
         "'the mug' is taken to be the blue mug, not the red mug"),
        ("there are two mugs on the table. put the mug in the box", "'the mug' may be any of 2"),
        ("put the mug in the drawer", "'the drawer' is taken to be the top drawer"),
        ("put the apple in the bowl next to the plate", "'the plate' is taken to say where 'the bowl' is"),
        ("do not touch the plate, put the mug in the box",
         "'do not touch the plate' is checked as: what is meant stays where it is"),
    ],
)  # fmt: skip
def test_one_of_several_readings_is_said(text: str, warning: str) -> None:
    assert warning in propose(text).warnings


@pytest.mark.parametrize(
    "text",
    [
        "pick up the mug and put it on the plate",
        "take the mug out of the box and put it on the plate",
        "put the mug in the microwave and close it",
        "there is a mug in the bottom drawer. put it on the plate",
    ],
)
def test_what_is_plain_needs_no_warning(text: str) -> None:
    assert propose(text).warnings == ()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("there is a mug and a plate. put it in the box", "'it' could be the plate or the mug: say which"),
        ("there is a red mug and a blue mug. put the mug in the box", "could be the red mug or the blue mug"),
        ("put the mug in the box and do not move the mug", "is not to be moved"),
        ("open the drawer and don't touch the drawer", "is not to be touched"),
        ("put the mug to the left", "left of what?"),
        ("put the mug to the left of the table", "nothing is beside it"),
        ("there is a mug inside. put it in the box", "in of what?"),
        ("use the spoon to put the apple in the bowl", "the robot uses no tools"),
        ("the mug is left of the plate. put the mug left of the plate", "there from the start"),
        ("put one of the mugs in the box and three of them on the tray", "left of them"),
        ("put one of the three mugs that are on the table and the mug that is on the tray on the table", "table from the start"),
        ("open the cabinet left of the microwave", "where it stands cannot be told"),
    ],
)
def test_what_nothing_decides_or_cannot_be_is_refused(text: str, reason: str) -> None:
    with pytest.raises(CannotBe, match=re.escape(reason)):
        propose(text)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("put the mug except the plate in the box", "only of several things"),
        ("don't open the drawer", "what is not to be done is no goal by itself"),
        ("do not move the plate", "what is not to be done is no goal by itself"),
        ("put the mug in the box without touching anything else", "everything else cannot be told"),
        ("pick up the mug nearest to the box", "nearest and farthest are from the robot"),
        ("put the block between the mug", "between what?"),
        ("there is no mug in the drawer. put the spoon in it", "of the whole scene only"),
        ("at least six things on the plate. put the mug in the box", "only all the things there are"),
        ("open the drawer. behind the plate", "nothing is said to be done there"),
        ("put the mug in the box before the apple", "a deed must follow"),
        ("put the middle block in the box", "can only be said of a drawer"),
    ],
)
def test_what_the_grammar_cannot_read_is_named(text: str, reason: str) -> None:
    with pytest.raises(NotUnderstood, match=re.escape(reason)) as caught:
        propose(text)
    assert caught.value.words


def test_reading_tells_goal_start_and_what_was_chosen() -> None:
    text = "in the kitchen, the bottom drawer is open and the mug is left of the plate. put the red mug in it. there are no cups"
    reading = propose(text).reading
    goal, start, chosen = reading.split("; ")
    assert goal.startswith("I understood: put the red mug in the bottom drawer")
    for said in ("is open", "to the left of", "it is a kitchen", "there is no cup"):
        assert said in start
    assert chosen.startswith("chosen freely: ") and "counter" in chosen and "red mug" not in chosen


def test_horizon_fits_goals_of_many_steps() -> None:
    wish = "put two mugs in the top drawer and two spoons in the bottom drawer, then close both drawers"
    assert propose(wish).scenario.task.horizon >= 20.0 * (4 * 2 + 2 + 2)


WORDS = re.findall(
    r"\S+",
    "put take lift open close the a mug red largest of them in on left between and then first before closing drawer it others "
    "one two is without moving plate which at least things use bowl not box from to there are . ,",
)


@pytest.mark.parametrize("seed", range(8))
def test_words_at_random_are_refused_by_name_or_make_sense(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(40):
        text = " ".join(rng.choice(WORDS, size=rng.integers(3, 12)))
        try:
            scenario = propose(text, seed).scenario
        except SmithError as error:
            assert str(error)
            continue
        built = {i.id: assets.build(i.asset) for i in scenario.scene.items}
        assert goal_faults(scenario.task.goal, built) == [], text
