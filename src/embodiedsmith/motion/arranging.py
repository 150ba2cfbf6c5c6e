"""Where to put down what is in the hand among other things: near one, on a side of one, between two.

Spots are proposed from the outlines of the things and kept where every relation that the goal wants of the item would hold, by
the predicates' own margins in a picture of the world with the item there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import product

import mujoco
import numpy as np

from embodiedsmith.motion.controller import Controller
from embodiedsmith.motion.errors import MotionError
from embodiedsmith.motion.facts import FLOOR, place_of
from embodiedsmith.motion.operators import Step
from embodiedsmith.motion.placing import DROP, EDGE, LIFT, Load, Spot, open_spot, taken, through_front, yaws
from embodiedsmith.spec import Predicate, split_reference
from embodiedsmith.tasks.probe import Probe
from embodiedsmith.tasks.registry import predicate
from embodiedsmith.tasks.sides import SIDES, UP, Outline, toward
from embodiedsmith.world import World
from embodiedsmith.world import transforms as tf

RELATIONS = ("between", *SIDES, "near")
"""Predicates that are brought about by putting an item down among others, the one that leaves the least choice first."""
SURE = 0.006  # [m] margin a relation must have at a spot
GAPS = (0.05, 0.08, 0.03, 0.12, 0.17)  # [m] between the item and the other, on a side of it
FARTHEST = 0.7  # of the largest gap that a relation allows: more is left to chance
NEAR_GAPS = (0.03, 0.06)  # [m] between things that are to be near
LATERALS = (0.0, 0.35, -0.35, 0.7, -0.7)  # of half their widths by which the two stand off each other's middle
FRACTIONS = (0.5, 0.3, 0.7)  # of the free room between two things, from the first to the second
OFFSETS = (0.0, 0.02, -0.02, 0.035, -0.035)  # [m] from the line between the two
TURNS = (np.pi / 2, -np.pi / 2, 0.6, -0.6, 0.0, 2.4, -2.4, np.pi)
"""[rad] of the way from a thing to what is to be near it, from the way to the robot: beside it first, behind it last."""
CROWDED = 0.035  # [m] from other things below which a spot is a second choice
SHALLOW = 0.6  # [m] of room above a surface below which it is entered from its front


def wanted(control: Controller, step: Step) -> tuple[Predicate, ...]:
    """The relations that a step brings about, with the goal's own numbers.

    All that its stage of the goal wants of the item where things stand now, and the one that the step itself names: of the last
    stage up to this one that speaks of it.
    """
    item = step.args[0]
    stages = control.stages(step.stage)
    asked = [p for p in stages[0] if p.name in RELATIONS and p.args[0] == item]
    own = _own(step)
    named = next((p for stage in stages for p in stage if (p.name, p.args) == (own.name, own.args)), own)
    place = place_of(control.world, own.args[1])
    there = [p for p in asked if all(place_of(control.world, other) == place for other in p.args[1:])]
    return tuple(there) if named in there else (named, *there)


def _own(step: Step) -> Predicate:
    if step.skill == "place_near":
        return Predicate(name="near", args=step.args)
    if step.args[-1] in SIDES:
        return Predicate(name=step.args[-1], args=step.args[:-1])
    return Predicate(name="between", args=step.args)


def arranges(step: Step) -> bool:
    """Whether a step puts something down among other things."""
    return step.skill in ("place_near", "place_beside")


def surface_of(control: Controller, step: Step) -> str:
    """The place on which a step of that kind puts its item down: where the first of the others is."""
    return place_of(control.world, step.args[1])


def spots(control: Controller, load: Load, relations: tuple[Predicate, ...]) -> Iterator[Spot]:
    """Spots at which all of `relations`, which are about the load, would hold; free ones first.

    Raises:
        MotionError: `place_beside.no_room` when there is none, whatever the hand does.
    """
    relations = tuple(sorted(relations, key=lambda p: RELATIONS.index(p.name)))
    surface = _Surface(control, load, place_of(control.world, relations[0].args[1]))
    others = {other for p in relations for other in p.args[1:]}
    probe = Probe(control.world)
    proposed = list(_proposals(control, load, probe, relations[0]))
    ranked: list[tuple[bool, int, tf.Float]] = []
    with _imagined(control.world, load.item, probe, relations) as margin:
        for k, (x, y, yaw) in enumerate(proposed):
            T = tf.translate((x, y, surface.height + DROP)) @ tf.turn_z(yaw)
            if surface.holds((x, y)) and margin(T) > SURE:
                ranked.append((surface.crowded((x, y), others), k, T))
    if not ranked:
        raise _no_room(control.world, load.item, probe, relations)
    ranked.sort(key=lambda r: r[:2])
    return (surface.spot(T) for _, _, T in ranked)


def _no_room(world: World, item: str, probe: Probe, relations: tuple[Predicate, ...]) -> MotionError:
    others = tuple(dict.fromkeys(other for p in relations for other in p.args[1:]))
    said = " and ".join(f"{p.name}({', '.join(p.args)})" for p in relations)
    room, needed = None, None
    if relations[0].name == "between":
        line = _line(probe, *relations[0].args[1:])[0]
        (_, start), (end, _) = (Outline(probe, other).span(line[:, None]) for other in relations[0].args[1:])
        room, needed = float(end[0] - start[0]), float(min(world.assets[item].size[:2]))
        said += f": {100 * room:.1f} cm between them, {100 * needed:.1f} cm wide"
    return MotionError("place_beside.no_room", f"there is no spot for {said}", subjects=(item, *others), value=room, limit=needed)


# ------------------------------------------------------------------ proposals


def _proposals(control: Controller, load: Load, probe: Probe, relation: Predicate) -> Iterator[tuple[float, float, float]]:
    """World x, y [m] and yaw [rad] of the item for one relation, best first."""
    item = _Turned(probe, load.item)
    if relation.name == "between":
        yield from _between(control, load, probe, relation, item)
        return
    other = Outline(probe, relation.args[1])
    limit = predicate(relation.name).resolve(relation.params)["distance"]
    middle = _middle(other)
    if relation.name in SIDES:
        base = control.world.scenario.embodiment.base
        assert base is not None
        directions: list[tf.Float] = [toward(relation.name, base)]
        gaps: tuple[float, ...] = GAPS
        laterals: tuple[float, ...] = LATERALS
    else:
        way = control.base_pose()[:2, 3] - middle
        first = float(np.arctan2(way[1], way[0]))
        directions = [np.array([np.cos(first + turn), np.sin(first + turn), 0.0]) for turn in TURNS]
        gaps, laterals = NEAR_GAPS, LATERALS[:1]
    for gap, direction, lateral in product(dict.fromkeys(min(gap, FARTHEST * limit) for gap in gaps), directions, laterals):
        axes = np.stack([direction, np.cross(UP, direction)], axis=1)
        low, high = other.span(axes)
        for yaw in yaws(control, load.T_world_item, tf.translate((*middle, 0.0))):
            near, far = item.span(yaw, axes)
            along = high[0] + gap - near[0]
            across = (low[1] + high[1]) / 2 + lateral * (high[1] - low[1] + far[1] - near[1]) / 2 - (near[1] + far[1]) / 2
            x, y, _ = axes @ (along, across)
            yield float(x), float(y), yaw


def _between(
    control: Controller, load: Load, probe: Probe, relation: Predicate, item: _Turned
) -> Iterator[tuple[float, float, float]]:
    line, middle = _line(probe, *relation.args[1:])
    axes = np.stack([line, np.cross(UP, line)], axis=1)
    first, second = (Outline(probe, other) for other in relation.args[1:])
    start, end = first.span(axes)[1][0], second.span(axes)[0][0]
    level = float(middle @ axes[:2, 1])
    for fraction, offset in product(FRACTIONS, OFFSETS):
        for yaw in yaws(control, load.T_world_item, tf.translate((*middle, 0.0))):
            near, far = item.span(yaw, axes)
            along = start + fraction * (end - start - far[0] + near[0]) - near[0]
            x, y, _ = axes @ (along, level + offset - (near[1] + far[1]) / 2)
            yield float(x), float(y), yaw


def _line(probe: Probe, first: str, second: str) -> tuple[tf.Float, tf.Float]:
    """Level unit direction (3,) from the middle of one thing to that of another, and the point (2,) half-way."""
    start, end = (_middle(Outline(probe, thing)) for thing in (first, second))
    way = np.append(end - start, 0.0)
    return way / max(float(np.linalg.norm(way)), 1e-9), (start + end) / 2


def _middle(thing: Outline) -> tf.Float:
    low, high = thing.span(np.eye(3)[:, :2])
    middle: tf.Float = (low + high) / 2
    return middle


class _Turned:
    """How far an item would reach round its root, upright at any yaw."""

    def __init__(self, probe: Probe, item: str) -> None:
        shape = probe.shape(item)
        self._points, self._radii = shape.points, shape.radii[:, None]

    def span(self, yaw: float, axes: tf.Float) -> tuple[tf.Float, tf.Float]:
        """Least and greatest offsets from the root, each (k,) [m], along unit world directions (3, k)."""
        along = self._points @ (tf.turn_z(yaw)[:3, :3].T @ axes)
        return (along - self._radii).min(axis=0), (along + self._radii).max(axis=0)


# ------------------------------------------------------------------ judging them


@contextmanager
def _imagined(world: World, item: str, probe: Probe, relations: tuple[Predicate, ...]) -> Iterator[Callable[[tf.Float], float]]:
    """Inside the `with`, gives the least margin of the relations with the item at a world pose and let go of; nothing moves."""
    kinds = [predicate(p.name) for p in relations]
    bounds = [kind.bind(probe, p.args, kind.resolve(p.params)) for kind, p in zip(kinds, relations, strict=True)]
    before, at = world.data.qpos.copy(), world.items[item].qpos

    def margin(T_world_item: tf.Float) -> float:
        world.data.qpos[at : at + 3] = T_world_item[:3, 3]
        world.data.qpos[at + 3 : at + 7] = tf.quaternion(T_world_item[:3, :3])
        mujoco.mj_kinematics(world.model, world.data)
        return min(bound.margin() for bound in bounds)

    try:
        yield margin
    finally:
        world.data.qpos[:] = before
        mujoco.mj_kinematics(world.model, world.data)


@dataclass
class _Surface:
    """The support or the bottom of the cavity that things are put down on."""

    control: Controller
    load: Load
    place: str

    def __post_init__(self) -> None:
        world = self.control.world
        owner, part = split_reference(self.place)
        if owner == FLOOR:
            raise MotionError("place_beside.no_room", "nothing is put down on the floor", subjects=(self.load.item,))
        cavity = next((c for c in world.assets[owner].affordances.cavities if c.name == part), None)
        place, self._T = world.support(self.place) if cavity is None else world.cavity(self.place)
        self._half = np.asarray(place.size[:2]) / 2 - EDGE - 0.5 * float(min(world.assets[self.load.item].size[:2]))
        self._disc = place.shape == "disc"
        opening = np.array([1.0, 0.0, 0.0]) if cavity is None else np.asarray(cavity.opening)
        headroom = np.inf if cavity is not None else world.support(self.place)[0].headroom
        self._out = None if headroom >= SHALLOW and (cavity is None or opening[2] > 0.7) else self._T[:3, :3] @ opening
        self._front = 0.5 * float(np.abs(opening[:2]) @ place.size[:2])
        self._taken = taken(self.control, self.load.item, self._T)
        self.height = float(self._T[2, 3])

    def holds(self, point: tuple[float, float]) -> bool:
        """Whether the item, its middle at a world point, has its smaller half on the surface."""
        x, y = self._T[:2, :2].T @ (np.asarray(point) - self._T[:2, 3])
        if self._disc:
            return bool(np.hypot(x, y) < self._half.min())
        return bool(abs(x) < self._half[0] and abs(y) < self._half[1])

    def crowded(self, point: tuple[float, float], beside: set[str]) -> bool:
        """Whether things that the item is not to stand beside leave it little room there."""
        x, y = self._T[:2, :2].T @ (np.asarray(point) - self._T[:2, 3])
        radius = 0.5 * float(min(self.control.world.assets[self.load.item].size[:2]))
        return any(np.hypot(x - tx, y - ty) < radius + r + CROWDED for name, tx, ty, r in self._taken if name not in beside)

    def spot(self, T: tf.Float) -> Spot:
        """Straight down, or in through the front."""
        if self._out is None:
            return open_spot(T, LIFT)
        along = float((T[:3, 3] - self._T[:3, 3]) @ self._out)
        return through_front(T, self._out, self._front - along)
