"""place_near(item, other): put what is in the hand down beside something."""

from __future__ import annotations

from embodiedsmith.motion.controller import Controller
from embodiedsmith.motion.errors import MotionError
from embodiedsmith.motion.operators import Operator, Step
from embodiedsmith.motion.skills import Skill
from embodiedsmith.motion.skills.place import WAIT, put_down
from embodiedsmith.tasks.registry import predicate


def run(control: Controller, args: tuple[str, ...], upcoming: tuple[Step, ...]) -> None:
    """Put down and check that the two are near."""
    put_down(control, Step("place_near", args))
    control.wait(WAIT)
    margin = predicate("near").margin(control.world, args)
    if margin <= 0:
        raise MotionError(
            "place_near.effect",
            f"{args[0]} ended {-100 * margin:.1f} cm too far from {args[1]}",
            subjects=args,
            value=margin,
            limit=0.0,
        )


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
