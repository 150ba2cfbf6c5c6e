"""wipe(tool, stain): rub what is soft over a stain until it is gone.

The tool, held from above, is pressed a little into the surface and drawn over the stain in lanes side by side, each as wide as
the tool but for an overlap, back and forth. What is left then is gone over again.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from embodiedsmith.motion.controller import CARE, Controller
from embodiedsmith.motion.errors import MotionError
from embodiedsmith.motion.operators import Operator, Step
from embodiedsmith.motion.skills import Skill
from embodiedsmith.spec import Predicate
from embodiedsmith.tasks.registry import predicate
from embodiedsmith.world import transforms as tf

PRESS = 0.003
"""[m] How far the tool is pressed in."""
ABOVE = 0.06
"""[m] Straight down before, straight up afterwards."""
OVERLAP = 0.025
"""[m] Of neighbouring lanes, and what the tool's own edges miss."""
PAST = 0.015
"""[m] Beyond the stain's ends, to where the middle of the tool is drawn: it has to slide there already."""
STROKE = 0.3
"""Fraction of the joint limits for a stroke."""
PASSES = 4
"""Times it is gone over, at most."""
TURNS = (0.0, np.pi / 2, np.pi, -np.pi / 2, np.pi / 4, -np.pi / 4)
"""[rad] of the tool from how it is held now."""


def run(control: Controller, args: tuple[str, ...], upcoming: tuple[Step, ...]) -> None:
    """Go over the stain until enough of it is gone."""
    tool, stain = args
    if control.held is None or control.held.item != tool:
        raise MotionError("wipe.empty_hand", f"{tool} is not in the hand", subjects=(tool,))
    kind = predicate("wiped")
    goal = Predicate(name="wiped", args=(stain, tool))
    wanted = next((p for p in control.stages(control.stage)[0] if p.name == "wiped" and p.args == goal.args), goal)
    margin = -1.0
    for k in range(PASSES):
        _go_over(control, tool, stain)
        margin = kind.margin(control.world, goal.args, wanted.params)
        if margin > 0:
            return
        if k + 1 < PASSES:
            control.session.note("recovery", (stain,), f"{stain} is not gone yet (margin {margin:.2f})")
    raise MotionError(
        "wipe.effect", f"{stain} is not gone after {PASSES} passes (margin {margin:.2f})",
        subjects=(stain, tool), value=margin, limit=0.0,
    )  # fmt: skip


def _go_over(control: Controller, tool: str, stain: str) -> None:
    """One pass over what is left of the stain."""
    control.look()
    for poses in _lanes(control, tool, stain):
        T_above = tf.translate((0.0, 0.0, ABOVE)) @ poses[0]
        for posture in control.postures(T_above):
            if not posture.ok or control.checker.hit(posture.joints) is not None:
                continue
            control.checker.allow([(tool, control.world.owners[control.world.marks[stain].surface])])
            path = _along(control, T_above, poses, posture.joints)
            control.look()
            if path is None:
                continue
            control.reach(posture.joints, stage="wipe")
            control.follow(path[0], stage="wipe", speed=CARE)
            control.follow(path[1], stage="wipe", speed=STROKE)
            control.follow(path[2], stage="wipe", speed=CARE)
            return
    raise MotionError("wipe.unreachable", f"{tool} cannot be drawn over {stain}", subjects=(stain, tool))


def _along(
    control: Controller, T_above: tf.Float, poses: list[tf.Float], start: tf.Float
) -> tuple[tf.Float, tf.Float, tf.Float] | None:
    """Joint paths down, through the poses (4, 4) of the tool centre, and up; None when out of reach or blocked."""
    stops = [T_above, *poses, tf.translate((0.0, 0.0, ABOVE)) @ poses[-1]]
    parts, at = [], start
    for T_from, T_to in pairwise(stops):
        part = control.line(T_from, T_to, at)
        if part is None or control.checker.path_hit(part) is not None:
            return None
        parts.append(part)
        at = part[-1]
    return parts[0], np.vstack([parts[1], *(part[1:] for part in parts[2:-1])]), parts[-1]


def _lanes(control: Controller, tool: str, stain: str) -> Iterator[list[tf.Float]]:
    """Ends of strokes as poses (4, 4) of the tool centre, in every direction that may be drawn in."""
    world, held = control.world, control.held
    assert held is not None
    marks, size = world.marks[stain], world.assets[tool].size
    cells = marks.cells[marks.left(world.data)]
    R_now, level = world.item_pose(tool)[:3, :3], float(marks.cells[:, 2].min())
    yaw = float(np.arctan2(R_now[1, 0], R_now[0, 0]))
    for turn in TURNS:
        T = tf.turn_z(yaw + turn)
        lane, stroke = cells[:, :2] @ T[:2, 0], cells[:, :2] @ T[:2, 1]
        width = float(size[0]) - OVERLAP
        count = max(1, int(np.ceil(np.ptp(lane) / width)))
        ends = np.array([stroke.min() - PAST, stroke.max() + PAST])
        poses = []
        for k in range(count):
            across = lane.min() + (k + 0.5) * np.ptp(lane) / count
            for along in ends if k % 2 == 0 else ends[::-1]:
                T_item = T.copy()
                T_item[:2, 3] = across * T[:2, 0] + along * T[:2, 1]
                T_item[2, 3] = level - PRESS
                poses.append(T_item @ tf.inverse(held.T_tcp_item))
        yield poses


SKILL = Skill(
    name="wipe",
    operators=(
        Operator(
            skill="wipe",
            parameters=(("item", "item"), ("mark", "mark"), ("zone", "zone")),
            needs=(("holding", "item"), ("soft", "item"), ("mark_zone", "mark", "zone"), ("standing", "zone")),
            adds=(("wiped", "mark", "item"),),
            removes=(),
            passes=("item", "mark"),
        ),
    ),
    run=run,
)
