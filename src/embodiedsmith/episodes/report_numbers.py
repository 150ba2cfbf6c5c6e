"""The numbers of a run's report: yields and costs by skill and asset, failures, qualities."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from embodiedsmith.runtime.index import AttemptRow
from embodiedsmith.spec import Scenario, predicates, split_reference
from embodiedsmith.tasks import Recording

QUALITIES: dict[str, tuple[str, str]] = {
    "duration": ("Duration", "s"),
    "path_length": ("Path of the tool centre point", "m"),
    "smoothness": ("Mean squared jerk", "m²/s⁶"),
    "energy": ("Energy", "J"),
    "clearance": ("Least clearance", "m"),
    "goal_margin": ("Goal margin at the end", "m, rad"),
}
"""Scores drawn, with title and unit; those a run has no values of are left out."""

BINS = 24
"""Most bars of a histogram."""
EQUAL = 0.002
"""Spread, as a fraction of the largest value, below which values count as equal: what is left is rounding and settling."""


@dataclass
class Tally:
    """How often something was tried and came off, and what that took."""

    tried: int = 0
    done: int = 0
    simulated: float = 0.0
    """Seconds of simulated time."""
    wall: float = 0.0
    """Seconds of wall clock; a skill's is the share of its attempt's by control steps."""
    reasons: Counter[str] = field(default_factory=Counter)

    @property
    def rate(self) -> float:
        """Share that came off."""
        return self.done / self.tried if self.tried else 0.0

    @property
    def wall_each(self) -> float | None:
        """Wall clock for one that came off, failures included [s]; None when none did."""
        return self.wall / self.done if self.done else None


@dataclass(frozen=True)
class Failures:
    """A kind of failure."""

    code: str
    count: int
    examples: tuple[str, ...]
    """Different messages, the first few."""


@dataclass(frozen=True)
class Histogram:
    """How one score is distributed over the successful episodes."""

    title: str
    unit: str
    low: float
    high: float
    median: float
    counts: tuple[int, ...]


def by_skill(attempts: Iterable[tuple[AttemptRow, Recording]], control_hz: float) -> dict[str, Tally]:
    """Tallies by skill name, from what the demonstrator noted when it began and ended each; most used first."""
    found: dict[str, Tally] = defaultdict(Tally)
    for row, recording in attempts:
        each = row.cost.get("run_seconds", 0.0) / max(recording.length, 1)
        begun: tuple[str, int] | None = None
        for event in recording.events:
            if event.kind == "skill_started":
                begun = (event.text.partition("(")[0] or "unnamed", event.step)
                found[begun[0]].tried += 1
            elif event.kind in ("skill_done", "skill_failed") and begun is not None:
                _close(found[begun[0]], event.step - begun[1], control_hz, each)
                if event.kind == "skill_done":
                    found[begun[0]].done += 1
                else:
                    found[begun[0]].reasons[event.text.partition(":")[0]] += 1
                begun = None
        if begun is not None:  # the world broke, or time ran out, in the middle of it
            _close(found[begun[0]], recording.length - begun[1], control_hz, each)
            found[begun[0]].reasons[row.failure_code or "cut short"] += 1
    return dict(sorted(found.items(), key=lambda item: -item[1].tried))


def _close(tally: Tally, steps: int, control_hz: float, wall_each: float) -> None:
    tally.simulated += steps / control_hz
    tally.wall += steps * wall_each


def by_asset(rows: Iterable[AttemptRow], scenarios: Mapping[str, Scenario]) -> dict[str, Tally]:
    """Tallies of attempts by the categories of the things their goal names; worst yield first."""
    found: dict[str, Tally] = defaultdict(Tally)
    for row in rows:
        scenario = scenarios.get(row.scenario_id)
        if scenario is None:
            continue
        named = {split_reference(argument)[0] for predicate in predicates(scenario.task.goal) for argument in predicate.args}
        for category in sorted({item.asset.category for item in scenario.scene.items if item.id in named}):
            tally = found[category]
            tally.tried += 1
            tally.wall += sum(seconds for name, seconds in row.cost.items() if name.endswith("_seconds"))
            if row.outcome == "success":
                tally.done += 1
            elif row.failure_code is not None:
                tally.reasons[row.failure_code] += 1
    return dict(sorted(found.items(), key=lambda item: (item[1].rate, item[0])))


def failures(rows: Iterable[AttemptRow], examples: int = 3) -> list[Failures]:
    """Failed attempts by code, most frequent first, with some of what was said."""
    messages: dict[str, list[str]] = defaultdict(list)
    for row in rows:
        if row.failure_code is not None:
            messages[row.failure_code].append(str((row.failure or {}).get("message", "")))
    kinds = [Failures(code, len(said), tuple(dict.fromkeys(said))[:examples]) for code, said in messages.items()]
    return sorted(kinds, key=lambda kind: (-kind.count, kind.code))


def histograms(rows: Sequence[AttemptRow]) -> list[Histogram]:
    """Distributions of the scores of successful episodes."""
    out = []
    for name, (title, unit) in QUALITIES.items():
        values = [float(v) for row in rows if row.outcome == "success" and (v := row.scores.get(name)) is not None]
        if not values:
            continue
        low, high = min(values), max(values)
        if high - low <= EQUAL * max(abs(low), abs(high)):
            low = high = float(np.median(values))
        bins = min(BINS, 2 * math.ceil(math.sqrt(len(values)))) + 1
        inside = (low, high) if low < high else (low - 0.5, low + 0.5)
        counts, _ = np.histogram(values if low < high else [low] * len(values), bins=bins, range=inside)
        out.append(Histogram(title, unit, low, high, float(np.median(values)), tuple(int(c) for c in counts)))
    return out
