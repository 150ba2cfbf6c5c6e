"""Where and how to put down what is in the hand: on a support, inside a cavity, at a point. Beside things: see `arranging`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np

from embodiedsmith.assets.asset import Asset, Cavity, Shape, Support
from embodiedsmith.motion import clearing, sharing
from embodiedsmith.motion.controller import FINGER_PLAY, Controller
from embodiedsmith.motion.facts import FLOOR, place_of
from embodiedsmith.motion.grasping import GraspPlan, Tally
from embodiedsmith.spec import split_reference
from embodiedsmith.tasks.kind import surfaces
from embodiedsmith.world import transforms as tf

DROP = 0.004  # [m] height above the surface at which an item is let go
HIGHER = (0.004, 0.03, 0.06)  # [m] heights tried when the hand or other things are in the way
BELOW_RIM = 0.03  # [m] below its rim things are let go of in a container too narrow for the hand
LEANS = 0.95  # part of the length at which something that leans in a cavity falls out of it, over its rim
OVER_RIM = 0.04  # [m] by which the bottom of what is in the hand clears the rim on the way in
LIFT = 0.08  # [m] straight descent onto a surface
SPOTS = 14
YAWS = (0.0, 0.5, -0.5, 1.0, -1.0)  # fractions of pi/2 tried round the first guess
MAX_TRIED = 120
EDGE = 0.012  # [m] kept from the edge of a support or the wall of a cavity
SMALL = 0.13  # [m] a support narrower than this is aimed at in its middle
RETREAT = 0.10  # [m]
PLAY = (FINGER_PLAY, 0.015, 0.008)  # [m] by which the fingers open to let go, as far as there is room
TOUCHDOWN = 0.012  # [m] above where it is let go from which a thing may touch what it is put down on
ENTER = 0.005  # [m] higher on the way in through a front: what is in the hand must not drag on the floor
UPWARDS = 0.7  # a cavity whose opening points up by more than this cosine is entered from above
LEVEL = 0.25  # horizontal part of the approach from which a hand points somewhere
DEPTHS = (0.9, 0.5, 0.0)  # fractions of the way from the middle to the opening
LATERALS = (0.0, 0.4, -0.4, 0.8, -0.8)
BY_BOTH = (0.0, 0.25, -0.25, 0.5, -0.5, 0.8, -0.8)  # [rad] by which two hands turn what they put down
TURNS = (0.0, 0.35, -0.35, 0.8, -0.8)  # [rad]


@dataclass(frozen=True)
class Spot:
    """A pose for the item, and the way it gets there."""

    T_world_item: tf.Float
    via: tuple[tf.Float, ...]
    """Item poses passed before, first one in the open."""
    out: tf.Float
    """World direction (3,) in which the hand leaves when it cannot leave along its approach."""
    joints: tf.Float | None = None
    """Arm joints near which it is known to be good."""


@dataclass(frozen=True)
class Load:
    """What is to be put down, and how it hangs in the hand."""

    item: str
    T_world_item: tf.Float
    """Where it is now."""
    T_tcp_item: tf.Float
    closing: float
    """Gripper command, 0 open to 1 closed, at which the fingers hold it."""


def grasped(control: Controller, item: str, plan: GraspPlan) -> Load:
    """The item as it will hang in the hand once it is held like that."""
    closing = plan.hand.closing_on(plan.grasp.width)
    return Load(item, control.world.item_pose(item), plan.T_tcp_item, closing)


@dataclass(frozen=True)
class PlacePlan:
    """A way to put the item down that is in reach and free."""

    spot: Spot
    path: tf.Float
    """Joint path (k, n) from the open to the release."""
    retreat: tf.Float
    """Joint path (k, n) from the release back into the open."""
    closing: float
    """Gripper command to which the fingers open to let go: as far as there is room."""


def plans(
    control: Controller, load: Load, spots: Iterator[Spot], owner: str, tally: Tally, *, most: int = MAX_TRIED
) -> Iterator[PlacePlan]:
    """Ways to put the load down at one of the first `most` spots on `owner`; best first.

    The checker must look at the present world.
    """
    for spot in islice(spots, most):
        tally.tried += 1
        T_tcp = spot.T_world_item @ tf.inverse(load.T_tcp_item)
        plan = None
        for posture in control.postures(T_tcp, spot.joints):
            if tally.misses(posture):
                break
            plan = _try(control, load, spot, T_tcp, posture.joints, owner, tally)
            if plan is not None:
                break
        else:
            tally.blocked += 1
        control.checker.hold(None)
        if plan is not None:
            yield plan


def _try(
    control: Controller, load: Load, spot: Spot, T_tcp: tf.Float, joints: tf.Float, owner: str, tally: Tally
) -> PlacePlan | None:
    checker, item, T_tcp_item = control.checker, load.item, load.T_tcp_item
    checker.set_gripper(load.closing)
    hands = [(item, owner) for owner in (*control.fingers, "robot")]
    checker.forbid_all()
    checker.allow(hands)
    checker.hold(item, T_tcp_item)
    rows = [joints[None]]
    at, T_at = joints, T_tcp
    checker.allow([(item, owner)])
    if (hit := checker.hit(joints)) is not None:
        tally.met(hit)
        return None
    checker.forbid_all()
    checker.allow(hands)
    for k, T_via in enumerate(reversed(spot.via)):
        if k == 0:  # touching down
            checker.allow([(item, owner)])
        T_to = T_via @ tf.inverse(T_tcp_item)
        back = control.line(T_at, T_to, at)
        if back is None:
            return None
        hit = checker.path_hit(back, 0.0)
        if hit is not None:
            tally.met(hit)
            return None
        if k == 0:
            checker.forbid_all()
            checker.allow(hands)
        rows.append(back[1:])
        at, T_at = back[-1], T_to
    path = np.vstack(rows)[::-1]
    checker.hold(None)
    for play in PLAY:
        closing = max(0.0, load.closing - play / control.hand.max_width)
        retreat = _retreat(control, item, T_tcp, joints, spot, closing, tally)
        if retreat is not None:
            return PlacePlan(spot, path, retreat, closing)
    return None


def _retreat(
    control: Controller, item: str, T_tcp: tf.Float, joints: tf.Float, spot: Spot, closing: float, tally: Tally
) -> tf.Float | None:
    """Leave along the approach, or a little along it and then out of the opening, the fingers opened to `closing`."""
    checker = control.checker
    checker.forbid_all()
    checker.allow([(item, finger) for finger in control.fingers])
    checker.set_gripper(closing)
    checker.lay(item, spot.T_world_item)
    if (hit := checker.hit(joints)) is not None:
        tally.met(hit)
        return None
    back = control.straight(T_tcp, T_tcp @ tf.translate((0.0, 0.0, -RETREAT)), joints, clearance=0.0)
    if back is None:
        T_clear = T_tcp @ tf.translate((0.0, 0.0, -0.035))
        first = control.straight(T_tcp, T_clear, joints, clearance=0.0, met=tally.met)
        if first is None:
            return None
        T_out = T_clear.copy()
        T_out[:3, 3] += 0.2 * spot.out
        second = control.straight(T_clear, T_out, first[-1], clearance=0.0, met=tally.met)
        back = None if second is None else np.vstack([first, second[1:]])
    return back


def on_support(control: Controller, load: Load, reference: str) -> Iterator[Spot]:
    """Spots on the support named by `reference` (any that `on` counts, when it names none)."""
    world = control.world
    owner, part = split_reference(reference)
    for name in (s.name for s in surfaces(world.assets[owner], part)):
        support, T_world_support = world.support(f"{owner}.{name}")
        shallow = support.headroom < 0.6 and min(support.size) > SMALL
        if shallow:
            size = (support.size[0], support.size[1], support.headroom)
            yield from _front_spots(control, load, T_world_support, size, np.array([1.0, 0.0, 0.0]))
            continue
        points = _points(control, load.item, f"{owner}.{name}", support, T_world_support)
        for height, (x, y), yaw in _choices(control, load, T_world_support, points, HIGHER[:2]):
            yield open_spot(T_world_support @ tf.translate((x, y, height)) @ tf.turn_z(yaw), LIFT)


def inside_cavity(control: Controller, load: Load, reference: str) -> Iterator[Spot]:
    """Spots inside the cavity named by `reference` (any of its item's, when it names none)."""
    world = control.world
    owner, part = split_reference(reference)
    names = [part] if part else [c.name for c in world.assets[owner].affordances.cavities]
    for name in names:
        cavity, T_world_cavity = world.cavity(f"{owner}.{name}")
        if cavity.opening[2] < UPWARDS:
            yield from _front_spots(control, load, T_world_cavity, cavity.size, np.asarray(cavity.opening))
            continue
        if stands_on_end(world.assets[load.item], cavity):
            yield from _on_end(control, load, T_world_cavity, cavity)
            continue
        points = _points(control, load.item, f"{owner}.{name}", cavity, T_world_cavity)
        depth = cavity.size[2]
        drops = tuple(h for h in (0.5 * depth, depth - BELOW_RIM) if h > HIGHER[-1])
        floor = _Floor(control, load.item, cavity)
        for height, (x, y), yaw in _choices(control, load, T_world_cavity, points, (*HIGHER, *drops), floor.along):
            if floor.holds((x, y), yaw):
                T = T_world_cavity @ tf.translate((x, y, height)) @ tf.turn_z(yaw)
                yield open_spot(T, max(depth + OVER_RIM - height, OVER_RIM))


def stands_on_end(asset: Asset, cavity: Cavity) -> bool:
    """Whether something long that cannot lie in a cavity open above stands in it on one end, as a spoon does in a mug.

    Let go of, it leans from the foot of one wall on the rim over the other, steeper than 45 degrees where that is deeper than
    wide: out of bowls it falls. Its middle must stay between them.
    """
    x, y, z = (float(v) for v in asset.size)
    width, depth, height = cavity.size
    lies = min(max(x - width, y - depth), max(x - depth, y - width)) <= 0
    if lies or cavity.joint is not None or cavity.opening[2] < UPWARDS or max(x, y) < z:
        return False
    across = min(width, depth)
    return (
        across < height
        and float(np.hypot(min(x, y), z)) + 2 * HIGHER[0] < across
        and max(x, y) < LEANS * 2 * float(np.hypot(across, height))
    )


def _on_end(control: Controller, load: Load, T_world_cavity: tf.Float, cavity: Cavity) -> Iterator[Spot]:
    """Spots in the middle of a cavity with the heavier end down, first those where the hand points away from the robot."""
    low, high = (np.asarray(corner) for corner in control.world.assets[load.item].extents)
    corners = np.array([(x, y, z) for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])])
    along = int(np.argmax((high - low)[:2]))
    heavy = control.world.model.body_ipos[control.world.items[load.item].body][along] >= (low + high)[along] / 2
    down = tf.turn((0.0, 1.0, 0.0) if along == 0 else (-1.0, 0.0, 0.0), np.pi / 2 if heavy else -np.pi / 2)
    away = T_world_cavity[:2, 3] - control.mount()[:2]
    choices = []
    for turn in np.arange(8) * np.pi / 4:
        T_cavity_item = tf.turn_z(float(turn)) @ down
        there = corners @ T_cavity_item[:3, :3].T
        T_cavity_item[:2, 3] = -(there.min(axis=0) + there.max(axis=0))[:2] / 2
        T_cavity_item[2, 3] = HIGHER[0] - there[:, 2].min()
        T = T_world_cavity @ T_cavity_item
        choices.append((-round(float((T @ tf.inverse(load.T_tcp_item))[:2, 2] @ away), 3), float(turn), T))
    for _, _, T in sorted(choices, key=lambda choice: choice[:2]):
        yield open_spot(T, cavity.size[2] + OVER_RIM - HIGHER[0])


class _Floor:
    """How an item may lie on the floor of a cavity between four walls."""

    def __init__(self, control: Controller, item: str, cavity: Cavity) -> None:
        low, high = control.world.assets[item].extents
        self._corners = np.array([(x, y) for x in (low[0], high[0]) for y in (low[1], high[1])])
        self._half = 0.5 * np.asarray(cavity.size[:2])
        self.along: tuple[float, ...] = ()
        """Yaws of something too long for some others that suit the cavity best."""
        self._tight = False
        size = np.subtract(high, low)[:2]
        if cavity.shape == "rectangle" and np.linalg.norm(size) > 2 * self._half.min():
            yaw = 0.0 if (size[0] > size[1]) == (self._half[0] > self._half[1]) else np.pi / 2
            self._tight = self._between((0.0, 0.0), yaw)
            self.along = (yaw, yaw + np.pi) if self._tight else ()

    def holds(self, point: tuple[float, float], yaw: float) -> bool:
        """Whether it lies between the walls at a point and yaw, and not on them; True where it cannot lie between them at all."""
        return not self._tight or self._between(point, yaw)

    def _between(self, point: tuple[float, float], yaw: float) -> bool:
        there = self._corners @ tf.turn_z(yaw)[:2, :2].T + point
        return bool((np.abs(there) <= self._half).all())


def at_point(control: Controller, load: Load, point: tuple[float, float, float]) -> Iterator[Spot]:
    """The spot where the item's root is at a world point [m], upright."""
    T_spot = tf.translate(point)
    for yaw in yaws(control, load.T_world_item, T_spot):
        yield open_spot(T_spot @ tf.translate((0, 0, DROP)) @ tf.turn_z(yaw), LIFT)


def open_spot(T: tf.Float, lift: float) -> Spot:
    """Straight down from above; only the last bit may touch."""
    above, near = T.copy(), T.copy()
    above[2, 3] += lift
    near[2, 3] += min(TOUCHDOWN, 0.5 * lift)
    return Spot(T, (above, near), np.array([0.0, 0.0, 1.0]))


def _front_spots(
    control: Controller, load: Load, T_world_place: tf.Float, size: tuple[float, float, float], opening: tf.Float
) -> Iterator[Spot]:
    """Spots in a place that is entered from its front: a little above the floor, in, then down; nearest the opening first.

    The item is turned so that the hand points into the opening; a hand that points down has no preference.
    """
    item = control.world.assets[load.item].size
    footprint = 0.5 * float(min(item[0], item[1]))
    side = np.array([-opening[1], opening[0], 0.0])
    along = 0.5 * float(np.abs(opening) @ size) - 0.5 * float(max(item[0], item[1])) - EDGE
    across = max(0.0, 0.5 * float(np.abs(side) @ size) - footprint - EDGE)
    others = taken(control, load.item, T_world_place)
    approach = tf.inverse(load.T_tcp_item)[:3, 2]
    level = float(np.hypot(approach[0], approach[1])) > LEVEL
    for depth in DEPTHS:
        for lateral in LATERALS:
            x, y, _ = max(along, 0.0) * depth * opening + lateral * across * side
            if any(np.hypot(x - tx, y - ty) < footprint + r + EDGE for _, tx, ty, r in others):
                continue
            T_spot = T_world_place @ tf.translate((x, y, DROP))
            if level:
                inward = np.arctan2(-opening[1], -opening[0]) - np.arctan2(approach[1], approach[0])
                turns = [inward + turn for turn in TURNS]
            else:
                turns = yaws(control, load.T_world_item, T_spot)
            for yaw in turns:
                T = T_spot @ tf.turn_z(yaw)
                reach = 0.5 * float(np.abs(opening) @ size) - float(np.array([x, y, 0.0]) @ opening)
                yield through_front(T, T_world_place[:3, :3] @ opening, reach)


def through_front(T: tf.Float, out: tf.Float, distance: float) -> Spot:
    above, front = T.copy(), T.copy()
    above[2, 3] += ENTER
    front[:3, 3] = above[:3, 3] + (distance + 0.10) * out
    return Spot(T, (front, above), out)


def _choices(
    control: Controller,
    load: Load,
    T_world_place: tf.Float,
    points: list[tuple[float, float]],
    heights: tuple[float, ...],
    along: tuple[float, ...] = (),
) -> Iterator[tuple[float, tuple[float, float], float]]:
    """Height above the floor of the place, point and yaw in its frame, best first; `along` are yaws besides the usual ones."""
    for first in range(0, len(points), 2):
        for height in heights:
            for point in points[first : first + 2]:
                T_spot = T_world_place @ tf.translate((*point, 0.0))
                for yaw in (*yaws(control, load.T_world_item, T_spot), *along):
                    yield height, point, yaw


def yaws(control: Controller, T_now: tf.Float, T_world_spot: tf.Float) -> list[float]:
    """Turns of the item in the place's frame, beginning with the one that keeps the hand as it is seen from the robot."""
    upright = np.arctan2(T_now[1, 0], T_now[0, 0])
    if control.both:
        return [float(upright - np.arctan2(T_world_spot[1, 0], T_world_spot[0, 0]) + turn) for turn in BY_BOTH]
    base = control.mount()
    before, after = T_now[:2, 3] - base[:2], T_world_spot[:2, 3] - base[:2]
    swing = np.arctan2(after[1], after[0]) - np.arctan2(before[1], before[0])
    first = upright + swing - np.arctan2(T_world_spot[1, 0], T_world_spot[0, 0])
    return [float(first + k * np.pi / 2) for k in YAWS] + [float(first + np.pi)]


def _points(
    control: Controller, item: str, reference: str, place: Support | Cavity, T_world_place: tf.Float
) -> list[tuple[float, float]]:
    """Points for the item's root in the place's frame, best first: the middle, then random ones not taken by other things."""
    radius = _radius(control, item)
    half = (0.5 * place.size[0] - radius - EDGE, 0.5 * place.size[1] - radius - EDGE)
    narrow = min(place.size[:2]) < SMALL or min(half) <= 0
    points = [(0.0, 0.0)]
    if not narrow:
        draws = control.rng.uniform(-1, 1, (SPOTS * 3, 2)) * np.maximum(half, 0.0)
        points += [(float(x), float(y)) for x, y in draws if _inside_shape((x, y), half, place.shape)]
    others = taken(control, item, T_world_place)
    if not control.world.scenario.scene.item(split_reference(reference)[0]).fixed:
        below = _carriers(control, reference)
        over = [t for t in others if abs(t[1]) < 0.5 * place.size[0] and abs(t[2]) < 0.5 * place.size[1]]
        within = [t[1:] for t in over if t[0] not in below]
        later = [_radius(control, other) for other in sharing.coming(control.ahead, reference, item)]
        if within or later:
            return [(float(x), float(y)) for x, y in sharing.points(place, radius, within, later)]
    base = tf.inverse(T_world_place) @ np.append(control.mount(), 1.0)
    reach = control.kin.arm.reach

    bars = clearing.barred(control, item)
    upright = tf.turn_z(float(np.arctan2(*control.world.item_pose(item)[[1, 0], 0])))

    def awkward(point: tuple[float, float]) -> tuple[bool, float]:
        there = tf.translate((T_world_place @ np.array([*point, DROP, 1.0]))[:3]) @ upright
        crowded = bars(there) or any(np.hypot(point[0] - x, point[1] - y) < radius + r + 0.035 for _, x, y, r in others)
        distance = float(np.hypot(point[0] - base[0], point[1] - base[1]))
        return crowded, max(0.0, distance - 0.8 * reach) + max(0.0, 0.3 - distance)

    if narrow:
        return points
    ranked = {point: awkward(point) for point in points}
    free = sorted(points[1:], key=ranked.__getitem__)[:SPOTS]
    return sorted(points[:1] + free, key=lambda p: ranked[p][0])


def _carriers(control: Controller, reference: str) -> tuple[str, ...]:
    """The item that a place is part of, and all that it stands on or in."""
    scene, found = control.world.scenario.scene, [split_reference(reference)[0]]
    while found[-1] != FLOOR and not scene.item(found[-1]).fixed and len(found) <= len(scene.items):
        found.append(split_reference(place_of(control.world, found[-1]))[0])
    return tuple(found)


def _radius(control: Controller, item: str) -> float:
    """Half an item's width [m], the narrow way."""
    return 0.5 * float(min(control.world.assets[item].size[:2]))


def _inside_shape(point: tuple[float, float], half: tuple[float, float], shape: Shape) -> bool:
    return shape == "rectangle" or float(np.hypot(point[0] / half[0], point[1] / half[1])) < 1.0


def taken(control: Controller, item: str, T_world_place: tf.Float) -> list[tuple[str, float, float, float]]:
    """Every other free item near the place's floor: its id, its centre (x, y) in the place's frame and its radius [m]."""
    world = control.world
    T_place_world = tf.inverse(T_world_place)
    found = []
    for other in world.items:
        if other == item or world.scenario.scene.item(other).fixed:
            continue
        box = world.corners(other) @ T_place_world[:3, :3].T + T_place_world[:3, 3]
        if box[:, 2].max() < 0.0 or box[:, 2].min() > 0.5:
            continue
        centre = box.mean(axis=0)
        found.append((other, float(centre[0]), float(centre[1]), 0.5 * float(np.ptp(box[:, :2], axis=0).max())))
    return found
