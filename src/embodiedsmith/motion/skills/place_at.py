"""place_at(item): put what is in the hand down at the point its goal names."""

from __future__ import annotations

from dataclasses import replace

from embodiedsmith.motion.controller import Controller
from embodiedsmith.motion.operators import Operator, Step
from embodiedsmith.motion.skills import Skill
from embodiedsmith.motion.skills.place import WAIT, put_down


def run(control: Controller, args: tuple[str, ...], upcoming: tuple[Step, ...]) -> None:
    """Put down; the goal itself says whether it is there."""
    put_down(control, Step("place_at", args, control.stage))
    control.wait(WAIT)


_BASE = Operator(
    skill="place_at",
    parameters=(("item", "item"), ("place", "place"), ("zone", "zone")),
    needs=(
        ("holding", "item"),
        ("wanted_posed", "item", "place"),
        ("ungated", "place"),
        ("place_zone", "place", "zone"),
        ("standing", "zone"),
    ),
    adds=(("posed", "item"), ("at", "item", "place"), ("empty_hand",), ("upright", "item")),
    removes=(("holding", "item"),),
    passes=("item",),
)

SKILL = Skill(
    name="place_at",
    operators=(
        replace(_BASE, needs=(*_BASE.needs, ("roomy", "place"))),
        replace(
            _BASE,
            parameters=(*_BASE.parameters, ("below", "item")),
            needs=(*_BASE.needs, ("bare", "place"), ("on_top", "place", "below")),
            removes=(*_BASE.removes, ("bare", "place"), ("untopped", "below")),
        ),
    ),
    run=run,
)
