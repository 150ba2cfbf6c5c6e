"""What a brief says of the start: what is there, where, how things are to each other, and what is open or closed."""

from __future__ import annotations

from typing import Literal

from embodiedsmith.assets import categories
from embodiedsmith.forge.agents.parts import default_cavity
from embodiedsmith.forge.agents.stage import Relation, Stage
from embodiedsmith.forge.agents.things import Ref, Thing, Use, opened_part, suits
from embodiedsmith.forge.agents.which import SIDES
from embodiedsmith.forge.language import meaning
from embodiedsmith.forge.language.clauses import SURFACES
from embodiedsmith.forge.language.meaning import NounPhrase, Place, Statement

HALF_OPEN = 0.8
"""How far a drawer or door stands open that is to be closed, as a fraction of its range."""


class Starts:
    """Grounds on a stage what is so at the start."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage

    def state(self, statement: Statement) -> None:
        """What a statement says of its things."""
        wants: Use = "joint" if statement.state else "any"
        for phrase in statement.things:
            refs = self.stage.mention(self.stage.resolve(phrase, wants=wants), topic=True)
            for ref in refs:
                if statement.state is not None:
                    self._joint(ref, phrase.text, statement.state)
                self.told(phrase, ref)
                if statement.place is not None:
                    self.place(ref, statement.place)

    def _joint(self, ref: Ref, text: str, state: Literal["open", "closed"]) -> None:
        part = opened_part(ref)
        if part.part is None:
            self.stage.reasons.append(f"'{text}' has nothing to open or close")
            return
        ref.thing.joints[part.part] = HALF_OPEN if state == "open" else 0.0
        ref.thing.told.add(part.part)

    def told(self, phrase: NounPhrase, ref: Ref) -> None:
        """Let a thing be at the start where the words for it say; of "one of the mugs on the tray", all of them are there."""
        group = phrase.among
        place = phrase.place or (group.place if group is not None else None)
        if place is None:
            return
        for one in self.stage.group_of(ref) if group is not None and group.kind != "pronoun" else (ref,):
            if one.thing not in self.stage.brought:  # else it is there by what was done before
                self.place(one, place)

    def place(self, ref: Ref, place: Place) -> None:
        """Let a thing be somewhere at the start."""
        if place.target is None:
            self.stage.reasons.append(f"where '{ref.thing.name}' is: {place.relation} of what?")
            return
        if place.relation in SIDES:
            self._beside(ref, place)
            return
        if ref.thing.place is not None:
            return
        targets = self.stage.resolve(place.target, exclude=frozenset({ref.thing}), wants="holder", aside=True)
        self.nested(place, targets)
        if targets and suits(ref, "movable"):
            ref.thing.place = held(self.stage, targets[0], place.relation, ref, say=False)
        elif targets and targets[0].thing.category not in SURFACES:
            self.stage.reasons.append(f"'{_noun(ref.thing)}' is furniture: it cannot stand in or on '{_noun(targets[0].thing)}'")

    def nested(self, place: Place, others: tuple[Ref, ...]) -> None:
        """Where the things are from which a place is told: "in the bowl next to the plate"."""
        for phrase, other in zip((place.target, place.second), others, strict=False):
            if phrase is not None:
                self.told(phrase, other)

    def _beside(self, ref: Ref, place: Place) -> None:
        others = beside(self.stage, place, frozenset({ref.thing}), aside=True)
        self.nested(place, others)
        if not others:
            return
        if not suits(ref, "movable"):
            self.stage.reasons.append(f"'{_noun(ref.thing)}' is furniture: where it stands cannot be told from other things")
            return
        relation = Relation(SIDES[place.relation], (Ref(ref.thing), *others))
        if relation not in self.stage.initial:
            self.stage.initial.append(relation)


def beside(stage: Stage, place: Place, exclude: frozenset[Thing], *, aside: bool = False) -> tuple[Ref, ...]:
    """What a thing is or goes beside: one thing, or the two that it is between; empty when they cannot be."""
    assert place.target is not None
    refs = stage.resolve(place.target, exclude=exclude, aside=aside)
    if place.second is not None:
        refs = (*refs, *stage.resolve(place.second, exclude=exclude | {ref.thing for ref in refs}, aside=aside))
    others = tuple(dict.fromkeys(Ref(ref.thing) for ref in refs))
    if any(ref.thing.category in SURFACES for ref in others):
        stage.reasons.append(f"'{place.target.text}' is what everything stands on: nothing is beside it")
        return ()
    if place.relation == "between" and len(others) != 2:
        stage.reasons.append(f"between what? '{place.target.text}' is {len(others)} of two things")
        return ()
    return others


def held(stage: Stage, target: Ref, relation: meaning.Relation, theme: Ref, *, say: bool) -> tuple[Literal["on", "inside"], Ref]:
    """Whether a thing is in or on another, and where exactly. `say`: warn where the words say the other of the two."""
    affordances = target.thing.asset.affordances
    cavities = [c for c in affordances.cavities if target.part in (None, c.name)]
    supports = [s for s in affordances.supports if target.part in (None, s.name)]
    if relation == "to":
        relation = "in" if cavities and (not supports or categories()[target.thing.category].role == "container") else "on"
        if cavities and any(c.joint for c in cavities):
            relation = "in"
    inside = relation in ("in", "from")
    if inside and not cavities and supports:
        inside = False
        if say and relation == "in":
            stage.warnings.append(f"'{_noun(target.thing)}' has no inside: read as on it")
    elif not inside and not supports and cavities:
        inside = True
        if say:
            stage.warnings.append(f"things go in '{_noun(target.thing)}', not on it: read as in it")
    elif not cavities and not supports:
        stage.reasons.append(f"'{_noun(theme.thing)}' cannot be put in or on '{_noun(target.thing)}'")
    part = target.part
    if inside and part is None and not any(c.joint is None for c in cavities):
        part = default_cavity(target.thing.asset)
    return "inside" if inside else "on", Ref(target.thing, part, vague=target.vague or target.part is None)


def _noun(thing: Thing) -> str:
    return categories()[thing.category].names["en"][0]
