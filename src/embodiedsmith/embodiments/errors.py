"""What can go wrong with a robot, each error saying what to do about it."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from embodiedsmith.runtime.errors import SmithError, UsageError


class EmbodimentError(SmithError):
    """Anything wrong with a robot's description, model or use."""


class UnknownRobot(EmbodimentError, UsageError):
    """No robot of that name is in the catalogue; `later` are those that have taken its place."""

    exit_code = UsageError.exit_code

    def __init__(self, name: str, known: Sequence[str], later: Sequence[str] = ()) -> None:
        close = later or difflib.get_close_matches(name, known, n=3, cutoff=0.5)
        hint = f"; did you mean {' or '.join(map(repr, close))}?" if close else ""
        super().__init__(f"no robot is called {name!r}{hint}", choices=known, remedy="`smith robots list` describes them")


class ModelNotFound(EmbodimentError):
    """A robot's model files are neither installed nor downloadable."""

    def __init__(self, folder: str, tried: Sequence[str], remedy: str) -> None:
        super().__init__(f"no model files for {folder!r}", faults=[f"looked at {place}" for place in tried], remedy=remedy)


class InvalidRobot(EmbodimentError):
    """A robot's description does not fit its model; `faults` lists every misfit."""

    def __init__(self, name: str, faults: Sequence[str]) -> None:
        super().__init__("the robot's description does not fit its model", where=f"robot {name!r}", faults=faults)
