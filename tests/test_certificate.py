"""A scenario is released with a certificate that fits, or not at all; and what was certified is done again and compared."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError
from recordings import make_recording, make_scenario

from embodiedsmith.episodes import store as store_module
from embodiedsmith.episodes.certified import recheck
from embodiedsmith.episodes.format import EpisodeError, encode
from embodiedsmith.episodes.store import EpisodeStore
from embodiedsmith.episodes.validate import validate_run
from embodiedsmith.forge import Certificate, ForgeResult, forge, recording_digest
from embodiedsmith.forge.certificate import LEAST_MISSES, CertificateError, certify, solver_log
from embodiedsmith.runtime.run import Run
from embodiedsmith.spec import Brief, Finding
from embodiedsmith.tasks import Event, Recording
from embodiedsmith.tasks.goal_misses import Missed

MISSED = [Missed(name=f"way {k}", predicate="lifted(mug)", margin=-0.001 * k, value=-0.001 * k) for k in range(LEAST_MISSES)]


@cache
def made() -> ForgeResult:
    return forge(Brief(text="stack the blue block on the green block"))


@pytest.fixture
def store(tmp_path: Path):
    """A run that has released one scenario."""
    with Run.create(tmp_path / "run", {"seed": 0, "fps": 20}) as run:
        store = EpisodeStore(run)
        store.release(made().scenario, made().certificate, made().witness)
        yield store


def file(store: EpisodeStore, kind: str) -> Path:
    return store.run.file("scenarios", f"{made().scenario.id}{kind}")


# ---------------------------------------------------------------------- the certificate


def test_it_holds_what_was_refused_what_was_done_and_what_proves_it() -> None:
    seen = made().certificate
    assert len(seen.near_misses) >= LEAST_MISSES
    assert all(miss.margin <= 0 for miss in seen.near_misses)
    assert any("still between both fingers" in miss.name for miss in seen.near_misses)
    assert [(step.said.partition("(")[0], step.outcome) for step in seen.log] == [("pick", "done"), ("place", "done")]
    assert [step.start for step in seen.log[1:]] == [step.end for step in seen.log[:-1]]
    assert "near_misses" in seen.critics
    assert seen.faults(made().scenario, made().witness) == []
    assert Certificate.from_json(seen.to_json()) == seen


def test_the_same_forging_certifies_the_same() -> None:
    assert forge(Brief(text="stack the blue block on the green block")).certificate.id == made().certificate.id


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"near_misses": []}, "near_misses\n  Tuple should have at least 8 items"),
        ({"margin": 0.0}, "margin\n  Input should be greater than 0"),
        ({"scenario": "me"}, "scenario\n  String should match pattern"),
        ({"witness": "0"}, "witness\n  String should match pattern"),
        ({"length": 1}, "steps end after the witness, which has 1"),
        ({"critics": []}, "critics\n  Tuple should have at least 1 item"),
        ({"mood": "good"}, "mood\n  Extra inputs are not permitted"),
    ],
)  # fmt: skip
def test_one_that_is_not_valid_cannot_be(change: dict[str, Any], fault: str) -> None:
    with pytest.raises(ValidationError) as caught:
        Certificate.model_validate({**made().certificate.model_dump(mode="json"), **change})
    assert fault in str(caught.value)


def test_an_accepted_near_miss_or_one_counted_twice_cannot_be_certified() -> None:
    content = made().certificate.model_dump(mode="json")
    first, *others = content["near_misses"]
    with pytest.raises(ValidationError, match="less than or equal to 0"):
        Certificate.model_validate({**content, "near_misses": [{**first, "margin": 0.001}, *others]})
    with pytest.raises(ValidationError, match="near misses are counted twice"):
        Certificate.model_validate({**content, "near_misses": [first, first, *others]})
    step = content["log"][0]
    with pytest.raises(ValidationError, match="before it begins"):
        Certificate.model_validate({**content, "log": [{**step, "start": step["end"] + 1}]})


def test_all_that_speaks_against_a_certificate_is_said_at_once() -> None:
    failed = make_recording(make_scenario(), success=False)
    accepted = Missed(name="hovering", predicate="lifted(mug)", margin=0.002, value=0.002)
    with pytest.raises(CertificateError) as caught:
        certify(failed, ("spec",), {}, [accepted, *MISSED[:3]])
    assert [fault.partition(";")[0] for fault in caught.value.faults] == [
        "a witness must have succeeded",
        "lifted(mug) is accepted when it is missed: hovering (margin 0.002)",
        "only 4 near misses were tried, at least 8 are needed",
    ]


def test_the_solvers_log_tells_failures_and_new_plans() -> None:
    events = (
        Event(step=0, kind="skill_started", subjects=("mug",), text="pick(mug)"),
        Event(step=3, kind="grasped", subjects=("mug",)),
        Event(step=4, kind="skill_failed", subjects=("mug",), text="pick.slip: it slips"),
        Event(step=4, kind="replanned", text="pick(mug); place(mug, table)"),
        Event(step=4, kind="skill_started", subjects=("mug",), text="pick(mug)"),
        Event(step=9, kind="skill_done", subjects=("mug",), text="pick(mug)"),
    )
    log = solver_log(replace(make_recording(make_scenario()), events=events))
    assert [(s.said, s.outcome, s.start, s.end, s.reason) for s in log] == [
        ("pick(mug)", "failed", 0, 4, "pick.slip: it slips"),
        ("pick(mug); place(mug, table)", "replanned", 4, 4, ""),
        ("pick(mug)", "done", 4, 9, ""),
    ]


# ---------------------------------------------------------------------- releasing


def test_a_release_keeps_all_three_and_reads_them_back(store: EpisodeStore) -> None:
    identity = made().scenario.id
    assert store.scenario(identity) == made().scenario
    assert store.certificate(identity) == made().certificate
    assert recording_digest(store.witness(identity)) == made().certificate.witness


def test_a_certificate_of_something_else_releases_nothing(tmp_path: Path) -> None:
    other = make_scenario(1)
    shaken = replace(made().witness, actions=made().witness.actions + 1e-9, attempt=7)
    with Run.create(tmp_path / "run", {"seed": 0}) as run:
        store = EpisodeStore(run)
        with pytest.raises(EpisodeError) as caught:
            store.release(other, made().certificate, shaken)
        said = [fault.partition(":")[0] for fault in caught.value.faults]
        assert said == ["scenario", "witness of scenario", "attempt", "digest of the witness"]
        assert store.scenario_ids() == []
        assert list((run.path / "scenarios").iterdir()) == []


def test_a_release_that_is_cut_short_leaves_no_scenario_without_its_certificate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = store_module.write_atomic

    def killed_before_the_scenario(path: Path, data: bytes) -> None:
        if path.name == f"{made().scenario.id}.json":
            raise KeyboardInterrupt
        write(path, data)

    with Run.create(tmp_path / "run", {"seed": 0, "fps": 20}) as run:
        store = EpisodeStore(run)
        monkeypatch.setattr(store_module, "write_atomic", killed_before_the_scenario)
        with pytest.raises(KeyboardInterrupt):
            store.release(made().scenario, made().certificate, made().witness)
        assert store.scenario_ids() == []
        left = [(f.code, f.severity) for f in validate_run(run)]
        assert left == [("run.not_released", "warning")] * 2
        monkeypatch.undo()
        store.release(made().scenario, made().certificate, made().witness)
        assert validate_run(run, recheck=recheck) == []


def test_what_is_not_there_is_named(store: EpisodeStore) -> None:
    with pytest.raises(EpisodeError, match="has no certificate"):
        store.certificate("0" * 16)
    with pytest.raises(EpisodeError, match="has no witness"):
        store.witness("0" * 16)


# ---------------------------------------------------------------------- validating


def found(store: EpisodeStore) -> list[Finding]:
    return validate_run(store.run, recheck=recheck)


def rewrite(store: EpisodeStore, **changes: Any) -> None:
    """Change a certificate as one would who wants to be believed."""
    content = {**made().certificate.model_dump(mode="json"), **changes}
    identity = Certificate.model_validate(content).id
    file(store, ".certificate.json").write_text(json.dumps({"id": identity, **content}), "utf-8")


def swap_witness(store: EpisodeStore, witness: Recording, **changes: Any) -> None:
    """Change a witness, and the certificate with it."""
    file(store, ".witness.parquet").write_bytes(encode(witness, store.control_hz))
    rewrite(store, witness=recording_digest(witness), **changes)


def test_what_is_as_certified_has_no_findings(store: EpisodeStore) -> None:
    assert found(store) == []


@pytest.mark.parametrize(
    ("kind", "change", "code", "fault"),
    [
        (".certificate.json", None, "run.certificate_damaged", "the scenario has no certificate"),
        (".witness.parquet", None, "run.witness_damaged", "the scenario has no witness"),
        (".certificate.json", lambda d: d[:-40], "run.certificate_damaged", "is not valid JSON"),
        (".certificate.json", lambda d: b"[]", "run.certificate_damaged", "is not a valid certificate"),
        (".certificate.json", lambda d: d.replace(b'"log"', b'"blog"'), "run.certificate_damaged", "blog"),
        (".certificate.json", lambda d: d.replace(b'"physics",', b'"fizzics",'), "run.certificate_damaged", "it was changed"),
        (".witness.parquet", lambda d: d[: len(d) // 2], "run.witness_damaged", ""),
        (".json", lambda d: d.replace(b'"blue"', b'"pink"'), "run.scenario_damaged", "it was changed after it was written"),
    ],
)  # fmt: skip
def test_a_file_that_is_missing_or_damaged_is_named(
    store: EpisodeStore, kind: str, change: Callable[[bytes], bytes] | None, code: str, fault: str
) -> None:
    path = file(store, kind)
    if change is None:
        path.unlink()
    else:
        before = path.read_bytes()
        path.write_bytes(change(before))
        assert path.read_bytes() != before
    (finding,) = found(store)
    assert (finding.code, finding.subjects) == (code, (f"scenarios/{path.name}",))
    assert fault in finding.message


@pytest.mark.parametrize(
    ("key", "value", "fault"),
    [
        ("margin", 0.5, "margin: 0.5 is certified, it is"),
        ("attempt", 1, "attempt: 1 is certified, it is 0"),
        ("length", 5000, "length: 5000 is certified"),
        ("witness", "0" * 64, "digest of the witness"),
        ("log", [], "solver's log"),
        ("scenario", "0" * 16, "scenario: 0000000000000000 is certified"),
    ],
)  # fmt: skip
def test_a_certificate_that_says_otherwise_is_named_with_what(store: EpisodeStore, key: str, value: Any, fault: str) -> None:
    rewrite(store, **{key: value})
    (finding,) = found(store)
    assert (finding.code, finding.subjects) == ("run.not_as_certified", (f"scenarios/{made().scenario.id}.certificate.json",))
    assert fault in finding.message


def test_a_near_miss_that_was_made_up_or_embellished_is_named(store: EpisodeStore) -> None:
    misses = made().certificate.model_dump(mode="json")["near_misses"]
    misses[1]["margin"] -= 1e-6
    misses[2]["name"] = "upside down"
    rewrite(store, near_misses=misses)
    messages = [f.message for f in found(store)]
    assert len(messages) == 3  # the margin, the state that was not shown, and the one that was
    assert sum("'upside down'" in m and "now it is shown with nothing" in m for m in messages) == 1
    assert sum("is certified with nothing" in m for m in messages) == 1
    assert validate_run(store.run) == []  # the files alone do not tell


def test_a_witness_that_does_not_replay_is_named(store: EpisodeStore) -> None:
    actions = made().witness.actions.copy()
    actions[20, 0] += 1e-3
    swap_witness(store, replace(made().witness, actions=actions))
    messages = [f.message for f in found(store)]
    assert any("the witness's states differ when it is done again" in m for m in messages)


def test_a_witness_that_was_given_a_better_margin_or_other_events_is_named(store: EpisodeStore) -> None:
    margins = made().witness.margins.copy()
    margins[-1] += 1e-3
    events = tuple(e for e in made().witness.events if e.kind != "released")
    swap_witness(store, replace(made().witness, margins=margins, events=events), margin=float(margins[-1]))
    messages = [f.message for f in found(store)]
    assert [m.partition(": ")[2] for m in messages] == [
        "the witness's margins of the goal differ when it is done again",
        "the witness says that other things happened than when it is done again",
    ]


def test_a_witness_cut_before_the_goal_holds_is_named(store: EpisodeStore) -> None:
    witness = made().witness
    n = next(e.step for e in witness.events if e.kind == "goal_reached") - 1
    short = replace(
        witness, states=witness.states[: n + 1], actions=witness.actions[:n], margins=witness.margins[: n + 1],
        predicate_margins=witness.predicate_margins[: n + 1], labels=witness.labels[:n],
        observations={name: values[: n + 1] for name, values in witness.observations.items()},
        events=tuple(e for e in witness.events if e.step <= n),
    )  # fmt: skip
    log = [step.model_dump(mode="json") for step in solver_log(short)]
    swap_witness(store, short, length=n, margin=float(short.margins[-1]), log=log)
    assert any("does not reach the goal when done again" in f.message for f in found(store))


def test_a_witness_whose_world_goes_bad_is_named(store: EpisodeStore) -> None:
    actions = made().witness.actions.copy()
    actions[3, 0] = np.nan
    swap_witness(store, replace(made().witness, actions=actions))
    (finding,) = found(store)
    assert finding.code in ("run.witness_unsound", "run.not_as_certified")
    assert "actions of a success is not finite" in finding.message or "cannot be done again" in finding.message
