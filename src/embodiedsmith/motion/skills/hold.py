"""hold(item, place, arm): take hold of a thing where it stands and keep it there, while another arm does something with it."""

from __future__ import annotations

import numpy as np

from embodiedsmith.motion import grasping
from embodiedsmith.motion.controller import CARE, Controller
from embodiedsmith.motion.errors import MotionError
from embodiedsmith.motion.grasping import GraspPlan, Tally
from embodiedsmith.motion.operators import Operator, Step
from embodiedsmith.motion.skills import Skill
from embodiedsmith.motion.skills.hand_over import arm_index
from embodiedsmith.world import transforms as tf

STAGE = "hold"
OWN_SIDE = 0.6  # least cosine between the ways to the grasp and to the arm's own mount, from the thing's middle
SLIM = 0.03  # [m] from its middle within which a grasp is on no side of a thing


def hold_plan(control: Controller, item: str, arm: int) -> GraspPlan:
    """The best grasp of an item by an arm, in use afterwards, that leaves the side towards the others free.

    Raises:
        MotionError: `hold.unreachable`, `hold.blocked`, `hold.no_grasp`.
    """
    control.use(arm)
    control.look()
    low, high = control.world.assets[item].extents
    middle = (control.world.item_pose(item) @ np.append(np.add(low, high) / 2, 1.0))[:3]
    own = control.mount()[:2] - middle[:2]

    def ready(plan: GraspPlan) -> MotionError | None:
        way = plan.T_world_tcp[:2, 3] - middle[:2]
        away = float(np.linalg.norm(way))
        if away < SLIM or float(way @ own) > OWN_SIDE * away * float(np.linalg.norm(own)):
            return None
        return MotionError(f"{STAGE}.blocked", f"the hand would be in the way of another at {item}", subjects=(item,), value=away)

    tally = Tally()
    plan = next(grasping.plans(control, item, tally, ready=ready), None)
    if plan is None:
        raise tally.error(STAGE, item)
    return plan


def run(control: Controller, args: tuple[str, ...], upcoming: tuple[Step, ...]) -> None:
    """Close the hand round the item; it stays where it stands.

    Raises:
        MotionError: besides those of `hold_plan` `hold.missed` when the fingers close beside it; the hand is open again then.
    """
    item, _, name = args
    plan = hold_plan(control, item, arm_index(control, name))
    control.park_others(stage=STAGE)
    control.look()
    control.wear(plan.hand)
    control.preshape(plan.grasp.width, plan.play)
    control.reach(plan.approach[0], stage=STAGE)
    control.await_gripper()
    control.follow(plan.approach, stage=STAGE, speed=CARE)
    control.grip(control.hand.taking(plan.grasp.width))
    if item in control.world.grasped(control.index):
        control.take(item)
        return
    control.grip(0.0)
    control.look()
    control.checker.allow([(f, i) for f in (*control.fingers, "robot") for i in control.world.items])
    T = control.checker.pose(control.joints)
    back = control.straight(T, T @ tf.translate((0.0, 0.0, -grasping.SHORT_APPROACH)), control.joints)
    if back is not None:
        control.follow(back, stage=STAGE, speed=0.5)
    raise MotionError(f"{STAGE}.missed", f"the fingers closed beside {item}", subjects=(item,), value=control.closing, limit=1.0)


def foresee(control: Controller, args: tuple[str, ...]) -> None:
    """Whether there is a way to take hold of it."""
    hold_plan(control, args[0], arm_index(control, args[2]))


SKILL = Skill(
    name=STAGE,
    operators=(
        Operator(
            skill=STAGE,
            parameters=(("item", "item"), ("place", "place"), ("zone", "zone"), ("arm", "arm"), ("other", "arm")),
            needs=(
                ("empty_hand",), ("graspable", "item"), ("loose", "item"), ("at", "item", "place"), ("ungated", "place"),
                ("place_zone", "place", "zone"), ("standing", "zone"), ("wanted_steady", "item"), ("other_arm", "arm", "other"),
            ),
            adds=(("held_by", "item", "arm"),),
            removes=(),
            passes=("item", "place", "arm"),
        ),
    ),
    run=run,
    foresee=foresee,
)  # fmt: skip
