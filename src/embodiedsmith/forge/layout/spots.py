"""Keeps free what the task will need: a spot for everything that it puts somewhere, in the order in which things are put."""

from __future__ import annotations

from typing import TYPE_CHECKING

from embodiedsmith.forge.layout import reach, relations
from embodiedsmith.forge.layout.failures import NoPlaceError
from embodiedsmith.forge.layout.furniture import Draw
from embodiedsmith.forge.layout.needs import Target
from embodiedsmith.forge.layout.prisms import Float, Kind, Prism
from embodiedsmith.forge.layout.region import Region
from embodiedsmith.spec import Item
from embodiedsmith.world import transforms as tf

if TYPE_CHECKING:
    from embodiedsmith.forge.layout.attempt import Attempt

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


def _reserve(attempt: Attempt, target: Target) -> None:
    region = _region(attempt, target)
    if target.relation == "inside" and _crowd(attempt, target) > 1 and not region.front:
        return  # a heap: whether it fits is for the container's size to say
    draw = _draw(attempt, target, region)
    carrier = region.carrier if region.carrier in attempt.items else None
    ghost = Item(id=target.item, asset=attempt.items[target.item].asset, parent=carrier)
    related = attempt.related(target.place) | _carriers_after(attempt, target.place)
    words = f"{target.item}, to be put {target.words}"
    failure = attempt.failure(target.item, target.place, words)
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
