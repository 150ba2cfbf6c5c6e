"""Scenes that tests of critics judge: laid out by hand, so that only what a test changes can be wrong with them."""

from __future__ import annotations

from typing import Any

import numpy as np
from forge_scenes import draft, item, says

from embodiedsmith.forge.critics import Context, critics
from embodiedsmith.spec import AssetSpec, Finding, Goal, Item, Pose, Predicate, Randomization, Scenario

BY_NAME = {critic.name: critic for critic in critics()}
STILL = Randomization(position=0.0, yaw=0.0)
BOX = {"width": 0.15, "depth": 0.15, "height": 0.15}
BLOCK = 0.045  # [m] side of a block
STAND = Pose.planar(0.0, 0.0, 0.74)
"""Of a robot at the table."""


def found(critic: str, scenario: Scenario) -> list[Finding]:
    return BY_NAME[critic].review(Context(scenario))


def changed(scenario: Scenario, name: str, **changes: Any) -> Scenario:
    """With one item changed."""
    thing = scenario.scene.item(name)
    scene = scenario.scene.with_item(thing.model_copy(update=changes))
    return scenario.model_copy(update={"scene": scene})


def asked(scenario: Scenario, goal: Goal | None = None, **changes: Any) -> Scenario:
    """With another goal, or another task round it."""
    update = changes if goal is None else {"goal": goal, **changes}
    return scenario.model_copy(update={"task": scenario.task.model_copy(update=update)})


def still(scenario: Scenario) -> Scenario:
    """Without variation of places."""
    return scenario.model_copy(update={"randomization": STILL})


def more(scenario: Scenario, *items: Item) -> Scenario:
    """With more items."""
    scene = scenario.scene.model_copy(update={"items": (*scenario.scene.items, *items)})
    return scenario.model_copy(update={"scene": scene})


def on_table(*blocks: tuple[float, float], goal: Predicate | None = None, **random: Any) -> Scenario:
    """Blocks at places on a table, standing before a Panda; the first is to go on the second."""
    things = [item("table", pose=Pose.planar(0.575, 0.0, 0.0, np.pi))]
    things += [item(f"block_{k}", "table", pose=Pose.planar(x, y)) for k, (x, y) in enumerate(blocks, start=1)]
    return draft(things, goal or says("on", "block_1", "block_2"), base=STAND, **random)


def ring(x: float, y: float) -> list[Item]:
    """Four boxes round a block, higher than it and too near for a hand to get in between."""
    side, gap = BOX["width"], 0.006
    out = (BLOCK + side) / 2 + gap
    aside = (side - BLOCK) / 2 - gap + 0.001  # each box stands past the corner of the next
    places = ((out, -aside), (aside, out), (-out, aside), (-aside, -out))
    return [item(f"box_{k}", "table", params=BOX, pose=Pose.planar(x + dx, y + dy)) for k, (dx, dy) in enumerate(places, start=1)]


def drawers(*, joints: dict[str, float] | None = None, goal: Goal | None = None) -> Scenario:
    """A drawer unit on a counter that faces the robot, and a mug beside it."""
    unit = item("drawer_unit", "counter", pose=Pose.planar(-0.1, -0.1), joints=joints or {})
    things = [item("counter", pose=Pose.planar(0.58, 0.0, 0.0, np.pi)), unit, item("mug", "counter", pose=Pose.planar(0.15, 0.3))]
    return draft(things, goal or says("inside", "mug", "drawer_unit.drawer_top"), base=Pose.planar(0.0, 0.0, 0.9))


def microwave(toward: float = 0.0, *, joints: dict[str, float] | None = None) -> Scenario:
    """A microwave on a counter that faces the robot, nearer to it by so much [m]; its door is to be opened."""
    oven = item("microwave", "counter", pose=Pose.planar(toward - 0.17, -0.09), joints=joints or {})
    things = [item("counter", pose=Pose.planar(0.58, -0.14, 0.0, np.pi)), oven]
    return draft(things, says("open", "microwave.door"), base=Pose.planar(0.0, 0.0, 0.9))


def fetching() -> Scenario:
    """A mug on a table, and a robot on wheels before it."""
    things = [item("table", pose=Pose.planar(1.6, 0.0, 0.0, np.pi)), item("mug", "table", pose=Pose.planar(0.2, 0.0))]
    return draft(things, says("lifted", "mug"), robot="panda_mobile", base=Pose.planar(0.0, 0.0))


def built_as(scenario: Scenario, name: str, category: str, **asset: Any) -> Scenario:
    """With one item built from another category."""
    return changed(scenario, name, asset=AssetSpec(category=category, **asset))
