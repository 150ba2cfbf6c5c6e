"""Smaller things where there is little room within reach: broad ones whose sizes were left to us."""

from __future__ import annotations

from embodiedsmith import assets
from embodiedsmith.assets.asset import Asset
from embodiedsmith.forge.layout import fit
from embodiedsmith.forge.layout.needs import Needs
from embodiedsmith.spec import Scenario

BROAD = 0.12  # [m] of side from which a thing is broad


def compact(scenario: Scenario, built: dict[str, Asset], needs: Needs, factor: float) -> tuple[Scenario, dict[str, Asset]]:
    """The scenario with the broad things that the task concerns built smaller by `factor`, and its assets.

    What has its place or size already stays as it is; so does everything when something would no longer fit where it goes.
    """
    free = [i for i in scenario.scene.items if not i.fixed and i.pose is None and needs.concerns(i.id)]
    changed = {i.id: fit.scaled(i.asset, factor) for i in free if float(built[i.id].size[:2].max()) > BROAD}
    scene = scenario.scene
    for name, spec in changed.items():
        scene = scene.with_item(scene.item(name).model_copy(update={"asset": spec}))
    smaller = scenario.model_copy(update={"scene": scene})
    there = {**built, **{name: assets.build(spec) for name, spec in changed.items()}}
    smaller, there, faults = fit.resized(smaller, there, needs)
    return (scenario, built) if faults else (smaller, there)
