"""Where batches come from: the protocol, and episodes in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from embodiedsmith.learn.normalization import Statistics

Float32 = NDArray[np.float32]

_MOTIONS = frozenset({"dx", "dy", "dz", "rx", "ry", "rz"})


@dataclass(frozen=True)
class Batch:
    """Windows drawn at random: what was seen at a step, and the actions from that step on, in SI units.

    Attributes:
        features: (B, F) float32.
        actions: (B, H, A) float32.
        valid: (B, H), false where the episode had ended before.
        whole: (B,), whether the robot stood still from there on; else what came then is not to be imitated.
        images: (B, cameras, 3, height, width) uint8, where cameras were looked through.
    """

    features: Tensor
    actions: Tensor
    valid: Tensor
    whole: Tensor
    images: Tensor | None = None


class Source(Protocol):
    """What a policy is trained on."""

    def batch(self, rng: np.random.Generator, size: int) -> Batch:
        """`size` windows drawn by `rng`: equal generators, equal batches."""
        ...

    def statistics(self) -> Statistics:
        """Moments of all that may be drawn."""
        ...


class Encoded(Protocol):
    """An episode as rows: features (T, F) and actions (T, A), float32.

    It may have `images` (T, cameras, 3, height, width), uint8, too, and say with `whole` that it was cut off.
    """

    @property
    def features(self) -> Float32: ...

    @property
    def actions(self) -> Float32: ...


class EpisodesSource:
    """Episodes in memory; every step of every episode is drawn as often as any other.

    A window that goes beyond the end of its episode is filled with standing still (see `at_rest`) and marked as not valid.
    """

    def __init__(self, episodes: Sequence[Encoded], action_names: Sequence[str], chunk: int) -> None:
        """Windows of `chunk` actions of the episodes, which are copied.

        Raises:
            ValueError: There are no steps, or shapes disagree.
        """
        if not sum(len(episode.features) for episode in episodes):
            raise ValueError("there is no step to learn from: give episodes with at least one step")
        for number, episode in enumerate(episodes):
            if len(episode.features) != len(episode.actions) or episode.actions.shape[1] != len(action_names):
                shapes = f"features {episode.features.shape} and actions {episode.actions.shape}"
                raise ValueError(f"episode {number} has {shapes}; {len(action_names)} action components are named")
        episodes = [episode for episode in episodes if len(episode.features)]
        shown = [images for episode in episodes if (images := getattr(episode, "images", None)) is not None]
        if shown and [len(images) for images in shown] != [len(episode.features) for episode in episodes]:
            raise ValueError("some steps have images and some have none: give images of all, or of none")
        self._images = np.concatenate(shown) if shown else None
        lengths = np.array([len(episode.features) for episode in episodes])
        self._features = np.concatenate([episode.features for episode in episodes], dtype=np.float32)
        padded = [part for episode in episodes for part in (episode.actions, rest(episode.actions[-1], action_names, chunk - 1))]
        self._actions = np.concatenate(padded, dtype=np.float32)
        owner = np.repeat(np.arange(len(lengths)), lengths)  # episode of each step
        self._starts = np.arange(len(owner)) + owner * (chunk - 1)  # rows of _actions
        self._left = np.cumsum(lengths)[owner] - np.arange(len(owner))  # steps to the end of the episode
        self._whole = np.array([getattr(episode, "whole", True) for episode in episodes], dtype=bool)[owner]
        self._window = np.arange(chunk)
        self._statistics = Statistics.of(self._features, np.concatenate([episode.actions for episode in episodes]))

    def __len__(self) -> int:
        """Number of steps."""
        return len(self._starts)

    def batch(self, rng: np.random.Generator, size: int) -> Batch:
        """`size` windows, drawn uniformly and with repetition."""
        rows = rng.integers(len(self._starts), size=size)
        actions = self._actions[self._starts[rows, None] + self._window]
        valid = self._window < self._left[rows, None]
        images = None if self._images is None else torch.from_numpy(self._images[rows])
        seen, whole = torch.from_numpy(self._features[rows]), torch.from_numpy(self._whole[rows])
        return Batch(seen, torch.from_numpy(actions), torch.from_numpy(valid), whole, images)

    def statistics(self) -> Statistics:
        """Moments of the steps; padding does not count."""
        return self._statistics


def at_rest(name: str) -> bool:
    """Whether standing still is a zero of this action component: of motions and velocities, not of poses, joints and closings."""
    return name.startswith("base_v") or name == "base_wz" or (name.startswith("tcp") and name.rpartition("_")[2] in _MOTIONS)


def rest(last: Float32, action_names: Sequence[str], steps: int) -> Float32:
    """Standing still for `steps` steps after the action `last` (A,): (steps, A)."""
    still = np.where([at_rest(name) for name in action_names], np.float32(0.0), last)
    return np.repeat(still[None], steps, axis=0).astype(np.float32)
