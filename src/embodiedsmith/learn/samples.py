"""Episodes as a policy learns from them: what it would have seen, and what was done then."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from embodiedsmith.embodiments.actions import ActionSpace
from embodiedsmith.learn.observation import Encoder
from embodiedsmith.tasks.recording import Float, Recording

STILL_COMMAND = 1e-3
"""[rad, m] Least change of a command in a control step that is one."""
STILL_HAND = 0.03
"""Least change of a hand's closing, 0 to 1, in a control step that is one."""
STILL_GOAL = 1e-4
"""Least change of a predicate's margin, in its unit, in a control step that is one."""


@dataclass(frozen=True)
class EncodedEpisode:
    """T moments of one episode."""

    features: NDArray[np.float32]
    """Shape (T, F)."""
    actions: NDArray[np.float32]
    """What was done at each, in SI units, shape (T, A)."""
    whole: bool = True
    """Whether the episode ended with these; else it went on with what is not to be imitated."""


def default_space(vehicle: bool) -> str:
    """Name of the action space for a robot: how its tools move, and the base's velocity if it drives."""
    return "ee_delta_base_velocity" if vehicle else "ee_delta"


def encode_episode(encoder: Encoder, space: ActionSpace, recording: Recording) -> EncodedEpisode:
    """An episode of the encoder's scenario in features and actions of `space`."""
    actions = space.encode(recording.actions, encoder.commands(recording)[0])
    return EncodedEpisode(encoder.encode_recording(recording), actions.astype(np.float32))


def encode_stretches(
    encoder: Encoder, space: ActionSpace, recording: Recording, without: Collection[str]
) -> list[EncodedEpisode]:
    """The parts of an episode between the actions whose labels are in `without`, in order; none where all are.

    Moments at which the robot only waits are left out (see `idle`): a policy without a memory learns from them to wait for ever.
    """
    whole = encode_episode(encoder, space, recording)
    taught = np.array([label not in without for label in recording.labels], dtype=bool)
    busy = ~idle(recording, encoder.commands(recording))
    bounds = np.flatnonzero(np.diff(taught, prepend=False, append=False)).reshape(-1, 2).tolist()
    return [
        EncodedEpisode(
            whole.features[since:until][busy[since:until]], whole.actions[since:until][busy[since:until]],
            whole=until == recording.length,
        )
        for since, until in bounds
        if busy[since:until].any()
    ]  # fmt: skip


def idle(recording: Recording, commands: Float) -> NDArray[np.bool_]:
    """Actions, shape (T,), that ask for nothing new while no hand opens or closes and nothing that the goal measures changes.

    Args:
        recording: An episode.
        commands: The canonical action in force at each of its states, shape (T+1, na).
    """
    asked = np.abs(recording.actions - commands[:-1]).max(axis=1) < STILL_COMMAND
    hands = np.abs(np.diff(recording.observations["gripper"], axis=0)).max(axis=1, initial=0.0) < STILL_HAND  # (T,)
    goal = np.abs(np.diff(recording.predicate_margins, axis=0)).max(axis=1, initial=0.0) < STILL_GOAL
    return asked & hands & np.r_[True, hands[:-1]] & goal  # type: ignore[no-any-return]
