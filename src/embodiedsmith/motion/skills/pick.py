"""pick(item, place): take hold of an item where it is and lift it into the open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from embodiedsmith.motion import arms, grasping, handing
from embodiedsmith.motion.controller import CARE, Controller
from embodiedsmith.motion.errors import MotionError
from embodiedsmith.motion.grasping import GraspPlan, Tally
from embodiedsmith.motion.operators import Operator, Step, things_of
from embodiedsmith.motion.placing import grasped
from embodiedsmith.motion.skills import Skill
from embodiedsmith.motion.skills.hand_over import arm_index, hand_over_plan
from embodiedsmith.motion.skills.navigate import dead_end
from embodiedsmith.motion.skills.place import place_of_item, place_plan, through_front
from embodiedsmith.spec import split_reference
from embodiedsmith.world import transforms as tf

LIFT = 0.12  # [m]
LIFTS = (LIFT, 0.08, 0.065, 0.05)
NUDGE = 0.012  # [m] lifted before pulling out of a front opening
OUT = (0.06, 0.02, -0.02)  # [m] pulled out farther than just before a front
REGRASPS = 4
HAND_OVERS = 6  # grasps from which a hand-over is looked for
LOOK_AHEAD = 60  # spots tried for a grasp before it counts as a dead end


def grasp_plan(
    control: Controller, args: tuple[str, ...], upcoming: tuple[Step, ...], failed: Sequence[GraspPlan] = ()
) -> GraspPlan:
    """The best grasp from which the item can also be put down where the plan puts it; the arm that can is in use afterwards.

    Args:
        control: The robot.
        args: Those of the step: the item, the place it is at, and, where that matters, the name of the arm that is to hold it.
        upcoming: The steps after it.
        failed: Grasps that were tried and did not hold.

    Raises:
        MotionError: `pick.unreachable`, `pick.blocked`, `pick.no_grasp`; `pick.dead_end`, caused by the error of what follows.
    """
    points = [control.world.item_pose(args[0])[:3, 3]]
    if (following := place_of_item(args[0], upcoming)) is not None:
        points += [control.world.item_pose(split_reference(r)[0])[:3, 3] for r in things_of(following)[1:2]]
    order = tuple(arm for arm in control.arms_for(*points) if control.loads[arm] is None)
    named = [arm_index(control, name) for name in args[2:]]
    if (handed := next((s for s in upcoming if s.skill == "hand_over" and s.args[0] == args[0]), None)) is not None:
        taker = arm_index(control, handed.args[1])
        return _for_hand_over(control, args, upcoming, failed, [(g, taker) for g in named or order if g != taker])[0]
    try:
        wanted = [arm for arm in order if not named or arm in named]
        if not wanted:
            raise MotionError("pick.hand_full", f"no hand is free for {args[0]}", subjects=(args[0],))
        return arms.first_that_can(control, wanted, lambda: _grasp_plan(control, args, upcoming, failed))
    except MotionError as error:
        near = [arm for arm in control.arms_for(points[0]) if control.loads[arm] is None]
        pairs = [(giver, taker) for giver in near for taker in named or near if taker != giver]
        try:
            plan, taker = _for_hand_over(control, args, upcoming, failed, pairs)
        except MotionError:
            raise error from error.__cause__  # which says what follows the grasp in a dead end
        control.inserted = (Step("hand_over", (args[0], control.robot.arms[taker].name), control.stage),)
        return plan


def _for_hand_over(
    control: Controller, args: tuple[str, ...], upcoming: tuple[Step, ...], failed: Sequence[GraspPlan],
    pairs: Sequence[tuple[int, int]],
) -> tuple[GraspPlan, int]:  # fmt: skip
    """A grasp with which a giver can hand the item to a taker that can go on with it, of several such pairs, and the taker.

    Raises:
        MotionError: `pick.unreachable`, `pick.blocked`, `pick.no_grasp`; `pick.dead_end`, caused by the error of the hand-over.
    """
    item, place = args[:2]
    if (room := handing.room(control, item)) < handing.BESIDE:
        raise MotionError(
            "pick.no_grasp", f"a hand that holds {item} leaves no room for a second hand", subjects=(item,),
            value=room, limit=handing.BESIDE,
        )  # fmt: skip
    error: MotionError | None = None
    for giver, taker in pairs:
        control.use(giver)
        control.look()
        looked = 0

        def ready(plan: GraspPlan, giver: int = giver, taker: int = taker) -> MotionError | None:
            nonlocal looked
            later = Tally()
            if handing.room(control, item, plan.T_tcp_item) < handing.BESIDE or looked == HAND_OVERS:
                return later.error("hand_over", item)
            looked += 1
            found = hand_over_plan(control, giver, taker, grasped(control, item, plan), upcoming, later)
            control.use(giver)
            control.look()
            if found is None:
                return later.error("hand_over", item)
            control.arranged[item] = found
            return None

        out = grasping.outward(control, item, place)
        tally = Tally()
        plan = next(grasping.plans(control, item, tally, ready=ready, level=out is not None, out=out, failed=failed), None)
        if plan is not None:
            return plan, taker
        error = error or tally.error("pick", item)
    raise error or MotionError("pick.no_grasp", f"there is no second arm to hand {item} to", subjects=(item,))


def _grasp_plan(control: Controller, args: tuple[str, ...], upcoming: tuple[Step, ...], failed: Sequence[GraspPlan]) -> GraspPlan:
    """See `grasp_plan`: of the arm in use. The checker must look at the present world."""
    item, place = args[:2]
    following = place_of_item(item, upcoming)
    from_here = following is not None and not any(s.skill == "navigate" for s in upcoming[: upcoming.index(following)])
    out = grasping.outward(control, item, place)
    level = out is not None or (following is not None and through_front(control, following))

    def ready(plan: GraspPlan) -> MotionError | None:
        if following is None:
            return None
        load = grasped(control, item, plan)
        if not from_here:
            reason = dead_end(control, upcoming, load)
            control.look()
            return reason
        later = Tally()
        found = place_plan(control, following, load, later, most=LOOK_AHEAD)
        control.look()
        if found is None:
            return later.error(following.skill, item, things_of(following)[1:])
        control.promised[following] = replace(found.spot, joints=found.path[-1])
        return None

    tally = Tally()
    plan = next(grasping.plans(control, item, tally, ready=ready, level=level, out=out, failed=failed), None)
    if plan is None:
        raise tally.error("pick", item)
    return plan


def run(control: Controller, args: tuple[str, ...], upcoming: tuple[Step, ...]) -> None:
    """Grasp and lift; a grasp that slips is tried again with the next best one."""
    item, place = args[:2]
    tried: list[GraspPlan] = []
    failure: MotionError | None = None
    while len(tried) < REGRASPS:
        control.look()
        try:
            plan = grasp_plan(control, args, upcoming, tried)
        except MotionError:
            if failure is not None:
                raise failure from None
            raise
        tried.append(plan)
        try:
            _grasp(control, item, place, plan)
            return
        except MotionError as error:
            if error.code == "goal.timeout":
                raise
            failure = error
            control.session.note("recovery", (item,), error.what)
            _back_off(control)
    assert failure is not None
    raise failure


def _grasp(control: Controller, item: str, place: str, plan: GraspPlan) -> None:
    world = control.world
    control.park_others(stage="pick")
    control.look()
    control.wear(plan.hand)
    control.preshape(plan.grasp.width, plan.play)
    control.reach(plan.approach[0], stage="pick")
    control.await_gripper()
    control.follow(plan.approach, stage="pick", speed=CARE)
    control.grip(control.hand.taking(plan.grasp.width))
    if item not in world.grasped(control.index):
        raise MotionError("pick.missed", f"the fingers closed beside {item}", subjects=(item,), value=control.closing, limit=1.0)
    control.take(item)
    before = world.item_pose(item)[2, 3]
    control.look()
    control.checker.allow([(item, owner) for owner in world.owners if world.touching(item, owner)])
    path = _way_out(control, place)
    control.follow(path, stage="pick", speed=0.5)
    rise = float(world.item_pose(item)[2, 3] - before)
    if rise < 0.5 * NUDGE:
        control.let_go()
        raise MotionError("pick.slipped", f"{item} stayed behind", subjects=(item,), value=rise, limit=NUDGE)
    control.take(item)  # as it has settled in the hand


def _way_out(control: Controller, place: str) -> tf.Float:
    """Joint path from the grasp into the open: up, or out of a front opening, and up there when the item stays in the hand."""
    world, joints = control.world, control.joints
    T = control.checker.pose(joints)
    assert control.held is not None
    owner, part = split_reference(place)
    cavity = (
        next((c for c in world.assets[owner].affordances.cavities if c.name == part), None) if owner in world.assets else None
    )
    out = grasping.outward(control, control.held.item, place)
    if out is not None:
        ways = _pulled_out(control, T, joints, out)
        if place_of_item(control.held.item, control.ahead) is None:
            raised = ((way, _risen(control, T_out, way[-1], lift)) for lift in LIFTS for way, T_out in ways)
            higher = next((np.vstack([way, up[1:]]) for way, up in raised if up is not None), None)
            if higher is not None:
                return higher
        if ways:
            return ways[0][0]
    rise = 0.0 if cavity is None else cavity.size[2]
    for lift in (rise + LIFTS[0], *LIFTS):
        path = _risen(control, T, joints, lift)
        if path is not None:
            return path
    raise MotionError("pick.blocked", f"{control.held.item} cannot be lifted out of {place}", subjects=(control.held.item, place))


def _pulled_out(control: Controller, T: tf.Float, joints: tf.Float, out: tf.Float) -> list[tuple[tf.Float, tf.Float]]:
    """Joint paths a little up and out of a front opening, with the hand's poses at their ends, farthest out first."""
    T_up = T.copy()
    T_up[2, 3] += NUDGE
    first = control.straight(T, T_up, joints)
    if first is None:
        return []
    found = []
    for more in OUT:
        T_out = T_up.copy()
        T_out[:3, 3] += out * (1.0 + more / float(np.linalg.norm(out)))
        second = control.straight(T_up, T_out, first[-1])
        if second is not None:
            found.append((np.vstack([first, second[1:]]), T_out))
    return found


def _risen(control: Controller, T: tf.Float, joints: tf.Float, lift: float) -> tf.Float | None:
    """Joint path straight up by `lift` [m] from a pose of the hand; None when it is not free."""
    T_up = T.copy()
    T_up[2, 3] += lift
    return control.straight(T, T_up, joints)


def _back_off(control: Controller) -> None:
    """Open the hand and rise, whatever is in it."""
    control.let_go()
    control.grip(0.0)
    control.look()
    control.checker.allow([(f, i) for f in (*control.fingers, "robot") for i in control.world.items])
    T = control.checker.pose(control.joints)
    back = control.straight(T, T @ tf.translate((0.0, 0.0, -grasping.SHORT_APPROACH)), control.joints)
    if back is not None:
        control.follow(back, stage="pick", speed=0.5)


def _by(base: Operator) -> Operator:
    """The same with the arm named, where the goal asks for one."""
    return Operator(
        skill="pick",
        parameters=(*base.parameters, ("arm", "arm"), ("other", "arm")),
        needs=(*base.needs, ("wanted_held", "item"), ("other_arm", "arm", "other")),
        adds=(*base.adds, ("held_by", "item", "arm")),
        removes=base.removes,
        passes=(*base.passes, "arm"),
    )


def _operator(*gate: tuple[str, ...], parameters: tuple[tuple[str, str], ...] = ()) -> Operator:
    return Operator(
        skill="pick",
        parameters=(("item", "item"), ("place", "place"), ("zone", "zone"), *parameters),
        needs=(
            ("empty_hand",), ("graspable", "item"), ("loose", "item"), ("at", "item", "place"), ("untopped", "item"),
            ("place_zone", "place", "zone"), ("standing", "zone"), *gate,
        ),
        adds=(("holding", "item"),),
        removes=(("empty_hand",), ("at", "item", "place")),
        passes=("item", "place"),
    )  # fmt: skip


def _from_top() -> Operator:
    base = _operator(("ungated", "place"), ("on_top", "place", "below"), parameters=(("below", "item"),))
    return Operator(
        skill="pick", parameters=base.parameters, needs=base.needs, removes=base.removes, passes=base.passes,
        adds=(*base.adds, ("bare", "place"), ("untopped", "below")),
    )  # fmt: skip


_WAYS = (
    _operator(("ungated", "place"), ("roomy", "place")),
    _operator(("gate", "place", "part"), ("opened", "part"), parameters=(("part", "part"),)),
    _from_top(),
)

SKILL = Skill(
    name="pick",
    operators=(*_WAYS, *(_by(way) for way in _WAYS)),
    run=run,
)
