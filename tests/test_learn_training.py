"""Training: what is learnt is right, and a killed training goes on as if it never stopped."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from learners import ACTIONS, CHUNK, NEAR, Rows, new_policy, reaching, source

from embodiedsmith.learn.checkpoint import CheckpointError, read_checkpoint
from embodiedsmith.learn.observation import ObservationConfig
from embodiedsmith.learn.policy import Policy, PolicyConfig
from embodiedsmith.learn.sources import Batch, EpisodesSource, Source
from embodiedsmith.learn.training import LOG_EVERY, Curves, TrainConfig, TrainingError, rate, train

SHORT = TrainConfig(steps=120, batch_size=64, warmup=10, seed=3)


class Killed(Exception):
    """Stands for the death of the process in the tests that stay in one."""


class Dying:
    """A source that dies at its `at`-th batch."""

    def __init__(self, of: Source, at: int) -> None:
        self._of, self._left = of, at
        self.statistics = of.statistics

    def batch(self, rng: np.random.Generator, size: int) -> Batch:
        if not self._left:
            raise Killed
        self._left -= 1
        return self._of.batch(rng, size)


# ---------------------------------------------------------------------- windows


def test_windows_are_the_actions_that_followed_and_stand_still_after_the_end() -> None:
    rng = np.random.default_rng(0)
    lengths = (5, 1, 20)
    episodes = []
    for number, length in enumerate(lengths):
        place = np.stack([np.full(length, number), np.arange(length)], axis=1)
        episodes.append(Rows(place.astype(np.float32), rng.normal(size=(length, len(ACTIONS))).astype(np.float32)))
    of = EpisodesSource(episodes, ACTIONS, CHUNK)
    batch = of.batch(np.random.default_rng(1), 500)
    seen = set()
    for features, actions, valid in zip(batch.features, batch.actions, batch.valid, strict=True):
        number, step = int(features[0]), int(features[1])
        seen.add((number, step))
        given = episodes[number].actions[step : step + CHUNK]
        assert valid.tolist() == [True] * len(given) + [False] * (CHUNK - len(given))
        assert np.array_equal(actions[: len(given)], given)
        assert (actions[len(given) :, :6] == 0).all() and (actions[len(given) :, 6] == float(given[-1, 6])).all()
    assert len(of) == sum(lengths) == len(seen)
    assert np.allclose(of.statistics().action_mean, np.concatenate([e.actions for e in episodes]).mean(axis=0))


def test_joints_and_poses_are_repeated_after_the_end_and_velocities_are_not() -> None:
    names = ("base_vx", "base_wz", "tcp_x", "tcp_qw", "panda_joint1", "tcp_1_dx", "gripper")
    of = EpisodesSource([Rows(np.zeros((1, 2), np.float32), np.ones((1, 7), np.float32))], names, 2)
    assert of.batch(np.random.default_rng(0), 1).actions[0, 1].tolist() == [0, 0, 1, 1, 1, 0, 1]


def test_nothing_to_learn_and_shapes_that_disagree_are_refused() -> None:
    with pytest.raises(ValueError, match="no step to learn from"):
        EpisodesSource([], ACTIONS, CHUNK)
    with pytest.raises(ValueError, match=r"episode 0 has features \(2, 3\) and actions \(1, 7\)"):
        EpisodesSource([Rows(np.zeros((2, 3), np.float32), np.zeros((1, 7), np.float32))], ACTIONS, CHUNK)
    wrong = new_policy()
    other = EpisodesSource([Rows(np.zeros((2, 3), np.float32), np.zeros((2, 7), np.float32))], ACTIONS, CHUNK)
    with pytest.raises(TrainingError, match="the data have 3 features where the policy has 9"):
        train(wrong, other, SHORT)
    short = EpisodesSource([reaching(np.random.default_rng(0))], ACTIONS, CHUNK - 1)
    with pytest.raises(TrainingError, match="the policy takes"):
        train(wrong, short, SHORT)


# ---------------------------------------------------------------------- learning


@pytest.mark.parametrize("kind", ["bc_mlp", "bc_transformer", "flow"])
def test_a_known_task_is_learnt_and_closings_stay_sharp(kind: str) -> None:
    steps = {"bc_mlp": 800, "bc_transformer": 300, "flow": 2000}[kind]
    policy = new_policy(kind, width=32 if kind == "bc_transformer" else 96)
    curves = train(policy, source(), TrainConfig(steps=steps, batch_size=128, lr=2e-3, warmup=20))
    assert curves.loss[-1] < 0.3 * curves.loss[0]
    episodes = [reaching(np.random.default_rng(100 + k)) for k in range(10)]
    features, actions = (np.concatenate([getattr(e, part)[:-CHUNK] for e in episodes]) for part in ("features", "actions"))
    said = policy.predict(features)[:, 0]
    still = np.abs(actions[:, :3]).mean()  # error of a policy that says nothing
    assert np.abs(said[:, :3] - actions[:, :3]).mean() < 0.25 * still
    assert np.array_equal(said[:, 3:6], np.zeros_like(said[:, 3:6]))  # constant in training
    distance = np.linalg.norm(features[:, :3], axis=1)
    clear = np.abs(distance - NEAR) > 0.01
    assert ((said[:, 6] > 0.5) == (actions[:, 6] > 0.5))[clear].mean() > (0.9 if kind == "flow" else 0.98)
    assert (np.minimum(np.abs(said[:, 6]), np.abs(said[:, 6] - 1)) < 0.1)[clear].mean() > (0.8 if kind == "flow" else 0.9)


def test_a_flow_is_not_told_to_stand_still_where_an_episode_was_cut_off() -> None:
    """All moments look alike; all windows but the first go beyond what is known of an episode that stands still, then moves."""
    seen, moves = np.ones((CHUNK, 9), np.float32), np.zeros((CHUNK, len(ACTIONS)), np.float32)
    moves[1:, 0] = 0.01
    said = {}
    for whole in (True, False):
        policy = new_policy("flow")
        train(policy, EpisodesSource([Rows(seen, moves, whole)], ACTIONS, CHUNK), SHORT.model_copy(update={"steps": 300}))
        said[whole] = float(policy.predict(seen[:1])[0, -1, 0])
    assert said[True] < 0.005  # mostly it was over by then
    assert said[False] == pytest.approx(0.01, abs=5e-4)


def test_a_flow_says_both_ways_where_cloning_says_one_only() -> None:
    rng = np.random.default_rng(0)
    episodes = []
    for way in rng.choice([-0.01, 0.01], 200):
        actions = np.zeros((60, len(ACTIONS)), np.float32)
        actions[:, 0] = way
        episodes.append(Rows(np.zeros((60, 9), np.float32), actions))
    config = TrainConfig(steps=1200, batch_size=128, lr=5e-3)
    said = {}
    for kind in ("flow", "bc_mlp"):
        policy = new_policy(kind)
        train(policy, EpisodesSource(episodes, ACTIONS, CHUNK), config)
        said[kind] = policy.predict(np.zeros((400, 9), np.float32), torch.Generator().manual_seed(0))[:, 0, 0]
    assert (np.abs(np.abs(said["flow"]) - 0.01) < 0.002).mean() > 0.8
    assert 0.35 < (said["flow"] > 0).mean() < 0.65
    assert len(np.unique(said["bc_mlp"])) == 1


def test_the_teacher_is_kept_where_only_old_data_lie() -> None:
    old, new = source(0, 20, centre=-0.4), source(1, 20, centre=0.4)
    config = TrainConfig(steps=400, batch_size=64, lr=2e-3, distill_batch=64)
    teacher = new_policy()
    train(teacher, old, config)
    probe = np.concatenate([reaching(np.random.default_rng(k), centre=-0.4).features[:30] for k in range(20, 26)])
    right = teacher.predict(probe)
    errors = {}
    for name, extra in {"alone": {}, "taught": {"teacher": teacher, "old": old}}.items():
        student = teacher.copy()
        curves = train(student, new, config, **extra)
        errors[name] = np.abs(student.predict(probe) - right)[..., :3].mean()
        assert (curves.distillation[-1] > 0) == (name == "taught")
    assert errors["taught"] < 0.5 * errors["alone"]


def test_a_policy_that_goes_on_keeps_its_normaliser_and_reaches_what_new_data_reach() -> None:
    policy = new_policy()
    train(policy, source(0, 5), SHORT)
    before = {name: value.clone() for name, value in policy.normalizer.named_buffers()}
    wide = source(1, 5)
    wide._statistics.action_high[0] = 0.5
    train(policy, wide, SHORT)
    after = dict(policy.normalizer.named_buffers())
    for name in ("feature_mean", "feature_scale", "action_mean", "action_scale"):
        assert torch.equal(before[name], after[name])
    assert float(after["action_high"][0]) == 0.5 and (after["action_low"] <= before["action_low"]).all()


def test_a_policy_does_not_go_by_sizes_where_something_else_tells_as_well() -> None:
    """Sizes give a scene away: with their noise a policy goes by what it sees, without by either."""
    rng = np.random.default_rng(0)
    told = rng.normal(size=(400, 1)).astype(np.float32)
    data = EpisodesSource([Rows(np.repeat(told, 2, axis=1), np.repeat(told, len(ACTIONS), axis=1))], ACTIONS, 1)
    config = PolicyConfig(chunk=1, execute=1, width=32, depth=2, observation=ObservationConfig(predicates=("inside",)))
    by_size = {}
    for noise in (0.0, 3.0):
        policy = Policy.create(config, ("slot0/size_x", "arm0/height"), ACTIONS, seed=0)
        train(policy, data, SHORT.model_copy(update={"steps": 300, "lr": 3e-3, "size_noise": noise}))
        said = policy.predict(np.array([[-0.5, 0.0], [0.5, 0.0]], np.float32))[:, 0, 0]
        by_size[noise] = float(said[1] - said[0])
    assert by_size[0.0] > 0.25 and by_size[3.0] < 0.4 * by_size[0.0]


# ---------------------------------------------------------------------- the steps themselves


def test_the_rate_warms_up_and_falls_along_a_cosine() -> None:
    config = TrainConfig(steps=1001, warmup=100)
    rates = np.array([rate(config, step) for step in range(config.steps)])
    assert rates[0] == pytest.approx(3e-6) and rates[99] == rates.max() == pytest.approx(3e-4)
    assert rates[550] == pytest.approx((3e-4 + 1e-5) / 2, rel=1e-3) and rates[-1] == pytest.approx(1e-5)
    assert (np.diff(rates[99:]) <= 0).all()


def test_acting_weights_are_the_average_of_those_that_were_trained(tmp_path: Path) -> None:
    start = new_policy()
    flat = torch.cat([parameter.detach().reshape(-1) for parameter in start.network.parameters()])
    averaged = flat.clone()
    for step in range(6):
        policy, folder = new_policy(), tmp_path / str(step)
        with pytest.raises(Killed):
            train(policy, Dying(source(0, 3), step + 1), SHORT, folder=folder, save_every=step + 1)
        tensors, content = read_checkpoint(folder, "training", "embodiedsmith-training", 1, "")
        assert content["step"] == step + 1
        decay = min(SHORT.ema, (1 + step) / (10 + step))
        averaged = decay * averaged + (1 - decay) * tensors["weights"]
        assert torch.allclose(tensors["ema"], averaged, atol=1e-6)
        assert policy.fingerprint() == start.fingerprint()  # touched only when training has ended
    assert not torch.allclose(averaged, flat)


def test_what_is_not_finite_is_named_and_stops_training() -> None:
    rows = reaching(np.random.default_rng(0))
    actions = rows.actions.copy()
    actions[30] = np.nan
    policy = new_policy()
    train(policy, source(0, 3), SHORT)
    fingerprint = policy.fingerprint()
    spoilt = EpisodesSource([Rows(rows.features, actions)], ACTIONS, CHUNK)
    with pytest.raises(TrainingError, match="data are not finite") as caught:
        train(policy, spoilt, SHORT)
    assert "action component 'gripper'" in caught.value.faults
    spoilt.statistics = source(0, 3).statistics  # type: ignore[method-assign]
    with pytest.raises(TrainingError, match="of step 0 are not finite") as caught:
        train(policy, spoilt, SHORT)
    assert "look for rows" in str(caught.value.remedy) and policy.fingerprint() == fingerprint


def test_products_in_bfloat16_learn_the_same_and_leave_torch_as_it_was() -> None:
    settings = torch.backends.mkldnn.matmul
    before = settings.fp32_precision
    losses = []
    for matmul in ("float32", "bfloat16"):
        policy = new_policy()
        losses.append(train(policy, source(), SHORT.model_copy(update={"matmul": matmul})).loss[-1])
        assert settings.fp32_precision == before
    assert losses[1] == pytest.approx(losses[0], rel=0.05)


# ---------------------------------------------------------------------- killed and resumed


def undisturbed(kind: str, extra: dict[str, object]) -> tuple[Policy, Curves]:
    policy = new_policy(kind, width=32, dropout=0.1)
    return policy, train(policy, source(0, 5), config_of(kind), **extra)


def config_of(kind: str) -> TrainConfig:
    small = {"steps": 60, "batch_size": 16} if kind == "bc_transformer" else {"steps": 120, "batch_size": 32}
    return SHORT.model_copy(update={"feature_noise": 0.05, **small})


@pytest.mark.parametrize("kind", ["bc_mlp", "bc_transformer", "flow"])
def test_killed_at_any_step_and_resumed_it_is_the_same_bits(kind: str, tmp_path: Path) -> None:
    teacher = new_policy("flow", seed=9)
    train(teacher, source(2, 3), SHORT.model_copy(update={"steps": 5}))
    extra = {"teacher": teacher, "old": source(2, 3)}
    whole, curves = undisturbed(kind, extra)
    again, same = undisturbed(kind, extra)
    assert again.fingerprint() == whole.fingerprint() and same == curves
    policy = new_policy(kind, width=32, dropout=0.1)
    for lived in (0, 1, 13, 7, 29):
        with pytest.raises(Killed):
            train(policy, Dying(source(0, 5), lived), config_of(kind), folder=tmp_path, save_every=6, **extra)
    resumed = train(policy, source(0, 5), config_of(kind), folder=tmp_path, save_every=6, **extra)
    assert policy.fingerprint() == whole.fingerprint() and resumed == curves
    assert curves.step[0] == LOG_EVERY and curves.step[-1] == config_of(kind).steps
    finished = new_policy(kind, width=32, dropout=0.1)  # killed after the last step, before the policy was saved
    assert train(finished, Dying(source(0, 5), 0), config_of(kind), folder=tmp_path, **extra) == curves
    assert finished.fingerprint() == whole.fingerprint()


CHILD = """
import sys
from pathlib import Path
from learners import new_policy, source
from test_learn_training import SHORT
from embodiedsmith.learn.training import train
policy = new_policy()
config = SHORT.model_copy(update={"steps": 400})
train(policy, source(0, 5), config, folder=Path(sys.argv[1]), save_every=20, progress=lambda step, loss: print(step, flush=True))
print(policy.fingerprint())
"""


def test_a_process_killed_for_good_leaves_a_training_that_goes_on(tmp_path: Path) -> None:
    def child(folder: str, killed_at: int | None) -> list[str]:
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path])}
        command = [sys.executable, "-c", CHILD, str(tmp_path / folder)]
        lines = []
        with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            for line in process.stdout:
                lines.append(line.strip())
                if lines[-1] == str(killed_at):
                    process.send_signal(signal.SIGKILL)
                    break
        assert process.returncode == (-signal.SIGKILL if killed_at else 0)
        return lines

    child("killed", 150)
    assert (tmp_path / "killed" / "training.json").is_file()
    whole = new_policy()
    train(whole, source(0, 5), SHORT.model_copy(update={"steps": 400}))
    assert child("killed", None)[-1] == whole.fingerprint()


def test_a_folder_of_another_training_or_a_damaged_one_is_refused(tmp_path: Path) -> None:
    config = SHORT.model_copy(update={"steps": 4})
    train(new_policy(), source(0, 3), config, folder=tmp_path)
    others: list[tuple[Policy, Source, TrainConfig]] = [
        (new_policy(), source(0, 3), config.model_copy(update={"lr": 1e-3})),
        (new_policy(seed=1), source(0, 3), config),
        (new_policy(), source(1, 3), config),
    ]
    for policy, data, changed in others:
        with pytest.raises(TrainingError, match="holds another training") as caught:
            train(policy, data, changed, folder=tmp_path)
        assert f"delete {tmp_path}" in str(caught.value.remedy)
    weights = next(tmp_path.glob("*.safetensors"))
    weights.write_bytes(bytes(weights.stat().st_size))
    with pytest.raises(CheckpointError, match="damaged") as damaged:
        train(new_policy(), source(0, 3), config, folder=tmp_path)
    assert "to train from the beginning" in str(damaged.value.remedy)


def test_a_teacher_without_old_data_is_refused() -> None:
    with pytest.raises(TrainingError, match="needs a teacher and old data"):
        train(new_policy(), source(0, 3), SHORT, teacher=new_policy(seed=1))
