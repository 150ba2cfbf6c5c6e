"""A hand with a thing lying in it, imagined: a small model of the two alone, rolled out from now under many courses of action.

It is coarser than the world (100 Hz, soft fingertips, nominal mass and friction), so that a second of a rollout costs some 7 ms;
what it gets wrong, planning again and again makes up for.
"""

from __future__ import annotations

import mujoco
import numpy as np
from mujoco import rollout

from embodiedsmith.embodiments import contact
from embodiedsmith.embodiments.description import Robot
from embodiedsmith.world import World
from embodiedsmith.world import transforms as tf

STEP = 0.01
"""[s] Physics step. With the implicit integrators in place of the discrete one, things creep in the hand."""
ITERATIONS = 10
SOFT = (2.2 * STEP, 1.0), (0.9, 0.95, 0.001, 0.5, 2.0)
"""Contact stiffness and impedance of fingertips: the world's pads are too stiff for the step."""
STATE = mujoco.mjtState.mjSTATE_FULLPHYSICS


class Imagined:
    """The hand of a world's first arm and one item, the palm standing still where it is now.

    Args:
        world: As it is now.
        item: What lies in the hand.
    """

    def __init__(self, world: World, item: str) -> None:
        self._world = world
        self._tool = world.tcp_sites[0]
        body = int(world.model.site_bodyid[self._tool])
        self._origin = world.data.xpos[body].copy()
        self.model = _model(world, item, world.data.xmat[body].reshape(3, 3))
        self.substeps = round(world.control_dt / STEP)
        self._data = mujoco.MjData(self.model)
        self._state = np.empty(mujoco.mj_stateSize(self.model, STATE))
        joints = [world.model.joint(f"robot/{name}") for name in world.grippers[0].joints]
        mine = [self.model.joint(f"robot/{name}") for name in world.grippers[0].joints]
        free, index = self.model.joint("item/free"), world.items[item]
        seven, six = np.arange(7), np.arange(6)
        self._qpos = np.array([*(j.qposadr[0] for j in joints), *(index.qpos + seven)])
        self._dof = np.array([*(j.dofadr[0] for j in joints), *(index.dof + six)])
        self._my_qpos = np.array([*(j.qposadr[0] for j in mine), *(free.qposadr[0] + seven)])
        self._my_dof = np.array([*(j.dofadr[0] for j in mine), *(free.dofadr[0] + six)])
        self._at = 1 + int(free.qposadr[0])  # time comes first in a state
        self._moving = 1 + self.model.nq + int(free.dofadr[0])
        actuators = [self.model.actuator(f"robot/{name}").id for name in world.grippers[0].actuators]
        self._actuators = np.array(actuators)
        self.lower, self.upper = self.model.actuator_ctrlrange[actuators].T
        self._rollout = rollout.Rollout(nthread=1)

    def look(self) -> None:
        """Begin rollouts from the world as it is now."""
        data, world = self._data, self._world
        data.qpos[self._my_qpos] = world.data.qpos[self._qpos]
        data.qvel[self._my_dof] = world.data.qvel[self._dof]
        data.qpos[self._at - 1 : self._at + 2] -= self._origin
        mujoco.mj_getState(self.model, data, self._state, STATE)

    def run(self, commands: tf.Float) -> tuple[tf.Float, tf.Float, tf.Float]:
        """What becomes of the item.

        Args:
            commands: Finger commands, the first of them the present one, shape (n, steps + 1, fingers) [rad].

        Returns:
            At the end of each control step its position from the palm's body (n, steps, 3) [m], its quaternion (n, steps, 4) and
            its velocity (n, steps, 6) [m/s, rad/s].
        """
        count, steps = commands.shape[0], commands.shape[1] - 1
        part = np.arange(1, self.substeps + 1) / self.substeps
        way = commands[:, :-1, None] + part[:, None] * np.diff(commands, axis=1)[:, :, None]
        controls = np.zeros((count, steps * self.substeps, self.model.nu))
        controls[..., self._actuators] = way.reshape(count, steps * self.substeps, -1)
        states, _ = self._rollout.rollout(self.model, self._data, np.tile(self._state, (count, 1)), controls)
        ends = states[:, self.substeps - 1 :: self.substeps]
        at, moving = self._at, self._moving
        return ends[..., at : at + 3], ends[..., at + 3 : at + 7], ends[..., moving : moving + 6]

    def close(self) -> None:
        """Let go of the thread."""
        self._rollout.close()


def _model(world: World, item: str, R_world_palm: tf.Float) -> mujoco.MjModel:
    """The hand, its palm's body at the origin, turned as in the world, and the item."""
    robot: Robot = world.robot
    spec = mujoco.MjSpec()
    spec.compiler.degree = False
    spec.copy_during_attach = True
    contact.OPTIONS.apply(spec)
    spec.option.timestep, spec.option.iterations = STEP, ITERATIONS
    source = robot.build()
    source.option.timestep = STEP
    palm = source.site(robot.arm.tcp_site).parent
    palm.pos, palm.quat = (0.0, 0.0, 0.0), tf.quaternion(R_world_palm)
    spec.worldbody.add_frame().attach_body(palm, "robot/", "")
    spec.attach(world.assets[item].mjspec, prefix="item/", frame=spec.worldbody.add_frame())
    spec.body("item/root").add_freejoint(name="item/free")
    for geom in spec.geoms:
        if geom.priority:
            geom.solref, geom.solimp = SOFT
    return spec.compile()
