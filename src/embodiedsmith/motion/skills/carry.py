"""carry(item, place): take a thing with two hands where it is and lift it; what two hands hold, they put down together.

For what has two grips far apart, when one hand cannot take it or the goal asks for both.
"""

from __future__ import annotations

from itertools import islice

import numpy as np

from embodiedsmith.motion import carrying, together
from embodiedsmith.motion.carrying import PairPlan
from embodiedsmith.motion.controller import CARE, GRIP_STEPS, Controller, Held, opening
from embodiedsmith.motion.errors import MotionError
from embodiedsmith.motion.grasping import Tally
from embodiedsmith.motion.kinematics import kinematics
from embodiedsmith.motion.operators import Operator, Step, things_of
from embodiedsmith.motion.placing import Load
from embodiedsmith.motion.skills import Skill
from embodiedsmith.motion.skills.place import both_hands, carrier, place_of_item, spots
from embodiedsmith.motion.together import TeamSpace

STAGE = "carry"
LOOK_AHEAD = 120  # spots tried for a pair of grasps before it counts as a dead end
LIFTED = 0.5  # of the lift, that a thing must have risen to count as lifted
REGRASPS = 3
RESTING = 0.004  # closing a control step, below which fingers count as at rest


def pair_plan(control: Controller, item: str, upcoming: tuple[Step, ...], failed: int = 0) -> PairPlan:
    """The best way to take an item with both hands after which it can be put down as the plan says, but for the first `failed`.

    Raises:
        MotionError: `carry.unreachable`, `carry.blocked`, `carry.no_spot`; `carry.dead_end`, caused by the error of what follows.
    """
    following = place_of_item(item, upcoming)

    def ready(plan: PairPlan) -> MotionError | None:
        if following is None:
            return None
        later = Tally()
        if _can_put_down(control, following, plan, later):
            return None
        return later.error(following.skill, item, things_of(following)[1:])

    tally = Tally()
    plan = next(islice(carrying.plans(control, item, tally, ready=ready), failed, None), None)
    if plan is None:
        raise tally.error(STAGE, item)
    return plan


def _can_put_down(control: Controller, step: Step, plan: PairPlan, tally: Tally) -> bool:
    """Whether both hands get the item, lifted, to a spot at which a later step may put it down."""
    first = plan.arms[0]
    control.use(first)
    control.look()
    T_tcp_item = plan.T_tcp_item[first]
    load = Load(plan.item, control.world.item_pose(plan.item), T_tcp_item, control.hand.closing_on(plan.grasps[0].width))
    kin = kinematics(control.robot.name, first)
    T_lifted = control.base_pose() @ kin.forward(plan.lift[-1][: len(kin.home)]) @ T_tcp_item
    held = {arm: Held(plan.item, T) for arm, T in plan.T_tcp_item.items()}
    with both_hands(control):
        wanted = islice(spots(control, step, load), LOOK_AHEAD)
        return carrying.way_down(control, held, T_lifted, plan.lift[-1], wanted, carrier(control, step), tally) is not None


def run(control: Controller, args: tuple[str, ...], upcoming: tuple[Step, ...]) -> None:
    """Take hold with both hands and lift; a hold that slips is tried again with the next best pair."""
    item = args[0]
    failure: MotionError | None = None
    for failed in range(REGRASPS):
        control.look()
        try:
            plan = pair_plan(control, item, upcoming, failed)
        except MotionError:
            if failure is not None:
                raise failure from None
            raise
        try:
            _take_up(control, plan)
            return
        except MotionError as error:
            if error.code == "goal.timeout":
                raise
            failure = error
            control.session.note("recovery", (item,), error.what)
            _give_up(control, plan)
    assert failure is not None
    raise failure


def _take_up(control: Controller, plan: PairPlan) -> None:
    """Both hands to the item, close, and up.

    Raises:
        MotionError: `carry.missed` when a hand closed beside it, `carry.slipped` when it did not come along.
    """
    item, arms, world = plan.item, plan.arms, control.world
    for arm, grasp in zip(arms, plan.grasps, strict=True):
        control.closings[arm] = opening(control.hands[arm], grasp.width)
    ends = dict(zip(arms, np.split(plan.approach[0], [len(kinematics(control.robot.name, arms[0]).home)]), strict=True))
    together.move(control, ends, stage=STAGE)
    for arm in arms:
        control.use(arm)
        control.await_gripper()
    space = TeamSpace(control, arms)
    together.follow(control, space, plan.approach, stage=STAGE, speed=CARE)
    _grip(control, plan)
    missed = [arm for arm in arms if item not in world.grasped(arm)]
    if missed:
        names = " and the ".join(control.robot.arms[arm].name for arm in missed)
        raise MotionError(f"{STAGE}.missed", f"the {names} hand closed beside {item}", subjects=(item,))
    held = carrying.take(control, arms, item)
    before = float(world.item_pose(item)[2, 3])
    path = carrying.lifted(control, space, held, world.item_pose(item), carrying.commanded(control, arms))
    if path is None:
        raise MotionError(f"{STAGE}.blocked", f"{item} cannot be lifted", subjects=(item,))
    together.follow(control, space, path, stage=STAGE, speed=carrying.SLOW, calm=carrying.CALM)
    rise = float(world.item_pose(item)[2, 3]) - before
    if rise < LIFTED * carrying.LIFTS[-1]:
        raise MotionError(
            f"{STAGE}.slipped", f"{item} stayed behind", subjects=(item,), value=rise, limit=LIFTED * carrying.LIFTS[-1]
        )
    carrying.take(control, arms, item)  # as it has settled in the hands


def _grip(control: Controller, plan: PairPlan) -> None:
    """Close both hands at once and wait until all fingers rest."""
    for arm, grasp in zip(plan.arms, plan.grasps, strict=True):
        control.closings[arm] = control.hands[arm].taking(grasp.width)
    last = np.ones(2)
    still = 0
    for k in range(GRIP_STEPS):
        control.step()
        now = np.array([control.world.gripper(arm, control.hands[arm]) for arm in plan.arms])
        still = still + 1 if np.abs(now - last).max() < RESTING else 0
        last = now
        if k >= 2 and still >= 2:
            return


def _give_up(control: Controller, plan: PairPlan) -> None:
    """Open both hands, wherever the item is, and leave."""
    held = {arm: Held(plan.item, T) for arm, T in plan.T_tcp_item.items()}
    carrying.leave(control, plan.arms, held, stage=STAGE)


def foresee(control: Controller, args: tuple[str, ...]) -> None:
    """Whether there is a way to take the item and to put it down as the plan says."""
    pair_plan(control, args[0], control.ahead)


def _operator(*gate: tuple[str, ...], parameters: tuple[tuple[str, str], ...] = ()) -> Operator:
    return Operator(
        skill=STAGE,
        parameters=(("item", "item"), ("place", "place"), ("zone", "zone"), *parameters),
        needs=(
            ("empty_hand",), ("paired", "item"), ("loose", "item"), ("at", "item", "place"), ("untopped", "item"),
            ("ungated", "place"), ("roomy", "place"), ("place_zone", "place", "zone"), ("standing", "zone"), *gate,
        ),
        adds=(("holding", "item"), ("in_both", "item")),
        removes=(("empty_hand",), ("at", "item", "place")),
        passes=("item", "place"),
    )  # fmt: skip


SKILL = Skill(
    name=STAGE, operators=(_operator(("two_handed", "item")), _operator(("wanted_both", "item"))), run=run, foresee=foresee
)
