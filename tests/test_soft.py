"""Soft things: they have a pose and points, give way and spring back, are grasped, squeezed, saved and restored."""

from functools import cache

import mujoco
import numpy as np
import pytest
from task_worlds import TABLE, p
from test_assets_catalogue import lifting_scene

from embodiedsmith import assets
from embodiedsmith.assets.softbody import damp
from embodiedsmith.motion import demonstrate, symbolic
from embodiedsmith.motion.controller import Controller
from embodiedsmith.motion.errors import MotionError
from embodiedsmith.motion.skills import skills
from embodiedsmith.spec import AssetSpec, EmbodimentSpec, Goal, Item, Pose, Scenario, SceneSpec, TaskSpec
from embodiedsmith.tasks import GoalMonitor, Session, predicate
from embodiedsmith.tasks.near_misses import put
from embodiedsmith.tasks.predicates.squeezed import press
from embodiedsmith.world import World, WorldFault

SOFT = ("plush_block", "sponge")


def scenario(goal: Goal, category: str = "plush_block") -> Scenario:
    """A soft thing and a box on a table before a Panda."""
    items = (
        Item(id="table", asset=AssetSpec(category="table"), pose=Pose.planar(0.6, 0.0), fixed=True),
        Item(id="toy", asset=AssetSpec(category=category), parent="table", pose=Pose.planar(-0.15, 0.1, 0.0, 0.3)),
        Item(id="box", asset=AssetSpec(category="box"), parent="table", pose=Pose.planar(-0.1, -0.25)),
    )
    robot = EmbodimentSpec(name="panda", base=Pose.planar(0.0, 0.0, TABLE))
    return Scenario(scene=SceneSpec(items=items), task=TaskSpec(goal=goal, horizon=60.0), embodiment=robot)


@cache
def world(category: str = "plush_block") -> World:
    made = World(scenario(p("inside", "toy", "box"), category))
    made.reset(np.random.default_rng(0))
    return made


@cache
def rested(category: str = "plush_block") -> np.ndarray:
    return world(category).save()


def fresh(category: str = "plush_block") -> World:
    """The world as it was laid out and settled."""
    made, state = world(category), rested(category)
    made.restore(state)
    return made


@cache
def squeezed_world() -> tuple[World, np.ndarray]:
    """A world in which the Panda squeezes the plush block in the air, and its state."""
    made = World(scenario(p("squeezed", "toy")))
    recording = demonstrate(Session(made), np.random.default_rng(3))
    assert recording.outcome == "success", recording.failure
    return made, made.save()


@pytest.mark.parametrize("category", SOFT)
def test_points_are_where_the_thing_is(category: str) -> None:
    made = fresh(category)
    size = made.assets["toy"].size
    for yaw in (0.0, 1.0):
        put(made, "toy", _planar(0.5, 0.2, 1.0, yaw))
        T = made.item_pose("toy")
        local = (made.matter("toy") - T[:3, 3]) @ T[:3, :3]
        assert np.allclose(local.min(axis=0), [-size[0] / 2, -size[1] / 2, 0.0], atol=0.0025)
        assert np.allclose(local.max(axis=0), [size[0] / 2, size[1] / 2, size[2]], atol=0.0025)
        assert np.allclose(made.corners("toy").mean(axis=0), made.matter("toy").mean(axis=0), atol=0.001)


def _planar(x: float, y: float, z: float, yaw: float) -> np.ndarray:
    T = np.eye(4)
    T[:2, :2] = [[np.cos(yaw), -np.sin(yaw)], [np.sin(yaw), np.cos(yaw)]]
    T[:3, 3] = x, y, z
    return T


@pytest.mark.parametrize("category", SOFT)
def test_it_rests_on_the_table_and_contacts_name_it(category: str) -> None:
    made = fresh(category)
    assert ("table", "toy") in made.contacts()
    assert made.touching("toy", "table") and not made.touching("toy", "box")
    for _ in range(20):
        made.step(made.command)
    assert made.speed() < 0.002
    assert made.matter("toy")[:, 2].min() > TABLE - 0.001
    assert not made.overlaps(0.001)


def test_it_has_the_mass_its_material_gives_it() -> None:
    made = fresh()
    mass = made.model.body_subtreemass[made.items["toy"].body]
    assert mass == pytest.approx(150 * 0.055**3, rel=1e-6)
    assert made.assets["toy"].mass == pytest.approx(mass)


def test_a_turned_and_dropped_block_springs_and_comes_to_rest() -> None:
    made = fresh()
    T = _planar(0.5, 0.2, TABLE + 0.08, 0.4)
    T[:3, :3] = T[:3, :3] @ np.array([[1, 0, 0], [0, np.cos(0.6), -np.sin(0.6)], [0, np.sin(0.6), np.cos(0.6)]])
    put(made, "toy", T)
    for _ in range(40):
        made.step(made.command)
    assert made.speed() < 0.01
    size = made.assets["toy"].size
    points = made.matter("toy")
    assert np.ptp(points[:, 2]) == pytest.approx(size[2], abs=0.004)
    R = made.item_pose("toy")[:3, :3]  # the core is turned as the material is
    grid = points.reshape(5, 5, 5, 3)
    for k in range(3):
        axis = np.moveaxis(grid, k, 0)
        along = (axis[-1] - axis[0]).mean(axis=(0, 1))
        assert R[:, k] @ along / np.linalg.norm(along) > 0.999


def test_a_saved_world_goes_on_with_the_same_bits_while_it_is_deformed() -> None:
    made = fresh()
    press(made, item="toy", axis=1, by=0.02)
    made.step(made.command)
    state = made.save()

    def go_on() -> tuple[np.ndarray, np.ndarray]:
        for _ in range(10):
            made.step(made.command)
        return made.save(), made.matter("toy")

    end, points = go_on()
    made.restore(state)
    again, same = go_on()
    assert np.array_equal(end, again) and np.array_equal(points, same)


def test_what_blows_up_is_a_typed_fault() -> None:
    for value in (np.nan, 1e12):
        made = fresh()
        joint = made.model.body_jntadr[made.items["toy"].bodies[1]]
        made.data.qvel[made.model.jnt_dofadr[joint]] = value
        with pytest.raises(WorldFault):
            made.step(made.command)
    fresh().step(rested()[-made.action_size :])


@pytest.mark.parametrize("seed", range(3))
def test_it_is_picked_and_placed_and_springs_back(seed: int) -> None:
    made = World(scenario(p("inside", "toy", "box")))
    recording = demonstrate(Session(made), np.random.default_rng(seed))
    assert recording.outcome == "success", recording.failure
    widths = []
    for state in recording.states[::5]:
        made.restore(state)
        grid = made.matter("toy").reshape(5, 5, 5, 3)
        widths.append(
            min(np.linalg.norm(grid[0] - grid[-1], axis=-1).min(), np.linalg.norm(grid[:, 0] - grid[:, -1], axis=-1).min())
        )
    rest = made.assets["toy"].size[0] - 0.002
    assert min(widths) < 0.75 * rest  # pressed by the fingers
    assert widths[-1] > 0.97 * rest
    assert np.isfinite(recording.states).all()


def test_squeezed_is_how_much_thinner_it_is_than_asked() -> None:
    made, state = squeezed_world()
    made.restore(state)
    kind = predicate("squeezed")
    margin = kind.margin(made, ("toy",))
    assert 0.005 < margin < 0.03
    assert kind.margin(made, ("toy",), {"depth": 0.015}) == pytest.approx(margin - 0.005)
    monitor = GoalMonitor(p("squeezed", "toy"), made)
    assert monitor.reset() == pytest.approx(margin)


def test_squeezed_sees_through_its_near_misses() -> None:
    made, state = squeezed_world()
    kind = predicate("squeezed")
    made.restore(state)
    misses = list(kind.near_misses(made, ("toy",), kind.resolve({})))
    assert len(misses) >= 4
    for miss in misses:
        made.restore(state)
        miss.apply(made)
        assert kind.margin(made, ("toy",)) <= 0, miss.name


def test_only_soft_things_can_be_squeezed() -> None:
    kind = predicate("squeezed")
    things = {"toy": assets.build(AssetSpec(category="sponge")), "box": assets.build(AssetSpec(category="box"))}
    assert kind.faults(things, ("toy",), {}) == []
    assert kind.faults(things, ("box",), {}) == ["'box' is not soft: it cannot be squeezed"]
    assert "gives way by less than" in kind.faults(things, ("toy",), {"depth": 0.2})[0]


def test_squeezing_is_planned_as_picking_and_pressing() -> None:
    made = fresh()
    assert [str(step) for step in symbolic.plan(made, p("squeezed", "toy"))] == ["pick(toy, table.top)", "squeeze(toy)"]
    with pytest.raises(MotionError, match="no sequence of skills brings about squeezed"):
        symbolic.plan(made, p("squeezed", "box"))
    session = Session(made)
    session.reset(np.random.default_rng(1))
    with pytest.raises(MotionError, match="toy is not in the hand"):
        skills()["squeeze"].run(Controller(session, np.random.default_rng(1)), ("toy",), ())


def test_the_flex_is_drawn_in_its_colour() -> None:
    model = assets.build(AssetSpec(category="plush_block", color="blue")).mjspec.compile()
    assert model.flex_group[0] == 2
    assert np.allclose(model.mat_rgba[model.flex_matid[0]], assets.COLORS["blue"].rgba, atol=1e-6)
    assert mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_FLEX, 0) == "soft"


def test_a_block_held_by_its_middle_does_not_blow_up_when_lifted() -> None:
    """Pads as stiff as fingers have them, closing level on a block that is not a cube: it did within a tenth of a second."""
    size = {"length": 0.0552, "width": 0.0640, "height": 0.0479}
    asset = assets.build(AssetSpec(category="plush_block", params=size))
    model = lifting_scene(asset, next(g for g in asset.affordances.grasps if g.kind == "side")).compile()
    damp(model)
    data = mujoco.MjData(model)
    for finger in range(2):
        data.joint(f"finger_{finger}").qpos = 0.035
    fastest = 0.0
    for step in range(288):
        data.ctrl[:] = (-16.0, -16.0, 0.12 * np.clip((step / 240 - 0.5) / 0.6, 0, 1))
        mujoco.mj_step(model, data)
        fastest = max(fastest, float(np.abs(data.qvel).max()))
    assert fastest < 2.0 and not data.warning.number.any()
    assert data.body("it/root").xpos[2] > 0.10
