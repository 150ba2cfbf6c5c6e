"""hand_over(item, arm): the arm that holds an item gives it to another, in the air between them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from embodiedsmith.motion import arms, handing, together
from embodiedsmith.motion.controller import CARE, Controller
from embodiedsmith.motion.errors import MotionError
from embodiedsmith.motion.grasping import Tally
from embodiedsmith.motion.handing import HandOver
from embodiedsmith.motion.operators import Operator, Step, things_of
from embodiedsmith.motion.placing import Load
from embodiedsmith.motion.skills import Skill
from embodiedsmith.motion.skills.place import place_of_item, place_plan
from embodiedsmith.world import transforms as tf

STAGE = "hand_over"
LOOK_AHEAD = 30  # spots tried for a hand-over before it counts as a dead end
STILL = 4  # control steps for the item to hang still
OPEN = 6  # control steps for the giver's fingers to open
FINGER_ROOM = 0.015  # [m] by which they open
MOST = 12  # hand-overs looked at for one after which the item can be put down


def arm_index(control: Controller, name: str) -> int:
    """Which arm has a name.

    Raises:
        MotionError: `hand_over.no_arm`, when the robot has no such arm.
    """
    names = [arm.name for arm in control.robot.arms]
    if name not in names:
        raise MotionError(f"{STAGE}.no_arm", f"{control.robot.name} has no {name} arm; it has {', '.join(names)}")
    return names.index(name)


def hand_over_plan(
    control: Controller, giver: int, taker: int, load: Load, upcoming: tuple[Step, ...], tally: Tally
) -> HandOver | None:
    """The best way to hand over what the giver holds, or will hold, such that the taker can put it down as the plan says."""
    following = place_of_item(load.item, upcoming)

    def ready(plan: HandOver) -> MotionError | None:
        if following is None:
            return None
        later = Tally()
        control.use(taker)
        control.look()
        closing = 1.0 - plan.grasp.width / control.hand.max_width
        taken = Load(load.item, plan.T_world_item, plan.T_tcp_item, closing)
        found = place_plan(control, following, taken, later, most=LOOK_AHEAD)
        return None if found is not None else later.error(following.skill, load.item, things_of(following)[1:])

    return next(_most(handing.plans(control, giver, taker, load, tally, ready=ready)), None)


def _most(plans: Iterator[HandOver]) -> Iterator[HandOver]:
    return islice(plans, MOST)


def run(control: Controller, args: tuple[str, ...], upcoming: tuple[Step, ...]) -> None:
    """Bring the item between the arms, take it with the other, let go and leave."""
    item, name = args
    taker = arm_index(control, name)
    arms.use_holder(control, item)
    if control.held is None or control.held.item != item:
        raise MotionError(f"{STAGE}.empty_hand", f"{item} is in no hand", subjects=(item,))
    giver = control.index
    if giver == taker:
        return
    held = control.take(item)
    control.park_others(stage=STAGE)
    load = Load(item, control.world.item_pose(item), held.T_tcp_item, control.world.gripper(giver))
    tally = Tally()
    arranged = control.arranged.pop(item, None)
    plan = None
    if arranged is not None and (arranged.giver, arranged.taker) == (giver, taker):
        plan = handing.as_arranged(control, arranged, load)
    plan = plan or hand_over_plan(control, giver, taker, load, upcoming, tally)
    if plan is None:
        raise tally.error(STAGE, item, (name,))
    _meet(control, plan)
    _take(control, plan, load)
    _leave(control, plan)


def _meet(control: Controller, plan: HandOver) -> None:
    """Both arms at once: the giver brings the item, the taker waits before its grasp, its fingers open far enough."""
    control.use(plan.taker)
    control.preshape(plan.grasp.width)
    control.use(plan.giver)
    together.move(control, {plan.giver: plan.meet, plan.taker: plan.approach[0]}, stage=STAGE)
    control.wait(STILL)


def _take(control: Controller, plan: HandOver, load: Load) -> None:
    """Close the taker's hand on the item where it really is.

    Raises:
        MotionError: `hand_over.missed` when the fingers close beside it; the taker has then left again.
    """
    world, item = control.world, plan.item
    approach = plan.approach
    again = handing.take_again(control, plan, load)
    control.use(plan.taker)
    _see(control, item, plan.giver)
    if again is not None:
        approach = again.approach
        control.reach(approach[0], stage=STAGE)
        _see(control, item, plan.giver)
    control.await_gripper()
    control.follow(approach, stage=STAGE, speed=CARE)
    control.grip(1.0)
    if item not in world.grasped(plan.taker):
        _give_up(control, plan)
        raise MotionError(
            f"{STAGE}.missed", f"the fingers closed beside {item}", subjects=(item,), value=world.gripper(plan.taker), limit=1.0
        )
    control.take(item)


def _see(control: Controller, item: str, giver: int) -> None:
    """Take the world in; the taker's fingers may touch the item."""
    control.look()
    control.checker.forbid_all()
    control.checker.allow([(item, f) for f in (*control.fingers, *control.world.fingers(giver))])
    control.checker.allow([(item, "robot")])


def _give_up(control: Controller, plan: HandOver) -> None:
    """Open the taker's hand and bring it back; the giver still holds the item."""
    control.let_go()
    control.preshape(plan.grasp.width)
    control.wait(OPEN)
    control.follow(plan.approach[::-1], stage=STAGE, speed=0.5)
    control.use(plan.giver)
    control.park_others(stage=STAGE)


def _leave(control: Controller, plan: HandOver) -> None:
    """Open the giver's hand, back off and go home; the item must stay with the taker.

    Raises:
        MotionError: `hand_over.slipped` when it does not.
    """
    item, world = plan.item, control.world
    control.use(plan.giver)
    control.let_go()
    control.gripper = max(0.0, world.gripper(plan.giver) - FINGER_ROOM / control.hand.max_width)
    control.wait(OPEN)
    _see(control, item, plan.taker)
    T = control.checker.pose(control.joints)
    back = None
    for distance in handing.RETREAT:
        back = control.straight(T, T @ tf.translate((0.0, 0.0, -distance)), control.joints)
        if back is not None:
            break
    control.follow(plan.retreat if back is None else back, stage=STAGE, speed=0.5)
    control.gripper = 0.0
    control.look()
    control.reach(control.kin.home, stage=STAGE)
    control.use(plan.taker)
    control.check_held(STAGE)
    if item not in world.grasped(plan.taker):
        control.let_go()
        raise MotionError(f"{STAGE}.slipped", f"{item} did not stay in the other hand", subjects=(item,), value=0.0, limit=1.0)
    control.take(item)  # as it hangs in the hand now


SKILL = Skill(
    name="hand_over",
    operators=(
        Operator(
            skill="hand_over",
            parameters=(("item", "item"), ("giver", "arm"), ("taker", "arm")),
            needs=(("holding", "item"), ("held_by", "item", "giver"), ("other_arm", "giver", "taker")),
            adds=(("held_by", "item", "taker"),),
            removes=(("held_by", "item", "giver"),),
            passes=("item", "taker"),
        ),
    ),
    run=run,
)
