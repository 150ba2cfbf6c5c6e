"""Lessons: what repairs teach, kept across runs as JSON, copied into each run, never changing what a run makes meanwhile."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from forge_scenes import DRAFTS

from embodiedsmith import api, cli
from embodiedsmith.episodes import lessons as of_runs
from embodiedsmith.episodes.store import EpisodeStore
from embodiedsmith.forge.agents import Case
from embodiedsmith.forge.asked import only_the_goal
from embodiedsmith.forge.layout import layout
from embodiedsmith.forge.lessons import Lessons, Outcome, context_of, load, save, store_path
from embodiedsmith.forge.repairs import repairs
from embodiedsmith.runtime.errors import SmithError, UsageError
from embodiedsmith.runtime.lock import RunLockedError, WriterLock
from embodiedsmith.runtime.run import Run
from embodiedsmith.runtime.seeds import generator
from embodiedsmith.spec import Brief, Finding

FINDING = Finding(
    code="reach.unreachable", subjects=("mug",), message="far", cures=("move", "move_base", "change_support", "change_embodiment")
)
CONTEXT = context_of(FINDING, DRAFTS["drawer"])


def tried(kind: str, cured: bool, units: float = 10.0) -> Outcome:
    return Outcome(context=CONTEXT, kind=kind, cured=cured, units=units)  # type: ignore[arg-type]


def test_without_lessons_the_critics_order_stands() -> None:
    assert Lessons().order(FINDING, DRAFTS["drawer"]) == FINDING.cures


def test_what_cures_comes_first_and_what_fails_or_costs_comes_last() -> None:
    learnt = Lessons().learn([tried("move", False)] * 4 + [tried("change_support", True)] * 3)
    order = learnt.order(FINDING, DRAFTS["drawer"])
    assert order[0] == "change_support" and order.index("move") > order.index("move_base")
    dear = Lessons().learn([tried("move", True, 200.0)] * 3 + [tried("move_base", True, 5.0)] * 3)
    assert dear.order(FINDING, DRAFTS["drawer"])[0] == "move_base"


def test_the_repairs_offered_follow_the_lessons() -> None:
    scenario = layout(DRAFTS["drawer"], generator(0, "lessons"))
    kinds = frozenset(FINDING.cures)
    plain = Case(
        brief=Brief(text="x"), scenario=scenario, findings=(FINDING,), asked=only_the_goal(scenario), allowed=kinds
    )  # fmt: skip
    taught = replace(plain, lessons=Lessons().learn([tried("move", False)] * 4 + [tried("move_base", True)] * 3))
    first, then = (next(repairs(case, generator(0, "offers"))).kind for case in (plain, taught))
    assert (first, then) == ("move", "move_base")


def test_lessons_are_of_a_context() -> None:
    learnt = Lessons().learn([tried("move", False)] * 4)
    elsewhere = FINDING.model_copy(update={"subjects": ("drawer_unit.drawer_top",)})
    assert learnt.order(elsewhere, DRAFTS["drawer"]) == FINDING.cures
    assert learnt.order(FINDING, DRAFTS["mobile"]) == FINDING.cures
    assert CONTEXT == "reach.unreachable / fixed robot / object"
    assert context_of(elsewhere, DRAFTS["drawer"]) == "reach.unreachable / fixed robot / part of furniture"
    assert context_of(FINDING.model_copy(update={"subjects": ()}), DRAFTS["drawer"]).endswith("nothing named")


def test_learning_in_any_order_is_the_same_and_survives_the_disk(tmp_path: Path) -> None:
    outcomes = [tried("move", True), tried("move_base", False, 3.0), tried("move", False, 2.5)]
    once, again = Lessons().learn(outcomes), Lessons().learn(reversed(outcomes))
    assert once == again
    save(tmp_path / "deep" / "lessons.json", once)
    assert load(tmp_path / "deep" / "lessons.json") == once
    assert load(tmp_path / "none.json") == Lessons()


def test_what_is_no_lessons_file_is_named_and_left(tmp_path: Path) -> None:
    path = tmp_path / "lessons.json"
    path.write_text('{"records": {"x": {"fly": {}}}}')
    with pytest.raises(SmithError, match="these are no lessons"):
        load(path)
    path.write_text('{"format": 9}')
    with pytest.raises(SmithError, match="format 9, not 1"):
        load(path)
    assert path.read_text() == '{"format": 9}'


def test_they_are_kept_where_the_environment_says(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("EMBODIEDSMITH_HOME", str(tmp_path))
    assert store_path() == tmp_path / "lessons.json"
    monkeypatch.delenv("EMBODIEDSMITH_HOME")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    assert store_path() == tmp_path / "data" / "embodiedsmith" / "lessons.json"


def test_a_run_works_from_its_copy_and_teaches_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kept = tmp_path / "kept.json"
    save(kept, Lessons().learn([tried("move", True)]))
    asked = {"n": 1, "seed": 0, "mode": "scene", "lessons": kept}
    api.forge("put the red mug in the top drawer", out=tmp_path / "run", **asked)  # type: ignore[arg-type]
    assert load(tmp_path / "run" / "lessons.json") == Lessons().learn([tried("move", True)])
    taught = json.loads((tmp_path / "run" / "learnt.json").read_text())
    assert taught, "a layout that knows nothing of the task needs repairs"
    assert load(kept) == Lessons().learn([tried("move", True), *(Outcome.model_validate(o) for o in taught)])
    before = kept.read_bytes()
    api.resume(tmp_path / "run")
    assert kept.read_bytes() == before
    assert cli.main(["lessons", str(kept), "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert set(shown["records"]) == set(load(kept).records)


def test_a_run_begun_without_lessons_keeps_none(tmp_path: Path) -> None:
    with Run.create(tmp_path / "run", {"seed": 0}) as run:
        store = EpisodeStore(run)
        of_runs.begin(store, None)
        assert of_runs.lessons_of(store) == Lessons()
        of_runs.finish(store, None)
        assert of_runs.outcomes_of(store) == []
    assert json.loads((tmp_path / "run" / "learnt.json").read_text()) == []


def test_lessons_that_another_run_holds_for_long_are_an_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(of_runs, "TRIES", 2)
    monkeypatch.setattr(of_runs, "PAUSE", 0.0)
    monkeypatch.setattr(of_runs, "outcomes_of", lambda store: [tried("move", True)])
    lock = WriterLock(tmp_path / "kept.json.lock")
    try:
        with Run.create(tmp_path / "run", {"seed": 0}) as run, pytest.raises(RunLockedError):
            of_runs.finish(EpisodeStore(run), tmp_path / "kept.json")
    finally:
        lock.release()
    assert not (tmp_path / "run" / "learnt.json").exists()


def test_lessons_that_are_not_there(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such file"):
        api.lessons(tmp_path / "none.json")
    assert cli.main(["lessons"]) == 0
    assert "nothing learnt yet" in capsys.readouterr().out
