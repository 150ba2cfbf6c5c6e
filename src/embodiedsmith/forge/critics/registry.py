"""The critics there are, how they review together, and what could cure what they find."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable
from functools import cache
from itertools import groupby

from embodiedsmith.forge.critics.base import Context, Critic, Verdict, measured
from embodiedsmith.spec import EditKind, Finding

_NOT_CRITICS = ("base", "registry")
LAYOUT_CODES: dict[str, tuple[EditKind, ...]] = {
    "geometry.no_space": ("move", "remove", "change_support", "resize", "swap_asset", "move_base", "change_embodiment"),
    "geometry.out_of_reach": ("move_base", "move", "change_support", "swap_asset", "change_embodiment"),
    "layout.cannot_build": ("swap_asset", "resize", "remove"),
}
"""Codes that only the layout gives, with what could cure them; it shares the others with critics."""


@cache
def critics() -> tuple[Critic, ...]:
    """Every critic, from cheap to dear; a name or code used twice is a ValueError."""
    from embodiedsmith.forge import critics as package

    modules = [info.name for info in pkgutil.iter_modules(package.__path__) if info.name not in _NOT_CRITICS]
    found: list[Critic] = [importlib.import_module(f"{package.__name__}.{name}").CRITIC for name in modules]
    names = [c.name for c in found]
    codes = [*LAYOUT_CODES, *(code for c in found for code in c.codes)]
    repeated = sorted({n for n in names if names.count(n) > 1} | {c for c in codes if codes.count(c) > 1})
    if repeated:
        raise ValueError(f"critics use names or codes twice: {repeated}")
    return tuple(sorted(found, key=lambda c: (c.tier, c.name)))


@cache
def _cures() -> dict[str, tuple[EditKind, ...]]:
    cures = dict(LAYOUT_CODES)
    for critic in critics():
        cures |= critic.codes
    return cures


def cures_of(code: str) -> tuple[EditKind, ...]:
    """Kinds of edit that could cure a finding of that code, the likeliest first; none for a code that nobody declares."""
    return _cures().get(code, ())


def with_cures(findings: Iterable[Finding]) -> list[Finding]:
    """The findings, each with what could cure it, unless it says so itself."""
    return [f if f.cures else f.model_copy(update={"cures": cures_of(f.code)}) for f in findings]


def review(context: Context, *, among: Iterable[Critic] | None = None) -> Verdict:
    """Let critics review from cheap to dear; stop after the first tier in which one finds an error."""
    verdict = Verdict()
    chosen = sorted(critics() if among is None else among, key=lambda c: (c.tier, c.name))
    for _, tier in groupby(chosen, key=lambda c: c.tier):
        for critic in tier:
            with measured(context.costs, critic.name) as cost:
                simulated, plans = context.simulated, context.plans
                found = with_cures(critic.review(context))
                cost.simulated += context.simulated - simulated
                cost.plans += context.plans - plans
            verdict.findings += found
            if any(f.severity == "error" for f in found):
                cost.rejections += 1
            else:
                verdict.passed.append(critic.name)
        if not verdict.accepted:
            break
    return verdict
