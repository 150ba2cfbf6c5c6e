"""What every noun of the spec has in common: frozen, strict about keys, hashed by content."""

from __future__ import annotations

import hashlib
import json
from typing import Any, Self

from pydantic import BaseModel, ConfigDict


class Noun(BaseModel):
    """A frozen value. Unknown fields, NaN and infinities are refused; equal content has an equal id."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, validate_default=True)

    def to_json(self, *, indent: int | None = None) -> str:
        """This value as JSON text; `from_json` of it is equal to this value."""
        return json.dumps(self.model_dump(mode="json"), indent=indent, ensure_ascii=False, sort_keys=True)

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """Parse JSON text; raises `pydantic.ValidationError` naming every fault at once."""
        return cls.model_validate_json(text)

    def content_id(self) -> str:
        """Sixteen hexadecimal digits of the SHA-256 of the canonical JSON: equal content, equal id."""
        return digest(self.model_dump(mode="json"))


def digest(content: Any) -> str:
    """Sixteen hexadecimal digits of the SHA-256 of `content` as canonical JSON (sorted keys, no spaces)."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
