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


def bind_joints(world: World, reference: str) -> list[tuple[Callable[[], float], Travel]]:
    """For the joint named by `item.part`, or every joint of `item`: its opening [m or rad, 0 when closed], and its travel."""
    item, part = split_reference(reference)
    infos = [info for name, info in world.assets[item].joints.items() if part in (None, name)]
    return [
        (
            _opening(world, world.joint_qpos[f"{item}.{info.name}"], info.closed, 1.0 if info.open >= info.closed else -1.0),
            Travel(info.kind, abs(info.open - info.closed)),
        )
        for info in infos
    ]


def _opening(world: World, address: int, closed: float, sign: float) -> Callable[[], float]:
    qpos = world.data.qpos
    return lambda: sign * (float(qpos[address]) - closed)
