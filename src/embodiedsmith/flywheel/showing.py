"""What people see of a flywheel: a page with its rounds, films of the best and the worst, and what the forge learnt meanwhile."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal

from embodiedsmith.flywheel.curriculum import FailureEmphasis
from embodiedsmith.flywheel.gathering import Gathered
from embodiedsmith.flywheel.page import Table, film_clip, write_page
from embodiedsmith.flywheel.rounds import Clip, RoundRow
from embodiedsmith.flywheel.settings import FlywheelSettings
from embodiedsmith.forge.lessons import Outcome

MOST_ROWS = 20


def show(
    folder: Path, rows: Sequence[RoundRow], title: str, seed: int, settings: FlywheelSettings, outcomes: Iterable[Outcome],
    emphasis: Mapping[str, FailureEmphasis],
) -> Path:  # fmt: skip
    """Write the page: the rounds, how the policy fails where, and which repairs of the forge cured what."""
    about = {"seed": seed, **settings.model_dump(mode="json", exclude_defaults=True)}
    return write_page(folder, rows, title=title, about=about, tables=[_failures(emphasis), _repairs(outcomes)])


def clips(folder: Path, round: int, task: int, found: Gathered) -> tuple[Clip, ...]:
    """Films of the policy's best and worst attempts of a round; of the demonstrator's at the cold start."""
    scored = zip(found.episodes, found.qualities, strict=True)
    ranked = sorted((worth.value, n) for n, (e, worth) in enumerate(scored) if e.source == "policy" or round == 0)
    if not ranked:
        return ()
    ends: tuple[tuple[Literal["best", "worst"], tuple[float, int]], ...] = (("best", ranked[-1]), ("worst", ranked[0]))
    made = []
    for which, (value, n) in ends:
        episode, name = found.episodes[n], f"round-{round:03d}-task-{task}-{which}"
        made.append(film_clip(folder, name, episode.recording, episode.scenario, which, quality=value))
    return tuple(clip for clip in made if clip is not None)


def _failures(emphasis: Mapping[str, FailureEmphasis]) -> Table:
    rows = [
        (task, scenario, kind, f"{count:.1f}", f"{known.attempts.get(scenario, 0.0):.1f}")
        for task, known in emphasis.items()
        for scenario, kinds in sorted(known.failures.items())
        for kind, count in sorted(kinds.items(), key=lambda pair: -pair[1])
        if count >= 0.5
    ]
    return Table(
        "How the policy fails", "Attempts by scenario and class of failure; older rounds count less.",
        ("task", "scenario", "class", "failures", "attempts"), rows[:MOST_ROWS],
    )  # fmt: skip


def _repairs(outcomes: Iterable[Outcome]) -> Table:
    tried: Counter[tuple[str, str]] = Counter()
    cured: Counter[tuple[str, str]] = Counter()
    for outcome in outcomes:
        key = outcome.context, outcome.kind
        tried[key] += 1
        cured[key] += outcome.cured
    rows = [(context, kind, str(count), str(cured[context, kind])) for (context, kind), count in tried.most_common(MOST_ROWS)]
    return Table(
        "What the forge learnt", "Repairs that were tried while scenarios were made, and how many of them cured the finding.",
        ("finding", "edit", "tried", "cured"), rows,
    )  # fmt: skip
