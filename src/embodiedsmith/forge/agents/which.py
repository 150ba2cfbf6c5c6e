"""Which of several things a phrase means: the largest, one of them, the others, the one in the bowl; what else it could be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from embodiedsmith.forge.agents.things import Thing
from embodiedsmith.forge.language.meaning import NounPhrase, Relation, Size, Superlative

if TYPE_CHECKING:
    from embodiedsmith.forge.agents.stage import Mention, Stage

GROUP = (2, 3)
"""Fewest and most things made for "the largest" of a kind."""
SIDES: dict[Relation, str] = {
    "left": "left_of", "right": "right_of", "front": "in_front_of", "behind": "behind", "near": "near", "between": "between",
}  # fmt: skip
"""Relations of things beside each other, and the predicates that check them."""
CLEARLY = 1.05
"""Least ratio of two sizes that people see without measuring."""
_ROWS: dict[Superlative, tuple[str, str, int]] = {
    "leftmost": ("side", "left_of", 0), "rightmost": ("side", "left_of", -1),
    "nearest": ("depth", "in_front_of", 0), "farthest": ("depth", "in_front_of", -1),
}  # fmt: skip
"""Along which row, by which relation of one to the next, and at which end."""
_INDEFINITE = ("a ", "an ", "one", "any ", "some ", "another", "two", "three", "一", "任")


# One or some of a group


def some_of(stage: Stage, phrase: NounPhrase, exclude: frozenset[Thing]) -> tuple[Thing, ...]:
    """ "One of them", "two of the blocks", "the largest of the three mugs"."""
    assert phrase.among is not None
    refs = stage.resolve(_whole(phrase.among), exclude=exclude, aside=True)
    group = list(dict.fromkeys(ref.thing for ref in refs))
    if not group:
        return ()
    names = frozenset(thing.category for thing in group)
    if phrase.superlative is not None:
        return _extreme_of(stage, phrase, group)
    group = [
        thing
        for thing in group
        if stage.alike(thing, replace(phrase, color=None)) and (phrase.color is None or thing.color in (None, phrase.color))
    ]
    free = [thing for thing in group if thing not in stage.handled]
    wanted = len(free) if phrase.fresh and phrase.quantity == "each" else stage.count(phrase)
    if len(free) < wanted or not free:
        stage.reasons.append(f"'{phrase.text}': there are only {len(free)} left of them")
        return ()
    chosen = sorted(free, key=lambda thing: _differences(thing, phrase))[:wanted]
    for thing in chosen:
        stage.dress(thing, phrase, names)
    return tuple(chosen)


def _differences(thing: Thing, phrase: NounPhrase) -> int:
    """How many looks a thing has that a phrase does not say: "one large" of a red mug and another is the other."""
    said = ((thing.color, phrase.color), (thing.size, phrase.size), (thing.materials or None, phrase.materials or None))
    return sum(has != says for has, says in said)


def _whole(among: NounPhrase) -> NounPhrase:
    """The group that one is of; it has more than that one in it."""
    if among.kind == "pronoun" or among.count is not None or among.quantity != "one":
        return among
    return replace(among, quantity="some")


def of_several(stage: Stage, phrase: NounPhrase, known: list[Thing], wanted: int) -> list[Thing]:
    """Which of the things known are meant: those last spoken of; said where another could be meant as well."""
    if len(known) <= wanted:
        return known
    chosen = known[-wanted:]
    definite = phrase.kind != "one" and not phrase.text.lower().startswith(_INDEFINITE) and not phrase.uncounted
    if wanted > 1 or not definite:
        free = [thing for thing in known if thing not in stage.handled] if phrase.kind == "one" else []
        return free[:wanted] if len(free) >= wanted else chosen
    last = {thing: _last_spoken(stage, thing) for thing in known}
    order = [ref.thing for mention in stage.mentions if not mention.aside for ref in mention.refs]
    newest = sorted((thing for thing in known if last[thing] == max(last.values())), key=lambda t: _last_index(order, t))
    others = [thing for thing in known if thing is not newest[-1]]
    if len({(t.color, t.size, t.place, t.material) for t in known}) == 1:
        stage.warnings.append(f"'{phrase.text}' may be any of {len(known)}")
    elif len(newest) > 1:
        stage.reasons.append(f"'{phrase.text}' could be {_listed(newest, 'or')}: say which")
    else:
        stage.warnings.append(f"'{phrase.text}' is taken to be {_listed(newest, '')}, not {_listed(others, 'or')}")
    return newest[-1:]


def _last_spoken(stage: Stage, thing: Thing) -> tuple[int, bool]:
    """In which turn a thing was last spoken of, and whether as more than one of a group: after "one of the two", that one was."""
    mentions = [m for m in stage.mentions if any(ref.thing is thing for ref in m.refs)]
    return max(((m.turn, not (m.aside and len(m.refs) > 1)) for m in mentions), default=(-1, False))


def _last_index(order: list[Thing], thing: Thing) -> int:
    """Where a thing stands last in an order; -1 where it does not."""
    return max((index for index, other in enumerate(order) if other is thing), default=-1)


def placed(stage: Stage, phrase: NounPhrase, known: list[Thing]) -> list[Thing]:
    """Of the things known, those that are where the phrase says; of the others those that may be there."""
    if phrase.place is None or phrase.place.target is None or not known:
        return known
    phrases = [p for p in (phrase.place.target, phrase.place.second) if p is not None]
    targets = {ref.thing for p in phrases for ref in stage.resolve(p, exclude=frozenset(known), aside=True)}
    there = [thing for thing in known if _relates(stage, thing, phrase.place.relation, targets)]
    told = {relation.args[0].thing for relation in stage.initial} | set(stage.handled)
    return there or [thing for thing in known if thing.place is None and thing not in told]


def _relates(stage: Stage, thing: Thing, relation: Relation, targets: set[Thing]) -> bool:
    """Whether a thing was said to be at a place, or to be brought there."""
    if stage.brought.get(thing, set()) & targets or (thing.place is not None and thing.place[1].thing in targets):
        return True
    told = [start for start in stage.initial if start.args[0].thing is thing and start.name == SIDES.get(relation)]
    return any({ref.thing for ref in start.args[1:]} == targets for start in told)


# Superlatives


def extreme(stage: Stage, phrase: NounPhrase, names: frozenset[str], exclude: frozenset[Thing]) -> tuple[Thing, ...]:
    """ "The largest block": of those spoken of, or of several made for it."""
    plain = replace(phrase, superlative=None, size=phrase.size if phrase.superlative in _ROWS else None)
    group = [thing for thing in stage.known(names, exclude) if stage.alike(thing, plain)]
    least = stage.count(phrase) + 1
    if len(group) < least:
        kinds = sorted({thing.category for thing in group} or names)
        kinds = [kind for kind in kinds if _comes_so(kind, phrase.superlative)] or kinds
        category = str(stage.rng.choice(kinds))
        size = int(stage.rng.integers(least, max(least, GROUP[1]) + 1))
        while len(group) < size:
            group.append(stage.make(category, replace(plain, count=None), names))
    stage.count_all(phrase.head, names)
    return _extreme_of(stage, phrase, group)


def _extreme_of(stage: Stage, phrase: NounPhrase, group: list[Thing]) -> tuple[Thing, ...]:
    assert phrase.superlative is not None
    wanted = stage.count(phrase)
    if len(group) <= wanted:
        stage.reasons.append(f"'{phrase.text}': there are only {len(group)} of them")
        return ()
    if phrase.superlative in _ROWS:
        return _end_of_row(stage, phrase.superlative, group, wanted)
    if len({thing.category for thing in group}) == 1:
        _give_sizes(group, phrase.superlative, wanted)
    ordered = sorted(group, key=lambda thing: _measure(thing, phrase.superlative), reverse=True)
    if phrase.superlative in ("smallest", "shortest"):
        ordered.reverse()
    inner, outer = _measure(ordered[wanted - 1], phrase.superlative), _measure(ordered[wanted], phrase.superlative)
    if max(inner, outer) < CLEARLY * min(inner, outer):
        stage.reasons.append(f"'{phrase.text}': {_listed(ordered[: wanted + 1], 'and')} are alike in that")
        return ()
    return tuple(ordered[:wanted])


def _give_sizes(group: list[Thing], superlative: Superlative, wanted: int) -> None:
    """Sizes for things of one category that have none yet, so that the extreme ones differ from the rest."""
    free = [thing for thing in group if thing.size is None]
    said = {thing.size for thing in group} - {None}
    ends: tuple[Size, Size] = ("large", "small") if superlative in ("largest", "tallest") else ("small", "large")
    outer, middle = (_measure(Thing(group[0].category, size=size), superlative) for size in (ends[0], "medium"))
    rest: Size = "medium" if max(outer, middle) >= CLEARLY * min(outer, middle) else ends[1]
    sizes: list[Size] = []
    if ends[0] not in said:
        sizes += [ends[0]] * wanted
    if not said:
        sizes += [rest] * (len(free) - len(sizes) - 1) + [ends[1]]
    sizes += [rest] * (len(free) - len(sizes))
    for thing, size in zip(free, sizes, strict=False):
        thing.size = size


def _measure(thing: Thing, superlative: Superlative | None) -> float:
    """Height [m], or the cube root of the volume of its box [m]."""
    size = thing.asset.size
    return float(size[2]) if superlative in ("tallest", "shortest") else float(np.cbrt(np.prod(size)))


def _comes_so(category: str, superlative: Superlative | None) -> bool:
    """Whether things of a category differ in what the superlative compares."""
    if superlative in _ROWS:
        return True
    small, large = (Thing(category, size=size) for size in ("small", "large"))
    return _measure(large, superlative) >= CLEARLY * _measure(small, superlative)


def _end_of_row(stage: Stage, superlative: Superlative, group: list[Thing], wanted: int) -> tuple[Thing, ...]:
    """The things at one end of a row of them; where they stand in it is drawn when it is first spoken of."""
    axis, name, end = _ROWS[superlative]
    row = stage.rows.get((axis, frozenset(group)))
    if row is None:
        row = tuple(group)
        stage.rows[axis, frozenset(group)] = row
        stage.relate_row(name, row)
    return row[:wanted] if end == 0 else row[-wanted:]


# What could be meant too


def note_rivals(stage: Stage, word: str, fitting: Sequence[Mention]) -> None:
    """Say where "it" could be other things than the one it is taken to be; refuse where nothing decides."""
    chosen = fitting[0]
    meant = {ref.thing for ref in chosen.refs}
    rivals: dict[Thing, bool] = {}
    for mention in fitting:
        if mention.turn >= chosen.turn and not mention.aside:
            for ref in mention.refs:
                if ref.thing not in meant:
                    rivals[ref.thing] = rivals.get(ref.thing, False) or mention.topic
    if not rivals or len(meant) > 1:
        return
    equal = [thing for thing, topic in rivals.items() if topic and chosen.topic]
    if equal:
        stage.reasons.append(f"'{word}' could be {_listed([*meant, *equal], 'or')}: say which")
    else:
        stage.warnings.append(f"'{word}' is taken to be {_listed([*meant], '')}, not {_listed([*rivals], 'or')}")


def _listed(things: Sequence[Thing], word: str) -> str:
    names = list(dict.fromkeys(f"the {thing.name}" for thing in things))
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {word} {names[-1]}"
