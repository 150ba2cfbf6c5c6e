"""place(item, place): put what is in the hand on a support or into a cavity, upright, and let go."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from embodiedsmith.motion import placing
from embodiedsmith.motion.controller import CARE, Controller
from embodiedsmith.motion.detours import detour
from embodiedsmith.motion.errors import MotionError
from embodiedsmith.motion.grasping import Tally
from embodiedsmith.motion.operators import Operator, Step
from embodiedsmith.motion.placing import Load, PlacePlan, Spot
from embodiedsmith.motion.skills import Skill
from embodiedsmith.spec import predicates, split_reference
from embodiedsmith.tasks.registry import predicate

WAIT = 6  # control steps for a released item to come to rest
RELEASE = 5  # control steps for the fingers to open
RETRIES = 3
PLAIN = 6  # spots looked at for one that the arm gets to without a sampled path
NEAR_GAP = 0.03  # [m] between the bounding boxes of things that are to be near


def place_plan(control: Controller, step: Step, load: Load, tally: Tally, *, most: int) -> PlacePlan | None:
    """The best way to do a place step with a load, among the first `most` spots; None with the reasons in `tally`."""
    owner = split_reference(step.args[-1])[0]
    return next(placing.plans(control, load, _spots(control, step, load), owner, tally, most=most), None)


def place_of_item(item: str, steps: tuple[Step, ...]) -> Step | None:
    """The first of the steps that puts the item down."""
    return next((s for s in steps if s.skill.startswith("place") and s.args[0] == item), None)


def through_front(control: Controller, step: Step) -> bool:
    """Whether a place step ends in something that is entered from its front."""
    owner, part = split_reference(step.args[-1])
    affordances = control.world.assets[owner].affordances
    cavity = next((c for c in affordances.cavities if c.name == part), None)
    return cavity is not None and cavity.opening[2] < placing.UPWARDS


def _spots(control: Controller, step: Step, load: Load) -> Iterator[Spot]:
    if step.skill == "place_near":
        return placing.beside(control, load, step.args[1], NEAR_GAP)
    if step.skill == "place_at":
        point = next(p for p in predicates(control.world.scenario.task.goal) if p.name == "at" and p.args[0] == load.item).params
        return placing.at_point(control, load, (point["x"], point["y"], point["z"]))
    owner, part = split_reference(step.args[1])
    if any(c.name == part for c in control.world.assets[owner].affordances.cavities):
        return placing.inside_cavity(control, load, step.args[1])
    return placing.on_support(control, load, step.args[1])


def put_down(control: Controller, step: Step) -> None:
    """Do a place step with what is in the hand; a spot whose way is blocked is followed by the next best.

    Raises:
        MotionError: typed by the step's skill.
    """
    held = control.held
    if held is None or held.item != step.args[0]:
        raise MotionError(f"{step.skill}.empty_hand", f"{step.args[0]} is not in the hand", subjects=(step.args[0],))
    held = control.take(held.item)  # as it hangs in the hand now
    failed: MotionError | None = None
    tally = Tally()
    control.look()
    owner = split_reference(step.args[-1])[0]
    load = Load(held.item, control.world.item_pose(held.item), held.T_tcp_item)
    found = placing.plans(control, load, _spots(control, step, load), owner, tally)
    sampled: list[PlacePlan] = []
    for plan in islice(found, PLAIN):
        control.look()
        if detour(control, plan.path[0]) is None:  # a sampled way may turn over what is in the hand: another spot first
            sampled.append(plan)
            control.look()
            continue
        control.reach(plan.path[0], stage=step.skill)
        _release(control, plan, step.skill)
        return
    for plan in sampled[:RETRIES]:
        control.look()
        try:
            control.reach(plan.path[0], stage=step.skill)
        except MotionError as error:
            if not error.code.endswith(".blocked"):
                raise
            failed = error
            continue
        _release(control, plan, step.skill)
        return
    raise failed or tally.error(step.skill, held.item)


def _release(control: Controller, plan: PlacePlan, stage: str) -> None:
    control.follow(plan.path, stage=stage, speed=CARE)
    control.let_go()
    control.preshape(control.robot.arm.gripper.max_width * (1.0 - control.world.gripper()))
    control.wait(RELEASE)
    control.follow(plan.retreat, stage=stage, speed=0.6)


def run(control: Controller, args: tuple[str, ...], upcoming: tuple[Step, ...]) -> None:
    """Put down and check that the item is where it should be."""
    item, reference = args
    put_down(control, Step("place", args))
    control.wait(WAIT)
    owner, part = split_reference(reference)
    inside = any(c.name == part for c in control.world.assets[owner].affordances.cavities)
    name = "inside" if inside else "on"
    margin = predicate(name).margin(control.world, (item, reference))
    if margin <= 0:
        raise MotionError(
            "place.effect", f"{item} is not {name} {reference} after letting go (margin {100 * margin:.1f} cm)",
            subjects=(item, reference), value=margin, limit=0.0,
        )  # fmt: skip


_BASE = Operator(
    skill="place",
    parameters=(("item", "item"), ("place", "place"), ("zone", "zone")),
    needs=(("holding", "item"), ("place_zone", "place", "zone"), ("standing", "zone")),
    adds=(("at", "item", "place"), ("empty_hand",), ("upright", "item")),
    removes=(("holding", "item"),),
    passes=("item", "place"),
)

SKILL = Skill(
    name="place",
    operators=(
        replace(_BASE, needs=(*_BASE.needs, ("ungated", "place"), ("roomy", "place"))),
        replace(
            _BASE,
            parameters=(*_BASE.parameters, ("part", "part")),
            needs=(*_BASE.needs, ("gate", "place", "part"), ("opened", "part")),
        ),
        replace(
            _BASE,
            parameters=(*_BASE.parameters, ("below", "item")),
            needs=(*_BASE.needs, ("ungated", "place"), ("bare", "place"), ("on_top", "place", "below")),
            removes=(*_BASE.removes, ("bare", "place"), ("untopped", "below")),
        ),
    ),
    run=run,
)
