"""A folder of imported episodes, from real robots or other runs, read back for the replay and held to the same filter.

What is read is a LeRobot v3.0 dataset with the columns that this product exports: the robot's own readings, poses of things
(`observation.items.*`), actions, and the goal's margin. Of each episode the scenario must be known, for what a thing is to the
task comes from there: by the id in `meta/episodes`, or the only scenario given. What a dataset does not tell is taken as
follows: the command before the first action is where the robot was measured to be, and the row after the last action is like
the last one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from embodiedsmith.embodiments.actions import ActionSpace
from embodiedsmith.episodes.export.selection import STATE_PARTS
from embodiedsmith.episodes.export.tables import numbers
from embodiedsmith.episodes.scores import Scores, score
from embodiedsmith.episodes.staging import warm_world
from embodiedsmith.evaluate.quality import Profile, Reference, quality
from embodiedsmith.flywheel.guards import data_faults
from embodiedsmith.flywheel.journal import Decision
from embodiedsmith.flywheel.levels import LEVELS
from embodiedsmith.flywheel.replay import REAL, Labelled, Replay
from embodiedsmith.flywheel.thresholds import Thresholds
from embodiedsmith.learn.observation import Encoder, ObservationConfig
from embodiedsmith.learn.samples import encode_stretches
from embodiedsmith.learn.stages import Stages
from embodiedsmith.runtime.errors import SmithError, UsageError
from embodiedsmith.runtime.files import read_json, storage_errors
from embodiedsmith.spec import Scenario, Sequence
from embodiedsmith.tasks.recording import Failure, Float, Recording
from embodiedsmith.world import World
from embodiedsmith.world.world import STATE

PART = "real"
STATE_COLUMN = "observation.state"


class RealDataError(SmithError):
    """A folder is not a dataset that can be read."""


@dataclass(frozen=True)
class RealEpisode:
    """One episode of a dataset."""

    index: int
    scenario: Scenario | None
    """None: it is not known."""
    recording: Recording | None
    """None: it cannot be read; `fault` says why."""
    fault: str = ""


def scenarios_near(folder: Path) -> dict[str, Scenario]:
    """Scenarios kept with a dataset by id: in its own folder `scenarios`, or in that of the run that it was exported from."""
    for place in (folder, *folder.resolve().parents[:2]):
        files = [path for path in sorted((place / "scenarios").glob("*.json")) if "." not in path.stem]
        if files:
            with storage_errors(place):
                found = [Scenario.from_json(path.read_text("utf-8")) for path in files]
            return {scenario.id: scenario for scenario in found}
    return {}


def episodes(folder: Path, scenarios: Mapping[str, Scenario]) -> Iterator[RealEpisode]:
    """The episodes of a dataset, one by one, those that cannot be read with the reason.

    Args:
        folder: Of a LeRobot v3.0 dataset.
        scenarios: By id; a single one is taken for every episode that names none of them.

    Raises:
        RealDataError: the folder is not such a dataset.
    """
    for entry, table, fault in _tables(folder):
        index = int(entry["episode_index"])
        scenario = scenarios.get(str(entry.get("scenario_id", "")))
        if scenario is None and len(scenarios) == 1:
            scenario = next(iter(scenarios.values()))
        if scenario is None:
            yield RealEpisode(index, None, None, f"its scenario {entry.get('scenario_id') or ''!r} is not known")
        elif table is None:
            yield RealEpisode(index, scenario, None, fault)
        else:
            made = _recording(entry, table, warm_world(scenario))
            yield RealEpisode(index, scenario, *((made, "") if isinstance(made, Recording) else (None, made)))


def take_in(
    replay: Replay,
    folder: Path,
    scenarios: Mapping[str, Scenario],
    *,
    round: int,
    thresholds: Thresholds,
    reference: Reference | None,
    profile: Profile,
    observation: ObservationConfig,
    action_space: str,
    task: str,
) -> tuple[Decision, ...]:
    """Put those episodes of a dataset into the replay that pass the filter which a round's own episodes pass.

    Args:
        replay: Where they go, as source `real`.
        folder: Of the dataset.
        scenarios: See `episodes`.
        round: As of which they count.
        thresholds: Of the task, as they stand.
        reference: What the task usually takes.
        profile: What counts how much for quality.
        observation: As the replay's features.
        action_space: As its actions.
        task: What they show.

    Raises:
        RealDataError: the folder is not such a dataset.
    """
    found: list[tuple[int, bool, float, float]] = []
    faults: list[str] = []
    for episode in episodes(folder, scenarios):
        if episode.recording is None:
            faults.append(f"episode {episode.index}: {episode.fault}")
            continue
        worth = quality(_scores(episode), reference, profile)
        ran = 1.0 if worth.efficiency is None else worth.efficiency
        found.append((episode.index, episode.recording.outcome == "success", worth.value, ran))
    columns = list(zip(*found, strict=True)) or [(), (), (), ()]
    _, choice = thresholds.choose(round, columns[1], columns[2], columns[3], task=task)
    kept = {index: (value, ran) for (index, _, value, ran), keep in zip(found, choice.keep.tolist(), strict=True) if keep}

    tongues: dict[str, tuple[Encoder, ActionSpace]] = {}

    def labelled() -> Iterator[Labelled]:
        for episode in episodes(folder, scenarios):
            if episode.index not in kept or episode.recording is None or episode.scenario is None:
                continue
            if episode.scenario.id not in tongues:
                tongues[episode.scenario.id] = _tongue(episode.scenario, observation, action_space)
            parts = encode_stretches(*tongues[episode.scenario.id], episode.recording, ())
            if wrong := data_faults(parts):
                faults.append(f"episode {episode.index}: {wrong[0]}")
                continue
            value, ran = kept[episode.index]
            for part in parts:
                yield Labelled(
                    episode=part, quality=value, efficiency=ran, level=LEVELS, task=task, source=REAL,
                    scenario=episode.scenario.id, attempt=episode.index,
                )  # fmt: skip

    added = replay.add(round, labelled())
    told = [
        Decision(round=round, part=PART, what="episode", after="left out", reason=fault, task=task) for fault in faults
    ]  # fmt: skip
    counts = {"read": len(found), "successes": sum(s for _, s, _, _ in found), "kept": added.numbers["added"] or 0.0}
    reason = f"{counts['kept']:.0f} of {len(found) + len(faults)} episodes of {folder.name} pass the filter"
    taken = Decision(
        round=round, part=PART, what="episodes", before=added.before, after=added.after, reason=reason, numbers=counts, task=task
    )
    return (taken, *told)


# ---------------------------------------------------------------------- reading


def _tables(folder: Path) -> Iterator[tuple[dict[str, Any], pa.Table | None, str]]:
    """Every episode's entry in `meta/episodes` and its rows, or why they cannot be read."""
    try:
        info = read_json(folder / "meta" / "info.json")
        version, data_path = str(info["codebase_version"]), str(info["data_path"])
        entries = [row for path in sorted((folder / "meta" / "episodes").rglob("*.parquet")) for row in _entries(path)]
    except (SmithError, OSError, KeyError, TypeError, pa.ArrowException) as error:
        raise RealDataError(
            "is not a LeRobot v3.0 dataset",
            where=str(folder),
            faults=[str(error)],
            remedy="`smith validate` says what is wrong with it",
        ) from error
    if not version.startswith("v3"):
        raise RealDataError(f"is a LeRobot dataset of version {version}; v3.0 is read", where=str(folder))
    open_name, rows = "", None
    for entry in sorted(entries, key=lambda e: int(e["episode_index"])):
        name = data_path.format(chunk_index=entry["data/chunk_index"], file_index=entry["data/file_index"])
        try:
            if rows is None or name != open_name:
                open_name, rows = name, pq.read_table(folder / name)
            mine = rows.filter(pa.array(rows["episode_index"].to_numpy() == entry["episode_index"]))
        except (OSError, pa.ArrowException, KeyError) as error:
            rows = None
            yield entry, None, f"{name} cannot be read: {error}"
        else:
            yield entry, mine, ""


def _entries(path: Path) -> list[dict[str, Any]]:
    table = pq.read_table(path)
    names = [name for name in table.column_names if not name.startswith(("stats/", "videos/", "cameras/"))]
    rows: list[dict[str, Any]] = table.select(names).to_pylist()
    return rows


def _recording(entry: Mapping[str, Any], table: pa.Table, world: World) -> Recording | str:
    """The recording that rows tell of, or why they do not."""
    length = len(table)
    if not length or length != int(entry["length"]):
        return f"it has {length} rows, meta/episodes says {entry['length']}"
    columns = {name: np.asarray(numbers(table[name]), dtype=np.float64) for name in table.column_names if name != "task"}
    missing = [name for name in ("action", "next.margin", STATE_COLUMN) if name not in columns]
    if missing:
        return f"columns are missing: {', '.join(missing)}"
    task = world.scenario.task
    if Stages(task).count > 1 and not isinstance(task.goal, Sequence):
        return "how far its stages were reached cannot be told from the margin of the whole goal"
    observed = _observations(columns, world)
    if isinstance(observed, str):
        return observed
    actions = columns["action"]
    if actions.shape[1] != world.action_size:
        return f"its actions have {actions.shape[1]} dimensions, {world.robot.name} takes {world.action_size}"
    rows = {name: np.concatenate([values, values[-1:]]) for name, values in observed.items()}
    if not all(np.isfinite(values).all() for values in (actions, *rows.values())):
        return "it holds numbers that are not finite"
    margins = columns["next.margin"][:, 0]
    success = str(entry.get("outcome", "")) == "success" or bool(columns.get("next.success", np.zeros((1, 1)))[-1, 0])
    states = np.zeros((length + 1, mujoco.mj_stateSize(world.model, STATE) + world.action_size))
    states[1:, -world.action_size :] = actions
    states[0, -world.action_size :] = _measured(rows, world)
    return Recording(
        scenario_id=world.scenario.id, seed=int(entry.get("seed") or 0), attempt=int(entry.get("attempt") or 0), states=states,
        actions=actions, observations=rows, margins=np.concatenate([margins[:1], margins]), predicate_names=(),
        predicate_margins=np.zeros((length + 1, 0)), labels=("",) * length, events=(),
        outcome="success" if success else "failure",
        failure=None if success else Failure(code=str(entry.get("failure_code") or "goal.not_reached"), message="as imported"),
    )  # fmt: skip


def _observations(columns: Mapping[str, Float], world: World) -> dict[str, Float] | str:
    """Observations by name, in the world's order; or which are missing."""
    widths = {name: at.stop - at.start for name, at in world.observation_slices.items()}
    parts = [name for name in STATE_PARTS if name in widths]
    state = columns[STATE_COLUMN]
    if state.shape[1] != sum(widths[name] for name in parts):
        return f"its {STATE_COLUMN} has {state.shape[1]} dimensions, {world.robot.name} has {sum(widths[n] for n in parts)}"
    split = dict(zip(parts, np.split(state, np.cumsum([widths[name] for name in parts])[:-1], axis=1), strict=True))
    found = {name: split.get(name, columns.get("observation." + name.replace("/", "."))) for name in widths}
    missing = sorted(name for name, values in found.items() if values is None or values.shape[1] != widths[name])
    if missing:
        return f"observations are missing or of another size: {', '.join(missing)}"
    return {name: values for name, values in found.items() if values is not None}


def _measured(rows: Mapping[str, Float], world: World) -> Float:
    """The canonical action that would keep the robot where it was measured to be at first."""
    closings = rows["gripper"][0].tolist()
    fingers = rows["finger_position"][0] if "finger_position" in rows else np.zeros(0)
    hands: list[list[float]] = []
    for hand, closing in zip(world.grippers, closings, strict=True):
        if hand.dexterous:
            hands.append(fingers[: hand.size].tolist())
            fingers = fingers[hand.size :]
        else:
            hands.append([min(max(closing, 0.0), 1.0)])
    return np.concatenate([rows["joint_position"][0], *hands])


def _scores(episode: RealEpisode) -> Scores:
    if episode.recording is None or episode.scenario is None:
        raise UsageError(f"episode {episode.index} cannot be read: {episode.fault}")
    return score(episode.recording, 1.0 / warm_world(episode.scenario).control_dt)


def _tongue(scenario: Scenario, observation: ObservationConfig, action_space: str) -> tuple[Encoder, ActionSpace]:
    world = warm_world(scenario)
    return Encoder(scenario, observation, world=world), ActionSpace(world.robot, action_space, world.control_dt)
