"""Wiping: cells go only where something soft rubs over them while pressed, and what went is part of the state."""

from dataclasses import replace
from functools import cache

import mujoco
import numpy as np
import pytest
from task_worlds import STILL, TABLE, p

from embodiedsmith import assets
from embodiedsmith.flywheel.room import areas
from embodiedsmith.forge import agents
from embodiedsmith.forge.layout import layout, needs
from embodiedsmith.forge.layout.gaps import stray
from embodiedsmith.forge.layout.prisms import Kind, grown, pairwise
from embodiedsmith.forge.layout.volumes import volumes
from embodiedsmith.forge.layout.wiping import swept
from embodiedsmith.motion import symbolic
from embodiedsmith.motion.controller import Controller, Held
from embodiedsmith.motion.skills import skills, wipe
from embodiedsmith.motion.skills.wipe import BANDS, PAST, PRESSES, strokes
from embodiedsmith.runtime.errors import SmithError
from embodiedsmith.spec import (
    AssetSpec,
    Brief,
    EmbodimentSpec,
    Item,
    Pose,
    Predicate,
    Randomization,
    Scenario,
    SceneSpec,
    TaskSpec,
)
from embodiedsmith.tasks import Session, instruction, predicate
from embodiedsmith.world import World
from embodiedsmith.world import transforms as tf
from embodiedsmith.world.compile import build_assets, root_poses
from embodiedsmith.world.marks import PRESSED, WITHIN

SYRUP = 30.0
"""[N s/m]"""
GOAL = p("wiped", "stain", "sponge")


def scenario(*, sponge: Pose | None = None) -> Scenario:
    """A stain and a sponge on a table before a Panda."""
    items = (
        Item(id="table", asset=AssetSpec(category="table"), pose=Pose.planar(0.6, 0.0), fixed=True),
        Item(id="stain", asset=AssetSpec(category="stain"), parent="table", pose=Pose.planar(-0.1, -0.1), fixed=True),
        Item(id="sponge", asset=AssetSpec(category="sponge"), parent="table", pose=sponge or Pose.planar(-0.1, 0.2, yaw=0.4)),
    )
    return Scenario(
        scene=SceneSpec(items=items), task=TaskSpec(goal=GOAL, horizon=60.0, hold_steps=5),
        embodiment=EmbodimentSpec(name="panda", base=Pose.planar(0.0, 0.0, TABLE)), randomization=STILL,
    )  # fmt: skip


@cache
def upon() -> tuple[World, np.ndarray]:
    """A world whose sponge lies on the stain, and its state."""
    made = World(scenario(sponge=Pose.planar(-0.1, -0.1)))
    made.reset(np.random.default_rng(0))
    return made, made.save()


def slide(made: World, *, down: float, push: float, steps: int = 8) -> None:
    """Push the sponge down and along y with forces [N] for some control steps, in a syrup: centimetres a second."""
    body, dof = made.items["sponge"].body, made.items["sponge"].dof
    made.data.xfrc_applied[body] = (0.0, push, -down, 0.0, 0.0, 0.0)
    made.model.dof_damping[dof : dof + 3] = SYRUP
    for _ in range(steps):
        made.step(made.command)
    made.data.xfrc_applied[body] = 0.0
    made.model.dof_damping[dof : dof + 3] = 0.0


def test_a_stain_is_an_oval_of_cells_that_nothing_touches() -> None:
    asset = assets.build(AssetSpec(category="stain"))
    model = asset.mjspec.compile()
    x, y = asset.size[:2]
    area = sum(4 * size[0] * size[1] for size in model.geom_size)
    assert area == pytest.approx(np.pi / 4 * x * y, rel=0.08)
    assert not (model.geom_contype | model.geom_conaffinity).any()
    assert asset.fixed and asset.matter is not None and asset.matter.kind == "marks"


def test_lying_or_sliding_or_pressing_alone_wipes_nothing_and_rubbing_does() -> None:
    made, state = upon()
    marks, owner = made.marks["stain"], made.owners.index("sponge")
    for down, push in ((0.0, 0.0), (8.0, 0.0), (0.2 * PRESSED, 0.9)):
        made.restore(state)
        slide(made, down=down, push=push)
        assert marks.left(made.data).all(), (down, push)
    made.restore(state)
    slide(made, down=4.0, push=6.0)
    assert 0.1 < marks.wiped(made.data, owner) < 1.0
    assert predicate("wiped").margin(made, GOAL.args) == pytest.approx(marks.wiped(made.data, owner) - 0.9)


def test_what_is_wiped_lies_where_the_sponge_has_been() -> None:
    made, state = upon()
    made.restore(state)
    before = made.corners("sponge")[:, :2]
    slide(made, down=4.0, push=6.0)
    swept = np.vstack([before, made.corners("sponge")[:, :2]])
    marks = made.marks["stain"]
    gone = marks.cells[~marks.left(made.data), :2]
    assert len(gone)
    assert (gone > swept.min(axis=0) - WITHIN).all() and (gone < swept.max(axis=0) + WITHIN).all()


def test_what_is_wiped_is_saved_and_restored_and_drawn_no_more() -> None:
    made, state = upon()
    made.restore(state)
    marks = made.marks["stain"]
    slide(made, down=4.0, push=6.0)
    left, one = marks.left(made.data).copy(), made.save()
    assert (made.model.geom_rgba[marks.geoms, 3] == left).all()
    made.restore(state)
    assert marks.left(made.data).all() and (made.model.geom_rgba[marks.geoms, 3] == 1.0).all()
    made.restore(one)
    assert (marks.left(made.data) == left).all() and (made.model.geom_rgba[marks.geoms, 3] == left).all()
    other = World(made.scenario)
    other.reset(np.random.default_rng(0))
    assert other.marks["stain"].left(other.data).all()
    other.restore(one)
    for each in (made, other):
        slide(each, down=4.0, push=-6.0, steps=3)
    assert (made.save() == other.save()).all()


def test_marks_do_not_take_the_place_of_what_hands_remember_of_cloth() -> None:
    base = scenario()
    towel = Item(id="towel", asset=AssetSpec(category="towel"), parent="table", pose=Pose.planar(-0.05, 0.45))
    second = base.scene.items[1].model_copy(update={"id": "spot", "pose": Pose.planar(0.15, -0.3)})
    made = World(base.model_copy(update={"scene": SceneSpec(items=(*base.scene.items, towel, second))}))
    taken = [made.sheets["towel"].leaving, *(k for m in made.marks.values() for k in range(m.kept.start, m.kept.stop))]
    assert sorted(taken) == list(range(made.model.nuserdata))


def test_wiped_holds_for_a_stain_that_is_gone_and_for_none_of_its_near_misses() -> None:
    made, state = upon()
    made.restore(state)
    kind, marks = predicate("wiped"), made.marks["stain"]
    assert kind.margin(made, GOAL.args) == pytest.approx(-0.9)
    made.data.userdata[marks.kept] = made.owners.index("sponge")
    assert kind.margin(made, GOAL.args) == pytest.approx(0.1)
    gone = made.save()
    misses = list(kind.near_misses(made, GOAL.args, kind.resolve({})))
    assert len(misses) >= 8
    for miss in misses:
        made.restore(gone)
        miss.apply(made)
        assert kind.margin(made, GOAL.args) <= 0, miss.name


def test_only_stains_are_wiped_and_only_by_what_is_soft() -> None:
    things = {**upon()[0].assets, "mug": assets.build(AssetSpec(category="mug"))}
    kind = predicate("wiped")
    assert kind.faults(things, ("mug", "sponge"), {}) == ["'mug' is nothing that can be wiped away"]
    assert kind.faults(things, ("stain", "mug"), {}) == ["'mug' is not soft: nothing is wiped with it"]
    assert "needs a share between" in kind.faults(things, GOAL.args, {"share": 1.0})[0]


@pytest.mark.parametrize("width", BANDS)
def test_strokes_go_over_all_that_is_left_in_lanes_no_wider_than_what_rubs(width: float) -> None:
    cells = np.random.default_rng(0).uniform((-0.06, -0.05), (0.06, 0.05), (200, 2))
    drawn = strokes(cells, width)
    assert len(drawn) == round(0.12 / width)
    for x, y in cells:
        assert any(
            abs(x - at) <= width / 2 + 1e-9 and low + PAST <= y + 1e-9 and y <= high - PAST + 1e-9 for at, low, high in drawn
        )


def test_what_a_lane_left_on_either_side_is_gone_over_by_two() -> None:
    """Sponges pushed up between the fingers went between two such rows, pass after pass."""
    rows = np.array([(x, y) for x in (-0.015, 0.015) for y in np.linspace(-0.04, 0.04, 9)])
    assert strokes(rows, BANDS[1]) == [pytest.approx((x, -0.04 - PAST, 0.04 + PAST)) for x in (-0.015, 0.015)]


@pytest.mark.parametrize(("height", "press"), [(0.0127, PRESSES[0]), (0.0114, PRESSES[1])])
def test_what_is_held_low_is_pressed_in_less(height: float, press: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Held 1 mm lower, fingers would be in the table: nothing was tried then but to press as far."""
    made = World(scenario())
    session = Session(made)
    session.reset(np.random.default_rng(0))
    control = Controller(session, np.random.default_rng(0))
    T_tcp_item = tf.matrix(Pose(position=(0.0, 0.0, height), rotation=(0.0, 1.0, 0.0, 0.0)))
    control.held = Held("sponge", T_tcp_item)
    ways: list[np.ndarray] = []
    monkeypatch.setattr(control, "reach", lambda joints, stage: None)
    monkeypatch.setattr(control, "follow", lambda path, stage, speed: ways.append(path))
    monkeypatch.setattr(type(control), "closing", property(lambda _: 0.57))  # as it closes round the sponge
    wipe._go_over(control, "sponge", "stain", T_tcp_item, BANDS[0])
    tool = control.checker.pose(ways[1][len(ways[1]) // 2])
    assert (tool @ T_tcp_item)[2, 3] == pytest.approx(TABLE - press, abs=0.001)


def test_a_tool_is_taken_again_as_at_first_and_not_where_it_rose_to() -> None:
    """Taken where it had been held, 3 mm lower than at first, it was held 5 mm lower and hardly rubbed."""
    session = Session(World(scenario()))
    session.reset(np.random.default_rng(0))
    control = Controller(session, np.random.default_rng(0))
    T_tcp_item = tf.matrix(Pose(position=(0.0005, 0.0, 0.0126), rotation=(0.0, 1.0, 0.0, 0.0)))
    T_item_tcp = wipe._taken(control, "sponge", T_tcp_item)
    assert T_item_tcp[:3, 3] == pytest.approx((0.0, 0.0, 0.015), abs=0.001)
    assert T_item_tcp[:3, :3] == pytest.approx(T_tcp_item[:3, :3].T)


@pytest.mark.parametrize("seed", range(4))
def test_nothing_is_laid_out_or_strewn_to_where_the_hand_wipes(seed: int) -> None:
    """A book was, 93 mm beside the middle of a stain: fingers met it however the sponge was turned."""
    base = scenario()
    others = [
        Item(id="book", asset=AssetSpec(category="book", params={"lying": True}), parent="table"),
        Item(id="mug", asset=AssetSpec(category="mug"), parent="table"),
    ]
    bare = [item if item.id == "table" else item.model_copy(update={"pose": None}) for item in base.scene.items]
    draft = base.model_copy(
        update={
            "scene": SceneSpec(items=(*bare, *others)), "randomization": Randomization(position=0.02, yaw=0.26),
        }
    )  # fmt: skip
    made = layout(draft, np.random.default_rng(seed))
    built = build_assets(made.scene)
    roots, task = root_poses(made.scene, built), needs.read(made, built)
    (room,) = swept(task, "stain", built["stain"], roots["stain"])
    assert not swept(task, "table", built["table"], roots["table"])
    strewn = areas(made, 0.3, 0.5)
    for name in ("book", "mug", "sponge"):
        solid = volumes(built[name]).solid(Kind.FREE, name, roots[name])
        turned = replace(solid, half=grown(solid.half, made.randomization.yaw))
        assert pairwise([turned], [room])[0, 0] >= stray(made.randomization.position) - 1e-9
        for x in strewn[name].x:
            for y in strewn[name].y:
                moved = replace(solid, center=(solid.center[0] + x, solid.center[1] + y))
                assert pairwise([moved], [room])[0, 0] > 0


@pytest.mark.slow
def test_wipe_is_planned_and_wipes() -> None:
    made = World(scenario())
    session = Session(made)
    session.reset(np.random.default_rng(0))
    control = Controller(session, np.random.default_rng(0))
    steps = symbolic.plan(made, GOAL)
    assert [str(step) for step in steps] == ["pick(sponge, table.top)", "wipe(sponge, stain)"]
    for k, step in enumerate(steps):
        skills()[step.skill].run(control, step.args, steps[k + 1 :])
    assert predicate("wiped").margin(made, GOAL.args) > 0
    assert symbolic.plan(made, GOAL, control.held.item if control.held else None) == ()
    assert made.overlaps(0.004) == {}, "nothing passes through"


@pytest.mark.parametrize(
    "brief",
    [
        "wipe the table with the sponge", "Please wipe up the stain.", "use the sponge to wipe the counter", "用海绵擦桌子",
        "用海绵把桌子擦干净", "把桌子上的污渍擦掉", "wipe the stain off the table with the sponge",
    ],
)  # fmt: skip
def test_words_ask_for_it(brief: str) -> None:
    scenario = agents.get("rule").propose(Brief(text=brief), np.random.default_rng(0)).scenario
    assert scenario.task.goal == Predicate(name="wiped", args=("stain", "sponge"))
    stain = scenario.scene.item("stain")
    assert stain.fixed and scenario.scene.item(stain.parent or "").asset.category in ("table", "counter")


def test_instructions_say_it() -> None:
    scene = scenario().scene
    assert instruction(GOAL, scene, "en") == "wipe the stain with the sponge"
    assert instruction(GOAL, scene, "zh") == "用海绵擦掉污渍"


def test_what_wipes_nothing_is_said() -> None:
    for brief, reason in (
        ("wipe the mug with the sponge", "nothing that can be wiped"),
        ("wipe the table with the towel", "cloth and has no shape"),
    ):
        with pytest.raises(SmithError) as caught:
            agents.get("rule").propose(Brief(text=brief), np.random.default_rng(0))
        assert reason in str(caught.value)


def test_the_engine_counts_the_weight_of_a_sponge_as_too_little_to_wipe() -> None:
    made, state = upon()
    made.restore(state)
    mass = made.assets["sponge"].mass
    assert mass * 9.81 < 0.5 * PRESSED
    mujoco.mj_forward(made.model, made.data)
    assert made.touching("sponge", "table")
