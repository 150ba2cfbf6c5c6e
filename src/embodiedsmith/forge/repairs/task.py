"""Edits of the task: another argument where the words leave it open, stages, tolerances, other words."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from embodiedsmith.forge.asked import LEEWAY
from embodiedsmith.forge.repairs.view import Proposed, View
from embodiedsmith.runtime.errors import SmithError
from embodiedsmith.spec import (
    All,
    ChangeArgument,
    Finding,
    Predicate,
    Rephrase,
    Sequence,
    SetTolerance,
    SplitGoal,
    predicates,
    split_reference,
)
from embodiedsmith.tasks import instruction, predicate
from embodiedsmith.tasks.kind import part_names

TIGHTER = ("logic.already_true", "logic.nearly_true", "near_misses.accepted")
"""Findings that a stricter predicate cures; others ask for a laxer one."""
STEP = 0.75
"""Factor between one tolerance and the next stricter."""


def change_argument(view: View, findings: tuple[Finding, ...], rng: np.random.Generator) -> Iterator[Proposed]:
    """Another part of the same thing, or another thing of the scene; whether the words allow it is for the forge to see.

    When a drawer is both filled and closed, every predicate that names it changes with it.
    """
    said = list(predicates(view.scenario.task.goal))
    named = [s for f in findings for s in f.subjects]
    references = [
        a for p in said for a in p.args if a in named or split_reference(a)[0] in {split_reference(n)[0] for n in named}
    ]
    for reference in dict.fromkeys(sorted(references, key=lambda a: a not in named)):
        for other in _others(view, said, reference):
            edits = tuple(
                ChangeArgument(predicate=k, argument=j, value=other)
                for k, p in enumerate(said)
                for j, a in enumerate(p.args)
                if a == reference
            )
            yield edits, f"let the goal speak of {other} instead of {reference}"


def _others(view: View, said: list[Predicate], reference: str) -> Iterator[str]:
    item, part = split_reference(reference)
    if item not in view.assets:
        return
    roles = {predicate(p.name).roles[j].need for p in said for j, a in enumerate(p.args) if a == reference}
    if part is not None or roles & {"support", "cavity", "joint"}:
        options = [set(part_names(view.assets[item], need)) for need in sorted(roles) if need in ("support", "cavity", "joint")]
        for name in sorted(set.intersection(*options)) if options else ():
            if name != part:
                yield f"{item}.{name}"
    if part is None and roles == {"movable"}:
        wanted = view.asked.get(item)
        for other in view.scene.items:
            if wanted is not None and other.id != item and not other.fixed and other.asset.category in wanted.categories:
                yield other.id


def split(view: View, findings: tuple[Finding, ...], rng: np.random.Generator) -> Iterator[Proposed]:
    """Part of the goal first: what does not name what failed, then the first half."""
    goal = view.scenario.task.goal
    if not isinstance(goal, All) or len(goal.goals) < 3 or isinstance(goal, Sequence):
        return
    failed = {split_reference(s)[0] for f in findings for s in f.subjects}
    apart = tuple(
        k for k, part in enumerate(goal.goals)
        if not any(split_reference(a)[0] in failed for p in predicates(part) for a in p.args[:1])
    )  # fmt: skip
    half = tuple(range(len(goal.goals) // 2))
    for first in dict.fromkeys((apart, half)):
        if 0 < len(first) < len(goal.goals):
            yield (SplitGoal(first=first),), f"reach {len(first)} of the {len(goal.goals)} parts of the goal first"


def set_tolerance(view: View, findings: tuple[Finding, ...], rng: np.random.Generator) -> Iterator[Proposed]:
    """A predicate that findings name, stricter or laxer, within what the words leave open."""
    said = list(predicates(view.scenario.task.goal))
    tighter = findings[0].code in TIGHTER
    named = {split_reference(s)[0] for f in findings for s in f.subjects}
    for k, p in enumerate(said):
        if named and not any(split_reference(a)[0] in named for a in p.args):
            continue
        kind = predicate(p.name)
        for name, info in kind.params.items():
            if info.default is None or name in ("x", "y", "z"):
                continue
            now = p.params.get(name, info.default)
            value = now / STEP if tighter == info.stricter_up else now * STEP
            if min(LEEWAY) * info.default <= value <= max(LEEWAY) * info.default:
                word = "tighter" if tighter else "laxer"
                yield (
                    (SetTolerance(predicate=k, name=name, value=value),),
                    f"a {word} {name} of '{p.name}': {value:.3g} {info.unit}",
                )


def rephrase(view: View, findings: tuple[Finding, ...], rng: np.random.Generator) -> Iterator[Proposed]:
    """The goal's own words."""
    task = view.scenario.task
    for language, text in task.instructions.items():
        try:
            said = instruction(task.goal, view.scene, language, task.initial)
        except (SmithError, KeyError):
            continue
        if said != text:
            yield (Rephrase(language=language, text=said),), f"say it as '{said}'"
