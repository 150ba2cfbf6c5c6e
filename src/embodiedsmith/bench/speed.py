"""How fast it is on this machine: one process, one core, everything a user waits for included.

Rates count accepted episodes only; the time of planning, of failed attempts and of writing to the disk is in them, that of
forging the scenarios is not (it is `scenario_seconds`). Where two things are compared, they run in turns within one process, so
that a machine that slows down slows both.
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import mujoco
import numpy as np

from embodiedsmith.episodes.collect import collect
from embodiedsmith.episodes.export.lerobot import export_lerobot
from embodiedsmith.episodes.export.selection import ExportOptions
from embodiedsmith.episodes.pixels import Painter
from embodiedsmith.episodes.staging import attempt_rng, warm_world
from embodiedsmith.episodes.store import EpisodeStore
from embodiedsmith.forge.loop import ForgeResult, forge
from embodiedsmith.runtime.run import Run
from embodiedsmith.spec import Brief, Scenario
from embodiedsmith.tasks import Recording, Session
from embodiedsmith.world import CONTROL_HZ
from embodiedsmith.world.render import WorldRenderer

ONE_STEP = "stack the blue block on the green block"
FOUR_STEPS = "put the red mug in the top drawer and close it"
SCENARIOS = 2
"""Scenarios forged for each task."""
TWO_CAMERAS = ("front", "wrist")
BLOCK = 10
"""Control steps between taking turns."""
FRAMES = 100


@dataclass(frozen=True, kw_only=True)
class Speed:
    """What `smith bench speed` measures; rates are of one core."""

    step_ratio: float
    """Rate of the full control step (physics, checks, observation, goal, recording) over that of its `mj_step`s alone."""
    control_steps_per_second: float
    """Full control steps a second, of twelve physics steps each."""
    episodes_per_hour_state: float
    """Accepted episodes an hour of the one-step task, stored without pictures."""
    episodes_per_hour_two_cameras: float
    """The same, with two 128 x 128 cameras rendered, encoded and exported."""
    four_step_episodes_per_hour: float
    """Accepted episodes an hour of the four-step task, stored without pictures."""
    one_step_yield: float
    """Accepted episodes over attempts of the one-step task."""
    four_step_yield: float
    """Accepted episodes over attempts of the four-step task."""
    frame_ms: float
    """One 128 x 128 frame of the four-step task without shadows [ms]."""
    scenario_seconds: float
    """Forging one scenario, over both tasks [s]."""
    peak_mb: float
    """Most memory this process held [MB]."""
    cpu_share: float
    """CPU time over wall clock of the whole benchmark: well below 1, others used the core meanwhile and the rates are too low."""
    episodes: int
    """Episodes each rate is measured over."""

    def to_json(self) -> dict[str, float]:
        """The numbers by name, rounded to four significant digits."""
        return {name: float(f"{value:.4g}") for name, value in asdict(self).items()}


def measure(*, episodes: int = 30, seed: int = 0, say: Callable[[str], None] = lambda text: None) -> Speed:
    """Run the benchmark in a temporary folder.

    Args:
        episodes: Accepted episodes to measure each rate over.
        seed: Of every draw.
        say: Told what is being measured.

    Raises:
        SmithError: A task could not be forged or collected here.
    """
    with tempfile.TemporaryDirectory() as folder:
        started, worked = time.perf_counter(), time.process_time()
        say(f"forging {SCENARIOS} scenarios each of two tasks")
        one = [forge(Brief(text=ONE_STEP, seed=seed), seed=seed, index=k) for k in range(SCENARIOS)]
        four = [forge(Brief(text=FOUR_STEPS, seed=seed), seed=seed, index=k) for k in range(SCENARIOS)]
        scenario_seconds = (time.perf_counter() - started) / (2 * SCENARIOS)
        say(f"{episodes} episodes of the one-step task, then their export")
        one_rate, one_yield, export_seconds = _rate(Path(folder) / "one", one, episodes, seed, export=True)
        say(f"{episodes} episodes of the four-step task")
        four_rate, four_yield, _ = _rate(Path(folder) / "four", four, episodes, seed, export=False)
        say("control steps and frames")
        ratio, steps = _step_ratio(four[0].scenario, _recording(Path(folder) / "four"))
        frame = _frame_seconds(four[0].scenario)
        share = (time.process_time() - worked) / (time.perf_counter() - started)
    return Speed(
        step_ratio=ratio,
        control_steps_per_second=steps,
        episodes_per_hour_state=3600.0 * one_rate,
        episodes_per_hour_two_cameras=3600.0 / (1.0 / one_rate + export_seconds),
        four_step_episodes_per_hour=3600.0 * four_rate,
        one_step_yield=one_yield,
        four_step_yield=four_yield,
        frame_ms=1000.0 * frame,
        scenario_seconds=scenario_seconds,
        peak_mb=_peak_mb(),
        cpu_share=share,
        episodes=episodes,
    )


def _rate(folder: Path, forged: list[ForgeResult], episodes: int, seed: int, *, export: bool) -> tuple[float, float, float]:
    """Accepted episodes a second, their share of the attempts, and seconds an episode takes to export with two cameras."""
    with Run.create(folder, {"seed": seed, "episodes": episodes, "fps": CONTROL_HZ}) as run:
        store = EpisodeStore(run)
        for made in forged:
            store.release(made.scenario, made.certificate, made.witness)
        done = collect(store, [made.scenario for made in forged], episodes, quiet=True)
        seconds = 0.0
        if export:
            started = time.perf_counter()
            with Painter() as painter:
                export_lerobot(
                    store, folder / "dataset", ExportOptions(cameras=TWO_CAMERAS), painter.frames, mounts=painter.mounts
                )
            seconds = (time.perf_counter() - started) / max(done.episodes, 1)
    return max(done.episodes, 1e-9) / done.seconds, done.episodes / max(done.attempts, 1), seconds


def _recording(folder: Path) -> Recording:
    """The first successful episode of the run's first scenario."""
    with Run.open(folder) as run:
        return next(recording for row, recording in EpisodeStore(run).episodes(outcome="success") if row.slot % SCENARIOS == 0)


def _step_ratio(scenario: Scenario, recording: Recording) -> tuple[float, float]:
    """Rate of full control steps over that of the same number of `mj_step`s from the same states, and the full rate [1/s]."""
    world = warm_world(scenario)
    session = Session(world)
    raw = mujoco.MjData(world.model)
    full_seconds = raw_seconds = 0.0
    blocks = recording.length // BLOCK
    for repeat in range(3):
        session.reset(attempt_rng(recording.seed, recording.scenario_id, recording.attempt))
        for block in range(blocks):
            mujoco.mj_copyData(raw, world.model, world.data)
            started = time.perf_counter()
            mujoco.mj_step(world.model, raw, BLOCK * world.substeps)
            between = time.perf_counter()
            for action in recording.actions[block * BLOCK : (block + 1) * BLOCK]:
                session.step(action)
            ended = time.perf_counter()
            if repeat:  # the first round warms caches
                raw_seconds += between - started
                full_seconds += ended - between
    return raw_seconds / full_seconds, 2 * blocks * BLOCK / full_seconds


def _frame_seconds(scenario: Scenario) -> float:
    world = warm_world(scenario)
    world.reset(np.random.default_rng(0))
    with WorldRenderer(world, 128) as renderer:
        renderer.rgb("front")  # the first frame uploads meshes
        started = time.perf_counter()
        for _ in range(FRAMES):
            renderer.rgb("front")
        return (time.perf_counter() - started) / FRAMES


def _peak_mb() -> float:
    """Largest resident memory of this process [MB]: Linux counts it in KiB, macOS in bytes."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / 1e6 if sys.platform == "darwin" else most * 1024 / 1e6
