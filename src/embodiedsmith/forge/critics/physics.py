"""Rest: does the scene settle, and then stay as it is when nobody touches it?"""

from __future__ import annotations

from collections.abc import Mapping

import mujoco
import numpy as np

from embodiedsmith.forge.critics.base import Context
from embodiedsmith.spec import EditKind, Finding
from embodiedsmith.world import SettleError, World, WorldFault

WAIT = 2.0  # [s] for which nothing may happen
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
        free = [item.id for item in context.scenario.scene.items if not item.fixed]
        places = np.array([world.item_pose(name)[:3, 3] for name in free]).reshape(-1, 3)
        openings = {name: world.joint(name)[1] for name in world.joint_qpos}
        try:
            for _ in range(round(WAIT / world.control_dt)):
                world.step(world.command)
        except WorldFault as fault:
            return [Finding(code="physics.fault", value=fault.value, limit=fault.limit, message=f"{fault.code}: {fault.what}")]
        findings = []
        for name, before in zip(free, places, strict=True):
            moved = float(np.linalg.norm(world.item_pose(name)[:3, 3] - before))
            if moved > DRIFT:
                said = f"{name} moves by {100 * moved:.2f} cm in {WAIT:g} s by itself (at most {100 * DRIFT:g} cm)"
                findings.append(_finding("drifts", (name,), moved, DRIFT, said))
        for name, before_opening in openings.items():
            crept = abs(world.joint(name)[1] - before_opening)
            if crept > CREEP:
                said = f"{name} moves by {100 * crept:.1f} % of its range in {WAIT:g} s by itself (at most {100 * CREEP:g} %)"
                findings.append(_finding("creeps", (name,), crept, CREEP, said))
        return findings + _sunk(world)


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
