"""close(part): push a drawer or a door shut by its front, or lead it by its handle."""

from __future__ import annotations

from embodiedsmith.motion.articulation import Articulation, move
from embodiedsmith.motion.controller import Controller
from embodiedsmith.motion.errors import MotionError
from embodiedsmith.motion.operators import Operator, Step
from embodiedsmith.motion.skills import Skill
from embodiedsmith.tasks.registry import predicate

PARTS = (0.12, 0.25, 0.4, 0.55, 0.7)
"""Opening fractions taken as a first move when no single move shuts it."""
SHUT = 0.01


def run(control: Controller, args: tuple[str, ...], upcoming: tuple[Step, ...]) -> None:
    """Move it shut and check that it is."""
    part = Articulation(control, args[0])
    move(part, (0.0, *PARTS), SHUT, push=True, stage="close")
    margin = predicate("closed").margin(control.world, args)
    if margin <= 0:
        fraction = control.world.joint(part.name)[1]
        raise MotionError("close.ajar", f"{args[0]} is still {100 * fraction:.0f} % open", subjects=args, value=margin, limit=0.0)


SKILL = Skill(
    name="close",
    operators=(
        Operator(
            skill="close",
            parameters=(("part", "part"), ("zone", "zone")),
            needs=(("empty_hand",), ("part_zone", "part", "zone"), ("standing", "zone")),
            adds=(("shut", "part"), ("away", "part")),
            removes=(("opened", "part"),),
            passes=("part",),
        ),
    ),
    run=run,
)
