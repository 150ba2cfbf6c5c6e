"""Rollouts: a policy acts in many worlds at once, and every attempt is remembered as a `Session` would remember it.

Worlds step on threads in C, the policy speaks for all of them in one call. They are divided into two crews: while one steps, the
other is looked at, so that the Python of one hides behind the physics of the other. A world whose attempt is over begins the next
one when its crew next asks the policy, so that all of a crew stay in step. Attempts depend on their number alone: not on how many
worlds there are, on how many threads, or which attempts came before.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from embodiedsmith import motion
from embodiedsmith.embodiments.actions import ActionSpace
from embodiedsmith.episodes.staging import attempt_rng, pushing, warm_world
from embodiedsmith.learn.exploration import Exploration
from embodiedsmith.learn.observation import Encoder, ObservationConfig
from embodiedsmith.runtime.errors import UsageError
from embodiedsmith.runtime.seeds import generator
from embodiedsmith.spec import Scenario
from embodiedsmith.tasks import Recording, Session, Watch
from embodiedsmith.world import Batch, SettleError, WorldFault
from embodiedsmith.world.transforms import Float

LABEL = "policy"
"""What a recording says of actions that a policy chose."""
CREWS = 2

Faults = Sequence[WorldFault | SettleError | None]
Job = Callable[[], Faults]


class ActorConfig(Protocol):
    """The part of a policy's configuration that rollouts need."""

    @property
    def chunk(self) -> int: ...
    @property
    def execute(self) -> int: ...
    @property
    def action_space(self) -> str: ...
    @property
    def observation(self) -> ObservationConfig: ...


class Actor(Protocol):
    """What can act: `learn.policy.Policy`, or what answers likewise. A row of an answer must not depend on the other rows."""

    @property
    def config(self) -> ActorConfig: ...

    def predict(self, features: NDArray[np.float32], noise: NDArray[np.float32] | None = None) -> NDArray[np.float32]:
        """Chunks of actions in SI units, shape (n, chunk, A), for features (n, F) and standard normal draws (n, chunk, A)."""


def rollout(
    policy: Actor,
    scenario: Scenario,
    attempts: Sequence[int],
    *,
    seed: int,
    worlds: int = 64,
    threads: int = 1,
    noise: float = 0.0,
    sample: bool = False,
    exploration: Exploration | None = None,
) -> Iterator[Recording]:
    """Let a policy attempt a scenario's task; what happened, failures included, in the order of `attempts`.

    An attempt ends with its goal held as long as the task asks, with its time over, or with a bad world. For many rollouts of one
    scenario keep a `Fleet`.

    Args:
        policy: Who acts.
        scenario: A laid-out scenario.
        attempts: Numbers of the attempts: with the seed and the scenario they give each its variation.
        seed: Run seed.
        worlds: How many worlds at most.
        threads: Threads that step them, beside this one; 0: one a processor.
        noise: How much exploration: multiples of `exploration`; 0: none, and nothing is drawn.
        sample: Whether a policy that can start from noise does so; else it acts the same every time.
        exploration: What noise 1 is; None: the usual.
    """
    return Fleet(scenario, max(1, min(worlds, len(attempts))), threads=threads).rollout(
        policy, attempts, seed=seed, noise=noise, sample=sample, exploration=exploration
    )


def finish_by_expert(
    policy: Actor, scenario: Scenario, attempt: int, *, seed: int, steps: int, pushes: motion.Pushes | None = None
) -> Recording | None:
    """A policy begins an attempt and the demonstrator finishes it, from wherever the policy has come to.

    What the policy does is what it does in a `rollout` of that attempt; then the recording's labels, first `LABEL`, name the
    demonstrator's skills. The demonstrator has the whole of the task's time from there on.

    Args:
        policy: Who begins.
        scenario: A laid-out scenario.
        attempt: Number of the attempt.
        seed: Run seed.
        steps: Control steps that the policy has.
        pushes: What leads the demonstrator astray now and then.

    Returns:
        What happened; None when nothing was left to be done, or the world did not come to rest.
    """
    world = warm_world(scenario)
    session, rng = Session(world, seed=seed, attempt=attempt), attempt_rng(seed, scenario.id, attempt)
    try:
        session.reset(rng)
        _begin_by_policy(session, policy, steps)
    except SettleError:
        return None
    except WorldFault:
        return session.finish()
    if session.succeeded:
        return None
    session.horizon_steps += session.steps  # what the policy took is not taken off the demonstrator's time
    return motion.complete(session, rng, pushing(pushes, seed, scenario.id, attempt))


def _begin_by_policy(session: Session, policy: Actor, steps: int) -> None:
    """Up to `steps` control steps by a policy that starts from no noise; raises `WorldFault`."""
    world, config = session.world, policy.config
    encoder = Encoder(world.scenario, config.observation, world=world)
    space = ActionSpace(world.robot, config.action_space, world.control_dt)
    chunk = np.zeros((0, space.size))
    for step in range(min(steps, session.horizon_steps)):
        if session.succeeded:
            return
        if step % config.execute == 0:
            stages = np.array([encoder.stages.now(session.monitor)])
            features = encoder.encode(session.observed[None], world.command[None], stages)
            chunk = policy.predict(features)[0].astype(np.float64)
        said = chunk[step % config.execute]
        session.step(space.decode_many(said[None], world.command[None])[0], LABEL)


class Fleet:
    """Worlds of one scenario for a policy to act in, kept warm from one rollout to the next. Not thread-safe.

    Args:
        scenario: A laid-out scenario.
        worlds: How many worlds.
        threads: Threads that step them, beside the caller's; 0: one a processor.

    Raises:
        CompileError: the scenario cannot be built.
        UsageError: no worlds.
    """

    def __init__(self, scenario: Scenario, worlds: int = 64, *, threads: int = 1) -> None:
        self.scenario = scenario
        sizes = [worlds] if worlds < CREWS else [(worlds + k) // CREWS for k in range(CREWS)]
        self._crews = [_Crew(Batch(scenario, size, threads=threads)) for size in sizes]
        self._busy = False
        self._tongues: dict[tuple[ObservationConfig, str], tuple[Encoder, ActionSpace]] = {}

    def rollout(
        self,
        policy: Actor,
        attempts: Sequence[int],
        *,
        seed: int,
        noise: float = 0.0,
        sample: bool = False,
        exploration: Exploration | None = None,
    ) -> Iterator[Recording]:
        """See `rollout`. Another one may begin when all of this one has been taken, or it has been closed.

        Raises:
            UsageError: one is in progress.
        """
        if self._busy:
            raise UsageError(
                "a rollout of this fleet is in progress", remedy="take all of it, close() it, or build another Fleet"
            )
        encoder, space = self._tongue(policy.config.observation, policy.config.action_space)
        task = _Task(
            policy=policy,
            encoder=encoder,
            space=space,
            scenario_id=self.scenario.id,
            attempts=tuple(attempts),
            seed=seed,
            noise=noise,
            sample=sample,
            exploration=exploration or Exploration(),
        )
        self._busy = True
        return self._run(task)

    def _tongue(self, seen: ObservationConfig, said: str) -> tuple[Encoder, ActionSpace]:
        """What turns observations of these worlds into features, and a policy's actions into theirs."""
        if (seen, said) not in self._tongues:
            world = self._crews[0].batch.worlds[0]
            spoken = ActionSpace(world.robot, said, world.control_dt)
            self._tongues[seen, said] = Encoder(self.scenario, seen, world=world), spoken
        return self._tongues[seen, said]

    def _run(self, task: _Task) -> Iterator[Recording]:
        queue, done = iter(range(len(task.attempts))), dict[int, Recording]()
        try:
            with ThreadPoolExecutor(1) as pool:  # the engine lets go of the interpreter while it steps
                running: deque[tuple[_Work, Future[Faults]]] = deque()
                share = -(-len(task.attempts) // len(self._crews))
                for crew in self._crews:
                    work = crew.work(task, queue, done, share)
                    if (job := next(work, None)) is not None:
                        running.append((work, pool.submit(job)))
                following = 0
                while running:
                    work, result = running.popleft()
                    with suppress(StopIteration):  # it has nothing more to do
                        running.append((work, pool.submit(work.send(result.result()))))
                    while following in done:
                        yield done.pop(following)
                        following += 1
        finally:
            self._busy = False


@dataclass(frozen=True)
class _Task:
    """What is to be rolled out."""

    policy: Actor
    encoder: Encoder
    space: ActionSpace
    scenario_id: str
    attempts: tuple[int, ...]
    seed: int
    noise: float
    sample: bool
    exploration: Exploration


_Work = Generator[Job, Faults, None]


class _Crew:
    """Worlds that step together."""

    def __init__(self, batch: Batch) -> None:
        self.batch = batch
        self._watches = [Watch(world) for world in batch.worlds]
        self._places = [0] * batch.count  # of the attempt in each world among those asked for
        self._pushes: list[Float] = [np.zeros((0, 0))] * batch.count
        self._draws: list[np.random.Generator | None] = [None] * batch.count

    def work(self, task: _Task, queue: Iterator[int], done: dict[int, Recording], share: int) -> _Work:
        """Make attempts from the queue until it is empty, in at most `share` worlds.

        Yields what to do without the interpreter, and is sent its result.
        """
        busy: list[int] = []
        while True:
            idle = [k for k in range(min(share, self.batch.count)) if k not in busy]
            fresh = dict(zip(idle, queue, strict=False))
            if fresh:
                rngs = [attempt_rng(task.seed, task.scenario_id, task.attempts[place]) for place in fresh.values()]
                faults = yield partial(self.batch.reset, rngs, list(fresh))
                self._begin(task, fresh, faults)
                busy = self._going(sorted([*busy, *fresh]), done)
            if not busy:
                if fresh:
                    continue  # each was over as soon as it had begun
                return
            chunk, rows = self._decide(task, busy), list(range(len(busy)))
            for step in range(task.policy.config.execute):
                actions = self._actions(task, busy, chunk[rows, step])
                faults = yield partial(self.batch.step, actions, busy)
                self._took(busy, actions, faults)
                going = set(self._going(busy, done))
                rows = [row for row, k in zip(rows, busy, strict=True) if k in going]
                busy = [k for k in busy if k in going]
                if not busy:
                    break

    def _begin(self, task: _Task, fresh: dict[int, int], faults: Faults) -> None:
        """Attempts begin in worlds that have been reset."""
        ids = list(fresh)
        for k, fault, state, seen in zip(ids, faults, self.batch.save(ids), self.batch.observe(ids), strict=True):
            watch, attempt = self._watches[k], task.attempts[fresh[k]]
            watch.seed, watch.attempt = task.seed, attempt
            self._places[k] = fresh[k]
            if task.noise > 0:
                drawn = task.exploration.draw(task.space.names, watch.horizon_steps, task.seed, task.scenario_id, attempt)
                self._pushes[k] = task.noise * drawn
            if task.sample:
                self._draws[k] = generator(task.seed, task.scenario_id, attempt, "sample")
            watch.begin(state, seen)
            if fault is not None:
                watch.went_bad(fault)

    def _decide(self, task: _Task, busy: list[int]) -> Float:
        """What the policy says in these worlds, shape (n, chunk, A)."""
        watches = [self._watches[k] for k in busy]
        seen = np.array([watch.observed for watch in watches])
        stages = np.array([task.encoder.stages.now(watch.monitor) for watch in watches])
        features = task.encoder.encode(seen, self.batch.command[busy], stages)
        noise: NDArray[np.float32] | None = None
        if task.sample:
            shape = (task.policy.config.chunk, task.space.size)
            drawn = [self._draws[k] for k in busy]
            noise = np.array([rng.standard_normal(shape, dtype=np.float32) for rng in drawn if rng is not None])
        return task.policy.predict(features, noise).astype(np.float64)

    def _actions(self, task: _Task, busy: list[int], said: Float) -> Float:
        """Canonical actions (n, na) that do what was said in the action space (n, A), and somewhat else when exploring."""
        if task.noise > 0:
            said = said + np.array([self._pushes[k][self._watches[k].steps] for k in busy])
        return task.space.decode_many(said, self.batch.command[busy])

    def _took(self, busy: list[int], actions: Float, faults: Faults) -> None:
        """Worlds have taken a control step, or gone bad in it."""
        for k, fault in zip(busy, faults, strict=True):
            if fault is not None:
                self._watches[k].went_bad(fault)
            else:
                self.batch.world(k)  # is what monitors look at from now on
        well = [row for row, fault in enumerate(faults) if fault is None]
        if well:
            ids = [busy[row] for row in well]
            for k, action, state, seen in zip(ids, actions[well], self.batch.save(ids), self.batch.observe(ids), strict=True):
                self._watches[k].took(action, LABEL, state, seen)

    def _going(self, busy: list[int], done: dict[int, Recording]) -> list[int]:
        """The worlds whose attempts go on; the recordings of the others are done."""
        going = []
        for k in busy:
            watch = self._watches[k]
            if watch.fault is None and not watch.succeeded and not watch.timed_out:
                going.append(k)
            else:
                done[self._places[k]] = watch.finish()
        return going
