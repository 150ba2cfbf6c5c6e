"""One file per critic, each holding a `CRITIC`. From cheap to dear, they find what is wrong with a scenario."""

from embodiedsmith.forge.critics.base import Context, Cost, Critic, Verdict, measured
from embodiedsmith.forge.critics.registry import critics, cures_of, review, with_cures

__all__ = ["Context", "Cost", "Critic", "Verdict", "critics", "cures_of", "measured", "review", "with_cures"]
