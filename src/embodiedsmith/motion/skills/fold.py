"""fold(cloth, place): fold a cloth in half where it lies, edge on edge.

One corner is carried halfway to the one it is to lie on, the other all the way, and then the first one the rest: were a corner
carried all the way at once, the sheet, which hardly stretches, would draw the other corner along. Then, as long as the goal's own
margin is not enough, the corner that is farthest off is carried there.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np

from embodiedsmith.motion.controller import Controller
from embodiedsmith.motion.errors import MotionError
from embodiedsmith.motion.operators import Operator, Step
from embodiedsmith.motion.pinching import arc, carry, pinch, reachable, release
from embodiedsmith.motion.skills import Skill
from embodiedsmith.spec import Predicate
from embodiedsmith.tasks.cloths import corners, sides
from embodiedsmith.tasks.registry import predicate
from embodiedsmith.world import transforms as tf

MOVES = 6
"""Times a corner is carried."""
SURE = 0.015
"""[m] Margin from which the cloth counts as folded: creases open more with time, and corners slid by up to 13 mm in 20 s."""
RISE = 0.35
"""Height of the way over, as a part of its length."""
HALF = 0.5
"""Part of the way that the first corner is carried at first."""
BEYOND = (0.04, 0.01)
"""[m] Farther than the other corner, for the crease springs back; less where that is out of reach."""
PUT = 0.012
"""[m] Above the pinch at which a corner is let go of: a layer lies below it now."""
WAIT = 8
"""Control steps for the cloth to come to rest."""

Pair = tuple[int, int]
"""A corner that is carried, and the one it is to lie on."""


def run(control: Controller, args: tuple[str, ...], upcoming: tuple[Step, ...]) -> None:
    """Carry corners until the cloth is folded."""
    item, _ = args
    if control.held is not None:
        raise MotionError("fold.hand_full", f"{control.held.item} is in the hand", subjects=(control.held.item,))
    world = control.world
    wanted = next((p for p in control.stages(control.stage)[0] if p.name == "folded" and p.args == (item,)), None)
    params = (wanted or Predicate(name="folded", args=(item,))).params

    def margin() -> float:
        return predicate("folded").margin(world, (item,), params)

    pairs, beyond = _first(control, item)
    first = ((pairs[0], HALF), (pairs[1], 1.0), (pairs[0], 1.0))
    for k in range(MOVES):
        points = world.matter(item)
        farthest = max(pairs, key=lambda p: float(np.linalg.norm(points[p[0]] - points[p[1]])))
        _turn_over(control, item, *(first[k] if k < len(first) else (farthest, 1.0)), beyond)
        control.wait(WAIT)
        if margin() > SURE:
            return
        if k + 1 >= len(first):
            control.session.note("recovery", (item,), f"{item} is not folded yet, margin {100 * margin():.1f} cm")
    if margin() <= 0:
        raise MotionError(
            "fold.effect", f"{item} is not folded after {MOVES} moves (margin {100 * margin():.1f} cm)",
            subjects=(item,), value=margin(), limit=0.0,
        )  # fmt: skip


def _ways(control: Controller, item: str) -> Iterator[tuple[Pair, Pair]]:
    """Ways to fold a sheet edge on edge: over its shorter side first, which draws the rest of it along the least, and towards
    the robot."""
    world = control.world
    matter = world.assets[item].matter
    assert matter is not None
    a, b, c, d = corners(matter.grid)
    x, y = sides(world.assets[item])
    points, base = world.matter(item), control.base_pose()[:3, 3]

    def order(pairs: tuple[Pair, Pair]) -> tuple[bool, float]:
        length = x if pairs[0] in ((a, c), (c, a)) else y
        away = [np.linalg.norm(points[k] - base) for pair in pairs for k in pair]
        return length > min(x, y), float(sum(away[1::2]) - sum(away[::2]))

    yield from sorted((((c, a), (d, b)), ((a, c), (b, d)), ((b, a), (d, c)), ((a, b), (c, d))), key=order)


def _first(control: Controller, item: str) -> tuple[tuple[Pair, Pair], float]:
    """The first way to fold of which both corners are in reach from where they are to where they go, and how far beyond [m]."""
    failure: MotionError | None = None
    control.look()
    for beyond, pairs in product(BEYOND, list(_ways(control, item))):
        try:
            for pair in pairs:
                reachable(control, item, pair[0], _over(control, item, pair, 1.0, beyond), stage="fold")
        except MotionError as error:
            failure = failure or error
            continue
        return pairs, beyond
    assert failure is not None
    raise failure


def _over(control: Controller, item: str, pair: Pair, part: float, beyond: float) -> list[tf.Float]:
    """Where the tool goes with a corner of a sheet, relative to where it pinches it, (3,) each [m]: `part` of the way, and if
    that is all of it, `beyond` [m] farther."""
    points = control.world.matter(item)
    by = (points[pair[1]] - points[pair[0]]) * (1.0, 1.0, 0.0)
    length = float(np.linalg.norm(by))
    by *= part if part < 1.0 else (length + beyond) / max(length, 1e-6)
    length *= part
    lower = min(0.0, float(points[pair[1]][2] - points[pair[0]][2]))
    return arc(np.zeros(3), np.array([by[0], by[1], PUT + lower]), RISE * length + 0.01)


def _turn_over(control: Controller, item: str, pair: Pair, part: float, beyond: float) -> None:
    over = _over(control, item, pair, part, beyond)
    pinch(control, item, pair[0], stage="fold", via=over)
    start = control.world.tcp(control.index)[:3, 3]
    carry(control, item, [start + by for by in over], stage="fold")
    release(control, stage="fold")


SKILL = Skill(
    name="fold",
    operators=(
        Operator(
            skill="fold",
            parameters=(("item", "item"), ("place", "place"), ("zone", "zone")),
            needs=(
                ("empty_hand",),
                ("cloth", "item"),
                ("loose", "item"),
                ("at", "item", "place"),
                ("ungated", "place"),
                ("place_zone", "place", "zone"),
                ("standing", "zone"),
            ),
            adds=(("folded", "item"),),
            removes=(),
            passes=("item", "place"),
        ),
    ),
    run=run,
)
