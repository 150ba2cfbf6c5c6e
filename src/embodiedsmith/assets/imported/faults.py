"""What can be wrong with a file somebody wants to import: each fault with what to do about it, all of them at once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from embodiedsmith.runtime.errors import SmithError


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong."""

    what: str
    remedy: str
    cured: str = ""
    """What `--repair` does about it, for people: "turned them over"; empty when it cannot."""

    def __str__(self) -> str:
        """For people: what is wrong and the way out."""
        return f"{self.what}: {self.remedy}"


class ImportRefused(SmithError):
    """A file that cannot be imported as it is; `faults` holds everything that was found."""

    def __init__(self, path: Path, faults: Iterable[Fault]) -> None:
        found = tuple(faults)
        remedy = "`--repair` does what is said to be repairable" if any(fault.cured for fault in found) else None
        super().__init__("cannot be imported", where=str(path), faults=[str(fault) for fault in found], remedy=remedy)
