"""Rooms that a brief names, and what it says is in them."""

from __future__ import annotations

from collections.abc import Sequence

from embodiedsmith.forge.language.lexer import Token
from embodiedsmith.forge.language.meaning import SaidRoom

NAMES: dict[str, tuple[str, ...]] = {
    "kitchen": ("kitchen", "厨房"),
    "living_room": ("living room", "客厅"),
    "bedroom": ("bedroom", "卧室"),
    "study": ("study", "书房"),
    "office": ("office", "办公室"),
    "room": ("room", "house", "home", "房间", "屋里", "屋子", "家"),
}
"""Words for each room; those for any room last."""
NEAR = 3
"""Tokens between a thing and the room that it is in: "the table in the kitchen"."""


def said_rooms(tokens: Sequence[Token], *, chinese: bool) -> tuple[SaidRoom, ...]:
    """The rooms that a brief names, in the order of its words, each room and thing once.

    In English a thing comes before the room it is in ("the table in the kitchen") unless the room describes it ("the kitchen
    table"); in Chinese it comes behind.
    """
    found: list[SaidRoom] = []
    for place, token in enumerate(tokens):
        name, described = _room(token)
        if name is None:
            continue
        after = [t.sense("noun") for t in tokens[place + 1 : place + (NEAR if chinese else 2)]]
        before = [] if chinese else [t.sense("noun") for t in reversed(tokens[max(0, place - NEAR) : place])]
        senses = (token.sense("noun"),) if described else (*after, *before)
        thing = next((sense for sense in senses if sense is not None), None)
        found.append(SaidRoom(name, None if thing is None else thing.value))
    return tuple(dict.fromkeys(found))


def _room(token: Token) -> tuple[str | None, bool]:
    """The room that a token names, and whether it names a thing by it ("kitchen counter")."""
    text = token.text.lower()
    for name, words in NAMES.items():
        if text in words and token.has("setting"):
            return name, False
        if token.has("noun") and text.startswith(tuple(f"{word} " for word in words)):
            return name, True
    return None, False
