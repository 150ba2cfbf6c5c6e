"""Scenarios that the flywheel makes are certified like any other, or there are none."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from embodiedsmith.forge.certificate import Certificate, CertificateError, certify
from embodiedsmith.forge.state import Judge
from embodiedsmith.spec import Scenario
from embodiedsmith.tasks import Recording


@dataclass(frozen=True)
class Made:
    """A scenario with what proves it good."""

    scenario: Scenario
    certificate: Certificate
    witness: Recording


def certified(judge: Judge, scenario: Scenario, rng: np.random.Generator) -> Made | None:
    """The scenario, laid out where it has to be; None when the critics refuse it or its goal takes a near miss for success.

    Args:
        judge: With the critics that decide; the execution critic, which makes the witness, must be among them.
        scenario: What is judged.
        rng: Of the layout.
    """
    state = judge.judge(scenario, rng)
    witness = state.context.witness
    if not state.accepted or witness is None:
        return None
    try:
        proof = certify(witness, state.passed, judge.seconds(), state.context.near_misses)
    except CertificateError:
        return None
    return Made(state.scenario, proof, witness)
