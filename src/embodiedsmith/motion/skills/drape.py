"""drape(cloth, item, place): lay a cloth over something.

The cloth is pinched in the middle of its leading edge and lifted until it hangs free; its lower edge is set down on the near
side, and the hand goes up over the item and down on the far side, so that the cloth is laid over it from edge to edge.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from embodiedsmith.motion.controller import Controller
from embodiedsmith.motion.errors import MotionError
from embodiedsmith.motion.operators import Operator, Step
from embodiedsmith.motion.pinching import carry, level, pinch, reachable, release
from embodiedsmith.motion.skills import Skill
from embodiedsmith.spec import Predicate
from embodiedsmith.tasks.cloths import edges
from embodiedsmith.tasks.registry import predicate
from embodiedsmith.world import transforms as tf

CLEAR = 0.06
"""[m] Over the item and past it, that the hand keeps: lower, the corners beside it hang into what is hollow; higher, the cloth is
drawn along with it."""
LAID = 6
"""Pieces of the way over."""
TURNS = (0.0, 0.5, -0.5, 1.0, -1.0, 1.6, -1.6, 3.1)
"""[rad] away from straight at the item in which the cloth may be laid over it."""
WAIT = 16
"""Control steps for the cloth to come to rest."""


def run(control: Controller, args: tuple[str, ...], upcoming: tuple[Step, ...]) -> None:
    """Lay it over, and check that it covers the item."""
    cloth, item, place = args
    if control.held is not None:
        raise MotionError("drape.hand_full", f"{control.held.item} is in the hand", subjects=(control.held.item,))
    wanted = next((p for p in control.stages(control.stage)[0] if p.name == "covers" and p.args == (cloth, item)), None)
    params = (wanted or Predicate(name="covers", args=(cloth, item))).params
    point, via = _way_over(control, cloth, item, place)
    start = control.world.matter(cloth)[point]
    pinch(control, cloth, point, stage="drape", via=via)
    moved = control.world.tcp(control.index)[:3, 3] - start
    carry(control, cloth, [start + moved + by for by in via], stage="drape", speed=0.5)
    release(control, stage="drape")
    control.wait(WAIT)
    margin = predicate("covers").margin(control.world, (cloth, item), params)
    if margin <= 0:
        raise MotionError(
            "drape.effect", f"{cloth} does not cover {item} (margin {100 * margin:.1f} cm)",
            subjects=(cloth, item), value=margin, limit=0.0,
        )  # fmt: skip


def _way_over(control: Controller, cloth: str, item: str, place: str) -> tuple[int, list[tf.Float]]:
    """The point of an edge to pinch, and where the tool goes from there, (3,) each [m]: the first way in reach."""
    failure: MotionError | None = None
    control.look()
    for point, via in _ways(control, cloth, item, place):
        try:
            reachable(control, cloth, point, via, stage="drape")
        except MotionError as error:
            failure = failure or error
            continue
        return point, via
    assert failure is not None
    raise failure


def _ways(control: Controller, cloth: str, item: str, place: str) -> Iterator[tuple[int, list[tf.Float]]]:
    world = control.world
    matter = world.assets[cloth].matter
    assert matter is not None
    points, box = world.matter(cloth), world.corners(item)
    middle, top, ground = box.mean(axis=0), float(box[:, 2].max()), level(control, place)
    straight = (middle - points.mean(axis=0)) * (1.0, 1.0, 0.0)
    straight /= max(float(np.linalg.norm(straight)), 1e-9)
    for turn in TURNS:
        along = tf.turn_z(turn)[:3, :3] @ straight
        for edge in sorted(edges(matter.grid), key=lambda e: -float((points[e.middle] - points[e.opposite]) @ along))[:2]:
            length = float(np.linalg.norm(points[edge.middle] - points[edge.opposite]))
            start = points[edge.middle]
            begin = middle - (length / 2) * along
            height = max(top + CLEAR, ground + length + CLEAR) - start[2]
            via = [np.array([0.0, 0.0, height]), np.array([*(begin - start)[:2], height])]
            for angle in np.linspace(0.0, np.pi / 2, LAID + 1)[1:]:
                at = begin + (length + CLEAR) * np.sin(angle) * along - start
                at[2] = max(height * np.cos(angle), top + CLEAR - start[2] if angle < 1.3 else 0.0, 0.02)
                via.append(at)
            yield edge.middle, via


SKILL = Skill(
    name="drape",
    operators=(
        Operator(
            skill="drape",
            parameters=(("item", "item"), ("other", "item"), ("place", "place"), ("zone", "zone")),
            needs=(
                ("empty_hand",),
                ("cloth", "item"),
                ("loose", "item"),
                ("at", "other", "place"),
                ("wanted_draped", "item", "other"),
                ("ungated", "place"),
                ("place_zone", "place", "zone"),
                ("standing", "zone"),
            ),
            adds=(("draped", "item", "other"),),
            removes=(),
            passes=("item", "other", "place"),
        ),
    ),
    run=run,
)
