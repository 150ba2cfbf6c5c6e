"""Forged scenarios that tests of the flywheel share; each is forged once a process."""

from __future__ import annotations

from functools import cache

from embodiedsmith.forge import ForgeResult, forge
from embodiedsmith.spec import Brief, Scenario

BRIEFS = {
    "basket": ("put the can in the basket", "panda"),
    "drawer": ("put the mug in the drawer and close it", "panda"),
    "stack": ("stack three blocks", "panda"),
    "fridge": ("put the bottle in the fridge", "panda_mobile"),
}


@cache
def result(name: str) -> ForgeResult:
    """What the forge made of one of `BRIEFS`."""
    text, robot = BRIEFS[name]
    return forge(Brief(text=text, embodiment=robot, seed=0))


def forged(name: str) -> Scenario:
    """Its scenario."""
    return result(name).scenario
