"""hang(cloth, bar): lay a cloth over a bar so that it hangs down on both sides.

The cloth is pinched at a corner, so that it hangs as a narrow piece which trails behind the hand, lifted, and brought before the
bar by a way on which what hangs does not sweep over it. Then the hand goes over the bar and down behind it, on an arc about it of
half the cloth's length: the cloth comes to rest on the bar with its middle and hardly slides. What it has slid all the same, the
hand pulls after, until as much of it is behind the bar as before it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np

from embodiedsmith.motion.controller import Controller
from embodiedsmith.motion.errors import MotionError
from embodiedsmith.motion.operators import Operator, Step
from embodiedsmith.motion.pinching import carry, pinch, reachable, release, way
from embodiedsmith.motion.skills import Skill
from embodiedsmith.spec import Predicate, split_reference
from embodiedsmith.tasks.cloths import corners
from embodiedsmith.tasks.registry import predicate
from embodiedsmith.world import transforms as tf

BEFORE = 0.16
"""[m] Before the bar, where the cloth hangs first."""
ROUND = 0.12
"""[m] Beyond the bar's ends, on the way round them."""
LOW = 0.6
"""[rad] Below the level of the bar, where the hand lets go: lower, its palm is over the cloth between hand and bar, and takes it
along when it rises."""
PIECES = 7
"""Of the way over the bar."""
SHARE = 0.95
"""Of half the cloth's length, the radius of the arc: too short can be pulled after, too long cannot."""
RISES = (1.0, 0.92, 0.84, 0.75, 0.65, 0.5)
"""Heights over the bar, as parts of that radius, the best first; less where that is out of reach, and the cloth slides more."""
PULL, PULLS = 0.02, 6
"""[m] By which the hand pulls after, and how often at most."""
HALF = 0.48
"""Least part of the cloth that is to be behind the bar."""
SPEED = 0.5
"""Fraction of the joint limits with the cloth in the hand."""
WAIT = 30
"""Control steps for the cloth to stop swinging."""


@dataclass(frozen=True)
class _Way:
    """One way to bring a cloth over a bar."""

    point: int
    via: list[tf.Float]
    turn: float
    towards: tf.Float
    """Level direction (3,) across the bar."""


@dataclass(frozen=True)
class _Rail:
    """A bar in the world."""

    centre: tf.Float
    axis: tf.Float
    half: float
    """Of its length [m]."""

    @classmethod
    def of(cls, control: Controller, reference: str) -> _Rail:
        owner, name = split_reference(reference)
        bar = control.world.assets[owner].affordances.bar(name)
        T = control.world.item_pose(owner, bar.body)
        return cls((T @ np.append(bar.center, 1.0))[:3], T[:3, :3] @ np.asarray(bar.axis), bar.length / 2)


def run(control: Controller, args: tuple[str, ...], upcoming: tuple[Step, ...]) -> None:
    """Hang it, and check that it hangs."""
    cloth, bar, _ = args
    if control.held is not None:
        raise MotionError("hang.hand_full", f"{control.held.item} is in the hand", subjects=(control.held.item,))
    goal = Predicate(name="hung", args=(cloth, bar))
    item, rail = split_reference(bar)[0], _Rail.of(control, bar)
    wanted = next((p for p in control.stages(control.stage)[0] if p.name == "hung" and p.args[0] == cloth), goal)
    chosen = _first(control, cloth, rail)
    start = control.world.matter(cloth)[chosen.point]
    pinch(control, cloth, chosen.point, stage="hang", via=chosen.via, turn=chosen.turn)
    moved = control.world.tcp(control.index)[:3, 3] - start
    carry(control, cloth, [start + moved + by for by in chosen.via], stage="hang", speed=SPEED, turn=chosen.turn)
    _pull(control, cloth, rail, chosen.towards)
    release(control, stage="hang")
    control.wait(WAIT)
    margin = predicate("hung").margin(control.world, (cloth, bar), wanted.params)
    if margin <= 0:
        raise MotionError(
            "hang.effect", f"{cloth} does not hang on {item} (margin {100 * margin:.1f} cm)",
            subjects=(cloth, item), value=margin, limit=0.0,
        )  # fmt: skip


def _pull(control: Controller, cloth: str, rail: _Rail, towards: tf.Float) -> None:
    """Pull a cloth on over the bar until half of it is behind, as far as that is in reach and clear of everything."""
    on = PULL * (np.cos(LOW) * towards - np.sin(LOW) * np.array([0.0, 0.0, 1.0]))
    for _ in range(PULLS):
        behind = float(np.mean((control.world.matter(cloth) - rail.centre) @ towards > 0))
        if behind >= HALF:
            return
        control.look()
        T = control.world.tcp(control.index)
        path = way(control, T, [T[:3, 3] + on], control.joints)
        if path is None or control.checker.path_hit(path) is not None:
            return
        carry(control, cloth, [T[:3, 3] + on], stage="hang")


def _first(control: Controller, cloth: str, rail: _Rail) -> _Way:
    """The first way that is in reach and clear of everything."""
    failure: MotionError | None = None
    control.look()
    for found in _ways(control, cloth, rail):
        try:
            reachable(control, cloth, found.point, found.via, stage="hang", turn=found.turn)
        except MotionError as error:
            failure = failure or error
            continue
        return found
    assert failure is not None
    raise failure


def _ways(control: Controller, cloth: str, rail: _Rail) -> Iterator[_Way]:
    """By any corner, over the bar from the side that the cloth lies on, those that turn it least first."""
    matter = control.world.assets[cloth].matter
    assert matter is not None
    points = control.world.matter(cloth)
    across = np.cross(rail.axis, [0.0, 0.0, 1.0])
    a, b, c, d = corners(matter.grid)
    away = points.mean(axis=0) - rail.centre
    beside = abs(float(away @ rail.axis)) > rail.half
    options = []
    for (corner, opposite), towards in product(((a, d), (b, c), (c, b), (d, a)), (across, -across)):
        leads = points[corner] - points[opposite]
        turn = float(np.arctan2(np.cross(leads, towards)[2], leads @ towards))
        behind = float(away @ towards)
        options.append(((behind > 0 and not beside, abs(turn) + max(0.0, behind) / BEFORE), corner, towards, turn))
    options.sort(key=lambda option: option[0])
    size = control.world.assets[cloth].size
    radius = SHARE * float(np.hypot(size[0], size[1])) / 2
    for rise, (_, corner, towards, turn) in product(RISES, options):
        yield _Way(corner, _over(points[corner], rail, towards, radius, rise * radius), turn, towards)


def _over(start: tf.Float, rail: _Rail, towards: tf.Float, radius: float, rise: float) -> list[tf.Float]:
    """Where the tool goes from a point (3,): up, before the bar, over it and down behind it, relative to that point [m].

    Not before the bar yet, it goes there round the end of the bar that is nearer.
    """
    up = np.array([0.0, 0.0, 1.0])
    away = start - rail.centre
    along, behind = float(away @ rail.axis), float(away @ towards)
    before = [(-BEFORE, 0.0)]
    if behind > -BEFORE:
        beyond = float(np.copysign(max(abs(along), rail.half + ROUND), along))
        before = [(behind, beyond), (-BEFORE, beyond), *before]
    via = [-away[2] * up + rise * up]
    via += [s * towards + a * rail.axis + rise * up - away for s, a in before]
    for t in np.linspace(0.0, 1.0, PIECES):
        angle = np.pi / 2 - t * (np.pi / 2 + LOW)
        reach = rise + t * (radius - rise)
        via.append(reach * (np.cos(angle) * towards + np.sin(angle) * up) - away)
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
