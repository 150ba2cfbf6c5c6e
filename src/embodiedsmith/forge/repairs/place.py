"""Edits of where things are: moved, turned, put out of the way, carried by something else, opened or closed."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from embodiedsmith.forge.repairs.view import Proposed, View
from embodiedsmith.spec import ChangeSupport, Finding, Item, MoveItem, SetJoint, TurnItem, Unblock, predicates, split_reference
from embodiedsmith.world import transforms as tf
from embodiedsmith.world.compile import support_frame

AJAR = 0.8
"""Opening fraction of what is opened before the start."""
QUARTERS = (math.pi / 2, -math.pi / 2, math.pi)
MOST = 3
"""Things put out of the way at most in one repair."""


def move(view: View, findings: tuple[Finding, ...], rng: np.random.Generator) -> Iterator[Proposed]:
    """What the findings are about, elsewhere: all of it at once, then each thing named by the first alone."""
    movable = [i for i in dict.fromkeys(i.id for i in view.first(findings)) if _may_move(view, view.items[i])]
    if len(movable) > 1:
        yield tuple(MoveItem(item=name) for name in movable), f"place {', '.join(movable)} anew"
    for item in view.subjects(findings[:1]):
        if _may_move(view, item):
            yield (MoveItem(item=item.id),), f"place {item.id} anew"


def _may_move(view: View, item: Item) -> bool:
    """The work surface stays: the robot is moved instead."""
    surface = view.surface()
    return surface is None or item.id != surface.id


def turn(view: View, findings: tuple[Finding, ...], rng: np.random.Generator) -> Iterator[Proposed]:
    """Furniture turned to face the robot, then by quarters; a free thing by quarters."""
    for item in view.first(findings):
        if item.pose is None or not _may_move(view, item):
            continue
        if item.fixed and item.id in view.roots and view.scenario.embodiment.base is not None:
            yield (TurnItem(item=item.id, yaw=_towards_robot(view, item)),), f"turn {item.id} to face the robot"
        for quarter in QUARTERS:
            yaw = math.remainder(item.pose.yaw + quarter, 2 * math.pi)
            yield (TurnItem(item=item.id, yaw=yaw),), f"turn {item.id} by {round(math.degrees(quarter))} degrees"


def _towards_robot(view: View, item: Item) -> float:
    """Yaw about its support's normal [rad] with which an item's front (+x) looks at the robot, to the nearest quarter turn of the
    support, as furniture stands."""
    base = view.scenario.embodiment.base
    assert base is not None
    here = view.roots[item.id][:3, 3]
    way = math.atan2(base.position[1] - here[1], base.position[0] - here[0])
    frame = np.eye(4) if item.parent is None else view.roots[item.parent] @ support_frame(view.scene, item, view.assets)
    local = way - tf.to_pose(frame).yaw
    return round(local / (math.pi / 2)) * (math.pi / 2)


def unblock(view: View, findings: tuple[Finding, ...], rng: np.random.Generator) -> Iterator[Proposed]:
    """What is in the way, elsewhere: everything named, then one thing after the other."""
    for finding in findings:
        blocked = finding.subjects[0] if finding.subjects else "robot"
        names = [item.id for item in view.blockers(finding)][:MOST]
        if len(names) > 1:
            yield tuple(Unblock(item=n, blocked=blocked) for n in names), f"put {', '.join(names)} out of the way of {blocked}"
        for name in names:
            yield (Unblock(item=name, blocked=blocked),), f"put {name} out of the way of {blocked}"


def change_support(view: View, findings: tuple[Finding, ...], rng: np.random.Generator) -> Iterator[Proposed]:
    """A free thing carried by something else: the work surface, another open surface, a flat carrier."""
    surface = view.surface()
    for item in view.subjects(findings[:1]):
        if item.fixed:
            continue
        avoid = {item.id, *view.carried(item.id), *_goal_places(view, item)}
        if surface is not None and item.parent != surface.id and surface.id not in avoid:
            yield _carried_by(item, surface, None)
        others = [other for other in view.scene.items if other.id not in avoid and other.id != item.parent]
        for k in rng.permutation(len(others)):
            other = others[int(k)]
            if other is surface or not view.assets:
                continue
            for support in view.assets[other.id].affordances.supports:
                gated = any(c.name == support.name and c.joint for c in view.assets[other.id].affordances.cavities)
                room = min(support.size) >= float(max(view.assets[item.id].size[:2])) + 0.01
                if room and not gated and support.headroom > float(view.assets[item.id].size[2]) + 0.1:
                    yield _carried_by(item, other, support.name)
                    break


def _carried_by(item: Item, other: Item, support: str | None) -> Proposed:
    edit = ChangeSupport(item=item.id, parent=other.id, relation="on", support=support)
    return (edit,), f"let {item.id} start on {other.id}"


def _goal_places(view: View, item: Item) -> set[str]:
    """Items that the goal puts an item on, in or near."""
    goal = predicates(view.scenario.task.goal)
    return {split_reference(a)[0] for p in goal if p.args and p.args[0] == item.id for a in p.args[1:]}


def set_joint(view: View, findings: tuple[Finding, ...], rng: np.random.Generator) -> Iterator[Proposed]:
    """Doors and drawers the other way at the start: what is to be closed stands open, what is to be opened is shut, and what only
    is in the way of the task stands open."""
    wanted = {p.args[0]: p.name for p in predicates(view.scenario.task.goal) if p.name in ("open", "closed", "turned")}
    named = {s for f in findings for s in f.subjects}
    concerned = {split_reference(s)[0] for s in named}
    for item in view.scene.items:
        if item.id not in view.assets or not view.assets[item.id].joints:
            continue
        if concerned and item.id not in concerned and not _serves(view, item, concerned):
            continue
        for joint in view.assets[item.id].joints:
            reference = f"{item.id}.{joint}"
            goal = wanted.get(reference, wanted.get(item.id))
            now = item.joints.get(joint, 0.0)
            if goal == "closed" and now < AJAR / 2:
                yield (SetJoint(item=item.id, joint=joint, fraction=AJAR),), f"let {reference} stand open at the start"
            elif goal in ("open", "turned") and now > 0.0:
                yield (SetJoint(item=item.id, joint=joint, fraction=0.0),), f"let {reference} be shut at the start"
            elif goal is None and now == 0.0 and joint in view.needs.joints(item.id):
                yield (SetJoint(item=item.id, joint=joint, fraction=AJAR),), f"let {reference} stand open at the start"


def _serves(view: View, item: Item, concerned: set[str]) -> bool:
    """Whether something concerned starts in an item, or is to go there."""
    starts = any(view.items[name].parent == item.id for name in concerned if name in view.items)
    return starts or any(t.item in concerned and t.place == item.id for t in view.needs.targets)
