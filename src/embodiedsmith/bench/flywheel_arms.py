"""What `smith bench flywheel` compares: its tasks, the flywheel with one part changed at a time, and the common cold start."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from pydantic import Field

from embodiedsmith.flywheel.loop import STATE
from embodiedsmith.flywheel.settings import FlywheelSettings
from embodiedsmith.flywheel.spin import RESULT, configuration
from embodiedsmith.flywheel.spin import spin as spin_run
from embodiedsmith.flywheel.state import State, TaskState
from embodiedsmith.forge import BUDGET
from embodiedsmith.runtime.errors import UsageError
from embodiedsmith.runtime.files import PART, read_json, storage_errors, write_json
from embodiedsmith.runtime.run import Run
from embodiedsmith.spec import Brief
from embodiedsmith.spec.base import Noun

SETTINGS = FlywheelSettings(
    rounds=12,
    rollouts=36,
    experts=72,
    evaluations=36,
    final_evaluations=60,
    forgetting=6,
    videos=False,
)
"""Of every task. The evaluations named here are those of the loop itself, on its own suite; trials are judged on another."""


class BenchTask(Noun):
    """What is learnt."""

    name: str
    brief: str
    robot: str = "panda"
    target: float = Field(ge=0.0, le=1.0)
    """Success at the highest level that the last round is to reach."""
    settings: FlywheelSettings = SETTINGS


TASKS = (
    BenchTask(name="clutter", brief="there is a mug and a box on the table. put the can on the plate", target=0.95),
    BenchTask(name="drawer", brief="open the top drawer, put the can in it and close it", target=0.95),
    BenchTask(name="stack", brief="stack three blocks", target=0.85),
    BenchTask(
        name="fridge", brief="take the can out of the fridge and put it on the table", robot="panda_mobile", target=0.85
    ),
)  # fmt: skip

COLD = "cold"
"""The trial that no round follows: what all others began with."""


class Arm(Noun):
    """One way to spin."""

    name: str
    about: str
    changes: dict[str, Any] = Field(default_factory=dict)
    """Settings that differ from the task's."""
    as_many: bool = False
    """Whether `experts` is as many as the arm `loop` kept a round."""


_ALL = (
    Arm(name="loop", about="the flywheel as it is by default"),
    Arm(name="self", about="the loop without the demonstrator's help", changes={"expert": "none"}),
    Arm(name="no_data", about="(a) nothing new, the same gradient steps", changes={"new_data": False}),
    Arm(
        name="plain", about="(b) as many demonstrations a round as the loop keeps episodes, nothing else",
        changes={"rollouts": 0, "expert": "plain", "requests": 0}, as_many=True,
    ),
    Arm(name="unfiltered", about="(c) self-training without a filter", changes={"expert": "none", "filter": "none"}),
    Arm(name="fixed", about="(d) fixed thresholds", changes={"filter": "fixed"}),
    Arm(name="curriculum", about="(e) the other way: levels follow success, from the lowest", changes={"curriculum": "success"}),
    Arm(name="no_replay", about="(f) a round trains on its own episodes only", changes={"replay": False}),
    Arm(name="no_distillation", about="(g) no distillation", changes={"distillation": 0.0}),
    Arm(
        name="handoff", about="(h) only episodes that the demonstrator finished",
        changes={"rollouts": 0, "expert": "handoff", "requests": 0},
    ),
    Arm(
        name="no_shrink", about="fine-tunings go on from the last weights, half of their windows of the round's own episodes",
        changes={"shrink": 1.0, "fresh": 0.5, "learning_rate": 3e-4},
    ),
    Arm(name="failures", about="demonstrations from starts at which the policy failed", changes={"expert": "failures"}),
    Arm(name="no_pushes", about="the demonstrator is never led astray, the cold start apart", changes={"pushes": 0.0}),
    Arm(name="no_requests", about="the loop without requests to the forge", changes={"requests": 0}),
)  # fmt: skip
ARMS = {arm.name: arm for arm in _ALL}
"""By name, in the order in which they are tried."""


def settings_of(task: BenchTask, arm: Arm, kept_a_round: float | None = None) -> FlywheelSettings:
    """How an arm spins a task.

    Args:
        task: The task.
        arm: The arm.
        kept_a_round: Episodes that the arm `loop` kept a round, for arms that get as many demonstrations.
    """
    changes = dict(arm.changes)
    if arm.as_many:
        if kept_a_round is None:
            raise UsageError(f"arm '{arm.name}' needs to know how many episodes 'loop' keeps", remedy="try 'loop' first")
        changes["experts"] = round(kept_a_round)
    return FlywheelSettings.model_validate({**task.settings.model_dump(), **changes})


def cold_start(folder: Path, task: BenchTask, seed: int, *, threads: int, workers: int) -> dict[str, Any]:
    """A spin of no rounds: scenarios, suite, demonstrations, and a policy from them; goes on where one was interrupted."""
    settings = task.settings.model_copy(update={"rounds": 0})
    config = configuration([Brief(text=task.brief, embodiment=task.robot, seed=seed)], settings, BUDGET)
    if not (folder / "run.json").is_file():
        Run.create(folder, config).close()
    return resumed(folder, config, threads=threads, workers=workers)


def resumed(folder: Path, config: dict[str, Any] | None = None, *, threads: int, workers: int) -> dict[str, Any]:
    """Do what is missing of a spin; gives its result.

    Raises:
        RunMismatchError: `config` is given, and the run is of another.
    """
    with Run.open(folder, config, write=True) as run:
        return spin_run(run, threads=threads, workers=workers, quiet=True)


def branch(cold: Path, folder: Path, settings: FlywheelSettings) -> None:
    """A copy of a finished spin that goes on with other settings, at the level with which those begin.

    Args:
        cold: The spin's folder, left as it is.
        folder: Where the copy is made, whole or not at all; left as it is when there is one.
        settings: Of the copy. What its past depends on (scenarios, demonstrations, network) must be as in `cold`.
    """
    if folder.exists():
        return
    part = folder.with_name(folder.name + PART)
    with storage_errors(part):
        shutil.rmtree(part, ignore_errors=True)
        shutil.copytree(cold, part)
    edit_settings(part, settings)
    path = part / "flywheel" / STATE
    state = State.load(path)
    tasks = tuple(_begun(task, settings) for task in state.tasks)
    state.model_copy(update={"tasks": tasks}).save(path)
    with storage_errors(folder):
        part.rename(folder)


def edit_settings(folder: Path, settings: FlywheelSettings) -> None:
    """Give a run's spin other settings and forget its result, so that it can go on."""
    content = read_json(folder / "run.json")
    content["config"]["settings"] = settings.model_dump(mode="json")
    write_json(folder / "run.json", content)
    with storage_errors(folder):
        (folder / "flywheel" / RESULT).unlink(missing_ok=True)


def _begun(task: TaskState, settings: FlywheelSettings) -> TaskState:
    """A task after its cold start as those settings would have begun it; that they begin at another level is no jump."""
    new = TaskState.first(settings, task.guards.task)
    history = tuple(seen.model_copy(update={"level": new.level}) for seen in task.guards.history)
    sound = tuple((round, new.level) for round, _ in task.guards.sound)
    guards = task.guards.model_copy(update={"history": history, "sound": sound})
    return task.model_copy(
        update={
            "by_success": new.by_success, "by_entropy": new.by_entropy, "thresholds": new.thresholds, "guards": guards,
        }
    )  # fmt: skip
