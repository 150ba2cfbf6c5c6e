"""The benchmark of the humanoid on its feet: its tasks are drawn apart, and one of them is done and measured."""

from __future__ import annotations

import numpy as np

from embodiedsmith.bench import feet
from embodiedsmith.spec import Predicate


def test_tasks_are_drawn_apart_and_again_alike() -> None:
    tasks = [feet.scenario("can", 0, k) for k in range(20)]
    assert tasks[3] == feet.scenario("can", 0, 3) and tasks[3] != feet.scenario("can", 1, 3)
    for task in tasks:
        goal, thing = task.task.goal, task.scene.item("thing").pose
        assert isinstance(goal, Predicate) and thing is not None
        start = np.array([feet.MIDDLE - thing.position[0], -thing.position[1]])
        assert np.linalg.norm(start - (goal.params["x"], goal.params["y"])) >= feet.APART - 1e-9
        assert (start >= feet.NEAR).all() and (start <= feet.FAR).all()


def test_a_task_is_done_and_measured() -> None:
    said: list[str] = []
    found = feet.measure(n=1, seed=0, say=said.append)
    (row,) = found["rows"]
    assert found["tasks"] == len(said) == 1 and found["succeeded"] == row["succeeded"]
    assert row["succeeded"] and row["error_mm"] < 20.0 and found["falls"] == 0
    assert 20.0 < row["least_margin_mm"] < 120.0
    assert f"{found['succeeded']} of 1" in feet.lines(found)[0]
