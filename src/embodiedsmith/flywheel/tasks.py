"""The tasks of a flywheel: their scenarios to train on and their frozen suites, made once and kept in the run."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from embodiedsmith.episodes.forging import forge_missing
from embodiedsmith.episodes.staging import attempt_rng, warm_world
from embodiedsmith.episodes.store import EpisodeStore
from embodiedsmith.evaluate.suites import Suite, forge_held_out, suite
from embodiedsmith.flywheel.levels import LEVELS, at_level
from embodiedsmith.flywheel.settings import FlywheelSettings
from embodiedsmith.flywheel.variants import folder_of, limited
from embodiedsmith.motion import demonstrate
from embodiedsmith.runtime.errors import SmithError
from embodiedsmith.spec import Brief, Scenario
from embodiedsmith.tasks import Session

STRIDE = 100
"""Forging numbers a task has for itself: those of task k begin at k times this."""


@dataclass(frozen=True)
class Task:
    """One of the things that a flywheel's network learns."""

    number: int
    brief: Brief
    scenarios: tuple[Scenario, ...]
    """As forged, to train on."""
    suite: Suite
    """At every level, never trained on."""

    @property
    def name(self) -> str:
        """What people call it."""
        return self.brief.text


def prepare(
    store: EpisodeStore, number: int, brief: Brief, settings: FlywheelSettings, *, budget: float, workers: int, quiet: bool
) -> Task:
    """Forge a task's scenarios and its suite, or read what the run has of them already.

    Raises:
        SuiteError: too few scenarios differ from those to train on.
        SmithError: not one scenario to train on passes, or what the agent raises about the brief itself.
    """
    first = number * STRIDE
    entries = forge_missing(store, brief, settings.scenarios, budget=budget, first=first, workers=workers, quiet=quiet)
    mine = [entry for entry in entries if first <= entry.index < first + settings.scenarios]  # later ones were asked for
    scenarios = tuple(store.scenario(i) for i in dict.fromkeys(entry.scenario for entry in mine) if i is not None)
    if not scenarios:
        raise SmithError(
            f"no scenario of '{brief.text}' passed",
            faults=[f"scenario {entry.index}: {entry.error}" for entry in mine],
            remedy="ask for fewer, smaller or other things, another robot or a larger budget",
        )
    tested = _suite(folder_of(store) / "suites" / f"task-{number}.json", brief, scenarios, settings, budget, workers)
    tested.guard(scenarios, store.run.seed)
    return Task(number, brief, scenarios, tested)


def _suite(
    path: Path, brief: Brief, scenarios: tuple[Scenario, ...], settings: FlywheelSettings, budget: float, workers: int
) -> Suite:
    if path.is_file():
        return Suite.load(path)
    held_out = forge_held_out(brief, settings.held_out, among=scenarios, budget=budget, workers=workers)
    timed = [limited(scenario, _length(scenario, brief.seed), settings.time_limit) for scenario in held_out]
    attempts = math.ceil(settings.final_evaluations / len(timed))
    levels: dict[int | None, list[Scenario]] = {
        level: [at_level(scenario, level) for scenario in timed] for level in range(1, LEVELS + 1)
    }
    made = suite(brief.text, levels, attempts, brief.seed)
    path.parent.mkdir(parents=True, exist_ok=True)
    made.save(path)
    return made


def _length(scenario: Scenario, seed: int) -> int:
    """Control steps that the demonstrator takes where nothing but its start varies."""
    session = Session(warm_world(scenario), seed=seed)
    recording = demonstrate(session, attempt_rng(seed, scenario.id, 0))
    return recording.length
