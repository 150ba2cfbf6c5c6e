"""Where the matter of an episode was: the points of cloth, soft bodies, ropes, grains and liquids, read off its states."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from embodiedsmith.episodes.staging import warm_world
from embodiedsmith.episodes.store import EpisodeStore
from embodiedsmith.runtime.index import AttemptRow
from embodiedsmith.spec import Scenario
from embodiedsmith.tasks import Recording

PREFIX = "points/"
"""Of the observations with points: `points/<item>`, world x, y, z [m] of one after the other, shape (T+1, 3 n)."""


def with_points(recording: Recording, scenario: Scenario) -> Recording:
    """The recording with an observation `points/<item>` for everything that is not rigid."""
    world = warm_world(scenario)
    items = [item for item, asset in world.assets.items() if asset.matter is not None]
    missing = [item for item in items if PREFIX + item not in recording.observations]
    if not missing:
        return recording
    rows: dict[str, list[np.ndarray]] = {PREFIX + item: [] for item in missing}
    for state in recording.states:
        world.restore(state)
        for item in missing:
            rows[PREFIX + item].append(world.matter(item).ravel())
    return replace(recording, observations={**recording.observations, **{name: np.array(row) for name, row in rows.items()}})


def loaded(store: EpisodeStore, row: AttemptRow, *, points: bool) -> Recording:
    """An attempt's recording, with points where they are wanted."""
    recording = store.load(row)
    return with_points(recording, store.scenario(row.scenario_id)) if points else recording
