"""What both grammars gather while they read, and what they ask of the catalogue."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cache
from typing import Literal, cast

from embodiedsmith.assets import build, categories
from embodiedsmith.forge.language.meaning import Command, Meaning, NounPhrase, Place, Size, Statement
from embodiedsmith.spec import AssetSpec, Language

SURFACES: dict[str, str] = {"table": "tabletop", "counter": "counter"}
"""The two work surfaces a scene is laid on, and the setting each makes."""


@dataclass
class Draft:
    """A meaning in the making."""

    language: Language
    commands: list[Command] = field(default_factory=list)
    statements: list[Statement] = field(default_factory=list)
    absent: list[NounPhrase] = field(default_factory=list)
    setting: str | None = None
    surface: NounPhrase | None = None
    """The table or counter named as the place of it all."""
    clutter: Literal["cluttered", "tidy"] | None = None
    at_least: int = 0
    still: list[NounPhrase] = field(default_factory=list)
    used: list[NounPhrase] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    pending_source: NounPhrase | None = None
    pending_place: Place | None = None

    def add(self, command: Command) -> None:
        """Append a command, with the source or place said before its verb."""
        if self.pending_source is not None:
            command = replace(command, source=command.source or self.pending_source)
        if self.pending_place is not None and command.destination is None and command.action in ("put", "stack"):
            command = replace(command, destination=self.pending_place)
        elif self.pending_place is not None and command.themes:
            place = self.pending_place
            command = replace(command, themes=tuple(replace(t, place=t.place or place) for t in command.themes))
        self.pending_source = self.pending_place = None
        if self.commands:
            before = self.commands[-1]
            self.commands[-1] = replace(before, deliberate=before.deliberate and command.then)
        self.commands.append(command)

    def finish(self) -> Meaning:
        """The meaning gathered."""
        statements, commands = list(self.statements), list(self.commands)
        warnings = tuple(self.warnings)
        if not commands and (wishes := [statement for statement in statements if statement.verbless]):
            commands = [Command(action="put", word="put", themes=wish.things, destination=wish.place) for wish in wishes]
            statements = [statement for statement in statements if not statement.verbless]
            warnings = (*warnings, "there is no verb: read as 'put'")
        if self.surface is not None:
            statements.insert(0, Statement(things=(self.surface,)))
        return Meaning(
            language=self.language, commands=tuple(commands), statements=tuple(statements), absent=tuple(self.absent),
            setting=self.setting, clutter=self.clutter, at_least=self.at_least, still=tuple(self.still), used=tuple(self.used),
            warnings=warnings,
        )  # fmt: skip


@cache
def has_joints(category: str) -> bool:
    """Whether things of a category have drawers or doors."""
    return bool(build(AssetSpec(category=category)).joints)


def has_inside(thing: NounPhrase) -> bool:
    """Whether something can go into a thing, as far as its name says."""
    return thing.kind != "category" or bool(build(AssetSpec(category=thing.head)).affordances.cavities)


def of_it(thing: NounPhrase) -> NounPhrase:
    """What "some of the beans" or "some beans" are taken from: the one heap there is."""
    return replace(thing.among or thing, quantity="one", uncounted=False)


def place_of_surface(thing: NounPhrase) -> str | None:
    """The setting a thing makes when it is a work surface ("the desk": tabletop), else None."""
    return SURFACES.get(thing.head) if thing.kind == "category" and thing.head in categories() else None


def looks(words: dict[str, str]) -> tuple[Size | None, tuple[str, ...]]:
    """Size and materials among the describing words of a thing."""
    return cast("Size | None", words.get("size")), tuple(words["material"].split(" ")) if "material" in words else ()
