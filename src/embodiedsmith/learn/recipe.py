"""How to train, and how it went."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any, Literal

from pydantic import Field

from embodiedsmith.runtime.errors import SmithError
from embodiedsmith.spec.base import Noun

LOG_EVERY = 50
"""Steps that a point of the curves is the mean of."""


class TrainingError(SmithError):
    """Training cannot go on: what it was given does not fit together, or the loss is no longer a number."""


class TrainConfig(Noun):
    """How to train."""

    steps: int = Field(default=2000, ge=1)
    batch_size: int = Field(default=512, ge=1)
    lr: float = Field(default=3e-4, gt=0)
    """Highest rate, reached after `warmup` steps."""
    lr_final: float = Field(default=1e-5, ge=0)
    """Rate of the last step, reached along a cosine."""
    warmup: int = Field(default=100, ge=0)
    weight_decay: float = Field(default=1e-4, ge=0)
    clip: float = Field(default=1.0, gt=0)
    """Largest norm of the gradient."""
    ema: float = Field(default=0.99, ge=0, lt=1)
    """Decay a step of the averaged weights, which act; shorter in the first steps."""
    feature_noise: float = Field(default=0.0, ge=0)
    """Standard deviation of noise on the features, in standard deviations of each."""
    size_noise: float = Field(default=0.5, ge=0)
    """The same on how large things are said to be. That does not change within a scene, and each of a few scenes is known by it:
    without, a network learns them by heart (docs/learning.md has the figures)."""
    pad_weight: float = Field(default=0.0, ge=0, le=1)
    """Weight of standing still after the end of an episode, against 1 for its steps. A flow's is always 1: its steps are all made
    from noise together, and those that were not trained would lead the others astray."""
    distill_weight: float = Field(default=1.0, ge=0)
    """Weight of staying close to the teacher on old data."""
    distill_batch: int = Field(default=128, ge=1)
    """Windows of old data a step."""
    matmul: Literal["float32", "bfloat16"] = "bfloat16"
    """What factors of matrix products are rounded to while training; sums and weights are float32, and so is acting. Processors
    without bfloat16 take float32 either way."""
    seed: int = 0


@dataclass(frozen=True)
class Curves:
    """How training went: means over `LOG_EVERY` steps, each up to the step named."""

    step: tuple[int, ...]
    loss: tuple[float, ...]
    distillation: tuple[float, ...]
    """Loss against the teacher, before its weight; zero without one."""
    lr: tuple[float, ...]
    gradient: tuple[float, ...]
    """Norm before clipping."""

    def to_json(self) -> dict[str, Any]:
        """The curves as JSON values."""
        return asdict(self)


def rate(config: TrainConfig, step: int) -> float:
    """Learning rate of a step, counted from zero: a linear warm-up, then half a cosine."""
    if step < config.warmup:
        return config.lr * (step + 1) / config.warmup
    done = (step - config.warmup) / max(1, config.steps - 1 - config.warmup)
    return config.lr_final + (config.lr - config.lr_final) * 0.5 * (1.0 + math.cos(math.pi * min(1.0, done)))
