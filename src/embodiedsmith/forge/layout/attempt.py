"""One attempt at a layout: everything is given a place in turn, each drawn until it fits with what stands already."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from embodiedsmith.assets.asset import Asset, Cavity, Support
from embodiedsmith.embodiments.description import Robot
from embodiedsmith.forge.layout.needs import GAP_NEAR, Needs, Part, Target
from embodiedsmith.forge.layout.prisms import Float, Kind, Plan, Prism, grown, prism
from embodiedsmith.forge.layout.region import Region
from embodiedsmith.forge.layout.volumes import apply, arm_at_home, corners, volumes
from embodiedsmith.spec import Finding, Item, Pose, Scenario
from embodiedsmith.spec.scene import Relation
from embodiedsmith.world import CompileError
from embodiedsmith.world import transforms as tf
from embodiedsmith.world.compile import support_frame

TRIES = 80  # places drawn for one thing in one attempt
FURNITURE_TRIES = 240  # the same for furniture, which has to be within reach in more ways
SURFACE_HEIGHTS = (0.45, 1.2)  # [m] heights at which furniture is worked on
SHOULDER = 0.4  # [m] of the arm above its mount that never moves away
SHOULDER_AXIS = 0.33  # [m] height of the first joint that lifts the arm above its mount (Franka: 0.333 m)
NEAR_EDGE = (0.04, 0.07)  # [m] between the mount and the work surface
MOUNT_ABOVE = 0.2  # [m] above what furniture on the floor has to be reached: low enough for the mount
ARM_PLAY = 0.03  # [m] that the arm's start varies, in each direction
KEEP_OUT = 0.22  # [m] from the base's axis, nothing stands there
GRASP_REACH = (0.30, 0.70)  # [m] horizontally from the base, to grasp from above
HANDLE_REACH = (0.25, 0.80)  # [m] horizontally from the base, to pull a handle
CAVITY_REACH = (0.30, 0.82)  # [m] horizontally from the base, to reach into something
ENTRY = 0.2  # part of a cavity's depth before its middle where things are set down from its front
EDGE_REACH = 0.40  # [m] from a surface's near edge that a mobile robot in front of it reaches
STANDING_ROOM = 0.90  # [m] in front of what a mobile robot works at
WALL_HEIGHT = (0.35, 0.50)  # [m] between a work surface and what hangs over it
WALL_BEHIND = 0.25  # [m] at most, from the back of a work surface to the wall


class NoPlaceError(Exception):
    """Internal to the solver: this attempt is over; `finding` says for what there was no place."""

    def __init__(self, finding: Finding) -> None:
        self.finding = finding
        super().__init__(finding.message)


@dataclass
class Attempt:
    """The state of one attempt. `comfort` 1 asks for generous gaps and reach, 0 for the least that works."""

    scenario: Scenario
    built: dict[str, Asset]
    robot: Robot
    needs: Needs
    rng: np.random.Generator
    comfort: float
    plan: Plan = field(default_factory=Plan)
    roots: dict[str, Float] = field(default_factory=dict)
    """World pose of each placed item's root."""
    poses: dict[str, Pose] = field(default_factory=dict)
    base: Pose = field(default_factory=Pose)
    surface: str | None = None
    """The work surface in front of the robot."""

    def __post_init__(self) -> None:
        self.items = {item.id: item for item in self.scenario.scene.items}
        self.jitter = self.scenario.randomization.position
        self.turn = min(self.scenario.randomization.yaw, math.pi)
        self.gaps = self._gap_table()

    def _gap_table(self) -> Float:
        """Least gap [m] between kinds; minus infinity where sharing space is no fault."""
        j = math.sqrt(2) * self.jitter  # farthest one item strays
        fingers = 0.035 + 0.025 * self.comfort
        table = np.full((len(Kind), len(Kind)), -np.inf)
        for a, b, gap in (
            (Kind.FREE, Kind.FREE, max(fingers, 2 * j + 0.005)),
            (Kind.FREE, Kind.FIXED, max(fingers + 0.01, j + 0.01)),
            (Kind.FREE, Kind.SWING, j + 0.01),
            (Kind.FREE, Kind.HAND, j),
            (Kind.FREE, Kind.RESERVED, j + 0.015 + 0.025 * self.comfort),
            (Kind.FREE, Kind.MOUNT, j + 0.05),
            (Kind.FREE, Kind.STAND, j),
            (Kind.FIXED, Kind.FIXED, 0.01),
            (Kind.FIXED, Kind.SWING, 0.015),
            (Kind.FIXED, Kind.HAND, 0.0),
            (Kind.FIXED, Kind.RESERVED, 0.03),
            (Kind.FIXED, Kind.MOUNT, 0.02),
            (Kind.FIXED, Kind.STAND, 0.0),
            (Kind.SWING, Kind.SWING, 0.0),
            (Kind.FREE, Kind.IDLE, j + 0.01),
            (Kind.FIXED, Kind.IDLE, 0.015),
            (Kind.RESERVED, Kind.IDLE, 0.01),
            (Kind.SWING, Kind.RESERVED, 0.01),
            (Kind.SWING, Kind.MOUNT, 0.02),
            (Kind.HAND, Kind.RESERVED, 0.0),
            (Kind.HAND, Kind.MOUNT, 0.0),
            (Kind.RESERVED, Kind.RESERVED, 0.03),
            (Kind.RESERVED, Kind.MOUNT, 0.05),
            (Kind.FREE, Kind.ARM, j + ARM_PLAY),
            (Kind.FIXED, Kind.ARM, 0.03),
        ):
            table[a, b] = table[b, a] = gap
        return table

    # ------------------------------------------------------------------ the order of things

    def run(self) -> None:
        """Place everything; raises NoPlaceError at the first thing that has no place."""
        floor = [i for i in self.items.values() if i.parent is None and i.fixed]
        self.surface = self._work_surface(floor)
        if self.surface is not None:
            self._place_surface(self.items[self.surface])
        self._place_robot()
        for item in sorted(floor, key=self._priority):
            if item.id != self.surface:
                self._place_furniture(item)
        rest = [i for i in self.items.values() if i.id not in self.roots]
        concerned = [i for i in rest if i.fixed or self.needs.concerns(i.id) or self._carries_concerned(i)]
        for item in self._parents_first(concerned):
            self._place_item(item)
        for target in self.needs.targets:
            self._reserve(target)
        for item in self._parents_first([i for i in rest if i.id not in self.roots]):
            self._place_item(item)

    def _priority(self, item: Item) -> tuple[bool, bool, float]:
        size = self.built[item.id].size
        return (not item.fixed, not self.needs.concerns(item.id), -float(size[0] * size[1]))

    def _parents_first(self, items: list[Item]) -> Iterator[Item]:
        waiting = sorted(items, key=self._priority)
        while waiting:
            ready = [i for i in waiting if i.parent is None or i.parent in self.roots]
            if not ready:  # an unconcerned parent of these comes later
                return
            waiting.remove(ready[0])
            yield ready[0]

    def _carries_concerned(self, item: Item) -> bool:
        return any(i.parent == item.id and (self.needs.concerns(i.id) or self._carries_concerned(i)) for i in self.items.values())

    def _work_surface(self, floor: list[Item]) -> str | None:
        """The floor furniture that carries most, or would."""

        def score(item: Item) -> tuple[int, float]:
            carried = sum(1 for i in self.items.values() if i.parent == item.id and i.relation == "on")
            wanted = sum(1 for t in self.needs.targets if t.place == item.id and t.relation == "on")
            areas = [s.size[0] * s.size[1] for s in self._work_supports(item)]
            return carried + wanted, max(areas, default=0.0)

        able = [item for item in floor if item.relation == "on" and self._work_supports(item)]
        return max(able, key=score).id if able else None

    def _work_supports(self, item: Item) -> list[Support]:
        low, high = SURFACE_HEIGHTS
        supports = self.built[item.id].affordances.supports
        inner = {c.name for c in self.built[item.id].affordances.cavities}
        return [s for s in supports if s.body == "root" and s.name not in inner and low <= s.pose.position[2] <= high]

    # ------------------------------------------------------------------ furniture on the floor

    def _place_surface(self, item: Item) -> None:
        """In front of the robot, which stands at the world's origin facing +x; its front is towards the robot."""
        asset = self.built[item.id]
        low, high = asset.extents
        near = self.robot.base.footprint[0] / 2 + (0.0 if self.robot.base.kind == "fixed" else 0.55)
        width = high[1] - low[1]
        shift = min(0.15, max(0.0, width / 2 - 0.45))

        def draw() -> Pose:
            gap = self.rng.uniform(*NEAR_EDGE)
            if asset.joints and self.robot.base.kind == "fixed":  # its own drawers need room before it
                gap = self.rng.uniform(NEAR_EDGE[0], 0.45)
            return Pose.planar(near + gap + high[0], float(self.rng.uniform(-shift, shift)), 0.0, math.pi)

        self._seek(item, draw, lambda T: True)

    def _place_robot(self) -> None:
        fixed = self.robot.base.kind == "fixed"
        x, y = self.robot.base.footprint
        if self.scenario.embodiment.base is not None:
            self.base = self.scenario.embodiment.base
        elif fixed:
            self.base = Pose.planar(0.0, 0.0, self._surface_height() - float(self.rng.uniform(0.5, 1.0)) * self._drop())
        else:
            at = self.rng.uniform((-0.3, -0.3, -0.3), (0.0, 0.3, 0.3))
            self.base = Pose.planar(float(at[0]), float(at[1]), 0.0, float(at[2]))
            x = y = 2 * self.robot.base.radius
        top = self.base.position[2] + self.robot.arm_height + SHOULDER
        T = tf.matrix(self.base)
        box = apply(T, corners(np.array([-x / 2, -y / 2, 0.0]), np.array([x / 2, y / 2, 0.0])))
        box[:, 2] = np.where(np.arange(8) % 2, top, 0.0)
        play = np.array([0.0, 0.0, ARM_PLAY])
        homes = [np.concatenate([p - play, p + play]) for p in arm_at_home(self.robot.name)]
        links = [prism(Kind.ARM, "robot", apply(T, points), self.base.yaw) for points in homes]
        self.plan.add([prism(Kind.MOUNT, "robot", box, self.base.yaw), *links])

    def _drop(self) -> float:
        """How far below the work surface an arm may be mounted [m], to reach what furniture on the floor has lower down."""
        floor = [
            i.id for i in self.items.values() if i.fixed and i.parent is None and i.relation == "on" and i.id != self.surface
        ]
        required = [self._lowest(p) for p in self.needs.parts if p.item in floor and p.required]
        choices = [self._lowest(p) for p in self.needs.parts if p.item in floor and not p.required]
        needed = [*required, *([max(choices)] if choices else [])]
        if not needed:
            return 0.0
        beyond = [p[:, 2].min() for p in arm_at_home(self.robot.name) if p[:, 0].max() > self.robot.base.footprint[0] / 2]
        most = max(0.0, min(beyond, default=0.0) - 2 * ARM_PLAY)  # the arm is held over the surface at the start
        return float(np.clip(self._surface_height() - MOUNT_ABOVE - min(needed), 0.0, most))

    def _lowest(self, part: Part) -> float:
        """Height above the item's root of the lowest place that the hand goes to at a part [m]."""
        asset = self.built[part.item]
        grips = [s.grips[:, 2].min() for s in volumes(asset).sweeps if s.joint == part.joint and len(s.grips)]
        floors = [c.pose.position[2] for c in asset.affordances.cavities if c.name == part.cavity and c.body == "root"]
        return float(min([*grips, *floors], default=0.0))

    def _surface_height(self) -> float:
        if self.surface is None:
            return 0.0
        support = self._work_supports(self.items[self.surface])[0]
        return float(self.roots[self.surface][2, 3]) + support.pose.position[2]

    def _place_furniture(self, item: Item) -> None:
        """Beside a fixed robot, within its reach when the task needs it; for a mobile one along the walls of the room."""
        if item.relation == "attached":
            draw = self._draw_wall(item)
        elif self.robot.base.kind == "fixed":
            draw = self._draw_beside(item)
        else:
            draw = self._draw_in_room(item)
        self._seek(item, draw, lambda T: self._furniture_in_reach(item, T))

    def _draw_beside(self, item: Item) -> Callable[[], Pose]:
        base = np.asarray(self.base.position)
        low, high = self.built[item.id].extents
        half = (high[1] - low[1]) / 2
        span = (0.30, 0.65) if self.needs.concerns(item.id) else (0.75, 1.3)

        def draw() -> Pose:
            """The robot is `away` before the item's front and `side` along it; the item's front looks in direction `facing`."""
            bearing = self.rng.choice((-1.0, 1.0)) * self.rng.uniform(math.radians(50), math.radians(150))
            facing = self.base.yaw + bearing + math.pi
            away, side = high[0] + self.rng.uniform(*span), half * self.rng.uniform(-1.3, 1.3)
            c, s = math.cos(facing), math.sin(facing)
            return Pose.planar(float(base[0] - c * away + s * side), float(base[1] - s * away - c * side), 0.0, float(facing))

        return draw

    def _draw_in_room(self, item: Item) -> Callable[[], Pose]:
        low, high = self.built[item.id].extents
        half = max(high[1], -low[1])
        back, side = 1.6, 0.6
        if self.surface is not None:
            surface = volumes(self.built[self.surface]).solid(Kind.FIXED, self.surface, self.roots[self.surface])
            back, side = surface.center[0] + surface.half[0], surface.half[1]

        def draw() -> Pose:
            hand = float(self.rng.choice((-1.0, 1.0)))
            if self.rng.random() < 0.5:  # along the wall behind the work surface
                return Pose.planar(back + low[0], hand * (side + half + float(self.rng.uniform(0.05, 0.7))), 0.0, math.pi)
            x = float(self.rng.uniform(-1.0, 0.6))
            return Pose.planar(x, hand * float(self.rng.uniform(1.2, 1.7) + high[0]), 0.0, -hand * math.pi / 2)

        return draw

    def _draw_wall(self, item: Item) -> Callable[[], Pose]:
        """Hung on the wall behind the work surface, over it."""
        low, _ = self.built[item.id].extents
        floor = self._surface_height() - low[2]

        def draw() -> Pose:
            height = floor + float(self.rng.uniform(*WALL_HEIGHT))
            behind, y = float(self.rng.uniform(0.0, WALL_BEHIND)), float(self.rng.uniform(-0.5, 0.5))
            if self.surface is None:
                return Pose.planar(0.7 + behind, y, height, math.pi)
            T = self.roots[self.surface]
            back = -self.built[self.surface].extents[0][0]
            return Pose.planar(float(T[0, 3]) + back + behind + low[0], float(T[1, 3]) + y, height, math.pi)

        return draw

    def _standing_room(self, item: Item, T: Float) -> list[Prism]:
        if self.robot.base.kind == "fixed" or item.parent is not None or item.relation == "attached":
            return []
        low, high = (np.asarray(c) for c in self.built[item.id].extents)
        half = max(0.35, (high[1] - low[1]) / 2 - 0.05)
        box = corners(np.array([high[0] + 0.01, -half, 0.0]), np.array([high[0] + STANDING_ROOM, half, 1.5]))
        return [prism(Kind.STAND, item.id, apply(T, box), math.atan2(T[1, 0], T[0, 0]))]

    # ------------------------------------------------------------------ things on and in others

    def _place_item(self, item: Item) -> None:
        if item.parent is None and item.pose is None:
            self._seek(item, self._draw_on_floor(), lambda T: self._in_reach(item, T))
            return
        region = self._region(item.id, item.parent, item.relation, item.support)
        if item.fixed and item.relation == "attached" and self.surface is not None:
            wall = self._draw_wall(item)
            draw = lambda: tf.to_pose(tf.inverse(region.T_world) @ tf.matrix(wall()))  # noqa: E731
            self._seek(item, draw, lambda T: self._furniture_in_reach(item, T))
        elif item.fixed:
            self._seek(item, lambda: region.draw_facing(self), lambda T: self._furniture_in_reach(item, T))
        else:
            heading = self._heading(item)
            self._seek(item, lambda: region.draw(self, heading), lambda T: self._in_reach(item, T))

    def _draw_on_floor(self) -> Callable[[], Pose]:
        def draw() -> Pose:
            angle, away = self.rng.uniform(-1.2, 1.2), self.rng.uniform(*GRASP_REACH)
            x, y, _ = self.base.position
            return Pose.planar(
                x + float(away * np.cos(angle)), y + float(away * np.sin(angle)), 0.0, float(self.rng.uniform(-math.pi, math.pi))
            )

        return draw

    def _region(self, item: str, parent: str | None, relation: Relation, part: str | None) -> Region:
        if parent is None:
            return Region(item, np.eye(4), (3.0, 3.0), "rectangle", "floor", front=False)
        affordances = self.built[parent].affordances
        try:
            place: Support | Cavity = affordances.cavity(part) if relation == "inside" else affordances.support(part)
        except KeyError as error:
            raise CompileError(f"nothing can be {relation} it: {error}", where=f"item '{parent}'") from error
        at = Item(id="at", asset=self.items[parent].asset, parent=parent, relation=relation, support=part)
        T = self.roots[parent] @ support_frame(self.scenario.scene, at, self.built)
        front = isinstance(place, Cavity) and place.opening[2] < 0.7
        return Region(item, T, (place.size[0], place.size[1]), place.shape, parent, front=front)

    def _heading(self, item: Item) -> float | None:
        """World angle of the item's yaw that lets a hand coming from the robot hold it from its one good side; None: any."""
        grasps = self.built[item.id].affordances.grasps
        ways = np.array([tf.rotation(g.pose.rotation)[:2, 2] for g in grasps if g.kind == "side" and g.body == "root"])
        if len(ways) == 0 or np.linalg.norm(ways.mean(axis=0)) < 0.8:
            return None
        mean = ways.mean(axis=0)
        return -math.atan2(mean[1], mean[0])

    # ------------------------------------------------------------------ free area for what comes

    def _reserve(self, target: Target) -> None:
        """Keep a spot free where the task will put something."""
        if target.place not in self.roots or target.item not in self.built:
            return
        asset = self.built[target.item]
        crowd = sum(
            1 for t in self.needs.targets if (t.place, t.part, t.relation) == (target.place, target.part, target.relation)
        )
        ghost = Item(id=target.item, asset=self.items[target.item].asset, parent=target.place)
        if target.relation == "near":
            draw, related = self._draw_near(target), self._related(target.place)
            reach: Callable[[Float], bool] = lambda T: self._in_reach(ghost, T)  # noqa: E731
        else:
            region = self._region(target.item, target.place, target.relation, target.part)
            if target.relation == "inside" and crowd > 1 and not region.front:
                return  # a heap: whether it fits is for the container's size to say
            draw = lambda: region.draw(self, None)  # noqa: E731
            related = self._related(target.place)
            reach = lambda T: target.relation == "inside" or self._in_reach(ghost, T)  # noqa: E731
        reasons: Counter[str] = Counter()
        for _ in range(TRIES):
            pose = draw()
            if pose is None:
                reasons["would stick out"] += 1
                continue
            T = self._frame(target) @ tf.matrix(pose)
            if not reach(T):
                reasons["are out of reach"] += 1
                continue
            box = volumes(asset).solid(Kind.RESERVED, target.item, T)
            hit = self._conflict([box], related)
            if hit is None:
                self.plan.add([box])
                return
            reasons[f"come too close to {hit}"] += 1
        raise NoPlaceError(
            no_space(f"{target.item}, to be put {target.relation} {target.place}", target.item, asset, reasons, self.gaps)
        )

    def _frame(self, target: Target) -> Float:
        if target.relation == "near":
            return np.eye(4)
        return self._region(target.item, target.place, target.relation, target.part).T_world

    def _draw_near(self, target: Target) -> Callable[[], Pose | None]:
        asset, other = self.built[target.item], self.built[target.place]
        away = float(np.hypot(*asset.size[:2]) + np.hypot(*other.size[:2])) / 2
        carrier = self.items[target.place].parent
        region = self._region(target.item, carrier, self.items[target.place].relation, self.items[target.place].support)
        height = float(region.T_world[2, 3])

        def draw() -> Pose | None:
            angle = self.rng.uniform(-math.pi, math.pi)
            T = self.roots[target.place]
            x, y = T[:2, 3] + (away + GAP_NEAR) * np.array([math.cos(angle), math.sin(angle)])
            pose = Pose.planar(float(x), float(y), height)
            local = tf.to_pose(tf.inverse(region.T_world) @ tf.matrix(pose))
            return pose if region.holds(self, local) else None

        return draw

    # ------------------------------------------------------------------ drawing until it fits

    def _seek(self, item: Item, draw: Callable[[], Pose | None], reachable: Callable[[Float], bool]) -> None:
        """Draw poses in the item's support frame until one is in reach and clear of everything, and place the item there."""
        asset = self.built[item.id]
        T_world_frame = self._region(item.id, item.parent, item.relation, item.support).T_world
        related = self._related(item.id)
        reasons: Counter[str] = Counter()
        given = item.pose
        for _ in range(1 if given is not None else FURNITURE_TRIES if item.fixed else TRIES):
            pose = given if given is not None else draw()
            if pose is None:
                reasons["would stick out"] += 1
                continue
            T = T_world_frame @ tf.matrix(pose)
            if given is None and not reachable(T):
                reasons["are out of reach"] += 1
                continue
            prisms = self._prisms(item, T)
            hit = None if given is not None else self._conflict(prisms, related)
            if hit is None:
                self.plan.add(prisms)
                self.roots[item.id], self.poses[item.id] = T, pose
                return
            reasons[f"come too close to {hit}"] += 1
        raise NoPlaceError(no_space(item.id, item.id, asset, reasons, self.gaps))

    def _prisms(self, item: Item, T: Float) -> list[Prism]:
        """What the item takes: its solid, what it sweeps, where one stands before it."""
        room = volumes(self.built[item.id])
        solid = room.solid(Kind.FIXED if item.fixed else Kind.FREE, item.id, T)
        if not item.fixed:
            solid = Prism(
                kind=solid.kind, owner=solid.owner, center=solid.center, half=grown(solid.half, self.turn),
                yaw=solid.yaw, low=solid.low, high=solid.high,
            )  # fmt: skip
        return [solid, *room.moving(item.id, T, self.needs.joints(item.id)), *self._standing_room(item, T)]

    def _conflict(self, prisms: list[Prism], related: frozenset[str]) -> str | None:
        """Owner of a placed prism that one of `prisms` comes too close to, or None. Items that carry each other do not count."""
        others = [k for k, p in enumerate(self.plan.prisms) if p.owner not in related]
        if not others:
            return None
        gaps = self.plan.separations(prisms)[:, others]
        kinds = np.array([self.plan.prisms[k].kind for k in others])
        needed = self.gaps[np.array([p.kind for p in prisms])[:, None], kinds[None]]
        bad = np.argwhere(gaps < needed)
        return self.plan.prisms[others[int(bad[0, 1])]].owner if len(bad) else None

    def _related(self, item: str) -> frozenset[str]:
        """The item, what carries it and what it carries."""
        chain = {item}
        at = self.items[item].parent
        while at is not None:
            chain.add(at)
            at = self.items[at].parent
        below = {item}
        for _ in self.items:
            below |= {i.id for i in self.items.values() if i.parent in below}
        return frozenset(chain | below)

    # ------------------------------------------------------------------ reach

    def _in_reach(self, item: Item, T: Float) -> bool:
        """Whether a free item is where the robot can grasp it; only asked of what the task concerns."""
        if self.robot.base.kind == "fixed":
            away = self._away(T[:2, 3])
            if not self.needs.concerns(item.id):
                return away > KEEP_OUT
            comfort = 0.04 * self.comfort
            inside = item.relation == "inside" and item.parent is not None and self.items[item.parent].fixed
            low, high = CAVITY_REACH if inside else GRASP_REACH
            return low + comfort < away < high - comfort
        if not self.needs.concerns(item.id) or item.parent is None:
            return True
        return item.relation == "inside" or self._from_front(item.parent, T[:3, 3]) < EDGE_REACH

    def _furniture_in_reach(self, item: Item, T: Float) -> bool:
        """Whether handles that are to be pulled, over their way, and cavities that are to be used, are within reach."""
        ways = [part for part in self.needs.parts if part.item == item.id]
        required = [part for part in ways if part.required]
        choices = [part for part in ways if not part.required]
        if not ways and self.needs.concerns(item.id) and self.robot.base.kind == "fixed":
            return HANDLE_REACH[0] < self._away(T[:2, 3]) < CAVITY_REACH[1]
        served = all(self._part_in_reach(item, part, T) for part in required)
        return served and (not choices or any(self._part_in_reach(item, part, T) for part in choices))

    def _part_in_reach(self, item: Item, part: Part, T: Float) -> bool:
        room, asset = volumes(self.built[item.id]), self.built[item.id]
        points = [apply(T, s.grips) for s in room.sweeps if s.joint == part.joint]
        handles = np.concatenate([np.zeros((0, 3)), *points])
        cavities = [c for c in asset.affordances.cavities if c.name == part.cavity and c.body == "root"]
        centers = [np.add(c.pose.position, (ENTRY * c.size[0] if c.opening[2] < 0.7 else 0.0, 0.0, 0.05)) for c in cavities]
        inner = apply(T, np.array(centers).reshape(-1, 3))
        if self.robot.base.kind != "fixed":
            parent = item.parent
            return parent is None or all(self._from_front(parent, p) < EDGE_REACH + 0.1 for p in handles)
        everything = np.concatenate([handles, inner])
        shoulder = np.add(self.base.position, (0.0, 0.0, SHOULDER_AXIS))
        if (np.linalg.norm(everything - shoulder, axis=1) > self.robot.arm.reach).any():
            return False
        low, high = HANDLE_REACH[0] + 0.1 * self.comfort, HANDLE_REACH[1] - 0.05 * self.comfort
        near = all(low < self._away(p) < high for p in handles)
        return near and all(CAVITY_REACH[0] < self._away(p) < CAVITY_REACH[1] for p in inner)

    def _away(self, point: Float) -> float:
        """Horizontal distance [m] from the robot's base."""
        return float(np.hypot(point[0] - self.base.position[0], point[1] - self.base.position[1]))

    def _from_front(self, carrier: str, point: Float) -> float:
        """Distance [m] of a point behind the front face of the floor furniture that carries it."""
        while (parent := self.items[carrier].parent) is not None:
            carrier = parent
        local = apply(tf.inverse(self.roots[carrier]), np.asarray(point)[None])[0]
        return float(self.built[carrier].extents[1][0] - local[0])


def no_space(what: str, subject: str, asset: Asset, reasons: Counter[str], gaps: Float) -> Finding:
    """The finding for a thing that has no place."""
    x, y, _ = 100 * asset.size
    tried = sum(reasons.values())
    told = "; ".join(f"{n} {reason}" for reason, n in reasons.most_common(3))
    needed = float(gaps[Kind.FREE, Kind.FREE])
    return Finding(
        code="geometry.no_space", subjects=(subject,), value=float(max(asset.size[:2])), limit=needed, unit="m",
        message=f"no place for {what} ({x:.1f} x {y:.1f} cm, {100 * needed:.1f} cm clear round it): of {tried} tried, {told}",
    )  # fmt: skip
