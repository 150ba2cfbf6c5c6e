"""How well the forge works, against its own ablations, and what its lessons are worth.

Every request of `forge_briefs.toml` is forged in every mode from the same seeds at the same budget. Reported are success rates
with Wilson intervals by horizon, and edits, cost and seconds for each certified scenario. With a folder, results are kept line by
line and a second call goes on where the first stopped.
"""

from __future__ import annotations

import json
import statistics
import time
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any, Literal, get_args

from embodiedsmith.evaluate.intervals import wilson
from embodiedsmith.forge import BUDGET
from embodiedsmith.forge.lessons import Lessons, Outcome
from embodiedsmith.forge.log import Proposal
from embodiedsmith.forge.loop import ForgeError, ForgeResult, forge
from embodiedsmith.motion import symbolic
from embodiedsmith.runtime.errors import SmithError
from embodiedsmith.runtime.executors import JobResult, run_jobs
from embodiedsmith.runtime.files import storage_errors
from embodiedsmith.spec import Brief
from embodiedsmith.spec.scenario import Mode
from embodiedsmith.world import World

Horizon = Literal["1", "2-3", "4-6", "7+"]
HORIZONS: tuple[Horizon, ...] = get_args(Horizon)
MODES: tuple[Mode, ...] = get_args(Mode)
TAUGHT: tuple[Mode, ...] = ("joint", "scene")
"""Modes in which lessons are measured: `scene` needs most repairs, for its layouts know nothing of the task."""
SEEDS = 3
EXAMPLES = 2
"""Examples shown of each of the commonest reasons."""


@dataclass(frozen=True, kw_only=True)
class Request:
    """One brief of the benchmark."""

    text: str
    horizon: Horizon
    """How many skills it takes, as written down beforehand."""
    robot: str = "panda"
    awkward: str = ""
    """What makes it awkward by nature; empty: nothing does."""
    set: int = 1


@dataclass(frozen=True, kw_only=True)
class Trial:
    """What came of forging one request once."""

    text: str
    mode: str
    seed: int
    lessons: bool
    """Whether it worked from lessons."""
    success: bool
    seconds: float
    """Wall clock."""
    units: float
    """Simulated seconds and plans."""
    proposals: int
    edits: int
    """Edits of the accepted proposal."""
    tries: int
    """Repairs tried in all."""
    distance: int = 0
    skills: int = 0
    """Steps of the symbolic plan of the accepted scenario, ways to drive not counted."""
    reasons: dict[str, int] = field(default_factory=dict)
    """Finding codes of the proposals as they ended, when none was accepted."""
    example: str = ""
    """One of their messages."""
    error: str = ""
    """What the agent said of the brief itself, when it refused it."""
    outcomes: tuple[dict[str, Any], ...] = ()
    """What its repairs taught."""

    @property
    def key(self) -> tuple[str, str, int, bool]:
        """What was asked."""
        return self.text, self.mode, self.seed, self.lessons


@dataclass(frozen=True, kw_only=True)
class _Job:
    request: Request
    mode: Mode
    seed: int
    budget: float
    lessons: Lessons | None


def requests() -> tuple[Request, ...]:
    """The requests there are, both sets."""
    text = resources.files("embodiedsmith.bench").joinpath("forge_briefs.toml").read_text("utf-8")
    return tuple(Request(**entry) for entry in tomllib.loads(text)["brief"])


def measure(
    *,
    seeds: int = SEEDS,
    modes: Sequence[Mode] = MODES,
    budget: float = BUDGET,
    workers: int = 1,
    folder: Path | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> dict[str, Any]:
    """Forge every request of the first set with seeds 0 to `seeds` - 1 in each mode, then measure what lessons are worth.

    The second set is forged twice from the same seeds in the modes of `TAUGHT`: without lessons, and with those that the first
    set taught in that mode.

    Args:
        seeds: Seeds a request.
        modes: Which modes.
        budget: What one forging may cost [simulated seconds and plans].
        workers: Processes; seconds are of one of them.
        folder: Where results are kept (`trials.jsonl`); None: nowhere.
        say: Told of every trial.

    Returns:
        `modes`: for each mode `overall`, by `horizon`, `awkward` and `ordinary`: forged, asked, rate, Wilson interval, and edits,
        units and seconds of certified scenarios; `gain`: what `joint` has more than each other mode, in points; `failures`: the
        commonest codes of `joint` with examples; `lessons`: the paired comparison for each mode of `TAUGHT`.
    """
    known = requests()
    first, second = ([r for r in known if r.set == which] for which in (1, 2))
    trials = _Trials(folder, say)
    jobs = [_Job(request=r, mode=m, seed=s, budget=budget, lessons=None) for s in range(seeds) for r in first for m in modes]
    made = trials.run(jobs, workers)
    report = _modes(made, {r.text: r for r in first}, modes)
    report["lessons"] = {}
    for mode in (m for m in TAUGHT if m in modes):
        taught = Lessons().learn(Outcome(**o) for t in made if t.mode == mode for o in t.outcomes)
        plain = [_Job(request=r, mode=mode, seed=s, budget=budget, lessons=None) for s in range(seeds) for r in second]
        wise = [_Job(request=j.request, mode=mode, seed=j.seed, budget=budget, lessons=taught) for j in plain]
        both = trials.run([job for pair in zip(plain, wise, strict=True) for job in pair], workers)
        report["lessons"][mode] = _lessons(both)
    return {"seeds": seeds, "budget": budget, "requests": len(first), **report}


class _Trials:
    """Trials done so far, kept line by line where there is a folder."""

    def __init__(self, folder: Path | None, say: Callable[[str], None]) -> None:
        self._file = None if folder is None else folder / "trials.jsonl"
        self._say = say
        self._done: dict[tuple[str, str, int, bool], Trial] = {}
        if self._file is not None and self._file.is_file():
            with storage_errors(self._file):
                lines = self._file.read_text("utf-8").splitlines()
            for line in lines:
                entry = json.loads(line)
                trial = Trial(**{**entry, "outcomes": tuple(entry["outcomes"])})
                self._done[trial.key] = trial

    def run(self, jobs: Sequence[_Job], workers: int) -> list[Trial]:
        """Do what is not done yet; gives all trials in the order of the jobs."""
        wanted = [_key(job) for job in jobs]
        left = [job for job in jobs if _key(job) not in self._done]

        def keep(job: _Job, result: JobResult[Trial]) -> None:
            if result.value is None:
                raise result.error or SmithError("a trial gave nothing back", where=job.request.text)
            self._keep(result.value)
            done = sum(key in self._done for key in wanted)
            self._say(f"{done}/{len(wanted)} {_shown(result.value)}")

        if left:
            run_jobs(_try, left, min(workers, len(left)), keep)
        return [self._done[key] for key in wanted]

    def _keep(self, trial: Trial) -> None:
        self._done[trial.key] = trial
        if self._file is not None:
            with storage_errors(self._file):
                self._file.parent.mkdir(parents=True, exist_ok=True)
                with open(self._file, "a", encoding="utf-8") as file:
                    file.write(json.dumps(asdict(trial), ensure_ascii=False, sort_keys=True) + "\n")


def _key(job: _Job) -> tuple[str, str, int, bool]:
    return job.request.text, job.mode, job.seed, job.lessons is not None


def _shown(trial: Trial) -> str:
    state = (
        "forged"
        if trial.success
        else f"refused ({trial.error or max(trial.reasons, key=trial.reasons.__getitem__, default='?')})"
    )
    cost = f"{trial.seconds:.0f} s, {trial.units:.0f} units, {trial.proposals} proposals, {trial.tries} repairs tried"
    return f"{trial.mode} {trial.seed} {state}: {trial.text} [{cost}]"


def _try(job: _Job) -> Trial:
    brief = Brief(text=job.request.text, embodiment=job.request.robot, mode=job.mode, seed=job.seed)
    started = time.perf_counter()
    try:
        made = forge(brief, budget=job.budget, lessons=job.lessons)
    except ForgeError as error:
        seconds = time.perf_counter() - started
        code = error.reasons.most_common(1)[0][0] if error.reasons else ""
        said = next((f.message for p in error.log for f in p.findings if f.code == code), "")
        return Trial(
            **_asked(job), success=False, seconds=round(seconds, 2), units=round(error.units, 1), proposals=len(error.log),
            edits=0, tries=_tries(error.log), reasons=dict(error.reasons.most_common()), example=said,
            outcomes=_outcomes(error.log),
        )  # fmt: skip
    except SmithError as error:
        return Trial(
            **_asked(job), success=False, seconds=round(time.perf_counter() - started, 2), units=0.0, proposals=0, edits=0,
            tries=0, error=error.what,
        )  # fmt: skip
    seconds = time.perf_counter() - started
    return Trial(
        **_asked(job), success=True, seconds=round(seconds, 2), units=round(made.units, 1), proposals=made.proposals,
        edits=made.edits, tries=_tries(made.log), distance=made.distance, skills=_skills(made), outcomes=_outcomes(made.log),
    )  # fmt: skip


def _asked(job: _Job) -> dict[str, Any]:
    return {"text": job.request.text, "mode": job.mode, "seed": job.seed, "lessons": job.lessons is not None}


def _tries(log: Iterable[Proposal]) -> int:
    return sum(step.kind is not None for proposal in log for step in proposal.steps)


def _outcomes(log: Iterable[Proposal]) -> tuple[dict[str, Any], ...]:
    return tuple(outcome.model_dump(mode="json") for proposal in log for outcome in proposal.outcomes())


def _skills(made: ForgeResult) -> int:
    world = World(made.scenario)
    world.restore(made.witness.states[0])
    return sum(step.skill != "navigate" for step in symbolic.plan(world, made.scenario.task.goal))


# ---------------------------------------------------------------------- sums


def summary(trials: Sequence[Trial]) -> dict[str, Any]:
    """How many were forged, and what those cost: means, and the median of seconds."""
    made = [t for t in trials if t.success]
    low, high = wilson(len(made), len(trials))
    numbers: dict[str, Any] = {
        "forged": len(made), "asked": len(trials), "rate": round(len(made) / len(trials), 4) if trials else None,
        "wilson": [round(low, 4), round(high, 4)],
    }  # fmt: skip
    if made:
        numbers |= {
            "edits": round(statistics.mean(t.edits for t in made), 2),
            "repairs_tried": round(statistics.mean(t.tries for t in made), 2),
            "proposals": round(statistics.mean(t.proposals for t in made), 2),
            "units": round(statistics.mean(t.units for t in made), 1),
            "seconds_median": round(statistics.median(t.seconds for t in made), 2),
            "seconds_mean": round(statistics.mean(t.seconds for t in made), 2),
            "skills": round(statistics.mean(t.skills for t in made), 2),
        }
        spent = sum(t.units for t in trials)
        numbers["units_per_certified"] = round(spent / len(made), 1)
        numbers["seconds_per_certified"] = round(sum(t.seconds for t in trials) / len(made), 2)
    return numbers


def table(report: dict[str, Any]) -> list[str]:
    """What `measure` gave, as lines for people: success by mode and horizon, then cost."""
    lines = [
        f"{'mode':<9}{'overall':>16}"
        + "".join(f"{h:>14}" for h in HORIZONS)
        + f"{'awkward':>14}{'edits':>7}{'units':>7}{'median s':>9}"
    ]
    for mode, numbers in report["modes"].items():
        cells = [numbers["overall"], *(numbers["horizon"][h] for h in HORIZONS), numbers["awkward"]]
        rates = [f"{c['forged']}/{c['asked']}" + (f" {100 * c['rate']:.0f} %" if c["asked"] else "") for c in cells]
        cost = [numbers["overall"].get(name, "-") for name in ("edits", "units", "seconds_median")]
        lines.append(
            f"{mode:<9}{rates[0]:>16}"
            + "".join(f"{r:>14}" for r in rates[1:])
            + "".join(f"{c:>{w}}" for c, w in zip(cost, (7, 7, 9), strict=True))
        )
    return lines


def _modes(trials: Sequence[Trial], known: dict[str, Request], modes: Sequence[Mode]) -> dict[str, Any]:
    table: dict[str, Any] = {}
    for mode in modes:
        mine = [t for t in trials if t.mode == mode]
        table[mode] = {
            "overall": summary(mine),
            "horizon": {h: summary([t for t in mine if known[t.text].horizon == h]) for h in HORIZONS},
            "awkward": summary([t for t in mine if known[t.text].awkward]),
            "ordinary": summary([t for t in mine if not known[t.text].awkward]),
        }
    report: dict[str, Any] = {"modes": table}
    if "joint" in table:
        joint = table["joint"]["overall"]["rate"] or 0.0
        report["gain"] = {
            m: round(100 * (joint - (table[m]["overall"]["rate"] or 0.0)), 1) for m in modes if m != "joint"
        }  # fmt: skip
        report["failures"] = _failures([t for t in trials if t.mode == "joint" and not t.success])
    return report


def _failures(trials: Sequence[Trial]) -> list[dict[str, Any]]:
    """The commonest reasons, with examples."""
    codes: Counter[str] = Counter()
    examples: dict[str, list[str]] = {}
    for trial in trials:
        code = next(iter(trial.reasons), "refused")
        codes[code] += 1
        examples.setdefault(code, []).append(f"{trial.text}: {trial.example or trial.error}")
    return [{"code": c, "trials": n, "examples": examples[c][:EXAMPLES]} for c, n in codes.most_common()]


def _lessons(trials: Sequence[Trial]) -> dict[str, Any]:
    """The second set with and without lessons, over the pairs in which both were forged."""
    plain = {(t.text, t.seed): t for t in trials if not t.lessons}
    wise = {(t.text, t.seed): t for t in trials if t.lessons}
    pairs = [(plain[k], wise[k]) for k in plain if plain[k].success and wise[k].success]
    report: dict[str, Any] = {"without": summary(list(plain.values())), "with": summary(list(wise.values())), "pairs": len(pairs)}
    if pairs:
        for name in ("edits", "tries", "units", "seconds"):
            before, after = (statistics.mean(float(getattr(pair[k], name)) for pair in pairs) for k in (0, 1))
            report[name] = {"without": round(before, 2), "with": round(after, 2)}
    return report
