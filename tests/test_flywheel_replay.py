"""The replay: on disk, whole after any interruption, evicting by the rules, drawn from by the rules, and flat in memory."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from embodiedsmith.flywheel import replay as replay_module
from embodiedsmith.flywheel import shards as shards_module
from embodiedsmith.flywheel.replay import Labelled, Replay, ReplayConfig, ReplayError
from embodiedsmith.flywheel.sampling import Mixture, View, mix, weights
from embodiedsmith.learn.sources import EpisodesSource
from embodiedsmith.runtime.errors import UsageError

FEATURES = ("serial", "step", "noise")
ACTIONS = ("tcp_dx", "tcp_dy", "gripper")
CHUNK = 4


@dataclass(frozen=True)
class Rows:
    """An episode of the shapes that `encode_episode` gives: column 0 of the features tells which, column 1 the step."""

    features: NDArray[np.float32]
    actions: NDArray[np.float32]
    whole: bool = True


def rows(serial: int, length: int) -> Rows:
    rng = np.random.default_rng(serial)
    step = np.arange(length, dtype=np.float32)
    features = np.stack([np.full(length, serial), step, rng.normal(size=length)], axis=1)
    return Rows(features.astype(np.float32), rng.normal(size=(length, 3)).astype(np.float32), whole=serial % 2 == 0)


def labelled(serial: int, *, length: int | None = None, quality: float = 0.5, source: str = "policy", **more: object) -> Labelled:
    length = 5 + serial % 7 if length is None else length
    given: dict[str, object] = {"level": 1, "task": "basket", "scenario": f"s{serial % 3}", "attempt": serial, **more}
    return Labelled(episode=rows(serial, length), quality=quality, efficiency=0.5, source=source, **given)  # type: ignore[arg-type]


def batch_of(serials: range, **more: object) -> list[Labelled]:
    return [labelled(k, **more) for k in serials]  # type: ignore[arg-type]


def make(folder: Path, **config: object) -> Replay:
    return Replay(folder, FEATURES, ACTIONS, ReplayConfig(**config))  # type: ignore[arg-type]


def serials(replay: Replay) -> list[int]:
    """Which episodes are there, read from their rows."""
    found = []
    for row in replay.table:
        seen, done = replay.shards.rows(int(row["shard"]))
        span = slice(int(row["start"]), int(row["start"] + row["length"]))
        serial = int(seen[span.start, 0])
        expected = rows(serial, int(row["length"]))
        assert np.array_equal(seen[span], expected.features)
        assert np.array_equal(done[span], expected.actions)
        assert row["attempt"] == serial
        found.append(serial)
    return found


# ---------------------------------------------------------------------- keeping


def test_what_is_added_is_there_after_opening_again(tmp_path: Path) -> None:
    replay = make(tmp_path)
    decided = replay.add(0, batch_of(range(6), source="expert"))
    replay.add(1, iter(batch_of(range(6, 10), level=2)))
    assert (decided.before, decided.after, decided.numbers["added"]) == (0, 6, 6)
    again = make(tmp_path)
    assert serials(again) == serials(replay) == list(range(10))
    assert len(again) == 10
    assert again.steps == sum(5 + k % 7 for k in range(10))
    assert again.count("source") == {"expert": 6, "policy": 4}
    assert again.count("scenario") == {"s0": 4, "s1": 3, "s2": 3}
    assert again.table["level"].tolist() == [1] * 6 + [2] * 4
    assert again.name("task", int(again.table["task"][0])) == "basket"
    assert again.number("task", "unheard of") == -1


def test_a_round_without_episodes_changes_nothing(tmp_path: Path) -> None:
    replay = make(tmp_path)
    replay.add(0, batch_of(range(3)))
    assert replay.add(1, []).numbers["added"] == 0
    assert serials(make(tmp_path)) == [0, 1, 2]


def test_what_does_not_fit_is_refused_and_nothing_is_kept(tmp_path: Path) -> None:
    replay = make(tmp_path)
    replay.add(0, batch_of(range(3)))
    bad = rows(7, 5)
    broken = Rows(bad.features.copy(), bad.actions.copy())
    broken.actions[2, 1] = np.nan
    for episode, words in (
        (broken, r"episode 1 \(policy, scenario s1, attempt 7\): has numbers that are not finite"),
        (Rows(bad.features[:0], bad.actions[:0]), r"features \(0, 3\)"),
        (Rows(bad.features[:, :2], bad.actions), r"features \(5, 2\) and actions \(5, 3\); \(T, 3\) and \(T, 3\)"),
        (Rows(bad.features, bad.actions[:4]), r"actions \(4, 3\)"),
    ):
        wrong = Labelled(
            episode=episode, quality=0.5, efficiency=0.5, level=1, task="basket", source="policy", scenario="s1", attempt=7
        )
        with pytest.raises(ReplayError, match=words):
            replay.add(1, [labelled(6), wrong])
        assert serials(replay) == serials(make(tmp_path)) == [0, 1, 2]
    with pytest.raises(ReplayError, match=r"round 0 is over[\s\S]*remedy: rewind\(0\) first"):
        replay.add(1, batch_of(range(3, 5)))
        replay.add(0, batch_of(range(5, 6)))


def test_other_columns_and_damage_are_named(tmp_path: Path) -> None:
    make(tmp_path).add(0, batch_of(range(3)))
    with pytest.raises(ReplayError, match="holds 3 feature_names, 2 are asked for"):
        Replay(tmp_path, FEATURES[:2], ACTIONS)
    shard = tmp_path / "shards" / "000000.actions.f32"
    whole = shard.read_bytes()
    shard.write_bytes(whole[:-7])
    with pytest.raises(ReplayError, match=r"shards are missing or cut short[\s\S]*shard 0 has 18 rows of features and -1"):
        make(tmp_path)
    shard.write_bytes(whole)
    table = next(tmp_path.glob("table-*.npy"))
    table.write_bytes(table.read_bytes()[:-1] + b"\x07")
    with pytest.raises(ReplayError, match="does not have its checksum"):
        make(tmp_path)


# ---------------------------------------------------------------------- evicting


def test_the_early_quota_the_best_and_the_newest_stay(tmp_path: Path) -> None:
    replay = make(tmp_path, capacity=20)
    for round in range(10):
        span = range(8 * round, 8 * round + 8)
        replay.add(round, [labelled(k, quality=0.9 if k in (37, 50) else 0.1 + 0.001 * (k % 8)) for k in span])
        assert len(replay) <= 20
    kept = serials(replay)
    assert len(kept) == 20
    assert kept[:4] == [0, 1, 2, 3]  # a fifth of the capacity
    assert {37, 50} <= set(kept)
    assert set(range(72, 80)) <= set(kept)
    assert serials(make(tmp_path, capacity=20)) == kept


def test_real_episodes_are_never_evicted(tmp_path: Path) -> None:
    replay = make(tmp_path, capacity=10)
    replay.add(0, batch_of(range(6), source="real", quality=0.0))
    replay.add(1, batch_of(range(6, 40), quality=0.9))
    assert set(range(6)) <= set(serials(replay))
    assert len(replay) == 10


def test_what_is_evicted_leaves_the_disk_in_a_later_round(tmp_path: Path) -> None:
    replay = make(tmp_path, capacity=30)
    size = 0
    for round in range(30):
        replay.add(round, batch_of(range(20 * round, 20 * round + 20), length=40))
        size = sum(path.stat().st_size for path in tmp_path.rglob("*") if path.is_file())
        assert len(serials(replay)) == min(30, 20 * (round + 1))
    row = 4 * (len(FEATURES) + len(ACTIONS))
    assert size < 3 * 30 * 40 * row + 20_000
    assert len(list((tmp_path / "shards").iterdir())) <= 2 * 30


# ---------------------------------------------------------------------- interruptions


class Killed(BaseException):
    """As if the process had been killed here."""


def test_killed_at_any_write_it_opens_as_before_or_as_after(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def history(folder: Path) -> Replay:
        replay = make(folder, capacity=25)
        for round in range(4):
            replay.add(round, batch_of(range(10 * round, 10 * round + 10), length=9))
        return replay

    before = serials(history(tmp_path / "whole"))
    twin = make(tmp_path / "whole", capacity=25)
    twin.add(4, batch_of(range(40, 50), length=9))  # compacts, evicts, adds
    after = serials(twin)
    assert before != after
    seen = set()
    for moment in range(40):
        folder = tmp_path / f"killed_{moment}"
        replay = history(folder)
        real, calls = os.replace, iter(range(1000))

        def guarded(source: object, target: object, real=real, calls=calls, moment=moment) -> None:  # type: ignore[no-untyped-def]
            this = next(calls) == moment // 2
            if this and moment % 2 == 0:
                raise Killed
            real(source, target)
            if this:
                raise Killed

        with monkeypatch.context() as patch:
            patch.setattr(os, "replace", guarded)
            patch.setattr(Path, "unlink", lambda self, missing_ok=False: None)  # the dead do not tidy up
            patch.setattr(shards_module.Shards, "sweep", lambda self, known: None)
            try:
                replay.add(4, batch_of(range(40, 50), length=9))
                finished = True
            except Killed:
                finished = False
        opened = make(folder, capacity=25)
        assert serials(opened) in (before, after)
        seen.add(tuple(serials(opened)))
        opened.rewind(4)
        assert serials(opened) == before
        opened.add(4, batch_of(range(40, 50), length=9))
        assert serials(opened) == serials(make(folder, capacity=25)) == after
        assert not list(folder.rglob("*.part"))
        if finished:
            break
    else:
        pytest.fail("never finished")
    assert seen == {tuple(before), tuple(after)}


def test_rewinding_takes_back_rounds_with_what_they_evicted(tmp_path: Path) -> None:
    replay = make(tmp_path, capacity=12)
    states = []
    for round in range(5):
        states.append(serials(replay))
        replay.add(round, batch_of(range(6 * round, 6 * round + 6)))
    replay.rewind(4)
    assert serials(replay) == serials(make(tmp_path, capacity=12)) == states[4]
    replay.rewind(9)
    assert serials(replay) == states[4]
    replay.rewind(0)
    assert len(replay) == 0


# ---------------------------------------------------------------------- drawing


def test_windows_are_those_of_an_episode_with_rest_at_its_end(tmp_path: Path) -> None:
    replay = make(tmp_path)
    replay.add(0, batch_of(range(5)))
    replay.add(1, batch_of(range(5, 9)))
    view = View(replay, CHUNK)
    batch = view.batch(np.random.default_rng(0), 400)
    assert batch.features.dtype == batch.actions.dtype == torch.float32
    assert batch.valid.dtype == batch.whole.dtype == torch.bool
    assert torch.equal(batch.whole, batch.features[:, 0] % 2 == 0)
    assert not batch.valid.all()
    for seen, done, valid in zip(batch.features.numpy(), batch.actions.numpy(), batch.valid.numpy(), strict=True):
        serial, step = int(seen[0]), int(seen[1])
        episode = rows(serial, 5 + serial % 7)
        assert np.array_equal(seen, episode.features[step])
        there = min(CHUNK, len(episode.actions) - step)
        assert valid.tolist() == [k < there for k in range(CHUNK)]
        assert np.array_equal(done[:there], episode.actions[step : step + there])
        assert (done[there:, :2] == 0).all()  # motions rest
        assert (done[there:, 2] == episode.actions[-1, 2]).all()  # the gripper stays
    again = View(make(tmp_path), CHUNK).batch(np.random.default_rng(0), 400)
    assert torch.equal(again.features, batch.features)
    assert torch.equal(again.actions, batch.actions)


def test_statistics_are_those_of_the_rows_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    replay = make(tmp_path)
    episodes = [rows(k, 30) for k in range(40)]
    for round in range(4):
        replay.add(round, batch_of(range(10 * round, 10 * round + 10), length=30))
    expected = EpisodesSource(episodes, ACTIONS, CHUNK).statistics()
    for mine, theirs in zip(View(replay, CHUNK).statistics(), expected, strict=True):
        assert np.allclose(mine, theirs, rtol=1e-6, atol=1e-6)
    monkeypatch.setattr("embodiedsmith.flywheel.sampling.STATISTICS_ROWS", 100)
    rough = View(replay, CHUNK).statistics()
    assert np.array_equal(rough.action_low, View(replay, CHUNK).statistics().action_low)
    assert np.allclose(rough.feature_mean, expected.feature_mean, atol=3.0)


def test_views_choose_and_name_what_is_not_there(tmp_path: Path) -> None:
    replay = make(tmp_path)
    replay.add(0, batch_of(range(4), source="expert"))
    replay.add(1, batch_of(range(4, 10), task="stack", level=3))
    rng = np.random.default_rng(0)

    def drawn(**of: object) -> set[int]:
        return set(View(replay, CHUNK, **of).batch(rng, 200).features[:, 0].int().tolist())  # type: ignore[arg-type]

    assert drawn(source="expert") == drawn(rounds=(0, 0)) == drawn(but="policy") == drawn(level=1) == set(range(4))
    assert drawn(task="stack") == set(range(4, 10))
    assert len(View(replay, CHUNK, task="stack")) == 6
    with pytest.raises(UsageError, match="no episode of 10 in the replay is of task fold, level 2"):
        View(replay, CHUNK, task="fold", level=2)


def test_ages_weigh_alike_quality_is_preferred_and_the_early_have_their_quota(tmp_path: Path) -> None:
    config = ReplayConfig(early=0.2, ages=4, qualities=3, preference=3.0)
    count = np.array([30, 60, 300, 10])  # episodes of four rounds
    rounds = np.repeat([0, 1, 2, 3], count)
    quality = np.concatenate([np.linspace(0, 1, n) for n in count])
    lengths = np.full(len(rounds), 50)
    free = weights(rounds, quality, lengths, config, early=0.0)
    assert [free[rounds == k].sum() for k in range(4)] == pytest.approx([0.25] * 4)
    third = free[rounds == 2].reshape(3, 100).sum(axis=1)
    assert third[2] / third[0] == pytest.approx(3.0)
    assert (np.diff(third) > 0).all()
    quota = weights(rounds, quality, lengths, config)
    assert quota[:80].sum() == pytest.approx(0.2 + 0.8 * free[:80].sum())
    assert quota.sum() == pytest.approx(1.0)
    alike = weights(np.zeros(7, int), np.full(7, 0.5), np.arange(1, 8), config, early=0.0)
    assert alike == pytest.approx(np.arange(1, 8) / 28)  # every step alike


def test_a_batch_has_its_part_of_real_and_of_fresh_episodes(tmp_path: Path) -> None:
    replay = make(tmp_path)
    replay.add(0, batch_of(range(20), source="expert"))
    replay.add(0, batch_of(range(100, 103), source="real"))
    replay.add(1, batch_of(range(20, 24)))
    source = mix(replay, CHUNK, fresh_round=1, fresh=0.5)
    assert isinstance(source, Mixture)
    assert source.shares == pytest.approx([1 / 11, 5 / 11, 5 / 11])
    serial = source.batch(np.random.default_rng(1), 22_000).features[:, 0].numpy()
    assert (serial >= 100).mean() == pytest.approx(1 / 11, abs=0.01)
    assert ((serial >= 20) & (serial < 24)).mean() > 0.45
    only = mix(replay, CHUNK, fresh_round=7)
    assert isinstance(only, Mixture)
    assert only.shares == pytest.approx([1 / 11, 10 / 11])
    assert isinstance(mix(replay, CHUNK, real=0.0, fresh_round=0), Mixture)
    stats = source.statistics()
    sample = source.batch(np.random.default_rng(2), 50_000)
    assert stats.feature_std[2] == pytest.approx(sample.features[:, 2].std().item(), rel=0.1)
    assert stats.feature_mean.shape == (3,)


def test_mixtures_of_nothing_are_refused(tmp_path: Path) -> None:
    replay = make(tmp_path)
    with pytest.raises(UsageError, match="no episode of 0 in the replay is of but real"):
        mix(replay, CHUNK)
    replay.add(0, batch_of(range(3), source="real"))
    assert isinstance(mix(replay, CHUNK), View)
    with pytest.raises(UsageError, match=r"cannot be mixed in parts of \[0\.0\]"):
        Mixture([(mix(replay, CHUNK), 0.0)])


# ---------------------------------------------------------------------- memory


def private_memory() -> int:
    """Bytes that belong to this process alone, without mapped files."""
    found = re.search(r"RssAnon:\s+(\d+) kB", Path("/proc/self/status").read_text())
    assert found is not None
    return 1024 * int(found[1])


def test_memory_stays_flat_while_the_replay_grows(tmp_path: Path) -> None:
    names = tuple(f"f{k}" for k in range(200))
    replay = Replay(tmp_path, names, ACTIONS)
    data = np.random.default_rng(0).normal(size=(120, 200)).astype(np.float32)
    episode = Rows(data, data[:, :3].copy())

    def stream(count: int) -> Iterator[Labelled]:
        for k in range(count):
            yield Labelled(
                episode=episode, quality=0.5, efficiency=0.5, level=1, task="t", source="policy", scenario="s", attempt=k
            )

    used = []
    for round in range(6):
        replay.add(round, stream(200))
        view = View(replay, 8)
        view.statistics()
        rng = np.random.default_rng(round)
        for _ in range(40):
            view.batch(rng, 256)
        used.append(private_memory())
    on_disk = sum(path.stat().st_size for path in tmp_path.rglob("*.f32"))
    assert on_disk > 110e6
    assert used[-1] - used[1] < 0.15 * on_disk
    assert replay_module.TABLE.itemsize * 50_000 < 5e6
