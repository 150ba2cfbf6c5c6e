"""Follows one attempt in a world that somebody else resets and steps: watches the goal and remembers everything.

Success: the goal's margin is positive and the world at rest for `hold_steps` control steps in a row, and so at the end.
"""

from __future__ import annotations

import math

import numpy as np

from embodiedsmith.runtime.errors import UsageError
from embodiedsmith.tasks.goal import GoalMonitor
from embodiedsmith.tasks.recording import Event, Failure, Float, Recording
from embodiedsmith.tasks.touches import Hands
from embodiedsmith.world import SettleError, World, WorldFault

REST_SPEED = 0.02
"""[m/s] Fastest thing in a world counted as at rest (`World.speed`)."""
FIRST_ROWS = 512


class Watch:
    """The memory of one attempt after another: `begin` when the world has been reset, `took` after every control step, `finish`.

    `Session` steps a world by itself; rollouts step many at once and have each watched.

    Args:
        world: The world to look at.
        seed: Run seed, kept in the recording.
        attempt: Number of the attempt, kept in the recording.
    """

    def __init__(self, world: World, *, seed: int = 0, attempt: int = 0) -> None:
        self.world = world
        self.seed = seed
        self.attempt = attempt
        task = world.scenario.task
        self.monitor = GoalMonitor(task.goal, world, hold_steps=task.hold_steps)
        self.horizon_steps = math.ceil(task.horizon / world.control_dt - 1e-9)
        """Control steps after which the attempt has timed out."""
        self._hold_steps = task.hold_steps
        self._hands = Hands(world, self.monitor.probe)
        self._started = False
        self._capacity = 0
        self._clear()

    def _clear(self) -> None:
        self.steps = 0
        """Control steps taken."""
        self.margin = self.initial_margin = math.nan
        """The goal's margin now, and at the start."""
        self.events: list[Event] = []
        self.labels: list[str] = []
        self.fault: Failure | None = None
        """What went wrong with the world; None while it is well."""
        self._held = 0

    # ------------------------------------------------------------------ following

    def begin(self, state: Float | None = None, observed: Float | None = None) -> float:
        """An attempt begins in the world as it is; gives the goal's margin.

        Args:
            state: What the world would `save`, shape (ns,), if that is known.
            observed: What it would `observe`, shape (observation_size,), likewise.
        """
        self._clear()
        self.margin = self.initial_margin = self.monitor.reset()
        self._hands.reset()
        if self._capacity == 0:
            self._allocate(min(FIRST_ROWS, self.horizon_steps + 1))
        self._write_row(0, state, observed)
        self._started = True
        self._count_success()
        return self.margin

    def took(self, action: np.ndarray, label: str = "", state: Float | None = None, observed: Float | None = None) -> float:
        """The world has taken a control step and is well; gives the goal's margin after it.

        Args:
            action: The canonical action that it took, shape (world.action_size,).
            label: What the robot is doing.
            state: As for `begin`.
            observed: As for `begin`.
        """
        t = self.steps
        if t + 1 >= self._capacity:
            self._grow()
        self._actions[t] = action
        self.labels.append(label)
        self.steps = t + 1
        self.margin = self.monitor.update()
        self._write_row(t + 1, state, observed)
        self._count_success()
        for event in self._hands.update(t + 1):
            self.events.append(event)
        return self.margin

    def went_bad(self, fault: WorldFault | SettleError) -> None:
        """The world went bad, in a control step that is not recorded or before the first: only `finish` may follow."""
        if isinstance(fault, WorldFault):
            why = Failure(code=fault.code, step=self.steps, value=fault.value, limit=fault.limit, message=fault.what)
        else:
            first = fault.findings[0]
            why = Failure(
                code="world.not_settled", step=self.steps, subjects=first.subjects, value=first.value, limit=first.limit,
                message="; ".join(finding.message for finding in fault.findings),
            )  # fmt: skip
        self.fault = why
        self.note("world_fault", text=f"{why.code}: {why.message}")

    def abandon(self) -> None:
        """Forget the attempt in progress, if there is one."""
        self._started = False

    @property
    def running(self) -> bool:
        """Whether an attempt is in progress in a world that is well."""
        return self._started and self.fault is None

    def note(self, kind: str, subjects: tuple[str, ...] = (), text: str = "") -> None:
        """Remember that something happened now; kinds are those of `Event.kind`."""
        self.events.append(Event(step=self.steps, kind=kind, subjects=subjects, text=text))

    @property
    def succeeded(self) -> bool:
        """Whether the goal holds in a world at rest, now and for `hold_steps` control steps in a row."""
        return self._held >= self._hold_steps and self.fault is None

    @property
    def timed_out(self) -> bool:
        """Whether the task's horizon is used up."""
        return self.steps >= self.horizon_steps

    @property
    def state(self) -> Float:
        """State at the last good control step, shape (ns,)."""
        row: Float = self._states[self.steps].copy()
        return row

    @property
    def start(self) -> Float:
        """State at the beginning of the attempt, shape (ns,)."""
        row: Float = self._states[0].copy()
        return row

    @property
    def observed(self) -> Float:
        """What is observed now, shape (observation_size,); see `World.observe`."""
        row: Float = self._observations[self.steps].copy()
        return row

    @property
    def observation(self) -> dict[str, Float]:
        """What is observed now, by name, each of shape (d,)."""
        row = self.observed
        return {name: row[at] for name, at in self.world.observation_slices.items()}

    def finish(self, failure: Failure | None = None, cost: dict[str, float] | None = None) -> Recording:
        """What happened from the beginning until now; then another attempt may begin.

        The outcome is a success only if `succeeded` now and nobody says otherwise.

        Args:
            failure: Why it did not succeed, from whoever drove the robot. A bad world takes precedence. None: success if the goal
                holds, else the goal was not reached.
            cost: Seconds and counts, kept as they are.
        """
        if not self._started:
            raise UsageError("there is no attempt to finish", remedy="call reset() first")
        why = self.fault or failure
        if why is None and not self.succeeded:
            why = self._not_reached()
        if np.isfinite(self.world.least_margin):
            inside = f"{1e3 * self.world.least_margin:.0f} mm inside the feet's outline"
            self.note("balance", text=f"the centre of pressure stayed {inside}")
        n = self.steps
        observed = self._observations[: n + 1]
        self._started = False
        return Recording(
            scenario_id=self.world.scenario.id,
            seed=self.seed,
            attempt=self.attempt,
            states=self._states[: n + 1].copy(),
            actions=self._actions[:n].copy(),
            observations={name: observed[:, at].copy() for name, at in self.world.observation_slices.items()},
            margins=self._margins[: n + 1].copy(),
            predicate_names=self.monitor.predicate_names,
            predicate_margins=self._predicate_margins[: n + 1].copy(),
            labels=tuple(self.labels),
            events=tuple(self.events),
            outcome="success" if why is None else "failure",
            failure=why,
            cost=dict(cost or {}),
        )

    # ------------------------------------------------------------------ parts

    def _count_success(self) -> None:
        if self.margin > 0 and self.world.speed() < REST_SPEED:
            self._held += 1
            if self._held == self._hold_steps:
                self.note("goal_reached")
        else:
            self._held = 0

    def _not_reached(self) -> Failure:
        worst = int(np.argmin(self._predicate_margins[self.steps]))
        code = "goal.timeout" if self.timed_out else "goal.not_reached" if self.margin <= 0 else "goal.not_settled"
        said = {
            "goal.timeout": f"the horizon of {self.world.scenario.task.horizon:g} s is over",
            "goal.not_reached": "the goal does not hold at the end",
            "goal.not_settled": f"the goal holds, but not yet for {self._hold_steps} control steps at rest",
        }[code]
        name = self.monitor.predicate_names[worst]
        value = float(self._predicate_margins[self.steps, worst])
        return Failure(
            code=code, step=self.steps, subjects=(name,), value=self.margin, limit=0.0,
            message=f"{said}: its margin is {self.margin:.4g}, lowest is {name} with {value:.4g}",
        )  # fmt: skip

    def _write_row(self, row: int, state: Float | None, observed: Float | None) -> None:
        self._states[row] = self.world.save() if state is None else state
        self._observations[row] = self.world.observe() if observed is None else observed
        self._margins[row] = self.margin
        self._predicate_margins[row] = self.monitor.predicate_margins

    def _allocate(self, rows: int) -> None:
        world = self.world
        self._capacity = rows
        self._states = np.empty((rows, len(world.save())))
        self._observations = np.empty((rows, world.observation_size))
        self._actions = np.empty((rows, world.action_size))
        self._margins = np.empty(rows)
        self._predicate_margins = np.empty((rows, len(self.monitor.predicate_names)))

    def _grow(self) -> None:
        old = self._states, self._observations, self._actions, self._margins, self._predicate_margins
        rows = self._capacity
        self._allocate(2 * rows)
        for new, kept in zip(
            (self._states, self._observations, self._actions, self._margins, self._predicate_margins), old, strict=True
        ):
            new[:rows] = kept
