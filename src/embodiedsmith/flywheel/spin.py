"""From briefs to a spun flywheel in a run's folder, and from an interrupted one to its end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from embodiedsmith.episodes import lessons
from embodiedsmith.episodes.store import EpisodeStore
from embodiedsmith.flywheel.dashboard import Dashboard
from embodiedsmith.flywheel.loop import Flywheel
from embodiedsmith.flywheel.settings import FlywheelSettings
from embodiedsmith.flywheel.tasks import prepare
from embodiedsmith.flywheel.variants import folder_of
from embodiedsmith.runtime.files import read_json, write_json
from embodiedsmith.runtime.run import Run
from embodiedsmith.spec import Brief
from embodiedsmith.world.world import CONTROL_HZ

KIND = "spin"
"""What a run's configuration says that it is for."""
RESULT = "result.json"


def configuration(briefs: Sequence[Brief], settings: FlywheelSettings, budget: float) -> dict[str, Any]:
    """The resolved configuration of a run that spins."""
    first = briefs[0]
    return {
        "kind": KIND, "brief": "; ".join(brief.text for brief in briefs), "briefs": [brief.text for brief in briefs],
        "seed": first.seed, "embodiment": first.embodiment, "agent": first.agent, "mode": first.mode, "budget": float(budget),
        "lessons": None, "scenarios": len(briefs) * settings.scenarios, "fps": CONTROL_HZ, "export": None, "episodes": 0,
        "settings": settings.model_dump(mode="json"),
    }  # fmt: skip


def spin(run: Run, *, threads: int = 1, workers: int = 1, quiet: bool = True) -> dict[str, Any]:
    """Do what is missing of a run's flywheel; gives its result, which `flywheel/result.json` keeps.

    The result is the same, whatever was interrupted where, and for any number of threads and workers.

    Args:
        run: Made with a `configuration`, open for writing.
        threads: Threads that step worlds.
        workers: Processes that forge and demonstrate.
        quiet: No progress.
    """
    settings = FlywheelSettings.model_validate(run.config["settings"])
    store = EpisodeStore(run)
    lessons.begin(store, None)
    kept = folder_of(store) / RESULT
    if kept.is_file():
        return dict(read_json(kept))
    tasks = [
        prepare(store, number, brief, settings, budget=float(run.config["budget"]), workers=workers, quiet=quiet)
        for number, brief in enumerate(_briefs(run.config))
    ]
    with ExitStack() as stack:
        shown = stack.enter_context(Dashboard(str(run.config["brief"]), settings.rounds, quiet=quiet))
        wheel = Flywheel(
            store, tasks, settings, threads=threads, workers=workers, budget=float(run.config["budget"]), dashboard=shown
        )
        result = {**wheel.spin(), "run": str(Path(run.path)), "page": str(wheel.folder / "page" / "index.html")}
    write_json(kept, result)
    return result


def _briefs(config: Mapping[str, Any]) -> list[Brief]:
    return [
        Brief(text=text, embodiment=config["embodiment"], agent=config["agent"], mode=config["mode"], seed=config["seed"])
        for text in config["briefs"]
    ]
