"""`smith bench`: numbers anyone can measure again."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Annotated, Literal

import tyro
from tyro.conf import Positional

from embodiedsmith.cli.common import Command, Outcome


@dataclass(frozen=True, kw_only=True)
class Bench(Command):
    """Run a benchmark; `speed` measures steps, episodes, frames and memory on one core of this machine."""

    name: Positional[Literal["speed"]]
    """Which benchmark."""
    n: Annotated[int, tyro.conf.arg(name="episodes", aliases=("-n",))] = 30
    """Accepted episodes to measure each rate over."""

    def run(self) -> Outcome:
        """Measure."""
        from embodiedsmith.bench import speed

        def say(text: str) -> None:
            if not self.quiet:
                print(text, file=sys.stderr, flush=True)

        numbers = speed.measure(episodes=self.n, seed=self.seed or 0, say=say).to_json()
        width = max(len(name) for name in numbers)
        return Outcome(text="\n".join(f"{name:<{width}}  {value:g}" for name, value in numbers.items()), data=numbers)
