"""Imported episodes: read back as they were recorded, held to the filter, and what cannot be read is told and left out."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from flywheel_scenes import forged, result

from embodiedsmith.embodiments.actions import ActionSpace
from embodiedsmith.episodes.export.lerobot import export_lerobot
from embodiedsmith.episodes.export.selection import ExportOptions
from embodiedsmith.episodes.scores import score
from embodiedsmith.episodes.staging import attempt_rng
from embodiedsmith.episodes.store import EpisodeStore
from embodiedsmith.evaluate.quality import PROFILES, reference
from embodiedsmith.flywheel.real import RealDataError, episodes, scenarios_near, take_in
from embodiedsmith.flywheel.replay import Replay
from embodiedsmith.flywheel.thresholds import ThresholdConfig, Thresholds
from embodiedsmith.learn.observation import Encoder, ObservationConfig
from embodiedsmith.learn.samples import encode_episode
from embodiedsmith.motion import demonstrate
from embodiedsmith.runtime.run import Run
from embodiedsmith.spec import Brief, Scenario
from embodiedsmith.tasks import Failure, Recording, Session
from embodiedsmith.world import World

SPACE = "ee_delta"


@pytest.fixture(scope="module")
def scenario() -> Scenario:
    return forged("basket")


@pytest.fixture(scope="module")
def recordings(scenario: Scenario) -> list[Recording]:
    """Three demonstrations, one that dawdled at its end, one that failed."""
    world = World(scenario)
    made = [demonstrate(Session(world, attempt=k), attempt_rng(0, scenario.id, k)) for k in range(3)]
    session = Session(world, attempt=3)
    session.reset(attempt_rng(0, scenario.id, 3))
    for _ in range(500):
        session.step(session.world.command)
    slow = demonstrate_on(session, made[0])
    failed = replace(made[2], attempt=4, outcome="failure", failure=Failure(code="pick.slipped", message="it fell"))
    return [*made, slow, failed]


def demonstrate_on(session: Session, shown: Recording) -> Recording:
    """Go on with the actions of a demonstration from the same start, after whatever was done before."""
    for action in shown.actions:
        session.step(action)
    finished = session.finish()
    return replace(finished, outcome="success", failure=None)


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory, recordings: list[Recording]) -> Iterator[Path]:
    made = result("basket")
    folder = tmp_path_factory.mktemp("real") / "run"
    config = {"brief": Brief(text="put the can in the basket", seed=0).model_dump(), "seed": 0, "fps": 20}
    with Run.create(folder, config) as run:
        store = EpisodeStore(run)
        store.release(made.scenario, made.certificate, made.witness)
        for slot, recording in enumerate(recordings):
            store.commit(slot, recording, score(recording))
        exported = export_lerobot(store, folder / "exports" / "lerobot", ExportOptions(keep="all"))
        assert exported.episodes == len(recordings)
        yield exported.path


def test_what_is_read_is_what_was_recorded(dataset: Path, scenario: Scenario, recordings: list[Recording]) -> None:
    scenarios = scenarios_near(dataset)
    assert set(scenarios) == {scenario.id}
    world = World(scenario)
    observation = ObservationConfig.covering([scenario])
    encoder, space = Encoder(scenario, observation, world=world), ActionSpace(world.robot, SPACE, world.control_dt)
    read = list(episodes(dataset, scenarios))
    assert [e.fault for e in read] == [""] * len(recordings)
    for episode, original in zip(read, recordings, strict=True):
        assert episode.recording is not None
        assert episode.recording.outcome == original.outcome
        assert list(episode.recording.observations) == list(original.observations)
        for name, values in original.observations.items():
            assert np.allclose(episode.recording.observations[name][:-1], values[:-1], rtol=1e-6, atol=1e-6)
        mine, true = encode_episode(encoder, space, episode.recording), encode_episode(encoder, space, original)
        assert np.allclose(mine.features[1:], true.features[1:], atol=2e-4)
        assert np.allclose(mine.features[0], true.features[0], atol=0.02)  # the first command is not known
        assert np.allclose(mine.actions[1:], true.actions[1:], atol=2e-5)
        assert np.allclose(mine.actions[0], true.actions[0], atol=0.02)
    failed = read[-1].recording
    assert failed is not None
    assert failed.failure is not None
    assert failed.failure.code == "pick.slipped"


def test_they_pass_the_same_filter_into_the_replay(
    dataset: Path, scenario: Scenario, recordings: list[Recording], tmp_path: Path
) -> None:
    world = World(scenario)
    observation = ObservationConfig.covering([scenario])
    names = Encoder(scenario, observation, world=world).names, ActionSpace(world.robot, SPACE, world.control_dt).names
    usual = reference(score(recording) for recording in recordings[:3])
    thresholds = Thresholds(config=ThresholdConfig(least_number=1)).observed(1.0)
    replay = Replay(tmp_path / "replay", *names)
    decisions = take_in(
        replay, dataset, {scenario.id: scenario}, round=2, thresholds=thresholds, reference=usual, profile=PROFILES["real_robot"],
        observation=observation, action_space=SPACE, task="basket",
    )  # fmt: skip
    assert replay.count("source") == {"real": 3}  # neither the slow one nor the one that failed
    assert replay.table["attempt"].tolist() == [0, 1, 2]
    assert decisions[0].reason == "3 of 5 episodes of lerobot pass the filter"
    assert decisions[0].numbers == {"read": 5, "successes": 4, "kept": 3}
    everything = Replay(tmp_path / "everything", *names)
    take_in(
        everything, dataset, {scenario.id: scenario}, round=0, thresholds=Thresholds(config=ThresholdConfig(kind="success")),
        reference=None, profile=PROFILES["benchmark"], observation=observation, action_space=SPACE, task="basket",
    )  # fmt: skip
    assert len(everything) == 4


def test_what_cannot_be_read_is_told(dataset: Path, scenario: Scenario, tmp_path: Path) -> None:
    unknown = list(episodes(dataset, {}))
    assert {e.fault for e in unknown} == {f"its scenario '{scenario.id}' is not known"}
    other = list(episodes(dataset, {"x": forged("stack")}))
    assert "observations are missing or of another size: items/block_1" in other[0].fault
    assert next(iter(episodes(dataset, {"anything": scenario}))).recording is not None  # the only one is taken
    copy = tmp_path / "copy"
    for path in dataset.rglob("*"):
        if path.is_file():
            (copy / path.relative_to(dataset)).parent.mkdir(parents=True, exist_ok=True)
            (copy / path.relative_to(dataset)).write_bytes(path.read_bytes())
    data = next((copy / "data").rglob("*.parquet"))
    table = pq.read_table(data)
    pq.write_table(table.drop_columns(["observation.items.can"]), data)
    assert next(iter(episodes(copy, {scenario.id: scenario}))).fault == "observations are missing or of another size: items/can"
    pq.write_table(table.slice(3), data)
    assert "rows, meta/episodes says" in next(iter(episodes(copy, {scenario.id: scenario}))).fault
    data.write_bytes(b"no parquet")
    assert {e.recording for e in episodes(copy, {scenario.id: scenario})} == {None}
    info = json.loads((copy / "meta" / "info.json").read_text())
    (copy / "meta" / "info.json").write_text(json.dumps({**info, "codebase_version": "v2.1"}))
    with pytest.raises(RealDataError, match=r"version v2\.1; v3\.0 is read"):
        list(episodes(copy, {scenario.id: scenario}))
    with pytest.raises(RealDataError, match=r"is not a LeRobot v3\.0 dataset"):
        list(episodes(tmp_path / "nowhere", {scenario.id: scenario}))
    assert scenarios_near(copy) == {}
