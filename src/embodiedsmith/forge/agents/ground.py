"""From a meaning to things and effects: who is meant by each word, and what each command brings about."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Literal

from embodiedsmith.assets import categories
from embodiedsmith.forge.agents.effects import HAND, PLACED, Effect, access
from embodiedsmith.forge.agents.parts import default_cavity
from embodiedsmith.forge.agents.stage import Ref, Stage, Thing, opened_part, relation_of, suits
from embodiedsmith.forge.language.clauses import SURFACES
from embodiedsmith.forge.language.meaning import Command, Meaning, NounPhrase, Place, Relation, Statement

HALF_OPEN = 0.8
"""How far a drawer or door stands open that is to be closed, as a fraction of its range."""


class Grounding:
    """Reads the commands of one meaning onto a stage; `effects` and `warnings` are the result."""

    def __init__(self, meaning: Meaning, stage: Stage) -> None:
        self.meaning = meaning
        self.stage = stage
        self.effects: list[Effect] = []
        self.warnings: list[str] = []

    def run(self) -> None:
        """Ground statements, then commands; reasons why not are gathered on the stage."""
        said = [
            *(p for s in self.meaning.statements for p in s.things),
            *(p for c in self.meaning.commands for p in phrases_of(c)),
        ]
        self.stage.named = {phrase.head for phrase in said if phrase.kind == "category"}
        for statement in self.meaning.statements:
            self._state(statement)
        for index, command in enumerate(self.meaning.commands):
            before = len(self.effects)
            self._do(command)
            self.effects[before:] = [replace(effect, command=index) for effect in self.effects[before:]]
        self._start_joints()
        if self.effects and all(effect.name == "upright" for effect in self.effects):
            self.stage.reasons.append("everything stands upright from the start: say what else is to be done with it")

    # What is so at the start

    def _state(self, statement: Statement) -> None:
        for phrase in statement.things:
            refs = self.stage.mention(self.stage.resolve(phrase, wants="joint" if statement.state else "any"), topic=True)
            for ref in refs:
                if statement.state is not None:
                    part = opened_part(ref)
                    if part.part is None:
                        self.stage.reasons.append(f"'{phrase.text}' has nothing to open or close")
                    else:
                        ref.thing.joints[part.part] = HALF_OPEN if statement.state == "open" else 0.0
                        ref.thing.told.add(part.part)
                if statement.place is not None:
                    self._start(ref, statement.place)

    def _start(self, ref: Ref, place: Place) -> None:
        """Let a thing be somewhere at the start."""
        if place.target is None or ref.thing.place is not None:
            return
        targets = self.stage.resolve(place.target, exclude=frozenset({ref.thing}), wants="holder")
        if targets and suits(ref, "movable"):
            target, relation = self._held(targets[0], place.relation, ref, say=False)
            ref.thing.place = (relation_of("in" if relation == "inside" else "on"), target)
        elif targets and targets[0].thing.category not in SURFACES:
            self.stage.reasons.append(f"'{_name(ref.thing)}' is furniture: it cannot stand in or on '{_name(targets[0].thing)}'")

    # Commands

    def _do(self, command: Command) -> None:
        match command.action:
            case "open" | "close":
                self._swing(command)
            case "put" | "stack":
                self._put(command)
            case "touch":
                self.stage.reasons.append(
                    f"'{command.word}': the robot's touch cannot be checked; say grasp, lift, or make the spoon touch the plate"
                )
            case "contact":
                self._contact(command)
            case "upright":
                for ref in self._themes(command):
                    self.effects.append(Effect("upright", (Ref(ref.thing),)))
            case "take" | "remove" | "lift" | "grasp":
                self._take(command)

    def _themes(self, command: Command, wants: str = "movable") -> tuple[Ref, ...]:
        if not command.themes:
            refs = self.stage.latest(wants)
            if not refs:
                self.stage.reasons.append(f"'{command.word}' what?")
            return self.stage.mention(refs, topic=True)
        refs = tuple(ref for phrase in command.themes for ref in self.stage.resolve(phrase, wants=wants))
        for phrase in command.themes:
            if phrase.place is not None:
                for ref in refs:
                    self._start(ref, phrase.place)
        self.stage.mention(refs, topic=True)
        if wants == "movable":
            for ref in refs:
                if not suits(ref, "movable") or ref.part is not None:
                    self.stage.reasons.append(f"'{_name(ref.thing)}' is furniture: it stays where it is")
            refs = tuple(ref for ref in refs if suits(ref, "movable"))
        return refs

    def _swing(self, command: Command) -> None:
        for ref in self._themes(command, wants="joint"):
            part = opened_part(ref)
            if part.part is None or part.part not in ref.thing.asset.joints:
                self.stage.reasons.append(f"'{_name(ref.thing)}' has nothing to {command.action}")
            else:
                self.effects.append(Effect("open" if command.action == "open" else "closed", (part,)))

    def _put(self, command: Command) -> None:
        themes = self._themes(command)
        if command.source is not None:
            self._from(themes, command.source)
        if command.destination is None:
            if command.action == "stack" and len(themes) > 1:
                self._tower(themes)
            elif themes and all(self._in_hand(ref) for ref in themes):  # "lift it and put it down"
                held = {ref.thing for ref in themes}
                self.effects = [
                    replace(e, deliberate=True) if e.name in HAND and e.args[0].thing in held else e for e in self.effects
                ]
                self.effects.extend(Effect("on", (Ref(ref.thing), Ref(self._surface()))) for ref in themes)
            elif themes:
                self.stage.reasons.append(f"'{command.word} {_name(themes[0].thing)}': where to?")
            return
        targets = self._targets(command.destination, themes)
        if not targets or not themes:
            return
        relation = command.destination.relation
        if len(targets) > 1:
            self._share(command, themes, targets)
        elif command.action == "stack":
            self._on(themes[-1], targets[0], relation)
            self._tower(themes)
        else:
            for theme in themes:
                self._on(theme, targets[0], relation)

    def _in_hand(self, ref: Ref) -> bool:
        """Whether what was said before leaves a thing in the gripper."""
        places = [e.name for e in self.effects if e.args[0].thing is ref.thing and e.name in (*HAND, *PLACED)]
        return bool(places) and places[-1] in HAND

    def _share(self, command: Command, themes: tuple[Ref, ...], targets: tuple[Ref, ...]) -> None:
        """One thing for each of several places: "a can on each plate"."""
        assert command.destination is not None
        single = len(command.themes) == 1 and command.themes[0].kind == "category" and command.themes[0].quantity == "one"
        if len(themes) == 1 and single:
            like = themes[0].thing
            more = [Thing(like.category, color=like.color, size=like.size, material=like.material) for _ in targets[1:]]
            self.stage.things.extend(more)
            themes = self.stage.mention([*themes, *(Ref(thing) for thing in more)], topic=True)
        if len(themes) != len(targets):
            self.stage.reasons.append(f"{len(themes)} things for {len(targets)} places: say which goes where")
            return
        for theme, target in zip(themes, targets, strict=True):
            self._on(theme, target, command.destination.relation)

    def _tower(self, themes: tuple[Ref, ...]) -> None:
        """Each on the next; the last is the lowest, and is put down first."""
        for above, below in reversed(list(itertools.pairwise(themes))):
            self.effects.append(Effect("on", (Ref(above.thing), Ref(below.thing)), deliberate=True))

    def _on(self, theme: Ref, target: Ref, relation: Relation) -> None:
        if relation == "near":
            self.effects.append(Effect("near", (Ref(theme.thing), Ref(target.thing)), deliberate=True))
            return
        place, found = self._held(target, relation, theme, say=True)
        self.effects.append(Effect(found, (Ref(theme.thing), place), deliberate=True))

    def _contact(self, command: Command) -> None:
        themes = self._themes(command)
        targets = self._targets(command.destination, themes) if command.destination else ()
        if targets and themes:
            self.effects.append(Effect("touching", (Ref(themes[0].thing), Ref(targets[0].thing))))

    def _targets(self, place: Place, themes: tuple[Ref, ...]) -> tuple[Ref, ...]:
        """Where things go; "on top" without more is on what was last put on something, "inside" in what was last named."""
        exclude = frozenset(ref.thing for ref in themes)
        last = self.effects[-1] if self.effects else None
        if place.target is not None:
            refs = self.stage.resolve(place.target, exclude=exclude, wants="holder")
        elif place.relation == "on" and last is not None and last.name == "on" and last.args[0].thing not in exclude:
            refs = self.stage.mention(last.args[:1])
        else:
            refs = self.stage.mention(self.stage.latest("holder", exclude=exclude)[:1])
            if not refs:
                self.stage.reasons.append("inside or on top of what?")
        if len(refs) > 1 and len({ref.thing for ref in refs}) == 1:  # "on the shelves": any of them
            return (Ref(refs[0].thing),)
        return refs

    def _held(self, target: Ref, relation: Relation, theme: Ref, *, say: bool) -> tuple[Ref, Literal["on", "inside"]]:
        """Where exactly a thing is put in or on another, and which of the two it can be."""
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
                self.warnings.append(f"'{_name(target.thing)}' has no inside: read as on it")
        elif not inside and not supports and cavities:
            inside = True
            if say:
                self.warnings.append(f"things go in '{_name(target.thing)}', not on it: read as in it")
        elif not cavities and not supports:
            self.stage.reasons.append(f"'{_name(theme.thing)}' cannot be put in or on '{_name(target.thing)}'")
        part = target.part
        if inside and part is None and not any(c.joint is None for c in cavities):
            part = default_cavity(target.thing.asset)
        return Ref(target.thing, part, vague=target.vague or target.part is None), "inside" if inside else "on"

    def _from(self, themes: tuple[Ref, ...], source: NounPhrase) -> None:
        for ref in themes:
            self._start(ref, Place(relation="from", target=source))

    def _take(self, command: Command) -> None:
        themes = self._themes(command)
        if command.source is not None:
            self._from(themes, command.source)
        elif command.action == "remove":
            self._out_of_latest(themes)
        for theme in themes:
            thing = theme.thing
            if command.action in ("lift", "grasp"):
                self.effects.append(
                    Effect("grasped" if command.action == "grasp" else "lifted", (Ref(thing),), command.deliberate)
                )
            elif thing.place is not None and thing.place[1].thing.category not in SURFACES:
                self.effects.append(Effect("on", (Ref(thing), Ref(self._surface()))))
            else:
                self.effects.append(Effect("lifted", (Ref(thing),)))

    def _out_of_latest(self, themes: tuple[Ref, ...]) -> None:
        """ "Open the fridge, take out the bottle": it is in what was last opened."""
        sources = self.stage.latest("joint", exclude=frozenset(ref.thing for ref in themes))
        for ref in themes:
            if sources and ref.thing.place is None:
                place, relation = self._held(sources[0], "from", ref, say=False)
                ref.thing.place = (relation, place)

    def _surface(self) -> Thing:
        """The work surface, on which what is taken out is put."""
        for thing in self.stage.things:
            if thing.category in SURFACES:
                return thing
        named = [p.head for c in self.meaning.commands for p in phrases_of(c) if p.kind == "category" and p.head in SURFACES]
        furnished = any(categories()[thing.category].role == "furniture" for thing in self.stage.things)
        name = named[0] if named else "table" if self.meaning.setting == "tabletop" or not furnished else "counter"
        thing = Thing(name, spoken=False)
        self.stage.things.append(thing)
        return thing

    def _start_joints(self) -> None:
        """What is to be closed, without having been opened for anything before, stands open at the start."""
        for index, effect in enumerate(self.effects):
            ref = effect.args[0]
            if effect.name != "closed" or ref.part is None or ref.part in ref.thing.joints:
                continue
            if not any(_moves(other, ref) for other in self.effects[:index]):
                ref.thing.joints[ref.part] = HALF_OPEN


def phrases_of(command: Command) -> list[NounPhrase]:
    """Every thing a command names outright."""
    phrases = [*command.themes, command.source, command.destination.target if command.destination else None]
    return [phrase for phrase in phrases if phrase is not None]


def _moves(effect: Effect, joint: Ref) -> bool:
    """Whether an effect needs a door or drawer open, or opens it."""
    return (effect.name == "open" and effect.args[0] == joint) or joint in access(effect)


def _name(thing: Thing) -> str:
    return categories()[thing.category].names["en"][0]
