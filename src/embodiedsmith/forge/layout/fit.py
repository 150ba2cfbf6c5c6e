"""Whether things fit where they are and where they go; containers and things change size where nobody fixed it."""

from __future__ import annotations

import math

from embodiedsmith import assets
from embodiedsmith.assets.asset import Asset, Cavity
from embodiedsmith.forge.layout.errors import LayoutError
from embodiedsmith.forge.layout.needs import Needs, Target
from embodiedsmith.motion import sharing
from embodiedsmith.motion.placing import stands_on_end
from embodiedsmith.spec import AssetSpec, Finding, Scenario

SIDE = 0.004  # [m] least play beside a thing in a cavity
LIFT = 0.015  # [m] least play above a thing that is set into a cavity from its front
GROWTH = (1.15, 1.3, 1.5)  # factors by which a container may grow
CHANGES = ((1.15, 1.0), (1.0, 0.9), (1.3, 1.0), (1.0, 0.8), (1.3, 0.8), (1.5, 0.8))  # of container and thing, in the order tried
HEAPS = (*((larger, 1.0) for larger in GROWTH), (1.5, 0.9), (1.5, 0.8))  # of a place and things, for several that go to one
SLENDER = 1.5  # widths that a thing put on a tray beside others may take there lengthwise: it is laid along them
BETWEEN = 0.006  # [m] between things that are put side by side on one
DEEPER = 1.2  # factor by which a work surface may grow in depth: the arm gets no farther
FLAT = 0.75  # part of the floor of a shallow container that things side by side may cover
PAIR = 0.86  # side of the least square that holds two discs cornerwise, (1 + 1/sqrt(2)) / 2 of their diameters' sum
HEAP = 0.6  # part of a container that heaped things (as their bounding boxes) may fill


def fitted(scenario: Scenario, built: dict[str, Asset], needs: Needs) -> tuple[Scenario, dict[str, Asset]]:
    """The scenario with sizes changed so that everything fits, and its assets.

    Raises:
        LayoutError: something does not fit in any size (`geometry.too_large`) or there is too much of it (`geometry.too_many`).
    """
    scenario, built, findings = resized(scenario, built, needs)
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
        if fault is not None and (stays or not on_end(target, built)):
            findings.append(fault)
    for place in dict.fromkeys(t.place for t in goes):
        scenario, built, fault = _grown(scenario, built, needs, place)
        if fault is not None:
            findings.append(fault)
    flat = [t.place for t in needs.targets if t.relation == "on" and t.place in built and not scenario.scene.item(t.place).fixed]
    for place in dict.fromkeys(flat):
        scenario, built, fault = _spread(scenario, built, needs, place)
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


def on_end(target: Target, built: dict[str, Asset]) -> bool:
    """Whether what does not lie in any of the cavities meant stands in one on its end."""
    cavities = [c for c in built[target.place].affordances.cavities if target.part in (None, c.name)]
    return any(stands_on_end(built[target.item], cavity) for cavity in cavities)


def heap_fault(place: str, built: dict[str, Asset], needs: Needs) -> Finding | None:
    """Why the things that are all to go into one container are too many for it; None: they fit.

    In a container open above they may stand out of it by half their height.
    """
    items = [i for i in dict.fromkeys(t.item for t in needs.targets if t.place == place and t.relation == "inside") if i in built]
    cavities = built[place].affordances.cavities if place in built else ()
    if len(items) < 2 or not cavities:
        return None
    volume = sum(float(built[i].size.prod()) for i in items)
    over = max(float(built[i].size[2]) for i in items) / 2
    room = HEAP * sum(
        c.size[0] * c.size[1] * (c.size[2] + (over if c.joint is None and c.opening[2] > 0.7 else 0.0)) for c in cavities
    )
    if volume <= room:
        return _layer_fault(place, items, built)
    return Finding(
        code="geometry.too_many", subjects=(place, *items), value=volume, limit=room, unit="m^3",
        message=f"{len(items)} things of {1e3 * volume:.2f} l in all are too many for {place} ({1e3 * room:.2f} l)",
    )  # fmt: skip


def _layer_fault(place: str, items: list[str], built: dict[str, Asset]) -> Finding | None:
    """Why things do not lie side by side in a container too shallow to hold a second layer; None: they do, or it is deep."""
    cavities = built[place].affordances.cavities
    tall = max(float(built[i].size[2]) for i in items)
    if len(cavities) != 1 or cavities[0].opening[2] <= 0.7 or cavities[0].size[2] >= 1.5 * tall:
        return None
    x, y, _ = cavities[0].size
    widths = sorted((float(built[i].size[:2].min()) for i in items), reverse=True)
    area = sum(float(built[i].size[0] * built[i].size[1]) for i in items)
    widest = widths[0] + widths[1]
    if area <= FLAT * x * y and (widest <= max(x, y) or PAIR * widest <= min(x, y)):
        return None
    return Finding(
        code="geometry.too_many", subjects=(place, *items), value=area, limit=FLAT * x * y, unit="m^2",
        message=(
            f"{len(items)} things ({1e4 * area:.0f} cm^2) do not lie side by side in {place} "
            f"({100 * x:.1f} x {100 * y:.1f} cm), which is too shallow for a heap"
        ),
    )  # fmt: skip


def _resized(
    scenario: Scenario, built: dict[str, Asset], target: Target, fault: Finding
) -> tuple[Scenario, dict[str, Asset], Finding | None]:
    """Try a larger container and a smaller thing, the least change first, where their sizes were left to us."""
    place, thing = scenario.scene.item(target.place), scenario.scene.item(target.item)
    for larger, smaller in CHANGES:
        changed = {
            **built,
            target.place: assets.build(scaled(place.asset, larger)),
            target.item: assets.build(scaled(thing.asset, smaller)),
        }
        if fault_of(target, changed) is None:
            return _with(scenario, {place.id: scaled(place.asset, larger), thing.id: scaled(thing.asset, smaller)}), changed, None
    return scenario, built, fault


def _grown(
    scenario: Scenario, built: dict[str, Asset], needs: Needs, place: str
) -> tuple[Scenario, dict[str, Asset], Finding | None]:
    """A larger container for all that goes into it, where its size was left to us."""
    fault = heap_fault(place, built, needs)
    things = dict.fromkeys(t.item for t in needs.targets if t.place == place and t.relation == "inside" and t.item in built)
    for larger, smaller in () if fault is None else HEAPS:
        changed = {place: scaled(scenario.scene.item(place).asset, larger)}
        changed |= {name: scaled(scenario.scene.item(name).asset, smaller) for name in things if smaller < 1.0}
        there = {**built, **{name: assets.build(spec) for name, spec in changed.items()}}
        if heap_fault(place, there, needs) is None:
            return _with(scenario, changed), there, None
    return scenario, built, fault


def _spread(
    scenario: Scenario, built: dict[str, Asset], needs: Needs, place: str
) -> tuple[Scenario, dict[str, Asset], Finding | None]:
    """A larger tray or plate for all that is put on it, and smaller things, where their sizes were left to us."""
    things = _put_on(place, built, needs)
    fault = spread_fault(place, built, needs)
    for larger, smaller in () if fault is None else HEAPS:
        changed = {name: scaled(scenario.scene.item(name).asset, smaller) for name in things if smaller < 1.0}
        changed[place] = scaled(scenario.scene.item(place).asset, larger)
        there = {**built, **{name: assets.build(spec) for name, spec in changed.items()}}
        if spread_fault(place, there, needs) is None:
            return _with(scenario, changed), there, None
    return scenario, built, fault


def spread_fault(place: str, built: dict[str, Asset], needs: Needs) -> Finding | None:
    """Why the things that are all to be put on one thing do not stand there side by side; None: they do."""
    items = _put_on(place, built, needs)
    supports = built[place].affordances.supports
    if len(items) < 2 or not supports:
        return None
    radii = [0.5 * min(float(max(built[i].size[:2])), SLENDER * float(min(built[i].size[:2]))) for i in items]
    gaps = [sharing.room(support, radii) for support in supports]
    best = max(range(len(gaps)), key=gaps.__getitem__)
    if gaps[best] >= BETWEEN:
        return None
    x, y = (100 * v for v in supports[best].size)
    widths = ", ".join(f"{200 * r:.1f}" for r in radii)
    return Finding(
        code="geometry.too_many", subjects=(place, *items), value=BETWEEN - gaps[best], limit=0.0, unit="m",
        message=f"{len(items)} things ({widths} cm wide) do not stand side by side on {place} ({x:.1f} x {y:.1f} cm)",
    )  # fmt: skip


def _put_on(place: str, built: dict[str, Asset], needs: Needs) -> list[str]:
    """What is on a thing in the end, as far as the task says: neither what may be there nor what goes on elsewhere."""
    last = {t.item: t for t in needs.targets if not t.optional}
    return [i for i, t in last.items() if t.place == place and t.relation == "on" and i in built]


def _with(scenario: Scenario, changed: dict[str, AssetSpec]) -> Scenario:
    scene = scenario.scene
    for name, asset in changed.items():
        scene = scene.with_item(scene.item(name).model_copy(update={"asset": asset}))
    return scenario.model_copy(update={"scene": scene})


def spacious(scenario: Scenario, built: dict[str, Asset], surface: str, factor: float) -> tuple[Scenario, dict[str, Asset]]:
    """The scenario with a wider and perhaps deeper work surface, where its size was left to us and it has no place yet."""
    item = scenario.scene.item(surface)
    if item.pose is not None or item.asset.size != "medium":
        return scenario, built
    params = dict(item.asset.params)
    for name, most in (("width", math.inf), ("depth", DEEPER)):
        param = assets.category(item.asset.category).params.get(name)
        value = None if param is None else params.get(name, param.default)
        if param is not None and isinstance(value, float) and param.high is not None:
            params[name] = min(value * min(factor, most), max(value, param.high))
    asset = item.asset.model_copy(update={"params": params})
    return _with(scenario, {surface: asset}), {**built, surface: assets.build(asset)}


def scaled(spec: AssetSpec, factor: float) -> AssetSpec:
    """The spec with the measures that size words scale multiplied by `factor`, within their limits.

    A spec whose size somebody asked for ("a small bowl") is given back as it is.
    """
    if spec.size != "medium" or factor == 1.0:
        return spec
    params = dict(spec.params)
    for name, param in assets.category(spec.category).params.items():
        value = params.get(name, param.default)
        if param.scales and isinstance(value, float) and param.low is not None and param.high is not None:
            params[name] = min(max(value * factor, param.low), param.high)
    return spec.model_copy(update={"params": params})
