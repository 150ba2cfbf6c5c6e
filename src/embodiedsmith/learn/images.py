"""What cameras show, as a few numbers: a small convolutional encoder, and frames in the layout it takes."""

from __future__ import annotations

import itertools
from collections.abc import Mapping

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import Field, field_validator
from torch import Tensor, nn
from torch.nn import functional

from embodiedsmith.episodes.pixels import Painter
from embodiedsmith.spec import Scenario
from embodiedsmith.spec.base import Noun
from embodiedsmith.tasks import Recording

Pixels = NDArray[np.uint8]

_CHANNELS = (16, 32, 32)
"""Channels after each convolution; each halves height and width."""
_SHARPNESS = 4.0
"""Times the maps, which are of order one, before points are sought: a softmax of small numbers has its point in the middle."""
LEAST = 32
"""Least height and width [pixels]: the map in which points are sought is an eighth of it."""


class ImageConfig(Noun):
    """Which cameras a policy looks through."""

    cameras: tuple[str, ...] = Field(min_length=1)
    """Names of the scenario's cameras, in order."""
    height: int = Field(default=64, ge=LEAST)
    width: int = Field(default=64, ge=LEAST)
    code: int = Field(default=32, ge=1)
    """Numbers that tell what one camera shows."""

    @field_validator("cameras")
    @classmethod
    def _once_each(cls, cameras: tuple[str, ...]) -> tuple[str, ...]:
        if len(set(cameras)) != len(cameras):
            raise ValueError(f"a camera is named twice in {list(cameras)}")
        return cameras

    @property
    def size(self) -> int:
        """Numbers of all cameras together."""
        return len(self.cameras) * self.code

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """Shape of one row of images: (cameras, 3, height, width)."""
        return (len(self.cameras), 3, self.height, self.width)


class Eyes(nn.Module):
    """Convolutions and a spatial softmax: where in the image each channel is brightest, then a linear layer for each camera.

    Points rather than a pooled map: Levine et al., "End-to-end training of deep visuomotor policies", 2016. The convolutions are
    shared by the cameras; each map is brought to mean 0 and deviation 1 over its image, so that light does not matter.
    """

    def __init__(self, config: ImageConfig) -> None:
        super().__init__()
        self._config = config
        channels = (3, *_CHANNELS)
        self.convolutions = nn.ModuleList(
            nn.Conv2d(a, b, kernel_size=5 if a == 3 else 3, stride=2, padding=2 if a == 3 else 1)
            for a, b in itertools.pairwise(channels)
        )
        self.codes = nn.ModuleList(nn.Linear(2 * channels[-1], config.code) for _ in config.cameras)

    def forward(self, images: Tensor) -> Tensor:
        """Codes (B, cameras * code) of images (B, cameras, 3, height, width), uint8."""
        rows, cameras = images.shape[:2]
        x = images.flatten(0, 1).to(torch.float32) / 255.0 - 0.5
        for layer in self.convolutions:
            x = functional.silu(functional.instance_norm(layer(x)))
        points = spatial_softmax(_SHARPNESS * x).view(rows, cameras, -1)
        return torch.cat([code(points[:, k]) for k, code in enumerate(self.codes)], dim=1)


def spatial_softmax(maps: Tensor) -> Tensor:
    """Where each channel of maps (B, C, h, w) is bright: x and y of each, within [-1, 1], one after the other (B, 2 C)."""
    rows, channels, height, width = maps.shape
    weights = maps.flatten(2).softmax(dim=2)
    y, x = torch.meshgrid(torch.linspace(-1, 1, height), torch.linspace(-1, 1, width), indexing="ij")
    return (weights @ torch.stack([x.reshape(-1), y.reshape(-1)], dim=1)).view(rows, 2 * channels)


def stack(frames: Mapping[str, Pixels], config: ImageConfig) -> Pixels:
    """Frames by camera, each (T, height, width, 3), in the layout of the encoder: (T, cameras, 3, height, width).

    Raises:
        ValueError: A camera is missing, or its frames have another size.
    """
    wanted = (config.height, config.width, 3)
    faults = [f"{camera}: no frames" for camera in config.cameras if camera not in frames]
    faults += [
        f"{camera}: frames of {frames[camera].shape[1:]} where {wanted} is meant"
        for camera in config.cameras
        if camera in frames and frames[camera].shape[1:] != wanted
    ]
    if faults:
        raise ValueError("; ".join(faults))
    return np.stack([frames[camera].transpose(0, 3, 1, 2) for camera in config.cameras], axis=1)


def seen(painter: Painter, recording: Recording, scenario: Scenario, config: ImageConfig) -> Pixels:
    """What the cameras showed before each action of a recording: (T, cameras, 3, height, width)."""
    return stack(painter.frames(recording, scenario, config.cameras, (config.width, config.height)), config)
