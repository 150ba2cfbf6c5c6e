"""Rest: does the scene settle, and then stay as it is when nobody touches it?"""

from __future__ import annotations

from collections.abc import Mapping

import mujoco
import numpy as np

from embodiedsmith.forge.critics.base import Context
from embodiedsmith.spec import EditKind, Finding
from embodiedsmith.world import SettleError, World, WorldFault

WAIT = 5.0  # [s] for which nothing may happen
GLANCE = 1.0  # [s] after which a scene in which nothing has stirred is believed: what creeps, creeps from the start
STIRRED = 0.0003, 0.0005  # [m, fraction of its range] by which a thing or a joint has stirred then
DRIFT = 0.005  # [m] farthest an item may move meanwhile
SINK = 0.001  # [m] deepest contact between items
CREEP = 0.01  # [fraction of its range] a door or drawer may move by itself


class PhysicsCritic:
    """Lets the world settle and waits, with the robot holding still."""

    name = "physics"
    tier = 20
    on_draft = False
    codes: Mapping[str, tuple[EditKind, ...]] = {
        "physics.overlap": ("move", "turn", "change_support", "resize", "move_base", "remove"),
        "physics.moves": ("move", "turn", "swap_asset", "change_support", "remove"),
        "physics.turns": ("move", "turn", "swap_asset", "change_support", "remove"),
        "physics.shifted": ("move", "turn", "change_support", "swap_asset", "remove"),
        "physics.drifts": ("move", "turn", "swap_asset", "change_support", "remove"),
        "physics.sinks": ("move", "swap_asset", "resize", "change_support", "remove"),
        "physics.creeps": ("set_joint", "turn", "swap_asset"),
        "physics.fault": ("move", "swap_asset", "resize", "remove"),
    }

    def review(self, context: Context) -> list[Finding]:
        """What moves, sinks or opens by itself."""
        try:
            world = context.start()
        except SettleError as error:
            return list(error.findings)
        start = _Look(world)
        try:
            _wait(world, GLANCE)
            if start.stirred():
                _wait(world, WAIT - GLANCE)
        except WorldFault as fault:
            return [Finding(code="physics.fault", value=fault.value, limit=fault.limit, message=f"{fault.code}: {fault.what}")]
        findings = []
        for name, moved in start.moved().items():
            if moved > DRIFT:
                said = f"{name} moves by {100 * moved:.2f} cm in {WAIT:g} s by itself (at most {100 * DRIFT:g} cm)"
                findings.append(_finding("drifts", (name,), moved, DRIFT, said))
        for name, crept in start.crept().items():
            if crept > CREEP:
                said = f"{name} moves by {100 * crept:.1f} % of its range in {WAIT:g} s by itself (at most {100 * CREEP:g} %)"
                findings.append(_finding("creeps", (name,), crept, CREEP, said))
        return findings + _sunk(world)


class _Look:
    """Where everything was at one moment."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._places = {i.id: world.item_pose(i.id)[:3, 3] for i in world.scenario.scene.items if not i.fixed}
        self._openings = {name: world.joint(name)[1] for name in world.joint_qpos}

    def moved(self) -> dict[str, float]:
        """How far [m] each free item has moved since."""
        return {name: float(np.linalg.norm(self._world.item_pose(name)[:3, 3] - p)) for name, p in self._places.items()}

    def crept(self) -> dict[str, float]:
        """By which fraction of its range each joint has moved since."""
        return {name: abs(self._world.joint(name)[1] - opening) for name, opening in self._openings.items()}

    def stirred(self) -> bool:
        """Whether anything has moved at all."""
        far, wide = STIRRED
        return max(self.moved().values(), default=0.0) > far or max(self.crept().values(), default=0.0) > wide


def _wait(world: World, seconds: float) -> None:
    for _ in range(round(seconds / world.control_dt)):
        world.step(world.command)


def _finding(fault: str, subjects: tuple[str, ...], value: float, limit: float, message: str) -> Finding:
    unit = "" if fault == "creeps" else "m"
    return Finding(code=f"physics.{fault}", subjects=subjects, value=value, limit=limit, unit=unit, message=message)


def _sunk(world: World) -> list[Finding]:
    """Pairs of owners, of which one is an item, deeper in each other than `SINK`."""
    mujoco.mj_forward(world.model, world.data)
    return [
        _finding("sinks", (a, b), depth, SINK, f"{a} and {b} are {100 * depth:.2f} cm in each other (at most {100 * SINK:g} cm)")
        for (a, b), depth in world.overlaps(SINK).items()
    ]


CRITIC = PhysicsCritic()
