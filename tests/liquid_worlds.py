"""Small worlds with water for the tests of liquids."""

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
from embodiedsmith.spec.scene import ParamValue
from embodiedsmith.world import World
from embodiedsmith.world.liquid.grid import Float
from embodiedsmith.world.liquid.liquids import Liquids

STILL = Randomization(position=0.0, yaw=0.0, robot_joints=0.0, light=(1.0, 1.0))


def water_scene(
    *,
    goal: Goal | None = None,
    volume: float = 0.18,
    particles: int = 500,
    source: str = "jug",
    source_params: dict[str, ParamValue] | None = None,
    target: str = "bowl",
    target_params: dict[str, ParamValue] | None = None,
    inside: bool = True,
) -> Scenario:
    """A table before a Panda with a vessel of water on its left and another vessel on its right."""
    items = (
        Item(id="table", asset=AssetSpec(category="table"), pose=Pose.planar(0.6, 0.0), fixed=True),
        Item(id="jug", asset=AssetSpec(category=source, params=source_params or {}), parent="table", pose=Pose.planar(0.0, 0.15)),
        Item(
            id="bowl",
            asset=AssetSpec(category=target, params=target_params or {}),
            parent="table",
            pose=Pose.planar(0.0, -0.15),
        ),
        Item(
            id="water",
            asset=AssetSpec(category="water", params={"volume": volume, "particles": particles}),
            parent="jug" if inside else "table",
            relation="inside" if inside else "on",
            pose=Pose(),
        ),
    )
    camera = CameraSpec(name="front", position=(1.05, -0.35, 1.05), target=(0.6, -0.05, 0.82))
    return Scenario(
        scene=SceneSpec(items=items, cameras=(camera,)),
        task=TaskSpec(goal=goal or Predicate(name="poured", args=("water", "bowl")), horizon=60.0),
        embodiment=EmbodimentSpec(name="panda", base=Pose.planar(0.0, 0.0, 0.74)),
        randomization=STILL,
    )


def liquids_of(world: World) -> Liquids:
    """The liquids of a world that has some."""
    assert world.liquids is not None
    return world.liquids


def into(world: World, reference: str, share: float = 1.0) -> Float:
    """Put a share of the water into a cavity named `item.cavity`; gives where its particles are then, shape (n, 3)."""
    liquids = liquids_of(world)
    vessel, body = liquids.vessel(reference)
    points = liquids.points("water")
    lattice = vessel.lattice(len(points), liquids.solver.spacing)
    assert lattice is not None
    count = round(share * len(points))
    points[:count] = (lattice @ world.data.xmat[body].reshape(3, 3).T + world.data.xpos[body])[:count]
    liquids.put("water", points, world.data)
    return np.asarray(points)
