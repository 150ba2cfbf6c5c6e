"""The verbs of learning: episodes become a policy, a policy is tried on starts it never saw, bad input is told at once."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from embodiedsmith import api
from embodiedsmith.api import learning
from embodiedsmith.cli import main
from embodiedsmith.episodes.store import EpisodeStore
from embodiedsmith.evaluate.suites import Suite
from embodiedsmith.flywheel.settings import FlywheelSettings
from embodiedsmith.flywheel.spin import configuration
from embodiedsmith.learn.checkpoint import CheckpointError
from embodiedsmith.learn.observation import Encoder, ObservationConfig
from embodiedsmith.learn.policy import Policy
from embodiedsmith.motion import demonstrate
from embodiedsmith.runtime.errors import UsageError
from embodiedsmith.runtime.run import Run, RunError
from embodiedsmith.spec import Brief
from embodiedsmith.tasks import Session
from embodiedsmith.world import World

BRIEF = "put the can in the basket"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("learning") / "run"
    api.make(BRIEF, n=4, out=folder, scenarios=2, export=False)
    return folder


@pytest.fixture(scope="module")
def policy(run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("learning") / "policy"
    made = learning.train(run, out=folder, steps=60, batch_size=64)
    assert made["episodes"] == 4
    assert made["moments"] > 200
    return folder


def test_training_lowers_the_loss_and_repeats_bit_for_bit(run: Path, policy: Path, tmp_path: Path) -> None:
    curves = json.loads((policy / learning.CURVES).read_text())
    assert curves["step"][-1] == 60
    assert curves["loss"][-1] < curves["loss"][0]
    learning.train(run, out=tmp_path / "again", steps=60, batch_size=64)
    assert Policy.load(tmp_path / "again").fingerprint() == Policy.load(policy).fingerprint()


def test_episodes_read_back_from_the_disk_are_encoded_like_those_just_made(run: Path) -> None:
    with Run.open(run) as opened:
        store = EpisodeStore(opened)
        scenario = store.scenario(store.scenario_ids()[0])
        read = store.witness(scenario.id)
    encoder = Encoder(scenario, ObservationConfig.covering([scenario]))
    made = demonstrate(Session(World(scenario)), np.random.default_rng(0))
    assert set(made.observations) == set(read.observations)
    shuffled = {name: made.observations[name] for name in sorted(made.observations, reverse=True)}
    expected = encoder.encode_recording(made)
    made.observations.clear()
    made.observations.update(shuffled)
    np.testing.assert_array_equal(encoder.encode_recording(made), expected)
    assert encoder.encode_recording(read).shape == (read.length, encoder.size)


def test_a_policy_is_evaluated_on_starts_of_its_own_and_the_suite_can_be_used_again(policy: Path, tmp_path: Path) -> None:
    kept = tmp_path / "suite.json"
    found = learning.evaluate(policy, brief=BRIEF, n=4, scenarios=1, save=kept)
    assert len(found.trials) == 4
    assert Suite.load(kept).id == found.suite
    again = learning.evaluate(policy, suite_file=kept)
    assert again.trials == found.trials


def test_what_cannot_be_meant_is_told(run: Path, policy: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="suite's file, or a brief"):
        learning.evaluate(policy)
    with pytest.raises(CheckpointError, match="no checkpoint"):
        learning.evaluate(run, brief=BRIEF)
    with pytest.raises(UsageError) as told:
        learning.spin(BRIEF, out=tmp_path / "spin", rounds=-1, batch_size=0, colour="red")
    assert len(told.value.faults) == 3
    assert not (tmp_path / "spin").exists()
    with pytest.raises(RunError):
        learning.resume_spin(tmp_path)
    api.forge(BRIEF, n=1, out=tmp_path / "bare")
    with pytest.raises(UsageError, match="no successful episode"):
        learning.train(tmp_path / "bare", out=tmp_path / "policy")


def test_a_flywheels_run_is_not_collected_for(tmp_path: Path) -> None:
    config = configuration([Brief(text=BRIEF)], FlywheelSettings(), 300.0)
    Run.create(tmp_path / "spin", config).close()
    assert api.kind_of(tmp_path / "spin") == "spin"
    before = (tmp_path / "spin" / "run.json").read_bytes()
    with pytest.raises(UsageError, match="flywheel's run"):
        api.collect(tmp_path / "spin", n=1)
    with pytest.raises(UsageError, match="flywheel's run"):
        api.resume(tmp_path / "spin")
    assert (tmp_path / "spin" / "run.json").read_bytes() == before


def test_the_commands_say_the_same(run: Path, policy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train", str(run), "--out", str(tmp_path / "p"), "--steps", "3", "--batch-size", "8", "--json", "--quiet"]) == 0
    assert json.loads(capsys.readouterr().out)["steps"] == 3
    assert main(["eval", str(tmp_path / "p"), "--json"]) == 2
    assert "brief" in json.loads(capsys.readouterr().out)["what"]
    assert main(["spin", BRIEF, "--out", str(tmp_path / "s"), "--settings", "nonsense", "--json"]) == 2
    assert "name=value" in json.loads(capsys.readouterr().out)["what"]
    assert main(["spin", str(tmp_path / "none.txt"), "--out", str(tmp_path / "s"), "--json"]) == 2
    assert not (tmp_path / "s").exists()
