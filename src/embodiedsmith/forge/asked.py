"""Whether a scenario still is what the user's words ask for. Every edit is held to this."""

from __future__ import annotations

from collections.abc import Iterator

from embodiedsmith import assets
from embodiedsmith.assets import categories
from embodiedsmith.spec import (
    All,
    Any,
    Asked,
    AskedItem,
    Goal,
    Item,
    Not,
    Predicate,
    Scenario,
    Sequence,
    predicates,
    split_reference,
)
from embodiedsmith.tasks import predicate

OPENED = 0.3
"""Fraction from which what is said to be open is."""
LEEWAY = (0.5, 1.5)
"""Between these multiples of its default a number that the words do not give may be set."""


def only_the_goal(scenario: Scenario) -> Asked:
    """What is fixed when an agent does not say: the goal, and the categories of the things it speaks of."""
    goal = scenario.task.goal
    names = dict.fromkeys(split_reference(a)[0] for p in (*predicates(goal), *scenario.task.initial) for a in p.args)
    known = {item.id: item for item in scenario.scene.items}
    items = tuple(
        AskedItem(item=name, categories=(known[name].asset.category,), color=known[name].asset.color)
        for name in names
        if name in known
    )
    return Asked(items=items, goal=goal)


def faults(asked: Asked, scenario: Scenario) -> list[str]:
    """What of the user's words a scenario does not keep to; empty: it keeps to all."""
    found = [fault for wanted in asked.items for fault in _item_faults(wanted, scenario)]
    scene = scenario.scene
    if asked.setting is not None and scene.setting != asked.setting:
        found.append(f"the setting is {scene.setting}, not {asked.setting}")
    if asked.embodiment is not None and scenario.embodiment.name != asked.embodiment:
        found.append(f"the robot is {scenario.embodiment.name}, not {asked.embodiment}")
    free = [item for item in scene.items if not item.fixed]
    if len(free) < asked.at_least:
        found.append(f"there are {len(free)} free things, fewer than the {asked.at_least} asked for")
    found += [f"'{i.id}' is one of what is not to be there ({word})" for word in asked.absent for i in free if _is(i, word)]
    for word, count in asked.counted.items():
        there = sum(_is(item, word) for item in scene.items)
        if there != count:
            found.append(f"there are {there} of '{word}', not {count}")
    if not covers(asked, asked.goal, scenario.task.goal, scenario):
        found.append("the goal is not the one asked for")
    return found


def answers(wanted: AskedItem, item: Item) -> bool:
    """Whether an item is such a thing as the words name, wherever it is."""
    return not list(_look_faults(wanted, item))


def _item_faults(wanted: AskedItem, scenario: Scenario) -> Iterator[str]:
    item = next((i for i in scenario.scene.items if i.id == wanted.item), None)
    if item is None:
        yield f"'{wanted.item}' is gone"
        return
    yield from _look_faults(wanted, item)
    if wanted.parent is not None and item.parent != wanted.parent:
        yield f"'{item.id}' is not at '{wanted.parent}'"
    if wanted.relation is not None and item.relation != wanted.relation:
        yield f"'{item.id}' is {item.relation} and not {wanted.relation} '{item.parent}'"
    if wanted.support is not None and item.support != wanted.support:
        yield f"'{item.id}' is not at the part '{wanted.support}' of '{item.parent}'"
    for joint, state in wanted.joints.items():
        fraction = item.joints.get(joint, 0.0)
        if (state == "closed" and fraction > 0.0) or (state == "open" and fraction < OPENED):
            yield f"'{item.id}.{joint}' is not {state} at the start"


def _look_faults(wanted: AskedItem, item: Item) -> Iterator[str]:
    spec = item.asset
    if spec.category not in wanted.categories:
        yield f"'{item.id}' is a {spec.category}, not {' or '.join(wanted.categories)}"
        return
    category = categories()[spec.category]
    if wanted.color is not None and (spec.color or category.colors[0]) != wanted.color:
        yield f"'{item.id}' is not {wanted.color}"
    if wanted.materials and (spec.material or category.materials[0]) not in wanted.materials:
        yield f"'{item.id}' is not of {' or '.join(wanted.materials)}"
    if wanted.size is not None and spec.size != wanted.size:
        yield f"'{item.id}' is not {wanted.size}"
    for name, value in wanted.params.items():
        if spec.params.get(name, category.params[name].default if name in category.params else None) != value:
            yield f"'{item.id}' has not {name} {value}"


def _is(item: Item, word: str) -> bool:
    """Whether an item is of a category or carries a tag."""
    category = assets.category(item.asset.category)
    return word in (category.name, *category.all_tags)


# ---------------------------------------------------------------------- goals


def covers(asked: Asked, wanted: Goal, goal: Goal, scenario: Scenario) -> bool:
    """Whether a goal asks for at least what is wanted: the same predicates of the same things (or things that answer the same
    words), parts only where the words leave them open, orders kept, more where an agent added it.
    """
    if isinstance(goal, Sequence) and not isinstance(wanted, Sequence):
        return covers(asked, wanted, goal.goals[-1], scenario)
    match wanted:
        case Predicate():
            if isinstance(goal, All):
                return any(covers(asked, wanted, g, scenario) for g in goal.goals)
            return isinstance(goal, Predicate) and _same(asked, wanted, goal, scenario)
        case All():
            return all(covers(asked, part, goal, scenario) for part in wanted.goals)
        case Any():
            if isinstance(goal, All):
                return any(covers(asked, wanted, g, scenario) for g in goal.goals)
            return isinstance(goal, Any) and all(any(covers(asked, w, g, scenario) for w in wanted.goals) for g in goal.goals)
        case Not():
            if isinstance(goal, All):
                return any(covers(asked, wanted, g, scenario) for g in goal.goals)
            return goal == wanted
        case Sequence():
            return isinstance(goal, Sequence) and _in_order(asked, wanted, goal, scenario)


def _in_order(asked: Asked, wanted: Sequence, goal: Sequence, scenario: Scenario) -> bool:
    """Whether every stage wanted is found among the stages, in order, the last one last."""
    stages = iter(goal.goals[:-1])
    early = all(any(covers(asked, want, stage, scenario) for stage in stages) for want in wanted.goals[:-1])
    return early and covers(asked, wanted.goals[-1], goal.goals[-1], scenario)


def _same(asked: Asked, wanted: Predicate, said: Predicate, scenario: Scenario) -> bool:
    if said.name != wanted.name or len(said.args) != len(wanted.args):
        return False
    if any(said.params.get(name) != value for name, value in wanted.params.items()):
        return False
    if not all(_answers_to(asked, w, s, scenario) for w, s in zip(wanted.args, said.args, strict=True)):
        return False
    numbers = predicate(said.name).params
    for name in set(said.params) - set(wanted.params):
        default = numbers[name].default if name in numbers else None
        low, high = (f * (default or 0.0) for f in LEEWAY)
        if default is None or not min(low, high) - 1e-9 <= said.params[name] <= max(low, high) + 1e-9:
            return False
    return True


def _answers_to(asked: Asked, wanted: str, said: str, scenario: Scenario) -> bool:
    """Whether a reference is the one wanted, a part of it that the words leave open, or another thing the same words name."""
    item, part = split_reference(wanted)
    other, other_part = split_reference(said)
    if part not in (None, other_part):
        return False
    if item == other:
        return True
    named = next((a for a in asked.items if a.item == item), None)
    there = next((i for i in scenario.scene.items if i.id == other), None)
    if named is None or there is None or len(named.categories) == 1:
        return False
    return answers(named, there) and not any(a.item == other for a in asked.items)
