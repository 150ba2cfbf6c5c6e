"""hang(cloth, bar): lay a cloth over a bar so that it hangs down on both sides.

The cloth is pinched in the middle of an edge and lifted until it hangs free, turned until that edge is along the bar, and carried
so high over the bar that the corners beside the hand, which hang down, pass over it too. Then the hand goes down on the far side,
on an arc about the bar, until half of the cloth is there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from embodiedsmith.motion.controller import Controller
from embodiedsmith.motion.errors import MotionError
from embodiedsmith.motion.operators import Operator, Step
from embodiedsmith.motion.pinching import carry, pinch, reachable, release
from embodiedsmith.motion.skills import Skill
from embodiedsmith.spec import Predicate, split_reference
from embodiedsmith.tasks.cloths import Edge, edges
from embodiedsmith.tasks.registry import predicate
from embodiedsmith.world import transforms as tf

CLEAR = 0.03
"""[m] Between the bar and the lowest corner of the edge that is carried over it."""
BEFORE = 0.10
"""[m] Before the bar, where the cloth hangs free first."""
LOWEST = 0.1
"""[rad] Above the level of the bar, where the hand lets go: lower, its palm is over the cloth between hand and bar, and
takes it along."""
PIECES = 7
"""Of the way down on the far side."""
BEYOND = 1.4
"""Of half the cloth's length, how far from the bar the hand lets go. Hung from one point, its corners lag behind: at 1.05 to 1.25
more of it is still before the bar than behind, and draws the rest back."""
WAIT = 30
"""Control steps for the cloth to stop swinging."""


@dataclass(frozen=True)
class _Way:
    """One way to bring a cloth over a bar."""

    point: int
    via: list[tf.Float]
    turn: float


def run(control: Controller, args: tuple[str, ...], upcoming: tuple[Step, ...]) -> None:
    """Hang it, and check that it hangs."""
    cloth, bar, _ = args
    if control.held is not None:
        raise MotionError("hang.hand_full", f"{control.held.item} is in the hand", subjects=(control.held.item,))
    goal = Predicate(name="hung", args=(cloth, bar))
    item = split_reference(bar)[0]
    wanted = next((p for p in control.stages(control.stage)[0] if p.name == "hung" and p.args[0] == cloth), goal)
    way = _first(control, cloth, bar)
    start = control.world.matter(cloth)[way.point]
    pinch(control, cloth, way.point, stage="hang", via=way.via, turn=way.turn)
    moved = control.world.tcp(control.index)[:3, 3] - start
    carry(control, cloth, [start + moved + by for by in way.via], stage="hang", speed=0.5, turn=way.turn)
    release(control, stage="hang")
    control.wait(WAIT)
    margin = predicate("hung").margin(control.world, (cloth, bar), wanted.params)
    if margin <= 0:
        raise MotionError(
            "hang.effect", f"{cloth} does not hang on {item} (margin {100 * margin:.1f} cm)",
            subjects=(cloth, item), value=margin, limit=0.0,
        )  # fmt: skip


def _first(control: Controller, cloth: str, bar: str) -> _Way:
    """The first way that is in reach and clear of everything."""
    failure: MotionError | None = None
    control.look()
    for way in _ways(control, cloth, bar):
        try:
            reachable(control, cloth, way.point, way.via, stage="hang", turn=way.turn)
        except MotionError as error:
            failure = failure or error
            continue
        return way
    assert failure is not None
    raise failure


def _ways(control: Controller, cloth: str, reference: str) -> Iterator[_Way]:
    """By either edge, over the bar from either side, those that turn the cloth least first; its longer side down if it can."""
    world = control.world
    matter = world.assets[cloth].matter
    assert matter is not None
    owner, name = split_reference(reference)
    bar = world.assets[owner].affordances.bar(name)
    T, points = world.item_pose(owner, bar.body), world.matter(cloth)
    centre, axis = (T @ np.append(bar.center, 1.0))[:3], T[:3, :3] @ np.asarray(bar.axis)
    across = np.cross(axis, [0.0, 0.0, 1.0])
    height = bar.center[2] - world.assets[owner].extents[0][2]

    def length(edge: Edge) -> float:
        return float(np.linalg.norm(points[edge.middle] - points[edge.opposite]))

    longest = max(length(edge) for edge in edges(matter.grid))
    options = []
    for edge in edges(matter.grid):
        leads = points[edge.middle] - points[edge.opposite]
        for towards in (across, -across):
            turn = float(np.arctan2(np.cross(leads, towards)[2], leads @ towards))
            awkward = length(edge) < 0.95 * longest or length(edge) / 2 + CLEAR > height
            options.append((awkward, abs(turn) > np.pi / 2, abs(turn), edge, towards, turn))
    for *_, edge, towards, turn in sorted(options, key=lambda o: o[:3]):
        half = length(edge) / 2
        wide = max(length(e) for e in edges(matter.grid) if edge.middle not in (e.middle, e.opposite))
        yield _Way(edge.middle, _over(points[edge.middle], centre, towards, half, max(half, wide / 2 + CLEAR)), turn)


def _over(start: tf.Float, centre: tf.Float, towards: tf.Float, half: float, rise: float) -> list[tf.Float]:
    """Where the tool goes from a point (3,): up, before the bar, over it and down behind it, relative to that point [m]."""
    up = np.array([0.0, 0.0, 1.0])
    level = float(centre[2] - start[2]) + rise
    via = [level * up, (centre - BEFORE * towards - start) * (1, 1, 0) + level * up]
    for angle in np.linspace(np.pi / 2, LOWEST, PIECES):
        share = (np.pi / 2 - angle) / (np.pi / 2 - LOWEST)
        away = rise + (BEYOND * half - rise) * share
        via.append(centre - start + away * (np.cos(angle) * towards + np.sin(angle) * up))
    return via


SKILL = Skill(
    name="hang",
    operators=(
        Operator(
            skill="hang",
            parameters=(("item", "item"), ("bar", "bar"), ("place", "place"), ("zone", "zone")),
            needs=(
                ("empty_hand",),
                ("cloth", "item"),
                ("loose", "item"),
                ("at", "item", "place"),
                ("ungated", "place"),
                ("place_zone", "place", "zone"),
                ("bar_zone", "bar", "zone"),
                ("standing", "zone"),
            ),
            adds=(("hung", "item", "bar"),),
            removes=(),
            passes=("item", "bar", "place"),
        ),
    ),
    run=run,
)
