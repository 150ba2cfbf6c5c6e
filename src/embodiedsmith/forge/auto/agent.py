"""The agent of autonomous mode: it proposes scenes for a plot of its own instead of for a user's words."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from embodiedsmith import embodiments
from embodiedsmith.assets import Category, build, categories, similar
from embodiedsmith.assets.category import InvalidAsset
from embodiedsmith.forge.agents.agent import Case, Draft, Repair
from embodiedsmith.forge.agents.furnish import SCALE
from embodiedsmith.forge.agents.painting import USUAL_FOOD
from embodiedsmith.forge.agents.rule import LEAST_SECONDS, SKILL_SECONDS
from embodiedsmith.forge.asked import only_the_goal
from embodiedsmith.forge.auto import sense
from embodiedsmith.forge.auto.cells import graspable, room_for
from embodiedsmith.forge.auto.compose import Plot
from embodiedsmith.forge.repairs import repairs
from embodiedsmith.spec import AssetSpec, Brief, EmbodimentSpec, Item, Provenance, Scenario, TaskSpec
from embodiedsmith.spec.scene import ParamValue
from embodiedsmith.tasks import goal_faults, instruction

LYING_ABOUT = (0, 4)
"""Fewest and most things that lie about besides those of the plot."""
CLUTTER = 0.9
"""Part of what a robot gets at of the work surface that may be taken before nothing more is laid about."""
OTHER_MATERIAL = 0.25
"""Chance that what lies about is of another material instead of another colour."""


class AutoAgent:
    """Proposes scenes for one plot: draws give other sizes and other things lying about, for the same goal.

    Args:
        plot: What it is about.
        keep_robot: Whether repairs may not give the task to another robot.
    """

    name = "auto"

    def __init__(self, plot: Plot, *, keep_robot: bool = False) -> None:
        self.plot, self.keep_robot = plot, keep_robot
        self.text = instruction(plot.goal, plot.scene, "en")

    def brief(self, seed: int) -> Brief:
        """What a user would have had to ask for."""
        return Brief(text=self.text, embodiment=self.plot.cell.embodiment, seed=seed)

    def propose(self, brief: Brief, rng: np.random.Generator) -> Draft:
        """A draft of the plot; see `Agent.propose`. The brief's words are the plot's own."""
        plot = self.plot
        items = self._varied(rng)
        items += self._lying_about(items, rng)
        scene = plot.scene.model_copy(update={"items": tuple(items)})
        robot = embodiments.get(plot.cell.embodiment)
        skills = plot.skills * (2 if robot.base.kind == "planar" else 1)
        task = TaskSpec(
            goal=plot.goal,
            instructions={"en": instruction(plot.goal, scene, "en"), "zh": instruction(plot.goal, scene, "zh")},
            horizon=max(LEAST_SECONDS, SKILL_SECONDS * skills),
        )
        scenario = Scenario(
            scene=scene,
            task=task,
            embodiment=EmbodimentSpec(name=robot.name),
            provenance=Provenance(brief=brief, agent=self.name, seed=brief.seed),
        )
        things = ", ".join(item.id for item in items)
        asked = only_the_goal(scenario).model_copy(update={"embodiment": robot.name if self.keep_robot else None})
        return Draft(scenario=scenario, reading=f"{task.instructions['en']} [{scene.setting}: {things}]", asked=asked)

    def edit(self, case: Case, rng: np.random.Generator) -> Iterator[Repair]:
        """Repairs to try; see `Agent.edit`."""
        return repairs(case, rng)

    def _varied(self, rng: np.random.Generator) -> list[Item]:
        """The plot's things in slightly other sizes, as long as its goal still can be."""
        items = list(self.plot.items)
        for index, item in enumerate(items):
            category = categories()[item.asset.category]
            params = {**item.asset.params, **_scaled(category, float(rng.uniform(*SCALE)))}
            spec = item.asset.model_copy(update={"params": params})
            changed = [*items[:index], item.model_copy(update={"asset": spec}), *items[index + 1 :]]
            if self._can_be(changed, changed[index]):
                items = changed
        return items

    def _can_be(self, items: list[Item], changed: Item) -> bool:
        try:
            assets = {item.id: build(item.asset) for item in items}
        except InvalidAsset:
            return False
        usual = sense.usual(changed.asset.category)
        robot = self.plot.cell.embodiment
        if graspable(usual, robot) and not graspable(assets[changed.id], robot):
            return False
        return not goal_faults(self.plot.goal, assets)

    def _lying_about(self, items: list[Item], rng: np.random.Generator) -> list[Item]:
        """Things of categories that the plot does not speak of, on the work surface.

        None of what bends: simulating it takes as long as everything else together, and nothing is done with it here.
        """
        surface = self.plot.items[0]
        taken = sense.room_taken(items, surface.id, self.plot.goal)
        left = CLUTTER * room_for(self.plot.cell.embodiment, surface.asset.category) - taken
        count = int(rng.integers(LYING_ABOUT[0], LYING_ABOUT[1] + 1))
        there = {item.asset.category for item in items}
        names = [
            n
            for n in sense.movable(self.plot.cell.setting)
            if n not in there and sense.small(n) and sense.usual(n).matter is None
        ]
        chosen = [names[k] for k in rng.permutation(len(names))[:count]]
        found = []
        for name in chosen:
            category = categories()[name]
            lies: dict[str, ParamValue] = {"lying": True} if "lying" in category.params else {}
            spec = AssetSpec(category=name, params=lies, **_looks(category, surface.asset, rng))
            found.append(Item(id=name, asset=spec, parent=surface.id))
        while found and sense.room_taken(found, surface.id) > left:
            found.pop()
        return found


def _scaled(category: Category, factor: float) -> dict[str, ParamValue]:
    """The dimensions that size words scale, times a factor, within their limits, in tenths of a millimetre."""
    scaled: dict[str, ParamValue] = {}
    for name, param in category.params.items():
        if param.scales and isinstance(param.default, float):
            low, high = param.low or 0.0, float("inf") if param.high is None else param.high
            scaled[name] = round(min(max(param.default * factor, low), high), 4)
    return scaled


def _looks(category: Category, surface: AssetSpec, rng: np.random.Generator) -> dict[str, str]:
    """A colour to be seen on the surface, or now and then a material instead; food mostly has its usual looks."""
    if sense.is_food(category) and rng.random() < USUAL_FOOD:
        return {}
    if rng.random() < OTHER_MATERIAL:
        return {"material": str(rng.choice(category.materials))}
    ground = surface.color or categories()[surface.category].colors[0]
    return {"color": str(rng.choice([c for c in category.colors if not similar(c, ground)] or category.colors))}
