"""`straightened(rope)`: the rope lies straight, and has been let go of."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import mujoco
import numpy as np

from embodiedsmith.tasks.kind import HELD, Args, Assets, Bound, NearMiss, Param, Params, PredicateKind, Role, Words
from embodiedsmith.tasks.near_misses import held
from embodiedsmith.tasks.probe import Float, Probe
from embodiedsmith.world import World


def bind(probe: Probe, args: Args, params: Params) -> Bound:
    """Margin [m]: the distance of the middles of its first and its last link, minus `ratio` of what it is when it is straight.

    While both fingers touch it, at most `HELD`.
    """
    world, item = probe.world, args[0]
    bodies = links(world, item)
    least = params["ratio"] * reach(world, item)
    left, right = probe.held(item)
    first, last = world.data.xipos[bodies[0]], world.data.xipos[bodies[-1]]

    def anyway() -> float:
        return float(np.linalg.norm(first - last)) - least

    def margin() -> float:
        return min(anyway(), HELD) if left in probe.pairs and right in probe.pairs else anyway()

    return Bound(margin, anyway=anyway)


def links(world: World, item: str) -> list[int]:
    """Bodies of a rope's links from end to end."""
    matter = world.assets[item].matter
    assert matter is not None
    return [int(world.model.body(f"{item}/{name}").id) for name in matter.bodies]


def reach(world: World, item: str) -> float:
    """Distance of the middles of a rope's first and last links when it is straight [m]."""
    matter = world.assets[item].matter
    assert matter is not None
    return (len(matter.bodies) - 1) * matter.spacing


def check(assets: Assets, args: Args, params: Params) -> list[str]:
    """Only a rope is pulled straight, and no straighter than straight."""
    matter = assets[args[0]].matter
    if matter is None or matter.kind != "rope":
        return [f"'{args[0]}' is not a rope: it cannot be pulled straight"]
    return [] if 0.5 < params["ratio"] < 1 else [f"'straightened' needs a ratio between 0.5 and 1, not {params['ratio']:g}"]


def near_misses(world: World, args: Args, params: Params) -> Iterator[NearMiss]:
    """A little too wavy, bent in the middle, its end turned back, folded in two, in a ring, and still in the hand."""
    item, ratio = args[0], params["ratio"]
    count = len(links(world, item))
    along = np.linspace(-1.0, 1.0, count)

    def laid(name: str, angles: Float) -> NearMiss:
        return NearMiss(name, partial(lay, item=item, angles=angles))

    few = np.arccos(ratio)
    yield laid("bent a little in the middle", np.where(along < 0, -1.1 * few, 1.1 * few))
    wave = np.sin(3 * np.pi * along)
    yield laid("a little too wavy", _just_short(wave, ratio - 0.005))
    yield laid("bent at a right angle", np.where(along < 0, 0.0, np.pi / 2))
    yield laid("its end turned back", np.where(along > 0.7, 2.8, 0.0))
    yield laid("folded in two", np.where(along < 0, 0.0, 3.0))
    yield laid("in a ring", np.pi * along)
    yield from held(world, item)


def _just_short(shape: Float, ratio: float) -> Float:
    """The shape, of angles (n,) [rad], scaled so that its ends are `ratio` of its length apart."""
    low, high = 0.0, 1.5
    for _ in range(40):
        scale = (low + high) / 2
        low, high = (scale, high) if np.cos(scale * shape).mean() > ratio else (low, scale)
    return high * shape


def lay(world: World, *, item: str, angles: Float) -> None:
    """Lay a rope out with its links at level angles (n,) [rad] from the direction its middle has now; time does not pass."""
    model, data = world.model, world.data
    bodies = links(world, item)
    root = world.items[item].body
    middle = bodies.index(root)
    yaw = dict.fromkeys(bodies, 0.0)
    for k, body in enumerate(bodies):
        geom = int(model.body_geomadr[body])
        axis = np.zeros(9)
        mujoco.mju_quat2Mat(axis, model.geom_quat[geom])
        rest = np.arctan2(axis[5], axis[2])  # a capsule lies along the z axis of its frame
        yaw[body] = float(angles[k] - angles[middle] - rest)
    for body in bodies:
        if body != root:
            turn = yaw[body] - yaw[int(model.body_parentid[body])]
            address = int(model.jnt_qposadr[model.body_jntadr[body]])
            data.qpos[address : address + 4] = np.cos(turn / 2), 0.0, 0.0, np.sin(turn / 2)
    mujoco.mj_forward(model, data)


PREDICATE = PredicateKind(
    name="straightened",
    roles=(Role("rope", "movable"),),
    params={"ratio": Param(0.98, "1", "least distance of its ends, as a part of its length", stricter_up=True)},
    bind=bind,
    check=check,
    lets_go=True,
    near_misses=near_misses,
    words={
        "en": Words("pull {0} straight", "bend {0}", ("pull", "straighten", "stretch", "straighten out", "stretch out")),
        "zh": Words("把{0}拉直", "把{0}弄弯", ("拉直", "捋直", "拉", "弄直", "扯直")),
    },
)
