"""What is true of a world, in the planner's words: read off poses and affordances, never off categories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from embodiedsmith.assets.asset import Cavity, Support
from embodiedsmith.motion.clearing import blockers
from embodiedsmith.motion.grasping import FINGER_ROOM, pairs_fitting
from embodiedsmith.motion.planner import Fact
from embodiedsmith.spec import split_reference
from embodiedsmith.tasks.cradling import carried_by_robot
from embodiedsmith.tasks.flowing import is_liquid, vessels
from embodiedsmith.tasks.registry import predicate
from embodiedsmith.tasks.sides import SIDES
from embodiedsmith.world import World
from embodiedsmith.world import transforms as tf

FLOOR = "floor"
AFIELD = "afield"  # the zone of a vehicle that has not yet gone anywhere
OPENED = 0.55  # fraction from which a part lets the hand through
AWAY = 0.1  # fraction up to which a drawer leaves the way into what is below it free
LEVEL = 0.02  # [m] by which a thing may seem to be above or below what it stands on
APART = 0.001  # [m] between things that stand side by side on top of something
DREGS = 0.02  # share of what flows up to which a vessel counts as empty of it
CROWDED = 0.5  # fraction of a place's area from which another thing hardly finds room


@dataclass(frozen=True)
class Place:
    """A support or a cavity."""

    name: str
    """`item.part`."""
    owner: str
    cavity: bool
    gate: str
    """The joint that gives access, as `item.part`; empty when there is none."""
    roomy: bool
    """Whether it takes several things: of the tops of what can be moved, those with room for two side by side."""


def places(world: World) -> dict[str, Place]:
    """Every support and cavity by name, in the order of the scene. The floor is none: nothing is put down there."""
    found: dict[str, Place] = {}
    for item, asset in world.assets.items():
        fixed = world.scenario.scene.item(item).fixed
        gates = {c.name: f"{item}.{c.joint}" for c in asset.affordances.cavities if c.joint}
        others = [
            world.assets[i.id].size
            for i in world.scenario.scene.items
            if not i.fixed and i.id != item and not is_liquid(world.assets, i.id)
        ]
        for support in asset.affordances.supports:
            name = f"{item}.{support.name}"
            found[name] = Place(name, item, False, gates.get(support.name, ""), fixed or _takes_two(support, others))
        for cavity in asset.affordances.cavities:
            name = f"{item}.{cavity.name}"
            found[name] = Place(name, item, True, gates.get(cavity.name, ""), True)
    return found


def _takes_two(support: Support, sizes: Sequence[tf.Float]) -> bool:
    slimmest = sorted(sizes, key=lambda size: float(min(size[:2])))[:2]
    return len(slimmest) == 2 and side_by_side(support, *slimmest)


def side_by_side(support: Support, first: tf.Float, second: tf.Float) -> bool:
    """Whether two upright things of those sizes (3,) [m] stand on a support next to each other, the narrow way."""
    widths = [float(min(size[:2])) for size in (first, second)]
    return sum(widths) + APART <= max(support.size) and max(widths) <= min(support.size)


def place_of(world: World, item: str) -> str:
    """The place an item is at now: the cavity it is in or the support it is on, else `floor`."""
    return place_at(world, item, world.item_pose(item)[:3, 3], float(world.corners(item)[:, 2].min()))


def place_at(world: World, item: str, point: tf.Float, lowest: float) -> str:
    """The place an item would be at with its root at a world point (3,) and its lowest point at a height [m].

    What stands on something that can be carried about is on it rather than in it: a plate is both.
    """
    best, name = 0.0, FLOOR
    others = [(other, asset.affordances) for other, asset in world.assets.items() if other != item]
    for other, affordances in others:
        for cavity in affordances.cavities:
            _, T = world.cavity(f"{other}.{cavity.name}")
            x, y, z = T[:3, :3].T @ (point - T[:3, 3])
            inside = min(cavity.size[0] / 2 - abs(x), cavity.size[1] / 2 - abs(y), z + LEVEL, cavity.size[2] - z)
            if inside > best:
                best, name = float(inside), f"{other}.{cavity.name}"
    within = split_reference(name)[0]
    if name != FLOOR and world.scenario.scene.item(within).fixed:
        return name
    height = -1.0
    for other, affordances in others:
        if within not in (FLOOR, other):
            continue
        for support in affordances.supports:
            _, T = world.support(f"{other}.{support.name}")
            x, y, _ = T[:3, :3].T @ (point - T[:3, 3])
            level = float(T[2, 3])
            over = abs(x) < support.size[0] / 2 and abs(y) < support.size[1] / 2
            if over and abs(lowest - level) < LEVEL and level > height:
                height, name = level, f"{other}.{support.name}"
    return name


def crowded(world: World, place: Place, at: dict[str, str], item: str) -> bool:
    """Whether what is at a place now, by `at` (item to place), leaves little room for an item."""
    surface = world.cavity(place.name)[0] if place.cavity else world.support(place.name)[0]
    there = [other for other, where in at.items() if where == place.name and other != item]
    if not (there and place.roomy):
        return bool(there)
    taken = sum(float(np.prod(world.assets[other].size[:2])) for other in (*there, item))
    return taken > CROWDED * surface.size[0] * surface.size[1]


class Survey:
    """One look at a world: its objects, and the facts that do not depend on what is wanted.

    Args:
        world: As it is now.
        held: The item in the hand.
        asked: Things other items are to be near to: furniture, too, is an item for them.
        kept: Items that must stay where they are: no skill may move them, or what they are in.
        steady: Items that a hand is to hold where they are while another works.
    """

    def __init__(
        self, world: World, held: str | None, asked: tuple[str, ...] = (), kept: frozenset[str] = frozenset(),
        steady: frozenset[str] = frozenset(),
    ) -> None:  # fmt: skip
        self.world, self.held, self.kept, self.steady = world, held, kept, steady
        self.places = places(world)
        scene = world.scenario.scene
        liquids = [i.id for i in scene.items if is_liquid(world.assets, i.id)]
        self.movable = [i.id for i in scene.items if not i.fixed and i.id not in liquids]
        self.mobile = world.robot.base.kind == "planar"
        self.at = {item: place_of(world, item) for item in self.movable if item != held}
        self.facts: set[Fact] = {("holding", held)} if held else {("empty_hand",)}
        self._zones: dict[str, None] = {}
        self.still = self._still()
        self._describe_places()
        parts = self._describe_parts()
        bystanders = [name for name in dict.fromkeys(asked) if scene.item(name).fixed]
        for item in self.movable:
            self._describe_item(item)
        for item in bystanders:
            self.facts |= {("at", item, self._spot(item, place_of(world, item))), ("item_zone", item, self.zone(item))}
        if world.flow.items:
            self._describe_flow()
        bars = self._describe_bars()
        self._describe_standing()
        arms = self._describe_arms()
        kinds = {
            "arm": arms,
            "item": [*self.movable, *bystanders, *liquids],
            "part": parts,
            "place": sorted(self.places, key=self._parking),
            "bar": bars,
            "mark": list(world.marks),
            "zone": list(self._zones),
            "side": list(SIDES),
        }
        kinds["place"] += [f[2] for f in sorted(self.facts) if f[0] == "at" and split_reference(f[2])[0] == FLOOR]
        self.objects = tuple(dict.fromkeys((name, kind) for kind, names in kinds.items() for name in names))

    def zone(self, item: str) -> str:
        """The piece of furniture on the floor that an item belongs to: where a robot on wheels must stand for it."""
        at = item
        for _ in range(len(self.world.assets)):
            place = self.at.get(at)
            on = self.world.scenario.scene.item(at).parent if place is None else split_reference(place)[0]
            if on is None or on == FLOOR:
                break
            at = on
        self._zones.setdefault(at)
        return at

    def _parking(self, name: str) -> tuple[bool, bool, bool, int]:
        """Where things that are in the way go first: on furniture, where other things stand too, so within reach."""
        place = self.places[name]
        busy = sum(where == name for where in self.at.values())
        return not place.roomy or place.owner in self.movable, bool(place.gate), place.cavity, -busy

    def _describe_places(self) -> None:
        for name, place in self.places.items():
            self.facts.add(("gate", name, place.gate) if place.gate else ("ungated", name))
            if place.roomy:
                self.facts.add(("roomy", name))
                if place.owner in self.movable and not place.cavity:
                    self._describe_broad_top(place)
            else:
                self.facts |= {("on_top", name, place.owner), ("bare", name)}
            self.facts.add(("place_zone", name, self.zone(place.owner)))

    def _describe_broad_top(self, place: Place) -> None:
        """What is on a top that takes several things, and which of them it does not take together."""
        support = self.world.support(place.name)[0]
        others = [item for item in self.movable if item != place.owner]
        self.facts.add(("broad_top", place.name, place.owner))
        self.facts |= {("off", item, place.name) for item in others if self.at.get(item) != place.name}
        for first, second in combinations(others, 2):
            if not side_by_side(support, self.world.assets[first].size, self.world.assets[second].size):
                self.facts |= {("crowds", first, second, place.name), ("crowds", second, first, place.name)}

    def _describe_parts(self) -> list[str]:
        parts = []
        for item, asset in self.world.assets.items():
            for joint in asset.joints:
                part = f"{item}.{joint}"
                parts.append(part)
                if self.still.isdisjoint(self.carried(part)):
                    self.facts.add(("part_zone", part, self.zone(item)))
                self.facts |= {("covers", part, place) for place in self._below(part)}
                self.facts |= {("blocks", other, part) for other in self._blockers(part)}
                if self.world.joint(part)[1] < AWAY:
                    self.facts.add(("away", part))
                if self.world.joint(part)[1] >= OPENED:
                    self.facts.add(("opened", part))
                elif predicate("closed").margin(self.world, (part,)) > 0:
                    self.facts.add(("shut", part))
        return parts

    def _blockers(self, part: str) -> list[str]:
        """What stands in the way of a part; neither what comes along with it nor what lies in something else that does."""
        inside = {item: self.places[place].owner for item, place in self.at.items() if self._is_cavity(place)}
        mine = {split_reference(part)[0], *self.carried(part)}
        found = blockers(self.world, part, [i for i in self.at if i not in mine and inside.get(i) not in mine])
        return [item for item in found if inside.get(item) not in found]

    def _is_cavity(self, place: str) -> bool:
        return place in self.places and self.places[place].cavity

    def _still(self) -> frozenset[str]:
        """What must stay, with all that it stands on or in."""
        still = set(self.kept)
        for item in self.kept:
            at = item
            for _ in range(len(self.world.assets)):
                at = split_reference(self.at.get(at, FLOOR))[0]
                still.add(at)
        return frozenset(still)

    def _below(self, part: str) -> list[str]:
        """Places of the same piece of furniture that a drawer hangs over once it is pulled out."""
        item, joint = split_reference(part)
        asset = self.world.assets[item]
        mine = [c for c in asset.affordances.cavities if c.joint == joint]
        if not mine or joint is None or asset.joints[joint].kind != "slide":
            return []
        along = self.world.data.xaxis[self.world.model.joint(f"{item}/{joint}").id]
        across = np.array([-along[1], along[0], 0.0])

        def where(cavity: Cavity) -> tuple[tf.Float, float]:
            T = self.world.cavity(f"{item}.{cavity.name}")[1]
            return T[:3, 3], 0.5 * float(np.abs(across @ T[:3, :2]) @ cavity.size[:2])

        (middle, half), below = where(mine[0]), []
        for other in asset.affordances.cavities:
            point, width = where(other)
            aside = abs(float((middle - point) @ across))
            if other.joint != joint and middle[2] > point[2] + LEVEL and aside < half + width:
                below.append(f"{item}.{other.name}")
        return below

    def carried(self, part: str) -> list[str]:
        """What lies in or on what a joint, named `item.joint`, moves."""
        item, joint = split_reference(part)
        affordances = self.world.assets[item].affordances
        bodies = {handle.body for handle in affordances.handles if handle.joint == joint}
        moving = {f"{item}.{cavity.name}" for cavity in affordances.cavities if cavity.body in bodies}
        moving |= {f"{item}.{support.name}" for support in affordances.supports if support.body in bodies}
        return [name for name, place in self.at.items() if place in moving]

    def _describe_item(self, item: str) -> None:
        room = self.world.robot.arm.gripper.max_width - FINGER_ROOM
        fits = any(g.width <= room for g in self.world.assets[item].affordances.grasps)
        paired = bool(pairs_fitting(self.world.robot, self.world.assets[item]))
        taken = "graspable" if fits else "two_handed" if paired else "bulky"
        self.facts |= {("untopped", item), (taken, item), ("item_zone", item, self.zone(item))}
        if paired:
            self.facts.add(("paired", item))
        if item not in self.still:
            self.facts.add(("loose", item))
        if (matter := self.world.assets[item].matter) is not None and matter.kind in ("soft", "rope"):
            self.facts.add((matter.kind, item))
        if item == self.held:
            return
        self.facts.add(("at", item, self._spot(item, self.at[item])))
        if item in self.world.in_hand and carried_by_robot(self.world, item)():
            self.facts.add(("cradled", item))
        if item in self.world.sheets:
            self.facts.add(("cloth", item))
        elif predicate("upright").margin(self.world, (item,)) > 0:
            self.facts.add(("upright", item))

    def _describe_flow(self) -> None:
        """What holds which liquids and grains, and what they can be poured into."""
        world = self.world
        hollow = [item for item in self.movable if vessels(world, item)]
        for item in hollow:
            for what in world.flow.items:
                if sum(world.flow.share(what, vessel) for vessel in vessels(world, item)) > DREGS:
                    self.facts.add(("contains", item, what))
                    if world.assets[item].affordances.rims:
                        self.facts |= {("pours", item, what, target) for target in hollow if target != item}
                    if what in world.heaps:
                        self._describe_scooping(item, what, hollow)

    def _describe_bars(self) -> list[str]:
        """What things can be hung over; and where what can be wiped away is."""
        found = {f"{item}.{bar.name}": item for item, asset in self.world.assets.items() for bar in asset.affordances.bars}
        self.facts |= {("bar_zone", name, self.zone(item)) for name, item in found.items()}
        self.facts |= {("mark_zone", name, self.zone(name)) for name in self.world.marks}
        return list(found)

    def _describe_scooping(self, source: str, what: str, hollow: list[str]) -> None:
        """With what grains can be taken out of a source, and into what."""
        for tool in self.movable:
            if tool != source and self.world.assets[tool].affordances.lips:
                self.facts |= {("scoops", tool, what, source, target) for target in hollow if target not in (source, tool)}

    def _describe_arms(self) -> list[str]:
        """Names of the arms of a robot that has several, and which of them holds what is held."""
        names = [arm.name for arm in self.world.robot.arms]
        if len(names) < 2:
            return []
        self.facts |= {("other_arm", a, b) for a in names for b in names if a != b}
        for item in sorted(self.steady | ({self.held} if self.held else set())):
            holding = [name for k, name in enumerate(names) if item in self.world.grasped(k)]
            self.facts |= {("held_by", item, name) for name in holding}
            if len(holding) > 1:
                self.facts.add(("in_both", item))
        return names

    def _spot(self, item: str, place: str) -> str:
        """A vehicle must go to each thing on the floor: for it, every one has a piece of floor of its own."""
        if place != FLOOR:
            return place
        spot = f"{FLOOR}.{item}" if self.mobile else FLOOR
        zone = item if self.mobile else FLOOR
        self._zones.setdefault(zone)
        self.facts |= {("ungated", spot), ("roomy", spot), ("place_zone", spot, zone)}
        return spot

    def _describe_standing(self) -> None:
        for place in self.at.values():
            if place in self.places and not self.places[place].roomy:
                self.facts -= {("bare", place), ("untopped", self.places[place].owner)}
        if self.mobile:  # a plan always begins by choosing where to stand
            self._zones.setdefault(AFIELD)
            self.facts |= {("mobile",), ("standing", AFIELD)}
        else:
            self.facts |= {("standing", zone) for zone in self._zones}
