"""place(item, place): put what is in the hand on a support or into a cavity, upright, and let go."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain, islice

import numpy as np

from embodiedsmith.motion import arms, arranging, carrying, clearing, placing
from embodiedsmith.motion.controller import CARE, Controller
from embodiedsmith.motion.detours import detour
from embodiedsmith.motion.errors import MotionError
from embodiedsmith.motion.facts import FLOOR, place_at
from embodiedsmith.motion.grasping import Tally
from embodiedsmith.motion.operators import Operator, Step, things_of
from embodiedsmith.motion.placing import Load, PlacePlan, Spot
from embodiedsmith.motion.skills import Skill
from embodiedsmith.spec import Predicate, split_reference
from embodiedsmith.tasks.goal import title
from embodiedsmith.tasks.registry import predicate

WAIT = 6  # control steps for a released item to come to rest
RELEASE = 5  # control steps for the fingers to open
RETRIES = 3
BOTH = 200  # spots looked at for what both hands hold
PLAIN = 6  # spots looked at for one that the arm gets to without a sampled path


def place_plan(control: Controller, step: Step, load: Load, tally: Tally, *, most: int) -> PlacePlan | None:
    """The best way to do a place step with a load, among the first `most` spots; None with the reasons in `tally`.

    Raises:
        MotionError: there is no such spot, whatever is in the way.
    """
    return next(placing.plans(control, load, spots(control, step, load), carrier(control, step), tally, most=most), None)


def place_of_item(item: str, steps: tuple[Step, ...]) -> Step | None:
    """The first of the steps that puts the item down."""
    return next((s for s in steps if s.skill.startswith("place") and s.args[0] == item), None)


def place_point(control: Controller, step: Step) -> Predicate:
    """What the goal says about where a `place_at` step puts its item: `at` of the last stage up to it that says so."""
    return next(p for stage in control.stages(step.stage) for p in stage if p.name == "at" and p.args[0] == step.args[0])


def _place(control: Controller, step: Step) -> str:
    """The place that a step puts its item on or in, as `item.part`; `floor` for none."""
    if step.skill == "place_at":
        at = place_point(control, step).params
        point = np.array([at["x"], at["y"], at["z"]])
        return place_at(control.world, step.args[0], point, at["z"] + control.world.assets[step.args[0]].extents[0][2])
    return arranging.surface_of(control, step) if arranging.arranges(step) else step.args[1]


def carrier(control: Controller, step: Step) -> str:
    """Whose contact with the item ends a place step."""
    owner = split_reference(_place(control, step))[0]
    return "world" if owner == FLOOR else owner


def through_front(control: Controller, step: Step) -> bool:
    """Whether a place step ends in something that is entered from its front."""
    owner, part = split_reference(_place(control, step))
    if owner not in control.world.assets:
        return False
    affordances = control.world.assets[owner].affordances
    cavity = next((c for c in affordances.cavities if c.name == part), None)
    return cavity is not None and cavity.opening[2] < placing.UPWARDS


def spots(control: Controller, step: Step, load: Load) -> Iterator[Spot]:
    """Where a place step may put a load, best first."""
    if arranging.arranges(step):
        return clearing.free_first(control, load.item, arranging.spots(control, load, arranging.wanted(control, step)))
    if step.skill == "place_at":
        point = place_point(control, step).params
        return placing.at_point(control, load, (point["x"], point["y"], point["z"]))
    owner, part = split_reference(step.args[1])
    if any(c.name == part for c in control.world.assets[owner].affordances.cavities):
        return placing.inside_cavity(control, load, step.args[1])
    return clearing.free_only(control, load.item, placing.on_support(control, load, step.args[1]))


@contextmanager
def both_hands(control: Controller) -> Iterator[None]:
    """Inside the `with`, spots are looked for at which both hands may put a thing down."""
    control.both = True
    try:
        yield
    finally:
        control.both = False


def put_down(control: Controller, step: Step) -> None:
    """Do a place step with what is in the hand, or in both, at the spot it was picked for; when the way there is blocked, at
    the next.

    Raises:
        MotionError: typed by the step's skill.
    """
    arms.use_holder(control, step.args[0])
    held = control.held
    if held is None or held.item != step.args[0]:
        raise MotionError(f"{step.skill}.empty_hand", f"{step.args[0]} is not in the hand", subjects=(step.args[0],))
    held = control.take(held.item)  # as it hangs in the hand now
    failed: MotionError | None = None
    tally = Tally()
    control.look()
    load = Load(held.item, control.world.item_pose(held.item), held.T_tcp_item, control.closing)
    promised = control.promised.pop(step, None)
    if len(carrying.holders(control, held.item)) > 1:
        with both_hands(control):
            level = islice(spots(control, step, load), BOTH)
            about = things_of(step)[1:]
            carrying.put_down(control, held.item, level, carrier(control, step), stage=step.skill, about=about)
        return
    wanted = chain([] if promised is None else [promised], spots(control, step, load))
    found = placing.plans(control, load, wanted, carrier(control, step), tally)
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
    raise failed or tally.error(step.skill, held.item, things_of(step)[1:])


def put_among(control: Controller, step: Step) -> None:
    """Do a step that puts something down among other things, and check that it stands as the goal wants it to.

    Raises:
        MotionError: typed by the step's skill; `<skill>.effect` when it ended elsewhere.
    """
    put_down(control, step)
    control.wait(WAIT)
    for p in arranging.wanted(control, step):
        margin = predicate(p.name).margin(control.world, p.args, p.params)
        if margin <= 0:
            raise MotionError(
                f"{step.skill}.effect", f"{title(p)} is missed by {-100 * margin:.1f} cm",
                subjects=p.args, value=margin, limit=0.0,
            )  # fmt: skip


def _release(control: Controller, plan: PlacePlan, stage: str) -> None:
    control.follow(plan.path, stage=stage, speed=CARE)
    control.let_go()
    control.gripper = plan.closing
    control.wait(RELEASE)
    control.follow(plan.retreat, stage=stage, speed=0.6)


def run(control: Controller, args: tuple[str, ...], upcoming: tuple[Step, ...]) -> None:
    """Put down and check that the item is where it should be."""
    item, reference = args
    put_down(control, Step("place", args, control.stage))
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
