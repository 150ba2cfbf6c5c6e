"""The things a brief speaks of: which words mean the same thing, and what each thing must look like."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from embodiedsmith.assets import Asset, build, categories
from embodiedsmith.forge.agents.parts import PartMissing, default_part, find_parts, with_part
from embodiedsmith.forge.language.meaning import NounPhrase, Relation, Size
from embodiedsmith.spec import AssetSpec, Predicate
from embodiedsmith.spec.scene import ParamValue

PART_OWNERS = {"drawer": "drawer_unit", "board": "shelf"}
"""Whose drawer or shelf it is when nobody says."""
SEVERAL = (2, 3)
"""Fewest and most things for a plural without a number."""
MOST = 10
"""Most things of one kind that one phrase may ask for."""
EVERY = (2, 4)
"""Fewest and most things for "every"."""


@dataclass(eq=False)
class Thing:
    """One thing of the scene in the making."""

    category: str
    meant: frozenset[str] = frozenset()
    """Categories that the words for it may mean; empty: only its own."""
    color: str | None = None
    size: Size | None = None
    material: str | None = None
    materials: tuple[str, ...] = ()
    """Materials that the words for it may mean."""
    params: dict[str, ParamValue] = field(default_factory=dict)
    place: tuple[Literal["on", "inside"], Ref] | None = None
    """Where it is at the start, when said or implied."""
    joints: dict[str, float] = field(default_factory=dict)
    told: set[str] = field(default_factory=set)
    """Those of its joints whose state at the start the brief says."""
    spoken: bool = True
    """Whether the brief speaks of it: what nobody spoke of may vary."""
    id: str = ""

    @property
    def spec(self) -> AssetSpec:
        """What to build."""
        return AssetSpec(
            category=self.category, params=dict(self.params), color=self.color, material=self.material, size=self.size or "medium"
        )

    @property
    def asset(self) -> Asset:
        """The thing as built now."""
        return build(self.spec)


@dataclass(frozen=True)
class Ref:
    """A thing, or a part of it."""

    thing: Thing
    part: str | None = None
    vague: bool = field(default=False, compare=False)
    """Whether the words leave open which part of it."""

    @property
    def said(self) -> str:
        """What the words say of it: the whole thing where they leave the part open."""
        return self.thing.id if self.vague else self.text

    @property
    def text(self) -> str:
        """As a predicate's argument."""
        return f"{self.thing.id}.{self.part}" if self.part else self.thing.id


@dataclass
class Stage:
    """Everything spoken of so far."""

    rng: np.random.Generator
    things: list[Thing] = field(default_factory=list)
    mentions: list[tuple[Ref, ...]] = field(default_factory=list)
    """Groups of references, latest last."""
    topics: list[tuple[Ref, ...]] = field(default_factory=list)
    """Those of them that something was said of or done to: "it" is rather one of these than a place."""
    named: set[str] = field(default_factory=set)
    """Categories that the brief names: a group word ("everything") means others."""
    quantified: set[str] = field(default_factory=set)
    """Categories and tags that "every" or "all" ranges over: no others of them may lie about."""
    counted: set[str] = field(default_factory=set)
    """Those of them that were said themselves ("fruit" of "every fruit")."""
    reasons: list[str] = field(default_factory=list)
    """Why the brief cannot be met, as far as found."""

    def starts(self) -> tuple[Predicate, ...]:
        """Which things are inside which at the start; they must have ids."""
        return tuple(
            Predicate(name="inside", args=(thing.id, thing.place[1].text))
            for thing in self.things
            if thing.place is not None and thing.place[0] == "inside"
        )

    def mention(self, refs: Iterable[Ref], *, topic: bool = False) -> tuple[Ref, ...]:
        """Note that things were spoken of just now."""
        refs = tuple(refs)
        if refs:
            self.mentions.append(refs)
            if topic:
                self.topics.append(refs)
        return refs

    def resolve(self, phrase: NounPhrase, *, exclude: frozenset[Thing] = frozenset(), wants: str = "any") -> tuple[Ref, ...]:
        """What a noun phrase means: things spoken of before, or new ones.

        `wants` helps pronouns: `joint` (to be opened or closed), `movable`, `holder` (to be put in or on), `any`.
        """
        match phrase.kind:
            case "pronoun":
                refs = self.latest(wants, exclude=exclude, several=phrase.head == "them")
                if not refs:
                    self.reasons.append(f"'{phrase.text}': nothing to {_use(wants)} was spoken of before")
            case "part":
                refs = self._part(phrase)
            case _:
                refs = tuple(Ref(thing) for thing in self._things(phrase, exclude))
        return self.mention(refs)

    def latest(self, wants: str, *, exclude: frozenset[Thing] = frozenset(), several: bool = False) -> tuple[Ref, ...]:
        """The things last spoken of that are good for something; `several`: a group of them, or the last two single ones."""
        groups = [*self.mentions, *self.topics] if wants == "movable" else self.mentions
        fitting = [tuple(ref for ref in group if ref.thing not in exclude and suits(ref, wants)) for group in reversed(groups)]
        fitting = [group for group in fitting if group]
        if not fitting:
            return ()
        if not several:
            return fitting[0]
        for group in fitting:
            if len(group) > 1:
                return group
        singles = dict.fromkeys(group[0] for group in fitting)
        return tuple(reversed(list(singles)[:2]))

    def _things(self, phrase: NounPhrase, exclude: frozenset[Thing]) -> tuple[Thing, ...]:
        names = self._categories(phrase)
        if not names:
            return ()
        if phrase.uncounted and (group := self._group(names, phrase, exclude)):
            return group
        known = [t for t in self.things if t.category in names and t not in exclude and self._alike(t, phrase)]
        wanted = self._count(phrase)
        if len(known) > 1 and not phrase.fresh and phrase.count is None and phrase.quantity != "one":
            return tuple(known)
        if known and not phrase.fresh and wanted <= len(known) and phrase.quantity != "each":
            chosen = known[-1:] if wanted == 1 else known[-wanted:]
            for thing in chosen:
                self._dress(thing, phrase, names)
            return tuple(chosen)
        if phrase.quantity == "each":
            self.counted.add(phrase.head)
            self.quantified |= {phrase.head} | names
        made = [self._make(str(self.rng.choice(sorted(names))), phrase, names) for _ in range(wanted)]
        return tuple(sorted(made, key=lambda t: t.category))

    def _group(self, names: frozenset[str], phrase: NounPhrase, exclude: frozenset[Thing]) -> tuple[Thing, ...]:
        """Several things of one kind that were last spoken of together."""
        for refs in reversed(self.mentions):
            things = tuple(ref.thing for ref in refs)
            if things[0].category in names:
                fits = len(set(things)) > 1 and all(t.category in names and self._alike(t, phrase) for t in things)
                return things if fits and not exclude & {*things} else ()
        return ()

    def _count(self, phrase: NounPhrase) -> int:
        if phrase.count is not None:
            if not 1 <= phrase.count <= MOST:
                self.reasons.append(f"'{phrase.text}': not {phrase.count} but 1 to {MOST} of a kind can be asked for")
            return min(max(phrase.count, 1), MOST)
        if phrase.quantity == "one":
            return 1
        low, high = EVERY if phrase.quantity == "each" else SEVERAL
        return int(self.rng.integers(low, high + 1))

    def _categories(self, phrase: NounPhrase) -> frozenset[str]:
        """Categories a phrase may mean that come in the looks it names."""
        if phrase.kind == "one" and not phrase.head:
            self.reasons.append(f"'{phrase.text}': one of what?")
            return frozenset()
        known = categories()
        if phrase.kind == "tag":
            names = [name for name, category in known.items() if phrase.head in category.all_tags]
            if phrase.head != "furniture":
                names = [name for name in names if known[name].role == "object"] or names
            names = [name for name in names if name not in self.named] or names
        else:
            names = [phrase.head]
        fitting = [name for name in names if not list(_look_faults(name, phrase))]
        if not fitting:
            self.reasons.extend(dict.fromkeys(fault for name in names for fault in _look_faults(name, phrase)))
        return frozenset(fitting)

    def _alike(self, thing: Thing, phrase: NounPhrase) -> bool:
        return (
            (phrase.color is None or thing.color is None or thing.color == phrase.color)
            and (phrase.size is None or thing.size is None or thing.size == phrase.size)
            and (not phrase.materials or thing.material is None or thing.material in phrase.materials)
            and not ((phrase.color is None) != (thing.color is None) and phrase.color is not None and self._told_apart(thing))
        )

    def _told_apart(self, thing: Thing) -> bool:
        return sum(other.category == thing.category for other in self.things) > 1

    def _dress(self, thing: Thing, phrase: NounPhrase, names: frozenset[str]) -> None:
        thing.meant = thing.meant & names if thing.meant else names
        thing.color = phrase.color or thing.color
        thing.size = phrase.size or thing.size
        thing.material = _material(thing.category, phrase) or thing.material
        thing.materials = phrase.materials or thing.materials

    def _make(self, category: str, phrase: NounPhrase, names: frozenset[str]) -> Thing:
        thing = Thing(category)
        self._dress(thing, phrase, names)
        self.things.append(thing)
        return thing

    def _part(self, phrase: NounPhrase) -> tuple[Ref, ...]:
        owner = self._owner(phrase)
        if owner is None:
            return ()
        try:
            owner.params.update(
                with_part(owner.spec, phrase.head, phrase.position, most=self._count(phrase) if phrase.quantity == "some" else 1)
            )
            found = find_parts(owner.asset, phrase.head, phrase.position)
        except PartMissing as missing:
            self.reasons.append(str(missing))
            return ()
        if phrase.position is None and phrase.quantity != "each":
            vague = len(found) > (phrase.count or 1) and set(found) >= set(owner.asset.joints)
            return tuple(Ref(owner, part, vague) for part in found[: phrase.count or 1])
        return tuple(Ref(owner, part) for part in found)

    def _owner(self, phrase: NounPhrase) -> Thing | None:
        if phrase.owner is not None:
            refs = self.resolve(phrase.owner, wants="joint")
            return refs[0].thing if refs else None
        for group in reversed(self.mentions):
            for ref in group:
                if has_part(ref.thing, phrase.head):
                    return ref.thing
        category = PART_OWNERS.get(phrase.head)
        if category is None or category not in categories():
            owners = [name for name in categories() if has_part(Thing(name), phrase.head)]
            example = f"the {(owners or ['cabinet'])[0].replace('_', ' ')} {phrase.head}"
            self.reasons.append(f"'{phrase.text}' of what? Say whose it is, such as '{example}'")
            return None
        known = [thing for thing in self.things if thing.category == category]
        if known:
            return known[-1]
        return self._make(category, NounPhrase(kind="category", head=category, text=phrase.text), frozenset({category}))


def has_part(thing: Thing, word: str) -> bool:
    """Whether a thing has a drawer, door or board, as built now."""
    try:
        return bool(find_parts(thing.asset, word, None))
    except PartMissing:
        return False


def suits(ref: Ref, wants: str) -> bool:
    """Whether a thing is good for something: see `Stage.resolve`."""
    asset = ref.thing.asset
    furniture = categories()[ref.thing.category].role == "furniture"
    match wants:
        case "joint":
            return bool(asset.joints) and (ref.part is None or ref.part in asset.joints)
        case "movable":
            return not furniture
        case "holder":
            return bool(asset.affordances.cavities) or furniture or bool(asset.affordances.supports)
        case _:
            return True


def opened_part(ref: Ref) -> Ref:
    """The door or drawer meant when a thing as a whole is opened or closed."""
    return ref if ref.part else Ref(ref.thing, default_part(ref.thing.asset), vague=True)


def relation_of(relation: Relation) -> Literal["on", "inside"]:
    """A start place's relation as the scene says it."""
    return "inside" if relation == "in" else "on"


def _material(category: str, phrase: NounPhrase) -> str | None:
    return next((m for m in phrase.materials if m in categories()[category].materials), None)


def _look_faults(name: str, phrase: NounPhrase) -> Iterator[str]:
    category = categories()[name]
    word = category.names["en"][0]
    if phrase.color is not None and phrase.color not in category.colors:
        yield f"there is no {phrase.color} {word}; it comes in {', '.join(category.colors)}"
    if phrase.materials and _material(name, phrase) is None:
        yield f"there is no {word} of {' or '.join(phrase.materials)}; it is made of {', '.join(category.materials)}"


def _use(wants: str) -> str:
    return {"joint": "open or close", "movable": "move", "holder": "put things in or on"}.get(wants, "mean")
