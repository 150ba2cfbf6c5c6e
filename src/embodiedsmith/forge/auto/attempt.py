"""One target of autonomous mode: plots for its cell, each forged, until a scenario is released."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from embodiedsmith.forge.auto.agent import AutoAgent
from embodiedsmith.forge.auto.archive import Archive
from embodiedsmith.forge.auto.cells import Cell
from embodiedsmith.forge.auto.compose import NoPlot, compose
from embodiedsmith.forge.critics import critics
from embodiedsmith.forge.critics.novelty import NoveltyCritic
from embodiedsmith.forge.lessons import Lessons
from embodiedsmith.forge.log import Proposal
from embodiedsmith.forge.loop import BUDGET, ForgeError, ForgeResult, forge
from embodiedsmith.runtime.seeds import generator
from embodiedsmith.tasks.recording import Event

PLOTS = 6
"""Goals tried at most for one cell."""
PATIENCE = 15.0
"""What repairing and drawing one goal again may cost before another is thought of [simulated seconds and plans]: that a goal can
be done mostly shows at the first or second proposal, and proposals without a place for everything cost the most time."""
DRIVING = "navigate"
"""The skill that does not count towards the horizon: how often a robot drives depends on where it stands."""


def forge_cell(
    cell: Cell, *, seed: int, index: int, archive: Archive, budget: float = BUDGET, lessons: Lessons | None = None
) -> ForgeResult:
    """Forge a scenario for a cell: up to `PLOTS` goals are thought of, each proposed, judged and repaired for `PATIENCE` units.

    What comes out may lie in another cell, for a repair may change robot or goal and the horizon is what the witness took.

    Args:
        cell: What it should be.
        seed: Run seed.
        index: Which scenario of the run; every draw comes from the seed and it.
        archive: What there is already: rare categories are rather taken, near-duplicates refused.
        budget: What it may cost in all [simulated seconds and plans].
        lessons: What was learnt before; None: nothing.

    Raises:
        ForgeError: No scenario passed; the log is of all goals, and empty when none was found.
    """
    among = [NoveltyCritic(archive) if critic.name == NoveltyCritic.name else critic for critic in critics()]
    failed: list[ForgeError] = []
    for number in range(PLOTS):
        left = budget - sum(error.units for error in failed)
        if left <= 0:
            break
        try:
            plot = compose(cell, generator(seed, "auto", index, number), archive.used)
        except NoPlot:
            continue
        agent = AutoAgent(plot, keep_robot=len(archive.robots) == 1)
        brief = agent.brief(seed)
        try:
            share = min(left, PATIENCE)
            made = forge(brief, seed=seed, index=index, budget=share, agent=agent, lessons=lessons, among=among)
        except ForgeError as error:
            failed.append(error)
            continue
        log, units = _joined([error.log for error in failed] + [made.log]), sum(error.units for error in failed) + made.units
        return replace(made, log=log, units=units, cost=_summed([error.cost for error in failed] + [made.cost]))
    raise ForgeError(
        _joined([error.log for error in failed]),
        _summed([error.cost for error in failed]),
        units=sum(error.units for error in failed),
    )


def horizon(events: Iterable[Event]) -> int:
    """Skills that a demonstration with these events took, driving apart; what was done again after a slip counts once."""
    done = {event.text for event in events if event.kind == "skill_done"}
    return sum(not text.startswith(f"{DRIVING}(") for text in done)


def _joined(logs: Sequence[tuple[Proposal, ...]]) -> tuple[Proposal, ...]:
    """Logs one after the other, numbered through."""
    proposals = [proposal for log in logs for proposal in log]
    return tuple(replace(proposal, number=k + 1) for k, proposal in enumerate(proposals))


def _summed(costs: Sequence[dict[str, float]]) -> dict[str, float]:
    return {name: sum(cost.get(name, 0.0) for cost in costs) for name in dict.fromkeys(n for cost in costs for n in cost)}
