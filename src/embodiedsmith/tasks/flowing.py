"""What predicates about liquids and grains share: which vessels hold how much, and states in which it is elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache

import numpy as np

from embodiedsmith.assets import build
from embodiedsmith.spec import AssetSpec, split_reference
from embodiedsmith.tasks.kind import Assets, NearMiss, cavities
from embodiedsmith.tasks.probe import Float, Probe
from embodiedsmith.world import World
from embodiedsmith.world.liquid.vessel import wall_fault

UPWARDS = 0.7
"""Least cosine between the vertical and the way out of a cavity that holds what flows."""


def is_liquid(assets: Assets, item: str) -> bool:
    """Whether an item is liquid."""
    matter = assets[item].matter
    return matter is not None and matter.kind == "liquid"


def flows(assets: Assets, item: str) -> bool:
    """Whether an item is liquid or grains."""
    matter = assets[item].matter
    return matter is not None and matter.kind in ("liquid", "grains")


def vessels(world: World, reference: str) -> list[str]:
    """The cavities, as `item.cavity`, that one can mean by an item or a part of it and that hold what flows."""
    item, part = split_reference(reference)
    return [f"{item}.{c.name}" for c in cavities(world.assets[item], part) if c.opening[2] > UPWARDS]


def all_vessels(world: World) -> list[str]:
    """Every cavity of the scene that holds what flows."""
    return [vessel for item in world.assets for vessel in vessels(world, item)]


def vessel_faults(assets: Assets, reference: str, *, liquid: bool) -> list[str]:
    """Why nothing, or no liquid, can be poured into a thing, from its affordances and its walls."""
    item, part = split_reference(reference)
    asset = assets[item]
    open_above = [c for c in cavities(asset, part) if c.opening[2] > UPWARDS and c.joint is None]
    if not open_above:
        return [f"'{reference}' cannot be poured into: it is not open above"]
    thin = [_wall_fault(item, asset.spec.to_json(), c.name) for c in open_above] if liquid else []
    return thin[:1] if all(thin) else []


@lru_cache(maxsize=64)
def _wall_fault(item: str, spec_json: str, cavity: str) -> str:
    asset = build(AssetSpec.from_json(spec_json))
    return wall_fault(item, asset, asset.affordances.cavity(cavity))


def share_in(probe: Probe, item: str, references: list[str]) -> Callable[[], float]:
    """What gives the share of something that flows that is in any of some cavities now."""
    flow = probe.world.flow
    return lambda: sum(flow.share(item, reference) for reference in references)


def moved_to(name: str, item: str, points: Float) -> NearMiss:
    """Something that flows at world points (n, 3) [m]."""
    return NearMiss(name, lambda world: world.flow.put(item, points))


def elsewhere(world: World, item: str, reference: str) -> Iterator[tuple[str, Float]]:
    """Places (n, 3) for the whole of something that flows, with what they are called, none in a vessel named `item.cavity`.

    Floating over it, in a ring round its foot, beside it, under it, on the floor, and back in what it was in.
    """
    flow = world.flow
    vessel, T_body = flow.vessel(reference)
    origin, T = T_body[:3, 3], T_body @ vessel.T_body_cavity
    cavity = world.cavity(reference)[0]
    points = flow.points(item)
    local = points - points.mean(axis=0)
    count = len(points)
    wide = float(max(vessel.grid.values.shape[:2])) * vessel.grid.cell / 2
    angle = np.arange(count) * 2.399963  # the golden angle
    ring = np.stack([np.cos(angle), np.sin(angle), 0.0 * angle], axis=1)
    base = origin + np.array([0.0, 0.0, 0.003])
    yield "hanging over it", T[:3, 3] + T[:3, 2] * (cavity.size[2] + 0.5 * float(np.ptp(local[:, 2])) + 0.02) + local
    yield "on the ground all round it", base + ring * (wide + 0.01 * (np.arange(count) % 7)[:, None])
    yield "in a puddle beside it", base + [2 * wide, 0.0, 0.0] + 0.05 * ring * np.sqrt(np.linspace(0, 1, count))[:, None]
    yield "under it", base - [0.0, 0.0, 0.05] + 0.02 * ring
    yield "on the floor", base * [1.0, 1.0, 0.0] + [3 * wide, 0.0, 0.003] + 0.1 * ring
    first = flow.first(item)
    if first is not None and first != reference and (back := flow.packed(item, first)) is not None:
        yield "still in what it was in", back
