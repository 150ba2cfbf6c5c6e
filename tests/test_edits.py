"""Edits: typed, minimal, pure; a log of them replays; none may break what the user's words fix."""

from __future__ import annotations

from functools import cache
from typing import get_args

import numpy as np
import pytest
from forge_scenes import draft, item, says

from embodiedsmith.forge import asked
from embodiedsmith.forge.edits import EditError, apply, difference, distance, replay
from embodiedsmith.forge.layout import layout
from embodiedsmith.runtime.seeds import generator
from embodiedsmith.spec import (
    EMBODIMENT_EDITS,
    SCENE_EDITS,
    TASK_EDITS,
    AddItem,
    All,
    Asked,
    AskedItem,
    AssetSpec,
    ChangeArgument,
    ChangeEmbodiment,
    ChangeSupport,
    Edit,
    EditKind,
    Item,
    MoveBase,
    MoveItem,
    Pose,
    RemoveItem,
    Rephrase,
    Resize,
    Scenario,
    Sequence,
    SetJoint,
    SetTolerance,
    SplitGoal,
    SwapAsset,
    TurnItem,
    Unblock,
)

HERE = Pose.planar(0.1, 0.05, 0.0, 0.3)


@cache
def start() -> Scenario:
    goal = All(
        goals=(
            says("inside", "mug", "drawer_unit.drawer_top"),
            says("closed", "drawer_unit.drawer_top"),
            says("on", "can", "plate"),
        )
    )
    things = [
        item("counter"), item("drawer_unit", "counter"), item("mug", "counter", color="red"), item("can", "counter"),
        item("plate", "counter"), item("apple", "counter"),
    ]  # fmt: skip
    return layout(draft(things, goal, text="put the mug away"), generator(0, "edits"))


EDITS: dict[str, Edit] = {
    "move": MoveItem(item="mug", pose=HERE),
    "turn": TurnItem(item="mug", yaw=1.0),
    "unblock": Unblock(item="apple", blocked="drawer_unit.drawer_top", pose=HERE),
    "swap_asset": SwapAsset(item="apple", asset=AssetSpec(category="lemon")),
    "resize": Resize(item="plate", size="large"),
    "add": AddItem(item=Item(id="orange", asset=AssetSpec(category="orange"), parent="counter")),
    "remove": RemoveItem(item="apple"),
    "change_support": ChangeSupport(item="can", parent="drawer_unit", relation="on"),
    "set_joint": SetJoint(item="drawer_unit", joint="drawer_top", fraction=0.8),
    "move_base": MoveBase(pose=Pose.planar(0.1, 0.0, 0.7)),
    "change_embodiment": ChangeEmbodiment(name="panda_mobile"),
    "change_argument": ChangeArgument(predicate=0, argument=1, value="drawer_unit.drawer_bottom"),
    "split_goal": SplitGoal(first=(2,)),
    "set_tolerance": SetTolerance(predicate=2, name="tolerance", value=0.004),
    "rephrase": Rephrase(language="en", text="stow the mug"),
}


def test_every_kind_of_edit_is_of_scene_task_or_robot_and_has_its_example() -> None:
    kinds = set(get_args(EditKind))
    assert kinds == SCENE_EDITS | TASK_EDITS | EMBODIMENT_EDITS == set(EDITS)
    assert not (SCENE_EDITS & TASK_EDITS or SCENE_EDITS & EMBODIMENT_EDITS or TASK_EDITS & EMBODIMENT_EDITS)


@pytest.mark.parametrize("kind", EDITS)
def test_an_edit_changes_something_the_same_way_every_time(kind: str) -> None:
    once, again = apply(start(), EDITS[kind]), apply(start(), EDITS[kind])
    assert once == again
    assert once.id != start().id
    assert distance(start(), once) >= (kind != "rephrase")
    assert distance(once, once) == 0


@pytest.mark.parametrize("kind", sorted(SCENE_EDITS - {"change_support", "set_joint", "resize", "swap_asset", "remove", "add"}))
def test_a_move_leaves_everything_else_where_it_was(kind: str) -> None:
    changed = apply(start(), EDITS[kind])
    moved = EDITS[kind].item  # type: ignore[union-attr]
    for before, after in zip(start().scene.items, changed.scene.items, strict=True):
        assert (before == after) == (before.id != moved)


def test_a_thing_built_anew_loses_its_place_and_what_stands_on_furniture_keeps_its_own() -> None:
    larger = apply(start(), Resize(item="counter", params={"width": 2.0}))
    poses = {i.id: i.pose for i in larger.scene.items}
    assert poses["counter"] is None
    assert poses["mug"] == start().scene.item("mug").pose
    assert larger.scene.cameras == () and start().scene.cameras != ()


def test_instructions_follow_the_goal_and_the_things_to_tell_apart() -> None:
    other = apply(start(), EDITS["change_argument"])
    assert "bottom drawer" in other.task.instructions["en"]
    twin = apply(start(), AddItem(item=Item(id="mug_2", asset=AssetSpec(category="mug", color="blue"), parent="counter")))
    assert "red mug" in twin.task.instructions["en"]
    assert twin.task.user_text == start().task.user_text


def test_a_split_goal_still_asks_for_everything_at_the_end() -> None:
    split = apply(start(), SplitGoal(first=(2,))).task.goal
    assert isinstance(split, Sequence)
    assert split.goals[-1] == start().task.goal
    assert split.goals[0] == says("on", "can", "plate")


def test_a_log_of_edits_and_layouts_replays_to_the_same_scenario() -> None:
    scenario, log = start(), list[Edit]()
    for number, name in enumerate(("swap_asset", "resize", "add", "set_joint", "change_argument", "move_base", "unblock")):
        edited = apply(scenario, EDITS[name])
        laid_out = layout(edited, generator(3, "edits", number)) if any(i.pose is None for i in edited.scene.items) else edited
        log.append(EDITS[name])
        if laid_out is not edited:
            log.append(difference(edited, laid_out))
        scenario = laid_out
    assert replay(start(), log).id == scenario.id
    assert [e.kind for e in log].count("lay_out") >= 3


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (MoveItem(item="ghost"), "ghost"),
        (RemoveItem(item="mug"), "the task needs mug"),
        (RemoveItem(item="counter"), "the task needs"),
        (AddItem(item=Item(id="mug", asset=AssetSpec(category="mug"), parent="counter")), "unique"),
        (AddItem(item=Item(id="fork", asset=AssetSpec(category="spoon"), parent="moon")), "moon"),
        (ChangeSupport(item="mug", parent="moon"), "moon"),
        (ChangeSupport(item="counter", parent="mug"), "stands on itself"),
        (SetJoint(item="drawer_unit", joint="lid", fraction=1.0), "no joint 'lid'"),
        (SwapAsset(item="apple", asset=AssetSpec(category="unicorn")), "unicorn"),
        (Resize(item="apple", params={"diameter": 9.0}), "diameter"),
        (ChangeEmbodiment(name="hal"), "hal"),
        (ChangeArgument(predicate=7, argument=0, value="can"), "3 predicates"),
        (ChangeArgument(predicate=1, argument=1, value="can"), "1 argument"),
        (SplitGoal(first=(0, 1, 2)), "fewer than all"),
        (SetTolerance(predicate=9, name="tolerance", value=0.01), "3 predicates"),
    ],
)
def test_an_edit_that_cannot_be_says_why(edit: Edit, said: str) -> None:
    with pytest.raises(EditError, match=said):
        apply(start(), edit)


def test_a_thing_without_a_place_cannot_be_turned_and_only_an_all_split() -> None:
    unplaced = apply(start(), MoveItem(item="mug"))
    with pytest.raises(EditError, match="no place yet"):
        apply(unplaced, TurnItem(item="mug", yaw=0.0))
    with pytest.raises(EditError, match="only an `all`"):
        apply(apply(start(), SplitGoal(first=(0,))), SplitGoal(first=(0,)))


# ---------------------------------------------------------------------- what the words fix

WORDS = Asked(
    items=(
        AskedItem(item="mug", categories=("mug",), color="red", parent="counter", relation="on"),
        AskedItem(item="drawer_unit", categories=("drawer_unit",), joints={"drawer_top": "closed"}),
        AskedItem(item="can", categories=("can", "jar")),
        AskedItem(item="plate", categories=("plate",), size="medium"),
    ),
    goal=All(goals=(says("inside", "mug", "drawer_unit"), says("closed", "drawer_unit"), says("on", "can", "plate"))),
    setting="tabletop",
    at_least=4,
    absent=("stationery",),
    counted={"fruit": 1},
    embodiment="panda",
)


def test_the_start_is_what_was_asked_for() -> None:
    assert asked.faults(WORDS, start()) == []


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (SwapAsset(item="mug", asset=AssetSpec(category="mug", color="blue")), "not red"),
        (SwapAsset(item="mug", asset=AssetSpec(category="cup")), "is a cup"),
        (ChangeSupport(item="mug", parent="plate"), "not at 'counter'"),
        (ChangeSupport(item="mug", parent="drawer_unit", relation="inside", support="drawer_top"), "not at 'counter'"),
        (SetJoint(item="drawer_unit", joint="drawer_top", fraction=0.8), "not closed at the start"),
        (Resize(item="plate", size="large"), "not medium"),
        (RemoveItem(item="apple"), "0 of 'fruit'"),
        (AddItem(item=Item(id="lemon", asset=AssetSpec(category="lemon"), parent="counter")), "2 of 'fruit'"),
        (AddItem(item=Item(id="book", asset=AssetSpec(category="book"), parent="counter")), "not to be there"),
        (ChangeEmbodiment(name="panda_mobile"), "robot is panda_mobile"),
        (ChangeArgument(predicate=2, argument=1, value="drawer_unit"), "goal is not the one"),
        (ChangeArgument(predicate=0, argument=0, value="apple"), "goal is not the one"),
        (SetTolerance(predicate=2, name="tolerance", value=0.05), "goal is not the one"),
    ],
)
def test_what_breaks_the_words_is_named(edit: Edit, said: str) -> None:
    assert any(said in fault for fault in asked.faults(WORDS, apply(start(), edit)))


@pytest.mark.parametrize(
    "edits",
    [
        (MoveItem(item="mug", pose=HERE),),
        (SwapAsset(item="can", asset=AssetSpec(category="jar")),),
        (Resize(item="mug", params={"height": 0.08}),),
        (ChangeSupport(item="can", parent="drawer_unit"),),
        (MoveBase(pose=HERE),),
        (SplitGoal(first=(2,)),),
        (SetTolerance(predicate=2, name="tolerance", value=0.004),),
        (
            ChangeArgument(predicate=0, argument=1, value="drawer_unit.drawer_middle"),
            ChangeArgument(predicate=1, argument=0, value="drawer_unit.drawer_middle"),
        ),
        (AddItem(item=Item(id="bowl", asset=AssetSpec(category="bowl"), parent="counter")),),
    ],
)
def test_what_the_words_leave_open_may_change(edits: tuple[Edit, ...]) -> None:
    assert asked.faults(WORDS, replay(start(), edits)) == []


def test_too_few_things_and_a_thing_gone_are_named() -> None:
    few = start().model_copy(update={"scene": start().scene.model_copy(update={"items": start().scene.items[:3]})})
    faults = asked.faults(WORDS, few)
    assert "'can' is gone" in faults and "there are 1 free things, fewer than the 4 asked for" in faults


def test_the_order_asked_for_is_kept() -> None:
    first, then = says("on", "can", "plate"), says("closed", "drawer_unit.drawer_top")
    ordered = Asked(goal=Sequence(goals=(first, then)))

    def keeps(goal: Sequence | All) -> bool:
        return not asked.faults(ordered, start().model_copy(update={"task": start().task.model_copy(update={"goal": goal})}))

    assert keeps(Sequence(goals=(first, then)))
    assert keeps(Sequence(goals=(first, says("inside", "mug", "drawer_unit"), All(goals=(then, first)))))
    assert not keeps(Sequence(goals=(then, first)))
    assert not keeps(All(goals=(first, then)))


def test_without_a_word_of_the_agent_the_goal_and_its_things_are_fixed() -> None:
    fixed = asked.only_the_goal(start())
    assert asked.faults(fixed, start()) == []
    assert {a.item for a in fixed.items} == {"mug", "drawer_unit", "can", "plate"}
    assert asked.faults(fixed, apply(start(), SwapAsset(item="can", asset=AssetSpec(category="jar"))))


def test_the_layouts_answer_is_the_edit_that_repeats_it() -> None:
    rng = np.random.default_rng(0)
    edited = apply(start(), MoveItem(item="apple"))
    laid_out = layout(edited, rng)
    answer = difference(edited, laid_out)
    assert set(answer.poses) == {"apple"}
    assert apply(edited, answer).id == laid_out.id
