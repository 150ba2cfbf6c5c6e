"""What differs from attempt to attempt of one scenario: masses, friction, lights, cameras, and noise.

Noise is a function of the attempt and the time, not of how often it was asked for: a world restored in the middle of an
episode goes on with the same bits, and observing twice gives the same reading.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import mujoco
import numpy as np

from embodiedsmith.spec import Randomization
from embodiedsmith.world import transforms as tf

Source = Literal["torque", "observation"]


@dataclass(frozen=True)
class Parts:
    """What belongs to one free item in the model."""

    bodies: np.ndarray
    geoms: np.ndarray


@dataclass(frozen=True)
class Told:
    """Where in an observation the poses and places are: index of the first number of each."""

    tools: np.ndarray
    """Poses of the tools: position, then quaternion."""
    places: np.ndarray
    """Positions of everything else, in the world."""
    turns: np.ndarray
    """Unit quaternions."""
    known: np.ndarray
    """Single numbers that have no noise: joint positions, a base's included, and the tools' poses."""


class Variation:
    """Draws an attempt's variation of a model's constants, always from the values it was compiled with.

    Args:
        model: The compiled model; changed in place by `draw`.
        free: Bodies and geoms of every free item, in the order of the draws.
        random: How much varies.
    """

    def __init__(self, model: mujoco.MjModel, free: dict[str, Parts], random: Randomization) -> None:
        self._model = model
        self._free = free
        self._random = random
        self._mass = model.body_mass.copy()
        self._inertia = model.body_inertia.copy()
        self._friction = model.geom_friction.copy()
        self._light = model.light_diffuse.copy()
        self._cameras = model.cam_pos.copy()
        self._keys: dict[Source, int] = {}

    def draw(self, rng: np.random.Generator, data: mujoco.MjData) -> None:
        """Draw everything anew; `data` is of the same model and is overwritten when masses vary."""
        model, random = self._model, self._random
        model.body_mass[:] = self._mass
        model.body_inertia[:] = self._inertia
        model.geom_friction[:] = self._friction
        for parts in self._free.values():
            mass, friction = rng.uniform(*random.mass), rng.uniform(*random.friction)
            model.body_mass[parts.bodies] *= mass
            model.body_inertia[parts.bodies] *= mass
            model.geom_friction[parts.geoms, 0] *= friction
        model.light_diffuse[:] = self._light * rng.uniform(*random.light)
        model.cam_pos[:] = self._cameras
        shift = rng.uniform(-1, 1, model.cam_pos.shape) * random.camera
        still = model.cam_bodyid == 0
        model.cam_pos[still] += shift[still]
        if random.mass != (1.0, 1.0):
            mujoco.mj_setConst(model, data)  # derived inertias; without it randomised worlds blow up
        levels: dict[Source, float] = {"torque": random.torque_noise, "observation": random.observation_noise}
        self._keys = {source: int(rng.integers(2**63)) for source, level in levels.items() if level > 0}

    def noise(self, source: Source, control_step: int) -> np.random.Generator | None:
        """The draws of one noise at one control step of the attempt; None when there is no such noise."""
        if source not in self._keys:
            return None
        # counters 2^64 apart: no two steps share a number
        return np.random.Generator(np.random.Philox(key=self._keys[source], counter=control_step << 64))

    def blur(self, observed: tf.Float, told: Told, control_step: int) -> None:
        """Add observation noise to `observed` (n,) in place, in proportion to each value.

        A place is off in proportion to its distance from the nearest tool, not from the world's origin, which is nowhere in
        particular: the nearer a hand is to a thing, the better it knows where that is. Where its joints, its tools and its base
        are a robot knows: encoders are exact to what matters here.

        Args:
            observed: The true values.
            told: Where in it poses and places are.
            control_step: Number of the control step observed.
        """
        draws = self.noise("observation", control_step)
        if draws is None:
            return
        noise = self._random.observation_noise * draws.standard_normal(len(observed))
        true = observed.copy()
        observed *= 1.0 + noise
        tools = true[told.tools[:, None] + np.arange(3)]  # (t, 3)
        at = told.places[:, None] + np.arange(3)
        offsets = true[at][:, None] - tools  # (k, t, 3)
        nearest = np.linalg.norm(offsets, axis=2).min(axis=1)  # (k,)
        observed[at] = true[at] + noise[at] * nearest[:, None]
        turns = told.turns[:, None] + np.arange(4)
        observed[turns] /= np.linalg.norm(observed[turns], axis=1, keepdims=True)
        observed[told.known] = true[told.known]
