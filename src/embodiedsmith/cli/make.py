"""`smith make`, `forge`, `collect` and `resume`: from a brief to episodes."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import tyro
from tyro.conf import Positional

from embodiedsmith.cli.common import Command, Flag, Outcome, shown_counts
from embodiedsmith.runtime.errors import Interrupted
from embodiedsmith.spec.scenario import AgentName

if TYPE_CHECKING:
    from embodiedsmith.api import RunResult

MOST_WORKERS = 8
"""Processes started when nobody says how many: each holds some 300 MB."""

Mode = Literal["none", "resample", "joint"]
Episodes = Annotated[int, tyro.conf.arg(name="episodes", aliases=("-n",))]
Scenarios = Annotated[int, tyro.conf.arg(name="scenarios", aliases=("-n",))]


def usable_cores() -> int:
    """Cores this process may use, at most `MOST_WORKERS`."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)
    return min(cores, MOST_WORKERS)


@dataclass(frozen=True, kw_only=True)
class Make(Command):
    """A brief to scenarios, to verified episodes, to a LeRobot dataset and a report.

    Example: smith make "put the red mug in the top drawer and close it" -n 10 --out run
    """

    brief: Positional[str]
    """What is wanted, in English or Chinese."""
    out: Path
    """The run's folder; new or empty."""
    n: Episodes = 10
    """How many verified episodes."""
    embodiment: str = "panda"
    """Which robot; `smith robots` lists them."""
    agent: AgentName = "rule"
    """Who proposes scenarios."""
    mode: Mode = "joint"
    """`none`: one proposal; `resample`, `joint`: rejected proposals are drawn again, up to the budget."""
    workers: int | None = None
    """Processes; as many as there are usable cores (at most 8) when not given. The result does not depend on it."""
    scenarios: int | None = None
    """How many different scenarios to forge; one for every three episodes when not given."""
    budget: int = 20
    """Proposals drawn at most for one scenario."""
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
                out=self.out,
                seed=self.seed or 0,
                embodiment=self.embodiment,
                agent=self.agent,
                mode=self.mode,
                workers=self.workers or usable_cores(),
                scenarios=self.scenarios,
                budget=self.budget,
                export=not self.no_export,
                cameras=self.cameras,
                size=self.size,
                quiet=self.quiet,
            )
        return run_outcome(result)


@dataclass(frozen=True, kw_only=True)
class Forge(Command):
    """Scenarios with certificates only: each was done once in physics by the solver."""

    brief: Positional[str]
    """What is wanted, in English or Chinese."""
    out: Path
    """The run's folder; new or empty."""
    n: Scenarios = 1
    """How many scenarios."""
    embodiment: str = "panda"
    """Which robot; `smith robots` lists them."""
    agent: AgentName = "rule"
    """Who proposes scenarios."""
    mode: Mode = "joint"
    """`none`: one proposal; `resample`, `joint`: rejected proposals are drawn again, up to the budget."""
    workers: int | None = None
    """Processes; as many as there are usable cores (at most 8) when not given. The result does not depend on it."""
    budget: int = 20
    """Proposals drawn at most for one scenario."""

    def run(self) -> Outcome:
        """Forge them."""
        from embodiedsmith import api

        with resumable(self.out):
            result = api.forge(
                self.brief,
                n=self.n,
                out=self.out,
                seed=self.seed or 0,
                embodiment=self.embodiment,
                agent=self.agent,
                mode=self.mode,
                workers=self.workers or usable_cores(),
                budget=self.budget,
                quiet=self.quiet,
            )
        return run_outcome(result)


@dataclass(frozen=True, kw_only=True)
class Collect(Command):
    """More verified episodes from a run's scenarios. `smith export` then brings the dataset up to date."""

    folder: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="RUN")]
    """The run's folder."""
    n: Episodes
    """How many more episodes."""
    workers: int | None = None
    """Processes; as many as there are usable cores (at most 8) when not given. The result does not depend on it."""

    def run(self) -> Outcome:
        """Collect them."""
        from embodiedsmith import api

        with resumable(self.folder):
            workers = self.workers or usable_cores()
            result = api.collect(self.folder, n=self.n, workers=workers, seed=self.seed, quiet=self.quiet)
        return run_outcome(result)


@dataclass(frozen=True, kw_only=True)
class Resume(Command):
    """Finish whatever of a run was interrupted; the result is the same as if it had not been.

    Settings other than --workers are only compared with the run's own: another value is refused and nothing changes.
    """

    folder: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="RUN")]
    """The run's folder."""
    workers: int | None = None
    """Processes; as many as there are usable cores (at most 8) when not given. The result does not depend on it."""
    embodiment: str | None = None
    """The robot the run was made with."""
    size: int | None = None
    """The picture size the run was made with [pixels]."""
    fps: int | None = None
    """The control rate the run was made with [Hz]."""

    def run(self) -> Outcome:
        """Finish it."""
        from embodiedsmith import api

        with resumable(self.folder):
            result = api.resume(
                self.folder,
                workers=self.workers or usable_cores(),
                seed=self.seed,
                embodiment=self.embodiment,
                size=self.size,
                fps=self.fps,
                quiet=self.quiet,
            )
        return run_outcome(result)


def run_outcome(result: RunResult) -> Outcome:
    """What is said of a run after a verb, and whether it holds what was asked for."""
    what = "episodes" if result.attempts or result.episodes else "scenarios"
    rate = result.success_rate
    lines = [f"warning: {text}" for text in result.warnings]
    lines.append(f"{result.made} of {result.asked} {what} in {result.seconds:.1f} s, from {result.scenarios} scenarios")
    if rate is not None:
        lines.append(f"yield      {100 * rate:.0f} % of {result.attempts} demonstrations")
    if result.failures:
        lines.append(f"failures   {shown_counts(result.failures)}")
    if result.rejections:
        lines.append(f"rejected   {shown_counts(result.rejections)} (of {result.proposals} proposals)")
    if result.pictures is not None:
        lines.append(f"pictures   {result.pictures}")
    if result.report is not None:
        lines.append(f"report     {result.report} (with videos)")
    if result.dataset is not None:
        lines.append(f"dataset    {result.dataset} ({result.frames} frames)")
    if not result.complete:
        lines.append(f"fewer than asked: {result.made} of {result.asked} {what}; the lines above say why, the report says more")
    return Outcome(text="\n".join(lines), data=result.to_json(), exit_code=0 if result.complete else 1)


@contextmanager
def resumable(folder: Path) -> Iterator[None]:
    """Turn Ctrl-C into an error that says how to go on."""
    try:
        yield
    except KeyboardInterrupt:
        begun = (folder / "run.json").is_file()
        remedy = f"`smith resume {shlex.quote(str(folder))}` goes on" if begun else "nothing was written; type the command again"
        raise Interrupted("stopped; everything finished is kept", where=str(folder), remedy=remedy) from None
