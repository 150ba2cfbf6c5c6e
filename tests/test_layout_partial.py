"""Layout among what stands already: the rest finds its place round it, and a robot without a base one for it."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest
from forge_scenes import DRAFTS, draft, item, says

from embodiedsmith import embodiments
from embodiedsmith.forge.critics import Context
from embodiedsmith.forge.critics.geometry import CRITIC as GEOMETRY
from embodiedsmith.forge.layout import LayoutError, base_poses, layout
from embodiedsmith.forge.layout.prisms import Kind, pairwise
from embodiedsmith.forge.layout.volumes import volumes
from embodiedsmith.spec import All, Pose, Scenario
from embodiedsmith.world import World
from embodiedsmith.world.compile import build_assets, root_poses

PARTIAL = ("stack", "drawer", "microwave", "shelf", "plate", "fridge", "mobile", "wall")


@cache
def laid_out(name: str) -> Scenario:
    return layout(DRAFTS[name], np.random.default_rng(3))


def without(scenario: Scenario, *items: str, base: bool = False) -> Scenario:
    """The scenario with some items, or the robot, taken up, and its cameras and lights put away."""
    scene = scenario.scene
    for name in items:
        scene = scene.with_item(scene.item(name).model_copy(update={"pose": None}))
    scene = scene.model_copy(update={"cameras": (), "lights": ()})
    body = scenario.embodiment.model_copy(update={"base": None}) if base else scenario.embodiment
    return scenario.model_copy(update={"scene": scene, "embodiment": body})


def faults(scenario: Scenario) -> list[str]:
    return [f.message for f in GEOMETRY.review(Context(scenario)) if f.severity == "error"]


@pytest.mark.parametrize("name", PARTIAL)
def test_one_thing_taken_up_finds_a_place_and_the_rest_stays_bit_for_bit(name: str) -> None:
    before = laid_out(name)
    for taken in [i for i in before.scene.items if i.parent is not None or i.relation == "attached"]:
        after = layout(without(before, taken.id), np.random.default_rng(9))
        for thing in before.scene.items:
            if thing.id != taken.id:
                assert after.scene.item(thing.id) == thing
        assert after.embodiment == before.embodiment
        assert len(after.scene.cameras) == 2 and len(after.scene.lights) == 2
        assert not faults(after)
        World(after).reset(np.random.default_rng(0))


def test_what_stands_is_known_before_what_comes_first_in_the_list_is_placed() -> None:
    """The first mug listed has no place, the others stand where it would like to be."""
    mugs = [item(f"mug_{k}", "table", pose=Pose.planar(0.1, 0.2 * k - 0.4)) for k in range(1, 4)]
    scenario = draft([item("table"), item("mug_0", "table"), *mugs], says("lifted", "mug_0"), base=Pose.planar(0.0, 0.0, 0.74))
    for seed in range(10):
        made = layout(scenario, np.random.default_rng(seed))
        assert [made.scene.item(m.id).pose for m in mugs] == [m.pose for m in mugs]
        assert not faults(made)


def test_furniture_taken_up_takes_along_what_it_holds() -> None:
    before = layout(DRAFTS["take_out"], np.random.default_rng(0))
    after = layout(without(before, "drawer_unit"), np.random.default_rng(1))
    assert after.scene.item("drawer_unit").pose != before.scene.item("drawer_unit").pose
    assert after.scene.item("apple") == before.scene.item("apple")
    assert not faults(after)


def test_a_work_surface_taken_up_keeps_what_stands_on_it_clear_of_the_robot() -> None:
    before = laid_out("plate")
    after = layout(without(before, "table"), np.random.default_rng(1))
    assert [i for i in after.scene.items if i.id != "table"] == [i for i in before.scene.items if i.id != "table"]
    assert after.embodiment == before.embodiment
    assert not faults(after)


def test_without_room_beside_what_stands_it_says_what_is_in_the_way() -> None:
    pans = [item(f"pan_{k}", "table", pose=Pose.planar(-0.11 + 0.22 * (k // 2), -0.2 + 0.4 * (k % 2))) for k in range(4)]
    scenario = draft(
        [
            item("table", params={"width": 0.8, "depth": 0.5}, pose=Pose.planar(0.45, 0.0, 0.0, math.pi)),
            *pans,
            item("plate", "table"),
        ],
        says("lifted", "plate"),
        base=Pose.planar(0.0, 0.0, 0.74),
    )
    with pytest.raises(LayoutError) as caught:
        layout(scenario, np.random.default_rng(0))
    (finding,) = caught.value.findings
    assert finding.code == "geometry.no_space"
    assert finding.subjects[0] == "plate" and set(finding.subjects[1:]) & {p.id for p in pans}
    assert finding.value is not None and 0.0 < finding.value < 0.5
    assert "too narrow: move pan_" in finding.message


def test_out_of_reach_is_told_apart_from_crowded() -> None:
    far = item("table", params={"width": 0.8, "depth": 0.5}, pose=Pose.planar(1.6, 0.0, 0.0, math.pi))
    scenario = draft([far, item("mug", "table")], says("lifted", "mug"), base=Pose.planar(0.0, 0.0, 0.74))
    with pytest.raises(LayoutError, match="within the robot's reach") as caught:
        layout(scenario, np.random.default_rng(0))
    (finding,) = caught.value.findings
    assert (finding.code, finding.subjects) == ("geometry.out_of_reach", ("mug", "table"))
    assert finding.value is not None and 0.6 < finding.value < 0.9  # the table's near edge is 1.35 m away


def test_what_is_larger_than_its_support_is_told_apart_from_crowded() -> None:
    small = item("table", params={"width": 0.4, "depth": 0.4})
    scenario = draft([small, item("shelf", "table", params={"width": 0.9})], says("lifted", "shelf"))
    with pytest.raises(LayoutError, match="all would stick out of table") as caught:
        layout(scenario, np.random.default_rng(0))
    assert caught.value.findings[0].code == "geometry.too_large"
    assert caught.value.findings[0].subjects == ("shelf", "table")


# ---------------------------------------------------------------------- a base for what stands


@pytest.mark.parametrize("name", ["stack", "drawer", "microwave", "shelf", "mobile"])
def test_a_robot_without_a_base_is_put_where_it_reaches_what_stands(name: str) -> None:
    before = laid_out(name)
    after = layout(without(before, base=True), np.random.default_rng(2))
    assert after.scene.items == before.scene.items
    assert after.embodiment.base is not None
    assert not faults(after)
    assert not overlapping(after)


def overlapping(scenario: Scenario) -> set[str]:
    """What the robot at home is in."""
    world = World(scenario)
    world.reset(np.random.default_rng(0))
    return {name for pair in world.overlaps(0.0) for name in pair if "robot" in pair} - {"robot"}


def test_bases_are_the_best_first_on_the_side_that_a_front_looks_to() -> None:
    """A microwave at the counter's left end looks along it, to the right: one gets into it from there, never from its back."""
    microwave = item("microwave", "counter", pose=Pose.planar(0.0, -0.55, 0.0, math.pi / 2))
    mug = item("mug", "counter", pose=Pose.planar(0.1, 0.1))
    goal = All(goals=(says("inside", "mug", "microwave"), says("closed", "microwave.door")))
    counter = item("counter", pose=Pose.planar(0.6, 0.0, 0.0, math.pi))
    scenario = draft([counter, microwave, mug], goal)
    built = build_assets(scenario.scene)
    T = root_poses(scenario.scene, built)["microwave"]
    found = base_poses(scenario, built, np.random.default_rng(0), 5)
    assert len(found) == 5
    for pose in found[:3]:
        way = np.subtract(pose.position[:2], T[:2, 3])
        assert way @ T[:2, 0] > 0.35 * np.linalg.norm(way) - 1e-9
        assert 0.25 < math.dist(pose.position[:2], T[:2, 3]) < 1.0
        assert pose.position[2] == pytest.approx(built["counter"].affordances.support().pose.position[2])


def test_bases_stand_clear_of_everything_and_differ_by_seed() -> None:
    before = laid_out("mobile")
    built = build_assets(before.scene)
    roots = root_poses(before.scene, built)
    radius = embodiments.get("panda_mobile").base.radius
    found = [base_poses(before, built, np.random.default_rng(seed), 4) for seed in range(2)]
    assert found[0] != found[1]
    for pose in found[0]:
        assert pose.position[2] == 0.0
        for name in ("table", "fridge"):
            solid = volumes(built[name]).solid(Kind.FIXED, name, roots[name])
            c, s = math.cos(solid.yaw), math.sin(solid.yaw)
            off = np.abs(np.array([[c, s], [-s, c]]) @ np.subtract(pose.position[:2], solid.center)) - solid.half
            assert np.linalg.norm(np.maximum(off, 0.0)) > radius


def test_a_robot_has_no_place_where_everything_is_taken() -> None:
    """Cabinets all round the table."""
    wall = [
        item(f"base_cabinet_{k}", pose=Pose.planar(0.98 * math.cos(a), 0.98 * math.sin(a), 0.0, a))
        for k, a in enumerate(np.arange(8) * math.pi / 4)
    ]
    table = item("table", params={"width": 0.9, "depth": 0.9}, pose=Pose())
    scenario = draft([table, *wall, item("mug", "table", pose=Pose())], says("lifted", "mug"))
    with pytest.raises(LayoutError, match="no place for the robot") as caught:
        layout(scenario, np.random.default_rng(0))
    assert base_poses(scenario, build_assets(scenario.scene), np.random.default_rng(0), 3) == []  # a repair that cannot help
    assert caught.value.findings[0].subjects[0] == "robot"
    assert any(s.startswith("base_cabinet") for s in caught.value.findings[0].subjects)


def test_gaps_between_what_was_placed_apart_hold_after_a_base_is_chosen() -> None:
    before = laid_out("drawer")
    after = layout(without(before, "mug", base=True), np.random.default_rng(4))
    built = build_assets(after.scene)
    roots = root_poses(after.scene, built)
    boxes = [volumes(built[i]).solid(Kind.FREE, i, roots[i]) for i in ("mug", "apple", "drawer_unit")]
    assert float(pairwise(boxes[:1], boxes[1:]).min()) > 0.03
