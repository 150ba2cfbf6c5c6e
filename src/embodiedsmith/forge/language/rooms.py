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


def said_room(tokens: Sequence[Token], at: Token, *, thing_first: bool) -> list[SaidRoom]:
    """The room that a token names, none when it names no room.

    Args:
        tokens: The brief.
        at: The token.
        thing_first: Whether the language names a thing before the room it is in ("the table in the kitchen"), unless the room
            describes the thing ("the kitchen table").
    """
    name = next((name for name, words in NAMES.items() if at.text.lower() in words), None)
    if name is None:
        return []
    place = next(k for k, token in enumerate(tokens) if token is at)
    after = [token.sense("noun") for token in tokens[place + 1 : place + (2 if thing_first else NEAR)]]
    before = [token.sense("noun") for token in reversed(tokens[max(0, place - NEAR) : place])] if thing_first else []
    thing = next((sense for sense in (*after, *before) if sense is not None), None)
    return [SaidRoom(name, None if thing is None else thing.value)]
