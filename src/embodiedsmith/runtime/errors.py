"""Typed errors: what is wrong, where, what would be valid, and what to do about it."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any, ClassVar


class SmithError(Exception):
    """Base of every error a user can reach.

    Args:
        what: What is wrong, in one sentence.
        where: File, field, item or step it concerns.
        choices: The valid values, when they can be listed.
        remedy: What to do about it, as a command or an instruction.
        faults: Every single fault found, when the input had several.
    """

    exit_code: ClassVar[int] = 1
    """Exit status of a command that ends with this error."""

    def __init__(
        self,
        what: str,
        *,
        where: str | None = None,
        choices: Iterable[str] = (),
        remedy: str | None = None,
        faults: Iterable[str] = (),
    ) -> None:
        self.what = what
        self.where = where
        self.choices = tuple(choices)
        self.remedy = remedy
        self.faults = tuple(faults)
        super().__init__(what)

    def __str__(self) -> str:
        lines = [f"{self.where}: {self.what}" if self.where else self.what]
        lines += [f"  - {fault}" for fault in self.faults]
        if self.choices:
            lines.append(f"  valid: {', '.join(self.choices)}")
        if self.remedy:
            lines.append(f"  remedy: {self.remedy}")
        return "\n".join(lines)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by state, so that an error raised in a worker process arrives whole whatever its constructor takes."""
        return _rebuild, (type(self), self.__dict__.copy(), self.args)

    def to_json(self) -> dict[str, Any]:
        """The error as JSON values, for `--json` output."""
        return {
            "error": type(self).__name__,
            "what": self.what,
            "where": self.where,
            "choices": list(self.choices),
            "remedy": self.remedy,
            "faults": list(self.faults),
        }


class UsageError(SmithError):
    """What was typed cannot be meant: unknown name, value out of range, options that exclude each other."""

    exit_code = 2


class Interrupted(SmithError):
    """The user stopped the work (Ctrl-C)."""


def near(name: str, choices: Iterable[str]) -> list[str]:
    """The names among `choices` that are most like `name`, best first: at most three, none when nothing is like it."""
    return difflib.get_close_matches(name, sorted(choices), n=3, cutoff=0.5)


def unknown_name(kind: str, name: str, choices: Iterable[str], *, where: str | None = None) -> UsageError:
    """The error for a name nobody knows, with the nearest known names as the remedy."""
    known = sorted(choices)
    close = near(name, known)
    remedy = f"did you mean {' or '.join(map(repr, close))}?" if close else None
    return UsageError(f"unknown {kind} '{name}'", where=where, choices=known, remedy=remedy)


def _rebuild(kind: type[SmithError], state: dict[str, Any], args: tuple[Any, ...]) -> SmithError:
    error = kind.__new__(kind)
    error.args = args
    error.__dict__.update(state)
    return error
