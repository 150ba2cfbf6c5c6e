"""What a request means, and whether a draft means it: things by their looks, goals by their predicates, whatever the ids are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, product
from typing import Literal

from embodiedsmith.assets import build, categories
from embodiedsmith.forge.agents import Draft
from embodiedsmith.forge.agents.parts import PartMissing, find_parts
from embodiedsmith.spec import All, Any, Goal, Item, Not, Predicate, SceneSpec, split_reference
from embodiedsmith.spec import Sequence as Steps

UNORDERED = {"between": 1, "near": 0, "touching": 0}
"""From which argument on the order of a predicate's arguments says nothing."""
MOST_CASTS = 20_000
"""Ways of giving parts to things that are tried at most."""


@dataclass(frozen=True, kw_only=True)
class Part:
    """Who may play a part; see the data file."""

    kinds: tuple[str, ...]
    """Categories or tags, any of which will do."""
    color: str | None = None
    material: tuple[str, ...] = ()
    size: str | None = None
    count: int | Literal["some", "every"] = 1
    largest: int = 0
    """It is the largest of so many of its kind; 0: that was not said."""

    def suits(self, item: Item) -> bool:
        """Whether an item looks so."""
        category = categories()[item.asset.category]
        return (
            not {category.name, *category.all_tags}.isdisjoint(self.kinds)
            and self.color in (None, item.asset.color or category.colors[0])
            and (not self.material or (item.asset.material or category.materials[0]) in self.material)
            and self.size in (None, item.asset.size)
        )


@dataclass(frozen=True)
class Atom:
    """A predicate that is to hold or not."""

    names: frozenset[str]
    """Any of these predicates."""
    args: tuple[str, ...]
    holds: bool = True

    def means(self, other: Atom) -> bool:
        """Whether a goal's atom says this one: a reference without a part leaves the part open."""
        if self.holds != other.holds or not other.names <= self.names or len(self.args) != len(other.args):
            return False
        orders = [other.args]
        for name in other.names & UNORDERED.keys():
            start = UNORDERED[name]
            orders.append((*other.args[:start], *reversed(other.args[start:])))
        return any(all(map(_covers, self.args, order)) for order in orders)


Choice = frozenset[Atom]
"""Atoms of which the goal itself leaves open which holds; one alone is just that."""


@dataclass(frozen=True, kw_only=True)
class Meaning:
    """What a request means: the fields of the data file."""

    things: Mapping[str, Part]
    goal: tuple[str, ...]
    stages: tuple[str, ...] = ()
    may: tuple[str, ...] = ()
    start: tuple[str, ...] = ()
    at_least: int = 0
    absent: tuple[str, ...] = ()

    def fault(self, draft: Draft) -> str | None:
        """Why a draft does not mean this; None: it does."""
        scene = draft.scenario.scene
        free = [item for item in scene.items if not item.fixed]
        if len(free) < self.at_least:
            return f"{len(free)} free things, not {self.at_least}"
        for word in self.absent:
            if any(Part(kinds=(word,)).suits(item) for item in free):
                return f"there is a {word}"
        said = _Said.of(draft.scenario.task.goal)
        closest = "no such things in the scene"
        for number, cast in enumerate(self._casts(scene)):
            if number >= MOST_CASTS:
                break
            found = self._with(cast, said, draft)
            if found is None:
                return None
            closest = found
        return f"{closest}; it reads: {draft.reading}"

    def _casts(self, scene: SceneSpec) -> Iterator[dict[str, tuple[str, ...]]]:
        """Every way of giving the parts to different items."""

        def fill(left: Sequence[str], taken: frozenset[str]) -> Iterator[dict[str, tuple[str, ...]]]:
            if not left:
                yield {}
                return
            part = self.things[left[0]]
            suited = [item.id for item in scene.items if item.id not in taken and part.suits(item)]
            for chosen in _groups(part, suited, scene):
                for rest in fill(left[1:], taken | set(chosen)):
                    yield {left[0]: chosen, **rest}

        every = [name for name, part in self.things.items() if part.count == "every"]
        return fill([*(n for n in self.things if n not in every), *every], frozenset())

    def _with(self, cast: Mapping[str, tuple[str, ...]], said: _Said, draft: Draft) -> str | None:
        """Why the draft does not mean this with these things in the parts."""
        scene = draft.scenario.scene
        try:
            final, stages, may, start = (
                [c for line in lines for c in _choices(line, cast, scene)]
                for lines in (self.goal, self.stages, self.may, self.start)
            )
        except PartMissing as missing:
            return str(missing)
        at_end = [*said.final, *(said.stages if _ordered(self.goal, said) else ())]
        for choices in final:
            if not any(_says(choices, choice) for choice in at_end):
                return f"the goal lacks {_shown(choices)}"
        earlier = iter(said.stages)
        for choices in stages:
            if not any(_says(choices, choice) for choice in earlier):
                return f"before the end, {_shown(choices)} is not asked for"
        wanted = [*final, *stages, *may]
        for choice in (*said.final, *said.stages):
            if not any(_says(choices, choice) for choices in wanted):
                return f"the goal also wants {_shown([choice])}"
        for choices in start:
            if not any(_begins(atom, draft) for choice in choices for atom in choice):
                return f"at the start there is not {_shown(choices)}"
        return None


@dataclass(frozen=True)
class _Said:
    """A goal in normal form."""

    stages: list[Choice] = field(default_factory=list)
    final: list[Choice] = field(default_factory=list)

    @classmethod
    def of(cls, goal: Goal) -> _Said:
        match goal:
            case All():
                parts = [cls.of(part) for part in goal.goals]
                return cls([c for p in parts for c in p.stages], [c for p in parts for c in p.final])
            case Steps():
                *before, last = [cls.of(part) for part in goal.goals]
                return cls([c for p in before for c in (*p.stages, *p.final)] + last.stages, last.final)
            case Any():
                atoms = frozenset(atom for part in goal.goals for choice in cls.of(part).final for atom in choice)
                return cls([], [atoms])
            case Not():
                return cls([], [frozenset(Atom(a.names, a.args, not a.holds) for a in c) for c in cls.of(goal.goal).final])
            case Predicate():
                return cls([], [frozenset({Atom(frozenset({goal.name}), goal.args)})])


def _ordered(lines: Sequence[str], said: _Said) -> bool:
    """Whether what was reached earlier counts as reached: the sentence names several things one after the other."""
    return len(lines) > 1 and bool(said.stages)


def _groups(part: Part, suited: list[str], scene: SceneSpec) -> Iterator[tuple[str, ...]]:
    if part.count == "every":
        if len(suited) > 1:
            yield tuple(suited)
    elif part.count == "some":
        for size in range(2, len(suited) + 1):
            yield from combinations(suited, size)
    elif part.largest:
        by_size = sorted(suited, key=lambda name: _volume(scene.item(name)))
        if len(suited) == part.largest and _volume(scene.item(by_size[-1])) > 1.05 * _volume(scene.item(by_size[-2])):
            yield (by_size[-1],)
    else:
        yield from combinations(suited, part.count)


def _volume(item: Item) -> float:
    return float(build(item.asset).size.prod())


def _choices(line: str, cast: Mapping[str, tuple[str, ...]], scene: SceneSpec) -> list[list[Choice]]:
    """A line of the data file with the things put in: for each member of a group, the choices any of which will do."""
    options = [[_atoms(text, cast, scene) for text in option.split(" or ")] for option in line.split(" / ")]
    members = max(len(atoms) for option in options for atoms in option)
    return [[frozenset(atoms[k % len(atoms)] for atoms in option) for option in options] for k in range(members)]


def _atoms(text: str, cast: Mapping[str, tuple[str, ...]], scene: SceneSpec) -> list[Atom]:
    words = text.split()
    holds = words[0] != "not"
    names, *roles = words if holds else words[1:]
    members = [_references(role, cast, scene) for role in roles]
    return [Atom(frozenset(names.split("|")), args, holds) for args in product(*members)]


def _references(role: str, cast: Mapping[str, tuple[str, ...]], scene: SceneSpec) -> list[str]:
    """`d.drawer:top` for every thing in the part `d`, with the part's real name; `d.drawer`: any part of that name."""
    name, _, place = role.partition(".")
    if not place:
        return list(cast[name])
    word, _, position = place.partition(":")
    references = []
    for item in cast[name]:
        parts = find_parts(build(scene.item(item).asset), word, position or None)
        references.append(f"{item}.{'|'.join(parts if not position else parts[:1])}")
    return references


def _covers(wanted: str, said: str) -> bool:
    item, parts = split_reference(wanted)
    other, part = split_reference(said)
    return item == other and (parts is None or part in parts.split("|"))


def _says(wanted: list[Choice], said: Choice) -> bool:
    """Whether a choice of the goal is one of those wanted: each of its atoms, and no others."""
    return any(
        len(said) == len(choice)
        and all(any(w.means(s) for w in choice) for s in said)
        and all(any(w.means(s) for s in said) for w in choice)
        for choice in wanted
    )


def _begins(atom: Atom, draft: Draft) -> bool:
    """Whether the scene begins so: where things stand, how far doors are open, and what the task says beyond that."""
    scene = draft.scenario.scene
    item, part = split_reference(atom.args[0])
    if atom.names <= {"on", "inside"}:
        thing = scene.item(item)
        where = f"{thing.parent}.{thing.support}" if thing.support else str(thing.parent)
        return thing.relation in atom.names and _covers(atom.args[1], where)
    if atom.names <= {"open", "closed"}:
        joints = scene.item(item).joints
        names = part.split("|") if part else list(joints)
        return any((joints.get(name, 0.0) > 0.3) == ("open" in atom.names) for name in names)
    return any(atom.means(Atom(frozenset({p.name}), p.args)) for p in draft.scenario.task.initial)


def _shown(choices: Sequence[Choice]) -> str:
    atoms = sorted(choices[0], key=lambda atom: atom.args)
    said = [f"{'' if a.holds else 'not '}{'|'.join(sorted(a.names))}({', '.join(a.args)})" for a in atoms]
    return " or ".join(said)
