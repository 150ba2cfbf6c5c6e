"""How far doors and drawers are open."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from embodiedsmith.spec import split_reference
from embodiedsmith.world import World


@dataclass(frozen=True)
class Travel:
    """What kind of joint it is and how far it goes."""

    kind: Literal["slide", "hinge"]
    range: float
    """From closed to fully open [m or rad], positive."""
    closed: float
    """Joint position when closed [m or rad]."""
    sign: float
    """1 when the joint's position grows as it opens, else -1."""

    def at(self, opening: float) -> float:
        """The joint's position [m or rad] when it is open by so much [m or rad]."""
        return self.closed + self.sign * opening


def openings(world: World, reference: str) -> list[tuple[str, Travel]]:
    """The joint named by `item.part`, or every joint of `item`: its reference and its travel."""
    item, part = split_reference(reference)
    return [
        (
            f"{item}.{name}",
            Travel(info.kind, abs(info.open - info.closed), info.closed, 1.0 if info.open >= info.closed else -1.0),
        )
        for name, info in world.assets[item].joints.items()
        if part in (None, name)
    ]


def bind_joints(world: World, reference: str) -> list[tuple[Callable[[], float], Travel]]:
    """For the joint named by `item.part`, or every joint of `item`: its opening [m or rad, 0 when closed], and its travel."""
    return [(_opening(world, world.joint_qpos[name], info), info) for name, info in openings(world, reference)]


def _opening(world: World, address: int, info: Travel) -> Callable[[], float]:
    qpos, closed, sign = world.data.qpos, info.closed, info.sign
    return lambda: sign * (float(qpos[address]) - closed)
