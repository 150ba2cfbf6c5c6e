"""Whether the scenarios of a run are still what their certificates say: from the files, and by doing it all again."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from embodiedsmith.episodes.format import EpisodeError, faults_of
from embodiedsmith.episodes.store import EpisodeStore
from embodiedsmith.forge.certificate import Certificate
from embodiedsmith.runtime.errors import SmithError
from embodiedsmith.runtime.files import StorageError
from embodiedsmith.runtime.seeds import generator
from embodiedsmith.spec import Finding, Scenario
from embodiedsmith.tasks import Recording, Session
from embodiedsmith.tasks.goal_misses import near_misses
from embodiedsmith.world import World

Recheck = Callable[[Scenario, Certificate, Recording], list[str]]
"""Does a witness again and shows the goal its near misses again; what came out otherwise than certified, empty when nothing."""

_NOTHING = np.empty(0)
_SEEN = ("goal_reached", "grasped", "released", "dropped", "collision")  # events that a session notes by itself


def certificate_findings(store: EpisodeStore, scenario: Scenario, recheck: Recheck | None = None) -> list[Finding]:
    """Everything wrong with what proves a scenario good, each finding naming the file; empty when it is proved.

    Args:
        store: Of the run.
        scenario: One that it has released.
        recheck: How to do it again; None: only the files are looked at.
    """
    place = f"scenarios/{scenario.id}"
    findings: list[Finding] = []
    certificate = witness = None
    try:
        certificate = store.certificate(scenario.id)
    except (EpisodeError, StorageError) as error:
        findings.append(_finding("run.certificate_damaged", f"{place}.certificate.json", _said(error)))
    try:
        witness = store.witness(scenario.id)
    except (EpisodeError, StorageError) as error:
        findings.append(_finding("run.witness_damaged", f"{place}.witness.parquet", _said(error)))
    if witness is not None:
        findings += [_finding("run.witness_unsound", f"{place}.witness.parquet", fault) for fault in faults_of(witness)]
    if certificate is None or witness is None or findings:
        return findings
    findings = [_finding("run.not_as_certified", f"{place}.certificate.json", f) for f in certificate.faults(scenario, witness)]
    if recheck is not None and not findings:
        try:
            changed = recheck(scenario, certificate, witness)
        except SmithError as error:
            changed = [f"the witness cannot be done again: {_said(error)}"]
        findings = [_finding("run.not_as_certified", f"{place}.certificate.json", fault) for fault in changed]
    return findings


def orphans(store: EpisodeStore) -> list[Finding]:
    """A warning for each certificate or witness whose scenario is not there."""
    known = set(store.scenario_ids())
    found = [
        path.name
        for kind in (".certificate.json", ".witness.parquet")
        for path in sorted((store.run.path / "scenarios").glob(f"*{kind}"))
        if path.name.removesuffix(kind) not in known
    ]
    said = "its scenario is not there: left by a killed writer, `smith resume` forges it again; or the scenario was taken away"
    return [_finding("run.not_released", f"scenarios/{name}", said).model_copy(update={"severity": "warning"}) for name in found]


def recheck(scenario: Scenario, certificate: Certificate, witness: Recording) -> list[str]:
    """Do a witness again in a fresh world, bit for bit, then show the goal its near misses again.

    Args:
        scenario: What is certified.
        certificate: It fits the witness; see `Certificate.faults`.
        witness: The demonstration.

    Returns:
        What came out otherwise than certified; empty when nothing.

    Raises:
        SmithError: the world goes bad or cannot be built, which it did not then.
    """
    world = World(scenario)
    session = Session(world, seed=certificate.seed, attempt=certificate.attempt)
    session.reset(generator(certificate.seed, scenario.id, "witness", certificate.attempt))
    for action in witness.actions:
        session.step(action)
    again = session.finish()
    faults = _differences(witness, again)
    if again.outcome != "success":
        faults.append(f"the witness does not reach the goal when done again: {again.failure}")
    if faults:
        return faults
    certified = {(miss.predicate, miss.name): miss.margin for miss in certificate.near_misses}
    seen = {(miss.predicate, miss.name): miss.margin for miss in near_misses(scenario.task.goal, world, witness)}
    for key in sorted(certified.keys() | seen.keys()):
        if certified.get(key) != seen.get(key):
            then, now = (_margin(margins.get(key)) for margins in (certified, seen))
            faults.append(f"the near miss '{key[1]}' of {key[0]} is certified with {then}; now it is shown with {now}")
    return faults


def _differences(witness: Recording, again: Recording) -> list[str]:
    """What a demonstration done again has otherwise, in what follows from its actions alone."""
    then = witness.observations
    pairs = {
        "states": (witness.states, again.states), "margins of the goal": (witness.margins, again.margins),
        "margins of the predicates": (witness.predicate_margins, again.predicate_margins),
        **{f"observation '{name}'": (then.get(name, _NOTHING), seen) for name, seen in again.observations.items()},
    }  # fmt: skip
    faults = [f"the witness's {what} differ when it is done again" for what, (a, b) in pairs.items() if not np.array_equal(a, b)]
    if witness.predicate_names != again.predicate_names:
        faults.append(f"the witness is about {witness.predicate_names}, the goal about {again.predicate_names}")
    if tuple(event for event in witness.events if event.kind in _SEEN) != again.events:
        faults.append("the witness says that other things happened than when it is done again")
    return faults


def _margin(margin: float | None) -> str:
    return "nothing" if margin is None else f"margin {margin:.6g}"


def _said(error: SmithError) -> str:
    return "; ".join((error.what, *error.faults))


def _finding(code: str, file: str, message: str) -> Finding:
    return Finding(code=code, subjects=(file,), message=f"{file}: {message}")
