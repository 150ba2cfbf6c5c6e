"""The verbs of learning: `train` a policy on a run's episodes, `evaluate` it on starts it never saw, `spin` the flywheel.

They need the extra `learn` (torch, safetensors).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from embodiedsmith import embodiments
from embodiedsmith.api.arguments import brief_of, check_numbers, create_understood, given, heed_versions
from embodiedsmith.embodiments.actions import ActionSpace
from embodiedsmith.episodes.store import EpisodeStore
from embodiedsmith.evaluate.evaluation import Evaluation
from embodiedsmith.evaluate.evaluation import evaluate as evaluate_on
from embodiedsmith.evaluate.suites import Suite, forge_held_out, suite
from embodiedsmith.flywheel.settings import FlywheelSettings
from embodiedsmith.flywheel.spin import configuration
from embodiedsmith.flywheel.spin import spin as spin_run
from embodiedsmith.forge import BUDGET
from embodiedsmith.learn.observation import Encoder, ObservationConfig
from embodiedsmith.learn.policy import Kind, Policy, PolicyConfig
from embodiedsmith.learn.samples import default_space, encode_stretches
from embodiedsmith.learn.sources import EpisodesSource
from embodiedsmith.learn.training import TrainConfig
from embodiedsmith.learn.training import train as train_policy
from embodiedsmith.motion import PUSHED
from embodiedsmith.runtime.errors import UsageError
from embodiedsmith.runtime.files import write_json
from embodiedsmith.runtime.run import Run
from embodiedsmith.spec.scenario import AgentName
from embodiedsmith.world import CONTROL_HZ

CURVES = "curves.json"
CHECKPOINT = "training"


def train(
    run: str | Path,
    *,
    out: str | Path,
    kind: Kind = "bc_mlp",
    steps: int = 3000,
    batch_size: int = 512,
    learning_rate: float = 1e-3,
    action_space: str | None = None,
    seed: int | None = None,
    quiet: bool = True,
) -> dict[str, Any]:
    """A policy from a run's successful episodes, in the folder `out`: `policy.json`, its weights, `curves.json`.

    Called again with equal arguments after it was interrupted, it goes on where it stopped, to the same bits.

    Args:
        run: The run's folder.
        out: The policy's folder.
        kind: Behaviour cloning by an MLP or a small transformer, or flow matching.
        steps: Gradient steps.
        batch_size: Windows a step.
        learning_rate: Highest rate, from which it falls along a cosine to a hundredth.
        action_space: What the policy speaks (`embodiments.actions.SPACES`); None: deltas of the tool, and the base's velocity.
        seed: Of weights and batches; None: the run's.
        quiet: No progress.

    Raises:
        UsageError: the run has no successful episode, or arguments cannot be meant.
    """
    with Run.open(run) as opened:
        store = EpisodeStore(opened)
        rows = store.rows(outcome="success")
        if not rows:
            raise UsageError(
                "there is no successful episode to learn from", where=str(run), remedy=f"`smith collect {run} -n 50` makes some"
            )
        scenarios = {identity: store.scenario(identity) for identity in sorted({row.scenario_id for row in rows})}
        observation = ObservationConfig.covering(scenarios.values())
        space = action_space or default_space(observation.vehicle)
        tongues = {
            i: (Encoder(s, observation), ActionSpace(embodiments.get(s.embodiment.name), space, 1.0 / CONTROL_HZ))
            for i, s in scenarios.items()
        }
        episodes = [part for row in rows for part in encode_stretches(*tongues[row.scenario_id], store.load(row), (PUSHED,))]
        run_seed = opened.seed if seed is None else seed
    encoder, said = next(iter(tongues.values()))
    config = PolicyConfig(kind=kind, action_space=space, observation=observation)
    policy = Policy.create(config, encoder.names, said.names, seed=run_seed)
    how = TrainConfig(
        steps=steps, batch_size=batch_size, lr=learning_rate, lr_final=learning_rate / 100, distill_weight=0.0, seed=run_seed
    )
    source = EpisodesSource(episodes, said.names, config.chunk)
    curves = train_policy(policy, source, how, folder=Path(out) / CHECKPOINT, progress=None if quiet else _say(steps))
    policy.save(Path(out))
    write_json(Path(out) / CURVES, curves.to_json())
    return {
        "policy": str(out), "episodes": len(rows), "moments": sum(len(e.features) for e in episodes), "steps": steps,
        "parameters": policy.size, "loss": curves.loss[-1],
    }  # fmt: skip


def evaluate(
    policy: str | Path,
    *,
    suite_file: str | Path | None = None,
    brief: str | None = None,
    n: int = 100,
    scenarios: int = 4,
    seed: int = 0,
    embodiment: str = "panda",
    threads: int = 1,
    workers: int = 1,
    save: str | Path | None = None,
) -> Evaluation:
    """What a policy is worth on starts that no training draws.

    Args:
        policy: Its folder.
        suite_file: A frozen suite, as `save` writes one; or
        brief: what to forge one from: `scenarios` scenes with seeds of evaluation's own range, `n` starts in all.
        n: Starts.
        scenarios: Different scenes.
        seed: From which the suite's seeds are derived.
        embodiment: The robot of a brief.
        threads: Threads that step worlds.
        workers: Processes that forge.
        save: Where to keep the suite that was made.

    Raises:
        UsageError: neither or both of `suite_file` and `brief` are given.
        CheckpointError: the policy's folder is damaged or holds none.
    """
    if (suite_file is None) == (brief is None):
        raise UsageError("say what to evaluate on: a suite's file, or a brief to forge one from")
    acting = Policy.load(Path(policy))
    if suite_file is not None:
        tested = Suite.load(Path(suite_file))
    else:
        check_numbers(n=n, scenarios=scenarios, workers=workers)
        asked = brief_of(str(brief), embodiment, "rule", "joint", seed)
        made = forge_held_out(asked, scenarios, workers=workers)
        tested = suite(asked.text, {None: made}, max(1, -(-n // len(made))), seed)
    if save is not None:
        tested.save(Path(save))
    return evaluate_on(acting, tested, threads=threads)


def spin(
    briefs: str | Sequence[str],
    *,
    out: str | Path,
    seed: int = 0,
    embodiment: str = "panda",
    agent: AgentName = "rule",
    budget: float = BUDGET,
    threads: int = 1,
    workers: int = 1,
    quiet: bool = True,
    **settings: Any,
) -> dict[str, Any]:
    """Spin the flywheel: from briefs to a policy that gets better round by round, and the episodes that made it so.

    Args:
        briefs: One task, or several that one network learns.
        out: The run's folder; new or empty.
        seed: Of every random draw.
        embodiment: The robot.
        agent: Who proposes scenarios.
        budget: What forging one scenario may cost: simulated seconds and plans.
        threads: Threads that step worlds. The result does not depend on it.
        workers: Processes that forge and demonstrate; neither on these.
        quiet: No progress.
        settings: Fields of `FlywheelSettings`.

    Returns:
        `rounds`, `initial_success`, `final_success`, `final_level`, `level1_success` (means over tasks), `kept`, `alarms`, and
        more by task.

    Raises:
        UsageError: arguments cannot be meant, all at once.
        NotUnderstood: words of a brief are unknown; nothing was written.
    """
    texts = [briefs] if isinstance(briefs, str) else list(briefs)
    check_numbers(workers=workers, budget=budget)
    chosen = settings_of(settings)
    asked = [brief_of(text, embodiment, agent, "joint", seed) for text in texts]
    if not asked:
        raise UsageError("there is no brief", remedy='say what is to be learnt: smith spin "put the can in the basket" --out RUN')
    config = configuration(asked, chosen, budget)
    with create_understood(out, config, asked, quiet=quiet) as run:
        return spin_run(run, threads=threads, workers=workers, quiet=quiet)


def resume_spin(
    run: str | Path,
    *,
    threads: int = 1,
    workers: int = 1,
    seed: int | None = None,
    embodiment: str | None = None,
    quiet: bool = True,
) -> dict[str, Any]:
    """Finish a flywheel that was interrupted: the result is the same as if it had not been.

    Raises:
        RunMismatchError: a setting given is not the run's; nothing on disk changed.
    """
    robot = None if embodiment is None else embodiments.full_name(embodiment)
    with Run.open(run, given(seed=seed, embodiment=robot), write=True) as opened:
        heed_versions(opened, quiet)
        return spin_run(opened, threads=threads, workers=workers, quiet=quiet)


def settings_of(named: Mapping[str, Any]) -> FlywheelSettings:
    """Settings by name; raises UsageError naming every fault."""
    try:
        return FlywheelSettings(**named)
    except ValidationError as error:
        faults = [f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in error.errors()]
        raise UsageError("these settings cannot be used", faults=faults, choices=FlywheelSettings.model_fields) from error


def _say(steps: int) -> Callable[[int, float], None]:
    def said(step: int, loss: float) -> None:
        print(f"step {step}/{steps}, loss {loss:.4g}", file=sys.stderr, flush=True)

    return said
