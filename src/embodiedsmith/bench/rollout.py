"""How much of the speed of raw batched physics is left when a policy acts and all is recorded, on scenes of several kinds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

from embodiedsmith.bench.flywheel_arms import TASKS, BenchTask
from embodiedsmith.forge.loop import forge
from embodiedsmith.learn.throughput import throughput
from embodiedsmith.spec import Brief

WORLDS = 64
REPEATS = 3


def measure(
    tasks: Sequence[BenchTask] = TASKS,
    *,
    threads: int = 1,
    repeats: int = REPEATS,
    seed: int = 0,
    say: Callable[[str], None] = lambda _: None,
) -> dict[str, Any]:
    """Measure on a scenario of each task.

    Args:
        tasks: Of the flywheel's benchmark.
        threads: Threads that step worlds, of the raw physics too.
        repeats: Turns of each of the two.
        seed: Of the scenarios.
        say: Told of every task.

    Returns:
        `ratio` and `cpu_ratio`: the worst of all tasks; `scenes`: the numbers of each, see `learn.throughput.Throughput`.
    """
    scenes: dict[str, dict[str, float]] = {}
    for task in tasks:
        scenario = forge(Brief(text=task.brief, embodiment=task.robot, seed=seed)).scenario
        found = throughput(scenario, WORLDS, threads, repeats=repeats)
        scenes[task.name] = {name: round(value, 4) for name, value in asdict(found).items()}
        say(f"{task.name}: {found.ratio:.3f} of {found.raw_steps_per_second:.0f} steps a second")
    worst = {name: min(scene[name] for scene in scenes.values()) for name in ("ratio", "cpu_ratio")}
    return {"worlds": WORLDS, "threads": threads, **worst, "scenes": scenes}


def table(report: dict[str, Any]) -> list[str]:
    """What `measure` gave, as lines for people."""
    lines = [f"{'scene':<10}{'of raw':>8}{'by CPU time':>13}{'steps/s':>10}{'raw steps/s':>13}"]
    for name, found in report["scenes"].items():
        speeds = (found["steps_per_second"], found["raw_steps_per_second"])
        lines.append(f"{name:<10}{found['ratio']:>8.3f}{found['cpu_ratio']:>13.3f}{speeds[0]:>10.0f}{speeds[1]:>13.0f}")
    return lines
