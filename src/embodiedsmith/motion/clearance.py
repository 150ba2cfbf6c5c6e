"""How close the robot came to things: the least distance of its links, fingers left out, over an episode."""

from __future__ import annotations

import copy

import mujoco
import numpy as np

from embodiedsmith.tasks.recording import Recording
from embodiedsmith.world import World

FARTHEST = 0.05  # [m] distances beyond this are not told apart
EVERY = 4  # control steps between looks


def clearance(world: World, recording: Recording) -> float:
    """Least distance [m] between the robot's links and anything that is not the robot, at most `FARTHEST`; negative in contact.

    Fingers are left out: they are meant to touch.

    Args:
        world: A world of the recording's scenario; left as it is.
        recording: The episode.
    """
    model, data = copy.copy(world.model), mujoco.MjData(world.model)
    robot = np.isin(world.geom_owner, world.robot_owners)
    links, things = world.geom_owner == 1, ~robot & ((model.geom_contype | model.geom_conaffinity) != 0)
    model.geom_contype[:], model.geom_conaffinity[:] = 0, 0
    model.geom_contype[links & ((world.model.geom_contype | world.model.geom_conaffinity) != 0)] = 1
    model.geom_conaffinity[things] = 1
    model.flex_contype[:] = model.flex_conaffinity[:] = 0  # what is soft is its shape at rest
    model.geom_margin[things] = FARTHEST
    model.body_margin[:] = 0.0
    np.maximum.at(model.body_margin, model.geom_bodyid, model.geom_margin)
    first = mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_TIME)
    least = FARTHEST
    for state in recording.states[::EVERY]:
        data.qpos[:] = state[first : first + model.nq]
        mujoco.mj_kinematics(model, data)
        mujoco.mj_collision(model, data)
        least = min(least, float(data.contact.dist.min(initial=FARTHEST)))
    return least
