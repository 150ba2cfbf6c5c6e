"""Small made-up recordings and scenarios for tests of what keeps and exports them."""

from __future__ import annotations

import numpy as np

from embodiedsmith.episodes.store import EpisodeStore
from embodiedsmith.forge.certificate import LEAST_MISSES, certify
from embodiedsmith.spec import AssetSpec, Brief, Item, Pose, Predicate, Provenance, Scenario, SceneSpec, TaskSpec
from embodiedsmith.tasks.goal_misses import Missed
from embodiedsmith.tasks.recording import Event, Failure, Recording


def make_scenario(index: int = 0, *, robot: str = "panda", user_text: str | None = None) -> Scenario:
    """A scenario of one mug; other indices put it elsewhere, so that ids differ."""
    mug = Item(id="mug", asset=AssetSpec(category="mug", color="red"), pose=Pose(position=(0.01 * index, 0.0, 0.0)))
    task = TaskSpec(
        goal=Predicate(name="lifted", args=("mug",)),
        instructions={"en": f"lift the red mug number {index}", "zh": f"举起红色的杯子{index}"},
        user_text=user_text,
    )
    brief = Brief(text=user_text, embodiment=robot) if user_text else None
    return Scenario(scene=SceneSpec(items=(mug,)), task=task, embodiment={"name": robot}, provenance=Provenance(brief=brief))


def release(store: EpisodeStore, scenario: Scenario) -> None:
    """Keep a scenario in a run with a made-up witness, and a certificate that fits both."""
    witness = make_recording(scenario, seed=store.run.seed)
    missed = [Missed(name=f"missed in way {k}", predicate="lifted(mug)", margin=-0.01, value=-0.01) for k in range(LEAST_MISSES)]
    store.release(scenario, certify(witness, ("spec", "execution"), {}, missed), witness)


def make_recording(
    scenario: Scenario, *, seed: int = 0, attempt: int = 0, length: int = 12, success: bool = True, states: int = 30
) -> Recording:
    """Random but reproducible arrays of the right shapes and names."""
    rng = np.random.default_rng([seed, attempt, length, int(scenario.id, 16) % 2**32])
    rows = length + 1
    walk = lambda n: np.cumsum(rng.normal(size=(rows, n)) * 0.01, axis=0)  # noqa: E731
    pose = np.concatenate([walk(3), np.tile([1.0, 0.0, 0.0, 0.0], (rows, 1))], axis=1)
    margins = np.linspace(-0.1, 0.02 if success else -0.01, rows)
    return Recording(
        scenario_id=scenario.id,
        seed=seed,
        attempt=attempt,
        states=walk(states),
        actions=rng.normal(size=(length, 8)),
        observations={
            "joint_position": walk(7),
            "joint_velocity": walk(7),
            "effort": walk(7),
            "gripper": rng.uniform(size=(rows, 1)),
            "tcp_pose": pose,
            "items/mug": pose + 0.0,
        },
        margins=margins,
        predicate_names=("lifted(mug)",),
        predicate_margins=margins[:, None].copy(),
        labels=tuple("pick(mug)" if t < length // 2 else "lift(mug)" for t in range(length)),
        events=(Event(step=length // 2, kind="grasped", subjects=("mug",), text="握住"),),
        outcome="success" if success else "failure",
        failure=None
        if success
        else Failure(code="pick.slip", skill="pick", step=length, subjects=("mug",), value=0.004, limit=0.001),
        cost={"seconds": 0.25},
    )
