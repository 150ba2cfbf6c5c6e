"""Why things had no place: counted over all tries, and told as findings that say what could be done about it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from embodiedsmith.spec import Finding

CROWDED = 0.1  # part of the places within reach and support that were taken, from which crowding is the cause
PATIENCE = 12  # attempts, all failed alike, after which there is no hope
NARROW = 0.04  # [m] by which every place must have been too narrow for that
BLOCKERS = 3  # most things named as being in the way


@dataclass
class Failure:
    """One thing without a place, with what spoke against every place tried."""

    subject: str
    """Item id, or `robot`."""
    what: str
    """The thing and what was to become of it, in words."""
    size: tuple[float, float]
    """Its footprint [m]."""
    support: str | None = None
    """What it is to stand on or in; None: the floor."""
    others: tuple[str, ...] = ()
    """Items that it was to stand in a relation to."""
    stuck_out: int = 0
    far: int = 0
    hits: Counter[str] = field(default_factory=Counter)
    """How often it came too close to which other."""
    broken: Counter[str] = field(default_factory=Counter)
    """How often a relation of the start would not have held, by its words."""
    excess: float = float("inf")
    """By how much [m] the place nearest to being within reach was beyond it."""
    overlap: float = float("inf")
    """By how much [m] the freest place was too narrow."""
    clear: float = 0.0
    """Room wanted beside it [m]."""

    @property
    def tried(self) -> int:
        """Places tried."""
        return self.stuck_out + self.far + self.hits.total() + self.broken.total()

    def beyond(self, excess: float) -> None:
        """A place was this far [m] out of reach."""
        self.far += 1
        self.excess = min(self.excess, excess)

    def taken(self, by: str, overlap: float) -> None:
        """A place was too close to something by this much [m]."""
        self.hits[by] += 1
        self.overlap = min(self.overlap, overlap)

    def breaks(self, relation: str, others: tuple[str, ...]) -> None:
        """At a place, a relation of the start to other things would not hold whatever the reset draws."""
        self.broken[relation] += 1
        self.others = tuple(dict.fromkeys((*self.others, *others)))

    def add(self, other: Failure) -> None:
        """Count another attempt's tries, too."""
        self.stuck_out += other.stuck_out
        self.far += other.far
        self.hits += other.hits
        self.broken += other.broken
        self.others = tuple(dict.fromkeys((*self.others, *other.others)))
        self.excess, self.overlap = min(self.excess, other.excess), min(self.overlap, other.overlap)
        self.clear = min(self.clear, other.clear)

    def finding(self) -> Finding:
        """As a finding: too large for its support, out of reach, or without room."""
        crowded = self.hits.total() + self.broken.total()
        if crowded > 0 and crowded >= CROWDED * (crowded + self.far):
            return self._no_space()
        if self.far:
            return self._out_of_reach()
        return self._no_space() if self.others else self._too_large()

    def _head(self) -> str:
        x, y = (100 * v for v in self.size)
        return f"no place for {self.what} ({x:.1f} x {y:.1f} cm)"

    def _no_space(self) -> Finding:
        blockers = tuple(name for name, _ in self.hits.most_common(BLOCKERS) if name != self.subject)
        subjects = dict.fromkeys((self.subject, *self.others, *blockers))
        told = [f"{n} come too close to {name}" for name, n in self.hits.most_common(BLOCKERS)]
        told += [f"{n} are not {relation}" for relation, n in self.broken.most_common()]
        told += [f"{n} {why}" for n, why in ((self.stuck_out, "would stick out"), (self.far, "are out of reach")) if n]
        free = [name for name in blockers if name != "robot"]
        remedy = f"move {' or '.join(free[:2])} away, or make room" if free else "make room"
        narrow = f"; the freest is {100 * self.overlap:.1f} cm too narrow" if self.hits else ""
        return Finding(
            code="geometry.no_space", subjects=tuple(subjects), value=self.overlap if self.hits else None, limit=0.0, unit="m",
            message=(
                f"{self._head()} with {100 * self.clear:.1f} cm clear round it: of {self.tried} tried, {'; '.join(told)}"
                f"{narrow}: {remedy}"
            ),
        )  # fmt: skip

    def _out_of_reach(self) -> Finding:
        where = f" on {self.support}" if self.support else ""
        near = dict.fromkeys((self.subject, *self.others, *((self.support,) if self.support else ())))
        return Finding(
            code="geometry.out_of_reach", subjects=tuple(near), value=self.excess, limit=0.0, unit="m",
            message=(
                f"{self._head()} within the robot's reach: of {self.tried} places tried{where}, the nearest is "
                f"{100 * self.excess:.1f} cm beyond it: bring {self.support or self.subject} and the robot nearer to each other"
            ),
        )  # fmt: skip

    def _too_large(self) -> Finding:
        support = self.support or "the floor"
        return Finding(
            code="geometry.too_large", subjects=(self.subject, *((self.support,) if self.support else ())),
            value=max(self.size), limit=None, unit="m",
            message=f"{self._head()}: of {self.tried} tried, all would stick out of {support}: a smaller one or a larger "
            f"{support} would do",
        )  # fmt: skip


class NoPlaceError(Exception):
    """Internal to the solver: this attempt is over; `failure` says what had no place, and why."""

    def __init__(self, failure: Failure) -> None:
        self.failure = failure
        super().__init__(failure.what)


def hopeless(failures: list[Failure]) -> bool:
    """Whether more attempts would end as all of many have: nothing was in the way of what had no place, or far too much was."""
    if len(failures) < PATIENCE:
        return False
    if not any(failure.hits for failure in failures):
        return True
    return len({failure.what for failure in failures}) == 1 and min(failure.overlap for failure in failures) > NARROW


def merged(failures: Iterable[Failure]) -> tuple[Finding, ...]:
    """One finding for every thing that had no place in some attempt, the most frequent first."""
    found: dict[str, Failure] = {}
    times: Counter[str] = Counter()
    for failure in failures:
        times[failure.what] += 1
        if failure.what in found:
            found[failure.what].add(failure)
        else:
            found[failure.what] = failure
    return tuple(found[what].finding() for what, _ in times.most_common())
