"""What to do in which order: the goal as facts, skills as operators, a plan by search (unified-planning, pyperplan).

Facts are read off the world, operators off the affordances: no category is named here, so that a new kind of object or
furniture is planned for at once. Only positive facts are used, as the planner wants it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any as Anything

from embodiedsmith.motion.errors import MotionError
from embodiedsmith.motion.operators import FACTS, Operator, Step
from embodiedsmith.motion.skills import skills
from embodiedsmith.spec import All, Any, Goal, Not, Predicate, Sequence, predicates, split_reference
from embodiedsmith.tasks.registry import predicate
from embodiedsmith.world import World

AFIELD = "afield"  # the zone of a vehicle that has not yet gone anywhere
OPENED = 0.55  # fraction from which a part lets the hand through


@dataclass(frozen=True)
class Situation:
    """Facts true now, and facts wanted."""

    objects: frozenset[tuple[str, str]]
    """Name and type."""
    facts: frozenset[tuple[str, ...]]
    wanted: tuple[tuple[str, ...], ...]


@dataclass
class _Builder:
    world: World
    facts: set[tuple[str, ...]] = field(default_factory=set)
    objects: set[tuple[str, str]] = field(default_factory=set)


def plan(world: World, goal: Goal, held: str | None = None) -> tuple[Step, ...]:
    """Steps that bring about `goal` from the world as it is. A sequence is planned stage by stage, an alternative by its first way.

    Raises:
        MotionError: `plan.no_symbolic_plan` naming the facts wanted, or `plan.unsupported` for goals no skill can bring about.
    """
    stages = goal.goals if isinstance(goal, Sequence) else (goal,)
    situation = describe(world, stages[0], held)
    steps = list(search(situation))
    facts = situation
    for stage in stages[1:]:
        facts = describe(world, stage, held, start=progress(facts, steps))
        more = search(facts)
        steps += more
        facts = Situation(facts.objects, progress(facts, list(more)), facts.wanted)
    return tuple(steps)


def describe(world: World, goal: Goal, held: str | None, *, start: frozenset[tuple[str, ...]] | None = None) -> Situation:
    """The facts of the world now (or `start` instead) and those that `goal` wants."""
    builder = _Builder(world)
    _facts_of(builder, held)
    wanted = tuple(dict.fromkeys(wanted_facts(world, goal)))
    for fact in wanted:
        if fact[0] in ("near", "touching"):
            builder.facts.add(("wanted_near", *fact[1:]))
        if fact[0] == "posed":
            builder.facts.add(("wanted_posed", *fact[1:]))
    for p in predicates(goal):
        if p.name in ("near", "touching", "at") and predicate(p.name).margin(world, p.args, p.params) > 0:
            builder.facts.update(_WANTED[p.name](world, p))
    facts = frozenset(builder.facts)
    if start is not None:
        static = {"wanted_near", "wanted_posed"}
        facts = frozenset(f for f in start if f[0] not in static) | frozenset(f for f in facts if f[0] in static)
    return Situation(frozenset(builder.objects), facts, wanted)


def wanted_facts(world: World, goal: Goal) -> Iterable[tuple[str, ...]]:
    """Facts that make `goal` true; raises MotionError `plan.unsupported` for what no skill brings about."""
    match goal:
        case Predicate():
            yield from _WANTED[goal.name](world, goal) if goal.name in _WANTED else _unsupported(goal)
        case All():
            for part in goal.goals:
                yield from wanted_facts(world, part)
        case Any():
            yield from _first_way(world, goal)
        case Not():
            yield from _opposite(world, goal.goal)
        case Sequence():
            yield from wanted_facts(world, goal.goals[-1])


def place_of(world: World, item: str) -> str:
    """The place an item is at now: the cavity it is in or the support it is on, else `floor`."""
    best, name = -0.01, "floor"
    T = world.item_pose(item)
    for other, asset in world.assets.items():
        if other == item:
            continue
        for cavity in asset.affordances.cavities:
            _, T_place = world.cavity(f"{other}.{cavity.name}")
            local = T_place[:3, :3].T @ (T[:3, 3] - T_place[:3, 3])
            inside = min(
                cavity.size[0] / 2 - abs(local[0]), cavity.size[1] / 2 - abs(local[1]), local[2] + 0.02, cavity.size[2] - local[2]
            )
            if inside > best:
                best, name = float(inside), f"{other}.{cavity.name}"
    if name != "floor":
        return name
    lowest = float(world.corners(item)[:, 2].min())
    height = -1.0
    for other, asset in world.assets.items():
        if other == item:
            continue
        for support in asset.affordances.supports:
            _, T_place = world.support(f"{other}.{support.name}")
            local = T_place[:3, :3].T @ (T[:3, 3] - T_place[:3, 3])
            over = abs(local[0]) < support.size[0] / 2 and abs(local[1]) < support.size[1] / 2
            level = float(T_place[2, 3])
            if over and abs(lowest - level) < 0.02 and level > height:
                height, name = level, f"{other}.{support.name}"
    return name


def zone_of(world: World, item: str) -> str:
    """The piece of floor furniture an item belongs to: where a robot on wheels must stand for it."""
    scene = world.scenario.scene
    at = item
    while True:
        parent = scene.item(at).parent
        if parent is None:
            return at
        at = parent


def places(world: World) -> dict[str, str]:
    """Every support and cavity as `item.part`, with the joint gating it (`item.joint`) or ""."""
    found = {"floor": ""}
    for item, asset in world.assets.items():
        for support in asset.affordances.supports:
            gates = [c.joint for c in asset.affordances.cavities if c.name == support.name and c.joint]
            found[f"{item}.{support.name}"] = f"{item}.{gates[0]}" if gates else ""
        for cavity in asset.affordances.cavities:
            found[f"{item}.{cavity.name}"] = f"{item}.{cavity.joint}" if cavity.joint else ""
    return found


def _facts_of(builder: _Builder, held: str | None) -> None:
    world, facts, objects = builder.world, builder.facts, builder.objects
    mobile = world.robot.base.kind == "planar"
    movable = [i.id for i in world.scenario.scene.items if not i.fixed]
    known = places(world)
    for place, gate in known.items():
        objects.add((place, "place"))
        facts.add(("gate", place, gate) if gate else ("ungated", place))
        owner = split_reference(place)[0]
        if owner in movable and not _is_cavity(world, place):
            facts.add(("on_top", place, owner))
            facts.add(("bare", place))
        else:
            facts.add(("roomy", place))
        if place != "floor":
            zone = zone_of(world, owner)
            objects.add((zone, "zone"))
            facts.add(("place_zone", place, zone))
    for item, asset in world.assets.items():
        for name in asset.joints:
            part = f"{item}.{name}"
            objects.add((part, "part"))
            facts.add(("part_zone", part, zone_of(world, item)))
            fraction = world.joint(part)[1]
            if fraction >= OPENED:
                facts.add(("opened", part))
            elif predicate("closed").margin(world, (part,)) > 0:
                facts.add(("shut", part))
    for item in movable:
        objects.add((item, "item"))
        facts.add(("untopped", item))
        width = world.robot.arm.gripper.max_width
        if any(g.width < width for g in world.assets[item].affordances.grasps):
            facts.add(("graspable", item))
        facts.add(("item_zone", item, zone_of(world, item)))
    for item in movable:
        if item == held:
            facts.add(("holding", item))
            continue
        place = place_of(world, item)
        facts.add(("at", item, place))
        owner = split_reference(place)[0]
        if ("on_top", place, owner) in facts:
            facts.discard(("bare", place))
            facts.discard(("untopped", owner))
        if predicate("upright").margin(world, (item,)) > 0:
            facts.add(("upright", item))
    if held is None:
        facts.add(("empty_hand",))
    if mobile:  # a plan always begins by choosing where to stand
        objects.add((AFIELD, "zone"))
        facts |= {("mobile",), ("standing", AFIELD)}
    else:
        facts |= {("standing", zone) for zone, kind in objects if kind == "zone"}


def _is_cavity(world: World, place: str) -> bool:
    owner, part = split_reference(place)
    return any(c.name == part for c in world.assets[owner].affordances.cavities)


def _resolve(world: World, reference: str, kind: str) -> list[str]:
    """The places or parts a reference may mean."""
    owner, part = split_reference(reference)
    affordances = world.assets[owner].affordances
    names = {
        "support": [s.name for s in affordances.supports],
        "cavity": [c.name for c in affordances.cavities],
        "joint": list(world.assets[owner].joints),
    }[kind]
    return [f"{owner}.{n}" for n in names if part in (None, n)]


def _want_place(kind: str) -> Callable[[World, Predicate], Iterable[tuple[str, ...]]]:
    def facts(world: World, p: Predicate) -> Iterable[tuple[str, ...]]:
        options = _resolve(world, p.args[1], kind)
        if not options:
            raise MotionError("plan.unsupported", f"{p.args[1]} has no {kind}", subjects=p.args)
        reachable = options
        held = [o for o in options if place_of(world, p.args[0]) == o]
        yield ("at", p.args[0], (held or reachable)[0])

    return facts


def _want_part(fact: str) -> Callable[[World, Predicate], Iterable[tuple[str, ...]]]:
    def facts(world: World, p: Predicate) -> Iterable[tuple[str, ...]]:
        parts = _resolve(world, p.args[0], "joint")
        chosen = parts if fact == "shut" else parts[:1]
        for part in chosen:
            yield (fact, part)

    return facts


_WANTED: dict[str, Callable[[World, Predicate], Iterable[tuple[str, ...]]]] = {
    "on": _want_place("support"),
    "inside": _want_place("cavity"),
    "open": _want_part("opened"),
    "closed": _want_part("shut"),
    "grasped": lambda _, p: [("holding", p.args[0])],
    "lifted": lambda _, p: [("holding", p.args[0])],
    "upright": lambda _, p: [("upright", p.args[0])],
    "near": lambda _, p: [("near", *p.args)],
    "touching": lambda _, p: [("touching", *p.args)],
    "at": lambda _, p: [("posed", p.args[0])],
}


def _unsupported(p: Predicate) -> Iterable[tuple[str, ...]]:
    raise MotionError("plan.unsupported", f"no skill brings about '{p.name}'", subjects=p.args)


def _first_way(world: World, goal: Any) -> Iterable[tuple[str, ...]]:
    reasons = []
    for way in goal.goals:
        try:
            return list(wanted_facts(world, way))
        except MotionError as error:
            reasons.append(error.what)
    raise MotionError("plan.unsupported", "; ".join(reasons))


def _opposite(world: World, goal: Goal) -> Iterable[tuple[str, ...]]:
    match goal:
        case Not():
            return list(wanted_facts(world, goal.goal))
        case Predicate(name="open"):
            return list(_WANTED["closed"](world, goal))
        case Predicate(name="closed"):
            return list(_WANTED["open"](world, goal))
        case Predicate(name="on" | "inside"):
            away = [p for p in places(world) if p != "floor" and split_reference(p)[0] != split_reference(goal.args[1])[0]]
            surfaces = [p for p in away if not _is_cavity(world, p) and world.scenario.scene.item(split_reference(p)[0]).fixed]
            if surfaces:
                zone = zone_of(world, split_reference(goal.args[1])[0])
                surfaces.sort(key=lambda p: (zone_of(world, split_reference(p)[0]) != zone, split_reference(p)[0] != zone))
                return [("at", goal.args[0], surfaces[0])]
    raise MotionError("plan.unsupported", "no skill brings about the opposite of this goal")


def progress(situation: Situation, steps: list[Step]) -> frozenset[tuple[str, ...]]:
    """Facts after `steps`."""
    facts = set(situation.facts)
    for step in steps:
        for operator in operators():
            bound = _bind(operator, step, facts)
            if bound is not None:
                facts -= {_ground(f, bound) for f in operator.removes}
                facts |= {_ground(f, bound) for f in operator.adds}
                break
    return frozenset(facts)


def _ground(fact: tuple[str, ...], bound: dict[str, str]) -> tuple[str, ...]:
    return (fact[0], *(bound[a] for a in fact[1:]))


def _bind(operator: Operator, step: Step, facts: set[tuple[str, ...]]) -> dict[str, str] | None:
    """Parameter values with which the operator is this step and all it needs holds."""
    if operator.skill != step.skill or len(operator.passes) != len(step.args):
        return None
    bindings = [dict(zip(operator.passes, step.args, strict=True))]
    for need in operator.needs:
        found = []
        for bound in bindings:
            for fact in facts:
                if fact[0] != need[0] or len(fact) != len(need):
                    continue
                if all(bound.get(n, v) == v for n, v in zip(need[1:], fact[1:], strict=True)):
                    found.append({**bound, **dict(zip(need[1:], fact[1:], strict=True))})
        bindings = found
    return bindings[0] if bindings else None


@lru_cache(maxsize=256)
def search(situation: Situation) -> tuple[Step, ...]:
    """The planner's steps; raises MotionError `plan.no_symbolic_plan`."""
    if set(situation.wanted) <= situation.facts:
        return ()
    problem, back = _problem(situation)
    from unified_planning.engines import PlanGenerationResultStatus
    from unified_planning.shortcuts import OneshotPlanner, get_environment

    get_environment().credits_stream = None
    with OneshotPlanner(name="pyperplan") as planner:
        result = planner.solve(problem)
    if result.plan is None or result.status not in (
        PlanGenerationResultStatus.SOLVED_SATISFICING,
        PlanGenerationResultStatus.SOLVED_OPTIMALLY,
    ):
        wanted = ", ".join(f"{f[0]}({', '.join(f[1:])})" for f in situation.wanted)
        raise MotionError("plan.no_symbolic_plan", f"no sequence of skills brings about {wanted}")
    names = {_safe(name, kind): name for name, kind in situation.objects}
    steps = []
    for action in result.plan.actions:
        operator = back[action.action.name]
        values = {p.name: names[str(a)] for p, a in zip(action.action.parameters, action.actual_parameters, strict=True)}
        steps.append(Step(operator.skill, tuple(values[n] for n in operator.passes)))
    return tuple(steps)


def operators() -> tuple[Operator, ...]:
    """Operators of every skill."""
    return tuple(o for skill in skills().values() for o in skill.operators)


def _safe(name: str, kind: str) -> str:
    return f"{kind}_{name.replace('.', '__')}"


def _problem(situation: Situation) -> tuple[Anything, dict[str, Operator]]:
    from unified_planning.shortcuts import Fluent, InstantaneousAction, Object, Problem, UserType

    problem = Problem("task")
    types = {name: UserType(name) for name in ("item", "place", "part", "zone")}
    fluents = {n: Fluent(n, **{f"a{k}": types[t] for k, t in enumerate(args)}) for n, args in FACTS.items()}
    for fluent in fluents.values():
        problem.add_fluent(fluent, default_initial_value=False)
    objects = {(name, kind): Object(_safe(name, kind), types[kind]) for name, kind in sorted(situation.objects)}
    problem.add_objects(objects.values())
    present = {kind for _, kind in situation.objects}
    back = {}
    for k, operator in enumerate(operators()):
        if any(t not in present for _, t in operator.parameters):
            continue
        action = InstantaneousAction(f"{operator.skill}_{k}", **{n: types[t] for n, t in operator.parameters})
        for need in operator.needs:
            action.add_precondition(fluents[need[0]](*(action.parameter(a) for a in need[1:])))
        for fact in operator.removes:
            action.add_effect(fluents[fact[0]](*(action.parameter(a) for a in fact[1:])), False)
        for fact in operator.adds:
            action.add_effect(fluents[fact[0]](*(action.parameter(a) for a in fact[1:])), True)
        problem.add_action(action)
        back[action.name] = operator

    def term(fact: tuple[str, ...]) -> Anything:
        return fluents[fact[0]](*(objects[name, kind] for name, kind in zip(fact[1:], FACTS[fact[0]], strict=True)))

    for fact in sorted(situation.facts):
        problem.set_initial_value(term(fact), True)
    for fact in situation.wanted:
        if any((name, kind) not in objects for name, kind in zip(fact[1:], FACTS[fact[0]], strict=True)):
            raise MotionError(
                "plan.unsupported", f"{fact[0]}({', '.join(fact[1:])}) is about things that cannot be moved", subjects=fact[1:]
            )
        problem.add_goal(term(fact))
    return problem, back
