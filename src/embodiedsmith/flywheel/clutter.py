"""More things lying about: small ones of kinds that a scene does not have, on the surface that carries what the task handles.

The forge lays about only what a brief leaves room for; a flywheel that is to work among clutter asks for it. At low levels of
difficulty these things are taken out again (`levels`).
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from embodiedsmith.assets import categories
from embodiedsmith.forge.auto import sense
from embodiedsmith.forge.layout import needs
from embodiedsmith.spec import AddItem, AssetSpec, Item, Scenario, predicates, split_reference
from embodiedsmith.world.compile import build_assets


def clutter(scenario: Scenario, count: int, rng: np.random.Generator) -> tuple[AddItem, ...]:
    """Edits that add up to `count` things, each of another kind than all that is there; the layout finds them their places.

    Fewer, perhaps none, when nothing lies on a surface or the catalogue has no more kinds that belong in the setting.
    """
    surface = _surface(scenario)
    if surface is None:
        return ()
    there = {item.asset.category for item in scenario.scene.items}
    names = [
        name
        for name in sense.movable(scenario.scene.setting)
        if name not in there and sense.small(name) and sense.usual(name).matter is None
    ]
    taken = {item.id for item in scenario.scene.items}
    edits = []
    for k in rng.permutation(len(names))[:count].tolist():
        name, category = names[k], categories()[names[k]]
        color = str(category.colors[int(rng.integers(len(category.colors)))])
        params = {"lying": True} if "lying" in category.params else {}
        free = next(i for i in (name, *(f"{name}_{n}" for n in range(2, len(taken) + 3))) if i not in taken)
        spec = AssetSpec(category=name, params=params, color=None if sense.is_food(category) else color)
        edits.append(AddItem(item=Item(id=free, asset=spec, parent=surface)))
    return tuple(edits)


def _surface(scenario: Scenario) -> str | None:
    """The furniture on which most of what the task handles begins; else on which anything free does."""
    handled = needs.read(scenario, build_assets(scenario.scene)).handled
    named = {split_reference(a)[0] for p in predicates(scenario.task.goal) for a in p.args}
    items = {item.id: item for item in scenario.scene.items}
    for wanted in (handled, named, frozenset(items)):
        carriers = [
            item.parent
            for item in items.values()
            if item.id in wanted
            and not item.fixed
            and item.relation == "on"
            and item.parent is not None
            and items[item.parent].fixed
        ]
        if carriers:
            return Counter(carriers).most_common(1)[0][0]
    return None
