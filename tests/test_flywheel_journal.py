"""The journal: one line a decision, whole or dropped, and taken back for rounds that run again."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from pydantic import ValidationError

from embodiedsmith.flywheel.journal import Decision, Journal


def decision(round: int, reason: str = "because", **more: object) -> Decision:
    return Decision(round=round, part="curriculum", what="level", before=round, after=round + 1, reason=reason, **more)


def test_decisions_come_back_as_they_were_written(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "decisions.jsonl")
    assert journal.read() == []
    written = [decision(0), decision(1, "因为成功率高", numbers={"success": 0.9}, task="stack three"), decision(2)]
    journal.add(written[:2])
    journal.add([])
    journal.add(written[2:])
    assert Journal(journal.path).read() == written
    lines = journal.path.read_text("utf-8").splitlines()
    assert len(lines) == 3
    assert json.loads(lines[1])["numbers"] == {"success": 0.9}


def test_a_line_cut_short_is_dropped(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "decisions.jsonl")
    journal.add([decision(0), decision(1)])
    whole = journal.path.read_bytes()
    for cut in (1, 20, len(whole) // 2 - 1):
        journal.path.write_bytes(whole[:-cut])
        assert Journal(journal.path).read() == [decision(0)]
    journal = Journal(journal.path)
    journal.add([decision(1)])
    assert journal.path.read_bytes() == whole


def test_rewinding_takes_back_a_round_and_what_followed(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "decisions.jsonl")
    journal.rewind(0)
    assert not journal.path.exists()
    journal.add(decision(k) for k in (0, 1, 1, 2, 3))
    journal.rewind(2)
    assert [d.round for d in journal.read()] == [0, 1, 1]


def test_numbers_that_are_not_finite_are_none_and_a_decision_reads_as_a_sentence() -> None:
    made = decision(3, "success fell", numbers={"success": math.nan, "level": 2, "loss": math.inf}, task="basket")
    assert made.numbers == {"success": None, "level": 2.0, "loss": None}
    assert str(made) == "round 3, basket, curriculum: level 3 -> 4: success fell"
    still = Decision(round=0, part="thresholds", what="quality_threshold", before=0.5, after=0.5, reason="nothing new")
    assert not still.changed
    assert "stays 0.5" in str(still)
    with pytest.raises(ValidationError):
        Decision(round=-1, part="loop", what="x", reason="y")
