"""A place in a list of tokens, and what both grammars do there."""

from __future__ import annotations

from collections.abc import Sequence

from embodiedsmith.forge.language.lexer import Token
from embodiedsmith.forge.language.lexicon import Kind, Sense


class Stuck(Exception):
    """The grammar cannot go on at a token."""

    def __init__(self, token: str, reason: str) -> None:
        self.token = token
        self.reason = reason
        super().__init__(f"'{token}': {reason}")


class Cursor:
    """Reads tokens forwards; `at` can be set back to try another reading."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self.tokens = tuple(tokens)
        self.at = 0

    @property
    def done(self) -> bool:
        """Whether every token is read."""
        return self.at >= len(self.tokens)

    def peek(self, ahead: int = 0) -> Token | None:
        """The token `ahead` of the next one, or None past the end."""
        index = self.at + ahead
        return self.tokens[index] if 0 <= index < len(self.tokens) else None

    def sees(self, *kinds: Kind, ahead: int = 0) -> bool:
        """Whether the token `ahead` has a sense of one of the kinds."""
        token = self.peek(ahead)
        return token is not None and token.has(*kinds)

    def sense(self, kind: Kind, ahead: int = 0) -> Sense | None:
        """The sense of that kind of the token `ahead`."""
        token = self.peek(ahead)
        return None if token is None else token.sense(kind)

    def take(self, *kinds: Kind) -> Token | None:
        """Step over the next token if it has a sense of one of the kinds."""
        token = self.peek()
        if token is None or not token.has(*kinds):
            return None
        self.at += 1
        return token

    def skip(self, *kinds: Kind) -> None:
        """Step over every next token with a sense of one of the kinds."""
        while self.take(*kinds):
            pass

    def text(self, start: int, end: int | None = None) -> str:
        """The words from one place to another (default: here)."""
        words = [token.text for token in self.tokens[start : self.at if end is None else end]]
        return " ".join(words)

    def stuck(self, reason: str) -> Stuck:
        """The error for the token here."""
        token = self.peek() or self.peek(-1)
        return Stuck(token.text if token else "", reason)
