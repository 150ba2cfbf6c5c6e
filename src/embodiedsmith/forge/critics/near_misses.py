"""Checking the checker: does the goal see through states that only look like success?"""

from __future__ import annotations

from collections.abc import Mapping

from embodiedsmith.forge.certificate import LEAST_MISSES
from embodiedsmith.forge.critics.base import Context
from embodiedsmith.runtime.errors import UsageError
from embodiedsmith.spec import EditKind, Finding, Goal, predicates
from embodiedsmith.tasks import title
from embodiedsmith.tasks.goal_misses import Missed, near_misses, said


class NearMissCritic:
    """Shows the goal its near misses at the end of the witness; keeps what it said in `Context.near_misses`."""

    name = "near_misses"
    tier = 70
    on_draft = False
    codes: Mapping[str, tuple[EditKind, ...]] = {
        "near_misses.accepted": ("set_tolerance", "change_argument", "swap_asset", "resize"),
        "near_misses.too_few": ("change_argument", "split_goal", "set_tolerance"),
    }

    def review(self, context: Context) -> list[Finding]:
        """Every near miss that the goal accepts, and whether enough of them could be tried.

        Raises:
            UsageError: the execution critic has not made a witness.
        """
        if context.witness is None:
            raise UsageError("near misses are tried at the end of a witness", remedy="let the execution critic judge before")
        goal = context.scenario.task.goal
        missed = near_misses(goal, context.world, context.witness)
        context.near_misses = tuple(missed)
        findings = [_accepted(miss, goal) for miss in missed if not miss.rejected]
        if len(missed) < LEAST_MISSES:
            findings.append(_too_few(len(missed), goal))
        return findings


def _accepted(miss: Missed, goal: Goal) -> Finding:
    return Finding(
        code="near_misses.accepted", subjects=_things(goal, miss.predicate), value=miss.margin, limit=0.0,
        message=f"{miss.predicate} is missed ({miss.name}), yet the goal holds: its margin is {miss.margin:.4f} (at most 0)",
    )  # fmt: skip


def _too_few(count: int, goal: Goal) -> Finding:
    return Finding(
        code="near_misses.too_few", subjects=_things(goal, said(goal)), value=float(count), limit=float(LEAST_MISSES),
        message=f"the goal has only {count} near misses to tell it from success (at least {LEAST_MISSES})",
    )  # fmt: skip


def _things(goal: Goal, said: str) -> tuple[str, ...]:
    """The things that a part of the goal, as people write it, speaks of."""
    return tuple(dict.fromkeys(arg for p in predicates(goal) if title(p) in said for arg in p.args))


CRITIC = NearMissCritic()
