"""The layout solver: what it places is apart, in reach, free to move and in view, and what cannot be placed is said so."""

from __future__ import annotations

import math
from functools import cache

import mujoco
import numpy as np
import pytest
from forge_scenes import DRAFTS, draft, item, says
from hypothesis import given, settings
from hypothesis import strategies as st

from embodiedsmith import assets, embodiments
from embodiedsmith.forge.layout import LayoutError, fit, layout, needs
from embodiedsmith.forge.layout.prisms import Kind, Prism, grown, pairwise, prism
from embodiedsmith.forge.layout.volumes import apply, corners, volumes
from embodiedsmith.motion.kinematics import kinematics
from embodiedsmith.spec import All, AssetSpec, Pose, Scenario, Sequence
from embodiedsmith.world import CompileError, World
from embodiedsmith.world import transforms as tf
from embodiedsmith.world.compile import build_assets, root_poses
from embodiedsmith.world.render import WorldRenderer


@cache
def laid_out(name: str, seed: int = 0) -> Scenario:
    return layout(DRAFTS[name], np.random.default_rng(seed))


@cache
def world_of(name: str) -> World:
    world = World(laid_out(name))
    world.reset(np.random.default_rng(1))
    return world


def rectangle(x: float, y: float, a: float, b: float, yaw: float) -> Prism:
    return Prism(kind=Kind.FREE, owner="it", center=(x, y), half=(a, b), yaw=yaw, low=0.0, high=1.0)


def border(box: Prism, n: int = 24) -> np.ndarray:
    """Points along the four sides."""
    t = np.linspace(-1, 1, n)
    one = np.ones(n)
    unit = np.concatenate([np.stack([t, one], 1), np.stack([t, -one], 1), np.stack([one, t], 1), np.stack([-one, t], 1)])
    c, s = math.cos(box.yaw), math.sin(box.yaw)
    return (unit * box.half) @ np.array([[c, s], [-s, c]]) + box.center


# ---------------------------------------------------------------------- the geometry it stands on

numbers = st.floats(-1.0, 1.0)
sides = st.floats(0.05, 0.6)
rectangles = st.builds(rectangle, numbers, numbers, sides, sides, st.floats(-4.0, 4.0))


@given(rectangles, rectangles)
@settings(max_examples=120, deadline=None)
def test_a_gap_never_exceeds_the_distance_and_is_symmetric(a: Prism, b: Prism) -> None:
    gap = float(pairwise([a], [b])[0, 0])
    distance = np.linalg.norm(border(a)[:, None] - border(b)[None], axis=-1).min()
    assert gap <= distance + 1e-9
    assert gap == pytest.approx(float(pairwise([b], [a])[0, 0]), abs=1e-9)


@given(rectangles, rectangles)
@settings(max_examples=120, deadline=None)
def test_a_positive_gap_means_apart(a: Prism, b: Prism) -> None:
    """By the independent test of points of one within the other."""
    c, s = math.cos(b.yaw), math.sin(b.yaw)
    inside = np.abs((border(a) - b.center) @ np.array([[c, -s], [s, c]])) < np.array(b.half) - 1e-9
    touching = bool(inside.all(axis=1).any())
    assert not (touching and float(pairwise([a], [b])[0, 0]) > 0)


def test_known_gaps() -> None:
    a = rectangle(0, 0, 0.5, 0.5, 0)
    assert pairwise([a], [rectangle(2, 0, 0.5, 0.5, 0)])[0, 0] == pytest.approx(1.0)
    assert pairwise([a], [rectangle(2, 0, 0.5, 0.5, math.pi / 4)])[0, 0] == pytest.approx(1.5 - math.sqrt(0.5))
    assert pairwise([a], [rectangle(0.9, 0, 0.5, 0.5, 0)])[0, 0] == pytest.approx(-0.1)
    above = Prism(kind=Kind.FREE, owner="it", center=(0, 0), half=(0.5, 0.5), yaw=0, low=1.0, high=2.0)
    assert pairwise([a], [above])[0, 0] == math.inf


@given(sides, sides, st.floats(0, 3.1), st.floats(0, 1))
@settings(max_examples=100, deadline=None)
def test_a_grown_rectangle_holds_the_turned_one(x: float, y: float, turn: float, part: float) -> None:
    half = grown((x, y), turn)
    angle = part * turn
    c, s = abs(math.cos(angle)), abs(math.sin(angle))
    assert c * x + s * y <= half[0] + 1e-9
    assert c * y + s * x <= half[1] + 1e-9


def test_a_drawer_sweeps_its_way_and_a_hand_stands_before_it() -> None:
    unit = assets.build(item("drawer_unit").asset)
    room = volumes(unit)
    front = unit.extents[1][0]
    for sweep in room.sweeps:
        travel = unit.joints[sweep.joint].open - unit.joints[sweep.joint].closed
        ((points, _),) = sweep.moving
        assert points[:, 0].max() == pytest.approx(front + travel, abs=0.01)
        ((hand, _),) = sweep.hand
        assert hand[:, 0].max() > front + travel + 0.08


# ---------------------------------------------------------------------- what it makes


@pytest.mark.parametrize("name", DRAFTS)
def test_the_same_draws_give_the_same_layout_and_others_another(name: str) -> None:
    again = layout(DRAFTS[name], np.random.default_rng(0))
    assert again == laid_out(name)
    assert layout(DRAFTS[name], np.random.default_rng(1)).id != again.id


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", DRAFTS)
def test_nothing_touches_whatever_the_variation_draws(name: str, seed: int) -> None:
    """True footprints at random draws of the reset's variation, for every pair that does not carry each other."""
    scenario = laid_out(name, seed)
    built = build_assets(scenario.scene)
    roots = root_poses(scenario.scene, built)
    rng = np.random.default_rng(seed)
    random = scenario.randomization
    items = {i.id: i for i in scenario.scene.items}

    def carries(a: str, b: str) -> bool:
        at = items[b].parent
        while at is not None:
            if at == a:
                return True
            at = items[at].parent
        return False

    for _ in range(12):
        boxes = {}
        for name_, T in roots.items():
            moved = T.copy()
            if not items[name_].fixed:
                dx, dy, turn = rng.choice((-1, 1), 3) * (random.position, random.position, random.yaw * rng.random())
                moved[:2, 3] += dx, dy
                moved[:3, :3] = tf.turn_z(turn)[:3, :3] @ T[:3, :3]
            boxes[name_] = volumes(built[name_]).solid(Kind.FREE, name_, moved)
        for a in boxes:
            for b in boxes:
                if a < b and not carries(a, b) and not carries(b, a):
                    gap = float(pairwise([boxes[a]], [boxes[b]])[0, 0])
                    assert gap > (0.0 if items[a].fixed and items[b].fixed else 0.004), (a, b, gap)


@pytest.mark.parametrize("name", [n for n in DRAFTS if n != "mobile"])
def test_a_fixed_robot_stands_at_the_surface_and_reaches_the_task(name: str) -> None:
    scenario = laid_out(name)
    built = build_assets(scenario.scene)
    roots = root_poses(scenario.scene, built)
    surface = scenario.scene.items[0].id
    base = scenario.embodiment.base
    assert base is not None
    top = built[surface].affordances.support("top")
    above = base.position[2] - float(roots[surface][2, 3]) - top.pose.position[2]
    assert above == pytest.approx(0.0) if name != "fridge" else -0.56 < above < 1e-9
    near_edge = apply(roots[surface], np.array([[built[surface].extents[1][0], 0.0, 0.0]]))[0, 0]
    mount = embodiments.get("panda").base.footprint[0] / 2
    assert 0.03 < near_edge - mount < 0.1
    wanted = needs.read(scenario, built)
    assert wanted.handled or wanted.parts
    for thing in wanted.handled:
        assert 0.29 < float(np.hypot(*roots[thing][:2, 3])) < 0.83
    for part in wanted.parts:
        for sweep in volumes(built[part.item]).sweeps:
            if sweep.joint == part.joint and part.required:
                away = np.hypot(*apply(roots[part.item], sweep.grips)[:, :2].T)
                assert (away > 0.25).all() and (away < 0.80).all()
    for thing, T in roots.items():
        assert float(np.hypot(*T[:2, 3])) > 0.22, f"{thing} stands in the robot"


@pytest.mark.parametrize("name", ["drawer", "microwave", "wall", "fridge", "mobile"])
def test_doors_and_drawers_move_over_their_whole_range_touching_nothing(name: str) -> None:
    world = world_of(name)
    data = mujoco.MjData(world.model)
    moved = 0
    for reference, address in world.joint_qpos.items():
        owner, joint = reference.split(".")
        info = world.assets[owner].joints[joint]
        for fraction in np.linspace(0, 1, 15):
            data.qpos[:] = world.data.qpos
            data.qpos[address] = info.closed + fraction * (info.open - info.closed)
            mujoco.mj_forward(world.model, data)
            touched = _touched(world, data, owner)
            carrier = world.scenario.scene.item(owner).parent
            carried = {i.id for i in world.scenario.scene.items if i.parent == owner or i.id == carrier}
            assert touched <= carried, (reference, fraction, touched)
            moved += 1
    assert moved >= 15


def _touched(world: World, data: mujoco.MjData, owner: str) -> set[str]:
    """What an item touches: other items, the mount. The arm is elsewhere while a door moves."""
    touched: set[str] = set()
    for geoms in data.contact.geom[data.contact.dist < 0]:
        names = [world.model.body(world.model.geom_bodyid[g]).name.split("/")[0] for g in geoms]
        if owner in names:
            touched |= set(names)
    return touched - {owner, "robot", "world"}


@pytest.mark.parametrize("name", DRAFTS)
def test_it_comes_to_rest_with_its_full_variation(name: str) -> None:
    world = world_of(name)
    nominal = world.compiled.nominal
    free = [i.id for i in world.scenario.scene.items if not i.fixed]
    shifts = np.array([world.item_pose(i)[:2, 3] - nominal[i][:2, 3] for i in free])
    assert np.abs(shifts).max() > 0.25 * world.scenario.randomization.position  # it was not shrunk to nothing
    assert np.abs(shifts).max() < 2 * world.scenario.randomization.position + 0.01
    assert world.speed() < 0.02


def test_a_mobile_robot_has_standing_room_before_what_it_works_at() -> None:
    for seed in range(4):
        scenario = laid_out("mobile", seed)
        built = build_assets(scenario.scene)
        roots = root_poses(scenario.scene, built)
        solids = {i: volumes(built[i]).solid(Kind.FIXED, i, roots[i]) for i in ("table", "fridge")}
        for name, other in (("table", "fridge"), ("fridge", "table")):
            _, high = built[name].extents
            room = corners(np.array([high[0] + 0.01, -0.3, 0.0]), np.array([high[0] + 0.9, 0.3, 1.5]))
            T = roots[name]
            stand = prism(Kind.STAND, name, apply(T, room), math.atan2(T[1, 0], T[0, 0]))
            assert pairwise([stand], [solids[other]])[0, 0] >= 0
        base = scenario.embodiment.base
        assert base is not None and base.position[2] == 0.0
        radius = embodiments.get("panda_mobile").base.radius
        vehicle = rectangle(base.position[0], base.position[1], radius, radius, base.yaw)
        assert min(float(pairwise([vehicle], [s])[0, 0]) for s in solids.values()) > 0


@pytest.mark.parametrize("name", ["drawer", "microwave", "basket", "shelf", "mobile"])
def test_the_cameras_see_what_the_task_is_about(name: str) -> None:
    world = world_of(name)
    wanted = needs.read(world.scenario, world.assets)
    places = {t.place for t in wanted.targets}
    with WorldRenderer(world, 128) as renderer:
        pictures = {c.name: renderer.segmentation(c.name) for c in world.scenario.scene.cameras}
    assert set(pictures) == {"front", "over_shoulder"}
    for camera, picture in pictures.items():
        assert (picture == world.owners.index("robot")).sum() > 100, f"{camera} does not see the robot"
        for place in places:
            assert (picture == world.owners.index(place)).sum() > 60, f"{camera} does not see {place}"
    for thing in wanted.handled:
        pixels = [int((p == world.owners.index(thing)).sum()) for p in pictures.values()]
        assert max(pixels) >= 8, f"no camera sees {thing}: {pixels} pixels"


@pytest.mark.parametrize("name", ["drawer", "microwave", "shelf", "wall"])
def test_a_camera_faces_the_front_that_is_opened_or_filled(name: str) -> None:
    front = {"drawer": "drawer_unit", "microwave": "microwave", "shelf": "shelf", "wall": "wall_cabinet"}[name]
    for seed in range(4):
        made = layout(DRAFTS[name], np.random.default_rng(seed))
        T = root_poses(made.scene, build_assets(made.scene))[front]
        ways = [np.asarray(c.position) - T[:3, 3] for c in made.scene.cameras]
        assert max(float(T[:3, 0] @ way / np.linalg.norm(way)) for way in ways) > 0.15


def test_what_hangs_has_a_wall_behind_it_from_the_floor_up() -> None:
    world = world_of("wall")
    wall = world.model.geom("wall_wall_cabinet")
    T = root_poses(world.scenario.scene, world.assets)["wall_cabinet"]
    low, high = world.assets["wall_cabinet"].extents
    assert wall.pos[2] - wall.size[2] == pytest.approx(0.0)
    assert wall.pos[2] + wall.size[2] > T[2, 3] + high[2]
    behind = T[:3, 0] @ (wall.pos - T[:3, 3])
    assert low[0] - 0.01 < behind + wall.size[0] <= low[0]


def test_what_the_draft_places_stays() -> None:
    place, base = Pose.planar(0.05, -0.2, 0.0, 0.3), Pose.planar(0.0, 0.02, 0.74)
    scenario = draft(
        [item("table"), item("block_1", "table", pose=place), item("block_2", "table")],
        says("on", "block_1", "block_2"),
        base=base,
    )
    made = layout(scenario, np.random.default_rng(0))
    assert made.scene.item("block_1").pose == place
    assert made.embodiment.base == base
    assert made.scene.item("block_2").pose is not None


def test_places_where_things_will_be_put_stay_free() -> None:
    """The knife is to lie near the plate: spoon and lemon leave it a spot there."""
    scenario = DRAFTS["plate"]
    for seed in range(4):
        made = layout(scenario, np.random.default_rng(seed))
        built = build_assets(made.scene)
        roots = root_poses(made.scene, built)
        plate, knife = roots["plate"][:2, 3], built["knife"].size
        spoon = volumes(built["spoon"]).solid(Kind.FREE, "spoon", roots["spoon"])
        lemon = volumes(built["lemon"]).solid(Kind.FREE, "lemon", roots["lemon"])
        ring = [plate + 0.5 * (0.25 + max(knife)) * np.array([math.cos(a), math.sin(a)]) for a in np.linspace(0, 6.28, 60)]
        spots = [rectangle(x, y, knife[0] / 2, knife[1] / 2, 0.0) for x, y in ring]
        low = roots["plate"][2, 3]
        spots = [
            Prism(kind=Kind.RESERVED, owner="knife", center=s.center, half=s.half, yaw=s.yaw, low=low, high=low + 0.02)
            for s in spots
        ]
        assert (pairwise(spots, [spoon, lemon]).min(axis=1) > 0.02).any()


# ---------------------------------------------------------------------- what it cannot make


def test_too_many_things_are_refused_with_what_had_no_place() -> None:
    crowd = [item("table", params={"width": 0.6, "depth": 0.5}), *(item(f"pan_{k}", "table") for k in range(6))]
    with pytest.raises(LayoutError) as caught:
        layout(draft(crowd, says("lifted", "pan_0")), np.random.default_rng(0))
    (finding, *_) = caught.value.findings
    assert finding.code == "geometry.no_space"
    assert finding.subjects[0].startswith("pan_")
    assert "cm" in finding.message and " tried, " in str(caught.value)


def test_a_table_does_not_go_into_a_mug() -> None:
    scenario = draft([item("table"), item("mug", "table"), item("pan", "table")], says("inside", "pan", "mug"))
    with pytest.raises(LayoutError, match=r"pan .* does not fit into mug.* cm too large") as caught:
        layout(scenario, np.random.default_rng(0))
    assert caught.value.findings[0].code == "geometry.too_large"


def test_too_many_for_one_container() -> None:
    def apples(n: int) -> Scenario:
        goal = All(goals=tuple(says("inside", f"apple_{k}", "bowl") for k in range(n)))
        return draft([item("table"), item("bowl", "table"), *(item(f"apple_{k}", "table") for k in range(n))], goal)

    with pytest.raises(LayoutError, match=r"14 things of .* too many for bowl") as caught:
        layout(apples(14), np.random.default_rng(0))
    assert caught.value.findings[-1].code == "geometry.too_many"
    two = layout(apples(2), np.random.default_rng(0))
    assert build_assets(two.scene)["bowl"].size[0] > assets.build(item("bowl").asset).size[0]


def test_a_support_that_is_not_there_is_named() -> None:
    scenario = draft([item("table"), item("block_1", "table", support="attic")], says("lifted", "block_1"))
    with pytest.raises(CompileError, match="attic"):
        layout(scenario, np.random.default_rng(0))


def test_a_container_grows_to_hold_what_goes_in_where_nobody_fixed_its_size() -> None:
    goal = says("inside", "pan", "drawer_unit.drawer_top")
    made = layout(
        draft([item("counter"), item("drawer_unit", "counter"), item("pan", "counter")], goal), np.random.default_rng(0)
    )
    built = build_assets(made.scene)
    assert built["drawer_unit"].size[1] > assets.build(item("drawer_unit").asset).size[1]
    assert made.scene.item("pan").asset == item("pan").asset
    assert fit.excess_of(built["pan"], built["drawer_unit"].affordances.cavity("drawer_top")) <= 0


def test_sizes_asked_for_are_kept_and_the_misfit_is_told_in_centimetres() -> None:
    goal = says("inside", "pan", "drawer_unit.drawer_top")
    things = [item("counter"), item("drawer_unit", "counter", size="small"), item("pan", "counter", size="large")]
    with pytest.raises(LayoutError, match=r"pan .* does not fit into drawer_unit.drawer_top .*: \d+\.\d cm too large"):
        layout(draft(things, goal), np.random.default_rng(0))


def test_a_shallow_bowl_grows_until_two_apples_lie_side_by_side() -> None:
    apples = [item("apple_1", "table"), item("apple_2", "table")]
    goal = All(goals=tuple(says("inside", a.id, "bowl") for a in apples))
    made = layout(draft([item("table"), item("bowl", "table"), *apples], goal), np.random.default_rng(0))
    built = build_assets(made.scene)
    across = built["apple_1"].size[0] + built["apple_2"].size[0]
    usual = assets.build(AssetSpec(category="bowl")).affordances.cavities[0].size[0]
    inner = built["bowl"].affordances.cavities[0].size[0]
    assert usual < across * (1 + 2**-0.5) / 2 <= inner + 0.002


# ---------------------------------------------------------------------- two arms


@pytest.mark.parametrize(("hand", "arm"), [("in_left_hand", 0), ("in_right_hand", 1)])
def test_what_a_hand_is_named_for_lies_in_reach_of_that_arm(hand: str, arm: int) -> None:
    robot = embodiments.get("aloha")
    other = {"in_left_hand": "in_right_hand", "in_right_hand": "in_left_hand"}[hand]
    goal = Sequence(goals=(says(hand, "stick"), says(other, "stick")))
    asked = draft([item("table"), item("stick", "table")], goal, robot="aloha")
    nearest = []
    for seed in range(12):
        placed = layout(asked, np.random.default_rng(seed))
        assert placed.embodiment.base is not None
        at = (tf.inverse(tf.matrix(placed.embodiment.base)) @ World(placed).compiled.nominal["stick"])[:2, 3]
        away = [float(np.hypot(*(at - kinematics("aloha", k).mount[:2]))) for k in range(2)]
        assert robot.work[0] <= away[arm] <= robot.work[1]
        nearest.append(int(np.argmin(away)))
    assert arm in nearest
