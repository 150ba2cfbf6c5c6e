"""What a policy sees: the scene by the roles that things play in the task, from where the tools are.

Nothing is named: the things that the goal speaks of fill slots in the goal's order, the nearest other ones fill a few more, and
everything is told in the frame of the tool centre point (TCP), so that one network serves many scenes, and a scene that is moved
or turned together with its robot looks the same. A thing's turn about its own axis is folded by its symmetry: a can looks alike
from all sides, a block at every quarter turn.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Self

import mujoco
import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from embodiedsmith import embodiments
from embodiedsmith.embodiments.chains import Chain
from embodiedsmith.embodiments.description import Gripper
from embodiedsmith.embodiments.turns import multiply, rotate, rotation_vector
from embodiedsmith.learn.bodies import Bodies, rotations
from embodiedsmith.learn.roles import FLAGS, Roles
from embodiedsmith.learn.scenery import ARM_VECTORS, Scene, Scenery
from embodiedsmith.learn.stages import Stages
from embodiedsmith.runtime.errors import UsageError
from embodiedsmith.spec import Scenario, predicates
from embodiedsmith.spec.base import Noun
from embodiedsmith.tasks.goal import goal_faults
from embodiedsmith.tasks.recording import Float, Recording
from embodiedsmith.world import World
from embodiedsmith.world.compile import ROBOT
from embodiedsmith.world.world import STATE

Features = NDArray[np.float32]

_CONJUGATE = np.array([1.0, -1.0, -1.0, -1.0])
_TURN = ("yaw", "yaw_cos", "yaw_sin")


class ObservationConfig(Noun):
    """What is told, in which order: features of equal configurations mean the same in every scene."""

    slots: int = Field(default=4, ge=1, le=16)
    """Things that the goal names."""
    others: int = Field(default=0, ge=0, le=16)
    """Free things that it does not name, the nearest. None by default: with few scenes to learn from, a network tells by them
    which scene it is in and learns each by heart (docs/learning.md has the figures)."""
    predicates: tuple[str, ...] = ()
    """Those that goals may be made of."""
    robots: tuple[str, ...] = ()
    """Those that may act."""
    arms: int = Field(default=1, ge=1, le=4)
    """Arms from which the scene is told, each for itself; a robot with fewer leaves the rest zero."""
    vehicle: bool = False
    """Whether to tell where a base that drives is."""

    @classmethod
    def covering(cls, scenarios: Iterable[Scenario], *, slots: int = 4, others: int = 0) -> Self:
        """The least configuration in which all of these can be told."""
        given = list(scenarios)
        robots = {s.embodiment.name: embodiments.get(s.embodiment.name) for s in given}
        return cls(
            slots=slots,
            others=others,
            predicates=tuple(sorted({p.name for s in given for p in predicates(s.task.goal)})),
            robots=tuple(sorted(robots)),
            arms=max((len(robot.arms) for robot in robots.values()), default=1),
            vehicle=any(robot.base.kind == "planar" for robot in robots.values()),
        )

    @property
    def names(self) -> tuple[str, ...]:
        """Name of each feature: lengths [m], angles [rad], `arm<k>/` in the frame of that arm's TCP."""
        names = [f"does/{p}" for p in self.predicates] + ["stage", "stages_left"] + [f"robot/{r}" for r in self.robots]
        for k in range(self.slots):
            names += [f"slot{k}/{name}" for name in self.told]
        for arm in range(self.arms):
            names += [f"arm{arm}/{name}" for name in self._of_arm()]
        return tuple(names)

    @property
    def told(self) -> tuple[str, ...]:
        """What is told of a thing in a slot beside where it is."""
        return (
            *FLAGS, *(f"does/{p}" for p in self.predicates), "present", *_axes("size"), "slides", "turns", "handle", "knob",
            "spot", "opening", "opening_asked", "opening_left",
        )  # fmt: skip

    def _of_arm(self) -> list[str]:
        names = ["present", "gripper", "gripper_commanded", "gripper_lag", "height", *_axes("up")]
        names += [*_axes("lag"), *_axes("lag_turn")]
        for k in range(self.slots):
            names += [f"slot{k}/{name}" for vector in ARM_VECTORS for name in _axes(vector)]
            names += [f"slot{k}/{name}" for name in _TURN]
        for k in range(self.others):
            names += [f"other{k}/{name}" for name in ("present", *_axes("position"), *_axes("size"))]
        for k in range(self.arms - 1):
            names += [f"tool{k}/{name}" for name in (*_axes("position"), *_axes("approach"), *_axes("closing"))]
        if self.vehicle:
            names += [f"base/{name}" for name in (*_axes("position"), *_axes("ahead"), "lag_x", "lag_y", "lag_yaw")]
        return names


class Encoder:
    """Tells the scenes of one scenario in the features of a configuration.

    Args:
        scenario: A laid-out scenario.
        config: What to tell.
        world: A world of this scenario, of which only the model is looked at; None: it is compiled here.

    Raises:
        UsageError: the scenario has a predicate or a robot that the configuration does not know, or a goal that makes no sense.
    """

    def __init__(self, scenario: Scenario, config: ObservationConfig, *, world: World | None = None) -> None:
        _refuse_strangers(scenario, config)
        self.config = config
        self.names = config.names
        self.stages = Stages(scenario.task)
        """How far attempts have come: `stages.now(monitor)` is what `encode` is to be told."""
        self._world = world = World(scenario) if world is None else world
        if faults := goal_faults(scenario.task.goal, world.assets):
            raise UsageError("the goal makes no sense", where=scenario.id, faults=faults)
        self._slices = world.observation_slices
        self._bodies = Bodies(world)
        self._scenery = Scenery(world, self._bodies, Roles(world, self.stages), config.slots, config.predicates)
        arms = list(range(min(config.arms, len(world.robot.arms))))
        self._chains = [Chain(world.model, world.robot.arms[k], ROBOT) for k in arms]
        self._hands = [(world.hand_slices[k], *_closing(world.grippers[k])) for k in arms]
        self._task = self._tell_task(scenario)
        base = scenario.embodiment.base
        assert base is not None  # or the world would not have compiled
        self._floor = base.position[2]
        rigid = mujoco.mj_stateSize(world.model, STATE)  # of a state: then comes the command, then liquids
        self._command = slice(rigid, rigid + world.action_size)

    @property
    def size(self) -> int:
        """Number of features."""
        return len(self.names)

    def encode(self, observed: Float, commands: Float, stages: np.ndarray) -> Features:
        """Features of many moments at once; a row has the same bits whatever rows are beside it.

        Args:
            observed: Observations (n, observation_size), see `World.observe`.
            commands: The canonical actions in force, shape (n, na).
            stages: How many stages each attempt has behind it, shape (n,).

        Returns:
            Shape (n, size).
        """
        n = len(observed)
        out = np.zeros((n, self.size), dtype=np.float32)
        at = self._task.shape[1]
        out[:, :at] = self._task[stages]
        origins, turns = self._bodies.poses(observed)
        scene = self._scenery.look(observed, origins, turns, stages)
        at = _put(out, at, scene.told)
        tools = [self._tool(observed, arm) for arm in range(len(self._chains))]
        for arm in range(len(self._chains)):
            at = self._tell_arm(out, at, arm, tools, observed, commands, scene)
        return out

    def encode_recording(self, recording: Recording) -> Features:
        """Features (T, size) of the moments before each action of an episode: row t is what a policy would have seen then.

        Raises:
            UsageError: the recording is of a world that observes other things.
        """
        observations = recording.observations
        if missing := sorted(set(self._slices) ^ set(observations)):
            raise UsageError(f"the recording {recording.scenario_id} is of another scenario: {missing} differ")
        n = recording.length
        observed = np.concatenate([observations[name][:n] for name in self._slices], axis=1)
        return self.encode(observed, self.commands(recording)[:n], self.stages.along(recording)[:n])

    def commands(self, recording: Recording) -> Float:
        """The canonical action in force at every state of an episode, shape (T+1, na)."""
        return recording.states[:, self._command]

    # ------------------------------------------------------------------ parts

    def _tell_task(self, scenario: Scenario) -> Float:
        """Features (stages, k) of what is asked for, how far one has come and who acts."""
        config, rows = self.config, []
        for stage, asked in enumerate(self.stages.asked):
            said = {p.name: -1.0 if negated else 1.0 for p, negated in reversed(asked)}
            acting = [float(name == scenario.embodiment.name) for name in config.robots]
            rows.append([*(said.get(p, 0.0) for p in config.predicates), stage, self.stages.count - 1 - stage, *acting])
        return np.array(rows, dtype=np.float64)

    def _tool(self, observed: Float, arm: int) -> tuple[Float, Float]:
        """World position (n, 3) and rotation (n, 3, 3) of an arm's TCP."""
        pose = observed[:, self._slices[f"tcp_pose{f'_{arm}' if arm else ''}"]]
        return pose[:, :3], rotations(pose[:, 3:])

    def _tell_arm(
        self, out: Features, at: int, arm: int, tools: list[tuple[Float, Float]], observed: Float, commands: Float, scene: Scene
    ) -> int:
        config, (position, turn) = self.config, tools[arm]
        at = _put(out, at, self._tell_hand(arm, observed, commands))
        at = _put(out, at, np.column_stack([position[:, 2] - self._floor, turn[:, 2]]))
        at = _put(out, at, self._tell_lag(arm, observed, commands))
        at = _put(out, at, scene.slots_from(position, turn))
        at = _put(out, at, scene.others_from(position, turn, config.others))
        for k in range(config.arms):
            if k < len(tools) and k != arm:
                there = np.stack([tools[k][0] - position, tools[k][1][:, :, 2], tools[k][1][:, :, 1]], axis=1)
                _put(out, at, (there @ turn).reshape(len(out), -1))
            at += 9 * (k != arm)
        if config.vehicle:
            if self._world.robot.base.kind == "planar":
                _put(out, at, self._tell_base(position, turn, observed, commands))
            at += 9
        return at

    def _tell_hand(self, arm: int, observed: Float, commands: Float) -> Float:
        """That there is one, how far it is closed and how far it is meant to be."""
        part, opened, way = self._hands[arm]
        asked = ((commands[:, part] - opened) * way).sum(axis=1)
        closed = observed[:, self._slices["gripper"]][:, arm]
        return np.column_stack([np.ones(len(asked)), closed, asked, asked - closed])

    def _tell_lag(self, arm: int, observed: Float, commands: Float) -> Float:
        """Where the tool is meant to be, from where the joints have it: it is behind, or pressed by something."""
        part, chain = self._world.arm_slices[arm], self._chains[arm]
        there, turned = chain.forward(observed[:, self._slices["joint_position"]][:, part])
        meant, turning = chain.forward(commands[:, part])
        back = turned * _CONJUGATE
        return np.hstack([rotate(back, meant - there), rotation_vector(multiply(back, turning))])

    def _tell_base(self, position: Float, turn: Float, observed: Float, commands: Float) -> Float:
        """Where a vehicle is and faces, from its tool, and how far it is behind what it is told, in its own frame."""
        base = observed[:, self._slices["joint_position"]][:, :3]
        x, y, yaw = base.T
        cos, sin = np.cos(yaw), np.sin(yaw)
        zero = np.zeros(len(x))
        there = np.stack([x, y, zero + self._floor], axis=1) - position
        seen = np.stack([there, np.stack([cos, sin, zero], axis=1)], axis=1) @ turn
        off = commands[:, :3] - base
        lag = np.stack([cos * off[:, 0] + sin * off[:, 1], cos * off[:, 1] - sin * off[:, 0], off[:, 2]], axis=1)
        return np.hstack([seen.reshape(len(x), -1), lag])


def is_size(name: str) -> bool:
    """Whether a feature of that name is how large a thing is along one of its axes [m]."""
    return name.rpartition("/")[2] in _axes("size")


def _axes(name: str) -> tuple[str, str, str]:
    return f"{name}_x", f"{name}_y", f"{name}_z"


def _put(out: Features, at: int, block: Float) -> int:
    """Write a block (n, k) of features behind the first `at`; gives where the next begins."""
    end = at + int(block.shape[1])
    out[:, at:end] = block
    return end


def _closing(hand: Gripper) -> tuple[Float, Float]:
    """What is taken off a hand's part of a command, and what it is then multiplied with to be a closing, 0 open to 1 closed."""
    opened, closed = (np.array(hand.action(closing), dtype=np.float64) for closing in (0.0, 1.0))
    way = closed - opened
    return opened, way / (way @ way)


def _refuse_strangers(scenario: Scenario, config: ObservationConfig) -> None:
    """Raise a `UsageError` when the configuration cannot tell a scenario."""
    strange = sorted({p.name for p in predicates(scenario.task.goal)} - set(config.predicates))
    faults = [f"the predicate '{name}' is not among {list(config.predicates)}" for name in strange]
    if scenario.embodiment.name not in config.robots:
        faults.append(f"the robot '{scenario.embodiment.name}' is not among {list(config.robots)}")
    if faults:
        raise UsageError(
            "the observation cannot tell this scenario", where=scenario.id, faults=faults,
            remedy="make the configuration with ObservationConfig.covering(...) of all scenarios",
        )  # fmt: skip
