"""Turning a thing in the hand by predictive sampling: imagine many courses of the fingers, begin the best one, look again.

A course is a few knots of finger commands, joined by straight lines. Each look draws courses round the best of the last one,
rolls them out (`imagining`), and judges them by the whole orientation, the place in the hand and the speed of the thing: never by
the turn alone, which tips it over. What is aimed at runs a little ahead of where the thing is, so that it is turned step by step
(predictive sampling: Howell et al. 2022, "Predictive Sampling: Real-time Behaviour Synthesis with MuJoCo").
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import mujoco
import numpy as np

from embodiedsmith.motion.imagining import Imagined
from embodiedsmith.world import World
from embodiedsmith.world import transforms as tf


@dataclass(frozen=True, kw_only=True)
class Sampling:
    """Numbers of the search, for a block of 65 mm: with them 16 of 16 were turned by 90 degrees, in 2 to 12 s."""

    samples: int = 24
    steps: int = 12
    """Control steps looked ahead: 0.6 s."""
    knots: int = 3
    every: int = 2
    """Control steps between looks."""
    spread: float = 0.3
    """Standard deviation of the draws [rad]; each course takes it times one of `scales`."""
    scales: tuple[float, ...] = (0.3, 1.0, 2.0)
    busy: float = 0.5
    """Share of the fingers that a draw moves: all at once mostly jam, one by one they let go and take hold again."""
    ahead: float = 0.35
    """By how much the turn aimed at is ahead of the present one [rad]."""
    off: float = 6.0
    """Cost of the square of the sine of half the angle off."""
    place: float = 80.0
    """Cost of the square of the way from where it began [1/m2]."""
    edge: tuple[float, float] = (0.02, 1500.0)
    """Way from there [m] from which it is about to leave the fingers, and the cost of the square of what is beyond it [1/m2]."""
    lost: float = 20.0
    """Cost of every step for which it is `fallen` below its place."""
    fallen: float = 0.03
    """[m]"""
    slide: float = 0.02
    spin: float = 0.001
    """Costs of its speed [s2/m2] and its turn rate [s2]."""
    stray: float = 0.01
    """Cost of finger commands off the posture that things lie in [1/rad2]."""
    stuck: tuple[int, float] = (12, 0.05)
    """Looks after which the fingers begin anew where it has not turned by that angle [rad] meanwhile."""
    bolder: float = 1.4
    """Factor on the draws each time that happens, up to 2, until it turns again."""
    anew: int = 4
    """Looks for which they then go back to the posture that things lie in."""


class Reorienting:
    """A turn under way.

    Args:
        world: As it is now; `T_start` is where the item was when the turn is counted from, in the world.
        item: What lies in the hand.
        T_start: World pose (4, 4).
        angle: Turn about the vertical [rad], anticlockwise.
        rng: Draws the courses.
        sampling: Numbers of the search.
    """

    def __init__(
        self, world: World, item: str, T_start: tf.Float, angle: float, rng: np.random.Generator, sampling: Sampling | None = None
    ) -> None:
        self.world, self.item, self.angle, self.rng = world, item, angle, rng
        self.sampling = s = sampling or Sampling()
        self.imagined = Imagined(world, item)
        self._middle = np.mean(world.assets[item].extents, axis=0)
        self._start = tf.quaternion(T_start[:3, :3])
        body = int(world.model.site_bodyid[world.tcp_sites[0]])
        self._place = T_start[:3, 3] + T_start[:3, :3] @ self._middle - world.data.xpos[body]
        self._hand = world.hand_slices[0]
        cradle = world.robot.cradle
        assert cradle is not None
        self._lying = np.asarray(cradle.fingers)
        joints, tips = world.grippers[0].joints, world.grippers[0].fingertips
        self._fingers = np.array([[float(joint in tip.joints) for joint in joints] for tip in tips])
        self._at = np.linspace(1, s.steps, s.knots)
        now = np.arange(1, s.steps + 1)
        self._weights = np.stack([np.interp(now, self._at, row) for row in np.eye(s.knots)], axis=1)  # (steps, knots)
        self._knots = np.tile(self._lying, (s.knots, 1))
        self._course = self._weights @ self._knots
        self._taken = s.every
        self._turns: list[float] = []
        self._going_back = self._jams = 0

    def next(self) -> tf.Float:
        """Finger commands of the next control step, shape (fingers,)."""
        if self._taken >= self.sampling.every:
            self._look()
            self._taken = 0
        self._taken += 1
        command: tf.Float = self._course[self._taken - 1]
        return command

    def turned(self) -> float:
        """Turn about the vertical since the start [rad], in (-pi, pi]."""
        real, _, _, up = _times(self._now(), _conjugate(self._start))
        return math.remainder(2.0 * math.atan2(up, real), 2.0 * math.pi)

    def _now(self) -> tf.Float:
        at = self.world.items[self.item].qpos
        q: tf.Float = self.world.data.qpos[at + 3 : at + 7]
        return q

    def _look(self) -> None:
        s, present = self.sampling, self.world.command[self._hand]
        self._shift()
        self._notice()
        if self._going_back:
            self._going_back -= 1
            self._knots = np.tile(self._lying, (s.knots, 1))
            way = np.minimum(np.arange(1, s.every + 1) / (s.every * (self._going_back + 1)), 1.0)[:, None]
            self._course = present + way * (self._lying - present)
            return
        shape = s.samples, s.knots, len(present)
        scale = s.spread * min(s.bolder**self._jams, 2.0) * self.rng.choice(s.scales, size=(s.samples, 1, 1))
        busy = self.rng.random((s.samples, 1, len(self._fingers))) < s.busy
        knots = self._knots + scale * (busy @ self._fingers) * self.rng.standard_normal(shape)
        knots[0], knots[1], knots[2] = self._knots, self._lying, present
        knots = np.clip(knots, self.imagined.lower, self.imagined.upper)
        courses = np.einsum("hk,nka->nha", self._weights, knots)
        commands = np.concatenate([np.broadcast_to(present, (s.samples, 1, len(present))), courses], axis=1)
        self.imagined.look()
        costs = self._costs(*self.imagined.run(commands)) + s.stray * np.mean((knots - self._lying) ** 2, axis=(1, 2))
        best = int(np.argmin(costs))
        self._knots, self._course = knots[best], courses[best]

    def _notice(self) -> None:
        """Let the fingers begin anew where they have come to nothing for a while: jammed, every small change makes it worse."""
        looks, least = self.sampling.stuck
        self._turns.append(self.turned())
        if len(self._turns) > looks and abs(self._turns[-1] - self._turns[-1 - looks]) < least:
            self._turns.clear()
            self._going_back = self.sampling.anew
            self._jams += 1
        elif len(self._turns) > looks and abs(self._turns[-1] - self._turns[-1 - looks]) > 4 * least:
            self._jams = 0

    def _shift(self) -> None:
        """The course of the last look, from now on."""
        later = np.minimum(self._at + self.sampling.every, self.sampling.steps)
        self._knots = np.stack([np.interp(later, self._at, column) for column in self._knots.T], axis=1)

    def _costs(self, position: tf.Float, quat: tf.Float, velocity: tf.Float) -> tf.Float:
        s = self.sampling
        aim = self.turned() + math.copysign(s.ahead, self.angle)
        aim = min(aim, self.angle) if self.angle > 0 else max(aim, self.angle)
        wanted = _times(np.array([math.cos(aim / 2), 0.0, 0.0, math.sin(aim / 2)]), self._start)
        middle = position + _turned(quat, self._middle)
        off = s.off * (1.0 - (quat @ wanted) ** 2)
        way = np.linalg.norm(middle - self._place, axis=-1)
        away = s.place * way**2 + s.edge[1] * np.maximum(way - s.edge[0], 0.0) ** 2
        lost = s.lost * (middle[..., 2] < self._place[2] - s.fallen)
        speed = s.slide * np.sum(velocity[..., :3] ** 2, axis=-1) + s.spin * np.sum(velocity[..., 3:] ** 2, axis=-1)
        costs: tf.Float = (off + away + lost + speed).mean(axis=1) + off[:, -1] + away[:, -1]
        return costs

    def close(self) -> None:
        """The turn is over."""
        self.imagined.close()


def _times(a: tf.Float, b: tf.Float) -> tf.Float:
    """Product of two unit quaternions."""
    out = np.empty(4)
    mujoco.mju_mulQuat(out, a, b)
    return out


def _conjugate(q: tf.Float) -> tf.Float:
    turned: tf.Float = q * np.array([1.0, -1.0, -1.0, -1.0])
    return turned


def _turned(quat: tf.Float, vector: tf.Float) -> tf.Float:
    """A vector (3,) turned by unit quaternions (..., 4)."""
    axis, real = quat[..., 1:], quat[..., :1]
    turned: tf.Float = vector + 2.0 * np.cross(axis, np.cross(axis, vector) + real * vector)
    return turned
