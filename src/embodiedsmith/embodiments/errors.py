"""What can go wrong with a robot, each error saying what to do about it."""

from __future__ import annotations

import difflib
from collections.abc import Sequence


class EmbodimentError(Exception):
    """Anything wrong with a robot's description, model or use."""


class UnknownRobot(EmbodimentError, KeyError):
    """No robot of that name is in the catalogue."""

    def __init__(self, name: str, known: Sequence[str]) -> None:
        near = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
        hint = f"; did you mean {' or '.join(repr(n) for n in near)}?" if near else ""
        self.message = f"no robot is called {name!r}{hint} Robots there are: {', '.join(known)}"
        super().__init__(self.message)

    def __str__(self) -> str:
        return self.message


class ModelNotFound(EmbodimentError):
    """A robot's model files are neither installed nor downloadable."""

    def __init__(self, folder: str, tried: Sequence[str], remedy: str) -> None:
        super().__init__(f"no model files for {folder!r}. Looked at: {'; '.join(tried)}. Remedy: {remedy}")


class InvalidRobot(EmbodimentError):
    """A robot's description does not fit its model; lists every fault."""

    def __init__(self, name: str, faults: Sequence[str]) -> None:
        self.faults = tuple(faults)
        super().__init__(f"robot {name!r} has {len(faults)} fault(s):\n" + "\n".join(f"- {fault}" for fault in faults))
