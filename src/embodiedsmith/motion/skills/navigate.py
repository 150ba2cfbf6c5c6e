"""navigate(zone): drive the vehicle to where the next things to do at a piece of furniture are in reach."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, takewhile

import numpy as np

from embodiedsmith.motion import grasping
from embodiedsmith.motion.articulation import Articulation, plan_arc
from embodiedsmith.motion.controller import Controller
from embodiedsmith.motion.errors import MotionError
from embodiedsmith.motion.grasping import Tally
from embodiedsmith.motion.operators import Operator, Step
from embodiedsmith.motion.placing import Load
from embodiedsmith.motion.skills import Skill
from embodiedsmith.motion.skills.open import LEAST, PARTS, WIDE
from embodiedsmith.motion.skills.place import place_of_item, place_plan, through_front
from embodiedsmith.spec import split_reference
from embodiedsmith.world import transforms as tf

DISTANCES = (0.70, 0.60, 0.80, 0.50, 0.90)
"""[m] from the vehicle's centre to what is to be reached, best first."""
BEARINGS = (0.0, 0.5, -0.5, 0.9, -0.9, 1.3, -1.3)
"""[rad] from straight in front of the furniture."""
OFFSETS = (0.0, 0.5, -0.5)
"""[rad] turns of the vehicle from facing the target."""
MOST = 60  # standing places examined with the planners
STAND = 0.03  # [m] kept from everything while standing
PLACE_TRIES = 24


def run(control: Controller, args: tuple[str, ...], upcoming: tuple[Step, ...]) -> None:
    """Choose where to stand and go there, the arm in its home posture."""
    here = tuple(takewhile(lambda s: s.skill != "navigate", upcoming))
    control.look()
    control.reach(control.kin.home, stage="navigate")
    control.drive(choose(control, args[-1], here, upcoming), stage="navigate")


def choose(control: Controller, zone: str, steps: tuple[Step, ...], upcoming: tuple[Step, ...]) -> tf.Float:
    """Where to stand (x, y, yaw) so that `steps` can be done, the best place first.

    Raises:
        MotionError: `navigate.no_standing_place` with the reasons of the last place tried.
    """
    tried, reason = 0, "no place is free"
    for base in _places(control, zone, steps):
        with control.standing(base):
            if control.checker.hit(control.joints, STAND) is not None:
                continue
            tried += 1
            why = _unable(control, steps, upcoming)
            if why is None:
                return base
            reason = why.what
        if tried == MOST:
            break
    raise MotionError(
        "navigate.no_standing_place", f"from none of {tried} free places at {zone} can the next steps be done; lastly: {reason}",
        subjects=(zone,), value=float(tried), limit=1.0,
    )  # fmt: skip


def _places(control: Controller, zone: str, steps: tuple[Step, ...]) -> Iterator[tf.Float]:
    points = [p for s in steps if (p := _point(control, s)) is not None]
    points = points or [control.world.item_pose(zone)[:3, 3]]
    target = np.mean(points, axis=0)
    front = control.world.item_pose(zone)[:2, 0]
    ahead = float(np.arctan2(front[1], front[0]))
    whole_round = [k * np.pi / 4 for k in range(8)]
    ranked = []
    for d, distance in enumerate(DISTANCES):
        for b, bearing in enumerate((*BEARINGS, *whole_round)):
            for o, offset in enumerate(OFFSETS):
                angle = ahead + bearing
                x, y = target[:2] + distance * np.array([np.cos(angle), np.sin(angle)])
                base = np.array([x, y, angle + np.pi + offset])
                ranked.append((d + 0.5 * min(b, 7) + 0.7 * o, base))
    ranked.sort(key=lambda r: r[0])
    yield from (base for _, base in ranked)


def _point(control: Controller, step: Step) -> tf.Float | None:
    """World point (3,) that a step reaches for."""
    world = control.world
    if step.skill in ("open", "close"):
        part = Articulation(control, step.args[0])
        T = part.motion(part.at(0.4)) @ world.item_pose(part.item, part.handle.body)
        return np.asarray(T[:3, :3] @ np.asarray(part.handle.center) + T[:3, 3])
    if step.skill == "pick":
        return np.asarray(world.item_pose(step.args[0])[:3, 3])
    if step.skill == "place":
        owner, part_name = split_reference(step.args[1])
        cavities = {c.name for c in world.assets[owner].affordances.cavities}
        T = world.cavity(step.args[1])[1] if part_name in cavities else world.support(step.args[1])[1]
        return np.asarray(T[:3, 3])
    if step.skill == "place_near":
        return np.asarray(world.item_pose(step.args[1])[:3, 3])
    return None


def _unable(control: Controller, steps: tuple[Step, ...], upcoming: tuple[Step, ...]) -> MotionError | None:
    """Why the steps cannot be done from where the vehicle is imagined to stand; None when they can, as far as can be seen now.

    Closing is not looked into: the part is not where it will be by then.
    """
    try:
        for step in steps:
            _check(control, step, upcoming)
    except MotionError as error:
        return error
    return None


def _check(control: Controller, step: Step, upcoming: tuple[Step, ...]) -> None:
    item = step.args[0]
    if step.skill == "open":
        part = Articulation(control, item)
        plan = plan_arc(part, (*WIDE[part.info.kind], *PARTS), push=False, stage="open")
        if plan.fraction < LEAST:
            raise MotionError("open.unreachable", f"{item} opens only by {100 * plan.fraction:.0f} % from here", subjects=(item,))
    elif step.skill == "pick":
        tally = Tally()
        following = place_of_item(item, upcoming)
        level = following is not None and through_front(control, following)
        control.look()
        found = grasping.plans(control, item, tally, ready=lambda _: None, level=level)
        if next(islice(found, 1), None) is None:
            raise tally.error("pick", item)
    elif step.skill.startswith("place") and control.held is not None and control.held.item == item:
        tally = Tally()
        load = Load(item, control.world.item_pose(item), control.held.T_tcp_item)
        control.look()
        if place_plan(control, step, load, tally, most=PLACE_TRIES) is None:
            raise tally.error(step.skill, item)
        control.look()


SKILL = Skill(
    name="navigate",
    operators=(
        Operator(
            skill="navigate",
            parameters=(("start", "zone"), ("zone", "zone")),
            needs=(("standing", "start"), ("mobile",)),
            adds=(("standing", "zone"),),
            removes=(("standing", "start"),),
            passes=("zone",),
        ),
    ),
    run=run,
)
