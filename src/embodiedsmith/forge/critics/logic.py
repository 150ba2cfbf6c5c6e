"""Sense: is there something to do, and do the robot's skills add up to it?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from embodiedsmith.forge.critics.base import STARTS, Context
from embodiedsmith.motion.errors import MotionError
from embodiedsmith.spec import All, Any, EditKind, Finding, Goal, Not, Predicate, Sequence, predicates
from embodiedsmith.tasks import GoalMonitor, predicate, title
from embodiedsmith.world import SettleError, World

FALSE_BY = 0.01  # [m or rad] by which the goal must be false at the start
FALSE_BY_NEGATED = 0.0005  # the same for goals with `not`: a contact has no depth, so what holds holds by a millimetre

QUICKEST = {"open": 3.5, "close": 3.0, "navigate": 2.0}  # [s] that no demonstration of a skill was ever done in
QUICK = 1.5  # [s] the same for every other skill


class LogicCritic:
    """Looks at several starts, and plans without geometry."""

    name = "logic"
    tier = 30
    on_draft = False
    codes: Mapping[str, tuple[EditKind, ...]] = {
        "logic.start_moves": ("move", "turn", "change_support", "swap_asset", "remove"),
        "logic.already_true": ("change_support", "set_joint", "move", "change_argument"),
        "logic.nearly_true": ("move", "set_joint", "change_support", "set_tolerance"),
        "logic.initial_false": ("move", "turn", "change_support", "set_joint"),
        "logic.no_plan": (
            "resize",
            "swap_asset",
            "change_embodiment",
            "change_support",
            "change_argument",
            "split_goal",
            "remove",
        ),
        "logic.nothing_to_do": ("change_support", "move", "turn", "change_argument"),
        "logic.too_long": ("set_joint", "change_support", "change_argument"),
    }

    def review(self, context: Context) -> list[Finding]:
        """Whether the goal holds (nearly) at a start, and what should hold there does; then whether the robot's skills do it."""
        world, task = context.world, context.scenario.task
        monitor = GoalMonitor(task.goal, world, hold_steps=task.hold_steps)
        for draw in range(STARTS):
            try:
                context.start(draw)
            except SettleError as error:
                return [f.model_copy(update={"code": "logic.start_moves"}) for f in error.findings]
            findings = [*_goal_holds(task.goal, monitor.reset()), *_initial(world, task.initial)]
            if findings:
                return findings
        return _plan(context)


def _goal_holds(goal: Goal, margin: float) -> Iterator[Finding]:
    limit = FALSE_BY_NEGATED if _negates(goal) else FALSE_BY
    if margin <= -limit:
        return
    held = margin > 0
    said = "holds already at the start" if held else "nearly holds at the start"
    yield Finding(
        code="logic.already_true" if held else "logic.nearly_true", subjects=_things(goal), value=margin, limit=-limit,
        message=f"the goal {_said(goal)} {said}: its margin is {margin:.4f} (at most {-limit:g})",
    )  # fmt: skip


def _initial(world: World, initial: tuple[Predicate, ...]) -> Iterator[Finding]:
    for p in initial:
        margin = predicate(p.name).margin(world, p.args, p.params)
        if margin <= 0:
            yield Finding(
                code="logic.initial_false", subjects=p.args, value=margin, limit=0.0,
                message=f"{title(p)} should hold at the start, but does not: its margin is {margin:.4f} (above 0)",
            )  # fmt: skip


def _plan(context: Context) -> list[Finding]:
    goal, horizon = context.scenario.task.goal, context.scenario.task.horizon
    try:
        steps = context.steps()
    except MotionError as error:
        return [
            Finding(
                code="logic.no_plan", subjects=error.subjects, value=error.value, limit=error.limit,
                message=f"{error.code}: {error.what}",
            )
        ]  # fmt: skip
    if not steps:
        said = f"no skill is needed for {_said(goal)}, yet it does not hold"
        return [Finding(code="logic.nothing_to_do", subjects=_things(goal), message=said)]
    least = sum(QUICKEST.get(step.skill, QUICK) for step in steps)
    if least <= horizon:
        return []
    said = f"{len(steps)} steps take {least:.0f} s at the quickest, the horizon is {horizon:.0f} s"
    return [Finding(code="logic.too_long", subjects=_things(goal), value=least, limit=horizon, unit="s", message=said)]


def _things(goal: Goal) -> tuple[str, ...]:
    return tuple(dict.fromkeys(a for p in predicates(goal) for a in p.args))


def _negates(goal: Goal) -> bool:
    match goal:
        case Not():
            return True
        case All() | Any() | Sequence():
            return any(_negates(g) for g in goal.goals)
        case _:
            return False


def _said(goal: Goal) -> str:
    match goal:
        case Predicate():
            return title(goal)
        case Not():
            return f"not({_said(goal.goal)})"
        case _:
            return f"{goal.kind}({', '.join(_said(g) for g in goal.goals)})"


CRITIC = LogicCritic()
