"""robomimic export: alignment, masks, pictures, refusals."""

from __future__ import annotations

import json
from pathlib import Path

import h5py
import numpy as np
import pytest
from test_export_lerobot import SIZE, fill, frames, mounts, read, store  # noqa: F401

from embodiedsmith.episodes.export.robomimic import export_robomimic
from embodiedsmith.episodes.export.selection import ExportError, ExportOptions
from embodiedsmith.episodes.store import EpisodeStore


def test_demonstrations_are_aligned(store: EpisodeStore, tmp_path: Path):  # noqa: F811
    fill(store)
    made = export_robomimic(store, tmp_path / "set.hdf5", ExportOptions(keep="all"))
    kept = list(store.episodes())
    assert made.episodes == len(kept) == 5
    with h5py.File(tmp_path / "set.hdf5") as file:
        data = file["data"]
        assert list(data) == [f"demo_{i}" for i in range(5)]
        assert data.attrs["total"] == sum(row.length for row, _ in kept)
        told = json.loads(data.attrs["env_args"])
        assert (told["type"], told["env_kwargs"]["control_freq"]) == (2, 20)
        for demo, (row, recording) in zip(data.values(), kept, strict=True):
            assert demo.attrs["num_samples"] == row.length
            assert json.loads(demo.attrs["provenance"])["slot"] == row.slot
            assert np.array_equal(demo["actions"], recording.actions)
            assert np.array_equal(demo["states"], recording.states[:-1])
            assert np.array_equal(demo["obs/items.mug"], recording.observations["items/mug"][:-1])
            assert np.array_equal(demo["next_obs/items.mug"], recording.observations["items/mug"][1:])
            assert demo["rewards"][:].sum() == (row.outcome == "success") and demo["dones"][:].tolist() == [0] * (
                row.length - 1
            ) + [1]
        train, valid = set(file["mask/train"][:]), set(file["mask/valid"][:])
        assert len(train) == 4 and len(valid) == 1 and not train & valid
        assert file["mask/success"][:].tolist() == [b"demo_0", b"demo_2", b"demo_3", b"demo_4"]


def test_pictures_before_and_after_each_action(store: EpisodeStore, tmp_path: Path):  # noqa: F811
    fill(store, 2)
    export_robomimic(store, tmp_path / "set.hdf5", ExportOptions(cameras=("wrist",), size=SIZE), frames, mounts=mounts)
    with h5py.File(tmp_path / "set.hdf5") as file:
        assert [read(p)[1] for p in file["data/demo_1/obs/wrist_image"]] == list(range(13))
        assert [read(p)[1] for p in file["data/demo_1/next_obs/wrist_image"]] == list(range(1, 14))
        assert json.loads(file["data/demo_1"].attrs["cameras"]) == {
            "wrist": {"frame": "tcp", "intrinsics": [64.0, 64.0, 31.5, 23.5], "pose": [0.0, 0.0, 2.0, 1.0, 0.0, 0.0, 0.0]}
        }


def test_the_same_export_twice_has_the_same_bytes_and_another_is_refused(store: EpisodeStore, tmp_path: Path):  # noqa: F811
    fill(store)
    first, second = tmp_path / "a.hdf5", tmp_path / "b.hdf5"
    assert export_robomimic(store, first, ExportOptions()).written and export_robomimic(store, second, ExportOptions()).written
    assert first.read_bytes() == second.read_bytes()
    assert not export_robomimic(store, first, ExportOptions()).written
    with pytest.raises(ExportError, match="keep: it has success, asked for all"):
        export_robomimic(store, first, ExportOptions(keep="all"))
    with pytest.raises(ExportError, match="nothing renders them"):
        export_robomimic(store, tmp_path / "c.hdf5", ExportOptions(cameras=("front",)))
    with pytest.raises(ExportError, match="camera 'front' gave nothing"):
        export_robomimic(store, tmp_path / "c.hdf5", ExportOptions(cameras=("front",)), lambda *_: {})
    (tmp_path / "d.hdf5").write_bytes(b"mine")
    with pytest.raises(ExportError, match="something else"):
        export_robomimic(store, tmp_path / "d.hdf5", ExportOptions())
    assert first.read_bytes() == second.read_bytes() and (tmp_path / "d.hdf5").read_bytes() == b"mine"
    assert {p.name for p in tmp_path.iterdir()} == {"run", "a.hdf5", "a.hdf5.json", "b.hdf5", "b.hdf5.json", "d.hdf5"}
