"""How much an episode or a policy can take: success when the start and the actions are a little off, on real physics.

An episode's actions are repeated as they were (`Shaker`, `robustness`): what succeeds only by a hair's breadth fails. A policy,
which looks where things are, is tried on a suite whose starts and forces vary a little more (`perturbed`).
"""

from __future__ import annotations

import mujoco
import numpy as np
from pydantic import Field

from embodiedsmith.episodes.staging import attempt_rng
from embodiedsmith.evaluate.intervals import Interval, rate
from embodiedsmith.evaluate.suites import Suite
from embodiedsmith.runtime.errors import UsageError
from embodiedsmith.runtime.seeds import generator
from embodiedsmith.spec import Scenario
from embodiedsmith.spec.base import Noun
from embodiedsmith.spec.scenario import Area
from embodiedsmith.tasks import Recording, Watch
from embodiedsmith.world import Batch, World
from embodiedsmith.world import transforms as tf
from embodiedsmith.world.world import OVERLAP

REPEATS = 8
PATIENCE = 20
"""Control steps for which the last action is held until the goal has held long enough at rest."""


class Perturbation(Noun):
    """How much is off. Ranges are uniform, noise is normal.

    The usual sizes tell demonstrations apart: a Panda's that put a can into a basket or stack two blocks succeed in 0.79 and 0.85
    of the repeats; with half of it in 0.98 and 1, with one and a half times it in 0.44 (six of each, 8 repeats).
    """

    shift: float = Field(default=0.008, ge=0.0, le=0.1)
    """Largest shift of each free thing along x and y at the start, with what stands on it [m]."""
    turn: float = Field(default=0.08, ge=0.0, le=1.0)
    """Largest turn about the vertical, likewise [rad]."""
    joints: float = Field(default=0.02, ge=0.0, le=0.5)
    """More offset of each arm joint at the start [rad]; for policies."""
    action_noise: float = Field(default=0.005, ge=0.0, le=0.1)
    """Standard deviation of every joint's target at every control step [m, rad]; for actions that are repeated."""
    action_bias: float = Field(default=0.005, ge=0.0, le=0.1)
    """Largest error of every joint's target that lasts for the whole attempt [m, rad]; likewise."""
    torque_noise: float = Field(default=0.02, ge=0.0, le=1.0)
    """More standard deviation of forces, as a fraction of the applied force; for policies."""


class Shaker:
    """Repeats episodes of one scenario with perturbations, several at once. Results do not depend on `threads`.

    Args:
        scenario: What the episodes are of.
        repeats: How often each is repeated.
        perturbation: How much is off; None: the usual.
        threads: Threads that step the worlds.

    Raises:
        CompileError: the scenario cannot be built.
        UsageError: fewer than one repeat.
    """

    def __init__(
        self, scenario: Scenario, repeats: int = REPEATS, perturbation: Perturbation | None = None, *, threads: int = 1
    ) -> None:
        self.scenario = scenario
        self._perturbation = perturbation or Perturbation()
        self._batch = Batch(scenario, repeats, threads=threads)
        self._watches = [Watch(world) for world in self._batch.worlds]

    def success(self, recording: Recording) -> Interval:
        """Share of the repeats in which the goal holds, at rest and long enough, once the actions are done, with its interval.

        Draws depend on the attempt that is repeated alone.

        Raises:
            UsageError: the recording is of another scenario.
        """
        if recording.scenario_id != self.scenario.id:
            raise UsageError(f"the recording is of scenario {recording.scenario_id}, not of {self.scenario.id}")
        batch = self._batch
        seed, attempt = recording.seed, recording.attempt
        rngs = [generator(seed, self.scenario.id, attempt, "robustness", k) for k in range(batch.count)]
        if any(batch.reset([attempt_rng(seed, self.scenario.id, attempt) for _ in rngs])):
            return rate(0, batch.count)
        batch.restore(np.stack([self.start(world, rng) for world, rng in zip(batch.worlds, rngs, strict=True)]))
        for watch in self._watches:
            watch.begin()
        actions = np.stack([self._actions(recording.actions, rng) for rng in rngs], axis=1)  # (T, repeats, na)
        going = list(range(batch.count))
        for t in range(len(actions) + PATIENCE):
            self._step(actions[min(t, len(actions) - 1)], going)
            going = [k for k in going if self._watches[k].running and not (t >= len(actions) - 1 and self._watches[k].succeeded)]
            if not going:
                break
        return rate(sum(watch.succeeded for watch in self._watches), batch.count)

    def _step(self, actions: tf.Float, ids: list[int]) -> None:
        batch = self._batch
        faults = batch.step(actions[ids], ids)
        for k, fault in zip(ids, faults, strict=True):
            if fault is not None:
                self._watches[k].went_bad(fault)
        well = [k for k, fault in zip(ids, faults, strict=True) if fault is None]
        for k in well:
            batch.world(k)  # is what its monitor looks at
        for k, state, seen in zip(well, batch.save(well), batch.observe(well), strict=True):
            self._watches[k].took(actions[k], "", state, seen)

    def _actions(self, actions: tf.Float, rng: np.random.Generator) -> tf.Float:
        """The actions with a bias and noise on every joint's target; what hands do stays."""
        joints = self._batch.worlds[0].joint_count
        off = rng.uniform(-1.0, 1.0, joints) * self._perturbation.action_bias
        changed = actions.copy()
        changed[:, :joints] += off + rng.standard_normal((len(actions), joints)) * self._perturbation.action_noise
        return changed

    def start(self, world: World, rng: np.random.Generator) -> tf.Float:
        """The state of a world with its free things moved a little, less where they would get into each other."""
        free = [name for name, index in world.items.items() if index.qpos >= 0]
        moves = rng.uniform(-1.0, 1.0, (len(free), 3))  # drawn even where nothing is moved: other draws stay what they are
        if not world.plain:  # what is poured or laid does not move with what holds it
            return world.save()
        sizes = np.array([self._perturbation.shift, self._perturbation.shift, self._perturbation.turn])
        before = world.data.qpos.copy()
        for scale in (1.0, 0.5, 0.25, 0.0):
            world.data.qpos[:] = before
            for name, move in zip(free, scale * moves * sizes, strict=True):
                if not any(above in free for above in _ancestors(world.scenario, name)):
                    _move(world, [name, *(n for n in free if name in _ancestors(world.scenario, n))], move)
            mujoco.mj_forward(world.model, world.data)
            if not world.overlaps(OVERLAP):
                break
        return world.save()


def robustness(
    recording: Recording,
    scenario: Scenario,
    *,
    repeats: int = REPEATS,
    perturbation: Perturbation | None = None,
    threads: int = 1,
) -> Interval:
    """Success of an episode's actions under small perturbations; see `Shaker`, which is to be kept for many episodes."""
    return Shaker(scenario, repeats, perturbation, threads=threads).success(recording)


def perturbed(suite: Suite, perturbation: Perturbation | None = None) -> Suite:
    """The suite with starts and forces that vary a little more, for `evaluate`: how much of its success does a policy keep?"""
    off = perturbation or Perturbation()
    entries = tuple(e.model_copy(update={"scenario": _perturbed(e.scenario, off)}) for e in suite.entries)
    return suite.model_copy(update={"name": f"{suite.name}, perturbed", "entries": entries})


def _perturbed(scenario: Scenario, off: Perturbation) -> Scenario:
    random = scenario.randomization
    areas = {
        name: Area(
            x=(area.x[0] - off.shift, area.x[1] + off.shift),
            y=(area.y[0] - off.shift, area.y[1] + off.shift),
            yaw=min(area.yaw + off.turn, 3.15),
        )
        for name, area in random.areas.items()
    }
    more = random.model_copy(
        update={
            "position": min(random.position + off.shift, 0.5),
            "yaw": min(random.yaw + off.turn, 3.15),
            "areas": areas,
            "robot_joints": min(random.robot_joints + off.joints, 0.5),
            "torque_noise": min(random.torque_noise + off.torque_noise, 1.0),
        }
    )
    return scenario.model_copy(update={"randomization": more})


def _ancestors(scenario: Scenario, name: str) -> list[str]:
    """What a thing stands on, and what that stands on, and so on."""
    chain: list[str] = []
    at = scenario.scene.item(name).parent
    while at is not None:
        chain.append(at)
        at = scenario.scene.item(at).parent
    return chain


def _move(world: World, names: list[str], move: tf.Float) -> None:
    """Shift things by (x, y) [m] and turn them by the third [rad] about the vertical through the first of them."""
    addresses = [world.items[name].qpos for name in names]
    qpos = world.data.qpos
    about = qpos[addresses[0] : addresses[0] + 3].copy()
    R = tf.turn_z(float(move[2]))[:3, :3]
    turn = tf.quaternion(R)
    for at in addresses:
        qpos[at : at + 3] = about + R @ (qpos[at : at + 3] - about)
        qpos[at : at + 2] += move[:2]
        turned = np.empty(4)
        mujoco.mju_mulQuat(turned, turn, qpos[at + 3 : at + 7].copy())
        qpos[at + 3 : at + 7] = turned
