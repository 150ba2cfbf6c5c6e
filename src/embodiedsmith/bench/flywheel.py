"""Which parts of the flywheel pay: the loop against itself with one part changed, from one cold start, at equal gradient steps.

Each task and training seed has a cold start, a spin of no rounds, that every arm goes on from in a copy. Policies are judged on
a suite that no spin sees: forged with `FINAL_SEED`, at the highest level and at the lowest. What is done is kept line by line in
the folder (`trials.jsonl`); a second call goes on where the first stopped, within a trial too.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import Field

from embodiedsmith.bench.flywheel_arms import ARMS, COLD, TASKS, Arm, BenchTask, branch, cold_start, resumed, settings_of
from embodiedsmith.bench.flywheel_report import Trial, report
from embodiedsmith.episodes.store import EpisodeStore
from embodiedsmith.evaluate.evaluation import evaluate, evaluate_demonstrator
from embodiedsmith.evaluate.suites import Suite, forge_held_out, suite
from embodiedsmith.flywheel.levels import LEVELS, at_level
from embodiedsmith.flywheel.rounds import RoundRow, read_rows
from embodiedsmith.flywheel.settings import FlywheelSettings
from embodiedsmith.flywheel.variants import limited
from embodiedsmith.learn.policy import Policy
from embodiedsmith.runtime.errors import UsageError
from embodiedsmith.runtime.files import storage_errors, write_atomic
from embodiedsmith.runtime.run import Run
from embodiedsmith.spec import Brief, Scenario
from embodiedsmith.spec.base import Noun, digest

FINAL_SEED = 8_675_309
"""Of the suites that trials are judged on: nothing else is drawn from it, and no setting was chosen by it."""
LOWEST = 1
TRIALS = "trials.jsonl"
BULKY = ("episodes", "flywheel/replay")
"""What a finished trial's folder is relieved of; rounds, decisions, page and policies stay."""


class BenchConfig(Noun):
    """What is measured."""

    tasks: tuple[BenchTask, ...] = TASKS
    arms: tuple[str, ...] = tuple(ARMS)
    seeds: int = Field(default=3, ge=1)
    """Training seeds."""
    scenarios: int = Field(default=6, ge=1)
    """Scenarios of a task that trials are judged on."""
    starts: int = Field(default=300, ge=1)
    """Starts of them at each of the two levels, at least."""


@dataclass(frozen=True)
class _Bench:
    """Where one task's trials are made and kept."""

    config: BenchConfig
    task: BenchTask
    folder: Path
    trials: _Trials
    workers: int
    say: Callable[[str], None]

    def at(self, arm: str, seed: int) -> Path:
        """Folder of a spin."""
        return self.folder / arm / f"{self.task.name}-{seed}"


def measure(
    config: BenchConfig | None = None,
    *,
    workers: int = 1,
    folder: Path | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> dict[str, Any]:
    """Spin and judge every arm of every task with every training seed.

    Args:
        config: What is measured; None: everything as the defaults say, which takes days on one core.
        workers: Processes that forge and demonstrate, and threads that step worlds. Only seconds depend on it.
        folder: Where cold starts, spins, suites and trials are kept; None: in a temporary one.
        say: Told of every trial.

    Returns:
        `config`, `final_seed`, and what `flywheel_report.report` gives.

    Raises:
        UsageError: there is no such arm.
    """
    config = config or BenchConfig()
    arms = _arms(config.arms)
    found: list[Trial] = []
    with _folder(folder) as used:
        trials = _Trials(used / TRIALS)
        for task in config.tasks:
            found += _measured(_Bench(config, task, used, trials, workers, say), arms)
    return {"config": config.model_dump(mode="json"), "final_seed": FINAL_SEED, **report(config.tasks, found)}


def chosen(only: str | None) -> tuple[BenchTask, ...]:
    """The tasks there are, or the one of that name; raises UsageError when there is none."""
    if only is None:
        return TASKS
    found = tuple(task for task in TASKS if task.name == only)
    if not found:
        raise UsageError(f"there is no task '{only}' in this benchmark", choices=[task.name for task in TASKS])
    return found


@contextmanager
def _folder(given: Path | None) -> Iterator[Path]:
    if given is not None:
        with storage_errors(given):
            given.mkdir(parents=True, exist_ok=True)
        yield given
        return
    with tempfile.TemporaryDirectory() as made:
        yield Path(made)


def _arms(names: Sequence[str]) -> list[Arm]:
    """Arms by name, `loop` first when others are measured by it."""
    if unknown := [name for name in names if name not in ARMS]:
        raise UsageError(f"there is no arm {', '.join(unknown)}", choices=ARMS)
    needed = set(names)
    if any(ARMS[name].as_many for name in names):
        needed.add("loop")
    return [arm for arm in ARMS.values() if arm.name in needed]


# ---------------------------------------------------------------------- trials of one task


def _measured(bench: _Bench, arms: Sequence[Arm]) -> list[Trial]:
    """All trials of a task: cold starts first, for what is judged on must differ from what they train on."""
    for seed in range(bench.config.seeds):
        folder = bench.at(COLD, seed)
        bench.say(f"{bench.task.name}, seed {seed}: cold start")
        cold_start(folder, bench.task, seed, threads=bench.workers, workers=bench.workers)
    judged = _suite(bench)
    found: list[Trial] = []
    for seed in range(bench.config.seeds):
        cold = _once(bench, COLD, seed, bench.task.settings.model_copy(update={"rounds": 0}), judged, None)
        found.append(cold)
        kept: float | None = None
        for arm in arms:
            trial = _once(bench, arm.name, seed, settings_of(bench.task, arm, kept), judged, cold)
            found.append(trial)
            if arm.name == "loop":
                kept = trial.kept / max(bench.task.settings.rounds, 1)
    return found


def _once(bench: _Bench, arm: str, seed: int, settings: FlywheelSettings, judged: Suite, cold: Trial | None) -> Trial:
    """A trial, made unless it is known."""
    setup = digest([bench.task.brief, bench.task.robot, settings.model_dump(mode="json"), judged.id])
    known = bench.trials.get((bench.task.name, arm, seed, setup))
    if known is not None:
        return known
    folder = bench.at(arm, seed)
    if cold is not None:
        bench.say(f"{bench.task.name}, {arm}, seed {seed}: {settings.rounds} rounds")
        _renewed(folder, setup)
        branch(bench.at(COLD, seed), folder, settings)
    result = resumed(folder, threads=bench.workers, workers=bench.workers)
    rows = read_rows(folder / "flywheel")
    own = {row.round: row.forgetting[LOWEST].value for row in rows if LOWEST in row.forgetting}
    policy = Path(result["policy"])
    last = int(policy.name[:4])
    best = max(own, key=lambda round: (own[round], round == last), default=last)
    final, lowest = (_judge(policy, judged, level, bench.workers) for level in (LEVELS, LOWEST))
    same = best == last
    trial = Trial(
        task=bench.task.name, arm=arm, seed=seed, setup=setup, experts=settings.experts if settings.expert != "none" else 0,
        final=final, lowest=lowest, best_round=best, each=len(judged.at(LEVELS).entries[0].attempts),
        lowest_best=lowest if same else _judge(policy.with_name(f"{best:04d}"), judged, LOWEST, bench.workers),
        own=tuple(row.success.value for row in rows if row.success is not None), level=result["final_level"],
        kept=result["kept"] - (0 if cold is None else cold.kept), alarms=tuple(result["alarms"]),
        steps=sum(_steps(row, settings) for row in rows), seconds=_seconds(rows),
        demonstrator=result["tasks"][bench.task.brief]["demonstrator_success"]["value"],
        seen=len(judged.shared(_scenarios(folder))),
    )  # fmt: skip
    bench.trials.keep(trial)
    bench.say(f"{trial.task}, {arm}, seed {seed}: {final.count('1')}/{len(final)} at level {LEVELS}")
    if cold is not None:
        for name in BULKY:
            shutil.rmtree(folder / name, ignore_errors=True)
    return trial


def _renewed(folder: Path, setup: str) -> None:
    """Take away a spin of other settings."""
    mark = folder.with_name(f"{folder.name}.setup")
    with storage_errors(folder):
        if not mark.is_file() or mark.read_text("utf-8") != setup:
            shutil.rmtree(folder, ignore_errors=True)
            folder.parent.mkdir(parents=True, exist_ok=True)
            write_atomic(mark, setup.encode("utf-8"))


def _steps(row: RoundRow, settings: FlywheelSettings) -> int:
    return {"cold": settings.cold_steps, "retrain": settings.cold_steps, "finetune": settings.round_steps}.get(row.mode, 0)


def _seconds(rows: Sequence[RoundRow]) -> dict[str, float]:
    """Wall clock of the stages of all rounds, the cold start's included."""
    names = dict.fromkeys(name for row in rows for name in row.seconds)
    return {name: round(sum(row.seconds.get(name, 0.0) for row in rows), 1) for name in names}


# ---------------------------------------------------------------------- judging


def _judge(policy: Path, judged: Suite, level: int, threads: int) -> str:
    """Success of each start at a level, as digits 0 and 1 in the suite's order."""
    found = evaluate(Policy.load(policy), judged.at(level), threads=threads)
    return "".join("1" if trial.success else "0" for trial in found.trials)


def _suite(bench: _Bench) -> Suite:
    """What all trials of the task are judged on: forged once, and of no situation that a cold start trains on or looks at."""
    task, config = bench.task, bench.config
    asked = digest([task.brief, task.robot, task.settings.time_limit, config.scenarios, config.starts])
    path = bench.folder / "suites" / f"{task.name}-{asked}.json"
    if path.is_file():
        return Suite.load(path)
    brief = Brief(text=task.brief, embodiment=task.robot, seed=FINAL_SEED)
    known: list[Scenario] = []
    for seed in range(config.seeds):
        folder = bench.at(COLD, seed)
        known += _scenarios(folder)
        known += [entry.scenario for entry in Suite.load(folder / "flywheel" / "suites" / "task-0.json").entries]
    made = forge_held_out(brief, config.scenarios, among=known, workers=bench.workers)
    longest = {trial.scenario: trial.steps for trial in evaluate_demonstrator(suite(task.brief, {None: made}, 1, 0)).trials}
    timed = [limited(scenario, longest[scenario.id], task.settings.time_limit) for scenario in made]
    levels: dict[int | None, list[Scenario]] = {n: [at_level(scenario, n) for scenario in timed] for n in (LOWEST, LEVELS)}
    judged = suite(f"{task.brief}, judged", levels, -(-config.starts // len(timed)), FINAL_SEED)
    with storage_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    judged.save(path)
    return judged


def _scenarios(folder: Path) -> list[Scenario]:
    """Everything that a run has trained on."""
    with Run.open(folder) as run:
        store = EpisodeStore(run)
        return [store.scenario(identity) for identity in store.scenario_ids()]


class _Trials:
    """Trials done so far, kept line by line."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._done: dict[tuple[str, str, int, str], Trial] = {}
        if file.is_file():
            with storage_errors(file):
                text = file.read_text("utf-8")
            for line in text.splitlines():
                trial = Trial.from_json(line)
                self._done[trial.key] = trial

    def get(self, key: tuple[str, str, int, str]) -> Trial | None:
        """The trial of that key, if it is done."""
        return self._done.get(key)

    def keep(self, trial: Trial) -> None:
        """Remember a trial."""
        self._done[trial.key] = trial
        lines = [json.dumps(t.model_dump(mode="json"), sort_keys=True) for t in self._done.values()]
        write_atomic(self._file, ("\n".join(lines) + "\n").encode("utf-8"))
