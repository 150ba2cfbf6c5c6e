"""Rollouts: what a session would have recorded, the same bits for any number of worlds and threads; hand-off."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from task_worlds import kitchen, p

from embodiedsmith import motion
from embodiedsmith.embodiments.actions import ActionSpace
from embodiedsmith.episodes.staging import attempt_rng, replay_difference, warm_world
from embodiedsmith.learn.exploration import Exploration
from embodiedsmith.learn.normalization import Statistics
from embodiedsmith.learn.observation import Encoder, ObservationConfig
from embodiedsmith.learn.policy import Policy, PolicyConfig
from embodiedsmith.learn.rollout import LABEL, Fleet, finish_by_expert, rollout
from embodiedsmith.learn.samples import encode_episode
from embodiedsmith.runtime.errors import UsageError
from embodiedsmith.spec import AssetSpec, Goal, Item, Pose, Randomization, Scenario
from embodiedsmith.tasks import Recording, Session
from embodiedsmith.world import WorldFault

SEED = 5
PUT = p("inside", "block", "basket")
VARIED = Randomization(position=0.02, yaw=0.3, robot_joints=0.02, mass=(0.8, 1.2), friction=(0.7, 1.3))
NOISY = VARIED.model_copy(update={"torque_noise": 0.05, "observation_noise": 0.02})


def table(
    goal: Goal = PUT, *, random: Randomization = VARIED, horizon: float = 1.1, hold_steps: int = 4, more: tuple[Item, ...] = ()
) -> Scenario:
    """A table with a basket and a block before a Panda."""
    made = kitchen(goal, horizon=horizon, hold_steps=hold_steps, randomization=random)
    kept = tuple(item for item in made.scene.items if item.id in ("table", "basket", "block"))
    return made.model_copy(update={"scene": made.scene.model_copy(update={"items": (*kept, *more)})})


@cache
def restless(kind: str = "bc_mlp") -> Policy:
    """A network with drawn weights that leads the arm about and opens and closes the hand, as what it sees makes it."""
    world = warm_world(table())
    observation = ObservationConfig(slots=2, others=1, predicates=("inside", "on"), robots=("panda",))
    config = PolicyConfig.model_validate({"kind": kind, "width": 64, "depth": 2, "observation": observation})
    policy = Policy.create(config, observation.names, ActionSpace(world.robot, config.action_space).names, seed=3)
    size, largest = len(observation.names), np.array([0.02] * 3 + [0.08] * 3 + [1.0])
    mean = np.array([0.0, 0.0, 0.004, 0.0, 0.0, 0.0, 0.5])
    policy.fit_normalizer(
        Statistics(np.zeros(size), np.full(size, 0.1), mean, 0.5 * largest, -largest, largest, np.zeros(len(mean)))
    )
    return policy


class Imitator:
    """Does what was done in the demonstrated moment that looks most like the present one."""

    def __init__(self, scenario: Scenario, recordings: Sequence[Recording]) -> None:
        world = warm_world(scenario)
        observation = ObservationConfig.covering([scenario])
        self.config = PolicyConfig(observation=observation)
        space, encoder = ActionSpace(world.robot, self.config.action_space), Encoder(scenario, observation, world=world)
        episodes = [encode_episode(encoder, space, recording) for recording in recordings]
        self._seen = np.concatenate([episode.features for episode in episodes])
        still = [np.repeat(e.actions[-1:] * ([0] * 6 + [1]), self.config.chunk - 1, axis=0) for e in episodes]
        windows = np.lib.stride_tricks.sliding_window_view
        done = [np.concatenate([e.actions, rest]) for e, rest in zip(episodes, still, strict=True)]
        self._done = np.concatenate([windows(rows, self.config.chunk, axis=0).swapaxes(1, 2) for rows in done])

    def predict(self, features: NDArray[np.float32], noise: NDArray[np.float32] | None = None) -> NDArray[np.float32]:
        nearest = [int(np.abs(self._seen - row).sum(axis=1).argmin()) for row in features]
        return self._done[nearest].astype(np.float32)


def by_session(scenario: Scenario, recording: Recording, last: np.ndarray | None = None) -> Recording:
    """What a session records of the same attempt and actions, and of one action more."""
    session = Session(warm_world(scenario), seed=recording.seed, attempt=recording.attempt)
    session.reset(attempt_rng(recording.seed, scenario.id, recording.attempt))
    for action, label in zip(recording.actions, recording.labels, strict=True):
        session.step(action, label)
    if last is not None:
        with pytest.raises(WorldFault):
            session.step(last, LABEL)
    return session.finish()


def assert_same(one: Recording, other: Recording) -> None:
    """Everything but the cost is equal, numbers bit for bit."""
    for name in ("states", "actions", "margins", "predicate_margins"):
        assert getattr(one, name).tobytes() == getattr(other, name).tobytes(), name
        assert getattr(one, name).shape == getattr(other, name).shape
    assert list(one.observations) == list(other.observations)
    for name, values in one.observations.items():
        assert values.tobytes() == other.observations[name].tobytes(), name
    for name in ("scenario_id", "seed", "attempt", "predicate_names", "labels", "events", "outcome", "failure"):
        assert getattr(one, name) == getattr(other, name), name


# ------------------------------------------------------------------ the same as a session


@pytest.mark.parametrize("random", [VARIED, NOISY])
def test_recordings_are_those_of_a_session_that_takes_the_same_actions(random: Randomization) -> None:
    scenario = table(random=random)
    made = list(rollout(restless(), scenario, range(5), seed=SEED, worlds=4, threads=2))
    assert [r.attempt for r in made] == [0, 1, 2, 3, 4]
    for recording in made:
        assert_same(recording, by_session(scenario, recording))
        assert replay_difference(recording, scenario) == 0.0
        assert set(recording.labels) == {LABEL}
        assert recording.failure is not None and recording.failure.code == "goal.timeout"
        assert recording.length == 22  # not a multiple of what the policy carries out at once
    assert len({recording.actions.tobytes() for recording in made}) == 5
    assert max(np.ptp(recording.observations["gripper"]) for recording in made) > 0.3


def test_a_world_with_cloth_is_rolled_out_likewise() -> None:
    towel = Item(id="towel", asset=AssetSpec(category="towel"), parent="table", pose=Pose.planar(0.1, -0.4))
    scenario = table(horizon=0.3, more=(towel,))
    for recording in rollout(restless(), scenario, [2, 7, 1], seed=SEED, worlds=3, threads=2):
        assert recording.length == 6
        assert_same(recording, by_session(scenario, recording))


@pytest.mark.parametrize(("kind", "noise"), [("bc_mlp", 0.0), ("flow", 1.0)])
def test_the_same_bits_for_any_number_of_worlds_and_threads_and_any_order(kind: str, noise: float) -> None:
    scenario, policy = table(), restless(kind=kind)

    def run(attempts: Sequence[int], worlds: int, threads: int) -> list[Recording]:
        options = {"noise": noise, "sample": kind == "flow"}
        return list(rollout(policy, scenario, attempts, seed=SEED, worlds=worlds, threads=threads, **options))

    first = run(range(6), 6, 2)
    for attempts, worlds, threads in ((range(6), 1, 1), (range(6), 4, 1), ([4, 1, 5, 1], 3, 2)):
        made = run(attempts, worlds, threads)
        assert [r.attempt for r in made] == list(attempts)
        for recording in made:
            assert_same(recording, first[recording.attempt])
    assert run([0], 1, 1)[0].states.tobytes() != next(rollout(policy, scenario, [0], seed=SEED + 1)).states.tobytes()


# ------------------------------------------------------------------ how attempts end


@cache
def demonstrated() -> tuple[Recording, ...]:
    """Demonstrations of the first attempts."""
    scenario = table(horizon=40.0)
    world = warm_world(scenario)
    return tuple(motion.demonstrate(Session(world, seed=SEED, attempt=k), attempt_rng(SEED, scenario.id, k)) for k in range(4))


def test_an_attempt_ends_when_its_goal_has_held() -> None:
    scenario = table(horizon=40.0)
    shown = demonstrated()
    assert {recording.outcome for recording in shown} == {"success"}
    made = list(rollout(Imitator(scenario, shown), scenario, range(4), seed=SEED, worlds=3))
    assert [recording.outcome for recording in made] == ["success"] * 4
    lengths = {recording.length for recording in made}
    assert len(lengths) > 1 and max(lengths) < 200 and any(length % 4 for length in lengths)
    for recording in made:
        assert_same(recording, by_session(scenario, recording))
        assert [e.step for e in recording.events if e.kind == "goal_reached"] == [recording.length]
        assert [e.kind for e in recording.events if e.kind in ("grasped", "released")] == ["grasped", "released"]


def test_what_is_done_at_the_start_ends_before_it_begins() -> None:
    scenario = table(p("on", "block", "table"), hold_steps=1)
    made = list(rollout(restless(), scenario, range(3), seed=SEED, worlds=1))
    assert [(r.outcome, r.length, r.states.shape[0]) for r in made] == [("success", 0, 1)] * 3


class Breaking:
    """Another policy, but not a number where the block lies on one side."""

    def __init__(self, policy: Policy) -> None:
        self._policy, self.config = policy, policy.config
        self._column = policy.feature_names.index("arm0/slot0/position_y")

    def predict(self, features: NDArray[np.float32], noise: NDArray[np.float32] | None = None) -> NDArray[np.float32]:
        said = self._policy.predict(features, noise)
        said[features[:, self._column] > np.median(_sides()), 1] = np.nan
        return said


@cache
def _sides() -> tuple[float, ...]:
    """Where the block lies from the tool at the start of some attempts."""
    scenario, world = table(), warm_world(table())
    encoder = Encoder(scenario, restless().config.observation, world=world)
    column, found = encoder.names.index("arm0/slot0/position_y"), []
    for attempt in range(6):
        session = Session(world)
        session.reset(attempt_rng(SEED, scenario.id, attempt))
        row = encoder.encode(session.observed[None], world.command[None], np.array([0]))[0]
        found.append(float(row[column]))
    return tuple(found)


def test_a_world_that_goes_bad_ends_its_attempt_and_no_other() -> None:
    scenario = table()
    made = list(rollout(Breaking(restless()), scenario, range(6), seed=SEED, worlds=4))
    bad = {k for k, side in enumerate(_sides()) if side > np.median(_sides())}
    assert {k for k in range(6) if made[k].length == 1} == bad and len(bad) == 3
    for recording in made:
        failure = recording.failure
        assert failure is not None and np.isfinite(recording.states).all() and np.isfinite(recording.actions).all()
        if failure.code == "goal.timeout":
            assert_same(recording, by_session(scenario, recording))
            continue
        assert failure.code == "world.bad_action" and recording.events[-1].kind == "world_fault"
        told = by_session(scenario, recording, np.full(recording.actions.shape[1], np.nan))
        assert told.failure is not None and (told.failure.code, told.failure.step) == (failure.code, recording.length)
        assert told.states.tobytes() == recording.states.tobytes()
        assert [(e.step, e.kind) for e in told.events] == [(e.step, e.kind) for e in recording.events]


def test_a_scene_that_does_not_settle_is_an_attempt_of_no_actions() -> None:
    box = AssetSpec(category="block", params={"length": 0.07, "width": 0.07, "height": 0.07})
    two = tuple(Item(id=f"box_{k}", asset=box, parent="table", pose=Pose.planar(0.01 * k, -0.3)) for k in range(2))
    scenario = table(more=two)
    made = list(rollout(restless(), scenario, range(3), seed=SEED, worlds=2))
    for recording in made:
        assert (recording.length, recording.outcome) == (0, "failure")
        failure = recording.failure
        assert failure is not None and failure.code == "world.not_settled" and "overlap" in failure.message
        assert set(failure.subjects) <= {"box_0", "box_1"}


# ------------------------------------------------------------------ exploring


def test_noise_is_as_large_and_as_lasting_as_said_and_only_in_the_tools_motion() -> None:
    exploration = Exploration(position=0.005, rotation=0.02, correlation=0.9)
    names = ("base_vx", "base_vy", "base_wz", "tcp_dx", "tcp_ry", "tcp_1_dz", "gripper", "gripper_1", "tcp_qw", "tcp_x")
    drawn = exploration.draw(names, 40_000, 0, "scene", 3)
    spread = drawn.std(axis=0)
    np.testing.assert_array_equal(spread[[0, 1, 2, 6, 7, 8, 9]], 0.0)
    np.testing.assert_allclose(spread[[3, 4, 5]], [0.005, 0.02, 0.005], rtol=0.05)
    for column in (3, 4, 5):
        assert np.corrcoef(drawn[1:, column], drawn[:-1, column])[0, 1] == pytest.approx(0.9, abs=0.01)
    starts = np.array([exploration.draw(names, 1, 0, "scene", attempt)[0, 3:6] for attempt in range(2000)])
    np.testing.assert_allclose(starts.std(axis=0), [0.005, 0.02, 0.005], rtol=0.1)  # as large from the first step on
    np.testing.assert_array_equal(drawn, exploration.draw(names, 40_000, 0, "scene", 3))


def test_exploring_adds_the_noise_of_the_attempt_to_what_the_policy_says() -> None:
    scenario, policy = table(), restless()
    world = warm_world(scenario)
    space = ActionSpace(world.robot, "ee_delta")
    (clean,) = rollout(policy, scenario, [4], seed=SEED)
    (noisy,) = rollout(policy, scenario, [4], seed=SEED, noise=0.5)
    assert clean.states[0].tobytes() == noisy.states[0].tobytes()
    start = clean.states[0, -world.action_size :]
    said = [space.encode(recording.actions[:4], start) for recording in (clean, noisy)]  # one chunk, decided on the same view
    drawn = 0.5 * Exploration().draw(space.names, 4, SEED, scenario.id, 4)
    np.testing.assert_allclose(said[1] - said[0], drawn, atol=1e-5)
    (none,) = rollout(policy, scenario, [4], seed=SEED, noise=0.0, exploration=Exploration(position=1.0))
    assert_same(clean, none)


# ------------------------------------------------------------------ fleets


def test_a_fleet_is_used_again_but_not_twice_at_once() -> None:
    fleet = Fleet(table(), 3)
    first = list(fleet.rollout(restless(), range(4), seed=SEED))
    going = fleet.rollout(restless(), range(4), seed=SEED)
    assert_same(next(going), first[0])
    with pytest.raises(UsageError, match=r"in progress[\s\S]*close\(\) it"):
        fleet.rollout(restless(), [0], seed=SEED)
    going.close()
    for recording, expected in zip(fleet.rollout(restless(), range(4), seed=SEED), first, strict=True):
        assert_same(recording, expected)
    assert list(fleet.rollout(restless(), [], seed=SEED)) == []


def test_memory_stays_flat_over_many_rollouts() -> None:
    fleet = Fleet(table(horizon=0.2), 4, threads=2)

    def held() -> Iterator[float]:
        """Resident memory [MB] after each rollout."""
        for repeat in range(50):
            for recording in fleet.rollout(restless(), range(6 * repeat, 6 * repeat + 6), seed=SEED, noise=1.0):
                assert recording.length == 4
            yield int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6

    sizes = list(held())
    assert sizes[-1] - sizes[9] < 5.0  # one recording held back a rollout would be 40 x 6 x 0.02 MB, a world 15 MB


# ------------------------------------------------------------------ hand-off


@pytest.mark.parametrize("steps", [0, 10, 23])
def test_the_demonstrator_finishes_what_a_policy_began(steps: int) -> None:
    scenario = table(horizon=12.0)
    (alone,) = rollout(restless(), scenario, [1], seed=SEED)
    assert alone.outcome == "failure"
    recording = finish_by_expert(restless(), scenario, 1, seed=SEED, steps=steps)
    assert recording is not None and recording.outcome == "success"
    assert recording.labels[:steps] == (LABEL,) * steps
    assert recording.labels[steps:] and LABEL not in recording.labels[steps:]
    assert recording.actions[:steps].tobytes() == alone.actions[:steps].tobytes()
    assert recording.states[: steps + 1].tobytes() == alone.states[: steps + 1].tobytes()
    assert replay_difference(recording, scenario) == 0.0
    assert {event.step >= steps for event in recording.events if event.kind == "skill_started"} == {True}
    again = finish_by_expert(restless(), scenario, 1, seed=SEED, steps=steps)
    assert again is not None
    assert_same(again, recording)


def test_the_demonstrator_goes_on_with_what_the_policy_holds() -> None:
    scenario, shown = table(horizon=40.0), demonstrated()
    grasped = next(event.step for event in shown[0].events if event.kind == "grasped")
    recording = finish_by_expert(Imitator(scenario, shown), scenario, 0, seed=SEED, steps=grasped + 10)
    assert recording is not None and recording.outcome == "success"
    assert not [label for label in recording.labels if label.startswith("pick(")]
    assert finish_by_expert(Imitator(scenario, shown), scenario, 0, seed=SEED, steps=300) is None  # nothing was left to be done


def test_the_demonstrator_has_the_whole_of_the_time_however_much_the_policy_took() -> None:
    """Half of what was handed over late in an attempt ran out of time: what had gone wrong most was learnt from least."""
    length = demonstrated()[0].length
    scenario = table(horizon=(length + 20) * 0.05)
    recording = finish_by_expert(restless(), scenario, 1, seed=SEED, steps=length)
    assert recording is not None and recording.outcome == "success" and recording.length > length + 20


def test_a_policy_that_breaks_the_world_leaves_nothing_to_finish() -> None:
    scenario = table()
    side = max(range(6), key=lambda k: _sides()[k])
    recording = finish_by_expert(Breaking(restless()), scenario, side, seed=SEED, steps=10)
    assert recording is not None and recording.failure is not None
    assert (recording.failure.code, recording.length) == ("world.bad_action", 1)
