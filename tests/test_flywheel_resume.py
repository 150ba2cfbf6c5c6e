"""A flywheel that is killed five times, at whatever change of its folder, ends as one that nobody disturbed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spinning

from embodiedsmith.episodes import lessons
from embodiedsmith.episodes.forging import forge_missing
from embodiedsmith.episodes.store import EpisodeStore
from embodiedsmith.flywheel.rounds import read_rows
from embodiedsmith.flywheel.settings import FlywheelSettings
from embodiedsmith.flywheel.spin import configuration
from embodiedsmith.flywheel.tasks import prepare
from embodiedsmith.runtime.run import Run
from embodiedsmith.spec import Brief

KILLS = 5


@pytest.mark.slow
def test_killed_five_times_it_ends_with_the_same_numbers_and_bytes(tmp_path: Path) -> None:
    whole, torn = tmp_path / "whole", tmp_path / "torn"
    result, changes = _spun(whole)
    assert changes > 100
    rng = np.random.default_rng()  # every run of this test tries other moments: the same must come of all of them
    moments = np.sort(rng.choice(np.arange(1, changes), KILLS, replace=False)).tolist()
    for change in np.diff([0, *moments]).tolist():  # what a kill undid is done again: none gets further than undisturbed
        assert _process(torn, change) == -signal.SIGKILL, moments
    again, _ = _spun(torn)
    assert _plain(again) == _plain(result), moments
    # rows, decisions, policies, replay and episodes too, clocks and videos aside
    rows = [[row.model_copy(update={"seconds": {}}) for row in read_rows(folder / "flywheel")] for folder in (whole, torn)]
    assert rows[0] == rows[1] and len(rows[0]) == spinning.SMALL["rounds"] + 1, moments
    for name in ("flywheel/journal.jsonl", "flywheel/state.json", "flywheel/variants.json"):
        assert (torn / name).read_bytes() == (whole / name).read_bytes(), (name, moments)
    for name in ("flywheel/policies", "episodes", "scenarios"):
        expected = _files(whole / name)
        assert expected and _files(torn / name) == expected, (name, moments)
    # shards that are written again have other numbers, in the same order
    held = [b"".join(_files(folder / "flywheel" / "replay" / "shards").values()) for folder in (whole, torn)]
    assert held[0] == held[1] and held[0], moments


def test_scenarios_that_were_asked_for_are_not_taken_for_those_begun_with(tmp_path: Path) -> None:
    brief, settings = Brief(text="put the can in the basket"), FlywheelSettings(scenarios=1, held_out=1, final_evaluations=1)
    with Run.create(tmp_path / "run", configuration([brief], settings, 300.0)) as run:
        store = EpisodeStore(run)
        lessons.begin(store, None)
        begun = prepare(store, 0, brief, settings, budget=300.0, workers=1, quiet=True)
        asked = forge_missing(store, brief, 1, budget=300.0, first=1, quiet=True)  # as a round asks for the brief again
        assert {entry.index for entry in asked} == {0, 1} and asked[1].scenario is not None
        again = prepare(store, 0, brief, settings, budget=300.0, workers=1, quiet=True)
    assert again == begun and len(again.scenarios) == 1


def _process(folder: Path, moment: int) -> int:
    """Exit status of a spin that ends at a moment; 0: at none."""
    result = folder.with_suffix(".json")
    told = subprocess.run(
        [sys.executable, spinning.__file__, str(folder), str(result), str(moment)],
        env={**os.environ, "OMP_NUM_THREADS": "1"}, capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert told.returncode in (0, -signal.SIGKILL), told.stderr
    return told.returncode


def _spun(folder: Path) -> tuple[dict[str, Any], int]:
    """Result of a spin, and how many changes of its folder that took."""
    assert _process(folder, 0) == 0
    result, changes = json.loads(folder.with_suffix(".json").read_text())
    return result, changes


def _plain(result: dict[str, Any]) -> dict[str, Any]:
    """Without the names of folders."""
    return {**result, "run": "", "page": "", "policy": Path(result["policy"]).name}


def _files(folder: Path) -> dict[str, bytes]:
    """Name and content of all files of a folder, but what tells the time."""
    found = {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}
    return {name: data for name, data in found.items() if not name.endswith((".certificate.json", ".jsonl"))}
