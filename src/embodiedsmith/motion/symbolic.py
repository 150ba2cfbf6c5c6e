"""What to do in which order: the goal as facts, skills as operators, a plan by search.

No category is named here, so that a new kind of object or furniture is planned for at once. Goals that leave a choice have
several ways: they are tried in order, and the first that has a plan is taken.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

from embodiedsmith.motion import planner
from embodiedsmith.motion.errors import MotionError
from embodiedsmith.motion.facts import FLOOR, Survey, place_of
from embodiedsmith.motion.grasping import FINGER_ROOM
from embodiedsmith.motion.operators import ARRANGED, FACTS, STALE, Operator, Step
from embodiedsmith.motion.planner import Action, Fact, Situation
from embodiedsmith.motion.skills import skills
from embodiedsmith.motion.wishes import Wish, bar_of, contradiction, point_place, staying, steadied, ways
from embodiedsmith.spec import Goal, Predicate, Sequence, predicates, split_reference
from embodiedsmith.tasks.kind import cavities
from embodiedsmith.tasks.registry import predicate
from embodiedsmith.tasks.sides import SIDES
from embodiedsmith.world import World

__all__ = ["Situation", "describe", "operators", "place_of", "plan", "progress", "search", "situations"]

_ASKED = frozenset(
    {
        "wanted_held",
        "wanted_steady",
        "wanted_both",
        "wanted_near",
        "wanted_touching",
        "wanted_posed",
        "wanted_beside",
        "wanted_between",
        "wanted_draped",
    }
)
_ARRANGES = frozenset({*ARRANGED, "touching", "draped"})
LASTING = frozenset({"at", "opened", "shut", "upright", *ARRANGED})
"""Facts that, once brought about by a stage of a sequence, are wanted by later ones too unless these undo them."""


def plan(world: World, goal: Goal, held: str | None = None, *, reached: int = 0) -> tuple[Step, ...]:
    """Steps that bring about `goal` from the world as it is, with `held` in the hand; as few as there can be, or nearly.

    A sequence is planned stage by stage, and what a stage brings about lasts unless a later one undoes it; of alternatives, the
    first that has a plan is taken. The same facts give the same plan.

    Args:
        world: As it is now.
        goal: What is to be.
        held: The item in the hand.
        reached: How many stages of the sequence have been reached already.

    Raises:
        MotionError: `plan.contradictory` naming two facts that exclude each other, `plan.unsupported` for goals no skill can
            bring about, `plan.no_symbolic_plan` naming the facts for which no steps were found, `plan.in_the_way` naming what
            would have to be moved although the goal says that it stays.
    """
    kept = staying(goal)
    try:
        return _plan(world, goal, held, reached, kept)
    except MotionError as error:
        if kept and error.code == "plan.no_symbolic_plan":
            _blame_kept(world, goal, held, reached, kept)
        raise _with_reason(error, world, goal) from error


def _plan(world: World, goal: Goal, held: str | None, reached: int, kept: frozenset[str]) -> tuple[Step, ...]:
    survey = _survey(world, goal, held, kept)
    steps: list[Step] = []
    start: frozenset[Fact] | None = None
    lasting: tuple[Fact, ...] = ()
    for k, stage in enumerate(goal.goals if isinstance(goal, Sequence) else (goal,)):
        options = [_and_lasting(way, lasting) for way in _situations(survey, stage, start)]
        if k < reached:
            lasting = tuple(f for f in options[0].wanted if f[0] in LASTING)
            continue
        try:
            situation, more = _first_plan(iter(options))
        except MotionError:
            if not lasting:
                raise
            situation, more = _first_plan(_situations(survey, stage, start))
        steps += [replace(step, stage=k) for step in more]
        start = progress(situation, list(more))
        lasting = tuple(f for f in situation.wanted if f[0] in LASTING)
    return tuple(steps)


def _blame_kept(world: World, goal: Goal, held: str | None, reached: int, kept: frozenset[str]) -> None:
    """Raise `plan.in_the_way` if there is a plan once what must stay may be moved."""
    try:
        steps = _plan(world, goal, held, reached, frozenset())
    except MotionError:
        return
    survey = _survey(world, goal, held, kept)
    moved = {step.args[0] for step in steps if step.skill in ("pick", "push")}
    moved |= {item for step in steps for item in survey.carried(step.args[0]) if step.skill in ("open", "close")}
    blamed = tuple(sorted(survey.still & moved)) or tuple(sorted(kept))
    said = f"{', '.join(blamed)} would have to be moved, and must stay with {', '.join(sorted(kept))}"
    raise MotionError("plan.in_the_way", f"no plan without moving what must stay: {said}", subjects=blamed)


def _with_reason(error: MotionError, world: World, goal: Goal) -> MotionError:
    """The failure, with how much too wide a thing is that no hand spans, when that is why there is no plan."""
    if error.code != "plan.no_symbolic_plan":
        return error
    items = list(dict.fromkeys(split_reference(a)[0] for p in predicates(goal) for a in p.args))
    facts = Survey(world, None).facts
    for blocker, part in sorted(f[1:] for f in facts if f[0] == "blocks" and ("bulky", f[1]) in facts):
        if split_reference(part)[0] in items:
            said = f"{blocker} is in the way of {part} and no hand takes it from there"
            return _too_wide(world, blocker, "plan.in_the_way", said, part) or MotionError(
                "plan.in_the_way", said, subjects=(blocker, part)
            )
    reasons = (_too_wide(world, item, error.code, error.what) for item in items)
    return next((reason for reason in reasons if reason is not None), error)


def _too_wide(world: World, item: str, code: str, what: str, *about: str) -> MotionError | None:
    """A failure with the width of an item that no gripper takes; None when it does."""
    widest = world.robot.arm.gripper.max_width - FINGER_ROOM
    narrowest = min((g.width for g in world.assets[item].affordances.grasps), default=0.0)
    if narrowest < widest:
        return None
    reason = f"{item} is {100 * narrowest:.1f} cm wide where it is narrowest, the gripper takes {100 * widest:.1f} cm"
    return MotionError(code, f"{what}: {reason}", subjects=(item, *about), value=narrowest, limit=widest)


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


# ------------------------------------------------------------------ facts


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
    return _situations(_survey(world, goal, held, staying(goal)), goal, start)


def _survey(world: World, goal: Goal, held: str | None, kept: frozenset[str]) -> Survey:
    beside = ("near", "touching", "between", *SIDES)
    asked = tuple(a for p in predicates(goal) if p.name in beside for a in p.args[1:])
    return Survey(world, held, asked, kept, steadied(goal))


def _situations(survey: Survey, goal: Goal, start: frozenset[Fact] | None) -> Iterator[Situation]:
    now = set(survey.facts)
    for p in predicates(goal):
        _correct(now, survey.world, p, survey)
    facts = frozenset(now) if start is None else frozenset(f for f in start if f[0] not in _ASKED)
    for wanted in ways(Wish(survey, facts, frozenset(a for p in predicates(goal) for a in p.args)), goal):
        yield Situation(survey.objects, facts | _asks(survey, wanted, goal), wanted)


def _asks(survey: Survey, wanted: tuple[Fact, ...], goal: Goal) -> set[Fact]:
    """What skills that put things down are asked for."""
    asks = {(f"wanted_{f[0]}", *f[1:]) for f in wanted if f[0] in _ARRANGES}
    asks |= {("wanted_near", *f[1:]) for f in wanted if f[0] == "touching"}  # what is to touch is brought near first
    asks |= {("wanted_steady" if f[1] in survey.steady else "wanted_held", f[1]) for f in wanted if f[0] == "held_by"}
    asks |= {("wanted_both", f[1]) for f in wanted if f[0] == "in_both"}
    points = {p.args[0]: p for p in predicates(goal) if p.name == "at" and ("posed", p.args[0]) in wanted}
    return asks | {("wanted_posed", item, point_place(survey.world, p)) for item, p in points.items()}


def _and_lasting(situation: Situation, lasting: tuple[Fact, ...]) -> Situation:
    """The situation with those facts wanted, too, that were brought about before and that it does not undo."""
    more = tuple(f for f in lasting if f not in situation.wanted and not _undone(f, situation))
    asks = {(f"wanted_{f[0]}", *f[1:]) for f in more if f[0] in _ARRANGES}
    return replace(situation, facts=situation.facts | asks, wanted=situation.wanted + more)


def _undone(fact: Fact, situation: Situation) -> bool:
    """Whether what a stage wants undoes a fact, or needs to."""
    placed = {f[1] for f in situation.wanted if f[0] in ("at", "holding", "held_by", "in_both", *STALE)}
    match fact[0]:
        case "opened":
            return ("shut", fact[1]) in situation.wanted
        case "shut":
            behind = {f[1] for f in situation.facts if f[0] == "gate" and f[2] == fact[1]}
            reached = {f for f in situation.wanted if f[0] == "at" and f[2] in behind and f not in situation.facts}
            there = {f[1] for f in situation.facts if f[0] == "at" and f[2] in behind}
            return ("opened", fact[1]) in situation.wanted or bool(reached or there & placed)
        case "at" | "upright":
            return fact[1] in placed
    return not placed.isdisjoint(fact[1:])


def _correct(facts: set[Fact], world: World, p: Predicate, survey: Survey) -> None:
    """Let the goal's own margins decide on the facts it speaks of: they may ask for more than the facts do, and for what no fact
    shows."""

    def holds(*args: str) -> bool:
        return predicate(p.name).margin(world, args, p.params) > 0

    match p.name:
        case "near" | "touching" | "between":
            if p.args[0] != survey.held and holds(*p.args):
                facts.add((p.name, *p.args))
            if p.name == "touching" and p.args[0] != survey.held and predicate("near").margin(world, p.args) > 0:
                facts.add(("near", *p.args))
        case "at" | "left_of" | "right_of" | "in_front_of" | "behind":
            if p.args[0] != survey.held and holds(*p.args):
                facts.add(("posed", p.args[0]) if p.name == "at" else ("beside", *p.args, p.name))
        case "folded" | "covers" if holds(*p.args):
            facts.add(("folded" if p.name == "folded" else "draped", *p.args))
        case "wiped" if holds(*p.args):
            facts.add(("wiped", *p.args))
        case "hung" if holds(*p.args):
            facts.add(("hung", p.args[0], bar_of(world, p.args[1])))
        case "straightened" if holds(*p.args):
            facts.add(("straight", *p.args))
        case "inside" if _stands_on(survey, *p.args) and holds(*p.args):
            _move_in(facts, survey, *p.args)
        case "scooped" if holds(*p.args):
            facts.add(("scooped", p.args[0], split_reference(p.args[1])[0]))
        case "poured" | "filled" if holds(*p.args):
            targets = {split_reference(p.args[-1])[0]}
            facts |= {("poured", f[2], t) for f in survey.facts if f[0] == "contains" for t in targets}
        case "open" | "closed" | "turned" | "upright":
            name = {"open": "opened", "closed": "shut", "turned": "opened", "upright": "upright"}[p.name]
            about = {f for f in facts if f[0] == name and p.args[0] in (f[1], split_reference(f[1])[0])}
            facts -= {f for f in about if not holds(f[1])}


def _stands_on(survey: Survey, item: str, reference: str) -> bool:
    """Whether an item is on top of something that has a cavity meant by a reference, too."""
    owner, part = split_reference(reference)
    place = survey.places.get(survey.at.get(item, FLOOR))
    return place is not None and place.owner == owner and not place.cavity and bool(cavities(survey.world.assets[owner], part))


def _move_in(facts: set[Fact], survey: Survey, item: str, reference: str) -> None:
    """What stands on something, and counts as in it, is in it where the goal says so."""
    owner, part = split_reference(reference)
    cavity, top = cavities(survey.world.assets[owner], part)[0], survey.at[item]
    facts.remove(("at", item, top))
    facts |= {("at", item, f"{owner}.{cavity.name}"), ("off", item, top)}


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
    actions = _actions(situation, operators())
    result = planner.solve(situation, _to_the_point(situation, actions))
    if result.steps is None and result.exhausted:
        result = planner.solve(situation, actions)
    if result.steps is not None:
        return result.steps
    wanted = result.unreachable or situation.wanted
    said = ", ".join(_said(f) for f in wanted)
    subjects = _things(wanted)
    if result.exhausted:
        raise MotionError("plan.no_symbolic_plan", f"no sequence of skills brings about {said}", subjects=subjects)
    raise MotionError(
        "plan.no_symbolic_plan", f"no sequence of skills was found for {said}, {result.looked_at} situations looked at",
        subjects=subjects, value=float(result.looked_at), limit=float(sum(most for _, most in planner.ROUNDS)),
    )  # fmt: skip


def _to_the_point(situation: Situation, actions: tuple[Action, ...]) -> tuple[Action, ...]:
    """The actions without those that move things nobody asks for and that are in nobody's way, and with one place a zone to put
    things aside: with fewer choices, longer plans are found."""
    facts = situation.facts
    needed = {split_reference(name)[0] for f in situation.wanted for name in f[1:]} | {f[1] for f in facts if f[0] == "holding"}
    reached = needed | {split_reference(f[2])[0] for f in facts if f[0] == "at" and f[1] in needed}
    needed |= {f[1] for f in facts if f[0] == "blocks" and split_reference(f[2])[0] in reached}
    owner = {f[1]: f[2] for f in facts if f[0] in ("on_top", "broad_top")}
    standing = {f[1]: owner[f[2]] for f in facts if f[0] == "at" and f[2] in owner}
    while more := {item for item, below in standing.items() if below in needed} - needed:
        needed |= more
    aside: dict[str, str] = {}
    zone = {f[1]: f[2] for f in facts if f[0] == "place_zone"}
    for name, kind in situation.objects:
        if kind == "place" and {("roomy", name), ("ungated", name)} <= facts and split_reference(name)[0] != FLOOR:
            aside.setdefault(zone[name], name)
    spare = set(aside.values())

    def matters(action: Action) -> bool:
        step = action.step
        if step.skill == "place" and ("at", *step.args) not in situation.wanted and step.args[1] not in spare:
            return False
        return not any(f[0] in ("holding", "at") for f in (*action.adds, *action.removes)) or step.args[0] in needed

    return tuple(action for action in actions if matters(action))


def _refuse(situation: Situation) -> None:
    known = set(situation.objects)
    for fact in situation.wanted:
        if any((name, kind) not in known for name, kind in zip(fact[1:], FACTS[fact[0]], strict=True)):
            about = _things((fact,))
            raise MotionError("plan.unsupported", f"{_said(fact)} is about things that cannot be moved", subjects=about)
    both = contradiction(situation)
    if both is not None:
        subjects = _things(both)
        raise MotionError("plan.contradictory", f"{_said(both[0])} and {_said(both[1])} exclude each other", subjects=subjects)


def _things(facts: tuple[Fact, ...]) -> tuple[str, ...]:
    """Items, parts and places that facts speak of, each once."""
    return tuple(dict.fromkeys(name for f in facts for name in f[1:] if name not in SIDES))


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
