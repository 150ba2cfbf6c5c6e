"""The shortest sequence of steps that brings facts about: operators are grounded, then A* searches forward.

Heuristic: disjoint landmark cuts (LM-cut, Helmert and Domshlak, ICAPS 2009), of which a state hands on to the next those that
the action between them is not part of (Pommerening and Helmert, ICAPS 2013). A cut is a set of actions one of which every plan
from here must contain, so that their number never exceeds the steps to go: with weight 1 plans are shortest. When that takes
too many looks, the search is weighted, and plans are near to shortest. Nothing is drawn and nothing timed: the same situation
gives the same plan everywhere.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import count, product

import numpy as np
from numpy.typing import NDArray

from embodiedsmith.motion.operators import ARRANGED, STALE, Operator, Step

Fact = tuple[str, ...]
ROUNDS: tuple[tuple[int, int], ...] = ((1, 250), (3, 2000))
"""Weight of the heuristic, and states looked at with it at most."""
_FAR = 1_000_000


@dataclass(frozen=True)
class Situation:
    """Facts true now, and facts wanted."""

    objects: tuple[tuple[str, str], ...]
    """Name and type, in the order in which they are preferred."""
    facts: frozenset[Fact]
    wanted: tuple[Fact, ...]


@dataclass(frozen=True)
class Action:
    """An operator with its parameters filled in. Of what it needs, only facts that can change."""

    step: Step
    needs: frozenset[Fact]
    adds: frozenset[Fact]
    removes: frozenset[Fact]

    def apply(self, facts: frozenset[Fact]) -> frozenset[Fact]:
        """Facts after it."""
        return (facts - self.removes) | self.adds


# ------------------------------------------------------------------ grounding


def ground(situation: Situation, operators: tuple[Operator, ...], impossible: Callable[[Fact], bool]) -> tuple[Action, ...]:
    """Every action that could ever be done from here, if nothing were ever undone; those about what is wanted first, first.

    Args:
        situation: Its objects and facts.
        operators: What can be done.
        impossible: Tells facts that are never brought about.
    """
    order = {name: k for k, (name, _) in enumerate(situation.objects)}
    fixed = {f[0] for o in operators for f in o.needs} - {f[0] for o in operators for f in (*o.adds, *o.removes)}
    known: dict[str, list[Fact]] = {}
    for fact in sorted(situation.facts, key=lambda f: [order.get(a, -1) for a in f[1:]]):
        known.setdefault(fact[0], []).append(fact)
    found: list[Action] = []
    for operator in operators:
        for bound in _bindings(operator, situation, known, fixed):
            action = _fill(operator, bound, fixed)
            if not any(impossible(f) for f in action.adds):
                found.append(action)
    found = [_adapted(a, situation.facts) for a in found]
    found = _reachable(found, situation.facts)
    moving = {f for a in found for f in a.adds if f[0] in STALE} | {f for f in situation.facts if f[0] in STALE}
    found = [_with_stale(a, moving) for a in found]
    first: dict[str, int] = {}
    for k, fact in enumerate(situation.wanted):
        for name in fact[1:]:
            first.setdefault(name, k)
    return tuple(sorted(found, key=lambda a: first.get(a.step.args[0], len(first)) if a.step.args else len(first)))


def _bindings(
    operator: Operator, situation: Situation, known: dict[str, list[Fact]], fixed: set[str]
) -> Iterator[dict[str, str]]:
    """Parameter values for which all that the operator needs of what never changes is true."""
    partial: list[dict[str, str]] = [{}]
    for need in operator.needs:
        if need[0] not in fixed:
            continue
        names = need[1:]
        partial = [
            {**bound, **dict(zip(names, fact[1:], strict=True))}
            for bound in partial
            for fact in known.get(need[0], ())
            if all(bound.get(n, v) == v for n, v in zip(names, fact[1:], strict=True))
        ]
    for bound in partial:
        free = [(n, [name for name, kind in situation.objects if kind == t]) for n, t in operator.parameters if n not in bound]
        for values in product(*(choices for _, choices in free)):
            yield {**bound, **{n: v for (n, _), v in zip(free, values, strict=True)}}


def _fill(operator: Operator, bound: dict[str, str], fixed: set[str]) -> Action:
    def facts(templates: tuple[Fact, ...]) -> frozenset[Fact]:
        return frozenset((t[0], *(bound[a] for a in t[1:])) for t in templates)

    return Action(
        Step(operator.skill, tuple(bound[n] for n in operator.passes)),
        facts(tuple(n for n in operator.needs if n[0] not in fixed)), facts(operator.adds), facts(operator.removes),
    )  # fmt: skip


def _reachable(actions: list[Action], facts: frozenset[Fact]) -> list[Action]:
    """Those whose needs come about when nothing is ever removed, in their order."""
    waiting: dict[Fact, list[int]] = {}
    missing = []
    for k, action in enumerate(actions):
        lacks = action.needs - facts
        missing.append(len(lacks))
        for fact in lacks:
            waiting.setdefault(fact, []).append(k)
    ready = [k for k, n in enumerate(missing) if n == 0]
    done = set(ready)
    seen = set(facts)
    while ready:
        for fact in actions[ready.pop()].adds - seen:
            seen.add(fact)
            for k in waiting.get(fact, ()):
                missing[k] -= 1
                if missing[k] == 0:
                    done.add(k)
                    ready.append(k)
    return [action for k, action in enumerate(actions) if k in done]


def _adapted(action: Action, facts: frozenset[Fact]) -> Action:
    """The action with what it needs, adds and removes in this very scene besides what its operator says."""
    for adapt in (_gathered, _cleared, _unblocked, _shared):
        action = adapt(action, facts)
    return action


def _gathered(action: Action, facts: frozenset[Fact]) -> Action:
    """The action with all that is wanted of the item it arranges: what it is put down beside must all be at that place."""
    made = next((f for f in action.adds if f[0] in ARRANGED), None)
    if made is None or ("holding", made[1]) not in action.needs:
        return action
    place = next(f[2] for f in action.adds if f[0] == "at")
    wanted = {(f[0].removeprefix("wanted_"), *f[1:]) for f in facts if f[0].startswith("wanted_") and f[1] == made[1]}
    more = {f for f in wanted if f[0] in ARRANGED} - action.adds
    others = {f[k] for f in more for k in ((2, 3) if f[0] == "between" else (2,))}
    return replace(action, needs=action.needs | {("at", other, place) for other in others}, adds=action.adds | more)


def _cleared(action: Action, facts: frozenset[Fact]) -> Action:
    """The action with what hangs over the places it reaches into, or opens, out of the way."""
    opened = {f[1] for f in action.adds if f[0] == "opened"}
    reached = {f[2] for f in (*action.adds, *action.removes) if f[0] == "at"}
    reached |= {f[1] for f in facts if f[0] == "gate" and f[2] in opened}
    covers = {("away", f[1]) for f in facts if f[0] == "covers" and f[2] in reached}
    return replace(action, needs=action.needs | covers) if covers else action


def _unblocked(action: Action, facts: frozenset[Fact]) -> Action:
    """The action with what stands in the way of the part it moves put elsewhere before it.

    What is taken up is put down out of the way, unless it is put among other things: then only these say where.
    """
    moved = {f[1] for f in action.adds if f[0] in ("opened", "shut")}
    blockers = {f[1] for f in facts if f[0] == "blocks"}
    taken = {f[1] for f in action.adds if f[0] == "holding"} & blockers
    arranged = {f[1] for f in action.adds if f[0] in ARRANGED | {"posed"}} & blockers
    return replace(
        action,
        needs=action.needs | {("aside", f[1]) for f in facts if f[0] == "blocks" and f[2] in moved},
        adds=action.adds | {("aside", item) for item in taken},
        removes=action.removes | {("aside", item) for item in arranged},
    )


def _shared(action: Action, facts: frozenset[Fact]) -> Action:
    """The action as far as it is about tops that take several things: what has such a top is picked up when nothing is on it, and
    nothing is put where something is that leaves no room for it."""
    tops = {f[1]: f[2] for f in facts if f[0] == "broad_top"}
    put = {f[1:] for f in action.adds if f[0] == "at" and f[2] in tops}
    taken = {f[1:] for f in action.removes if f[0] == "at" and f[2] in tops} - put
    lifted = {f[1] for f in action.adds if f[0] == "holding"}
    bare = {top for top, owner in tops.items() if owner in lifted}
    if not (put or taken or bare):
        return action
    on = {f for f in facts if f[0] in ("off", "at") and f[2] in bare}
    crowding = {("off", f[2], f[3]) for f in facts if f[0] == "crowds" and (f[1], f[3]) in put}
    return replace(
        action,
        needs=action.needs | {("off", *f[1:]) for f in on} | crowding,
        adds=action.adds | {("off", *at) for at in taken},
        removes=action.removes | {("off", *at) for at in put},
    )


def _with_stale(action: Action, moving: set[Fact]) -> Action:
    taken = {f[1] for f in action.adds if f[0] == "holding"}
    if not taken:
        return action
    stale = {f for f in moving if not taken.isdisjoint(f[1:])}
    return Action(action.step, action.needs, action.adds, action.removes | stale)


# ------------------------------------------------------------------ search


@dataclass(frozen=True)
class Result:
    """Steps that do it, or why there are none."""

    steps: tuple[Step, ...] | None
    unreachable: tuple[Fact, ...] = ()
    """Wanted facts that no action brings about, whatever else is done."""
    looked_at: int = 0
    """States examined."""
    exhausted: bool = False
    """Whether no plan exists, rather than none was found."""


def solve(situation: Situation, actions: tuple[Action, ...]) -> Result:
    """The shortest plan, or one near to it when that takes too long to find; bounded by `ROUNDS`."""
    able = situation.facts.union(*(a.adds for a in actions))
    unreachable = tuple(f for f in situation.wanted if f not in able)
    if unreachable:
        return Result(None, unreachable, exhausted=True)
    task = _Task(situation, actions)
    looked = 0
    for weight, most in ROUNDS:
        plan, seen, exhausted = _search(task, weight, most)
        looked += seen
        if plan is not None or exhausted:
            return Result(plan, looked_at=looked, exhausted=plan is None)
    return Result(None, looked_at=looked)


@dataclass
class _Node:
    state: int
    """Facts as bits."""
    cost: int
    cuts: list[NDArray[np.bool_]]
    last: int = -1
    """The action that led here."""
    before: _Node | None = None
    refined: bool = field(default=False)


def _search(task: _Task, weight: int, most: int) -> tuple[tuple[Step, ...] | None, int, bool]:
    """A plan or None, the number of states looked at, and whether there were no more to look at."""
    ticket = count()
    queue: list[tuple[int, int, int, _Node]] = []
    cheapest = {task.start: 0}

    def push(node: _Node) -> None:
        to_go = len(node.cuts)
        heapq.heappush(queue, (node.cost + weight * to_go, to_go, next(ticket), node))

    push(_Node(task.start, 0, []))
    looked = 0
    while queue:
        node = heapq.heappop(queue)[3]
        if node.cost > cheapest[node.state]:
            continue
        if node.state & task.goal == task.goal:
            return _steps(task, node), looked, False
        if not node.refined:
            if looked == most:
                return None, looked, False
            looked += 1
            more = task.cuts(node.state, node.cuts)
            if more is None:
                continue
            node.refined = True
            if more:
                node.cuts = node.cuts + more
                push(node)
                continue
        for k, (needs, removes, adds) in enumerate(task.bits):
            if node.state & needs != needs:
                continue
            state = node.state & ~removes | adds
            if node.cost + 1 < cheapest.get(state, _FAR):
                cheapest[state] = node.cost + 1
                push(_Node(state, node.cost + 1, [c for c in node.cuts if not c[k]], k, node))
    return None, looked, True


def _steps(task: _Task, node: _Node) -> tuple[Step, ...]:
    steps = []
    at: _Node | None = node
    while at is not None and at.last >= 0:
        steps.append(task.actions[at.last].step)
        at = at.before
    return tuple(reversed(steps))


class _Task:
    """A grounded problem, as bits for the search and as arrays for the heuristic."""

    def __init__(self, situation: Situation, actions: tuple[Action, ...]) -> None:
        self.actions = actions
        changing = {f for a in actions for f in (*a.needs, *a.adds, *a.removes)} | set(situation.wanted)
        index = {fact: k for k, fact in enumerate(sorted(changing))}

        def bits(facts: frozenset[Fact]) -> int:
            return sum(1 << index[f] for f in facts if f in index)

        self.start, self.goal = bits(situation.facts), bits(frozenset(situation.wanted))
        self.bits = [(bits(a.needs), bits(a.removes), bits(a.adds)) for a in actions]
        self._facts = len(index)
        nothing, sink = self._facts, self._facts + 1  # a fact that is always true, and one that nobody asks for
        self._needs = _padded([[index[f] for f in sorted(a.needs)] for a in actions], nothing)
        self._adds = _padded([[index[f] for f in sorted(a.adds)] for a in actions], sink)
        self._goals = np.array([index[f] for f in situation.wanted], dtype=np.intp)
        self._rows = np.arange(len(actions))

    def cuts(self, state: int, known: list[NDArray[np.bool_]]) -> list[NDArray[np.bool_]] | None:
        """Landmark cuts besides those known, as masks over the actions; None when the goal is out of reach."""
        price = np.ones(len(self.actions), dtype=np.int32)
        for cut in known:
            price[cut] = 0
        now = np.array([bool(state >> k & 1) for k in range(self._facts)] + [True, False])
        found: list[NDArray[np.bool_]] = []
        while True:
            value = self._values(now, price)
            nearest = value[self._goals]
            if nearest.max() >= _FAR:
                return None
            if nearest.max() == 0:
                return found
            cut = self._cut(now, price, value, int(self._goals[nearest.argmax()]))
            price[cut] = 0
            found.append(cut)

    def _values(self, now: NDArray[np.bool_], price: NDArray[np.int32]) -> NDArray[np.int32]:
        """Cost of every fact when the dearest need of an action counts alone (h-max), shape (facts + 2,)."""
        value = np.where(now, 0, _FAR).astype(np.int32)
        width = self._adds.shape[1]
        while True:
            reached = value[self._needs].max(axis=1) + price
            better = value.copy()
            np.minimum.at(better, self._adds.ravel(), np.repeat(reached, width))
            better[-1] = _FAR
            if np.array_equal(better, value):
                return value
            value = better

    def _cut(self, now: NDArray[np.bool_], price: NDArray[np.int32], value: NDArray[np.int32], goal: int) -> NDArray[np.bool_]:
        """Actions that lead from what is in reach into the facts from which `goal` costs nothing more."""
        of_needs = value[self._needs]
        dearest = of_needs.argmax(axis=1)
        support = self._needs[self._rows, dearest]
        possible = of_needs[self._rows, dearest] < _FAR
        free = possible & (price == 0)
        zone = np.zeros(len(value), dtype=bool)
        zone[goal] = True
        size = 0
        while size != (size := int(zone.sum())):
            zone[support[free & zone[self._adds].any(axis=1)]] = True
        before = now.copy()
        size = 0
        while size != (size := int(before.sum())):
            before[self._adds[possible & before[support]].ravel()] = True
            before &= ~zone
        mask: NDArray[np.bool_] = possible & before[support] & zone[self._adds].any(axis=1)
        return mask


def _padded(rows: list[list[int]], fill: int) -> NDArray[np.intp]:
    width = max((len(r) for r in rows), default=0) or 1
    return np.array([r + [fill] * (width - len(r)) for r in rows], dtype=np.intp).reshape(-1, width)
