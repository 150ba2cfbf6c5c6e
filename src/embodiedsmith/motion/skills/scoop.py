"""scoop(tool, grains, source, target): dig with the scoop in the hand, carry it level, turn it out, until enough is there.

What is on the scoop is counted after every dig; one that brought up next to nothing is made again.
"""

from __future__ import annotations

import numpy as np

from embodiedsmith.motion.controller import Controller
from embodiedsmith.motion.errors import MotionError
from embodiedsmith.motion.operators import Operator, Step
from embodiedsmith.motion.pouring import PourPlan
from embodiedsmith.motion.scooping import BACK_TILT, plan_dig, plan_turn_out
from embodiedsmith.motion.skills import Skill
from embodiedsmith.spec import Predicate, split_reference
from embodiedsmith.tasks.flowing import vessels
from embodiedsmith.tasks.goal import title
from embodiedsmith.tasks.registry import predicate
from embodiedsmith.world import World

SCOOPS = 5  # digs at most
LITTLE = 3  # grains that are not worth the way
DIGGING, CARRY = 0.35, 0.4  # fractions of the joint limits
TURN = 0.8  # [rad/s] turning out and back
LINGER = 12  # control steps tipped, for the last grains to leave
SETTLE = 10  # control steps for what fell to come to rest
STAGE = "scoop"


def load(world: World, tool: str, grains: str) -> int:
    """How many grains lie on a scoop."""
    cavity, T = world.cavity(tool)
    local = (world.matter(grains) - T[:3, 3]) @ T[:3, :3]
    ball = world.heaps[grains].radius
    on = (np.abs(local[:, :2]) < np.array(cavity.size[:2]) / 2 + ball).all(axis=1)
    return int((on & (local[:, 2] > -ball) & (local[:, 2] < cavity.size[2] + 2 * ball)).sum())


def wanted(control: Controller, grains: str, target: str) -> Predicate:
    """What the goal says of the grains and what they go into, of the last stage so far that says so."""
    for stage in control.stages(control.stage):
        for p in stage:
            if p.name == "scooped" and p.args[0] == grains and split_reference(p.args[1])[0] == target:
                return p
    return Predicate(name="scooped", args=(grains, target))


def run(control: Controller, args: tuple[str, ...], upcoming: tuple[Step, ...]) -> None:
    """Scoop until the goal's number of grains is there; checks it."""
    tool, grains, source, target = args
    world = control.world
    if control.held is None or control.held.item != tool:
        raise MotionError("scoop.empty_hand", f"{tool} is not in the hand", subjects=(tool,))
    p = wanted(control, grains, target)
    margin = -1.0
    for _ in range(SCOOPS):
        _dig(control, tool, vessels(world, source)[0])
        found = load(world, tool, grains)
        if found <= LITTLE:
            control.session.note("recovery", (tool, grains), f"{found} of {grains} on {tool}")
            continue
        _turn_out(control, tool, vessels(world, p.args[1])[0])
        margin = predicate("scooped").margin(world, p.args, p.params)
        if margin > 0:
            return
        control.session.note("recovery", (tool, grains), f"not enough of {grains} in {target} yet")
    raise MotionError(
        "scoop.effect", f"after {SCOOPS} scoops, '{title(p)}' is missed by {-100 * margin:.1f} % of {grains}",
        subjects=(grains, target), value=margin, limit=0.0,
    )  # fmt: skip


def _dig(control: Controller, tool: str, source: str) -> None:
    control.take(tool)  # as it hangs in the hand now
    control.look()
    path = plan_dig(control, tool, source)
    control.reach(path[0], stage=STAGE)
    control.follow(path, stage=STAGE, speed=DIGGING)


def _turn_out(control: Controller, tool: str, target: str) -> None:
    control.take(tool)  # what it met in the grains may have turned it a little
    control.look()
    plan = plan_turn_out(control, tool, target)
    if plan.carry is None:
        control.reach(plan.tip[0], stage=STAGE)
    else:
        control.follow(plan.carry, stage=STAGE, speed=CARRY)
    _tip(control, plan, -BACK_TILT, float(plan.angles[-1]))
    control.wait(LINGER)
    _tip(control, plan, float(plan.angles[-1]), -BACK_TILT)
    control.wait(SETTLE)


def _tip(control: Controller, plan: PourPlan, start: float, end: float) -> None:
    steps = max(1, int(np.ceil(abs(end - start) / (TURN * control.dt))))
    for angle in np.linspace(start, end, steps + 1)[1:]:
        control.step(plan.at(float(angle)))
        control.check_held(STAGE)


SKILL = Skill(
    name="scoop",
    operators=(
        Operator(
            skill="scoop",
            parameters=(("tool", "item"), ("grains", "item"), ("source", "item"), ("target", "item"), ("zone", "zone")),
            needs=(
                ("holding", "tool"), ("scoops", "tool", "grains", "source", "target"), ("item_zone", "target", "zone"),
                ("standing", "zone"),
            ),
            adds=(("scooped", "grains", "target"),),
            removes=(),
            passes=("tool", "grains", "source", "target"),
        ),
    ),
    run=run,
)  # fmt: skip
