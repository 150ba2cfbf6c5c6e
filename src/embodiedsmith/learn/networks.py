"""Networks from normalised features to normalised chunks of actions: an MLP, a small transformer, a flow's velocity.

No network here draws from a global stream: parameters are initialised, and units dropped, by the generator that is handed in.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import torch
from torch import Generator, Tensor, nn
from torch.nn import functional

HEAD_WIDTH = 32
"""Width of an attention head."""
TIME_FREQUENCIES = 4


class Dropout(nn.Module):
    """Dropout that draws from its own `generator`; does nothing while that is None (acting)."""

    def __init__(self, rate: float) -> None:
        super().__init__()
        self.rate = rate
        self.generator: Generator | None = None

    def forward(self, x: Tensor) -> Tensor:
        if not self.rate or self.generator is None:
            return x
        keep = torch.empty_like(x).bernoulli_(1.0 - self.rate, generator=self.generator)
        return x * keep / (1.0 - self.rate)


class Mlp(nn.Module):
    """`depth` hidden layers of `width` SiLU units, then a linear layer."""

    def __init__(self, inputs: int, outputs: int, width: int, depth: int, dropout: float = 0.0) -> None:
        super().__init__()
        sizes = [inputs, *[width] * depth]
        self.hidden = nn.ModuleList(nn.Linear(a, b) for a, b in itertools.pairwise(sizes))
        self.dropout = Dropout(dropout)
        self.out = nn.Linear(width, outputs)

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.hidden:
            x = self.dropout(functional.silu(layer(x), inplace=False))
        return self.out(x)  # type: ignore[no-any-return]


class ChunkMlp(nn.Module):
    """Features (B, F) to a chunk (B, H, A) at once."""

    def __init__(self, inputs: int, chunk: int, actions: int, width: int, depth: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.chunk = chunk
        self.body = Mlp(inputs, chunk * actions, width, depth, dropout)

    def forward(self, features: Tensor) -> Tensor:
        return self.body(features).view(len(features), self.chunk, -1)  # type: ignore[no-any-return]


class ChunkTransformer(nn.Module):
    """Features as tokens, one a group; one query a step of the chunk that looks at the tokens and at the other queries.

    Args:
        groups: Indices of the features of each token.
    """

    def __init__(
        self, groups: Sequence[Sequence[int]], chunk: int, actions: int, width: int, depth: int, dropout: float = 0.0
    ) -> None:
        super().__init__()
        self.chunk = chunk
        self._groups = [list(group) for group in groups]
        self.embed = nn.ModuleList(nn.Linear(len(group), width) for group in groups)
        self.place = nn.Parameter(torch.empty(len(groups) + chunk, width))
        self.blocks = nn.ModuleList(Block(width, dropout) for _ in range(depth))
        self.norm = nn.LayerNorm(width)
        self.out = nn.Linear(width, actions)

    def forward(self, features: Tensor) -> Tensor:
        tokens = [layer(features[:, group]) for layer, group in zip(self.embed, self._groups, strict=True)]
        seen = torch.stack(tokens, dim=1)
        queries = seen.new_zeros(len(seen), self.chunk, seen.shape[2])
        x = torch.cat([seen, queries], dim=1) + self.place
        for block in self.blocks:
            x = block(x)
        return self.out(self.norm(x[:, -self.chunk :]))  # type: ignore[no-any-return]


class Block(nn.Module):
    """Pre-norm self-attention and a feed-forward layer twice as wide."""

    def __init__(self, width: int, dropout: float) -> None:
        super().__init__()
        self._heads = max(1, width // HEAD_WIDTH)
        self.norm_attention, self.norm_forward = nn.LayerNorm(width), nn.LayerNorm(width)
        self.project, self.join = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.wide, self.narrow = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)
        self.dropout = Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        rows, tokens, width = x.shape
        parts = self.project(self.norm_attention(x)).view(rows, tokens, 3, self._heads, width // self._heads)
        query, key, value = parts.permute(2, 0, 3, 1, 4)
        looked = functional.scaled_dot_product_attention(query, key, value).transpose(1, 2).reshape(rows, tokens, width)
        x = x + self.dropout(self.join(looked))
        wide = functional.silu(self.wide(self.norm_forward(x)))
        return x + self.dropout(self.narrow(wide))  # type: ignore[no-any-return]


class FlowMlp(nn.Module):
    """Where a flow from noise to chunks leads, from a chunk on its way (B, H, A) and a time (B,) in [0, 1).

    Flow matching with straight paths (Lipman et al., "Flow matching for generative modeling", 2023), told by the mean of the
    chunks (B, H, A) that may lie at the end rather than by the velocity, which is what is left of the way over what is left of
    the time: a small network need not carry the noise through, and components that never move stay still.
    """

    def __init__(self, inputs: int, chunk: int, actions: int, width: int, depth: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.chunk, self.actions = chunk, actions
        self.body = Mlp(inputs + chunk * actions + 2 * TIME_FREQUENCIES, chunk * actions, width, depth, dropout)

    def forward(self, features: Tensor, way: Tensor, time: Tensor) -> Tensor:
        angles = time[:, None] * (math.pi * torch.arange(1, TIME_FREQUENCIES + 1))
        x = torch.cat([features, way.flatten(1), torch.sin(angles), torch.cos(angles)], dim=1)
        return self.body(x).view_as(way)  # type: ignore[no-any-return]

    def integrate(self, features: Tensor, start: Tensor, steps: int) -> Tensor:
        """The chunk that the flow leads to from `start` (B, H, A), by `steps` Euler steps."""
        way = start
        for step in range(steps):
            end = self(features, way, way.new_full((len(way),), step / steps))
            way = way + (end - way) / (steps - step)
        return way


def feature_groups(names: Sequence[str]) -> list[list[int]]:
    """Indices of the features that make a token: those whose names share what comes before the last slash.

    Names without a slash make a token of their own.
    """
    groups: dict[str, list[int]] = {}
    for index, name in enumerate(names):
        groups.setdefault(name.rpartition("/")[0], []).append(index)
    return list(groups.values())


@torch.no_grad()
def initialise(network: nn.Module, generator: Generator) -> None:
    """Draw every parameter: weights and biases uniform within 1/sqrt(inputs), norms one and zero, places normal of 0.02."""
    for module in network.modules():
        if isinstance(module, nn.Linear | nn.Conv2d):
            bound = 1.0 / math.sqrt(module.weight[0].numel())
            for parameter in module.parameters(recurse=False):
                parameter.uniform_(-bound, bound, generator=generator)
        elif isinstance(module, nn.LayerNorm):
            module.weight.fill_(1.0)
            module.bias.fill_(0.0)
        elif isinstance(module, ChunkTransformer):
            module.place.normal_(0.0, 0.02, generator=generator)
