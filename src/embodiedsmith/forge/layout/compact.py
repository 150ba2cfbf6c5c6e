"""Smaller things where there is little room, within reach or behind a front: those whose sizes were left to us."""

from __future__ import annotations

from embodiedsmith import assets
from embodiedsmith.assets.asset import Asset
from embodiedsmith.forge.layout import fit
from embodiedsmith.forge.layout.needs import Needs
from embodiedsmith.spec import Scenario

HANDY = (0.96, 0.92, 0.88, 0.84)  # factors tried for a thing that no hand holds from its side
BROAD = 0.12  # [m] of side from which a thing is broad


def handy(scenario: Scenario, built: dict[str, Asset], needs: Needs) -> tuple[Scenario, dict[str, Asset]]:
    """The scenario with what goes through a front built so small that a hand can hold it from its side.

    A hand that holds a thing by its rim comes from above: behind a front there is no room for it. Sizes that somebody asked for
    stay.
    """
    for target in needs.targets:
        if target.relation != "inside" or not {target.item, target.place} <= built.keys():
            continue
        item = scenario.scene.item(target.item)
        if not _through_front(built[target.place], target.part) or item.pose is not None or _sideways(built[item.id]):
            continue
        for factor in HANDY:
            spec = fit.scaled(item.asset, factor)
            asset = assets.build(spec)
            if _sideways(asset):
                scenario = scenario.model_copy(
                    update={"scene": scenario.scene.with_item(item.model_copy(update={"asset": spec}))}
                )
                built = {**built, item.id: asset}
                break
    return scenario, built


def _through_front(place: Asset, part: str | None) -> bool:
    meant = [c for c in place.affordances.cavities if part in (None, c.name)]
    return bool(meant) and all(c.body == "root" and c.opening[2] < 0.7 for c in meant)


def _sideways(asset: Asset) -> bool:
    return any(grasp.kind == "side" for grasp in asset.affordances.grasps)


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
