"""Levels of difficulty: each contains the one before, and every one of them settles, stays on its support and within reach."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from flywheel_scenes import BRIEFS, forged

from embodiedsmith import embodiments
from embodiedsmith.flywheel.levels import LEVELS, LevelConfig, at_difficulty, at_level, difficulty, nearest_level, unnamed
from embodiedsmith.motion import demonstrate
from embodiedsmith.runtime.errors import UsageError
from embodiedsmith.runtime.seeds import generator
from embodiedsmith.spec import Randomization, Scenario, predicates, split_reference
from embodiedsmith.tasks import Session
from embodiedsmith.world import World

SCENES = list(BRIEFS)


def contains(outer: tuple[float, float], inner: tuple[float, float]) -> bool:
    return outer[0] <= inner[0] and inner[1] <= outer[1]


def within(wide: Randomization, narrow: Randomization) -> bool:
    """Whether everything that `narrow` can draw `wide` can draw, too."""
    return (
        all(contains(getattr(wide, k), getattr(narrow, k)) for k in ("friction", "mass", "light"))
        and all(
            getattr(wide, k) >= getattr(narrow, k)
            for k in ("position", "yaw", "robot_joints", "torque_noise", "observation_noise", "camera")
        )
        and all(
            contains(wide.areas[name].x, a.x) and contains(wide.areas[name].y, a.y) and wide.areas[name].yaw >= a.yaw
            for name, a in narrow.areas.items()
        )
    )


@pytest.mark.parametrize("name", SCENES)
def test_each_level_contains_the_one_before(name: str) -> None:
    scenario = forged(name)
    levels = [at_level(scenario, k) for k in range(1, LEVELS + 1)]
    for easier, harder in pairwise(levels):
        assert within(harder.randomization, easier.randomization)
        assert harder.randomization != easier.randomization
        assert {i.id for i in easier.scene.items} <= {i.id for i in harder.scene.items}
    assert len({level.id for level in levels}) == LEVELS
    assert levels[-1].scene == scenario.scene
    named = {split_reference(a)[0] for p in predicates(scenario.task.goal) for a in p.args}
    free = {item.id for item in levels[0].scene.items if not item.fixed}
    assert free <= named
    assert named <= {item.id for item in levels[0].scene.items}
    assert all(level.task == scenario.task and level.embodiment == scenario.embodiment for level in levels)


def test_physics_varies_from_level_seven_on() -> None:
    scenario = forged("basket")
    below, above = at_level(scenario, 6).randomization, at_level(scenario, 7).randomization
    assert (below.friction, below.mass, below.torque_noise, below.observation_noise) == ((1, 1), (1, 1), 0, 0)
    assert (above.friction, above.mass, above.torque_noise, above.observation_noise) == ((0.5, 1.5), (0.8, 1.2), 0.05, 0.02)


def test_levels_are_points_on_one_line() -> None:
    scenario = forged("stack")
    for level in range(1, LEVELS + 1):
        assert at_difficulty(scenario, difficulty(level)) == at_level(scenario, level)
        assert nearest_level(difficulty(level)) == level
    assert (difficulty(1), difficulty(10), difficulty(1, 1)) == (0.0, 1.0, 1.0)
    between = at_difficulty(scenario, 0.5)
    assert within(at_level(scenario, 6).randomization, between.randomization)
    assert within(between.randomization, at_level(scenario, 5).randomization)


def test_wrong_levels_and_difficulties_are_refused() -> None:
    with pytest.raises(UsageError, match=r"there is no level 11[\s\S]*valid: 1, 2"):
        at_level(forged("basket"), 11)
    with pytest.raises(UsageError, match=r"the difficulty 1\.2 is not within 0 and 1"):
        at_difficulty(forged("basket"), 1.2)


@pytest.mark.parametrize("name", SCENES)
def test_the_hardest_level_settles_everywhere_on_its_supports(name: str) -> None:
    scenario = at_level(forged(name), LEVELS)
    world = World(scenario)
    laid_out = {k: T[:2, 3] for k, T in world.compiled.nominal.items()}
    strayed: dict[str, list[np.ndarray]] = {name: [] for name in scenario.randomization.areas}
    for attempt in range(12):
        world.reset(generator(0, scenario.id, attempt, "attempt"))
        for item, area in scenario.randomization.areas.items():
            shift = world.item_pose(item)[:2, 3] - laid_out[item]
            strayed[item].append(shift)
            for value, (low, high) in zip(shift, (area.x, area.y), strict=True):
                assert low - 0.005 <= value <= high + 0.005
            parent = scenario.scene.item(item).parent
            assert parent is not None
            support, T = world.support(parent)
            local = (np.linalg.inv(T) @ world.item_pose(item))[:3, 3]
            assert (np.abs(local[:2]) <= np.array(support.size) / 2).all()
            assert abs(local[2]) < 0.03
    for item, shifts in strayed.items():
        area = scenario.randomization.areas[item]
        room = np.array([area.x[1] - area.x[0], area.y[1] - area.y[0]])
        assert (np.ptp(shifts, axis=0) > 0.4 * room).all(), f"{item} is hardly strewn over {room}"


@pytest.mark.parametrize("name", ["basket", "stack", "drawer"])
def test_what_the_task_handles_stays_within_the_arm_s_work_space(name: str) -> None:
    scenario = forged(name)
    near, far = embodiments.get("panda").work
    nominal = World(scenario).compiled.nominal
    assert scenario.embodiment.base is not None
    base = np.array(scenario.embodiment.base.position[:2])
    handled = {p.args[0] for p in predicates(scenario.task.goal)} - {"drawer_unit.drawer_top"}
    for item in handled:
        area = at_level(scenario, LEVELS).randomization.areas[item]
        corners = nominal[item][:2, 3] + np.array([[x, y] for x in area.x for y in area.y]) - base
        assert near <= np.linalg.norm(corners, axis=1).min()
        assert np.linalg.norm(corners, axis=1).max() <= far
        assert area.x[1] - area.x[0] > 0.05
        assert area.y[1] - area.y[0] > 0.05


def test_the_lowest_level_hardly_varies() -> None:
    scenario = at_level(forged("basket"), 1)
    world = World(scenario)
    nominal = world.compiled.nominal
    for attempt in range(5):
        world.reset(generator(0, scenario.id, attempt, "attempt"))
        for item in ("can", "basket"):
            assert np.abs(world.item_pose(item)[:2, 3] - nominal[item][:2, 3]).max() < 0.01


@pytest.mark.parametrize("level", [1, 5, 10])
def test_the_solver_still_does_the_task_at_every_difficulty(level: int) -> None:
    scenario = at_level(forged("basket"), level)
    session = Session(World(scenario))
    done = [demonstrate(session, generator(0, scenario.id, k, "attempt")).outcome for k in range(4)]
    assert done == ["success"] * 4


def test_distractors_come_before_what_stands_in_the_way() -> None:
    scenario = forged("drawer")
    assert unnamed(scenario) == ("spoon", "glass")  # the glass stands nearer to the mug
    assert "spoon" in {i.id for i in at_level(scenario, 2).scene.items}
    assert "glass" not in {i.id for i in at_level(scenario, 5).scene.items}
    assert unnamed(forged("basket")) == ()


def test_a_config_says_how_far_it_goes() -> None:
    scenario: Scenario = forged("stack")
    small = at_level(scenario, 10, config=LevelConfig(position=0.03, yaw=0.5))
    for area in small.randomization.areas.values():
        assert max(-area.x[0], area.x[1], -area.y[0], area.y[1]) <= 0.03
        assert area.yaw <= 0.5
