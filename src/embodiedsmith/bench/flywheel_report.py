"""Trials of the flywheel's benchmark, and what they say: success with intervals, differences to controls, targets, forgetting."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import Field

from embodiedsmith.bench.flywheel_arms import ARMS, COLD, BenchTask
from embodiedsmith.evaluate.intervals import Interval, mean, newcombe, paired, rate
from embodiedsmith.runtime.seeds import generator
from embodiedsmith.spec.base import Noun

CONTROLS = ("no_data", "plain")
"""Arms that all others are held against."""
FORGETTING = 0.05
"""What success on level 1 may lose of its best."""
COLD_MOST = 0.5
"""Success that a cold start may have for a claim to count."""
MINUTES = 45.0
Digits = str


class Trial(Noun):
    """One spin, judged."""

    task: str
    arm: str
    seed: int
    setup: str
    """Hash of everything else that it depends on."""
    experts: int
    """Episodes of the demonstrator that a round asked for."""
    final: Digits
    """Success from each start at the highest level: digits 0 and 1."""
    lowest: Digits
    """The same at level 1."""
    lowest_best: Digits
    """The same of the policy of the round that did best on level 1 in the spin's own test."""
    best_round: int
    each: int = Field(ge=1)
    """Starts of each scenario, one scenario after the other."""
    own: tuple[float, ...]
    """Success by round on the spin's own suite."""
    level: int
    """That the next round would collect at."""
    kept: int
    """Episodes that the rounds kept; of a cold start: its demonstrations."""
    alarms: tuple[str, ...]
    steps: int
    """Gradient steps, those of the cold start included."""
    seconds: dict[str, float]
    """Wall clock by stage, the cold start's included; forging of scenes is not."""
    demonstrator: float
    """What the demonstrator makes of the spin's own suite."""
    seen: int = 0
    """Scenarios trained on that are of a situation which is judged on; 0 unless the forge drew one again."""

    @property
    def key(self) -> tuple[str, str, int, str]:
        """What was asked."""
        return self.task, self.arm, self.seed, self.setup


def report(tasks: Sequence[BenchTask], trials: Sequence[Trial]) -> dict[str, Any]:
    """What trials say, by task.

    Returns:
        `tasks`: for each `target`, `demonstrator`, `starts`, and `arms`. An arm has `initial` and `final` (of each seed); `mean`
        over seeds (Student's t; of one seed Wilson's); `pooled` (all starts, Wilson); `against`: for each control the
        `difference` of pooled rates (Newcombe) and start by start (`paired`, a bootstrap over scenarios and seeds); `level1`:
        `final`, `best`, the `lost` (Newcombe, best minus final) and whether it `holds`; `kept`, `experts`, `steps`, `minutes`,
        `alarms`, `seen`; `goals`: the mean reached the target, the cold start was at most 0.5, the time at most 45 minutes;
        `met`: all three.
        `lines`: a table for people.
    """
    made = {task.name: _task(task, [trial for trial in trials if trial.task == task.name]) for task in tasks}
    return {"tasks": made, "lines": table(made)}


def _task(task: BenchTask, trials: Sequence[Trial]) -> dict[str, Any]:
    by_arm: dict[str, list[Trial]] = {}
    for trial in trials:
        by_arm.setdefault(trial.arm, []).append(trial)
    cold = by_arm[COLD]
    return {
        "brief": task.brief,
        "robot": task.robot,
        "target": task.target,
        "rounds": task.settings.rounds,
        "demonstrator": [trial.demonstrator for trial in cold],
        "starts": len(cold[0].final),
        "arms": {arm: _arm(task, mine, by_arm) for arm, mine in by_arm.items()},
    }


def _arm(task: BenchTask, mine: Sequence[Trial], by_arm: dict[str, list[Trial]]) -> dict[str, Any]:
    initial, final = ([_share(trial.final) for trial in of] for of in (by_arm[COLD], mine))
    pooled = _pooled(mine)
    average = mean(final) if len(final) > 1 else rate(*pooled)
    minutes = [round(sum(trial.seconds.values()) / 60.0, 1) for trial in mine]
    goals = {
        "success": average.value >= task.target,
        "cold_start": max(initial) <= COLD_MOST,
        "time": max(minutes) <= MINUTES,
    }
    return {
        "about": ARMS[mine[0].arm].about if mine[0].arm in ARMS else "the cold start",
        "initial": initial,
        "final": final,
        "mean": average.model_dump(),
        "pooled": rate(*pooled).model_dump(),
        "own": [trial.own for trial in mine],
        "against": {name: _against(mine, by_arm[name]) for name in CONTROLS if name in by_arm and name != mine[0].arm},
        "level1": _level1(mine),
        "level": [trial.level for trial in mine],
        "kept": [trial.kept for trial in mine],
        "experts": [trial.experts for trial in mine],
        "steps": [trial.steps for trial in mine],
        "minutes": minutes,
        "alarms": [list(trial.alarms) for trial in mine],
        "seen": sum(trial.seen for trial in mine),
        "goals": goals,
        "met": all(goals.values()),
    }


def _against(mine: Sequence[Trial], control: Sequence[Trial]) -> dict[str, Any]:
    """The arm minus the control, over the seeds that both have."""
    others = {trial.seed: trial for trial in control}
    pairs = [(trial, others[trial.seed]) for trial in mine if trial.seed in others]
    a, b = ([digit == "1" for pair in pairs for digit in pair[k].final] for k in (0, 1))
    groups = [(trial.seed, k // trial.each) for trial, _ in pairs for k in range(len(trial.final))]
    rng = generator(0, "flywheel bench", mine[0].task, mine[0].arm, control[0].arm)
    return {
        "difference": newcombe(_pooled([p for p, _ in pairs]), _pooled([q for _, q in pairs])).model_dump(),
        "paired": paired(a, b, rng, groups=groups).model_dump(),
        "seeds": [round(_share(p.final) - _share(q.final), 4) for p, q in pairs],
    }


def _level1(mine: Sequence[Trial]) -> dict[str, Any]:
    final, best = ([_share(digits) for digits in found] for found in zip(*((t.lowest, t.lowest_best) for t in mine), strict=True))
    counts = [(sum(map(int, "".join(d))), sum(map(len, d))) for d in zip(*((t.lowest_best, t.lowest) for t in mine), strict=True)]
    lost = newcombe(counts[0], counts[1])
    return {
        "final": final,
        "best": best,
        "best_round": [trial.best_round for trial in mine],
        "lost": lost.model_dump(),
        "holds": lost.value <= FORGETTING,
    }


def _pooled(trials: Sequence[Trial]) -> tuple[int, int]:
    return sum(trial.final.count("1") for trial in trials), sum(len(trial.final) for trial in trials)


def _share(digits: Digits) -> float:
    return round(digits.count("1") / len(digits), 4)


def table(tasks: dict[str, dict[str, Any]]) -> list[str]:
    """Tasks of a report as lines for people."""
    lines: list[str] = []
    for name, task in tasks.items():
        ceiling = sum(task["demonstrator"]) / len(task["demonstrator"])
        lines += [
            f"{name}: {task['brief']} (target {task['target']:.2f}, {task['starts']} starts, demonstrator {ceiling:.2f})",
            f"  {'arm':<16}{'success':>24}{'- no_data':>24}{'- plain':>24}{'level 1 (best)':>16}{'kept':>7}{'min':>6}",
        ]
        for arm, found in task["arms"].items():
            against = [_shown(found["against"].get(control)) for control in CONTROLS[:2]]
            level1 = f"{_average(found['level1']['final']):.2f} ({_average(found['level1']['best']):.2f})"
            lines.append(
                f"  {arm:<16}{Interval.model_validate(found['mean'])!s:>24}{against[0]:>24}{against[1]:>24}{level1:>16}"
                f"{_average(found['kept']):>7.0f}{_average(found['minutes']):>6.1f}" + ("  target met" if found["met"] else "")
            )
    return lines


def _shown(against: dict[str, Any] | None) -> str:
    return "" if against is None else str(Interval.model_validate(against["paired"]))


def _average(values: Sequence[float]) -> float:
    return sum(values) / len(values)
