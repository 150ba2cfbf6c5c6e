"""straighten(rope, place): pull a rope straight where it lies, by one of its ends.

The friction under the rope holds it back, so a pull along the line from its far end takes out its waves one after the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from embodiedsmith.motion.controller import CARE, Controller, closed_on
from embodiedsmith.motion.errors import MotionError
from embodiedsmith.motion.grasping import Tally
from embodiedsmith.motion.operators import Operator, Step
from embodiedsmith.motion.pinching import ABOVE, downward, level, tip
from embodiedsmith.motion.skills import Skill
from embodiedsmith.spec import Predicate
from embodiedsmith.tasks.predicates.straightened import reach
from embodiedsmith.tasks.registry import predicate
from embodiedsmith.world import transforms as tf

PULLS = 4
"""Times it is pulled."""
GRIPPED = 1
"""Links from the end to the one that is held."""
GAP = 0.035
"""[m] Between the fingers round the rope before they close, and once they have let go."""
CLEAR = 0.002
"""[m] Between the fingertips and what the rope lies on."""
TURNS = (0.0, 0.35, -0.35, 0.7, -0.7, 1.05, -1.05)
"""[rad] by which the pull turns away from the line from the far end."""
MORE = (0.08, 0.05, 0.02, 0.0)
"""[m] pulled farther than the far end, if it stayed, would let the rope be pulled."""
LEAST = 0.03
"""[m] that is worth a pull."""
SURE = 0.001
"""[m] Margin from which it counts as straight."""
WAIT = 6
"""Control steps for the rope to come to rest."""


@dataclass(frozen=True)
class _Pull:
    """A way to take hold of an end and pull, free of collisions."""

    down: tf.Float
    """Joint path (k, n) straight down to the end."""
    along: tf.Float
    """Joint path (k, n) along the pull."""


def foresee(control: Controller, args: tuple[str, ...]) -> None:
    """Raise what the first pull would, as far as it can be known before."""
    _way(control, *args)


def run(control: Controller, args: tuple[str, ...], upcoming: tuple[Step, ...]) -> None:
    """Pull until the rope is straight."""
    item, place = args
    if control.held is not None:
        raise MotionError("straighten.hand_full", f"{control.held.item} is in the hand", subjects=(control.held.item,))
    wanted = next((p for p in control.stages(control.stage)[0] if p.name == "straightened" and p.args == (item,)), None)
    params = (wanted or Predicate(name="straightened", args=(item,))).params
    margin = -1.0
    for _ in range(PULLS):
        _pull(control, item, _way(control, item, place))
        control.wait(WAIT)
        margin = predicate("straightened").margin(control.world, (item,), params)
        if margin > SURE:
            return
        control.session.note("recovery", (item,), f"{item} is not straight yet, margin {100 * margin:.1f} cm")
    if margin <= 0:
        said = f"{item} is not straight after {PULLS} pulls (margin {100 * margin:.1f} cm)"
        raise MotionError("straighten.effect", said, subjects=(item,), value=margin, limit=0.0)


def _pull(control: Controller, item: str, pull: _Pull) -> None:
    control.reach(pull.down[0], stage="straighten")
    control.await_gripper()
    control.follow(pull.down, stage="straighten", speed=CARE)
    control.grip(1.0)
    if item not in control.world.grasped(control.index):
        _let_go(control, item)
        raise MotionError("straighten.missed", f"the fingers close beside {item}", subjects=(item,))
    control.follow(pull.along, stage="straighten", speed=CARE)
    slipped = item not in control.world.grasped(control.index)
    _let_go(control, item)
    if slipped:
        control.session.note("recovery", (item,), f"{item} slipped out of the hand")


def _let_go(control: Controller, item: str) -> None:
    control.grip(closed_on(control.hand.max_width, GAP))
    _ignore(control, item)
    T = control.world.tcp(control.index)
    up = control.straight(T, tf.translate((0.0, 0.0, ABOVE)) @ T, control.joints)
    if up is not None:
        control.follow(up, stage="straighten", speed=0.5)


def _ignore(control: Controller, item: str) -> None:
    """Look at the world, the rope left out: it gives way."""
    control.look()
    control.checker.allow([(item, owner) for owner in ("robot", *control.fingers)])


def _way(control: Controller, item: str, place: str) -> _Pull:
    """The best pull there is; raises MotionError `straighten.unreachable` or `straighten.blocked`."""
    tally = Tally()
    _ignore(control, item)
    height = level(control, place) + tip(control) + CLEAR
    control.gripper = closed_on(control.hand.max_width, GAP)
    control.checker.set_gripper(control.gripper)
    for at, across, by in _candidates(control.world.matter(item), reach(control.world, item)):
        for flip in (1.0, -1.0):
            tally.tried += 1
            T = downward(np.array([*at[:2], height]), flip * across)
            found = _free(control, T, by, tally)
            if found is not None:
                return found
    raise tally.error("straighten", item)


def _free(control: Controller, T: tf.Float, by: tf.Float, tally: Tally) -> _Pull | None:
    T_above = tf.translate((0.0, 0.0, ABOVE)) @ T
    for posture in control.postures(T_above):
        if tally.misses(posture):
            return None
        down = control.straight(T_above, T, posture.joints, met=tally.met)
        along = None if down is None else control.straight(T, tf.translate(by) @ T, down[-1], met=tally.met)
        if down is not None and along is not None:
            return _Pull(down, along)
    tally.blocked += 1
    return None


def _candidates(points: tf.Float, length: float) -> Iterator[tuple[tf.Float, tf.Float, tf.Float]]:
    """Where to hold (3,), the closing direction (3,) and the pull (3,) [m]: the farther and the less turned, the earlier."""
    for more in MORE:
        for turn in TURNS:
            for ordered in (points, points[::-1]):
                far, held = ordered[0], ordered[-1 - GRIPPED]
                line = (held - far) * (1.0, 1.0, 0.0)
                apart = float(np.linalg.norm(line))
                away = tf.turn_z(turn)[:3, :3] @ (line / apart)
                toward = float(away @ line)
                slack = np.sqrt(max(length**2 - apart**2 + toward**2, 0.0)) - toward
                link = (ordered[-1] - ordered[-2 - GRIPPED]) * (1.0, 1.0, 0.0)
                across = np.array([-link[1], link[0], 0.0]) / np.linalg.norm(link)
                if slack + more > LEAST:
                    yield held, across, (slack + more) * away


SKILL = Skill(
    name="straighten",
    operators=(
        Operator(
            skill="straighten",
            parameters=(("item", "item"), ("place", "place"), ("zone", "zone")),
            needs=(
                ("empty_hand",), ("rope", "item"), ("loose", "item"), ("at", "item", "place"), ("ungated", "place"),
                ("place_zone", "place", "zone"), ("standing", "zone"),
            ),
            adds=(("straight", "item"),),
            removes=(),
            passes=("item", "place"),
        ),
    ),
    run=run,
    foresee=foresee,
)  # fmt: skip
