"""`smith make`, `forge`, `collect` and `resume`: from a brief to episodes."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from embodiedsmith.cli.common import Command, Flag, Outcome, shown_counts
from embodiedsmith.runtime.errors import Interrupted, UsageError
from embodiedsmith.spec.scenario import AgentName

if TYPE_CHECKING:
    from embodiedsmith.api import RunResult

MOST_WORKERS = 8
"""Processes started when nobody says how many: each holds some 300 MB."""

Mode = Literal["none", "resample", "scene", "task", "joint"]
Brief = Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="BRIEF")]
MaybeBrief = Annotated[str | None, tyro.conf.Positional, tyro.conf.arg(metavar="BRIEF")]
Episodes = Annotated[int, tyro.conf.arg(name="episodes", aliases=("-n",))]
Scenarios = Annotated[int, tyro.conf.arg(name="scenarios", aliases=("-n",))]


def usable_cores() -> int:
    """Cores this process may use, at most `MOST_WORKERS`."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)
    return min(cores, MOST_WORKERS)


@dataclass(frozen=True, kw_only=True)
class Working(Command):
    """Options of commands that start processes."""

    workers: int | None = None
    """Processes; as many as there are usable cores (at most 8) when not given. The result does not depend on it."""

    @property
    def processes(self) -> int:
        """How many to start."""
        return usable_cores() if self.workers is None else self.workers


@dataclass(frozen=True, kw_only=True)
class Forging(Working):
    """Options of commands that forge scenarios."""

    out: Path
    """The run's folder; new or empty."""
    agent: AgentName = "rule"
    """Who proposes scenarios."""
    mode: Mode = "joint"
    """`joint`: scene and task repair each other, and the layout knows the task's needs. To compare with, all with layouts
    that know nothing of it: `none` draws one proposal, `resample` draws again, `scene` edits scene and robot, `task` the task."""
    budget: float = 300.0
    """What forging one scenario may cost: simulated seconds and plans."""
    lessons: str | None = None
    """File of lessons about repairs to work from and add to; `none`: none. Without it: the one `smith lessons` shows."""

    @property
    def lessons_file(self) -> Path | None:
        """Where lessons are kept; None: nowhere."""
        from embodiedsmith.forge.lessons import store_path

        if self.lessons == "none":
            return None
        return store_path() if self.lessons is None else Path(self.lessons)

    @property
    def asked(self) -> dict[str, Any]:
        """These options as arguments of the verbs in `api`."""
        return {
            "out": self.out, "seed": self.seed or 0, "budget": self.budget, "lessons": self.lessons_file,
            "workers": self.processes, "quiet": self.quiet,
        }  # fmt: skip

    @property
    def answered(self) -> dict[str, Any]:
        """Who answers a brief, and how, as arguments of the verbs in `api`."""
        return {"agent": self.agent, "mode": self.mode}


@dataclass(frozen=True, kw_only=True)
class Make(Forging):
    """A brief to scenarios, to verified episodes, to a LeRobot dataset and a report.

    Example: smith make "put the red mug in the top drawer and close it" -n 10 --out run
    """

    brief: Brief
    """What is wanted, in English or Chinese."""
    embodiment: str = "panda"
    """Which robot; `smith robots` lists them."""
    n: Episodes = 10
    """How many verified episodes."""
    scenarios: int | None = None
    """How many different scenarios to forge; one for every three episodes when not given."""
    pushes: float = 0.0
    """How far the demonstrator is led astray now and then, to show how to find back: 1 is usual. Policies trained on such
    episodes are far better; what leads astray is the subtask `pushed`."""
    cameras: tuple[str, ...] = ("front", "over_shoulder", "wrist")
    """Cameras of the dataset."""
    size: int = 128
    """Width and height of the dataset's pictures [pixels]."""
    no_export: Flag = False
    """Leave the dataset out; `smith export` can make it later."""

    def run(self) -> Outcome:
        """Make it."""
        from embodiedsmith import api

        with resumable(self.out):
            result = api.make(
                self.brief,
                n=self.n,
                scenarios=self.scenarios,
                pushes=self.pushes,
                export=not self.no_export,
                cameras=self.cameras,
                size=self.size,
                embodiment=self.embodiment,
                **self.answered,
                **self.asked,
            )
        return run_outcome(result)


@dataclass(frozen=True, kw_only=True)
class Forge(Forging):
    """Scenarios with certificates only: each was done once in physics by the solver.

    Example: smith forge --auto -n 50 --out run
    """

    brief: MaybeBrief = None
    """What is wanted, in English or Chinese."""
    auto: Flag = False
    """Without a brief: settings, things, goals and horizons that the run has least of are thought of and made."""
    embodiment: str | None = None
    """Which robot; `smith robots` lists them. `any` lets the forge choose. Without it: `panda`, or `any` with --auto."""
    n: Scenarios = 1
    """How many scenarios."""

    def run(self) -> Outcome:
        """Forge them."""
        from embodiedsmith import api

        if self.auto == (self.brief is not None):
            raise UsageError(
                "give a brief or --auto, not both" if self.auto else "there is no brief",
                remedy='`smith forge "put the mug on the plate" --out RUN`, or `smith forge --auto -n 10 --out RUN`',
            )
        if self.auto and (self.agent, self.mode) != (Forge.agent, Forge.mode):
            raise UsageError("--auto has an agent and a mode of its own", remedy="leave out --agent and --mode")
        with resumable(self.out):
            if self.brief is None:
                result = api.forge_auto(n=self.n, embodiment=self.embodiment or "any", **self.asked)
            else:
                robot = self.embodiment or "panda"
                result = api.forge(self.brief, n=self.n, embodiment=robot, **self.answered, **self.asked)
        return run_outcome(result)


@dataclass(frozen=True, kw_only=True)
class Collect(Working):
    """More verified episodes from a run's scenarios. `smith export` then brings the dataset up to date."""

    folder: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="RUN")]
    """The run's folder."""
    n: Episodes
    """How many more episodes."""

    def run(self) -> Outcome:
        """Collect them."""
        from embodiedsmith import api

        with resumable(self.folder):
            result = api.collect(self.folder, n=self.n, workers=self.processes, seed=self.seed, quiet=self.quiet)
        return run_outcome(result)


@dataclass(frozen=True, kw_only=True)
class Resume(Working):
    """Finish whatever of a run was interrupted; the result is the same as if it had not been.

    Settings other than --workers are only compared with the run's own: another value is refused and nothing changes.
    """

    folder: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="RUN")]
    """The run's folder."""
    embodiment: str | None = None
    """The robot the run was made with."""
    size: int | None = None
    """The picture size the run was made with [pixels]."""
    fps: int | None = None
    """The control rate the run was made with [Hz]."""

    def run(self) -> Outcome:
        """Finish it."""
        from embodiedsmith import api

        if api.kind_of(self.folder) == "spin":
            return self._spin()
        with resumable(self.folder):
            result = api.resume(
                self.folder,
                workers=self.processes,
                seed=self.seed,
                embodiment=self.embodiment,
                size=self.size,
                fps=self.fps,
                quiet=self.quiet,
            )
        return run_outcome(result)

    def _spin(self) -> Outcome:
        from embodiedsmith.api.learning import resume_spin
        from embodiedsmith.cli.learning import shown

        with resumable(self.folder):
            made = resume_spin(
                self.folder, threads=usable_cores(), workers=self.processes, seed=self.seed, embodiment=self.embodiment,
                quiet=self.quiet,
            )  # fmt: skip
        return Outcome(text=shown(made), data=made)


def run_outcome(result: RunResult) -> Outcome:
    """What is said of a run after a verb, and whether it holds what was asked for."""
    what = "episodes" if result.attempts or result.episodes else "scenarios"
    rate = result.success_rate
    lines = [f"warning: {text}" for text in result.warnings]
    source = f", from {result.scenarios} scenario{'' if result.scenarios == 1 else 's'}" if what == "episodes" else ""
    lines.append(f"{result.made} of {result.asked} {what} in {result.seconds:.1f} s{source}")
    if rate is not None:
        lines.append(f"yield      {100 * rate:.0f} % of {result.attempts} demonstrations")
    if result.failures:
        lines.append(f"failures   {shown_counts(result.failures)}")
    if result.rejections:
        lines.append(f"rejected   {shown_counts(result.rejections)} (of {result.proposals} proposals)")
    if result.diversity is not None:
        lines += shown_diversity(result.diversity)
    if result.pictures is not None:
        lines.append(f"pictures   {result.pictures}")
    if result.report is not None:
        lines.append(f"report     {result.report}{' (with videos)' if result.attempts else ''}")
    if result.dataset is not None:
        lines.append(f"dataset    {result.dataset} ({result.frames} frames)")
    if not result.complete:
        lines.append(f"fewer than asked: {result.made} of {result.asked} {what}; the lines above say why, the report says more")
    return Outcome(text="\n".join(lines), data=result.to_json(), exit_code=0 if result.complete else 1)


def shown_diversity(found: Mapping[str, Any]) -> list[str]:
    """How varied the scenarios of autonomous mode are, in a few lines."""
    cells = f"{found['cells_filled']} cells, {found['pairs_filled']} of {found['pairs_reachable']} pairs of values"
    return [
        f"variety    {found['goals']} goals, {found['goal_shapes']} shapes, {cells}; asset Jaccard {found['asset_jaccard']:.2f},"
        f" self-BLEU {found['self_bleu']:.2f}, embedding similarity {found['embedding_similarity']:.2f}",
        *(f"{axis:<10} {shown_counts(found[axis])}" for axis in ("horizons", "settings", "embodiments", "predicates")),
    ]


@contextmanager
def resumable(folder: Path) -> Iterator[None]:
    """Turn Ctrl-C into an error that says how to go on."""
    try:
        yield
    except KeyboardInterrupt:
        begun = (folder / "run.json").is_file()
        remedy = f"`smith resume {shlex.quote(str(folder))}` goes on" if begun else "nothing was written; type the command again"
        raise Interrupted("stopped; everything finished is kept", where=str(folder), remedy=remedy) from None
