"""Cameras: frames of a real episode, rendered, tell a policy what its features do not."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from flywheel_scenes import forged
from learners import ACTIONS, CHUNK, FEATURES, Rows, new_policy

from embodiedsmith import motion
from embodiedsmith.embodiments import get
from embodiedsmith.embodiments.actions import ActionSpace
from embodiedsmith.episodes.pixels import Painter
from embodiedsmith.learn.images import ImageConfig, Pixels, seen
from embodiedsmith.learn.policy import Policy
from embodiedsmith.learn.sources import EpisodesSource
from embodiedsmith.learn.training import TrainConfig, TrainingError, train
from embodiedsmith.runtime.seeds import generator
from embodiedsmith.tasks import Session
from embodiedsmith.world import World

CAMERAS = ImageConfig(cameras=("front",), height=48, width=64)


@dataclass(frozen=True, kw_only=True)
class Watched(Rows):
    """An episode with what the cameras showed."""

    images: Pixels


@pytest.fixture(scope="module")
def watched() -> Watched:
    """A demonstration whose features say nothing: only the pictures tell its moments apart."""
    scenario = forged("basket")
    session = Session(World(scenario), seed=0, attempt=0)
    recording = motion.demonstrate(session, generator(0, "demonstration"))
    assert recording.outcome == "success"
    with Painter() as painter:
        images = seen(painter, recording, scenario, CAMERAS)
    space = ActionSpace(get("panda"), "ee_delta")
    actions = space.encode(recording.actions, recording.states[0, -recording.actions.shape[1] :])
    return Watched(np.zeros((recording.length, len(FEATURES)), np.float32), actions.astype(np.float32), images=images)


def test_frames_are_those_before_each_action_and_differ(watched: Watched) -> None:
    assert watched.images.shape == (len(watched.actions), *CAMERAS.shape) and watched.images.dtype == np.uint8
    assert watched.images.std() > 10
    assert len({image.tobytes() for image in watched.images}) > 0.8 * len(watched.images)


def test_a_policy_learns_from_pictures_alone(watched: Watched) -> None:
    config = TrainConfig(steps=300, batch_size=32, lr=2e-3, warmup=10)
    losses = {}
    for images in (None, CAMERAS):
        drawn = new_policy()
        policy = Policy.create(drawn.config.model_copy(update={"images": images}), FEATURES, ACTIONS, seed=0)
        episode = watched if images else Rows(watched.features, watched.actions)
        losses[images is not None] = train(policy, EpisodesSource([episode], ACTIONS, CHUNK), config).loss[-1]
    assert losses[True] < 0.5 * losses[False]
    closed = policy.predict(watched.features, images=watched.images)[:, 0, 6] > 0.5
    assert (closed == (watched.actions[:, 6] > 0.5)).mean() > 0.85


def test_steps_without_images_are_refused_where_they_are_meant(watched: Watched) -> None:
    bare = Rows(watched.features, watched.actions)
    with pytest.raises(ValueError, match="some steps have images and some have none"):
        EpisodesSource([watched, bare], ACTIONS, CHUNK)
    policy = Policy.create(new_policy().config.model_copy(update={"images": CAMERAS}), FEATURES, ACTIONS, seed=0)
    with pytest.raises(TrainingError, match=r"images of shape None; the policy takes \(1, 3, 48, 64\)"):
        train(policy, EpisodesSource([bare], ACTIONS, CHUNK), TrainConfig(steps=1))
