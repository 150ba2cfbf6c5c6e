"""Reads a brief: language, tokens, words nobody knows, grammar."""

from __future__ import annotations

from dataclasses import replace

from embodiedsmith.forge.language.chinese import Chinese
from embodiedsmith.forge.language.cursor import Stuck
from embodiedsmith.forge.language.english import English
from embodiedsmith.forge.language.errors import Beyond, NotUnderstood, Unknown
from embodiedsmith.forge.language.lexer import Token, lex
from embodiedsmith.forge.language.lexicon import Kind, Sense, is_chinese
from embodiedsmith.forge.language.meaning import Meaning
from embodiedsmith.forge.language.neighbours import nearest_category, suggest_looks, suggest_nouns, suggest_verbs
from embodiedsmith.forge.language.rooms import said_rooms

_BEFORE_NOUN: tuple[Kind, ...] = (
    "article", "fresh", "quantifier", "number", "color", "size", "material", "position", "relation", "from", "at", "ba", "de",
    "classifier", "clutter", "verb", "exist", "with", "absent", "of", "setting",
)  # fmt: skip
_CLAUSE_START: tuple[Kind, ...] = ("and", "then", "comma", "stop", "filler")


def read(text: str) -> Meaning:
    """What a brief in English or Chinese means.

    Raises:
        NotUnderstood: naming every word that is not known or asks for what there is not, or the place where the grammar
            cannot go on.
    """
    tokens, warnings = _known(text, lex(text))
    grammar = Chinese(tokens) if is_chinese(text) else English(tokens)
    try:
        meaning = grammar.read()
    except Stuck as stuck:
        raise NotUnderstood(
            [(stuck.token, ())], text=text, reason=f"cannot read the words around '{stuck.token}': {stuck.reason}"
        ) from stuck
    return replace(meaning, rooms=said_rooms(tokens, chinese=is_chinese(text)), warnings=(*warnings, *meaning.warnings))


def _known(text: str, tokens: list[Token]) -> tuple[list[Token], tuple[str, ...]]:
    """Tokens with unknown nouns replaced by near ones, and what was replaced; raises `NotUnderstood` for the rest."""
    chinese = is_chinese(text)
    known: list[Token] = []
    warnings: list[str] = []
    unknown: list[Unknown] = []
    beyond: list[Beyond] = []
    at = 0
    while at < len(tokens):
        if tokens[at].text.lower() in ("or", "nor") and _forbidden_before(tokens, at):  # "without touching the bowl or the plate"
            known.append(Token(tokens[at].text, (Sense("and"),)))
            at += 1
            continue
        if tokens[at].text.lower() == "not" and at + 1 < len(tokens) and tokens[at + 1].has("article", "one"):
            known.append(Token(tokens[at].text, (Sense("still"),)))  # "lift the red one, not the blue one"
            at += 1
            continue
        if (reason := tokens[at].sense("beyond")) is not None and len(tokens[at].senses) == 1:
            beyond.append((tokens[at].text, reason.value))
            at += 1
            continue
        if _means_something(tokens, at):
            known.append(tokens[at])
            at += 1
            continue
        end = at
        while end < len(tokens) and not _means_something(tokens, end):
            end += 1
        word = ("" if chinese else " ").join(token.text for token in tokens[at:end])
        before = tokens[at - 1] if at else None
        after = tokens[end] if end < len(tokens) else None
        at = end
        if not _may_be_noun(before, after):
            unknown.append((word, suggest_verbs(word) if before is None or before.has(*_CLAUSE_START) else suggest_nouns(word)))
            continue
        if after is not None and after.has("noun", "tag"):  # an unknown describing word may change what is meant
            unknown.append((word, suggest_looks(word)))
            continue
        found = nearest_category(word)
        if found.accepted:
            warnings.append(f"'{word}' is read as '{found.word}', the nearest known thing (cosine {found.cosine:.2f})")
            known.append(Token(word, (Sense("noun", found.category, plural=_plural(word)),)))
        else:
            unknown.append((word, suggest_nouns(word)))
    if unknown or beyond:
        raise NotUnderstood(unknown, text=text, beyond=beyond)
    return known, tuple(warnings)


def _forbidden_before(tokens: list[Token], at: int) -> bool:
    """Whether the clause up to here says what is not to be: all of what "or" joins there."""
    for token in reversed(tokens[:at]):
        if token.has("still", "absent", "forbid"):
            return True
        if token.has("stop", "then", "verb"):
            return False
    return False


def _means_something(tokens: list[Token], at: int) -> bool:
    """Whether a token has a meaning here: "coffee" only before the name of a thing."""
    token = tokens[at]
    if all(sense.kind == "kind" for sense in token.senses):
        return bool(token.senses) and at + 1 < len(tokens) and tokens[at + 1].has("noun", "kind")
    return True


def _may_be_noun(before: Token | None, after: Token | None) -> bool:
    """Whether an unknown word stands where a thing may: after a verb or a describing word, or before "are"."""
    if before is not None and before.has(*_BEFORE_NOUN):
        return True
    starts = before is None or before.has(*_CLAUSE_START)
    return starts and (after is None or after.has("be", "not_needed", "comma", "stop", "relation", "and"))


def _plural(word: str) -> bool:
    return word.isascii() and word.endswith("s") and not word.endswith(("ss", "us"))
