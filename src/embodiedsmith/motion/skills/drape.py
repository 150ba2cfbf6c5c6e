"""drape(cloth, item, place): lay a cloth over something.

The cloth is pinched in the middle of an edge, lifted until it hangs free, and turned until it hangs across the item; its lower
edge is set down on the near side, and the hand goes up over the item and down on the far side, so that the cloth is laid over it
from edge to edge. Hung from one point it falls in pleats, and lies narrower than it is: then, as long as it does not reach far
enough in some direction, the corner or edge that is farthest out there is drawn farther.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from embodiedsmith.motion.controller import Controller
from embodiedsmith.motion.errors import MotionError
from embodiedsmith.motion.operators import Operator, Step
from embodiedsmith.motion.pinching import arc, carry, level, pinch, reachable, release, unit
from embodiedsmith.motion.skills import Skill
from embodiedsmith.spec import Predicate
from embodiedsmith.tasks.cloths import TOWARDS, Edge, corners, edges, overlay
from embodiedsmith.tasks.probe import Probe
from embodiedsmith.tasks.registry import predicate
from embodiedsmith.world import transforms as tf

CLEAR = 0.06
"""[m] Over the item and past it, that the hand keeps: lower, the corners beside it hang into what is hollow; higher, the cloth is
drawn along with it."""
LAID = 6
"""Pieces of the way over."""
TURNS = (0.0, 0.5, -0.5, 1.0, -1.0, 1.6, -1.6, 3.1)
"""[rad] away from straight at the item in which the cloth may be laid over it, if not along the item's own axes."""
OBLONG = 1.15
"""Length over width from which the longer side of a cloth goes along that of the item."""
PULLS, NEAREST = 3, 3
"""Times a corner or edge is drawn farther out, at most, and how many of them are tried each time: those most on that side."""
SURE = 0.002
"""[m] Margin from which nothing is drawn out any more."""
EXTRA, LIFT = 0.035, 0.03
"""[m] By which it is drawn farther than what is missing, for it draws back; and over the line between, in the middle."""
SWING, LAYING = 20, 0.2
"""Control steps for it to hang still before it is laid, and the fraction of the joint limits for that: swinging, it is laid to
one side."""
WAIT = 16
"""Control steps for the cloth to come to rest."""


@dataclass(frozen=True)
class _Way:
    """One way to lay a cloth over an item."""

    point: int
    via: list[tf.Float]
    turn: float


def run(control: Controller, args: tuple[str, ...], upcoming: tuple[Step, ...]) -> None:
    """Lay it over, spread it, and check that it covers the item."""
    cloth, item, place = args
    if control.held is not None:
        raise MotionError("drape.hand_full", f"{control.held.item} is in the hand", subjects=(control.held.item,))
    wanted = next((p for p in control.stages(control.stage)[0] if p.name == "covers" and p.args == (cloth, item)), None)
    params = predicate("covers").resolve((wanted or Predicate(name="covers", args=(cloth, item))).params)
    _lay_over(control, _first(control, cloth, item, place), cloth)
    margin = predicate("covers").margin(control.world, (cloth, item), params)
    for _ in range(PULLS):
        if margin > SURE or not _spread(control, cloth, item, params["part"]):
            break
        margin = predicate("covers").margin(control.world, (cloth, item), params)
    if margin <= 0:
        raise MotionError(
            "drape.effect", f"{cloth} does not cover {item} (margin {100 * margin:.1f} cm)",
            subjects=(cloth, item), value=margin, limit=0.0,
        )  # fmt: skip


def _lay_over(control: Controller, way: _Way, cloth: str) -> None:
    start = control.world.matter(cloth)[way.point]
    pinch(control, cloth, way.point, stage="drape", via=way.via, turn=way.turn)
    moved = control.world.tcp(control.index)[:3, 3] - start
    at = [start + moved + by for by in way.via]
    carry(control, cloth, at[:2], stage="drape", speed=0.5, turn=way.turn)
    control.wait(SWING)
    carry(control, cloth, at[2:], stage="drape", speed=LAYING)
    release(control, stage="drape")
    control.wait(WAIT)


def _spread(control: Controller, cloth: str, item: str, part: float) -> bool:
    """Draw the cloth farther out where it reaches least far; False when nothing that is out there can be taken hold of."""
    world = control.world
    matter = world.assets[cloth].matter
    assert matter is not None
    now = overlay(Probe(world), cloth, item, part)()
    points = world.matter(cloth)
    least = int(now.beyond.argmin())
    towards = TOWARDS[:, least] if np.ptp(now.beyond) > 1e-6 else unit((now.middle - points.mean(axis=0)) * (1.0, 1.0, 0.0))
    by = (EXTRA - float(now.beyond[least])) * towards
    rims = (*corners(matter.grid), *(edge.middle for edge in edges(matter.grid)))
    out = (points - now.middle) @ towards
    beside = np.abs(np.cross(points - now.middle, towards)[:, 2])
    for point in sorted(rims, key=lambda k: float(beside[k] - out[k]))[:NEAREST]:
        via = arc(np.zeros(3), by, LIFT, pieces=4)
        try:
            pinch(control, cloth, point, stage="drape", via=via)
        except MotionError:
            continue
        start = control.world.tcp(control.index)[:3, 3]
        carry(control, cloth, [start + to for to in via], stage="drape")
        release(control, stage="drape")
        control.wait(WAIT)
        control.session.note("spread", (cloth,), f"{cloth} drawn {100 * float(np.linalg.norm(by)):.0f} cm farther out")
        return True
    return False


def _first(control: Controller, cloth: str, item: str, place: str) -> _Way:
    """The first way that is in reach and clear of everything."""
    failure: MotionError | None = None
    control.look()
    for way in _ways(control, cloth, item, place):
        try:
            reachable(control, cloth, way.point, way.via, stage="drape", turn=way.turn)
        except MotionError as error:
            failure = failure or error
            continue
        return way
    assert failure is not None
    raise failure


def _ways(control: Controller, cloth: str, item: str, place: str) -> Iterator[_Way]:
    """Along the axes of the item, the one nearest to straight at it first, then otherwise; the longer sides go together."""
    world = control.world
    matter = world.assets[cloth].matter
    assert matter is not None
    points, box = world.matter(cloth), world.corners(item)
    middle, top, ground = box.mean(axis=0), float(box[:, 2].max()), level(control, place)
    straight = unit((middle - points.mean(axis=0)) * (1.0, 1.0, 0.0))
    axes = [sign * unit(world.item_pose(item)[:3, k] * (1.0, 1.0, 0.0)) for k in (0, 1) for sign in (1.0, -1.0)]
    axes = sorted((a for a in axes if np.linalg.norm(a) > 0.5), key=lambda a: -float(a @ straight))
    for along in (*axes, *(tf.turn_z(turn)[:3, :3] @ straight for turn in TURNS)):
        for edge, turn in _edges_across(control, cloth, box, along):
            length = float(np.linalg.norm(points[edge.middle] - points[edge.opposite]))
            start = points[edge.middle]
            begin = middle - (length / 2) * along
            height = max(top + CLEAR, ground + length + CLEAR) - start[2]
            via = [np.array([0.0, 0.0, height]), np.array([*(begin - start)[:2], height])]
            for angle in np.linspace(0.0, np.pi / 2, LAID + 1)[1:]:
                at = begin + (length + CLEAR) * np.sin(angle) * along - start
                at[2] = max(height * np.cos(angle), top + CLEAR - start[2] if angle < 1.3 else 0.0, 0.02)
                via.append(at)
            yield _Way(edge.middle, via, turn)


def _edges_across(control: Controller, cloth: str, box: tf.Float, along: tf.Float) -> list[tuple[Edge, float]]:
    """Two edges of a cloth that may lead over a thing with such corners (k, 3), with how far each has to turn for that [rad]."""
    matter = control.world.assets[cloth].matter
    assert matter is not None
    points = control.world.matter(cloth)
    across = np.array([-along[1], along[0], 0.0])
    oblong = float(np.ptp(box @ along)) / max(float(np.ptp(box @ across)), 1e-6)
    options = []
    for edge in edges(matter.grid):
        leads = points[edge.middle] - points[edge.opposite]
        other = next(e for e in edges(matter.grid) if edge.middle not in (e.middle, e.opposite))
        longer = np.linalg.norm(leads) / np.linalg.norm(points[other.middle] - points[other.opposite])
        awkward = (oblong > OBLONG and longer < 1 / OBLONG) or (oblong < 1 / OBLONG and longer > OBLONG)
        turn = float(np.arctan2(np.cross(leads, along)[2], leads @ along))
        options.append((bool(awkward), abs(turn), edge, turn))
    return [(edge, turn) for _, _, edge, turn in sorted(options, key=lambda o: o[:2])[:2]]


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
