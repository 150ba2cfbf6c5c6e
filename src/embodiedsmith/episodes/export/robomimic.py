"""robomimic HDF5 files.

    data                    attributes `env_args` (JSON), `total` (number of rows)
    data/demo_K             attributes `num_samples`, `task`, `provenance` (what ties it to the run), `cameras` (JSON: by camera,
                            `intrinsics` fx, fy, cx, cy and its `pose` x, y, z, qw, qx, qy, qz in `frame`: `world` or `tcp`)
    data/demo_K/obs/NAME        rows 0 .. T-1 of an observation; `CAMERA_image` for pictures
    data/demo_K/next_obs/NAME   rows 1 .. T
    data/demo_K/actions, rewards, dones, states
    mask/train, mask/valid, mask/success    names of demonstrations

`rewards` is 1 on the last row of a success, `dones` 1 on every last row; `states` are the engine's integration states.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from embodiedsmith.episodes.export.selection import (
    ExportedDataset,
    ExportError,
    ExportOptions,
    Frames,
    Mounts,
    Selection,
    common_observations,
    provenance,
    refuse_other,
    select,
    task_text,
    written_aside,
)
from embodiedsmith.episodes.points import loaded
from embodiedsmith.episodes.store import EpisodeStore
from embodiedsmith.runtime.files import read_json, sha256_file, write_json
from embodiedsmith.runtime.seeds import generator
from embodiedsmith.spec import Scenario
from embodiedsmith.tasks.recording import Recording

VALID_SHARE = 0.1
"""Share of the demonstrations in `mask/valid`; the rest is `mask/train`."""


def export_robomimic(
    store: EpisodeStore, path: Path, options: ExportOptions, frames: Frames | None = None, *, mounts: Mounts | None = None
) -> ExportedDataset:
    """Write the run's episodes as a robomimic HDF5 file at `path` (with `PATH.json` beside it, the manifest).

    Args:
        store: Where the episodes are.
        path: The file.
        options: What to put in. `codec`, `data_mb` and `video_mb` mean nothing here: pictures are stored as they are.
        frames: Renders the pixels; needed when `options.cameras` is not empty.
        mounts: Tells intrinsics and extrinsics of the cameras; None: they are not recorded.

    Raises:
        ExportError: What was asked for cannot be, or something else is at `path`; nothing on disk changed.
        DiskFullError: No space is left; what was at `path` is untouched.
    """
    selection = select(store, options)
    if options.cameras and frames is None:
        raise ExportError("cameras are asked for and nothing renders them", where=str(path))
    manifest = path.with_name(path.name + ".json")
    parameters = {**options.to_json(), "fps": selection.fps, "robot": selection.robot, "format": "robomimic"}
    refuse_other(path, manifest, parameters)
    wanted = [provenance(row, index) for index, row in enumerate(selection.rows)]
    skipped = tuple(f"slot {row.slot}, attempt {row.attempt}: {reason}" for row, reason in selection.skipped)
    total = sum(row.length for row in selection.rows)
    made = ExportedDataset(path=path, episodes=len(wanted), frames=total, cameras=options.cameras, skipped=skipped, written=True)
    if path.exists() and (old := read_json(manifest))["episodes"] == wanted and old["sha256"] == sha256_file(path):
        return replace(made, written=False)
    with written_aside(path, folder=False) as part:
        with h5py.File(part, "w", track_order=True) as file:
            _write(file, store, selection, options, frames, mounts)
        content = {"parameters": parameters, "episodes": wanted, "skipped": list(skipped), "sha256": sha256_file(part)}
        write_json(manifest, content)
    return made


def _write(
    file: Any,
    store: EpisodeStore,
    selection: Selection,
    options: ExportOptions,
    frames: Frames | None,
    mounts: Mounts | None,
) -> None:
    observations, _ = common_observations(loaded(store, row, points=options.points) for row in selection.rows)
    data = file.create_group("data", track_order=True)
    for index, row in enumerate(selection.rows):
        recording, scenario = loaded(store, row, points=options.points), selection.scenarios[row.scenario_id]
        demo = data.create_group(f"demo_{index}")
        demo.attrs["num_samples"] = recording.length
        demo.attrs["task"] = task_text(scenario, options.language)
        demo.attrs["provenance"] = json.dumps(provenance(row, index), sort_keys=True, ensure_ascii=False)
        last = np.arange(recording.length) == recording.length - 1
        demo["actions"] = recording.actions
        demo["rewards"] = (last & (recording.outcome == "success")).astype(np.float64)
        demo["dones"] = last.astype(np.int64)
        demo["states"] = recording.states[:-1]
        for name in observations:
            values = recording.observations[name]
            key = name.replace("/", ".")  # HDF5 would make a group of every part
            demo[f"obs/{key}"] = values[:-1]
            demo[f"next_obs/{key}"] = values[1:]
        if frames is not None and options.cameras:
            _film(demo, recording, scenario, options, frames)
        if mounts is not None and options.cameras:
            fixed = mounts(recording, scenario, options.cameras, options.size)
            demo.attrs["cameras"] = json.dumps({name: mount.to_json() for name, mount in fixed.items()}, sort_keys=True)
    rows = sum(row.length for row in selection.rows)
    data.attrs["total"] = rows
    data.attrs["env_args"] = json.dumps(_env_args(selection, options), sort_keys=True, ensure_ascii=False)
    _masks(file, store, selection)


def _film(demo: Any, recording: Recording, scenario: Scenario, options: ExportOptions, frames: Frames) -> None:
    """Pictures before and after each action. The second are those of the same episode one step on, its last state repeated."""
    width, height = options.size
    shape = (recording.length, height, width, 3)
    later = replace(
        recording,
        states=np.concatenate([recording.states[1:], recording.states[-1:]]),
        observations={n: np.concatenate([v[1:], v[-1:]]) for n, v in recording.observations.items()},
    )
    for group, episode in (("obs", recording), ("next_obs", later)):
        pictures: Mapping[str, Any] = frames(episode, scenario, options.cameras, options.size)
        for camera in options.cameras:
            if camera not in pictures or pictures[camera].shape != shape:
                found = pictures[camera].shape if camera in pictures else "nothing"
                raise ExportError(f"camera '{camera}' gave {found}, not {shape}", where=f"scenario {scenario.id}")
            demo[f"{group}/{camera}_image"] = pictures[camera]


def _env_args(selection: Selection, options: ExportOptions) -> dict[str, Any]:
    kwargs = {
        "robot": selection.robot,
        "control_freq": selection.fps,
        "camera_names": list(options.cameras),
        "camera_widths": options.size[0],
        "camera_heights": options.size[1],
        "quaternion_order": "wxyz",
        "units": "SI, radians",
    }
    # robomimic numbers its kinds of environment (`EnvType`): 1 robosuite, 2 Gym, 3 iGibson.
    return {"env_name": "EmbodiedSmith", "type": 2, "env_kwargs": kwargs}


def _masks(file: Any, store: EpisodeStore, selection: Selection) -> None:
    names = np.array([f"demo_{i}".encode() for i in range(len(selection.rows))])
    success = np.array([row.outcome == "success" for row in selection.rows])
    order = generator(store.run.seed, "robomimic", "valid").permutation(len(names))
    held = np.zeros(len(names), dtype=bool)
    held[order[: max(1, round(VALID_SHARE * len(names)))] if len(names) > 1 else order[:0]] = True
    file["mask/train"] = names[~held]
    file["mask/valid"] = names[held]
    file["mask/success"] = names[success]
