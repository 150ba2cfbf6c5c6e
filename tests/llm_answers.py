"""Answers as a model writes them, and models that say what a test wants."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from embodiedsmith.forge.agents.llm import Settings

SETTINGS = Settings(model="scripted:x", tries=3, seconds=30.0)


def item(id: str, category: str | None = None, **more: Any) -> dict[str, Any]:
    usual = {
        "id": id, "category": category or id, "color": None, "material": None, "size": "medium", "parts": None, "parent": None,
        "relation": "on", "part": None, "joints": [], "said": ["category"],
    }  # fmt: skip
    return {**usual, **more}


def clause(predicate: str, *args: str, holds: bool = True, **numbers: float) -> dict[str, Any]:
    given = [{"name": name, "value": value} for name, value in numbers.items()]
    return {"predicate": predicate, "args": list(args), "numbers": given, "holds": holds}


def plan(items: list[dict[str, Any]], *parts: dict[str, Any], how: str = "all", **more: Any) -> dict[str, Any]:
    usual = {
        "setting": None, "robot": None, "items": items, "start": [], "goal": {"how": how, "parts": list(parts)}, "at_least": 0,
        "absent": [], "counted": [],
    }  # fmt: skip
    return {"understood": "as asked", "problems": [], "plan": {**usual, **more}}


def refusal(kind: str, words: str, why: str = "there is none") -> dict[str, Any]:
    return {"understood": "cannot", "problems": [{"kind": kind, "words": words, "why": why}], "plan": None}


STACK = plan(
    [
        item("block_1", "block", color="blue", said=["category", "color"]),
        item("block_2", "block", color="green", said=["category", "color"]),
    ],
    clause("on", "block_1", "block_2"),
)
"""What "stack the blue block on the green block" means."""


class Model:
    """A model that gives the answers of a script in turn, the last one for ever, and remembers what it was told."""

    def __init__(self, *script: Any) -> None:
        self.script = list(script)
        self.heard: list[list[ModelMessage]] = []
        self.settings: list[Any] = []

    def __call__(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        self.heard.append(list(messages))
        self.settings.append(info.model_settings)
        said = self.script[min(len(self.heard), len(self.script)) - 1]
        return ModelResponse(parts=[TextPart(said if isinstance(said, str) else json.dumps(said, ensure_ascii=False))])

    @property
    def last(self) -> str:
        """The last thing it was told."""
        return str(self.heard[-1][-1].parts[-1].content)  # type: ignore[union-attr]

    @property
    def model(self) -> FunctionModel:
        """To ask."""
        answer: Callable[[list[ModelMessage], AgentInfo], ModelResponse] = self.__call__
        return FunctionModel(answer, model_name="scripted")
