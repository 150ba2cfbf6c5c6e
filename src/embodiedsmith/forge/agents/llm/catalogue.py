"""The catalogue in words, for a model to choose from: things, their parts, predicates, robots."""

from __future__ import annotations

from functools import cache

from embodiedsmith import embodiments
from embodiedsmith.assets import Category, build, categories
from embodiedsmith.forge.agents.parts import part_names
from embodiedsmith.spec import AssetSpec
from embodiedsmith.spec.scene import ParamValue
from embodiedsmith.tasks.registry import predicate, predicate_names

_WORDS = 5
"""Words given for a category in each language."""


def count_name(category: Category) -> str | None:
    """The parameter that says how many drawers, boards or doors a category has; None: it is not to be chosen."""
    return next((n for n, p in category.params.items() if isinstance(p.default, int) and not isinstance(p.default, bool)), None)


def params_of(category: str, parts: int | None) -> dict[str, ParamValue]:
    """Parameters that give a category so many parts; none where it has nothing to count."""
    name = count_name(categories()[category])
    return {} if parts is None or name is None else {name: parts}


@cache
def things() -> str:
    """A line for each category."""
    return "\n".join(_line(name, category) for name, category in categories().items())


@cache
def goals() -> str:
    """A line for each predicate."""
    lines = []
    for name in predicate_names():
        kind = predicate(name)
        roles = ", ".join(f"{role.name}: {role.need}" for role in kind.roles)
        numbers = "; ".join(
            f"{n} [{p.unit}] {p.meaning}{' (must be given)' if p.default is None else f' ({p.default:.3g})'}"
            for n, p in kind.params.items()
        )
        said = kind.words["en"].do
        for place, role in enumerate(kind.roles):
            said = said.replace(f"{{{place}}}", f"<{role.name}>")
        lines.append(f"- {name}({roles}): {said}{' | numbers: ' + numbers if numbers else ''}")
    return "\n".join(lines)


@cache
def robots() -> str:
    """A line for each robot."""
    lines = []
    for name in embodiments.names():
        base = embodiments.get(name).base.kind
        lines.append(f"- {name}: {'drives about' if base == 'planar' else 'stands where it is put'}")
    return "\n".join(lines)


def _line(name: str, category: Category) -> str:
    asset = build(AssetSpec(category=name))
    parts = [part for part in part_names(asset) if part not in ("top", "inside")]
    facts = [
        category.role,
        f"words {', '.join((*category.names['en'][:_WORDS], *category.names['zh'][:_WORDS]))}",
        f"groups {', '.join(sorted(category.tags))}" if category.tags else "",
        f"colors {', '.join(category.colors)}",
        f"materials {', '.join(category.materials)}",
        f"parts {', '.join(parts)}" if parts else "",
        f"opens {', '.join(asset.joints)}" if asset.joints else "",
        f"counts {_range(category)}" if count_name(category) else "",
        "carries things" if asset.affordances.supports else "",
        "holds things inside" if asset.affordances.cavities else "",
        "x".join(f"{100 * side:.0f}" for side in asset.size) + " cm",
    ]
    return f"- {name}: {'; '.join(fact for fact in facts if fact)}"


def _range(category: Category) -> str:
    name = count_name(category)
    param = category.params[name or ""]
    return f"{name} {param.low:.0f} to {param.high:.0f}" if param.low is not None and param.high is not None else str(name)
