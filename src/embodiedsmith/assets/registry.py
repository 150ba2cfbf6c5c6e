"""The catalogue: finds every category, those that the user imported among them, and builds assets from specs."""

from __future__ import annotations

import dataclasses
import importlib
import pkgutil
from functools import cache, lru_cache

from embodiedsmith.assets.asset import Asset
from embodiedsmith.assets.category import Category, UnknownCategory
from embodiedsmith.assets.imported import store
from embodiedsmith.assets.imported.category import as_category
from embodiedsmith.spec import AssetSpec


@cache
def _catalogue() -> dict[str, Category]:
    from embodiedsmith.assets import catalogue

    found: dict[str, Category] = {}
    for module_info in sorted(pkgutil.iter_modules(catalogue.__path__), key=lambda info: info.name):
        module = importlib.import_module(f"{catalogue.__name__}.{module_info.name}")
        register(found, module.CATEGORY)
    return found


def register(catalogue: dict[str, Category], category: Category) -> None:
    """Add a category to a catalogue; raises ValueError when its name, or one of its words, is already taken."""
    faults = []
    if category.name in catalogue:
        faults.append(f"the name '{category.name}' is taken")
    for language, words in category.names.items():
        for other in catalogue.values():
            taken = sorted(set(words) & set(other.names.get(language, ())))
            if taken and other.name != category.name:
                faults.append(f"{language} words {taken} already mean '{other.name}'")
    if faults:
        raise ValueError(f"category '{category.name}': " + "; ".join(faults))
    catalogue[category.name] = category


def categories(*, imported: bool = True) -> dict[str, Category]:
    """Every category by name, in alphabetical order of their files, then what was imported.

    Whoever draws from the catalogue takes `imported=False`: what a user imported must not change what others get for a seed.
    """
    known = dict(_catalogue())
    if imported:
        known |= {kept.category: as_category(kept) for kept in store.load_all()}
    return known


def category(name: str) -> Category:
    """The category of that name; raises `UnknownCategory` with near matches and all valid names."""
    if (found := _catalogue().get(name)) is not None:
        return found
    known = categories()
    if name not in known:
        raise UnknownCategory(name, known, [new for new in known if known[new].imported and store.same_thing(name, new)])
    return known[name]


def build(spec: AssetSpec) -> Asset:
    """Build an asset. Pure and deterministic; equal specs share the work.

    Returns:
        An asset whose `mjspec` is the caller's own copy, ready for one `attach(asset.mjspec, prefix=...)`; build again
        for a second one.

    Raises:
        UnknownCategory: with near matches.
        InvalidAsset: naming every fault of parameters, colour and material.
    """
    built = _build(spec.to_json())
    return dataclasses.replace(built, mjspec=built.mjspec.copy())


@lru_cache(maxsize=512)
def _build(spec_json: str) -> Asset:
    spec = AssetSpec.from_json(spec_json)
    chosen = category(spec.category)
    return chosen.build(spec, chosen.resolve(spec))
