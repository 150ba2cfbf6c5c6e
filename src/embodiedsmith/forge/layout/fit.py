"""Whether things fit where they are and where they go; containers and things change size where nobody fixed it."""

from __future__ import annotations

from embodiedsmith import assets
from embodiedsmith.assets.asset import Asset, Cavity
from embodiedsmith.forge.layout.errors import LayoutError
from embodiedsmith.forge.layout.needs import Needs, Target
from embodiedsmith.spec import AssetSpec, Finding, Scenario

SIDE = 0.004  # [m] least play beside a thing in a cavity
LIFT = 0.015  # [m] least play above a thing that is set into a cavity from its front
HEAP = 0.6  # part of a container that heaped things (as their bounding boxes) may fill


def fitted(scenario: Scenario, built: dict[str, Asset], needs: Needs) -> tuple[Scenario, dict[str, Asset]]:
    """The scenario with sizes changed so that everything fits, and its assets.

    Raises:
        LayoutError: something does not fit in any size (`geometry.too_large`) or there is too much of it (`geometry.too_many`).
    """
    scenario, built, findings = resized(scenario, built, needs)
    findings += [
        f for place in dict.fromkeys(t.place for t in needs.targets) if (f := heap_fault(place, built, needs)) is not None
    ]
    if findings:
        raise LayoutError(tuple(findings))
    return scenario, built


def resized(scenario: Scenario, built: dict[str, Asset], needs: Needs) -> tuple[Scenario, dict[str, Asset], list[Finding]]:
    """The scenario with containers and things in sizes that fit, where nobody fixed them; and what fits in none."""
    findings: list[Finding] = []
    goes = [t for t in needs.targets if t.relation == "inside" and t.place in built and t.item in built]
    for stays, target in (*((True, t) for t in _inside(scenario)), *((False, t) for t in goes)):
        fault = fault_of(target, built, stays=stays)
        if fault is not None:
            scenario, built, fault = _resized(scenario, built, target, fault)
        if fault is not None:
            findings.append(fault)
    return scenario, built, findings


def _inside(scenario: Scenario) -> list[Target]:
    """What is inside something at the start."""
    items = scenario.scene.items
    return [
        Target(item=i.id, place=i.parent, part=i.support, relation="inside")
        for i in items
        if i.parent is not None and i.relation == "inside"
    ]


def fault_of(target: Target, built: dict[str, Asset], *, stays: bool = False) -> Finding | None:
    """Why an item does not fit into any of the cavities meant, measured on the one it misses least; None: it fits."""
    cavities = [c for c in built[target.place].affordances.cavities if target.part in (None, c.name)]
    excess = [(excess_of(built[target.item], c, stays=stays), c) for c in cavities]
    if not excess:
        return None  # the spec critic says so
    least, cavity = min(excess, key=lambda pair: pair[0])
    if least <= 0:
        return None
    item = [100 * v for v in built[target.item].size]
    inner = [100 * v for v in cavity.size]
    return Finding(
        code="geometry.too_large", subjects=(target.item, target.place), value=least, limit=0.0, unit="m",
        message=(
            f"{target.item} ({item[0]:.1f} x {item[1]:.1f} x {item[2]:.1f} cm) does not fit into {target.place}.{cavity.name} "
            f"({inner[0]:.1f} x {inner[1]:.1f} x {inner[2]:.1f} cm): {100 * least:.1f} cm too large"
        ),
    )  # fmt: skip


def excess_of(asset: Asset, cavity: Cavity, *, stays: bool = False) -> float:
    """By how much [m] an upright asset is too large for a cavity; negative: the play it has.

    What merely `stays` in something open above may stand out of it; what counts as put inside may do so by half its height.
    """
    x, y, z = (float(v) for v in asset.size)
    cx, cy, cz = cavity.size
    flat = min(max(x - cx, y - cy), max(x - cy, y - cx)) + 2 * SIDE
    if cavity.joint is None and cavity.opening[2] > 0.7:  # open above: it may look out by half
        return flat if stays else max(flat, z / 2 - cz)
    return max(flat, z - cz + (SIDE if cavity.opening[2] > 0.7 else LIFT))


def heap_fault(place: str, built: dict[str, Asset], needs: Needs) -> Finding | None:
    """Why the things that are all to go into one container are too many for it; None: they fit."""
    items = dict.fromkeys(t.item for t in needs.targets if t.place == place and t.relation == "inside")
    cavities = built[place].affordances.cavities if place in built else ()
    if len(items) < 2 or not cavities:
        return None
    room = sum(c.size[0] * c.size[1] * c.size[2] for c in cavities)
    volume = sum(float(built[i].size.prod()) for i in items if i in built)
    if volume <= HEAP * room:
        return None
    return Finding(
        code="geometry.too_many", subjects=(place, *items), value=volume, limit=HEAP * room, unit="m^3",
        message=f"{len(items)} things of {1e3 * volume:.2f} l in all are too many for {place} ({1e3 * HEAP * room:.2f} l)",
    )  # fmt: skip


def _resized(
    scenario: Scenario, built: dict[str, Asset], target: Target, fault: Finding
) -> tuple[Scenario, dict[str, Asset], Finding | None]:
    """Try a larger container, then a smaller thing, then both, where their sizes were left to us."""
    place, thing = scenario.scene.item(target.place), scenario.scene.item(target.item)
    larger, smaller = _size(place.asset, "large"), _size(thing.asset, "small")
    for new_place, new_thing in ((larger, thing.asset), (place.asset, smaller), (larger, smaller)):
        if new_place is None or new_thing is None:
            continue
        changed = {**built, target.place: assets.build(new_place), target.item: assets.build(new_thing)}
        if fault_of(target, changed) is None:
            scene = scenario.scene.with_item(place.model_copy(update={"asset": new_place}))
            scene = scene.with_item(thing.model_copy(update={"asset": new_thing}))
            return scenario.model_copy(update={"scene": scene}), changed, None
    return scenario, built, fault


def _size(spec: AssetSpec, size: str) -> AssetSpec | None:
    """The spec in another size; None when a size or a measure was asked for."""
    if spec.size != "medium" or spec.params:
        return None
    return spec.model_copy(update={"size": size})
