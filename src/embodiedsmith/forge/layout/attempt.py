"""One attempt at a layout: everything is given a place in turn, each drawn until it fits with what stands already."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from embodiedsmith.assets.asset import Asset, Cavity, Support
from embodiedsmith.embodiments.description import Robot
from embodiedsmith.forge.layout import before, furniture, reach, relations, robot, rooms, spots, wiping
from embodiedsmith.forge.layout.failures import Failure, NoPlaceError
from embodiedsmith.forge.layout.furniture import Draw
from embodiedsmith.forge.layout.gaps import gap_table
from embodiedsmith.forge.layout.needs import Needs
from embodiedsmith.forge.layout.prisms import Float, Kind, Plan, Prism, grown
from embodiedsmith.forge.layout.region import Region
from embodiedsmith.forge.layout.volumes import apply, volumes
from embodiedsmith.spec import Item, Pose, Predicate, Room, Scenario, Wall
from embodiedsmith.spec.scene import Relation
from embodiedsmith.world import CompileError
from embodiedsmith.world import transforms as tf
from embodiedsmith.world.compile import cradled, support_frame

TRIES = 80  # places drawn for one thing in one attempt
SNUG = 7  # free places more, of which the one closest to other things is taken, when room is scarce
WORK_AHEAD = 0.5  # [m] before the base is the middle of where things are handled
LARGE = 0.02  # [m^2] of footprint from which a thing stands at the side when room is scarce
REACHED = 0.5  # [m^2] of a work surface within reach
SPARSE, DENSE = 0.2, 0.5  # parts of that covered at which places are drawn freely, and packed
FURNITURE_TRIES = 240  # the same for furniture, which has to be within reach in more ways


@dataclass
class Attempt:
    """The state of one attempt. `comfort` 1 asks for generous gaps and reach, 0 for the least that works."""

    scenario: Scenario
    built: dict[str, Asset]
    robot: Robot
    needs: Needs
    rng: np.random.Generator
    comfort: float
    anticipate: bool = True
    """Whether the task's needs are looked to; else things only stand apart."""
    plan: Plan = field(default_factory=Plan)
    roots: dict[str, Float] = field(default_factory=dict)
    """World pose of each placed item's root."""
    poses: dict[str, Pose] = field(default_factory=dict)
    ghosts: dict[str, Float] = field(default_factory=dict)
    """World pose of the root of what the task puts somewhere, once it is there."""
    base: Pose = field(default_factory=Pose)
    surface: str | None = None
    """The work surface in front of the robot."""
    rooms: tuple[Room, ...] = ()
    """The rooms as they are with their walls."""
    walls: tuple[Wall, ...] = ()
    headings: dict[str, float | None] = field(default_factory=dict)
    """What `heading` has found."""

    def __post_init__(self) -> None:
        self.items = {item.id: item for item in self.scenario.scene.items}
        self.spaces = {name: volumes(asset) for name, asset in self.built.items()}
        self.points = {part: reach.points_of(self.built[part.item], part) for part in self.needs.parts}
        self.jitter = self.scenario.randomization.position
        self.turn = min(self.scenario.randomization.yaw, math.pi)
        self.gaps = gap_table(self.jitter, self.comfort, anticipate=self.anticipate)
        crowded = self._crowding() if self.anticipate else 0.0
        self.choices = 1 + round(SNUG * max(1.0 - self.comfort, crowded)) if self.anticipate else 1
        self.stands = 1 + round(SNUG * crowded)
        scene = self.scenario.scene
        self.beside = (float(self.rng.choice((-1.0, 1.0))), float(self.rng.random())) if scene.rooms else (1.0, 0.0)
        """On which side of the robot's room another one is, and how far off, from 0 to 1."""

    def _crowding(self) -> float:
        """How scarce room is for what the task concerns: 0 where it falls into place, 1 where it must be packed."""
        gap = float(self.gaps[Kind.FREE, Kind.FREE])
        loose = [self.built[i.id].size for i in self.items.values() if not i.fixed and self._involved(i) and i.relation == "on"]
        part = sum(float((x + gap) * (y + gap)) for x, y, _ in loose) / REACHED
        return float(np.clip((part - SPARSE) / (DENSE - SPARSE), 0.0, 1.0))

    # ------------------------------------------------------------------ the order of things

    def run(self) -> None:
        """Place everything; raises NoPlaceError at the first thing that has no place."""
        self.keep()
        given = self.scenario.embodiment.base
        if given is not None:
            self._set_base(given)
        if self.surface is not None and self.surface not in self.roots:
            self._seek(self.items[self.surface], furniture.before_robot(self, self.items[self.surface]))
        late = not self.anticipate and not self.robot.base.stands
        if given is None and not late:
            self._set_base(robot.new_base(self))
        for item in sorted(self._unplaced(), key=self._priority):
            if item.parent is None and item.fixed:
                other = rooms.beside(self, item)
                self._seek(item, rooms.in_other_room(self, item) if other else furniture.on_floor(self, item))
        if given is None and late:
            self._set_base(robot.bases(self, 1)[0])
        if not self.walls:
            rooms.enclose(self)
        early = [i for i in self._unplaced() if i.fixed or self._involved(i) or self._carries_involved(i)]
        for item in self._in_order(early):
            self._place(item)
        if self.anticipate:
            spots.reserve(self)
        for item in self._in_order(self._unplaced()):
            self._place(item)

    def keep(self) -> None:
        """Put what has its pose, down to the floor, where it is; find the work surface."""
        self.surface = furniture.work_surface(self)
        for item in self._given():
            self._stand([(item, self._root(item))])
        if all(i.id in self.roots for i in self.items.values() if i.fixed and i.parent is None):
            self.rooms, self.walls = self.scenario.scene.rooms, self.scenario.scene.walls
            self.plan.add(rooms.prisms(self.walls))

    def _given(self) -> Iterator[Item]:
        """Items whose poses and whose carriers' poses are given, carriers first."""
        waiting = [i for i in self.items.values() if i.pose is not None and i.relation != "held"]
        while ready := [i for i in waiting if i.parent is None or i.parent in self.roots]:
            waiting = [i for i in waiting if i not in ready]
            yield from ready

    def _root(self, item: Item) -> Float:
        assert item.pose is not None
        return self.region(item.id, item.parent, item.relation, item.support).T_world @ tf.matrix(item.pose)

    def _unplaced(self) -> list[Item]:
        return [i for i in self.items.values() if i.id not in self.roots]

    def _set_base(self, base: Pose) -> None:
        self.base = base
        self.plan.add(robot.room(self, base))
        for item in self.items.values():
            if item.relation == "held":
                self._stand([(item, self._root(item))])

    def _priority(self, item: Item) -> tuple[bool, bool, float]:
        size = self.built[item.id].size
        return (not item.fixed, not self._involved(item), -float(size[0] * size[1]))

    def _involved(self, item: Item) -> bool:
        """Whether the task touches the item, or its start says where it is."""
        return self.needs.concerns(item.id) or any(item.id in p.args for p in self.scenario.task.initial)

    def _carries_involved(self, item: Item) -> bool:
        return any(i.parent == item.id and (self._involved(i) or self._carries_involved(i)) for i in self.items.values())

    def _in_order(self, items: list[Item]) -> Iterator[Item]:
        """Carriers first, and what a relation of the start refers to before what it places."""
        waiting = sorted(items, key=self._priority)
        while waiting:
            carried = [i for i in waiting if i.parent is None or i.parent in self.roots]
            if not carried:  # an uninvolved parent of these comes later
                return
            free = [i for i in carried if not relations.waits(self, i)]
            chosen = (free or carried)[0]
            waiting.remove(chosen)
            if chosen.id not in self.roots:  # it may have come with its carrier
                yield chosen

    def _place(self, item: Item) -> None:
        """Find a place for something on or in something else, or for a free thing on the floor."""
        if item.parent is None:
            self._seek(item, self._anywhere_before_robot())
            return
        region = self.region(item.id, item.parent, item.relation, item.support)
        if item.relation == "attached" and self.surface is not None:
            wall = furniture.on_wall(self, item)

            def hung() -> Pose | None:
                pose = wall()
                return None if pose is None else tf.to_pose(tf.inverse(region.T_world) @ tf.matrix(pose))

            self._seek(item, hung)
        elif item.fixed:
            self._seek(item, lambda: region.draw_facing(self))
        else:
            heading, guided = self.heading(item), relations.guided(self, item, region)
            if guided is None:
                self._seek(item, lambda: region.draw(self, heading))
            else:
                self._seek(item, guided[1], guided[0])

    def _anywhere_before_robot(self) -> Draw:
        def draw() -> Pose:
            angle, away, yaw = (float(self.rng.uniform(*r)) for r in ((-1.2, 1.2), self.robot.work, (-math.pi, math.pi)))
            local = Pose.planar(away * math.cos(angle), away * math.sin(angle), 0.0, yaw)
            T = tf.matrix(self.base) @ tf.matrix(local)
            T[2, 3] = 0.0
            return tf.to_pose(T)

        return draw

    # ------------------------------------------------------------------ drawing until it fits

    def _seek(self, item: Item, draw: Draw, asked: Predicate | None = None) -> None:
        """Draw poses in the item's support frame until one is in reach and clear of everything, and place the item there.

        `asked` is the relation of the start for which they are drawn.
        """
        T_world_frame = self.region(item.id, item.parent, item.relation, item.support).T_world
        related = self.related(item.id)
        failure = self.failure(item.id, item.parent)
        if asked is not None:
            failure.what = f"{asked.args[0]}, {relations.said(asked)}"
            failure.others = tuple(a for a in asked.args if a != item.id)
        elif things := before.things(self.needs, item.id):
            failure.what, failure.others = f"{item.id} with {' and '.join(things)} in front of it", things
        found: list[tuple[float, Pose, list[tuple[Item, Float]]]] = []
        enough = int(self.rng.integers(1, (self.stands if item.fixed else self.choices) + 1))
        for _ in range(FURNITURE_TRIES if item.fixed else TRIES):
            pose = draw()
            if pose is None:
                failure.stuck_out += 1
                continue
            load = self._load(item, T_world_frame @ tf.matrix(pose))
            beyond = max(reach.excess(self, i, T) for i, T in load)
            if beyond > 0:
                failure.beyond(beyond)
                continue
            there = {i.id: T for i, T in load}
            broken = relations.broken(self, there) or spots.beside(self, there)
            if broken is not None:
                failure.breaks(*broken)
                continue
            near, slack = self.nearest([p for i, T in load for p in self._prisms(i, T)], related)
            if slack < 0:
                failure.taken(near, -slack)
                continue
            found.append((self._spent(item, load[0][1], slack), pose, load))
            if len(found) == enough:
                break
        if not found:
            raise NoPlaceError(failure)
        _, pose, load = min(found, key=lambda f: f[0])
        self._stand(load)
        self.poses[item.id] = pose

    def _spent(self, item: Item, T: Float, slack: float) -> float:
        """What a place costs those to come [m]: less the closer a thing is to others; the large do best at the sides."""
        if not item.fixed and float(self.built[item.id].size[:2].prod()) < LARGE:
            return slack
        ahead = apply(tf.matrix(self.base), np.array([[WORK_AHEAD, 0.0, 0.0]]))[0]
        return -float(np.hypot(*(T[:2, 3] - ahead[:2])))

    def _load(self, item: Item, T: Float) -> list[tuple[Item, Float]]:
        """An item at world pose `T` with everything on and in it that has its pose."""
        load = [(item, T)]
        there = {item.id: T}
        for _ in self.items:
            for other in self.items.values():
                if other.pose is not None and other.parent in there and other.id not in there:
                    T_parent_item = support_frame(self.scenario.scene, other, self.built) @ tf.matrix(other.pose)
                    there[other.id] = there[other.parent] @ T_parent_item
                    load.append((other, there[other.id]))
        return load

    def _stand(self, load: list[tuple[Item, Float]]) -> None:
        for item, T in load:
            self.plan.add(self._prisms(item, T))
            self.roots[item.id] = T
            if item.pose is not None:
                self.poses[item.id] = item.pose

    def _prisms(self, item: Item, T: Float) -> list[Prism]:
        """What the item takes: its solid, its wall, what it sweeps, where one stands before it."""
        space = self.spaces[item.id]
        solid = space.solid(Kind.FIXED if item.fixed else Kind.FREE, item.id, T)
        if not item.fixed:
            solid = replace(solid, half=grown(solid.half, self.turn))
        taken = [solid, *furniture.wall(self, item, T)]
        if not self.anticipate:
            return taken
        swept = wiping.swept(self.needs, item.id, self.built[item.id], T)
        return [*taken, *space.moving(item.id, T, self.needs.joints(item.id)), *furniture.standing_room(self, item, T), *swept]

    def nearest(self, prisms: list[Prism], related: frozenset[str]) -> tuple[str, float]:
        """The placed thing with the least room between it and one of `prisms`, and that room beyond what is wanted [m].

        Negative: too close. Items that carry each other (`related`) do not count; infinite: nothing else does.
        """
        others = [k for k, p in enumerate(self.plan.prisms) if p.owner not in related]
        if not others:
            return "", math.inf
        gaps = self.plan.separations(prisms)[:, others]
        kinds = np.array([self.plan.prisms[k].kind for k in others])
        slack = gaps - self.gaps[np.array([p.kind for p in prisms])[:, None], kinds[None]]
        if self.needs.cleared:
            slack[before.shared(self.needs, prisms, [self.plan.prisms[k] for k in others])] = math.inf
        worst = int(slack.min(axis=0).argmin())
        return self.plan.prisms[others[worst]].owner, float(slack[:, worst].min())

    def failure(self, item: str, support: str | None, what: str | None = None) -> Failure:
        """An empty account of the places tried for an item."""
        x, y, _ = (float(v) for v in self.built[item].size)
        return Failure(item, what or item, (x, y), support, clear=float(self.gaps[Kind.FREE, Kind.FREE]))

    # ------------------------------------------------------------------ what its parts ask

    def region(self, item: str, parent: str | None, relation: Relation, part: str | None, *, after: bool = False) -> Region:
        """The level area in or on `parent` in which an item is to stand; `after`: where the task has put the parent.

        Raises:
            CompileError: there is none.
        """
        if relation == "held":
            palm = cradled(self.robot.name)
            if palm is None:
                raise CompileError(f"{self.robot.name} has no hand that things lie in", where=f"item '{item}'")
            return Region(item, tf.matrix(self.base) @ palm, (0.1, 0.1), "rectangle", "robot", front=False)
        if parent is None:
            return Region(item, np.eye(4), (3.0, 3.0), "rectangle", "floor", front=False)
        affordances = self.built[parent].affordances
        try:
            place: Support | Cavity = affordances.cavity(part) if relation == "inside" else affordances.support(part)
        except KeyError as error:
            raise CompileError(f"nothing can be {relation} it: {error}", where=f"item '{parent}'") from error
        at = Item(id="at", asset=self.items[parent].asset, parent=parent, relation=relation, support=part)
        T = (self.there(parent) if after else self.roots[parent]) @ support_frame(self.scenario.scene, at, self.built)
        front = isinstance(place, Cavity) and place.opening[2] < 0.7
        return Region(item, T, (place.size[0], place.size[1]), place.shape, parent, front=front)

    def there(self, item: str) -> Float:
        """World pose of an item's root: where the task puts it, or else where it stands."""
        return self.ghosts[item] if item in self.ghosts else self.roots[item]

    def heading(self, item: Item) -> float | None:
        """World angle of the item's yaw that lets a hand coming from the robot hold it from its one good side; None: any."""
        if not self.anticipate:
            return None
        if item.id not in self.headings:
            self.headings[item.id] = _good_side(self.built[item.id])
        return self.headings[item.id]

    def related(self, item: str) -> frozenset[str]:
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

    def seen_from(self, base: Pose) -> Attempt:
        """The same things with the robot elsewhere."""
        return replace(self, base=base)


def _good_side(asset: Asset) -> float | None:
    """Yaw [rad] that turns the one side from which a thing is grasped towards -x, or its two ends towards y; None: it has
    no such side, or several."""
    ways = np.array(
        [tf.rotation(g.pose.rotation)[:2, 2] for g in asset.affordances.grasps if g.kind == "side" and g.body == "root"]
    )
    if asset.affordances.pairs and not asset.affordances.grasps:
        one, other = (np.asarray(grasp.pose.position) for grasp in asset.affordances.pairs[0])
        return math.pi / 2 - math.atan2(*(one - other)[1::-1])  # a hand on either side
    if len(ways) == 0 or np.linalg.norm(ways.mean(axis=0)) < 0.8:
        return None
    mean = ways.mean(axis=0)
    return -math.atan2(mean[1], mean[0])
