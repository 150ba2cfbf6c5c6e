"""Edits of what things are: larger, smaller, of another kind, added, taken away."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from embodiedsmith import assets
from embodiedsmith.assets import categories
from embodiedsmith.forge.layout.fit import fault_of, scaled
from embodiedsmith.forge.repairs.view import Proposed, View
from embodiedsmith.spec import AddItem, AssetSpec, ChangeSupport, Finding, Item, RemoveItem, Resize, SwapAsset

SMALLER = (0.85, 0.75)
LARGER = (1.2, 1.4)
GROWTHS = (1.1, 1.2, 1.35, 1.5, 1.7)  # of one dimension of a holder
LEAST = 0.5  # least part of its size to which a thing is made smaller
SPARE = 0.003  # [m] by which it is made smaller than it has to be
SURFACES = ("table", "counter")


def resize(view: View, findings: tuple[Finding, ...], rng: np.random.Generator) -> Iterator[Proposed]:
    """What is too large made smaller; what holds, carries or is to cover it made larger."""
    for finding in findings:
        named = view.subjects([finding])
        if finding.code == "geometry.too_large" and len(named) > 1:
            yield from _fitting(view, named[0], named[1])
        if finding.code in ("logic.no_plan", "reach.no_grasp") and named:
            yield from _slimmer(view, named[0], finding)
        holders = [*named[1:], *(view.items[t.place] for t in view.needs.targets if named and t.item == named[0].id)]
        holders += [view.items[i.parent] for i in named[:1] if i.parent is not None]
        larger = [i for i in dict.fromkeys(h.id for h in holders) if _holds(view, view.items[i])]
        smaller = [i.id for i in named if not i.fixed]
        if len(named) > 1 and (matter := assets.build(named[0].asset).matter) is not None and matter.kind == "cloth":
            larger, smaller = smaller[:1], smaller[1:]  # what is to be laid over the other
        crowd = _crowd(view, named[0]) if named else []
        for down in SMALLER:
            less = [edit for name in crowd if (edit := _scaled(view.items[name], down)) is not None]
            if len(less) > 1:
                yield tuple(less), f"make {', '.join(e.item for e in less)} smaller ({down:g} times)"
        for up, down in zip(LARGER, SMALLER, strict=True):
            for names, factor in ((larger, up), (smaller, down)):
                for name in names:
                    if (edit := _scaled(view.items[name], factor)) is not None:
                        yield (edit,), f"make {name} {'larger' if factor > 1 else 'smaller'} ({factor:g} times)"


def _crowd(view: View, thing: Item) -> list[str]:
    """Things that are to go to the same place as a thing, itself included."""
    places = {(t.place, t.relation) for t in view.needs.targets if t.item == thing.id}
    return list(dict.fromkeys(t.item for t in view.needs.targets if (t.place, t.relation) in places))


def _fitting(view: View, thing: Item, holder: Item) -> Iterator[Proposed]:
    """The least change of one dimension of a holder with which a thing fits into it; the thing as small as it has to be."""
    target = next((t for t in view.needs.targets if (t.item, t.place) == (thing.id, holder.id)), None)
    if target is None or target.relation != "inside":
        return
    fault = fault_of(target, view.assets)
    if fault is None or fault.value is None:
        return
    for growth in GROWTHS:
        for name, param in categories()[holder.asset.category].params.items():
            now = holder.asset.params.get(name, param.default)
            if isinstance(now, bool) or not isinstance(now, float) or param.unit != "m" or param.high is None:
                continue
            changed = {name: round(min(now * growth, param.high), 4)}
            spec = holder.asset.model_copy(update={"params": {**holder.asset.params, **changed}})
            if changed[name] > now and fault_of(target, {**view.assets, holder.id: assets.build(spec)}) is None:
                said = name.replace("_", " ")
                edit = Resize(item=holder.id, size=holder.asset.size, params=changed)
                yield (edit,), f"make the {said} of {holder.id} {100 * changed[name]:.1f} cm, so that {thing.id} fits"
    size = float(max(view.assets[thing.id].size))
    factor = round(1.0 - (fault.value + SPARE) / size, 3)
    if not thing.fixed and LEAST <= factor < 1.0 and (less := _scaled(thing, factor)) is not None:
        yield (less,), f"make {thing.id} as small as it has to be ({factor:g} times)"


def _slimmer(view: View, thing: Item, finding: Finding) -> Iterator[Proposed]:
    """One measure of a thing made as much smaller as a hand needs that it is too wide for, whatever its size is called."""
    if thing.fixed or finding.value is None or finding.limit is None or finding.value <= finding.limit:
        return
    most = finding.limit - SPARE
    for name, param in categories()[thing.asset.category].params.items():
        now = thing.asset.params.get(name, param.default)
        if isinstance(now, bool) or not isinstance(now, float) or param.unit != "m" or param.low is None or now <= most:
            continue
        less = round(max(now * most / finding.value, param.low, LEAST * now), 4)
        changed = {**thing.asset.params, name: less}
        grasps = assets.build(thing.asset.model_copy(update={"params": changed})).affordances.grasps
        if grasps and min(grasp.width for grasp in grasps) <= finding.limit:
            edit = Resize(item=thing.id, size=thing.asset.size, params={name: less})
            yield (edit,), f"make the {name.replace('_', ' ')} of {thing.id} {100 * less:.1f} cm, so that a hand takes it"


def _holds(view: View, item: Item) -> bool:
    if item.id not in view.assets:
        return False
    affordances = view.assets[item.id].affordances
    return bool(affordances.cavities or affordances.supports)


def _scaled(item: Item, factor: float) -> Resize | None:
    spec = scaled(item.asset, factor)
    changed = {name: value for name, value in spec.params.items() if item.asset.params.get(name) != value}
    return Resize(item=item.id, size=spec.size, params=changed) if changed else None


def swap(view: View, findings: tuple[Finding, ...], rng: np.random.Generator) -> Iterator[Proposed]:
    """Things built another way (a book that lies), then of another kind, where the words leave it open; what lies about may be
    anything of its size or smaller."""
    for item in view.subjects(findings):
        for name, param in categories()[item.asset.category].params.items():
            if isinstance(param.default, bool):
                value = not item.asset.params.get(name, param.default)
                spec = item.asset.model_copy(update={"params": {**item.asset.params, name: value}})
                yield (SwapAsset(item=item.id, asset=spec),), f"let {item.id} be {'' if value else 'not '}{name}"
    unneeded = {item.id for item in view.unneeded()}
    surface = view.surface()
    for item in view.subjects(findings):
        names = sorted(view.free_choice(item))
        if not names and item.id in unneeded and item.id not in view.asked:
            names = _alike(item)
        elif not names and surface is not None and item.id == surface.id and item.id not in view.asked:
            names = [name for name in SURFACES if name != item.asset.category]
        for k in rng.permutation(len(names)):
            name = names[int(k)]
            color = item.asset.color if item.asset.color in categories()[name].colors else None
            wanted = view.asked.get(item.id)
            if wanted is not None and wanted.color is not None and color is None:
                continue
            yield (SwapAsset(item=item.id, asset=AssetSpec(category=name, color=color)),), f"let {item.id} be a {name}"


def _alike(item: Item) -> list[str]:
    """Categories of free things no larger than an item."""
    size = assets.build(item.asset).size
    return [
        name for name, category in categories(imported=False).items()
        if category.role != "furniture" and name != item.asset.category
        and bool((assets.build(AssetSpec(category=name)).size <= size + 1e-6).all())
    ]  # fmt: skip


def add(view: View, findings: tuple[Finding, ...], rng: np.random.Generator) -> Iterator[Proposed]:
    """A flat carrier for a thing that must start somewhere else than where it is to end."""
    surface = view.surface()
    if surface is None:
        return
    taken = {item.asset.category for item in view.scene.items}
    for item in view.first(findings):
        if item.fixed or item.id not in view.assets:
            continue
        need = float(np.hypot(*view.assets[item.id].size[:2])) + 0.02
        for name, category in categories(imported=False).items():
            if category.role == "furniture" or name in taken:
                continue
            supports = assets.build(AssetSpec(category=name)).affordances.supports
            if supports and min(supports[0].size) >= need:
                carrier = Item(id=name, asset=AssetSpec(category=name), parent=surface.id)
                starts = ChangeSupport(item=item.id, parent=name, relation="on", support=supports[0].name)
                yield (AddItem(item=carrier), starts), f"add a {name} for {item.id} to start on"


def remove(view: View, findings: tuple[Finding, ...], rng: np.random.Generator) -> Iterator[Proposed]:
    """Things that the task does not need and the words do not ask for: those named, those near what is named, then any."""
    spare = {item.id: item for item in view.unneeded() if item.id not in view.asked}
    named = view.subjects(findings)
    ranked = [i.id for i in named] + [n.id for i in named for n in view.neighbours(i)]
    ranked += [item.id for item in sorted(spare.values(), key=lambda i: -_area(view, i))]
    for name in dict.fromkeys(ranked):
        if name in spare:
            yield (RemoveItem(item=name),), f"take {name} away"


def _area(view: View, item: Item) -> float:
    return float(np.prod(view.assets[item.id].size[:2])) if item.id in view.assets else 0.0
