"""Episode files, the store and the scores."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from recordings import make_recording, make_scenario, release

from embodiedsmith.episodes.format import EpisodeError, decode, encode, faults_of
from embodiedsmith.episodes.scores import energy, mean_squared_jerk, path_length, score
from embodiedsmith.episodes.store import EpisodeStore
from embodiedsmith.runtime.errors import UsageError
from embodiedsmith.runtime.run import Run
from embodiedsmith.tasks.recording import Failure, Recording


def assert_same(a: Recording, b: Recording) -> None:
    """Equal bit for bit, costs aside."""
    for field in fields(Recording):
        x, y = getattr(a, field.name), getattr(b, field.name)
        if isinstance(x, np.ndarray):
            assert x.dtype == y.dtype and x.shape == y.shape and x.tobytes() == y.tobytes(), field.name
        elif field.name == "observations":
            assert x.keys() == y.keys() and all(x[k].tobytes() == y[k].tobytes() for k in x)
        elif field.name != "cost":
            assert x == y, field.name


@pytest.fixture
def store(tmp_path: Path):
    with Run.create(tmp_path / "run", {"seed": 0, "fps": 20}) as run:
        yield EpisodeStore(run)


# The file


@settings(max_examples=40, deadline=None)
@given(st.data(), st.integers(0, 5), st.integers(0, 4), st.integers(0, 3))
def test_every_bit_comes_back(data: st.DataObject, length: int, width: int, predicates: int):
    def table(n: int, rows: int = length + 1) -> np.ndarray:
        return data.draw(hnp.arrays(np.float64, (rows, n), elements=st.floats(width=64)))

    recording = Recording(
        scenario_id="0" * 16,
        seed=1,
        attempt=2,
        states=table(width),
        actions=table(width, length),
        observations={"joints/cabinet.drawer": table(1), "杯.list": table(width)},
        margins=table(1)[:, 0].copy(),
        predicate_names=tuple("abc"[:predicates]),
        predicate_margins=table(predicates),
        labels=tuple(data.draw(st.lists(st.text(max_size=4), min_size=length, max_size=length))),
        events=(),
        outcome="failure",
        failure=Failure(code="world.not_finite", value=float("inf"), limit=1.0, subjects=("qvel",)),
    )
    assert faults_of(recording) == []
    assert_same(recording, decode(encode(recording, 20.0), "x"))


def test_the_same_recording_gives_the_same_bytes_and_cost_is_not_in_them():
    recording = make_recording(make_scenario())
    shuffled = replace(recording, observations=dict(reversed(recording.observations.items())), cost={"seconds": 99.0})
    assert encode(recording, 20.0) == encode(shuffled, 20.0)
    assert b"99.0" not in encode(shuffled, 20.0)
    assert encode(recording, 20.0) != encode(replace(recording, attempt=1), 20.0)


def test_a_constant_state_costs_next_to_nothing():
    recording = make_recording(make_scenario(), length=300, states=400)
    still = replace(recording, states=np.tile(recording.states[:1], (301, 1)))
    assert len(encode(still, 20.0)) < 0.25 * still.states.nbytes


@pytest.mark.parametrize("damage", ["truncate", "flip"])
def test_a_damaged_file_is_never_taken_for_a_good_one(damage: str):
    data = encode(make_recording(make_scenario()), 20.0)
    if damage == "truncate":
        with pytest.raises(EpisodeError, match="ep1: is not a readable episode file"):
            decode(data[:-20], "ep1")
    else:  # in the middle of the compressed pages, which carry their own checksums
        bad = bytearray(data)
        bad[200] ^= 1
        with pytest.raises(EpisodeError, match="ep1: is not a readable episode file"):
            decode(bytes(bad), "ep1")


# Commit


def test_what_is_committed_comes_back_with_its_row(store: EpisodeStore):
    scenario = make_scenario(user_text="把红色的杯子举起来")
    release(store, scenario)
    recording = make_recording(scenario)
    row = store.commit(4, recording, score(recording))
    assert row.file == "episodes/000004-000.parquet" and row.length == 12
    assert store.rows() == [row]
    again = store.load(row)
    assert_same(again, recording)
    assert again.cost == recording.cost
    assert store.scenario(scenario.id) == scenario
    assert store.scenario(scenario.id).task.user_text == "把红色的杯子举起来"


def test_failures_are_kept_with_and_without_a_recording(store: EpisodeStore):
    scenario = make_scenario()
    release(store, scenario)
    store.commit(0, make_recording(scenario, success=False), {})
    store.commit(0, make_recording(scenario, attempt=1), {})
    store.commit_failure(1, 0, scenario.id, Failure(code="worker.died", value=float("nan"), message="SIGKILL"), {"seconds": 1.0})
    assert [(r.slot, r.attempt, r.failure_code) for r in store.rows()] == [
        (0, 0, "pick.slip"),
        (0, 1, None),
        (1, 0, "worker.died"),
    ]
    assert [row.attempt for row, _ in store.episodes()] == [0, 1]
    assert [row.attempt for row, _ in store.episodes(outcome="failure")] == [0]
    failure = store.rows(outcome="failure")[0].failure
    assert failure is not None and failure["value"] == 0.004 and failure["subjects"] == ["mug"]
    with pytest.raises(EpisodeError, match="left no recording"):
        store.load(store.rows()[-1])


def test_a_bad_recording_is_refused_with_all_its_faults(store: EpisodeStore):
    scenario = make_scenario()
    good = make_recording(scenario)
    states = good.states.copy()
    states[3, 0] = np.nan
    bad = replace(
        good,
        states=states,
        actions=good.actions[:-1],
        seed=5,
        predicate_names=(),
        observations={"gripper": good.observations["gripper"][2:]},
    )
    with pytest.raises(EpisodeError) as caught:
        store.commit(0, bad, {})
    text = str(caught.value)
    for part in (
        "states has shape (13, 30), not (12, n)",
        "observation 'gripper' has shape (11, 1), not (12, n), for 11 actions",
        "1 predicate margins for 0 names",
        "12 labels for 11 actions",
        "run seed is 5, the run's is 0",
        "was not saved",
    ):
        assert part in text, part
    assert store.rows() == [] and list((store.run.path / "episodes").iterdir()) == []


def test_a_success_must_be_finite_and_its_outcome_must_fit(store: EpisodeStore):
    good = make_recording(make_scenario())
    states = good.states.copy()
    states[3, 0] = np.nan
    assert faults_of(replace(good, states=states)) == ["states of a success is not finite, first in row 3"]
    assert faults_of(replace(good, outcome="failure")) == ["outcome is 'failure' and failure is None"]
    late = replace(good.events[0], step=99)
    assert faults_of(replace(good, events=(late,))) == ["events outside the episode: grasped"]


def test_scenarios_are_kept_once_and_checked(store: EpisodeStore):
    scenario = make_scenario()
    release(store, scenario)
    release(store, scenario.model_copy(update={"provenance": scenario.provenance.model_copy(update={"index": 5})}))
    assert store.scenario(scenario.id).provenance.index == 0  # the same world: the first stays
    assert store.scenario_ids() == [scenario.id]
    with pytest.raises(UsageError, match=scenario.id):
        store.scenario("feedfeedfeedfeed")
    path = store.run.path / "scenarios" / f"{scenario.id}.json"
    path.write_text(path.read_text(encoding="utf-8").replace('"red"', '"blue"'), encoding="utf-8")
    with pytest.raises(EpisodeError, match="it was changed after it was written"):
        store.scenario(scenario.id)
    path.write_text("{}", encoding="utf-8")
    with pytest.raises(EpisodeError, match="is not a scenario"):
        store.scenario(scenario.id)


def test_loading_checks_the_checksum(store: EpisodeStore):
    scenario = make_scenario()
    release(store, scenario)
    row = store.commit(0, make_recording(scenario), {})
    path = store.path(row)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(bytes(data))
    with pytest.raises(EpisodeError, match="slot 0, attempt 0, was changed"):
        store.load(row)


_COMMIT = """
import os, signal, sys
sys.path.insert(0, sys.argv[2])
from recordings import make_recording, make_scenario, release
from embodiedsmith.episodes.store import EpisodeStore
from embodiedsmith.runtime import index
from embodiedsmith.runtime.run import Run
run = Run.create(sys.argv[1], {"seed": 0})
store = EpisodeStore(run)
release(store, make_scenario())
for slot in range(3):
    if slot == 2:  # killed after the file is in place and before the index knows
        run.index.add = lambda row: os.kill(os.getpid(), signal.SIGKILL)
    store.commit(slot, make_recording(make_scenario(), length=10 + slot), {})
"""


def test_a_kill_between_file_and_index_loses_one_attempt_and_its_repetition_is_the_same(tmp_path: Path):
    done = subprocess.run([sys.executable, "-c", _COMMIT, str(tmp_path / "run"), os.path.dirname(__file__)], check=False)
    assert done.returncode == -signal.SIGKILL
    with Run.open(tmp_path / "run", write=True) as run:
        store = EpisodeStore(run)
        assert [r.slot for r in store.rows()] == [0, 1]
        orphan = (tmp_path / "run" / "episodes" / "000002-000.parquet").read_bytes()
        assert store.load(store.rows()[1]).length == 11
        row = store.commit(2, make_recording(make_scenario(), length=12), {})
        assert store.path(row).read_bytes() == orphan


_FULL = """
import resource, sys
sys.path.insert(0, sys.argv[2])
from recordings import make_recording, make_scenario, release
from embodiedsmith.episodes.store import EpisodeStore
from embodiedsmith.runtime.files import DiskFullError
from embodiedsmith.runtime.run import Run
run = Run.create(sys.argv[1], {"seed": 0})
store = EpisodeStore(run)
release(store, make_scenario())
store.commit(0, make_recording(make_scenario()), {})
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
try:
    store.commit(1, make_recording(make_scenario(), length=400, states=300), {})
except DiskFullError as error:
    print(error)
"""


def test_on_a_full_disk_what_was_committed_stays_readable(tmp_path: Path):
    command = [sys.executable, "-c", _FULL, str(tmp_path / "run"), os.path.dirname(__file__)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert "no space left" in done.stdout
    with Run.open(tmp_path / "run") as run:
        assert [r.slot for r, _ in EpisodeStore(run).episodes()] == [0]
    assert [p.name for p in (tmp_path / "run" / "episodes").iterdir()] == ["000000-000.parquet"]


# Scores


def test_a_straight_line_at_constant_speed_has_its_length_and_no_jerk():
    t = np.linspace(0.0, 1.0, 21)[:, None]
    line = t * np.array([[0.3, 0.0, 0.4]])
    assert path_length(line) == pytest.approx(0.5)
    assert mean_squared_jerk(line, 20.0) == pytest.approx(0.0, abs=1e-18)


def test_the_jerk_of_a_cubic_is_constant():
    t = np.arange(41)[:, None] / 20.0
    assert mean_squared_jerk(t**3 * [[1.0, 0.0, 0.0]], 20.0) == pytest.approx(36.0)  # third derivative 6 m/s^3
    assert mean_squared_jerk(np.zeros((3, 3)), 20.0) == 0.0


def test_the_energy_of_constant_power_is_power_times_time():
    torque, velocity = np.tile([[2.0, -3.0]], (41, 1)), np.tile([[0.5, 1.0, 9.0]], (41, 1))
    assert energy(torque, velocity, 20.0) == pytest.approx((2 * 0.5 + 3 * 1.0) * 2.0)


def test_scores_of_a_recording():
    recording = make_recording(make_scenario(), length=40)
    found = score(recording, 20.0, 0.02)
    assert (found.completion, found.duration, found.clearance, found.goal_margin) == (1.0, 2.0, 0.02, recording.margins[-1])
    failed = make_recording(make_scenario(), success=False)
    assert score(failed).completion == 0.0
    half = replace(failed, predicate_names=("a", "b"), predicate_margins=np.tile([[1.0, -1.0]], (13, 1)))
    assert score(half).completion == 0.5
    bare = score(replace(recording, observations={}))
    assert bare.path_length is bare.smoothness is bare.energy is bare.clearance is None
    broken = replace(failed, margins=np.full(13, np.nan))
    assert score(broken).to_json()["goal_margin"] is None
