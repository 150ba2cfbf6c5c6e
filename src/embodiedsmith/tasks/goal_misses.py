"""What a goal must not accept: near misses of its predicates at the end of a witness, and states out of the witness itself.

For a goal that holds at the end of a demonstration, each of these must give a margin of at most 0:

- a predicate, and every part of `all`: each near miss of each predicate, alone;
- `any`: near misses of all alternatives that hold, together;
- `sequence`: near misses of its last part, with the earlier ones reached; near misses of each earlier part where it was reached,
  judged by that part; and the end, had nothing come before;
- `not`: states of the witness in which what was to be undone still held: with the hand just closed on the thing, and on the way
  until it no longer held.

And out of the witness: the start, a thing just before the hand let go of it, and a door or drawer just before it was closed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from embodiedsmith.spec import All, Any, Goal, Not, Predicate, Sequence, predicates
from embodiedsmith.tasks.goal import GoalMonitor, title
from embodiedsmith.tasks.kind import NearMiss
from embodiedsmith.tasks.probe import Float
from embodiedsmith.tasks.recording import Recording
from embodiedsmith.tasks.registry import predicate
from embodiedsmith.world import World

ON_THE_WAY = 8
"""States of the witness that are looked at for each `not`, at most."""


@dataclass(frozen=True, kw_only=True)
class Missed:
    """A state in which a goal must not count as reached, and what its checker says of it."""

    name: str
    """What is almost right: "hovering 1 mm over it"."""
    predicate: str
    """What is missed, as people write it: a predicate, or the whole goal."""
    margin: float
    """Margin of the goal there, or of the earlier part of a sequence that was almost reached."""
    value: float
    """Margin of the predicate there; the same as `margin` when it is not about one predicate."""

    @property
    def rejected(self) -> bool:
        """Whether the checker saw through it."""
        return self.margin <= 0.0


@dataclass(frozen=True)
class _Way:
    """A way to miss a goal that holds: near misses to apply together."""

    predicate: str
    parts: tuple[NearMiss, ...]

    @property
    def name(self) -> str:
        return ", and ".join(part.name for part in self.parts)


def near_misses(goal: Goal, world: World, recording: Recording) -> list[Missed]:
    """All that a goal must not accept, with the margins it gives; the world is left at the end of the recording.

    Args:
        goal: It holds at the end of the recording.
        world: Of the recording's scenario; its masses and lights do not matter.
        recording: A demonstration that reached the goal.
    """
    needed = list(_needed(goal))
    found = [_recorded(recording, "at the start", said(goal), 0)]
    found += [_recorded(recording, *moment) for moment in _moments(needed, recording)]
    watch = _Watch(goal, world)
    found += watch.follow(recording)
    for part, margins in watch.undone.items():
        found += [_recorded(recording, name, part, t) for name, t in _on_the_way(margins)]
    end = recording.states[-1]
    found += _looks(world, end, watch.goal, _ways(goal, world, _margins(watch.goal)))
    if any(isinstance(part, Sequence) for part in needed):
        fresh = GoalMonitor(goal, world, hold_steps=world.scenario.task.hold_steps, probe=watch.goal.probe).reset()
        found.append(Missed(name="the end, had nothing come before", predicate=said(goal), margin=fresh, value=fresh))
    return list({(m.predicate, m.name): m for m in found}.values())


def said(goal: Goal) -> str:
    """A goal as people write it: `all(on(mug, table), not(open(box)))`."""
    match goal:
        case Predicate():
            return title(goal)
        case Not():
            return f"not({said(goal.goal)})"
        case _:
            return f"{goal.kind}({', '.join(said(part) for part in goal.goals)})"


# ---------------------------------------------------------------------- out of the witness


def _recorded(recording: Recording, name: str, part: str, t: int) -> Missed:
    """A state of the witness, with the margins that were recorded there."""
    margin = float(recording.margins[t])
    known = recording.predicate_names
    value = float(recording.predicate_margins[t, known.index(part)]) if part in known else margin
    return Missed(name=name, predicate=part, margin=margin, value=value)


def _moments(needed: list[Goal], recording: Recording) -> Iterator[tuple[str, str, int]]:
    """Moments of a witness (name, part of the goal, step) at which a part of the goal cannot hold yet."""
    for part in needed:
        if isinstance(part, Not):
            for p in predicates(part.goal):
                taken = [e.step for e in recording.events if e.kind == "grasped" and p.args[0] in e.subjects]
                if taken:
                    yield f"{p.args[0]} in the hand, where it was", said(part), taken[0]
        elif isinstance(part, Predicate):
            if predicate(part.name).lets_go:
                let_go = [e.step for e in recording.events if e.kind == "released" and part.args[0] in e.subjects]
                if let_go:
                    yield f"{part.args[0]} just before the hand let go", title(part), max(let_go[-1] - 1, 0)
            if part.name == "closed":
                started = [e for e in recording.events if e.kind == "skill_started" and e.text.startswith("close(")]
                mine = [e.step for e in started if part.args[0] in (e.subjects[0], e.subjects[0].partition(".")[0])]
                if mine:
                    yield f"{part.args[0]} just before it was closed", title(part), mine[-1]


def _on_the_way(margins: list[float]) -> list[tuple[str, int]]:
    """States in which what is to be undone still held: names and steps, evenly spread up to the last before it no longer did."""
    undone = next((t for t in range(len(margins) - 1, -1, -1) if margins[t] <= 0.0), 0)
    steps = sorted({round(v) for v in np.linspace(0, undone, ON_THE_WAY + 1)[1:].tolist()})
    held = [t for t in steps if margins[t] <= 0.0]
    return [(f"on the way, after {100 * t / (len(margins) - 1):.0f} % of the time", t) for t in held]


class _Watch:
    """Follows a witness state by state, so that what the goal remembers is right at the end, and looks about on the way."""

    def __init__(self, goal: Goal, world: World) -> None:
        self._world = world
        self.goal = self._follower(goal, None)
        needed = list(_needed(goal))
        self.undone: dict[str, list[float]] = {said(part): [] for part in needed if isinstance(part, Not)}
        """For each `not` of the goal: its margins over the states."""
        self._negations = [self._follower(part, self.goal) for part in needed if isinstance(part, Not)]
        self._sequences = [self._stages(part) for part in needed if isinstance(part, Sequence)]

    def _follower(self, goal: Goal, beside: GoalMonitor | None) -> GoalMonitor:
        probe = None if beside is None else beside.probe
        return GoalMonitor(goal, self._world, hold_steps=self._world.scenario.task.hold_steps, probe=probe)

    def _stages(self, sequence: Sequence) -> tuple[GoalMonitor, list[tuple[Goal, GoalMonitor]]]:
        """What tells how far a sequence has come, and what judges each of its earlier parts."""
        stages = [(stage, self._follower(stage, self.goal)) for stage in sequence.goals[:-1]]
        return self._follower(sequence, self.goal), stages

    def follow(self, recording: Recording) -> list[Missed]:
        """Look at every state; gives the near misses of the parts of sequences, where they were reached."""
        found: list[Missed] = []
        for t, state in enumerate(recording.states):
            self._world.restore(state)
            _advance(self.goal, t)
            for follower, margins in zip(self._negations, self.undone.values(), strict=True):
                margins.append(_advance(follower, t))
            for whole, stages in self._sequences:
                before = whole.stages[-1]
                _advance(whole, t)
                for _, judge in stages:
                    _advance(judge, t)
                if whole.stages[-1] > before:
                    goal, judge = stages[before]
                    found += _looks(self._world, state, judge, _ways(goal, self._world, _margins(judge)))
        return found


def _advance(monitor: GoalMonitor, t: int) -> float:
    return monitor.update() if t else monitor.reset()


# ---------------------------------------------------------------------- near misses of predicates


def _looks(world: World, state: Float, judge: GoalMonitor, ways: list[_Way]) -> list[Missed]:
    """What a goal says of near misses applied to a state that it has reached and remembers."""
    found = []
    for way in ways:
        world.restore(state)
        for part in way.parts:
            part.apply(world)
        back = judge.mark()
        margin = judge.update()
        value = _margins(judge).get(way.predicate, margin)
        back()
        found.append(Missed(name=way.name, predicate=way.predicate, margin=margin, value=value))
    world.restore(state)
    judge.probe.refresh()
    return found


def _margins(monitor: GoalMonitor) -> dict[str, float]:
    """The predicates' margins at the last update, by title."""
    return dict(zip(monitor.predicate_names, monitor.predicate_margins.tolist(), strict=True))


def _ways(goal: Goal, world: World, margins: Mapping[str, float]) -> list[_Way]:
    """All ways to miss a goal that holds in a world, where its predicates have these margins."""
    match goal:
        case Predicate():
            kind = predicate(goal.name)
            return [_Way(title(goal), (miss,)) for miss in kind.near_misses(world, goal.args, kind.resolve(goal.params))]
        case All():
            return [way for part in goal.goals for way in _ways(part, world, margins)]
        case Any():
            ways = [_ways(part, world, margins) for part in goal.goals if _holds(part, margins)]
            return [_together(chosen) for chosen in _in_step(ways)]
        case Sequence():
            return _ways(goal.goals[-1], world, margins)
        case _:
            return []


def _in_step(ways: list[list[_Way]]) -> Iterator[list[_Way]]:
    """One way of each kind at a time, until every way has been had."""
    if all(ways):
        for k in range(max(map(len, ways))):
            yield [those[k % len(those)] for those in ways]


def _together(ways: list[_Way]) -> _Way:
    return _Way(", ".join(way.predicate for way in ways), tuple(part for way in ways for part in way.parts))


def _holds(goal: Goal, margins: Mapping[str, float]) -> bool:
    match goal:
        case Predicate():
            return margins[title(goal)] > 0.0
        case Not():
            return not _holds(goal.goal, margins)
        case All():
            return all(_holds(part, margins) for part in goal.goals)
        case Any():
            return any(_holds(part, margins) for part in goal.goals)
        case Sequence():
            return _holds(goal.goals[-1], margins)


def _needed(goal: Goal) -> Iterator[Goal]:
    """The predicates, `not`s and sequences that must hold at the end, whatever else does."""
    match goal:
        case All():
            for part in goal.goals:
                yield from _needed(part)
        case Sequence():
            yield goal
            yield from _needed(goal.goals[-1])
        case Predicate() | Not():
            yield goal
