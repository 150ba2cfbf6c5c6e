"""LeRobot v3.0 datasets, written with pyarrow and PyAV alone.

Row t of an episode holds what was observed before action t, the action, and what came of it (`next.*`); frame t of each video
shows the same instant. Pixels are rendered from the stored states, one episode at a time, and streamed into the videos.

`meta/embodiedsmith.json` ties every episode to its scenario, slot, attempt, seed and outcome and carries checksums of all files
and of every episode's rows, so that `smith validate` can name the damaged episode. `meta/info.json` is written last: a folder
that has it is complete.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from embodiedsmith.episodes.export.selection import (
    STATE_PARTS,
    ExportedDataset,
    ExportError,
    ExportOptions,
    Frames,
    Mounts,
    Pixels,
    Selection,
    axis_names,
    common_observations,
    provenance,
    refuse_other,
    robot_axes,
    select,
    state,
    task_text,
    written_aside,
)
from embodiedsmith.episodes.export.statistics import QUANTILES, Moments, PixelCounts, Stats, array_stats, without_zero_std
from embodiedsmith.episodes.export.tables import (
    BOOKKEEPING,
    CHUNK,
    EPISODES_PATH,
    DataSeries,
    EpisodeTable,
    arrow_array,
    arrow_field,
    numbers,
    rows_digest,
    write_names,
)
from embodiedsmith.episodes.export.video import Span, VideoSeries
from embodiedsmith.episodes.points import loaded
from embodiedsmith.episodes.store import EpisodeStore
from embodiedsmith.runtime.files import sha256_file
from embodiedsmith.runtime.index import AttemptRow
from embodiedsmith.tasks.recording import Recording

MANIFEST = "meta/embodiedsmith.json"
_IMAGES = "observation.images."
_QUANTILE_ROWS = 1_000_000
"""Rows up to which quantiles are exact; from larger datasets every k-th row is looked at."""
Columns = dict[str, NDArray[Any]]


def export_lerobot(
    store: EpisodeStore,
    path: Path,
    options: ExportOptions,
    frames: Frames | None = None,
    *,
    mounts: Mounts | None = None,
    names: Mapping[str, Sequence[str]] | None = None,
) -> ExportedDataset:
    """Write the run's episodes as a LeRobot v3.0 dataset.

    Args:
        store: Where the episodes are.
        path: The dataset's folder. It appears when it is complete. An export of the same parameters is brought up to date.
        options: What to put in.
        frames: Renders the pixels; needed when `options.cameras` is not empty.
        mounts: Tells intrinsics and extrinsics of the cameras; None: they are not recorded.
        names: Names of dimensions, by observation name and for "action"; where not given, those of the robot, with units.

    Raises:
        ExportError: What was asked for cannot be, or something else is at `path`; nothing on disk changed.
        DiskFullError: No space is left; what was at `path` is untouched.
    """
    selection = select(store, options)
    if options.cameras and frames is None:
        raise ExportError("cameras are asked for and nothing renders them", where=str(path))
    parameters = {**options.to_json(), "fps": selection.fps, "robot": selection.robot, "format": "lerobot-v3.0"}
    found = refuse_other(path, path / MANIFEST, parameters)
    wanted = [provenance(row, index) for index, row in enumerate(selection.rows)]
    skipped = tuple(f"slot {row.slot}, attempt {row.attempt}: {reason}" for row, reason in selection.skipped)
    if found is not None and [{k: e[k] for k in wanted[0]} for e in found["episodes"]] == wanted:
        return ExportedDataset(
            path=path, episodes=len(wanted), frames=found["total_frames"], cameras=options.cameras, skipped=skipped, written=False
        )
    with written_aside(path, folder=True) as part:
        writer = _Writer(part, store, selection, options, names or {})
        for row in selection.rows:
            writer.add(row, frames, mounts)
        writer.finish(parameters, skipped)
    return ExportedDataset(
        path=path, episodes=len(wanted), frames=writer.frames, cameras=options.cameras, skipped=skipped, written=True
    )


class _Writer:
    """Streams episodes into the files of a dataset."""

    def __init__(
        self, root: Path, store: EpisodeStore, selection: Selection, options: ExportOptions, names: Mapping[str, Sequence[str]]
    ) -> None:
        self._root, self._store, self._selection, self._options = root, store, selection, options
        widths, self._omitted = common_observations(loaded(store, row, points=options.points) for row in selection.rows)
        first = store.load(selection.rows[0])
        self._observations = {n: w for n, w in widths.items() if n not in STATE_PARTS}
        self.features = _features(widths, first.actions.shape[1], robot_axes(selection.robot), names)
        self._schema = pa.schema([arrow_field(name, f["dtype"], f["shape"][0]) for name, f in self.features.items()])
        self._data = DataSeries(root, self._schema, options.data_mb * 1e6)
        self._videos = {
            camera: VideoSeries(
                root,
                f"videos/{_IMAGES}{camera}/chunk-{{chunk:03d}}/file-{{file:03d}}.mp4",
                fps=selection.fps,
                size=options.size,
                codec=options.codec,
                limit=options.video_mb * 1e6,
            )
            for camera in options.cameras
        }
        self._moments = {name: Moments(f["shape"][0]) for name, f in self.features.items()}
        self._pixels = {camera: PixelCounts() for camera in options.cameras}
        self._tasks: dict[str, int] = {}
        self._subtasks: dict[str, int] = {}
        self._episodes = EpisodeTable(root / EPISODES_PATH, [*self.features], [_IMAGES + c for c in options.cameras])
        self._manifest: list[dict[str, Any]] = []
        self.frames = 0

    def add(self, row: AttemptRow, frames: Frames | None, mounts: Mounts | None) -> None:
        """Append one episode."""
        recording = loaded(self._store, row, points=self._options.points)
        scenario = self._selection.scenarios[row.scenario_id]
        index, length = len(self._manifest), recording.length
        text = task_text(scenario, self._options.language)
        columns = self._columns(recording, index, text)
        for name, values in columns.items():
            if not np.isfinite(values).all():
                raise ExportError(f"'{name}' is not finite", where=f"{row.file} (slot {row.slot}, attempt {row.attempt})")
        table = pa.Table.from_arrays([arrow_array(columns[f.name], f.type) for f in self._schema], schema=self._schema)
        file = self._data.add(table)
        entry: dict[str, Any] = {
            "episode_index": index,
            "tasks": [text],
            "length": length,
            "data/chunk_index": file // CHUNK,
            "data/file_index": file % CHUNK,
            "dataset_from_index": self.frames,
            "dataset_to_index": self.frames + length,
            "meta/episodes/chunk_index": 0,
            "meta/episodes/file_index": 0,
            "outcome": row.outcome,
            "failure_code": row.failure_code or "",
            "failure_message": str((row.failure or {}).get("message", "")),
            "scenario_id": row.scenario_id,
            "slot": row.slot,
            "attempt": row.attempt,
            "seed": row.seed,
            "instruction_en": scenario.task.instructions.get("en", ""),
            "instruction_zh": scenario.task.instructions.get("zh", ""),
            "user_text": scenario.task.user_text or "",
        }
        stats: dict[str, Stats] = {}
        for name, values in columns.items():
            rows = values.reshape(length, -1).astype(np.float64)
            stats[name] = array_stats(rows)
            self._moments[name].add(rows)
        if frames is not None and self._videos:
            pictures = frames(recording, scenario, self._options.cameras, self._options.size)
            for camera in self._options.cameras:
                span, counts = self._film(camera, pictures, length, f"slot {row.slot}, attempt {row.attempt}")
                entry |= self._video_entry(camera, span)
                stats[_IMAGES + camera] = counts.stats()
        if mounts is not None and self._videos:
            for camera, mount in mounts(recording, scenario, self._options.cameras, self._options.size).items():
                entry |= {f"cameras/{_IMAGES}{camera}/{key}": value for key, value in mount.to_json().items()}
        self._episodes.add(entry, stats)
        self._manifest.append({**provenance(row, index), "length": length, "data_file": file, "rows_sha256": rows_digest(table)})
        self.frames += length

    def finish(self, parameters: Mapping[str, Any], skipped: Sequence[str]) -> None:
        """Close all files and write what describes them, `meta/info.json` last."""
        self._data.close()
        self._episodes.close()
        for video in self._videos.values():
            video.close()
        meta = self._root / "meta"
        write_names(meta / "tasks.parquet", self._tasks, "task")
        write_names(meta / "subtasks.parquet", self._subtasks, "subtask")
        _write_json(meta / "stats.json", {name: _listed(stats) for name, stats in self._stats().items()})
        info = json.dumps(self._info(), indent=4, ensure_ascii=False).encode("utf-8")
        (self._root / "README.md").write_text(_card(self._selection, self._options, self.frames), encoding="utf-8")
        files = {p.relative_to(self._root).as_posix(): sha256_file(p) for p in sorted(self._root.rglob("*")) if p.is_file()}
        content = {
            "parameters": dict(parameters),
            "run": self._store.run.path.name,
            "made_with": self._store.run.made_with,
            "total_frames": self.frames,
            "episodes": self._manifest,
            "skipped": list(skipped),
            "omitted_observations": self._omitted,
            "files": {**files, "meta/info.json": hashlib.sha256(info).hexdigest()},
        }
        _write_json(self._root / MANIFEST, content)
        (meta / "info.json").write_bytes(info)

    def _columns(self, recording: Recording, index: int, text: str) -> Columns:
        length = recording.length
        last = np.arange(length) == length - 1
        success = last & (recording.outcome == "success")
        columns: Columns = {"observation.state": state(recording)[:length]}
        for name in self._observations:
            columns[_feature(name)] = recording.observations[name][:length]
        columns |= {
            "action": recording.actions,
            "next.reward": success.astype(np.float32),
            "next.done": last,
            "next.success": success,
            "next.margin": recording.margins[1:],
            "timestamp": np.arange(length) / self._selection.fps,
            "frame_index": np.arange(length),
            "episode_index": np.full(length, index),
            "index": np.arange(self.frames, self.frames + length),
            "task_index": np.full(length, self._tasks.setdefault(text, len(self._tasks))),
            "subtask_index": np.array([self._subtasks.setdefault(s, len(self._subtasks)) for s in recording.labels]),
        }
        faults = []
        for name, feature in self.features.items():
            if columns[name].reshape(length, -1).shape[1] != feature["shape"][0]:
                faults.append(f"{name}: {columns[name].shape[1]} dimensions, the first episode has {feature['shape'][0]}")
        if faults:
            raise ExportError("an episode does not fit the others", where=f"scenario {recording.scenario_id}", faults=faults)
        return {name: columns[name].astype(feature["dtype"]) for name, feature in self.features.items()}

    def _film(self, camera: str, pictures: Mapping[str, Pixels], length: int, where: str) -> tuple[Span, PixelCounts]:
        width, height = self._options.size
        shape = (length, height, width, 3)
        if camera not in pictures:
            raise ExportError(f"camera '{camera}' was not rendered", where=where, choices=sorted(pictures))
        film = pictures[camera]
        if film.shape != shape or film.dtype != np.uint8:
            raise ExportError(f"camera '{camera}' gave {film.dtype} {film.shape}, not uint8 {shape}", where=where)
        counts = PixelCounts()
        counts.add(film)
        self._pixels[camera].merge(counts)
        return self._videos[camera].add(film), counts

    def _video_entry(self, camera: str, span: Span) -> dict[str, Any]:
        key, fps = f"videos/{_IMAGES}{camera}/", self._selection.fps
        return {
            key + "chunk_index": span.file // CHUNK,
            key + "file_index": span.file % CHUNK,
            key + "from_timestamp": span.first / fps,
            key + "to_timestamp": (span.first + span.frames) / fps,
        }

    def _stats(self) -> dict[str, Stats]:
        stats = {name: without_zero_std({**m.stats(), **self._quantiles(name)}) for name, m in self._moments.items()}
        return stats | {_IMAGES + camera: without_zero_std(counts.stats()) for camera, counts in self._pixels.items()}

    def _quantiles(self, name: str) -> Stats:
        """Quantiles of a column over the whole dataset, from the files just written."""
        stride = -(-self.frames // _QUANTILE_ROWS)
        parts, before = [], 0
        for path in self._data.paths:
            with open(path, "rb") as file:
                values = numbers(pq.read_table(file, columns=[name])[name])
            parts.append(values[(-before) % stride :: stride])
            before += len(values)
        quantiles = np.quantile(np.concatenate(parts).astype(np.float64), list(QUANTILES.values()), axis=0)
        return dict(zip(QUANTILES, quantiles, strict=True))

    def _info(self) -> dict[str, Any]:
        width, height = self._options.size
        cameras = {
            _IMAGES + camera: {
                "dtype": "video",
                "shape": [height, width, 3],
                "names": ["height", "width", "channels"],
                "info": {
                    "video.height": height,
                    "video.width": width,
                    "video.codec": self._options.codec,
                    "video.pix_fmt": "yuv420p",
                    "video.is_depth_map": False,
                    "video.fps": self._selection.fps,
                    "video.channels": 3,
                    "has_audio": False,
                },
            }
            for camera in self._options.cameras
        }
        return {
            "codebase_version": "v3.0",
            "robot_type": self._selection.robot,
            "total_episodes": len(self._manifest),
            "total_frames": self.frames,
            "total_tasks": len(self._tasks),
            "chunks_size": CHUNK,
            "data_files_size_in_mb": self._options.data_mb,
            "video_files_size_in_mb": self._options.video_mb,
            "fps": self._selection.fps,
            "splits": {"train": f"0:{len(self._manifest)}"},
            "data_path": "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet",
            "video_path": "videos/{video_key}/chunk-{chunk_index:03d}/file-{file_index:03d}.mp4" if cameras else None,
            "features": {**cameras, **self.features},
        }


def _features(
    widths: Mapping[str, int], actions: int, robot: Mapping[str, Sequence[str]], names: Mapping[str, Sequence[str]]
) -> dict[str, dict[str, Any]]:
    parts = [name for name in STATE_PARTS if name in widths]
    if not parts:
        raise ExportError("the episodes have no state in common", where="observation.state", choices=STATE_PARTS)
    own = [axis for part in parts for axis in axis_names(part, widths[part], robot, names)]
    features: dict[str, dict[str, Any]] = {"observation.state": {"dtype": "float32", "shape": [len(own)], "names": own}}
    for name, width in widths.items():
        if name not in STATE_PARTS:
            features[_feature(name)] = {"dtype": "float32", "shape": [width], "names": axis_names(name, width, robot, names)}
    features["action"] = {"dtype": "float32", "shape": [actions], "names": axis_names("action", actions, robot, names)}
    for name, dtype in {"reward": "float32", "done": "bool", "success": "bool", "margin": "float32"}.items():
        features[f"next.{name}"] = {"dtype": dtype, "shape": [1], "names": None}
    return features | {name: {"dtype": dtype, "shape": [1], "names": None} for name, dtype in BOOKKEEPING.items()}


def _feature(observation: str) -> str:
    return "observation." + observation.replace("/", ".")  # LeRobot allows no slash in a feature's name


def _write_json(path: Path, content: Any) -> None:
    path.write_text(json.dumps(content, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False), encoding="utf-8")


def _listed(stats: Stats) -> dict[str, list[Any]]:
    return {name: value.tolist() for name, value in stats.items()}


def _card(selection: Selection, options: ExportOptions, frames: int) -> str:
    return f"""---
tags: [LeRobot]
configs:
- config_name: default
  data_files: data/*/*.parquet
---
# {len(selection.rows)} episodes of {selection.robot}

{frames} rows at {selection.fps} Hz in LeRobot v3.0 format, made in simulation by EmbodiedSmith.
Cameras: {", ".join(options.cameras) or "none"}.

- Row t is what was observed before action t, with action t and what came of it (`next.*`); frame t of a video is the same
  instant.
- SI units and radians; quaternions are (w, x, y, z), as the names of the dimensions say; a gripper is 0 open, 1 closed.
- `next.reward` is 1 on the last row of a success and 0 elsewhere; `next.margin` is the goal's margin after the action,
  positive when it holds.
- `task_index` gives the instruction (`meta/tasks.parquet`), `subtask_index` what the robot was doing (`meta/subtasks.parquet`).
- `meta/episodes` has each episode's cameras in columns `cameras/*`: `intrinsics` are fx, fy, cx, cy [pixels]; `pose` is x, y, z,
  qw, qx, qy, qz of the camera (x right, y down, z forward) in `frame`, which is `world` or the tool (`observation.tcp_pose`).
- `meta/episodes` has each episode's outcome, failure code, scenario, seed and instruction; `observation.items.*`,
  `observation.joints.*` and `observation.points.*` are the simulator's truth, not something a robot could sense.
- In `meta/stats.json` the `std` of a dimension that is constant in the data is written as 1, so that dividing by it is harmless.
"""
