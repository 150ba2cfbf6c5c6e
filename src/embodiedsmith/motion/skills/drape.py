"""drape(cloth, item, place): draw a cloth over something.

The cloth is pinched at the corner that leads towards the item and drawn there along the table, so that it stays spread: hung free
from one point it would fall in pleats, and lie as a narrow piece. Cloth that is pulled over a rim and down behind it sticks and
takes the item along; so the hand rises before the item, pulls the cloth on from high above it, where it hardly touches the rim,
until no more than the overhang of one side is left before it, and then lays it down on arcs about the near and the far rim, on
which the cloth does not slide. As long as it does not reach far enough in some direction afterwards, the corner or edge that is
farthest out there is drawn farther.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from embodiedsmith.motion.controller import Controller
from embodiedsmith.motion.errors import MotionError
from embodiedsmith.motion.operators import Operator, Step
from embodiedsmith.motion.pinching import arc, carry, level, pinch, reachable, release, unit, way
from embodiedsmith.motion.skills import Skill
from embodiedsmith.spec import Predicate
from embodiedsmith.tasks.cloths import TOWARDS, corners, edges, overlay
from embodiedsmith.tasks.probe import Probe
from embodiedsmith.tasks.registry import predicate
from embodiedsmith.world import transforms as tf

LOW = 0.03
"""[m] Over the surface, of the hand that draws cloth along it."""
NEAR, OVER = 0.05, 0.10
"""[m] Before the item where the hand begins to rise, and over its near rim."""
PULLING = 0.87
"""[rad] Above the level, seen from the near rim, of the hand that pulls the cloth on. At 0.5 cloth rubbed on the rim and moved a
box by 5 cm; fully upright, the cloth hangs free."""
PULL, PULLS, LAG = 0.05, 4, 0.02
"""[m] By which the cloth is pulled on at a time, at most, how often, and how much longer than meant what is before
the near rim may be."""
LEAST, DOWN = 0.04, 1.05
"""[m] Least overhang of a side, and how far [rad] below the far rim the hand goes at most, seen from there."""
LEADS = 0.5
"""Least cosine between where a corner or edge leads and where the item is."""
SWATH = 0.7
"""Part of its width in which cloth that is drawn along takes with it what it meets: it narrows."""
SPREADS, NEAREST = 3, 3
"""Times a corner or edge is drawn farther out, at most, and how many of them are tried each time: those most on that side."""
SURE = 0.002
"""[m] Margin from which nothing is drawn out any more."""
EXTRA, LIFT = 0.035, 0.03
"""[m] By which it is drawn farther than what is missing, for it draws back; and over the line between, in the middle."""
DRAWING, LAYING = 0.5, 0.35
"""Fractions of the joint limits on the way to the item and over it."""
WAIT = 16
"""Control steps for the cloth to come to rest."""


@dataclass(frozen=True)
class _Way:
    """One way to draw a cloth over an item."""

    point: int
    """That is pinched."""
    tail: int
    """The point opposite to it."""
    middle: tf.Float
    """Of the item, on the surface it stands on, shape (3,) [m]."""
    along: tf.Float
    """Level direction (3,) in which the cloth is drawn."""
    half: float
    """How far the item reaches from its middle along that [m]."""
    height: float
    """Of the item [m]."""
    overhang: float
    """Length of cloth before the near rim, and behind the far one, when it lies [m]."""

    def at(self, along: float, height: float) -> tf.Float:
        """Point (3,) so far from the item's middle and over the surface [m]."""
        found: tf.Float = self.middle + along * self.along + np.array([0.0, 0.0, height])
        return found

    @property
    def reach(self) -> float:
        """From the near rim to the hand when the cloth is over the item as it is to lie [m]."""
        return 2 * self.half + self.overhang

    def about_near(self, radius: float, angle: float) -> tf.Float:
        """Point (3,) so far from the near rim, at so much above the level [m, rad]."""
        return self.at(-self.half + radius * np.cos(angle), self.height + radius * np.sin(angle))

    def up(self, start: tf.Float) -> list[tf.Float]:
        """Where the hand goes from a point (3,) before the item: along the surface, over the near rim, and above the item."""
        before = max(-self.half - NEAR, float((start - self.middle) @ self.along))
        return [self.at(before, LOW), self.at(-self.half, self.height + OVER), self.about_near(self.reach, PULLING)]

    def down(self, radius: float) -> list[tf.Float]:
        """Where the hand goes from above the item, so far from its near rim [m], to lay the cloth down."""
        left = radius - 2 * self.half
        level = 0.5 * float(np.arccos(min(1.0, 2 * self.half / radius)))
        last = min(DOWN, float(np.arcsin(min(1.0, (self.height - LOW) / left)))) if self.height > LOW else 0.0
        about_far = [(self.half + left * np.cos(a), self.height + left * np.sin(a) + 0.01) for a in np.linspace(0.3, -last, 4)]
        return [self.about_near(radius, a) for a in np.linspace(PULLING, level, 3)[1:]] + [self.at(*to) for to in about_far]


def run(control: Controller, args: tuple[str, ...], upcoming: tuple[Step, ...]) -> None:
    """Draw it over, spread it, and check that it covers the item."""
    cloth, item, place = args
    if control.held is not None:
        raise MotionError("drape.hand_full", f"{control.held.item} is in the hand", subjects=(control.held.item,))
    wanted = next((p for p in control.stages(control.stage)[0] if p.name == "covers" and p.args == (cloth, item)), None)
    params = predicate("covers").resolve((wanted or Predicate(name="covers", args=(cloth, item))).params)
    _draw_over(control, _first(control, cloth, item, place), cloth)
    margin = predicate("covers").margin(control.world, (cloth, item), params)
    for _ in range(SPREADS):
        if margin > SURE or not _spread(control, cloth, item, params["part"]):
            break
        margin = predicate("covers").margin(control.world, (cloth, item), params)
    if margin <= 0:
        raise MotionError(
            "drape.effect", f"{cloth} does not cover {item} (margin {100 * margin:.1f} cm)",
            subjects=(cloth, item), value=margin, limit=0.0,
        )  # fmt: skip


def _draw_over(control: Controller, chosen: _Way, cloth: str) -> None:
    start = control.world.matter(cloth)[chosen.point]
    to, *over = chosen.up(start)
    pinch(control, cloth, chosen.point, stage="drape", via=_via(chosen, start))
    carry(control, cloth, [to], stage="drape", speed=DRAWING)
    carry(control, cloth, over, stage="drape", speed=LAYING)
    carry(control, cloth, chosen.down(_pull(control, chosen, cloth)), stage="drape", speed=LAYING)
    release(control, stage="drape")
    control.wait(WAIT)


def _via(chosen: _Way, start: tf.Float) -> list[tf.Float]:
    return [to - start for to in (*chosen.up(start), *chosen.down(chosen.reach))]


def _pull(control: Controller, chosen: _Way, cloth: str) -> float:
    """Pull the cloth on, away from the near rim, until only its overhang is before that; how far the hand is from it then [m]."""
    radius = chosen.reach
    for _ in range(PULLS):
        tail = control.world.matter(cloth)[chosen.tail] - chosen.middle
        before = float(np.hypot(min(0.0, tail @ chosen.along + chosen.half), chosen.height - tail[2]))
        farther = radius + min(before - chosen.overhang, PULL)
        if before < chosen.overhang + LAG:
            break
        control.look()
        on = chosen.about_near(farther, PULLING)
        path = way(control, control.world.tcp(control.index), [on, *chosen.down(farther)], control.joints)
        if path is None or control.checker.path_hit(path) is not None:
            break
        carry(control, cloth, [on], stage="drape", speed=LAYING)
        radius = farther
    return radius


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
    for found in _ways(control, cloth, item, place):
        try:
            _clear(control, cloth, item, found)
            start = control.world.matter(cloth)[found.point]
            reachable(control, cloth, found.point, _via(found, start), stage="drape")
        except MotionError as error:
            failure = failure or error
            continue
        return found
    assert failure is not None  # there is always a corner that leads to the item
    raise failure


def _ways(control: Controller, cloth: str, item: str, place: str) -> Iterator[_Way]:
    """By a corner, then by the middle of an edge, each time by those that lead to the item most nearly.

    A corner comes first, for the two beside it hang down at the item's sides; the two of an edge lag behind its middle, and fall
    into what is hollow.
    """
    world = control.world
    matter = world.assets[cloth].matter
    assert matter is not None
    points, box, rest = world.matter(cloth), world.corners(item), world.sheets[cloth].rest
    middle = box.mean(axis=0)
    middle[2] = level(control, place)
    height = float(box[:, 2].max() - middle[2])
    a, b, c, d = corners(matter.grid)
    for pairs in (((a, d), (b, c), (c, b), (d, a)), tuple((edge.middle, edge.opposite) for edge in edges(matter.grid))):
        found = []
        for point, tail in pairs:
            along = unit((middle - points[point]) * (1.0, 1.0, 0.0))
            leads = float(unit((points[point] - points[tail]) * (1.0, 1.0, 0.0)) @ along)
            half = float(((box - middle) @ along).max())
            overhang = max(LEAST, float(np.linalg.norm(rest[point] - rest[tail])) / 2 - half)
            found.append((leads, _Way(point, tail, middle, along, half, height, overhang)))
        found.sort(key=lambda option: -option[0])
        yield from (option for k, (leads, option) in enumerate(found) if k == 0 or leads > LEADS)


def _clear(control: Controller, cloth: str, item: str, chosen: _Way) -> None:
    """Raise when something loose lies where the cloth is drawn along, which would take it with it."""
    world = control.world
    across = np.array([-chosen.along[1], chosen.along[0], 0.0])
    points = world.matter(cloth) - chosen.middle
    begin, middle = float(points[chosen.point] @ chosen.along), points.mean(axis=0)
    half = SWATH * float(np.ptp(points @ across)) / 2
    for other in world.scenario.scene.items:
        if other.fixed or other.id in (cloth, item) or world.assets[other.id].matter is not None:
            continue
        box = world.corners(other.id) - chosen.middle
        ahead, beside = box @ chosen.along, box @ across
        here = float(middle @ across) * np.clip(ahead.mean() / (middle @ chosen.along), 0.0, 1.0)
        if ahead.max() > begin and ahead.min() < -chosen.half and beside.max() > here - half and beside.min() < here + half:
            raise MotionError("drape.blocked", f"{other.id} is in the way of {cloth}", subjects=(cloth, other.id))


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
