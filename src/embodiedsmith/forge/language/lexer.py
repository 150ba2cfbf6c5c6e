"""From text to tokens: the longest known phrase at each place, and the unknown words between them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

import rjieba

from embodiedsmith.forge.language.lexicon import Kind, Lexicon, Sense, is_chinese, lexicon

_UNIT = re.compile(r"'s\b|[a-z0-9]+(?:['’\-](?!s\b)[a-z0-9]+)*|[一-鿿]|[^\sa-z0-9一-鿿]", re.IGNORECASE)
_QUOTES = "\"“”‘’'`*-–—…《》「」\ufe0f\u200d"
_FACES = re.compile("[\U0001f600-\U0001f64f\U0001f44d]")
"""Smiling faces and folded hands say nothing about things."""


@dataclass(frozen=True, slots=True)
class Token:
    """A phrase of the brief; without senses it is a word nobody knows."""

    text: str
    """As typed."""
    senses: tuple[Sense, ...]

    def sense(self, kind: Kind) -> Sense | None:
        """Its sense of that kind, if it has one."""
        for sense in self.senses:
            if sense.kind == kind:
                return sense
        return None

    def has(self, *kinds: Kind) -> bool:
        """Whether it has a sense of one of the kinds."""
        return any(sense.kind in kinds for sense in self.senses)


@dataclass(frozen=True, slots=True)
class _Unit:
    key: str
    start: int
    end: int


def lex(text: str) -> list[Token]:
    """Tokens of a brief in order. Quotation marks and dashes are dropped; unknown words become tokens without senses."""
    words = lexicon()
    units = [
        _Unit(match.group().lower().replace("’", "'"), match.start(), match.end())
        for match in _UNIT.finditer(text)
        if match.group() not in _QUOTES and not _FACES.match(match.group())
    ]
    spans = _match(units, words)
    if is_chinese(text):
        spans = _widen_unknown(text, units, spans)
    tokens = []
    for first, last, senses in spans:
        tokens.append(Token(text[units[first].start : units[last].end], senses))
    return tokens


Span = tuple[int, int, tuple[Sense, ...]]
"""First unit, last unit, senses."""


def _match(units: list[_Unit], words: Lexicon) -> list[Span]:
    """Longest known phrase first, left to right; a single unit without senses where nothing matches."""
    spans: list[Span] = []
    at = 0
    while at < len(units):
        for length in range(min(words.longest, len(units) - at), 0, -1):
            senses = words.get(tuple(unit.key for unit in units[at : at + length]))
            if senses:
                break
        else:
            number = units[at].key
            length, senses = 1, (Sense("number", number),) if number.isascii() and number.isdigit() else ()
        spans.append((at, at + length - 1, senses))
        at += length
    return spans


@cache
def _segmenter() -> rjieba.Jieba:
    return rjieba.Jieba()


def _widen_unknown(text: str, units: list[_Unit], spans: list[Span]) -> list[Span]:
    """Let a Chinese word that is only partly known be unknown as a whole: in 钢笔 (pen), 钢 (steel) means nothing.

    The segmenter says where words are; a word with an unknown character takes in the one-character matches beside it.
    """
    word_of: list[int] = []
    for number, word in enumerate(_segmenter().cut(text)):
        word_of.extend([number] * len(word))
    partly = {word_of[units[first].start] for first, _, senses in spans if not senses and is_chinese(units[first].key)}
    widened: list[Span] = []
    open_word: int | None = None
    for first, last, senses in spans:
        word_number = word_of[units[first].start]
        swallowed = first == last and word_number in partly and is_chinese(units[first].key)
        if swallowed and open_word == word_number:
            widened[-1] = (widened[-1][0], last, ())
        else:
            widened.append((first, last, () if swallowed else senses))
        open_word = word_number if swallowed else None
    return widened
