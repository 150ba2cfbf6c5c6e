"""`smith bench`: numbers anyone can measure again."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import tyro
from tyro.conf import Positional

from embodiedsmith.cli.common import Command, Outcome
from embodiedsmith.spec.scenario import AgentName, Mode


@dataclass(frozen=True, kw_only=True)
class Bench(Command):
    """Run a benchmark: `speed` measures steps, episodes, frames and memory on one core of this machine; `briefs` tries
    everyday sentences over many seeds and counts which give verified demonstrations, `bodies` sentences for every embodiment
    and kind of matter; `feet` lets the humanoid on its own feet pick and place, and watches its balance; `hand` lets the
    many-fingered hand hold things while it is shaken, turn a cube in it, and turn knobs and taps; `handover` has one arm hand
    things to the other, both mistaken about where they are; `liquid` shakes and turns over a closed cup, and pours; `scenes`
    watches whether scenes of autonomous mode stay at rest; `language` asks an agent fixed requests in English and Chinese and
    counts which it understands; `forge` forges fixed requests of one to many skills in every mode at equal budget, then
    measures what lessons are worth; `diversity` trains policies on equally many demonstrations of one to many scenarios;
    `flywheel` spins tasks with one part of the loop changed at a time, from one cold start at equal gradient steps; `rollout`
    measures how much of the speed of raw batched physics is left with a policy in the loop."""

    name: Positional[
        Literal[
            "speed", "briefs", "bodies", "feet", "hand", "handover", "liquid", "scenes", "language", "forge", "diversity",
            "flywheel", "rollout",
        ]
    ]  # fmt: skip
    """Which benchmark."""
    n: Annotated[int | None, tyro.conf.arg(name="episodes", aliases=("-n",))] = None
    """`speed`: accepted episodes to measure each rate over (30). `briefs`, `bodies`: seeds a sentence (10). `scenes`: scenes
    forged (300). `feet`: tasks (30). `hand`: attempts of each deed (20). `handover`: starts a shape (34). `liquid`: pours of
    each kind (5). `forge`: seeds a request (3). `diversity`, `flywheel`: training seeds (3). `rollout`: turns (3)."""
    workers: int = 1
    """`briefs`, `bodies`, `scenes`, `forge`, `diversity`, `flywheel`: processes that forge. `flywheel`, `rollout`:
    threads that step worlds."""
    only: str | None = None
    """`bodies`: the one embodiment or kind of matter to try. `handover`: the one thing to hand over. `flywheel`, `rollout`: the
    one task (clutter, drawer, stack, fridge)."""
    watched: Annotated[Path | None, tyro.conf.arg(name="run")] = None
    """`scenes`: folder of a run whose scenes are watched instead."""
    agent: AgentName = "rule"
    """`language`: who is asked."""
    modes: tuple[Mode, ...] = ("none", "resample", "scene", "task", "joint")
    """`forge`: which modes."""
    arms: tuple[str, ...] | None = None
    """`flywheel`: which arms (all)."""
    budget: float = 300.0
    """`forge`: what one forging may cost: simulated seconds and plans."""
    out: Path | None = None
    """`briefs`, `bodies`, `forge`, `diversity`, `flywheel`: folder that keeps every trial; a second call with it goes on where
    the first stopped."""

    def run(self) -> Outcome:
        """Measure."""
        from embodiedsmith.bench import bodies, briefs, forge, language, scenes, speed

        def say(text: str) -> None:
            if not self.quiet:
                print(text, file=sys.stderr, flush=True)

        if self.name == "briefs":
            found = briefs.measure(seeds=self.n or 10, workers=self.workers, folder=self.out, say=say)
            return Outcome(text="\n".join(found["table"]), data=found)
        if self.name == "bodies":
            found = bodies.measure(seeds=self.n or 10, only=self.only, workers=self.workers, folder=self.out, say=say)
            return Outcome(text="\n".join(found["table"]), data=found)
        if self.name == "feet":
            from embodiedsmith.bench import feet

            found = feet.measure(n=self.n or 30, seed=self.seed or 0, say=say)
            return Outcome(text="\n".join(feet.lines(found)), data=found)
        if self.name == "hand":
            from embodiedsmith.bench import hand

            found = hand.measure(n=self.n or 20, seed=self.seed or 0, say=say)
            return Outcome(text="\n".join(hand.lines(found)), data=found)
        if self.name == "handover":
            from embodiedsmith.bench import handover

            shapes = (self.only,) if self.only else handover.SHAPES
            found = handover.measure(n=self.n or 34, shapes=shapes, seed=self.seed or 0, say=say)
            return Outcome(text="\n".join(handover.lines(found)), data=found)
        if self.name == "liquid":
            from embodiedsmith.bench import liquid

            found = liquid.measure(pours=self.n or 5, seed=self.seed or 0, say=say)
            return Outcome(text="\n".join(liquid.table(found)), data=found)
        if self.name == "language":
            found = language.measure(agent=self.agent, seed=self.seed or 0, say=say)
            return Outcome(text=f"{found['correct']} of {found['asked']} requests understood or rightly refused", data=found)
        if self.name == "scenes":
            found = scenes.measure(n=self.n or 300, seed=self.seed or 0, run=self.watched, workers=self.workers, say=say)
            return Outcome(text=f"{found['at_rest']} of {found['scenes']} scenes at rest", data=found)
        if self.name == "forge":
            found = forge.measure(
                seeds=self.n or forge.SEEDS, modes=self.modes, budget=self.budget, workers=self.workers, folder=self.out, say=say
            )
            return Outcome(text="\n".join(forge.table(found)), data=found)
        if self.name == "diversity":
            from embodiedsmith.bench import diversity  # takes torch, which is an extra

            config = diversity.DiversityConfig(seeds=self.n or 3)
            found = diversity.measure(config, workers=self.workers, folder=self.out, say=say)
            return Outcome(text="\n".join(diversity.table(found)), data=found)
        if self.name == "flywheel":
            from embodiedsmith.bench import flywheel
            from embodiedsmith.bench.flywheel_arms import ARMS

            spun = flywheel.BenchConfig(tasks=flywheel.chosen(self.only), arms=self.arms or tuple(ARMS), seeds=self.n or 3)
            found = flywheel.measure(spun, workers=self.workers, folder=self.out, say=say)
            return Outcome(text="\n".join(found["lines"]), data=found)
        if self.name == "rollout":
            from embodiedsmith.bench import flywheel, rollout

            tasks = flywheel.chosen(self.only)
            found = rollout.measure(tasks, threads=self.workers, repeats=self.n or rollout.REPEATS, seed=self.seed or 0, say=say)
            return Outcome(text="\n".join(rollout.table(found)), data=found)
        numbers = speed.measure(episodes=self.n or 30, seed=self.seed or 0, say=say).to_json()
        width = max(len(name) for name in numbers)
        return Outcome(text="\n".join(f"{name:<{width}}  {value:g}" for name, value in numbers.items()), data=numbers)
