"""place_beside(item, other, side) and place_beside(item, first, second): put what is in the hand down on a side of something, or
between two things."""

from __future__ import annotations

from embodiedsmith.motion.controller import Controller
from embodiedsmith.motion.operators import Operator, Step
from embodiedsmith.motion.skills import Skill
from embodiedsmith.motion.skills.place import put_among


def run(control: Controller, args: tuple[str, ...], upcoming: tuple[Step, ...]) -> None:
    """Put down and check that it stands where the goal wants it."""
    put_among(control, Step("place_beside", args, control.stage))


def _operator(fact: str, parameters: tuple[tuple[str, str], ...]) -> Operator:
    """Puts an item among others that are all at one place."""
    names = tuple(name for name, _ in parameters)
    others = tuple(name for name, kind in parameters if kind == "item")
    return Operator(
        skill="place_beside",
        parameters=(("item", "item"), *parameters, ("place", "place"), ("zone", "zone")),
        needs=(
            ("holding", "item"), (f"wanted_{fact}", "item", *names), *(("at", other, "place") for other in others),
            ("ungated", "place"), ("roomy", "place"), ("place_zone", "place", "zone"), ("standing", "zone"),
        ),
        adds=((fact, "item", *names), ("at", "item", "place"), ("empty_hand",), ("upright", "item")),
        removes=(("holding", "item"),),
        passes=("item", *names),
    )  # fmt: skip


SKILL = Skill(
    name="place_beside",
    operators=(
        _operator("beside", (("other", "item"), ("side", "side"))),
        _operator("between", (("first", "item"), ("second", "item"))),
    ),
    run=run,
)
