"""Layout that does not know the task: a sound scene, but not one made for it."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest
from forge_scenes import DRAFTS, draft, item, says

from embodiedsmith import assets
from embodiedsmith.forge.critics import Context
from embodiedsmith.forge.critics.geometry import CRITIC as GEOMETRY
from embodiedsmith.forge.layout import LayoutError, layout
from embodiedsmith.spec import Predicate, Scenario
from embodiedsmith.world import World
from embodiedsmith.world.compile import build_assets, root_poses

SEEDS = 6
NOT_ITS_BUSINESS = {"geometry.too_large", "geometry.too_many", "geometry.swing_blocked", "geometry.handle_blocked"}


@cache
def apart(name: str, seed: int) -> Scenario:
    return layout(DRAFTS[name], np.random.default_rng(seed), anticipate=False)


@pytest.mark.parametrize("name", DRAFTS)
def test_things_stand_apart_on_their_supports_and_come_to_rest(name: str) -> None:
    for seed in range(2):
        made = apart(name, seed)
        assert {f.code for f in GEOMETRY.review(Context(made))} <= NOT_ITS_BUSINESS
        World(made).reset(np.random.default_rng(0))


def test_it_does_not_depend_on_the_goal() -> None:
    """The same things with another task stand in the same places."""
    scenario = DRAFTS["drawer"]
    for goal in (says("lifted", "apple"), says("open", "drawer_unit.drawer_bottom"), Predicate(name="upright", args=("mug",))):
        other = scenario.model_copy(update={"task": scenario.task.model_copy(update={"goal": goal})})
        assert layout(other, np.random.default_rng(0), anticipate=False).scene == apart("drawer", 0).scene


def test_the_robot_stands_at_every_side_of_the_work_surface() -> None:
    sides = set()
    for seed in range(16):
        made = layout(DRAFTS["stack"], np.random.default_rng(seed), anticipate=False)
        T = root_poses(made.scene, build_assets(made.scene))["table"]
        sides.add(round(math.atan2(T[1, 0], T[0, 0]) / (math.pi / 2)) % 4)
    assert sides == {0, 1, 2, 3}


def test_it_does_not_stand_in_the_wall_behind_the_work_surface() -> None:
    for seed in range(SEEDS):
        made = apart("wall", seed)
        roots = root_poses(made.scene, build_assets(made.scene))
        assert made.embodiment.base is not None
        way = np.subtract(made.embodiment.base.position[:2], roots["wall_cabinet"][:2, 3])
        assert way @ roots["wall_cabinet"][:2, 0] > 0


def test_furniture_faces_any_way_and_things_stand_out_of_reach() -> None:
    facing, away = set(), []
    for seed in range(16):
        made = layout(DRAFTS["microwave"], np.random.default_rng(seed), anticipate=False)
        roots = root_poses(made.scene, build_assets(made.scene))
        relative = np.linalg.inv(roots["counter"]) @ roots["microwave"]
        facing.add(round(math.atan2(relative[1, 0], relative[0, 0]) / (math.pi / 2)) % 4)
        away.append(float(np.hypot(*roots["bowl"][:2, 3])))
    assert facing == {0, 1, 2, 3}
    assert min(away) < 0.7 < max(away)


def test_furniture_on_the_floor_has_its_back_to_a_wall_of_the_room() -> None:
    for seed in range(SEEDS):
        made = apart("fridge", seed)
        roots = root_poses(made.scene, build_assets(made.scene))
        way = roots["counter"][:2, 3] - roots["fridge"][:2, 3]
        assert way @ roots["fridge"][:2, 0] > 0.5  # it looks into the room


def test_sizes_are_changed_for_what_starts_inside_but_not_for_the_task() -> None:
    goal = says("inside", "pan", "drawer_unit.drawer_top")
    scenario = draft([item("counter"), item("drawer_unit", "counter"), item("pan", "counter")], goal)
    made = layout(scenario, np.random.default_rng(0), anticipate=False)
    assert build_assets(made.scene)["drawer_unit"].size == pytest.approx(assets.build(item("drawer_unit").asset).size)
    pan = item("pan", "drawer_unit", relation="inside", support="drawer_top")
    starts = draft([item("counter"), item("drawer_unit", "counter"), pan], goal)
    made = layout(starts, np.random.default_rng(0), anticipate=False)
    assert build_assets(made.scene)["drawer_unit"].size[1] > assets.build(item("drawer_unit").asset).size[1]


def test_a_vehicle_starts_anywhere_clear() -> None:
    bases = [apart("mobile", seed).embodiment.base for seed in range(SEEDS)]
    assert len({b.position for b in bases if b is not None}) == SEEDS
    assert max(abs(b.yaw) for b in bases if b is not None) > 0.5


def test_it_too_says_what_has_no_place() -> None:
    crowd = [item("table", params={"width": 0.6, "depth": 0.5}, size="small"), *(item(f"pan_{k}", "table") for k in range(6))]
    with pytest.raises(LayoutError, match="no place for pan_"):
        layout(draft(crowd, says("lifted", "pan_0")), np.random.default_rng(0), anticipate=False)
