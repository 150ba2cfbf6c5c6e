"""Agents: they turn a brief into a draft of a scenario."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from embodiedsmith.forge.agents.agent import Agent, Case, Draft, Repair
from embodiedsmith.forge.agents.rule import RuleAgent
from embodiedsmith.runtime.errors import unknown_name

__all__ = ["Agent", "Case", "Draft", "Repair", "RuleAgent", "get", "names"]


def _rule(log: Path | None) -> Agent:
    return RuleAgent()


def _llm(log: Path | None) -> Agent:
    from embodiedsmith.forge.agents.llm import LLMAgent, Settings

    # What a run asked before is not asked again: going on with it gives the same bits.
    return LLMAgent(Settings.from_environment(), log=log, replay=log)


_AGENTS: dict[str, Callable[[Path | None], Agent]] = {RuleAgent.name: _rule, "llm": _llm}


def names() -> tuple[str, ...]:
    """Names of the agents there are."""
    return tuple(_AGENTS)


def get(name: str, *, log: Path | None = None) -> Agent:
    """The agent of that name.

    Args:
        name: One of `names()`.
        log: Folder in which an agent that talks to a language model writes down what was said, and reads what was said before.

    Raises:
        UsageError: unknown name (says which there are); a language model is not set or what it needs is not installed.
    """
    if name not in _AGENTS:
        raise unknown_name("agent", name, _AGENTS)
    return _AGENTS[name](log)
