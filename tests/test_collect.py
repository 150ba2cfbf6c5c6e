"""Collecting in slots and waves: the same episodes for any number of workers, after any interruption, and honest failures."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from recordings import release

from embodiedsmith import assets
from embodiedsmith.assets import Asset
from embodiedsmith.episodes import collect as module
from embodiedsmith.episodes.collect import ATTEMPTS, SPARE, Collection, collect
from embodiedsmith.episodes.export.lerobot import export_lerobot
from embodiedsmith.episodes.export.robomimic import export_robomimic
from embodiedsmith.episodes.export.selection import ExportOptions
from embodiedsmith.episodes.report_numbers import by_asset
from embodiedsmith.episodes.staging import replay_difference, warm_world
from embodiedsmith.episodes.store import EpisodeStore
from embodiedsmith.episodes.validate_dataset import validate_dataset
from embodiedsmith.runtime.errors import UsageError
from embodiedsmith.runtime.run import Run
from embodiedsmith.spec import (
    All,
    AssetSpec,
    CameraSpec,
    EmbodimentSpec,
    Goal,
    Item,
    Pose,
    Predicate,
    Scenario,
    SceneSpec,
    TaskSpec,
)
from embodiedsmith.world import World
from embodiedsmith.world.render import WorldRenderer


def scene(goal: Goal, *, color: str = "red") -> Scenario:
    """Two blocks before a Panda."""
    size = {"length": 0.04, "width": 0.04, "height": 0.04}
    table = Item(id="table", asset=AssetSpec(category="table"), pose=Pose.planar(0.7, 0.0), fixed=True)
    first = Item(
        id="block", asset=AssetSpec(category="block", color=color, params=size), parent="table", pose=Pose.planar(-0.15, -0.1)
    )
    second = Item(id="block_2", asset=AssetSpec(category="block", color="blue"), parent="table", pose=Pose.planar(-0.15, 0.15))
    camera = CameraSpec(name="front", position=(1.9, 0.0, 1.4), target=(0.5, 0.0, 0.8))
    return Scenario(
        scene=SceneSpec(items=(table, first, second), cameras=(camera,)),
        task=TaskSpec(goal=goal, instructions={"en": "stack the blocks"}),
        embodiment=EmbodimentSpec(name="panda", base=Pose(position=(0.0, 0.0, 0.75))),
    )


STACK = Predicate(name="on", args=("block", "block_2"))


def make_pink_blocks_ungraspable(monkeypatch: pytest.MonkeyPatch) -> None:
    """From here on every grasp of a pink block is wider than any hand opens."""
    build = assets.build

    def built(spec: AssetSpec) -> Asset:
        asset = build(spec)
        if (spec.category, spec.color) != ("block", "pink"):
            return asset
        wide = tuple(replace(grasp, width=0.2) for grasp in asset.affordances.grasps)
        return replace(asset, affordances=replace(asset.affordances, grasps=wide))

    monkeypatch.setattr(assets, "build", built)


@pytest.fixture(scope="module")
def scenarios() -> list[Scenario]:
    return [scene(STACK), scene(STACK, color="green")]


def run_of(folder: Path, scenarios: list[Scenario], wanted: int, workers: int = 1) -> tuple[Collection, dict[str, bytes]]:
    with Run.create(folder, {"seed": 3, "fps": 20}) as run:
        store = EpisodeStore(run)
        for scenario in scenarios:
            release(store, scenario)
        result = collect(store, scenarios, wanted, workers=workers, quiet=True)
    return result, contents(folder)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted((folder / "episodes").iterdir())}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, scenarios: list[Scenario]) -> tuple[Path, dict[str, bytes]]:
    folder = tmp_path_factory.mktemp("collect") / "whole"
    result, files = run_of(folder, scenarios, 5)
    assert result.complete
    assert result.episodes == 5
    return folder, files


def test_slots_are_dealt_to_scenarios_in_turn(whole: tuple[Path, dict[str, bytes]], scenarios: list[Scenario]) -> None:
    with Run.open(whole[0]) as run:
        rows = EpisodeStore(run).rows(outcome="success")
    assert [row.slot for row in rows] == [0, 1, 2, 3, 4]
    assert [row.scenario_id for row in rows] == [scenarios[k % 2].id for k in range(5)]
    assert all(ATTEMPTS * row.slot <= row.attempt < ATTEMPTS * (row.slot + 1) for row in rows)


def test_four_workers_give_the_same_bytes_after_rendering_in_the_parent(
    tmp_path: Path, whole: tuple[Path, dict[str, bytes]], scenarios: list[Scenario]
) -> None:
    with WorldRenderer(warm_world(scenarios[0]), 64) as renderer:  # a context in the parent must not hang the workers
        renderer.rgb("front")
        _, files = run_of(tmp_path / "run", scenarios, 5, workers=4)
    assert files == whole[1]


def test_interrupted_and_gone_on_with_gives_the_same_bytes(
    tmp_path: Path, whole: tuple[Path, dict[str, bytes]], scenarios: list[Scenario], monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[int] = []
    attempt = module.attempt

    def stop_at_the_third(job: module.Job) -> module.Attempted:
        if len(done) == 2:
            raise KeyboardInterrupt
        done.append(job.slot)
        return attempt(job)

    folder = tmp_path / "run"
    with Run.create(folder, {"seed": 3, "fps": 20}) as run, monkeypatch.context() as patch:
        patch.setattr(module, "attempt", stop_at_the_third)
        store = EpisodeStore(run)
        for scenario in scenarios:
            release(store, scenario)
        with pytest.raises(KeyboardInterrupt):
            collect(store, scenarios, 5, quiet=True)
    assert len(contents(folder)) == 2
    with Run.open(folder, write=True) as run:
        result = collect(EpisodeStore(run), scenarios, 5, quiet=True)
    assert result.complete
    assert contents(folder) == whole[1]


def test_more_episodes_extend_a_run_as_if_asked_for_at_once(
    tmp_path: Path, whole: tuple[Path, dict[str, bytes]], scenarios: list[Scenario]
) -> None:
    run_of(tmp_path / "run", scenarios, 2)
    with Run.open(tmp_path / "run", write=True) as run:
        collect(EpisodeStore(run), scenarios, 5, quiet=True)
    assert contents(tmp_path / "run") == whole[1]


def test_every_episode_replays_to_the_same_bits_in_a_used_world(whole: tuple[Path, dict[str, bytes]]) -> None:
    with Run.open(whole[0]) as run:
        store = EpisodeStore(run)
        differences = [replay_difference(recording, store.scenario(row.scenario_id)) for row, recording in store.episodes()]
    assert differences == [0.0] * 5


def test_scores_are_kept_with_each_episode(whole: tuple[Path, dict[str, bytes]]) -> None:
    with Run.open(whole[0]) as run:
        store = EpisodeStore(run)
        for row, recording in store.episodes():
            assert row.scores["completion"] == 1.0
            assert row.scores["duration"] == pytest.approx(recording.length / 20)
            moved = np.linalg.norm(np.diff(recording.observations["tcp_pose"][:, :3], axis=0), axis=1).sum()
            assert row.scores["path_length"] == pytest.approx(moved)


def test_an_asset_that_cannot_be_grasped_ends_within_bounds_at_zero_yield(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every slot makes its attempts, waves stop, and the yield says zero."""
    make_pink_blocks_ungraspable(monkeypatch)
    wide = scene(STACK, color="pink")
    result, _ = run_of(tmp_path / "run", [wide], 2)
    assert not result.complete
    assert result.episodes == 0
    assert result.attempts == SPARE * 2 * ATTEMPTS
    assert sum(result.failures.values()) == result.attempts
    assert result.failures.keys() <= {"plan.no_symbolic_plan", "pick.no_grasp"}
    with Run.open(tmp_path / "run") as run:
        store = EpisodeStore(run)
        rows = store.rows()
        assert all(row.failure is not None and "block" in row.failure["message"] for row in rows)
        assert sorted(row.attempt for row in rows) == list(range(result.attempts))
        assert by_asset(rows, {wide.id: wide})["block"].rate == 0.0


@pytest.mark.parametrize(("kind", "code"), [("nan control", "world.bad_action"), ("huge speed", "world.engine_warning")])
def test_a_world_that_breaks_at_step_ten_is_a_typed_failure_and_reaches_no_dataset(
    tmp_path: Path, scenarios: list[Scenario], monkeypatch: pytest.MonkeyPatch, kind: str, code: str
) -> None:
    breaking, step = scene(STACK, color="yellow"), World.step

    def spoilt(world: World, action: np.ndarray) -> None:
        if world.scenario.id == breaking.id and world.control_step == 10:
            if kind == "nan control":
                action = np.full_like(action, np.nan)
            else:
                world.data.qvel[world.items["block"].dof] = 1e12
        step(world, action)

    monkeypatch.setattr(World, "step", spoilt)
    with Run.create(tmp_path / "run", {"seed": 3, "fps": 20}) as run:
        store = EpisodeStore(run)
        for scenario in (breaking, scenarios[0]):
            release(store, scenario)
        assert collect(store, [breaking, scenarios[0]], 1, quiet=True).complete
        rows = store.rows()
        assert [(row.failure_code, row.length) for row in rows[:-1]] == [(code, 10)] * ATTEMPTS
        for export, name in ((export_lerobot, "lerobot"), (export_robomimic, "set.hdf5")):
            made = export(store, tmp_path / name, ExportOptions(keep="all"))
            assert (made.episodes, made.frames) == (1, rows[-1].length)
            assert [text.endswith(f"its world broke ({code})") for text in made.skipped] == [True] * ATTEMPTS
    assert validate_dataset(tmp_path / "lerobot") == []


def test_one_bad_scenario_does_not_take_the_other_down(
    tmp_path: Path, scenarios: list[Scenario], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half of the slots fail; the spare ones of the good scenario make up for them."""
    make_pink_blocks_ungraspable(monkeypatch)
    result, _ = run_of(tmp_path / "run", [scene(STACK, color="pink"), scenarios[0]], 2)
    assert result.complete
    with Run.open(tmp_path / "run") as run:
        rows = EpisodeStore(run).rows()
    assert {row.scenario_id for row in rows if row.outcome == "success"} == {scenarios[0].id}
    assert {row.slot for row in rows} == {0, 1, 2, 3}


def test_a_world_that_cannot_be_built_is_a_typed_failure_without_a_recording(tmp_path: Path) -> None:
    nowhere = scene(All(goals=(STACK,))).model_copy(update={"embodiment": EmbodimentSpec(name="panda")})
    result, files = run_of(tmp_path / "run", [nowhere], 1)
    assert result.failures == {"world.not_compiled": SPARE * ATTEMPTS}
    assert files == {}
    with Run.open(tmp_path / "run") as run:
        row = EpisodeStore(run).rows()[0]
    assert row.file is None
    assert row.failure is not None
    assert "base pose" in row.failure["message"]


def test_scenarios_that_were_not_released_are_refused(tmp_path: Path, scenarios: list[Scenario]) -> None:
    with Run.create(tmp_path / "run", {"seed": 0}) as run, pytest.raises(UsageError, match=f"not released: {scenarios[1].id}"):
        store = EpisodeStore(run)
        release(store, scenarios[0])
        collect(store, scenarios, 1, quiet=True)


def test_nothing_to_collect_from_is_refused(tmp_path: Path) -> None:
    with Run.create(tmp_path / "run", {"seed": 0}) as run, pytest.raises(UsageError, match="0 scenarios"):
        collect(EpisodeStore(run), [], 1)
