"""What a critic is, and what it is given."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from time import perf_counter
from typing import Protocol

import numpy as np

from embodiedsmith.assets.asset import Asset
from embodiedsmith.motion import symbolic
from embodiedsmith.motion.operators import Step
from embodiedsmith.runtime.seeds import generator
from embodiedsmith.spec import EditKind, Finding, Scenario
from embodiedsmith.tasks.goal_misses import Missed
from embodiedsmith.tasks.recording import Recording
from embodiedsmith.world import World
from embodiedsmith.world.compile import build_assets

ATTEMPTS = 2  # demonstrations tried before a scenario is refused, and starts from which their motions are planned
STARTS = 3  # starts of a scenario that critics look at, since each varies; the witness comes from the first that works


@dataclass
class Cost:
    """What a critic has cost so far. All but the seconds is the same wherever and whenever it runs."""

    seconds: float = 0.0
    """Wall clock [s]: reported, never part of anything that is hashed or compared."""
    simulated: float = 0.0
    """Physics computed, settling included [s]."""
    plans: int = 0
    """Motions planned free of collisions; inverse kinematics alone is no plan."""
    reviews: int = 0
    rejections: int = 0

    @property
    def units(self) -> float:
        """What budgets count: simulated seconds and plans."""
        return self.simulated + self.plans


class Context:
    """A scenario under review, with what several critics need built once and only when asked for.

    Args:
        scenario: What is judged; a draft (without poses) only for critics with `on_draft`.
        seed: Run seed: random draws come from (seed, scenario id, critic, draw).
        costs: Where what each critic costs is added up; None: a new account.
    """

    def __init__(self, scenario: Scenario, *, seed: int = 0, costs: dict[str, Cost] | None = None) -> None:
        self.scenario = scenario
        self.seed = seed
        self.witness: Recording | None = None
        """The demonstration that the execution critic accepted; None until then."""
        self.near_misses: tuple[Missed, ...] = ()
        """What the goal was shown at the end of the witness and what it said; empty until the near-miss critic has judged."""
        self.costs: dict[str, Cost] = {} if costs is None else costs
        self.plans = 0
        """Motions planned so far: whoever plans adds to it."""

    @cached_property
    def assets(self) -> dict[str, Asset]:
        """Built assets by item id; raises CompileError."""
        return build_assets(self.scenario.scene)

    @cached_property
    def world(self) -> World:
        """The compiled world, not yet reset; raises CompileError. Every critic resets it before use, and changes no constant."""
        return World(self.scenario, remember=STARTS)

    @property
    def simulated(self) -> float:
        """Physics computed so far [s]."""
        return self.world.simulated if "world" in vars(self) else 0.0

    def start(self, attempt: int = 0) -> World:
        """The world at the start of an attempt: one of the starts from which the execution critic looks for a witness.

        Each is settled once, whoever looks at it first; raises SettleError when it does not come to rest.
        """
        self.world.reset(self.start_rng(attempt))
        return self.world

    def steps(self, attempt: int = 0) -> tuple[Step, ...]:
        """The plan for an attempt, as the demonstrator makes it first.

        Raises:
            SettleError: the start does not come to rest.
            MotionError: there is no plan.
        """
        return symbolic.plan(self.start(attempt), self.scenario.task.goal)

    def start_rng(self, attempt: int) -> np.random.Generator:
        """What an attempt draws from: first its reset, then its planners."""
        return self.rng("witness", attempt)

    def rng(self, *names: str | int) -> np.random.Generator:
        """The random stream of that name for this scenario."""
        return generator(self.seed, self.scenario.id, *names)


def at_best_start(faults: Callable[[int], list[Finding]]) -> list[Finding]:
    """What is found at the first start that the execution critic would try; nothing when at any of them nothing is.

    The witness needs one start only, so that what is wrong with another refuses nothing.
    """
    first: list[Finding] = []
    for attempt in range(ATTEMPTS):
        found = faults(attempt)
        if not found:
            return []
        first = first or found
    return first


@contextmanager
def measured(costs: dict[str, Cost], stage: str) -> Iterator[Cost]:
    """Count one review by a critic (or one run of a stage), and the time the `with` block takes."""
    cost = costs.setdefault(stage, Cost())
    start = perf_counter()
    try:
        yield cost
    finally:
        cost.seconds += perf_counter() - start
        cost.reviews += 1


class Critic(Protocol):
    """Finds faults of one kind. Stateless."""

    name: str
    tier: int
    """Order: 0 is the cheapest. A tier that finds an error ends the review."""
    on_draft: bool
    """Whether it can judge a draft in which nothing has a place yet."""
    codes: Mapping[str, tuple[EditKind, ...]]
    """Every finding code it can give, with the kinds of edit that could cure it, the likeliest first."""

    def review(self, context: Context) -> list[Finding]:
        """Everything it finds; empty: nothing wrong."""
        ...


@dataclass
class Verdict:
    """What a review came to."""

    findings: list[Finding] = field(default_factory=list)
    passed: list[str] = field(default_factory=list)
    """Critics that found no error, in order."""

    @property
    def accepted(self) -> bool:
        """Whether no error was found; warnings do not count."""
        return not any(f.severity == "error" for f in self.findings)
