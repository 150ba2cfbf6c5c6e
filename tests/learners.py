"""A small known task for tests of learning: reach along a line that the features give, and close when near."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from embodiedsmith.learn.observation import ObservationConfig
from embodiedsmith.learn.policy import Policy, PolicyConfig
from embodiedsmith.learn.sources import EpisodesSource

Float32 = NDArray[np.float32]

FEATURES = (
    *("arm0/slot0/x", "arm0/slot0/y", "arm0/slot0/z", "arm0/slot1/x", "arm0/slot1/y", "arm0/slot1/z"),
    *("does/inside", "never", "tiny"),
)
ACTIONS = ("tcp_dx", "tcp_dy", "tcp_dz", "tcp_rx", "tcp_ry", "tcp_rz", "gripper")
OBSERVATION = ObservationConfig(predicates=("inside",), robots=("panda",))
CHUNK = 8
NEAR = 0.02
"""Where the gripper closes [m]."""


@dataclass(frozen=True)
class Rows:
    """An episode as features (T, F) and actions (T, A)."""

    features: Float32
    actions: Float32
    whole: bool = True


def reaching(rng: np.random.Generator, *, centre: float = 0.0) -> Rows:
    """A tool that goes straight to slot 0, a tenth of the way and at most a centimetre a step, and closes when it is near.

    `centre`: where along x slot 0 is found [m], so that tasks can lie apart.
    """
    to = rng.uniform(-0.1, 0.1, 3) + np.array([centre, 0.0, 0.0])
    other = rng.uniform(-0.1, 0.1, 3)
    features, actions = [], []
    for _ in range(60):
        step = 0.1 * to * min(1.0, 0.01 / max(0.1 * float(np.linalg.norm(to)), 1e-9))
        features.append([*to, *other, 1.0, 0.25, 1e-4 * rng.normal()])
        actions.append([*step, 0.0, 0.0, 0.0, float(np.linalg.norm(to) < NEAR)])
        to, other = to - step, other - step
    return Rows(np.array(features, dtype=np.float32), np.array(actions, dtype=np.float32))


def source(seed: int = 0, episodes: int = 60, *, centre: float = 0.0) -> EpisodesSource:
    """Episodes of reaching."""
    rng = np.random.default_rng(seed)
    return EpisodesSource([reaching(rng, centre=centre) for _ in range(episodes)], ACTIONS, CHUNK)


def new_policy(kind: str = "bc_mlp", *, seed: int = 0, width: int = 64, dropout: float = 0.0) -> Policy:
    """A small policy with drawn weights."""
    config = PolicyConfig.model_validate(
        {"kind": kind, "chunk": CHUNK, "width": width, "depth": 2, "dropout": dropout, "observation": OBSERVATION}
    )
    return Policy.create(config, FEATURES, ACTIONS, seed=seed)
