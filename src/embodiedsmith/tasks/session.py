"""One attempt: resets a world, steps it, watches the goal, and remembers everything.

Success: the goal's margin is positive and the world at rest for `hold_steps` control steps in a row, and so at the end.
"""

from __future__ import annotations

import math

import numpy as np

from embodiedsmith.runtime.errors import UsageError
from embodiedsmith.tasks.goal import GoalMonitor
from embodiedsmith.tasks.probe import Probe
from embodiedsmith.tasks.recording import Event, Failure, Float, Recording
from embodiedsmith.world import World, WorldFault

REST_SPEED = 0.02
"""[m/s] Fastest thing in a world counted as at rest (`World.speed`)."""
FIRST_ROWS = 512
STEADY = 3
"""Control steps for which a change of touch must last to be an event: contacts flicker while things slide."""


class Session:
    """An attempt in progress. Call `reset`, then `step` as often as wanted, then `finish`; then `reset` again.

    Args:
        world: The world to use; nobody else steps it meanwhile.
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

    # ------------------------------------------------------------------ running

    def reset(self, rng: np.random.Generator) -> float:
        """Begin an attempt with the variation drawn from `rng`; gives the goal's margin at the start.

        Raises:
            SettleError: the world does not come to rest.
        """
        self._started = False
        self.world.reset(rng)
        self._clear()
        self.margin = self.initial_margin = self.monitor.reset()
        self._hands.reset()
        if self._capacity == 0:
            self._allocate(min(FIRST_ROWS, self.horizon_steps + 1))
        self._write_row(0)
        self._started = True
        self._count_success()
        return self.margin

    def step(self, action: np.ndarray, label: str = "") -> float:
        """Advance one control step; gives the goal's margin after it.

        Args:
            action: Canonical action, shape (world.action_size,).
            label: What the robot is doing: "pick(mug)".

        Raises:
            WorldFault: the world went bad; the attempt is over and only `finish` may follow. The action is not recorded.
        """
        if not self._started or self.fault is not None:
            raise UsageError("the attempt is not running", remedy="call reset() first" if self.fault is None else "call finish()")
        t = self.steps
        try:
            self.world.step(action)
        except WorldFault as fault:
            self.fault = Failure(code=fault.code, step=t, value=fault.value, limit=fault.limit, message=fault.what)
            self.note("world_fault", text=f"{fault.code}: {fault.what}")
            raise
        if t + 1 >= self._capacity:
            self._grow()
        self._actions[t] = action
        self.labels.append(label)
        self.steps = t + 1
        self.margin = self.monitor.update()
        self._write_row(t + 1)
        self._count_success()
        for event in self._hands.update(t + 1):
            self.events.append(event)
        return self.margin

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
    def observation(self) -> dict[str, Float]:
        """What is observed now, by name, each of shape (d,); see `World.observe`."""
        row = self._observations[self.steps].copy()
        return {name: row[at] for name, at in self.world.observation_slices.items()}

    def finish(self, failure: Failure | None = None, cost: dict[str, float] | None = None) -> Recording:
        """What happened from `reset` until now; the session may then be reset again.

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

    def _write_row(self, row: int) -> None:
        self._states[row] = self.world.save()
        self._observations[row] = self.world.observe()
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


class Hands:
    """Tells from contacts when the fingers take hold of things and let go of them, and when the robot hits furniture.

    Events: `grasped` (squeezed, not leant on), `released` (let go while opening), `dropped` (lost while not opening), `collision`
    (a link that is not a finger touches something that cannot move). Each at the first of `STEADY` control steps that it lasts.
    """

    def __init__(self, world: World, probe: Probe) -> None:
        self._world, self._probe = world, probe
        free = [name for name, index in world.items.items() if index.qpos >= 0]
        self._fingers = [(name, arm, *probe.held(name, arm)) for arm in range(len(world.grippers)) for name in free]
        still = ["world", *(name for name, index in world.items.items() if index.qpos < 0)]
        self._solid = {probe.pair("robot", name): name for name in still}
        self._solid_keys = set(self._solid)
        self.reset()

    def reset(self) -> None:
        """Take what is touched now as given."""
        pairs = self._probe.pairs
        self._holding = [a in pairs and b in pairs for _, _, a, b in self._fingers]
        self._changing = [0] * len(self._fingers)
        self._hits = pairs & self._solid_keys
        self._hit_for: dict[int, int] = {}
        self._last_command = self._closings()
        self._opening = [False] * len(self._last_command)

    def update(self, step: int) -> list[Event]:
        """What began `STEADY` control steps ago and has lasted; `step` is the number of the row just written."""
        events: list[Event] = []
        pairs = self._probe.pairs
        command = self._closings()
        for arm, (now, before) in enumerate(zip(command, self._last_command, strict=True)):
            if now != before:
                self._opening[arm] = now < before
        self._last_command = command
        for k, (name, arm, left, right) in enumerate(self._fingers):
            now = left in pairs and right in pairs
            if now == self._holding[k]:
                self._changing[k] = 0
                continue
            self._changing[k] += 1
            if self._changing[k] >= STEADY and (not now or self._probe.squeezed(name, arm)):
                self._holding[k], self._changing[k] = now, 0
                kind = "grasped" if now else "released" if self._opening[arm] else "dropped"
                events.append(Event(step=step - STEADY + 1, kind=kind, subjects=(name,)))
        hits = pairs & self._solid_keys
        if hits or self._hits:
            events += self._collisions(step, hits)
        return events

    def _closings(self) -> list[float]:
        """What every hand is commanded to, 0 open to 1 closed."""
        world = self._world
        return [hand.closing(world.command[part].tolist()) for hand, part in zip(world.grippers, world.hand_slices, strict=True)]

    def _collisions(self, step: int, hits: set[int]) -> list[Event]:
        self._hits &= hits  # what has parted may be hit again
        self._hit_for = {key: self._hit_for.get(key, 0) + 1 for key in hits - self._hits}
        new = [key for key, steps in self._hit_for.items() if steps == STEADY]
        self._hits.update(new)
        return [Event(step=step - STEADY + 1, kind="collision", subjects=("robot", self._solid[key])) for key in sorted(new)]


def replay(world: World, recording: Recording, rng: np.random.Generator) -> float:
    """Repeat an attempt and compare: the largest difference of any state from the recorded one; 0.0 when it repeats bit for bit.

    Args:
        world: A world of the recording's scenario.
        recording: What happened then.
        rng: The generator the attempt was reset with, fresh.

    Raises:
        UsageError: the recording is of another scenario.
        SettleError, WorldFault: the world goes bad, which it did not then.
    """
    if recording.scenario_id != world.scenario.id:
        raise UsageError(f"the recording is of scenario {recording.scenario_id}, the world of {world.scenario.id}")
    world.reset(rng)
    worst = _difference(world.save(), recording.states[0])
    for t, action in enumerate(recording.actions):
        world.step(action)
        worst = max(worst, _difference(world.save(), recording.states[t + 1]))
    return worst


def _difference(a: Float, b: Float) -> float:
    return math.inf if a.shape != b.shape else float(np.abs(a - b).max(initial=0.0))
