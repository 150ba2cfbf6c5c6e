"""Do released scenes rest? Each is settled and then watched for five seconds with the robot holding still.

Measured are how deep things are ever in each other, how far free things stray, and how far doors and drawers creep. The scenes
are those of a run, or forged for it in autonomous mode.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from embodiedsmith import api
from embodiedsmith.episodes.forging import scenarios_of
from embodiedsmith.episodes.store import EpisodeStore
from embodiedsmith.runtime.run import Run
from embodiedsmith.runtime.seeds import generator
from embodiedsmith.spec import Scenario
from embodiedsmith.world import SettleError, World, WorldFault

WATCHED = 5.0
"""Time for which a settled scene is watched [s]."""
DEPTH = 0.001
"""Deepest that things may be in each other [m]."""
SHIFT = 0.005
"""Farthest that a free thing may stray [m]."""
CREEP = 0.01
"""Farthest that a door or drawer may move, as a fraction of its range."""


@dataclass(frozen=True, kw_only=True)
class Rest:
    """One scene, settled and watched."""

    scenario: str
    """Its id."""
    depth: float = 0.0
    """Deepest contact between different things, the robot's parts taken as one [m]."""
    deepest: tuple[str, ...] = ()
    """Between which."""
    shift: float = 0.0
    """Farthest that a free thing's root was from where it had settled [m]."""
    shifted: str = ""
    """Which thing."""
    turn: float = 0.0
    """Most that a free thing turned [rad]."""
    creep: float = 0.0
    """Most that a joint moved, as a fraction of its range."""
    crept: str = ""
    """Which joint."""
    fault: str = ""
    """Why it could not be watched: it did not settle, or the engine gave up."""

    @property
    def faults(self) -> list[str]:
        """What is beyond the limits."""
        found = [self.fault] if self.fault else []
        if self.depth > DEPTH:
            found.append(f"{' and '.join(self.deepest)} are {1000 * self.depth:.2f} mm in each other")
        if self.shift > SHIFT:
            found.append(f"{self.shifted} strays {1000 * self.shift:.1f} mm")
        if self.creep > CREEP:
            found.append(f"{self.crept} creeps {100 * self.creep:.1f} % of its range")
        return found


def measure(
    *, n: int = 300, seed: int = 0, run: Path | None = None, workers: int = 1, say: Callable[[str], None] = lambda _: None
) -> dict[str, Any]:
    """Watch the scenes of a run, or `n` new ones of autonomous mode.

    Args:
        n: Scenes forged, when there is no run.
        seed: Of the scenes forged, and of the resets.
        run: The folder of a run.
        workers: Processes that forge.
        say: Called with one line a scene that is not at rest.

    Returns:
        `scenes` watched, `at_rest` of them, the `limits`, the worst and the 95th percentile of `depth_m`, `shift_m`, `turn_rad`
        and `creep`, and `faults`: the scenes beyond a limit, each with its numbers.
    """
    if run is not None:
        return summary(watched(_scenes(run), seed, say))
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "run"
        api.forge_auto(n=n, out=made, seed=seed, workers=workers)
        return summary(watched(_scenes(made), seed, say))


def watched(scenarios: Iterable[Scenario], seed: int, say: Callable[[str], None]) -> list[Rest]:
    """Watch every scene; says what is beyond the limits."""
    found = []
    for scenario in scenarios:
        rest = watch(scenario, seed)
        found.append(rest)
        if rest.faults:
            say(f"{rest.scenario}: {'; '.join(rest.faults)}")
    return found


def watch(scenario: Scenario, seed: int) -> Rest:
    """Settle a scene as an attempt would and watch it for `WATCHED` seconds, the robot holding still."""
    world = World(scenario)
    try:
        world.reset(generator(seed, scenario.id, "rest"))
    except SettleError as error:
        return Rest(scenario=scenario.id, fault=str(error).splitlines()[0])
    free = [item.id for item in scenario.scene.items if not item.fixed]
    poses = np.array([world.item_pose(name) for name in free]).reshape(-1, 4, 4)
    openings = {name: world.joint(name)[1] for name in world.joint_qpos}
    depths, shifts, turns, creeps = _depths(world), np.zeros(len(free)), np.zeros(len(free)), dict.fromkeys(openings, 0.0)
    for _ in range(round(WATCHED / world.control_dt)):
        try:
            world.step(world.command)
        except WorldFault as fault:
            return Rest(scenario=scenario.id, fault=f"{fault.code}: {fault.what}")
        now = np.array([world.item_pose(name) for name in free]).reshape(-1, 4, 4)
        shifts = np.maximum(shifts, np.linalg.norm(now[:, :3, 3] - poses[:, :3, 3], axis=1))
        cosines = (np.einsum("kij,kij->k", now[:, :3, :3], poses[:, :3, :3]) - 1.0) / 2.0
        turns = np.maximum(turns, np.arccos(np.clip(cosines, -1.0, 1.0)))
        creeps = {name: max(creeps[name], abs(world.joint(name)[1] - opening)) for name, opening in openings.items()}
        depths = {pair: max(depths.get(pair, 0.0), depth) for pair, depth in (*depths.items(), *_depths(world).items())}
    pair = max(depths, key=lambda p: depths[p], default=())
    stray = int(np.argmax(shifts)) if free else -1
    joint = max(creeps, key=lambda name: creeps[name], default="")
    return Rest(
        scenario=scenario.id,
        depth=depths.get(pair, 0.0) if pair else 0.0,
        deepest=pair,
        shift=float(shifts[stray]) if free else 0.0,
        shifted=free[stray] if free else "",
        turn=float(turns.max(initial=0.0)),
        creep=creeps.get(joint, 0.0),
        crept=joint,
    )


def summary(rests: list[Rest]) -> dict[str, Any]:
    """What `measure` returns, of scenes watched."""
    numbers = {
        name: np.array([getattr(rest, field) for rest in rests if not rest.fault])
        for name, field in (("depth_m", "depth"), ("shift_m", "shift"), ("turn_rad", "turn"), ("creep", "creep"))
    }
    worst = {
        name: {"worst": round(float(v.max()), 6), "p95": round(float(np.quantile(v, 0.95)), 6)} if len(v) else None
        for name, v in numbers.items()
    }
    return {
        "scenes": len(rests),
        "at_rest": sum(not rest.faults for rest in rests),
        "limits": {"depth_m": DEPTH, "shift_m": SHIFT, "creep": CREEP, "seconds": WATCHED},
        **worst,
        "faults": [{**asdict(rest), "said": rest.faults} for rest in rests if rest.faults],
    }


def _depths(world: World) -> dict[tuple[str, str], float]:
    """Contacts between different things that are inside each other at all, with their depths at the last physics step [m]."""
    hand = {world.owners[k] for k in world.robot_owners}
    return {pair: depth for pair, depth in world.overlaps(0.0).items() if not set(pair) <= hand}


def _scenes(run: Path) -> list[Scenario]:
    with Run.open(run) as opened:
        return scenarios_of(EpisodeStore(opened))
