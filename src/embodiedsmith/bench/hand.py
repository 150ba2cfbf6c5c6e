"""How surely the arm with the many-fingered hand works: things held while shaken, a cube turned in the hand, knobs and taps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from embodiedsmith import assets
from embodiedsmith.episodes.staging import attempt_rng
from embodiedsmith.evaluate.intervals import wilson
from embodiedsmith.motion import MotionError, demonstrate, symbolic
from embodiedsmith.motion.controller import Controller
from embodiedsmith.motion.skills import skills
from embodiedsmith.runtime.seeds import generator
from embodiedsmith.spec import AssetSpec, EmbodimentSpec, Item, Pose, Predicate, Randomization, Scenario, SceneSpec, TaskSpec
from embodiedsmith.tasks import Session
from embodiedsmith.world import SettleError, World
from embodiedsmith.world import transforms as tf

ROBOT = "ur5e_leap"
NEAR, FAR = (-0.18, -0.15), (0.0, 0.15)  # [m] on the table, seen from its middle, between which things stand
SHAKEN: Mapping[str, AssetSpec] = {
    "can": AssetSpec(category="can"),
    "brick": AssetSpec(category="block", params={"length": 0.1, "width": 0.05, "height": 0.09}),
    "orange": AssetSpec(category="orange"),
}
CUBE = AssetSpec(category="block", params={"length": 0.065, "width": 0.065, "height": 0.065})
PARTS = {"knob": "knob.knob", "faucet": "faucet.lever"}
STILL = Randomization(position=0.0, yaw=0.0)

ACCELERATION, FREQUENCY, SECONDS = 5.0, 2.0, 3.0
"""Peak [m/s^2] of the shake, how often [Hz], and how long along each axis of the world [s]."""
LOST = 0.02
"""How far [m] a thing may move in the hand in a shake; farther, it is as good as dropped."""


@dataclass(frozen=True)
class Shaken:
    """What became of a thing in a shaken hand."""

    moved: float
    """How far [m] it moved in the hand at most."""
    held: bool
    """Whether the hand still had it at the end."""
    fingertips: bool
    """Whether it was grasped by fingertips that go round it with wrench closure, not by the hand as described."""


def measure(*, n: int = 20, seed: int = 0, say: Callable[[str], None] = lambda _: None) -> dict[str, Any]:
    """Attempt each deed `n` times: shapes grasped and shaken, a cube turned by 90 degrees in the hand, a knob and a lever turned.

    Args:
        n: Attempts of each.
        seed: Of the places drawn and of all draws of the attempts.
        say: Told of every attempt.

    Returns:
        `attempts`, `succeeded`; `deeds`: for "shake can", "shake brick", "shake orange", "turn cube in hand", "turn knob" and
        "open faucet" `attempts`, `succeeded` with `interval` (Wilson, 95 %) and `failures` by code, and for shakes
        `most_moved_mm`, the farthest that a thing which was not lost moved in the hand; `rows`: every attempt.
    """
    deeds: dict[str, Callable[[int], dict[str, Any]]] = {f"shake {thing}": _shaking(thing, seed) for thing in SHAKEN}
    deeds["turn cube in hand"] = _demonstrating(lambda _: in_hand(CUBE), seed)
    deeds["turn knob"] = _demonstrating(lambda k: turning("knob", ROBOT, "turned", at=_place(seed, k, "knob")), seed)
    deeds["open faucet"] = _demonstrating(lambda k: turning("faucet", ROBOT, "open", at=_place(seed, k, "faucet")), seed)
    rows = []
    for deed, attempt in deeds.items():
        for k in range(n):
            rows.append({"deed": deed, **attempt(k)})
            say(f"{deed} {k + 1}: {'done' if rows[-1]['succeeded'] else rows[-1]['failure']}")
    by_deed = {deed: _summed([row for row in rows if row["deed"] == deed]) for deed in deeds}
    return {"attempts": len(rows), "succeeded": sum(row["succeeded"] for row in rows), "deeds": by_deed, "rows": rows}


def _summed(rows: list[dict[str, Any]]) -> dict[str, Any]:
    done = sum(row["succeeded"] for row in rows)
    low, high = wilson(done, len(rows))
    moved = [row["moved_mm"] for row in rows if row["succeeded"] and "moved_mm" in row]
    return {
        "attempts": len(rows),
        "succeeded": done,
        "interval": [round(low, 3), round(high, 3)],
        "failures": dict(Counter(row["failure"] for row in rows if row["failure"]).most_common()),
        **({"most_moved_mm": max(moved)} if moved else {}),
    }


# ------------------------------------------------------------------ what is tried


def standing(thing: AssetSpec, at: Pose) -> Scenario:
    """One thing on the table before the arm, that is to be lifted; `at` is its pose on the table top."""
    item = Item(id="thing", asset=thing, parent="table", pose=at)
    return _scenario(item, Predicate(name="lifted", args=("thing",)), horizon=60.0, random=STILL)


def in_hand(thing: AssetSpec, robot: str = ROBOT, goal: Predicate | None = None, random: Randomization | None = None) -> Scenario:
    """A block that lies in the hand, palm up, and is to be turned there by 90 degrees, or as `goal` says."""
    item = Item(id="block", asset=thing, relation="held", pose=Pose())
    goal = goal or Predicate(name="reoriented", args=("block",))
    return _scenario(item, goal, robot=robot, horizon=40.0, hold_steps=20, random=random or Randomization())


def turning(thing: str, robot: str, deed: str, *, start: float = 0.0, at: tuple[float, float] = (0.0, 0.0)) -> Scenario:
    """A knob or a tap that stands fast on the table at `at` [m], its joint open by the fraction `start`; its joint is to turn."""
    joints = {PARTS[thing].split(".")[1]: start}
    item = Item(
        id=thing, asset=AssetSpec(category=thing), parent="table", pose=Pose.planar(*at, 0.0, 0.0), joints=joints, fixed=True
    )
    return _scenario(item, Predicate(name=deed, args=(PARTS[thing],)), robot=robot, horizon=30.0, random=STILL)


def _scenario(
    item: Item, goal: Predicate, *, horizon: float, random: Randomization, robot: str = ROBOT, hold_steps: int = 10
) -> Scenario:
    table = Item(id="table", asset=AssetSpec(category="table"), pose=Pose.planar(0.6, 0.0), fixed=True)
    return Scenario(
        scene=SceneSpec(items=(table, item)),
        task=TaskSpec(goal=goal, horizon=horizon, hold_steps=hold_steps),
        embodiment=EmbodimentSpec(name=robot, base=Pose.planar(0.0, 0.0, table_height())),
        randomization=random,
    )


@lru_cache(maxsize=1)
def table_height() -> float:
    """Height of the table's top [m], on which the arm stands."""
    return assets.build(AssetSpec(category="table")).affordances.support().pose.position[2]


def _place(seed: int, k: int, thing: str) -> tuple[float, float]:
    x, y = generator(seed, "hand", k, thing).uniform(NEAR, FAR)
    return float(x), float(y)


# ------------------------------------------------------------------ how it is tried


def shaken(thing: AssetSpec, at: Pose, seed: int) -> Shaken:
    """Pick a thing up and shake it along each axis of the world in turn.

    Raises:
        MotionError: it cannot be picked up.
    """
    scenario = standing(thing, at)
    session = Session(World(scenario))
    session.reset(np.random.default_rng(seed))
    control = Controller(session, np.random.default_rng(seed))
    for step in symbolic.plan(control.world, scenario.task.goal, None):
        skills()[step.skill].run(control, step.args, ())
    T, joints = control.checker.pose(control.joints), control.joints
    before = tf.inverse(control.world.tcp()) @ control.world.item_pose("thing")
    far = 0.0
    for axis in np.eye(3):
        for k in range(1, 1 + round(SECONDS / control.dt)):
            t = k * control.dt
            swell = min(1.0, t * FREQUENCY, (SECONDS - t) * FREQUENCY)
            offset = swell * ACCELERATION / (2 * np.pi * FREQUENCY) ** 2 * np.sin(2 * np.pi * FREQUENCY * t)
            found = control.kin.inverse(tf.inverse(control.base_pose()) @ tf.translate(offset * axis) @ T, joints)
            if not found.ok:
                raise MotionError("shake.unreachable", "the hand cannot be shaken there", subjects=("thing",))
            control.step(found.joints)
            now = tf.inverse(control.world.tcp()) @ control.world.item_pose("thing")
            far = max(far, float(np.linalg.norm((now @ tf.inverse(before))[:3, 3])))
    return Shaken(far, control.world.grasped() == ("thing",), control.hand is not control.world.grippers[0])


def _shaking(thing: str, seed: int) -> Callable[[int], dict[str, Any]]:
    def attempt(k: int) -> dict[str, Any]:
        yaw = float(generator(seed, "hand", k, f"{thing} yaw").uniform(-0.5, 0.5))
        try:
            found = shaken(SHAKEN[thing], Pose.planar(*_place(seed, k, thing), 0.0, yaw), k)
        except (MotionError, SettleError) as error:
            return {"succeeded": False, "failure": getattr(error, "code", "world.unsettled")}
        fine = found.held and found.moved < LOST
        failure = None if fine else "shake.dropped" if not found.held else "shake.slipped"
        return {"succeeded": fine, "failure": failure, "moved_mm": round(1000 * found.moved, 1)}

    return attempt


def _demonstrating(scenario: Callable[[int], Scenario], seed: int) -> Callable[[int], dict[str, Any]]:
    def attempt(k: int) -> dict[str, Any]:
        task = scenario(k)
        try:
            recording = demonstrate(Session(World(task), seed=seed, attempt=k), attempt_rng(seed, task.id, k))
        except SettleError:
            return {"succeeded": False, "failure": "world.unsettled"}
        failure = None if recording.failure is None else recording.failure.code
        return {"succeeded": recording.outcome == "success", "failure": failure}

    return attempt


def lines(found: dict[str, Any]) -> list[str]:
    """What was measured, for people."""
    told = []
    for deed, of in found["deeds"].items():
        low, high = (100 * bound for bound in of["interval"])
        failures = "".join(f", {count} x {code}" for code, count in of["failures"].items())
        told.append(f"{deed}: {of['succeeded']} of {of['attempts']} ({low:.0f} to {high:.0f} %){failures}")
    return told
