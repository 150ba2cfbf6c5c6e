"""`reoriented(item)`: the item has been turned in the hand that it lies in, about the vertical, by an angle; in all axes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import mujoco
import numpy as np

from embodiedsmith.spec import Language
from embodiedsmith.tasks.boxes import Box
from embodiedsmith.tasks.cradling import carried_by_robot
from embodiedsmith.tasks.kind import APART, TOUCH, Args, Assets, Bound, NearMiss, Param, Params, PredicateKind, Role, Words
from embodiedsmith.tasks.near_misses import SIDES, UP, posed
from embodiedsmith.tasks.probe import Probe
from embodiedsmith.world import World
from embodiedsmith.world import transforms as tf

MOST = 2.1
"""[rad] Largest turn asked for at once."""
LEAST = 0.35
"""[rad] Smallest one: twice what may be off."""
TIPPED = 0.06
"""[rad] By which a near miss is tipped beyond what may be off."""


def bind(probe: Probe, args: Args, params: Params) -> Bound:
    """Margin [m]: the way of a corner of the item by which it might be turned farther off, `TOUCH` at most while only the robot
    carries it; else minus its distance from the tool.

    How far it is off counts the whole orientation, from the one at the start turned by `angle` about the vertical. Before any
    start: from the one it was laid out in.
    """
    world, item = probe.world, args[0]
    frame = probe.frame(item)
    carried, box, tcp = carried_by_robot(world, item), Box(probe, item), probe.tcp_position(0)
    radius = reach_of(world, item)
    R_turn = tf.turn_z(params["angle"])[:3, :3]
    R_goal = R_turn @ world.compiled.nominal[item][:3, :3]

    def margin() -> float:
        cosine = (float(np.vdot(R_goal, frame()[0])) - 1.0) / 2
        slack = radius * (params["within"] - math.acos(min(1.0, max(-1.0, cosine))))
        return min(slack, TOUCH) if carried() else min(slack, -max(box.distance(tcp), APART))

    def reset() -> None:
        nonlocal R_goal
        R_goal = R_turn @ frame()[0]

    return Bound(margin, reset)


def reach_of(world: World, item: str) -> float:
    """Distance of the farthest corner of an item's box from its middle [m]."""
    return 0.5 * float(np.linalg.norm(world.assets[item].size))


def check(assets: Assets, args: Args, params: Params) -> list[str]:
    """It must be rigid, lie between fingers, and be turned by an angle that one can see."""
    size = assets[args[0]].size
    faults = []
    if assets[args[0]].matter is not None:
        faults.append(f"'{args[0]}' has no firm shape: it cannot be turned in the hand")
    elif max(size) > 0.075 or min(size) < 0.055:
        faults.append(f"'reoriented' needs something 55 to 75 mm long, wide and high; '{args[0]}' is not")
    if not LEAST <= abs(params["angle"]) <= MOST:
        faults.append(f"'reoriented' needs an angle of {LEAST:g} to {MOST:g} rad either way, not {params['angle']:g}")
    if not 0.0 < params["within"] < LEAST:
        faults.append(f"'reoriented' needs 'within' above 0 and below {LEAST:g} rad, not {params['within']:g}")
    return faults


def near_misses(world: World, args: Args, params: Params) -> Iterator[NearMiss]:
    """Turned too little or too far, the other way, tipped on the way, about another axis, and out of the hand."""
    (item,) = args
    T, angle, within = world.item_pose(item), params["angle"], params["within"]
    middle = T[:3, 3] + T[:3, :3] @ np.mean(world.assets[item].extents, axis=0)
    off, sign = within + TIPPED, math.copysign(1.0, angle)

    def turned(name: str, axis: np.ndarray, by: float) -> NearMiss:
        return posed(name, item, tf.translate(middle) @ tf.turn(axis, by) @ tf.translate(-middle) @ T)

    yield turned("not turned", UP, -angle)
    yield turned("turned half-way", UP, -angle / 2)
    yield turned("turned too little", UP, -sign * 2 * within - sign * TIPPED)
    yield turned("turned too far", UP, sign * 2 * within + sign * TIPPED)
    yield turned("turned the other way", UP, -2 * angle)
    for name, (x, y) in SIDES:
        yield turned(f"tipped about {name}", np.array([x, y, 0.0]), 2 * off)
    yield turned("on its side, as far about another axis", np.array([1.0, 0.0, 0.0]), math.pi / 2)
    yield NearMiss("turned right, and lost: beside the hand", lambda world: _beside(world, item))


def _beside(world: World, item: str) -> None:
    """Put the item clear of the hand, at the height of the hand and turned as it is."""
    away = np.array([0.0, 0.0, 0.25])
    at = world.items[item].qpos
    world.data.qpos[at : at + 3] += away
    mujoco.mj_forward(world.model, world.data)


def _phrases(params: Params, language: Language) -> Mapping[str, str]:
    degrees = f"{abs(math.degrees(params['angle'])):.0f}"
    way = {"en": "", "zh": ""} if params["angle"] > 0 else {"en": " clockwise", "zh": "顺时针"}
    return {"degrees": degrees, "way": way[language]}


PREDICATE = PredicateKind(
    name="reoriented",
    roles=(Role("item", "movable"),),
    params={
        "angle": Param(math.pi / 2, "rad", "turn about the vertical since the start, anticlockwise seen from above"),
        "within": Param(math.radians(10.0), "rad", "most by which the whole orientation may be off"),
    },
    bind=bind,
    check=check,
    near_misses=near_misses,
    phrases=_phrases,
    said_last=2,
    words={
        "en": Words(
            "rotate {0} in the hand by {degrees} degrees{way}",
            "turn {0} in the hand back",
            ("rotate", "turn", "spin", "reorient"),
            marks=("in the hand", "in your hand", "in hand", "in the palm"),
        ),
        "zh": Words(
            "把手里的{0}{way}旋转{degrees}度", "把手里的{0}转回去", ("旋转", "转动", "转"), marks=("手里", "手中", "手上", "手心")
        ),
    },
)  # fmt: skip
