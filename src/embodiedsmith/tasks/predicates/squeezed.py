"""`squeezed(item)`: two fingers press a soft thing together."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import mujoco
import numpy as np

from embodiedsmith.tasks.kind import HELD, Args, Assets, Bound, NearMiss, Param, Params, PredicateKind, Role, Words
from embodiedsmith.tasks.near_misses import let_go, set_fingers
from embodiedsmith.tasks.probe import Float, Probe
from embodiedsmith.world import World

NODES = 3
"""Nodes along every edge of a soft block."""


def bind(probe: Probe, args: Args, params: Params) -> Bound:
    """Margin [m]: by how much more than `depth` the item is pressed together between the fingers, at most `HELD` without them."""
    world, item = probe.world, args[0]
    left, right = probe.held(item)
    pressed, depth = _pressed(world, item), params["depth"]

    def margin() -> float:
        more = pressed() - depth
        return more if left in probe.pairs and right in probe.pairs and probe.squeezed(item) else min(more, HELD)

    return Bound(margin)


def _pressed(world: World, item: str) -> Callable[[], float]:
    """What gives by how much [m] a soft block is thinner than at rest, where it is thinnest along the closing direction."""
    bodies, at_rest = nodes(world, item)
    width = np.array([np.ptp(at_rest[..., k]) for k in range(3)])
    data, root = world.data, world.items[item].body
    R, tool = data.xmat[root].reshape(3, 3), data.site_xmat[world.tcp_sites[0]].reshape(3, 3)

    def measure() -> float:
        axis = int(np.argmax(np.abs(tool[:, 1] @ R)))
        points = np.moveaxis(data.xpos[bodies], axis, 0)
        return float(width[axis] - np.linalg.norm(points[-1] - points[0], axis=-1).min())

    return measure


def nodes(world: World, item: str) -> tuple[np.ndarray, Float]:
    """Bodies (3, 3, 3) of a soft block's nodes by their place along its x, y and z, and their places at rest (3, 3, 3, 3) [m] in
    the root's frame. The one in the middle is the root, which is not where the node is."""
    model, matter = world.model, world.assets[item].matter
    assert matter is not None
    flex = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_FLEX, f"{item}/{matter.flex}")
    start, count = int(model.flex_nodeadr[flex]), int(model.flex_nodenum[flex])
    bodies = np.asarray(model.flex_nodebodyid[start : start + count]).reshape(NODES, NODES, NODES)
    rest: Float = np.where((bodies == world.items[item].body)[..., None], 0.0, model.body_pos[bodies])
    return bodies, rest


def check(assets: Assets, args: Args, params: Params) -> list[str]:
    """Only what is soft gives way, and no more than there is of it."""
    matter = assets[args[0]].matter
    if matter is None or matter.kind != "soft":
        return [f"'{args[0]}' is not soft: it cannot be squeezed"]
    most = 0.5 * float(min(assets[args[0]].size[:2]))
    return [] if 0 < params["depth"] < most else [f"'{args[0]}' gives way by less than {most:.3f} m, not {params['depth']:g}"]


def near_misses(world: World, args: Args, params: Params) -> Iterator[NearMiss]:
    """Held without being pressed, pressed by too little, pressed the other way, and let go of before it springs back."""
    item, depth = args[0], params["depth"]
    axis = int(np.argmax(np.abs(world.tcp()[:3, 1] @ world.item_pose(item)[:3, :3])))
    loose = let_go(world, item)

    def pressed(name: str, along: int, by: float) -> NearMiss:
        return NearMiss(name, partial(press, item=item, axis=along, by=by))

    yield pressed("held without being pressed", axis, 0.0)
    yield pressed("pressed by half of what is asked", axis, depth / 2)
    yield pressed("pressed by a little too little", axis, depth - 0.001)
    yield pressed("pressed from the other side", 1 - axis, depth + 0.002)
    yield pressed("pressed from above", 2, depth + 0.002)
    yield NearMiss("let go of, not yet sprung back", partial(set_fingers, closing=loose))
    yield NearMiss("in the open hand, not yet sprung back", partial(set_fingers, closing=0.0))


def press(world: World, *, item: str, axis: int, by: float) -> None:
    """Make a soft block thinner by `by` [m] along one axis of its root, and as at rest along the others; time does not pass."""
    bodies, rest = nodes(world, item)
    shift = np.zeros_like(rest)
    width = float(np.ptp(rest[..., axis]))
    shift[..., axis] = -(rest[..., axis] - rest[..., axis].mean()) * by / width
    for body, by_node in zip(bodies.ravel(), shift.reshape(-1, 3), strict=True):
        if body != world.items[item].body:
            address = int(world.model.jnt_qposadr[world.model.body_jntadr[body]])
            world.data.qpos[address : address + 3] = by_node
    mujoco.mj_forward(world.model, world.data)


PREDICATE = PredicateKind(
    name="squeezed",
    roles=(Role("item", "movable"),),
    params={"depth": Param(0.010, "m", "least by which it is pressed together", stricter_up=True)},
    bind=bind,
    check=check,
    near_misses=near_misses,
    said_last=2,
    words={
        "en": Words("squeeze {0}", "stop squeezing {0}", ("squeeze", "squish", "squash", "compress")),
        "zh": Words("捏{0}", "不再捏{0}", ("捏", "挤", "挤压", "捏一捏", "挤一挤", "按压")),
    },
)
