"""Every finding code has a scenario that is rejected with it, and every critic one that it accepts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import get_args

import numpy as np
import pytest
import test_grains
import test_in_hand
import test_two_hands
from critic_scenes import (
    BY_NAME,
    STAND,
    asked,
    built_as,
    changed,
    drawers,
    fetching,
    found,
    microwave,
    more,
    on_table,
    ring,
    still,
)
from forge_scenes import draft, item, says

from embodiedsmith.forge.critics import Context, critics, cures_of, review
from embodiedsmith.forge.critics import execution as execution_critic
from embodiedsmith.forge.critics.registry import LAYOUT_CODES
from embodiedsmith.motion import demonstrator
from embodiedsmith.motion.skills import reorient, skills
from embodiedsmith.spec import All, EditKind, EmbodimentSpec, Finding, Goal, Item, Pose, Scenario, Sequence, split_reference
from embodiedsmith.tasks import Session
from embodiedsmith.world import World
from embodiedsmith.world.compile import ROBOT

ELSEWHERE = ("near_misses", "novelty")
"""Critics that judge what a scenario alone does not show: their codes are tested with them."""


def two_blocks() -> Scenario:
    return still(on_table((0.05, 0.2), (0.05, -0.2)))


def varied_blocks() -> Scenario:
    return on_table((0.0, 0.2), (0.0, -0.2))


def in_the_air() -> Scenario:
    return changed(varied_blocks(), "block_1", pose=Pose(position=(0.0, 0.2, 0.05)))


def three_metres_off(name: str) -> Scenario:
    return changed(two_blocks(), name, parent=None, pose=Pose.planar(3.0, 0.0))


def from_afar(scenario: Scenario) -> Scenario:
    """The robot stands a metre farther back."""
    base = Pose.planar(-1.0, 0.0, 0.9)
    return scenario.model_copy(update={"embodiment": scenario.embodiment.model_copy(update={"base": base})})


def heap() -> Scenario:
    blocks = on_table((0.0, 0.2), (0.0, 0.0), (0.0, -0.2))
    goal = All(goals=tuple(says("inside", f"block_{k}", "mug") for k in (1, 2, 3)))
    return asked(more(blocks, item("mug", "table", pose=Pose.planar(0.2, 0.3))), goal)


def before_the_drawer(ahead: float) -> Scenario:
    opening = drawers(goal=says("open", "drawer_unit.drawer_bottom"))
    return changed(opening, "mug", pose=Pose.planar(-0.1 + ahead, -0.1))


def looks(seen: Callable[[World], None], scenario: Scenario | None = None) -> list[Finding]:
    """What the physics critic finds when the world goes otherwise after it has come to rest."""
    context = Context(scenario or two_blocks())
    world, reset = context.world, context.world.reset

    def otherwise(rng: np.random.Generator) -> None:
        reset(rng)
        seen(world)

    world.reset = otherwise  # type: ignore[method-assign]
    return BY_NAME["physics"].review(context)


def pulled(x: float, z: float) -> Callable[[World], None]:
    def pull(world: World) -> None:
        world.model.opt.gravity[:] = x, 0.0, z

    return pull


def hurled(world: World) -> None:
    world.data.qvel[:] = 1e12


def on_a_slope() -> list[Finding]:
    """A world that slides while it should come to rest."""
    context = Context(varied_blocks())
    context.world.model.opt.gravity[:] = -30.0, 0.0, -2.0
    return BY_NAME["physics"].review(context)


def rolling() -> list[Finding]:
    """An orange on a slope."""
    context = Context(built_as(varied_blocks(), "block_1", "orange"))
    context.world.model.opt.gravity[:] = -2.0, 0.0, -9.6
    return BY_NAME["physics"].review(context)


def arms_give_out(world: World) -> None:
    servos = [world.model.actuator(ROBOT + name).id for arm in world.robot.arms for name in arm.actuators]
    world.model.actuator_gainprm[servos] = 0.0
    world.model.actuator_biasprm[servos] = 0.0


def fingers_weaken(world: World) -> None:
    """They still hold what they have, but do not press it together."""
    servos = [world.model.actuator(ROBOT + name).id for hand in world.grippers for name in hand.actuators]
    world.model.actuator_forcerange[servos] = -6.0, 6.0


def powerless(monkeypatch: pytest.MonkeyPatch, skill: str, scenario: Scenario, fault: Callable[[World], None]) -> list[Finding]:
    """What the execution critic finds when something goes wrong in the world as soon as a skill has begun."""

    class Weak(Session):
        def step(self, action: np.ndarray, label: str = "") -> float:
            if label.startswith(f"{skill}("):
                fault(self.world)
            return super().step(action, label)

    monkeypatch.setattr(execution_critic, "Session", Weak)
    return found("execution", scenario)


def no_hand_spans_it() -> list[Finding]:
    context = Context(asked(two_blocks(), says("lifted", "block_1")))
    asset = context.world.assets["block_1"]
    wide = tuple(replace(g, width=0.12) for g in asset.affordances.grasps)
    context.world.assets["block_1"] = replace(asset, affordances=replace(asset.affordances, grasps=wide))
    return BY_NAME["reach"].review(context)


def beside_by_a_hair() -> Scenario:
    """The point is 2.5 cm off, and 2 cm are near enough."""
    scenario = two_blocks()
    x, y, z = Context(scenario).world.compiled.nominal["block_1"][:3, 3]
    return asked(scenario, says("at", "block_1", x=float(x) + 0.025, y=float(y), z=float(z)))


def handling(goal: Goal, *things: Item, robot: str = "panda") -> Scenario:
    """Things on a table before a robot, without variation."""
    table = item("table", pose=Pose.planar(0.575, 0.0, 0.0, np.pi))
    return still(draft([table, *things], goal, robot=robot, base=STAND))


def passing() -> Scenario:
    """A stick on the left of two arms, to be given to the right one."""
    goal = Sequence(goals=(says("in_left_hand", "stick"), says("in_right_hand", "stick")))
    return handling(goal, item("stick", "table", pose=Pose.planar(0.15, -0.15)), robot="aloha")


def pouring() -> Scenario:
    """A jug of water and a bowl."""
    jug, bowl = (item(name, "table", pose=Pose.planar(0.0, y)) for name, y in (("jug", -0.15), ("bowl", 0.15)))
    water = item("water", "jug", relation="inside", pose=Pose(), params={"volume": 0.18, "particles": 300})
    return handling(says("poured", "water", "bowl"), jug, bowl, water)


def towel() -> Item:
    return item("towel", "table", pose=Pose.planar(0.1, 0.0))


def covering() -> Scenario:
    """A towel and a bowl beside it."""
    return handling(says("covers", "towel", "bowl"), towel(), item("bowl", "table", size="small", pose=Pose.planar(0.1, -0.3)))


def hanging() -> Scenario:
    """A towel, and beside it a rack whose bar points away from the robot."""
    rack = item("towel_rack", "table", pose=Pose.planar(0.1, -0.33, 0.0, np.pi / 2))
    return handling(says("hung", "towel", "towel_rack"), towel(), rack)


def wiping() -> Scenario:
    """A stain and a sponge beside it."""
    stain, sponge = item("stain", "table", pose=Pose.planar(0.1, 0.0)), item("sponge", "table", pose=Pose.planar(0.1, -0.3))
    return handling(says("wiped", "stain", "sponge"), stain, sponge)


def lying(category: str, predicate: str) -> Scenario:
    """One thing that something is to be done to."""
    return handling(says(predicate, category), item(category, "table", pose=Pose.planar(0.15, 0.0, 0.0, 1.2)))


def around() -> All:
    return All(goals=(says("on", "block_1", "block_2"), says("on", "block_2", "block_1")))


def a_point() -> Scenario:
    scenario = two_blocks()
    z = float(Context(scenario).world.compiled.nominal["block_1"][2, 3])
    return asked(scenario, says("at", "block_1", x=0.45, y=-0.05, z=z))


def pan_out_of_the_oven() -> Scenario:
    """It lies in there, but its handle sticks out."""
    pan = item("pan", "microwave", size="small", relation="inside", pose=Pose.planar(0.0, 0.0))
    return asked(still(more(microwave(joints={"door": 1.0}), pan)), says("inside", "pan", "microwave"))


def unit_on_wheels() -> Scenario:
    scenario = drawers()
    return changed(scenario, "drawer_unit", fixed=False)


REJECTS: dict[str, Callable[[], list[Finding]]] = {
    "spec.asset": lambda: found("spec", built_as(two_blocks(), "block_1", "flux_capacitor")),
    "spec.robot": lambda: found("spec", two_blocks().model_copy(update={"embodiment": EmbodimentSpec(name="hal")})),
    "spec.support": lambda: found("spec", changed(two_blocks(), "block_1", support="attic")),
    "spec.joint": lambda: found("spec", changed(two_blocks(), "block_1", joints={"lid": 0.5})),
    "spec.not_furniture": lambda: found("spec", unit_on_wheels()),
    "spec.goal": lambda: found("spec", asked(two_blocks(), says("inside", "block_1", "block_2"))),
    "logic.text_disagrees": lambda: found("wording", asked(two_blocks(), instructions={"en": "lift the block"})),
    "geometry.unplaced": lambda: found("geometry", changed(two_blocks(), "block_1", pose=None)),
    "geometry.too_large": lambda: found("geometry", built_as(drawers(), "mug", "pan", size="large")),
    "geometry.too_many": lambda: found("geometry", heap()),
    "geometry.outside": lambda: found(
        "geometry", changed(on_table((0.05, 0.2), (0.05, -0.2)), "block_1", pose=Pose.planar(0.0, 0.598))
    ),
    "geometry.overlap": lambda: found("geometry", changed(two_blocks(), "block_1", pose=Pose.planar(0.05, -0.18))),
    "geometry.too_close": lambda: found("geometry", on_table((0.0, 0.0), (0.0, 0.06))),
    "geometry.swing_blocked": lambda: found("geometry", before_the_drawer(0.30)),
    "geometry.handle_blocked": lambda: found("geometry", before_the_drawer(0.56)),
    "physics.overlap": lambda: found("physics", changed(two_blocks(), "block_1", pose=Pose.planar(0.05, -0.18))),
    "physics.moves": on_a_slope,
    "physics.turns": rolling,
    "physics.shifted": lambda: found("physics", in_the_air()),
    "physics.drifts": lambda: looks(pulled(-9.0, -4.0)),
    "physics.creeps": lambda: looks(pulled(-9.0, -4.0), drawers()),
    "physics.sinks": lambda: looks(pulled(0.0, -5000.0)),
    "physics.fault": lambda: looks(hurled),
    "logic.start_moves": lambda: found("logic", in_the_air()),
    "logic.already_true": lambda: found("logic", asked(two_blocks(), says("on", "block_1", "table"))),
    "logic.nearly_true": lambda: found("logic", beside_by_a_hair()),
    "logic.initial_false": lambda: found("logic", asked(two_blocks(), initial=(says("near", "block_1", "block_2"),))),
    "logic.no_plan": lambda: found("logic", asked(two_blocks(), around())),
    "logic.nothing_to_do": lambda: found("logic", pan_out_of_the_oven()),
    "logic.too_long": lambda: found("logic", asked(two_blocks(), horizon=1.0)),
    "reach.unreachable": lambda: found("reach", three_metres_off("block_2")),
    "reach.no_grasp": no_hand_spans_it,
    "reach.start_moves": lambda: found("reach", in_the_air()),
    "motion.grasp_blocked": lambda: found("motion", more(two_blocks(), *ring(0.05, 0.2))),
    "motion.grasp_unreachable": lambda: found("motion", three_metres_off("block_1")),
    "motion.handle_blocked": lambda: found("motion", microwave(0.2)),
    "motion.handle_unreachable": lambda: found("motion", from_afar(microwave())),
    "motion.place_blocked": lambda: found("motion", more(still(on_table((0.05, 0.3), (0.05, -0.2))), *ring(0.05, -0.2))),
    "motion.place_unreachable": lambda: found("motion", three_metres_off("block_2")),
    "motion.start_moves": lambda: found("motion", in_the_air()),
    "execution.plan": lambda: found("execution", asked(two_blocks(), around())),
    "execution.timeout": lambda: found("execution", asked(two_blocks(), horizon=1.0)),
    "execution.start_moves": lambda: found("execution", in_the_air()),
}
"""What each code is found in. Skills that fail need more: see `WEAK`."""


WEAK: dict[str, Callable[[], Scenario]] = {
    "pick": two_blocks,
    "place": two_blocks,
    "place_at": a_point,
    "place_near": lambda: asked(two_blocks(), says("near", "block_1", "block_2")),
    "place_beside": lambda: asked(two_blocks(), says("left_of", "block_1", "block_2")),
    "push": lambda: asked(two_blocks(), says("touching", "block_1", "block_2")),
    "open": lambda: drawers(goal=says("open", "drawer_unit.drawer_top")),
    "close": lambda: drawers(joints={"drawer_top": 0.4}, goal=says("closed", "drawer_unit.drawer_top")),
    "navigate": fetching,
    "fold": lambda: handling(says("folded", "towel"), towel()),
    "drape": covering,
    "hang": hanging,
    "wipe": wiping,
    "straighten": lambda: lying("rope", "straightened"),
    "squeeze": lambda: lying("plush_block", "squeezed"),
    "pour": pouring,
    "scoop": lambda: still(test_grains.scene(test_grains.says("scooped"), target="plate", count=40, scoop=True)),
    "hand_over": passing,
    "carry": lambda: still(test_two_hands.tray(test_two_hands.LIFTED)),
    "hold": lambda: still(test_two_hands.boxed(test_two_hands.HELD)),
    "reorient": test_in_hand.scene,
}
"""A task for every skill, in which the arms give out as soon as that skill begins."""

BY_HAND = ("reorient", "squeeze")
"""Skills in which the arm has nothing to do: the fingers weaken instead."""


OF_MATTER = ("drape", "fold", "hang", "pour", "reorient", "scoop", "squeeze", "straighten", "wipe")
"""Skills on what bends or flows, or planned on the way, which take long: they are not tried again within an attempt."""


def declared() -> list[str]:
    own = [code for c in critics() if c.name not in ELSEWHERE for code in c.codes]
    skill_codes = {f"execution.{name}" for name in skills()}
    return [code for code in own if code not in skill_codes and code not in ("execution.goal", "execution.world")]


def names_things(scenario_items: set[str], finding: Finding) -> bool:
    known = {*scenario_items, "robot", "world", "finger_0", "finger_1"}
    return all(split_reference(s)[0] in known for s in finding.subjects)


@pytest.mark.parametrize("code", declared())
def test_every_code_has_a_scenario_that_is_rejected_with_it(code: str) -> None:
    findings = [f for f in REJECTS[code]() if f.code == code]
    assert findings, f"nothing is rejected with {code}"
    assert all(f.severity == "error" and f.message for f in findings)
    if code not in ("spec.robot", "logic.text_disagrees", "physics.fault"):
        assert all(f.subjects for f in findings)


@pytest.mark.parametrize("skill", sorted(skills()))
def test_every_skill_that_fails_is_told_with_its_step(skill: str, monkeypatch: pytest.MonkeyPatch) -> None:
    scenario = WEAK[skill]()
    fault, reason = (fingers_weaken, "effect") if skill in BY_HAND else (arms_give_out, "stuck")
    if skill in OF_MATTER:
        monkeypatch.setattr(demonstrator, "REPLANS", 0)
    monkeypatch.setattr(reorient, "PATIENCE", 4)
    findings = powerless(monkeypatch, skill, scenario, fault)
    first = findings[0]
    assert first.code == f"execution.{skill}"
    assert f"{skill}(" in first.message and "attempt 1 of 2" in first.message and f"{skill}.{reason}" in first.message
    assert first.subjects and names_things({i.id for i in scenario.scene.items}, first)
    assert len(findings) == execution_critic.ATTEMPTS


def test_a_world_that_goes_bad_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    findings = powerless(monkeypatch, "pick", two_blocks(), hurled)
    assert {f.code for f in findings} == {"execution.world"}
    assert all("block_1" in f.subjects for f in findings)


def test_a_goal_that_does_not_hold_when_all_is_done_names_the_part_that_holds_least(monkeypatch: pytest.MonkeyPatch) -> None:
    """The robot is pulled away from what it has done: nothing fails, and yet the goal does not hold."""

    class Idle(Session):
        @property
        def succeeded(self) -> bool:
            return False

    monkeypatch.setattr(execution_critic, "Session", Idle)
    findings = found("execution", two_blocks())
    assert {f.code for f in findings} == {"execution.goal"}
    assert findings[0].subjects == ("block_1", "block_2")


ACCEPTS: dict[str, Callable[[], Scenario]] = {
    "spec": drawers,
    "wording": two_blocks,
    "geometry": drawers,
    "physics": drawers,
    "logic": drawers,
    "reach": drawers,
    "motion": drawers,
    "execution": two_blocks,
}


@pytest.mark.parametrize("critic", ACCEPTS)
def test_every_critic_accepts_a_sound_scenario(critic: str) -> None:
    assert found(critic, ACCEPTS[critic]()) == []


@pytest.mark.parametrize("scene", [two_blocks, drawers, microwave, fetching])
def test_sound_scenarios_pass_every_critic(scene: Callable[[], Scenario]) -> None:
    context = Context(scene())
    verdict = review(context)
    assert verdict.findings == []
    assert context.witness is not None


def test_every_code_names_edits_that_could_cure_it() -> None:
    kinds = set(get_args(EditKind))
    codes = [*LAYOUT_CODES, *(code for c in critics() for code in c.codes)]
    for code in codes:
        cures = cures_of(code)
        assert cures and set(cures) <= kinds and len(set(cures)) == len(cures), code
    assert cures_of("nobody.says_so") == ()
    verdict = review(Context(three_metres_off("block_1")))
    assert verdict.findings and all(f.cures == cures_of(f.code) for f in verdict.findings)
