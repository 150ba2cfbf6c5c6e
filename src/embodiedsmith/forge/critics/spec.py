"""Names: do all the categories, parameters, robots, predicates and references exist, and do they go together?"""

from __future__ import annotations

import re
from collections.abc import Mapping

from embodiedsmith import embodiments
from embodiedsmith.forge.critics.base import Context
from embodiedsmith.forge.layout import fit, needs
from embodiedsmith.runtime.errors import SmithError
from embodiedsmith.spec import EditKind, Finding, Item, predicates
from embodiedsmith.tasks import goal_faults
from embodiedsmith.world import CompileError


class SpecCritic:
    """Judges what shows without placing or simulating anything."""

    name = "spec"
    tier = 0
    on_draft = True
    codes: Mapping[str, tuple[EditKind, ...]] = {
        "spec.asset": ("swap_asset", "resize", "remove"),
        "spec.robot": ("change_embodiment",),
        "spec.support": ("change_support", "swap_asset", "remove"),
        "spec.joint": ("swap_asset",),
        "spec.not_furniture": ("swap_asset", "remove"),
        "spec.goal": ("change_argument", "resize", "swap_asset", "add"),
    }

    def review(self, context: Context) -> list[Finding]:
        """Every fault of the scenario's names at once."""
        scenario = context.scenario
        findings: list[Finding] = []
        try:
            embodiments.get(scenario.embodiment.name)
        except SmithError as error:
            findings.append(Finding(code="spec.robot", subjects=(scenario.embodiment.name,), message=str(error)))
        try:
            built = context.assets
        except CompileError as error:
            faults = error.faults or (str(error),)
            return findings + [Finding(code="spec.asset", subjects=_named(context, f), message=f) for f in faults]
        for item in scenario.scene.items:
            findings += _support(item, context) + _joints(item, context)
        if any(item.pose is None for item in scenario.scene.items):  # judge it in the sizes that the layout will choose
            _, built, _ = fit.resized(scenario, built, needs.read(scenario, built))
        for fault in goal_faults(scenario.task.goal, built):
            findings.append(Finding(code="spec.goal", subjects=_named(context, fault), message=fault))
        return findings


def _named(context: Context, fault: str) -> tuple[str, ...]:
    """References and items of the scenario that a fault speaks of."""
    scenario = context.scenario
    references = [a for p in predicates(scenario.task.goal) for a in p.args] + [item.id for item in scenario.scene.items]
    return tuple(r for r in dict.fromkeys(references) if re.search(rf"(?<![\w.]){re.escape(r)}(?![\w.]*\w)", fault))


def _support(item: Item, context: Context) -> list[Finding]:
    if item.relation == "held" and embodiments.get(context.scenario.embodiment.name).cradle is None:
        message = f"'{item.id}' is held: {context.scenario.embodiment.name} has no hand that things lie in"
        return [Finding(code="spec.support", subjects=(item.id,), message=message)]
    if item.parent is None:
        return []
    affordances = context.assets[item.parent].affordances
    places = [c.name for c in affordances.cavities] if item.relation == "inside" else [s.name for s in affordances.supports]
    what = "cavity" if item.relation == "inside" else "support"
    if item.relation == "attached" and item.support is None:
        return []
    if not places:
        return [
            Finding(
                code="spec.support", subjects=(item.id, item.parent), message=f"'{item.parent}' has no {what} for '{item.id}'"
            )
        ]
    if item.support is not None and item.support not in places:
        message = f"'{item.parent}' has no {what} '{item.support}' for '{item.id}'; it has {places}"
        return [Finding(code="spec.support", subjects=(item.id, item.parent), message=message)]
    return []


def _joints(item: Item, context: Context) -> list[Finding]:
    asset = context.assets[item.id]
    findings = []
    unknown = sorted(set(item.joints) - set(asset.joints))
    if unknown:
        message = f"'{item.id}' has no joints {unknown}; it has {sorted(asset.joints)}"
        findings.append(Finding(code="spec.joint", subjects=(item.id,), message=message))
    if asset.fixed and not item.fixed:
        message = f"'{item.id}' is furniture: it must be fixed"
        findings.append(Finding(code="spec.not_furniture", subjects=(item.id,), message=message))
    return findings


CRITIC = SpecCritic()
