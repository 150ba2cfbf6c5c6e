"""squeeze(item): press a soft thing together between the fingers that hold it."""

from __future__ import annotations

from embodiedsmith.motion.controller import Controller
from embodiedsmith.motion.errors import MotionError
from embodiedsmith.motion.operators import Operator, Step
from embodiedsmith.motion.skills import Skill
from embodiedsmith.tasks.registry import predicate

PATIENCE = 20
"""Control steps that it may take to give way."""


def run(control: Controller, args: tuple[str, ...], upcoming: tuple[Step, ...]) -> None:
    """Close the hand with all its force until the item has given way."""
    item = args[0]
    if control.held is None or control.held.item != item:
        raise MotionError("squeeze.empty_hand", f"{item} is not in the hand", subjects=(item,))
    margin = -1.0
    for _ in range(PATIENCE):
        control.grip(1.0)
        margin = predicate("squeezed").margin(control.world, (item,))
        if margin > 0:
            return
    raise MotionError("squeeze.effect", f"{item} does not give way", subjects=(item,), value=margin, limit=0.0)


SKILL = Skill(
    name="squeeze",
    operators=(
        Operator(
            skill="squeeze",
            parameters=(("item", "item"),),
            needs=(("holding", "item"), ("soft", "item")),
            adds=(("squeezed", "item"),),
            removes=(),
            passes=("item",),
        ),
    ),
    run=run,
)
