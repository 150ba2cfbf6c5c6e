"""Checking a LeRobot v3.0 dataset: ours to the byte, anybody's for what the format promises."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import av
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from embodiedsmith.episodes.export.lerobot import MANIFEST
from embodiedsmith.episodes.export.tables import numbers, rows_digest
from embodiedsmith.runtime.errors import SmithError
from embodiedsmith.runtime.files import StorageError, read_json, sha256_file
from embodiedsmith.spec import Finding

_DAMAGE = (OSError, pa.ArrowException, ValueError, KeyError)


class DatasetError(SmithError):
    """The folder is not a LeRobot v3.0 dataset."""


@dataclass
class _Dataset:
    """What the checks share."""

    root: Path
    info: Mapping[str, Any]
    manifest: Mapping[str, Any] | None
    episodes: list[dict[str, Any]] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    changed: set[str] = field(default_factory=set)
    """Files whose checksum differs from the manifest's."""

    def report(self, code: str, file: str, episodes: Iterable[int], message: str) -> None:
        """Add a finding about a file and the episodes it concerns."""
        concerned = sorted(set(episodes))
        shown = f" (episodes {_ranges(concerned)})" if concerned else ""
        subjects = (file, *(f"episode {e}" for e in concerned))
        self.findings.append(Finding(code=code, subjects=subjects, message=f"{file}: {message}{shown}"))


def validate_dataset(path: Path) -> list[Finding]:
    """Everything wrong with a dataset, each finding naming the file and the episodes it concerns; empty when all is well.

    Checked: checksums (of datasets made here), counts, indices, time, shapes and finiteness of every row, and every video by
    decoding it: number of frames against rows, picture size, and times. A damaged data file is read row group by row group, so
    that only the episodes really hit are named.

    Raises:
        DatasetError: There is no readable `meta/info.json` of a version 3 dataset.
    """
    info = _info(path)
    manifest = read_json(path / MANIFEST) if (path / MANIFEST).is_file() else None
    dataset = _Dataset(path, info, manifest)
    try:
        _load_episodes(dataset)
    except _DAMAGE as error:
        dataset.report("dataset.episodes_damaged", "meta/episodes", (), f"cannot be read: {error}")
        return dataset.findings
    _check_files(dataset)
    _check_counts(dataset)
    _check_data(dataset)
    for key, feature in info["features"].items():
        if feature["dtype"] == "video":
            _check_videos(dataset, key, feature)
    return dataset.findings


def _info(path: Path) -> Mapping[str, Any]:
    try:
        info = read_json(path / "meta" / "info.json")
    except StorageError as error:
        raise DatasetError(
            "is not a LeRobot dataset, or its writing was not finished: meta/info.json is missing or damaged",
            where=str(path),
            faults=[str(error)],
        ) from error
    needed = ("codebase_version", "fps", "total_episodes", "total_frames", "features", "data_path")
    missing = [name for name in needed if name not in info]
    if missing or not str(info["codebase_version"]).startswith("v3"):
        raise DatasetError(
            f"is not a LeRobot v3.0 dataset: version {info.get('codebase_version')}, missing {missing}", where=str(path)
        )
    found: Mapping[str, Any] = info
    return found


def _load_episodes(dataset: _Dataset) -> None:
    for file in sorted((dataset.root / "meta" / "episodes").rglob("*.parquet")):
        with open(file, "rb") as source:
            table = pq.ParquetFile(source, page_checksum_verification=True).read()
        dataset.episodes += table.select([n for n in table.column_names if not n.startswith("stats/")]).to_pylist()
    dataset.episodes.sort(key=lambda e: int(e["episode_index"]))


def _check_files(dataset: _Dataset) -> None:
    if dataset.manifest is None:
        return
    for name, checksum in dataset.manifest["files"].items():
        file = dataset.root / name
        if not file.is_file():
            dataset.report("dataset.file_missing", name, _episodes_in(dataset, name), "is missing")
        elif sha256_file(file) != checksum:
            dataset.changed.add(name)
            # Data files are gone through episode by episode below; for the others the file is all one can name.
            if not name.startswith("data/"):
                dataset.report("dataset.checksum", name, _episodes_in(dataset, name), "was changed after it was written")


def _check_counts(dataset: _Dataset) -> None:
    info, start = dataset.info, 0
    if len(dataset.episodes) != info["total_episodes"]:
        message = f"says {info['total_episodes']} episodes, meta/episodes has {len(dataset.episodes)}"
        dataset.report("dataset.count", "meta/info.json", (), message)
    for index, episode in enumerate(dataset.episodes):
        span = (episode["episode_index"], episode["dataset_from_index"], episode["dataset_to_index"])
        wanted = (index, start, start + episode["length"])
        if span != wanted:
            dataset.report("dataset.index", "meta/episodes", [index], f"says (episode, from, to) {span}, should be {wanted}")
        start += episode["length"]
    if start != info["total_frames"]:
        dataset.report("dataset.count", "meta/info.json", (), f"says {info['total_frames']} frames, the episodes have {start}")


def _check_data(dataset: _Dataset) -> None:
    places: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for episode in dataset.episodes:
        name = dataset.info["data_path"].format(chunk_index=episode["data/chunk_index"], file_index=episode["data/file_index"])
        places[name].append(episode)
    for name, episodes in places.items():
        indices = [int(e["episode_index"]) for e in episodes]
        if not (dataset.root / name).is_file():
            if dataset.manifest is None:
                dataset.report("dataset.file_missing", name, indices, "is missing")
            continue
        before = len(dataset.findings)
        _check_data_file(dataset, name, episodes)
        if name in dataset.changed and len(dataset.findings) == before:
            dataset.report("dataset.checksum", name, indices, "was changed after it was written; its rows read the same")


def _check_data_file(dataset: _Dataset, name: str, episodes: list[dict[str, Any]]) -> None:
    indices = [int(e["episode_index"]) for e in episodes]
    with open(dataset.root / name, "rb") as source:
        try:
            file = pq.ParquetFile(source, page_checksum_verification=True)
        except _DAMAGE as error:
            dataset.report("dataset.file_damaged", name, indices, f"cannot be read: {error}")
            return
        if file.num_row_groups == len(episodes):  # one an episode, as written here: read apart, fail apart
            for number, episode in enumerate(episodes):
                try:
                    table = file.read_row_group(number)
                except _DAMAGE as error:
                    dataset.report("dataset.rows_damaged", name, [episode["episode_index"]], f"rows cannot be read: {error}")
                    continue
                _check_rows(dataset, name, episode, table)
            return
        try:
            table = file.read()
        except _DAMAGE as error:
            dataset.report("dataset.rows_damaged", name, indices, f"rows cannot be read: {error}")
            return
    owner = np.asarray(table["episode_index"].to_numpy())
    for episode in episodes:
        _check_rows(dataset, name, episode, table.filter(pa.array(owner == episode["episode_index"])))


def _check_rows(dataset: _Dataset, name: str, episode: Mapping[str, Any], table: pa.Table) -> None:
    """One episode's rows: digest, counts, indices, time, shapes, finiteness, the end."""
    index, length, fps = int(episode["episode_index"]), int(episode["length"]), float(dataset.info["fps"])
    faults = []
    if dataset.manifest is not None and rows_digest(table) != dataset.manifest["episodes"][index]["rows_sha256"]:
        faults.append("rows were changed after they were written")
    if len(table) != length:
        faults.append(f"{len(table)} rows, meta/episodes says {length}")
    columns = {}
    for key, feature in dataset.info["features"].items():
        if feature["dtype"] in ("video", "string"):
            continue
        if key not in table.column_names:
            faults.append(f"no column '{key}'")
            continue
        columns[key] = numbers(table[key])
        width = int(np.prod(feature["shape"]))
        if columns[key].shape[1] != width:
            faults.append(f"'{key}' has {columns[key].shape[1]} dimensions, meta/info.json says {width}")
        if not np.isfinite(columns[key]).all():
            faults.append(f"'{key}' is not finite, first in row {int(np.argwhere(~np.isfinite(columns[key]))[0][0])}")
    order = np.arange(len(table))
    for key, wanted in {"frame_index": order, "index": order + int(episode["dataset_from_index"])}.items():
        if key in columns and not np.array_equal(columns[key][:, 0], wanted):
            faults.append(f"'{key}' does not count up from {wanted[0] if len(wanted) else 0}")
    if "timestamp" in columns:
        time = columns["timestamp"][:, 0].astype(np.float64)
        if not (np.diff(time) > 0).all():
            faults.append("time does not increase")
        elif np.abs(time - order / fps).max(initial=0.0) > 1e-4 * max(1.0, length / fps / 100):
            faults.append(f"time is not row / {fps:g}")
    if "next.done" in columns and not np.array_equal(np.flatnonzero(columns["next.done"][:, 0]), [len(table) - 1]):
        faults.append("'next.done' is not true exactly in the last row")
    for fault in faults:
        dataset.report("dataset.rows", name, [index], fault)


def _check_videos(dataset: _Dataset, key: str, feature: Mapping[str, Any]) -> None:
    places: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for episode in dataset.episodes:
        prefix = f"videos/{key}/"
        place = {"chunk_index": episode[prefix + "chunk_index"], "file_index": episode[prefix + "file_index"]}
        places[dataset.info["video_path"].format(video_key=key, **place)].append(episode)
    fps = float(dataset.info["fps"])
    for name, episodes in places.items():
        indices = [int(e["episode_index"]) for e in episodes]
        if not (dataset.root / name).is_file():
            if dataset.manifest is None:
                dataset.report("dataset.file_missing", name, indices, "is missing")
            continue
        try:
            times, sizes = _decode(dataset.root / name)
        except (OSError, av.FFmpegError) as error:
            dataset.report("dataset.video_damaged", name, indices, f"cannot be decoded: {error}")
            continue
        if sizes - {tuple(feature["shape"][:2])}:
            dataset.report("dataset.video_size", name, indices, f"pictures are {sorted(sizes)}, not {feature['shape'][:2]}")
        rows = sum(int(e["length"]) for e in episodes)
        if len(times) != rows:
            dataset.report("dataset.video_frames", name, indices, f"has {len(times)} frames for {rows} rows")
        elif np.abs(times - np.arange(rows) / fps).max(initial=0.0) > 0.5 / fps:
            dataset.report("dataset.video_time", name, indices, f"its frames are not {fps:g} a second")
        _check_spans(dataset, key, name, episodes, fps)


def _check_spans(dataset: _Dataset, key: str, name: str, episodes: list[dict[str, Any]], fps: float) -> None:
    """Episodes lie one after the other in their video, each as long as its rows."""
    start = 0.0
    for episode in episodes:
        span = (episode[f"videos/{key}/from_timestamp"], episode[f"videos/{key}/to_timestamp"])
        wanted = (start, start + episode["length"] / fps)
        if np.abs(np.subtract(span, wanted)).max() > 0.25 / fps:
            message = f"meta/episodes places it at {span} s, it lies at {wanted} s"
            dataset.report("dataset.video_span", name, [episode["episode_index"]], message)
        start = wanted[1]


def _decode(path: Path) -> tuple[np.ndarray[Any, np.dtype[np.float64]], set[tuple[int, int]]]:
    """Times [s] and sizes (height, width) of every frame of a video."""
    times, sizes = [], set()
    with av.open(str(path)) as container:
        for frame in container.decode(video=0):
            times.append(float(frame.time))
            sizes.add((frame.height, frame.width))
    return np.array(times), sizes


def _episodes_in(dataset: _Dataset, name: str) -> list[int]:
    """Episodes that lie in a data or video file; none for other files."""
    found = []
    for episode in dataset.episodes:
        data = {"chunk_index": episode["data/chunk_index"], "file_index": episode["data/file_index"]}
        places = [dataset.info["data_path"].format(**data)]
        for key, feature in dataset.info["features"].items():
            if feature["dtype"] == "video":
                video = {n: episode[f"videos/{key}/{n}"] for n in ("chunk_index", "file_index")}
                places.append(dataset.info["video_path"].format(video_key=key, **video))
        if name in places:
            found.append(int(episode["episode_index"]))
    return found


def _ranges(numbers: list[int]) -> str:
    """`[0, 1, 2, 5]` as "0-2, 5"."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(str(r[0]) if len(r) == 1 else f"{r[0]}-{r[-1]}" for r in runs)
