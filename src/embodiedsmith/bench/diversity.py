"""Does variety of scenes pay? Equally many demonstrations of 1, 4, 16, 64 and 256 scenarios, judged on scenarios never seen.

The scenarios are forged from one brief; those of a smaller set are in the larger ones, in an order that each training seed draws
for itself. All policies are equal in network, gradient steps and demonstrations. With a folder, results are kept line by line,
and a second call goes on where the first stopped.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import Field

from embodiedsmith.evaluate.evaluation import Evaluation, evaluate, evaluate_demonstrator
from embodiedsmith.evaluate.intervals import Interval, mean, newcombe, rate
from embodiedsmith.evaluate.suites import Suite, forge_distinct, forge_held_out, suite
from embodiedsmith.flywheel.charts import Curve, picture
from embodiedsmith.flywheel.collecting import dealer, demonstrate, encoded
from embodiedsmith.flywheel.variants import limited
from embodiedsmith.learn.observation import ObservationConfig
from embodiedsmith.learn.policy import Policy, PolicyConfig
from embodiedsmith.learn.samples import default_space
from embodiedsmith.learn.training import EpisodesSource, TrainConfig, train
from embodiedsmith.runtime.errors import SmithError
from embodiedsmith.runtime.files import storage_errors, write_atomic
from embodiedsmith.runtime.seeds import derive, generator
from embodiedsmith.spec import Brief, Scenario
from embodiedsmith.spec.base import Noun, digest

BRIEF = "put the can in the basket"
TRIALS = "trials.jsonl"
PICTURE = "diversity.svg"
SPARE = 3
"""Demonstrations tried for each one wanted."""


class DiversityConfig(Noun):
    """What is measured."""

    brief: str = BRIEF
    robot: str = "panda"
    demonstrations: int = Field(default=256, ge=1)
    """Successful ones that each policy learns from."""
    distinct: tuple[int, ...] = (1, 4, 16, 64, 256)
    """From how many scenarios they are."""
    seeds: int = Field(default=3, ge=1)
    """Training seeds."""
    held_out: int = Field(default=32, ge=1)
    """Scenarios that policies are judged on."""
    attempts: int = Field(default=10, ge=1)
    """Starts of each."""
    seen: int = Field(default=64, ge=1)
    """Starts on scenarios that were trained on."""
    steps: int = Field(default=3000, ge=1)
    """Gradient steps."""
    lr: float = Field(default=1e-3, gt=0.0)
    time_limit: float = Field(default=2.0, ge=1.0)
    """Times the demonstrator's longest attempt on the suite that a policy may take."""


class Trial(Noun):
    """One policy: its data, and what it is worth."""

    setup: str
    """Hash of everything that the trial depends on but `distinct` and `seed`."""
    distinct: int
    seed: int
    demonstrations: int
    """Successes it learnt from: fewer than wanted where the demonstrator failed too often."""
    windows: int
    """Moments in them."""
    loss: float
    held_out: tuple[int, int]
    """Successes and starts on scenarios never seen."""
    seen: tuple[int, int]
    """The same on those trained on, from starts never seen."""
    failures: dict[str, int]
    seconds: dict[str, float]

    @property
    def key(self) -> tuple[str, int, int]:
        """What was asked."""
        return self.setup, self.distinct, self.seed


@dataclass(frozen=True)
class _Setup:
    config: DiversityConfig
    pool: tuple[Scenario, ...]
    suite: Suite
    demonstrator: Evaluation

    @property
    def id(self) -> str:
        """Equal for trials that can be put together."""
        settings = self.config.model_dump(mode="json", exclude={"seeds", "distinct"})
        return digest([settings, [scenario.id for scenario in self.pool], self.suite.id])


def measure(
    config: DiversityConfig | None = None,
    *,
    workers: int = 1,
    threads: int = 1,
    folder: Path | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> dict[str, Any]:
    """Train and judge one policy for each number of scenarios and training seed.

    Args:
        config: What is measured; None: everything as the defaults say, which takes hours on one core.
        workers: Processes that forge and demonstrate.
        threads: Threads that step worlds.
        folder: Where the scenarios, the suite, every trial and the plot are kept; None: nowhere.
        say: Told of every trial.

    Returns:
        `points`: for each number of scenarios `success` (mean over training seeds with Student's t interval; of one seed with
        Wilson's), `pooled` (all starts, Wilson), `seeds` (rate of each), `seen` (pooled, on scenarios trained on); `gain`: pooled
        success of the most scenarios minus that of the fewest (Newcombe); `demonstrator`; `suite`; `plot`, its path.
    """
    config = config or DiversityConfig()
    setup = _setup(config, workers, folder, say)
    trials = _Trials(folder)
    order = [(distinct, seed) for seed in range(config.seeds) for distinct in config.distinct]
    found: list[Trial] = []
    for distinct, seed in order:
        trial = trials.get((setup.id, distinct, seed))
        if trial is None:
            trial = _try(setup, distinct, seed, workers, threads)
            trials.keep(trial)
        found.append(trial)
        judged, seen = ("/".join(map(str, counts)) for counts in (trial.held_out, trial.seen))
        say(f"{len(found)}/{len(order)} seed {seed}, {distinct} scenarios: {judged} held out, {seen} seen")
    report = _report(setup, found)
    if folder is not None:
        path = folder / PICTURE
        write_atomic(path, _plot(setup, report["points"]).encode("utf-8"))
        report["plot"] = str(path)
    return report


def table(report: dict[str, Any]) -> list[str]:
    """What `measure` gave, as lines for people."""
    lines = [f"{'scenarios':>9}{'held out':>28}{'each seed':>24}{'seen':>8}"]
    for point in report["points"]:
        shown = Interval.model_validate(point["success"])
        seeds = " ".join(f"{value:.2f}" for value in point["seeds"])
        lines.append(f"{point['distinct']:>9}{shown!s:>28}{seeds:>24}{point['seen']['value']:>8.2f}")
    return [*lines, f"demonstrator on the same suite: {Interval.model_validate(report['demonstrator'])}"]


def _setup(config: DiversityConfig, workers: int, folder: Path | None, say: Callable[[str], None]) -> _Setup:
    """The scenarios, forged or read; the suite; and what the demonstrator makes of it."""
    brief = Brief(text=config.brief, embodiment=config.robot)
    if max(config.distinct) > config.demonstrations:
        raise SmithError(
            f"{config.demonstrations} demonstrations cannot be from {max(config.distinct)} scenarios",
            remedy="ask for more demonstrations or fewer scenarios",
        )
    most, held = max(config.distinct), config.held_out
    pool = _forged(folder, "pool", most, lambda: forge_distinct(brief, most, workers=workers))
    tested = _forged(folder, "held-out", held, lambda: forge_held_out(brief, held, among=pool, workers=workers))
    say(f"{len(pool)} scenarios to train on, {len(tested)} to judge on")
    plain = suite(config.brief, {None: tested}, 1, seed=0)
    demonstrator = evaluate_demonstrator(plain)
    longest = max((trial.steps for trial in demonstrator.trials if trial.success), default=0)
    timed = [limited(scenario, longest, config.time_limit) for scenario in tested]
    judged = suite(config.brief, {None: timed}, config.attempts, seed=0)
    judged.guard(pool, 0)
    return _Setup(config, tuple(limited(scenario, longest, config.time_limit) for scenario in pool), judged, demonstrator)


def _forged(folder: Path | None, name: str, count: int, forge: Callable[[], tuple[Scenario, ...]]) -> tuple[Scenario, ...]:
    """Scenarios kept in the folder, or forged now where there are too few."""
    path = None if folder is None else folder / f"{name}.jsonl"
    if path is not None and path.is_file():
        with storage_errors(path):
            known = tuple(Scenario.from_json(line) for line in path.read_text("utf-8").splitlines())
        if len(known) >= count:
            return known[:count]
    made = forge()
    if path is not None:
        with storage_errors(path):
            path.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(path, "".join(scenario.to_json() + "\n" for scenario in made).encode("utf-8"))
    return made


def _try(setup: _Setup, distinct: int, seed: int, workers: int, threads: int) -> Trial:
    config, seconds = setup.config, dict[str, float]()
    began = time.perf_counter()
    order = generator(seed, "diversity", "order").permutation(len(setup.pool))
    chosen = [setup.pool[k] for k in order[:distinct].tolist()]
    most = SPARE * -(-config.demonstrations // distinct)
    episodes = demonstrate(
        chosen, [range(most)] * distinct, seed=derive(seed, "diversity") % 2**62, wanted=config.demonstrations, workers=workers
    )  # fmt: skip
    good = [episode for episode in episodes if episode.success]
    observation = ObservationConfig.covering([*setup.pool, *(entry.scenario for entry in setup.suite.entries)])
    space = default_space(observation.vehicle)
    source = EpisodesSource(
        [stretch for episode in good for stretch in encoded(episode, observation, space)],
        dealer(chosen[0], observation, space)[1], PolicyConfig(observation=observation).chunk,
    )  # fmt: skip
    seconds["demonstrate"] = time.perf_counter() - began
    began = time.perf_counter()
    settings = PolicyConfig(observation=observation, action_space=space)
    policy = Policy.create(settings, *dealer(chosen[0], observation, space), seed=seed)
    curves = train(policy, source, TrainConfig(steps=config.steps, lr=config.lr, seed=seed))
    seconds["train"] = time.perf_counter() - began
    began = time.perf_counter()
    judged = evaluate(policy, setup.suite, threads=threads)
    seen = evaluate(policy, _seen(chosen, config.seen), threads=threads)
    seconds["evaluate"] = time.perf_counter() - began
    return Trial(
        setup=setup.id, distinct=distinct, seed=seed, demonstrations=len(good), windows=len(source), loss=curves.loss[-1],
        held_out=_count(judged), seen=_count(seen), failures=judged.failures,
        seconds={name: round(value, 2) for name, value in seconds.items()},
    )  # fmt: skip


def _seen(chosen: Sequence[Scenario], starts: int) -> Suite:
    """New starts on scenarios that were trained on."""
    shown = chosen[:starts]
    return suite("seen", {None: shown}, starts // len(shown), seed=0)


def _report(setup: _Setup, trials: Sequence[Trial]) -> dict[str, Any]:
    points = []
    for distinct in setup.config.distinct:
        mine = [trial for trial in trials if trial.distinct == distinct]
        pooled = _sum(trial.held_out for trial in mine)
        each = [trial.held_out[0] / trial.held_out[1] for trial in mine]
        points.append(
            {
                "distinct": distinct,
                "success": (mean(each) if len(each) > 1 else rate(*pooled)).model_dump(),
                "pooled": rate(*pooled).model_dump(),
                "seeds": [round(value, 4) for value in each],
                "seen": rate(*_sum(trial.seen for trial in mine)).model_dump(),
                "demonstrations": [trial.demonstrations for trial in mine],
                "windows": [trial.windows for trial in mine],
            }
        )
    few, many = (
        _sum(trial.held_out for trial in trials if trial.distinct == pick(setup.config.distinct)) for pick in (min, max)
    )  # fmt: skip
    return {
        "config": setup.config.model_dump(mode="json"),
        "setup": setup.id,
        "suite": {"id": setup.suite.id, "scenarios": len(setup.suite.entries), "trials": setup.suite.trials},
        "demonstrator": setup.demonstrator.success.model_dump(),
        "points": points,
        "gain": newcombe(many, few).model_dump(),
        "seconds": round(sum(sum(trial.seconds.values()) for trial in trials), 1),
    }


def _plot(setup: _Setup, points: Sequence[dict[str, Any]]) -> str:
    x = [point["distinct"] for point in points]
    ends = ("value", "low", "high")
    unseen, seen = ([[point[name][end] for point in points] for end in ends] for name in ("success", "seen"))
    config = setup.config
    ceiling = setup.demonstrator.success.value
    judged = "scenarios never seen, 95 %" + (
        f" over {config.seeds} training seeds" if config.seeds > 1 else ", one training seed"
    )
    return picture(
        [
            Curve(name=judged, x=x, y=unseen[0], low=[max(v, 0.0) for v in unseen[1]], high=[min(v, 1.0) for v in unseen[2]]),
            Curve(name="scenarios trained on, new starts, 95 %", x=x, y=seen[0], low=seen[1], high=seen[2], color=1, dashed=True),
            Curve(name="demonstrator", x=x, y=[ceiling] * len(x), color=7, dashed=True),
        ],
        title=f"{config.brief}: success from {config.demonstrations} demonstrations",
        high=1.0, log_x=True, x_label="scenarios", x_ticks=x,
    )  # fmt: skip


class _Trials:
    """Trials done so far, kept line by line where there is a folder."""

    def __init__(self, folder: Path | None) -> None:
        self._file = None if folder is None else folder / TRIALS
        self._done: dict[tuple[str, int, int], Trial] = {}
        if self._file is not None and self._file.is_file():
            with storage_errors(self._file):
                text = self._file.read_text("utf-8")
            for line in text[: text.rfind("\n") + 1].splitlines():  # a killed process may have left half a line
                trial = Trial.from_json(line)
                self._done[trial.key] = trial

    def get(self, key: tuple[str, int, int]) -> Trial | None:
        """The trial of that key, if it is done."""
        return self._done.get(key)

    def keep(self, trial: Trial) -> None:
        """Remember a trial."""
        self._done[trial.key] = trial
        if self._file is not None:
            lines = [json.dumps(t.model_dump(mode="json"), sort_keys=True) for t in self._done.values()]
            write_atomic(self._file, ("\n".join(lines) + "\n").encode("utf-8"))


def _count(found: Evaluation) -> tuple[int, int]:
    return sum(trial.success for trial in found.trials), len(found.trials)


def _sum(counts: Iterable[tuple[int, int]]) -> tuple[int, int]:
    given = list(counts)
    return sum(good for good, _ in given), sum(n for _, n in given)
