"""Agents: they turn a brief into a draft of a scenario."""

from __future__ import annotations

from embodiedsmith.forge.agents.agent import Agent, Case, Draft, Repair
from embodiedsmith.forge.agents.rule import RuleAgent
from embodiedsmith.runtime.errors import unknown_name

__all__ = ["Agent", "Case", "Draft", "Repair", "RuleAgent", "get", "names"]

_AGENTS: dict[str, type[RuleAgent]] = {RuleAgent.name: RuleAgent}


def names() -> tuple[str, ...]:
    """Names of the agents there are."""
    return tuple(_AGENTS)


def get(name: str) -> Agent:
    """The agent of that name; raises `UsageError` naming those there are."""
    if name not in _AGENTS:
        raise unknown_name("agent", name, _AGENTS)
    return _AGENTS[name]()
