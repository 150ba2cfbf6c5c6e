"""The critics there are, and how they review together."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable
from functools import cache
from itertools import groupby

from embodiedsmith.forge.critics.base import Context, Critic, Verdict, measured

_NOT_CRITICS = ("base", "registry")


@cache
def critics() -> tuple[Critic, ...]:
    """Every critic, from cheap to dear; a name or code used twice is a ValueError."""
    from embodiedsmith.forge import critics as package

    modules = [info.name for info in pkgutil.iter_modules(package.__path__) if info.name not in _NOT_CRITICS]
    found: list[Critic] = [importlib.import_module(f"{package.__name__}.{name}").CRITIC for name in modules]
    names = [c.name for c in found]
    codes = [code for c in found for code in c.codes]
    repeated = sorted({n for n in names if names.count(n) > 1} | {c for c in codes if codes.count(c) > 1})
    if repeated:
        raise ValueError(f"critics use names or codes twice: {repeated}")
    return tuple(sorted(found, key=lambda c: (c.tier, c.name)))


def review(context: Context, *, among: Iterable[Critic] | None = None) -> Verdict:
    """Let critics review from cheap to dear; stop after the first tier in which one finds an error."""
    verdict = Verdict()
    chosen = sorted(critics() if among is None else among, key=lambda c: (c.tier, c.name))
    for _, tier in groupby(chosen, key=lambda c: c.tier):
        for critic in tier:
            with measured(context.costs, critic.name) as cost:
                found = critic.review(context)
            verdict.findings += found
            if any(f.severity == "error" for f in found):
                cost.rejections += 1
            else:
                verdict.passed.append(critic.name)
        if not verdict.accepted:
            break
    return verdict
