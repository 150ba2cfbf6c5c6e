"""Many worlds of one scenario, stepped together on threads in C, with the same bits as one by one.

Each world has its own variation (masses, frictions, places), its own clock and its own faults: a world that goes bad stops and
says why, the others go on. State is kept in rows, one a world; a `World` is filled from its row only when somebody looks at it.
Worlds with liquid or cloth, which do more than physics in a control step, step by themselves: the same results, less speed.

    batch = Batch(scenario, 64, threads=8)
    batch.reset([attempt_rng(seed, scenario, k) for k in range(64)])
    monitors = [GoalMonitor(goal, world) for world in batch.worlds]
    while batch.alive.any():
        batch.step(policy(batch.observe()))
        for k in np.flatnonzero(batch.alive):
            batch.world(k)  # its state is what the monitor looks at
            margin = monitors[k].update()
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields, replace
from typing import TypeVar

import mujoco
import numpy as np
from mujoco.batch import Batch as Engine
from mujoco.batch import SimulationError

from embodiedsmith.runtime.errors import UsageError
from embodiedsmith.spec import Scenario
from embodiedsmith.world import transforms as tf
from embodiedsmith.world.batch_warp import WarpEngine
from embodiedsmith.world.errors import SettleError, WorldFault
from embodiedsmith.world.world import CLOCK_DRIFT, CONTROL_HZ, STATE, World

Fault = WorldFault | SettleError
"""Why a world of a batch stands still."""
T = TypeVar("T")
F = TypeVar("F", WorldFault, SettleError)
Ids = Sequence[int] | np.ndarray | None
"""Numbers of worlds; None: all of them."""


@dataclass
class _Rows:
    """What observations are read from, one row a world; see `World.read`."""

    qpos: tf.Float
    qvel: tf.Float
    ctrl: tf.Float
    site_xpos: tf.Float
    site_xmat: tf.Float
    xpos: tf.Float
    xquat: tf.Float


class Batch:
    """Worlds of one scenario that are stepped together. Not thread-safe itself.

    Args:
        scenario: A laid-out scenario.
        count: How many worlds.
        threads: Threads that step them, the caller's included; 0: one a processor. Results do not depend on it.
        control_hz: Control steps a second; must divide `physics_hz`.
        physics_hz: Physics steps a second; None: as many as what is in the scene needs.
        device: "cpu", or "cuda" for a graphics card (`batch_warp`): many more worlds, in single precision, so not the same bits.

    Raises:
        CompileError: the scenario cannot be built.
        UsageError: there is no world to step, the rates do not divide, or there is no such device here.
    """

    def __init__(
        self,
        scenario: Scenario,
        count: int,
        *,
        threads: int = 1,
        control_hz: int = CONTROL_HZ,
        physics_hz: int | None = None,
        device: str = "cpu",
    ) -> None:
        if count < 1 or threads < 0:
            raise UsageError(
                f"a batch of {count} worlds on {threads} threads", remedy="ask for 1 or more worlds on 0 or more threads"
            )
        first = World(scenario, control_hz=control_hz, physics_hz=physics_hz)
        self.worlds: tuple[World, ...] = (first, *(_twin(first, control_hz, physics_hz) for _ in range(count - 1)))
        """The worlds, to build monitors and probes on. Their state is current only after `world(k)`."""
        self.count = count
        self.action_size, self.observation_size = first.action_size, first.observation_size
        self.observation_slices = first.observation_slices
        self.control_dt = first.control_dt
        self.faults: list[Fault | None] = [None] * count
        """Why a world stands still, None while it is well."""
        self.command = np.zeros((count, self.action_size))
        """The last action of every world."""
        self._plain = first.plain
        self._engine = self._start(threads, device)
        self._ahead = np.zeros(count, dtype=int)  # control steps by which a row is ahead of its world
        self._scratch = mujoco.MjData(first.model)
        self._index_rows(first.model)

    def _start(self, threads: int, device: str) -> Engine | WarpEngine:
        models = [world.model for world in self.worlds]
        if device != "cpu":
            if not self._plain:
                raise UsageError(f"worlds with liquid or cloth cannot be stepped on {device}", remedy="leave device at 'cpu'")
            return WarpEngine(models, device)
        engine = Engine(models[0], self.count, threads, True)
        engine.set_models(models)
        return engine

    def _index_rows(self, model: mujoco.MjModel) -> None:
        engine, n = self._engine, self.count
        self._state: tf.Float = engine.state
        self._time: tf.Float = engine.bind("time")
        self._applied: tf.Float = engine.bind("qfrc_applied")
        self._rows = _Rows(
            engine.bind("qpos"), engine.bind("qvel"), engine.bind("ctrl"),
            np.empty((n, model.nsite, 3)), np.empty((n, model.nsite, 9)),
            np.empty((n, model.nbody, 3)), np.empty((n, model.nbody, 4)),
        )  # fmt: skip

    # ------------------------------------------------------------------ reset and step

    def reset(self, rngs: Sequence[np.random.Generator], ids: Ids = None) -> tuple[SettleError | None, ...]:
        """Draw the variation of every world from its generator, put everything in place and let it settle, as `World.reset` does.

        Args:
            rngs: One generator a world of this call.
            ids: The worlds; the others stay as they are.

        Returns:
            For each world of this call why it does not come to rest, None if it does. One that does not stands still.
        """
        chosen = self._chosen(ids, len(rngs), "generators")
        results = self._alone(_reset, chosen, rngs)
        self._engine.set_models([world.model for world in self.worlds])  # it reads them again, with what was drawn
        return results

    def step(self, actions: np.ndarray, ids: Ids = None) -> tuple[Fault | None, ...]:
        """Advance one control step towards `actions`, as `World.step` does. Worlds that have gone bad stand still.

        Args:
            actions: One canonical action a world of this call, shape (n, action_size).
            ids: The worlds; the others stay as they are.

        Returns:
            For each world of this call why it stands still, None while it is well.
        """
        target = np.asarray(actions, dtype=np.float64)
        chosen = self._chosen(ids, len(target), "actions")
        if target.shape != (len(chosen), self.action_size):
            raise UsageError(f"actions have shape {target.shape}, expected ({len(chosen)}, {self.action_size})")
        for row in np.flatnonzero(~np.isfinite(target).all(axis=1)).tolist():
            k = int(chosen[row])
            self.faults[k] = self.faults[k] or WorldFault("world.bad_action", f"action is not finite: {target[row]}")
        rows = np.array([row for row in np.argsort(chosen).tolist() if self.faults[chosen[row]] is None], dtype=int)
        going, target = chosen[rows], target[rows]  # in the order of the engine
        if len(going) and self._plain:
            self._advance(going, target)
        elif len(going):
            self._alone(_step, going, target)
        return tuple(self.faults[k] for k in chosen.tolist())

    def _alone(self, do: Callable[[World, T], F | None], ids: np.ndarray, given: Iterable[T]) -> tuple[F | None, ...]:
        """Let worlds do something by themselves, on the threads, and take over what they come to."""
        with ThreadPoolExecutor(self._engine.nthread) as pool:  # the engine lets go of the interpreter while it steps
            results = tuple(pool.map(do, [self.worlds[k] for k in ids.tolist()], given))
        for k, fault in zip(ids.tolist(), results, strict=True):
            self._take(k, fault)
        return results

    def _advance(self, ids: np.ndarray, target: tf.Float) -> None:
        before = self._time[ids]
        controls = self.worlds[0].controls(self.command[ids], target)  # (n, substeps, nu)
        try:
            if self.worlds[0].scenario.randomization.torque_noise > 0:
                self._substeps(ids, controls)
            else:
                self._engine.rollout(controls.shape[1], controls, record=(), ids=ids)
        except SimulationError as error:
            for k in error.ids.tolist():
                self.faults[k] = WorldFault("world.engine_error", f"the engine failed: {error}")
        self.command[ids] = target
        self._ahead[ids] += 1
        self._check(ids, before)

    def _substeps(self, ids: np.ndarray, controls: tf.Float) -> None:
        """Substep by substep, for noise of a servo is in proportion to its effort at the time."""
        first, rows = self.worlds[0], self._rows
        noise = np.array([self.worlds[k].torque_noise(self._control_step(k)) for k in ids.tolist()])  # (n, substeps, joints)
        for k in range(controls.shape[1]):
            rows.ctrl[ids] = controls[:, k]
            self._applied[ids[:, None], first.robot_dof] = noise[:, k] * first.efforts(rows)[ids]
            self._engine.step(ids)

    def _check(self, ids: np.ndarray, before: tf.Float) -> None:
        """Find the worlds that have gone bad; they say themselves why."""
        finite = np.isfinite(self._rows.qpos[ids]).all(axis=1) & np.isfinite(self._rows.qvel[ids]).all(axis=1)
        drift = np.abs(self._time[ids] - before - self.control_dt)
        suspect = self._engine.warning[ids, :, 1].any(axis=1) | ~finite | ~(drift <= CLOCK_DRIFT)
        for row in np.flatnonzero(suspect).tolist():
            k = int(ids[row])
            try:
                self.world(k).check(float(before[row]))
            except WorldFault as fault:
                self.faults[k] = self.faults[k] or fault

    # ------------------------------------------------------------------ state

    def save(self, ids: Ids = None) -> tf.Float:
        """The states that replay, one row a world of this call, each what `World.save` gives of it; shape (n, ns)."""
        if self._plain and ids is None:
            return np.concatenate([self._state, self.command], axis=1)
        chosen = self._numbers(ids)
        if self._plain:
            return np.concatenate([self._state[chosen], self.command[chosen]], axis=1)
        return np.stack([self.worlds[k].save() for k in chosen.tolist()])

    def restore(self, states: np.ndarray, ids: Ids = None) -> None:
        """Return worlds to states that they gave, since the same reset; worlds that had gone bad are well again.

        Args:
            states: Rows of `save`, one a world of this call, shape (n, ns).
            ids: The worlds; the others stay as they are.
        """
        chosen = self._chosen(ids, len(states), "states")
        for k, state in zip(chosen.tolist(), np.asarray(states, dtype=np.float64), strict=True):
            self.worlds[k].restore(state)
            self._take(k, None)

    def _take(self, k: int, fault: Fault | None) -> None:
        """Take over the state that a world has come to by itself."""
        world = self.worlds[k]
        mujoco.mj_getState(world.model, world.data, self._state[k], STATE)
        self.command[k] = world.command
        self.faults[k] = fault
        self._engine.warning[k] = 0
        self._ahead[k] = 0

    # ------------------------------------------------------------------ look

    @property
    def alive(self) -> np.ndarray:
        """Which worlds are well, shape (count,)."""
        return np.array([fault is None for fault in self.faults])

    @property
    def time(self) -> tf.Float:
        """Seconds since reset of every world, shape (count,)."""
        return self._time.copy()

    def world(self, k: int) -> World:
        """The k-th world as it is now: to be looked at by predicates and renderers, not to be stepped or changed."""
        world = self.worlds[k]
        if self._ahead[k]:
            self._engine.get_data(k, world.data)
            mujoco.mj_kinematics(world.model, world.data)  # as after `World.step`
            world.command = self.command[k].copy()
            world.simulated += float(self._ahead[k]) * self.control_dt
            self._ahead[k] = 0
        return world

    def observe(self, ids: Ids = None) -> tf.Float:
        """What `World.observe` tells of every world of this call, shape (n, observation_size)."""
        chosen = self._numbers(ids).tolist()
        if not self._plain:
            return np.stack([self.worlds[k].observe() for k in chosen])
        rows = self._rows
        for k in chosen:
            seen = self._posed(k)
            rows.site_xpos[k], rows.site_xmat[k] = seen.site_xpos, seen.site_xmat
            rows.xpos[k], rows.xquat[k] = seen.xpos, seen.xquat
        if ids is not None:
            rows = _Rows(*(getattr(rows, part.name)[chosen] for part in fields(rows)))
        out = np.empty((len(chosen), self.observation_size))
        self.worlds[0].read(rows, out)
        for k, row in zip(chosen, out, strict=True):
            self.worlds[k].blur(row, self._control_step(k))
        return out

    # ------------------------------------------------------------------ parts

    def _posed(self, k: int) -> mujoco.MjData:
        """Data in which everything of a world is where it is now; the next call may overwrite it."""
        world, scratch = self.worlds[k], self._scratch
        if not self._ahead[k]:
            return world.data
        scratch.qpos[:] = self._rows.qpos[k]
        mujoco.mj_kinematics(world.model, scratch)
        return scratch

    def _control_step(self, k: int) -> int:
        return round(float(self._time[k]) / self.control_dt)

    def _numbers(self, ids: Ids) -> np.ndarray:
        return np.arange(self.count) if ids is None else np.asarray(ids, dtype=np.int32).reshape(-1)

    def _chosen(self, ids: Ids, given: int, what: str) -> np.ndarray:
        chosen = self._numbers(ids)
        if len(chosen) != given:
            raise UsageError(f"{given} {what} for {len(chosen)} worlds")
        if len(np.unique(chosen)) != len(chosen) or (len(chosen) and not 0 <= chosen.min() <= chosen.max() < self.count):
            raise UsageError(f"worlds {chosen.tolist()}: each may be named once, from 0 to {self.count - 1}")
        return chosen


def _twin(world: World, control_hz: int, physics_hz: int | None) -> World:
    """Another world of the same model, to be varied by itself; the first must not have been varied yet."""
    compiled = replace(world.compiled, model=copy.copy(world.model))
    return World(world.scenario, control_hz=control_hz, physics_hz=physics_hz, compiled=compiled)


def _reset(world: World, rng: np.random.Generator) -> SettleError | None:
    try:
        world.reset(rng)
    except SettleError as error:
        return error
    return None


def _step(world: World, action: tf.Float) -> WorldFault | None:
    try:
        world.step(action)
    except WorldFault as fault:
        return fault
    return None
