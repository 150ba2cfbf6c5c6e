"""What a robot on wheels needs of its furniture: fronts wide enough for an arm that comes from higher up.

Its arm stands at one height, above the deck: into low compartments it reaches steeply, past doors that stand open beside it.
"""

from __future__ import annotations

from embodiedsmith import assets
from embodiedsmith.assets.asset import Asset, Cavity
from embodiedsmith.forge.layout import fit
from embodiedsmith.forge.layout.needs import Needs
from embodiedsmith.spec import Scenario

FRONT_WIDTH = 0.38  # [m] of an opening at the front: a hand of 0.20 m and the forearm turned to come in beside an open door


def roomy(scenario: Scenario, built: dict[str, Asset], needs: Needs) -> tuple[Scenario, dict[str, Asset]]:
    """The scenario with furniture grown, where its size was left to us, until what is used through a front is wide enough."""
    for name in dict.fromkeys(part.item for part in needs.parts):
        for factor in (1.0, *fit.GROWTH):
            spec = fit.scaled(scenario.scene.item(name).asset, factor)
            asset = assets.build(spec)
            if all(_width(c) >= FRONT_WIDTH for c in asset.affordances.cavities if _used(name, c, needs)):
                break
        if spec != scenario.scene.item(name).asset:
            item = scenario.scene.item(name).model_copy(update={"asset": spec})
            scenario = scenario.model_copy(update={"scene": scenario.scene.with_item(item)})
            built = {**built, name: asset}
    return scenario, built


def _used(item: str, cavity: Cavity, needs: Needs) -> bool:
    entered = abs(cavity.opening[2]) < 0.7
    return entered and any(p.item == item and p.cavity == cavity.name for p in needs.parts)


def _width(cavity: Cavity) -> float:
    """Width of an opening at the front [m]."""
    return float(abs(cavity.opening[1]) * cavity.size[0] + abs(cavity.opening[0]) * cavity.size[1])
