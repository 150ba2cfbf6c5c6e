"""Training: masked regression of chunks, cosine rate, averaged weights, distillation; killed and resumed, the same bits."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import torch
from torch import Generator, Tensor
from torch.nn import functional

from embodiedsmith.learn.checkpoint import fill, has_checkpoint, read_checkpoint, write_checkpoint
from embodiedsmith.learn.networks import Dropout, FlowMlp
from embodiedsmith.learn.normalization import Statistics
from embodiedsmith.learn.observation import is_size
from embodiedsmith.learn.policy import Policy, one_thread
from embodiedsmith.learn.recipe import LOG_EVERY, Curves, TrainConfig, TrainingError, rate
from embodiedsmith.learn.sources import Batch, EpisodesSource, Source
from embodiedsmith.runtime.seeds import derive, generator
from embodiedsmith.spec.base import digest

__all__ = ["LOG_EVERY", "Batch", "Curves", "EpisodesSource", "Source", "TrainConfig", "TrainingError", "rate", "train"]

FORMAT, VERSION = "embodiedsmith-training", 1
_BETA = 0.3
"""Where the loss turns from square to absolute, in normalised units. On held-out steps of 100 demonstrations (can into a basket)
squares below 1 were 15 % worse on motions, and 0.1 left 1.7 times as many closings on the wrong side of a half."""
_BETAS = (0.9, 0.999)


def train(
    policy: Policy,
    source: Source,
    config: TrainConfig,
    *,
    teacher: Policy | None = None,
    old: Source | None = None,
    folder: Path | None = None,
    save_every: int = 500,
    progress: Callable[[int, float], None] | None = None,
) -> Curves:
    """Train `policy` in place; it is touched only when training has ended.

    A new policy takes its normaliser from `source`; one that was trained before keeps it and goes on.

    Args:
        policy: What to train.
        source: What to learn.
        teacher: A policy to stay close to on `old` data; any kind, of the same features and actions.
        old: Where the teacher is asked.
        folder: Where a checkpoint is written every `save_every` steps and at the end. When it holds one of this very training
            (same configurations, weights, data moments and teacher), training goes on from there: the policy is the same, bit for
            bit, as if it had never stopped.
        progress: Called every `LOG_EVERY` steps with the step and the loss.

    Raises:
        TrainingError: Teacher and old data are not given together, shapes disagree, the folder holds another training, or the
            loss is not finite.
        CheckpointError: The checkpoint in the folder is damaged.
    """
    if (teacher is None) != (old is None):
        raise TrainingError("distillation needs a teacher and old data", remedy="give both, or neither")
    run = _Run(policy, source, config, teacher, old)
    if folder is not None and has_checkpoint(folder, "training"):
        run.load(folder)
    with one_thread(), _matmul(config.matmul):
        while run.step < config.steps:
            run.advance()
            if progress is not None and run.rows and run.rows[-1][0] == run.step:
                progress(run.step, run.rows[-1][1])
            if folder is not None and (run.step % save_every == 0 or run.step == config.steps):
                run.save(folder)
    run.finish()
    return Curves(*(tuple(column) for column in zip(*run.rows, strict=True)))


class _Run:
    """One training: everything that changes from step to step."""

    def __init__(self, policy: Policy, source: Source, config: TrainConfig, teacher: Policy | None, old: Source | None) -> None:
        self._target, self._source, self._config, self._teacher, self._old = policy, source, config, teacher, old
        statistics = _finite(source.statistics(), policy)
        self._policy = policy.copy()
        self._policy.fit_normalizer(statistics)
        if old is not None:
            self._policy.normalizer.widen(old.statistics())
        self._key = digest(
            {
                "policy": policy.config.model_dump(mode="json"),
                "weights": self._policy.fingerprint(),
                "training": config.model_dump(mode="json"),
                "teacher": teacher.fingerprint() if teacher else None,
                "data": [part.tolist() for part in statistics],
            }
        )
        self._weights, self._gradient = _flatten(self._policy)
        self._ema = self._weights.detach().clone()
        self._optimizer = torch.optim.AdamW(
            [self._weights], lr=config.lr, betas=_BETAS, weight_decay=config.weight_decay, fused=True
        )
        self._rng = generator(config.seed, "train", "batches")
        sizes = torch.tensor([is_size(name) for name in policy.feature_names])
        self._spread = torch.hypot(torch.full(sizes.shape, config.feature_noise), config.size_noise * sizes)
        self._noise = Generator().manual_seed(derive(config.seed, "train", "noise") % 2**63)
        for module in self._policy.network.modules():
            if isinstance(module, Dropout):
                module.generator = self._noise
        self.step = 0
        self.rows: list[list[float]] = []
        self._sums = [0.0, 0.0, 0.0]

    def advance(self) -> None:
        """One gradient step."""
        config = self._config
        lr = rate(config, self.step)
        self._optimizer.param_groups[0]["lr"] = lr
        self._gradient.zero_()
        losses = self._losses()
        loss = losses[0] if len(losses) == 1 else losses[0] + config.distill_weight * losses[1]
        loss.backward()  # type: ignore[no-untyped-call]
        norm = float(torch.linalg.vector_norm(self._gradient))
        if not math.isfinite(norm) or not math.isfinite(float(loss.detach())):
            raise TrainingError(
                f"loss {float(loss.detach())} and gradient {norm} of step {self.step} are not finite",
                remedy="look for rows that are not finite in the data, or lower the rate",
            )
        if norm > config.clip:
            self._gradient.mul_(config.clip / norm)
        self._optimizer.step()
        decay = min(config.ema, (1.0 + self.step) / (10.0 + self.step))
        with torch.no_grad():
            self._ema.lerp_(self._weights, 1.0 - decay)
        self.step += 1
        self._log([float(part.detach()) for part in losses], norm, lr)

    def finish(self) -> None:
        """Give the averaged weights and the normaliser to the policy that was handed in."""
        with torch.no_grad():
            self._weights.copy_(self._ema)
        fill(self._target.tensors(), self._policy.tensors(), "training", "")

    def save(self, folder: Path) -> None:
        """Write everything that the next steps depend on."""
        state = self._optimizer.state[self._weights]
        tensors = {
            "weights": self._weights,
            "ema": self._ema,
            "exp_avg": state["exp_avg"],
            "exp_avg_sq": state["exp_avg_sq"],
            "step": state["step"],
            "noise": self._noise.get_state(),
        }
        content = {
            "key": self._key,
            "step": self.step,
            "curves": self.rows,
            "sums": self._sums,
            "batches": self._rng.bit_generator.state,
        }
        write_checkpoint(folder, "training", FORMAT, VERSION, tensors, content)

    def load(self, folder: Path) -> None:
        """Go on from a checkpoint of this very training."""
        remedy = f"delete {folder} to train from the beginning"
        tensors, content = read_checkpoint(folder, "training", FORMAT, VERSION, remedy)
        if content["key"] != self._key:
            raise TrainingError(
                "the folder holds another training", where=str(folder), remedy=f"{remedy}, or give another folder"
            )
        zeros = torch.zeros_like(self._ema)
        state = {"step": torch.zeros(()), "exp_avg": zeros, "exp_avg_sq": zeros.clone()}
        noise = self._noise.get_state()
        targets = {"weights": self._weights.detach(), "ema": self._ema, "noise": noise, **state}
        fill(targets, tensors, str(folder), remedy)
        self._optimizer.state[self._weights] = state
        self._noise.set_state(noise)
        self._rng.bit_generator.state = content["batches"]
        self.step, self.rows, self._sums = content["step"], content["curves"], content["sums"]

    def _losses(self) -> list[Tensor]:
        """Loss on the source, and on the teacher's chunks when there is one."""
        batch = self._source.batch(self._rng, self._config.batch_size)
        self._check(batch)
        normalizer = self._policy.normalizer
        inputs, targets = [self._inputs(batch)], [normalizer.actions(batch.actions)]
        pad = 1.0 if isinstance(self._policy.network, FlowMlp) else self._config.pad_weight
        weights = [_weights(batch, pad)]
        if self._teacher is not None and self._old is not None:
            old = self._old.batch(self._rng, self._config.distill_batch)
            self._check(old)
            inputs.append(self._inputs(old))
            targets.append(normalizer.actions(self._taught(self._teacher, old)))
            weights.append(torch.full(old.valid.shape, 1.0 / old.valid.numel()))
        errors = self._errors(_joined(inputs), _joined(targets))  # (B, H)
        parts = torch.split(errors, [len(part) for part in inputs])
        return [(part * weight).sum() for part, weight in zip(parts, weights, strict=True)]

    def _inputs(self, batch: Batch) -> Tensor:
        inputs = self._policy.inputs(batch.features, batch.images)
        if self._spread.any():
            width = len(self._spread)
            noise = self._spread * torch.randn((len(inputs), width), generator=self._noise)
            inputs = inputs + functional.pad(noise, (0, inputs.shape[1] - width))
        return inputs

    @torch.no_grad()
    def _taught(self, teacher: Policy, batch: Batch) -> Tensor:
        """The teacher's chunks (B, H, A) in SI units; a flow's from drawn noise."""
        start = None
        if isinstance(teacher.network, FlowMlp):
            start = torch.randn(batch.actions.shape, generator=self._noise)
        images = batch.images if teacher.eyes else None
        return teacher.normalizer.restore(teacher.chunks(teacher.inputs(batch.features, images), start))

    def _errors(self, inputs: Tensor, targets: Tensor) -> Tensor:
        """Mean error over the components of each action (B, H), in normalised units."""
        network = self._policy.network
        if isinstance(network, FlowMlp):
            noise = torch.randn(targets.shape, generator=self._noise)
            time = torch.rand(len(targets), generator=self._noise)
            way = noise + time[:, None, None] * (targets - noise)
            return functional.mse_loss(network(inputs, way, time), targets, reduction="none").mean(dim=2)
        return functional.smooth_l1_loss(network(inputs), targets, reduction="none", beta=_BETA).mean(dim=2)

    def _check(self, batch: Batch) -> None:
        """Shapes, at the first step: a source does not change them."""
        if self.step:
            return
        policy = self._policy
        shapes = [tuple(part.shape) for part in (batch.features, batch.actions, batch.valid)]
        rows, chunk = len(batch.features), policy.config.chunk
        wanted = [(rows, len(policy.feature_names)), (rows, chunk, len(policy.action_names)), (rows, chunk)]
        if shapes != wanted:
            raise TrainingError(f"the source gives features, actions, valid of shapes {shapes}; the policy takes {wanted}")
        shape = None if batch.images is None else tuple(batch.images.shape[1:])
        meant = policy.config.images.shape if policy.config.images else None
        if meant and shape != meant:
            raise TrainingError(f"the source gives images of shape {shape}; the policy takes {meant}")

    def _log(self, losses: list[float], norm: float, lr: float) -> None:
        values = [losses[0], losses[1] if len(losses) > 1 else 0.0, norm]
        self._sums = [total + value for total, value in zip(self._sums, values, strict=True)]
        if self.step % LOG_EVERY and self.step != self._config.steps:
            return
        count = (self.step - 1) % LOG_EVERY + 1
        loss, distillation, gradient = (total / count for total in self._sums)
        self.rows.append([self.step, loss, distillation, lr, gradient])
        self._sums = [0.0, 0.0, 0.0]


def _flatten(policy: Policy) -> tuple[torch.nn.Parameter, Tensor]:
    """One vector of all weights and one of their gradient, which the network's parameters become views of."""
    parameters = policy.parameters()
    flat = torch.nn.Parameter(torch.cat([parameter.detach().reshape(-1) for parameter in parameters]))
    gradient = torch.zeros_like(flat.data)
    flat.grad = gradient
    at = 0
    for parameter in parameters:
        part = slice(at, at + parameter.numel())
        parameter.data = flat.data[part].view(parameter.shape)
        parameter.grad = gradient[part].view(parameter.shape)
        at = part.stop
    return flat, gradient


def _finite(statistics: Statistics, policy: Policy) -> Statistics:
    """The statistics, when every value in the data is a number."""
    faults = []
    for what, names, values in (
        ("feature", policy.feature_names, statistics.feature_std),
        ("action component", policy.action_names, statistics.action_std),
    ):
        if len(names) != len(values):
            raise TrainingError(f"the data have {len(values)} {what}s where the policy has {len(names)}")
        faults += [f"{what} {name!r}" for name, value in zip(names, values, strict=True) if not math.isfinite(value)]
    if faults:
        raise TrainingError("the data are not finite", faults=faults, remedy="leave out the episodes that hold such values")
    return statistics


def _joined(parts: list[Tensor]) -> Tensor:
    return parts[0] if len(parts) == 1 else torch.cat(parts)


def _weights(batch: Batch, pad: float) -> Tensor:
    """What each action of each window counts (B, H), in all one: `pad` after the end, against 1 before it.

    Where an episode was cut off nothing is known of what comes then; windows that a flow would need it for do not count at all.
    """
    weights = torch.where(batch.valid, 1.0, pad)
    if pad:
        weights = weights * (batch.whole | batch.valid.all(dim=1))[:, None]
    return weights / weights.sum().clamp_min(1.0)


@contextmanager
def _matmul(precision: str) -> Iterator[None]:
    """What products of float32 matrices are rounded to, and again what it was before."""
    settings = torch.backends.mkldnn.matmul  # type: ignore[attr-defined]
    before = settings.fp32_precision
    settings.fp32_precision = {"float32": "ieee", "bfloat16": "bf16"}[precision]
    try:
        yield
    finally:
        settings.fp32_precision = before
