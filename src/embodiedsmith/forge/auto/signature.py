"""What a scenario is about, without where things stand: the signature by which near-duplicates are told."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from embodiedsmith.spec import All, Any, Goal, Not, Noun, Predicate, Scenario, Sequence, predicates, split_reference
from embodiedsmith.spec.scene import Setting

WEIGHTS: dict[str, float] = {"goal": 0.4, "assets": 0.25, "starts": 0.15, "setting": 0.1, "embodiment": 0.1}
"""What each part of a signature counts in the distance of two; together 1."""


class Signature(Noun):
    """What a scenario is about."""

    goal: str
    """The goal with categories for things: `all(inside(mug, drawer_unit.drawer_top), closed(drawer_unit.drawer_top))`."""
    shape: str
    """Its predicates and how they are joined, whatever they speak of: `all(closed, inside)`."""
    terms: tuple[str, ...]
    """Its predicates, in the same words, sorted."""
    setting: Setting
    assets: tuple[str, ...]
    """Categories of everything in the scene, sorted, each as often as it is there."""
    starts: tuple[str, ...]
    """How free things start: `mug on table`; sorted, and what a door or drawer is opened to."""
    embodiment: str


def signature(scenario: Scenario) -> Signature:
    """The signature of a scenario or of a draft of one."""
    scene, goal = scenario.scene, scenario.task.goal
    names = {item.id: item.asset.category for item in scene.items}
    starts = [
        f"{names[i.id]} {i.relation} {names[i.parent]}{'.' + i.support if i.support and i.relation == 'inside' else ''}"
        for i in scene.items
        if not i.fixed and i.parent is not None
    ]
    ajar = [f"{names[i.id]}.{joint} open" for i in scene.items for joint, fraction in i.joints.items() if fraction > 0.5]
    return Signature(
        goal=_structure(goal, names),
        shape=_shape(goal),
        terms=tuple(sorted(_term(p, names) for p in predicates(goal))),
        setting=scene.setting,
        assets=tuple(sorted(names.values())),
        starts=tuple(sorted((*starts, *ajar))),
        embodiment=scenario.embodiment.name,
    )


def distance(first: Signature, second: Signature) -> float:
    """How different two signatures are: 0 the same, 1 nothing in common. The goal's terms count most."""
    apart = {
        "goal": jaccard(first.terms, second.terms),
        "assets": jaccard(first.assets, second.assets),
        "starts": jaccard(first.starts, second.starts),
        "setting": float(first.setting != second.setting),
        "embodiment": float(first.embodiment != second.embodiment),
    }
    return sum(weight * apart[name] for name, weight in WEIGHTS.items())


def jaccard(first: Iterable[str], second: Iterable[str]) -> float:
    """Jaccard distance of two multisets of words: 1 minus what they share over what either has; 0 when both are empty."""
    a, b = Counter(first), Counter(second)
    either = sum((a | b).values())
    return 1.0 - sum((a & b).values()) / either if either else 0.0


def _shape(goal: Goal) -> str:
    match goal:
        case Predicate():
            return goal.name
        case Not():
            return f"not({_shape(goal.goal)})"
        case All() | Any():
            return f"{goal.kind}({', '.join(sorted(_shape(g) for g in goal.goals))})"
        case Sequence():
            return f"sequence({', '.join(_shape(g) for g in goal.goals)})"


def _structure(goal: Goal, names: dict[str, str]) -> str:
    match goal:
        case Predicate():
            return _term(goal, names)
        case Not():
            return f"not({_structure(goal.goal, names)})"
        case All() | Any():
            return f"{goal.kind}({', '.join(sorted(_structure(g, names) for g in goal.goals))})"
        case Sequence():
            return f"sequence({', '.join(_structure(g, names) for g in goal.goals)})"


def _term(p: Predicate, names: dict[str, str]) -> str:
    said = []
    for argument in p.args:
        item, part = split_reference(argument)
        said.append(names[item] + (f".{part}" if part else ""))
    return f"{p.name}({', '.join(said)})"
