"""Ropes and grains: what they are made of, how they move, what is asked of them, and how the robot handles them."""

from functools import cache

import mujoco
import numpy as np
import pytest
from task_worlds import TABLE, p

from embodiedsmith import assets
from embodiedsmith.embodiments import contact
from embodiedsmith.motion import demonstrate, symbolic
from embodiedsmith.motion.controller import Controller
from embodiedsmith.motion.errors import MotionError
from embodiedsmith.motion.skills import skills
from embodiedsmith.spec import AssetSpec, EmbodimentSpec, Goal, Item, Pose, Scenario, SceneSpec, TaskSpec
from embodiedsmith.tasks import Session, predicate
from embodiedsmith.tasks.predicates.straightened import lay
from embodiedsmith.world import World, WorldFault
from embodiedsmith.world.compile import GRAIN_IMPRATIO


def scenario(goal: Goal, *items: Item) -> Scenario:
    """Things on a table before a Panda."""
    table = Item(id="table", asset=AssetSpec(category="table"), pose=Pose.planar(0.6, 0.0), fixed=True)
    robot = EmbodimentSpec(name="panda", base=Pose.planar(0.0, 0.0, TABLE))
    return Scenario(scene=SceneSpec(items=(table, *items)), task=TaskSpec(goal=goal, horizon=60.0), embodiment=robot)


# ------------------------------------------------------------------ rope


def rope_scenario() -> Scenario:
    """A rope before the robot."""
    rope = Item(id="rope", asset=AssetSpec(category="rope"), parent="table", pose=Pose.planar(-0.15, 0.0, 0.0, 1.2))
    return scenario(p("straightened", "rope"), rope)


@cache
def rope_world() -> tuple[World, np.ndarray]:
    """A settled rope, and its state."""
    made = World(rope_scenario())
    made.reset(np.random.default_rng(0))
    return made, made.save()


def fresh() -> World:
    made, state = rope_world()
    made.restore(state)
    return made


def test_a_rope_is_as_long_and_heavy_as_its_links() -> None:
    asset = assets.build(AssetSpec(category="rope"))
    assert asset.matter is not None and asset.matter.kind == "rope"
    assert len(asset.matter.bodies) == 30
    made = fresh()
    points = made.matter("rope")
    steps = np.linalg.norm(np.diff(points[:, :2], axis=0), axis=1)
    assert (steps < asset.matter.spacing + 1e-6).all() and (steps > 0.85 * asset.matter.spacing).all()
    assert made.model.body_subtreemass[made.items["rope"].body] == pytest.approx(asset.mass)
    link = 200 * (np.pi * 0.006**2 * 0.014 + 4 / 3 * np.pi * 0.006**3)
    assert asset.mass == pytest.approx(30 * link, rel=1e-6)


def test_a_rope_rests_as_it_is_laid_and_goes_on_with_the_same_bits() -> None:
    made = fresh()
    before = made.matter("rope")
    state = made.save()

    def go_on() -> np.ndarray:
        for _ in range(20):
            made.step(made.command)
        return made.save()

    end = go_on()
    assert np.abs(made.matter("rope") - before).max() < 0.001
    assert made.speed() < 0.001 and not made.overlaps(0.001)
    made.restore(state)
    assert np.array_equal(go_on(), end)


def test_a_rope_does_not_pass_through_itself() -> None:
    """Folded upon itself in the air, it falls into a heap of links that lie on each other."""
    made = fresh()
    lay(made, item="rope", angles=np.linspace(0.0, 4 * np.pi, 30))
    made.data.qpos[made.items["rope"].qpos + 2] += 0.05
    mujoco.mj_forward(made.model, made.data)
    for _ in range(30):
        made.step(made.command)
    points = made.matter("rope")
    near = np.linalg.norm(points[:, None] - points[None], axis=-1)
    apart = np.abs(np.subtract.outer(np.arange(30), np.arange(30))) > 2
    assert near[apart].min() > 0.009
    assert points[:, 2].min() > TABLE - 0.001


@pytest.mark.parametrize("bend", [0.0, 0.3, 1.0])
def test_straightened_is_the_distance_of_the_ends(bend: float) -> None:
    made = fresh()
    lay(made, item="rope", angles=np.where(np.arange(30) < 15, -bend, bend))
    ends = 0.014 * 29 * np.cos(bend)  # from the middle of one end link to that of the other
    margin = predicate("straightened").margin(made, ("rope",))
    assert margin == pytest.approx(ends - 0.98 * 29 * 0.014, abs=1e-4)
    assert (margin > 0) == (bend < 0.1)


def test_straightened_sees_through_its_near_misses() -> None:
    made = fresh()
    kind = predicate("straightened")
    lay(made, item="rope", angles=np.zeros(30))
    assert kind.margin(made, ("rope",)) == pytest.approx(0.02 * 29 * 0.014, abs=1e-5)
    state = made.save()
    misses = list(kind.near_misses(made, ("rope",), kind.resolve({})))
    assert len(misses) >= 4
    for miss in misses:
        made.restore(state)
        miss.apply(made)
        assert kind.margin(made, ("rope",)) <= 0, miss.name


def test_only_a_rope_is_pulled_straight() -> None:
    kind = predicate("straightened")
    things = {"rope": assets.build(AssetSpec(category="rope")), "box": assets.build(AssetSpec(category="box"))}
    assert kind.faults(things, ("rope",), {}) == []
    assert kind.faults(things, ("box",), {}) == ["'box' is not a rope: it cannot be pulled straight"]
    assert "between 0.5 and 1" in kind.faults(things, ("rope",), {"ratio": 1.2})[0]


@pytest.mark.parametrize("seed", range(2))
def test_the_robot_pulls_it_straight(seed: int) -> None:
    made = World(rope_scenario())
    recording = demonstrate(Session(made), np.random.default_rng(seed))
    assert recording.outcome == "success", recording.failure
    made.restore(recording.states[-1])
    points = made.matter("rope")
    assert np.linalg.norm(points[-1] - points[0]) >= 0.98 * 29 * 0.014
    assert made.grasped() == ()
    assert np.isfinite(recording.states).all()


def test_straightening_is_one_step_and_needs_an_empty_hand() -> None:
    made = fresh()
    assert [str(step) for step in symbolic.plan(made, p("straightened", "rope"))] == ["straighten(rope, table.top)"]
    lay(made, item="rope", angles=np.zeros(30))
    assert symbolic.plan(made, p("straightened", "rope")) == ()
    session = Session(made)
    session.reset(np.random.default_rng(1))
    control = Controller(session, np.random.default_rng(1))
    control.take("rope")
    with pytest.raises(MotionError, match="rope is in the hand"):
        skills()["straighten"].run(control, ("rope", "table.top"), ())


def test_a_rope_that_blows_up_is_a_typed_fault() -> None:
    made = fresh()
    made.data.qvel[made.items["rope"].dof + 8] = np.nan
    with pytest.raises(WorldFault):
        made.step(made.command)


# ------------------------------------------------------------------ grains


def beans_scenario(count: int) -> Scenario:
    """Beans in a bowl, and a tray beside it."""
    return scenario(
        p("inside", "bowl", "tray"),
        Item(id="bowl", asset=AssetSpec(category="bowl"), parent="table", pose=Pose.planar(-0.15, 0.1, 0.0, 0.3)),
        Item(id="tray", asset=AssetSpec(category="tray"), parent="table", pose=Pose.planar(-0.05, -0.28)),
        Item(
            id="beans", asset=AssetSpec(category="beans", params={"count": count}), parent="bowl", pose=Pose(), relation="inside"
        ),
    )


def in_bowl(world: World) -> int:
    """How many beans are between the bowl's floor and its rim."""
    cavity, T = world.cavity("bowl")
    local = (world.matter("beans") - T[:3, 3]) @ T[:3, :3]
    wide = np.hypot(local[:, 0], local[:, 1]) < 0.07
    return int((wide & (local[:, 2] > -0.005) & (local[:, 2] < cavity.size[2])).sum())


@cache
def beans_world() -> tuple[World, np.ndarray]:
    """Forty beans at rest in a bowl, and their state."""
    made = World(beans_scenario(40))
    made.reset(np.random.default_rng(0))
    return made, made.save()


def test_grains_begin_apart_and_weigh_what_beans_weigh() -> None:
    asset = assets.build(AssetSpec(category="beans"))
    assert asset.matter is not None and len(asset.matter.bodies) == 150
    model = asset.mjspec.compile()
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    assert data.ncon == 0
    points = data.xpos[[model.body(name).id for name in asset.matter.bodies]]
    low, high = np.asarray(asset.extents)
    assert (points.min(axis=0) - 0.005 >= low - 1e-9).all() and (points.max(axis=0) + 0.005 <= high + 1e-9).all()
    assert asset.mass == pytest.approx(150 * 1250 * 4 / 3 * np.pi * 0.005**3)
    assert model.body_mass.sum() == pytest.approx(asset.mass)


def test_beans_come_to_rest_in_their_bowl_wherever_it_is_drawn() -> None:
    made, state = beans_world()
    made.restore(state)
    assert in_bowl(made) == 40
    assert made.speed() < 0.01 and not made.overlaps(0.001)
    middle = made.item_pose("beans")[:3, 3]
    _, T = made.cavity("bowl")
    assert np.linalg.norm(middle[:2] - T[:2, 3]) < 0.01
    assert middle[2] == pytest.approx(made.matter("beans")[:, 2].min() - 0.005)
    assert np.linalg.norm(T[:2, 3] - made.compiled.nominal["bowl"][:2, 3]) > 0.001  # the bowl was varied, the beans came along
    where = made.observation_slices["items/beans"]
    assert np.allclose(made.observe()[where][:3], middle)
    assert where.stop - where.start == 7  # the pose of the heap, not of every grain


def test_grains_go_on_with_the_same_bits() -> None:
    made, state = beans_world()
    made.restore(state)
    heap = made.heaps["beans"]
    heap.put(made.data, made.matter("beans") + np.array([0.0, 0.0, 0.03]))
    mujoco.mj_forward(made.model, made.data)
    made.step(made.command)
    middle = made.save()

    def go_on() -> np.ndarray:
        for _ in range(6):
            made.step(made.command)
        return made.save()

    end = go_on()
    made.restore(middle)
    assert np.array_equal(go_on(), end)


def test_a_bowl_of_beans_is_carried_and_loses_none() -> None:
    made = World(beans_scenario(40))
    recording = demonstrate(Session(made), np.random.default_rng(0))
    assert recording.outcome == "success", recording.failure
    for state in recording.states[:: max(1, len(recording.states) // 6)]:
        made.restore(state)
        assert in_bowl(made) == 40
    assert np.isfinite(recording.states).all()


DIG = ((0.0, -0.012, 0.2, 0.0), (0.4, -0.012, 0.10, 0.87), (0.7, -0.022, 0.042, 0.87), (1.4, 0.012, 0.026, 0.35),
       (1.8, 0.012, 0.028, -0.14), (2.4, 0.0, 0.14, -0.14))  # fmt: skip
"""Time [s], x and z of the scoop's root over the middle of the bowl's foot [m], and how far it is tipped forwards [rad]."""


def test_a_scoop_led_through_a_bowl_of_beans_carries_at_least_eight() -> None:
    """Its walls alone hold them: the scoop is led by a hand it is welded to, the bowl stands still."""
    spec = mujoco.MjSpec()
    spec.copy_during_attach = True
    contact.OPTIONS.apply(spec)
    spec.option.solver, spec.option.impratio = mujoco.mjtSolver.mjSOL_CG, GRAIN_IMPRATIO
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[1, 1, 0.1])
    beans = AssetSpec(category="beans", params={"count": 120})
    for name, asset, at in (
        ("bowl", AssetSpec(category="bowl"), (0.0, 0.0, 0.0)),
        ("beans", beans, (0.0, 0.0, 0.006)),
        ("scoop", AssetSpec(category="scoop"), (DIG[0][1], 0.0, DIG[0][2])),
    ):
        spec.attach(assets.build(asset).mjspec, prefix=f"{name}/", frame=spec.worldbody.add_frame(pos=at))
    spec.body("scoop/root").add_freejoint()
    spec.worldbody.add_body(name="hand", mocap=True, pos=[DIG[0][1], 0.0, DIG[0][2]])
    spec.add_equality(
        type=mujoco.mjtEq.mjEQ_WELD, objtype=mujoco.mjtObj.mjOBJ_BODY, name1="hand", name2="scoop/root",
        data=[0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0], solref=[0.01, 1],
    )  # fmt: skip
    model = spec.compile()
    data = mujoco.MjData(model)
    mujoco.mj_step(model, data, 100)  # the beans come to rest
    grains = [model.body(f"beans/grain_{k}").id for k in range(120)]
    times, *path = np.array(DIG).T
    start = data.time
    while data.time - start < times[-1]:
        x, z, tip = (np.interp(data.time - start, times, values) for values in path)
        data.mocap_pos[0], data.mocap_quat[0] = (x, 0.0, z), (np.cos(tip / 2), 0.0, np.sin(tip / 2), 0.0)
        mujoco.mj_step(model, data)
    lifted = data.xpos[grains][:, 2] > 0.09
    assert lifted.sum() >= 8
    spilled = ~lifted & (np.hypot(*data.xpos[grains][:, :2].T) > 0.07)
    assert not spilled.any()
    assert not data.warning.number.any()
