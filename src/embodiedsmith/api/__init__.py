"""The verbs: brief to scenarios, episodes, datasets and reports. `smith` is these functions with arguments parsed.

A run asked for fewer things than it could make is a result with `complete` false, never an exception: what was made is there and
the reasons are counted. Exceptions (`SmithError`) are for what could not be begun or gone on with.
"""

from __future__ import annotations

import math
import re
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from embodiedsmith import embodiments
from embodiedsmith.api.arguments import (
    ANY,
    SCENE_CAMERAS,
    brief_of,
    check_cameras,
    check_numbers,
    check_words,
    create_understood,
    given,
    heed_versions,
    new_run,
)
from embodiedsmith.assets.imported.importer import Axis, Wishes
from embodiedsmith.assets.imported.importer import import_asset as import_thing
from embodiedsmith.assets.imported.store import Imported
from embodiedsmith.assets.imported.trials import Physics
from embodiedsmith.embodiments import contact
from embodiedsmith.embodiments.imported.importer import Wishes as RobotWishes
from embodiedsmith.embodiments.imported.importer import import_robot as import_robot_file
from embodiedsmith.embodiments.imported.store import ImportedRobot
from embodiedsmith.episodes.auto import diversity_of, robots_of
from embodiedsmith.episodes.auto import forge_auto as forge_cells
from embodiedsmith.episodes.certified import recheck
from embodiedsmith.episodes.collect import collect as collect_episodes
from embodiedsmith.episodes.export.lerobot import export_lerobot
from embodiedsmith.episodes.export.robomimic import export_robomimic
from embodiedsmith.episodes.export.selection import ExportedDataset, ExportOptions, Pixels, select
from embodiedsmith.episodes.forging import Forged, forge_missing, scenarios_of
from embodiedsmith.episodes.lessons import begin as begin_lessons
from embodiedsmith.episodes.lessons import finish as finish_lessons
from embodiedsmith.episodes.pixels import Painter
from embodiedsmith.episodes.report import write_report
from embodiedsmith.episodes.staging import replay_difference
from embodiedsmith.episodes.store import EpisodeStore
from embodiedsmith.episodes.validate import validate_run
from embodiedsmith.episodes.validate_dataset import validate_dataset
from embodiedsmith.forge import BUDGET
from embodiedsmith.forge.lessons import load as load_lessons
from embodiedsmith.forge.lessons import store_path
from embodiedsmith.motion import Pushes
from embodiedsmith.runtime.errors import UsageError
from embodiedsmith.runtime.progress import Progress
from embodiedsmith.runtime.run import Run
from embodiedsmith.spec import Finding, Language, Scenario
from embodiedsmith.spec.scenario import AgentName, Mode
from embodiedsmith.spec.scene import ID_PATTERN
from embodiedsmith.tasks import Recording
from embodiedsmith.tasks.env import ScenarioEnv
from embodiedsmith.tasks.env import make_env as open_env
from embodiedsmith.world import CONTROL_HZ

Format = Literal["lerobot", "robomimic"]
CAMERAS = (*SCENE_CAMERAS, "wrist")
SIZE = 128
"""Width and height of exported pictures [pixels]."""
EPISODES_PER_SCENARIO = 3
"""Episodes for which `make` forges one scenario: variety of scenes costs more than variety within one."""


@dataclass(frozen=True, kw_only=True)
class RunResult:
    """Where a run stands after a verb."""

    run: Path
    asked: int
    """Episodes (or, after `forge`, scenarios) asked for."""
    made: int
    """How many of them there are."""
    scenarios: int
    episodes: int
    """Verified successful episodes in the run."""
    attempts: int
    """All demonstrations tried, failed ones included."""
    proposals: int
    """Scenario proposals drawn, rejected ones included."""
    failures: Mapping[str, int]
    """Failure code to number of failed demonstrations, most frequent first."""
    rejections: Mapping[str, int]
    """Finding code to number of rejected proposals, most frequent first."""
    warnings: tuple[str, ...]
    seconds: float
    """Wall clock of this call."""
    dataset: Path | None = None
    frames: int = 0
    """Frames in the dataset."""
    report: Path | None = None
    pictures: Path | None = None
    diversity: Mapping[str, Any] | None = None
    """How varied the scenarios are, in autonomous mode; see `forge.auto.diversity.Diversity`."""

    @property
    def complete(self) -> bool:
        """Whether there is as much as was asked for."""
        return self.made >= self.asked

    @property
    def success_rate(self) -> float | None:
        """Episodes over demonstrations tried; None when none was tried."""
        return self.episodes / self.attempts if self.attempts else None

    def to_json(self) -> dict[str, Any]:
        """The result as JSON values; the success rate is called `yield`."""
        values = {k: str(v) if isinstance(v, Path) else v for k, v in asdict(self).items()}
        rate = self.success_rate
        return {
            **values,
            "complete": self.complete,
            "yield": None if rate is None else round(rate, 4),
            "seconds": round(self.seconds, 2),
        }


# ---------------------------------------------------------------------- the verbs


def make(
    brief: str,
    *,
    n: int = 10,
    out: str | Path,
    seed: int = 0,
    embodiment: str = "panda",
    agent: AgentName = "rule",
    mode: Mode = "joint",
    workers: int = 1,
    scenarios: int | None = None,
    pushes: float = 0.0,
    budget: float = BUDGET,
    lessons: str | Path | None = None,
    export: bool = True,
    cameras: Sequence[str] = CAMERAS,
    size: int = SIZE,
    quiet: bool = True,
) -> RunResult:
    """A brief to scenarios, to `n` verified episodes, to a LeRobot dataset in `out`/exports/lerobot, to a report.

    Args:
        brief: What is wanted, in English or Chinese.
        n: Successful episodes.
        out: The run's folder; new or empty.
        seed: Of every random draw: equal arguments give equal episodes, byte for byte, for any number of workers.
        embodiment: A robot's name (`embodiedsmith.embodiments.names()`), or "any" where no dataset is written: the forge may
            change it.
        agent: Who proposes scenarios.
        mode: "joint": what critics find is repaired by edits of scene, robot and task, and the layout knows the task's needs. The
            others are there to compare with, with layouts that know nothing of the task: "none" draws one proposal,
            "resample" draws again, "scene" edits scene and robot only, "task" the task only.
        workers: Processes. A script that asks for more than one needs `if __name__ == "__main__":` around its main part.
        scenarios: Different scenarios to forge; None: one for every three episodes.
        pushes: How far the demonstrator is led astray now and then, to show how to find back, in parts of `motion.Pushes`: with
            1 a policy trained on the episodes is far better. Actions that lead astray have the subtask "pushed".
        budget: What forging one scenario may cost: simulated seconds and plans.
        lessons: File of lessons to work from and to add to (`embodiedsmith.forge.lessons.store_path()` is where the command line
            keeps them); None: work from none and keep none. The run keeps a copy of what it worked from.
        export: Whether to write the dataset.
        cameras: Cameras of the dataset.
        size: Width and height of its pictures [pixels].
        quiet: No progress on standard error.

    Raises:
        UsageError: Arguments that cannot be meant, all at once.
        NotUnderstood: Words of the brief are unknown; nothing was written.
        RunError: There is something in the folder already.
        ForgeError: Not one scenario passed within the budget.
    """
    started = time.monotonic()
    check_numbers(n=n, workers=workers, scenarios=scenarios, pushes=pushes, budget=budget, size=size)
    wanted = brief_of(brief, embodiment, agent, mode, seed)
    check_cameras(cameras if export else (), wanted.embodiment)
    config = {
        "brief": wanted.text, "seed": seed, "embodiment": wanted.embodiment, "agent": agent, "mode": mode,
        "budget": float(budget),
        "lessons": None if lessons is None else str(lessons),
        "scenarios": scenarios or math.ceil(n / EPISODES_PER_SCENARIO), "fps": CONTROL_HZ,
        "export": {"cameras": list(cameras), "size": size} if export else None, "episodes": n,
        "pushes": float(pushes),
    }  # fmt: skip
    with create_understood(out, config, wanted, quiet=quiet) as run:
        return _finish(run, workers=workers, quiet=quiet, started=started)


def forge(
    brief: str,
    *,
    n: int = 1,
    out: str | Path,
    seed: int = 0,
    embodiment: str = "panda",
    agent: AgentName = "rule",
    mode: Mode = "joint",
    workers: int = 1,
    budget: float = BUDGET,
    lessons: str | Path | None = None,
    quiet: bool = True,
) -> RunResult:
    """`n` scenarios with certificates in `out`/scenarios, without episodes; arguments and errors as for `make`."""
    started = time.monotonic()
    check_numbers(n=n, workers=workers, budget=budget)
    wanted = brief_of(brief, embodiment, agent, mode, seed)
    config = {
        "brief": wanted.text, "seed": seed, "embodiment": wanted.embodiment, "agent": agent, "mode": mode,
        "budget": float(budget),
        "lessons": None if lessons is None else str(lessons),
        "scenarios": n, "fps": CONTROL_HZ, "export": None, "episodes": 0,
    }  # fmt: skip
    with create_understood(out, config, wanted, quiet=quiet) as run:
        return _finish(run, workers=workers, quiet=quiet, started=started)


def forge_auto(
    *,
    n: int = 1,
    out: str | Path,
    seed: int = 0,
    embodiment: str = "any",
    workers: int = 1,
    budget: float = BUDGET,
    lessons: str | Path | None = None,
    quiet: bool = True,
) -> RunResult:
    """`n` scenarios with certificates in `out`/scenarios without a brief: settings, things, goals, robots and horizons that the
    run has least of are thought of, made and told apart. `RunResult.diversity` says how varied they are.

    Args:
        n: Scenarios.
        out: The run's folder; new or empty.
        seed: Of every random draw: equal arguments give equal scenarios, for any number of workers.
        embodiment: Name of the robot; `any`: all there are.
        workers: Processes. A script that asks for more than one needs `if __name__ == "__main__":` around its main part.
        budget: What trying one cell may cost: simulated seconds and plans.
        lessons: File of lessons about repairs to work from and add to; None: none.
        quiet: No progress on standard error.

    Raises:
        UsageError: Arguments that cannot be meant, all at once.
        RunError: There is something in the folder already.
    """
    started = time.monotonic()
    check_numbers(n=n, workers=workers, budget=budget)
    embodiment = embodiments.full_name(embodiment)
    robots_of(embodiment)
    config = {
        "brief": None, "seed": seed, "embodiment": embodiment, "agent": "auto", "mode": "joint", "budget": float(budget),
        "lessons": None if lessons is None else str(lessons),
        "scenarios": n, "fps": CONTROL_HZ, "export": None, "episodes": 0,
    }  # fmt: skip
    with new_run(out, config) as run:
        return _finish(run, workers=workers, quiet=quiet, started=started)


def collect(run: str | Path, *, n: int, workers: int = 1, seed: int | None = None, quiet: bool = True) -> RunResult:
    """`n` more successful episodes from a run's scenarios. The dataset is left as it is: `export` brings it up to date.

    Raises:
        RunMismatchError: `seed` is not the run's.
    """
    started = time.monotonic()
    check_numbers(n=n, workers=workers)
    with Run.open(run, given(seed=seed), write=True) as opened:
        heed_versions(opened, quiet)
        if opened.config.get("kind") == "spin":
            raise UsageError("is a flywheel's run", where=str(run), remedy="its rounds collect: spin another with more of them")
        opened.update(episodes=int(opened.config["episodes"]) + n)
        return _finish(opened, workers=workers, quiet=quiet, started=started, export_too=False)


def resume(
    run: str | Path,
    *,
    workers: int = 1,
    seed: int | None = None,
    embodiment: str | None = None,
    size: int | None = None,
    fps: int | None = None,
    quiet: bool = True,
) -> RunResult:
    """Finish whatever of a run was interrupted: the result is the same as if it had not been.

    Settings given are only compared with the run's own.

    Raises:
        RunMismatchError: A setting given is not the run's; nothing on disk changed.
    """
    started = time.monotonic()
    check_numbers(workers=workers)
    robot = None if embodiment is None else embodiments.full_name(embodiment)
    expected = given(seed=seed, embodiment=robot, fps=fps)
    if size is not None:
        with Run.open(run) as reading:
            expected["export"] = {**(reading.config["export"] or {"cameras": list(CAMERAS)}), "size": size}
    with Run.open(run, expected, write=True) as opened:
        heed_versions(opened, quiet)
        return _finish(opened, workers=workers, quiet=quiet, started=started)


def kind_of(run: str | Path) -> str:
    """What a run is for: "make" (episodes of a brief, or scenarios) or "spin" (a flywheel)."""
    with Run.open(run) as opened:
        return str(opened.config.get("kind", "make"))


def export(
    run: str | Path,
    *,
    format: Format = "lerobot",
    out: str | Path | None = None,
    cameras: Sequence[str] | None = None,
    size: int | None = None,
    keep: Literal["success", "all"] = "success",
    codec: Literal["h264", "av1"] = "h264",
    language: Literal["en", "zh", "user"] = "en",
    episodes: Sequence[int] | None = None,
    points: bool = False,
    seed: int | None = None,
    quiet: bool = True,
) -> ExportedDataset:
    """Write a run's episodes as a dataset, pictures rendered now from the stored states.

    Args:
        run: The run's folder.
        format: LeRobot v3.0 (a folder) or robomimic (an HDF5 file).
        out: Where to; None: the run's `exports/` folder.
        cameras: None: those the run was made with. None of them (`()`): no pictures.
        size: Width and height of the pictures [pixels]; None: what the run was made with.
        keep: Successes, or failures with their reason too.
        codec: Video compression, LeRobot only.
        language: Of the task text; "user" is what was typed.
        episodes: Only these slots; None: all.
        points: Observations of where all that is not rigid is: cloth, soft bodies, ropes, grains, liquids.
        seed: Compared with the run's.
        quiet: No progress on standard error.

    Raises:
        ExportError: What was asked for cannot be, or another export is there; nothing on disk changed.
    """
    with Run.open(run, given(seed=seed), write=out is None) as opened:  # elsewhere, a run that may only be read will do
        made = opened.config["export"] or {"cameras": list(CAMERAS), "size": SIZE}
        pixels = int(made["size"] if size is None else size)
        options = ExportOptions(
            cameras=tuple(made["cameras"] if cameras is None else cameras),
            size=(pixels, pixels),
            keep=keep,
            codec=codec,
            language=language,
            slots=None if episodes is None else tuple(episodes),
            points=points,
        )
        return _export(EpisodeStore(opened), format, options, None if out is None else Path(out), quiet)


def validate(path: str | Path, *, replay: bool = True, seed: int | None = None) -> list[Finding]:
    """Everything wrong with a run or a dataset: checksums, index, shapes, time, alignment, and replay to the same bits.

    Args:
        path: A run's folder, or a LeRobot dataset's.
        replay: Repeat every episode and every scenario's witness of a run in physics and compare, and show goals their near
            misses again.
        seed: Compared with the run's.
    """
    folder = Path(path)
    if (folder / "run.json").is_file():
        with Run.open(folder, given(seed=seed)) as run:
            return validate_run(run, replay_difference, recheck) if replay else validate_run(run)
    if (folder / "meta" / "info.json").is_file():
        return validate_dataset(folder)
    raise UsageError(
        "is neither a run nor a LeRobot dataset",
        where=str(folder),
        remedy="give a folder that holds run.json, or one that holds meta/info.json",
    )


def report(run: str | Path, *, seed: int | None = None) -> Path:
    """Write the run's report page and give its path."""
    with Run.open(run, given(seed=seed), write=True) as opened:
        return write_report(EpisodeStore(opened))


def lessons(file: str | Path | None = None) -> dict[str, Any]:
    """What repairs have taught: `file`, and `records`: context to kind of edit to how often it was tried and cured, at what cost,
    those that promise most first.

    Raises:
        UsageError: There is no such file.
    """
    path = store_path() if file is None else Path(file)
    if file is not None and not path.is_file():
        raise UsageError("there is no such file", where=str(path), remedy="`smith lessons` shows those kept across runs")
    records = load_lessons(path).records
    ranked = {
        context: {
            kind: record.model_dump(mode="json")
            for kind, record in sorted(kinds.items(), key=lambda entry: (-entry[1].cured / entry[1].tried, entry[0]))
        }
        for context, kinds in records.items()
    }
    return {"file": str(path), "records": ranked}


def import_asset(
    file: str | Path,
    *,
    name: str,
    words: Sequence[str] = (),
    words_zh: Sequence[str] = (),
    scale: float = 1.0,
    up: Axis | None = None,
    mass: float | None = None,
    density: float | None = None,
    material: str = "plastic",
    color: str | None = None,
    licence: str = "unknown",
    repair: bool = False,
    replace: bool = False,
) -> Imported:
    """Make the thing in a file (OBJ, STL, GLB, PLY, URDF or MJCF) a category that any brief may name.

    Args:
        file: What to import.
        name: What the thing is called: lower case, words joined by `_`.
        words: English words for it, singular, the preferred one first; the name when there are none.
        words_zh: Chinese words for it.
        scale: What lengths in the file are multiplied by to be metres.
        up: The axis of the file that points up; y in GLB, else z.
        mass: What it weighs [kg]; what the file says, else volume times density.
        density: [kg/m^3]; the material's.
        material: A material of the catalogue.
        color: What it looks like where the file does not say.
        licence: Under which terms the file may be used; recorded with the thing.
        repair: Mend what can be mended instead of refusing.
        replace: Whether it may take the place of an earlier import of that name.

    Raises:
        UsageError: A name, word, material or colour that cannot be taken; names them all.
        ImportRefused: The file cannot be imported as it is; names every fault with its remedy.
    """
    check_words(name, words or (name.replace("_", " "),), words_zh, material, color)
    check_numbers(scale=scale, mass=mass, density=density)
    given: dict[Language, tuple[str, ...]] = {"en": tuple(words), "zh": tuple(words_zh)}
    wishes = Wishes(
        name=name, words=given, scale=scale, up=up, mass=mass, density=density, material=material, color=color, licence=licence,
        repair=repair, replace=replace,
    )  # fmt: skip
    return import_thing(Path(file), wishes, Physics(options=contact.OPTIONS.apply, pad=contact.make_pad))


def import_robot(
    file: str | Path, *, name: str, palm: str | None = None, licence: str = "unknown", repair: bool = False, replace: bool = False
) -> ImportedRobot:
    """Make a robot of a URDF or MJCF file by asking the model what it is; see `smith robots import`.

    Args:
        file: What to import: an arm with a two-finger gripper that stands fast.
        name: What it is called: lower case, words joined by `_`.
        palm: The body that carries the gripper to use, where there are several.
        licence: Under which terms the file may be used; recorded with the robot.
        repair: Mend what can be mended instead of refusing.
        replace: Whether it may take the place of an earlier import of that name.

    Raises:
        UsageError: The name cannot be taken.
        ImportRefused: It cannot work as it is; names every fault with its remedy.
    """
    if not re.fullmatch(ID_PATTERN, name) or len(name) > 40 or name in (*embodiments.names(imported=False), ANY):
        remedy = "use lower-case letters, digits and _, and no name that is taken"
        raise UsageError(f"a robot cannot be called '{name}'", where="name", remedy=remedy)
    wishes = RobotWishes(name=name, palm=palm, licence=licence, repair=repair, replace=replace)
    return import_robot_file(Path(file), wishes)


def make_env(run: str | Path, scenario: int | str = 0, **options: Any) -> ScenarioEnv:
    """A scenario of a run as a Gymnasium environment; `scenario` is its place among the run's scenarios, or its id."""
    with Run.open(run) as opened:
        known = scenarios_of(EpisodeStore(opened))
    chosen = {s.id: s for s in known}.get(scenario) if isinstance(scenario, str) else None
    if isinstance(scenario, int) and 0 <= scenario < len(known):
        chosen = known[scenario]
    if chosen is None:
        choices = [f"{k} ({s.id})" for k, s in enumerate(known)]
        raise UsageError(f"no scenario {scenario!r}", where=str(run), choices=choices)
    return open_env(chosen, **options)


# ---------------------------------------------------------------------- the stages of a run


def _finish(run: Run, *, workers: int, quiet: bool, started: float, export_too: bool = True) -> RunResult:
    """Do what the run's configuration asks for and is not done yet: forge, collect, export, report."""
    if run.config.get("kind") == "spin":
        raise UsageError(
            "is a flywheel's run", where=str(run.path), remedy=f"`smith resume {run.path}` (api.learning.resume_spin) finishes it"
        )
    store = EpisodeStore(run)
    config = run.config
    kept = None if config["lessons"] is None else Path(config["lessons"])
    begin_lessons(store, kept)
    entries = _forge_missing(store, workers=workers, quiet=quiet)
    finish_lessons(store, kept)
    wanted = int(config["episodes"])
    found = scenarios_of(store)
    if wanted and found:
        pushes = Pushes.of(float(config.get("pushes", 0.0)))
        collect_episodes(store, found, wanted, pushes=pushes, workers=workers, quiet=quiet)
    exported: ExportedDataset | None = None
    if export_too and config["export"] is not None and store.rows(outcome="success"):
        size = int(config["export"]["size"])
        options = ExportOptions(cameras=tuple(config["export"]["cameras"]), size=(size, size))
        exported = _export(store, "lerobot", options, None, quiet)
    page = write_report(store)
    return _result(store, entries, exported, page, time.monotonic() - started)


def _forge_missing(store: EpisodeStore, *, workers: int, quiet: bool) -> list[Forged]:
    """Forge what the run lacks, for its brief or in autonomous mode."""
    config = store.run.config
    wanted, budget, embodiment = int(config["scenarios"]), float(config["budget"]), str(config["embodiment"])
    if config["brief"] is None:
        return forge_cells(store, wanted, embodiment=embodiment, budget=budget, workers=workers, quiet=quiet)
    brief = brief_of(config["brief"], embodiment, config["agent"], config["mode"], store.run.seed)
    return forge_missing(store, brief, wanted, budget=budget, workers=workers, quiet=quiet)


def _result(
    store: EpisodeStore, entries: Sequence[Forged], exported: ExportedDataset | None, page: Path, seconds: float
) -> RunResult:
    rows = store.rows()
    wanted = int(store.run.config["episodes"])
    made = len({entry.scenario for entry in entries if entry.scenario is not None})
    episodes = sum(row.outcome == "success" for row in rows)
    rejections: Counter[str] = Counter()
    for entry in entries:
        rejections.update(entry.rejections)
    warnings = [text for entry in entries for text in entry.warnings]
    warnings += [f"scenario {entry.index} was not made: {entry.error}" for entry in entries if entry.error is not None]
    return RunResult(
        run=store.run.path,
        asked=wanted or int(store.run.config["scenarios"]),
        made=episodes if wanted else made,
        scenarios=made,
        episodes=episodes,
        attempts=len(rows),
        proposals=sum(entry.proposals for entry in entries),
        failures=dict(Counter(row.failure_code for row in rows if row.failure_code is not None).most_common()),
        rejections=dict(rejections.most_common()),
        warnings=tuple(dict.fromkeys(warnings)),
        seconds=seconds,
        dataset=None if exported is None else exported.path,
        frames=0 if exported is None else exported.frames,
        report=page,
        pictures=page.with_name("scenes.png") if made else None,
        diversity=diversity_of(store).to_json() if store.run.config["brief"] is None else None,
    )


def _export(store: EpisodeStore, format: Format, options: ExportOptions, out: Path | None, quiet: bool) -> ExportedDataset:
    names = {"lerobot": "lerobot", "robomimic": "robomimic.hdf5"}
    if format not in names:
        raise UsageError(f"no export format '{format}'", choices=names)
    path = store.run.file("exports", names[format]) if out is None else out
    write = export_lerobot if format == "lerobot" else export_robomimic
    total = len(select(store, options).rows)
    with Painter() as painter, Progress("rendering", total, trials=False, quiet=quiet or not options.cameras) as progress:

        def frames(
            recording: Recording, scenario: Scenario, cameras: Sequence[str], size: tuple[int, int]
        ) -> Mapping[str, Pixels]:
            shown = painter.frames(recording, scenario, cameras, size)
            progress.update(True)
            return shown

        return write(store, path, options, frames, mounts=painter.mounts)
