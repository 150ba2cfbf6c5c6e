"""Text from outside: what a user typed, what a model answered. It is data, shown and sent in a form that can only be data."""

from __future__ import annotations

import json
import unicodedata
from typing import Any

_SPACES = "\t\n\r\v\f\x85\u2028\u2029"
_HIDDEN = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
"""Unicode categories of what cannot be seen: controls, direction marks, surrogates, private and unassigned characters."""


def clean(text: str, most: int = 300) -> str:
    """One line without control characters, direction marks and runs of spaces, cut to `most` characters."""
    spaced = "".join(" " if c in _SPACES else c for c in text[: 4 * most])
    seen = "".join(c for c in spaced if unicodedata.category(c) not in _HIDDEN)
    line = " ".join(seen.split())
    return line if len(line) <= most else line[: most - 1] + "…"


def as_data(value: Any) -> str:
    """A value as JSON that cannot close the tag it stands in: angle brackets and ampersands are written as escapes."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    for character in "<>&\u2028\u2029\x7f":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text
