"""open(part): pull a drawer or a door open by its handle."""

from __future__ import annotations

from embodiedsmith.motion.articulation import Articulation, plan_arc
from embodiedsmith.motion.controller import Controller
from embodiedsmith.motion.errors import MotionError
from embodiedsmith.motion.operators import Operator, Step
from embodiedsmith.motion.skills import Skill

WIDE = (0.95, 0.85, 0.75, 0.66)
"""Opening fractions aimed at, best first: wide enough for a hand, and beyond the least that `open` asks for (0.6)."""
LEAST = 0.61


def run(control: Controller, args: tuple[str, ...], upcoming: tuple[Step, ...]) -> None:
    """Grip the handle, follow its arc, let go, and check how far it opened."""
    part = Articulation(control, args[0])
    part.run(plan_arc(part, WIDE, push=False, stage="open"), "open")
    fraction = control.world.joint(part.name)[1]
    if fraction < LEAST:
        raise MotionError(
            "open.slipped", f"{args[0]} is only {100 * fraction:.0f} % open", subjects=args, value=fraction, limit=LEAST
        )


SKILL = Skill(
    name="open",
    operators=(
        Operator(
            skill="open",
            parameters=(("part", "part"), ("zone", "zone")),
            needs=(("empty_hand",), ("part_zone", "part", "zone"), ("standing", "zone")),
            adds=(("opened", "part"),),
            removes=(("shut", "part"),),
            passes=("part",),
        ),
    ),
    run=run,
)
