"""How far each free thing of a laid-out scene can be strewn and turned: on its support, clear of furniture, within reach.

Measured once from the scene as forged, in steps of a centimetre, for every side of a rectangle about the place where the thing
is laid out. Free things are not kept apart from each other: a draw that pushes two together is shrunk by `World.reset`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from embodiedsmith import embodiments
from embodiedsmith.assets.asset import Asset
from embodiedsmith.forge.layout import needs, reach, wiping
from embodiedsmith.forge.layout.needs import Needs
from embodiedsmith.forge.layout.prisms import Float, Kind, Prism, grown, pairwise, prism
from embodiedsmith.forge.layout.volumes import apply, arm_at_home, volumes
from embodiedsmith.spec import Area, Item, Scenario
from embodiedsmith.world import transforms as tf
from embodiedsmith.world.compile import build_assets, palm_pose, root_poses

STEP = 0.01  # [m] by which sides grow
TURNS = 12  # steps in which the angle grows
EDGE = 0.015  # [m] kept to the edge of a support
CLEAR = 0.01  # [m] kept to furniture and to the arm
PLAY = 0.02  # [m] kept to the limits of reach

Box = tuple[float, float, float, float]
"""Shifts: low x, high x, low y, high y [m]."""


def areas(scenario: Scenario, position: float, yaw: float) -> dict[str, Area]:
    """How far every free item can be from where it is laid out: at most `position` [m] along world x and y and `yaw` [rad].

    A side along which there is no room is 0; so is the angle of a thing that cannot turn.
    """
    scene = _Scene(scenario)
    return {item.id: _area(scene, item, position, yaw) for item in scenario.scene.items if not item.fixed}


def in_the_way(scenario: Scenario, others: Sequence[str]) -> tuple[str, ...]:
    """Of things that the task does not name, those farthest from the robot's ways first: from the base to what is handled, and
    from there to where it goes."""
    scene = _Scene(scenario)
    if not others:
        return ()
    base = np.asarray(scene.base[:2, 3])
    handled = sorted(scene.needs.handled)
    ways = [(base, scene.at(name)) for name in handled]
    ways += [(scene.at(t.item), scene.at(place)) for t in scene.needs.targets for place in t.others]
    ways += [(base, scene.at(part.item)) for part in scene.needs.parts]
    far = {name: min((_distance(scene.at(name), a, b) for a, b in ways), default=math.inf) for name in others}
    return tuple(sorted(others, key=lambda name: (-far[name], name)))


class _Scene:
    """A laid-out scenario with what things must keep clear of."""

    def __init__(self, scenario: Scenario) -> None:
        assert scenario.embodiment.base is not None
        self.scenario = scenario
        self.items = {item.id: item for item in scenario.scene.items}
        self.built: dict[str, Asset] = build_assets(scenario.scene)
        self.roots: dict[str, Float] = root_poses(scenario.scene, self.built, palm_pose(scenario))
        self.needs: Needs = needs.read(scenario, self.built)
        self.base: Float = tf.matrix(scenario.embodiment.base)
        self.robot = embodiments.get(scenario.embodiment.name)
        self.solid = [p for item in scenario.scene.items if item.fixed for p in self._furniture(item)]
        turn = scenario.embodiment.base.yaw
        links = arm_at_home(self.robot.name)
        self.solid += [prism(Kind.ARM, "robot", apply(self.base, points), turn) for points in links]

    def at(self, item: str) -> Float:
        """World x, y of an item's root, shape (2,)."""
        return self.roots[item][:2, 3]

    def carriers(self, item: Item) -> list[Item]:
        """What carries an item, nearest first."""
        chain: list[Item] = []
        at = item
        while at.parent is not None:
            at = self.items[at.parent]
            chain.append(at)
        return chain

    def _furniture(self, item: Item) -> list[Prism]:
        space = volumes(self.built[item.id])
        root = self.roots[item.id]
        swept = wiping.swept(self.needs, item.id, self.built[item.id], root)
        return [space.solid(Kind.FIXED, item.id, root), *space.moving(item.id, root, self.needs.joints(item.id)), *swept]


def _area(scene: _Scene, item: Item, position: float, yaw: float) -> Area:
    fits = _fits(scene, item)
    still: Box = (0.0, 0.0, 0.0, 0.0)
    turns = [yaw * k / TURNS for k in range(TURNS, 0, -1)]
    turn = next((t for t in turns if fits(still, t)), 0.0)
    sides = [0.0, 0.0, 0.0, 0.0]
    growing = {0, 1, 2, 3}
    for k in range(1, math.floor(position / STEP + 1e-9) + 1):
        for side in sorted(growing):
            there = list(sides)
            there[side] = STEP * k
            if fits((-there[0], there[1], -there[2], there[3]), turn):
                sides = there
            else:
                growing.discard(side)
    return Area(x=(-sides[0], sides[1]), y=(-sides[2], sides[3]), yaw=turn)


def _fits(scene: _Scene, item: Item) -> Callable[[Box, float], bool]:
    """Whether an item may be anywhere in a box of shifts at every turn up to one."""
    asset, root = scene.built[item.id], scene.roots[item.id]
    low, high = (np.asarray(c) for c in asset.extents)
    half = (float(np.abs([low[0], high[0]]).max()), float(np.abs([low[1], high[1]]).max()))
    heights = float(root[2, 3] + low[2]), float(root[2, 3] + high[2])
    carried = {carrier.id for carrier in scene.carriers(item)}
    solid = [p for p in scene.solid if p.owner not in carried]
    on_support = _on_support(scene, item)
    within_reach = _within_reach(scene, item)

    def fits(box: Box, turn: float) -> bool:
        x, y = _level(root, grown(half, turn))
        corners = root[:2, 3] + np.array([[a, b] for a in box[:2] for b in box[2:]])
        outline = corners + np.array([[sx * x, sy * y] for sx in (-1, 1) for sy in (-1, 1)])
        if not on_support(outline) or not within_reach(corners):
            return False
        middle, reach_of = (outline.min(axis=0) + outline.max(axis=0)) / 2, (outline.max(axis=0) - outline.min(axis=0)) / 2
        swept = Prism(
            kind=Kind.FREE, owner=item.id, center=(float(middle[0]), float(middle[1])),
            half=(float(reach_of[0]), float(reach_of[1])), yaw=0.0, low=heights[0], high=heights[1],
        )  # fmt: skip
        return not solid or bool(pairwise([swept], solid).min() > CLEAR)

    return fits


def _level(root: Float, half: tuple[float, float]) -> tuple[float, float]:
    """Half extents along world x and y of a rectangle of half extents `half` in the frame of `root`."""
    c, s = abs(float(root[0, 0])), abs(float(root[1, 0]))
    return c * half[0] + s * half[1], s * half[0] + c * half[1]


def _on_support(scene: _Scene, item: Item) -> Callable[[Float], bool]:
    """Whether world points (n, 2) lie over what carries an item."""
    if item.parent is None or item.pose is None or item.relation == "attached":
        return lambda points: True
    affordances = scene.built[item.parent].affordances
    place = affordances.cavity(item.support) if item.relation == "inside" else affordances.support(item.support)
    T = tf.inverse(scene.roots[item.id] @ tf.inverse(tf.matrix(item.pose)))
    limit = np.asarray(place.size[:2]) / 2 - EDGE

    def over(points: Float) -> bool:
        local = points @ T[:2, :2].T + T[:2, 3]
        if place.shape == "disc":
            return bool(np.linalg.norm(local, axis=1).max() <= limit[0])
        return bool((np.abs(local) <= limit).all())

    return over


def _within_reach(scene: _Scene, item: Item) -> Callable[[Float], bool]:
    """Whether the robot gets at an item everywhere in the rectangle of world points (4, 2): asked of what the task concerns.

    Of a vehicle it is asked how far behind the front of the furniture things may be.
    """
    if not scene.needs.concerns(item.id):
        return lambda points: True
    if scene.robot.base.stands:
        mounts = apply(scene.base, np.array([[*m, 0.0] for m in reach.mounts(scene.robot.name)]))[:, :2]
        nearest, farthest = scene.robot.work[0] + PLAY, scene.robot.work[1] - PLAY
        return lambda points: any(_spans(mount, points, nearest, farthest) for mount in mounts)
    carriers = scene.carriers(item)
    if not carriers or item.relation == "inside":
        return lambda points: True
    T, front = tf.inverse(scene.roots[carriers[-1].id]), float(scene.built[carriers[-1].id].extents[1][0])
    return lambda points: bool((front - (points @ T[0, :2] + T[0, 3])).max() <= reach.EDGE_REACH)


def _spans(mount: Float, points: Float, nearest: float, farthest: float) -> bool:
    """Whether a rectangle of points (4, 2) along the axes lies between two distances from a mount."""
    low, high = points.min(axis=0), points.max(axis=0)
    inner = float(np.linalg.norm(np.clip(mount, low, high) - mount))
    outer = float(np.linalg.norm(points - mount, axis=1).max())
    return inner >= nearest and outer <= farthest


def _distance(point: Float, start: Float, end: Float) -> float:
    """Distance of a point (2,) from the line between two."""
    way = end - start
    length = float(way @ way)
    along = 0.0 if length == 0.0 else min(max(float((point - start) @ way) / length, 0.0), 1.0)
    return float(np.linalg.norm(point - start - along * way))
