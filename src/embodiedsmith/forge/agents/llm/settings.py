"""Which language model answers, and how much it may cost: read from the environment, never written down with the key."""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib.util import find_spec
from urllib.parse import urlsplit

from pydantic import Field, ValidationError

from embodiedsmith.runtime.errors import UsageError
from embodiedsmith.spec.base import Noun

MODEL = "EMBODIEDSMITH_LLM_MODEL"
BASE_URL = "EMBODIEDSMITH_LLM_BASE_URL"
API_KEY = "EMBODIEDSMITH_LLM_API_KEY"
INSTALL = 'pip install "embodiedsmith[llm]"'


class Settings(Noun):
    """How to reach a model, and the caps on one question to it (first answer and all corrections together)."""

    model: str = Field(min_length=1, max_length=200, pattern=r"^\S+$")
    """With `base_url`: the model's name there. Without: `provider:name` of a hosted one, such as `openai:gpt-5.2`."""
    base_url: str | None = Field(default=None, max_length=500, pattern=r"^https?://\S+$")
    """Of an endpoint that speaks OpenAI's protocol, with its version: `http://localhost:8080/v1`."""
    api_key_variable: str = API_KEY
    """The environment variable that holds the key; the key itself is read when it is sent and kept nowhere."""
    temperature: float = Field(default=0.3, ge=0.0, le=2.0)
    tries: int = Field(default=3, ge=1, le=10)
    """Answers at most: the first and its corrections."""
    answer_tokens: int = Field(default=4000, ge=16, le=100_000)
    """Most tokens of one answer."""
    tokens: int = Field(default=60_000, ge=16, le=1_000_000)
    """Most tokens sent and received in all; no further answer is asked for once they are spent."""
    seconds: float = Field(default=120.0, gt=0.0, le=3600.0)
    """Longest wall clock of one question [s]."""
    answer_bytes: int = Field(default=1_000_000, ge=1000, le=100_000_000)
    """Most bytes read of one reply."""

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None) -> Settings:
        """Settings from `EMBODIEDSMITH_LLM_MODEL` and `EMBODIEDSMITH_LLM_BASE_URL`.

        Raises:
            UsageError: no model is named, or a value cannot be used; says which variables to set.
        """
        given = os.environ if environment is None else environment
        model, url = given.get(MODEL, "").strip(), given.get(BASE_URL, "").strip()
        if not model:
            raise UsageError(
                "no language model is set",
                where=MODEL,
                remedy=f"export {MODEL}=NAME, and for a server of your own {BASE_URL}=http://localhost:8080/v1; "
                f"a key, where one is needed, goes into {API_KEY}. Without a model use the rule agent",
            )
        if not url and ":" not in model:
            raise UsageError(
                f"'{model}' does not say where the model is",
                where=MODEL,
                remedy=f"name a hosted one as provider:name (openai:gpt-5.2), or export {BASE_URL}=http://localhost:8080/v1",
            )
        try:
            return cls(model=model, base_url=url or None)
        except ValidationError as error:
            names = {"model": MODEL, "base_url": BASE_URL}
            faults = [f"{names.get(str(f['loc'][0]), f['loc'][0])}: {f['msg']}" for f in error.errors()]
            raise UsageError("the language model's settings cannot be used", faults=faults) from error

    @property
    def endpoint(self) -> str:
        """Where the model is, for people: without user names, passwords and queries."""
        if self.base_url is None:
            return self.model.partition(":")[0]
        parts = urlsplit(self.base_url)
        port = f":{parts.port}" if parts.port else ""
        return f"{parts.scheme}://{parts.hostname}{port}{parts.path}"

    def key(self) -> str | None:
        """The key to send, as the environment holds it now; None: it holds none."""
        return os.environ.get(self.api_key_variable, "").strip() or None


def check_installed() -> None:
    """Raise `UsageError` with the command to install what language models need, when it is missing."""
    missing = [name for name in ("pydantic_ai", "openai") if find_spec(name) is None]
    if missing:
        raise UsageError(f"the llm agent needs {' and '.join(missing)}, which are not installed", remedy=INSTALL)
