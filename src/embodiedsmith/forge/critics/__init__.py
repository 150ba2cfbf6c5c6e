"""One file per critic, each holding a `CRITIC`. From cheap to dear, they find what is wrong with a scenario."""

from embodiedsmith.forge.critics.base import Context, Cost, Critic, Verdict, measured
from embodiedsmith.forge.critics.registry import critics, review

__all__ = ["Context", "Cost", "Critic", "Verdict", "critics", "measured", "review"]
