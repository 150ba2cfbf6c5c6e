"""A scenario as a Gymnasium environment.

env = make_env(scenario)
observation, info = env.reset(seed=0)
observation, reward, terminated, truncated, info = env.step(env.action_space.sample())
"""

from __future__ import annotations

from typing import Any, ClassVar

import gymnasium
import numpy as np
from numpy.typing import NDArray

from embodiedsmith.embodiments.actions import ActionSpace
from embodiedsmith.runtime.errors import UsageError
from embodiedsmith.runtime.seeds import generator
from embodiedsmith.spec import Scenario
from embodiedsmith.tasks.goal import reward
from embodiedsmith.tasks.recording import Recording
from embodiedsmith.tasks.session import Session
from embodiedsmith.world import World, WorldFault
from embodiedsmith.world.compile import ROBOT
from embodiedsmith.world.render import WorldRenderer, camera_names

Observation = dict[str, NDArray[np.float64]]
TOOL_RANGE = 2.0  # [m] from the robot's base, in each direction
TOOL_STEP, TOOL_TURN = 0.1, 0.5  # [m, rad] a tool may be sent in one control step


class ScenarioEnv(gymnasium.Env[Observation, NDArray[np.float64]]):  # type: ignore[misc]
    """One scenario, reset with fresh variation at every episode.

    Observation: a dict of the world's low-dimensional observations (see `World.observe`), each of shape (d,), SI units.
    Action: in the space `actions` names (see `embodiments.actions`); by default absolute joint targets [m, rad] within the joint
    limits, then grippers 0 open to 1 closed (see `World.step`). Tool spaces are turned into joint targets from those in force.
    Reward: see `tasks.goal.reward`. Terminated on success; truncated at the horizon or when the simulation went bad
    (`info["failure"]` says how). `info` always has `margin`, `success` and the margins of the predicates.

    Args:
        scenario: A laid-out scenario.
        actions: `joint_position`, `ee_pose`, `ee_delta`, and for vehicles `base_velocity` and `ee_delta_base_velocity`.
        render_mode: "rgb_array" or None.
        camera: Camera to render from; None: the scene's first one, else the robot's first.
        size: Picture width and height [pixels].

    Raises:
        CompileError: the scenario cannot be built.
        UsageError: unknown render mode or camera, or a goal that makes no sense.
        EmbodimentError: an action space that the robot does not have.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": ["rgb_array"], "render_fps": 20}

    def __init__(
        self,
        scenario: Scenario,
        *,
        actions: str = "joint_position",
        render_mode: str | None = None,
        camera: str | None = None,
        size: tuple[int, int] = (320, 240),
    ) -> None:
        if render_mode not in (None, "rgb_array"):
            raise UsageError(f"unknown render mode '{render_mode}'", choices=["rgb_array"])
        self.scenario = scenario
        self.render_mode = render_mode
        self.world = World(scenario)
        self.session = Session(self.world)
        self._actions = ActionSpace(self.world.robot, actions, self.world.control_dt)
        self._camera, self._size = self._choose_camera(camera), size
        self._renderer: WorldRenderer | None = None
        self.observation_space = gymnasium.spaces.Dict(
            {
                name: gymnasium.spaces.Box(-np.inf, np.inf, (at.stop - at.start,), np.float64)
                for name, at in self.world.observation_slices.items()
            }
        )
        self.action_space = gymnasium.spaces.Box(*self._action_limits(), dtype=np.float64)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Observation, dict[str, Any]]:
        """Start an episode; the same seed gives the same episode. Without a seed the environment goes on with its own stream.

        Raises:
            SettleError: the scene does not come to rest.
        """
        super().reset(seed=seed)
        self.session.reset(generator(int(self.np_random.integers(2**62)), self.scenario.id, "env"))
        return self.session.observation, self._info()

    def step(self, action: NDArray[np.float64]) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Advance one control step; see the class. An action outside its space is clipped to it."""
        before = self.session.margin
        clipped = np.clip(np.asarray(action, dtype=np.float64), self.action_space.low, self.action_space.high)
        try:
            self.session.step(self._actions.decode(clipped, self.world.command).action)
        except WorldFault:
            failure = self.session.fault
            return self.session.observation, 0.0, False, True, {**self._info(), "failure": failure.code if failure else ""}
        success = self.session.succeeded
        gain = reward(before, self.session.margin, success=success)
        return self.session.observation, gain, success, self.session.timed_out and not success, self._info()

    def recording(self) -> Recording:
        """What happened since the last reset; the environment must be reset before it is stepped again."""
        return self.session.finish()

    def render(self) -> NDArray[np.uint8] | None:
        """The picture of the world now, shape (height, width, 3); None without a render mode."""
        if self.render_mode is None:
            return None
        if self._renderer is None:
            self._renderer = WorldRenderer(self.world, *self._size)
        return self._renderer.rgb(self._camera)

    def close(self) -> None:
        """Free the renderer."""
        if self._renderer is not None:
            self._renderer.close()
            self._renderer = None

    def _info(self) -> dict[str, Any]:
        monitor = self.session.monitor
        margins = dict(zip(monitor.predicate_names, monitor.predicate_margins.tolist(), strict=True))
        return {"margin": self.session.margin, "success": self.session.succeeded, "predicates": margins}

    def _action_limits(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Least and greatest action, by the name of each component."""
        model, base = self.world.model, self.world.robot.base
        limits: dict[str, tuple[float, float]] = {
            **{f"tcp_{a}": (-TOOL_RANGE, TOOL_RANGE) for a in "xyz"},
            **{f"tcp_q{a}": (-1.0, 1.0) for a in "wxyz"},
            **{f"tcp_d{a}": (-TOOL_STEP, TOOL_STEP) for a in "xyz"},
            **{f"tcp_r{a}": (-TOOL_TURN, TOOL_TURN) for a in "xyz"},
            **{n: (-v, v) for n, v in zip(("base_vx", "base_vy", "base_wz"), base.velocity_limits, strict=False)},
        }
        for name in self.world.action_names[: self.world.joint_count]:
            joint = model.joint(ROBOT + name)
            low, high = joint.range if model.jnt_limited[joint.id] else (-np.pi, np.pi)
            limits[name] = (float(low), float(high))
        for hand, part in zip(self.world.grippers, self.world.hand_slices, strict=True):
            ends = zip(hand.open_ctrl, hand.closed_ctrl, strict=True) if hand.dexterous else [(0.0, 1.0)]
            limits |= {n: (min(e), max(e)) for n, e in zip(self.world.action_names[part], ends, strict=True)}
        bounds = np.array([limits[name] for name in self._actions.names])
        return bounds[:, 0], bounds[:, 1]

    def _choose_camera(self, camera: str | None) -> str:
        cameras = camera_names(self.world)
        if camera is None:
            return cameras[0] if cameras else ""
        if camera not in cameras:
            raise UsageError(f"unknown camera '{camera}'", choices=cameras)
        return camera


def make_env(
    scenario: Scenario,
    *,
    actions: str = "joint_position",
    render_mode: str | None = None,
    camera: str | None = None,
    size: tuple[int, int] = (320, 240),
) -> ScenarioEnv:
    """The scenario as a Gymnasium environment; see `ScenarioEnv`."""
    return ScenarioEnv(scenario, actions=actions, render_mode=render_mode, camera=camera, size=size)
