"""Doing: does the demonstrator bring the goal about in the simulated world? Its success is the scenario's witness."""

from __future__ import annotations

from collections.abc import Mapping

from embodiedsmith.forge.critics.base import ATTEMPTS, Context
from embodiedsmith.motion import demonstrate
from embodiedsmith.spec import EditKind, Finding
from embodiedsmith.tasks import Failure, Session
from embodiedsmith.world import SettleError


class ExecutionCritic:
    """Runs the demonstrator; keeps the first success in `Context.witness`."""

    name = "execution"
    tier = 60
    on_draft = False
    codes: Mapping[str, tuple[EditKind, ...]] = {
        "execution.failed": ("unblock", "move", "move_base", "turn", "change_support", "swap_asset", "change_embodiment"),
        "execution.start_moves": ("move", "turn", "change_support", "swap_asset", "remove"),
    }

    def review(self, context: Context) -> list[Finding]:
        """How every attempt failed, when none succeeded."""
        findings: list[Finding] = []
        for attempt in range(ATTEMPTS):
            session = Session(context.world, seed=context.seed, attempt=attempt)
            try:
                recording = demonstrate(session, context.start_rng(attempt))
            except SettleError as error:
                findings += [f.model_copy(update={"code": "execution.start_moves"}) for f in error.findings]
                continue
            context.plans += int(recording.cost["plans"])
            if recording.outcome == "success":
                context.witness = recording
                return []
            assert recording.failure is not None  # a recording without success says why
            findings.append(_finding(recording.failure))
        return findings


def _finding(failure: Failure) -> Finding:
    where = f" in {failure.skill}" if failure.skill else ""
    return Finding(
        code="execution.failed", subjects=failure.subjects, value=failure.value, limit=failure.limit,
        message=f"{failure.code}{where}: {failure.message}",
    )  # fmt: skip


CRITIC = ExecutionCritic()
