"""open(part): pull a drawer or a door open by its handle."""

from __future__ import annotations

from embodiedsmith.motion.articulation import Articulation, move
from embodiedsmith.motion.controller import Controller
from embodiedsmith.motion.errors import MotionError
from embodiedsmith.motion.operators import Operator, Step
from embodiedsmith.motion.skills import Skill

WIDE = {"slide": (0.95, 0.85, 0.75, 0.66), "hinge": (0.8, 0.9, 0.7, 0.64)}
"""Opening fractions aimed at, best first: wide enough for a hand, and beyond the least that `open` asks for (0.6)."""
PARTS = (0.5, 0.35, 0.2)
"""Fractions taken as a first move when no single move gets it wide open."""
LEAST = 0.61


def run(control: Controller, args: tuple[str, ...], upcoming: tuple[Step, ...]) -> None:
    """Grip the handle, follow its arc, let go, and check how far it opened."""
    part = Articulation(control, args[0])
    move(part, (*WIDE[part.info.kind], *PARTS), LEAST, push=False, stage="open")
    if part.fraction < LEAST:
        raise MotionError(
            "open.slipped", f"{args[0]} is only {100 * part.fraction:.0f} % open", subjects=args, value=part.fraction, limit=LEAST
        )


SKILL = Skill(
    name="open",
    operators=(
        Operator(
            skill="open",
            parameters=(("part", "part"), ("zone", "zone")),
            needs=(("empty_hand",), ("part_zone", "part", "zone"), ("standing", "zone")),
            adds=(("opened", "part"),),
            removes=(("shut", "part"), ("away", "part")),
            passes=("part",),
        ),
    ),
    run=run,
)
