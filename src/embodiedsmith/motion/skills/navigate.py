"""navigate(zone): drive the vehicle to where the next things to do at a piece of furniture can be done."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import islice, takewhile

import numpy as np

from embodiedsmith.motion import grasping
from embodiedsmith.motion.arranging import arranges
from embodiedsmith.motion.articulation import Articulation, plan_arc
from embodiedsmith.motion.controller import Controller
from embodiedsmith.motion.detours import detour
from embodiedsmith.motion.errors import MotionError
from embodiedsmith.motion.grasping import GraspPlan, Tally
from embodiedsmith.motion.operators import Operator, Step, things_of
from embodiedsmith.motion.placing import Load, grasped
from embodiedsmith.motion.skills import Skill
from embodiedsmith.motion.skills.open import LEAST, WIDE
from embodiedsmith.motion.skills.place import place_of_item, place_plan, place_point, through_front
from embodiedsmith.motion.standing import OPEN, ROOM, Floor, carrying, fits, route, stands, supposed
from embodiedsmith.spec import split_reference
from embodiedsmith.world import transforms as tf

MOST = 48  # free places examined with the planners
SPOTS = 3  # spots tried from one place: another place is the better change
AHEAD = 24  # free places examined at furniture that comes later
GRIPS = 6  # ways to hold a handle tried before its motion is planned
SHUT = 0.02  # opening fraction that closing must get to
SWINGS = (0.0, 0.3, 0.6)  # opening fractions at which a handle is to be in reach, besides where it is
ARCS = 4  # motions of doors and drawers planned while there are other things to do from the same place


def run(control: Controller, args: tuple[str, ...], upcoming: tuple[Step, ...]) -> None:
    """Take the arm in, choose where to stand, and go there."""
    zone = args[-1]
    control.look()
    control.reach(carrying(control), stage="navigate")
    goal = choose(control, zone, upcoming)
    for place in route(control, goal, Floor(control)):
        control.drive(place, stage="navigate")


def choose(control: Controller, zone: str, upcoming: tuple[Step, ...]) -> tf.Float:
    """Where to stand (x, y, yaw) so that all steps up to the next drive can be done; else as many of the first ones as can.

    Raises:
        MotionError: `navigate.no_standing_place` with the reason at the last place tried.
    """
    steps = tuple(takewhile(lambda s: s.skill != "navigate", upcoming))
    visit = _Visit(control, upcoming)
    for count in range(len(steps), 0, -1):
        base = visit.place(zone, steps[:count], plain=True)
        if base is None and visit.detours:
            base = visit.place(zone, steps[:count], plain=False)
        if base is not None:
            control.served = count if count < len(steps) else None
            return base
    if not steps:
        floor = Floor(control)
        points = [control.world.item_pose(zone)[:3, 3] + (0.0, 0.0, control.robot.arm_height)]
        for base in stands(control, zone, points, floor):
            if visit.free(base):
                return base
    why = visit.reason or MotionError("navigate.no_standing_place", "no place is free")
    raise MotionError(
        "navigate.no_standing_place",
        f"from none of {visit.tried} free places at {zone} can the next step be done; lastly: {why.what}",
        subjects=tuple(dict.fromkeys((zone, *why.subjects))), value=float(visit.tried), limit=1.0,
    )  # fmt: skip


@dataclass
class _Visit:
    """The search for a place to stand, with what was found out on the way."""

    control: Controller
    upcoming: tuple[Step, ...]
    tried: int = 0
    """Free places looked at for the steps in question."""
    arcs: int = 0
    """Motions of doors and drawers planned for them."""
    detours: int = 0
    """Places that failed only because the arm's way there would have to be sampled."""
    reason: MotionError | None = None
    known: dict[tuple[bytes, int, bool, bool], MotionError | None] = field(default_factory=dict)
    """Why a step fails, by place, position in the plan, whether parts are supposed open and ways must be plain."""

    def place(self, zone: str, steps: tuple[Step, ...], *, plain: bool) -> tf.Float | None:
        """The best place from which all of `steps` can be done, as far as can be seen now; None when there is none.

        With `plain`, the arm must also get to the first of them on a way that need not be sampled.
        """
        with supposed(self.control, _opened(steps)):
            points = [p for s in steps for p in _points(self.control, s)]
        points = points or [self.control.world.item_pose(zone)[:3, 3]]
        self.tried = self.arcs = self.detours = 0
        for base in stands(self.control, zone, points, Floor(self.control)):
            if not self.free(base):
                continue
            self.tried += 1
            with self.control.standing(base):
                why = self._unable(base, steps, plain)
            if why is None:
                return base
            self.reason = why
            self.detours += why.code == "navigate.detour"
            if self.tried == MOST or (len(steps) > 1 and self.arcs >= ARCS):
                break
        return None

    def free(self, base: tf.Float) -> bool:
        """Whether the vehicle can stand there with the arm as it is."""
        with self.control.standing(base):
            return self.control.checker.hit(self.control.joints, ROOM) is None

    def _unable(self, base: tf.Float, steps: tuple[Step, ...], plain: bool) -> MotionError | None:
        """Why the steps cannot all be done from where the vehicle is imagined to stand. What is cheap to find out comes first."""
        for step in steps:
            if step.skill in ("open", "close") and (why := self._swings(step)) is not None:
                return why
        for parts in (False, True):
            for k, step in enumerate(steps):
                if (step.skill in ("open", "close")) != parts:
                    continue
                opened = _opened(steps[:k])
                simply = plain and k == 0
                key = (base.tobytes(), k, bool(opened), simply)
                if key not in self.known:
                    self.known[key] = self._try(step, opened, steps, simply)
                    self.arcs += parts
                if (why := self.known[key]) is not None:
                    return why
        return None

    def _swings(self, step: Step) -> MotionError | None:
        """Why a door or drawer does not get past the vehicle; None when it does."""
        try:
            _check_swing(self.control, Articulation(self.control, step.args[0]))
        except MotionError as error:
            return error
        return None

    def _try(self, step: Step, opened: tuple[str, ...], steps: tuple[Step, ...], plain: bool) -> MotionError | None:
        try:
            with ExitStack() as stack:
                if opened:
                    stack.enter_context(supposed(self.control, opened))
                    if (hit := self.control.checker.hit(self.control.joints)) is not None:
                        said = f"{hit.first} would touch {hit.second} once {opened[-1]} is open"
                        raise MotionError("navigate.blocked", said, subjects=(opened[-1], hit.first, hit.second))
                first = self._check(step, steps)
                if plain and first is not None:
                    self.control.look()
                    if detour(self.control, first) is None:
                        raise MotionError("navigate.detour", f"no plain way of the arm leads to {step}")
        except MotionError as error:
            return error
        return None

    def _check(self, step: Step, steps: tuple[Step, ...]) -> tf.Float | None:
        """The arm joints at which the step begins, None when that cannot be told; raises MotionError when it cannot be done."""
        control, item = self.control, step.args[0]
        control.look()
        if step.skill in ("open", "close"):
            return _check_part(control, step)
        if step.skill == "pick":
            following = place_of_item(item, self.upcoming)
            tally = Tally()
            out = grasping.outward(control, item, step.args[1])
            level = out is not None or (following is not None and through_front(control, following))

            def ready(plan: GraspPlan) -> MotionError | None:
                if following is None:
                    return None
                load = grasped(control, item, plan)
                return _dead_end_here(control, following, load) if following in steps else dead_end(control, self.upcoming, load)

            grasp = next(grasping.plans(control, item, tally, ready=ready, level=level, out=out), None)
            if grasp is None:
                raise tally.error("pick", item)
            return np.asarray(grasp.approach[0])
        if step.skill.startswith("place") and control.held is not None and control.held.item == item:
            tally = Tally()
            load = Load(item, control.world.item_pose(item), control.held.T_tcp_item, control.closing)
            spot = place_plan(control, step, load, tally, most=SPOTS)
            if spot is None:
                raise tally.error(step.skill, item, things_of(step)[1:])
            return np.asarray(spot.path[0])
        return None


def _check_part(control: Controller, step: Step) -> tf.Float:
    """Arm joints at which moving a drawer or a door begins; raises MotionError unless it can be opened wide, or closed."""
    part = Articulation(control, step.args[0])
    closing = step.skill == "close"
    ways = [*islice(part.pushes(), GRIPS)] if closing else []
    ways += [T for T, _ in islice(part.grips(), GRIPS)]
    T_base = tf.inverse(control.base_pose())
    if not any(control.kin.inverse(T_base @ T, control.kin.home).ok for T in ways):
        raise MotionError(f"{step.skill}.unreachable", f"the handle of {part.reference} is out of reach", subjects=step.args)
    targets = (0.0,) if closing else WIDE[part.info.kind]
    plan = plan_arc(part, targets, push=closing, stage=step.skill)
    if plan.fraction > SHUT if closing else plan.fraction < LEAST:
        said = f"{part.reference} gets to {100 * plan.fraction:.0f} % open only"
        raise MotionError(f"{step.skill}.unreachable", said, subjects=step.args, value=plan.fraction, limit=targets[0])
    return np.asarray(plan.approach[0])


def _check_swing(control: Controller, part: Articulation) -> None:
    """Raises MotionError when the part would run into the vehicle."""
    now = part.position
    try:
        for fraction in (*SWINGS, OPEN):
            part.imagine(part.at(fraction))
            if control.checker.hit(control.joints) is not None:
                raise MotionError("navigate.blocked", f"{part.reference} would run into the vehicle", subjects=(part.reference,))
    finally:
        part.imagine(now)


def _opened(steps: tuple[Step, ...]) -> tuple[str, ...]:
    """Parts that the steps leave open."""
    shut = {s.args[0]: s.skill for s in steps if s.skill in ("open", "close")}
    return tuple(part for part, skill in shut.items() if skill == "open")


def _dead_end_here(control: Controller, step: Step, load: Load) -> MotionError | None:
    tally = Tally()
    found = place_plan(control, step, load, tally, most=SPOTS)
    control.look()
    return None if found is not None else tally.error(step.skill, load.item, things_of(step)[1:])


def dead_end(control: Controller, upcoming: tuple[Step, ...], load: Load) -> MotionError | None:
    """Why what is held like this cannot be put down where the plan puts it, after driving there; None when it can.

    Remembered by the kind of grasp and by how far things are open.

    Args:
        control: The robot.
        upcoming: The steps that follow; one of them puts the item down, after a drive.
        load: The item as it would be held.
    """
    step = place_of_item(load.item, upcoming)
    if step is None:
        return None
    before = upcoming[: upcoming.index(step)]
    drives = [s for s in before if s.skill == "navigate"]
    if not drives:
        return None
    kind = np.round(grasping.kind_of(tf.inverse(load.T_tcp_item)), 1) + 0.0  # no negative zeros
    world = control.world
    key = (step, _opened(before), kind.tobytes(), *(round(world.joint(name)[1], 1) for name in world.joint_qpos))
    if key not in control.dead_ends:
        with supposed(control, _opened(before)):
            control.dead_ends[key] = _dead_end_at(control, drives[-1].args[-1], step, load)
    return control.dead_ends[key]


def _dead_end_at(control: Controller, zone: str, step: Step, load: Load) -> MotionError | None:
    points = _points(control, step) or [control.world.item_pose(zone)[:3, 3]]
    reason, tried = MotionError("navigate.no_standing_place", f"no place is free at {zone}", subjects=(zone,)), 0
    for base in stands(control, zone, points, Floor(control)):
        with control.standing(base):
            if not fits(control):
                continue
            why = _dead_end_here(control, step, load)
        if why is None:
            return None
        reason, tried = why, tried + 1
        if tried == AHEAD:
            break
    return reason


def _points(control: Controller, step: Step) -> list[tf.Float]:
    """World points (3,) that a step reaches for."""
    world = control.world
    if step.skill in ("open", "close"):
        return _handle_way(Articulation(control, step.args[0]))
    if step.skill == "place":
        return [_entry(control, step.args[1])]
    if step.skill == "place_at":
        goal = place_point(control, step).params
        return [np.array([goal["x"], goal["y"], goal["z"]])]
    named = things_of(step)[1:] if arranges(step) else step.args[:1]
    points = [world.item_pose(item)[:3, 3] for item in (split_reference(name)[0] for name in named) if item in world.items]
    return [np.mean(points, axis=0)] if points else []


def _handle_way(part: Articulation) -> list[tf.Float]:
    """Where a handle passes (3,) while the part moves over the most of its range."""
    T = part.control.world.item_pose(part.item, part.handle.body)
    ways = [part.motion(part.at(fraction)) @ T for fraction in sorted({*SWINGS, part.fraction})]
    return [way[:3, :3] @ np.asarray(part.handle.center) + way[:3, 3] for way in ways]


def _entry(control: Controller, reference: str) -> tf.Float:
    """World point (3,) where things are put down at a place: its middle, or nearer the front when it is entered from there."""
    owner, part = split_reference(reference)
    cavity = next((c for c in control.world.assets[owner].affordances.cavities if c.name == part), None)
    if cavity is None:
        return np.asarray(control.world.support(reference)[1][:3, 3])
    T = control.world.cavity(reference)[1]
    opening, size = np.asarray(cavity.opening), np.asarray(cavity.size)
    level = opening * (1.0, 1.0, 0.0)
    return np.asarray(T[:3, 3] + 0.3 * float(np.abs(level) @ size) * (T[:3, :3] @ level))


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
