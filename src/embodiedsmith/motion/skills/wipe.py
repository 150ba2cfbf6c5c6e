"""wipe(tool, stain): rub what is soft over a stain until it is gone.

The tool, held from above, is pressed a little into the surface and drawn in lanes over what there is of the stain, back and
forth. Squeezed by the fingers it bulges and rubs with its middle only: lanes are as wide as that. Rubbing pushes it up between
the fingers: it is taken anew where it is, and what is left is gone over again.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, pairwise

import numpy as np

from embodiedsmith.motion.controller import CARE, Controller
from embodiedsmith.motion.errors import MotionError
from embodiedsmith.motion.operators import Operator, Step
from embodiedsmith.motion.skills import Skill
from embodiedsmith.spec import Predicate
from embodiedsmith.tasks.registry import predicate
from embodiedsmith.world import transforms as tf

PRESSES = (0.003, 0.001, -0.001)
"""[m] How far the tool is pressed in: with about 20 N at first, and less as that pushes it up between the fingers. The first at
which fingers that hold it low do not touch the surface: bulging between them, it reaches below where it ends at rest."""
ABOVE = 0.06
"""[m] Straight down before, straight up afterwards."""
OVERLAP = 0.03
"""[m] Of the tool's length that its ends miss."""
BANDS = (0.04, 0.02)
"""[m] Width of a lane at most, on the first pass and later: of a sponge's length 50 mm touch at first, and when it is pushed up
10 to 25 mm, and wipe 10 mm beyond. A lane of the first width over what was left on either side of it would miss both."""
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
    margin, T_tcp_item = -1.0, control.held.T_tcp_item
    for k in range(PASSES):
        _go_over(control, tool, stain, T_tcp_item, BANDS[min(k, 1)])
        margin = kind.margin(control.world, goal.args, wanted.params)
        if margin <= 0 and k + 1 < PASSES:
            control.session.note("recovery", (stain,), f"{stain} is not gone yet (margin {margin:.2f})")
            _take_again(control, tool, T_tcp_item)
        _straight(control, tf.translate((0.0, 0.0, ABOVE)) @ control.world.tcp(control.index))
        if margin > 0:
            return
    raise MotionError(
        "wipe.effect", f"{stain} is not gone after {PASSES} passes (margin {margin:.2f})",
        subjects=(stain, tool), value=margin, limit=0.0,
    )  # fmt: skip


def _take_again(control: Controller, tool: str, T_tcp_item: tf.Float) -> None:
    """Let go of the tool where it stands and take it as it was taken at first, to be held at `T_tcp_item` (4, 4) again.

    Raises:
        MotionError: `wipe.dropped` when it is not between the fingers afterwards.
    """
    control.let_go()
    control.grip(control.hand.closing_on(control.hand.max_width))
    _straight(control, control.world.item_pose(tool) @ _taken(control, tool, T_tcp_item))
    control.grip(1.0)
    if tool not in control.world.grasped(control.index):
        raise MotionError("wipe.dropped", f"{tool} is not between the fingers", subjects=(tool,))
    control.take(tool)


def _taken(control: Controller, tool: str, T_tcp_item: tf.Float) -> tf.Float:
    """Pose (4, 4) in the tool's frame at which fingers closed on it that then hold it at `T_tcp_item`.

    Squeezed where it lies, it bulges below and rises between them: fingers that close lower than at first hold it lower still.
    """
    T = tf.inverse(T_tcp_item)
    places = [np.asarray(grasp.pose.position) for grasp in control.world.assets[tool].affordances.grasps]
    T[:3, 3] = min(places, key=lambda place: float(np.linalg.norm(place - T[:3, 3])))
    return T


def _straight(control: Controller, T: tf.Float) -> None:
    """Move the tool centre straight to a world pose (4, 4)."""
    path = control.line(control.world.tcp(control.index), T, control.joints)
    if path is None:
        raise MotionError("wipe.unreachable", "there is no way back from the stain")
    control.follow(path, stage="wipe", speed=CARE)


def _go_over(control: Controller, tool: str, stain: str, T_tcp_item: tf.Float, band: float) -> None:
    """One pass over what is left of the stain with a tool held so, in lanes `band` [m] wide; ends pressed on the surface."""
    control.look()
    width = min(band, float(control.world.assets[tool].size[0]) - OVERLAP)
    for poses in chain.from_iterable(_lanes(control, tool, stain, T_tcp_item, width, press) for press in PRESSES):
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
            return
    raise MotionError("wipe.unreachable", f"{tool} cannot be drawn over {stain}", subjects=(stain, tool))


def _along(control: Controller, T_above: tf.Float, poses: list[tf.Float], start: tf.Float) -> tuple[tf.Float, tf.Float] | None:
    """Joint paths down, and through the poses (4, 4) of the tool centre; None when out of reach or blocked."""
    stops = [T_above, *poses]
    parts, at = [], start
    for T_from, T_to in pairwise(stops):
        part = control.line(T_from, T_to, at)
        if part is None or control.checker.path_hit(part) is not None:
            return None
        parts.append(part)
        at = part[-1]
    return parts[0], np.vstack([parts[1], *(part[1:] for part in parts[2:])])


def _lanes(
    control: Controller, tool: str, stain: str, T_tcp_item: tf.Float, width: float, press: float
) -> Iterator[list[tf.Float]]:
    """Ends of strokes as poses (4, 4) of the tool centre, in every direction that may be drawn in.

    They are in lanes `width` [m] wide, and press the tool in by `press` [m].
    """
    world = control.world
    marks = world.marks[stain]
    cells = marks.cells[marks.left(world.data)]
    T_now, level = world.item_pose(tool), float(marks.cells[:, 2].min())
    yaw = float(np.arctan2(T_now[1, 0], T_now[0, 0]))
    for turn in TURNS:
        T = tf.turn_z(yaw + turn)
        poses = []
        for k, (across, *ends) in enumerate(strokes(cells[:, :2] @ T[:2, :2], width)):
            for along in ends if k % 2 == 0 else ends[::-1]:
                T_item = T.copy()
                T_item[:2, 3] = across * T[:2, 0] + along * T[:2, 1]
                T_item[2, 3] = level - press
                poses.append(T_item @ tf.inverse(T_tcp_item))
        yield poses


def strokes(cells: tf.Float, width: float) -> list[tuple[float, float, float]]:
    """Strokes along y that go over all cells (n, 2): x, and y from and to [m].

    Each goes over a lane at most `width` wide, as far as there are cells in it and `PAST` beyond.
    """
    found, left = [], cells[np.argsort(cells[:, 0])]
    while len(left):
        within = left[:, 0] <= left[0, 0] + width
        lane, left = left[within], left[~within]
        across = (lane[0, 0] + lane[-1, 0]) / 2
        found.append((float(across), float(lane[:, 1].min() - PAST), float(lane[:, 1].max() + PAST)))
    return found


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
