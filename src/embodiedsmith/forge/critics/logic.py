"""Sense: is there something to do, and do the robot's skills add up to it?"""

from __future__ import annotations

from collections.abc import Mapping

from embodiedsmith.forge.critics.base import STARTS, Context
from embodiedsmith.motion import symbolic
from embodiedsmith.motion.errors import MotionError
from embodiedsmith.spec import All, Any, EditKind, Finding, Goal, Not, Predicate, Sequence, predicates
from embodiedsmith.tasks import GoalMonitor, title
from embodiedsmith.world import SettleError

FALSE_BY = 0.01  # [m or rad] by which the goal must be false at the start
FALSE_BY_NEGATED = 0.0005  # the same for goals with `not`: a contact has no depth, so what holds holds by a millimetre


class LogicCritic:
    """Looks at the start of several attempts, and plans without geometry."""

    name = "logic"
    tier = 30
    on_draft = False
    codes: Mapping[str, tuple[EditKind, ...]] = {
        "logic.start_moves": ("move", "turn", "change_support", "swap_asset", "remove"),
        "logic.already_true": ("change_support", "set_joint", "move", "change_argument"),
        "logic.nearly_true": ("move", "set_joint", "change_support", "set_tolerance"),
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
    }

    def review(self, context: Context) -> list[Finding]:
        """Whether the goal holds (nearly) at the start, then whether a sequence of skills brings it about."""
        world, task = context.world, context.scenario.task
        monitor = GoalMonitor(task.goal, world, hold_steps=task.hold_steps)
        limit = FALSE_BY_NEGATED if _negates(task.goal) else FALSE_BY
        for draw in range(STARTS):
            try:
                context.start(draw)
            except SettleError as error:
                return [f.model_copy(update={"code": "logic.start_moves"}) for f in error.findings]
            margin = monitor.reset()
            if margin > -limit:
                held = margin > 0
                said = "holds already at the start" if held else "nearly holds at the start"
                subjects = tuple(dict.fromkeys(a for p in predicates(task.goal) for a in p.args))
                return [
                    Finding(
                        code="logic.already_true" if held else "logic.nearly_true",
                        subjects=subjects,
                        value=margin,
                        limit=-limit,
                        message=f"the goal {_said(task.goal)} {said}: its margin is {margin:.4f} (at most {-limit:g})",
                    )
                ]
        try:
            steps = symbolic.plan(world, task.goal)
        except MotionError as error:
            return [Finding(code="logic.no_plan", subjects=error.subjects, message=f"{error.code}: {error.what}")]
        if not steps:
            return [
                Finding(code="logic.nothing_to_do", message=f"no skill is needed for {_said(task.goal)}, yet it does not hold")
            ]
        return []


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
