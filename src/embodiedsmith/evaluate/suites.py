"""Frozen suites: scenarios, seeds and attempts that policies are evaluated on and never trained on.

A suite's seed is out of evaluation's own range (`runtime.seeds.held_out`), and so are the seeds that its scenarios are forged
with: no start and no scene of training can be one of the suite's but by building the very same scene, which `Suite.shared` finds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Self

from pydantic import Field, ValidationError, model_validator

from embodiedsmith.forge.loop import ForgeError, ForgeResult, forge
from embodiedsmith.runtime.errors import SmithError, UsageError
from embodiedsmith.runtime.executors import JobResult, run_jobs
from embodiedsmith.runtime.files import storage_errors, write_atomic
from embodiedsmith.runtime.seeds import generator, held_out, is_held_out
from embodiedsmith.spec import Brief, Scenario, predicates, split_reference
from embodiedsmith.spec.base import Noun, digest

SPARE = 2
"""Scenarios tried for each one wanted: some briefs are hard to forge."""


class SuiteError(SmithError):
    """A suite cannot be made or read, or training would see what it holds."""


class Entry(Noun):
    """Starts of one scenario."""

    scenario: Scenario
    attempts: tuple[int, ...] = Field(min_length=1)
    """Numbers of its attempts, each another start."""
    level: int | None = None
    """Which level of difficulty this is; None: the scenario as it was forged."""


class Suite(Noun):
    """What is evaluated on. Never changed: another content has another `id`."""

    name: str = Field(min_length=1)
    seed: int
    """Run seed of its attempts, out of evaluation's range."""
    entries: tuple[Entry, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _sound(self) -> Self:
        faults = [] if is_held_out(self.seed) else [f"{self.seed} is a seed of training: use runtime.seeds.held_out"]
        starts = [(entry.scenario.id, attempt) for entry in self.entries for attempt in entry.attempts]
        if repeated := sorted({start for start in starts if starts.count(start) > 1}) if len(set(starts)) < len(starts) else ():
            faults.append(f"starts must be unique; repeated: {repeated}")
        faults += [f"attempt {a} of {e.scenario.id} is below 0" for e in self.entries for a in e.attempts if a < 0]
        if faults:
            raise ValueError("; ".join(faults))
        return self

    @property
    def id(self) -> str:
        """Hash of its starts, sixteen hexadecimal digits: results with equal ids can be compared."""
        return digest({"seed": self.seed, "entries": [[e.scenario.id, e.level, e.attempts] for e in self.entries]})

    @property
    def trials(self) -> int:
        """How many starts there are."""
        return sum(len(entry.attempts) for entry in self.entries)

    @property
    def levels(self) -> tuple[int | None, ...]:
        """The levels there are, the lowest first."""
        return tuple(sorted({entry.level for entry in self.entries}, key=lambda level: -1 if level is None else level))

    def at(self, level: int | None) -> Suite:
        """The part of this suite at one level; raises `UsageError` when it has none there."""
        chosen = tuple(entry for entry in self.entries if entry.level == level)
        if not chosen:
            raise UsageError(f"suite '{self.name}' has nothing at level {level}", choices=map(str, self.levels))
        return self.model_copy(update={"name": f"{self.name}, level {level}", "entries": chosen})

    def shared(self, scenarios: Iterable[Scenario]) -> tuple[str, ...]:
        """Ids of those of `scenarios` that this suite tests on, at whatever level (see `situation`)."""
        mine = {situation(entry.scenario) for entry in self.entries}
        return tuple(dict.fromkeys(s.id for s in scenarios if situation(s) in mine))

    def guard(self, scenarios: Iterable[Scenario], seed: int) -> None:
        """Refuse to train on what this suite tests.

        Args:
            scenarios: What is to be trained on.
            seed: Run seed of training.

        Raises:
            SuiteError: a scenario is the suite's, or the seed is out of evaluation's range; lists them all.
        """
        faults = [f"scenario {name} is one of the suite's" for name in self.shared(scenarios)]
        if is_held_out(seed):
            faults.append(f"seed {seed} is out of the range of evaluation's seeds")
        if faults:
            raise SuiteError(
                f"training would see what suite '{self.name}' ({self.id}) tests on",
                faults=faults,
                remedy="forge other scenarios to train on, or take a seed below 2**62",
            )

    def save(self, path: Path) -> None:
        """Write it as JSON, whole or not at all."""
        write_atomic(path, (self.to_json(indent=2) + "\n").encode("utf-8"))

    @classmethod
    def load(cls, path: Path) -> Suite:
        """Read what `save` wrote; raises `SuiteError` naming every fault."""
        with storage_errors(path):
            data = path.read_bytes()
        try:
            return cls.from_json(data)
        except ValidationError as error:
            faults = [f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in error.errors()]
            raise SuiteError("is not a suite", where=str(path), faults=faults, remedy="make the suite anew") from error


def situation(scenario: Scenario) -> str:
    """What two levels of one scenario share: the robot and its place, the goal, and where the things that the goal names stand.

    Two scenarios of equal situation differ in what varies and in what stands about: a policy trained on one has seen the other.
    """
    items = {item.id: item for item in scenario.scene.items}
    named = [split_reference(argument)[0] for p in predicates(scenario.task.goal) for argument in p.args]
    chain: dict[str, None] = {}
    for name in sorted(set(named) & items.keys()):
        at: str | None = name
        while at is not None and at in items:
            chain[at] = None
            at = items[at].parent
    goal = scenario.task.goal.model_dump(mode="json")
    things = [items[name].model_dump(mode="json") for name in sorted(chain)]
    return digest([scenario.embodiment.model_dump(mode="json"), goal, things])


def suite(name: str, scenarios: Mapping[int | None, Sequence[Scenario]], attempts: int, seed: int) -> Suite:
    """A suite of the same number of attempts of every scenario.

    Args:
        name: What to call it.
        scenarios: By level; under None: as forged.
        attempts: Starts of each scenario.
        seed: Run seed, of training's range: the suite's is derived from it and its name.
    """
    return Suite(
        name=name,
        seed=held_out(seed, "suite", name),
        entries=tuple(
            Entry(scenario=scenario, attempts=tuple(range(attempts)), level=level)
            for level, given in scenarios.items()
            for scenario in given
        ),
    )


def forge_held_out(
    brief: Brief, count: int, *, among: Iterable[Scenario] = (), budget: float = 300.0, workers: int = 1
) -> tuple[Scenario, ...]:
    """Forge scenarios of a brief that no training forges: with seeds of evaluation's range derived from the brief's.

    Args and errors as of `forge_distinct`; `among` are those of training, for a brief may leave little to vary.
    """
    ours = brief.model_copy(update={"seed": held_out(brief.seed, "forge")})
    return forge_distinct(ours, count, among=among, budget=budget, workers=workers)


def forge_distinct(
    brief: Brief, count: int, *, among: Iterable[Scenario] = (), budget: float = 300.0, workers: int = 1
) -> tuple[Scenario, ...]:
    """Forge scenarios of different situations from one brief.

    Args:
        brief: What is wanted.
        count: How many different situations.
        among: One of a situation equal to one of these is not taken.
        budget: What forging one may cost [simulated seconds and plans].
        workers: Processes; the result does not depend on them.

    Raises:
        SuiteError: too few differ or pass; says how many did.
        SmithError: what the agent raises about the brief itself.
    """
    made: dict[int, Scenario] = {}

    def keep(job: _Job, result: JobResult[ForgeResult]) -> None:
        if result.value is not None:
            made[job.index] = result.value.scenario
        elif not isinstance(result.error, ForgeError):
            raise result.error or SuiteError("forging gave nothing back", where=brief.text)

    chosen: dict[str, Scenario] = {}
    taken = {situation(scenario) for scenario in among}
    for first in range(0, SPARE * count, count):  # in waves, so that what is chosen does not depend on who is done first
        jobs = [_Job(brief=brief, index=index, budget=budget) for index in range(first, first + count)]
        run_jobs(_forge, jobs, min(workers, count), keep)
        for index in sorted(i for i in made if i >= first):
            key = situation(made[index])
            if key not in taken and len(chosen) < count:
                chosen.setdefault(key, made[index])
        if len(chosen) == count:
            return tuple(chosen.values())
    raise SuiteError(
        f"'{brief.text}' gave {len(chosen)} different scenarios of the {count} wanted in {SPARE * count} tries",
        remedy="ask for fewer, say less about the scene so that more of it can vary, or raise the budget",
    )


def hold_out(scenarios: Sequence[Scenario], count: int, seed: int) -> tuple[tuple[Scenario, ...], tuple[Scenario, ...]]:
    """Split a run's scenarios into those to train on and `count` situations to evaluate on, drawn from `seed`.

    Raises:
        UsageError: nothing would be left to train on.
    """
    known = list(dict.fromkeys(situation(scenario) for scenario in scenarios))
    if not 0 < count < len(known):
        raise UsageError(
            f"{count} of {len(known)} different scenarios cannot be held out", remedy=f"hold out 1 to {len(known) - 1}"
        )
    order = generator(seed, "held out", "split").permutation(len(known))
    tested = {known[k] for k in order[:count]}
    return (
        tuple(s for s in scenarios if situation(s) not in tested),
        tuple(s for s in scenarios if situation(s) in tested),
    )


class _Job(Noun):
    brief: Brief
    index: int
    budget: float


def _forge(job: _Job) -> ForgeResult:
    return forge(job.brief, index=job.index, budget=job.budget)
