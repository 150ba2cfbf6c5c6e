"""What lies in a robot's hand: carried by it without being held between its fingers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from embodiedsmith.world import World


def carried_by_robot(world: World, item: str) -> Callable[[], bool]:
    """What tells whether an item touches the robot and nothing else."""
    mine = world.owners.index(item)
    robot = np.array(world.robot_owners)

    def carried() -> bool:
        owners = world.solid_owner[world.solids()[world.data.contact.dist < 0]]
        pairs = owners[(owners == mine).any(axis=1)]
        others = pairs[pairs != mine]
        return len(others) > 0 and bool(np.isin(others, robot).all())

    return carried
