"""LeRobot export: what readers find, frame by frame, and what is refused."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import av
import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from recordings import make_recording, make_scenario, release

from embodiedsmith import embodiments
from embodiedsmith.episodes.export.lerobot import MANIFEST, export_lerobot
from embodiedsmith.episodes.export.selection import ExportError, ExportOptions, axis_names, robot_axes
from embodiedsmith.episodes.export.statistics import Moments, PixelCounts, array_stats, without_zero_std
from embodiedsmith.episodes.store import EpisodeStore
from embodiedsmith.runtime.run import Run
from embodiedsmith.spec import Scenario
from embodiedsmith.tasks.recording import Recording
from embodiedsmith.world.render import CameraMount

SIZE = (64, 48)
BITS = 8


def burn(episode: int, frame: int, camera: int, size: tuple[int, int] = SIZE) -> np.ndarray:
    """A picture that says which it is: a row of black and white blocks for each of episode, frame and camera."""
    picture = np.full((size[1], size[0], 3), 90, dtype=np.uint8)
    block = size[0] // BITS
    for line, number in enumerate((episode, frame, camera)):
        for bit in range(BITS):
            picture[line * 16 : line * 16 + 16, bit * block : (bit + 1) * block] = 255 * (number >> bit & 1)
    return picture


def read(picture: np.ndarray) -> tuple[int, ...]:
    """What `burn` wrote, after compression."""
    block = picture.shape[1] // BITS
    centres = picture[8::16, block // 2 :: block].mean(axis=2) > 127
    return tuple(int(sum(int(on) << bit for bit, on in enumerate(line))) for line in centres[:3])


def frames(recording: Recording, scenario: Scenario, cameras: Sequence[str], size: tuple[int, int]) -> dict[str, np.ndarray]:
    """Frame t is drawn from state t, which `marked` has numbered: a shift of one would show."""
    rows = recording.states[: recording.length, 1].astype(int)
    episode = int(recording.states[0, 0])
    return {c: np.stack([burn(episode, t, i, size) for t in rows]) for i, c in enumerate(cameras)}


def mounts(recording: Recording, scenario: Scenario, cameras: Sequence[str], size: tuple[int, int]) -> dict[str, CameraMount]:
    """Cameras whose height says which attempt they belong to."""
    T = np.eye(4)
    T[2, 3] = 1.0 + recording.attempt
    f = float(size[0])
    return {c: CameraMount((f, f, (size[0] - 1) / 2, (size[1] - 1) / 2), "tcp" if c == "wrist" else "world", T) for c in cameras}


def fill(store: EpisodeStore, count: int = 4, *, robot: str = "panda", user_text: str | None = None, length: int = 12) -> None:
    """Slots 0 .. count-1; slot 1 fails once before it succeeds, and a last slot leaves no recording."""
    for slot in range(count):
        scenario = make_scenario(slot % 2, robot=robot, user_text=user_text)
        release(store, scenario)
        if slot == 1:
            store.commit(slot, marked(make_recording(scenario, length=length + 20, success=False), 100 + slot), {})
        store.commit(slot, marked(make_recording(scenario, attempt=int(slot == 1), length=length + slot), slot), {})


def marked(recording: Recording, episode: int) -> Recording:
    states = recording.states.copy()
    states[:, 0] = episode
    states[:, 1] = np.arange(len(states))
    return replace(recording, states=states)


@pytest.fixture
def store(tmp_path: Path):
    with Run.create(tmp_path / "run", {"seed": 0, "fps": 20}) as run:
        yield EpisodeStore(run)


def tree(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def info(path: Path) -> dict:
    return json.loads((path / "meta" / "info.json").read_text(encoding="utf-8"))


def episodes(path: Path) -> list[dict]:
    return pq.read_table(path / "meta" / "episodes" / "chunk-000" / "file-000.parquet").to_pylist()


def rows_of(path: Path) -> list[dict]:
    files = sorted((path / "data").rglob("*.parquet"))
    return [row for file in files for row in pq.ParquetFile(file).read().to_pylist()]


def decoded(path: Path, key: str, chunk: int, number: int) -> list[tuple[float, tuple[int, ...]]]:
    with av.open(str(path / "videos" / key / f"chunk-{chunk:03d}" / f"file-{number:03d}.mp4")) as container:
        return [(float(f.time), read(f.to_ndarray(format="rgb24"))) for f in container.decode(video=0)]


@pytest.mark.parametrize(("codec", "video_mb"), [("h264", 200.0), ("h264", 1e-4), ("av1", 200.0)])
def test_every_decoded_frame_is_the_one_of_its_row(store: EpisodeStore, tmp_path: Path, codec: str, video_mb: float):
    fill(store)
    cameras = ("front", "wrist")
    options = ExportOptions(cameras=cameras, size=SIZE, codec=codec, video_mb=video_mb, data_mb=video_mb)
    made = export_lerobot(store, tmp_path / "set", options, frames)
    assert (made.episodes, made.written) == (4, True)
    path, seen = tmp_path / "set", 0
    rows = rows_of(path)
    for episode in episodes(path):
        for camera, name in enumerate(cameras):
            key = f"observation.images.{name}"
            place = f"videos/{key}/"
            film = decoded(path, key, episode[place + "chunk_index"], episode[place + "file_index"])
            start, end = episode[place + "from_timestamp"], episode[place + "to_timestamp"]
            part = [(time - start, number) for time, number in film if start - 1e-6 <= time < end - 1e-6]
            assert [number for _, number in part] == [(episode["slot"], t, camera) for t in range(episode["length"])]
            own = rows[episode["dataset_from_index"] : episode["dataset_to_index"]]
            assert [row["timestamp"] for row in own] == pytest.approx([time for time, _ in part], abs=1e-4)
            assert [row["frame_index"] for row in own] == list(range(episode["length"]))
            seen += len(part)
    assert seen == 2 * made.frames == 2 * len(rows)
    files = len(list((path / "videos").rglob("*.mp4")))
    assert files == (8 if video_mb < 1 else 2)
    assert len(list((path / "data").rglob("*.parquet"))) == (4 if video_mb < 1 else 1)
    features = info(path)["features"]
    assert features["observation.images.front"]["shape"] == [48, 64, 3]
    assert features["observation.images.front"]["info"]["video.codec"] == codec


def test_rows_pair_what_was_observed_with_the_action_that_followed(store: EpisodeStore, tmp_path: Path):
    fill(store)
    export_lerobot(store, tmp_path / "set", ExportOptions())
    rows, start = rows_of(tmp_path / "set"), 0
    for row, recording in store.episodes(outcome="success"):
        part = rows[start : start + row.length]
        start += row.length
        observed = np.concatenate([recording.observations["joint_position"], recording.observations["gripper"]], axis=1)
        assert np.array_equal([r["observation.state"] for r in part], observed[:-1].astype(np.float32))
        assert np.array_equal([r["action"] for r in part], recording.actions.astype(np.float32))
        assert np.array_equal([r["next.margin"] for r in part], recording.margins[1:].astype(np.float32))
        assert np.array_equal(
            [r["observation.items.mug"] for r in part], recording.observations["items/mug"][:-1].astype(np.float32)
        )
        ends = [False] * (row.length - 1) + [True]
        assert (
            [r["next.done"] for r in part] == [r["next.success"] for r in part] == [r["next.reward"] == 1.0 for r in part] == ends
        )
    assert start == len(rows)
    assert [r["index"] for r in rows] == list(range(len(rows)))


def test_names_carry_order_and_units(store: EpisodeStore, tmp_path: Path):
    fill(store)
    export_lerobot(store, tmp_path / "set", ExportOptions())
    features = info(tmp_path / "set")["features"]
    joints = [f"{joint}_rad" for joint in embodiments.get("panda").arm.joints]
    assert len(joints) == 7
    assert features["observation.state"]["names"] == features["action"]["names"] == [*joints, "gripper_0_open_1_closed"]
    assert features["observation.tcp_pose"]["names"] == ["x_m", "y_m", "z_m", "qw", "qx", "qy", "qz"]
    assert features["observation.effort"]["names"][0] == joints[0].replace("_rad", "_N_m")
    assert features["observation.joint_velocity"]["names"][0] == joints[0] + "_per_s"
    for feature in features.values():
        assert feature["names"] is None or len(feature["names"]) == feature["shape"][-1]
    assert all("/" not in name for name in features)
    export_lerobot(store, tmp_path / "own", ExportOptions(), names={"action": tuple("abcdefgh")})
    assert info(tmp_path / "own")["features"]["action"]["names"] == list("abcdefgh")
    with pytest.raises(ExportError, match="2 names for the 8 dimensions"):
        export_lerobot(store, tmp_path / "other", ExportOptions(), names={"action": ("a", "b")})
    assert not (tmp_path / "other").exists() and not list(tmp_path.glob("*.part"))


def test_a_planar_base_and_an_unknown_robot_have_names_too():
    axes = robot_axes("panda_mobile")
    assert axes["joint_position"][:3] == ["base_x_m", "base_y_m", "base_yaw_rad"] and len(axes["action"]) == 11
    assert axes["effort"][:3] == ["base_x_N", "base_y_N", "base_yaw_N_m"]
    assert robot_axes("r2d2") == {}
    assert axis_names("joint_position", 2, {}, {}) == ["joint_position_0", "joint_position_1"]
    assert axis_names("gripper", 2, {}, {}) == ["gripper_0_0_open_1_closed", "gripper_1_0_open_1_closed"]
    assert axis_names("joints/cabinet.drawer", 1, {}, {}) == ["joints.cabinet.drawer_0"]


def test_failures_come_with_their_reason_only_when_asked_for(store: EpisodeStore, tmp_path: Path):
    fill(store)
    scenario = make_scenario()
    store.commit(8, make_recording(scenario, length=0, success=False), {})
    export_lerobot(store, tmp_path / "good", ExportOptions())
    made = export_lerobot(store, tmp_path / "all", ExportOptions(keep="all"))
    assert {e["outcome"] for e in episodes(tmp_path / "good")} == {"success"}
    kept = episodes(tmp_path / "all")
    assert [(e["slot"], e["attempt"], e["failure_code"]) for e in kept] == [
        (0, 0, ""),
        (1, 0, "pick.slip"),
        (1, 1, ""),
        (2, 0, ""),
        (3, 0, ""),
    ]
    failed = [r for r in rows_of(tmp_path / "all") if r["episode_index"] == 1]
    assert [r["next.done"] for r in failed][-1] and not any(r["next.success"] or r["next.reward"] for r in failed)
    assert made.skipped == ("slot 8, attempt 0: ended before its first action",)
    manifest = json.loads((tmp_path / "all" / MANIFEST).read_text(encoding="utf-8"))
    assert manifest["episodes"][1]["failure"]["limit"] == 0.001
    assert manifest["episodes"][2]["scenario_id"] == make_scenario(1).id


@pytest.mark.parametrize("language", ["en", "zh", "user"])
def test_texts_are_kept_byte_for_byte(store: EpisodeStore, tmp_path: Path, language: str):
    text = "把红色的杯子，放进最上面的抽屉里 ☕"
    fill(store, user_text=text)
    path = tmp_path / "数据集"
    export_lerobot(store, path, ExportOptions(language=language))
    tasks = pq.read_table(path / "meta" / "tasks.parquet").to_pydict()
    wanted = {
        "en": ["lift the red mug number 0", "lift the red mug number 1"],
        "zh": ["举起红色的杯子0", "举起红色的杯子1"],
        "user": [text],
    }
    assert tasks["task"] == wanted[language]
    subtasks = pq.read_table(path / "meta" / "subtasks.parquet").to_pydict()
    assert subtasks["subtask"] == ["pick(mug)", "lift(mug)"]
    rows = rows_of(path)
    for episode in episodes(path):
        assert episode["user_text"] == text
        part = rows[episode["dataset_from_index"] : episode["dataset_to_index"]]
        assert {tasks["task"][r["task_index"]] for r in part} == set(episode["tasks"])
        assert [r["subtask_index"] for r in part] == [0] * (12 // 2 + (episode["length"] - 12) // 2) + [1] * (
            -(-episode["length"] // 2)
        )


def test_the_same_export_twice_has_the_same_bytes(store: EpisodeStore, tmp_path: Path):
    fill(store)
    options = ExportOptions(cameras=("front",), size=SIZE)
    export_lerobot(store, tmp_path / "a", options, frames)
    export_lerobot(store, tmp_path / "b", options, frames)
    assert tree(tmp_path / "a") == tree(tmp_path / "b")


def test_an_export_is_brought_up_to_date_or_left_alone(store: EpisodeStore, tmp_path: Path):
    fill(store)
    path = tmp_path / "set"
    export_lerobot(store, path, ExportOptions())
    before = tree(path)
    assert not export_lerobot(store, path, ExportOptions()).written
    store.commit(7, make_recording(make_scenario(), length=9), {})
    again = export_lerobot(store, path, ExportOptions())
    assert (again.written, again.episodes) == (True, 5) and tree(path) != before
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith("set")] == ["set"]


def test_what_cannot_be_is_refused_and_nothing_changes(store: EpisodeStore, tmp_path: Path):
    fill(store, 13)
    path = tmp_path / "set"
    export_lerobot(store, path, ExportOptions(cameras=("front",), size=SIZE), frames)
    before = tree(tmp_path)
    with pytest.raises(ExportError) as caught:
        export_lerobot(store, path, ExportOptions(slots=(3, 99), fps=30, robot="ur5e", cameras=("front",), size=(63, 64)), frames)
    assert caught.value.faults == (
        "size 63 x 64: give even numbers from 16 up",
        "fps 30: the run was recorded at 20",
        "episode 99: there is none; the run has 13 (0 to 12)",
        "robot ur5e: the run was recorded with panda",
    )
    with pytest.raises(ExportError, match="size: it has") as caught:
        export_lerobot(store, path, ExportOptions(cameras=("front", "wrist"), size=(32, 32)), frames)
    assert len(caught.value.faults) == 2
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("x", encoding="utf-8")
    with pytest.raises(ExportError, match="something else"):
        export_lerobot(store, tmp_path / "mine", ExportOptions())
    with pytest.raises(ExportError, match="nothing renders them"):
        export_lerobot(store, tmp_path / "new", ExportOptions(cameras=("front",)))
    after = tree(tmp_path)
    del after["mine/notes.txt"]
    assert after == before


def test_what_goes_wrong_on_the_way_leaves_nothing(store: EpisodeStore, tmp_path: Path):
    fill(store)

    def short(recording: Recording, scenario: Scenario, cameras: Sequence[str], size: tuple[int, int]) -> dict[str, np.ndarray]:
        return {c: f[:-1] for c, f in frames(recording, scenario, cameras, size).items()}

    options = ExportOptions(cameras=("front",), size=SIZE)
    with pytest.raises(ExportError, match=r"gave uint8 \(11, 48, 64, 3\), not uint8 \(12, 48, 64, 3\)"):
        export_lerobot(store, tmp_path / "set", options, short)
    with pytest.raises(ExportError, match="'front' was not rendered"):
        export_lerobot(store, tmp_path / "set", options, lambda *_: {})
    odd = make_recording(make_scenario(), length=5)
    store.commit(20, replace(odd, actions=odd.actions[:, :3]), {})
    with pytest.raises(ExportError, match="action: 3 dimensions, the first episode has 8"):
        export_lerobot(store, tmp_path / "set", ExportOptions())
    assert [p.name for p in tmp_path.iterdir()] == ["run"]


def test_two_robots_or_no_episode_are_refused(store: EpisodeStore, tmp_path: Path):
    with pytest.raises(ExportError, match="no episode to export"):
        export_lerobot(store, tmp_path / "set", ExportOptions())
    fill(store)
    other = make_scenario(5, robot="ur5e")
    release(store, other)
    store.commit(9, make_recording(other), {})
    with pytest.raises(ExportError, match="robots panda, ur5e: a dataset is of one"):
        export_lerobot(store, tmp_path / "set", ExportOptions())


def test_observations_not_all_episodes_have_are_left_out_and_listed(store: EpisodeStore, tmp_path: Path):
    fill(store)
    scenario = make_scenario(6)
    release(store, scenario)
    recording = make_recording(scenario)
    more = {**recording.observations, "joints/cabinet.drawer": np.zeros((13, 1))}
    store.commit(9, replace(recording, observations=more), {})
    export_lerobot(store, tmp_path / "set", ExportOptions())
    assert not any("cabinet" in name for name in info(tmp_path / "set")["features"])
    manifest = json.loads((tmp_path / "set" / MANIFEST).read_text(encoding="utf-8"))
    assert manifest["omitted_observations"] == ["joints/cabinet.drawer"]


def test_each_episode_has_its_cameras_intrinsics_and_extrinsics(store: EpisodeStore, tmp_path: Path):
    fill(store)
    options = ExportOptions(cameras=("front", "wrist"), size=SIZE)
    export_lerobot(store, tmp_path / "set", options, frames, mounts=mounts)
    kept = episodes(tmp_path / "set")
    for camera, frame in (("front", "world"), ("wrist", "tcp")):
        key = f"cameras/observation.images.{camera}/"
        assert [e[key + "frame"] for e in kept] == [frame] * 4
        assert [e[key + "intrinsics"] for e in kept] == [[64.0, 64.0, 31.5, 23.5]] * 4
        assert [e[key + "pose"] for e in kept] == [[0.0, 0.0, 1.0 + e["attempt"], 1.0, 0.0, 0.0, 0.0] for e in kept]
    assert {e["attempt"] for e in kept} == {0, 1}


def test_lerobot_doctor_finds_nothing_wrong(store: EpisodeStore, tmp_path: Path):
    fill(store, 5, length=40)
    export_lerobot(store, tmp_path / "set", ExportOptions(cameras=("front", "wrist"), size=SIZE), frames, mounts=mounts)
    command = [sys.executable, "-m", "lerobot_doctor.cli", "check", str(tmp_path / "set"), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(done.stdout)
    assert found["summary"]["FAIL"] == 0
    verdicts = {check["name"]: check["severity"] for check in found["checks"]}
    assert len(verdicts) == 11 and verdicts["Video Integrity"] == "PASS"


_LIMITED = """
import resource, sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from test_export_lerobot import *
from embodiedsmith.episodes.export.robomimic import export_robomimic
from embodiedsmith.runtime.files import DiskFullError

def noise(recording, scenario, cameras, size):
    rng = np.random.default_rng(0)
    return {c: rng.integers(0, 256, (recording.length, size[1], size[0], 3), dtype=np.uint8) for c in cameras}

folder = Path(sys.argv[1])
run = Run.create(folder / "数据", {"seed": 0})
store = EpisodeStore(run)
fill(store, user_text="杯")
if len(sys.argv) > 3:
    resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000))
options = ExportOptions(cameras=("front",), size=(128, 128), language="user")
for name, export in (("套", export_lerobot), ("套.hdf5", export_robomimic)):
    try:
        export(store, folder / name, options, noise)
    except DiskFullError as error:
        print("full")
"""


def test_a_full_disk_ends_an_export_with_one_error_and_leaves_nothing(tmp_path: Path):
    command = [sys.executable, "-c", _LIMITED, str(tmp_path), str(Path(__file__).parent), "limited"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "full\nfull\n"
    assert [p.name for p in tmp_path.iterdir()] == ["数据"]


def test_names_outside_ascii_work_in_the_plainest_locale(tmp_path: Path):
    command = [sys.executable, "-c", _LIMITED, str(tmp_path), str(Path(__file__).parent)]
    subprocess.run(command, check=True, env={**os.environ, "LC_ALL": "C", "LANG": "C"})
    assert pq.read_table(tmp_path / "套" / "meta" / "tasks.parquet")["task"].to_pylist() == ["杯"]
    assert (tmp_path / "套.hdf5").is_file()


# Statistics


@settings(max_examples=30, deadline=None)
@given(st.lists(st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=6), min_size=1, max_size=5))
def test_running_statistics_are_those_of_the_whole(parts: list[list[float]]):
    moments = Moments(1)
    for part in parts:
        moments.add(np.array(part)[:, None])
    whole = array_stats(np.concatenate(parts)[:, None])
    for name, value in moments.stats().items():
        assert np.allclose(value, whole[name], rtol=1e-9, atol=1e-7), name


def test_a_constant_dimension_gets_a_harmless_deviation(store: EpisodeStore, tmp_path: Path):
    assert without_zero_std(array_stats(np.array([[1.0, 500.0], [2.0, 500.0 + 1e-7]])))["std"].tolist() == [0.5, 1.0]
    fill(store)
    export_lerobot(store, tmp_path / "set", ExportOptions(cameras=("front",), size=SIZE), frames)
    stats = json.loads((tmp_path / "set" / "meta" / "stats.json").read_text(encoding="utf-8"))
    assert stats["observation.tcp_pose"]["std"][3:] == [1.0] * 4
    rows = np.array([r["action"] for r in rows_of(tmp_path / "set")])
    for name, value in array_stats(rows.astype(np.float64)).items():
        assert np.allclose(stats["action"][name], value, rtol=1e-6), name
    assert np.shape(stats["observation.images.front"]["mean"]) == (3, 1, 1)


def test_pixel_statistics_are_exact():
    pictures = np.random.default_rng(0).integers(0, 256, size=(11, 8, 6, 3), dtype=np.uint8)
    counts, rest = PixelCounts(), PixelCounts()
    counts.add(pictures[:5])
    rest.add(pictures[5:])
    counts.merge(rest)
    sample = np.concatenate([pictures[:5:5], pictures[5::5]])[:, ::2, ::2].reshape(-1, 3) / 255.0
    found = counts.stats()
    assert np.allclose(found["mean"].ravel(), sample.mean(0)) and np.allclose(found["std"].ravel(), sample.std(0))
    assert np.allclose(found["min"].ravel(), sample.min(0)) and np.allclose(found["max"].ravel(), sample.max(0))
    assert np.allclose(found["q50"].ravel(), np.quantile(sample, 0.5, axis=0, method="inverted_cdf"))
    assert found["count"].tolist() == [3]
