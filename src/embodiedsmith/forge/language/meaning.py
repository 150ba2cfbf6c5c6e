"""What a brief says, before anything is built: noun phrases, commands and statements about the scene."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from embodiedsmith.spec import Language

Size = Literal["small", "medium", "large"]
Relation = Literal["in", "on", "near", "to", "from", "left", "right", "front", "behind", "between", "at"]
"""Where something is or goes. `to` leaves it to the destination whether that means in or on; `from` is where it was. Left, right,
in front of and behind are as the robot sees it: behind is farther from it."""

HeadKind = Literal["category", "tag", "part", "pronoun", "one"]
Quantity = Literal["one", "some", "each"]
Superlative = Literal["largest", "smallest", "tallest", "shortest", "leftmost", "rightmost", "nearest", "farthest"]

Action = Literal[
    "put",
    "take",
    "remove",
    "lift",
    "grasp",
    "touch",
    "open",
    "close",
    "turn",
    "stack",
    "upright",
    "contact",
    "squeeze",
    "straighten",
    "pour",
    "scoop",
    "fill",
    "spill",
    "fold",
    "cover",
    "hang",
    "wipe",
    "hand",
    "reorient",
]


@dataclass(frozen=True, kw_only=True)
class NounPhrase:
    """Words that stand for one thing or several."""

    kind: HeadKind
    head: str
    """Category name, tag, part word (`drawer`, `door`, `board`, `compartment`), or the pronoun's number (`it`, `them`)."""
    text: str
    """The words as typed."""
    quantity: Quantity = "one"
    count: int | None = None
    """How many, when a number was said."""
    fresh: bool = False
    """Whether it must be another thing than those mentioned before ("another", "the other"). With `quantity` each or a
    plural: all that are left ("the others", "the rest of the blocks")."""
    uncounted: bool = False
    """Whether one or several may be meant: a Chinese noun without a number."""
    color: str | None = None
    size: Size | None = None
    materials: tuple[str, ...] = ()
    """Material names any of which answers the word said ("metal": steel or aluminium); empty when none was."""
    position: str | None = None
    """Which part: `top`, `middle`, `bottom`, `left`, `right`, `last`, or a number from the top ("1")."""
    owner: NounPhrase | None = None
    """What the part belongs to."""
    place: Place | None = None
    """Where it is at the start, when said."""
    superlative: Superlative | None = None
    """Which of several: "the largest block", "the smaller mug". Nearest and farthest are from the robot."""
    among: NounPhrase | None = None
    """The group it is one of, or some of: "one of them", "the largest of the three blocks". `kind` is then `one`."""
    without: tuple[NounPhrase, ...] = ()
    """What a group leaves out: "everything except the knife"."""


@dataclass(frozen=True, kw_only=True)
class Place:
    """A relation to something; `target` None: the thing last spoken of ("put it inside")."""

    relation: Relation
    target: NounPhrase | None
    second: NounPhrase | None = None
    """The other thing of `between`."""


@dataclass(frozen=True, kw_only=True)
class Command:
    """One thing to do."""

    action: Action
    word: str
    """The verb as typed."""
    themes: tuple[NounPhrase, ...] = ()
    """What is acted on; empty: the thing last spoken of."""
    angle: float = math.pi / 2
    """By how much a thing is turned in the hand [rad], anticlockwise."""
    share: float = 1.0
    """How much of a liquid is poured."""
    destination: Place | None = None
    source: NounPhrase | None = None
    tool: NounPhrase | None = None
    """What it is wiped with."""
    then: bool = False
    """Whether the words say it comes after what was said before."""
    first: bool = False
    """Whether the words say it is the first of several steps ("first open the drawer, then ..."): what follows with `then` must
    be done in that order, even where the end would be the same in another."""
    keep: bool = False
    """Whether a state is only to hold at the end, whatever it is at the start ("leave the drawer closed")."""
    hands: tuple[str, ...] = ()
    """Of a robot with two, the hands that hold the thing one after the other: `left`, `right`, or `both` at once."""
    deliberate: bool = False
    """Whether lifting or grasping counts for itself though something follows ("lift it, then put it down")."""


@dataclass(frozen=True, kw_only=True)
class Statement:
    """Something that is so at the start: things that are there, where, and whether open or closed."""

    things: tuple[NounPhrase, ...]
    place: Place | None = None
    state: Literal["open", "closed"] | None = None
    verbless: bool = False
    """Whether only a thing and a place were said, without "is" ("mug on plate"): a wish where nothing else is one."""


@dataclass(frozen=True)
class SaidRoom:
    """A room that was named: "the table in the living room"."""

    name: str
    """`kitchen`, `living_room`, `bedroom`, or `room` when the word says no more."""
    holds: str | None = None
    """Category of the thing that was said to be in it."""


@dataclass(frozen=True, kw_only=True)
class Meaning:
    """A whole brief."""

    language: Language
    commands: tuple[Command, ...]
    statements: tuple[Statement, ...] = ()
    absent: tuple[NounPhrase, ...] = ()
    """Things the scene is not to hold."""
    setting: str | None = None
    """`tabletop`, `counter`, `kitchen` or `room`, when a word says so."""
    rooms: tuple[SaidRoom, ...] = ()
    """Every room that was named, in the order of the words."""
    clutter: Literal["cluttered", "tidy"] | None = None
    at_least: int = 0
    """Fewest free things there must be in the scene ("with at least six things on it")."""
    still: tuple[NounPhrase, ...] = ()
    """Things that must not be moved."""
    used: tuple[NounPhrase, ...] = ()
    """Which of several is meant wherever words leave it open ("use the left drawer")."""
    warnings: tuple[str, ...] = ()
    """Where a word was taken for a near one."""
