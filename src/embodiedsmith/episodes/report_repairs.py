"""Pictures of what the forge repaired: before and after each kept repair, with the finding that caused it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mujoco
from PIL import Image
from pydantic import TypeAdapter

from embodiedsmith.episodes.forging import Forged
from embodiedsmith.episodes.store import EpisodeStore
from embodiedsmith.forge.edits import EditError, replay
from embodiedsmith.runtime.errors import SmithError
from embodiedsmith.runtime.files import PART, storage_errors
from embodiedsmith.spec import Edit, Finding, Scenario
from embodiedsmith.world import World
from embodiedsmith.world.compile import joint_position
from embodiedsmith.world.render import WorldRenderer

PICTURE = (400, 300)
"""Width and height of one picture [pixels]."""
MOST_SCENARIOS = 5
"""Repaired scenarios shown, those with the most repairs."""
_EDITS = TypeAdapter(list[Edit])


@dataclass(frozen=True)
class Repaired:
    """One repair that was kept."""

    index: int
    """Which scenario."""
    code: str
    message: str
    """What was found."""
    why: str
    """What was done about it."""
    kinds: str
    """Kinds of edit."""
    reason: str
    """What the critics said then."""
    before: str | None
    """File of the picture before, relative to the report's folder; None: there was no layout yet."""
    after: str | None
    """File of the picture after; None: still no layout."""


def repaired(folder: Path, store: EpisodeStore, entries: Sequence[Forged]) -> list[Repaired]:
    """The kept repairs of the most repaired scenarios, with their pictures drawn into the report's folder; those there are kept.

    A scenario that cannot be drawn has no picture, but its words are there.
    """
    shown = [entry for entry in entries if entry.scenario is not None and entry.edits > 0]
    shown = sorted(shown, key=lambda entry: (-entry.edits, entry.index))[:MOST_SCENARIOS]
    if shown:
        (folder / "repairs").mkdir(exist_ok=True)
    return [repair for entry in sorted(shown, key=lambda e: e.index) for repair in _of(folder, store, entry)]


def _of(folder: Path, store: EpisodeStore, entry: Forged) -> list[Repaired]:
    accepted = _accepted(store, entry.index)
    scenario = Scenario.model_validate(accepted["draft"])
    found: list[Repaired] = []
    for number, step in enumerate(accepted["steps"]):
        if not step["kept"]:
            continue
        edits = _EDITS.validate_python(step["edits"])
        try:
            after = replay(scenario, edits)
        except EditError:  # made by an older version
            return found
        if step["kind"] is not None:
            finding = Finding.model_validate(step["cures"])
            name = f"repairs/{entry.index:04d}-{number:02d}"
            found.append(
                Repaired(
                    index=entry.index,
                    code=finding.code,
                    message=finding.message,
                    why=step["why"],
                    kinds=", ".join(dict.fromkeys(e.kind.replace("_", " ") for e in edits if e.kind != "lay_out")),
                    reason=step["reason"],
                    before=_drawn(folder, f"{name}-before.png", scenario, after),
                    after=_drawn(folder, f"{name}-after.png", after, after),
                )
            )
        scenario = after
    return found


def _accepted(store: EpisodeStore, index: int) -> dict[str, Any]:
    """The accepted proposal of a scenario's log: the line before the last."""
    path = store.run.path / "scenarios" / f"forge-{index:04d}.jsonl"
    with storage_errors(path):
        lines = path.read_text("utf-8").splitlines()
    return dict(json.loads(lines[-2]))


def _drawn(folder: Path, name: str, scenario: Scenario, view: Scenario) -> str | None:
    """A picture of a scenario as laid out, nothing moving yet, from the first camera of another; None: it cannot be drawn."""
    path = folder / name
    if path.exists():
        return name
    if scenario.embodiment.base is None or any(i.pose is None for i in scenario.scene.items) or not view.scene.cameras:
        return None
    looked_at = scenario.scene.model_copy(update={"cameras": view.scene.cameras, "lights": view.scene.lights})
    try:
        world = World(scenario.model_copy(update={"scene": looked_at}))
    except SmithError:
        return None
    as_laid_out(world)
    with WorldRenderer(world, *PICTURE, shadows=True, antialias=True) as renderer:
        image = Image.fromarray(renderer.rgb(view.scene.cameras[0].name))
    part = path.with_name(path.name + PART)
    image.save(part, format="PNG")
    part.rename(path)
    return name


def as_laid_out(world: World) -> None:
    """Put everything exactly where the scenario says, without physics."""
    for item in world.scenario.scene.items:
        for joint, fraction in item.joints.items():
            world.data.qpos[world.joint_qpos[f"{item.id}.{joint}"]] = joint_position(world.assets[item.id], joint, fraction)
    world.stand_ready(world.data, world.home)
    mujoco.mj_forward(world.model, world.data)
