"""Liquids: nothing is lost, weight and level are right, states replay bit for bit, and it is seen."""

from dataclasses import replace
from functools import cache

import mujoco
import numpy as np
import pytest
import trimesh
from liquid_worlds import into, liquids_of, water_scene
from task_worlds import kitchen, p

from embodiedsmith.bench.liquid import FILL, MOTIONS, ClosedCup
from embodiedsmith.runtime.errors import SmithError
from embodiedsmith.tasks.goal import goal_faults
from embodiedsmith.world import World
from embodiedsmith.world.errors import CompileError
from embodiedsmith.world.liquid.grid import COARSEST, Float, distance_grid, thinnest
from embodiedsmith.world.liquid.liquids import WORKSPACE
from embodiedsmith.world.liquid.solver import GRAVITY, CpuSolver, FluidOptions
from embodiedsmith.world.liquid.surface import surface
from embodiedsmith.world.render import WorldRenderer


@pytest.mark.parametrize("motion", MOTIONS)
@pytest.mark.parametrize("wall", [0.003, 0.0045])
def test_a_closed_cup_loses_nothing(wall: float, motion: str) -> None:
    water = ClosedCup(wall, 600)
    water.run(2.5, motion)
    assert water.inside().all()
    assert len(water.solver.x) == 600


def test_water_at_rest_weighs_what_it_weighs_and_stands_as_high_as_it_should() -> None:
    water = ClosedCup(0.0045, 1500)
    force = water.run(3.0)[-240:].mean(axis=0)
    assert force[2] == pytest.approx(-water.weight, rel=0.005)
    assert np.abs(force[:2]).max() < 0.005 * water.weight
    assert water.level() == pytest.approx(FILL, rel=0.03)


@pytest.mark.slow
@pytest.mark.parametrize("motion", MOTIONS)
def test_the_thinnest_walls_hold_the_finest_water_for_twenty_seconds(motion: str) -> None:
    water = ClosedCup(0.003, 2000)
    water.run(20.0, motion)
    assert water.inside().all()
    assert np.isfinite(water.solver.x).all()


def test_the_same_steps_give_the_same_bits() -> None:
    first, second = ClosedCup(0.0045, 600), ClosedCup(0.0045, 600)
    first.run(0.5, "shaken")
    second.run(0.5, "shaken")
    assert np.array_equal(first.solver.x, second.solver.x)


def test_distances_are_those_of_the_shapes() -> None:
    box = np.array([[x, y, z] for x in (0, 0.04) for y in (0, 0.03) for z in (0, 0.02)])
    grid = distance_grid([box])
    far = np.hypot(0.005, 0.5 * grid.cell / np.sqrt(2)) - 0.005  # samples of the surface are half a cell apart
    assert grid.cell <= COARSEST and far < 5e-4
    assert grid.at(np.array([[0.02, 0.015, 0.025]]))[0] == pytest.approx(0.005, abs=far)
    assert grid.at(np.array([[0.02, 0.015, 0.015]]))[0] == pytest.approx(-0.005, abs=far)
    assert thinnest([box]) == pytest.approx(0.02)


def test_a_physics_step_in_two_halves_is_the_same_step() -> None:
    """What lets the fluid in between: worlds without liquid could as well step so, bit for bit."""
    world = World(kitchen(p("on", "block", "table")))
    world.reset(np.random.default_rng(0))
    whole, halves = mujoco.MjData(world.model), mujoco.MjData(world.model)
    for data in (whole, halves):
        mujoco.mj_copyData(data, world.model, world.data)
    for _ in range(60):
        mujoco.mj_step(world.model, whole)
        mujoco.mj_step1(world.model, halves)
        mujoco.mj_step2(world.model, halves)
    assert np.array_equal(whole.qpos, halves.qpos)
    assert np.array_equal(whole.qvel, halves.qvel)


# ---------------------------------------------------------------------- in a world


@cache
def settled() -> World:
    """Water in a jug at rest."""
    world = World(water_scene())
    world.reset(np.random.default_rng(0))
    return world


@cache
def start() -> Float:
    return settled().save()


def fresh() -> World:
    """The world as it was when it had settled."""
    state = start()
    settled().restore(state)
    return settled()


def test_the_water_is_in_the_jug_and_the_jug_carries_its_weight() -> None:
    world = fresh()
    liquids = liquids_of(world)
    jug = world.model.body("jug/root").id
    pushed = []
    for _ in range(20):
        world.step(world.command)
        pushed.append(world.data.xfrc_applied[jug, 2])
    assert liquids.held_by("water", "jug.inside", world.data) == 1.0
    assert np.mean(pushed) == pytest.approx(-0.18 * GRAVITY, rel=0.005)
    assert world.matter("water").shape == (500, 3)
    assert np.allclose(world.item_pose("water")[:3, 3], world.matter("water").mean(axis=0), atol=1e-6)


def test_a_state_in_the_middle_of_a_splash_replays_bit_for_bit() -> None:
    world = fresh()
    into(world, "bowl.inside")
    lifted = liquids_of(world).points("water") + np.array([0.0, 0.0, 0.08])
    liquids_of(world).put("water", lifted, world.data)
    for _ in range(3):
        world.step(world.command)
    middle = world.save()
    for _ in range(4):
        world.step(world.command)
    end = world.save()
    other = World(water_scene())  # a state fits every world of the scenario, also one that has never been reset
    other.restore(middle)
    for _ in range(4):
        other.step(world.command)
    assert np.array_equal(other.save(), end)
    world.restore(middle)
    assert np.array_equal(world.save(), middle)
    for _ in range(4):
        world.step(world.command)
    assert np.array_equal(world.save(), end)


def test_what_leaves_the_workspace_is_retired_and_counted() -> None:
    world = fresh()
    liquids = liquids_of(world)
    points = liquids.points("water")
    points[:7] += [WORKSPACE + 0.5, 0.0, 1.0]
    liquids.put("water", points, world.data)
    world.step(world.command)
    assert liquids.retired("water") == 7
    assert len(world.matter("water")) == 500
    assert liquids.held_by("water", "jug.inside", world.data) == pytest.approx(493 / 500)
    world.step(world.command)
    assert liquids.retired("water") == 7
    assert np.isfinite(world.save()).all()


def test_what_is_spilled_lies_on_the_table_and_not_in_it() -> None:
    world = fresh()
    liquids = liquids_of(world)
    points = liquids.points("water")
    liquids.put("water", points + np.array([0.0, -0.15, 0.02]), world.data)  # between the vessels
    for _ in range(16):
        world.step(world.command)
    table = world.support("table.top")[1][2, 3]
    on_table = np.abs(liquids.points("water")[:, :2] - [0.6, 0.0]).max(axis=1) < 0.25
    assert on_table.mean() > 0.5
    assert (liquids.points("water")[on_table, 2] > table).all()
    assert liquids.held_by("water", "jug.inside", world.data) == 0.0


def test_thin_walls_are_refused_with_the_remedy() -> None:
    with pytest.raises(CompileError) as caught:
        World(water_scene(source="cup", source_params={"wall": 0.0025}, volume=0.05))
    assert "2.5 mm thick, and liquid needs 3 mm" in str(caught.value)
    assert "thicker walls" in str(caught.value)


@pytest.mark.parametrize("goal", [("poured", "water", "bowl"), ("filled", "bowl")])
def test_thin_walls_of_what_is_poured_into_are_refused_with_the_remedy(goal: tuple[str, ...]) -> None:
    wanted = p(*goal)
    for wall, refused in ((0.0025, True), (0.0035, False)):
        world = World(water_scene(target="cup", target_params={"wall": wall}))
        found = [fault for fault in goal_faults(wanted, world.assets) if "thick" in fault]
        assert bool(found) == refused
        assert all("2.5 mm thick, and liquid needs 3 mm: give it thicker walls" in fault for fault in found)


def test_more_than_fits_is_refused_with_what_does() -> None:
    with pytest.raises(CompileError, match=r"0\.90 l do not fit into 'jug', which takes 0\.\d+ l"):
        World(water_scene(volume=0.9))


def test_a_liquid_needs_something_to_be_in() -> None:
    with pytest.raises(SmithError, match="it must be inside something with an open cavity"):
        World(water_scene(inside=False))


def test_another_reach_or_packing_is_the_callers_choice() -> None:
    options = replace(FluidOptions(), iterations=2)
    assert CpuSolver(np.zeros((1, 3)), 0.005, 1e-4, [], options).options.iterations == 2


# ---------------------------------------------------------------------- what is seen


def test_the_surface_is_closed_and_has_the_volume_of_the_water() -> None:
    axis = np.arange(12) * 0.005
    points = np.stack(np.meshgrid(axis, axis, axis), -1).reshape(-1, 3)
    points = points + 0.0015 * np.sin(np.arange(points.size).reshape(-1, 3) ** 2)
    made = surface(points.astype(np.float32), 0.005, 20_000, 40_000)
    mesh = trimesh.Trimesh(made.vertices, made.faces, process=False)
    sides, back = np.unique(mesh.edges, axis=0, return_counts=True), np.unique(mesh.edges[:, ::-1], axis=0, return_counts=True)
    for one, other in zip(
        sides, back, strict=True
    ):  # closed: every edge as often one way as the other, twice where it touches itself
        assert np.array_equal(one, other)
    assert mesh.volume == pytest.approx(0.06**3, rel=0.12)
    outward = np.einsum("ij,ij->i", mesh.face_normals, made.normals[made.faces[:, 0]])
    assert (outward > 0).mean() > 0.99


def test_a_surface_that_would_be_too_fine_is_coarser() -> None:
    points = np.random.default_rng(0).uniform(0, 0.3, (400, 3)).astype(np.float32)
    made = surface(points, 0.005, 1000, 2000)
    assert 0 < len(made.vertices) <= 1000
    assert len(made.faces) <= 2000


def test_water_is_seen_where_it_is() -> None:
    world = fresh()
    into(world, "bowl.inside")
    with WorldRenderer(world, 160, 120) as renderer:
        full = renderer.segmentation("front")
        world.restore(start())
        empty = renderer.segmentation("front")
        again = renderer.rgb("front")
        assert np.array_equal(again, renderer.rgb("front"))
    water = world.owners.index("water")
    assert (full == water).sum() > 150
    assert (empty == water).sum() < 50
