"""Small real worlds for the tests of tasks, and ways to put things where a test wants them."""

from functools import cache

import mujoco
import numpy as np

from embodiedsmith.spec import (
    AssetSpec,
    CameraSpec,
    EmbodimentSpec,
    Goal,
    Item,
    Pose,
    Predicate,
    Randomization,
    Scenario,
    SceneSpec,
    TaskSpec,
)
from embodiedsmith.tasks import Bound, Probe, predicate
from embodiedsmith.world import World

TABLE = 0.74  # [m] height of the default table
STILL = Randomization(position=0.0, yaw=0.0, robot_joints=0.0, light=(1.0, 1.0))
BLOCK_GRIP = 1.0 - (0.045 - 4e-4) / 0.08  # closing of the Panda's gripper at which it touches a default block
DEEP = 1e-4  # [m] how deep a thing is put into what it stands on, so that the engine sees a contact


def p(name: str, *args: str, **params: float) -> Predicate:
    """A predicate."""
    return Predicate(name=name, args=args, params=params)


def kitchen(goal: Goal, *, horizon: float = 60.0, hold_steps: int = 10, randomization: Randomization | None = None) -> Scenario:
    """A table before a Panda with a drawer unit, a basket and small things; out of reach a shelf, a microwave and a can."""

    def item(
        name: str, category: str, pose: Pose, *, parent: str | None = "table", fixed: bool = False, color: str | None = None
    ) -> Item:
        return Item(id=name, asset=AssetSpec(category=category, color=color), parent=parent, pose=pose, fixed=fixed)

    items = (
        item("table", "table", Pose.planar(0.6, 0.0), parent=None, fixed=True),
        item("shelf", "shelf", Pose.planar(0.6, 2.0), parent=None, fixed=True),
        item("unit", "drawer_unit", Pose.planar(0.15, 0.38, 0.0, -1.5708), fixed=True),
        item("microwave", "microwave", Pose.planar(0.6, -2.0), parent=None, fixed=True),
        item("basket", "basket", Pose.planar(0.1, 0.0)),
        item("mug", "mug", Pose.planar(-0.15, 0.0), color="red"),
        item("block", "block", Pose.planar(-0.15, -0.2), color="red"),
        item("block2", "block", Pose.planar(-0.15, -0.35), color="blue"),
        item("apple", "apple", Pose.planar(-0.15, 0.2)),
        item("can", "can", Pose.planar(0.0, 1.5), parent=None),
    )
    cameras = (CameraSpec(name="front", position=(1.9, 0.0, 1.7), target=(0.5, 0.0, 0.8)),)
    return Scenario(
        scene=SceneSpec(items=items, cameras=cameras),
        task=TaskSpec(goal=goal, horizon=horizon, hold_steps=hold_steps),
        embodiment=EmbodimentSpec(name="panda", base=Pose.planar(0.0, 0.0, TABLE)),
        randomization=randomization or Randomization(),
    )


class Bench:
    """A world in which things are put at known poses and looked at, without letting time pass unless asked."""

    def __init__(self) -> None:
        self.world = World(kitchen(p("on", "block", "table"), randomization=STILL))
        self.probe = Probe(self.world)
        self.world.reset(np.random.default_rng(0))
        self._start = self.world.save()

    def reset(self) -> None:
        """Everything as laid out and settled."""
        self.world.restore(self._start)

    def put(
        self, item: str, position: tuple[float, float, float], quat: tuple[float, float, float, float] = (1.0, 0.0, 0.0, 0.0)
    ) -> None:
        """Put an item's root at a world pose."""
        at = self.world.items[item].qpos
        self.world.data.qpos[at : at + 3] = position
        self.world.data.qpos[at + 3 : at + 7] = quat
        mujoco.mj_forward(self.world.model, self.world.data)

    def joint(self, reference: str, position: float) -> None:
        """Put a joint at a position [m or rad]."""
        self.world.data.qpos[self.world.joint_qpos[reference]] = position
        mujoco.mj_forward(self.world.model, self.world.data)

    def bind(self, name: str, *args: str, **params: float) -> Bound:
        """A predicate bound to this world."""
        kind = predicate(name)
        assert kind.faults(self.world.assets, args, params) == []
        return kind.bind(self.probe, args, kind.resolve(params))

    def margin(self, name: str, *args: str, **params: float) -> float:
        """The margin of a predicate now."""
        self.probe.refresh()
        return self.bind(name, *args, **params).margin()


@cache
def bench() -> Bench:
    """The bench all tests share; each test begins with `reset` or puts what it looks at where it wants it."""
    return Bench()
