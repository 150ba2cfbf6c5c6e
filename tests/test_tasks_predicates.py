"""Every predicate accepts and rejects what it should, by the margin it should, in real physics or at known poses."""

import math
from types import SimpleNamespace

import mujoco
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from task_worlds import DEEP, TABLE, Bench, bench

from embodiedsmith import assets
from embodiedsmith.runtime.errors import SmithError, UsageError
from embodiedsmith.spec import All, AssetSpec, Not, Predicate
from embodiedsmith.tasks import GoalMonitor, goal_faults, predicate, predicate_names
from embodiedsmith.tasks.boxes import Box
from embodiedsmith.tasks.kind import APART, HELD, TOUCH
from embodiedsmith.tasks.registry import collect
from embodiedsmith.world import transforms as tf

BLOCK = 0.045  # [m] edge of the default block
EDGE = 0.6 + 0.75 / 2  # [m] x of the table's far edge
UP = TABLE - DEEP
Point = tuple[float, float, float]
points = st.tuples(*(st.floats(-0.2, 0.2) for _ in range(3)))
ROLLED = (math.cos(math.pi / 4), math.sin(math.pi / 4), 0.0, 0.0)


@pytest.fixture
def world() -> Bench:
    """The shared bench, as laid out."""
    bench().reset()
    return bench()


def near(value: float, within: float = 2e-4) -> object:
    return pytest.approx(value, abs=within)


# ---------------------------------------------------------------------- on


def test_on_is_the_slack_of_the_height_in_the_middle_of_the_surface(world: Bench) -> None:
    assert world.margin("on", "block", "table") == near(0.005)
    world.put("block", (0.45, -0.2, TABLE - 0.002))
    assert world.margin("on", "block", "table") == near(0.003)


def test_on_is_the_distance_to_the_edge_near_the_edge(world: Bench) -> None:
    world.put("block", (EDGE - 0.003, -0.2, UP))
    assert world.margin("on", "block", "table") == near(0.003)
    world.put("block", (EDGE + 0.012, -0.2, UP))
    assert world.margin("on", "block", "table") == near(-0.012)


def test_on_needs_a_contact_and_counts_the_gap(world: Bench) -> None:
    world.put("block", (0.45, -0.2, TABLE + 0.001))
    assert world.margin("on", "block", "table") == near(-0.001)
    world.put("block", (0.45, -0.2, TABLE + 0.02))
    assert world.margin("on", "block", "table") == near(-0.02)
    world.put("block", (0.45, -0.2, TABLE + 1e-6))
    assert world.margin("on", "block", "table") == pytest.approx(-APART)


def test_on_means_directly_on(world: Bench) -> None:
    world.put("block", (0.45, -0.35, UP + BLOCK - DEEP))
    assert world.margin("on", "block", "block2") == near(0.005)
    assert world.margin("on", "block", "table") == near(-BLOCK, 5e-4)
    assert world.margin("on", "block2", "block") < -BLOCK


def test_on_counts_things_that_lie_on_their_side(world: Bench) -> None:
    for roll in np.linspace(0, math.pi, 5):
        about_x = (math.cos(math.pi / 4), math.sin(math.pi / 4), 0.0, 0.0)
        quat = tf.quaternion(tf.rotation(about_x) @ tf.turn_z(float(roll))[:3, :3])
        world.put("can", (0.45, -0.2, UP + 0.033), tuple(quat.tolist()))
        assert world.margin("on", "can", "table") == near(0.005, 3e-4)


def test_on_without_a_part_takes_the_best_surface_and_with_a_part_that_one(world: Bench) -> None:
    heights = {s.name: world.world.support(f"shelf.{s.name}")[1][2, 3] for s in world.world.assets["shelf"].affordances.supports}
    world.put("can", (0.6, 2.0, heights["board_top"] - DEEP))
    assert world.margin("on", "can", "shelf") == near(0.005)
    assert world.margin("on", "can", "shelf.board_top") == near(0.005)
    assert world.margin("on", "can", "shelf.board_bottom") < -0.2


def test_on_without_a_part_is_not_behind_a_door(world: Bench) -> None:
    floor = world.world.support("microwave.door")[1][:3, 3]
    world.put("apple", (floor[0], floor[1], floor[2] - DEEP))
    assert world.margin("on", "apple", "microwave.door") > 0
    assert world.margin("on", "apple", "microwave") < -0.1


def test_on_waits_until_the_fingers_have_let_go(world: Bench) -> None:
    held = take(world, "block")
    world.put("block2", (held[0], held[1], held[2] - BLOCK + DEEP))
    assert world.margin("on", "block", "block2") == HELD
    world.world.set_robot(world.world.data, world.world.home, 0.0)
    world.put("block2", (held[0], held[1], held[2] - BLOCK + DEEP))
    assert world.margin("on", "block", "block2") == near(0.005)


@settings(max_examples=30, deadline=None)
@given(st.floats(-0.08, 0.08), st.floats(-0.08, 0.08))
def test_on_changes_no_faster_than_the_thing_moves(a: float, b: float) -> None:
    margins = []
    for x in (a, b):
        bench().put("block", (EDGE + x, -0.2, UP))
        margins.append(bench().margin("on", "block", "table"))
    resting = abs(a) < BLOCK / 2 and abs(b) < BLOCK / 2  # else contact is lost, which is a jump
    assert abs(margins[0] - margins[1]) <= abs(a - b) + (1e-9 if resting else APART + 0.005)
    assert all((m > 0) == (x < 0) for m, x in zip(margins, (a, b), strict=True) if abs(x) > 1e-6)


# ---------------------------------------------------------------------- inside


def test_inside_a_drawer(world: Bench) -> None:
    cavity, T = world.world.cavity("unit.drawer_top")
    x, y, z = T[:3, 3].tolist()
    world.put("mug", (x, y, z))
    assert world.margin("inside", "mug", "unit.drawer_top") == near(0.005)
    assert world.margin("inside", "mug", "unit") == near(0.005)
    assert world.margin("inside", "mug", "unit.drawer_bottom") < -0.05
    world.put("mug", (x, y, z + cavity.size[2] - 0.095 / 2 + 0.004))
    assert world.margin("inside", "mug", "unit.drawer_top") == near(-0.004, 5e-4)


def test_inside_goes_with_the_drawer(world: Bench) -> None:
    x, y, z = world.world.cavity("unit.drawer_top")[1][:3, 3].tolist()
    world.put("mug", (x, y, z))
    world.joint("unit.drawer_top", 0.2)
    assert world.margin("inside", "mug", "unit.drawer_top") < 0
    world.put("mug", tuple(world.world.cavity("unit.drawer_top")[1][:3, 3].tolist()))
    assert world.margin("inside", "mug", "unit.drawer_top") == near(0.005)


def test_inside_is_the_distance_to_the_wall(world: Bench) -> None:
    cavity, T = world.world.cavity("basket")
    x, y, z = T[:3, 3].tolist()
    for off, margin in ((0.002, 0.002), (-0.01, -0.01)):
        world.put("apple", (x + cavity.size[0] / 2 - off, y, z + 0.01))
        assert world.margin("inside", "apple", "basket") == near(margin, 5e-4)


def test_inside_a_basket_things_may_be_heaped(world: Bench) -> None:
    cavity, T = world.world.cavity("basket")
    x, y, z = T[:3, 3].tolist()
    rim = z + cavity.size[2]
    half = float(world.world.assets["apple"].size[2]) / 2
    world.put("apple", (x, y, rim - half - 0.003))
    assert world.margin("inside", "apple", "basket") == near(0.003, 5e-4)
    world.put("apple", (x, y, rim - half + 0.02))
    assert world.margin("inside", "apple", "basket") == near(-0.02, 5e-4)
    world.put("mug", (x, y, z))
    assert world.margin("inside", "mug", "basket") == near(0.005)


def test_inside_a_microwave_the_door_must_be_able_to_close(world: Bench) -> None:
    cavity, T = world.world.cavity("microwave")
    x, y, z = T[:3, 3].tolist()
    front = x + cavity.size[0] / 2
    radius = float(world.world.assets["can"].size[0]) / 2
    world.put("can", (x, y, z))
    assert world.margin("inside", "can", "microwave") == near(0.005)
    world.put("can", (front - radius - 0.002, y, z))
    assert world.margin("inside", "can", "microwave") == near(0.002)
    world.put("can", (front - radius + 0.01, y, z))
    assert world.margin("inside", "can", "microwave") == near(-0.01)


def test_inside_waits_until_the_fingers_have_let_go(world: Bench) -> None:
    held = take(world, "block")
    world.put("basket", (held[0], held[1], held[2] - 0.02))
    assert world.margin("inside", "block", "basket") == HELD


@settings(max_examples=30, deadline=None)
@given(points, points)
def test_inside_changes_no_faster_than_the_thing_moves(a: Point, b: Point) -> None:
    origin = bench().world.cavity("basket")[1][:3, 3]
    places = [origin + a, origin + b]
    margins = []
    for place in places:
        bench().put("apple", tuple(place.tolist()))
        margins.append(bench().margin("inside", "apple", "basket"))
    assert abs(margins[0] - margins[1]) <= np.linalg.norm(places[0] - places[1]) + 1e-9


def test_an_apple_dropped_over_the_basket_ends_inside(world: Bench) -> None:
    x, y, z = world.world.cavity("basket")[1][:3, 3].tolist()
    world.put("apple", (x, y, z + 0.15))
    before = world.margin("inside", "apple", "basket")
    for _ in range(40):
        world.world.step(world.world.command)
    assert before < 0 < world.margin("inside", "apple", "basket")


# ---------------------------------------------------------------------- joints


def test_open_and_closed_count_from_the_joint(world: Bench) -> None:
    unit = world.world.assets["unit"].joints["drawer_top"].open
    for position in (0.0, 0.004, 0.1, unit):
        world.joint("unit.drawer_top", position)
        assert world.margin("open", "unit.drawer_top") == pytest.approx(position - 0.6 * unit)
        assert world.margin("open", "unit.drawer_top", fraction=0.25) == pytest.approx(position - 0.25 * unit)
        assert world.margin("closed", "unit.drawer_top") == pytest.approx(0.01 - position)
    for angle in (0.0, 0.02, 1.5):
        world.joint("microwave.door", angle)
        assert world.margin("open", "microwave") == pytest.approx(
            angle - 0.6 * world.world.assets["microwave"].joints["door"].open
        )
        assert world.margin("closed", "microwave.door") == pytest.approx(0.03 - angle)


def test_open_means_any_and_closed_means_all_without_a_part(world: Bench) -> None:
    world.joint("unit.drawer_top", 0.2)
    assert world.margin("open", "unit") > 0
    assert world.margin("closed", "unit") == pytest.approx(0.01 - 0.2)
    assert world.margin("closed", "unit.drawer_bottom") == near(0.01)


# ---------------------------------------------------------------------- hands


def take(world: Bench, item: str) -> tuple[float, float, float]:
    """Put an item of the block's width between the fingers, touching them; gives its root's position."""
    w = world.world
    w.set_robot(w.data, w.home, 1.0 - (BLOCK - 4e-4) / 0.08)
    mujoco.mj_forward(w.model, w.data)
    x, y, z = w.tcp()[:3, 3].tolist()
    world.put(item, (x, y, z - BLOCK / 2))
    return x, y, z - BLOCK / 2


def test_grasped_in_physics(world: Bench) -> None:
    world.put("mug", (0.6, 0.45, world.world.item_pose("mug")[2, 3]))  # out from under what is going to fall
    lifted = world.bind("lifted", "block")
    lifted.reset()
    start = world.world.item_pose("block")[2, 3]
    take(world, "block")
    closed = np.append(world.world.home, 1.0)
    for _ in range(20):
        world.world.step(closed)
    assert world.margin("grasped", "block") == TOUCH
    assert world.margin("grasped", "block2") < -0.3
    assert lifted.margin() == near(world.world.item_pose("block")[2, 3] - start - 0.05, 1e-3)
    assert lifted.margin() > 0.2
    for _ in range(30):
        world.world.step(np.append(world.world.home, 0.0))
    assert world.margin("grasped", "block") < -0.1
    assert lifted.margin() < 0


def test_fingers_leaning_on_a_thing_do_not_grasp_it(world: Bench) -> None:
    w = world.world
    w.set_robot(w.data, w.home, 1.0)
    mujoco.mj_forward(w.model, w.data)
    tip = lowest_fingertip(world)
    world.put("block", (tip[0], tip[1], tip[2] - BLOCK + 2e-4))
    world.probe.refresh()
    assert set(world.probe.held("block")) <= world.probe.pairs
    assert world.margin("grasped", "block") <= -APART


def lowest_fingertip(world: Bench) -> tuple[float, float, float]:
    """The TCP's x and y, and the height of the lowest point of the fingers [m]."""
    w = world.world
    owned = [g for g in range(w.model.ngeom) if w.owners[w.geom_owner[g]] == "finger_0" and w.model.geom_contype[g]]
    low = min(w.data.geom_xpos[g][2] - w.model.geom_size[g] @ np.abs(w.data.geom_xmat[g].reshape(3, 3)[2]) for g in owned)
    x, y, _ = w.tcp()[:3, 3].tolist()
    return x, y, float(low)


# ---------------------------------------------------------------------- poses


@settings(max_examples=25, deadline=None)
@given(st.floats(0, math.pi), st.floats(-math.pi, math.pi))
def test_upright_is_the_tilt_whatever_the_heading(tilt: float, heading: float) -> None:
    R = tf.turn_z(heading) @ tf.turn((0.0, 1.0, 0.0), tilt)
    bench().put("mug", (0.0, 0.0, 2.0), tuple(tf.quaternion(R[:3, :3]).tolist()))
    assert bench().margin("upright", "mug") == pytest.approx(math.radians(10) - tilt, abs=1e-6)


def test_upright_after_falling_over(world: Bench) -> None:
    assert world.margin("upright", "mug") == near(math.radians(10), 2e-3)
    world.put("mug", (0.45, 0.0, TABLE + 0.05), ROLLED)
    for _ in range(20):
        world.world.step(world.world.command)
    assert world.margin("upright", "mug") < -1.0


@settings(max_examples=25, deadline=None)
@given(st.floats(-1, 1), st.floats(-1, 1), st.floats(-1, 1))
def test_at_is_the_distance(x: float, y: float, z: float) -> None:
    bench().put("mug", (x, y, 2 + z))
    assert bench().margin("at", "mug", x=0.0, y=0.0, z=2.0) == pytest.approx(0.02 - math.sqrt(x * x + y * y + z * z), abs=1e-9)


def test_near_is_the_gap_between_the_two(world: Bench) -> None:
    world.put("block", (0.0, 0.0, 3.0))
    for gap in (0.0, 0.03, 0.1, 0.4):
        world.put("block2", (BLOCK + gap, 0.01, 3.0))
        assert world.margin("near", "block", "block2") == pytest.approx(0.10 - gap, abs=1e-6)
    world.put("block2", (0.01, 0.0, 3.0))
    assert world.margin("near", "block", "block2", distance=0.2) == pytest.approx(0.2)


def test_near_turns_with_the_things(world: Bench) -> None:
    world.put("block", (0.0, 0.0, 3.0))
    world.put("block2", (0.3, 0.0, 3.0), (math.cos(math.pi / 8), 0.0, 0.0, math.sin(math.pi / 8)))
    corner = 0.3 - BLOCK / 2 - BLOCK / math.sqrt(2)
    assert world.margin("near", "block", "block2") == pytest.approx(0.10 - corner, abs=1e-4)


def test_near_does_not_depend_on_how_a_round_thing_is_turned(world: Bench) -> None:
    world.put("block", (0.0, 0.0, 3.0))
    radius = float(world.world.assets["can"].size[0]) / 2
    for turn in np.linspace(0.0, math.pi / 2, 5):
        world.put("can", (0.2, 0.0, 3.0), (math.cos(turn / 2), 0.0, 0.0, math.sin(turn / 2)))
        assert world.margin("near", "block", "can") == near(0.10 - (0.2 - radius - BLOCK / 2), 1e-3)


@settings(max_examples=30, deadline=None)
@given(*(st.floats(-0.3, 0.3) for _ in range(3)), st.floats(-math.pi, math.pi), st.floats(-math.pi, math.pi))
def test_distance_agrees_both_ways_and_with_sampled_points(x: float, y: float, z: float, yaw: float, tilt: float) -> None:
    world = bench()
    world.put("block", (0.0, 0.0, 3.0))
    R = tf.turn_z(yaw) @ tf.turn((1.0, 0.0, 0.0), tilt)
    world.put("can", (x, y, 3 + z), tuple(tf.quaternion(R[:3, :3]).tolist()))
    gap = world.probe.distance("block", "can")()
    assert gap == pytest.approx(world.probe.distance("can", "block")(), abs=1e-5)
    can, block = world.probe.shape("can").points, Box(world.probe, "block")
    points = can @ R[:3, :3].T + (x, y, 3 + z)
    nearest = min(block.distance(point) for point in points)
    assert nearest - float(np.ptp(can, axis=0).max()) - 1e-4 <= gap <= nearest + 1e-4


def test_not_touching_is_apart_by_more_than_a_hair(world: Bench) -> None:
    for gap, apart in ((-DEEP, False), (0.0005, False), (0.002, True)):
        world.put("block2", (0.45, -0.2 + BLOCK + gap, TABLE))
        world.put("block", (0.45, -0.2, TABLE))
        monitor = GoalMonitor(Not(goal=Predicate(name="touching", args=("block", "block2"))), world.world)
        assert (monitor.reset() > 0) is apart


def test_not_on_is_clear_of_the_surface(world: Bench) -> None:
    for gap, off in ((-DEEP, False), (0.003, False), (0.007, True)):
        world.put("block", (0.45, -0.2, TABLE + gap))
        monitor = GoalMonitor(Not(goal=Predicate(name="on", args=("block", "table"))), world.world)
        assert monitor.reset() == near(abs(gap) - 0.005)
        assert (monitor.update() > 0) is off


def test_what_the_hand_holds_where_it_was_has_not_been_taken_away(world: Bench) -> None:
    held = take(world, "block")
    world.put("block2", (held[0], held[1], held[2] - BLOCK + DEEP))
    goal = Predicate(name="on", args=("block", "block2"))
    assert GoalMonitor(goal, world.world).reset() == HELD
    assert GoalMonitor(Not(goal=goal), world.world).reset() == near(-0.005)


def test_on_needs_a_contact_that_bears(world: Bench) -> None:
    support, T = world.world.support("microwave.door")
    x, y, z = T[:3, 3].tolist()
    wall = y + support.size[1] / 2
    for aside in np.arange(0.0, 0.04, 0.001):  # until it leans on the side wall, 3 mm above the floor
        world.put("block", (x, wall - BLOCK / 2 + float(aside), z + 0.003))
        if world.world.touching("block", "microwave"):
            break
    assert world.world.touching("block", "microwave")
    assert world.margin("on", "block", "microwave.door") == near(-0.003)


def test_touching_is_a_contact_or_the_gap(world: Bench) -> None:
    assert world.margin("touching", "block", "table") == TOUCH
    assert world.margin("touching", "block", "block2") == near(-(0.15 - BLOCK), 1e-3)
    world.put("block2", (0.45, -0.2 + BLOCK - DEEP, TABLE))
    world.put("block", (0.45, -0.2, TABLE))
    assert world.margin("touching", "block", "block2") == TOUCH
    assert world.margin("touching", "block2", "block") == TOUCH


@settings(max_examples=25, deadline=None)
@given(st.floats(-0.1, 0.3), st.floats(0.02, 0.2))
def test_lifted_is_the_rise(rise: float, height: float) -> None:
    world = bench()
    world.put("mug", (0.0, 0.0, 2.0))
    bound = world.bind("lifted", "mug", height=height)
    bound.reset()
    world.put("mug", (0.1, 0.0, 2.0 + rise))
    assert bound.margin() == pytest.approx(rise - height, abs=1e-9)


# ---------------------------------------------------------------------- validity


@pytest.mark.parametrize("name", predicate_names())
def test_every_predicate_has_words_in_both_languages(name: str) -> None:
    kind = predicate(name)
    assert kind.name == name
    for language in ("en", "zh"):
        words = kind.words[language]
        assert words.verbs
        for template in (words.do, words.undo):
            numbers = dict.fromkeys(kind.params, 1.0)
            text = template.format(*(f"<{k}>" for k in range(len(kind.roles))), **numbers, **kind.phrases(numbers, language))
            assert all(f"<{k}>" in text for k in range(len(kind.roles)))
    assert kind.leads_to <= set(predicate_names())


def built(**categories: str) -> dict[str, assets.Asset]:
    return {name: assets.build(AssetSpec(category=category)) for name, category in categories.items()}


@pytest.mark.parametrize(
    ("name", "args", "params", "fault"),
    [
        ("on", ("mug",), {}, r"'on' takes \(item, support\); got \(mug\)"),
        ("on", ("jug", "table"), {}, r"no item 'jug'; items are \['mug', 'table', 'unit'\]"),
        ("on", ("table", "unit"), {}, "furniture and cannot be moved"),
        ("on", ("mug", "mug"), {}, "nothing can be put on"),
        ("inside", ("mug", "mug"), {}, "relates different things"),
        ("inside", ("mug", "unit.drawer_left"), {}, r"no cavity 'drawer_left'; it has \['drawer_top', 'drawer_bottom'\]"),
        ("inside", ("mug.handle", "unit"), {}, "must be a whole item"),
        ("open", ("table",), {}, "has no door or drawer"),
        ("open", ("unit",), {"fraction": 1.5}, "between 0 and 1, not 1.5"),
        ("lifted", ("mug",), {"height": -1.0}, "above 0 m"),
        ("near", ("mug", "table"), {"radius": 1.0}, r"takes no number 'radius'; it takes \['distance'\]"),
        ("at", ("mug",), {"x": 1.0, "y": 0.0}, r"'at' needs 'z' \[m\]"),
    ],
)  # fmt: skip
def test_nonsense_is_named(name: str, args: tuple[str, ...], params: dict[str, float], fault: str) -> None:
    faults = predicate(name).faults(built(mug="mug", table="table", unit="drawer_unit"), args, params)
    assert len(faults) == 1
    with pytest.raises(AssertionError, match=fault):
        raise AssertionError(faults[0])


def test_what_does_not_fit_is_named_with_its_size() -> None:
    things = built(mug="mug", basket="basket", microwave="microwave", shelf="shelf", bottle="bottle", tray="tray", block="block")
    (fault,) = predicate("inside").faults(things, ("basket", "mug"), {})
    assert "'basket' (24.0 x 32.0 x 9.0 cm) does not fit inside 'mug'" in fault
    (fault,) = predicate("on").faults(things, ("tray", "block"), {})
    assert "too large to stand on 'block' (4.5 cm across)" in fault
    assert predicate("inside").faults(things, ("bottle", "microwave"), {}) == []
    assert predicate("inside").faults(things, ("bottle", "tray"), {}) == []


def test_a_goal_tells_all_its_faults_and_each_once() -> None:
    bad = Predicate(name="in", args=("mug", "unit"))
    goal = All(goals=(bad, bad, Predicate(name="closed", args=("mug",)), Predicate(name="upright", args=("cup",))))
    faults = goal_faults(goal, built(mug="mug"))
    assert len(faults) == 3
    assert "unknown predicate 'in'; did you mean" in faults[0]
    assert faults[1] == "closed(mug): 'mug' has no door or drawer"
    assert "no item 'cup'" in faults[2]


def test_unknown_predicates_name_the_near_ones() -> None:
    with pytest.raises(UsageError, match=r"unknown predicate 'insid'[\s\S]*at, behind[\s\S]*did you mean 'inside'"):
        predicate("insid")


def test_one_look_gives_the_same_margin_and_refuses_nonsense(world: Bench) -> None:
    assert predicate("on").margin(world.world, ("block", "table")) == world.margin("on", "block", "table")
    with pytest.raises(UsageError, match=r"on\(block, nowhere\) makes no sense[\s\S]*no item 'nowhere'"):
        predicate("on").margin(world.world, ("block", "nowhere"))
    with pytest.raises(UsageError, match="numbers given to 'at'"):
        predicate("at").resolve({"x": 1.0})


def test_predicate_files_must_fit_together() -> None:
    on = predicate("on")
    with pytest.raises(SmithError, match=r"b\.py and predicates/a\.py both define 'on'[\s\S]*c\.py must define PREDICATE"):
        collect({"a": on, "b": on, "c": SimpleNamespace()})


def test_things_without_collision_shapes_are_refused(world: Bench) -> None:
    geoms = world.world.items["can"].geoms
    kept = world.world.model.geom_contype[geoms].copy(), world.world.model.geom_conaffinity[geoms].copy()
    try:
        world.world.model.geom_contype[geoms] = 0
        world.world.model.geom_conaffinity[geoms] = 0
        with pytest.raises(UsageError, match="'can' has no collision shape"):
            type(world.probe)(world.world).shape("can")
    finally:
        world.world.model.geom_contype[geoms], world.world.model.geom_conaffinity[geoms] = kept
