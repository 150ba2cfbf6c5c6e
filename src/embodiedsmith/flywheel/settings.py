"""What one spin of the flywheel is: how many rounds, how much of what in each, and which parts of the loop are on."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from embodiedsmith.flywheel.levels import LEVELS
from embodiedsmith.spec import Noun

Expert = Literal["none", "plain", "handoff", "failures"]
"""Where the demonstrator helps after the cold start: nowhere; demonstrations of the same scenarios; finishing what the policy
began; demonstrations from the starts at which the policy failed."""
Filter = Literal["adaptive", "fixed", "none"]
Scheduler = Literal["success", "entropy", "none"]


class FlywheelSettings(Noun):
    """How a flywheel spins. The defaults are what `smith bench flywheel` found to pay; see docs/flywheel.md."""

    rounds: int = Field(default=28, ge=0)
    scenarios: int = Field(default=24, ge=1)
    """Scenarios a task is forged to, each at every level it reaches."""
    demonstrations: int = Field(default=96, ge=1)
    """Successful demonstrations a task begins with, at its first level."""
    rollouts: int = Field(default=48, ge=0)
    """Attempts of the policy a task and round."""
    noise: float = Field(default=0.3, ge=0.0, le=2.0)
    """Exploration noise of half of them, in parts of the noise that `learn.rollout` calls 1."""
    expert: Expert = "handoff"
    pushes: float = Field(default=1.0, ge=0.0, le=3.0)
    """How far the demonstrator is led astray now and then, to show how to find back, in parts of `motion.Pushes`; 0: never."""
    experts: int = Field(default=64, ge=0)
    """Successful episodes of the demonstrator a task and round, unless `expert` is none."""
    requests: int = Field(default=1, ge=0)
    """Scenarios that a task and round asks the forge for, like those that fail or for what no episode has covered."""
    most_scenarios: int = Field(default=48, ge=1)
    """Scenarios of a task at most, those that were asked for included."""
    new_data: bool = True
    """Whether rounds collect at all; without it they only train."""

    filter: Filter = "adaptive"
    profile: str = "benchmark"
    """How the parts of quality are weighted: see `evaluate.quality`."""
    robustness: int | None = Field(default=None, ge=0, le=64)
    """Perturbed repeats of each success of the policy, for that part of its quality; 0: it is left out. None: 4 when the profile
    is that of a real robot, else 0, for repeats cost what the physics in them costs."""
    curriculum: Scheduler = "none"
    """What sets the level of the rounds; none: they are all at the highest."""
    start_level: int = Field(default=1, ge=1, le=LEVELS)
    replay: bool = True
    """Whether a round trains on what earlier ones kept, too."""
    real: str | None = None
    """Folder of a dataset of real episodes, mixed in at one of ten through the same filter."""

    policy: Literal["bc_mlp", "bc_transformer", "flow"] = "bc_mlp"
    width: int = Field(default=256, ge=8)
    depth: int = Field(default=4, ge=1)
    population: int = Field(default=1, ge=1, le=8)
    """Policies that explore, at neighbouring levels; the best of a round is what the next one goes on from."""
    cold_steps: int = Field(default=3000, ge=1)
    """Gradient steps of the cold start, and of a retraining."""
    round_steps: int = Field(default=800, ge=0)
    """Gradient steps of a fine-tuning."""
    shrink: float = Field(default=0.5, gt=0.0, le=1.0)
    """Part of the last weights that a fine-tuning begins with; the rest is drawn anew, and so is the scale of what is seen. 1: it
    goes on from the last weights as they are."""
    fresh: float = Field(default=0.0, ge=0.0, le=1.0)
    """Part of a fine-tuning's simulated windows that is of the round's own episodes, apart from what is drawn of all."""
    retrain_every: int = Field(default=5, ge=0)
    """Every how many rounds the policy is trained from scratch on everything kept, and in the last one; 0: never."""
    batch_size: int = Field(default=512, ge=1)
    learning_rate: float = Field(default=1e-3, gt=0.0)
    """Of a fine-tuning, highest: 3e-4 is for `shrink` 1."""
    final_learning_rate: float = Field(default=1e-5, ge=0.0)
    cold_learning_rate: float = Field(default=1e-3, gt=0.0)
    distillation: float = Field(default=0.1, ge=0.0)
    """Weight of staying near the previous policy on old data; 0: off."""

    evaluations: int = Field(default=48, ge=1)
    """Attempts on the held-out suite after a round, a task."""
    final_evaluations: int = Field(default=300, ge=1)
    """The same at the beginning and at the end."""
    forgetting: int = Field(default=12, ge=0)
    """Attempts on each earlier level after a round, a task."""
    held_out: int = Field(default=6, ge=1)
    """Scenarios of the held-out suite, a task, never trained on."""
    videos: bool = True
    """Whether to film the best and the worst episode of every round."""
    time_limit: float = Field(default=2.0, ge=1.0)
    """An attempt of the policy may take so many times as long as the demonstration that certified the scenario."""

    @property
    def repeats(self) -> int:
        """Perturbed repeats of each success."""
        if self.robustness is not None:
            return self.robustness
        return 4 if self.profile == "real_robot" else 0
