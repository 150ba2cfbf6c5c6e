"""Colours for what nobody named a colour for: told apart where the goal tells apart, and seen on what they stand on."""

from __future__ import annotations

from collections.abc import Sequence

from embodiedsmith.assets import categories, similar
from embodiedsmith.forge.agents.effects import Effect
from embodiedsmith.forge.agents.stage import Stage
from embodiedsmith.forge.agents.things import Ref, Thing
from embodiedsmith.forge.language.clauses import SURFACES

USUAL_FOOD = 0.6
"""Chance that food has its usual colour."""
SAME = 0.7
"""Chance that one more of several like things has the colour of the first."""


class Painter:
    """Draws colours for a stage, with its generator.

    Args:
        stage: Things, with the colours that the brief gives them.
        effects: What the goal wants of them.
        surface: The work surface; its colour is to be drawn first.
    """

    def __init__(self, stage: Stage, effects: Sequence[Effect], surface: Thing) -> None:
        self._rng = stage.rng
        self._effects = effects
        self._surface = surface
        self._said = [(thing.category, thing.color) for thing in stage.things if thing.color]

    def color(self, thing: Thing, among: Sequence[Thing]) -> str | None:
        """A colour that nobody asked for in this category; None: its usual one, which for food is the likelier.

        Several of a category that do not all play the same part in the goal differ in colour; else they may share one. Where
        there is a choice, a thing does not have the colour of the work surface, nor the surface one that was said of a thing.
        """
        category = categories()[thing.category]
        others = [other for other in among if other.category == thing.category and other is not thing]
        said = {color for name, color in self._said if name == category.name}
        colors = [color for color in category.colors if color not in said and (others or color not in category.names["en"])]
        colors = self._seen(thing, colors)
        alike = len({self._part_played(other) for other in (*others, thing)}) == 1
        if others and alike and others[0].color and others[0].color in colors and self._rng.random() < SAME:
            return others[0].color
        if others and not alike:
            colors = [color for color in colors if color not in {other.color for other in others}] or colors
        usual = not others and "food" in category.tags and category.colors[0] not in said and self._rng.random() < USUAL_FOOD
        return None if usual or not colors else str(self._rng.choice(colors))

    def _seen(self, thing: Thing, colors: list[str]) -> list[str]:
        """Those that are not lost before the work surface; all where that leaves none."""
        if thing.category in SURFACES:
            before = [color for name, color in self._said if name not in SURFACES]
        else:
            before = [self._surface.color] if self._surface.color else []
        return [color for color in colors if not any(similar(color, other) for other in before if other)] or colors

    def _part_played(self, thing: Thing) -> frozenset[tuple[str, int, tuple[Ref, ...]]]:
        """What the goal wants of a thing, so that things of which it wants the same need not be told apart."""
        return frozenset(
            (effect.name, place, tuple(other for other in effect.args if other.thing is not thing))
            for effect in self._effects
            for place, ref in enumerate(effect.args)
            if ref.thing is thing
        )
