"""What becomes of sentences: counted as it happened, kept, and gone on with."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from embodiedsmith import embodiments
from embodiedsmith.bench import bodies, briefs, sentences
from embodiedsmith.bench.sentences import Sentence
from embodiedsmith.runtime.errors import UsageError

LIFT = Sentence(text="lift the jar", group="one arm")
UNKNOWN = Sentence(text="lift the flux capacitor", group="one arm")


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


def test_what_is_not_understood_is_named() -> None:
    assert "pens" in " ".join(briefs.refusal())
