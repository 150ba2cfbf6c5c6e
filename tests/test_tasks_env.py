"""Every scenario is a Gymnasium environment that passes Gymnasium's own checks."""

import os

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from task_worlds import STILL, kitchen, p

from embodiedsmith.embodiments.errors import EmbodimentError
from embodiedsmith.runtime.errors import UsageError
from embodiedsmith.spec import Goal
from embodiedsmith.tasks.env import ScenarioEnv, make_env

os.environ.setdefault("MUJOCO_GL", "egl")


def env(goal: Goal, **task: float) -> ScenarioEnv:
    return make_env(kitchen(goal, **task))  # type: ignore[arg-type]


@pytest.mark.filterwarnings("ignore::UserWarning")  # advice on normalising spaces, which SI units ignore on purpose
def test_it_passes_the_checker() -> None:
    e = make_env(kitchen(p("on", "block", "table")), render_mode="rgb_array", size=(64, 48))
    check_env(e)
    e.reset(seed=0)
    picture = e.render()
    assert picture is not None
    assert picture.shape == (48, 64, 3)
    assert picture.std() > 10  # there is something to see
    e.close()


def test_the_same_seed_is_the_same_episode() -> None:
    a, b = env(p("lifted", "mug")), env(p("lifted", "mug"))
    first, _ = a.reset(seed=3)
    second, _ = b.reset(seed=3)
    other, _ = b.reset(seed=4)
    assert all(np.array_equal(first[k], second[k]) for k in first)
    assert not all(np.array_equal(first[k], other[k]) for k in first)
    following, _ = a.reset()
    b.reset(seed=3)
    repeated, _ = b.reset()
    assert all(np.array_equal(following[k], repeated[k]) for k in following)


def test_actions_are_joint_targets_within_limits() -> None:
    e = env(p("lifted", "mug"))
    assert e.action_space.shape == (8,)
    assert np.allclose(e.action_space.low[:2], (-2.8973, -1.7628))
    assert (e.action_space.low[-1], e.action_space.high[-1]) == (0.0, 1.0)
    e.reset(seed=0)
    e.step(np.full(8, 100.0))
    assert np.array_equal(e.world.command, e.action_space.high)


def test_a_policy_may_act_on_the_tool() -> None:
    e = make_env(kitchen(p("lifted", "mug")), actions="ee_delta")
    assert e.action_space.shape == (7,)
    observation, _ = e.reset(seed=0)
    start = observation["tcp_pose"][:3].copy()
    for _ in range(10):  # 1 cm a step along the tool's own z, which points down
        observation, *_ = e.step(np.array([0.0, 0.0, 0.01, 0.0, 0.0, 0.0, 0.0]))
    moved = observation["tcp_pose"][:3] - start
    np.testing.assert_allclose(moved, (0.0, 0.0, -0.1), atol=0.006)


def test_an_action_space_the_robot_lacks_is_refused() -> None:
    with pytest.raises(EmbodimentError, match="stands still") as caught:
        make_env(kitchen(p("lifted", "mug")), actions="base_velocity")
    assert "ee_delta" in caught.value.choices


def test_success_terminates_with_its_reward() -> None:
    e = env(p("on", "block", "table"), hold_steps=3)
    _, info = e.reset(seed=0)
    assert info["margin"] > 0
    rewards, ends = [], []
    for _ in range(2):
        _, reward, terminated, truncated, info = e.step(e.world.command)
        rewards.append(reward)
        ends.append((terminated, truncated, info["success"]))
    assert ends == [(False, False, False), (True, False, True)]
    assert rewards == pytest.approx([0.0, 1.0])
    assert e.recording().outcome == "success"


def test_the_horizon_truncates() -> None:
    e = env(p("lifted", "mug"), horizon=0.15)
    e.reset(seed=0)
    assert [e.step(e.world.command)[2:4] for _ in range(3)] == [(False, False), (False, False), (False, True)]


def test_a_bad_action_truncates_with_its_reason() -> None:
    e = env(p("lifted", "mug"))
    before, _ = e.reset(seed=0)
    after, reward, terminated, truncated, info = e.step(np.full(8, np.nan))
    assert (reward, terminated, truncated, info["failure"]) == (0.0, False, True, "world.bad_action")
    assert all(np.array_equal(before[k], after[k]) for k in before)


def test_unknown_choices_are_named() -> None:
    scenario = kitchen(p("lifted", "mug"), randomization=STILL)
    with pytest.raises(UsageError, match=r"unknown render mode 'human'[\s\S]*rgb_array"):
        make_env(scenario, render_mode="human")
    with pytest.raises(UsageError, match=r"unknown camera 'top'[\s\S]*front, wrist"):
        make_env(scenario, camera="top")
    quiet = make_env(scenario)
    quiet.reset(seed=0)
    assert quiet.render() is None
    quiet.close()
