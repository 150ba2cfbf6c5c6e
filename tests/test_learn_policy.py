"""Policies: rows stand for themselves, numbers stay bounded, and what was saved is loaded whole or refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from learners import ACTIONS, CHUNK, FEATURES, OBSERVATION, new_policy, source
from pydantic import ValidationError

from embodiedsmith.learn.checkpoint import CheckpointError
from embodiedsmith.learn.images import ImageConfig, spatial_softmax, stack
from embodiedsmith.learn.networks import feature_groups
from embodiedsmith.learn.normalization import ACTION_FLOOR, CLIP, Moments, Normalizer, Statistics
from embodiedsmith.learn.policy import Policy, PolicyConfig
from embodiedsmith.learn.training import TrainConfig, train

KINDS = ("bc_mlp", "bc_transformer", "flow")


def fitted(kind: str = "bc_mlp") -> Policy:
    """A policy after a few steps of training: no tensor of it is as it was drawn."""
    policy = new_policy(kind)
    train(policy, source(), TrainConfig(steps=3, batch_size=32))
    return policy


def rows(n: int, seed: int = 3) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, len(FEATURES))).astype(np.float32) * np.float32(0.1)


@pytest.mark.parametrize("kind", KINDS)
def test_a_row_has_the_same_bits_whatever_the_other_rows_and_their_number(kind: str) -> None:
    policy = fitted(kind)
    features, noise = rows(130), np.random.default_rng(4).normal(size=(130, CHUNK, len(ACTIONS))).astype(np.float32)
    whole, noisy = policy.predict(features), policy.predict(features, noise)
    assert whole.shape == (130, CHUNK, len(ACTIONS)) and whole.dtype == np.float32
    for n in (1, 7, 64, 100):
        assert np.array_equal(policy.predict(features[:n]), whole[:n])
        assert np.array_equal(policy.predict(features[-n:]), whole[-n:])
        assert np.array_equal(policy.predict(features[-n:], noise[-n:]), noisy[-n:])
    assert policy.predict(features[:0]).shape == (0, CHUNK, len(ACTIONS))


def test_behaviour_cloning_has_no_noise_and_a_flow_is_its_noise_alone() -> None:
    cloned, flow, features = fitted("bc_mlp"), fitted("flow"), rows(5)
    draw = lambda policy, seed: policy.predict(features, torch.Generator().manual_seed(seed))  # noqa: E731
    assert np.array_equal(draw(cloned, 1), cloned.predict(features))
    assert np.array_equal(draw(flow, 1), draw(flow, 1))
    assert not np.array_equal(draw(flow, 1), draw(flow, 2))
    assert np.array_equal(flow.predict(features), flow.predict(features, np.zeros((5, CHUNK, len(ACTIONS)), np.float32)))
    equal = flow.predict(np.repeat(features[:1], 3, axis=0))
    assert np.array_equal(equal[0], equal[2])


@pytest.mark.parametrize("kind", KINDS)
def test_a_shrunk_policy_is_between_the_old_weights_and_new_ones_and_sees_anew(kind: str) -> None:
    old = fitted(kind)
    new = Policy.create(old.config, FEATURES, ACTIONS, seed=5)
    shrunk = old.shrunk(0.25, seed=5)
    for mixed, own, drawn in zip(shrunk.parameters(), old.parameters(), new.parameters(), strict=True):
        assert torch.allclose(mixed, 0.25 * own + 0.75 * drawn, atol=1e-6)
    assert old.normalizer.fitted and not shrunk.normalizer.fitted
    assert old.fingerprint() == fitted(kind).fingerprint()


def test_shapes_that_do_not_fit_are_refused() -> None:
    policy = fitted("flow")
    with pytest.raises(ValueError, match="not rows of 9 features"):
        policy.predict(rows(2)[:, :-1])
    with pytest.raises(ValueError, match=r"not one of \(2, 8, 7\)"):
        policy.predict(rows(2), np.zeros((2, 1, 7), np.float32))
    with pytest.raises(ValidationError, match="a chunk has 3 actions"):
        PolicyConfig(chunk=3, execute=4, observation=OBSERVATION)


def test_weights_are_drawn_from_the_seed_alone_and_no_global_stream_is_touched() -> None:
    before = torch.random.get_rng_state()
    assert new_policy(seed=1).fingerprint() == new_policy(seed=1).fingerprint() != new_policy(seed=2).fingerprint()
    for kind in KINDS:
        fitted(kind).predict(rows(2), torch.Generator().manual_seed(0))
    assert torch.equal(torch.random.get_rng_state(), before)


def test_features_that_share_a_prefix_are_one_token() -> None:
    names = ("arm0/slot0/x", "stage", "arm0/slot0/y", "does/inside", "stages_left", "arm0/slot1/x")
    assert feature_groups(names) == [[0, 2], [1, 4], [3], [5]]


# ---------------------------------------------------------------------- normalisation


def test_moments_joined_from_parts_are_those_of_the_whole() -> None:
    rng = np.random.default_rng(0)
    features, actions = 1e3 + rng.normal(size=(500, 3)), rng.normal(size=(500, 2)) * (1e-3, 1.0)
    whole, parts = Statistics.of(features, actions), Moments()
    for part in np.split(np.arange(500), [1, 7, 300, 300]):
        parts.add(features[part], actions[part])
        parts = Moments.from_json(json.loads(json.dumps(parts.to_json())))
    for value, expected in zip(parts.statistics(), whole, strict=True):
        assert np.allclose(value, expected, rtol=1e-9)
    assert np.allclose(whole.feature_std, features.std(axis=0)) and np.allclose(whole.action_high, actions.max(axis=0))
    with pytest.raises(ValueError, match="statistics of nothing"):
        Moments().statistics()


def test_what_was_constant_in_training_stays_bounded_when_it_moves() -> None:
    normalizer = Normalizer(3, 2)
    features = np.array([[0.1, 5.0, 0.0], [0.3, 5.0, 1e-9]])
    normalizer.fit(Statistics.of(features, np.array([[0.01, 0.3], [-0.01, 0.3]])))
    seen = normalizer.features(torch.tensor([[0.2, 5.0, 0.0], [1e6, 5.5, -1e6], [0.2, -1e30, 0.0]]))
    assert torch.allclose(seen[0], torch.zeros(3), atol=1e-6)
    assert seen[1].tolist() == [CLIP, 0.5, -CLIP] and float(seen[2, 1]) == -CLIP
    said = normalizer.restore(torch.tensor([[3.0, 40.0], [-0.5, -1.0]]))
    assert np.allclose(said, [[0.01, 0.3], [-0.01, 0.3]])  # never beyond what was seen; a constant stays itself
    assert float(normalizer.action_scale[1]) == np.float32(ACTION_FLOOR)


def test_actions_come_back_from_normalised_ones() -> None:
    actions = np.random.default_rng(1).normal(size=(50, 4)) * (1e-2, 1.0, 0.1, 3.0)
    normalizer = Normalizer(1, 4)
    normalizer.fit(Statistics.of(np.zeros((50, 1)), actions))
    given = torch.from_numpy(actions.astype(np.float32))
    assert torch.allclose(normalizer.restore(normalizer.actions(given)), given, atol=1e-6)
    assert torch.allclose(normalizer.actions(given).std(dim=0, correction=0), torch.ones(4), atol=1e-3)


def test_a_hand_that_was_only_ever_told_to_open_or_to_close_is_told_one_of_both() -> None:
    """Half closed holds nothing: what is in between is rounded, until data show that there is something in between."""
    closings = np.array([[0.0, 0.0], [1.0, 0.2], [0.0, 1.0], [1.0, 0.4]])
    moments = Moments()
    for part in (closings[:2], closings[2:]):
        moments.add(np.zeros((2, 1)), part)
    statistics = Moments.from_json(moments.to_json()).statistics()
    assert statistics.action_two.tolist() == Statistics.of(np.zeros((4, 1)), closings).action_two.tolist() == [1.0, 0.0]
    normalizer = Normalizer(1, 2)
    normalizer.fit(statistics)
    half = normalizer.actions(torch.tensor([[0.45, 0.45], [0.55, 0.55]]))
    assert np.allclose(normalizer.restore(half), [[0.0, 0.45], [1.0, 0.55]])
    normalizer.widen(Statistics.of(np.zeros((2, 1)), closings[:2]))
    assert np.allclose(normalizer.restore(half), [[0.0, 0.45], [1.0, 0.55]])
    normalizer.widen(Statistics.of(np.zeros((3, 1)), np.array([[0.0, 0.0], [0.5, 0.5], [1.0, 1.0]])))
    assert np.allclose(normalizer.restore(half), [[0.45, 0.45], [0.55, 0.55]])


# ---------------------------------------------------------------------- checkpoints


@pytest.mark.parametrize("kind", KINDS)
def test_a_saved_policy_is_loaded_with_the_same_bits(kind: str, tmp_path: Path) -> None:
    policy = fitted(kind)
    policy.save(tmp_path)
    loaded = Policy.load(tmp_path)
    assert loaded.config == policy.config and loaded.fingerprint() == policy.fingerprint()
    assert np.array_equal(loaded.predict(rows(9)), policy.predict(rows(9)))


def test_saving_again_replaces_and_an_unfinished_save_leaves_the_older_policy(tmp_path: Path) -> None:
    first, second = fitted(), new_policy(seed=5)
    first.save(tmp_path)
    about = (tmp_path / "policy.json").read_bytes()
    old = next(tmp_path.glob("*.safetensors")).read_bytes()
    second.save(tmp_path)
    assert Policy.load(tmp_path).fingerprint() == second.fingerprint() and len(list(tmp_path.iterdir())) == 2
    (tmp_path / "policy.json").write_bytes(about)  # as a kill between weights and JSON leaves it
    (tmp_path / json.loads(about)["weights"]).write_bytes(old)
    assert Policy.load(tmp_path).fingerprint() == first.fingerprint()


def _weights(folder: Path) -> Path:
    return next(folder.glob("*.safetensors"))


def _edit(**changes: object) -> Callable[[Path], None]:
    def apply(folder: Path) -> None:
        path = folder / "policy.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | changes))

    return apply


def _flip(folder: Path) -> None:
    data = bytearray(_weights(folder).read_bytes())
    data[-5] ^= 1
    _weights(folder).write_bytes(data)


DAMAGES: dict[str, tuple[Callable[[Path], None], str]] = {
    "no folder": (lambda f: [path.unlink() for path in f.iterdir()] and None, "there is no checkpoint here"),
    "no weights": (lambda f: _weights(f).unlink(), "is missing"),
    "truncated": (lambda f: _weights(f).write_bytes(_weights(f).read_bytes()[:-100]) and None, "checksum differs"),
    "empty": (lambda f: _weights(f).write_bytes(b"") and None, "checksum differs"),
    "zeroed": (lambda f: _weights(f).write_bytes(bytes(_weights(f).stat().st_size)) and None, "all zero"),
    "one bit": (_flip, "checksum differs"),
    "JSON cut": (lambda f: (f / "policy.json").write_text((f / "policy.json").read_text()[:-20]) and None, "not valid JSON"),
    "JSON binary": (lambda f: (f / "policy.json").write_bytes(b"\xff\x00") and None, "JSON is damaged"),
    "JSON a list": (lambda f: (f / "policy.json").write_text("[]") and None, "is a list, not an object"),
    "JSON short": (lambda f: (f / "policy.json").write_text("{}") and None, "key 'weights' is missing"),
    "other format": (_edit(format="something"), "format is 'something' where 'embodiedsmith-policy' is meant"),
    "other version": (_edit(version=99), "version is 99 where this release reads 2"),
    "outside": (_edit(weights="../weights.safetensors"), "outside the folder"),
    "content": (_edit(content={"config": {}}), "its digest differs"),
    "tensors": (_edit(tensors={}), "where the JSON says None"),
    "tensors a list": (_edit(tensors=[]), "tensors are a list, not shapes by name"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_policy_is_refused_with_the_fault_and_the_remedy(damage: str, tmp_path: Path) -> None:
    fitted().save(tmp_path)
    harm, said = DAMAGES[damage]
    harm(tmp_path)
    with pytest.raises(CheckpointError) as caught:
        Policy.load(tmp_path)
    assert said in str(caught.value) and str(tmp_path) in str(caught.value) and "earlier round" in str(caught.value.remedy)


def test_weights_that_are_not_finite_are_refused(tmp_path: Path) -> None:
    policy = fitted()
    policy.tensors()["network.body.out.bias"][0] = torch.nan
    policy.save(tmp_path)
    with pytest.raises(CheckpointError, match="weights are spoilt") as caught:
        Policy.load(tmp_path)
    assert caught.value.faults == ("tensor 'network.body.out.bias' is not finite",)


def test_tensors_of_another_network_are_named_one_by_one(tmp_path: Path) -> None:
    fitted().save(tmp_path)
    other = json.loads((tmp_path / "policy.json").read_text())
    from embodiedsmith.spec.base import digest

    other["content"]["config"] |= {"width": 32, "depth": 3}
    other["content_id"] = digest(other["content"])
    (tmp_path / "policy.json").write_text(json.dumps(other))
    with pytest.raises(CheckpointError, match="not those of this network") as caught:
        Policy.load(tmp_path)
    faults = "\n".join(caught.value.faults)
    assert "'network.body.hidden.2.weight' is missing" in faults
    assert "'network.body.hidden.0.weight' is float32 [64, 9] where float32 [32, 9] is meant" in faults
    other["content"]["config"] |= {"colour": "red"}
    other["content_id"] = digest(other["content"])
    (tmp_path / "policy.json").write_text(json.dumps(other))
    with pytest.raises(CheckpointError, match="not one of this release") as caught:
        Policy.load(tmp_path)
    assert "colour" in str(caught.value)


def test_an_encoder_or_action_space_of_another_kind_is_refused_by_name() -> None:
    policy = new_policy()
    policy.check_names(FEATURES, ACTIONS)
    with pytest.raises(CheckpointError, match="sees or says other things") as caught:
        policy.check_names((*FEATURES[1:], "new"), ACTIONS[:-1])
    faults = "\n".join(caught.value.faults)
    assert "feature 'arm0/slot0/x' of the policy is not there" in faults and "feature 'new' is not one" in faults
    assert "action component 'gripper' of the policy is not there" in faults
    with pytest.raises(CheckpointError, match="in another order"):
        policy.check_names((FEATURES[1], FEATURES[0], *FEATURES[2:]), ACTIONS)
    with pytest.raises(CheckpointError, match="10 features are given where the policy has 9"):
        policy.check_names((*FEATURES, FEATURES[-1]), ACTIONS)


# ---------------------------------------------------------------------- cameras


def watching(kind: str = "bc_mlp") -> Policy:
    """A policy that looks through two cameras."""
    config = new_policy(kind).config.model_copy(update={"images": ImageConfig(cameras=("front", "wrist"), height=32, width=48)})
    return Policy.create(config, FEATURES, ACTIONS, seed=0)


@pytest.mark.parametrize("kind", KINDS)
def test_rows_with_images_stand_for_themselves_and_are_saved(kind: str, tmp_path: Path) -> None:
    policy, features = watching(kind), rows(70)
    images = np.random.default_rng(0).integers(0, 256, (70, 2, 3, 32, 48)).astype(np.uint8)
    whole = policy.predict(features, images=images)
    for n in (1, 7, 64):
        assert np.array_equal(policy.predict(features[-n:], images=images[-n:]), whole[-n:])
    assert not np.array_equal(policy.predict(features, images=images[::-1]), whole)
    policy.save(tmp_path)
    assert np.array_equal(Policy.load(tmp_path).predict(features, images=images), whole)


def test_images_that_do_not_fit_are_refused() -> None:
    features, images = rows(2), np.zeros((2, 2, 3, 32, 32), np.uint8)
    with pytest.raises(ValueError, match=r"shape None are given where the policy takes \(2, 2, 3, 32, 48\)"):
        watching().predict(features)
    with pytest.raises(ValueError, match=r"shape \(2, 2, 3, 32, 32\) are given"):
        watching().predict(features, images=images)
    with pytest.raises(ValueError, match="where the policy takes None"):
        new_policy().predict(features, images=images)
    with pytest.raises(ValidationError, match="named twice"):
        ImageConfig(cameras=("front", "front"))
    config = ImageConfig(cameras=("front", "wrist"))
    with pytest.raises(ValueError, match=r"wrist: no frames; front: frames of \(2, 64, 3\) where \(64, 64, 3\) is"):
        stack({"front": np.zeros((1, 2, 64, 3), np.uint8)}, config)


def test_the_points_of_a_spatial_softmax_are_where_a_map_is_bright() -> None:
    maps = torch.zeros(1, 2, 5, 9)
    maps[0, 0, 0, 8], maps[0, 1, 4, 4] = 50.0, 50.0
    told = spatial_softmax(maps)[0]
    assert torch.allclose(told, torch.tensor([1.0, -1.0, 0.0, 1.0]), atol=1e-4)
