"""The record of what was asked and answered: one file a question, to look into and to repeat a run from."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from embodiedsmith.runtime.files import storage_errors, write_atomic
from embodiedsmith.spec.base import digest

MOST_TEXT = 200_000
"""Characters kept of one message."""


@dataclass(frozen=True, kw_only=True)
class Question:
    """One question to a model: what makes its answer, but for the model itself."""

    prompt: str
    """Name and version of the prompt."""
    instructions: str
    request: str
    seed: int

    @property
    def key(self) -> str:
        """Equal questions have equal keys, in any process and run."""
        return digest([self.prompt, self.instructions, self.request, self.seed])

    @property
    def file(self) -> str:
        """Name of its file in a log."""
        return f"exchange-{self.key}.jsonl"


@dataclass(frozen=True, kw_only=True)
class Message:
    """One message of an exchange."""

    role: str
    """`request`, `correction` or `answer`."""
    text: str
    seconds: float | None = None
    """How long the answer took [s]."""
    input_tokens: int | None = None
    output_tokens: int | None = None
    model: str | None = None
    """The model's name as the endpoint gives it."""


class Log:
    """A folder of exchanges: lines of JSON, first the question, then the messages, last what came of it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(
        self,
        question: Question,
        messages: list[Message],
        *,
        model: str,
        endpoint: str,
        answer: str | None,
        error: Mapping[str, Any] | None,
        seconds: float,
        secret: str = "",
    ) -> None:
        """Write one exchange, whole or not at all. `secret` is blotted out wherever it stands; raises `StorageError`."""
        first = {
            "kind": "question", "prompt": question.prompt, "model": model, "endpoint": endpoint, "seed": question.seed,
            "instructions": question.instructions, "request": question.request,
        }  # fmt: skip
        lines: list[dict[str, Any]] = [first]
        for message in messages:
            facts = {k: v for k, v in vars(message).items() if v is not None and k not in ("role", "text")}
            lines.append({"kind": message.role, **facts, "text": message.text[:MOST_TEXT]})
        lines.append({"kind": "outcome", "answer": answer, "error": error, "seconds": round(seconds, 3)})
        text = "".join(json.dumps(_blotted(line, secret), ensure_ascii=False) + "\n" for line in lines)
        with storage_errors(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
        write_atomic(self.folder / question.file, text.encode("utf-8", "replace"))

    def note(self, question: Question, **facts: Any) -> None:
        """Add a line to an exchange, once: what was done with its answer."""
        path = self.folder / question.file
        with storage_errors(path):
            text = path.read_bytes() if path.is_file() else b""
        line = (json.dumps({"kind": "note", **facts}, ensure_ascii=False) + "\n").encode("utf-8", "replace")
        if line not in text:
            write_atomic(path, text + line)

    def answer(self, question: Question) -> tuple[str | None, str | None] | None:
        """The answer that was accepted and what went wrong instead, one of them None; None: the log has no such question."""
        path = self.folder / question.file
        with storage_errors(path):
            if not path.is_file():
                return None
            lines = path.read_text(encoding="utf-8").splitlines()
        try:
            outcomes = [line for line in map(json.loads, lines) if line.get("kind") == "outcome"]
            answer, error = outcomes[-1]["answer"], outcomes[-1]["error"]
        except (ValueError, LookupError, AttributeError):
            return None
        return answer, None if error is None else str(error.get("what", "it had failed"))


def _blotted(value: Any, secret: str) -> Any:
    match value:
        case str():
            return value.replace(secret, "***") if secret else value
        case Mapping():
            return {key: _blotted(part, secret) for key, part in value.items()}
        case list() | tuple():
            return [_blotted(part, secret) for part in value]
        case _:
            return value
