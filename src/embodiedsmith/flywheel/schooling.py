"""The train stage of a round: fine-tune on what was kept, or train anew on all of it, staying close to what was known."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from embodiedsmith.flywheel.replay import Replay
from embodiedsmith.flywheel.rounds import Training
from embodiedsmith.flywheel.sampling import View, mix
from embodiedsmith.flywheel.settings import FlywheelSettings
from embodiedsmith.learn.policy import Policy, PolicyConfig
from embodiedsmith.learn.sources import Source
from embodiedsmith.learn.training import Curves, TrainConfig, train
from embodiedsmith.runtime.errors import UsageError
from embodiedsmith.runtime.seeds import derive


@dataclass(frozen=True)
class Schooled:
    """What came of a train stage."""

    policy: Policy
    mode: Training
    loss: float | None
    lr: float | None
    curves: Curves | None


def cold_start(
    config: PolicyConfig, replay: Replay, settings: FlywheelSettings, *, seed: int, folder: Path | None = None
) -> Schooled:
    """A new policy from everything in the replay."""
    policy = Policy.create(config, replay.feature_names, replay.action_names, seed=derive(seed, "policy", 0) % 2**31)
    return _train(policy, mix(replay, config.chunk), _anew(settings, seed, 0), "cold", folder)


def school(
    previous: Policy,
    replay: Replay,
    settings: FlywheelSettings,
    *,
    round: int,
    seed: int,
    rate: float = 1.0,
    retrain: bool = False,
    folder: Path | None = None,
) -> Schooled:
    """The next policy: fine-tuned from the previous one, or from part of it; every `retrain_every`-th round, and in the last one,
    trained anew.

    Args:
        previous: Left as it is.
        replay: With what this round kept.
        settings: How.
        round: Its number, 1 or more.
        seed: Run seed.
        rate: Times the learning rates: a guard may want smaller steps.
        retrain: Whether to train anew whatever the round.
        folder: Where training keeps checkpoints.
    """
    chunk = previous.config.chunk
    due = settings.retrain_every > 0 and (round % settings.retrain_every == 0 or round == settings.rounds)
    anew = retrain or due
    if not anew and settings.round_steps == 0:
        return Schooled(previous, "none", None, None, None)
    source = _source(replay, chunk, settings, round, anew)
    if source is None:
        return Schooled(previous, "none", None, None, None)
    old, teacher = _old(replay, chunk, settings, round, previous)
    if anew:
        policy = Policy.create(
            previous.config, replay.feature_names, replay.action_names, seed=derive(seed, "policy", round) % 2**31
        )
        return _train(policy, source, _anew(settings, seed, round, rate), "retrain", folder, teacher, old)
    config = TrainConfig(
        steps=settings.round_steps, batch_size=settings.batch_size, lr=rate * settings.learning_rate,
        lr_final=rate * settings.final_learning_rate, distill_weight=settings.distillation,
        seed=derive(seed, "train", round) % 2**31,
    )  # fmt: skip
    whole = settings.shrink == 1.0
    policy = previous.copy() if whole else previous.shrunk(settings.shrink, derive(seed, "policy", round) % 2**31)
    return _train(policy, source, config, "finetune", folder, teacher, old)


def _source(replay: Replay, chunk: int, settings: FlywheelSettings, round: int, anew: bool) -> Source | None:
    if settings.replay:
        return mix(replay, chunk, fresh_round=None if anew else round, fresh=settings.fresh)
    try:
        return View(replay, chunk, rounds=(round, round))
    except UsageError:  # the round kept nothing, and nothing else is to be trained on
        return None


def _old(
    replay: Replay, chunk: int, settings: FlywheelSettings, round: int, previous: Policy
) -> tuple[Source | None, Policy | None]:
    """What was kept before this round, where the previous policy is asked; nothing when distillation is off."""
    if settings.distillation == 0:
        return None, None
    return View(replay, chunk, rounds=(0, round - 1)), previous


def _anew(settings: FlywheelSettings, seed: int, round: int, rate: float = 1.0) -> TrainConfig:
    return TrainConfig(
        steps=settings.cold_steps, batch_size=settings.batch_size, lr=rate * settings.cold_learning_rate,
        lr_final=settings.final_learning_rate, distill_weight=settings.distillation, seed=derive(seed, "train", round) % 2**31,
    )  # fmt: skip


def _train(
    policy: Policy, source: Source, config: TrainConfig, mode: Training, folder: Path | None,
    teacher: Policy | None = None, old: Source | None = None,
) -> Schooled:  # fmt: skip
    curves = train(policy, source, config, teacher=teacher, old=old, folder=folder)
    return Schooled(policy, mode, curves.loss[-1], config.lr, curves)
