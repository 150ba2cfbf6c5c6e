"""What goes wrong between the forge and a language model."""

from __future__ import annotations

from embodiedsmith.runtime.errors import SmithError


class LLMError(SmithError):
    """A language model that could not be asked, or gave no usable answer within the caps."""


class Unreachable(LLMError):
    """The endpoint does not answer, refuses the key, or does not know the model."""


class TooLong(LLMError):
    """A cap on seconds, tokens or bytes was reached before there was a usable answer."""


class NoAnswer(LLMError):
    """Every answer had faults; `faults` are those of the last one."""
