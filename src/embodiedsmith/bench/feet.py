"""How safely the humanoid on its own feet works: pick and place from drawn places to drawn places, one attempt each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from embodiedsmith.episodes.staging import attempt_rng
from embodiedsmith.evaluate.intervals import wilson
from embodiedsmith.motion import demonstrate
from embodiedsmith.runtime.seeds import generator
from embodiedsmith.spec import (
    AssetSpec,
    EmbodimentSpec,
    Item,
    Pose,
    Predicate,
    Randomization,
    Scenario,
    SceneSpec,
    TaskSpec,
)
from embodiedsmith.tasks import Session
from embodiedsmith.world import SettleError, World

ROBOT = "g1"
TABLE = 0.74  # [m] height of its top
MIDDLE = 0.505  # [m] of the table before the robot
NEAR, FAR = (0.27, -0.30), (0.36, -0.06)  # [m] corners, seen from the robot, between which things start and end
APART = 0.12  # [m] from start to end at least
DRAWS = 100
THINGS = ("can", "bottle", "mug")
VARIED = Randomization(position=0.01, yaw=0.26, robot_joints=0.02, mass=(0.9, 1.1), friction=(0.8, 1.2))


def measure(*, n: int = 30, seed: int = 0, say: Callable[[str], None] = lambda _: None) -> dict[str, Any]:
    """Attempt `n` tasks, things in turn.

    Args:
        n: Tasks.
        seed: Of the places drawn and of all draws of the attempts.
        say: Told of every task.

    Returns:
        `tasks`, `succeeded` with `interval` (Wilson, 95 %), `falls`; `error_mm`: mean and largest distance of a thing put down
        from where it was to go; `least_margin_mm`: how far the centre of pressure stayed inside the feet in the worst
        moment of all; `failures` by code; `rows`: the same for each task.
    """
    rows = [_attempt(scenario(THINGS[k % len(THINGS)], seed, k), seed, k, say) for k in range(n)]
    done = [row for row in rows if row["succeeded"]]
    errors = [row["error_mm"] for row in done]
    low, high = wilson(len(done), n)
    return {
        "tasks": n,
        "succeeded": len(done),
        "interval": [round(low, 3), round(high, 3)],
        "falls": sum(row["failure"] == "world.fall" for row in rows),
        "error_mm": {"mean": round(float(np.mean(errors)), 1), "most": round(max(errors), 1)} if errors else None,
        "least_margin_mm": round(min(row["least_margin_mm"] for row in rows), 1),
        "failures": dict(Counter(row["failure"] for row in rows if row["failure"]).most_common()),
        "rows": rows,
    }


def scenario(category: str, seed: int, k: int) -> Scenario:
    """The k-th task of a seed: one thing on a table that is to go somewhere else on it."""
    rng = generator(seed, "feet", k, "places")
    drawn = rng.uniform(NEAR, FAR, (DRAWS, 2, 2))
    start, goal = next(pair for pair in drawn if np.linalg.norm(pair[0] - pair[1]) >= APART)
    table = Item(id="table", asset=AssetSpec(category="table"), pose=Pose.planar(MIDDLE, 0.0, 0.0, np.pi), fixed=True)
    place = Pose.planar(MIDDLE - float(start[0]), -float(start[1]), 0.0, float(rng.uniform(-np.pi, np.pi)))
    thing = Item(id="thing", asset=AssetSpec(category=category), parent="table", pose=place)
    at = {"x": float(goal[0]), "y": float(goal[1]), "z": TABLE}
    return Scenario(
        scene=SceneSpec(items=(table, thing)),
        task=TaskSpec(goal=Predicate(name="at", args=("thing",), params=at), horizon=60.0, hold_steps=10),
        embodiment=EmbodimentSpec(name=ROBOT, base=Pose.planar(0.0, 0.0)),
        randomization=VARIED,
    )


def _attempt(task: Scenario, seed: int, k: int, say: Callable[[str], None]) -> dict[str, Any]:
    world = World(task)
    goal = task.task.goal
    assert isinstance(goal, Predicate)
    category = task.scene.item("thing").asset.category
    row: dict[str, Any] = {"thing": category, "succeeded": False, "failure": None, "error_mm": None}
    try:
        recording = demonstrate(Session(world, seed=seed, attempt=k), attempt_rng(seed, task.id, k))
    except SettleError:
        row["failure"] = "world.unsettled"
    else:
        row["succeeded"] = recording.outcome == "success"
        row["failure"] = None if recording.failure is None else recording.failure.code
        off = world.item_pose("thing")[:2, 3] - (goal.params["x"], goal.params["y"])
        row["error_mm"] = round(1000 * float(np.linalg.norm(off)), 1)
    row["least_margin_mm"] = round(1000 * float(world.least_margin), 1)
    say(f"{k + 1}: {category}, {'done' if row['succeeded'] else row['failure']}, {row['error_mm']} mm off")
    return row


def lines(found: dict[str, Any]) -> list[str]:
    """What was measured, for people."""
    error = found["error_mm"]
    off = "" if error is None else f", {error['mean']} mm off on average and {error['most']} mm at most"
    return [
        f"{found['succeeded']} of {found['tasks']} put where they were to go{off}; {found['falls']} falls; "
        f"the centre of pressure stayed {found['least_margin_mm']} mm inside the feet"
    ]
