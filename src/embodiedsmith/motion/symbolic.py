"""What to do in which order: the goal as facts, skills as operators, a plan by search.

No category is named here, so that a new kind of object or furniture is planned for at once. Goals that leave a choice have
several ways: they are tried in order, and the first that has a plan is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from itertools import combinations, islice, product

import numpy as np

from embodiedsmith.motion import planner
from embodiedsmith.motion.errors import MotionError
from embodiedsmith.motion.facts import FLOOR, Survey, crowded, place_at, place_of
from embodiedsmith.motion.operators import FACTS, Operator, Step
from embodiedsmith.motion.planner import Action, Fact, Situation
from embodiedsmith.motion.skills import skills
from embodiedsmith.spec import All, Any, Goal, Not, Predicate, Sequence, predicates, split_reference
from embodiedsmith.tasks.kind import cavities, surfaces
from embodiedsmith.tasks.registry import predicate
from embodiedsmith.world import World

__all__ = ["Situation", "describe", "operators", "place_of", "plan", "progress", "search", "situations"]

MOST_WAYS = 16
"""Ways to reach a goal that are looked at: alternatives multiply."""
_ASKED = frozenset({"wanted_near", "wanted_touching", "wanted_posed"})


def plan(world: World, goal: Goal, held: str | None = None) -> tuple[Step, ...]:
    """Steps that bring about `goal` from the world as it is, with `held` in the hand; as few as there can be, or nearly.

    A sequence is planned stage by stage; of alternatives, the first that has a plan is taken. The same facts give the same plan.

    Raises:
        MotionError: `plan.contradictory` naming two facts that exclude each other, `plan.unsupported` for goals no skill can
            bring about, `plan.no_symbolic_plan` naming the facts for which no steps were found.
    """
    stages = goal.goals if isinstance(goal, Sequence) else (goal,)
    steps: list[Step] = []
    start: frozenset[Fact] | None = None
    for stage in stages:
        try:
            situation, more = _first_plan(situations(world, stage, held, start=start))
        except MotionError as error:
            raise _with_reason(error, world, goal) from error
        steps += more
        start = progress(situation, list(more))
    return tuple(steps)


def _with_reason(error: MotionError, world: World, goal: Goal) -> MotionError:
    """The failure, with how much too wide a thing is that no hand spans, when that is why there is no plan."""
    widest = world.robot.arm.gripper.max_width
    for item in dict.fromkeys(split_reference(a)[0] for p in predicates(goal) for a in p.args):
        widths = [g.width for g in world.assets[item].affordances.grasps]
        if error.code == "plan.no_symbolic_plan" and widths and min(widths) >= widest:
            reason = f"{item} is {100 * min(widths):.1f} cm wide where it is narrowest, the gripper opens {100 * widest:.1f} cm"
            return MotionError(error.code, f"{error.what}: {reason}", subjects=(item,), value=min(widths), limit=widest)
    return error


def _first_plan(ways: Iterator[Situation]) -> tuple[Situation, tuple[Step, ...]]:
    failures: list[MotionError] = []
    for situation in ways:
        try:
            return situation, search(situation)
        except MotionError as error:
            failures.append(error)
    if len(failures) == 1:
        raise failures[0]
    reasons = "; ".join(dict.fromkeys(f.what for f in failures))
    raise MotionError(failures[0].code, f"none of {len(failures)} ways: {reasons}", subjects=failures[0].subjects)


def describe(world: World, goal: Goal, held: str | None, *, start: frozenset[Fact] | None = None) -> Situation:
    """The facts of the world now (or `start` instead) and those that `goal` wants, in its first way; see `situations`."""
    return next(situations(world, goal, held, start=start))


def situations(world: World, goal: Goal, held: str | None, *, start: frozenset[Fact] | None = None) -> Iterator[Situation]:
    """One situation for every way to reach `goal`, at least one.

    Args:
        world: As it is now.
        goal: Not a sequence of several stages: of one, the last counts.
        held: The item in the hand.
        start: What of the changing facts is true instead of what the world shows.

    Raises:
        MotionError: `plan.unsupported`, when no way is open to any skill.
    """
    asked = tuple(p.args[1] for p in predicates(goal) if p.name in ("near", "touching"))
    survey = Survey(world, held, asked)
    now = set(survey.facts)
    for p in predicates(goal):
        _correct(now, world, p, survey)
    for wanted in _ways(_Wish(survey, frozenset(a for p in predicates(goal) for a in p.args)), goal):
        added = {(f"wanted_{f[0]}", *f[1:]) for f in wanted if f[0] in ("near", "touching")}
        added |= {("wanted_near", *f[1:]) for f in wanted if f[0] == "touching"}  # what is to touch is brought near first
        for p in predicates(goal):
            if p.name == "at" and ("posed", p.args[0]) in wanted:
                added.add(("wanted_posed", p.args[0], _point_place(world, p)))
        facts = frozenset(now) if start is None else frozenset(f for f in start if f[0] not in _ASKED)
        yield Situation(survey.objects, facts | added, wanted)


def _correct(facts: set[Fact], world: World, p: Predicate, survey: Survey) -> None:
    """Let the goal's own margins decide on the facts it speaks of: they may ask for more than the facts do, and for what no fact
    shows."""

    def holds(*args: str) -> bool:
        return predicate(p.name).margin(world, args, p.params) > 0

    match p.name:
        case "near" | "touching" | "at":
            if p.args[0] != survey.held and holds(*p.args):
                facts.add(("posed", p.args[0]) if p.name == "at" else (p.name, *p.args))
            if p.name == "touching" and p.args[0] != survey.held and predicate("near").margin(world, p.args) > 0:
                facts.add(("near", *p.args))
        case "open" | "closed" | "upright":
            name = {"open": "opened", "closed": "shut", "upright": "upright"}[p.name]
            about = {f for f in facts if f[0] == name and p.args[0] in (f[1], split_reference(f[1])[0])}
            facts -= {f for f in about if not holds(f[1])}


# ------------------------------------------------------------------ what is wanted


class _Wish:
    """The world as the goal looks at it: where things are, and which parts the goal itself speaks of."""

    def __init__(self, survey: Survey, named: frozenset[str]) -> None:
        self.survey, self.world, self.named = survey, survey.world, named
        self.going = dict(survey.at)
        """Where each item will be as far as the goal has been read, so that many things are spread over many shelves."""

    def open_way(self, gate: str) -> bool:
        """Whether a place behind `gate` is accessible, or will be because the goal moves that part anyway."""
        return not gate or gate in self.named or ("opened", gate) in self.survey.facts


def _ways(wish: _Wish, goal: Goal) -> list[tuple[Fact, ...]]:
    """The facts that make `goal` true, in each way there is; most wanted first.

    Raises:
        MotionError: `plan.unsupported`, with the reasons, when there is none.
    """
    match goal:
        case Predicate():
            if goal.name not in _WANTED:
                raise MotionError("plan.unsupported", f"no skill brings about '{goal.name}'", subjects=goal.args)
            return [tuple(_WANTED[goal.name](wish, goal))]
        case All():
            choices = islice(product(*(_ways(wish, part) for part in goal.goals)), MOST_WAYS)
            return [tuple(dict.fromkeys(f for facts in choice for f in facts)) for choice in choices]
        case Any():
            return _alternatives(wish, goal)
        case Not():
            return _opposite(wish, goal.goal)
        case Sequence():
            return _ways(wish, goal.goals[-1])
    raise MotionError("plan.unsupported", f"goals are not made of {type(goal).__name__}")


def _alternatives(wish: _Wish, goal: Any) -> list[tuple[Fact, ...]]:
    found: list[tuple[Fact, ...]] = []
    reasons: list[str] = []
    for way in goal.goals:
        try:
            found += _ways(wish, way)
        except MotionError as error:
            reasons.append(error.what)
    if not found:
        raise MotionError("plan.unsupported", "; ".join(reasons))
    return found[:MOST_WAYS]


def _want_place(kind: str) -> Callable[[_Wish, Predicate], Iterable[Fact]]:
    def facts(wish: _Wish, p: Predicate) -> Iterable[Fact]:
        item, reference = p.args
        owner, part = split_reference(reference)
        asset, survey = wish.world.assets[owner], wish.survey
        parts = surfaces(asset, part) if kind == "support" else cavities(asset, part)
        if not parts:
            raise MotionError("plan.unsupported", f"{reference} has no {kind}", subjects=p.args)
        options = [survey.places[f"{owner}.{s.name}"] for s in parts]

        def awkward(k: int) -> tuple[bool, bool, bool, int]:
            place = options[k]
            full = crowded(wish.world, place, wish.going, item)
            return survey.at.get(item) != place.name, not wish.open_way(place.gate), full, k

        wish.going[item] = options[min(range(len(options)), key=awkward)].name
        yield ("at", item, wish.going[item])

    return facts


def _want_part(fact: str) -> Callable[[_Wish, Predicate], Iterable[Fact]]:
    def facts(wish: _Wish, p: Predicate) -> Iterable[Fact]:
        owner, part = split_reference(p.args[0])
        parts = [f"{owner}.{name}" for name in wish.world.assets[owner].joints if part in (None, name)]
        if not parts:
            raise MotionError("plan.unsupported", f"{p.args[0]} has nothing that opens", subjects=p.args)
        if fact == "shut":
            return [(fact, name) for name in parts]
        return [(fact, max(parts, key=lambda name: round(wish.world.joint(name)[1], 2)))]

    return facts


def _point_place(world: World, p: Predicate) -> str:
    point = np.array([p.params[axis] for axis in "xyz"])
    return place_at(world, p.args[0], point, float(point[2]) + world.assets[p.args[0]].extents[0][2])


def _want_point(wish: _Wish, p: Predicate) -> Iterable[Fact]:
    if _point_place(wish.world, p) == FLOOR:
        raise MotionError("plan.unsupported", f"there is nothing to put {p.args[0]} on at the point asked for", subjects=p.args)
    return [("posed", p.args[0])]


_WANTED: dict[str, Callable[[_Wish, Predicate], Iterable[Fact]]] = {
    "on": _want_place("support"),
    "inside": _want_place("cavity"),
    "open": _want_part("opened"),
    "closed": _want_part("shut"),
    "grasped": lambda _, p: [("holding", p.args[0])],
    "lifted": lambda _, p: [("holding", p.args[0])],
    "upright": lambda _, p: [("upright", p.args[0])],
    "near": lambda _, p: [("near", *p.args)],
    "touching": lambda _, p: [("touching", *p.args)],
    "at": _want_point,
}


def _opposite(wish: _Wish, goal: Goal) -> list[tuple[Fact, ...]]:
    match goal:
        case Not():
            return _ways(wish, goal.goal)
        case Predicate(name="open"):
            return [tuple(_WANTED["closed"](wish, goal))]
        case Predicate(name="closed"):
            return [tuple(_WANTED["open"](wish, goal))]
        case Predicate(name="on" | "inside"):
            away = _elsewhere(wish, *goal.args)
            if away:
                return [(("at", goal.args[0], away),)]
    raise MotionError("plan.unsupported", "no skill brings about the opposite of this goal")


def _elsewhere(wish: _Wish, item: str, reference: str) -> str | None:
    """Where an item goes that must leave what `reference` names: a surface of furniture, that which this stands on first."""
    survey = wish.survey
    owner = split_reference(reference)[0]
    below = wish.world.scenario.scene.item(owner).parent
    zone = survey.zone(owner)
    free = [p for p in survey.places.values() if not (p.cavity or p.gate or p.owner == owner or p.owner in survey.movable)]
    if not free:
        return None

    def awkward(k: int) -> tuple[bool, bool, bool, int]:
        place = free[k]
        full = crowded(wish.world, place, survey.at, item)
        return survey.zone(place.owner) != zone, full, place.owner not in (below, zone), k

    return free[min(range(len(free)), key=awkward)].name


# ------------------------------------------------------------------ contradictions


def _contradiction(situation: Situation) -> tuple[Fact, Fact] | None:
    """Two facts wanted that exclude each other."""
    for first, second in combinations(situation.wanted, 2):
        names = {first[0], second[0]}
        alike = first[1] == second[1]
        one_item_twice = names == {"at"} and alike
        two_in_hand = names == {"holding"}
        in_hand_and_put = names == {"holding", "at"} and alike
        open_and_shut = names == {"opened", "shut"} and alike
        if one_item_twice or two_in_hand or in_hand_and_put or open_and_shut:
            return first, second
        full = names == {"at"} and first[2] == second[2] and ("roomy", first[2]) not in situation.facts
        if full or _lifts_what_carries(situation, first, second) or _lifts_what_carries(situation, second, first):
            return first, second
    return _circle(situation)


def _lifts_what_carries(situation: Situation, held: Fact, put: Fact) -> bool:
    """Nothing is picked up with something on top of it."""
    return held[0] == "holding" and put[0] == "at" and ("on_top", put[2], held[1]) in situation.facts


def _circle(situation: Situation) -> tuple[Fact, Fact] | None:
    """Two of the wanted facts by which things would stand on themselves."""
    on = {f[1]: (split_reference(f[2])[0], f) for f in situation.wanted if f[0] == "at"}
    for item in on:
        at, seen = item, [item]
        while at in on and len(seen) <= len(on):
            at = on[at][0]
            if at == item:
                return on[seen[0]][1], on[seen[-1]][1]
            seen.append(at)
    return None


# ------------------------------------------------------------------ search


@lru_cache(maxsize=256)
def search(situation: Situation) -> tuple[Step, ...]:
    """The fewest steps found that bring about what is wanted.

    Raises:
        MotionError: `plan.contradictory`, `plan.unsupported` or `plan.no_symbolic_plan`.
    """
    if set(situation.wanted) <= situation.facts:
        return ()
    _refuse(situation)
    result = planner.solve(situation, _actions(situation, operators()))
    if result.steps is not None:
        return result.steps
    wanted = result.unreachable or situation.wanted
    said = ", ".join(_said(f) for f in wanted)
    subjects = tuple(dict.fromkeys(name for f in wanted for name in f[1:]))
    if result.exhausted:
        raise MotionError("plan.no_symbolic_plan", f"no sequence of skills brings about {said}", subjects=subjects)
    raise MotionError(
        "plan.no_symbolic_plan", f"no sequence of skills was found for {said}, {result.looked_at} situations looked at",
        subjects=subjects, value=float(result.looked_at), limit=float(sum(most for _, most in planner.ROUNDS)),
    )  # fmt: skip


def _refuse(situation: Situation) -> None:
    known = set(situation.objects)
    for fact in situation.wanted:
        if any((name, kind) not in known for name, kind in zip(fact[1:], FACTS[fact[0]], strict=True)):
            raise MotionError("plan.unsupported", f"{_said(fact)} is about things that cannot be moved", subjects=fact[1:])
    both = _contradiction(situation)
    if both is not None:
        subjects = tuple(dict.fromkeys(name for f in both for name in f[1:]))
        raise MotionError("plan.contradictory", f"{_said(both[0])} and {_said(both[1])} exclude each other", subjects=subjects)


def _said(fact: Fact) -> str:
    return f"{fact[0]}({', '.join(fact[1:])})"


@lru_cache(maxsize=16)
def _actions(situation: Situation, known: tuple[Operator, ...]) -> tuple[Action, ...]:
    return planner.ground(situation, known, _impossible)


def _impossible(fact: Fact) -> bool:
    """Nothing is put down on the floor, or into itself."""
    return fact[0] == "at" and split_reference(fact[2])[0] in (FLOOR, fact[1])


def progress(situation: Situation, steps: list[Step]) -> frozenset[Fact]:
    """Facts after `steps`."""
    facts = situation.facts
    if not steps:
        return facts
    for step in steps:
        done = next((a for a in _actions(situation, operators()) if a.step == step and a.needs <= facts), None)
        if done is not None:
            facts = done.apply(facts)
    return facts


def operators() -> tuple[Operator, ...]:
    """Operators of every skill."""
    return tuple(o for skill in skills().values() for o in skill.operators)
