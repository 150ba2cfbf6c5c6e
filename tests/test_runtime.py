"""Errors, seeds, run directories, locks, index and executors."""

from __future__ import annotations

import errno
import io
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from interrupted import double

from embodiedsmith.runtime.errors import SmithError, UsageError, unknown_name
from embodiedsmith.runtime.executors import JobResult, WorkerError, run_jobs
from embodiedsmith.runtime.files import DiskFullError, StorageError, read_json, storage_errors, write_atomic
from embodiedsmith.runtime.index import AttemptRow, Index
from embodiedsmith.runtime.lock import RunLockedError
from embodiedsmith.runtime.progress import Progress
from embodiedsmith.runtime.run import Run, RunError, RunMismatchError
from embodiedsmith.runtime.seeds import derive, generator

CONFIG = {"seed": 3, "brief": "把红色的杯子放进抽屉", "fps": 20, "size": (128, 128), "embodiment": "panda", "episodes": 10}


def tree(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


# Errors


class _Picky(SmithError):
    def __init__(self, number: int) -> None:
        super().__init__(f"number {number}", where="here", faults=["a", "b"])
        self.number = number


def test_an_error_says_what_where_choices_and_remedy():
    error = UsageError("bad", where="--size", choices=["64", "128"], remedy="take one", faults=["one", "two"])
    assert str(error) == "--size: bad\n  - one\n  - two\n  valid: 64, 128\n  remedy: take one"
    assert (SmithError.exit_code, UsageError.exit_code) == (1, 2)
    assert error.to_json()["faults"] == ["one", "two"]


def test_an_error_survives_pickling_whatever_its_constructor():
    copy = pickle.loads(pickle.dumps(_Picky(7)))
    assert type(copy) is _Picky and copy.number == 7 and str(copy) == str(_Picky(7))


def test_an_unknown_name_is_answered_with_the_nearest():
    error = unknown_name("robot", "pnda", ["ur5e", "panda"])
    assert "'panda'" in str(error) and error.choices == ("panda", "ur5e")


# Seeds


def test_streams_are_the_same_everywhere():
    """Pinned: a change here would change every run ever made."""
    assert derive(0, "scenario", 1) == 25881538524751962759488650678165903466
    assert generator(7, "s", 0, "layout").random() == 0.5507579159283219


@given(st.integers(0, 2**40), st.lists(st.one_of(st.text(max_size=5), st.integers(0, 99)), max_size=4))
def test_a_stream_depends_on_every_part_of_its_name(seed: int, names: list[str | int]):
    first = derive(seed, *names)
    assert first == derive(seed, *names)
    assert first != derive(seed + 1, *names)
    assert first != derive(seed, *names, 0)
    assert derive(seed, "ab", "c") != derive(seed, "a", "bc")
    assert derive(seed, 1) != derive(seed, "1")


def test_streams_are_independent():
    a, b = generator(0, "scenario", 0, "layout"), generator(0, "scenario", 1, "layout")
    assert abs(np.corrcoef(a.normal(size=4000), b.normal(size=4000))[0, 1]) < 0.06


# Runs


def test_a_run_reads_back_what_it_was_made_with(tmp_path: Path):
    folder = tmp_path / "运行 é"
    with Run.create(folder, CONFIG) as run:
        assert run.seed == 3 and run.writable
    with Run.open(folder) as run:
        assert run.config == {**CONFIG, "size": [128, 128]}
        assert not run.writable and run.version_changes() == []
        assert run.made_with["mujoco"]
    assert {p.name for p in folder.iterdir() if p.is_dir()} == {"scenarios", "episodes", "exports", "report"}


def test_other_settings_are_refused_and_nothing_changes(tmp_path: Path):
    Run.create(tmp_path / "run", CONFIG).close()
    before = tree(tmp_path)
    with pytest.raises(RunMismatchError) as caught:
        Run.open(tmp_path / "run", {**CONFIG, "fps": 30, "size": (64, 64), "embodiment": "ur5e", "episodes": 99}, write=True)
    assert caught.value.faults == (
        'embodiment: the run has "panda", asked for "ur5e"',
        "fps: the run has 20, asked for 30",
        "size: the run has [128, 128], asked for [64, 64]",
    )
    with pytest.raises(RunMismatchError, match="noise: the run has nothing"):
        Run.open(tmp_path / "run", {"noise": 0.1}, write=True)
    assert tree(tmp_path) == before
    Run.open(tmp_path / "run", {"fps": 20, "episodes": 99, "workers": 4}, write=True).close()


def test_only_what_does_not_change_results_can_be_updated(tmp_path: Path):
    with Run.create(tmp_path / "run", CONFIG) as run:
        run.update(episodes=20)
        with pytest.raises(UsageError, match="fps cannot change"):
            run.update(fps=30)
    with Run.open(tmp_path / "run") as run:
        assert run.config["episodes"] == 20


def test_a_folder_that_holds_something_else_is_left_alone(tmp_path: Path):
    (tmp_path / "thesis.tex").write_text("x", encoding="utf-8")
    with pytest.raises(RunError, match=r"thesis\.tex"):
        Run.create(tmp_path, CONFIG)
    assert tree(tmp_path) == {"thesis.tex": b"x"}
    with pytest.raises(RunError, match=r"no run\.json"):
        Run.open(tmp_path)
    Run.create(tmp_path / "run", CONFIG).close()
    with pytest.raises(RunError, match="there is a run already"):
        Run.create(tmp_path / "run", CONFIG)


@pytest.mark.parametrize("seed", [None, -1, 1.5, True, "0"])
def test_a_run_needs_a_seed(tmp_path: Path, seed: object):
    with pytest.raises(UsageError, match="seed must be a whole number"):
        Run.create(tmp_path / "run", {"seed": seed})
    assert not (tmp_path / "run").exists()


def test_a_config_that_is_not_json_is_refused(tmp_path: Path):
    with pytest.raises(UsageError, match="not JSON"):
        Run.create(tmp_path / "run", {"seed": 0, "x": float("nan")})


@pytest.mark.parametrize("name", ["../run.json", "/etc/passwd", "a/b", "", ".", "..", ".hidden"])
def test_no_name_leads_out_of_the_run(tmp_path: Path, name: str):
    with Run.create(tmp_path / "run", CONFIG) as run:
        with pytest.raises(UsageError, match="cannot name something"):
            run.file("episodes", name)
        with pytest.raises(UsageError, match="no folder"):
            run.file("..", "x")


def test_remains_of_a_killed_writer_are_swept_by_the_next_writer_only(tmp_path: Path):
    Run.create(tmp_path / "run", CONFIG).close()
    half = tmp_path / "run" / "episodes" / "000000-000.parquet.part"
    half.write_bytes(b"half")
    (tmp_path / "run" / "exports" / "lerobot.part").mkdir()
    Run.open(tmp_path / "run").close()
    assert half.exists()
    Run.open(tmp_path / "run", write=True).close()
    assert not half.exists() and not (tmp_path / "run" / "exports" / "lerobot.part").exists()


def test_a_foreign_run_json_is_refused(tmp_path: Path):
    (tmp_path / "run.json").write_text('{"format": 99, "config": {}}', encoding="utf-8")
    with pytest.raises(RunError, match="not of a kind"):
        Run.open(tmp_path)
    (tmp_path / "run.json").write_text("{", encoding="utf-8")
    with pytest.raises(StorageError, match="not valid JSON"):
        Run.open(tmp_path)


# Locks


_HOLD = """
import sys
from embodiedsmith.runtime.run import Run
run = Run.create(sys.argv[1], {"seed": 0, "brief": "杯"})
print("held", flush=True)
sys.stdin.read()
"""


def test_the_second_writer_is_refused_and_kill_frees_the_lock(tmp_path: Path):
    folder = tmp_path / "输出"
    command = [sys.executable, "-c", _HOLD, str(folder)]
    environment = {**os.environ, "LC_ALL": "C"}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment) as holder:
        assert holder.stdout is not None and holder.stdout.readline() == b"held\n"
        with pytest.raises(RunLockedError, match=f"process {holder.pid} "):
            Run.open(folder, write=True)
        with pytest.raises(RunLockedError, match=f"process {holder.pid} "):
            Run.create(folder, CONFIG)
        with Run.open(folder) as reader:  # readers need no lock
            assert reader.config["brief"] == "杯"
        holder.kill()
    Run.open(folder, write=True).close()


def test_one_process_cannot_write_twice_either(tmp_path: Path):
    with Run.create(tmp_path / "run", CONFIG) as run:
        with pytest.raises(RunLockedError, match=f"process {os.getpid()} "):
            Run.open(tmp_path / "run", write=True)
        run.close()
        Run.open(tmp_path / "run", write=True).close()


# Files


def test_a_full_disk_is_one_clear_error(tmp_path: Path):
    """A file-size limit of the system stands for the full disk: the write fails half way, as there."""
    script = """
import resource, sys
from pathlib import Path
from embodiedsmith.runtime.files import DiskFullError, write_atomic
target = Path(sys.argv[1])
write_atomic(target, b"old")
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    write_atomic(target, bytes(100_000))
except DiskFullError as error:
    print(error)
"""
    target = tmp_path / "file"
    done = subprocess.run([sys.executable, "-c", script, str(target)], capture_output=True, text=True, check=True)
    assert "no space left" in done.stdout and "smith resume" in done.stdout
    assert tree(tmp_path) == {"file": b"old"}


def test_system_errors_are_told_apart(tmp_path: Path):
    for number in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        with pytest.raises(DiskFullError), storage_errors(tmp_path):
            raise OSError(number, "x")
    with pytest.raises(StorageError, match="cannot read or write") as caught:
        read_json(tmp_path / "missing.json")
    assert not isinstance(caught.value, DiskFullError)
    write_atomic(tmp_path / "a", b"1")
    assert tree(tmp_path) == {"a": b"1"}


# Index


def test_the_index_sorts_by_slot_and_attempt_whatever_came_first(tmp_path: Path):
    index = Index(tmp_path / "index.sqlite", write=True)
    for slot, attempt in [(2, 0), (0, 1), (0, 0), (1, 0)]:
        outcome = "success" if attempt == 0 else "failure"
        index.add(AttemptRow(slot=slot, attempt=attempt, scenario_id=f"s{slot}", seed=0, outcome=outcome, scores={"杯": 0.5}))
    assert [(r.slot, r.attempt) for r in index.rows()] == [(0, 0), (0, 1), (1, 0), (2, 0)]
    assert [(r.slot, r.attempt) for r in index.rows(outcome="failure")] == [(0, 1)]
    assert [r.slot for r in index.rows(outcome="success", scenario_id="s2")] == [2]
    row = index.row(1, 0)
    assert row is not None and row.scores == {"杯": 0.5} and index.row(9, 0) is None
    reader = Index(tmp_path / "index.sqlite", write=False)
    assert len(reader.rows()) == 4
    reader.close()
    index.close()


def test_index_faults_are_typed(tmp_path: Path):
    with pytest.raises(StorageError, match="no index"):
        Index(tmp_path / "index.sqlite", write=False)
    (tmp_path / "index.sqlite").write_bytes(b"this is not a database, whatever its name says" * 100)
    with pytest.raises(StorageError, match="cannot be used"):
        Index(tmp_path / "index.sqlite", write=False).rows()


# Executors: the functions run in other processes, so they stand at the top of the module.


def square(job: int) -> int:
    if job == 5:
        raise UsageError("five", where="job", faults=["x"])
    if job == 6:
        raise ValueError("six")
    if job == 7 and multiprocessing.parent_process() is not None:
        os.kill(os.getpid(), signal.SIGKILL)
    return job * job


def environment(job: str) -> tuple[str | None, int]:
    return os.environ.get(job), os.getpid()


def unsendable(job: int) -> object:
    return lambda: job


def refuse_to_start() -> None:
    os._exit(4)


def test_results_are_the_same_for_one_worker_and_two():
    found: dict[int, dict[int, int | None]] = {}
    for workers in (1, 2):
        results: dict[int, int | None] = found.setdefault(workers, {})

        def collect(job: int, result: JobResult[int], results: dict[int, int | None] = results) -> list[int]:
            results[job] = result.value
            return [job + 10] if job < 3 else []  # jobs that follow from a result

        run_jobs(square, range(5), workers, collect)
    assert found[1] == found[2] == {j: j * j for j in (0, 1, 2, 3, 4, 10, 11, 12)}


def test_a_job_that_raises_or_dies_is_a_typed_failure_and_the_rest_goes_on():
    results: dict[int, JobResult[int]] = {}
    run_jobs(square, range(12), 2, results.__setitem__)
    assert sorted(results) == list(range(12))
    assert {j for j, r in results.items() if r.error is not None} == {5, 6, 7}
    assert isinstance(results[5].error, UsageError) and results[5].error.faults == ("x",)
    assert isinstance(results[6].error, WorkerError) and "ValueError: six" in str(results[6].error)
    assert isinstance(results[7].error, WorkerError) and "died by signal SIGKILL" in str(results[7].error)
    assert results[11].value == 121


def test_workers_stay_and_use_one_thread_each():
    seen: list[tuple[str | None, int]] = []
    run_jobs(environment, ["OMP_NUM_THREADS"] * 6, 2, lambda _, result: seen.append(result.value))
    assert {value for value, _ in seen} == {"1"}
    assert len({pid for _, pid in seen} - {os.getpid()}) <= 2 and os.getpid() not in {pid for _, pid in seen}


def test_a_result_that_cannot_be_sent_is_a_typed_failure():
    results: list[JobResult[object]] = []
    run_jobs(unsendable, [1], 2, lambda _, result: results.append(result))
    assert isinstance(results[0].error, WorkerError) and "cannot be sent back" in str(results[0].error)


def test_workers_that_never_start_end_the_work():
    with pytest.raises(WorkerError, match="die with exit status 4 before their first job"):
        run_jobs(square, range(4), 2, lambda *_: None, initializer=refuse_to_start)
    assert multiprocessing.active_children() == []


def test_an_interrupt_stops_the_workers():
    def interrupt(job: int, result: JobResult[int]) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_jobs(square, range(100), 2, interrupt)
    assert multiprocessing.active_children() == []


def test_an_interrupt_while_workers_still_load_is_left_to_the_parent(capfd: pytest.CaptureFixture[str]):
    results: list[int | None] = []
    run_jobs(double, range(3), 2, lambda _, result: results.append(result.value))
    assert sorted(results) == [0, 2, 4]
    assert capfd.readouterr().err == ""


def test_the_number_of_workers_is_checked():
    with pytest.raises(UsageError, match="at least 1"):
        run_jobs(square, [], 0, lambda *_: None)


# Progress


def test_progress_is_plain_in_a_log_and_silent_when_quiet():
    log = io.StringIO()
    with Progress("episodes", 4, done=1, stream=log) as progress:
        progress.update(True)
        progress.update(False, "slot 2")
    assert log.getvalue().startswith("episodes: 2/4 (") and "yield 50 %" in log.getvalue() and "slot 2" in log.getvalue()
    quiet = io.StringIO()
    with Progress("episodes", 4, quiet=True, stream=quiet) as progress:
        progress.update(True)
    assert quiet.getvalue() == ""


def test_progress_lives_on_a_terminal():
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    screen = Terminal()
    with Progress("episodes", 2, stream=screen) as progress:
        progress.update(True)
    assert "1/2" in screen.getvalue() and "yield 100 %" in screen.getvalue()


def test_progress_says_no_yield_of_what_cannot_fail_and_nothing_of_what_has_not_begun():
    log = io.StringIO()
    with Progress("rendering", 2, trials=False, stream=log) as progress:
        progress.update(True)
    with Progress("episodes", 6, stream=log):
        pass
    assert "yield" not in log.getvalue()
    assert log.getvalue().endswith("episodes: 0/6\n")


def test_a_folder_that_cannot_be_written_names_the_remedy(tmp_path):
    with pytest.raises(StorageError, match="give a folder that can be written"), storage_errors(tmp_path):
        raise OSError(errno.EROFS, "Read-only file system")
