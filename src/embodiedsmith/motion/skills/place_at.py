"""place_at(item): put what is in the hand down at the point its goal names."""

from __future__ import annotations

from embodiedsmith.motion.controller import Controller
from embodiedsmith.motion.operators import Operator, Step
from embodiedsmith.motion.skills import Skill
from embodiedsmith.motion.skills.place import WAIT, put_down


def run(control: Controller, args: tuple[str, ...], upcoming: tuple[Step, ...]) -> None:
    """Put down; the goal itself says whether it is there."""
    put_down(control, Step("place_at", args))
    control.wait(WAIT)


SKILL = Skill(
    name="place_at",
    operators=(
        Operator(
            skill="place_at",
            parameters=(("item", "item"), ("zone", "zone")),
            needs=(("holding", "item"), ("wanted_posed", "item"), ("item_zone", "item", "zone"), ("standing", "zone")),
            adds=(("posed", "item"), ("empty_hand",), ("upright", "item")),
            removes=(("holding", "item"),),
            passes=("item",),
        ),
    ),
    run=run,
)
