"""Critics: each accepts a sound scenario, and finds every fault it has a code for, with the right numbers."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import mujoco
import numpy as np
import pytest
from forge_scenes import DRAFTS, draft, item, says

from embodiedsmith.forge.critics import Context, critics, review
from embodiedsmith.forge.critics.base import Verdict
from embodiedsmith.forge.layout import layout
from embodiedsmith.spec import All, EmbodimentSpec, Finding, Pose, Scenario
from embodiedsmith.tasks.text import instruction
from embodiedsmith.world import SettleError, World

BY_NAME = {critic.name: critic for critic in critics()}


@cache
def laid_out(name: str) -> Scenario:
    return layout(DRAFTS[name], np.random.default_rng(0))


def found(critic: str, scenario: Scenario) -> list[Finding]:
    return BY_NAME[critic].review(Context(scenario))


def codes(critic: str, scenario: Scenario) -> set[str]:
    return {f.code for f in found(critic, scenario)}


def changed(scenario: Scenario, name: str, **changes: Any) -> Scenario:
    thing = scenario.scene.item(name)
    scene = scenario.scene.with_item(thing.model_copy(update=changes))
    return scenario.model_copy(update={"scene": scene})


def on_table(*blocks: tuple[float, float], params: dict[str, Any] | None = None, **random: Any) -> Scenario:
    """Blocks at places on a table, standing before a Panda."""
    things = [item("table", pose=Pose.planar(0.575, 0.0, 0.0, np.pi))]
    things += [
        item(f"block_{k}", "table", params=params or {}, pose=Pose.planar(x, y)) for k, (x, y) in enumerate(blocks, start=1)
    ]
    return draft(things, says("on", "block_1", "block_2"), base=Pose.planar(0.0, 0.0, 0.74), **random)


# ---------------------------------------------------------------------- all together


def test_critics_go_from_cheap_to_dear_and_stop_at_the_first_tier_that_finds_something() -> None:
    assert [c.tier for c in critics()] == sorted(c.tier for c in critics())
    names = [c.name for c in critics()]
    order = ["spec", "geometry", "physics", "logic", "reach", "motion", "execution", "near_misses"]
    assert [n for n in names if n in order] == order
    context = Context(on_table((0.0, 0.0), (0.0, 0.02)))
    verdict = review(context)
    assert not verdict.accepted
    assert {"spec", "wording"} <= set(verdict.passed) and not {"geometry", "physics"} & set(verdict.passed)
    assert "physics" not in context.costs
    assert context.costs["geometry"].rejections == 1
    assert context.costs["geometry"].seconds > 0


def test_warnings_do_not_reject() -> None:
    warning = Finding(code="logic.text_disagrees", severity="warning", message="said otherwise")
    assert Verdict(findings=[warning]).accepted


@pytest.mark.parametrize("name", DRAFTS)
def test_what_the_solver_lays_out_passes_geometry_and_physics(name: str) -> None:
    context = Context(laid_out(name))
    verdict = review(context, among=[c for c in critics() if c.name in ("spec", "wording", "geometry", "physics")])
    assert verdict.findings == []
    assert verdict.passed == ["spec", "wording", "geometry", "physics"]


# ---------------------------------------------------------------------- spec and wording


def test_spec_names_every_fault_at_once() -> None:
    scenario = draft(
        [
            item("table"),
            item("block_1", "table", support="attic"),
            item("mug", "table", joints={"lid": 0.5}),
            item("drawer_unit", "table").model_copy(update={"fixed": False}),
        ],
        All(goals=(says("inside", "table", "mug"), says("hovers", "mug"), says("open", "drawer_unit.drawer_nine"))),
        robot="panda",
    )
    findings = found("spec", scenario)
    assert {f.code for f in findings} == {"spec.support", "spec.joint", "spec.not_furniture", "spec.goal"}
    said = " ".join(f.message for f in findings)
    for word in ("attic", "lid", "furniture", "table", "hovers", "drawer_nine"):
        assert word in said
    assert sum(f.code == "spec.goal" for f in findings) == 3


def test_spec_on_unknown_assets_and_robots() -> None:
    scenario = draft([item("table"), item("flux_capacitor", "table")], says("lifted", "flux_capacitor"), robot="hal")
    findings = found("spec", scenario)
    assert {f.code for f in findings} == {"spec.robot", "spec.asset"}
    assert any("flux_capacitor" in f.message for f in findings)


def test_spec_judges_a_draft_in_the_sizes_that_the_layout_will_choose() -> None:
    goal = says("inside", "pan", "drawer_unit.drawer_top")
    assert found("spec", draft([item("counter"), item("drawer_unit", "counter"), item("pan", "counter")], goal)) == []
    fixed = [item("counter"), item("drawer_unit", "counter", size="small"), item("pan", "counter", size="large")]
    (finding,) = found("spec", draft(fixed, goal))
    assert finding.code == "spec.goal" and "does not fit" in finding.message


def test_an_instruction_that_says_lift_with_a_goal_that_wants_it_placed() -> None:
    """Found before anything is placed or simulated."""
    scenario = draft(
        [item("table"), item("mug", "table"), item("plate", "table")], says("on", "mug", "plate"), text="lift the mug"
    )
    context = Context(scenario)
    verdict = review(context, among=[c for c in critics() if c.on_draft])
    assert [f.code for f in verdict.findings] == ["logic.text_disagrees"]
    assert "lift" in verdict.findings[0].message
    assert "world" not in vars(context)
    agreed = instruction(scenario.task.goal, scenario.scene, "en")
    same = draft(list(scenario.scene.items), scenario.task.goal, text=agreed)
    assert found("wording", same) == []


def test_the_users_own_words_are_free() -> None:
    scenario = draft([item("table"), item("mug", "table"), item("plate", "table")], says("on", "mug", "plate"))
    task = scenario.task.model_copy(update={"user_text": "let the mug find its home"})
    assert found("wording", scenario.model_copy(update={"task": task})) == []


# ---------------------------------------------------------------------- geometry


BOXES = {"width": 0.15, "depth": 0.12, "height": 0.1}


def boxes(gap: float, **random: Any) -> Scenario:
    """Two equal boxes side by side along y with a gap between them."""
    y = (BOXES["width"] + gap) / 2
    things = [item("table", pose=Pose.planar(0.575, 0.0, 0.0, np.pi))]
    things += [item(f"box_{k}", "table", params=BOXES, pose=Pose.planar(0.0, side * y)) for k, side in ((1, 1), (2, -1))]
    return draft(things, says("near", "box_1", "box_2"), base=Pose.planar(0.0, 0.0, 0.74), **random)


def test_two_boxes_one_centimetre_apart() -> None:
    """The reset could push them together: found by geometry, in centimetres. Standing still they are sound: nothing flies."""
    (finding,) = found("geometry", boxes(0.01, position=0.02, yaw=0.0))
    assert finding.code == "geometry.too_close"
    assert finding.value == pytest.approx(0.01, abs=1e-6)
    assert finding.limit == pytest.approx(2 * np.sqrt(2) * 0.02)
    assert "1.0 cm apart" in finding.message
    still = boxes(0.01, position=0.0, yaw=0.0)
    assert found("geometry", still) == []
    assert found("physics", still) == []


def test_overlapping_boxes() -> None:
    (finding,) = found("geometry", boxes(-0.003, position=0.0, yaw=0.0))
    assert finding.code == "geometry.overlap"
    assert finding.value == pytest.approx(0.003, abs=1e-3)
    assert set(finding.subjects) == {"box_1", "box_2"}


@pytest.mark.parametrize("apart", [0.01, 0.05, 0.068])
def test_two_boxes_laid_out_in_each_other_are_rejected_before_anything_flies(apart: float) -> None:
    size = {"length": 0.1, "width": 0.07, "height": 0.1}
    things = [item("table", pose=Pose.planar(0.575, 0.0, 0.0, np.pi))]
    things += [item(f"block_{k}", "table", params=size, pose=Pose.planar(0.0, side * apart / 2)) for k, side in ((1, 1), (2, -1))]
    scenario = draft(things, says("near", "block_1", "block_2"), base=Pose.planar(0.0, 0.0, 0.74))
    verdict = review(Context(scenario), among=[BY_NAME["geometry"], BY_NAME["physics"]])
    assert not verdict.accepted
    overlap = next(f for f in verdict.findings if f.code == "geometry.overlap")
    assert set(overlap.subjects) == {"block_1", "block_2"}
    world = World(scenario)
    with pytest.raises(SettleError) as caught:
        world.reset(np.random.default_rng(0))
    assert "physics.overlap" in {f.code for f in caught.value.findings}
    assert world.time == 0.0


def test_geometry_on_what_is_not_laid_out() -> None:
    (finding,) = found("geometry", DRAFTS["stack"])
    assert finding.code == "geometry.unplaced"
    assert {"block_1", "robot"} <= set(finding.subjects)


def test_geometry_on_a_box_half_off_the_table() -> None:
    scenario = on_table((0.0, 0.598), (0.0, 0.0))
    (finding,) = found("geometry", scenario)
    assert finding.code == "geometry.outside"
    assert finding.value == pytest.approx(0.002, abs=1e-6)


def test_geometry_on_what_does_not_fit() -> None:
    sound = laid_out("drawer")
    pan = changed(sound, "mug", asset=item("pan", size="large").asset)
    assert "geometry.too_large" in codes("geometry", pan)
    heap = All(goals=tuple(says("inside", f"block_{k}", "mug") for k in (1, 2, 3)))
    things = [*on_table((0, 0.2), (0, 0), (0, -0.2)).scene.items, item("mug", "table", pose=Pose.planar(0.2, 0.3))]
    crowded = draft(things, heap, base=Pose.planar(0.0, 0.0, 0.74))
    assert "geometry.too_many" in codes("geometry", crowded)


def test_geometry_on_a_drawer_that_cannot_open_and_a_handle_nobody_reaches() -> None:
    sound = laid_out("drawer")
    unit = sound.scene.item("drawer_unit").pose
    assert unit is not None
    c, s = np.cos(unit.yaw), np.sin(unit.yaw)
    task = sound.task.model_copy(update={"goal": says("open", "drawer_unit.drawer_bottom")})
    for ahead, code in ((0.30, "geometry.swing_blocked"), (0.56, "geometry.handle_blocked")):
        x, y, _ = unit.position
        blocked = changed(sound, "mug", pose=Pose.planar(x + c * ahead, y + s * ahead)).model_copy(update={"task": task})
        hits = [f for f in found("geometry", blocked) if f.code == code]
        assert hits and hits[0].subjects == ("drawer_unit", "mug")


# ---------------------------------------------------------------------- physics


def test_physics_on_things_that_sink_fall_or_lean() -> None:
    overlapping = on_table((0.0, 0.02), (0.0, -0.02), position=0.0, yaw=0.0)
    assert codes("physics", overlapping) == {"physics.overlap"}
    in_the_air = changed(on_table((0.0, 0.2), (0.0, -0.2)), "block_1", pose=Pose(position=(0.0, 0.2, 0.05)))
    assert "physics.shifted" in codes("physics", in_the_air)


def test_physics_on_what_drifts_or_opens_by_itself_after_settling() -> None:
    """A slope: gravity pulls sideways once the world has settled."""
    for name, codes_wanted in (("basket", {"physics.drifts"}), ("drawer", {"physics.creeps", "physics.drifts"})):
        context = Context(laid_out(name))
        world = context.world
        reset = world.reset

        def tilted(rng: np.random.Generator, reset: Any = reset, world: Any = world) -> None:
            world.model.opt.gravity[:] = 0, 0, -9.81
            reset(rng)
            world.model.opt.gravity[:] = -9.0, 0, -4.0

        world.reset = tilted  # type: ignore[method-assign]
        assert codes_wanted <= {f.code for f in BY_NAME["physics"].review(context)}


def test_physics_on_things_pressed_into_each_other() -> None:
    context = Context(laid_out("stack"))
    world, reset = context.world, context.world.reset

    def heavy(rng: np.random.Generator) -> None:
        reset(rng)
        world.model.opt.gravity[2] = -5000.0

    world.reset = heavy  # type: ignore[method-assign]
    assert "physics.sinks" in {f.code for f in BY_NAME["physics"].review(context)}


def test_physics_on_a_world_that_goes_bad() -> None:
    context = Context(on_table((0.0, 0.2), (0.0, -0.2)))
    world, reset = context.world, context.world.reset

    def broken(rng: np.random.Generator) -> None:
        reset(rng)
        world.data.qvel[:] = 1e12

    world.reset = broken  # type: ignore[method-assign]
    (finding,) = BY_NAME["physics"].review(context)
    assert finding.code == "physics.fault"


# ---------------------------------------------------------------------- logic


def test_a_goal_that_holds_at_the_start() -> None:
    scenario = laid_out("stack")
    task = scenario.task.model_copy(update={"goal": says("on", "block_1", "table")})
    (finding,) = found("logic", scenario.model_copy(update={"task": task}))
    assert finding.code == "logic.already_true"
    assert finding.value is not None and finding.value > 0
    assert "on(block_1, table) holds already" in finding.message


def test_a_goal_that_nearly_holds_at_the_start() -> None:
    scenario = on_table((0.0, 0.0), (0.0, 0.3), position=0.0, yaw=0.0)
    world = Context(scenario).world
    x, y, z = world.compiled.nominal["block_1"][:3, 3]
    goal = says("at", "block_1", x=float(x) + 0.025, y=float(y), z=float(z))
    task = scenario.task.model_copy(update={"goal": goal})
    (finding,) = found("logic", scenario.model_copy(update={"task": task}))
    assert finding.code == "logic.nearly_true"
    assert finding.value == pytest.approx(-0.005, abs=1e-3)


def test_logic_accepts_what_the_skills_add_up_to() -> None:
    for name in ("stack", "drawer", "take_out"):
        assert found("logic", laid_out(name)) == []


def test_logic_on_goals_no_skill_brings_about() -> None:
    scenario = laid_out("stack")
    task = scenario.task.model_copy(
        update={"goal": All(goals=(says("on", "block_1", "block_2"), says("on", "block_2", "block_1")))}
    )
    (finding,) = found("logic", scenario.model_copy(update={"task": task}))
    assert finding.code == "logic.no_plan"


@pytest.mark.parametrize("critic", ["logic", "reach", "execution"])
def test_a_start_that_does_not_come_to_rest_is_told_by_whoever_meets_it(critic: str) -> None:
    in_the_air = changed(on_table((0.0, 0.2), (0.0, -0.2)), "block_1", pose=Pose(position=(0.0, 0.2, 0.05)))
    assert codes(critic, in_the_air) == {f"{critic}.start_moves"}


# ---------------------------------------------------------------------- reach


@pytest.mark.parametrize("name", ["stack", "drawer", "microwave", "shelf", "mobile"])
def test_reach_accepts_what_was_laid_out_for_it(name: str) -> None:
    assert found("reach", laid_out(name)) == []


def test_a_goal_three_metres_away_is_out_of_reach_by_what_is_missing() -> None:
    scenario = on_table((0.0, 0.2), (0.0, -0.2))
    task = scenario.task.model_copy(update={"goal": says("at", "block_1", x=3.0, y=0.0, z=0.76)})
    (finding,) = found("reach", scenario.model_copy(update={"task": task}))
    assert finding.code == "reach.unreachable"
    assert finding.subjects == ("block_1",)
    assert finding.value is not None and 1.8 < finding.value < 2.3  # a Panda reaches 0.855 m from its shoulder
    assert "the hand stays" in finding.message and "cm away" in finding.message


def test_an_item_and_a_handle_out_of_reach() -> None:
    far = changed(on_table((0.0, 0.2), (0.0, -0.2)), "table", pose=Pose.planar(1.5, 0.0, 0.0, np.pi))
    assert [f.subjects for f in found("reach", far)] == [("block_1",), ("block_1", "block_2")]
    sound = laid_out("drawer")
    away = sound.model_copy(update={"embodiment": EmbodimentSpec(name="panda", base=Pose.planar(-1.0, 0.0, 0.9))})
    findings = found("reach", away)
    assert ("drawer_unit.drawer_top",) in [f.subjects for f in findings]
    assert all(f.value is not None and f.value > 0.1 for f in findings)


def too_wide(context: Context, name: str) -> Context:
    """With a thing that no hand spans."""
    asset = context.world.assets[name]
    wide = tuple(replace(g, width=0.12) for g in asset.affordances.grasps)
    context.world.assets[name] = replace(asset, affordances=replace(asset.affordances, grasps=wide))
    return context


def test_what_no_gripper_spans() -> None:
    scenario = boxes(0.3, position=0.0, yaw=0.0)
    lifted = scenario.model_copy(update={"task": scenario.task.model_copy(update={"goal": says("lifted", "box_1")})})
    (finding,) = BY_NAME["reach"].review(too_wide(Context(lifted), "box_1"))
    assert (finding.code, finding.value) == ("reach.no_grasp", 0.12)
    assert finding.limit == pytest.approx(0.074)  # the hand opens 8 cm, and 6 mm of room are kept
    assert "7.4 cm" in finding.message


def test_what_is_pushed_need_not_be_spanned() -> None:
    assert BY_NAME["reach"].review(too_wide(Context(boxes(0.3, position=0.0, yaw=0.0)), "box_1")) == []


# ---------------------------------------------------------------------- execution


def test_execution_keeps_the_witness() -> None:
    context = Context(laid_out("stack"), seed=3)
    assert BY_NAME["execution"].review(context) == []
    assert context.witness is not None
    assert context.witness.outcome == "success"
    assert (context.witness.seed, context.witness.scenario_id) == (3, laid_out("stack").id)
    assert context.witness.margins[-1] > 0


def test_execution_says_how_it_failed() -> None:
    """The block is 3 m away on the floor."""
    things = [
        item("table", pose=Pose.planar(0.575, 0, 0, np.pi)),
        item("block_1", pose=Pose.planar(3.0, 0.0)),
        item("block_2", "table", pose=Pose()),
    ]
    scenario = draft(things, says("on", "block_1", "block_2"), base=Pose.planar(0.0, 0.0, 0.74))
    findings = found("execution", scenario)
    assert {f.code for f in findings} == {"execution.pick"}
    assert [f.message.split(":")[0] for f in findings] == ["attempt 1 of 2", "attempt 2 of 2"]
    assert all(f.subjects[0] == "block_1" and "pick.unreachable in step 1, pick(block_1" in f.message for f in findings)


def test_what_the_variation_brings_within_reach_is_not_refused() -> None:
    """The execution critic tries two starts: what is within reach from either is let through to it."""
    context = Context(on_table((0.05, 0.2), (0.05, -0.2)))
    start, starts = context.start, []

    def first_far(attempt: int = 0) -> World:
        starts.append(attempt)
        world = start(attempt)
        if attempt == 0:
            at = world.items["block_1"].qpos
            world.data.qpos[at] += 1.0
            mujoco.mj_kinematics(world.model, world.data)
        return world

    context.start = first_far  # type: ignore[method-assign]
    assert BY_NAME["reach"].review(context) == []
    assert set(starts) == {0, 1}
