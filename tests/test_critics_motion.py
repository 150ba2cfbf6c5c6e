"""The motion critic foresees what the demonstrator meets, and refuses nothing that it does."""

from __future__ import annotations

import numpy as np
import pytest
from critic_scenes import BY_NAME, STAND, asked, built_as, drawers, found, microwave, more, on_table, ring, still
from forge_scenes import draft, item, says

from embodiedsmith.forge.critics import Context
from embodiedsmith.spec import All, Pose, Scenario


def two_to_stack() -> Scenario:
    """Three blocks to pile up, the last of them walled in."""
    blocks = still(on_table((0.1, 0.4), (0.1, 0.25), (0.05, -0.2)))
    return asked(blocks, All(goals=(says("on", "block_2", "block_1"), says("on", "block_3", "block_2"))))


def test_the_blocked_thing_comes_first_then_what_blocks_it() -> None:
    (finding,) = found("motion", more(still(on_table((0.05, 0.2), (0.05, -0.2))), *ring(0.05, 0.2)))
    assert finding.code == "motion.grasp_blocked"
    assert finding.subjects[0] == "block_1" and set(finding.subjects[1:]) <= {f"box_{k}" for k in range(1, 5)}
    assert len(finding.subjects) > 1
    (finding,) = found("motion", more(still(on_table((0.05, 0.3), (0.05, -0.2))), *ring(0.05, -0.2)))
    assert finding.code == "motion.place_blocked"
    assert finding.subjects[0] == "block_1" and set(finding.subjects[1:]) <= {f"box_{k}" for k in range(1, 5)}
    assert "block_1 can be reached, but then" in finding.message


def test_later_steps_are_planned_too_with_what_was_put_away_out_of_the_way() -> None:
    context = Context(two_to_stack())
    assert BY_NAME["motion"].review(context) == []
    assert context.plans == 2
    walled = more(two_to_stack(), *ring(0.05, -0.2))
    (finding,) = found("motion", walled)
    assert finding.code == "motion.grasp_blocked" and finding.subjects[0] == "block_3"


@pytest.mark.parametrize(("opening", "plans"), [(0.0, 1), (0.8, 1)])
def test_what_lies_in_a_drawer_is_reached_for_only_where_it_is_known_to_lie(opening: float, plans: int) -> None:
    """While a drawer is pulled, what is in it slides: only the opening is planned. In one that stands open, the grasp is."""
    apple = item("apple", "drawer_unit", relation="inside", support="drawer_top", pose=Pose())
    scenario = still(asked(more(drawers(joints={"drawer_top": opening}), apple), says("lifted", "apple")))
    context = Context(scenario)
    assert [s.skill for s in context.steps()] == (["pick"] if opening else ["open", "pick"])
    assert BY_NAME["motion"].review(context) == []
    assert context.plans == plans
    assert context.world.joint("drawer_unit.drawer_top")[1] > 0.6  # imagined, or there
    assert context.simulated < 0.2


def test_what_stands_behind_a_door_is_reached_for_once_that_is_open() -> None:
    apple = item("apple", "microwave", relation="inside", pose=Pose.planar(0.06, 0.0))
    context = Context(still(asked(more(microwave(), apple), says("lifted", "apple"))))
    assert [s.skill for s in context.steps()] == ["open", "pick"]
    assert BY_NAME["motion"].review(context) == []
    assert context.plans == 2


def test_nothing_is_simulated_and_the_next_critic_finds_the_start_as_it_was() -> None:
    context = Context(drawers())
    before = context.start().save()
    spent = context.simulated
    BY_NAME["motion"].review(context)
    assert context.simulated == spent
    assert np.array_equal(context.start().save(), before)


def test_a_start_that_varies_may_be_free_where_the_first_is_not() -> None:
    """The critic refuses only what is blocked from every start that the execution critic tries."""
    scenario = on_table((0.05, 0.2), (0.05, -0.2))
    context = Context(scenario)
    plans: list[int] = []
    start = context.start_rng

    def counted(attempt: int) -> np.random.Generator:
        plans.append(attempt)
        return start(attempt)

    context.start_rng = counted  # type: ignore[method-assign]
    assert BY_NAME["motion"].review(context) == []
    assert plans == [0]
    blocked = Context(more(still(scenario), *ring(0.05, 0.2)))
    seen: list[int] = []
    begin = blocked.start_rng

    def noted(attempt: int) -> np.random.Generator:
        seen.append(attempt)
        return begin(attempt)

    blocked.start_rng = noted  # type: ignore[method-assign]
    assert BY_NAME["motion"].review(blocked)
    assert seen == [0, 1]


def crowded(gap: float) -> Scenario:
    """Two books that stand so near to a block that a hand may or may not get in between."""
    things = [item("table", pose=Pose.planar(0.575, 0.0, 0.0, np.pi)), item("block_1", "table", pose=Pose.planar(0.1, 0.1))]
    out = 0.0225 + gap + 0.075
    walls = ((out, 0.0), (-out, 0.0), (0.0, out + 0.08), (0.0, -out - 0.08))
    size = {"width": 0.15, "depth": 0.15, "height": 0.12}
    for k, (x, y) in enumerate(walls, start=1):
        things.append(item(f"box_{k}", "table", params=size, pose=Pose.planar(0.1 + x, 0.1 + y)))
    return still(draft(things, says("lifted", "block_1"), base=STAND))


AGREE: dict[str, Scenario] = {
    **{f"gap_{round(1000 * gap)}": crowded(gap) for gap in (0.01, 0.02, 0.03, 0.04)},
    "oven_near": microwave(0.2),
    "oven": microwave(),
    "ring": more(still(on_table((0.05, 0.2), (0.05, -0.2))), *ring(0.05, 0.2)),
    "spoon": asked(built_as(still(on_table((0.05, 0.2), (0.05, -0.2))), "block_1", "spoon"), says("lifted", "block_1")),
    "walled_target": more(still(on_table((0.05, 0.3), (0.05, -0.2))), *ring(0.05, -0.2)),
}


@pytest.mark.parametrize("name", AGREE)
def test_what_is_refused_fails_when_it_is_tried(name: str) -> None:
    refused = bool(found("motion", AGREE[name]))
    failed = bool(found("execution", AGREE[name]))
    assert failed or not refused
    if name.startswith(("ring", "walled", "oven_near")):
        assert refused
