"""Episodes as a policy learns from them: what it would have seen, and what was done then."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from embodiedsmith.embodiments.actions import ActionSpace
from embodiedsmith.learn.observation import Encoder
from embodiedsmith.tasks.recording import Recording


@dataclass(frozen=True)
class EncodedEpisode:
    """T moments of one episode."""

    features: NDArray[np.float32]
    """Shape (T, F)."""
    actions: NDArray[np.float32]
    """What was done at each, in SI units, shape (T, A)."""


def default_space(vehicle: bool) -> str:
    """Name of the action space for a robot: how its tools move, and the base's velocity if it drives."""
    return "ee_delta_base_velocity" if vehicle else "ee_delta"


def encode_episode(encoder: Encoder, space: ActionSpace, recording: Recording, *, since: int = 0) -> EncodedEpisode:
    """An episode of the encoder's scenario in features and actions of `space`, from its control step `since` on."""
    commands = encoder.commands(recording)
    actions = space.encode(recording.actions[since:], commands[since])
    return EncodedEpisode(encoder.encode_recording(recording)[since:], actions.astype(np.float32))
