"""Keeps free what the task will need: a spot for everything that it puts somewhere, in the order in which things are put."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from embodiedsmith.forge.layout import reach, relations
from embodiedsmith.forge.layout.failures import NoPlaceError
from embodiedsmith.forge.layout.furniture import Draw
from embodiedsmith.forge.layout.needs import Target
from embodiedsmith.forge.layout.prisms import Float, Kind, Prism
from embodiedsmith.forge.layout.region import Region
from embodiedsmith.spec import Item, Predicate
from embodiedsmith.world import transforms as tf

if TYPE_CHECKING:
    from embodiedsmith.forge.layout.attempt import Attempt

LOOKS = 6  # spots looked at when a thing is placed beside which another is to stand
TRIES = 80  # places drawn for one spot in one attempt


def reserve(attempt: Attempt) -> None:
    """Keep a spot free for every target; raises NoPlaceError when there is none.

    What things are put on or beside comes before what is put there, so that a tower has its column from its foot up.
    """
    waiting = [t for t in attempt.needs.targets if t.item in attempt.built and all(o in attempt.items for o in t.others)]
    while waiting:
        moved = {t.item for t in waiting}
        ready = [t for t in waiting if not moved & set(t.others) - {t.item}] or waiting[:1]
        for target in sorted(ready, key=lambda t: -float(attempt.built[t.item].size[:2].prod())):
            waiting.remove(target)
            if all(o in attempt.roots or o in attempt.ghosts for o in target.others):
                _reserve(attempt, target)


def beside(attempt: Attempt, moved: Mapping[str, Float]) -> tuple[str, tuple[str, ...]] | None:
    """A relation that could not come about with things at new world poses: in words, and the others it speaks of.

    What is to stand beside one of them must find a spot on the same support and within reach there, whatever else stands about.
    """
    there = {**attempt.roots, **moved}
    coming = [
        *_placed_at_start(attempt),
        *((t.predicate, True) for t in attempt.needs.targets if t.relation in relations.PLACING),
    ]
    for relation, later in coming:
        item, *others = relation.args
        if (
            not set(others) & set(moved)
            or any(o not in there for o in others)
            or attempt.items[others[0]].parent not in attempt.roots
        ):
            continue
        place = attempt.items[others[0]]
        region = attempt.region(item, place.parent, place.relation, place.support)
        ghost = Item(id=item, asset=attempt.items[item].asset, parent=place.parent)
        around = {o: there[o] for o in others}
        draw = relations.within(attempt, region, lambda: relations.place(attempt, relation, item, around))  # noqa: B023
        poses = (draw() for _ in range(LOOKS))
        if not any(p is not None and reach.excess(attempt, ghost, region.T_world @ tf.matrix(p)) <= 0 for p in poses):
            return f"where {item} can be {'put' if later else ''} {relations.said(relation)}".replace("  ", " "), (item, *others)
    return None


def _placed_at_start(attempt: Attempt) -> list[tuple[Predicate, bool]]:
    """Relations of the start whose first thing has no place yet."""
    asked = [p for p in attempt.scenario.task.initial if p.name in relations.PLACING]
    return [(p, False) for p in asked if p.args[0] not in attempt.roots and all(a in attempt.items for a in p.args)]


def _reserve(attempt: Attempt, target: Target) -> None:
    region = _region(attempt, target)
    shared = target.relation == "inside" or (target.relation == "on" and not attempt.items[target.place].fixed)
    if shared and _crowd(attempt, target) > 1 and not region.front:
        return  # a heap, or side by side on a plate: whether it fits is for the sizes to say
    draw = _draw(attempt, target, region)
    carrier = region.carrier if region.carrier in attempt.items else None
    ghost = Item(id=target.item, asset=attempt.items[target.item].asset, parent=carrier)
    related = attempt.related(target.place) | _carriers_after(attempt, target.place)
    words = f"{target.item}, to be put {target.words}"
    failure = attempt.failure(target.item, target.place, words)
    failure.others = target.others if target.relation in relations.PLACING else ()
    found: list[tuple[float, Float, Prism]] = []
    for _ in range(TRIES):
        pose = draw()
        if pose is None:
            failure.stuck_out += 1
            continue
        T = region.T_world @ tf.matrix(pose)
        beyond = reach.ANYWHERE if target.relation == "inside" else reach.excess(attempt, ghost, T)
        if beyond > 0:
            failure.beyond(beyond)
            continue
        box = attempt.spaces[target.item].solid(Kind.RESERVED, target.item, T)
        near, slack = attempt.nearest([box], related)
        if slack < 0:
            failure.taken(near, -slack)
            continue
        found.append((slack, T, box))
        if len(found) == attempt.choices:
            break
    if not found:
        raise NoPlaceError(failure)
    _, T, box = min(found, key=lambda f: f[0])
    attempt.plan.add([box])
    attempt.ghosts[target.item] = T


def _carriers_after(attempt: Attempt, item: str) -> frozenset[str]:
    """What an item will be on or in once the task has put it somewhere, with all that carries that."""
    found: frozenset[str] = frozenset()
    for target in attempt.needs.targets:
        if target.item == item and target.relation in ("on", "inside") and target.place not in found:
            found |= attempt.related(target.place)
    return found


def _crowd(attempt: Attempt, target: Target) -> int:
    """How many things the task puts to the same place."""
    same = (target.place, target.part, target.relation)
    return sum(1 for t in attempt.needs.targets if (t.place, t.part, t.relation) == same)


def _region(attempt: Attempt, target: Target) -> Region:
    """What the thing will stand on or in: the place itself, or what carries the place when it is put beside it."""
    if target.relation in ("on", "inside"):
        return attempt.region(target.item, target.place, target.relation, target.part, after=True)
    place = attempt.items[target.place]
    return attempt.region(target.item, place.parent, place.relation, place.support)


def _draw(attempt: Attempt, target: Target, region: Region) -> Draw:
    if target.relation in ("on", "inside"):
        return lambda: region.draw(attempt, None, varies=False)
    relation, others = target.predicate, {o: attempt.there(o) for o in target.others}
    return relations.within(attempt, region, lambda: relations.place(attempt, relation, target.item, others))
