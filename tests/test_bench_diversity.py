"""The diversity benchmark in miniature: real scenes, demonstrations, training and rollouts."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from embodiedsmith.bench.diversity import PICTURE, TRIALS, DiversityConfig, measure, table
from embodiedsmith.evaluate.suites import situation
from embodiedsmith.runtime.errors import SmithError
from embodiedsmith.spec import Scenario

SMALL = DiversityConfig(
    brief="stack the blue block on the green block", demonstrations=2, distinct=(1, 2), seeds=1, held_out=1, attempts=2, seen=2,
    steps=10, time_limit=1.0,
)  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("diversity")


def test_policies_are_equal_but_for_their_scenarios_and_go_on_after_a_kill(folder: Path) -> None:
    said: list[str] = []
    report = measure(SMALL, folder=folder, say=said.append)
    assert [line.partition(":")[0] for line in said[1:]] == ["1/2 seed 0, 1 scenarios", "2/2 seed 0, 2 scenarios"]
    assert [point["distinct"] for point in report["points"]] == [1, 2]
    assert [point["demonstrations"] for point in report["points"]] == [[2], [2]]
    assert all(point["pooled"] == point["success"] for point in report["points"])  # one seed
    assert report["suite"]["trials"] == 2 and report["demonstrator"]["value"] == 1.0
    # judged on what was never trained on
    kept = {name: (folder / f"{name}.jsonl").read_text().splitlines() for name in ("pool", "held-out")}
    pool, held = ([Scenario.from_json(line) for line in kept[name]] for name in ("pool", "held-out"))
    assert (len(pool), len(held)) == (2, 1)
    assert len({situation(scenario) for scenario in (*pool, *held)}) == 3
    # killed in the second trial: the first is not done again, the second comes out the same
    lines = (folder / TRIALS).read_bytes()
    first = lines.partition(b"\n")[0]
    (folder / TRIALS).write_bytes(first + b"\n" + first[:40])
    again = measure(SMALL, folder=folder)
    assert {k: v for k, v in again.items() if k != "seconds"} == {k: v for k, v in report.items() if k != "seconds"}
    assert (folder / TRIALS).read_bytes().startswith(first + b"\n")
    assert len(table(again)) == 4 and "demonstrator on the same suite: 1.000" in table(again)[-1]
    drawn = ElementTree.fromstring((folder / PICTURE).read_text())
    assert "success from 2 demonstrations" in "".join(drawn.itertext()) and drawn.tag.endswith("svg")


def test_more_scenarios_than_demonstrations_are_refused() -> None:
    with pytest.raises(SmithError, match="2 demonstrations cannot be from 4 scenarios"):
        measure(DiversityConfig(demonstrations=2, distinct=(1, 4)))
