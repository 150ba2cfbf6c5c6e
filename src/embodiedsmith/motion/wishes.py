"""What a goal asks for, as facts for the planner, in every way there is; and which of them exclude each other."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import combinations, islice, product

import numpy as np

from embodiedsmith.motion.errors import MotionError
from embodiedsmith.motion.facts import FLOOR, Survey, crowded, place_at
from embodiedsmith.motion.planner import Fact, Situation
from embodiedsmith.spec import All, Any, Goal, Not, Predicate, Sequence, predicates, split_reference
from embodiedsmith.tasks.kind import cavities, surfaces
from embodiedsmith.tasks.sides import SIDES
from embodiedsmith.world import World

MOST_WAYS = 16
"""Ways to reach a goal that are looked at: alternatives multiply."""


class Wish:
    """The world as the goal looks at it: where things are, and which parts the goal itself speaks of."""

    def __init__(self, survey: Survey, facts: frozenset[Fact], named: frozenset[str]) -> None:
        self.survey, self.world, self.facts, self.named = survey, survey.world, facts, named
        self.at = {f[1]: f[2] for f in facts if f[0] == "at"}
        self.going = dict(self.at)
        """Where each item will be as far as the goal has been read, so that many things are spread over many shelves."""

    def open_way(self, gate: str) -> bool:
        """Whether a place behind `gate` is accessible, or will be because the goal moves that part anyway."""
        return not gate or gate in self.named or ("opened", gate) in self.facts


def ways(wish: Wish, goal: Goal) -> list[tuple[Fact, ...]]:
    """The facts that make `goal` true, in each way there is; most wanted first.

    Raises:
        MotionError: `plan.unsupported`, with the reasons, when there is none.
    """
    match goal:
        case Predicate():
            if goal.name not in WANTED:
                raise MotionError("plan.unsupported", f"no skill brings about '{goal.name}'", subjects=goal.args)
            return [tuple(WANTED[goal.name](wish, goal))]
        case All():
            choices = islice(product(*(ways(wish, part) for part in goal.goals)), MOST_WAYS)
            return [tuple(dict.fromkeys(f for facts in choice for f in facts)) for choice in choices]
        case Any():
            return _alternatives(wish, goal)
        case Not():
            return _opposite(wish, goal.goal)
        case Sequence():
            return ways(wish, goal.goals[-1])
    raise MotionError("plan.unsupported", f"goals are not made of {type(goal).__name__}")


def _alternatives(wish: Wish, goal: Any) -> list[tuple[Fact, ...]]:
    found: list[tuple[Fact, ...]] = []
    reasons: list[str] = []
    for way in goal.goals:
        try:
            found += ways(wish, way)
        except MotionError as error:
            reasons.append(error.what)
    if not found:
        raise MotionError("plan.unsupported", "; ".join(reasons))
    return found[:MOST_WAYS]


def _want_place(kind: str) -> Callable[[Wish, Predicate], Iterable[Fact]]:
    def facts(wish: Wish, p: Predicate) -> Iterable[Fact]:
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
            return wish.at.get(item) != place.name, not wish.open_way(place.gate), full, k

        wish.going[item] = options[min(range(len(options)), key=awkward)].name
        yield ("at", item, wish.going[item])

    return facts


def _want_part(fact: str) -> Callable[[Wish, Predicate], Iterable[Fact]]:
    def facts(wish: Wish, p: Predicate) -> Iterable[Fact]:
        owner, part = split_reference(p.args[0])
        parts = [f"{owner}.{name}" for name in wish.world.assets[owner].joints if part in (None, name)]
        if not parts:
            raise MotionError("plan.unsupported", f"{p.args[0]} has nothing that opens", subjects=p.args)
        if fact == "shut":
            return [(fact, name) for name in parts]
        return [(fact, max(parts, key=lambda name: round(wish.world.joint(name)[1], 2)))]

    return facts


def _want_hand(arm: str) -> Callable[[Wish, Predicate], Iterable[Fact]]:
    def facts(wish: Wish, p: Predicate) -> Iterable[Fact]:
        names = [a.name for a in wish.world.robot.arms]
        if arm not in names or len(names) < 2:
            raise MotionError("plan.unsupported", f"{wish.world.robot.name} has no {arm} hand", subjects=p.args)
        return [("held_by", p.args[0], arm)]

    return facts


def bar_of(world: World, reference: str) -> str:
    """A bar as `item.bar`, meant by an item or a part of it."""
    item, part = split_reference(reference)
    return f"{item}.{world.assets[item].affordances.bar(part).name}"


def _want_both(wish: Wish, p: Predicate) -> Iterable[Fact]:
    if ("paired", p.args[0]) not in wish.facts:
        said = f"{wish.world.robot.name} does not hold {p.args[0]} with two hands"
        raise MotionError("plan.unsupported", said, subjects=p.args)
    return [("in_both", p.args[0])]


def point_place(world: World, p: Predicate) -> str:
    point = np.array([p.params[axis] for axis in "xyz"])
    return place_at(world, p.args[0], point, float(point[2]) + world.assets[p.args[0]].extents[0][2])


def _want_point(wish: Wish, p: Predicate) -> Iterable[Fact]:
    if point_place(wish.world, p) == FLOOR:
        raise MotionError("plan.unsupported", f"there is nothing to put {p.args[0]} on at the point asked for", subjects=p.args)
    return [("posed", p.args[0])]


def _want_full(wish: Wish, p: Predicate) -> Iterable[Fact]:
    """Of the liquids that something else holds, the first goes into it."""
    target = split_reference(p.args[0])[0]
    sources = sorted(f for f in wish.facts if f[0] == "contains" and f[1] != target)
    if not sources:
        raise MotionError("plan.unsupported", f"nothing holds a liquid to fill {target} with", subjects=p.args)
    return [("poured", sources[0][2], target)]


WANTED: dict[str, Callable[[Wish, Predicate], Iterable[Fact]]] = {
    "on": _want_place("support"),
    "inside": _want_place("cavity"),
    "open": _want_part("opened"),
    "closed": _want_part("shut"),
    "turned": _want_part("opened"),
    "grasped": lambda _, p: [("holding", p.args[0])],
    "lifted": lambda _, p: [("holding", p.args[0])],
    "squeezed": lambda _, p: [("squeezed", p.args[0])],
    "straightened": lambda _, p: [("straight", p.args[0])],
    "in_left_hand": _want_hand("left"),
    "in_right_hand": _want_hand("right"),
    "in_both_hands": _want_both,
    "upright": lambda _, p: [("upright", p.args[0])],
    "folded": lambda _, p: [("folded", p.args[0])],
    "covers": lambda _, p: [("draped", *p.args)],
    "wiped": lambda _, p: [("wiped", *p.args)],
    "hung": lambda wish, p: [("hung", p.args[0], bar_of(wish.world, p.args[1]))],
    "near": lambda _, p: [("near", *p.args)],
    "between": lambda _, p: [("between", *p.args)],
    "touching": lambda _, p: [("touching", *p.args)],
    "poured": lambda _, p: [("poured", p.args[0], split_reference(p.args[1])[0])],
    "reoriented": lambda wish, p: (("reoriented", p.args[0]),),
    "scooped": lambda _, p: [("scooped", p.args[0], split_reference(p.args[1])[0])],
    "filled": _want_full,
    "unmoved": lambda _, p: [],  # nothing to bring about: the survey lets no skill move it
    "at": _want_point,
    **dict.fromkeys(SIDES, lambda _, p: [("beside", *p.args, p.name)]),
}


def _opposite(wish: Wish, goal: Goal) -> list[tuple[Fact, ...]]:
    match goal:
        case Not():
            return ways(wish, goal.goal)
        case Predicate(name="spilled"):
            return [()]  # nothing to bring about: skills that carry a liquid keep it level
        case Predicate(name="open" | "turned"):
            return [tuple(WANTED["closed"](wish, goal))]
        case Predicate(name="closed"):
            return [tuple(WANTED["open"](wish, goal))]
        case Predicate(name="on" | "inside"):
            away = _elsewhere(wish, *goal.args)
            if away:
                return [(("at", goal.args[0], away),)]
    raise MotionError("plan.unsupported", "no skill brings about the opposite of this goal")


def _elsewhere(wish: Wish, item: str, reference: str) -> str | None:
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
        full = crowded(wish.world, place, wish.at, item)
        return survey.zone(place.owner) != zone, full, place.owner not in (below, zone), k

    return free[min(range(len(free)), key=awkward)].name


def staying(goal: Goal) -> frozenset[str]:
    """Items that the goal wants to stay where they are, in any stage: it would know if they had been elsewhere."""
    match goal:
        case Predicate(name="unmoved"):
            return frozenset(goal.args)
        case All() | Any() | Sequence():
            return frozenset().union(*(staying(part) for part in goal.goals))
    return frozenset()


def steadied(goal: Goal) -> frozenset[str]:
    """Items that one hand is to hold until the end while something is done with others."""
    found: set[str] = set()
    held: set[str] | None = None
    for stage in reversed(goal.goals if isinstance(goal, Sequence) else (goal,)):
        wanted = list(predicates(stage))
        here = {p.args[0] for p in wanted if p.name in ("in_left_hand", "in_right_hand")}
        held = here if held is None else here & held
        found |= {item for item in held if any(p.args[0] != item for p in wanted)}
    return frozenset(found)


# ------------------------------------------------------------------ contradictions


def contradiction(situation: Situation) -> tuple[Fact, Fact] | None:
    """Two facts wanted that exclude each other; None when there are none."""
    for first, second in combinations(situation.wanted, 2):
        names = {first[0], second[0]}
        alike = first[1] == second[1]
        one_item_twice = names == {"at"} and alike
        by_two_hands = names == {"held_by"} and first[2:] != second[2:]
        two_in_hand = names == {"holding"} or (names <= {"holding", "held_by", "in_both"} and not alike and not by_two_hands)
        by_two_arms = names == {"held_by"} and alike
        in_hand_and_put = "at" in names and bool(names & {"holding", "held_by", "in_both", "squeezed"}) and alike
        open_and_shut = names == {"opened", "shut"} and alike
        if one_item_twice or two_in_hand or by_two_arms or in_hand_and_put or open_and_shut or _on_two_sides(first, second):
            return first, second
        lifted = _lifts_what_carries(situation, first, second) or _lifts_what_carries(situation, second, first)
        if lifted or _full(situation, first, second):
            return first, second
    return _circle(situation)


def _on_two_sides(first: Fact, second: Fact) -> bool:
    """Whether two sides of one thing are wanted for another at once, perhaps said the other way round."""
    if {first[0], second[0]} != {"beside"} or {*first[1:3]} != {*second[1:3]}:
        return False
    turn = 1.0 if first[1] == second[1] else -1.0
    return any(a != turn * b for a, b in zip(SIDES[first[3]], SIDES[second[3]], strict=True))


def _full(situation: Situation, first: Fact, second: Fact) -> bool:
    """Whether two things are wanted at one place that does not take both."""
    if {first[0], second[0]} != {"at"} or first[2] != second[2]:
        return False
    return ("roomy", first[2]) not in situation.facts or ("crowds", first[1], second[1], first[2]) in situation.facts


def _lifts_what_carries(situation: Situation, held: Fact, put: Fact) -> bool:
    """Nothing is picked up with something on top of it."""
    if held[0] != "holding" or put[0] != "at":
        return False
    return not situation.facts.isdisjoint((top, put[2], held[1]) for top in ("on_top", "broad_top"))


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
