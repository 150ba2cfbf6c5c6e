"""How good an episode is as one number: completion, efficiency, smoothness, energy and robustness, weighted by what it is for.

Every part lies in [0, 1], 1 is best. What a recording does not hold is left out, and the other weights grow in proportion.

| part | measured by | 1 at | 0 at |
|---|---|---|---|
| completion | share of the goal's predicates that hold at the end | all | none |
| efficiency | duration and way of the tool, each relative to the task's reference; their mean | half of it | four times it |
| smoothness | mean squared jerk of the tool, on a logarithmic scale | 1e2 m^2/s^6 | 1e5 m^2/s^6 |
| energy | energy relative to the task's reference | half of it | four times it |
| robustness | success of the same actions under small perturbations (`robustness`) | always | never |

The reference is the median of the task's demonstrations, which is 0.857 of efficiency and energy. The ranges of jerk are such
that demonstrations of a Panda (1.2e2 to 9e2 m^2/s^6) lie above 0.68, the same with 2 mrad of noise on every joint target (2e3 to
4e3) about 0.5, with 10 mrad (6e4 to 9e4) below 0.1.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from pydantic import Field, model_validator

from embodiedsmith.episodes.scores import Scores
from embodiedsmith.runtime.errors import UsageError, unknown_name
from embodiedsmith.spec.base import Noun

BEST, WORST = 0.5, 4.0
"""Multiples of the reference with an efficiency of 1 and of 0."""
SMOOTH, ROUGH = 1e2, 1e5
"""Mean squared jerk with a smoothness of 1 and of 0 [m^2/s^6]."""


class Profile(Noun):
    """What counts how much. Weights need not add up to one."""

    completion: float = Field(ge=0.0)
    efficiency: float = Field(ge=0.0)
    smoothness: float = Field(ge=0.0)
    energy: float = Field(ge=0.0)
    robustness: float = Field(ge=0.0)

    @model_validator(mode="after")
    def _something_counts(self) -> Profile:
        if not any(self.model_dump().values()):
            raise ValueError("a profile in which nothing counts gives no quality: give a weight above zero")
        return self


PROFILES: Mapping[str, Profile] = MappingProxyType(
    {
        "benchmark": Profile(completion=0.4, efficiency=0.3, smoothness=0.1, energy=0.1, robustness=0.1),
        "real_robot": Profile(completion=0.3, efficiency=0.1, smoothness=0.3, energy=0.1, robustness=0.2),
    }
)
"""Profiles by name: `benchmark` wants tasks done soon; on a real robot what shakes or only just works is worth less."""


class Reference(Noun):
    """What a task usually takes: medians over its successful demonstrations. None: they do not tell."""

    duration: float = Field(gt=0.0)
    """Simulated time [s]."""
    path_length: float | None = Field(default=None, gt=0.0)
    """Way of the tool centre point [m]."""
    energy: float | None = Field(default=None, gt=0.0)
    """[J]"""


class Quality(Noun):
    """The parts of an episode's quality, each in [0, 1] or None where it is not known, and what they come to."""

    value: float = Field(ge=0.0, le=1.0)
    """The weighted mean of the parts that are known: what the quality threshold is compared with."""
    completion: float = Field(ge=0.0, le=1.0)
    efficiency: float | None = Field(default=None, ge=0.0, le=1.0)
    """What the efficiency threshold is compared with."""
    smoothness: float | None = Field(default=None, ge=0.0, le=1.0)
    energy: float | None = Field(default=None, ge=0.0, le=1.0)
    robustness: float | None = Field(default=None, ge=0.0, le=1.0)


def profile(name: str) -> Profile:
    """The profile of that name; raises `UsageError` listing those there are."""
    if name not in PROFILES:
        raise unknown_name("quality profile", name, PROFILES)
    return PROFILES[name]


def reference(demonstrations: Iterable[Scores]) -> Reference:
    """Medians over the demonstrations that succeeded; raises `UsageError` when none did."""
    done = [scores for scores in demonstrations if scores.completion == 1.0 and scores.duration > 0.0]
    if not done:
        raise UsageError("no demonstration succeeded, so that nothing tells what the task takes", remedy="give a success or more")
    return Reference(
        duration=statistics.median(scores.duration for scores in done),
        path_length=_median(scores.path_length for scores in done),
        energy=_median(scores.energy for scores in done),
    )


def quality(scores: Scores, task: Reference | None, weights: Profile, robustness: float | None = None) -> Quality:
    """The quality of an episode.

    Args:
        scores: Of its recording.
        task: What the task usually takes; None: unknown, so that efficiency and energy are left out.
        weights: What counts how much.
        robustness: Success of its actions under perturbations, in [0, 1]; None: not tried.
    """
    parts: dict[str, float | None] = {
        "completion": scores.completion,
        "efficiency": None if task is None else efficiency(scores, task),
        "smoothness": smoothness(scores.smoothness),
        "energy": None if task is None else _relative(scores.energy, task.energy),
        "robustness": robustness,
    }
    known = {name: part for name, part in parts.items() if part is not None}
    total = sum(getattr(weights, name) for name in known)
    mean = sum(getattr(weights, name) * part for name, part in known.items()) / total if total else scores.completion
    return Quality(value=min(max(mean, 0.0), 1.0), **parts)


def efficiency(scores: Scores, task: Reference) -> float:
    """Mean of the efficiency in time and in the tool's way, each 1 at `BEST` times the reference and 0 at `WORST` times it."""
    known = [_relative(scores.duration, task.duration), _relative(scores.path_length, task.path_length)]
    return statistics.fmean(part for part in known if part is not None)


def smoothness(jerk: float | None) -> float | None:
    """From 1 at `SMOOTH` to 0 at `ROUGH`, in the logarithm of the mean squared jerk [m^2/s^6]; None when it is not known."""
    if jerk is None or math.isnan(jerk):
        return None
    return _falling(math.log(max(jerk, SMOOTH)), math.log(SMOOTH), math.log(ROUGH))


def _relative(value: float | None, usual: float | None) -> float | None:
    if value is None or usual is None or math.isnan(value):
        return None
    return _falling(value / usual, BEST, WORST)


def _falling(value: float, best: float, worst: float) -> float:
    return min(max((worst - value) / (worst - best), 0.0), 1.0)


def _median(values: Iterable[float | None]) -> float | None:
    """None unless there is a median above zero."""
    known = [value for value in values if value is not None and math.isfinite(value)]
    middle = statistics.median(known) if known else 0.0
    return middle if middle > 0.0 else None
