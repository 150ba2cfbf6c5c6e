"""The language-model agent, its prompts, its caps and its log."""

from embodiedsmith.forge.agents.llm.agent import LLMAgent
from embodiedsmith.forge.agents.llm.errors import LLMError, NoAnswer, TooLong, Unreachable
from embodiedsmith.forge.agents.llm.settings import Settings

__all__ = ["LLMAgent", "LLMError", "NoAnswer", "Settings", "TooLong", "Unreachable"]
