"""The flywheel's benchmark in miniature: real spins from one cold start, judged on a suite that none of them sees."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from embodiedsmith.bench import flywheel
from embodiedsmith.bench.flywheel import TRIALS, BenchConfig, chosen, measure
from embodiedsmith.bench.flywheel_arms import ARMS, COLD, TASKS, BenchTask, settings_of
from embodiedsmith.bench.flywheel_report import Trial, report
from embodiedsmith.evaluate.suites import Suite, situation
from embodiedsmith.flywheel.rounds import read_rows
from embodiedsmith.flywheel.settings import FlywheelSettings
from embodiedsmith.runtime.errors import UsageError
from embodiedsmith.runtime.seeds import held_out

SMALL = BenchTask(
    name="basket", brief="put the can in the basket", target=0.9,
    settings=FlywheelSettings(
        rounds=1, scenarios=1, held_out=1, demonstrations=2, rollouts=2, experts=3, cold_steps=20, round_steps=10, evaluations=1,
        final_evaluations=1, forgetting=1, requests=0, width=32, depth=2, time_limit=1.5,
    ),
)  # fmt: skip
CONFIG = BenchConfig(tasks=(SMALL,), arms=("plain", "no_data"), seeds=1, scenarios=1, starts=2)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("flywheel")


def test_arms_go_on_from_one_cold_start_and_a_second_call_does_nothing_twice(folder: Path) -> None:
    found = measure(CONFIG, folder=folder)
    task = found["tasks"]["basket"]
    # `loop` is tried although nobody asked, for `plain` is measured by it
    assert list(task["arms"]) == [COLD, "loop", "no_data", "plain"] and task["starts"] == 2
    steps = {arm: told["steps"] for arm, told in task["arms"].items()}
    assert steps == {COLD: [20], "loop": [40], "no_data": [40], "plain": [40]}  # the last round trains anew
    arms = task["arms"]
    assert arms["no_data"]["kept"] == [0]
    assert arms["plain"]["kept"] == arms["plain"]["experts"] == arms["loop"]["kept"] != [0]
    assert arms["loop"]["final"] == [arms["no_data"]["final"][0] + arms["loop"]["against"]["no_data"]["seeds"][0]]
    # the cold start was at the lowest level, and going on at the highest one is no jump of the level
    rows = {arm: read_rows(folder / arm / "basket-0" / "flywheel") for arm in arms}
    assert len({row[0].to_json() for row in rows.values()}) == 1
    assert [rows[arm][1].level for arm in list(arms)[1:]] == [10, 10, 10]
    assert all(arms[arm]["alarms"] == [[]] for arm in ("loop", "plain"))
    # judged where nothing was seen
    suites = [Suite.load(path) for path in (folder / "suites").iterdir()]
    assert [len(suite.entries) for suite in suites] == [2]
    assert suites[0].seed == held_out(flywheel.FINAL_SEED, "suite", "put the can in the basket, judged")
    own = Suite.load(folder / COLD / "basket-0" / "flywheel" / "suites" / "task-0.json")
    assert not {situation(e.scenario) for e in own.entries} & {situation(e.scenario) for e in suites[0].entries}
    assert all(told["seen"] == 0 for told in arms.values())
    # killed in the last trial: only that one is made again, and comes out the same
    lines = (folder / TRIALS).read_text().splitlines()
    (folder / TRIALS).write_text("\n".join(lines[:-1]) + "\n")
    said: list[str] = []
    again = measure(CONFIG, folder=folder, say=said.append)
    assert again == found and (folder / TRIALS).read_text().splitlines() == lines
    assert sum("at level 10" in line for line in said) == 1


def test_other_settings_are_another_trial() -> None:
    loop, plain = (settings_of(SMALL, ARMS[name], 4.6) for name in ("loop", "plain"))
    assert loop == SMALL.settings
    assert (plain.experts, plain.rollouts, plain.expert, plain.rounds) == (5, 0, "plain", loop.rounds)
    with pytest.raises(UsageError, match="needs to know how many episodes 'loop' keeps"):
        settings_of(SMALL, ARMS["plain"])
    for arm in ARMS.values():  # equal gradient steps
        chosen = settings_of(SMALL, arm, 1.0)
        for name in ("rounds", "cold_steps", "round_steps", "retrain_every", "batch_size", "demonstrations", "start_level"):
            assert getattr(chosen, name) == getattr(loop, name), (arm.name, name)


def test_what_is_asked_for_must_be_there() -> None:
    assert chosen("stack") == (TASKS[2],) and chosen(None) == TASKS
    with pytest.raises(UsageError, match="there is no task 'stick'") as told:
        chosen("stick")
    assert "stack" in str(told.value)
    with pytest.raises(UsageError, match="there is no arm lop") as told:
        measure(BenchConfig(arms=("lop",)))
    assert "loop" in str(told.value)


def test_a_report_says_what_counts_against_a_claim() -> None:
    def trial(arm: str, seed: int, final: str, **more: object) -> Trial:
        about = {
            "task": "basket", "arm": arm, "seed": seed, "setup": "s", "experts": 3, "final": final, "lowest": "1111",
            "lowest_best": "1111", "best_round": 1, "each": 2, "own": (0.5,), "level": 3, "kept": 5, "alarms": (), "steps": 30,
            "seconds": {"train": 60.0}, "demonstrator": 1.0,
        }  # fmt: skip
        return Trial.model_validate({**about, **more})

    cold = [trial(COLD, seed, "1000") for seed in range(2)]
    loop = [trial("loop", 0, "1111"), trial("loop", 1, "1111")]
    control = [trial("no_data", 0, "1010"), trial("no_data", 1, "0011")]
    told = report((SMALL,), [*cold, *loop, *control])["tasks"]["basket"]["arms"]
    assert told["loop"]["mean"] == {"value": 1.0, "low": 1.0, "high": 1.0} and told["loop"]["met"]
    against = told["loop"]["against"]["no_data"]
    assert against["difference"]["value"] == against["paired"]["value"] == 0.5 and against["seeds"] == [0.5, 0.5]
    assert against["difference"]["low"] > 0
    assert not told["no_data"]["met"] and told["no_data"]["pooled"]["value"] == 0.5 and not told["no_data"]["against"]
    # each of these alone undoes the claim
    for changed, goal in (
        ({"final": "1100"}, "success"),
        ({"seconds": {"train": 46 * 60.0}}, "time"),
    ):
        undone = report((SMALL,), [*cold, trial("loop", 0, **{"final": "1111", **changed})])["tasks"]["basket"]["arms"]["loop"]  # type: ignore[arg-type]
        assert [name for name, met in undone["goals"].items() if not met] == [goal] and not undone["met"]
    good = report((SMALL,), [trial(COLD, 0, "1110"), trial("loop", 0, "1111")])["tasks"]["basket"]["arms"]["loop"]
    assert not good["goals"]["cold_start"]
    # level 1: three of four against four of four is forgetting
    lost = report((SMALL,), [*cold, trial("loop", 0, "1111", lowest="1011")])["tasks"]["basket"]["arms"]["loop"]["level1"]
    assert lost["lost"]["value"] == 0.25 and not lost["holds"] and told["loop"]["level1"]["holds"]


def test_the_table_names_every_arm(folder: Path) -> None:
    found = measure(CONFIG, folder=folder)
    assert len(found["lines"]) == 2 + len(found["tasks"]["basket"]["arms"])
    for line, arm in zip(found["lines"][2:], found["tasks"]["basket"]["arms"], strict=True):
        assert line.split()[0] == arm
    json.dumps(found)
