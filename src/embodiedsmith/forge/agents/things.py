"""Things of a scene in the making, and references to them and their parts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from embodiedsmith.assets import Asset, build, categories
from embodiedsmith.forge.agents.parts import PartMissing, default_part, find_parts
from embodiedsmith.forge.language.meaning import Size
from embodiedsmith.spec import AssetSpec
from embodiedsmith.spec.scene import ParamValue

Use = Literal["any", "joint", "movable", "holder", "hollow"]
"""What a thing is to be good for: `joint`, to be opened or closed; `movable`; `holder`, to put things in or on; `hollow`, in."""


@dataclass(eq=False)
class Thing:
    """One thing of the scene in the making."""

    category: str
    meant: frozenset[str] = frozenset()
    """Categories that the words for it may mean; empty: only its own."""
    color: str | None = None
    size: Size | None = None
    material: str | None = None
    materials: tuple[str, ...] = ()
    """Materials that the words for it may mean."""
    params: dict[str, ParamValue] = field(default_factory=dict)
    place: tuple[Literal["on", "inside"], Ref] | None = None
    """Where it is at the start, when said or implied."""
    held: bool = False
    """Whether it lies in the robot's hand at the start."""
    joints: dict[str, float] = field(default_factory=dict)
    told: set[str] = field(default_factory=set)
    """Those of its joints whose state at the start the brief says."""
    spoken: bool = True
    """Whether the brief speaks of it: what nobody spoke of may vary."""
    id: str = ""

    @property
    def spec(self) -> AssetSpec:
        """What to build."""
        return AssetSpec(
            category=self.category, params=dict(self.params), color=self.color, material=self.material, size=self.size or "medium"
        )

    @property
    def asset(self) -> Asset:
        """The thing as built now."""
        return build(self.spec)

    @property
    def liquid(self) -> bool:
        """Whether it has no place but in a vessel."""
        matter = self.asset.matter
        return matter is not None and matter.kind == "liquid"

    @property
    def flows(self) -> bool:
        """Whether it can be poured: liquids and grains."""
        matter = self.asset.matter
        return matter is not None and matter.kind in ("liquid", "grains")

    @property
    def name(self) -> str:
        """What people call it: "red mug"."""
        noun = categories()[self.category].names["en"][0]
        return " ".join(word for word in (self.size, self.color, noun) if word)


@dataclass(frozen=True)
class Ref:
    """A thing, or a part of it."""

    thing: Thing
    part: str | None = None
    vague: bool = field(default=False, compare=False)
    """Whether the words leave open which part of it."""

    @property
    def said(self) -> str:
        """What the words say of it: the whole thing where they leave the part open."""
        return self.thing.id if self.vague else self.text

    @property
    def text(self) -> str:
        """As a predicate's argument."""
        return f"{self.thing.id}.{self.part}" if self.part else self.thing.id


def suits(ref: Ref, use: Use) -> bool:
    """Whether a thing is good for something."""
    asset = ref.thing.asset
    furniture = is_furniture(ref.thing)
    match use:
        case "joint":
            return bool(asset.joints) and (ref.part is None or ref.part in asset.joints)
        case "movable":
            return not furniture
        case "holder":
            return bool(asset.affordances.cavities) or furniture or bool(asset.affordances.supports)
        case "hollow":
            cavities = [cavity for cavity in asset.affordances.cavities if ref.part in (None, cavity.name)]
            flat = (
                asset.affordances.supports and categories()[ref.thing.category].role != "container"
            )  # a plate: on it, not in it
            return bool(cavities) and (not flat or any(cavity.joint for cavity in cavities))
        case _:
            return True


def is_furniture(thing: Thing) -> bool:
    """Whether it stays where it is."""
    return categories()[thing.category].role == "furniture"


def has_part(thing: Thing, word: str) -> bool:
    """Whether a thing has a drawer, door or board, as built now."""
    try:
        return bool(find_parts(thing.asset, word, None))
    except PartMissing:
        return False


def opened_part(ref: Ref) -> Ref:
    """The door or drawer meant when a thing as a whole is opened or closed."""
    return ref if ref.part else Ref(ref.thing, default_part(ref.thing.asset), vague=True)
