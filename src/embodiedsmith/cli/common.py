"""What every command of `smith` has in common: its three options, and what it hands back to be printed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

import tyro

Flag = Annotated[bool, tyro.conf.FlagCreatePairsOff]
Name = Annotated[str | None, tyro.conf.Positional, tyro.conf.arg(metavar="NAME")]


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What a command did: lines for people, values for programs, an exit status for shells."""

    text: str
    data: Mapping[str, Any] = field(default_factory=dict)
    """JSON values: the object that `--json` prints."""
    exit_code: int = 0
    """0 done, 1 an explained failure."""


@dataclass(frozen=True, kw_only=True)
class Command:
    """Options of every command."""

    json: Flag = False
    """Print one JSON object as the last line of standard output; everything else goes to standard error."""
    quiet: Flag = False
    """No progress and no summary."""
    seed: int | None = None
    """Seed of every random draw. In a run that exists it must be the run's own; where nothing is drawn it changes nothing."""

    def run(self) -> Outcome:
        """Do it."""
        raise NotImplementedError(f"{type(self).__name__} is not a command")


def shown_counts(counts: Mapping[str, int]) -> str:
    """Counts by name in one line, in the order given."""
    return ", ".join(f"{name} {count}" for name, count in counts.items())
