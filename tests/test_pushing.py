"""Demonstrations that are led astray: they find back, say so, replay, and show more than the straight way."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from task_worlds import kitchen, p

from embodiedsmith import api
from embodiedsmith.episodes.collect import Attempted, Job, attempt
from embodiedsmith.episodes.staging import replay_difference
from embodiedsmith.episodes.store import EpisodeStore
from embodiedsmith.motion import PUSHED, Pushes, Pushing
from embodiedsmith.motion.kinematics import kinematics
from embodiedsmith.runtime.errors import UsageError
from embodiedsmith.runtime.run import Run

SCENARIO = kitchen(p("inside", "apple", "basket"))


def test_the_jacobian_is_how_the_tool_moves() -> None:
    for robot in ("panda", "aloha", "panda_mobile"):
        kin = kinematics(robot)
        joints = kin.home + np.random.default_rng(0).uniform(-0.2, 0.2, len(kin.home))
        J, T = kin.jacobian(joints), kin.forward(joints)
        for k in range(len(joints)):
            turned = joints.copy()
            turned[k] += 1e-6
            moved = kin.forward(turned)
            spin = moved[:3, :3] @ T[:3, :3].T
            assert J[:3, k] == pytest.approx((moved - T)[:3, 3] / 1e-6, abs=1e-4)
            assert J[3:, k] == pytest.approx(np.array([spin[2, 1], spin[0, 2], spin[1, 0]]) / 1e-6, abs=1e-4)


def test_a_push_leads_away_by_what_was_drawn_and_comes_back_to_nothing() -> None:
    kin, pushes = kinematics("panda"), Pushes(chance=1.0, shift=0.05, turn=0.0)
    pushing = Pushing(pushes, np.random.default_rng(3))
    home, astray, away = kin.home, [], []
    while not away or away[-1] > 0:
        joints, led = pushing.shifted(0, kin, home)
        astray.append(led)
        away.append(float(np.linalg.norm((kin.forward(joints) - kin.forward(home))[:3, 3])))
        assert len(away) < 100
    pushed = sum(astray)
    assert pushes.least <= pushed <= pushes.most and astray == [True] * pushed + [False] * (len(astray) - pushed)
    assert all(np.diff(away[:pushed]) > 0) and all(np.diff(away[pushed - 1 :]) < 0)
    assert 0.005 < max(away) < 0.2
    assert Pushing(Pushes(chance=0.0), np.random.default_rng(3)).shifted(0, kin, home) == (home, False)


def test_one_arm_is_pushed_at_a_time() -> None:
    pushing, kins = Pushing(Pushes(chance=1.0), np.random.default_rng(0)), [kinematics("aloha", k) for k in (0, 1)]
    assert pushing.shifted(0, kins[0], kins[0].home)[1]
    joints, astray = pushing.shifted(1, kins[1], kins[1].home)
    assert np.array_equal(joints, kins[1].home) and not astray


def demonstrated(pushes: Pushes | None) -> Attempted:
    return attempt(Job(0, 0, 5, SCENARIO, pushes))


def test_a_demonstration_that_is_led_astray_succeeds_and_shows_more_of_the_room() -> None:
    plain, led = demonstrated(None).recording, demonstrated(Pushes()).recording
    assert plain.outcome == led.outcome == "success"
    assert PUSHED not in plain.labels and 5 < led.labels.count(PUSHED) < 0.3 * led.length
    assert np.array_equal(plain.states[0], led.states[0])  # both start alike: pushes have draws of their own
    off = [min(float(np.abs(step[:7] - other[:7]).max()) for other in plain.actions) for step in led.actions]
    assert max(off) > 0.02  # [rad] from any command of the plain one
    assert replay_difference(led, SCENARIO) == 0.0
    assert np.array_equal(demonstrated(Pushes()).recording.actions, led.actions)


def test_a_run_is_made_with_pushes_and_remembers_them(tmp_path: Path) -> None:
    made = api.make("put the apple in the bowl", n=2, scenarios=1, pushes=1.0, export=False, out=tmp_path / "run")
    more = api.collect(made.run, n=1)
    assert (made.episodes, more.episodes) == (2, 3)
    with Run.open(made.run) as run:
        store = EpisodeStore(run)
        labels = [store.load(row).labels for row in store.rows(outcome="success")]
    assert len(labels) == 3 and sum(PUSHED in said for said in labels) >= 2  # now and then: a short episode may have none
    with pytest.raises(UsageError, match="cannot be used") as caught:
        api.make("put the apple in the bowl", pushes=-1.0, out=tmp_path / "other")
    assert caught.value.faults == ("pushes must be at least 0, not -1",)
