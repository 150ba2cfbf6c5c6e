"""Things that the start puts before furniture whose doors or drawers the task moves: the robot has to put them elsewhere first.

They alone may stand where a door swings and where the hand goes with its handle.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from embodiedsmith import assets
from embodiedsmith.assets.asset import Asset
from embodiedsmith.forge.layout import fit
from embodiedsmith.forge.layout.gaps import CLEAR, FINGERS
from embodiedsmith.forge.layout.prisms import Kind, Prism, grown
from embodiedsmith.spec import AssetSpec, Item, Randomization, Scenario

if TYPE_CHECKING:
    from embodiedsmith.forge.layout.attempt import Attempt
    from embodiedsmith.forge.layout.needs import Needs

MOVES = frozenset({Kind.SWING, Kind.IDLE, Kind.HAND})
SMALLER = (1.0, 0.92, 0.85, 0.78, 0.7)  # factors tried for a thing before the surface is left too shallow for it
FARTHEST = {False: 0.36, True: 0.28}
"""[m] of depth before furniture, by whether the hand goes into it, beyond which its handles or insides get out of reach: things
are made smaller for less."""
FREEDOM = 0.06  # [m] by which the depth of a surface exceeds what just suffices
REAR = 0.03  # [m] behind furniture


def shared(needs: Needs, prisms: list[Prism], placed: list[Prism]) -> NDArray[np.bool_]:
    """Which prisms may share space because one belongs to a thing that is cleared out of the other's way, shape (n, placed)."""
    pairs = set(needs.cleared)

    def may(a: Prism, b: Prism) -> bool:
        return (a.owner, b.owner) in pairs and a.kind == Kind.FREE and b.kind in MOVES

    return np.array([[may(p, q) or may(q, p) for q in placed] for p in prisms], dtype=bool).reshape(len(prisms), len(placed))


def deepened(scenario: Scenario, built: dict[str, Asset], needs: Needs) -> tuple[Scenario, dict[str, Asset]]:
    """The scenario with surfaces deep enough for furniture with a thing before it, and that thing small enough for them.

    Only sizes that were left to us change, and only of what has no place yet; what does not fit even so is left to the layout.
    """
    for name, owner in needs.cleared:
        thing, furniture = scenario.scene.item(name), scenario.scene.item(owner)
        if furniture.parent is None or thing.parent != furniture.parent or thing.relation != "on":
            continue
        surface = scenario.scene.item(furniture.parent)
        entered = any(p.item == owner and p.cavity is not None for p in needs.parts)
        for factor in SMALLER:
            smaller = fit.scaled(thing.asset, factor) if thing.pose is None else thing.asset
            room = _room(assets.build(smaller), scenario.randomization)
            deeper = _surface(surface, room + float(built[owner].size[0]) + REAR + FREEDOM)
            if deeper is not None and room <= FARTHEST[entered]:
                break
        if deeper is None:
            continue
        changed = {name: smaller, surface.id: deeper}
        scene = scenario.scene
        for key, spec in changed.items():
            if spec != scene.item(key).asset:
                scene = scene.with_item(scene.item(key).model_copy(update={"asset": spec}))
                built = {**built, key: assets.build(spec)}
        scenario = scenario.model_copy(update={"scene": scene})
    return scenario, built


def things(needs: Needs, furniture: str) -> tuple[str, ...]:
    """What is to stand before a piece of furniture and is cleared out of its way."""
    return tuple(thing for thing, other in needs.cleared if other == furniture)


def room(attempt: Attempt, item: str) -> float:
    """Depth [m] to be kept between furniture and the edge before it for what is to stand there."""
    there = [attempt.built[thing] for thing in things(attempt.needs, item)]
    return max((_room(asset, attempt.scenario.randomization) for asset in there), default=0.0)


def _room(thing: Asset, vary: Randomization) -> float:
    """Depth [m] that a thing with its shorter side that way takes with the gap to what is behind it, however it varies."""
    x, y = sorted(float(v) / 2 for v in thing.size[:2])
    return 2 * grown((x, y), vary.yaw)[0] + FINGERS[0] + CLEAR + 2 * vary.position


def _surface(surface: Item, depth: float) -> AssetSpec | None:
    """The surface built at least so deep; None when it cannot be."""
    param = assets.category(surface.asset.category).params.get("depth")
    now = None if param is None else surface.asset.params.get("depth", param.default)
    if param is None or not isinstance(now, float) or param.high is None:
        return None
    if now >= depth:
        return surface.asset
    if surface.pose is not None or surface.asset.size != "medium" or param.high < depth:
        return None
    return surface.asset.model_copy(update={"params": {**surface.asset.params, "depth": depth}})
