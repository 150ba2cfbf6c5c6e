"""`hung(cloth, bar)`: the cloth hangs over the bar, down on both sides of it and clear of the ground, and has been let go of."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from embodiedsmith.spec import split_reference
from embodiedsmith.tasks.cloths import hanging, laid, let_go, sides
from embodiedsmith.tasks.kind import APART, Args, Assets, Bound, NearMiss, Param, Params, PredicateKind, Role, Words
from embodiedsmith.tasks.near_misses import SLIP, UP
from embodiedsmith.tasks.probe import Float, Probe
from embodiedsmith.world import World

CLEAR = 0.01
"""[m] Above the foot of what it hangs on, that the cloth is at least."""


def bind(probe: Probe, args: Args, params: Params) -> Bound:
    """Margin [m]: the least of

    - by how much more than `drop` the cloth hangs below the bar's axis, on the side where it hangs less low,
    - how much higher than `CLEAR` above the foot of what it hangs on its lowest point is,
    - how far within the bar's ends the middle of what is at the bar is.

    While the two do not touch it is at most `-APART`; while the cloth is in a hand, at most `HELD`.
    """
    cloth, reference = args
    item, name = split_reference(reference)
    world = probe.world
    bar = world.assets[item].affordances.bar(name)
    sheet, data = world.sheets[cloth], world.data
    frame, contact, drop = probe.frame(item, bar.body), probe.pair(cloth, item), params["drop"]
    ground = world.assets[item].extents[0][2]

    def margin() -> float:
        R, p = frame()
        points, axis = sheet.points(data), R @ np.asarray(bar.axis)
        across = np.cross(axis, UP)
        away = points - (R @ np.asarray(bar.center) + p)
        side = away @ across
        down = min(_down(away[side > 0]), _down(away[side < 0])) - drop
        clear = float(points[:, 2].min()) - sheet.radius - float(p[2]) - ground - CLEAR
        near = np.abs(side) <= max(float(np.abs(side).min()), 2 * (bar.radius + sheet.radius))
        within = bar.length / 2 - abs(float((away[near] @ axis).mean()))
        found = min(down, clear, within)
        return found if contact in probe.pairs else min(found, -APART)

    return let_go(probe, cloth, margin)


def _down(away: Float) -> float:
    """How far below the bar's axis the lowest of some points (n, 3), told from it, is [m]; without any, it is at its level."""
    return -float(away[:, 2].min(initial=0.0))


def check(assets: Assets, args: Args, params: Params) -> list[str]:
    """A cloth must be narrower than the bar is long, and its halves shorter than the bar is high."""
    cloth, (item, name) = assets[args[0]], split_reference(args[1])
    bar, short = assets[item].affordances.bar(name), min(sides(cloth))
    height = bar.center[2] - assets[item].extents[0][2]
    faults = []
    if short > bar.length:
        faults.append(f"'{args[0]}' is {100 * short:.0f} cm wide and the bar of '{args[1]}' {100 * bar.length:.0f} cm long")
    if short / 2 + CLEAR > height:
        faults.append(f"'{args[0]}' hangs down to the ground from '{args[1]}', which is {100 * height:.0f} cm high")
    if not 0 < params["drop"] < short / 2:
        faults.append(f"'hung' needs a drop between 0 and {short / 2:.2f} m here, not {params['drop']:g}")
    return faults


def near_misses(world: World, args: Args, params: Params) -> Iterator[NearMiss]:
    """Too short on one side, only laid against the bar, all on one side, in the air over it, beyond its end, on the ground."""
    cloth, reference = args
    item, name = split_reference(reference)
    bar = world.assets[item].affordances.bar(name)
    x, y = sides(world.assets[cloth])
    quarter = np.pi / 2 * (bar.radius + world.sheets[cloth].radius)  # of the way round the bar
    half, drop = max(x, y) / 2, params["drop"]
    for side, sign in (("in front", 1.0), ("behind", -1.0)):
        for text, short in (("a little too short", drop - 0.005), ("half as far down as it should", drop / 2), ("hardly", 0.004)):
            yield laid(f"{text} {side}", cloth, hanging(world, cloth, reference, off=sign * (half - quarter - short)))
        yield laid(f"all of it {side}", cloth, hanging(world, cloth, reference, off=sign * (half + quarter)))
    hung = hanging(world, cloth, reference, off=0.0)
    yield laid("in the air over the bar", cloth, hung + SLIP * UP)
    yield laid("a hair above the bar", cloth, hung + 0.004 * UP)
    R = world.item_pose(item, bar.body)[:3, :3]
    yield laid("beyond the end of the bar", cloth, hung + (bar.length / 2 + 0.02) * (R @ np.asarray(bar.axis)))
    flat = hung.copy()
    flat[:, 2] = world.item_pose(item)[2, 3] + world.sheets[cloth].radius
    yield laid("on the ground under the bar", cloth, flat)
    yield laid("hanging down to the ground", cloth, hung - (float(np.min(hung[:, 2])) - float(flat[0, 2])) * UP)


PREDICATE = PredicateKind(
    name="hung",
    roles=(Role("cloth", "cloth"), Role("bar", "bar")),
    params={"drop": Param(0.04, "m", "least that it hangs below the bar's axis on either side", stricter_up=True)},
    bind=bind,
    check=check,
    lets_go=True,
    near_misses=near_misses,
    words={
        "en": Words("hang {0} on {1}", "take {0} off {1}", ("hang", "hang up")),
        "zh": Words("把{0}挂到{1}上", "把{0}从{1}上取下来", ("挂", "挂到", "挂在", "挂上", "晾")),
    },
)
