"""What goes wrong in the middle of a spin is noticed, undone, and does not end the run: real rounds, real damage."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from embodiedsmith.bench.flywheel_arms import edit_settings, resumed
from embodiedsmith.flywheel import loop
from embodiedsmith.flywheel.replay import Replay
from embodiedsmith.flywheel.rounds import RoundRow, read_rows
from embodiedsmith.flywheel.settings import FlywheelSettings
from embodiedsmith.flywheel.spin import configuration
from embodiedsmith.flywheel.state import State
from embodiedsmith.learn.policy import Policy
from embodiedsmith.runtime.run import Run
from embodiedsmith.spec import Brief

SMALL = FlywheelSettings(
    rounds=1, curriculum="success", scenarios=1, held_out=1, demonstrations=6, rollouts=4, experts=4, cold_steps=40,
    round_steps=20, evaluations=2, final_evaluations=4, forgetting=2, requests=0, width=32, depth=2, expert="plain",
    time_limit=1.0, pushes=0.0,
)  # fmt: skip
"""The demonstrator, whom nothing leads astray, gives every round four episodes in the time there is, so that none is a stall."""
BRIEF = "put the can in the basket"


@pytest.fixture(scope="module")
def spun(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A spin after one sound round."""
    folder = tmp_path_factory.mktemp("faults") / "spun"
    Run.create(folder, configuration([Brief(text=BRIEF)], SMALL, 300.0)).close()
    assert resumed(folder, threads=1, workers=1)["alarms"] == []
    return folder


@pytest.fixture
def copied(spun: Path, tmp_path: Path) -> Callable[[int], Path]:
    """A copy that has so many rounds to do."""

    def copy(rounds: int) -> Path:
        folder = tmp_path / "copy"
        shutil.copytree(spun, folder)
        edit_settings(folder, SMALL.model_copy(update={"rounds": rounds}))
        return folder

    return copy


def test_corrupted_data_is_dropped_and_the_policy_rolled_back(
    copied: Callable[[int], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = copied(3)
    sound = loop.encoded
    calls = 0

    def corrupting(*args: Any) -> Any:
        """Every episode of round 2 has a row of what memory holds after a fault: no numbers."""
        nonlocal calls
        calls += 1
        whole, *others = sound(*args)
        if calls > SMALL.experts:
            return [whole, *others]
        features = whole.features.copy()
        features[len(features) // 2] = np.nan
        return [replace(whole, features=features), *others]

    monkeypatch.setattr(loop, "encoded", corrupting)
    result = _spun(folder)
    rows = _rows(folder)
    assert [alarm.partition(":")[0] for alarm in rows[2].alarms] == ["corrupted_data"]
    assert "not finite" in rows[2].alarms[0]
    assert any("data round 2 -> dropped" in told for told in rows[2].decisions)
    assert any("policy round 2, level 1 -> round 1, level 1" in told for told in rows[2].decisions)
    _ended_well(rows, result, clean=(0, 1, 3))
    # nothing of it is in the replay; the round after it is
    replay = _replay(folder)
    assert set(replay.table["round"].tolist()) == {0, 1, 3}
    assert len(replay) == result["kept"]


def test_a_jump_of_the_level_is_taken_back(copied: Callable[[int], Path]) -> None:
    folder = copied(3)
    path = folder / "flywheel" / "state.json"
    state = State.load(path)
    task = state.tasks[0]
    assert task.by_success is not None and task.level == 1
    forced = task.model_copy(update={"by_success": task.by_success.model_copy(update={"level": 7})})
    state.model_copy(update={"tasks": (forced,)}).save(path)
    result = _spun(folder)
    rows = _rows(folder)
    assert [row.level for row in rows] == [1, 1, 7, 1]
    assert [alarm.partition(":")[0] for alarm in rows[2].alarms] == ["level_jump"]
    assert any("policy round 2, level 7 -> round 1, level 1" in told for told in rows[2].decisions)
    _ended_well(rows, result, clean=(0, 1, 3))
    assert result["final_level"] == 1


def test_a_checkpoint_zeroed_on_disk_is_replaced_by_the_one_before(copied: Callable[[int], Path]) -> None:
    folder = copied(4)
    state = State.load(folder / "flywheel" / "state.json")
    assert state.policy == 1
    weights = list((folder / "flywheel" / "policies").glob("0001*/**/*.safetensors"))
    assert weights
    for path in weights:
        path.write_bytes(bytes(path.stat().st_size))
    result = _spun(folder)
    rows = _rows(folder)
    assert [alarm.partition(":")[0] for alarm in rows[2].alarms] == ["damaged_policy"]
    assert "all zero" in rows[2].alarms[0]
    assert any("policy round 2, level 1 -> round 0, level 1" in told for told in rows[2].decisions)
    _ended_well(rows, result, clean=(0, 1, 3, 4))


def _spun(folder: Path) -> dict[str, Any]:
    return resumed(folder, threads=1, workers=1)


def _rows(folder: Path) -> list[RoundRow]:
    return read_rows(folder / "flywheel")


def _replay(folder: Path) -> Replay:
    policy = Policy.load(next(iter(sorted((folder / "flywheel" / "policies").glob("0000*")))))
    return Replay(folder / "flywheel" / "replay", policy.feature_names, policy.action_names)


def _ended_well(rows: list[RoundRow], result: dict[str, Any], clean: tuple[int, ...]) -> None:
    """All rounds were done, nothing but the fault was amiss, and what came out can act."""
    assert [row.round for row in rows] == list(range(len(rows))) and result["rounds"] == rows[-1].round
    assert {row.round for row in rows if not row.alarms} == set(clean)
    assert len(result["alarms"]) == len(rows) - len(clean)
    assert Policy.load(Path(result["policy"])).size > 0


def test_a_last_checkpoint_zeroed_before_the_final_evaluation_does_not_lose_the_result(copied: Callable[[int], Path]) -> None:
    folder = copied(1)
    for path in (folder / "flywheel" / "policies").glob("0001*/**/*.safetensors"):
        path.write_bytes(bytes(path.stat().st_size))
    result = _spun(folder)
    assert Path(result["policy"]).name == "0000" and result["rounds"] == 1
    assert ["damaged_policy" in alarm and "all zero" in alarm for alarm in result["alarms"]] == [True]
