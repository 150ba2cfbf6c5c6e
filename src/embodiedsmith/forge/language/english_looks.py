"""What English says of a thing besides its name: looks, sides, how many, and whether it stands open."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal, cast

from embodiedsmith.assets import categories
from embodiedsmith.forge.language.clauses import has_joints, looks
from embodiedsmith.forge.language.cursor import Stuck
from embodiedsmith.forge.language.lexer import Token
from embodiedsmith.forge.language.meaning import NounPhrase, Quantity, Superlative

SIDES: dict[str, Superlative] = {"left": "leftmost", "right": "rightmost"}
"""Which of several "the left mug" is."""


@dataclass
class Words:
    """What is said of a thing before its head."""

    start: int
    quantity: Quantity = "one"
    count: int | None = None
    fresh: bool = False
    definite: bool = False
    state: Literal["open", "closed"] | None = None
    """"The open drawer": how it is at the start."""
    looks: dict[str, str] = field(default_factory=dict)

    @property
    def told(self) -> bool:
        """Whether a head may be left out after them: "the green", "the other"."""
        return (
            self.fresh
            or (self.count is not None and "size" in self.looks)
            or any(kind in self.looks for kind in ("color", "position", "superlative"))
        )


def jointed(head: str) -> bool:
    """Whether a word names things with drawers or doors."""
    return head in categories() and has_joints(head)


def dressed(phrase: NounPhrase, words: dict[str, str]) -> NounPhrase:
    """A thing with colour, size and materials added."""
    size, materials = looks(words)
    return replace(
        phrase, color=words.get("color", phrase.color), size=size or phrase.size, materials=materials or phrase.materials
    )


def state_of(result: Token) -> Literal["open", "closed"]:
    """What "open" and "shut" say of the start."""
    sense = result.sense("result")
    return "open" if sense is not None and sense.value == "open" else "closed"


def sided(phrase: NounPhrase) -> NounPhrase:
    """ "The left mug" is the leftmost of them."""
    if phrase.position is None:
        return phrase
    if phrase.position not in SIDES:
        raise Stuck(phrase.text, f"'{phrase.position}' can only be said of a drawer, a door or a shelf")
    return replace(phrase, position=None, superlative=phrase.superlative or SIDES[phrase.position])


def headed(things: list[NounPhrase]) -> tuple[NounPhrase, ...]:
    """Things, where "the red" of "the red and the blue block" is a block too."""
    last = things[-1]
    if len(things) < 2 or last.kind not in ("category", "tag") or not any(t.kind == "one" and not t.head for t in things):
        return tuple(things)
    if last.quantity == "some" and last.count is None and last.color is not None:  # "the red and blue blocks"
        last = replace(last, quantity="one")
    named = [replace(t, kind=last.kind, head=last.head) if t.kind == "one" and not t.head else t for t in things[:-1]]
    return (*named, last)


def quantity_of(value: str, count: int | None) -> tuple[Quantity, int | None]:
    if value in ("each", "some"):
        return cast(Quantity, value), count
    return "some", int(value)
