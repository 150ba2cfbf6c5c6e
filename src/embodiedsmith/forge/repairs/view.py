"""A faulty scenario as repairs look at it: what is free, what the task needs, what stands where."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property

import numpy as np

from embodiedsmith.assets.asset import Asset
from embodiedsmith.forge.agents.agent import Case
from embodiedsmith.forge.layout.needs import Needs, read
from embodiedsmith.spec import AskedItem, Edit, Finding, Item, predicates, split_reference
from embodiedsmith.world import CompileError
from embodiedsmith.world import transforms as tf
from embodiedsmith.world.compile import build_assets, palm_pose, root_poses

Proposed = tuple[tuple[Edit, ...], str]
"""Edits that belong together, and what they are for."""


class View:
    """What repairs ask of a case. Everything is worked out when first asked for."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.scenario = case.scenario
        self.scene = case.scenario.scene
        self.items = {item.id: item for item in self.scene.items}
        self.asked: dict[str, AskedItem] = {a.item: a for a in case.asked.items}

    @cached_property
    def assets(self) -> dict[str, Asset]:
        """Built assets by item id; none when some cannot be built."""
        try:
            return build_assets(self.scene)
        except CompileError:
            return {}

    @cached_property
    def needs(self) -> Needs:
        """What the task needs; nothing when assets cannot be built."""
        if not self.assets:
            return Needs(handled=frozenset(), targets=(), parts=())
        return read(self.scenario, self.assets)

    @cached_property
    def roots(self) -> dict[str, tf.Float]:
        """World pose of every item's root; empty unless everything has its place."""
        if not self.assets or any(item.pose is None for item in self.scene.items):
            return {}
        return root_poses(self.scene, self.assets, palm_pose(self.scenario))

    @cached_property
    def mentioned(self) -> frozenset[str]:
        """Items that the task speaks of."""
        said = (*predicates(self.scenario.task.goal), *self.scenario.task.initial)
        return frozenset(split_reference(a)[0] for p in said for a in p.args)

    def subjects(self, findings: Iterable[Finding]) -> list[Item]:
        """The items that findings name, each once, in order."""
        names = (split_reference(s)[0] for f in findings for s in f.subjects)
        return [self.items[name] for name in dict.fromkeys(names) if name in self.items]

    def first(self, findings: Iterable[Finding]) -> list[Item]:
        """The item that each finding names first: what it is about."""
        return [found[0] for f in findings if (found := self.subjects([f]))]

    def blockers(self, finding: Finding) -> list[Item]:
        """Free items that a finding names after its first, or else the free items nearest to what it is about."""
        named = self.subjects([finding])
        if not named:
            return []
        others = [item for item in named[1:] if not item.fixed]
        return others or [i for i in self.neighbours(named[0]) if i.id not in self.carried(named[0].id)]

    def neighbours(self, item: Item, within: float = 0.25) -> list[Item]:
        """Free items whose roots are within a distance [m] of an item's, nearest first."""
        if item.id not in self.roots:
            return []
        here = self.roots[item.id][:3, 3]
        away = {i.id: float(np.linalg.norm(self.roots[i.id][:3, 3] - here)) for i in self.scene.items}
        near = [i for i in self.scene.items if not i.fixed and i.id != item.id and away[i.id] <= within]
        return sorted(near, key=lambda i: away[i.id])

    def carried(self, name: str) -> frozenset[str]:
        """Items that stand in or on an item, directly or not."""
        found: set[str] = set()
        for _ in self.scene.items:
            found |= {i.id for i in self.scene.items if i.parent == name or i.parent in found}
        return frozenset(found)

    def surface(self) -> Item | None:
        """The work surface: floor furniture that carries most."""
        floor = [i for i in self.scene.items if i.parent is None and i.fixed and i.relation == "on"]
        able = [i for i in floor if self.assets and self.assets[i.id].affordances.supports]
        return max(able, key=lambda i: len(self.carried(i.id)), default=None)

    def unneeded(self) -> list[Item]:
        """Free items that the task does not speak of and that carry nothing it speaks of."""
        return [
            i for i in self.scene.items
            if not i.fixed and i.id not in self.mentioned and not self.carried(i.id) & self.mentioned
        ]  # fmt: skip

    def free_choice(self, item: Item) -> Iterator[str]:
        """Categories that an item may be of for all that the words say; only its own when they fix it."""
        wanted = self.asked.get(item.id)
        if wanted is not None:
            yield from (name for name in wanted.categories if name != item.asset.category)
