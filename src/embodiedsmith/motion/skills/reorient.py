"""reorient(item): turn what lies in the palm about the vertical, with the fingers alone, until it lies as the goal says.

Closed loop: what the fingers do next is planned anew every few control steps (`reorienting`). Once the item is turned, the
fingers stay where they are.
"""

from __future__ import annotations

import math

import mujoco
import numpy as np

from embodiedsmith.motion.controller import Controller
from embodiedsmith.motion.errors import MotionError
from embodiedsmith.motion.operators import Operator, Step
from embodiedsmith.motion.reorienting import Reorienting
from embodiedsmith.motion.skills import Skill
from embodiedsmith.spec import Predicate
from embodiedsmith.tasks.registry import predicate
from embodiedsmith.tasks.watch import REST_SPEED
from embodiedsmith.world import World
from embodiedsmith.world import transforms as tf
from embodiedsmith.world.world import STATE

PATIENCE = 400
"""Control steps that a turn may take: 20 s."""
CLOSE = 0.5
"""Part of what may be off at which the fingers stop: it moves a little more when they do."""
LOST = 0.06
"""[m] Below where it lay it has fallen out of the hand."""
STILL = 6
"""Control steps at rest with the fingers stopped, before it counts as turned."""


def run(control: Controller, args: tuple[str, ...], upcoming: tuple[Step, ...]) -> None:
    """Turn it; checks what the goal says of it."""
    item = args[0]
    world, goal = control.world, wanted(control, args[0])
    params = predicate("reoriented").resolve(goal.params)
    T_start = at_start(world, control.session.start, item)
    turning = Reorienting(world, item, T_start, params["angle"], control.rng)
    R_goal = tf.turn_z(params["angle"])[:3, :3] @ T_start[:3, :3]
    try:
        error = _turn(control, turning, R_goal, T_start, params["within"])
    finally:
        turning.close()
    if error > params["within"]:
        raise MotionError(
            "reorient.effect", f"{item} is {math.degrees(error):.0f} degrees off after {PATIENCE} steps",
            subjects=args, value=error, limit=params["within"],
        )  # fmt: skip


def _turn(control: Controller, turning: Reorienting, R_goal: tf.Float, T_start: tf.Float, within: float) -> float:
    """Turn until it lies still within what may be off, or patience ends; how far off it is then [rad]."""
    world, item, still = control.world, turning.item, 0
    error = math.inf
    for _ in range(PATIENCE):
        pose = world.item_pose(item)
        error = float(np.linalg.norm(tf.rotation_vector(R_goal @ pose[:3, :3].T)))
        if pose[2, 3] < T_start[2, 3] - LOST:
            raise MotionError("reorient.dropped", f"{item} fell out of the hand", subjects=(item,), value=error, limit=within)
        stopped = error < CLOSE * within or (still and error < within)
        still = still + 1 if stopped and world.speed() < REST_SPEED else int(stopped)
        if still > STILL:
            break
        control.fingers_to(world.command[world.hand_slices[control.index]] if stopped else turning.next())
    return error


def at_start(world: World, state: tf.Float, item: str) -> tf.Float:
    """World pose (4, 4) of an item in a state that the world saved."""
    data = mujoco.MjData(world.model)
    mujoco.mj_setState(world.model, data, state[: mujoco.mj_stateSize(world.model, STATE)], STATE)
    mujoco.mj_kinematics(world.model, data)
    body = world.items[item].body
    return tf.compose(data.xpos[body], data.xquat[body])


def wanted(control: Controller, item: str) -> Predicate:
    """What the goal says of it, of the last stage so far that does."""
    for stage in control.stages(control.stage):
        for p in stage:
            if p.name == "reoriented" and p.args[0] == item:
                return p
    return Predicate(name="reoriented", args=(item,))


SKILL = Skill(
    name="reorient",
    operators=(
        Operator(
            skill="reorient",
            parameters=(("item", "item"),),
            needs=(("cradled", "item"),),
            adds=(("reoriented", "item"),),
            removes=(),
            passes=("item",),
        ),
    ),
    run=run,
)
