"""Upright boxes: what the layout solver reasons with.

A prism is a rectangle on the floor plan, turned by a yaw, between two heights. Everything in a scene becomes prisms: what
is solid, what a door sweeps, where a hand must get to a handle, what must stay free for a thing to be put down.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

Float = NDArray[np.float64]

TOUCHING = 0.002  # [m] overlap in height that still counts as standing on, not as sharing space


class Kind(IntEnum):
    """What a prism stands for; decides which others it may share space with."""

    FREE = 0
    """A free object."""
    FIXED = 1
    """Furniture."""
    SWING = 2
    """Swept by a door or drawer over its whole range."""
    HAND = 3
    """Where the hand is in front of a handle while it moves."""
    RESERVED = 4
    """Kept free for something that the task puts down there."""
    STAND = 5
    """Floor on which a mobile robot stands to work."""
    MOUNT = 6
    """The robot's mount or vehicle, and its shoulder."""
    ARM = 7
    """The robot's arm as it is held at the start."""
    IDLE = 8
    """Swept by a door or drawer that the task leaves alone."""


@dataclass(frozen=True, kw_only=True)
class Prism:
    """An upright box."""

    kind: Kind
    owner: str
    """Item id (or `robot`) it belongs to."""
    center: tuple[float, float]
    """World x, y [m]."""
    half: tuple[float, float]
    """Half extents along its own x and y [m]."""
    yaw: float
    """Turn of its own x from world x [rad]."""
    low: float
    """Height of its bottom [m]."""
    high: float
    """Height of its top [m]."""


def prism(kind: Kind, owner: str, points: Float, yaw: float) -> Prism:
    """The smallest prism at a given yaw round world points, shape (n, 3)."""
    c, s = math.cos(yaw), math.sin(yaw)
    along = points[:, :2] @ np.array([[c, -s], [s, c]])  # coordinates in the turned frame
    low, high = along.min(axis=0), along.max(axis=0)
    middle = (low + high) / 2
    return Prism(
        kind=kind, owner=owner, center=(float(c * middle[0] - s * middle[1]), float(s * middle[0] + c * middle[1])),
        half=(float(high[0] - low[0]) / 2, float(high[1] - low[1]) / 2), yaw=yaw,
        low=float(points[:, 2].min()), high=float(points[:, 2].max()),
    )  # fmt: skip


def grown(half: tuple[float, float], turn: float) -> tuple[float, float]:
    """Half extents of the rectangle that holds a rectangle of half extents `half` at every turn up to `turn` [rad]."""
    x, y = half
    radius = math.hypot(x, y)
    return _largest(x, y, radius, turn), _largest(y, x, radius, turn)


def _largest(along: float, across: float, radius: float, turn: float) -> float:
    """Greatest of along cos(t) + across sin(t) for t in [0, turn]."""
    peak = math.atan2(across, along)
    return radius if turn >= peak else along * math.cos(turn) + across * math.sin(turn)


@dataclass
class Plan:
    """Prisms placed so far, as arrays, so that one candidate is measured against all at once."""

    prisms: list[Prism] = field(default_factory=list)
    _arrays: tuple[Float, ...] | None = None

    def add(self, prisms: list[Prism]) -> None:
        """Place prisms."""
        if prisms:
            self.prisms += prisms
            self._arrays = None

    def separations(self, candidates: list[Prism]) -> Float:
        """Gaps [m] between candidates and every placed prism, shape (len(candidates), placed).

        The largest separation over the axes of both rectangles, so never more than the true distance; negative: overlap;
        infinite: at other heights.
        """
        if not self.prisms or not candidates:
            return np.zeros((len(candidates), len(self.prisms)))
        if self._arrays is None:
            self._arrays = _arrays(self.prisms)
        return separations(_arrays(candidates), self._arrays)


def pairwise(first: list[Prism], second: list[Prism]) -> Float:
    """Gaps [m] between every prism of two lists, shape (len(first), len(second)); see `Plan.separations`."""
    return Plan(prisms=second).separations(first)


def _arrays(prisms: list[Prism]) -> tuple[Float, ...]:
    center = np.array([p.center for p in prisms])
    half = np.array([p.half for p in prisms])
    yaw = np.array([p.yaw for p in prisms])
    cos, sin = np.cos(yaw), np.sin(yaw)
    axes = np.stack([np.stack([cos, sin], -1), np.stack([-sin, cos], -1)], 1)  # (n, 2 axes, 2)
    height = np.array([(p.low, p.high) for p in prisms])
    return center, half, axes, height


def separations(a: tuple[Float, ...], b: tuple[Float, ...]) -> Float:
    """Separating-axis gaps between two sets of rectangles given as arrays, shape (na, nb)."""
    (ca, ha, ua, za), (cb, hb, ub, zb) = a, b
    offset = cb[None] - ca[:, None]  # (na, nb, 2)
    cosine = np.abs(np.einsum("aid,bjd->abij", ua, ub))  # |axis i of a . axis j of b|
    on_a = np.abs(np.einsum("abd,aid->abi", offset, ua)) - ha[:, None] - np.einsum("abij,bj->abi", cosine, hb)
    on_b = np.abs(np.einsum("abd,bjd->abj", offset, ub)) - hb[None] - np.einsum("abij,ai->abj", cosine, ha)
    gap: Float = np.maximum(on_a.max(-1), on_b.max(-1))
    shared = np.minimum(za[:, None, 1], zb[None, :, 1]) - np.maximum(za[:, None, 0], zb[None, :, 0])
    return np.where(shared > TOUCHING, gap, np.inf)
