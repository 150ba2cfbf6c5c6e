"""Every phrase a brief may hold, with all it can mean: the grammar's own words, and the catalogue's names, groups and colours."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Literal

from embodiedsmith.assets import COLORS, TAGS, categories
from embodiedsmith.forge.language import words_en, words_zh
from embodiedsmith.spec import Language

Kind = Literal[
    "noun", "tag", "part", "color", "size", "material", "position", "number", "quantifier", "article", "kind", "fresh", "pronoun",
    "one",
    "verb", "result", "relation", "adverb", "place", "from", "at", "ba", "de", "classifier", "setting", "clutter", "then", "and",
    "filler", "exist", "with", "absent", "not_needed", "be", "want", "ought", "beyond", "superlative",
    "among", "first", "before", "after", "orderly", "still", "unmoved", "stay", "forbid", "except", "for", "so_that",
    "least", "use", "hand", "of", "possessive", "comma", "stop", "share", "to", "spilt", "palm", "degrees", "clock",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Sense:
    """One meaning of a phrase."""

    kind: Kind
    value: str = ""
    """Key of the table the phrase comes from: a category, a colour, an action ..."""
    plural: bool = False


Phrase = tuple[str, ...]
"""English words in lower case, single Chinese characters, or a punctuation mark."""


class Lexicon:
    """Senses by phrase, both languages together: a Chinese brief may hold English names."""

    def __init__(self) -> None:
        self._senses: dict[Phrase, tuple[Sense, ...]] = {}
        self.longest = 1
        """Units in the longest phrase."""

    def add(self, phrase: str, sense: Sense) -> None:
        """Let a phrase carry one more sense."""
        units = split_units(phrase)
        known = self._senses.get(units, ())
        if sense not in known:
            self._senses[units] = (*known, sense)
        self.longest = max(self.longest, len(units))

    def get(self, units: Phrase) -> tuple[Sense, ...]:
        """Senses of a phrase; empty when it is not known."""
        return self._senses.get(units, ())

    def words(self, kinds: Iterable[Kind], language: Language) -> list[str]:
        """Every phrase of a language that has a sense of one of the kinds, sorted."""
        wanted = set(kinds)
        found = []
        for units, senses in self._senses.items():
            chinese = any(is_chinese(unit) for unit in units)
            if chinese == (language == "zh") and any(sense.kind in wanted for sense in senses):
                found.append(("" if chinese else " ").join(units))
        return sorted(found)


def is_chinese(text: str) -> bool:
    """Whether a text holds a CJK ideograph."""
    return any("一" <= letter <= "鿿" for letter in text)


def split_units(phrase: str) -> Phrase:
    """A phrase of the word tables as units: words between spaces, each Chinese character by itself."""
    units: list[str] = []
    for word in phrase.lower().split():
        units.extend(word if is_chinese(word) else (word,))
    return tuple(units)


def plural(word: str) -> str:
    """The English plural of a noun phrase: its last word's ("salad bowl" to "salad bowls")."""
    irregular = {"knife": "knives", "shelf": "shelves", "loaf": "loaves", "leaf": "leaves", "half": "halves"}
    *before, last = word.split(" ")
    for singular, several in irregular.items():
        if last.endswith(singular):
            last = last.removesuffix(singular) + several
            break
    else:
        if last.endswith(("s", "x", "ch", "sh", "z")):
            last += "es"
        elif last.endswith("y") and last[-2:-1] not in "aeiou":
            last = last[:-1] + "ies"
        else:
            last += "s"
    return " ".join((*before, last))


def lexicon() -> Lexicon:
    """The lexicon of the whole catalogue and of what was imported; built once for what there is."""
    return _lexicon(tuple(categories()))


@cache
def _lexicon(known: tuple[str, ...]) -> Lexicon:
    """The lexicon of the categories of these names, which are all there are."""
    built = Lexicon()
    _add_grammar(built)
    for name, category in categories().items():
        _add_names(built, category.names, "noun", name)
        built.add(name.replace("_", " "), Sense("noun", name))
    for tag, names in TAGS.items():
        _add_names(built, names, "tag", tag)
    for color, entry in COLORS.items():
        for words in entry.names.values():
            for word in words:
                built.add(word.removesuffix("的"), Sense("color", color))
    _add_gerunds(built)
    return built


def _add_gerunds(built: Lexicon) -> None:
    """ "Putting" for "put" where it means nothing else: "holding" says what is there."""
    for action, words in words_en.VERBS.items():
        for word in words:
            units = split_units(word)
            if not built.get((gerund(units[0]), *units[1:])):
                built.add(" ".join((gerund(units[0]), *units[1:])), Sense("verb", action))


def gerund(verb: str) -> str:
    """The "-ing" form of an English verb."""
    doubled = {"put", "set", "get", "grab", "shut", "drop", "grip", "tap"}
    if verb in doubled:
        return verb + verb[-1] + "ing"
    if verb.endswith("e") and not verb.endswith("ee"):
        return verb[:-1] + "ing"
    return verb + "ing"


def _add_names(built: Lexicon, names: Mapping[Language, tuple[str, ...]], kind: Kind, value: str) -> None:
    for word in names.get("en", ()):
        built.add(word, Sense(kind, value))
        if plural(word) != word and not (kind == "noun" and word.endswith("s") and not word.endswith("ss")):
            built.add(plural(word), Sense(kind, value, plural=True))
    for word in names.get("zh", ()):
        built.add(word, Sense(kind, value))


def _add_grammar(built: Lexicon) -> None:
    tables: tuple[tuple[Kind, Mapping[str, tuple[str, ...]]], ...] = (
        ("verb", words_en.VERBS), ("verb", words_zh.VERBS), ("result", words_en.RESULTS), ("result", words_zh.RESULTS),
        ("relation", words_en.RELATIONS), ("adverb", words_en.ADVERBS), ("place", words_zh.PLACES),
        ("position", words_en.POSITIONS), ("position", words_zh.POSITIONS), ("size", words_en.SIZES), ("size", words_zh.SIZES),
        ("material", words_en.MATERIALS), ("material", words_zh.MATERIALS), ("quantifier", words_en.QUANTIFIERS),
        ("quantifier", words_zh.QUANTIFIERS), ("number", words_en.NUMBERS), ("number", words_zh.NUMBERS),
        ("pronoun", words_en.PRONOUNS), ("pronoun", words_zh.PRONOUNS), ("one", words_en.ONES),
        ("share", words_en.SHARES), ("share", words_zh.SHARES),
        ("setting", words_en.SETTINGS), ("setting", words_zh.SETTINGS),
        ("clutter", words_en.CLUTTER), ("clutter", words_zh.CLUTTER),
        ("superlative", words_en.SUPERLATIVES), ("superlative", words_zh.SUPERLATIVES), ("forbid", words_en.FORBID),
        ("forbid", words_zh.FORBID),
        ("beyond", words_en.BEYOND), ("beyond", words_zh.BEYOND), ("hand", words_en.HANDS), ("hand", words_zh.HANDS),
        ("clock", words_en.CLOCK), ("clock", words_zh.CLOCK),
    )  # fmt: skip
    for kind, table in tables:
        for value, words in table.items():
            for word in words:
                built.add(word, Sense(kind, value))
    for part, words in words_en.PARTS.items():
        for word in words:
            built.add(word, Sense("part", part))
            built.add(plural(word), Sense("part", part, plural=True))
    for part, words in words_zh.PARTS.items():
        for word in words:
            built.add(word, Sense("part", part))
    lists: tuple[tuple[Kind, tuple[str, ...]], ...] = (
        ("article", words_en.ARTICLES), ("article", words_zh.ARTICLES), ("kind", words_en.KINDS),
        ("fresh", words_en.FRESH), ("fresh", words_zh.FRESH),
        ("then", words_en.THEN), ("then", words_zh.THEN), ("and", words_en.AND), ("and", words_zh.AND),
        ("filler", words_en.FILLERS), ("filler", words_zh.FILLERS), ("exist", words_en.EXIST), ("exist", words_zh.EXIST),
        ("with", words_en.WITH), ("absent", words_en.ABSENT), ("absent", words_zh.ABSENT),
        ("not_needed", words_en.NOT_NEEDED), ("not_needed", words_zh.NOT_NEEDED), ("be", words_en.BE),
        ("want", words_en.WANT), ("ought", words_en.OUGHT),
        ("first", words_en.FIRST), ("before", words_en.BEFORE), ("after", words_en.AFTER), ("orderly", words_en.ORDERLY),
        ("still", words_en.STILL), ("unmoved", words_en.UNMOVED), ("stay", words_en.STAY), ("use", words_en.USE),
        ("least", words_en.LEAST), ("except", words_en.EXCEPT), ("for", words_en.FOR),
        ("ba", words_zh.BA), ("from", words_zh.FROM), ("at", words_zh.AT), ("to", words_zh.TO),
        ("palm", words_en.PALM), ("palm", words_zh.PALM), ("degrees", words_en.DEGREES), ("degrees", words_zh.DEGREES),
        ("spilt", words_zh.SPILT), ("at", ("at",)), ("de", words_zh.DE),
        ("among", words_zh.AMONG), ("first", words_zh.FIRST), ("before", words_zh.BEFORE), ("still", words_zh.STILL),
        ("so_that", words_zh.SO_THAT), ("least", words_zh.LEAST), ("use", words_zh.USE),
        ("classifier", words_zh.CLASSIFIERS), ("of", ("of",)), ("possessive", ("'s", "'")),
        ("comma", (",", "，", "、")), ("stop", tuple(".!?;:()。！？；：（）")),
    )  # fmt: skip
    for kind, listed in lists:
        for word in listed:
            built.add(word, Sense(kind))
