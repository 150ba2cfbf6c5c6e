"""How often sentences for every embodiment and every kind of matter give verified demonstrations."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from typing import Any

from embodiedsmith.bench import sentences
from embodiedsmith.bench.sentences import Sentence
from embodiedsmith.runtime.errors import UsageError


def requests() -> tuple[Sentence, ...]:
    """The sentences of `bodies.toml`."""
    text = resources.files("embodiedsmith.bench").joinpath("bodies.toml").read_text("utf-8")
    return tuple(Sentence(**entry) for entry in tomllib.loads(text)["brief"])


def measure(
    *,
    seeds: int = 10,
    only: str | None = None,
    workers: int = 1,
    folder: Path | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> dict[str, Any]:
    """Try every sentence of `bodies.toml`, or those of the group `only`: what `sentences.measure` gives, and `groups`.

    Returns:
        As `sentences.measure`; `groups`: for each embodiment and kind of matter `asked`, `forged`, `verified`, and the `rate` of
        forged scenarios that gave a verified demonstration.
    """
    chosen = [s for s in requests() if only in (None, s.group)]
    if not chosen:
        raise UsageError(f"no group is called '{only}'", choices=sorted({s.group for s in requests()}))
    found = sentences.measure(chosen, seeds=seeds, workers=workers, folder=folder, say=say)
    groups: dict[str, dict[str, Any]] = {}
    for row in found["briefs"]:
        group = groups.setdefault(row["group"], {"asked": 0, "forged": 0, "verified": 0})
        for name in group:
            group[name] += row[name]
    for group in groups.values():
        group["rate"] = round(group["verified"] / group["forged"], 3) if group["forged"] else None
    return {**found, "groups": groups}
