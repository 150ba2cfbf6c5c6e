"""What goes wrong when reading a brief: words nobody knows, and wishes nothing can grant."""

from __future__ import annotations

from collections.abc import Sequence

from embodiedsmith.runtime.errors import SmithError

Unknown = tuple[str, tuple[str, ...]]
"""A word and the nearest known ones."""
Beyond = tuple[str, str]
"""A word that is understood and asks for what cannot be done, and why it cannot."""


class NotUnderstood(SmithError):
    """Words of a brief that have no meaning here, all of them at once; nothing is guessed.

    Args:
        words: Each word as typed, with the nearest known words.
        text: The brief.
        reason: What the brief lacks when no single word is at fault.
        beyond: Words that are understood and ask for what cannot be done.
    """

    def __init__(self, words: Sequence[Unknown], *, text: str, reason: str | None = None, beyond: Sequence[Beyond] = ()) -> None:
        self.words = (*words, *((word, ()) for word, _ in beyond))
        self.beyond = tuple(beyond)
        said = [what for what in (_listed("not possible here:", self.beyond), _listed("cannot read", words)) if what]
        what = reason or " and ".join(said)
        faults = [f"'{word}': nearest known are {', '.join(near)}" for word, near in self.words if near]
        reasons = dict.fromkeys(why for _, why in self.beyond)
        faults += [f"{_listed('', [entry for entry in self.beyond if entry[1] == why])}: {why}" for why in reasons]
        super().__init__(
            what,
            where=f"brief {text!r}",
            faults=faults,
            remedy="say it with known words (`smith assets` lists the things), for example: put the red mug in the top drawer",
        )


def _listed(what: str, words: Sequence[tuple[str, object]]) -> str:
    return f"{what} {', '.join(repr(word) for word in dict(words))}".strip() if words else ""


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
