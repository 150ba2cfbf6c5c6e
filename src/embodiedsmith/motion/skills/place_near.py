"""place_near(item, other): put what is in the hand down beside something."""

from __future__ import annotations

from embodiedsmith.motion.controller import Controller
from embodiedsmith.motion.operators import Operator, Step
from embodiedsmith.motion.skills import Skill
from embodiedsmith.motion.skills.place import put_among


def run(control: Controller, args: tuple[str, ...], upcoming: tuple[Step, ...]) -> None:
    """Put down and check that the two are near."""
    put_among(control, Step("place_near", args, control.stage))


SKILL = Skill(
    name="place_near",
    operators=(
        Operator(
            skill="place_near",
            parameters=(("item", "item"), ("other", "item"), ("place", "place"), ("zone", "zone")),
            needs=(
                ("holding", "item"),
                ("wanted_near", "item", "other"),
                ("at", "other", "place"),
                ("ungated", "place"),
                ("roomy", "place"),
                ("place_zone", "place", "zone"),
                ("standing", "zone"),
            ),
            adds=(("near", "item", "other"), ("at", "item", "place"), ("empty_hand",), ("upright", "item")),
            removes=(("holding", "item"),),
            passes=("item", "other"),
        ),
    ),
    run=run,
)
