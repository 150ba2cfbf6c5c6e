"""Scenarios at their levels: certified like any other before a policy meets them, and kept in the run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from embodiedsmith.episodes.store import EpisodeStore
from embodiedsmith.flywheel.certifying import certified
from embodiedsmith.flywheel.levels import at_level
from embodiedsmith.forge.critics import critics
from embodiedsmith.forge.state import Judge
from embodiedsmith.runtime.files import read_json, write_json
from embodiedsmith.runtime.seeds import generator
from embodiedsmith.spec import Scenario
from embodiedsmith.world.world import CONTROL_HZ

JUDGES = ("spec", "execution", "near_misses")
"""Critics of a scenario at a level: all have passed it as it was forged, and what varies more has to be done in physics. Those
that reckon with the worst draws of all at once do not fit: `World.reset` shrinks draws that push things together."""
LEAST_TIME = 4.0
"""[s] An attempt has at least."""


class Variants:
    """Levels of a run's scenarios, made when they are first asked for.

    Args:
        store: Of a run open for writing; the scenarios at their levels are released into it.
        time_limit: Times the length of a scenario's witness that an attempt may take.
    """

    def __init__(self, store: EpisodeStore, time_limit: float) -> None:
        self._store = store
        self._time_limit = time_limit
        self._file = store.run.path / "flywheel" / "variants.json"
        self._known: dict[str, str | None] = read_json(self._file) if self._file.is_file() else {}
        self._made: dict[str, Scenario] = {}

    def at(self, scenarios: Sequence[Scenario], level: int) -> list[Scenario]:
        """Those of the scenarios, at a level, that every critic lets pass; one that fails there is left out of that level."""
        found = (self._at(scenario, level) for scenario in scenarios)
        return [scenario for scenario in found if scenario is not None]

    def origin(self, identity: str) -> str:
        """Id of the scenario as forged that a scenario at a level was made from."""
        return next((key.partition("@")[0] for key, made in self._known.items() if made == identity), identity)

    def refused(self) -> list[str]:
        """Scenario and level, as "id@level", of what the critics refused."""
        return sorted(key for key, identity in self._known.items() if identity is None)

    def _at(self, scenario: Scenario, level: int) -> Scenario | None:
        key = f"{scenario.id}@{level}"
        if key not in self._known:
            self._known[key] = self._certified(scenario, level)
            self._file.parent.mkdir(exist_ok=True)
            write_json(self._file, self._known)
        identity = self._known[key]
        if identity is None:
            return None
        if identity not in self._made:
            self._made[identity] = self._store.scenario(identity)
        return self._made[identity]

    def _certified(self, scenario: Scenario, level: int) -> str | None:
        length = self._store.certificate(scenario.id).length
        variant = limited(at_level(scenario, level), length, self._time_limit)
        seed = self._store.run.seed
        judge = Judge([c for c in critics() if c.name in JUDGES], seed=seed, anticipate=False)
        made = certified(judge, variant, generator(seed, "variant", scenario.id, level))
        return None if made is None else self._store.release(made.scenario, made.certificate, made.witness)


def limited(scenario: Scenario, length: int, times: float) -> Scenario:
    """The scenario with a horizon of `times` a demonstration of `length` control steps, at most its own: nobody
    watches a policy that has lost its way to the end of a generous one."""
    limit = max(LEAST_TIME, math.ceil(times * length / CONTROL_HZ))
    task = scenario.task.model_copy(update={"horizon": min(float(limit), scenario.task.horizon)})
    return scenario.model_copy(update={"task": task})


def folder_of(store: EpisodeStore) -> Path:
    """Where a run keeps what is the flywheel's own."""
    return store.run.path / "flywheel"
