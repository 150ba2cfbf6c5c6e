"""What the things of a scene are to its task: which of them a goal names, as what, and where it wants them.

A thing is a whole item, or the part of one that moves or that a goal names: a drawer, a door with what is behind it, a board of a
shelf.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from embodiedsmith.assets.asset import Asset, Cavity, Support
from embodiedsmith.learn.stages import Asked, Stages
from embodiedsmith.motion.placing import EDGE, SMALL
from embodiedsmith.spec import Predicate, split_reference
from embodiedsmith.tasks.kind import cavities, surfaces
from embodiedsmith.tasks.probe import Float
from embodiedsmith.tasks.registry import predicate
from embodiedsmith.tasks.sides import toward
from embodiedsmith.world import World
from embodiedsmith.world import transforms as tf

FLAGS = ("active", "subject", "support", "container", "articulated", "reference", "undone", "kept")
"""What a thing can be in a stage: named by what is asked for now; to be moved; to carry; to hold; to be opened, shut or turned;
what others are to be near, or are in; to be other than it is named for; to stay where it is."""
OPEN = 0.5  # fraction of a joint from which a place behind it counts as open
ROOM = 0.6  # [m] headroom of a support that is reached from its front
BESIDE = 0.03  # [m] gap at which a thing is put beside another


@dataclass(frozen=True)
class Thing:
    """A whole item, or a part of one."""

    item: str
    part: str | None = None
    """Name of the joint that moves it or gives access to it, or of the support or cavity that it is; None: the whole item."""


@dataclass(frozen=True, kw_only=True)
class Spot:
    """Where a goal wants the middle of a thing: at the mean of the middles of things and points of places, moved.

    One of `place`, `between` and `height` is given, or none of them: in the hand.
    """

    place: tuple[str, str, Float] | None = None
    """Item, body and point in the body's frame (3,) [m]; item "": a point of the world."""
    between: tuple[str, ...] = ()
    """Items whose middles it is half-way between."""
    offset: Float = field(default_factory=lambda: np.zeros(3))
    """Added in the world [m]."""
    height: float | None = None
    """World height [m] above where the thing is."""
    out: Float | None = None
    """Direction in the body's frame, or the world's, in which one comes from it; None: up in the world."""


@dataclass
class Slot:
    """What a thing is in one stage."""

    thing: Thing
    flags: set[str] = field(default_factory=set)
    does: dict[str, float] = field(default_factory=dict)
    """Predicates asked for now of which it is the first argument: 1 to be true, -1 to be false."""
    spot: Spot | None = None
    opening: float | None = None
    """Least or, at 0, greatest opening that is asked for, as a fraction of its joint."""


class Roles:
    """Finds for every stage of a world's task the things that its goal names, in the order in which they matter.

    First come those of what is new in the stage, then of what it keeps true, then of later and of earlier stages, each in the
    order of the goal; last what shall only stay as it is.
    """

    def __init__(self, world: World, stages: Stages) -> None:
        self._world, self._assets = world, world.assets
        self.slots: tuple[tuple[Slot, ...], ...] = tuple(self._stage(stages, k) for k in range(stages.count))

    def _stage(self, stages: Stages, now: int) -> tuple[Slot, ...]:
        slots: dict[Thing, Slot] = {}
        order = [now, *range(now + 1, stages.count), *range(now - 1, -1, -1)]
        for stage in order:
            for p, negated in _ordered(stages, stage):
                for k, thing in enumerate(self._things(p)):
                    slot = slots.setdefault(thing, Slot(thing))
                    self._name(slot, p, negated, k, stage == now)
                self._add_sources(slots, p, stage == now)
        return tuple(slots.values())

    def _add_sources(self, slots: dict[Thing, Slot], p: Predicate, now: bool) -> None:
        """What holds a liquid that a predicate speaks of, or that could fill what it speaks of: it is what a hand can take."""
        scene = self._world.scenario.scene
        if p.name == "filled":
            wet = [i.id for i in scene.items if _is_liquid(self._assets[i.id])]
        else:
            wet = [item for item in (split_reference(arg)[0] for arg in p.args) if _is_liquid(self._assets[item])]
        for item in wet:
            holder = scene.item(item).parent
            if holder is not None:
                flags = slots.setdefault(Thing(holder), Slot(Thing(holder))).flags
                flags.update({"reference", "active"} if now else {"reference"})

    def _things(self, p: Predicate) -> Iterator[Thing]:
        """What each argument of a predicate is."""
        for role, reference in zip(predicate(p.name).roles, p.args, strict=True):
            item, part = split_reference(reference)
            asset = self._assets[item]
            if role.need == "joint":
                yield Thing(item, part or next(iter(asset.joints)))
            elif role.need in ("cavity", "support"):
                place = self._place(reference, role.need)
                gate = place.joint if isinstance(place, Cavity) else _gate(asset, place)
                yield Thing(item, gate or (part if asset.fixed else None))
            else:
                yield Thing(item)

    def _place(self, reference: str, need: str) -> Cavity | Support:
        """The place meant by a reference: of several one that is open, else the first."""
        item, part = split_reference(reference)
        asset, joints = self._assets[item], self._world.scenario.scene.item(item).joints
        if need == "support":
            return surfaces(asset, part)[0]
        found = cavities(asset, part)
        return next((c for c in found if c.joint is None or joints.get(c.joint, 0.0) > OPEN), found[0])

    def _name(self, slot: Slot, p: Predicate, negated: bool, argument: int, now: bool) -> None:
        """Let a slot know that it is an argument of what is asked for."""
        kind = predicate(p.name)
        need = kind.roles[argument].need
        flag = {"support": "support", "cavity": "container", "joint": "articulated"}.get(need, "reference")
        if argument == 0 and flag == "reference":
            flag = "kept" if p.name == "unmoved" else "subject"
        slot.flags.add(flag)
        if now:
            slot.flags.add("active")
        if argument != 0:
            return
        if negated:
            slot.flags.add("undone")
        if now:
            slot.does[p.name] = -1.0 if negated else 1.0
        if slot.opening is None and flag == "articulated":
            slot.opening = self._opening(slot.thing, p, negated)
        if slot.spot is None and flag == "subject":
            slot.spot = self._spot(p)

    def _opening(self, thing: Thing, p: Predicate, negated: bool) -> float | None:
        params = predicate(p.name).resolve(p.params)
        joint = self._assets[thing.item].joints[thing.part or ""]
        if p.name == "turned":
            return params["angle"] / abs(joint.open - joint.closed)
        if p.name not in ("open", "closed"):
            return None
        return params.get("fraction", 1.0) if (p.name == "open") != negated else 0.0

    # ------------------------------------------------------------------ spots

    def _spot(self, p: Predicate) -> Spot | None:
        """Where a predicate wants its first argument; None where it names no place."""
        world, item = self._world, p.args[0]
        size, rise = self._assets[item].size, 0.5 * float(self._assets[item].size[2])
        params = predicate(p.name).resolve(p.params)
        match p.name:
            case "on":
                return self._in_place(p.args[1], self._place(p.args[1], "support"), size)
            case "inside" | "poured" | "scooped":
                return self._in_place(p.args[1], self._place(p.args[1], "cavity"), size)
            case "at":
                low = self._assets[item].extents[0]
                return Spot(place=("", "", np.array([params["x"], params["y"], params["z"] + low[2] + rise])))
            case "lifted":
                return Spot(height=float(world.compiled.nominal[item][2, 3]) + self._middle(item)[2] + params["height"])
            case "left_of" | "right_of" | "in_front_of" | "behind":
                assert world.scenario.embodiment.base is not None
                gap = 0.5 * float(np.hypot(*size[:2]) + np.hypot(*self._assets[p.args[1]].size[:2])) + BESIDE
                return Spot(between=(p.args[1],), offset=gap * toward(p.name, world.scenario.embodiment.base))
            case "between":
                return Spot(between=p.args[1:])
            case "near" | "touching":
                return Spot(between=p.args[1:])
            case "covers":
                return Spot(between=p.args[1:], offset=np.array([0.0, 0.0, 0.5 * float(self._assets[p.args[1]].size[2])]))
            case "grasped" | "in_left_hand" | "in_right_hand" | "in_both_hands":
                return Spot()
        return None

    def _middle(self, item: str) -> Float:
        low, high = self._assets[item].extents
        return np.asarray(0.5 * np.add(low, high))

    def _in_place(self, reference: str, place: Cavity | Support, size: Float) -> Spot:
        """The middle of a place that is reached from above, or a little way into one that is reached from its front."""
        item, _ = split_reference(reference)
        if isinstance(place, Cavity):
            extent, out = np.asarray(place.size), np.asarray(place.opening, dtype=np.float64)
        else:
            shallow = place.headroom < ROOM and min(place.size) > SMALL
            extent, out = np.array([*place.size, 0.0]), np.array([1.0, 0.0, 0.0] if shallow else [0.0, 0.0, 1.0])
        T = tf.matrix(place.pose)
        point = np.array([0.0, 0.0, 0.5 * float(size[2])])
        if out[2] < OPEN:
            point += out * max(0.5 * float(np.abs(out) @ extent) - 0.5 * float(max(size[:2])) - EDGE, 0.0)
        return Spot(place=(item, place.body, T[:3, :3] @ point + T[:3, 3]), out=T[:3, :3] @ out)


def _is_liquid(asset: Asset) -> bool:
    return asset.matter is not None and asset.matter.kind == "liquid"


def _gate(asset: Asset, place: Support) -> str | None:
    """The joint that gives access to a support: that of the cavity of the same name."""
    return next((c.joint for c in asset.affordances.cavities if c.name == place.name), None)


def _ordered(stages: Stages, stage: int) -> list[Asked]:
    """What is asked for in a stage: what no earlier stage asks for first, what shall only stay as it is last.

    Of each what is to be true comes before what is to be false.
    """
    before = [asked for earlier in stages.asked[:stage] for asked in earlier]

    def late(asked: Asked) -> tuple[int, bool]:
        return 2 if asked[0].name in ("unmoved", "spilled") else int(asked in before), asked[1]

    return sorted(stages.asked[stage], key=late)
