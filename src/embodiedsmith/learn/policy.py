"""Policies: from what an encoder sees to a chunk of actions in SI units.

Three kinds share one interface: `bc_mlp` and `bc_transformer` (behaviour cloning: one chunk, by regression) and `flow` (flow
matching: a chunk for each noise it starts from). The rows of a prediction never depend on how many rows are asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, Self

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import Field, ValidationError, model_validator
from torch import Generator, Tensor, nn

from embodiedsmith.learn.checkpoint import CheckpointError, checksum_of, fill, read_checkpoint, write_checkpoint
from embodiedsmith.learn.images import Eyes, ImageConfig, Pixels
from embodiedsmith.learn.networks import ChunkMlp, ChunkTransformer, FlowMlp, feature_groups, initialise
from embodiedsmith.learn.normalization import Normalizer, Statistics
from embodiedsmith.learn.observation import ObservationConfig
from embodiedsmith.spec.base import Noun

Kind = Literal["bc_mlp", "bc_transformer", "flow"]

FORMAT, VERSION = "embodiedsmith-policy", 2
BLOCK = 16
"""Rows of every forward pass when acting: BLAS sums in another order for another number of rows."""
_REMEDY = "give the folder of a policy that was saved whole: an earlier round's, or train again"


class PolicyConfig(Noun):
    """What a policy is, apart from its weights."""

    kind: Kind = "bc_mlp"
    chunk: int = Field(default=8, ge=1)
    """H: actions predicted at once, one a control step."""
    execute: int = Field(default=4, ge=1)
    """Actions of a chunk that are carried out before the next is asked for."""
    width: int = Field(default=256, ge=1)
    depth: int = Field(default=4, ge=1)
    dropout: float = Field(default=0.0, ge=0.0, lt=1.0)
    flow_steps: int = Field(default=5, ge=1)
    """Euler steps of a flow."""
    action_space: str = "ee_delta"
    """One of `embodiments.actions.SPACES`."""
    observation: ObservationConfig
    images: ImageConfig | None = None
    """Cameras that are looked through beside the observation; None: none."""

    @model_validator(mode="after")
    def _within_chunk(self) -> Self:
        if self.execute > self.chunk:
            raise ValueError(f"execute is {self.execute}, but a chunk has {self.chunk} actions")
        return self


class Policy:
    """A network with its normaliser and the names of what it sees and says.

    Attributes:
        config: What it is.
        feature_names: (F,), those of the encoder it was made for.
        action_names: (A,), those of the action space.
        network: Normalised features, and codes of images after them, to normalised chunks.
        eyes: Images to their codes; None for a policy that looks through no camera.
        normalizer: Between SI units and numbers of order one.
    """

    def __init__(self, config: PolicyConfig, feature_names: Sequence[str], action_names: Sequence[str]) -> None:
        """A policy without weights: use `create` or `load`."""
        self.config = config
        self.feature_names, self.action_names = tuple(feature_names), tuple(action_names)
        self.normalizer = Normalizer(len(feature_names), len(action_names))
        with torch.device("meta"):
            network = _network(config, self.feature_names, len(action_names))
            eyes = Eyes(config.images) if config.images else None
        self.network = network.to_empty(device="cpu").eval()
        self.eyes = eyes.to_empty(device="cpu").eval() if eyes else None

    @classmethod
    def create(cls, config: PolicyConfig, feature_names: Sequence[str], action_names: Sequence[str], *, seed: int) -> Policy:
        """A policy with drawn weights; `train` fits its normaliser."""
        policy = cls(config, feature_names, action_names)
        draws = Generator().manual_seed(seed)
        initialise(policy.network, draws)
        if policy.eyes is not None:
            initialise(policy.eyes, draws)
        return policy

    @property
    def size(self) -> int:
        """Number of trained parameters."""
        return sum(parameter.numel() for parameter in self.parameters())

    def parameters(self) -> list[nn.Parameter]:
        """Everything that is trained."""
        return [*self.network.parameters(), *(self.eyes.parameters() if self.eyes else ())]

    def fit_normalizer(self, statistics: Statistics) -> None:
        """Fit the normaliser when it is new, else only widen the range of the actions."""
        if self.normalizer.fitted:
            self.normalizer.widen(statistics)
        else:
            self.normalizer.fit(statistics)

    @torch.no_grad()
    def predict(
        self,
        features: NDArray[np.float32],
        noise: Generator | NDArray[np.float32] | None = None,
        images: Pixels | None = None,
    ) -> NDArray[np.float32]:
        """Chunks of actions in SI units.

        Args:
            features: (n, F).
            noise: Where a flow starts: a generator that it is drawn from, or the draws themselves, standard normal
                (n, H, A), so that each row may have its own stream; None starts all from zero: equal features, equal chunks.
                Behaviour cloning has no noise.
            images: (n, cameras, 3, height, width), for a policy that looks through cameras.

        Returns:
            (n, H, A). Each row has the same bits whatever the other rows and their number.
        """
        rows = torch.from_numpy(np.ascontiguousarray(features, dtype=np.float32))
        shown = None if images is None else torch.from_numpy(np.ascontiguousarray(images))
        self._check_rows(rows, shown)
        starts = self._starts(len(rows), noise)
        out = torch.empty(len(rows), self.config.chunk, len(self.action_names))
        with one_thread():
            for at in range(0, len(rows), BLOCK):
                block = self.inputs(_padded(rows[at : at + BLOCK]), None if shown is None else _padded(shown[at : at + BLOCK]))
                start = None if starts is None else _padded(starts[at : at + BLOCK])
                chunk = self.normalizer.restore(self.chunks(block, start))
                out[at : at + BLOCK] = chunk[: len(rows) - at]
        return out.numpy()

    def check_names(self, feature_names: Sequence[str], action_names: Sequence[str]) -> None:
        """Refuse an encoder or an action space that this policy was not made for.

        Raises:
            CheckpointError: Names every one that is missing, unknown or in another place.
        """
        faults = _differences("feature", self.feature_names, feature_names)
        faults += _differences("action component", self.action_names, action_names)
        if faults:
            remedy = "use the observation configuration and the action space in the policy's config, or train a policy for these"
            raise CheckpointError("the policy sees or says other things", faults=faults, remedy=remedy)

    def tensors(self) -> dict[str, Tensor]:
        """Every tensor of the network and the normaliser by name: those that are saved, not copies."""
        parts: dict[str, nn.Module] = {"network": self.network, "normalizer": self.normalizer}
        if self.eyes is not None:
            parts["eyes"] = self.eyes
        return {f"{part}.{name}": tensor for part, module in parts.items() for name, tensor in module.state_dict().items()}

    def fingerprint(self) -> str:
        """SHA-256 of weights and normaliser: equal policies, equal fingerprints."""
        return checksum_of(self.tensors())

    def copy(self) -> Policy:
        """A policy of its own with the same weights."""
        other = Policy(self.config, self.feature_names, self.action_names)
        fill(other.tensors(), self.tensors(), "copy", _REMEDY)
        return other

    @torch.no_grad()
    def shrunk(self, part: float, seed: int) -> Policy:
        """A policy to go on learning with: `part` of these weights and the rest drawn anew, its normaliser not fitted.

        A network that goes on from where it stood does worse on what it never saw than one trained from scratch does; such a
        mixture does as well as that in far fewer steps (shrink and perturb, Ash and Adams 2020).
        """
        other = Policy.create(self.config, self.feature_names, self.action_names, seed=seed)
        for mixed, own in zip(other.parameters(), self.parameters(), strict=True):
            mixed.lerp_(own, part)
        return other

    def save(self, folder: Path) -> None:
        """Write `policy.json` and its weights into `folder`, whole or not at all, in place of an older policy there."""
        content = {
            "config": self.config.model_dump(mode="json"),
            "feature_names": list(self.feature_names),
            "action_names": list(self.action_names),
        }
        write_checkpoint(folder, "policy", FORMAT, VERSION, self.tensors(), content)

    @classmethod
    def load(cls, folder: Path) -> Policy:
        """The policy that was saved in `folder`: the same bits.

        Raises:
            CheckpointError: It is missing, damaged, of another version, or its weights are not finite; every fault is named.
        """
        where = str(folder / "policy.json")
        tensors, content = read_checkpoint(folder, "policy", FORMAT, VERSION, _REMEDY)
        try:
            config = PolicyConfig.model_validate(content["config"])
            policy = cls(config, content["feature_names"], content["action_names"])
        except (ValidationError, KeyError, TypeError) as error:
            raise CheckpointError(
                "the policy's configuration is not one of this release", where=where, remedy=_REMEDY, faults=[str(error)]
            ) from error
        fill(policy.tensors(), tensors, where, _REMEDY)
        faults = [f"tensor {name!r} is not finite" for name, value in tensors.items() if _spoilt(name, value)]
        if faults:
            raise CheckpointError("the policy's weights are spoilt", where=where, remedy=_REMEDY, faults=faults)
        return policy

    def inputs(self, features: Tensor, images: Tensor | None = None) -> Tensor:
        """What the network takes: normalised features of `features` (B, F), and codes of `images` after them."""
        normalised = self.normalizer.features(features)
        return normalised if self.eyes is None else torch.cat([normalised, self.eyes(images)], dim=1)

    def chunks(self, inputs: Tensor, start: Tensor | None = None) -> Tensor:
        """Normalised chunks (B, H, A) of `inputs`; a flow starts at `start` (B, H, A), or at zero."""
        if isinstance(self.network, FlowMlp):
            if start is None:
                start = inputs.new_zeros(len(inputs), self.config.chunk, len(self.action_names))
            return self.network.integrate(inputs, start, self.config.flow_steps)
        return self.network(inputs)  # type: ignore[no-any-return]

    def _starts(self, rows: int, noise: Generator | NDArray[np.float32] | None) -> Tensor | None:
        if noise is None or self.config.kind != "flow":
            return None
        shape = (rows, self.config.chunk, len(self.action_names))
        if isinstance(noise, Generator):
            return torch.randn(shape, generator=noise)
        if noise.shape != shape:
            raise ValueError(f"noise of shape {noise.shape} is not one of {shape}")
        return torch.from_numpy(np.ascontiguousarray(noise, dtype=np.float32))

    def _check_rows(self, rows: Tensor, images: Tensor | None) -> None:
        if rows.ndim != 2 or rows.shape[1] != len(self.feature_names):
            raise ValueError(f"features of shape {tuple(rows.shape)} are not rows of {len(self.feature_names)} features")
        wanted = (len(rows), *self.config.images.shape) if self.config.images else None
        given = None if images is None else tuple(images.shape)
        if given != wanted:
            raise ValueError(f"images of shape {given} are given where the policy takes {wanted}")


@contextmanager
def one_thread() -> Iterator[None]:
    """One thread inside torch, for sums in a fixed order."""
    before = torch.get_num_threads()
    if before != 1:
        torch.set_num_threads(1)
    try:
        yield
    finally:
        if before != 1:
            torch.set_num_threads(before)


def _network(config: PolicyConfig, names: tuple[str, ...], actions: int) -> nn.Module:
    sizes = (config.chunk, actions, config.width, config.depth, config.dropout)
    codes = config.images.size if config.images else 0
    if config.kind == "bc_transformer":
        groups = feature_groups(names)
        if config.images:  # a token a camera
            groups += np.arange(len(names), len(names) + codes).reshape(-1, config.images.code).tolist()
        return ChunkTransformer(groups, *sizes)
    return (FlowMlp if config.kind == "flow" else ChunkMlp)(len(names) + codes, *sizes)


def _differences(what: str, mine: Sequence[str], given: Sequence[str]) -> list[str]:
    missing, unknown = [name for name in mine if name not in given], [name for name in given if name not in mine]
    faults = [f"{what} {name!r} of the policy is not there" for name in missing]
    faults += [f"{what} {name!r} is not one of the policy's" for name in unknown]
    if not faults and len(mine) != len(given):
        faults = [f"{len(given)} {what}s are given where the policy has {len(mine)}"]
    elif not faults:
        moved = [name for name, other in zip(mine, given, strict=True) if name != other]
        faults = [f"{what}s are in another order, from {moved[0]!r} on"] if moved else []
    return faults


def _padded(rows: Tensor) -> Tensor:
    out = rows.new_zeros(BLOCK, *rows.shape[1:])
    out[: len(rows)] = rows
    return out


def _spoilt(name: str, value: Tensor) -> bool:
    ranges = name in ("normalizer.action_low", "normalizer.action_high")  # infinite while not fitted
    return bool(torch.isnan(value).any() if ranges else not torch.isfinite(value).all())
