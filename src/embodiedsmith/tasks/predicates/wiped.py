"""`wiped(stain, tool)`: the tool has rubbed the stain away."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import mujoco
import numpy as np

from embodiedsmith.tasks.kind import Args, Assets, Bound, NearMiss, Param, Params, PredicateKind, Role, Words
from embodiedsmith.tasks.probe import Probe
from embodiedsmith.world import World
from embodiedsmith.world.marks import show


def bind(probe: Probe, args: Args, params: Params) -> Bound:
    """Margin [1]: share of the stain's cells that the tool has wiped, minus `share`."""
    marks, data = probe.world.marks[args[0]], probe.world.data
    tool, share = probe.world.owners.index(args[1]), params["share"]
    return Bound(lambda: marks.wiped(data, tool) - share)


def check(assets: Assets, args: Args, params: Params) -> list[str]:
    """Marks are wiped, by what is soft."""
    stain, tool = (assets[arg].matter for arg in args)
    faults = [] if stain is not None and stain.kind == "marks" else [f"'{args[0]}' is nothing that can be wiped away"]
    if tool is None or tool.kind != "soft":
        faults.append(f"'{args[1]}' is not soft: nothing is wiped with it")
    if not 0 < params["share"] < 1:
        faults.append(f"'wiped' needs a share between 0 and 1, not {params['share']:g}")
    return faults


def near_misses(world: World, args: Args, params: Params) -> Iterator[NearMiss]:
    """A little too much of it left, at each side, in the middle, at the rim or all over; half of it; all; wiped by the hand."""
    stain, tool = args
    marks, owner = world.marks[stain], world.owners.index(tool)
    cells = marks.cells[:, :2] - marks.cells[:, :2].mean(axis=0)
    count = len(cells)
    few = int(np.floor((1 - params["share"]) * count)) + 1
    orders = {
        "at its left": cells[:, 1], "at its right": -cells[:, 1],
        "at its near side": cells[:, 0], "at its far side": -cells[:, 0],
        "in the middle": np.linalg.norm(cells, axis=1), "at its rim": -np.linalg.norm(cells, axis=1),
        "all over it": np.arange(count) * 0.618 % 1.0,
    }  # fmt: skip
    for where, order in orders.items():
        left = np.argsort(order, kind="stable")[:few]
        yield NearMiss(f"a little left {where}", partial(_leave, stain=stain, left=left, owner=owner))
    half = np.argsort(cells[:, 0], kind="stable")[: count // 2]
    yield NearMiss("half of it left", partial(_leave, stain=stain, left=half, owner=owner))
    yield NearMiss("all of it left", partial(_leave, stain=stain, left=np.arange(count), owner=owner))
    nothing = np.zeros(0, dtype=int)
    yield NearMiss("wiped by the bare hand", partial(_leave, stain=stain, left=nothing, owner=world.owners.index("robot")))


def _leave(world: World, *, stain: str, left: np.ndarray, owner: int) -> None:
    kept = world.data.userdata[world.marks[stain].kept]
    kept[:] = owner
    kept[left] = 0.0
    show(world)
    mujoco.mj_forward(world.model, world.data)


PREDICATE = PredicateKind(
    name="wiped",
    roles=(Role("stain", "thing"), Role("tool", "movable")),
    params={"share": Param(0.9, "1", "least share of the stain that is wiped away", stricter_up=True)},
    bind=bind,
    check=check,
    near_misses=near_misses,
    words={
        "en": Words("wipe {0} with {1}", "do not wipe {0} with {1}", ("wipe", "wipe up", "wipe off", "wipe away", "scrub")),
        "zh": Words("用{1}擦掉{0}", "不要用{1}擦掉{0}", ("擦掉", "擦", "擦干净", "擦去", "抹掉")),
    },
)
