"""Sides, between and unmoved: by how much they hold, at known poses and while time passes."""

from __future__ import annotations

import math

import mujoco
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from task_worlds import BLOCK_GRIP, STILL, TABLE, Bench, bench, kitchen, p

from embodiedsmith.spec import EmbodimentSpec, Pose
from embodiedsmith.tasks import Bound, GoalMonitor, predicate
from embodiedsmith.tasks.kind import HELD
from embodiedsmith.tasks.sides import SIDES, toward
from embodiedsmith.world import World
from embodiedsmith.world import transforms as tf

BLOCK = 0.045  # [m] edge of the default block
SIDE_OF = {"left_of": (0.0, 1.0), "right_of": (0.0, -1.0), "in_front_of": (-1.0, 0.0), "behind": (1.0, 0.0)}
"""The robot of the bench stands at the origin, facing x: its left is the world's y."""
OPPOSITE = {"left_of": "right_of", "right_of": "left_of", "in_front_of": "behind", "behind": "in_front_of"}
FREE = (0.5, 0.2)  # [m] a free spot of the table


@pytest.fixture
def world() -> Bench:
    """The shared bench, as laid out."""
    bench().reset()
    return bench()


def near(value: float, within: float = 2e-4) -> object:
    return pytest.approx(value, abs=within)


def stand(world: Bench, item: str, x: float, y: float, rise: float = 0.0, yaw: float = 0.0) -> None:
    world.put(item, (x, y, TABLE + rise), (math.cos(yaw / 2), 0.0, 0.0, math.sin(yaw / 2)))


def pair(world: Bench, name: str, gap: float, aside: float = 0.0, rise: float = 0.0) -> float:
    """The margin with two blocks `gap` apart along the direction, `aside` off it, and one higher by `rise` [m]."""
    x, y = SIDE_OF[name]
    along = BLOCK + gap
    stand(world, "block2", *FREE)
    stand(world, "block", FREE[0] + along * x - aside * y, FREE[1] + along * y + aside * x, rise)
    return world.margin(name, "block", "block2")


# ---------------------------------------------------------------------- sides


@pytest.mark.parametrize("name", SIDES)
def test_a_side_is_the_least_slack_of_gap_distance_aside_and_height(world: Bench, name: str) -> None:
    assert pair(world, name, 0.012) == near(0.012)  # the gap
    assert pair(world, name, 0.24) == near(0.01)  # what is short of the largest distance
    assert pair(world, name, 0.26) == near(-0.01)
    assert pair(world, name, -0.01) == near(-0.01)  # they overlap along the direction
    assert pair(world, name, 0.1, aside=BLOCK + 0.015) == near(0.005)  # apart across it, too
    assert pair(world, name, 0.1, aside=-(BLOCK + 0.03)) == near(-0.01)
    assert pair(world, name, 0.01, aside=BLOCK + 0.015) == near(-0.005)  # more beside than there
    assert pair(world, name, 0.1, rise=0.01) == near(0.02)  # on something a little higher
    assert pair(world, name, 0.1, rise=0.05) == near(-0.02)
    assert pair(world, name, 0.1, rise=-0.05) == near(-0.02)


@pytest.mark.parametrize("name", SIDES)
def test_what_is_on_one_side_is_on_no_other(world: Bench, name: str) -> None:
    assert pair(world, name, 0.05) > 0
    for other in SIDES:
        assert (world.margin(other, "block", "block2") > 0) == (other == name)
        assert (world.margin(other, "block2", "block") > 0) == (other == OPPOSITE[name])


@settings(max_examples=40, deadline=None)
@given(st.floats(-0.3, 0.3), st.floats(-0.3, 0.3), st.floats(-math.pi, math.pi))
def test_sides_exclude_each_other_wherever_things_stand(x: float, y: float, yaw: float) -> None:
    world = bench()
    stand(world, "block2", *FREE)
    stand(world, "mug", FREE[0] + x, FREE[1] + y, yaw=yaw)
    margins = {name: world.margin(name, "mug", "block2") for name in SIDES}
    assert sum(margin > 0 for margin in margins.values()) <= 1
    shift = 0.003
    stand(world, "mug", FREE[0] + x + shift, FREE[1] + y, yaw=yaw)
    for name, before in margins.items():  # no jump: never more than the way moved, along and across together
        assert abs(world.margin(name, "mug", "block2") - before) <= 2 * shift + 1e-9


def test_furniture_has_sides_too(world: Bench) -> None:
    box = world.world.corners("unit")
    stand(world, "block", float(box[:, 0].min()) - 0.06, float(box[:, 1].mean()))
    assert world.margin("in_front_of", "block", "unit") > 0.02
    assert world.margin("behind", "block", "unit") < -0.1


def test_sides_turn_with_the_base_as_laid_out() -> None:
    """A robot that faces the world's -y: its left is the world's +x."""
    scenario = kitchen(p("on", "block", "table"), randomization=STILL)
    laid_out = Pose.planar(0.6, 1.2, 0.0, -math.pi / 2)
    base = EmbodimentSpec(name="panda_mobile", base=laid_out)
    world = World(scenario.model_copy(update={"embodiment": base}))
    x, y, z = FREE[0], FREE[1], TABLE
    for item, along in (("block2", 0.0), ("block", BLOCK + 0.05)):
        at = world.items[item].qpos
        world.data.qpos[at : at + 7] = x + along, y, z, 1.0, 0.0, 0.0, 0.0
    for turn in (0.0, 1.0):  # also of a vehicle that has turned since
        world.data.qpos[world.robot_qpos[2]] = turn
        mujoco.mj_forward(world.model, world.data)
        assert predicate("left_of").margin(world, ("block", "block2")) == near(0.03)
        assert predicate("behind").margin(world, ("block", "block2")) < 0
    for name in SIDES:
        assert toward(name, laid_out) == pytest.approx(tf.turn_z(-math.pi / 2)[:3, :3] @ (*SIDE_OF[name], 0.0))


# ---------------------------------------------------------------------- between


def row(world: Bench, half: float, aside: float = 0.0, along: float = 0.0, rise: float = 0.0) -> float:
    """The margin of a block between another and the mug, `half` [m] from the middle to either, on a slanting line."""
    line, across = np.array([0.6, 0.8]), np.array([-0.8, 0.6])
    spots = (half * line, -half * line, along * line + aside * across)
    for item, spot in zip(("block2", "mug", "block"), spots, strict=True):
        stand(world, item, FREE[0] + spot[0], FREE[1] + spot[1], rise if item == "block" else 0.0, math.atan2(0.8, 0.6))
    return world.margin("between", "block", "block2", "mug")


def test_between_is_the_least_slack_of_gaps_aside_and_height(world: Bench) -> None:
    middle = row(world, 0.2)
    assert middle == near(0.03)  # level
    assert row(world, 0.2, aside=0.03) == pytest.approx(0.02, abs=0.006)  # the mug's handle shifts its middle
    assert row(world, 0.2, aside=0.07) == pytest.approx(-0.02, abs=0.006)
    assert row(world, 0.2, rise=0.05) == near(-0.02)
    assert row(world, 0.2, along=0.2 - BLOCK - 0.01) == near(0.01, 1e-3)  # the line is turned by the handle
    assert row(world, 0.2, along=0.2) < -0.02  # in the first of them
    assert row(world, 0.2, along=0.3) < -0.05  # beyond it
    assert row(world, 0.03) < 0  # no room
    assert world.margin("between", "block", "block2", "mug") == near(world.margin("between", "block", "mug", "block2"))


def test_between_things_in_one_place_is_nowhere(world: Bench) -> None:
    stand(world, "block", *FREE)
    stand(world, "mug", *FREE)
    stand(world, "block2", *FREE)
    assert world.margin("between", "mug", "block", "block2") < -0.05


def test_what_is_in_the_hand_has_not_been_put_anywhere(world: Bench) -> None:
    """Both fingers on the item, on either side: all five predicates are then at most `HELD`."""
    names = [*SIDES, "between"]
    args = {name: ("block", "block2", "mug")[: 3 if name == "between" else 2] for name in names}
    tcp = world.world.tcp()
    half = tcp[:3, :3] @ np.array([BLOCK / 2, BLOCK / 2, BLOCK / 2])
    robot = world.world.home.copy()
    world.world.set_robot(world.world.data, robot, BLOCK_GRIP)
    T = tcp @ tf.translate((0.0, 0.0, -BLOCK / 2))
    quat = tuple(float(v) for v in tf.quaternion(T[:3, :3]))
    world.put("block", tuple(float(v) for v in T[:3, 3]), quat)
    world.probe.refresh()
    left, right = world.probe.held("block")
    assert {left, right} <= world.probe.pairs, half
    for name in names:
        bound = world.bind(name, *args[name])
        low = float(world.world.corners("block")[:, 2].min())
        x, y = (float(v) for v in T[:2, 3])
        dx, dy = SIDE_OF.get(name, (0.0, 1.0))
        gap = 0.12
        world.put("block2", (x - gap * dx, y - gap * dy, low))
        world.put("mug", (x + 0.2 * dx, y + 0.2 * dy, low))
        world.probe.refresh()
        assert bound.margin() == HELD
        world.probe.pairs.clear()
        assert bound.margin() > 0


# ---------------------------------------------------------------------- unmoved


def test_unmoved_is_the_slack_of_the_farthest_it_has_been(world: Bench) -> None:
    monitor = GoalMonitor(p("unmoved", "block"), world.world)
    assert monitor.reset() == near(0.35 * BLOCK * math.sqrt(1.5), 3e-3)
    x, y, z = world.world.item_pose("block")[:3, 3]
    world.put("block", (x + 0.012, y, z))
    assert monitor.update() == near(0.008)
    world.put("block", (x, y, z))
    assert monitor.update() == near(0.008)  # it was elsewhere, and that counts
    world.put("block", (x, y, z + 0.05))
    assert monitor.update() == near(-0.03)
    world.put("block", (x, y, z))
    assert monitor.update() == near(-0.03)
    assert monitor.reset() > 0  # another episode


def test_turning_and_toppling_is_moving(world: Bench) -> None:
    bound = world.bind("unmoved", "block")
    x, y, z = (float(v) for v in world.world.item_pose("block")[:3, 3])
    for quat in ((math.cos(0.2), 0.0, 0.0, math.sin(0.2)), (math.cos(0.2), math.sin(0.2), 0.0, 0.0)):
        bound.reset()
        assert bound.margin() > 0
        world.put("block", (x, y, z), quat)
        assert -0.01 < bound.margin() < 0
        world.put("block", (x, y, z))


def test_before_any_start_unmoved_speaks_of_the_layout(world: Bench) -> None:
    assert world.margin("unmoved", "block") > 0.01
    x, y, z = (float(v) for v in world.world.item_pose("block")[:3, 3])
    world.put("block", (x, y + 0.03, z))
    assert world.margin("unmoved", "block") == near(-0.01, 1e-3)


def test_unmoved_needs_room_to_move_in(world: Bench) -> None:
    assets = world.world.assets
    faults = predicate("unmoved").faults(assets, ("block",), {"distance": 0.0, "angle": -1.0})
    assert faults == ["'unmoved' needs a distance above 0, not 0", "'unmoved' needs a angle above 0, not -1"]
    assert "furniture" in predicate("unmoved").faults(assets, ("unit",), {})[0]


# ---------------------------------------------------------------------- near misses


def misses(world: Bench, name: str, args: tuple[str, ...], bound: Bound) -> dict[str, float]:
    """Margins of the near misses, by name."""
    kind = predicate(name)
    start = world.world.save()
    found = {}
    for miss in list(kind.near_misses(world.world, args, kind.resolve({}))):
        forget = bound.mark()
        miss.apply(world.world)
        world.probe.refresh()
        assert np.isfinite(world.world.data.qpos).all()
        found[miss.name] = bound.margin()
        world.world.restore(start)
        forget()
    world.probe.refresh()
    assert bound.margin() > 0
    return found


@pytest.mark.parametrize("name", [*SIDES, "between"])
def test_near_misses_of_relations_are_near_and_miss(world: Bench, name: str) -> None:
    args = ("mug", "block2", "block")[: 3 if name == "between" else 2]
    x, y = SIDE_OF.get(name, (0.0, 1.0))
    stand(world, "block2", *FREE, yaw=0.3)
    stand(world, "mug", FREE[0] + 0.11 * x, FREE[1] + 0.11 * y, yaw=1.0)
    stand(world, "block", FREE[0] + 0.23 * x, FREE[1] + 0.23 * y)
    found = misses(world, name, args, world.bind(name, *args))
    assert len(found) >= 9 and "still between both fingers" in found
    assert all(-0.3 < margin <= -0.005 for margin in found.values()), found


def test_near_misses_of_unmoved_are_near_and_miss(world: Bench) -> None:
    bound = world.bind("unmoved", "mug")
    bound.reset()
    found = misses(world, "unmoved", ("mug",), bound)
    assert len(found) == 7
    assert all(-0.1 < margin < -0.005 for margin in found.values()), found
