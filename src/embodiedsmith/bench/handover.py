"""How surely one arm hands a thing to the other when both take it to be where it is not quite."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from embodiedsmith.episodes.staging import attempt_rng
from embodiedsmith.evaluate.intervals import wilson
from embodiedsmith.forge import ForgeError, forge
from embodiedsmith.motion import demonstrate
from embodiedsmith.runtime.seeds import generator
from embodiedsmith.spec import Brief, Scenario, predicates
from embodiedsmith.tasks import Session
from embodiedsmith.world import SettleError, World

ROBOT = "aloha"
TEXT = "pass the {} from the left hand to the right hand"
SHAPES = ("stick", "banana", "small bottle")
NOISE = 0.01
"""How far from its true place a thing is taken to be [m], at most, along each of the two level axes of its own frame."""
SEEDS = 1000  # seeds of the forge set apart for each seed of the benchmark


def measure(
    *,
    n: int = 34,
    shapes: Sequence[str] = SHAPES,
    noise: float = NOISE,
    seed: int = 0,
    say: Callable[[str], None] = lambda _: None,
) -> dict[str, Any]:
    """Forge `n` scenarios for every shape and attempt each anew, once, with a wrong belief of where the thing is.

    Beside that, the start varies as forged scenarios do: places, turns, joints of the robot, masses, friction.

    Args:
        n: Scenarios for each shape.
        shapes: What is handed over, in words that the forge understands.
        noise: How far from its true place a thing is taken to be [m], at most, along each level axis.
        seed: Of the scenarios and of all draws of the attempts.
        say: Told of every attempt.

    Returns:
        `starts`, `succeeded` with `interval` (Wilson, 95 %), `failures` by code; `noise_mm`; `shapes`: the same for each of
        them; `rows`: every attempt.
    """
    rows = [_attempt(shape, noise, SEEDS * seed + k, say) for shape in shapes for k in range(n)]
    by_shape = {shape: _summed([row for row in rows if row["shape"] == shape]) for shape in shapes}
    return {**_summed(rows), "noise_mm": 1000 * noise, "shapes": by_shape, "rows": rows}


def _summed(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    done = sum(row["succeeded"] for row in rows)
    low, high = wilson(done, len(rows))
    failures = Counter(row["failure"] for row in rows if row["failure"])
    return {
        "starts": len(rows),
        "succeeded": done,
        "interval": [round(low, 3), round(high, 3)],
        "failures": dict(failures.most_common()),
    }


def believed_beside(scenario: Scenario, noise: float, seed: int) -> np.ndarray:
    """How far from its true place the thing is taken to be [m], in its own frame, shape (3,): level, up to `noise` each way."""
    return np.append(generator(seed, scenario.id, 0, "belief").uniform(-noise, noise, 2), 0.0)


def _attempt(shape: str, noise: float, seed: int, say: Callable[[str], None]) -> dict[str, Any]:
    row: dict[str, Any] = {"shape": shape, "seed": seed, "succeeded": False, "failure": None, "beside_mm": None}
    try:
        made = forge(Brief(text=TEXT.format(shape), embodiment=ROBOT, seed=seed)).scenario
        (thing,) = {name for predicate in predicates(made.task.goal) for name in predicate.args}
        beside = believed_beside(made, noise, seed)
        row["beside_mm"] = [round(1000 * float(off), 1) for off in beside[:2]]
        recording = demonstrate(Session(World(made), seed=seed), attempt_rng(seed, made.id, 0), beside={thing: beside})
    except ForgeError as error:
        row["failure"] = f"forge.{next(iter(error.reasons), 'nothing')}"
    except SettleError:
        row["failure"] = "world.unsettled"
    else:
        row["succeeded"] = recording.outcome == "success"
        row["failure"] = None if recording.failure is None else recording.failure.code
    say(f"{shape} {seed}, taken to be {row['beside_mm']} mm beside: {'done' if row['succeeded'] else row['failure']}")
    return row


def lines(found: dict[str, Any]) -> list[str]:
    """What was measured, for people."""
    told = []
    for shape, of in (*found["shapes"].items(), ("all", found)):
        low, high = (100 * bound for bound in of["interval"])
        failures = "".join(f", {count} x {code}" for code, count in of["failures"].items())
        told.append(f"{shape}: {of['succeeded']} of {of['starts']} handed over ({low:.0f} to {high:.0f} %){failures}")
    return told
