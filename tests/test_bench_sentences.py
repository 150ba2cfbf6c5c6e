"""What becomes of sentences: counted as it happened, kept, and gone on with."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from embodiedsmith import embodiments
from embodiedsmith.bench import bodies, briefs, sentences
from embodiedsmith.bench.sentences import Sentence
from embodiedsmith.forge.agents.rule import RuleAgent
from embodiedsmith.runtime.errors import UsageError
from embodiedsmith.spec import Brief, Predicate
from embodiedsmith.tasks.goal import predicates

LIFT = Sentence(text="lift the jar", group="one arm")
UNKNOWN = Sentence(text="lift the flux capacitor", group="one arm")
PASSED = "in_left_hand(stick), in_right_hand(stick)"
HELD = "in_left_hand(box), in_left_hand(box), in_right_hand(lemon), in_left_hand(box), inside(lemon, box)"
MEANT = {
    "put the banana in the bowl": "inside(banana, bowl)",
    "stack the red block on the blue block": "on(block_1, block_2)",
    "把苹果放到盘子上": "on(apple, plate)",
    "pass the stick from the left hand to the right hand": PASSED,
    "把木棍从左手递给右手": PASSED,
    "hold the box with the left hand and put the lemon in it with the right hand": HELD,
    "用左手扶住盒子，用右手把柠檬放进盒子里": HELD,
    "lift the tray with both hands": "in_both_hands(tray), lifted(tray)",
    "carry the tray with both hands to the left of the bowl": "in_both_hands(tray), left_of(tray, bowl)",
    "用双手把托盘抬起来": "in_both_hands(tray), lifted(tray)",
    "put the apple in the bowl": "inside(apple, bowl)",
    "put the can on the plate": "on(can, plate)",
    "把瓶子放到盘子上": "on(bottle, plate)",
    "把橙子放到盘子上": "on(orange, plate)",
    "rotate the cube in the hand by 90 degrees": "reoriented(block)",
    "turn the red cube in your hand by 90 degrees": "reoriented(block)",
    "把手里的方块旋转90度": "reoriented(block)",
    "take the bottle from the table and put it in the fridge": "inside(bottle, fridge)",
    "open the cabinet and put the can inside": "open(base_cabinet.door_left), inside(can, base_cabinet.door_left)",
    "把苹果从桌子上拿到料理台上": "on(apple, counter)",
    "fold the towel in half": "folded(towel)",
    "fold the napkin in half": "folded(napkin)",
    "cover the bowl with the napkin": "covers(napkin, bowl)",
    "把毛巾对折": "folded(towel)",
    "hang the towel on the bar": "hung(towel, towel_rack)",
    "把毛巾挂到架子上": "hung(towel, towel_rack)",
    "put the towel over the box": "covers(towel, box)",
    "用餐巾盖住碗": "covers(napkin, bowl)",
    "wipe the table with the sponge": "wiped(stain, sponge)",
    "用海绵擦桌子": "wiped(stain, sponge)",
    "put the plush block in the box": "inside(plush_block, box)",
    "squeeze the plush block": "squeezed(plush_block)",
    "把毛绒块放到盘子上": "on(plush_block, plate)",
    "pull the rope straight": "straightened(rope)",
    "straighten the cord": "straightened(rope)",
    "把绳子拉直": "straightened(rope)",
    "put the bowl with the beans in it in the tray": "inside(bowl, tray)",
    "lift the bowl with the beans in it": "lifted(bowl)",
    "碗里有豆子，把碗放到盘子上": "on(bowl, plate)",
    "pour the beans from the bowl into the box": "poured(beans, box)",
    "把碗里的豆子倒进盒子里": "poured(beans, box)",
    "scoop some beans from the bowl into the box with the scoop": "scooped(beans, box)",
    "用量勺从碗里舀一些豆子到盒子里": "scooped(beans, box)",
    "pour the water from the jug into the bowl": "poured(water, bowl)",
    "pour half of the water from the jug into the bowl": "poured(water, bowl, fraction=0.5)",
    "把水壶里的水倒进碗里": "poured(water, bowl)",
    "fill the cup with water": "filled(cup)",
    "把杯子倒满水，不要洒出来": "filled(cup), spilled(water)",
    "pour the water from the jug into the bowl without spilling": "poured(water, bowl), spilled(water)",
}
"""What the sentences of `bodies.toml` ask for."""


def test_trials_are_counted_kept_and_not_done_again(tmp_path: Path) -> None:
    told: list[str] = []
    found = sentences.measure([LIFT, UNKNOWN], seeds=1, folder=tmp_path, say=told.append)
    lifted, unknown = found["briefs"]
    assert (lifted["forged"], lifted["verified"]) == (1, 1) and lifted["attempts"] >= 1
    assert (unknown["forged"], unknown["verified"], unknown["attempts"]) == (0, 0, 0)
    assert any("flux capacitor" in code or code.startswith("refused") for code in unknown["failures"])
    assert found["asked"] == 2 and found["forged"] == found["verified"] == 1 and len(told) == 2
    assert len(found["table"]) == 4 and "| one arm | lift the jar | panda | 1 of 1 | 1 of 1 |" in found["table"][2]

    file = tmp_path / "sentences.jsonl"
    kept = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    file.write_text(json.dumps({**kept[0], "attempts": 3}) + "\n", "utf-8")
    again = sentences.measure([LIFT], seeds=1, folder=tmp_path, say=told.append)
    assert again["attempts"] == 3 and len(told) == 2  # from the file, not done anew


def test_the_suite_of_bodies_holds_three_sentences_a_group_and_knows_its_robots() -> None:
    by_group: dict[str, list[Sentence]] = {}
    for sentence in bodies.requests():
        by_group.setdefault(sentence.group, []).append(sentence)
        assert sentence.robot in embodiments.names()
    for group, members in by_group.items():
        assert len(members) >= 3, group
        assert any(any("\u4e00" <= c <= "\u9fff" for c in s.text) for s in members), group
    with pytest.raises(UsageError) as caught:
        bodies.measure(only="gas")
    assert all(group in str(caught.value) for group in by_group)


def test_the_suite_of_bodies_is_read_into_what_it_asks_for() -> None:
    assert {s.text for s in bodies.requests()} == MEANT.keys()
    for sentence in bodies.requests():
        scenario = (
            RuleAgent().propose(Brief(text=sentence.text, embodiment=sentence.robot, seed=0), np.random.default_rng(0)).scenario
        )
        assert ", ".join(map(told, predicates(scenario.task.goal))) == MEANT[sentence.text], sentence.text
        assert scenario.embodiment.name == sentence.robot
        matter = {"grains": ("beans", "bowl"), "liquid": ("water", "jug")}.get(sentence.group)
        assert matter is None or {i.id: i.parent for i in scenario.scene.items}[matter[0]] == matter[1], sentence.text


def told(asked: Predicate) -> str:
    numbers = (f"{name}={value:g}" for name, value in asked.params.items())
    return f"{asked.name}({', '.join((*asked.args, *numbers))})"


def test_what_is_not_understood_is_named() -> None:
    assert "pens" in " ".join(briefs.refusal())
