"""Guards: each fault raises its own alarm, sound rounds raise none, and remedies come in order, one step further each time."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from embodiedsmith.flywheel.guards import (
    DropData,
    GuardConfig,
    Guards,
    LowerThresholds,
    Observed,
    Retrain,
    RollBack,
    SmallerRate,
    Verdict,
    data_faults,
    load_fault,
    policy_fault,
)
from embodiedsmith.learn.normalization import Statistics
from embodiedsmith.learn.observation import ObservationConfig
from embodiedsmith.learn.policy import Policy, PolicyConfig


def seen(round: int, success: float = 0.8, **more: object) -> Observed:
    given: dict[str, object] = {
        "level": 3, "collected": 200, "kept": 100, "held_out": (round_half(100 * success), 100), "loss": 0.05, **more,
    }  # fmt: skip
    return Observed(round=round, **given)  # type: ignore[arg-type]


def round_half(value: float) -> int:
    return int(value + 0.5)


def after(guards: Guards, *rounds: Observed) -> tuple[Guards, Verdict]:
    verdict = Verdict()
    for observed in rounds:
        guards, verdict = guards.check(observed)
    return guards, verdict


def sound(rounds: int = 4, **more: object) -> Guards:
    guards, verdict = after(Guards(task="basket"), *(seen(k, **more) for k in range(rounds)))  # type: ignore[arg-type]
    assert verdict == Verdict()
    return guards


def kinds(verdict: Verdict) -> list[str]:
    return [alarm.kind for alarm in verdict.alarms]


def test_rounds_that_waver_raise_no_alarm() -> None:
    guards = Guards()
    for round, success in enumerate([0.5, 0.62, 0.55, 0.7, 0.64, 0.8, 0.72]):
        guards, verdict = guards.check(seen(round, success, levels={1: (38 - round % 3, 40), 2: (36, 40)}, level=1 + round // 3))
        assert verdict == Verdict()
    assert [round for round, _ in guards.sound] == list(range(7))
    assert guards.best[1] == (38, 40)


def test_a_stall_lowers_thresholds_then_rolls_back_then_slows_down() -> None:
    guards, verdict = after(sound(), seen(4, kept=0))
    assert verdict == Verdict()  # one round may happen
    guards, verdict = guards.check(seen(5, kept=1))
    assert kinds(verdict) == ["stall"]
    assert verdict.remedies == (LowerThresholds(),)
    assert "kept 0, 1 episodes" in verdict.alarms[0].reason
    guards, verdict = guards.check(seen(6, kept=1))
    assert verdict.remedies == (RollBack(round=4, level=3),)
    guards, verdict = guards.check(seen(7, kept=2))
    assert verdict.remedies == (SmallerRate(rate=0.5),)
    assert guards.rate == 0.5
    guards, verdict = guards.check(seen(8, kept=60))
    assert verdict == Verdict()
    guards, verdict = after(guards, seen(9, kept=0), seen(10, kept=0))
    assert verdict.remedies == (LowerThresholds(),)  # from the beginning again


def test_rounds_that_collect_nothing_do_not_stall() -> None:
    assert after(sound(), seen(4, kept=0, collected=0), seen(5, kept=0, collected=0))[1] == Verdict()


def test_a_collapse_rolls_back_to_the_last_sound_round_and_an_easier_level() -> None:
    guards, verdict = after(sound(), seen(4, 0.3))
    assert kinds(verdict) == ["collapse"]
    assert verdict.remedies == (RollBack(round=3, level=2),)
    assert verdict.alarms[0].reason == "held-out success fell from 0.80 to 0.30"
    assert [d.what for d in verdict.decisions] == ["alarm", "policy"]
    assert (verdict.decisions[1].before, verdict.decisions[1].after) == ("round 4, level 3", "round 3, level 2")
    assert verdict.decisions[1].task == "basket"
    guards, verdict = guards.check(seen(5, 0.2, level=2))
    assert verdict.remedies == (RollBack(round=3, level=1), SmallerRate(rate=0.5))


def test_half_by_chance_is_no_collapse() -> None:
    guards = sound(success=0.08)
    assert guards.check(seen(4, 0.03))[1] == Verdict()
    assert kinds(guards.check(seen(4, 0.0))[1]) == ["collapse"]


def test_success_while_collecting_is_compared_with_levels_as_hard() -> None:
    guards = sound(rollout=(80, 96))
    assert guards.check(seen(4, rollout=(30, 96), level=4))[1] == Verdict()  # the level is new
    assert kinds(guards.check(seen(4, rollout=(30, 96)))[1]) == ["collapse"]
    assert kinds(guards.check(seen(4, rollout=(30, 96), level=2))[1]) == ["collapse"]


def test_a_level_that_jumps_is_set_back() -> None:
    guards, verdict = after(sound(), seen(4, level=7, rollout=(3, 96)))
    assert kinds(verdict) == ["level_jump"]
    assert verdict.remedies == (RollBack(round=3, level=3),)
    assert after(guards, seen(5, level=3), seen(6, level=4))[1] == Verdict()


def test_forgetting_beyond_doubt_trains_anew_then_rolls_back() -> None:
    guards = sound(levels={1: (39, 40), 2: (36, 40)})
    assert guards.check(seen(4, levels={1: (36, 40), 2: (33, 40)}))[1] == Verdict()  # within the doubt
    guards, verdict = guards.check(seen(4, levels={1: (25, 40), 2: (30, 40)}))
    assert kinds(verdict) == ["forgetting"]
    assert verdict.remedies == (Retrain(),)
    assert verdict.alarms[0].reason == "success on level 1 fell from 0.97 to 0.62"
    assert guards.best[1] == (39, 40)
    guards, verdict = guards.check(seen(5, levels={1: (24, 40)}))
    assert verdict.remedies == (RollBack(round=3, level=3),)
    guards, verdict = guards.check(seen(6, levels={1: (24, 40)}))
    assert verdict.remedies == (SmallerRate(rate=0.5),)


def test_a_loss_that_jumps_or_faulty_rows_drop_the_round() -> None:
    for wrong in (seen(4, loss=0.4), seen(4, faults=("episode 3 holds numbers that are not finite",))):
        verdict = sound().check(wrong)[1]
        assert kinds(verdict) == ["corrupted_data"]
        assert verdict.remedies == (DropData(round=4), RollBack(round=3, level=3))
    assert sound().check(seen(4, loss=0.12))[1] == Verdict()
    assert sound().check(seen(4, loss=0.4, mode="retrain"))[1] == Verdict()  # nothing to compare it with


def test_a_damaged_policy_rolls_back_once_whatever_else_is_wrong() -> None:
    verdict = sound().check(seen(4, 0.0, policy_fault="the policy says the same actions whatever it sees"))[1]
    assert kinds(verdict) == ["damaged_policy", "collapse"]
    assert verdict.remedies == (RollBack(round=3, level=2),)


def test_before_the_first_sound_round_one_goes_back_to_the_cold_start() -> None:
    verdict = Guards().check(seen(0, policy_fault="it is spoilt"))[1]
    assert verdict.remedies == (RollBack(round=0, level=1),)


def test_the_rate_has_a_floor_and_recovers_in_quiet() -> None:
    guards = sound()
    for round in range(4, 14):
        guards, verdict = guards.check(seen(round, 0.1))
    assert guards.rate == GuardConfig().smallest
    assert RollBack(round=3, level=2) in verdict.remedies
    rates, told = [], []
    for round in range(14, 27):
        guards, verdict = guards.check(seen(round))
        rates.append(guards.rate)
        told += verdict.decisions
    assert rates == sorted(rates)
    assert rates[1] == 0.1
    assert rates[-1] > 0.7
    assert guards.rate <= 1.0
    assert (
        any(d.what == "rate" and "no alarm for 3 rounds" in d.reason for d in guards.check(seen(27))[1].decisions)
        or rates[-1] == 1.0
    )


def test_guards_survive_json_in_the_middle() -> None:
    rounds = [seen(4, kept=0), seen(5, kept=0), seen(6, 0.2), seen(7, levels={1: (10, 40)}), seen(8)]
    whole, last = after(sound(levels={1: (40, 40)}), *rounds)
    half, _ = after(sound(levels={1: (40, 40)}), *rounds[:2])
    again, told = after(Guards.from_json(half.to_json()), *rounds[2:])
    assert again == whole
    assert told == last
    assert Verdict.from_json(last.to_json()) == last


# ---------------------------------------------------------------------- data and policies


def rows(rng: np.random.Generator, scale: float = 1.0) -> SimpleNamespace:
    return SimpleNamespace(
        features=(scale * rng.normal(size=(30, 6))).astype(np.float32), actions=rng.uniform(-1, 1, (30, 3)).astype(np.float32)
    )


def test_rows_out_of_order_are_named() -> None:
    rng = np.random.default_rng(0)
    low, high = -np.ones(3), np.ones(3)
    assert data_faults([rows(rng) for _ in range(5)], low, high) == ()
    assert data_faults([]) == ()
    nan, wild, far = rows(rng), rows(rng, 1e4), rows(rng)
    nan.features[3, 2] = np.nan
    far.actions[7, 1] = 9.0
    faults = data_faults([rows(rng), nan, wild, far], low, high)
    assert len(faults) == 3
    assert faults[0] == "episode 1 holds numbers that are not finite"
    assert "episode 2 has a feature of" in faults[1]
    assert "episode 3 has actions of component 1 far outside -1 to 1" in faults[2]


def test_a_component_that_was_hardly_used_may_be_used() -> None:
    """A wrist that did not turn at the first level turns by 0.2 rad a step at others."""
    episode = rows(np.random.default_rng(0))
    episode.actions *= 0.2
    assert data_faults([episode], np.full(3, -0.005), np.full(3, 0.005)) == ()
    episode.actions[0, 2] = 2.0
    assert len(data_faults([episode], np.full(3, -0.005), np.full(3, 0.005))) == 1


@pytest.fixture(scope="module")
def policy() -> Policy:
    config = PolicyConfig(
        kind="bc_mlp",
        width=16,
        depth=2,
        action_space="ee_delta",
        observation=ObservationConfig(predicates=("inside",), robots=("panda",)),
    )
    made = Policy.create(config, [f"f{k}" for k in range(6)], ["tcp_dx", "tcp_dy", "gripper"], seed=0)
    rng = np.random.default_rng(0)
    made.fit_normalizer(Statistics.of(rng.normal(size=(100, 6)), rng.normal(size=(100, 3))))
    return made


def test_a_policy_that_says_the_same_whatever_it_sees_is_damaged(policy: Policy) -> None:
    features = np.random.default_rng(1).normal(size=(64, 6)).astype(np.float32)
    assert policy_fault(policy, features, np.ones(3)) is None
    dead = policy.copy()
    with torch.no_grad():
        for tensor in dead.network.parameters():
            tensor.zero_()
    assert policy_fault(dead, features, np.ones(3)) == "the policy says the same actions whatever it sees"
    with torch.no_grad():
        next(iter(dead.network.parameters())).fill_(torch.nan)
    assert policy_fault(dead, features, np.ones(3)) == "the policy says actions that are not finite"


def test_a_checkpoint_zeroed_on_disk_is_refused(policy: Policy, tmp_path: Path) -> None:
    policy.save(tmp_path)
    loaded, fault = load_fault(tmp_path)
    assert fault is None
    assert loaded is not None
    assert loaded.fingerprint() == policy.fingerprint()
    weights = next(tmp_path.glob("*.safetensors"))
    weights.write_bytes(bytes(weights.stat().st_size))
    loaded, fault = load_fault(tmp_path)
    assert loaded is None
    assert fault is not None
    assert load_fault(tmp_path / "nowhere")[0] is None
