"""Prompts: versioned text files with declared variables.

A file `NAME_vN.md` begins with a header of `key: value` lines between two `---` lines: `name`, `version`, `trusted` and `data`.
The two last list its variables, written `{{variable}}` in the text: trusted ones are inserted as they are, data (what a user or a
model wrote) as JSON that cannot end the tag round it. After the header come the instructions, a line `---`, and the request.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from embodiedsmith.forge.agents.llm.text import as_data
from embodiedsmith.runtime.errors import SmithError

_VARIABLE = re.compile(r"\{\{(\w+)\}\}")
_FILE = re.compile(r"\A---\n(.*?)\n---\n(.*?)\n---\n(.*)\Z", re.DOTALL)
_KEYS = ("name", "version", "trusted", "data")


class PromptError(SmithError):
    """A prompt file that contradicts itself, or is given other variables than it declares."""


@dataclass(frozen=True, kw_only=True)
class Prompt:
    """One version of a prompt."""

    name: str
    version: int
    trusted: frozenset[str]
    """Variables inserted as they are: text of this package."""
    data: frozenset[str]
    """Variables inserted as JSON: text from outside."""
    instructions: str
    request: str

    @classmethod
    def parse(cls, text: str, *, where: str) -> Prompt:
        """Read a prompt file.

        Raises:
            PromptError: it has no header, misses a key, or declares other variables than it uses; names every fault.
        """
        found = _FILE.match(text.replace("\r\n", "\n"))
        if found is None:
            raise PromptError("it must have a header, instructions and a request, set apart by lines `---`", where=where)
        header = dict(line.split(":", 1) for line in found[1].splitlines() if ":" in line)
        fields = {key.strip(): value.strip() for key, value in header.items()}
        faults = [f"the header has no `{key}`" for key in _KEYS if key not in fields]
        faults += [f"the header has an unknown `{key}`" for key in fields if key not in _KEYS]
        trusted, data = (frozenset(fields.get(key, "").replace(",", " ").split()) for key in ("trusted", "data"))
        used = frozenset(_VARIABLE.findall(found[2] + found[3]))
        faults += [f"'{name}' is declared twice" for name in sorted(trusted & data)]
        faults += [f"'{name}' is used and not declared" for name in sorted(used - trusted - data)]
        faults += [f"'{name}' is declared and not used" for name in sorted((trusted | data) - used)]
        if not fields.get("version", "0").isdigit():
            faults.append(f"version '{fields['version']}' is not a number")
        if faults:
            raise PromptError("the prompt contradicts itself", where=where, faults=faults)
        return cls(
            name=fields["name"], version=int(fields["version"]), trusted=trusted, data=data,
            instructions=found[2].strip(), request=found[3].strip(),
        )  # fmt: skip

    def render(self, values: Mapping[str, Any]) -> tuple[str, str]:
        """Instructions and request with values put in.

        Raises:
            PromptError: variables are missing or not declared; names them all.
        """
        declared = self.trusted | self.data
        faults = [f"'{name}' is missing" for name in sorted(declared - set(values))]
        faults += [f"'{name}' is not declared" for name in sorted(set(values) - declared)]
        if faults:
            raise PromptError("the prompt is given other variables than it declares", where=self.title, faults=faults)
        texts = {name: str(value) if name in self.trusted else as_data(value) for name, value in values.items()}
        # One pass over the file's text only: what is put in is never looked through for variables.
        return _VARIABLE.sub(lambda m: texts[m[1]], self.instructions), _VARIABLE.sub(lambda m: texts[m[1]], self.request)

    @property
    def title(self) -> str:
        """Name and version: `propose_v1`."""
        return f"{self.name}_v{self.version}"


@cache
def prompt(title: str) -> Prompt:
    """The prompt of a file `<title>.md` beside this one."""
    found = Prompt.parse(files(__package__).joinpath(f"{title}.md").read_text(encoding="utf-8"), where=f"{title}.md")
    if found.title != title:
        raise PromptError(f"the header names another prompt, '{found.title}'", where=f"{title}.md")
    return found
