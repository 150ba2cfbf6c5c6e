"""Every kind of damage is found, and named by file and episode."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from recordings import make_recording, make_scenario
from test_export_lerobot import SIZE, fill, frames

from embodiedsmith.episodes.export.lerobot import MANIFEST, export_lerobot
from embodiedsmith.episodes.export.selection import ExportOptions
from embodiedsmith.episodes.format import encode
from embodiedsmith.episodes.store import EpisodeStore
from embodiedsmith.episodes.validate import validate_run
from embodiedsmith.episodes.validate_dataset import DatasetError, validate_dataset
from embodiedsmith.runtime.errors import SmithError
from embodiedsmith.runtime.index import AttemptRow
from embodiedsmith.runtime.run import Run
from embodiedsmith.spec import Scenario
from embodiedsmith.tasks.recording import Recording


@pytest.fixture
def store(tmp_path: Path):
    with Run.create(tmp_path / "run", {"seed": 0, "fps": 20}) as run:
        store = EpisodeStore(run)
        fill(store)
        yield store


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-20])


def flip(path: Path, share: float = 0.3) -> None:
    data = bytearray(path.read_bytes())
    data[int(share * len(data))] ^= 1
    path.write_bytes(bytes(data))


# Runs


def test_a_sound_run_has_no_findings(store: EpisodeStore):
    assert validate_run(store.run, lambda recording, scenario: 0.0) == []


def test_cut_and_flipped_files_are_named(store: EpisodeStore):
    cut(store.path(store.rows()[0]))
    flip(store.path(store.rows()[3]))
    findings = validate_run(store.run)
    assert {f.subjects for f in findings} == {
        ("episodes/000000-000.parquet", "slot 0", "attempt 0"),
        ("episodes/000002-000.parquet", "slot 2", "attempt 0"),
    }
    assert {f.code for f in findings} == {"run.checksum", "run.file_damaged"}
    assert all(f.message.startswith(f.subjects[0]) for f in findings)


@pytest.mark.parametrize("share", np.linspace(0.0, 0.999, 25))
def test_wherever_a_byte_flips_it_is_found(store: EpisodeStore, share: float):
    flip(store.path(store.rows()[2]), share)
    assert {f.subjects[1:] for f in validate_run(store.run)} == {("slot 1", "attempt 1")}


def test_missing_unknown_and_swapped_files_are_named(store: EpisodeStore):
    rows = store.rows()
    store.path(rows[0]).unlink()
    shutil.copy(store.path(rows[4]), store.run.path / "episodes" / "000099-000.parquet")
    shutil.copy(store.path(rows[4]), store.path(rows[1]))
    found = {(f.code, f.subjects[0], f.severity) for f in validate_run(store.run)}
    assert found == {
        ("run.file_missing", "episodes/000000-000.parquet", "error"),
        ("run.not_indexed", "episodes/000099-000.parquet", "warning"),
        ("run.checksum", "episodes/000001-000.parquet", "error"),
        ("run.index_differs", "episodes/000001-000.parquet", "error"),
    }


def test_a_changed_scenario_is_named(store: EpisodeStore):
    path = store.run.path / "scenarios" / f"{make_scenario(0).id}.json"
    path.write_text(path.read_text(encoding="utf-8").replace('"red"', '"blue"'), encoding="utf-8")
    codes = [(f.code, f.subjects[0]) for f in validate_run(store.run)]
    assert codes[0] == ("run.scenario_damaged", f"scenarios/{path.name}")
    assert {c for c, _ in codes[1:]} == {"run.scenario_missing"}


def smuggle(store: EpisodeStore, change: Callable[[pa.Table], pa.Table], row: AttemptRow) -> None:
    """Rewrite an episode with its table changed and its checksum right, as a faulty writer would."""
    path = store.path(row)
    pq.write_table(change(pq.read_table(path)), path)
    store.run.index.add(replace(row, checksum=hashlib.sha256(path.read_bytes()).hexdigest()))


def test_faults_under_a_right_checksum_are_found_too(store: EpisodeStore):
    rows = store.rows()

    def late(table: pa.Table) -> pa.Table:
        time = table["time"].to_numpy().copy()
        time[5] = time[4]
        return table.set_column(table.column_names.index("time"), "time", pa.array(time))

    def skipping(table: pa.Table) -> pa.Table:
        return table.set_column(0, "step", pa.array(np.arange(len(table), dtype=np.int32) * 2))

    def broken(table: pa.Table) -> pa.Table:
        margin = table["margin"].to_numpy().copy()
        margin[3] = np.nan
        return table.set_column(table.column_names.index("margin"), "margin", pa.array(margin))

    for row, change in zip((rows[0], rows[2], rows[3]), (late, skipping, broken), strict=True):
        smuggle(store, change, row)
    found = [(f.code, f.subjects[1]) for f in validate_run(store.run)]
    assert found == [("episode.time", "slot 0"), ("episode.steps", "slot 1"), ("episode.unsound", "slot 2")]


def test_a_replay_that_differs_names_the_episode(store: EpisodeStore):
    def replay(recording: Recording, scenario: Scenario) -> float:
        assert scenario.id == recording.scenario_id
        if recording.length == 14:
            raise SmithError("the world does not compile")
        return {12: 0.0, 13: float("nan"), 15: 1e-12}[recording.length]

    found = [(f.code, f.subjects[1], f.value) for f in validate_run(store.run, replay)]
    assert found == [
        ("episode.replay_differs", "slot 1", None),
        ("episode.replay_failed", "slot 2", None),
        ("episode.replay_differs", "slot 3", 1e-12),
    ]


def test_other_versions_are_a_warning(store: EpisodeStore):
    path = store.run.path / "run.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    content["versions"]["mujoco"] = "3.1.0"
    path.write_text(json.dumps(content), encoding="utf-8")
    with Run.open(store.run.path) as run:
        found = [(f.code, f.severity, f.message) for f in validate_run(run)]
    assert len(found) == 1 and found[0][:2] == ("run.versions", "warning") and "mujoco: made with 3.1.0" in found[0][2]


# Datasets


@pytest.fixture
def dataset(store: EpisodeStore, tmp_path: Path) -> Path:
    options = ExportOptions(cameras=("front",), size=SIZE)
    return export_lerobot(store, tmp_path / "set", options, frames).path


def test_a_sound_dataset_has_no_findings(dataset: Path):
    assert validate_dataset(dataset) == []
    (dataset / MANIFEST).unlink()  # anybody's dataset has no manifest
    assert validate_dataset(dataset) == []


def test_a_cut_data_file_names_its_episodes(store: EpisodeStore, tmp_path: Path):
    path = export_lerobot(store, tmp_path / "set", ExportOptions(data_mb=1e-4)).path  # one episode a file
    cut(path / "data" / "chunk-000" / "file-002.parquet")
    findings = validate_dataset(path)
    assert [(f.code, f.subjects) for f in findings] == [
        ("dataset.file_damaged", ("data/chunk-000/file-002.parquet", "episode 2"))
    ]


def test_a_flipped_byte_names_the_one_episode_it_hit(dataset: Path):
    file = dataset / "data" / "chunk-000" / "file-000.parquet"
    with pq.ParquetFile(file) as source:
        groups = [source.metadata.row_group(i) for i in range(source.num_row_groups)]
        names = source.schema_arrow.names
    assert len(groups) == 4
    middle = groups[2].column(0)
    offset = middle.data_page_offset + middle.total_compressed_size - 5
    data = bytearray(file.read_bytes())
    data[offset] ^= 1
    file.write_bytes(bytes(data))
    findings = validate_dataset(dataset)
    assert findings and names
    assert {f.subjects for f in findings} == {("data/chunk-000/file-000.parquet", "episode 2")}


@pytest.mark.parametrize(
    ("name", "damage", "code", "subjects"),
    [
        ("videos/observation.images.front/chunk-000/file-000.mp4", flip, "dataset.checksum", 5),
        ("meta/stats.json", flip, "dataset.checksum", 1),
        ("meta/tasks.parquet", cut, "dataset.checksum", 1),
        ("meta/stats.json", Path.unlink, "dataset.file_missing", 1),
        ("videos/observation.images.front/chunk-000/file-000.mp4", Path.unlink, "dataset.file_missing", 5),
        ("meta/episodes/chunk-000/file-000.parquet", cut, "dataset.episodes_damaged", 1),
    ],
)
def test_damage_elsewhere_is_named(dataset: Path, name: str, damage: Callable[[Path], None], code: str, subjects: int):
    damage(dataset / name)
    findings = validate_dataset(dataset)
    assert (findings[0].code, len(findings[0].subjects)) == (code, subjects)
    assert findings[0].subjects[0] in name


def test_a_video_that_lost_frames_is_found_without_a_manifest(dataset: Path, store: EpisodeStore, tmp_path: Path):
    (dataset / MANIFEST).unlink()
    other = export_lerobot(store, tmp_path / "less", ExportOptions(cameras=("front",), size=SIZE, slots=(0, 1)), frames).path
    name = "videos/observation.images.front/chunk-000/file-000.mp4"
    shutil.copy(other / name, dataset / name)
    findings = validate_dataset(dataset)
    assert [f.code for f in findings] == ["dataset.video_frames"]
    assert "has 25 frames for 54 rows (episodes 0-3)" in findings[0].message
    (dataset / name).write_bytes((dataset / name).read_bytes()[:500])
    assert [f.code for f in validate_dataset(dataset)] == ["dataset.video_damaged"]


def test_rows_out_of_step_are_found_without_a_manifest(dataset: Path):
    (dataset / MANIFEST).unlink()
    file = dataset / "data" / "chunk-000" / "file-000.parquet"
    table = pq.read_table(file)

    def with_column(name: str, row: int, value: float) -> pa.Table:
        values = table[name].to_numpy().copy()
        values[row] = value
        return table.set_column(table.column_names.index(name), name, pa.array(values))

    for name, row, value, part in [
        ("timestamp", 14, 0.0, "time does not increase"),
        ("frame_index", 14, 9, "'frame_index' does not count up from 0"),
        ("next.done", 14, True, "'next.done' is not true exactly in the last row"),
        ("next.margin", 14, np.nan, "'next.margin' is not finite, first in row 2"),
    ]:
        pq.write_table(with_column(name, row, value), file)
        findings = validate_dataset(dataset)
        assert [f.subjects[1:] for f in findings] == [("episode 1",)] and part in findings[0].message
    pq.write_table(table.slice(0, 50), file)
    assert {f.subjects[1] for f in validate_dataset(dataset)} == {"episode 3"}
    pq.write_table(table.drop_columns(["action"]), file)
    assert all("no column 'action'" in f.message for f in validate_dataset(dataset))


def test_what_is_not_a_dataset_is_refused(tmp_path: Path):
    with pytest.raises(DatasetError, match="not finished"):
        validate_dataset(tmp_path)
    (tmp_path / "meta").mkdir()
    (tmp_path / "meta" / "info.json").write_text('{"codebase_version": "v2.1", "fps": 20}', encoding="utf-8")
    with pytest.raises(DatasetError, match=r"version v2\.1, missing"):
        validate_dataset(tmp_path)


def test_an_episode_is_not_taken_for_another_kind_of_parquet(store: EpisodeStore):
    row = store.rows()[0]
    path = store.path(row)
    pq.write_table(pa.table({"a": [1]}), path)
    assert [f.code for f in validate_run(store.run)] == ["run.checksum", "run.file_damaged"]
    path.write_bytes(encode(make_recording(make_scenario(0), length=12), 20.0))
    assert [f.code for f in validate_run(store.run)] == ["run.checksum"]
