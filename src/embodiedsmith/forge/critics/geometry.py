"""Room: does everything fit where it stands, apart from everything else, and can doors, drawers and hands move?

Judged from the poses alone, whoever chose them. Solids are compared exactly; gaps by upright boxes, which see things a little
larger than they are.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from itertools import combinations

import mujoco
import numpy as np

from embodiedsmith.forge.critics.base import Context
from embodiedsmith.forge.layout import fit, needs
from embodiedsmith.forge.layout.prisms import Float, Kind, Prism, grown, pairwise
from embodiedsmith.forge.layout.volumes import volumes
from embodiedsmith.motion.grasping import FINGER_ROOM
from embodiedsmith.spec import EditKind, Finding, Item
from embodiedsmith.world import transforms as tf
from embodiedsmith.world.compile import joint_position
from embodiedsmith.world.world import OVERLAP


class GeometryCritic:
    """Judges the layout as it is before anything moves."""

    name = "geometry"
    tier = 10
    on_draft = False
    codes: Mapping[str, tuple[EditKind, ...]] = {
        "geometry.unplaced": ("move", "move_base"),
        "geometry.too_large": ("resize", "swap_asset", "change_argument", "change_support"),
        "geometry.too_many": ("resize", "swap_asset", "change_argument"),
        "geometry.outside": ("move", "turn", "change_support", "resize", "remove"),
        "geometry.overlap": ("move", "turn", "change_support", "move_base", "resize", "remove"),
        "geometry.too_close": ("move", "turn", "change_support", "resize", "remove"),
        "geometry.swing_blocked": ("unblock", "turn", "move", "change_support", "remove"),
        "geometry.handle_blocked": ("unblock", "turn", "move", "change_support", "remove"),
    }

    def review(self, context: Context) -> list[Finding]:
        """Everything that does not fit, overlaps, or is in the way."""
        scenario = context.scenario
        unplaced = [item.id for item in scenario.scene.items if item.pose is None]
        if scenario.embodiment.base is None:
            unplaced.append("robot")
        if unplaced:
            return [Finding(code="geometry.unplaced", subjects=tuple(unplaced), message=f"not laid out: {unplaced}")]
        roots = context.world.compiled.nominal
        findings = list(_misfits(context)) + [f for item in scenario.scene.items if (f := _outside(context, item)) is not None]
        overlaps = _overlaps(context)
        known = {frozenset(f.subjects) for f in overlaps}
        return findings + overlaps + [f for f in _crowded(context, roots) if frozenset(f.subjects) not in known]


def _misfits(context: Context) -> Iterator[Finding]:
    built = context.assets
    wanted = needs.read(context.scenario, built)
    free = {item.id for item in context.scenario.scene.items if not item.fixed and item.id in built}
    for target in wanted.targets:
        if target.relation != "inside" or target.place not in built:
            continue
        if (fault := fit.fault_of(target, built)) is not None and not fit.on_end(target, built):
            yield fault
    for place in dict.fromkeys(t.place for t in wanted.targets):
        if (fault := fit.heap_fault(place, built, wanted)) is not None:
            yield fault
        if place in free and (fault := fit.spread_fault(place, built, wanted)) is not None:
            yield fault


def _outside(context: Context, item: Item) -> Finding | None:
    """Whether the middle of the item's footprint is over its support, or its whole footprint within its cavity."""
    if item.parent is None or item.relation == "attached" or item.pose is None:
        return None
    asset, affordances = context.assets[item.id], context.assets[item.parent].affordances
    inside = item.relation == "inside"
    place = affordances.cavity(item.support) if inside else affordances.support(item.support)
    low, high = (np.asarray(c) for c in asset.extents)
    T = tf.matrix(item.pose)
    if inside:
        points = np.array([[x, y, 0.0] for x in (low[0], high[0]) for y in (low[1], high[1])])
    else:
        points = np.array([[(low[0] + high[0]) / 2, (low[1] + high[1]) / 2, 0.0]])
    points = (points @ T[:3, :3].T + T[:3, 3])[:, :2]
    size = np.array(place.size[:2])
    if place.shape == "disc" and not inside:
        margin = size[0] / 2 - float(np.linalg.norm(points, axis=1).max())
    else:
        margin = float((size / 2 - np.abs(points)).min())
    play = min(context.scenario.randomization.position, 0.4 * float(size.min())) if not inside else -0.002
    if margin >= play:
        return None
    return Finding(
        code="geometry.outside", subjects=(item.id, item.parent), value=margin, limit=play, unit="m",
        message=f"{item.id} is {'not inside' if inside else 'not well on'} {item.parent}: {100 * margin:.1f} cm from the edge "
        f"(at least {100 * play:.1f} cm)",
    )  # fmt: skip


def _overlaps(context: Context) -> list[Finding]:
    """Solids in each other, measured exactly with everything exactly as laid out."""
    world = context.world
    data = mujoco.MjData(world.model)
    for item in context.scenario.scene.items:
        for joint, fraction in item.joints.items():
            data.qpos[world.joint_qpos[f"{item.id}.{joint}"]] = joint_position(context.assets[item.id], joint, fraction)
    world.stand_ready(data, world.home)
    mujoco.mj_forward(world.model, data)
    return [
        Finding(
            code="geometry.overlap",
            subjects=(a, b),
            value=depth,
            limit=OVERLAP,
            unit="m",
            message=f"{a} and {b} overlap by {100 * depth:.1f} cm (at most {100 * OVERLAP:.1f} cm)",
        )
        for (a, b), depth in world.overlaps(OVERLAP, data).items()
    ]


def _crowded(context: Context, roots: dict[str, Float]) -> Iterator[Finding]:
    """Pairs of items that the variation at reset can push together, or of which one is in the other's way."""
    stray = math.sqrt(2) * context.scenario.randomization.position  # farthest an item strays
    items = context.scenario.scene.items
    solids = {i.id: _solid(context, i, roots[i.id]) for i in items}
    wanted = needs.read(context.scenario, context.assets)
    moving = {i.id: volumes(context.assets[i.id]).moving(i.id, roots[i.id], wanted.joints(i.id)) for i in items}
    for a, b in combinations(items, 2):
        if _carry(context, a, b):
            continue
        play = stray * ((not a.fixed) + (not b.fixed))
        gap = float(pairwise([solids[a.id]], [solids[b.id]])[0, 0])
        if play and gap < play:
            yield Finding(
                code="geometry.too_close", subjects=(a.id, b.id), value=gap, limit=play, unit="m",
                message=f"{a.id} and {b.id} are {100 * gap:.1f} cm apart; the variation at reset needs {100 * play:.1f} cm",
            )  # fmt: skip
        for mover, other in ((a, b), (b, a)):
            found = _in_the_way(moving[mover.id], solids[other.id], 0.0 if other.fixed else stray)
            cleared = (other.id, mover.id) in wanted.cleared and _graspable(context, other.id)
            yield from (_to_be_cleared(f) for f in found) if cleared else found


def _solid(context: Context, item: Item, T: Float) -> Prism:
    box = volumes(context.assets[item.id]).solid(Kind.FIXED if item.fixed else Kind.FREE, item.id, T)
    if item.fixed:
        return box
    half = grown(box.half, min(context.scenario.randomization.yaw, math.pi))
    return Prism(kind=box.kind, owner=box.owner, center=box.center, half=half, yaw=box.yaw, low=box.low, high=box.high)


def _in_the_way(moving: list[Prism], solid: Prism, play: float) -> Iterator[Finding]:
    gaps = pairwise(moving, [solid])
    for kinds, code, what in (
        ((Kind.SWING, Kind.IDLE), "geometry.swing_blocked", "swings into"),
        ((Kind.HAND,), "geometry.handle_blocked", "has its handle blocked by"),
    ):
        own = [float(gaps[k, 0]) for k, p in enumerate(moving) if p.kind in kinds]
        if own and min(own) < play - 1e-9:
            gap, owner = min(own), moving[0].owner
            yield Finding(
                code=code, subjects=(owner, solid.owner), value=gap, limit=play, unit="m",
                message=f"{owner} {what} {solid.owner}: {100 * gap:.1f} cm clear (at least {100 * play:.1f} cm)",
            )  # fmt: skip


def _to_be_cleared(finding: Finding) -> Finding:
    """The finding as a warning: the words put the thing there, and the robot puts it elsewhere."""
    said = f"{finding.message}; the robot has to move {finding.subjects[1]} first"
    return finding.model_copy(update={"severity": "warning", "message": said})


def _graspable(context: Context, item: str) -> bool:
    room = context.world.robot.arm.gripper.max_width - FINGER_ROOM
    return any(g.width <= room for g in context.assets[item].affordances.grasps)


def _carry(context: Context, a: Item, b: Item) -> bool:
    """Whether one of two items carries the other, directly or not."""
    scene = context.scenario.scene
    for low, high in ((a, b), (b, a)):
        at = high.parent
        while at is not None:
            if at == low.id:
                return True
            at = scene.item(at).parent
    return False


CRITIC = GeometryCritic()
