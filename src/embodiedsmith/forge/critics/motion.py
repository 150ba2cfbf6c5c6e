"""Ways: is there a motion free of collisions to what is grasped, to the handles, and to where things must go?

What the demonstrator would plan is planned, by the demonstrator's own planners and from its own draws, but nothing is simulated:
opened parts are imagined open, and what has been put away is imagined away, for nobody knows yet where exactly it ends. So what
is refused here fails in the execution, too. Left out, because it cannot be known before: where things end that are pushed or
closed, where a robot on wheels stands, and how what lies in a drawer slides about while that is pulled open.
"""

from __future__ import annotations

from collections.abc import Mapping

import mujoco

from embodiedsmith.forge.critics.base import Context, at_best_start
from embodiedsmith.motion import symbolic
from embodiedsmith.motion.articulation import Articulation, plan_arc
from embodiedsmith.motion.controller import Controller
from embodiedsmith.motion.errors import MotionError
from embodiedsmith.motion.operators import Step
from embodiedsmith.motion.skills import skills
from embodiedsmith.motion.skills.close import PARTS as CLOSING
from embodiedsmith.motion.skills.open import PARTS, WIDE
from embodiedsmith.motion.skills.pick import grasp_plan
from embodiedsmith.motion.skills.place import place_of_item
from embodiedsmith.motion.standing import suppose
from embodiedsmith.spec import EditKind, Finding, split_reference
from embodiedsmith.tasks import Session
from embodiedsmith.world import SettleError
from embodiedsmith.world import transforms as tf

AWAY = 50.0  # [m] up, where things are imagined that have been put somewhere


class MotionCritic:
    """Plans the steps of the task one after the other, as far as can be foreseen, from the starts of the execution critic."""

    name = "motion"
    tier = 50
    on_draft = False
    codes: Mapping[str, tuple[EditKind, ...]] = {
        "motion.grasp_blocked": ("unblock", "move", "turn", "change_support", "move_base", "remove", "swap_asset"),
        "motion.grasp_unreachable": ("move", "turn", "move_base", "change_support", "change_embodiment"),
        "motion.handle_blocked": ("unblock", "turn", "move", "move_base", "remove"),
        "motion.handle_unreachable": ("turn", "move", "move_base", "set_joint", "change_embodiment"),
        "motion.place_blocked": ("unblock", "resize", "swap_asset", "move", "turn", "move_base", "remove", "change_argument"),
        "motion.place_unreachable": ("move", "turn", "move_base", "change_argument", "change_embodiment"),
        "motion.start_moves": ("move", "turn", "change_support", "swap_asset", "remove"),
    }

    def review(self, context: Context) -> list[Finding]:
        """The first step for which there is no way; nothing when from any start looked at there is one for all."""
        return at_best_start(lambda attempt: _faults(context, attempt))


def _faults(context: Context, attempt: int) -> list[Finding]:
    session = Session(context.world, seed=context.seed, attempt=attempt)
    rng = context.start_rng(attempt)
    try:
        session.reset(rng)
    except SettleError as error:
        return [f.model_copy(update={"code": "motion.start_moves"}) for f in error.findings]
    try:
        steps = symbolic.plan(context.world, context.scenario.task.goal)
    except MotionError:
        return []  # the logic critic says so
    try:
        _walk(context, Controller(session, rng), steps)
    except MotionError as error:
        return [_finding(error)]
    return []


def _walk(context: Context, control: Controller, steps: tuple[Step, ...]) -> None:
    """Plan the steps that can be foreseen; raises MotionError for the first that cannot be done."""
    away: set[str] = set()
    pulled: set[str] = set()
    for k, step in enumerate(steps):
        control.stage, control.ahead = step.stage, steps[k + 1 :]
        control.look()
        if step.skill == "navigate":
            return
        if step.skill == "open":
            context.plans += 1
            part = Articulation(control, step.args[0])
            plan = plan_arc(part, (*WIDE[part.info.kind], *PARTS), push=False, stage=step.skill)
            suppose(part, plan.fraction)
            pulled.add(part.name)
            _arm_at(control, plan.arc[-1])
        elif step.skill == "close":
            part = Articulation(control, step.args[0])
            if k == 0:
                context.plans += 1
                plan_arc(part, (0.0, *CLOSING), push=True, stage=step.skill)
            suppose(part, 0.0)
        elif step.skill == "pick":
            if not _moved(step.args, away) and _carrier(control, step.args[1]) not in pulled:
                context.plans += 1
                _pick(control, step, steps[k + 1 :], away)
            away.add(step.args[0])
        elif step.skill.startswith("place") or step.skill == "push":
            _put_away(control, step.args[0])
        elif (foresee := skills()[step.skill].foresee) is not None and not _moved(step.args, away):
            context.plans += 1
            foresee(control, step.args)


def _pick(control: Controller, step: Step, upcoming: tuple[Step, ...], away: set[str]) -> None:
    """Plan a grasp, and with it the way to put the thing down, unless that is with something that will have moved by then."""
    following = place_of_item(step.args[0], upcoming)
    lost = following is not None and _moved(following.args[1:], away)
    plan = grasp_plan(control, step.args, () if lost else upcoming)
    control.inserted = ()
    promised = None if following is None else control.promised.get(following)
    _arm_at(control, plan.joints if promised is None or promised.joints is None else promised.joints)


def _carrier(control: Controller, place: str) -> str | None:
    """The joint, as `item.joint`, that what lies at a place moves with; None when it stays."""
    owner, part = split_reference(place)
    asset = control.world.assets.get(owner)
    cavities = () if asset is None else asset.affordances.cavities
    return next((f"{owner}.{c.joint}" for c in cavities if c.name == part and c.joint and c.body != "root"), None)


def _arm_at(control: Controller, joints: tf.Float) -> None:
    """Imagine the arm where a motion ends: from there it finds postures that it does not find from home."""
    control.world.command[control.arm] = joints


def _moved(references: tuple[str, ...], away: set[str]) -> bool:
    """Whether anything named has been put somewhere by then."""
    return any(split_reference(r)[0] in away for r in references)


def _put_away(control: Controller, item: str) -> None:
    world = control.world
    world.data.qpos[world.items[item].qpos + 2] = AWAY
    mujoco.mj_kinematics(world.model, world.data)


def _finding(error: MotionError) -> Finding:
    cause = error.__cause__ if isinstance(error.__cause__, MotionError) else error
    stage, reason = cause.code.split(".")
    taking = dict.fromkeys(("pick", "carry", "hold", "straighten"), "grasp")
    what = {**taking, "open": "handle", "close": "handle"}.get(stage, "place")
    code = f"motion.{what}_{'unreachable' if reason == 'unreachable' else 'blocked'}"
    return Finding(
        code=code, subjects=error.subjects, value=cause.value, limit=cause.limit,
        unit="m" if reason == "unreachable" else "", message=f"{stage}: {error.what}",
    )  # fmt: skip


CRITIC = MotionCritic()
