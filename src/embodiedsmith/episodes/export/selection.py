"""What goes into a dataset: which episodes, which columns, under which names, and when an export is refused."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from embodiedsmith import embodiments
from embodiedsmith.embodiments.description import Robot
from embodiedsmith.episodes.store import EpisodeStore
from embodiedsmith.runtime.errors import SmithError
from embodiedsmith.runtime.files import PART, read_json, storage_errors
from embodiedsmith.runtime.index import AttemptRow
from embodiedsmith.spec import Scenario
from embodiedsmith.tasks.recording import Float, Recording
from embodiedsmith.world.render import CameraMount

Pixels = NDArray[np.uint8]

STATE_PARTS = ("joint_position", "base_pose", "gripper")
"""Observations that make up `observation.state`, in this order, where there are such."""


class ExportError(SmithError):
    """The export was refused or cannot go on; nothing on disk changed."""


class Frames(Protocol):
    """Renders an episode's pixels from its states."""

    def __call__(
        self, recording: Recording, scenario: Scenario, cameras: Sequence[str], size: tuple[int, int]
    ) -> Mapping[str, Pixels]:
        """RGB by camera, shape (T, height, width, 3): frame t shows state t, before action t. `size` is (width, height)."""
        ...


class Mounts(Protocol):
    """Tells what the cameras of an episode are and where they are fixed."""

    def __call__(
        self, recording: Recording, scenario: Scenario, cameras: Sequence[str], size: tuple[int, int]
    ) -> Mapping[str, CameraMount]:
        """By camera; `size` is that of the pictures (width, height)."""
        ...


@dataclass(frozen=True, kw_only=True)
class ExportOptions:
    """What a dataset is to hold. Two exports to one folder must have the same."""

    cameras: tuple[str, ...] = ()
    """Cameras to render; none: a dataset without pictures."""
    size: tuple[int, int] = (128, 128)
    """Width and height of the pictures [pixels]; both even, as video needs."""
    keep: Literal["success", "all"] = "success"
    codec: Literal["h264", "av1"] = "h264"
    """Video compression (LeRobot only)."""
    language: Literal["en", "zh", "user"] = "en"
    """Language of the task text; "user" is what the user typed (English where nobody typed anything)."""
    slots: tuple[int, ...] | None = None
    """Only the episodes of these slots; None: all."""
    fps: int | None = None
    """Frames a second; None, or the rate the run was recorded at: frames are not made up or left out."""
    robot: str | None = None
    """None, or the robot the run was recorded with."""
    points: bool = False
    """Whether observations `points/<item>` say where everything that is not rigid is; cloth is recorded with them anyway."""
    data_mb: float = 100.0
    """Size at which a data file is closed and the next begun [MB]."""
    video_mb: float = 200.0
    """The same for video files [MB]."""

    def to_json(self) -> dict[str, Any]:
        """The options as JSON values; `points` only where they are wanted, as exports made before there were any have it."""
        listed = {k: list(v) if isinstance(v, tuple) else v for k, v in asdict(self).items()}
        return {k: v for k, v in listed.items() if k != "points" or v}


@dataclass(frozen=True, kw_only=True)
class Selection:
    """Episodes chosen for an export, and what all of them have in common."""

    rows: tuple[AttemptRow, ...]
    skipped: tuple[tuple[AttemptRow, str], ...]
    """Attempts that were asked for and cannot be in a dataset, with the reason."""
    robot: str
    fps: int
    scenarios: Mapping[str, Scenario] = field(repr=False)


@dataclass(frozen=True, kw_only=True)
class ExportedDataset:
    """What an export made (or found already made)."""

    path: Path
    episodes: int
    frames: int
    cameras: tuple[str, ...]
    skipped: tuple[str, ...]
    """Attempts that could not be in it, with the reason."""
    written: bool
    """False when the same dataset was there already."""


def select(store: EpisodeStore, options: ExportOptions) -> Selection:
    """The episodes the options ask for, in the order (slot, attempt).

    Raises:
        ExportError: Something asked for cannot be; lists every fault.
    """
    faults = []
    width, height = options.size
    if options.cameras and (width % 2 or height % 2 or min(width, height) < 16):
        faults.append(f"size {width} x {height}: give even numbers from 16 up")
    if len(set(options.cameras)) != len(options.cameras):
        faults.append(f"cameras {', '.join(options.cameras)}: each once")
    fps = round(store.control_hz)
    if options.fps is not None and options.fps != fps:
        faults.append(f"fps {options.fps}: the run was recorded at {fps}")
    rows = store.rows(outcome=None if options.keep == "all" else "success")
    if options.slots is not None:
        there = sorted({row.slot for row in rows})
        missing = sorted(set(options.slots) - set(there))
        if missing:
            shown = (
                f"{there[0]} to {there[-1]}"
                if there == list(range(there[0], there[0] + len(there)))
                else str(there)
                if there
                else "none"
            )
            faults.append(f"episode {', '.join(map(str, missing))}: there is none; the run has {len(there)} ({shown})")
        rows = [row for row in rows if row.slot in options.slots]
    skipped = [(row, reason) for row in rows if (reason := _unfit(row)) is not None]
    kept = tuple(row for row in rows if _unfit(row) is None)
    scenarios = {i: store.scenario(i) for i in sorted({row.scenario_id for row in kept})}
    robots = sorted({s.embodiment.name for s in scenarios.values()})
    if len(robots) > 1:
        faults.append(f"robots {', '.join(robots)}: a dataset is of one")
    if options.robot is not None and robots and options.robot not in robots:
        faults.append(f"robot {options.robot}: the run was recorded with {robots[0]}")
    if not kept and not faults:
        faults.append(
            f"no episode to export: {len(store.rows())} attempts, none that can be in a dataset of keep='{options.keep}'"
        )
    if faults:
        raise ExportError("the export is refused; nothing was changed", where=str(store.run.path), faults=faults)
    return Selection(rows=kept, skipped=tuple(skipped), robot=robots[0], fps=fps, scenarios=scenarios)


def _unfit(row: AttemptRow) -> str | None:
    if row.file is None:
        return "left no recording"
    if row.length == 0:
        return "ended before its first action"
    if row.failure_code is not None and row.failure_code.startswith("world."):
        return f"its world broke ({row.failure_code})"
    return None


def task_text(scenario: Scenario, language: Literal["en", "zh", "user"]) -> str:
    """The instruction of a scenario, in a language or as the user typed it."""
    task = scenario.task
    if language == "user" and task.user_text is not None:
        return task.user_text
    wanted: Literal["en", "zh"] = "en" if language == "user" else language
    if wanted not in task.instructions:
        raise ExportError(
            f"the scenario has no instruction in '{wanted}'", where=f"scenario {scenario.id}", choices=sorted(task.instructions)
        )
    return task.instructions[wanted]


def state(recording: Recording) -> Float:
    """What the robot feels of itself, shape (T+1, n): joints [rad], base (x, y [m], yaw [rad]), gripper (0 open, 1 closed)."""
    parts = [recording.observations[name] for name in STATE_PARTS if name in recording.observations]
    if not parts:
        raise ExportError(
            "the recording has none of the observations that make up the state",
            where=f"scenario {recording.scenario_id}",
            choices=STATE_PARTS,
        )
    return np.concatenate(parts, axis=1)


def common_observations(recordings: Iterator[Recording]) -> tuple[dict[str, int], list[str]]:
    """Observations every recording has with the same width, with that width; and those only some have."""
    common: dict[str, int] | None = None
    seen: set[str] = set()
    for recording in recordings:
        widths = {name: values.shape[1] for name, values in recording.observations.items() if values.shape[1] > 0}
        seen |= widths.keys()
        common = widths if common is None else {n: w for n, w in common.items() if widths.get(n) == w}
    kept = dict(sorted((common or {}).items()))
    return kept, sorted(seen - kept.keys())


def robot_axes(robot: str) -> dict[str, list[str]]:
    """Names of the dimensions that follow from a robot of the catalogue, by observation and for "action"; none for others."""
    try:
        described = embodiments.get(robot)
    except embodiments.UnknownRobot:
        return {}
    base = list(zip(("base_x", "base_y", "base_yaw"), ("m", "m", "rad"), strict=True)) if described.base.kind == "planar" else []
    joints = base + [(joint, "rad") for arm in described.arms for joint in arm.joints]
    positions = [f"{joint}_{unit}" for joint, unit in joints]
    return {
        "joint_position": positions,
        "joint_velocity": [f"{joint}_{unit}_per_s" for joint, unit in joints],
        "effort": [f"{joint}_{'N' if unit == 'm' else 'N_m'}" for joint, unit in joints],
        "action": positions + _hand_axes(described),
    }


def axis_names(observation: str, width: int, robot: Mapping[str, Sequence[str]], given: Mapping[str, Sequence[str]]) -> list[str]:
    """Names of an observation's dimensions, with units and order: the caller's own, else the robot's, else general ones.

    Raises:
        ExportError: The caller names another number of dimensions.
    """
    if observation in given:
        names = list(given[observation])
        if len(names) != width:
            raise ExportError(f"{len(names)} names for the {width} dimensions of '{observation}'", where=observation)
        return names
    if len(robot.get(observation, ())) == width:  # a recording of another form of the robot falls through
        return list(robot[observation])
    if observation == "gripper":
        return _gripper_axes(width)
    if width == 7 and observation.startswith(("tcp_pose", "items/")):
        return ["x_m", "y_m", "z_m", "qw", "qx", "qy", "qz"]
    if observation == "base_pose" and width == 3:
        return ["base_x_m", "base_y_m", "base_yaw_rad"]
    return [f"{observation.replace('/', '.')}_{i}" for i in range(width)]


def _hand_axes(robot: Robot) -> list[str]:
    """Names of an action's last components: one closing a gripper, one target a joint of a dexterous hand."""
    closings = iter(_gripper_axes(len(robot.arms)))
    axes: list[str] = []
    for arm in robot.arms:
        closing = next(closings)
        axes += [f"{name}_rad" for name in arm.gripper.actuators] if arm.gripper.dexterous else [closing]
    return axes


def _gripper_axes(count: int) -> list[str]:
    return ["gripper_0_open_1_closed"] if count == 1 else [f"gripper_{i}_0_open_1_closed" for i in range(count)]


@contextmanager
def written_aside(path: Path, *, folder: bool) -> Iterator[Path]:
    """A place beside `path` to write to, which replaces `path` when the block ends well and vanishes when it does not."""
    part = path.with_name(path.name + PART)
    with storage_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        _remove(part)
        if folder:
            part.mkdir()
        try:
            yield part
            old = path.with_name(path.name + ".old" + PART)
            _remove(old)
            if path.exists():
                path.rename(old)
            part.rename(path)
            _remove(old)
        except BaseException:
            _remove(part)
            raise


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def refuse_other(path: Path, manifest: Path, parameters: Mapping[str, Any]) -> dict[str, Any] | None:
    """The manifest of an export of the same parameters at `path`; None when nothing is there.

    Raises:
        ExportError: Something else is there, or an export of other parameters (lists the differences).
    """
    if not path.exists():
        return None
    if path.is_dir() and not any(path.iterdir()):
        return None
    if not manifest.is_file():
        raise ExportError(
            "there is something else than an export of this kind", where=str(path), remedy="give another output path"
        )
    found: dict[str, Any] = read_json(manifest)
    made = found.get("parameters", {})
    faults = [f"{k}: it has {made.get(k)}, asked for {v}" for k, v in parameters.items() if made.get(k) != v]
    if faults:
        raise ExportError(
            "there is an export of other parameters; nothing was changed",
            where=str(path),
            faults=faults,
            remedy="give another output path, or remove the old export",
        )
    return found


def provenance(row: AttemptRow, index: int) -> dict[str, Any]:
    """What ties an episode of a dataset to the run it came from."""
    return {
        "episode_index": index,
        "slot": row.slot,
        "scenario_id": row.scenario_id,
        "attempt": row.attempt,
        "seed": row.seed,
        "outcome": row.outcome,
        "failure": row.failure,
        "checksum": row.checksum,
    }
