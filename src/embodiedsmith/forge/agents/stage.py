"""The things a brief speaks of: which words mean the same thing, and what each thing must look like."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np

from embodiedsmith.assets import categories
from embodiedsmith.forge.agents import which
from embodiedsmith.forge.agents.parts import PartMissing, find_parts, with_part
from embodiedsmith.forge.agents.things import Ref, Thing, Use, has_part, suits
from embodiedsmith.forge.language.meaning import NounPhrase
from embodiedsmith.spec import Predicate

PART_OWNERS = {"drawer": "drawer_unit", "board": "shelf"}
"""Whose drawer or shelf it is when nobody says."""
SEVERAL = (2, 3)
"""Fewest and most things for a plural without a number."""
MOST = 10
"""Most things of one kind that one phrase may ask for."""
EVERY = (2, 4)
"""Fewest and most things for "every"."""


@dataclass(frozen=True)
class Relation:
    """Where a thing is at the start, told from others: what an item of the scene cannot say."""

    name: str
    """A predicate: `left_of`, `near`, `between` ..."""
    args: tuple[Ref, ...]

    def predicate(self) -> Predicate:
        """As the spec says it; things have their ids."""
        return Predicate(name=self.name, args=tuple(ref.thing.id for ref in self.args))


@dataclass(frozen=True)
class Mention:
    """Things spoken of at once."""

    refs: tuple[Ref, ...]
    turn: int
    """In which statement or command, counted from the first."""
    topic: bool
    """Whether something was said of or done to them: "it" is rather one of these than a place."""
    aside: bool
    """Whether they only tell where something else was: "it" is hardly one of these."""


@dataclass
class Stage:
    """Everything spoken of so far."""

    rng: np.random.Generator
    things: list[Thing] = field(default_factory=list)
    mentions: list[Mention] = field(default_factory=list)
    """Latest last."""
    turn: int = 0
    """The statement or command that is read now."""
    named: set[str] = field(default_factory=set)
    """Categories that the brief names: a group word ("everything") means others."""
    quantified: set[str] = field(default_factory=set)
    """Categories and tags that "every" or "the largest" ranges over: no others of them may lie about."""
    counted: set[str] = field(default_factory=set)
    """Those of them that were said themselves ("fruit" of "every fruit")."""
    handled: dict[Thing, None] = field(default_factory=dict)
    """What commands have been about: "the others" are not these."""
    brought: dict[Thing, set[Thing]] = field(default_factory=dict)
    """Where commands have put things."""
    parts: dict[tuple[str, str], int] = field(default_factory=dict)
    """Fewest parts that the brief's numbers want, by word and owner's category: "the fourth drawer" wants four."""
    left_out: list[Thing] = field(default_factory=list)
    """What groups leave out: "everything except the knife"."""
    used: list[Ref] = field(default_factory=list)
    """What is to be used where words leave it open."""
    initial: list[Relation] = field(default_factory=list)
    """How things are to each other at the start, when said."""
    rows: dict[tuple[str, frozenset[Thing]], tuple[Thing, ...]] = field(default_factory=dict)
    """Things in order from left to right, or from near to far, by `side` or `depth`."""
    reasons: list[str] = field(default_factory=list)
    """Why the brief cannot be met, as far as found."""
    warnings: list[str] = field(default_factory=list)
    """Where words were taken in one of several ways."""

    def starts(self) -> tuple[Predicate, ...]:
        """Which things are inside which at the start, and how they are to each other; they must have ids."""
        inside = tuple(
            Predicate(name="inside", args=(thing.id, thing.place[1].text))
            for thing in self.things
            if thing.place is not None and thing.place[0] == "inside" and not thing.liquid
        )
        return (*inside, *(relation.predicate() for relation in self.initial))

    def relate_row(self, name: str, row: Iterable[Thing]) -> None:
        """Let each of a row of things be to the next as a predicate says."""
        self.initial.extend(Relation(name, (Ref(one), Ref(other))) for one, other in itertools.pairwise(row))

    def mention(self, refs: Iterable[Ref], *, topic: bool = False, aside: bool = False) -> tuple[Ref, ...]:
        """Note that things were spoken of just now."""
        refs = tuple(refs)
        if refs:
            self.mentions.append(Mention(refs, self.turn, topic, aside))
        return refs

    def resolve(
        self, phrase: NounPhrase, *, exclude: frozenset[Thing] = frozenset(), wants: Use = "any", aside: bool = False
    ) -> tuple[Ref, ...]:
        """What a noun phrase means: things spoken of before, or new ones.

        `wants` helps pronouns; `aside`: the phrase only tells where something else is.
        """
        match phrase.kind:
            case "pronoun":
                refs = self.latest(wants, exclude=exclude, several=phrase.head == "them", word=phrase.text)
                if not refs:
                    self.reasons.append(f"'{phrase.text}': nothing to {_use(wants)} was spoken of before")
                for thing in dict.fromkeys(ref.thing for ref in refs):  # "it is red"
                    self.reasons.extend(_look_faults(thing.category, phrase))
                    self.dress(thing, phrase, frozenset())
            case "part":
                refs = self._part(phrase)
            case _:
                refs = tuple(Ref(thing) for thing in self._things(phrase, exclude))
        return self.mention(refs, aside=aside)

    def latest(
        self, wants: Use, *, exclude: frozenset[Thing] = frozenset(), several: bool = False, word: str = ""
    ) -> tuple[Ref, ...]:
        """The things last spoken of that are good for something; `several`: a group of them, or the last two single ones.

        Where `word` ("it") could mean others too, that is said.
        """
        mentions = self.mentions
        if wants == "movable":  # rather what was acted on than where it went
            mentions = [*mentions, *(mention for mention in mentions if mention.topic)]
        fitting: list[Mention] = []
        for mention in reversed(mentions):
            one_of = mention.aside and len(mention.refs) > 1 and any(ref.thing in exclude for ref in mention.refs)
            if one_of and not several:  # "one of the two next to it": it is not the other one
                continue
            refs = tuple(ref for ref in mention.refs if ref.thing not in exclude and suits(ref, wants))
            if refs:
                fitting.append(Mention(refs, mention.turn, mention.topic, mention.aside))
        if not fitting:
            return ()
        if not several:
            if word:
                which.note_rivals(self, word, fitting)
            return fitting[0].refs
        for mention in fitting:
            if len(mention.refs) > 1:
                return mention.refs
        singles = dict.fromkeys(mention.refs[0] for mention in fitting)
        return tuple(reversed(list(singles)[:2]))

    def group_of(self, ref: Ref) -> tuple[Ref, ...]:
        """The group last spoken of that a thing is one of; by itself where it is of none."""
        groups = (m.refs for m in reversed(self.mentions) if m.aside and len(m.refs) > 1 and ref in m.refs)
        return next(groups, (ref,))

    # Things

    def _things(self, phrase: NounPhrase, exclude: frozenset[Thing]) -> tuple[Thing, ...]:
        if phrase.among is not None:
            return which.some_of(self, phrase, exclude)
        names = self.categories_of(phrase)
        for left_out in phrase.without:
            things = {ref.thing for ref in self.resolve(left_out, aside=True)}
            self.left_out.extend(things)
            exclude |= things
            if phrase.kind == "tag":
                names -= {thing.category for thing in things}
        if not names:
            return ()
        if phrase.superlative is not None:
            return which.extreme(self, phrase, names, exclude)
        if phrase.uncounted and (group := self._group(names, phrase, exclude)):
            return group
        known = which.placed(self, phrase, [t for t in self.known(names, exclude) if self.alike(t, phrase)])
        wanted = self.count(phrase)
        if phrase.fresh or (phrase.kind == "one" and phrase.count is not None):  # "three apples here and two there"
            known = [thing for thing in known if thing not in self.handled]
            if known and (phrase.count is None and phrase.quantity != "one"):
                return tuple(known)
        elif len(known) > 1 and phrase.count is None and phrase.quantity != "one":
            return tuple(known)
        if known and wanted <= len(known) and phrase.quantity != "each":
            chosen = which.of_several(self, phrase, known, wanted)
            for thing in chosen:
                self.dress(thing, phrase, names)
            return tuple(chosen)
        if phrase.quantity == "each":
            self.count_all(phrase.head, names)
        made = [self.make(str(self.rng.choice(sorted(names))), phrase, names) for _ in range(wanted)]
        return tuple(sorted(made, key=lambda t: t.category))

    def known(self, names: frozenset[str], exclude: frozenset[Thing] = frozenset()) -> list[Thing]:
        """Things of some categories that were spoken of."""
        return [thing for thing in self.things if thing.category in names and thing not in exclude]

    def count_all(self, head: str, names: frozenset[str]) -> None:
        """Note that words range over all things of a kind, so that there may be no more of them."""
        self.counted.add(head)
        self.quantified |= {head} | names

    def _group(self, names: frozenset[str], phrase: NounPhrase, exclude: frozenset[Thing]) -> tuple[Thing, ...]:
        """Several things of one kind that were last spoken of together."""
        for mention in reversed(self.mentions):
            things = tuple(ref.thing for ref in mention.refs)
            if things[0].category in names:
                fits = len(set(things)) > 1 and all(t.category in names and self.alike(t, phrase) for t in things)
                return things if fits and not exclude & {*things} else ()
        return ()

    def count(self, phrase: NounPhrase) -> int:
        """How many things a phrase wants: as many as it says, else one, or a number drawn."""
        if phrase.count is not None:
            if not 1 <= phrase.count <= MOST:
                self.reasons.append(f"'{phrase.text}': not {phrase.count} but 1 to {MOST} of a kind can be asked for")
            return min(max(phrase.count, 1), MOST)
        if phrase.quantity == "one":
            return 1
        low, high = EVERY if phrase.quantity == "each" and not phrase.fresh else SEVERAL
        return int(self.rng.integers(low, high + 1))

    def categories_of(self, phrase: NounPhrase) -> frozenset[str]:
        """Categories a phrase may mean that come in the looks it names."""
        head, kind = phrase.head, phrase.kind
        if kind == "one" and not head and self.handled:
            head = list(self.handled)[-1].category  # "the others"
        if kind == "one" and not head:
            self.reasons.append(f"'{phrase.text}': one of what?")
            return frozenset()
        known = categories()
        if kind == "tag" or head not in known:
            names = [name for name, category in categories(imported=False).items() if head in category.all_tags]
            if head != "furniture":
                names = [name for name in names if known[name].role == "object"] or names
            names = [name for name in names if name not in self.named] or names
        else:
            names = [head]
        fitting = [name for name in names if not list(_look_faults(name, phrase))]
        if not fitting:
            self.reasons.extend(dict.fromkeys(fault for name in names for fault in _look_faults(name, phrase)))
        return frozenset(fitting)

    def alike(self, thing: Thing, phrase: NounPhrase) -> bool:
        """Whether a thing may be what a phrase describes."""
        return (
            (phrase.color is None or thing.color is None or thing.color == phrase.color)
            and (phrase.size is None or thing.size is None or thing.size == phrase.size)
            and (not phrase.materials or thing.material is None or thing.material in phrase.materials)
            and not ((phrase.color is None) != (thing.color is None) and phrase.color is not None and self._told_apart(thing))
        )

    def _told_apart(self, thing: Thing) -> bool:
        return sum(other.category == thing.category for other in self.things) > 1

    def dress(self, thing: Thing, phrase: NounPhrase, names: frozenset[str]) -> None:
        """Give a thing the looks that a phrase names."""
        if names:
            thing.meant = thing.meant & names if thing.meant else names
        thing.color = phrase.color or thing.color
        thing.size = phrase.size or thing.size
        thing.material = _material(thing.category, phrase) or thing.material
        thing.materials = phrase.materials or thing.materials

    def make(self, category: str, phrase: NounPhrase, names: frozenset[str]) -> Thing:
        """A new thing as a phrase describes it."""
        thing = Thing(category)
        self.dress(thing, phrase, names)
        self.things.append(thing)
        return thing

    # Parts

    def _part(self, phrase: NounPhrase) -> tuple[Ref, ...]:
        if phrase.position is None and phrase.quantity == "one" and (used := self._used_part(phrase)):
            return used
        owner = self._owner(phrase)
        if owner is None:
            return ()
        try:
            spoken = self._parts_of(owner) if phrase.fresh else []
            wanted = self.count(phrase) if phrase.quantity == "some" else 1 + len(spoken)
            wanted = max(wanted, self.parts.get((phrase.head, owner.category), 1))
            for (word, category), most in self.parts.items():  # a fourth compartment takes as many boards
                if category == owner.category and word != phrase.head:
                    owner.params.update(with_part(owner.spec, word, str(most), most=most))
            owner.params.update(with_part(owner.spec, phrase.head, phrase.position, most=wanted))
            found = [part for part in find_parts(owner.asset, phrase.head, phrase.position) if part not in spoken]
        except PartMissing as missing:
            self.reasons.append(str(missing))
            return ()
        several = phrase.quantity == "each" or (phrase.position is not None and phrase.quantity != "one")
        if several or len(found) <= (phrase.count or 1):
            return tuple(Ref(owner, part) for part in found)
        if phrase.count in (None, 1) and not phrase.fresh:
            for mention in reversed(self.mentions):
                for ref in mention.refs:
                    if ref.thing is owner and ref.part in found:
                        return (ref,)
            title = " ".join(reversed(found[0].split("_")))
            self.warnings.append(f"'{phrase.text}' is taken to be the {title}")
        vague = set(found) >= set(owner.asset.joints)
        return tuple(Ref(owner, part, vague) for part in found[: phrase.count or 1])

    def _parts_of(self, owner: Thing) -> list[str]:
        """Its parts that were spoken of."""
        refs = (ref for mention in self.mentions for ref in mention.refs if ref.thing is owner)
        return list(dict.fromkeys(ref.part for ref in refs if ref.part is not None))

    def _used_part(self, phrase: NounPhrase) -> tuple[Ref, ...]:
        for ref in reversed(self.used):
            if ref.part is not None and ref.part in find_parts(ref.thing.asset, phrase.head, None):
                owner = phrase.owner
                if owner is None or owner.kind == "pronoun" or owner.head == ref.thing.category:
                    return (ref,)
        return ()

    def _owner(self, phrase: NounPhrase) -> Thing | None:
        if phrase.owner is not None:
            refs = self.resolve(phrase.owner, wants="joint", aside=True)
            return refs[0].thing if refs else None
        for mention in reversed(self.mentions):
            for ref in mention.refs:
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
        return self.make(category, NounPhrase(kind="category", head=category, text=phrase.text), frozenset({category}))


def _material(category: str, phrase: NounPhrase) -> str | None:
    return next((m for m in phrase.materials if m in categories()[category].materials), None)


def _look_faults(name: str, phrase: NounPhrase) -> Iterator[str]:
    category = categories()[name]
    word = category.names["en"][0]
    if phrase.color is not None and phrase.color not in category.colors:
        yield f"there is no {phrase.color} {word}; it comes in {', '.join(category.colors)}"
    if phrase.materials and _material(name, phrase) is None:
        yield f"there is no {word} of {' or '.join(phrase.materials)}; it is made of {', '.join(category.materials)}"
    if phrase.size is not None and phrase.size not in category.sizes:
        yield f"there is no {phrase.size} {word}; it comes in one size"


def _use(wants: Use) -> str:
    uses: dict[Use, str] = {
        "joint": "open or close", "movable": "move", "holder": "put things in or on", "hollow": "put things in",
    }  # fmt: skip
    return uses.get(wants, "mean")
