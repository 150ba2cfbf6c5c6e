"""From a meaning to things and effects: who is meant by each word, and what each command brings about."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from typing import Literal

from embodiedsmith.assets import categories
from embodiedsmith.forge.agents.effects import BOTH_HANDS, HAND, IN_HAND, PLACED, Effect, access
from embodiedsmith.forge.agents.stage import PART_OWNERS, Stage
from embodiedsmith.forge.agents.starts import HALF_OPEN, Starts, beside, held
from embodiedsmith.forge.agents.things import Ref, Thing, Use, is_furniture, opened_part, suits
from embodiedsmith.forge.agents.which import SIDES
from embodiedsmith.forge.language.clauses import SURFACES
from embodiedsmith.forge.language.meaning import Action, Command, Meaning, NounPhrase, Place, Relation
from embodiedsmith.spec.scene import ParamValue

SWUNG: dict[Action, str] = {"open": "open", "close": "closed", "turn": "turned"}
"""What verbs of doors, drawers, knobs and levers bring about."""

IN_HANDS = {"left": "in_left_hand", "right": "in_right_hand", "both": BOTH_HANDS}
"""What it comes to that a hand, or both, hold a thing."""

JUG, CUP = "jug", "cup"
"""Categories of what liquids and grains are in at the start, where nobody says."""
BOWL, SCOOP = "bowl", "scoop"
"""Categories of what grains are scooped out of, and with, where nobody says."""

CUBE: dict[str, ParamValue] = {"length": 0.065, "width": 0.065, "height": 0.065}
"""What is turned in the hand where its size is not said [m]: a little less than the room between fingers and thumb."""

RACK, STAIN, WIPER = "towel_rack", "stain", "sponge"
"""Categories of what cloth is hung on, of what is wiped away and of what with, where nobody says."""
HANGERS = {"shelf": ("rack", "架子"), "stick": ("bar", "rod")}
"""Words of other things, by their categories, that mean a rack where something is hung on them."""


class Grounding:
    """Reads one meaning onto a stage; `effects` is the result, reasons why not are gathered on the stage."""

    def __init__(self, meaning: Meaning, stage: Stage) -> None:
        self.meaning = meaning
        self.stage = stage
        self.starts = Starts(stage)
        self.effects: list[Effect] = []
        self.wipers: tuple[Ref, ...] = ()
        """What is to be used for wiping."""

    def run(self) -> None:
        """Ground statements, then commands, then what is not to be moved."""
        meaning, stage = self.meaning, self.stage
        said = [p for s in meaning.statements for p in s.things] + [p for c in meaning.commands for p in phrases_of(c)]
        stage.named = {phrase.head for phrase in (*said, *meaning.still, *meaning.used) if phrase.kind == "category"}
        stage.parts = _numbered([*said, *meaning.used])
        for statement in meaning.statements:
            self.starts.state(statement)
            stage.turn += 1
        for phrase in meaning.used:
            self._use(phrase)
        step = 0
        for index, command in enumerate(meaning.commands):
            step = step + 1 if command.first or (command.then and step) else step
            before = len(self.effects)
            self._do(command)
            if command.hands and command.action != "hand":
                self._in_hands_first(command, before)
            self.effects[before:] = [replace(effect, command=index, step=step) for effect in self.effects[before:]]
            stage.turn += 1
        if all(effect.keep for effect in self.effects):  # "leave the drawer open" is all there is to do
            self.effects = [replace(effect, keep=False) for effect in self.effects]
        self._hold_first()
        for phrase in meaning.still:
            self._still(phrase)
        for thing in stage.left_out:
            if not any(ref.thing is thing for effect in self.effects for ref in effect.args):
                self.effects.append(Effect("unmoved", (Ref(thing),), keep=True))
        self._start_joints()
        self.effects.sort(key=lambda effect: effect.never)  # said last
        if self.effects and all(effect.name == "upright" for effect in self.effects):
            stage.reasons.append("everything stands upright from the start: say what else is to be done with it")

    # What holds all the time

    def _use(self, phrase: NounPhrase) -> None:
        """What is to be used where words leave it open: a part, something to put things in or on, a scoop to scoop with."""
        refs = self.stage.mention(self._resolve(phrase))
        if any(command.action == "wipe" for command in self.meaning.commands):  # "use the sponge to wipe the table"
            self.wipers += refs
            return
        scooping = any(command.action == "scoop" for command in self.meaning.commands)
        if scooping and all(ref.thing.asset.affordances.lips for ref in refs):
            return
        if any(ref.part is None and not suits(ref, "holder") for ref in refs):
            self.stage.reasons.append(f"'{phrase.text}': the robot uses no tools; say what is to be put where")
        self.stage.used.extend(refs)

    def _still(self, phrase: NounPhrase) -> None:
        """What is not to be moved: a thing keeps its place, a drawer or door stays as it is."""
        for ref in self._resolve(phrase):
            if not is_furniture(ref.thing):
                moved = [e for e in self.effects if e.name in (*PLACED, *HAND, *IN_HAND) and e.args[0].thing is ref.thing]
                if moved:
                    self.stage.reasons.append(f"'{phrase.text}' is not to be moved, and is to be moved all the same")
                self.effects.append(Effect("unmoved", (Ref(ref.thing),), keep=True))
            elif joints := ref.thing.asset.joints:
                self._untouched(phrase, [ref] if ref.part in joints else [Ref(ref.thing, part) for part in joints])

    def _untouched(self, phrase: NounPhrase, joints: list[Ref]) -> None:
        if any(joint in joints for effect in self.effects for joint in (*access(effect), *effect.args)):
            self.stage.reasons.append(f"'{phrase.text}' is not to be touched, and must be opened or closed for the rest")
            return
        for joint in joints:
            state: Literal["open", "closed"] = "open" if joint.thing.joints.get(joint.part or "") else "closed"
            self.effects.append(Effect(state, (joint,), keep=True))

    # Commands

    def _do(self, command: Command) -> None:
        match command.action:
            case "open" | "close" | "turn":
                self._swing(command)
            case "put" | "stack":
                self._put(command)
            case "touch":
                self.stage.reasons.append(
                    f"'{command.word}': the robot's touch cannot be checked; say grasp, lift, or make the spoon touch the plate"
                )
            case "contact":
                self._contact(command)
            case "pour" | "fill":
                self._pour(command)
            case "spill":
                self._spill_none(command)
            case "hand":
                refs = self._themes(command)
                if command.source is not None:
                    self._from(refs, command.source)
                for hand in command.hands:
                    self.effects.extend(Effect(IN_HANDS[hand], (Ref(ref.thing),), deliberate=True) for ref in refs)
                if command.hands == ("both",):
                    self._give_grips([ref.thing for ref in refs])
            case "upright":
                for ref in self._themes(command):
                    self.effects.append(Effect("upright", (Ref(ref.thing),)))
            case "scoop":
                self._scoop(command)
            case "cover":
                self._cover(command)
            case "hang":
                self._hang(command)
            case "wipe":
                self._wipe(command)
            case "squeeze" | "straighten" | "fold":
                name = {"squeeze": "squeezed", "straighten": "straightened", "fold": "folded"}[command.action]
                for ref in self._themes(command):
                    self.effects.append(Effect(name, (Ref(ref.thing),), deliberate=True))
            case "reorient":
                for ref in self._themes(command):
                    self._reorient(ref.thing, command.angle)
            case "take" | "remove" | "lift" | "grasp":
                self._take(command)

    def _reorient(self, thing: Thing, angle: float) -> None:
        """A thing is turned in the hand that it lies in at the start: of a size that fingers turn."""
        if thing.place is not None or any(effect.args[0].thing is thing for effect in self.effects):
            self.stage.reasons.append(f"'{_name(thing)}' lies in the hand from the start when it is turned there")
        thing.held = True
        if thing.size is None and set(CUBE) <= set(categories()[thing.category].params):
            thing.params.update(CUBE)
        turn = () if math.isclose(angle, math.pi / 2) else (("angle", angle),)
        self.effects.append(Effect("reoriented", (Ref(thing),), deliberate=True, params=turn))

    def _hold_first(self) -> None:
        """What one hand is to hold while the other works is in it before: an order that the words imply."""
        for index, first in enumerate(self.effects):
            later = self.effects[index + 1 :]
            others = [e for e in later if e.args[0].thing is not first.args[0].thing and not e.keep]
            if first.name not in IN_HAND or first.step or not others or any(e.slot == first.slot for e in later):
                continue
            step, before = 1, first
            for k, effect in enumerate(later, index + 1):
                step += effect.command != before.command or before.name in IN_HAND
                self.effects[k] = replace(effect, step=step)
                before = effect
            self.effects[: index + 1] = [replace(effect, step=1) for effect in self.effects[: index + 1]]
            return

    def _in_hands_first(self, command: Command, before: int) -> None:
        """What is moved with certain hands is in them on the way."""
        moved = [e for e in self.effects[before:] if e.name in (*PLACED, *HAND)]
        things = list(dict.fromkeys(effect.args[0].thing for effect in moved))
        self.effects[before:before] = [
            Effect(IN_HANDS[hand], (Ref(thing),), deliberate=True) for thing in things for hand in command.hands
        ]
        if command.hands == ("both",):
            self._give_grips(things)

    def _give_grips(self, things: list[Thing]) -> None:
        """What two hands are to hold has a grip for each, where it comes with such."""
        for thing in things:
            if "handles" in categories()[thing.category].params:
                thing.params["handles"] = True
            if not thing.asset.affordances.pairs:
                self.stage.reasons.append(f"'{_name(thing)}' has no two places far apart to hold it by; a tray has")

    def _resolve(self, phrase: NounPhrase, *, exclude: frozenset[Thing] = frozenset(), wants: Use = "any") -> tuple[Ref, ...]:
        """What a phrase means, and where it is at the start if the words say so."""
        refs = self.stage.resolve(phrase, exclude=exclude, wants=wants)
        for ref in refs:
            self.starts.told(phrase, ref)
        return refs

    def _themes(self, command: Command, wants: Use = "movable") -> tuple[Ref, ...]:
        refs: tuple[Ref, ...] = ()
        if command.themes:
            for phrase in command.themes:  # what is joined by "and" are different things
                refs += self._resolve(phrase, exclude=frozenset(ref.thing for ref in refs if ref.part is None), wants=wants)
        else:
            refs = self.stage.latest(wants)
            if not refs:
                self.stage.reasons.append(f"'{command.word}' what?")
        self.stage.mention(refs, topic=True)
        self.stage.handled.update((ref.thing, None) for ref in refs)
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
            elif command.action == "turn" and ref.thing.asset.joints[part.part].kind == "slide":
                self.stage.reasons.append(f"'{_name(ref.thing)}' slides; it cannot be turned")
            else:
                if part is not ref and len(ref.thing.asset.joints) > 1:
                    title = " ".join(reversed(part.part.split("_")))
                    self.stage.warnings.append(f"to {command.action} the {_name(ref.thing)} is taken to mean its {title}")
                self.effects.append(Effect(SWUNG[command.action], (part,), keep=command.keep))

    def _put(self, command: Command) -> None:
        themes = self._themes(command)
        if command.source is not None:
            self._from(themes, command.source)
        if command.destination is None:
            self._put_somewhere(command, themes)
            return
        if command.destination.relation in SIDES:
            self._put_beside(command, themes, command.destination)
            return
        if self._lay(themes, command.destination):
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

    def _put_somewhere(self, command: Command, themes: tuple[Ref, ...]) -> None:
        """Things whose place is not said: a tower of them, into what is to be used, or down again."""
        if command.action == "stack" and len(themes) > 1:
            self._tower(themes)
        elif themes and all(self._in_hand(ref) for ref in themes):  # "lift it and put it down"
            held_things = {ref.thing for ref in themes}
            self.effects = [
                replace(e, deliberate=True) if e.name in HAND and e.args[0].thing in held_things else e for e in self.effects
            ]
            self.effects.extend(Effect("on", (Ref(ref.thing), Ref(self._surface()))) for ref in themes)
        elif themes and self.stage.used:
            for theme in themes:
                self._on(theme, self.stage.used[-1], "to")
        elif themes:
            self.stage.reasons.append(f"'{command.word} {_name(themes[0].thing)}': where to?")

    def _put_beside(self, command: Command, themes: tuple[Ref, ...], place: Place) -> None:
        """To a side of a thing, or between two."""
        exclude = frozenset(ref.thing for ref in themes)
        if place.target is None:
            others = tuple(Ref(ref.thing) for ref in self.stage.latest("any", exclude=exclude)[:1])
            if not others:
                self.stage.reasons.append(f"'{command.word}': {place.relation} of what?")
        else:
            others = beside(self.stage, place, exclude)
            self.starts.nested(place, others)
        if place.relation != "between" and len(others) > 1:
            self._share(command, themes, others)
            return
        for theme in themes if others else ():
            self._beside(theme, others, place.relation)

    # Liquids

    def _cover(self, command: Command) -> None:
        themes = self._themes(command) if command.themes else ()
        if not themes or command.destination is None or command.destination.target is None:
            self.stage.reasons.append(f"'{command.word}': what with which cloth?")
            return
        for target in self._resolve(command.destination.target, exclude=frozenset(ref.thing for ref in themes))[:1]:
            self.effects.append(Effect("covers", (Ref(themes[0].thing), Ref(target.thing)), deliberate=True))

    def _hang(self, command: Command) -> None:
        """Over the bar of a rack, which is there though nobody speaks of it; a "rack" or a "bar" to hang on is one, too."""
        themes = self._themes(command)
        target = None if command.destination is None else command.destination.target
        if target is None:
            racks = [thing for thing in self.stage.things if thing.asset.affordances.bars] or self._known(RACK)
            rack = racks[0]
        else:
            if target.head in HANGERS and target.text.split()[-1] in HANGERS[target.head]:
                target = replace(target, head=RACK)
            found = self._resolve(target, exclude=frozenset(ref.thing for ref in themes))
            if not found:
                return
            rack = found[0].thing
        if not rack.asset.affordances.bars:
            self.stage.reasons.append(f"nothing can be hung on '{_name(rack)}': it has no bar")
            return
        for theme in themes:
            if _is_cloth(theme.thing):
                self.effects.append(Effect("hung", (Ref(theme.thing), Ref(rack)), deliberate=True))
            else:
                self.stage.reasons.append(f"'{_name(theme.thing)}' cannot be hung: only cloth hangs over a bar")

    def _wipe(self, command: Command) -> None:
        """A stain away, or that on a table, where there is one though nobody speaks of it; with a sponge if not said."""
        themes = self._themes(command, wants="any")
        if command.tool is not None:
            tools = self.stage.mention(self._resolve(command.tool, wants="movable"))
        else:
            tools = self.wipers[-1:] or tuple(Ref(thing) for thing in self._known(WIPER)[:1])
        for theme in themes if tools else ():
            stains = self._known(STAIN) if theme.thing.category in SURFACES else [theme.thing]
            for stain in stains:
                self.effects.append(Effect("wiped", (Ref(stain), Ref(tools[0].thing)), deliberate=True))

    def _known(self, category: str) -> list[Thing]:
        """The things of a category that are spoken of, or one that is not."""
        known = [thing for thing in self.stage.things if thing.category == category]
        if not known:
            known = [Thing(category, spoken=False)]
            self.stage.things.extend(known)
        return known

    def _lay(self, themes: tuple[Ref, ...], place: Place) -> bool:
        """What is cloth is laid over a thing, or hung on its bar; False where they are to be put as other things are."""
        if place.target is None or place.relation not in ("on", "to") or not themes:
            return False
        if not all(_is_cloth(theme.thing) for theme in themes):
            return False
        targets = self._resolve(place.target, exclude=frozenset(ref.thing for ref in themes))[:1]
        for target in targets:
            if target.thing.category in SURFACES:
                self.stage.reasons.append(f"'{_name(themes[0].thing)}' lies on the {_name(target.thing)} from the start")
                continue
            name = "hung" if target.thing.asset.affordances.bars else "covers"
            self.effects.extend(Effect(name, (Ref(theme.thing), Ref(target.thing)), deliberate=True) for theme in themes)
        return True

    def _pour(self, command: Command) -> None:
        """A liquid or grains into something; in a jug or a cup at the start where the words do not say in what."""
        said = self._themes(command, wants="any") if command.themes else ()
        if said and not said[0].thing.flows and suits(said[0], "hollow"):  # "pour the jug into the bowl"
            liquids = self._liquid_in(said[0])
        else:
            liquids = said or self.stage.mention(self._water())
        if not all(ref.thing.flows for ref in liquids):
            self.stage.reasons.append(f"'{command.word} {_name(liquids[0].thing)}': only liquids and grains can be poured")
            return
        if command.action == "fill" and not all(ref.thing.liquid for ref in liquids):
            self.stage.reasons.append(f"'{command.word}': how full grains make something cannot be checked; say pour")
            return
        if command.source is not None:
            self._from(liquids, command.source)
        if command.destination is None:
            self.stage.reasons.append(f"'{command.word} {_name(liquids[0].thing)}': into what?")
            return
        targets = self._targets(command.destination, liquids)
        for liquid in liquids if targets else ():
            target = targets[0].thing
            liquid.thing.place = liquid.thing.place or ("inside", Ref(self._source(liquid.thing, target)))
            self._check_elsewhere(liquid.thing, target)
            params = () if command.share == 1.0 else (("fraction", command.share),)
            if command.action == "pour":
                self.effects.append(Effect("poured", (liquid, Ref(target)), deliberate=True, params=params))
            else:
                self.effects.append(Effect("filled", (Ref(target),), deliberate=True))

    def _spill_none(self, command: Command) -> None:
        """What flows is to be in nothing but vessels at the end: what is named, what there is, or what is in what is moved."""
        said = self._themes(command, wants="any") if command.themes else ()
        kept = said or tuple(Ref(thing) for thing in self.stage.things if thing.flows)
        moved = [e.args[0] for e in self.effects if e.name in (*PLACED, *HAND) and not e.keep and suits(e.args[0], "hollow")]
        if moved and all(ref.thing.flows and ref.thing.place is None for ref in kept):  # "put the mug there without spilling"
            kept = self._liquid_in(moved[-1])
        if not kept:
            self.stage.reasons.append(f"'{command.word}': there is nothing to spill")
        for ref in kept:
            found = (ref,) if ref.thing.flows or not suits(ref, "hollow") else self._liquid_in(ref)  # "spilling the jug"
            if not found[0].thing.flows:
                self.stage.reasons.append(f"'{command.word} {_name(ref.thing)}': only liquids and grains can be spilled")
                continue
            self.effects.append(Effect("spilled", found, keep=True, never=True))

    def _scoop(self, command: Command) -> None:
        """Some grains into something, with a scoop; out of a bowl where the words do not say of what."""
        grains = self._themes(command, wants="any") if command.themes else ()
        if not grains or any(ref.thing.liquid or not ref.thing.flows for ref in grains):
            self.stage.reasons.append(f"'{command.word}': only grains such as beans can be scooped; say which")
            return
        if command.source is not None:
            self._from(grains, command.source)
        if command.destination is None:
            self.stage.reasons.append(f"'{command.word} {_name(grains[0].thing)}': into what?")
            return
        targets = self._targets(command.destination, grains)
        for heap in grains if targets else ():
            target = targets[0].thing
            heap.thing.place = heap.thing.place or ("inside", Ref(self._known_or_new(BOWL, target)))
            self._check_elsewhere(heap.thing, target)
            self.effects.append(Effect("scooped", (heap, Ref(target)), deliberate=True))
        if not any(thing.asset.affordances.lips for thing in self.stage.things):
            self.stage.things.append(Thing(SCOOP, spoken=False))

    def _check_elsewhere(self, flowing: Thing, target: Thing) -> None:
        """What is to get into something does not begin there."""
        if flowing.place is not None and flowing.place[1].thing is target:
            self.stage.reasons.append(f"'{_name(flowing)}' is in the {_name(target)} from the start")

    def _water(self) -> tuple[Ref, ...]:
        """The liquid last spoken of, or water."""
        known = [thing for thing in self.stage.things if thing.liquid]
        if not known:
            self.stage.things.append(Thing("water"))
        return (Ref(known[-1] if known else self.stage.things[-1]),)

    def _liquid_in(self, vessel: Ref) -> tuple[Ref, ...]:
        """What is in a vessel: water where nothing is said."""
        known = [t for t in self.stage.things if t.flows and t.place is not None and t.place[1].thing is vessel.thing]
        liquid = Ref(known[-1]) if known else self._water()[0]
        liquid.thing.place = liquid.thing.place or ("inside", Ref(vessel.thing))
        return self.stage.mention((liquid,))

    def _source(self, what: Thing, target: Thing) -> Thing:
        """What is poured is in where nobody says: a liquid in a jug, grains in a cup, unless that is where they go."""
        return self._known_or_new(JUG if what.liquid or target.category == CUP else CUP, target)

    def _known_or_new(self, category: str, target: Thing) -> Thing:
        """The thing of a category last spoken of, other than a target."""
        known = [thing for thing in self.stage.things if thing.category == category and thing is not target]
        if known:
            return known[-1]
        source = Thing(category, spoken=False)
        self.stage.things.append(source)
        return source

    def _in_hand(self, ref: Ref) -> bool:
        """Whether what was said before leaves a thing in the gripper."""
        taken = (*HAND, *IN_HAND, BOTH_HANDS)
        places = [e.name for e in self.effects if e.args[0].thing is ref.thing and e.name in (*taken, *PLACED)]
        return bool(places) and places[-1] in taken

    def _share(self, command: Command, themes: tuple[Ref, ...], targets: tuple[Ref, ...]) -> None:
        """One thing for each of several places: "a can on each plate"."""
        assert command.destination is not None
        single = len(command.themes) == 1 and command.themes[0].kind == "category" and command.themes[0].quantity == "one"
        if len(themes) == 1 and single:
            like = themes[0].thing
            more = [Thing(like.category, like.meant, like.color, like.size, like.material, like.materials) for _ in targets[1:]]
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
        if relation in SIDES:
            self._beside(theme, (target,), relation)
            return
        found, place = held(self.stage, target, relation, theme, say=True)
        self.effects.append(Effect(found, (Ref(theme.thing), place), deliberate=True))
        self.stage.brought.setdefault(theme.thing, set()).add(place.thing)

    def _beside(self, theme: Ref, others: tuple[Ref, ...], relation: Relation) -> None:
        effect = Effect(SIDES[relation], (Ref(theme.thing), *others), deliberate=True)
        put_back = any(other.slot == effect.slot for other in self.effects)
        if not put_back and any((start.name, start.args) == (effect.name, effect.args) for start in self.stage.initial):
            self.stage.reasons.append(f"'{theme.thing.name}' is there from the start")
        self.effects.append(effect)
        self.stage.brought.setdefault(theme.thing, set()).update(ref.thing for ref in others)

    def _contact(self, command: Command) -> None:
        themes = self._themes(command)
        targets = self._targets(command.destination, themes) if command.destination else ()
        if targets and themes:
            self.effects.extend(Effect("touching", (Ref(theme.thing), Ref(targets[0].thing))) for theme in themes)

    def _targets(self, place: Place, themes: tuple[Ref, ...]) -> tuple[Ref, ...]:
        """Where things go; "on top" without more is on what was last put on something, "inside" in what was last named."""
        exclude = frozenset(ref.thing for ref in themes)
        last = self.effects[-1] if self.effects else None
        if place.target is not None:
            hollow = place.relation == "in" and bool(self.stage.latest("hollow", exclude=exclude))
            refs = self._resolve(place.target, exclude=exclude, wants="hollow" if hollow else "holder")
        elif place.relation == "on" and last is not None and last.name == "on" and last.args[0].thing not in exclude:
            refs = self.stage.mention(last.args[:1])
        else:
            hollow = place.relation == "in" and bool(self.stage.latest("hollow", exclude=exclude))
            refs = self.stage.mention(self.stage.latest("hollow" if hollow else "holder", exclude=exclude)[:1])
            if not refs:
                self.stage.reasons.append("inside or on top of what?")
        if len(refs) > 1 and len({ref.thing for ref in refs}) == 1:  # "on the shelves": any of them
            return (Ref(refs[0].thing),)
        return refs

    def _from(self, themes: tuple[Ref, ...], source: NounPhrase) -> None:
        for ref in themes:
            self.starts.place(ref, Place(relation="from", target=source))

    def _take(self, command: Command) -> None:
        themes = self._themes(command)
        if command.source is not None:
            self._from(themes, command.source)
        elif command.action == "remove":
            self._out_of_latest(themes)
        for theme in themes:
            thing = theme.thing
            put_in = any(e.name == "inside" and e.args[0].thing is thing for e in self.effects)
            if command.action in ("lift", "grasp"):
                self.effects.append(
                    Effect("grasped" if command.action == "grasp" else "lifted", (Ref(thing),), command.deliberate)
                )
            elif put_in or (thing.place is not None and thing.place[1].thing.category not in SURFACES):
                self.effects.append(Effect("on", (Ref(thing), Ref(self._surface()))))
            else:
                self.effects.append(Effect("lifted", (Ref(thing),)))

    def _out_of_latest(self, themes: tuple[Ref, ...]) -> None:
        """ "Open the fridge, take out the bottle": it is in what was last opened, unless it was put there before."""
        sources = self.stage.latest("joint", exclude=frozenset(ref.thing for ref in themes))
        for ref in themes:
            put_in = any(e.name == "inside" and e.args[0].thing is ref.thing for e in self.effects)
            if sources and ref.thing.place is None and not put_in:
                ref.thing.place = held(self.stage, sources[0], "from", ref, say=False)

    def _surface(self) -> Thing:
        """The work surface, on which what is taken out is put."""
        for thing in self.stage.things:
            if thing.category in SURFACES:
                return thing
        named = [p.head for c in self.meaning.commands for p in phrases_of(c) if p.kind == "category" and p.head in SURFACES]
        furnished = any(is_furniture(thing) for thing in self.stage.things)
        name = named[0] if named else "table" if self.meaning.setting == "tabletop" or not furnished else "counter"
        thing = Thing(name, spoken=False)
        self.stage.things.append(thing)
        return thing

    def _start_joints(self) -> None:
        """What is to be closed, without having been opened for anything before, stands open at the start.

        What is to be left open stands open too, unless something opens it.
        """
        for index, effect in enumerate(self.effects):
            ref = effect.args[0]
            if effect.name != ("open" if effect.keep else "closed") or ref.part is None or ref.part in ref.thing.joints:
                continue
            others = self.effects if effect.keep else self.effects[:index]
            if not any(_moves(other, ref) for other in others if not other.keep):
                ref.thing.joints[ref.part] = HALF_OPEN


def _numbered(phrases: list[NounPhrase]) -> dict[tuple[str, str], int]:
    """How many parts the numbers of phrases want, by word and owner's category."""
    most: dict[tuple[str, str], int] = {}
    for phrase in phrases:
        if phrase.kind == "part" and phrase.position is not None and phrase.position.isdigit():
            key = phrase.head, phrase.owner.head if phrase.owner else PART_OWNERS.get(phrase.head, "")
            most[key] = max(most.get(key, 1), int(phrase.position))
    return most


def phrases_of(command: Command) -> list[NounPhrase]:
    """Every thing a command names outright."""
    place = command.destination
    phrases = [*command.themes, command.source, command.tool, place.target if place else None, place.second if place else None]
    return [phrase for phrase in phrases if phrase is not None]


def _moves(effect: Effect, joint: Ref) -> bool:
    """Whether an effect needs a door or drawer open, or opens it."""
    return (effect.name == "open" and effect.args[0] == joint) or joint in access(effect)


def _name(thing: Thing) -> str:
    return categories()[thing.category].names["en"][0]


def _is_cloth(thing: Thing) -> bool:
    matter = thing.asset.matter
    return matter is not None and matter.kind == "cloth"
