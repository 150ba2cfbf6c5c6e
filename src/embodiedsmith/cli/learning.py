"""`smith train`, `eval` and `spin`: policies from episodes, what they are worth, and the flywheel."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro

from embodiedsmith.cli.common import Command, Flag, Outcome, shown_counts
from embodiedsmith.cli.make import Working, resumable, usable_cores
from embodiedsmith.runtime.errors import UsageError

RunFolder = Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="RUN")]
PolicyFolder = Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="POLICY")]
Briefs = Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="BRIEF")]
PolicyKind = Literal["bc_mlp", "bc_transformer", "flow"]
SUITE_SUFFIX = ".txt"


@dataclass(frozen=True, kw_only=True)
class Train(Command):
    """A policy from a run's successful episodes.

    Example: smith train run --out policy
    """

    run_folder: RunFolder
    """The run's folder."""
    out: Path
    """The policy's folder; a training interrupted there goes on."""
    policy: PolicyKind = "bc_mlp"
    """Behaviour cloning by an MLP or a small transformer, or flow matching."""
    steps: int = 3000
    """Gradient steps."""
    batch_size: int = 512
    """Windows of actions a step."""
    learning_rate: float = 1e-3
    """Highest rate; it falls along a cosine to a hundredth."""
    action_space: str | None = None
    """What the policy speaks; deltas of the tool (and the base's velocity) when not given."""

    def run(self) -> Outcome:
        """Train."""
        from embodiedsmith.api.learning import train

        made = train(  # a training that is stopped goes on when the command is typed again, as Ctrl-C says
            self.run_folder, out=self.out, kind=self.policy, steps=self.steps, batch_size=self.batch_size,
            learning_rate=self.learning_rate, action_space=self.action_space, seed=self.seed, quiet=self.quiet,
        )  # fmt: skip
        told = [f"policy     {made['policy']}", f"episodes   {made['episodes']}, {made['moments']} moments"]
        return Outcome(text="\n".join([*told, f"loss       {made['loss']:.4g}"]), data=made)


@dataclass(frozen=True, kw_only=True)
class Eval(Working):
    """What a policy is worth on scenes and starts it was never trained on.

    Example: smith eval policy --brief "put the can in the basket" -n 100
    """

    policy: PolicyFolder
    """The policy's folder."""
    brief: str | None = None
    """What to forge held-out scenes of."""
    suite: Path | None = None
    """File of a frozen suite instead."""
    n: Annotated[int, tyro.conf.arg(name="episodes", aliases=("-n",))] = 100
    """Starts."""
    scenarios: int = 4
    """Different scenes."""
    embodiment: str = "panda"
    """The robot of the brief."""
    save: Path | None = None
    """Where to keep the suite, to evaluate other policies on the same starts."""

    def run(self) -> Outcome:
        """Evaluate."""
        from embodiedsmith.api.learning import evaluate

        found = evaluate(
            self.policy, suite_file=self.suite, brief=self.brief, n=self.n, scenarios=self.scenarios, seed=self.seed or 0,
            embodiment=self.embodiment, threads=usable_cores(), workers=self.processes, save=self.save,
        )  # fmt: skip
        lines = [f"success    {found.success} of {len(found.trials)} starts"]
        if found.failures:
            lines.append(f"failures   {shown_counts(found.failures)}")
        return Outcome(text="\n".join(lines), data=found.summary())


@dataclass(frozen=True, kw_only=True)
class Spin(Working):
    """The flywheel: explore, score, filter, train, schedule difficulty, again and again, without a person.

    Example: smith spin "put the can in the basket" --out run
    """

    brief: Briefs
    """What is to be learnt; or a .txt file with a brief a line, which one network learns together."""
    out: Path
    """The run's folder; new or empty."""
    embodiment: str = "panda"
    """Which robot."""
    rounds: int = 28
    """Rounds after the cold start."""
    scenarios: int = 24
    """Scenarios forged for each task."""
    demonstrations: int = 96
    """Demonstrations a task begins with."""
    rollouts: int = 48
    """Attempts of the policy a task and round."""
    expert: Literal["none", "plain", "handoff", "failures"] = "handoff"
    """Where the demonstrator helps after the cold start: nowhere, with demonstrations as before, by finishing what the policy
    began, or from the starts at which it failed."""
    experts: int = 64
    """Its successful episodes a task and round."""
    policy: PolicyKind = "bc_mlp"
    """Kind of the policy."""
    curriculum: Literal["success", "entropy", "none"] = "none"
    """What schedules difficulty; `none`: every round at the highest level."""
    profile: Literal["benchmark", "real_robot"] = "benchmark"
    """What quality is made of."""
    population: int = 1
    """Policies that explore at neighbouring levels."""
    real: Path | None = None
    """Folder of a LeRobot dataset of real episodes to mix in, one to ten, through the same filter."""
    settings: tuple[str, ...] = ()
    """More settings, as name=value: see docs/flywheel.md."""
    budget: float = 300.0
    """What forging one scenario may cost: simulated seconds and plans."""
    no_videos: Flag = False
    """Do not film the best and the worst episode of every round."""

    def run(self) -> Outcome:
        """Spin."""
        from embodiedsmith.api.learning import spin

        named: dict[str, Any] = {
            name: getattr(self, name)
            for name in (
                "rounds", "scenarios", "demonstrations", "rollouts", "expert", "experts", "policy", "curriculum", "profile",
                "population",
            )
        }  # fmt: skip
        named["real"] = None if self.real is None else str(self.real.absolute())
        named["videos"] = not self.no_videos
        named |= _pairs(self.settings)
        with resumable(self.out):
            made = spin(
                _briefs(self.brief), out=self.out, seed=self.seed or 0, embodiment=self.embodiment, budget=self.budget,
                threads=usable_cores(), workers=self.processes, quiet=self.quiet, **named,
            )  # fmt: skip
        return Outcome(text=shown(made), data=made)


def shown(made: dict[str, Any]) -> str:
    """The result of a flywheel for people."""
    lines = []
    for task, entry in made["tasks"].items():
        first, last = entry["initial_success"], entry["final_success"]
        lines.append(
            f"{task}: success {100 * first['value']:.0f} % ({100 * first['low']:.0f} to {100 * first['high']:.0f}) -> "
            f"{100 * last['value']:.0f} % ({100 * last['low']:.0f} to {100 * last['high']:.0f}) "
            f"on {entry['trials']} held-out starts, level {entry['final_level']}"
        )
    lines.append(f"kept       {made['kept']} episodes in {made['rounds']} rounds")
    lines += [f"policy     {made['policy']}", f"page       {made['page']}"]
    return "\n".join([*lines, *(f"alarm      {text}" for text in made["alarms"])])


def _briefs(given: str) -> list[str]:
    path = Path(given)
    if path.suffix != SUITE_SUFFIX:
        return [given]
    if not path.is_file():
        raise UsageError(f"there is no file {given}", where="brief", remedy="give a sentence, or a .txt file with one a line")
    return [line.strip() for line in path.read_text("utf-8").splitlines() if line.strip() and not line.startswith("#")]


def _pairs(given: tuple[str, ...]) -> dict[str, Any]:
    pairs: dict[str, Any] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals:
            raise UsageError(f"'{text}' is not name=value", where="settings")
        try:
            pairs[name] = json.loads(value)
        except json.JSONDecodeError:  # a word
            pairs[name] = value
    return pairs
