"""From a cell to a plot: a goal of the wanted predicates and horizon, with the things it speaks of and how they start.

Everything is chosen by roles and affordances, then by what people put where (`sense`). Drawn until it adds up, so many times at
most.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from embodiedsmith.assets import build, categories, similar
from embodiedsmith.forge.agents.painting import USUAL_FOOD
from embodiedsmith.forge.auto import sense
from embodiedsmith.forge.auto.cells import (
    HORIZONS,
    KEPT,
    SPANS,
    Cell,
    graspable,
    handled_first,
    horizon_of,
    in_hand,
    own_skills,
    puts,
    room_for,
    workable,
    works_a_joint,
)
from embodiedsmith.forge.layout.fit import fault_of
from embodiedsmith.forge.layout.needs import Target
from embodiedsmith.runtime.errors import SmithError
from embodiedsmith.spec import All, Any, AssetSpec, Goal, Item, Not, Predicate, SceneSpec, Sequence, predicates, split_reference
from embodiedsmith.spec.scene import ParamValue, Relation
from embodiedsmith.tasks import check_text, goal_faults, instruction, predicate
from embodiedsmith.tasks.kind import PredicateKind, Role, surfaces

DRAWS = 200
"""Plots drawn at most for one cell."""
MOST_FREE = 9
"""Free things at most that a goal speaks of or needs."""
MOST_FURNITURE = 2
"""Pieces of furniture at most besides the work surface."""
OPEN = 0.9
"""Opening fraction of what stands open at the start."""
HIGH = {"floor": 1.0, "surface": 0.65, "wall": -1.0}
"""Highest that a surface may be above the root of what it belongs to for things to be put on it [m], by where that stands."""
PASSABLE = 0.55
"""Fraction from which a hand gets through, as the planner counts it."""
UNDONE, EITHER, ASIDE, TOWER, LANDMARK_FURNITURE, STAGED, THEN, SHARED = 0.15, 0.08, 0.25, 0.6, 0.15, 0.4, 0.15, 0.6
"""Chances that a thing is taken from where it is instead of put there, that one of two places will do, that a thing starts in or
on another, that like things are stacked, that furniture is what a thing is put beside, that what is opened is closed again and
what is lifted put down, that the parts of a goal follow each other, that things are put beside one that others are put beside."""


class NoPlot(SmithError):
    """Nothing that the catalogue holds makes a goal for a cell."""

    def __init__(self, cell: Cell) -> None:
        super().__init__(f"no goal was found in {DRAWS} draws", where=str(cell), remedy="ask for other predicates or things")


@dataclass(frozen=True, kw_only=True)
class Plot:
    """A goal and what it needs; what else lies about is left open."""

    cell: Cell
    items: tuple[Item, ...]
    """Work surface first."""
    goal: Goal
    skills: int
    """Skills it is thought to take, without driving."""

    @property
    def scene(self) -> SceneSpec:
        """The things alone."""
        return SceneSpec(setting=self.cell.setting, items=self.items)


def compose(cell: Cell, rng: np.random.Generator, used: Mapping[str, int]) -> Plot:
    """A plot for a cell.

    Args:
        cell: What it should be.
        rng: Of every choice.
        used: Category to how often the archive has it: rare ones are taken rather.

    Raises:
        NoPlot: Nothing was found in `DRAWS` draws.
    """
    for _ in range(DRAWS):
        try:
            plot = _Draft(cell, rng, used).run()
        except _NothingFits:
            continue
        if _sound(plot):
            return plot
    raise NoPlot(cell)


def _sound(plot: Plot) -> bool:
    """Whether the plot is what its cell asks for, can be by construction, and is said so that its words mean its goal."""
    cell, goal = plot.cell, plot.goal
    names = {p.name for p in predicates(goal)}
    first = plot.scene.item(handled_first(goal))
    if tuple(sorted(names)) != cell.predicates or horizon_of(plot.skills) != cell.horizon:
        return False
    if sense.family(first.asset.category) != cell.family or plot.skills > SPANS[HORIZONS[-1]][1]:
        return False
    surface = plot.items[0]
    if sense.room_taken(plot.items, surface.id, goal) > room_for(cell.embodiment, surface.asset.category):
        return False
    assets = {item.id: build(item.asset) for item in plot.items}
    starts = [
        Predicate(name="inside", args=(i.id, f"{i.parent}.{i.support}" if i.support else i.parent))
        for i in plot.items
        if i.relation == "inside" and i.parent is not None
    ]
    if goal_faults(All(goals=(goal, *starts)), assets):
        return False
    return all(check_text(instruction(goal, plot.scene, language), goal) is None for language in ("en", "zh"))


class _NothingFits(Exception):
    """This draw came to nothing."""


@dataclass
class _Draft:
    """One draw of a plot."""

    cell: Cell
    rng: np.random.Generator
    used: Mapping[str, int]
    surface: str = ""
    items: dict[str, Item] = field(default_factory=dict)
    parts: list[Goal] = field(default_factory=list)
    """Of the goal, in the order done."""
    stage: Predicate | None = None
    """What has to be so on the way and is undone by the rest."""
    settled: set[str] = field(default_factory=set)
    """Things that the goal puts somewhere, keeps where they are, or puts others beside: no other part of it moves them."""
    beside: dict[str, str] = field(default_factory=dict)
    """Things that others are put beside, with the one put there last."""
    worked: set[str] = field(default_factory=set)
    """Doors and drawers that the goal opens or closes."""

    def run(self) -> Plot:
        """Draw it; raises `_NothingFits`."""
        self.surface = self._add(sense.surface_of(self.cell.setting))
        if sense.has_floor_furniture(self.cell.setting):
            large = [n for n in sense.furniture_of(self.cell.setting) if sense.stands(n) != "surface"]
            self._add(self._choice(large))
        kinds = [predicate(name) for name in self.cell.predicates]
        for kind in self._ordered(self._staged(kinds)):
            self.parts.append(self._part(kind))
        lowest, highest = SPANS[self.cell.horizon]
        more = [k for k in kinds if puts(k)] or [k for k in kinds if works_a_joint(k)]
        while (count := self._skills()) < lowest and more:
            self.parts.insert(self._before_hand(), self._part(more[int(self.rng.integers(len(more)))]))
        if not lowest <= count <= highest:
            raise _NothingFits
        return Plot(cell=self.cell, items=tuple(self.items.values()), goal=self._goal(), skills=count)

    def _goal(self) -> Goal:
        """The parts together, or one after the other."""
        if self.stage is not None:
            return Sequence(goals=(self.stage, _all(self.parts)))
        if len(self.parts) > 1 and self.rng.random() < THEN:
            cut = int(self.rng.integers(1, len(self.parts)))
            return Sequence(goals=(_all(self.parts[:cut]), _all(self.parts[cut:])))
        return _all(self.parts)

    def _staged(self, kinds: list[PredicateKind]) -> list[PredicateKind]:
        """Perhaps begin with a stage that the next part of the goal undoes; gives the kinds that are left to be used."""
        opening = next((k for k in kinds if works_a_joint(k) and not k.said_last), None)
        closing = next((k for k in kinds if works_a_joint(k) and k.said_last), None)
        holding, putting = next((k for k in kinds if in_hand(k)), None), next((k for k in kinds if puts(k)), None)
        if opening and closing and self.rng.random() < STAGED:
            first = self._joint_part(opening)
            first_part = next(predicates(first)).args
            self.stage, second = Predicate(name=opening.name, args=first_part), Predicate(name=closing.name, args=first_part)
            self.parts.append(second)
            return [k for k in kinds if k not in (opening, closing)]
        if holding and putting and self.rng.random() < STAGED:
            put = self._part(putting)
            self.stage = Predicate(name=holding.name, args=next(predicates(put)).args[:1])
            self.parts.append(put)
            return [k for k in kinds if k not in (holding, putting)]
        return kinds

    def _ordered(self, kinds: list[PredicateKind]) -> list[PredicateKind]:
        """In any order, but doors are closed after things went through them, and what is held is held at the end."""
        shuffled = [kinds[k] for k in self.rng.permutation(len(kinds))]
        return sorted(shuffled, key=lambda k: (k.name in KEPT, in_hand(k), k.said_last))

    def _before_hand(self) -> int:
        """Where one more part of the goal goes in: before what is closed, held or kept."""
        for index, part in enumerate(self.parts):
            kind = predicate(next(predicates(part)).name)
            if index and (kind.said_last or in_hand(kind) or kind.name in KEPT):
                return index
        return len(self.parts)

    # ------------------------------------------------------------------ parts of the goal

    def _part(self, kind: PredicateKind) -> Goal:
        if works_a_joint(kind):
            return self._joint_part(kind)
        if kind.name in KEPT:
            return Predicate(name=kind.name, args=(self._kept(),))
        load = self._load()
        if not puts(kind):
            if self.rng.random() < ASIDE:
                self._start_aside(load)
            return Predicate(name=kind.name, args=(load,))
        if all(role.need == "thing" for role in kind.roles[1:]):
            if self.rng.random() < ASIDE:
                self._start_aside(load)
            return Predicate(name=kind.name, args=(load, *(self._landmark(load) for _ in kind.roles[1:])))
        return self._placing(kind, load)

    def _placing(self, kind: PredicateKind, load: str) -> Goal:
        """Something is put in or on something, or taken from there, or put in one of two."""
        place = self._place(kind.roles[1], kind, load)
        goal = Predicate(name=kind.name, args=(load, place))
        owner, part = split_reference(place)
        if owner == self.surface:
            self._start_aside(load, sure=True)
            return goal
        if self.rng.random() < UNDONE and kind.roles[1].need in ("cavity", "support"):
            self._start(load, owner, "inside" if kind.roles[1].need == "cavity" else "on", part)
            return Not(goal=goal)
        if self.rng.random() < EITHER:
            other = Predicate(name=kind.name, args=(load, self._place(kind.roles[1], kind, load, fresh=True)))
            if other != goal:
                return Any(goals=(goal, other))
        if self.rng.random() < ASIDE:
            self._start_aside(load)
        return goal

    def _joint_part(self, kind: PredicateKind) -> Goal:
        """A door or drawer is opened or closed, rather one that things go through."""
        closing = kind.said_last
        gates = [g for p in self._predicates() for g in self._gates(p)] if closing else []
        fresh = [f"{i.id}.{j}" for i in self.items.values() for j in workable(i.asset.category, kind)]
        options = [g for g in gates if g not in self.worked] or [j for j in fresh if j not in self.worked]
        if not options or (not gates and self._furniture_left() and self.rng.random() < 0.4):
            made = self._add(self._choice([n for n in sense.furniture_of(self.cell.setting) if workable(n, kind)]))
            options = [f"{made}.{j}" for j in workable(self.items[made].asset.category, kind)]
        part = options[int(self.rng.integers(len(options)))]
        self.worked.add(part)
        if part not in gates:
            self._set_joint(part, OPEN if closing else 0.0)
        return Predicate(name=kind.name, args=(part,))

    # ------------------------------------------------------------------ things

    def _load(self) -> str:
        """A new thing that the robot can take; the first is of the cell's family."""
        names = [n for n in sense.movable(self.cell.setting) if graspable(sense.usual(n), self.cell.embodiment)]
        names = [n for n in names if categories()[n].role == "object" or sense.family(n) == self.cell.family]
        first = not any(not works_a_joint(predicate(p.name)) for p in self._predicates())
        if first or self.rng.random() < 0.4:
            names = [n for n in names if sense.family(n) == self.cell.family]
        return self._settle(self._add(self._choice(names), lies=False))

    def _kept(self) -> str:
        """Something free that the rest of the goal leaves alone, best what others are put in, on or beside."""
        owners = {split_reference(a)[0] for p in self._predicates() for a in p.args[1:]}
        moved = {split_reference(p.args[0])[0] for p in self._predicates()}
        free = [o for o in self.items if o in owners - moved and not self.items[o].fixed]
        return self._settle(free[0]) if free else self._landmark("")

    def _landmark(self, load: str) -> str:
        """What something is put beside: furniture on the work surface, or a thing that stays where it is."""
        moved = {split_reference(p.args[0])[0] for p in self._predicates()} | {load}
        there = [i for i in self.items.values() if i.id not in moved | self.settled and i.parent == self.surface]
        fixed = [i.id for i in there if i.fixed]
        if fixed and load and self.rng.random() < LANDMARK_FURNITURE:
            return self._beside(fixed[0], load)
        free = [i.id for i in there if not i.fixed] + [o for o in self.beside if self.beside[o] != load]
        if free and self.rng.random() < SHARED:
            return self._beside(free[int(self.rng.integers(len(free)))], load)
        small = [n for n in sense.movable(self.cell.setting) if sense.small(n) and categories()[n].role == "object"]
        return self._beside(self._add(self._choice(small)), load)

    def _beside(self, landmark: str, load: str) -> str:
        self.beside[landmark] = load
        return self._settle(landmark)

    def _place(self, role: Role, kind: PredicateKind, load: str, *, fresh: bool = False) -> str:
        """Where a load goes: one of the places there are, or in or on a new thing."""
        options = [] if fresh else [r for i in self.items.values() for r in self._places(i, role, load)]
        if fresh or not options or self.rng.random() < 0.5:
            names = [
                *sense.movable(self.cell.setting),
                *(sense.furniture_of(self.cell.setting) if self._furniture_left() else ()),
            ]
            if role.need == "support" and self.rng.random() < TOWER:
                names = [n for n in names if n == self.items[load].asset.category] or names
            category = self.items[load].asset.category
            able = [n for n in names if sense.holds(n, category) and self._able(n, role)]
            if able:
                made = self._add(self._choice(able))
                options = list(self._places(self.items[made], role, load)) or options
        self._shuffle(options)
        for reference in options:
            assets = {name: build(item.asset) for name, item in self.items.items()}
            owner, part = split_reference(reference)
            relation: Literal["on", "inside"] = "inside" if role.need == "cavity" else "on"
            fits = relation == "on" or fault_of(Target(item=load, place=owner, part=part, relation=relation), assets) is None
            if fits and not kind.faults(assets, (load, reference), {}):
                self._settle(split_reference(reference)[0])
                return reference
        raise _NothingFits

    def _places(self, item: Item, role: Role, load: str) -> Iterator[str]:
        """References to the places of an item that a load may sensibly go to."""
        if load in (item.id, item.parent) or not sense.holds(item.asset.category, self.items[load].asset.category):
            return
        asset = build(item.asset)
        if role.need == "cavity":
            names = [c.name for c in asset.affordances.cavities]
        else:
            shut, high = {c.name for c in asset.affordances.cavities if c.joint}, HIGH[sense.stands_of(item)]
            names = [s.name for s in surfaces(asset, None) if s.name not in shut and s.pose.position[2] <= high]
            if not item.fixed and any(i.parent == item.id for i in self.items.values()):
                return
        for name in names:
            yield f"{item.id}.{name}" if item.fixed and len(names) > 1 else item.id

    def _able(self, name: str, role: Role) -> bool:
        affordances = sense.usual(name).affordances
        return bool(affordances.cavities if role.need == "cavity" else affordances.supports)

    # ------------------------------------------------------------------ starts

    def _start_aside(self, load: str, *, sure: bool = False) -> None:
        """Let a thing start in or on another, where there is or can be one; `sure`: raises `_NothingFits` where not."""
        for relation, role in self._shuffled([("inside", Role("container", "cavity")), ("on", Role("support", "support"))]):
            try:
                place = self._place(role, predicate(relation), load)
            except _NothingFits:
                continue
            owner, part = split_reference(place)
            if owner != self.surface and not any(owner in p.args[0] for p in self._predicates()):
                self._start(load, owner, "inside" if relation == "inside" else "on", part)
                return
        if sure:
            raise _NothingFits

    def _start(self, load: str, owner: str, relation: Relation, part: str | None) -> None:
        """Let a thing start somewhere, behind doors and in drawers lying low enough for them to shut.

        Alone, but for furniture: two that a hand is to get round do not lie in one bowl.
        """
        if not self.items[owner].fixed and any(i.parent == owner for i in self.items.values()):
            raise _NothingFits
        asset, holder = build(self.items[load].asset), build(self.items[owner].asset)
        if relation == "inside":
            cavity = holder.affordances.cavity(part)
            part = cavity.name
            if cavity.joint is not None and asset.size[2] > cavity.size[2]:
                raise _NothingFits
        else:
            support = holder.affordances.support(part)
            part = support.name
            if any(a > b for a, b in zip(sorted(asset.size[:2]), sorted(support.size), strict=True)):
                raise _NothingFits
        self.items[load] = self.items[load].model_copy(update={"parent": owner, "relation": relation, "support": part})

    def _set_joint(self, part: str, fraction: float) -> None:
        owner, joint = split_reference(part)
        item = self.items[owner]
        self.items[owner] = item.model_copy(update={"joints": {**item.joints, str(joint): fraction}})

    # ------------------------------------------------------------------ counting

    def _predicates(self) -> list[Predicate]:
        return [p for part in self.parts for p in predicates(part)]

    def _gates(self, p: Predicate) -> list[str]:
        """Doors and drawers that must be open for a part of the goal: where the thing comes from, where it goes."""
        kind = predicate(p.name)
        if works_a_joint(kind) or kind.name in KEPT:
            return []
        item = self.items[p.args[0]]
        places = [item.parent + (f".{item.support}" if item.support else "")] if item.parent is not None else []
        places += [a for a, role in zip(p.args[1:], kind.roles[1:], strict=True) if role.need == "cavity"]
        gates: list[str] = []
        for place in places:
            owner, part = split_reference(place)
            cavities = build(self.items[owner].asset).affordances.cavities
            gates += [f"{owner}.{c.joint}" for c in cavities[:1] if c.joint and part is None]
            gates += [f"{owner}.{c.joint}" for c in cavities if c.joint and part == c.name]
        return list(dict.fromkeys(gates))

    def _skills(self) -> int:
        """Skills the goal takes as it stands: its own, and opening what is shut on the way."""
        opened: set[str] = set()
        count = 0
        if self.stage is not None and works_a_joint(predicate(self.stage.name)):
            opened.add(self.stage.args[0])
            count += 1
        for part in self.parts:
            first = next(predicates(part))  # of two places, either will do
            kind = predicate(first.name)
            for gate in self._gates(first):
                owner, joint = split_reference(gate)
                if gate not in opened and self.items[owner].joints.get(str(joint), 0.0) < PASSABLE:
                    opened.add(gate)
                    count += 1
            if works_a_joint(kind) and not kind.said_last:
                if first.args[0] not in opened:
                    count += 1
                opened.add(first.args[0])
            else:
                count += own_skills(kind)
        return count

    # ------------------------------------------------------------------ drawing

    def _furniture_left(self) -> bool:
        return sum(i.fixed for i in self.items.values()) <= MOST_FURNITURE

    def _choice(self, names: list[str]) -> str:
        """A category, the rarer the likelier."""
        if not names:
            raise _NothingFits
        weights = np.array([1.0 / (1.0 + self.used.get(n, 0)) for n in names])
        return names[int(self.rng.choice(len(names), p=weights / weights.sum()))]

    def _shuffle(self, options: list[str]) -> None:
        options[:] = [options[k] for k in self.rng.permutation(len(options))]

    def _shuffled(self, pairs: list[tuple[str, Role]]) -> list[tuple[str, Role]]:
        return [pairs[k] for k in self.rng.permutation(len(pairs))]

    def _settle(self, name: str) -> str:
        self.settled.add(name)
        return name

    def _add(self, category: str, *, lies: bool = True) -> str:
        """A new item where its like belongs, in a colour of its own if another of its category is there; gives its id.

        Books and the like lie, unless they are to be taken: what stands on edge carries nothing.
        """
        like = [i for i in self.items.values() if i.asset.category == category]
        furniture = categories()[category].role == "furniture"
        if (furniture and like) or sum(not i.fixed for i in self.items.values()) >= MOST_FREE:
            raise _NothingFits
        name = category if not like else f"{category}_{len(like) + 1}"
        params: dict[str, ParamValue] = {"lying": True} if lies and "lying" in categories()[category].params else {}
        spec = AssetSpec(category=category, color=self._color(category, like), params=params)
        stands = sense.stands(category) if furniture else "surface"
        parent = self.surface if stands == "surface" and self.items else None
        relation: Relation = "attached" if stands == "wall" else "on"
        self.items[name] = Item(id=name, asset=spec, parent=parent, relation=relation, fixed=furniture)
        return name

    def _color(self, category: str, like: list[Item]) -> str | None:
        """A colour no other of its kind has, seen on the work surface; None: the usual one, which for food is the likelier."""
        known = categories()[category]
        free = [c for c in known.colors if c not in {i.asset.color or known.colors[0] for i in like}]
        if not free:
            raise _NothingFits
        if self.surface:
            ground = categories()[self.items[self.surface].asset.category].colors[0]
            free = [c for c in free if not similar(c, ground)] or free
        if not like and (known.role == "furniture" or (sense.is_food(known) and self.rng.random() < USUAL_FOOD)):
            return None
        return free[int(self.rng.integers(len(free)))]


def _all(parts: list[Goal]) -> Goal:
    return parts[0] if len(parts) == 1 else All(goals=tuple(parts))
