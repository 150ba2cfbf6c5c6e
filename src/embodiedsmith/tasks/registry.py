"""The predicates there are: one file each in `tasks/predicates/`, found by looking."""

from __future__ import annotations

import functools
import importlib
import pkgutil

from embodiedsmith.runtime.errors import SmithError, unknown_name
from embodiedsmith.tasks import predicates as folder
from embodiedsmith.tasks.kind import PredicateKind


def predicate(name: str) -> PredicateKind:
    """The predicate called `name`; raises `UsageError` with near matches and the names there are."""
    known = _known()
    if name not in known:
        raise unknown_name("predicate", name, known)
    return known[name]


def predicate_names() -> tuple[str, ...]:
    """Names of all predicates, sorted."""
    return tuple(_known())


@functools.cache
def _known() -> dict[str, PredicateKind]:
    return collect(
        {
            module.name: getattr(importlib.import_module(f"{folder.__name__}.{module.name}"), "PREDICATE", None)
            for module in pkgutil.iter_modules(folder.__path__)
        }
    )


def collect(modules: dict[str, object]) -> dict[str, PredicateKind]:
    """Predicates by name, sorted, from what each module (by its name) calls `PREDICATE`.

    Raises:
        SmithError: a module has no `PREDICATE`, or two share a name; names every such module.
    """
    faults: list[str] = []
    kinds: dict[str, PredicateKind] = {}
    owner: dict[str, str] = {}
    for module, kind in sorted(modules.items()):
        if not isinstance(kind, PredicateKind):
            faults.append(f"predicates/{module}.py must define PREDICATE = PredicateKind(...)")
        elif kind.name in kinds:
            faults.append(f"predicates/{module}.py and predicates/{owner[kind.name]}.py both define '{kind.name}'; rename one")
        else:
            kinds[kind.name], owner[kind.name] = kind, module
    if faults:
        raise SmithError("the predicates do not fit together", faults=faults)
    return dict(sorted(kinds.items()))
