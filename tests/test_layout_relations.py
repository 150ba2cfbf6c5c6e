"""Relations in layout: those asked of the start hold there whatever the reset draws, and those of the goal have a free spot."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from forge_scenes import draft, item, says

from embodiedsmith.forge.critics import Context
from embodiedsmith.forge.critics.geometry import CRITIC as GEOMETRY
from embodiedsmith.forge.layout import LayoutError, layout, needs
from embodiedsmith.spec import All, EmbodimentSpec, Goal, Item, Pose, Predicate, Scenario, Sequence
from embodiedsmith.tasks import GoalMonitor
from embodiedsmith.tasks.sides import SIDES, toward
from embodiedsmith.world import World
from embodiedsmith.world import transforms as tf
from embodiedsmith.world.compile import build_assets, root_poses

GOAL = says("lifted", "mug")
THINGS = [item("table"), item("mug", "table"), item("plate", "table"), item("apple", "table"), item("can", "table")]


def starting(items: list[Item], *initial: Predicate, goal: Goal = GOAL, robot: str = "panda") -> Scenario:
    made = draft(items, goal, robot=robot)
    return made.model_copy(update={"task": made.task.model_copy(update={"initial": initial})})


def margins(scenario: Scenario, resets: int = 6) -> list[float]:
    """How well all that is asked of the start holds after several resets [m]."""
    world = World(scenario)
    monitor = GoalMonitor(All(goals=scenario.task.initial), world)
    found = []
    for seed in range(resets):
        world.reset(np.random.default_rng(seed))
        found.append(monitor.reset())
    return found


def faults(scenario: Scenario) -> list[str]:
    return [f.message for f in GEOMETRY.review(Context(scenario)) if f.severity == "error"]


@pytest.mark.parametrize("anticipate", [True, False])
@pytest.mark.parametrize(
    "relation",
    [
        *(says(name, "mug", "plate") for name in SIDES),
        says("near", "mug", "plate", distance=0.2),
        says("between", "mug", "plate", "apple"),
    ],
    ids=lambda r: r.name,
)
def test_a_relation_of_the_start_holds_whatever_the_reset_draws(relation: Predicate, anticipate: bool) -> None:
    for seed in range(3):
        made = layout(starting(THINGS, relation), np.random.default_rng(seed), anticipate=anticipate)
        assert not faults(made)
        assert min(margins(made)) > 0


def test_several_relations_hold_together_and_for_a_robot_that_stands_askew() -> None:
    asked = (says("left_of", "mug", "plate"), says("behind", "apple", "plate"), says("in_front_of", "can", "mug"))
    for robot in ("panda", "panda_mobile"):
        for seed in range(2):
            made = layout(starting(THINGS, *asked, robot=robot), np.random.default_rng(seed))
            assert min(margins(made)) > 0
    turned = starting([item("table", pose=Pose.planar(0.0, 0.6, 0.0, -1.57)), *THINGS[1:]], *asked)
    turned = turned.model_copy(update={"embodiment": EmbodimentSpec(base=Pose.planar(0.0, 0.0, 0.74, 1.57))})
    assert min(margins(layout(turned, np.random.default_rng(0)))) > 0


def test_an_anchor_taken_up_is_put_so_that_the_relation_still_holds() -> None:
    for relation in (
        says("left_of", "mug", "plate"),
        says("near", "mug", "plate", distance=0.2),
        says("between", "mug", "plate", "can"),
    ):
        made = layout(starting(THINGS, relation), np.random.default_rng(1))
        scene = made.scene.with_item(made.scene.item("plate").model_copy(update={"pose": None}))
        again = layout(made.model_copy(update={"scene": scene}), np.random.default_rng(2))
        assert again.scene.item("mug") == made.scene.item("mug")
        assert min(margins(again)) > 0


def test_near_as_near_as_the_variation_lets_it_be_where_it_cannot_be_sure() -> None:
    """At the usual 10 cm, two things that each stray by 2 cm can be drawn farther apart; as laid out they are near."""
    made = layout(starting(THINGS, says("near", "can", "plate")), np.random.default_rng(0))
    still = made.model_copy(update={"randomization": made.randomization.model_copy(update={"position": 0.0, "yaw": 0.0})})
    assert margins(still, resets=1)[0] > 0.005
    assert not faults(made)


def test_a_relation_of_the_start_without_room_is_named() -> None:
    """The plate stands at the table's left edge: nothing stands left of it."""
    plate = item("plate", "table", pose=Pose.planar(0.1, -0.48))
    table = item("table", params={"width": 1.2}, pose=Pose.planar(0.6, 0.0, 0.0, np.pi))
    scenario = starting([table, plate, item("mug", "table")], says("left_of", "mug", "plate"))
    scenario = scenario.model_copy(update={"embodiment": EmbodimentSpec(base=Pose.planar(0.0, 0.0, 0.74))})
    with pytest.raises(LayoutError, match="mug, left of plate") as caught:
        layout(scenario, np.random.default_rng(0))
    (finding, *_) = caught.value.findings
    assert finding.code == "geometry.no_space"
    assert finding.subjects[:2] == ("mug", "plate")


# ---------------------------------------------------------------------- what the goal puts somewhere


@pytest.mark.parametrize("name", SIDES)
def test_the_spot_beside_a_thing_stays_free_on_the_side_that_the_goal_names(name: str) -> None:
    """Whatever else stands on the table, a mug put there stands in the relation, on the table and within reach."""
    crowd = [item(n, "table") for n in ("apple", "orange", "lemon", "can", "bowl")]
    scenario = draft([item("table"), item("mug", "table"), item("plate", "table"), *crowd], says(name, "mug", "plate"))
    for seed in range(4):
        made = layout(scenario, np.random.default_rng(seed))
        assert any(_spots(made, name)), f"seed {seed}"


def _spots(made: Scenario, name: str) -> Iterator[Pose]:
    """Poses of the mug beside the plate that satisfy goal and geometry critic."""
    built = build_assets(made.scene)
    roots = root_poses(made.scene, built)
    base = made.embodiment.base
    assert base is not None
    ahead = toward(name, base)[:2]
    across = np.array([-ahead[1], ahead[0]])
    half = built["plate"].size[0] / 2 + built["mug"].size[:2].max() / 2
    frame = tf.inverse(roots["table"] @ tf.matrix(built["table"].affordances.support().pose))
    for gap in (0.06, 0.09, 0.12):
        for slide in (-0.05, 0.0, 0.05):
            x, y = roots["plate"][:2, 3] + (half + gap) * ahead + slide * across
            if not 0.28 < np.hypot(x - base.position[0], y - base.position[1]) < 0.74:
                continue
            local = tf.to_pose(frame @ tf.matrix(Pose.planar(float(x), float(y), float(roots["plate"][2, 3]))))
            there = made.scene.with_item(made.scene.item("mug").model_copy(update={"pose": local}))
            put = made.model_copy(
                update={"scene": there, "randomization": made.randomization.model_copy(update={"position": 0.0, "yaw": 0.0})}
            )
            if not faults(put):
                world = World(put)
                world.reset(np.random.default_rng(0))
                if GoalMonitor(put.task.goal, world).reset() > 0:
                    yield local


def test_two_things_leave_room_for_what_is_put_between_them() -> None:
    scenario = draft(THINGS, says("between", "can", "mug", "plate"))
    for seed in range(5):
        made = layout(scenario, np.random.default_rng(seed))
        built = build_assets(made.scene)
        roots = root_poses(made.scene, built)
        apart = float(np.hypot(*(roots["mug"][:2, 3] - roots["plate"][:2, 3])))
        assert apart > (built["mug"].size[:2].min() + built["plate"].size[0]) / 2 + built["can"].size[0] + 0.03


def test_needs_of_relations_name_what_they_are_said_by() -> None:
    scenario = draft(THINGS, All(goals=(says("between", "can", "mug", "plate"), says("behind", "apple", "plate", distance=0.15))))
    wanted = needs.read(scenario, build_assets(scenario.scene))
    assert wanted.handled == {"can", "apple"}
    assert [t.words for t in wanted.targets] == ["between mug and plate", "behind plate"]
    assert wanted.targets[1].predicate.params == {"distance": 0.15}
    assert all(wanted.concerns(name) for name in ("can", "mug", "plate", "apple"))


def test_a_tower_has_its_column_where_its_foot_will_stand() -> None:
    """The red block goes onto the plate on the shelf's board, two more onto it: the board above must be high enough for all."""
    blocks = [item(f"block_{k}", "counter") for k in range(3)]
    goal = Sequence(
        goals=(
            says("on", "block_0", "plate"),
            All(goals=(says("on", "block_0", "plate"), says("on", "block_1", "block_0"), says("on", "block_2", "block_1"))),
        )
    )
    scenario = draft([item("counter"), item("plate", "counter"), item("mug", "counter"), item("apple", "counter"), *blocks], goal)
    for seed in range(3):
        made = layout(scenario, np.random.default_rng(seed))
        assert not faults(made)


def test_what_goes_into_a_thing_that_is_itself_put_away_does_not_need_room_behind_the_door() -> None:
    goal = Sequence(
        goals=(says("inside", "apple", "bowl"), All(goals=(says("inside", "apple", "bowl"), says("inside", "bowl", "microwave"))))
    )
    scenario = draft([item("counter"), item("microwave", "counter"), item("bowl", "counter"), item("apple", "counter")], goal)
    assert not faults(layout(scenario, np.random.default_rng(0)))


def test_a_tray_grows_until_all_that_is_put_on_it_lies_side_by_side() -> None:
    things = [item(n, "table") for n in ("mug", "cup", "bowl")]
    goal = All(goals=tuple(says("on", t.id, "tray") for t in things))
    made = layout(draft([item("table"), item("tray", "table"), *things], goal), np.random.default_rng(0))
    built = build_assets(made.scene)
    x, y = built["tray"].affordances.support().size
    assert x * y > sum(float(built[t.id].size[:2].prod()) for t in things) * 1.5
    large = [item(n, "table", size="large") for n in ("mug", "cup", "bowl")]
    kept = draft([item("table"), item("tray", "table", size="small"), *large], goal)
    with pytest.raises(LayoutError, match="tray") as caught:
        layout(kept, np.random.default_rng(0))
    assert caught.value.findings[0].code == "geometry.too_many"
