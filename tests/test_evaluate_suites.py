"""Suites: frozen, told apart by content, and never trained on."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_collect import STACK, scene

from embodiedsmith.evaluate.suites import Entry, Suite, SuiteError, forge_held_out, hold_out, situation, suite
from embodiedsmith.forge.loop import forge
from embodiedsmith.runtime.errors import UsageError
from embodiedsmith.runtime.seeds import HELD_OUT, derive, generator, held_out, is_held_out
from embodiedsmith.spec import Brief, Pose, Provenance, Randomization, Scenario

BRIEF = Brief(text="stack the blue block on the green block", seed=3)


def moved(scenario: Scenario, y: float) -> Scenario:
    """The same with the first block elsewhere."""
    block = scenario.scene.item("block").model_copy(update={"pose": Pose.planar(-0.15, y)})
    return scenario.model_copy(update={"scene": scenario.scene.with_item(block)})


def harder(scenario: Scenario) -> Scenario:
    """The same at another level: more varies."""
    return scenario.model_copy(update={"randomization": Randomization(position=0.1, yaw=3.0)})


@pytest.fixture(scope="module")
def held() -> tuple[Scenario, ...]:
    return forge_held_out(BRIEF, 3)


def test_seeds_of_evaluation_are_never_those_of_training() -> None:
    tested = [held_out(seed, "suite", name) for seed in range(200) for name in ("a", "b")]
    assert len(set(tested)) == 400
    assert all(HELD_OUT <= seed < 2**63 for seed in tested)
    # whatever training derives its runs from, it stays below; and the streams themselves never meet
    assert not any(is_held_out(seed) for seed in (0, 1, 2**31, HELD_OUT - 1))
    scenario = scene(STACK).id
    streams = [
        {derive(seed, scenario, attempt, "attempt") for seed in seeds for attempt in range(50)} for seeds in (range(100), tested)
    ]
    assert not streams[0] & streams[1]
    draws = {tuple(generator(seed, scenario, 0, "attempt").random(2)) for seed in (*range(100), *tested)}
    assert len(draws) == 500


def test_the_same_content_has_the_same_id(tmp_path: Path) -> None:
    a, b = scene(STACK), moved(scene(STACK), 0.05)
    first = suite("blocks", {1: [a, b], 5: [harder(a), harder(b)]}, 3, seed=0)
    assert (first.trials, first.levels) == (12, (1, 5))
    first.save(tmp_path / "suite.json")
    read = Suite.load(tmp_path / "suite.json")
    assert read == first and read.id == first.id
    elsewhere = first.entries[0].scenario.model_copy(update={"provenance": Provenance(seed=9, versions={"mujoco": "9"})})
    told = (first.entries[0].model_copy(update={"scenario": elsewhere}), *first.entries[1:])
    assert first.model_copy(update={"entries": told}).id == first.id  # where a scenario came from is not what it is
    others = [
        suite("blocks", {1: [a, b], 5: [harder(a), harder(b)]}, 4, seed=0),
        suite("blocks", {1: [a, b], 5: [harder(a), harder(b)]}, 3, seed=1),
        suite("blocks", {1: [a, b], 6: [harder(a), harder(b)]}, 3, seed=0),
        suite("blocks", {1: [a, b]}, 3, seed=0),
    ]
    assert len({first.id, *(s.id for s in others)}) == 5
    assert first.at(5).entries == first.entries[2:]
    with pytest.raises(UsageError, match="nothing at level 9"):
        first.at(9)


def test_training_on_a_suites_scenarios_is_refused_at_every_level() -> None:
    a, b, c = (moved(scene(STACK), y) for y in (-0.1, 0.0, 0.05))
    tested = suite("blocks", {None: [a, b]}, 2, seed=0)
    assert tested.shared([c, harder(c)]) == ()
    assert tested.shared([c, harder(b), a]) == (harder(b).id, a.id)
    tested.guard([c], seed=7)
    with pytest.raises(SuiteError, match="training would see") as caught:
        tested.guard([harder(a), c], seed=tested.seed)
    assert len(caught.value.faults) == 2 and harder(a).id in caught.value.faults[0]
    assert situation(scene(STACK)) == situation(scene(STACK, color="red"))
    assert situation(scene(STACK, color="green")) != situation(scene(STACK))


def test_a_suite_that_is_not_sound_names_its_faults(tmp_path: Path) -> None:
    entry = Entry(scenario=scene(STACK), attempts=(0, 1, 1, -1))
    with pytest.raises(ValueError, match=r"seed of training.*repeated.*below 0"):
        Suite(name="blocks", seed=5, entries=(entry,))
    (tmp_path / "damaged.json").write_text('{"name": "", "seed": 1}')
    with pytest.raises(SuiteError, match="not a suite") as caught:
        Suite.load(tmp_path / "damaged.json")
    assert {fault.partition(":")[0] for fault in caught.value.faults} == {"name", "entries"}


def test_held_out_scenarios_are_none_that_training_forges(held: tuple[Scenario, ...]) -> None:
    assert len({situation(s) for s in held}) == 3
    trained = [forge(BRIEF, index=k).scenario for k in range(3)]
    assert suite("blocks", {None: held}, 2, seed=BRIEF.seed).shared(trained) == ()
    assert {s.task.goal.to_json() for s in held} == {s.task.goal.to_json() for s in trained}
    assert all(s.provenance.brief is not None and is_held_out(s.provenance.brief.seed) for s in held)
    assert forge_held_out(BRIEF, 1) == held[:1]
    other = forge_held_out(BRIEF, 1, among=held[:1])
    assert other[0].id == held[1].id
    with pytest.raises(SuiteError, match="0 different scenarios of the 1 wanted in 2 tries"):
        forge_held_out(BRIEF, 1, among=held)


def test_a_run_is_split_the_same_way_every_time(held: tuple[Scenario, ...]) -> None:
    given = [*held, harder(held[1])]
    train, test = hold_out(given, 1, seed=4)
    assert (train, test) == hold_out(given, 1, seed=4)
    assert sorted(s.id for s in (*train, *test)) == sorted(s.id for s in given)
    assert suite("split", {None: test}, 1, seed=4).shared(train) == ()
    with pytest.raises(UsageError, match="3 of 3"):
        hold_out(given, 3, seed=4)


def test_what_the_page_shows_runs() -> None:
    page = (Path(__file__).parents[1] / "docs" / "learning.md").read_text("utf-8")
    code = page.partition("## Evaluation")[2].partition("```python\n")[2].partition("```")[0]
    names: dict[str, object] = {}
    exec(code, names)
    assert isinstance(names["tested"], Suite)
