"""Repairs: which edits could cure what critics found. One function a kind of edit; lessons and critics say which to try first."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice

import numpy as np

from embodiedsmith.forge.agents.agent import Case, Repair
from embodiedsmith.forge.repairs import build, place, robot, task
from embodiedsmith.forge.repairs.view import Proposed, View
from embodiedsmith.spec import EditKind, Finding

__all__ = ["repairs"]

PER_KIND = 3
"""Repairs of one kind offered at most for one finding."""

Propose = Callable[[View, tuple[Finding, ...], np.random.Generator], Iterator[Proposed]]
"""Edits that could cure findings of one code, the likeliest first."""

_PROPOSE: dict[EditKind, Propose] = {
    "move": place.move, "turn": place.turn, "unblock": place.unblock, "change_support": place.change_support,
    "set_joint": place.set_joint, "resize": build.resize, "swap_asset": build.swap, "add": build.add, "remove": build.remove,
    "move_base": robot.move_base, "change_embodiment": robot.change, "change_argument": task.change_argument,
    "split_goal": task.split, "set_tolerance": task.set_tolerance, "rephrase": task.rephrase,
}  # fmt: skip


def repairs(case: Case, rng: np.random.Generator) -> Iterator[Repair]:
    """Repairs to try for a case, the likeliest first.

    Findings are taken code by code, in the order in which the critics gave them. For each code every kind of edit that could cure
    it offers its first repair, in the order that lessons give; then its second, and so on.
    """
    view = View(case)
    errors = [f for f in case.findings if f.severity == "error"]
    for code in dict.fromkeys(f.code for f in errors):
        alike = tuple(f for f in errors if f.code == code)
        kinds = [k for k in case.lessons.order(alike[0], case.scenario) if k in case.allowed]
        waiting = [(kind, islice(_PROPOSE[kind](view, alike, rng), PER_KIND)) for kind in kinds]
        while waiting:
            left = []
            for kind, offers in waiting:
                offer = next(offers, None)
                if offer is not None:
                    edits, why = offer
                    yield Repair(edits=edits, kind=kind, finding=alike[0], why=why)
                    left.append((kind, offers))
            waiting = left
