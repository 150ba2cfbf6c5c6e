"""Doing: does the demonstrator bring the goal about in the simulated world? Its success is the scenario's witness."""

from __future__ import annotations

from collections.abc import Mapping

from embodiedsmith.forge.critics.base import ATTEMPTS, Context
from embodiedsmith.motion import demonstrate
from embodiedsmith.motion.skills import skills
from embodiedsmith.spec import EditKind, Finding, predicates, split_reference
from embodiedsmith.tasks import Failure, Recording, Session, title
from embodiedsmith.world import SettleError

_CURES: dict[str, tuple[EditKind, ...]] = {
    "pick": ("unblock", "move", "turn", "swap_asset", "move_base", "change_support", "remove", "change_embodiment"),
    "open": ("unblock", "turn", "move", "move_base", "set_joint", "remove", "swap_asset", "change_embodiment"),
    "close": ("unblock", "turn", "move", "move_base", "remove", "swap_asset", "change_embodiment"),
    "navigate": ("unblock", "move", "move_base", "turn", "remove", "change_embodiment"),
    "push": ("unblock", "move", "move_base", "resize", "swap_asset", "remove"),
}
_CURES |= {"carry": _CURES["pick"], "hold": _CURES["pick"]}
_PLACE: tuple[EditKind, ...] = ("resize", "unblock", "move", "swap_asset", "turn", "move_base", "remove", "change_argument")
"""What could cure a step of any other skill: they put something down."""


class ExecutionCritic:
    """Runs the demonstrator; keeps the first success in `Context.witness`."""

    name = "execution"
    tier = 60
    on_draft = False
    codes: Mapping[str, tuple[EditKind, ...]] = {
        **{f"execution.{name}": _CURES.get(name, _PLACE) for name in skills()},
        "execution.plan": ("change_argument", "change_support", "split_goal", "set_joint"),
        "execution.goal": ("set_tolerance", "resize", "swap_asset", "move", "change_argument"),
        "execution.timeout": ("set_joint", "change_support", "move", "change_argument"),
        "execution.world": ("swap_asset", "move", "resize", "remove"),
        "execution.start_moves": ("move", "turn", "change_support", "swap_asset", "remove"),
    }
    """A code for every skill, and one each for plans, which fail when things came out otherwise than planned, for a goal that
    does not hold when every step was done, for the horizon, and for a world that goes bad."""

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
            findings.append(_finding(context, recording))
        return findings


def _finding(context: Context, recording: Recording) -> Finding:
    failure = recording.failure
    assert failure is not None  # a recording without success says why
    started = [e for e in recording.events if e.kind == "skill_started"]
    step = f" in step {len(started)}, {failure.skill}" if failure.skill else ""
    return Finding(
        code=f"execution.{_kind(failure)}", subjects=_subjects(context, recording), value=failure.value, limit=failure.limit,
        message=f"attempt {recording.attempt + 1} of {ATTEMPTS}: {failure.code}{step}: {failure.message}",
    )  # fmt: skip


def _kind(failure: Failure) -> str:
    """The last part of the finding's code: what failed, which the step before may have foreseen."""
    stage = failure.code.split(".")[0]
    if failure.code == "goal.timeout":
        return "timeout"
    if stage in skills() or stage in ("goal", "world"):
        return stage
    return failure.skill.split("(")[0] if failure.skill else "plan"


def _subjects(context: Context, recording: Recording) -> tuple[str, ...]:
    """The thing concerned, then what was in its way; else what the step was about, or the part of the goal that holds least."""
    failure = recording.failure
    assert failure is not None
    items = {item.id for item in context.scenario.scene.items}
    things = [s for s in failure.subjects if s == "robot" or split_reference(s)[0] in items]
    if not things and failure.skill:
        last = [e for e in recording.events if e.kind == "skill_started"][-1]
        things = [s for s in last.subjects if split_reference(s)[0] in items]
    if not things:
        worst = recording.predicate_names[int(recording.predicate_margins[-1].argmin())]
        things = [a for p in predicates(context.scenario.task.goal) if title(p) == worst for a in p.args]
    return tuple(dict.fromkeys(things))


CRITIC = ExecutionCritic()
