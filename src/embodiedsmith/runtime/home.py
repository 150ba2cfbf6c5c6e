"""Where a user's own things are kept: what must last (lessons, imports) and what can be made again (the cache)."""

from __future__ import annotations

import os
from pathlib import Path


def home() -> Path:
    """The user's data folder: `EMBODIEDSMITH_HOME`, else `embodiedsmith` in `XDG_DATA_HOME` or `~/.local/share`."""
    given = os.environ.get("EMBODIEDSMITH_HOME")
    if given:
        return Path(given)
    data = os.environ.get("XDG_DATA_HOME")
    return (Path(data) if data else Path.home() / ".local" / "share") / "embodiedsmith"


def cache_directory() -> Path:
    """`$EMBODIEDSMITH_CACHE`, else `~/.cache/embodiedsmith`."""
    return Path(os.environ.get("EMBODIEDSMITH_CACHE") or Path.home() / ".cache" / "embodiedsmith")
