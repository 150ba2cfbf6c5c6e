"""The forge's benchmark: its requests are what it says, its sums are right, and it goes on where it stopped."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from embodiedsmith.bench import forge as bench
from embodiedsmith.cli.bench import Bench
from embodiedsmith.cli.make import Forge, Make
from embodiedsmith.forge import BUDGET
from embodiedsmith.forge.agents import RuleAgent
from embodiedsmith.forge.asked import faults
from embodiedsmith.runtime.seeds import generator
from embodiedsmith.spec import Brief

FIRST = [r for r in bench.requests() if r.set == 1]
SECOND = [r for r in bench.requests() if r.set == 2]
EASY = bench.Request(text="lift the jar", horizon="1")


def test_there_are_enough_requests_of_every_kind() -> None:
    assert len(FIRST) >= 60 and len({r.text for r in bench.requests()}) == len(bench.requests())
    assert min(Counter(r.horizon for r in FIRST).values()) >= 14
    assert sum(bool(r.awkward) for r in FIRST) >= len(FIRST) // 3
    chinese = sum(any("一" <= c <= "鿿" for c in r.text) for r in FIRST)
    assert chinese >= len(FIRST) // 4
    assert len(SECOND) >= 15
    assert {"object barely fits", "out of reach", "door blocked", "surface full", "robot on the wrong side", "goal already true",
            "two objects on one spot"} <= {r.awkward for r in FIRST}  # fmt: skip


@pytest.mark.parametrize("request_", bench.requests(), ids=lambda r: r.text)
def test_every_request_is_understood(request_: bench.Request) -> None:
    draft = RuleAgent().propose(Brief(text=request_.text, embodiment=request_.robot), generator(0, "bench"))
    assert draft.asked is not None and (draft.asked.embodiment is None) == (request_.robot == "any")
    assert faults(draft.asked, draft.scenario) == []


def test_sums_count_failures_in_what_a_certified_scenario_costs() -> None:
    made = bench.Trial(
        text="a", mode="joint", seed=0, lessons=False, success=True, seconds=2.0, units=10.0, proposals=1, edits=2, tries=3
    )
    lost = bench.Trial(
        text="b", mode="joint", seed=0, lessons=False, success=False, seconds=8.0, units=30.0, proposals=4, edits=0, tries=9
    )
    numbers = bench.summary([made, lost])
    assert (numbers["forged"], numbers["asked"], numbers["rate"]) == (1, 2, 0.5)
    assert (numbers["units"], numbers["units_per_certified"], numbers["seconds_per_certified"]) == (10.0, 40.0, 10.0)
    assert bench.summary([])["rate"] is None


def test_trials_are_kept_and_not_done_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "requests", lambda: (EASY,))
    said: list[str] = []
    report = bench.measure(seeds=1, modes=("joint",), folder=tmp_path, say=said.append)
    assert report["modes"]["joint"]["overall"]["forged"] == 1
    assert report["modes"]["joint"]["overall"]["skills"] == 1
    assert len(said) == 1 and "lift the jar" in said[0]
    assert len((tmp_path / "trials.jsonl").read_text().splitlines()) == 1
    again = bench.measure(seeds=1, modes=("joint",), folder=tmp_path, say=said.append)
    assert again == report and len(said) == 1
    json.dumps(report)
    assert any("1/1 100 %" in line for line in bench.table(report))


def test_a_request_that_nobody_understands_is_a_failure_with_its_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "requests", lambda: (bench.Request(text="grok the flux", horizon="1"),))
    report = bench.measure(seeds=1, modes=("none",))
    assert report["modes"]["none"]["overall"]["rate"] == 0.0


def test_the_command_line_names_the_budget_there_is() -> None:
    """Its commands do not load the forge to say it in their help."""
    assert Bench.budget == Make.budget == Forge.budget == BUDGET
