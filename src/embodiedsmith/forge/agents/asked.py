"""What the words of a brief fix, kept apart from what is chosen freely."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from embodiedsmith.assets import categories
from embodiedsmith.forge.agents.effects import Effect, goal_of
from embodiedsmith.forge.agents.stage import Stage
from embodiedsmith.forge.agents.things import Ref, Thing
from embodiedsmith.forge.language.meaning import Meaning, Size
from embodiedsmith.spec import Asked, AskedItem, SceneSpec
from embodiedsmith.spec.scene import ParamValue


@dataclass(frozen=True)
class _Said:
    """What is known of a thing before anything is chosen freely."""

    thing: Thing
    color: str | None
    size: Size | None
    params: dict[str, ParamValue]
    place: tuple[Literal["on", "inside"], Ref] | None


class Said:
    """The words' share of a stage: taken before it is furnished, told as `Asked` once its things have ids."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._things = [_Said(t, t.color, t.size, dict(t.params), t.place) for t in stage.things if t.spoken]

    def asked(self, meaning: Meaning, effects: list[Effect], scene: SceneSpec, embodiment: str | None) -> Asked:
        """Everything the words fix about the finished scene and its goal."""
        spoken = {said.thing.category for said in self._things}
        absent = {phrase.head for phrase in meaning.absent}
        counted = self._stage.counted | (absent & spoken)  # "no other mugs", said where one is spoken of
        return Asked(
            items=tuple(_item(said) for said in self._things),
            goal=goal_of(effects, said=True),
            setting=None if meaning.setting is None else scene.setting,
            at_least=meaning.at_least,
            absent=tuple(sorted(absent - spoken)),
            counted={word: _count(scene, word) for word in sorted(counted)},
            embodiment=embodiment,
        )


def _item(said: _Said) -> AskedItem:
    thing = said.thing
    relation, carrier = said.place if said.place is not None else (None, None)
    return AskedItem(
        item=thing.id,
        categories=tuple(sorted(thing.meant or {thing.category})),
        color=said.color,
        materials=thing.materials,
        size=said.size,
        params=said.params,
        parent=None if carrier is None else carrier.thing.id,
        relation="held" if thing.held else relation,
        support=None if carrier is None or carrier.vague else carrier.part,
        joints={name: "open" if fraction > 0.0 else "closed" for name, fraction in thing.joints.items() if name in thing.told},
    )


def _count(scene: SceneSpec, word: str) -> int:
    """How many things of the scene are of a category or answer a tag."""
    known = categories()
    return sum(word == item.asset.category or word in known[item.asset.category].all_tags for item in scene.items)
