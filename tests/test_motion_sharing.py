"""Several things on one plate or in one bin: planned soundly, put side by side, sized so that they fit; and things raised out
of a front opening."""

from __future__ import annotations

import numpy as np
import pytest
from critic_scenes import asked, found
from forge_scenes import draft, item
from test_motion_clearing import oven
from test_motion_skills import bare, on_table, rng, says, skills_of

from embodiedsmith import assets
from embodiedsmith.assets.asset import Support
from embodiedsmith.forge.layout import LayoutError, layout
from embodiedsmith.motion import MotionError, Step, demonstrate, sharing, symbolic
from embodiedsmith.motion.skills.pick import LIFT, NUDGE
from embodiedsmith.spec import All, Any, Goal, Item, Pose, Predicate, Scenario, Sequence
from embodiedsmith.tasks import Session
from embodiedsmith.world import World

WHERE = ((0.42, 0.3), (0.42, -0.3), (0.56, 0.28), (0.56, -0.28))


def together(relation: str, place: str, *things: str) -> All:
    return All(goals=tuple(says(relation, thing, place) for thing in things))


def table_with(goal: Goal, place: Item, *things: str) -> World:
    """What the goal is about on a table, the place in the middle; things named by their category, perhaps with a number."""
    made = [on_table(t, *where, category=t.rstrip("_123")) for t, where in zip(things, WHERE, strict=False)]
    world = World(bare(goal, place, *made))
    world.reset(rng())
    return world


def planned(world: World, goal: Goal, **more: object) -> list[str]:
    return [str(step) for step in symbolic.plan(world, goal, **more)]  # type: ignore[arg-type]


def drop(world: World, item: str, on: str, x: float = 0.0, y: float = 0.0) -> None:
    """Put an item on another, off its middle by (x, y) [m], and let it come to rest."""
    pose = world.item_pose(on).copy()
    pose[:3, 3] += (x, y, 0.012)
    at = world.items[item].qpos
    world.data.qpos[at : at + 7] = (*pose[:3, 3], 1, 0, 0, 0)
    for _ in range(20):
        world.step(world.command)


# ------------------------------------------------------------------ what carries several


def test_a_plate_carries_two_and_a_block_one() -> None:
    goal = together("on", "plate", "apple", "orange")
    world = table_with(goal, on_table("plate", 0.5, 0.0), "apple", "orange")
    assert planned(world, goal) == [
        "pick(apple, table.top)", "place(apple, plate.top)", "pick(orange, table.top)", "place(orange, plate.top)",
    ]  # fmt: skip
    goal = together("on", "block", "apple", "orange")
    with pytest.raises(MotionError, match="exclude each other"):
        planned(table_with(goal, on_table("block", 0.5, 0.0), "apple", "orange"), goal)


def test_what_does_not_stand_side_by_side_excludes_each_other() -> None:
    """Two mugs, 7 cm wide where they are narrowest, on 13.8 cm; with a lemon, either finds room."""
    mugs = together("on", "plate", "mug_1", "mug_2")
    world = table_with(mugs, on_table("plate", 0.5, 0.0, size="small"), "mug_1", "mug_2", "lemon")
    with pytest.raises(MotionError, match="exclude each other") as caught:
        planned(world, mugs)
    assert caught.value.code == "plan.contradictory"
    assert len(planned(world, together("on", "plate", "mug_1", "lemon"))) == 4


def test_a_plate_with_things_on_it_is_not_picked_up() -> None:
    goal = says("lifted", "plate")
    world = table_with(goal, on_table("plate", 0.5, 0.0, params={"diameter": 0.2}), "apple", "orange")
    assert planned(world, goal) == ["pick(plate, table.top)"]
    drop(world, "apple", "plate", -0.045)
    drop(world, "orange", "plate", 0.045)
    steps = planned(world, goal)
    assert len(steps) == 5 and steps[-1] == "pick(plate, table.top)"
    assert {"pick(apple, plate.top)", "pick(orange, plate.top)"} < set(steps)
    both = All(goals=(says("on", "apple", "plate"), goal))
    with pytest.raises(MotionError, match="exclude each other"):
        planned(world, both)


def test_what_leaves_no_room_goes_first() -> None:
    """A mug is in the way of another on a small plate; what is asked for is on it at the end."""
    goal = says("on", "mug_1", "plate")
    world = table_with(goal, on_table("plate", 0.5, 0.0, size="small"), "mug_1", "mug_2", "lemon")
    drop(world, "mug_2", "plate")
    steps = planned(world, goal)
    assert steps[0] == "pick(mug_2, plate.top)" and steps[-1] == "place(mug_1, plate.top)"
    assert planned(world, says("on", "lemon", "plate")) == ["pick(lemon, table.top)", "place(lemon, plate.top)"]


def test_a_plate_is_on_and_in() -> None:
    """What lies on a plate counts as in it where the goal says so, and nothing is to be done for either."""
    for relation in ("on", "inside"):
        goal = says(relation, "apple", "plate")
        world = table_with(goal, on_table("plate", 0.5, 0.0), "apple", "orange")
        drop(world, "apple", "plate")
        assert symbolic.place_of(world, "apple") == "plate.top"
        assert planned(world, goal) == []


# ------------------------------------------------------------------ where each goes


def plate(diameter: float) -> Support:
    return Support(name="top", body="root", pose=Pose(), size=(diameter, diameter), shape="disc")


def test_the_first_leaves_room_for_the_next() -> None:
    """Exact: two of radius r on a disc of radius R are at best 2 (R - r) apart."""
    support, r = plate(0.15), 0.034
    first = sharing.points(support, r, [], [r])[0]
    assert np.hypot(*first) > r
    second = sharing.points(support, r, [(*first, r)], [])[0]
    assert np.linalg.norm(second - first) - 2 * r == pytest.approx(sharing.room(support, (r, r)))
    assert sharing.room(support, (r, r)) == pytest.approx(2 * (0.075 - r) - 2 * r)
    assert sharing.room(plate(0.16), (r, r, r)) > 0 > sharing.room(plate(0.13), (r, r))
    assert sharing.room(support, (r,)) == np.inf


def test_points_keep_things_on_the_place() -> None:
    tray = Support(name="top", body="root", pose=Pose(), size=(0.2, 0.3))
    for support in (tray, plate(0.2)):
        points = sharing.points(support, 0.03, [(0.02, 0.01, 0.03)], [0.02, 0.02])
        reach = np.linalg.norm(points, axis=1) if support.shape == "disc" else np.abs(points / (1.0, 1.5)).max(axis=1)
        assert reach.max() <= 0.1 - 0.02  # a tray's long side is scaled to its short one
    assert sharing.candidates(plate(0.04), 0.03).shape[0] > 0
    assert np.allclose(sharing.candidates(plate(0.04), 0.03), 0.0)


def test_who_else_comes_to_a_place_is_read_off_the_plan() -> None:
    steps = [
        Step("pick", ("a", "t.top")), Step("place", ("a", "p.top")), Step("place", ("b", "p.top")),
        Step("place", ("c", "t.top")), Step("place", ("b", "p.top")),
    ]  # fmt: skip
    assert sharing.coming(steps, "p.top", "a") == ("b",)


@pytest.mark.parametrize("things", [("apple", "orange"), ("lemon", "apple", "orange")])
def test_things_share_a_plate(things: tuple[str, ...]) -> None:
    """What is put down later leaves the others where they are."""
    goal = together("on", "plate", *things)
    recording = demonstrate(Session(World(table_with(goal, on_table("plate", 0.5, 0.0), *things).scenario)), rng())
    assert recording.outcome == "success", recording.failure
    assert skills_of(recording) == ["pick", "place"] * len(things)
    let_go = next(e.step for e in recording.events if e.kind == "skill_done" and e.text.startswith(f"place({things[0]}"))
    path = recording.observations[f"items/{things[0]}"][let_go:, :2]
    assert np.linalg.norm(path - path[0], axis=1).max() < 0.005


@pytest.mark.parametrize("seed", range(3))
def test_two_cans_stand_side_by_side_in_a_bin(seed: int) -> None:
    """The second stands on the floor beside the first, not on it: on it, it would look out of the bin by too much."""
    goal = together("inside", "bin", "can_1", "can_2")
    session = Session(table_with(goal, on_table("bin", 0.5, 0.0), "can_1", "can_2"))
    recording = demonstrate(session, rng(seed))
    assert recording.outcome == "success", recording.failure
    world = session.world
    floor = world.cavity("bin.inside")[1][2, 3]
    assert all(world.corners(can)[:, 2].min() == pytest.approx(floor, abs=0.003) for can in ("can_1", "can_2"))


# ------------------------------------------------------------------ sizes


def on_plate(*things: Item, plate: Item | None = None, goal: Goal | None = None) -> Scenario:
    place = plate or item("plate", "table")
    return draft([item("table"), place, *things], goal or together("on", "plate", *(t.id for t in things)))


def test_things_are_made_to_fit_one_plate() -> None:
    fruit = [item(name, "table") for name in ("apple", "orange", "lemon", "mug")]
    small = layout(on_plate(*fruit[:2], plate=item("plate", "table", size="small")), np.random.default_rng(0)).scene
    sizes = {i.id: assets.build(i.asset).size for i in small.items}
    assert sizes["plate"][0] == pytest.approx(0.153, abs=1e-6), "its size was asked for"
    assert sizes["apple"][0] + sizes["orange"][0] < 0.138
    large = layout(on_plate(*fruit), np.random.default_rng(0)).scene
    assert assets.build(large.item("plate").asset).size[0] > assets.build(item("plate").asset).size[0]


def test_too_much_for_one_plate_is_said_at_once() -> None:
    apples = [item(f"apple_{k}", "table", size="large") for k in (1, 2)]
    small = item("plate", "table", size="small")
    with pytest.raises(LayoutError, match=r"2 things .* do not stand side by side on plate") as caught:
        layout(on_plate(*apples, plate=small), np.random.default_rng(0))
    (finding,) = caught.value.findings
    assert finding.code == "geometry.too_many" and finding.subjects == ("plate", "apple_1", "apple_2")
    placed = layout(on_plate(*apples, plate=small, goal=says("on", "apple_1", "plate")), np.random.default_rng(0))
    both = asked(placed, together("on", "plate", "apple_1", "apple_2"))
    assert "geometry.too_many" in {f.code for f in found("geometry", both)}


@pytest.mark.parametrize("kind", ["either", "after"])
def test_what_may_be_there_or_goes_on_elsewhere_needs_no_room(kind: str) -> None:
    apples = [item(f"apple_{k}", "table", size="large") for k in (1, 2)]
    first, second = (says("on", a.id, "plate") for a in apples)
    goals: dict[str, Goal] = {
        "either": Any(goals=(first, second)),
        "after": Sequence(goals=(first, Predicate(name="on", args=("apple_1", "table")), second)),
    }
    made = layout(on_plate(*apples, plate=item("plate", "table", size="small"), goal=goals[kind]), np.random.default_rng(0))
    assert all(i.pose is not None for i in made.scene.items)


# ------------------------------------------------------------------ out of a front opening


@pytest.mark.parametrize("thing", ["apple", "can"])
def test_what_is_lifted_out_of_a_microwave_rises(thing: str) -> None:
    """Pulled out by a level hand, it is raised before the opening by as much as from a table; the goal asks for 5 cm."""
    inside = item(thing, "microwave", relation="inside", pose=Pose.planar(0.06, 0.0))
    open_oven = item("microwave", "table", pose=Pose.planar(-0.07, 0.0), joints={"door": 1.0})
    scenario = oven(says("lifted", thing), inside)
    scenario = scenario.model_copy(update={"scene": scenario.scene.with_item(open_oven)})
    recording = demonstrate(Session(World(scenario)), rng())
    assert recording.outcome == "success", recording.failure
    heights = recording.observations[f"items/{thing}"][:, 2]
    assert heights[-1] - heights[0] == pytest.approx(LIFT + NUDGE, abs=0.01)
