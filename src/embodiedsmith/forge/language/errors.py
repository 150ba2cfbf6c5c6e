"""What goes wrong when reading a brief: words nobody knows, and wishes nothing can grant."""

from __future__ import annotations

from collections.abc import Sequence

from embodiedsmith.runtime.errors import SmithError

Unknown = tuple[str, tuple[str, ...]]
"""A word and the nearest known ones."""


class NotUnderstood(SmithError):
    """Words of a brief that have no meaning here, all of them at once; nothing is guessed.

    Args:
        words: Each word as typed, with the nearest known words.
        text: The brief.
        reason: What the brief lacks when no single word is at fault.
    """

    def __init__(self, words: Sequence[Unknown], *, text: str, reason: str | None = None) -> None:
        self.words = tuple(words)
        what = reason or f"cannot read {', '.join(repr(word) for word, _ in self.words)}"
        faults = [f"'{word}': nearest known are {', '.join(near)}" for word, near in self.words if near]
        super().__init__(
            what,
            where=f"brief {text!r}",
            faults=faults,
            remedy="say it with known words (`smith assets` lists the things), for example: put the red mug in the top drawer",
        )


class CannotBe(SmithError):
    """A brief whose words are known but whose wish cannot be met: too big, bolted down, nothing to open."""

    def __init__(self, reasons: Sequence[str], *, text: str) -> None:
        self.reasons = tuple(reasons)
        super().__init__(
            f"cannot be done: {self.reasons[0]}" if len(self.reasons) == 1 else "cannot be done",
            where=f"brief {text!r}",
            faults=self.reasons if len(self.reasons) > 1 else (),
            remedy="change the brief",
        )
