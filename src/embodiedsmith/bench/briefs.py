"""What becomes of everyday sentences: is each one forged, and is it then done again from other draws?

For every brief and seed one scenario is forged, then attempted up to three times with draws that are not its witness's, as
`collect` does. Reported are the scenarios that gave a verified demonstration, and why the others did not.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

from embodiedsmith.episodes.staging import attempt_rng
from embodiedsmith.forge.loop import ForgeError, forge
from embodiedsmith.motion import demonstrate
from embodiedsmith.runtime.errors import SmithError
from embodiedsmith.spec import Brief
from embodiedsmith.tasks import Session
from embodiedsmith.world import SettleError, World

ATTEMPTS = 3
BRIEFS: tuple[tuple[str, str], ...] = (
    ("put the red mug in the top drawer and close it", "panda"),
    ("stack the blue block on the green block", "panda"),
    ("open the microwave, put the bowl inside and close it", "panda"),
    ("put every apple in the basket", "panda"),
    ("put the book on the shelf", "panda"),
    ("把红色的杯子放进最上面的抽屉里", "panda"),
    ("put the two cans in the bin", "panda"),
    ("take the bottle from the table and put it in the fridge", "panda_mobile"),
    ("put the mug on the plate", "panda"),
    ("put the banana in the bowl", "panda"),
    ("move the sponge next to the box", "panda"),
    ("put the lemon on the plate and the can in the box", "panda"),
    ("take the apple out of the drawer", "panda"),
    ("close the drawer", "panda"),
    ("lift the jar", "panda"),
    ("把苹果放到盘子上，然后打开抽屉", "panda"),
    ("open the cabinet and put the can inside", "panda_mobile"),
    ("stack the red block on the blue block", "ur5e"),
)
"""Sentence and robot."""
REFUSED = "tidy the desk: pens are not needed, put the two cans in the bin"
"""A sentence with a word for something the catalogue does not hold: it must be named, not guessed."""


@dataclass(kw_only=True)
class Result:
    """One brief over its seeds."""

    brief: str
    embodiment: str
    asked: int
    """Seeds tried."""
    forged: int = 0
    """Scenarios that passed every critic."""
    verified: int = 0
    """Scenarios that gave a verified demonstration within three attempts."""
    attempts: int = 0
    proposals: int = 0
    seconds: float = 0.0
    """Wall clock in all."""
    failures: Counter[str] = field(default_factory=Counter)
    """Codes of failed attempts and of briefs that could not be forged."""

    def to_json(self) -> dict[str, Any]:
        """As JSON values."""
        return {**asdict(self), "failures": dict(self.failures.most_common()), "seconds": round(self.seconds, 1)}


def measure(*, seeds: int = 10, say: Callable[[str], None] = lambda _: None) -> dict[str, Any]:
    """Try every brief with seeds 0 to `seeds` - 1.

    Returns:
        `briefs`: a list of `Result`s as JSON; `forged`, `verified`, `asked`, `attempts`: sums; `refused`: the lines that
        the sentence `REFUSED` was refused for.
    """
    results = []
    for text, embodiment in BRIEFS:
        result = Result(brief=text, embodiment=embodiment, asked=seeds)
        started = time.perf_counter()
        for seed in range(seeds):
            _try(result, seed)
        result.seconds = time.perf_counter() - started
        say(f"{result.verified}/{result.forged}/{seeds} {text} [{embodiment}] {dict(result.failures.most_common(3))}")
        results.append(result)
    sums = {name: sum(getattr(r, name) for r in results) for name in ("asked", "forged", "verified", "attempts")}
    return {**sums, "refused": refusal(), "briefs": [r.to_json() for r in results]}


def _try(result: Result, seed: int) -> None:
    try:
        made = forge(Brief(text=result.brief, embodiment=result.embodiment, seed=seed))
    except ForgeError as error:
        result.failures.update({f"forge: {code}": 1 for code in error.reasons})
        return
    result.forged += 1
    result.proposals += made.proposals
    session = Session(World(made.scenario), seed=seed)
    for attempt in range(ATTEMPTS):
        result.attempts += 1
        try:
            recording = demonstrate(session, attempt_rng(seed, made.scenario.id, attempt))
        except SettleError:
            result.failures["world.unsettled"] += 1
            continue
        if recording.outcome == "success":
            result.verified += 1
            return
        assert recording.failure is not None
        result.failures[recording.failure.code] += 1


def refusal() -> list[str]:
    """What the sentence `REFUSED` is refused for, one line a reason."""
    try:
        forge(Brief(text=REFUSED))
    except SmithError as error:
        return str(error).splitlines()
    return []
