"""pour(vessel, what, target): tip what is in the hand over the target until as much has run into it as the goal wants.

Closed loop on how much has left the vessel: quickly until it runs, slowly while it does, back in time for what still runs while
the vessel turns upright. A part is poured in several rounds, each nearer to what is wanted.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from embodiedsmith.motion.controller import Controller
from embodiedsmith.motion.errors import MotionError
from embodiedsmith.motion.operators import Operator, Step
from embodiedsmith.motion.pouring import PourPlan, opening, plan_pour
from embodiedsmith.motion.skills import Skill
from embodiedsmith.spec import Predicate, split_reference
from embodiedsmith.tasks.flowing import vessels
from embodiedsmith.tasks.goal import title
from embodiedsmith.tasks.registry import predicate

CARRY = 0.4  # fraction of the joint limits used with a full vessel
BEGIN, RUN, RETURN = 0.6, 0.28, 0.6  # [rad/s] tipping until it runs, while it runs into a wide mouth, and back
WIDE = 0.06
"""[m] Radius of a mouth that is hit however it runs. Over a narrower one a vessel is tipped more slowly from the beginning: at
0.6 rad/s the water surges, and of 0.16 l over a cup of 30 mm radius 7 % went beside it in one gush; at half of that, 1 %."""
RUNS = 0.004  # share of it by which one sees that it runs
NEAR = 0.025  # share by which what is wanted may be missed
EMPTY = 0.004  # share that stays behind as drops
PATIENCE = 30  # control steps without more running out at the end of the tipping
ROUNDS = 6
SETTLE = 16  # control steps for what is in the air to land
LAG = 0.3  # [s] for which it goes on running as it does when the vessel is turned back
BACK_BY = 0.35  # [rad] turned back between rounds
BRINK = 0.05  # [rad] before the angle it last ran at from which on it is tipped with care
EASE, LEAST = 0.3, 0.2  # share still wanted below which it is tipped more slowly, and the least part of the rate


@dataclass
class _Pouring:
    """A pour under way."""

    control: Controller
    plan: PourPlan
    vessel: str
    what: str
    pace: float = 1.0
    """Part of the usual rates at which it is tipped."""
    angle: float = 0.0
    ran: float = np.inf
    """How far it was tipped when it last ran [rad]: what is left runs from about there on."""

    def gone(self) -> float:
        """Share of it that has left the vessel."""
        world = self.control.world
        return 1.0 - sum(world.flow.share(self.what, v) for v in vessels(world, self.vessel))

    def turn(self, rate: float) -> None:
        """One control step at a rate [rad/s]."""
        control = self.control
        self.angle = float(np.clip(self.angle + rate * control.dt, 0.0, self.plan.angles[-1]))
        control.step(self.plan.at(self.angle))
        control.check_held("pour")

    def until_gone(self, wanted: float, *, ahead: float = LAG) -> None:
        """Tip until so much has left the vessel, or will have after running on for `ahead` [s], or no more comes.

        The nearer that is, the more slowly, unless all is to go (`ahead` is zero).
        """
        before = coming = last = self.gone()
        idle, running = 0, False
        while idle < PATIENCE:
            part = np.clip((wanted - coming) / EASE, LEAST, 1.0) if ahead > 0 else 1.0
            careful = running or self.angle > self.ran - BRINK
            self.turn(self.pace * (RUN * float(part) if careful else BEGIN))
            now = self.gone()
            running = running or now > before + RUNS
            coming = now + max(0.0, now - last) / self.control.dt * ahead
            if coming >= wanted:
                break
            idle = idle + 1 if self.angle >= self.plan.angles[-1] and now <= last + 1e-4 else 0
            last = now
        self.ran = self.angle

    def back(self, by: float) -> None:
        """Turn back by so much [rad], and let everything land."""
        to = max(0.0, self.angle - by)
        while self.angle > to:
            self.turn(-RETURN)
        self.control.wait(SETTLE)


def wanted(control: Controller, what: str, target: str) -> Predicate:
    """What the goal says of what flows and what it goes into: `poured` or `filled`, of the last stage so far that says so."""
    for stage in control.stages(control.stage):
        for p in stage:
            if p.name == "poured" and p.args[0] == what and split_reference(p.args[1])[0] == target:
                return p
            if p.name == "filled" and split_reference(p.args[0])[0] == target:
                return p
    return Predicate(name="poured", args=(what, target))


def _share(control: Controller, what: str, target: str, p: Predicate) -> float:
    """Share of all of it that is to end in the target."""
    params = predicate(p.name).resolve(p.params)
    if p.name == "poured":
        return params["fraction"]
    world = control.world
    assert world.liquids is not None
    capacity = world.liquids.vessel(target)[0].capacity
    needed = params["level"] * capacity - world.liquids.volume_in(target, world.data)
    volume = world.assets[what].mass / 1000.0
    already = world.flow.share(what, target)
    return float(np.clip(already + needed / volume + 2 * NEAR, 0.0, 1.0))


def run(control: Controller, args: tuple[str, ...], upcoming: tuple[Step, ...]) -> None:
    """Carry over, tip, turn back; checks what the goal says of it."""
    vessel, what, item = args
    world = control.world
    held = control.held
    if held is None or held.item != vessel:
        raise MotionError("pour.empty_hand", f"{vessel} is not in the hand", subjects=(vessel,))
    p = wanted(control, what, item)
    target = vessels(world, p.args[-1])[0]
    control.take(vessel)  # as it hangs in the hand now
    control.look()
    plan = plan_pour(control, vessel, target)
    if plan.carry is None:
        control.reach(plan.tip[0], stage="pour")
    else:
        control.follow(plan.carry, stage="pour", speed=CARRY)
    control.take(vessel)
    pouring = _Pouring(control, plan, vessel, what, pace=min(1.0, opening(control, target).radius / WIDE))
    _pour(pouring, _share(control, what, target, p), target)
    margin = predicate(p.name).margin(world, p.args, p.params)
    if margin <= 0:
        raise MotionError(
            "pour.effect", f"{title(p)} is missed by {-100 * margin:.1f} % of {what}",
            subjects=(what, item), value=margin, limit=0.0,
        )  # fmt: skip


def _pour(pouring: _Pouring, share: float, target: str) -> None:
    """Rounds of tipping until the target has its share; then upright again."""
    world = pouring.control.world
    for _ in range(ROUNDS):
        there = world.flow.share(pouring.what, target)
        left = 1.0 - pouring.gone()
        if there >= share - NEAR or left <= EMPTY:
            break
        rest = share - there
        if rest >= left - EMPTY:
            pouring.until_gone(1.0 - EMPTY, ahead=0.0)
            break
        pouring.until_gone(pouring.gone() + rest)
        pouring.back(BACK_BY)
    pouring.back(pouring.angle)


SKILL = Skill(
    name="pour",
    operators=(
        Operator(
            skill="pour",
            parameters=(("vessel", "item"), ("what", "item"), ("target", "item"), ("zone", "zone")),
            needs=(
                ("holding", "vessel"), ("pours", "vessel", "what", "target"), ("item_zone", "target", "zone"),
                ("standing", "zone"),
            ),
            adds=(("poured", "what", "target"),),
            removes=(),
            passes=("vessel", "what", "target"),
        ),
    ),
    run=run,
)  # fmt: skip
