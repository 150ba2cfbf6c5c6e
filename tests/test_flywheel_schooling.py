"""The train stage: what a fine-tuning begins with and draws from, and when a policy is trained anew."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from learners import ACTIONS, CHUNK, FEATURES, new_policy, reaching

from embodiedsmith.flywheel.replay import Labelled, Replay
from embodiedsmith.flywheel.sampling import View
from embodiedsmith.flywheel.schooling import Schooled, cold_start, school
from embodiedsmith.flywheel.settings import FlywheelSettings
from embodiedsmith.learn.policy import Policy

SETTINGS = FlywheelSettings(rounds=9, cold_steps=60, round_steps=1, batch_size=32)
FAR = 0.5
"""How far along x [m] the second round's targets lie from the first one's."""


def kept(folder: Path, centres: tuple[float, ...]) -> Replay:
    """A replay of one round for each place along x [m] round which its targets lie."""
    made, rng = Replay(folder, FEATURES, ACTIONS), np.random.default_rng(0)
    told = {"quality": 0.5, "efficiency": 0.5, "level": 1, "task": "reach", "source": "expert", "scenario": "s"}
    for round, centre in enumerate(centres):
        made.add(round, [Labelled(episode=reaching(rng, centre=centre), attempt=k, **told) for k in range(8)])  # type: ignore[arg-type]
    return made


@pytest.fixture(scope="module")
def replay(tmp_path_factory: pytest.TempPathFactory) -> Replay:
    """Round 0 near, round 1 far away."""
    return kept(tmp_path_factory.mktemp("replay"), (0.0, FAR))


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Policy:
    """A policy of round 0 alone."""
    return cold_start(new_policy().config, kept(tmp_path_factory.mktemp("early"), (0.0,)), SETTINGS, seed=3).policy


def schooled(first: Policy, replay: Replay, *, round: int = 1, **changes: float) -> Schooled:
    return school(first, replay, SETTINGS.model_copy(update=changes), round=round, seed=3)


def test_a_fine_tuning_begins_with_part_of_the_last_weights_and_scales_what_it_sees_anew(first: Policy, replay: Replay) -> None:
    made = schooled(first, replay)
    assert made.mode == "finetune"
    everything = View(replay, CHUNK).statistics()
    assert np.allclose(made.policy.normalizer.feature_mean, everything.feature_mean, atol=1e-6)
    assert abs(float(first.normalizer.feature_mean[0])) < FAR / 8 < float(made.policy.normalizer.feature_mean[0])
    # one gradient step moves a weight by less than drawing half of it anew does
    between = torch.cat([(a - b).detach().flatten() for a, b in zip(made.policy.parameters(), first.parameters(), strict=True)])
    whole = schooled(first, replay, shrink=1.0).policy
    moved = torch.cat([(a - b).detach().flatten() for a, b in zip(whole.parameters(), first.parameters(), strict=True)])
    assert float(between.abs().mean()) > 10 * float(moved.abs().mean()) > 0.0
    assert torch.equal(whole.normalizer.feature_mean, first.normalizer.feature_mean)


def test_every_fifth_round_and_the_last_are_trained_anew(first: Policy, replay: Replay) -> None:
    modes = [schooled(first, replay, round=n, cold_steps=1).mode for n in (1, 4, 5, 6, 9)]
    assert modes == ["finetune", "finetune", "retrain", "finetune", "retrain"]
    assert schooled(first, replay, round=5, retrain_every=0).mode == "finetune"


def test_the_same_seed_gives_the_same_bits_and_another_round_other_ones(first: Policy, replay: Replay) -> None:
    prints = [schooled(first, replay, round=n).policy.fingerprint() for n in (1, 1, 2)]
    assert prints[0] == prints[1] != prints[2]


def test_windows_are_of_all_rounds_unless_some_are_to_be_fresh(first: Policy, replay: Replay) -> None:
    losses = {fresh: schooled(first, replay, fresh=fresh, distillation=0.0).loss for fresh in (0.0, 1.0)}
    assert losses[0.0] != losses[1.0]
