"""What an English brief wants done: verbs with their things and places, and the order of them.

command = verb [things] {where} [result]        ("push it shut", "leave the plate where it is")
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import cast

from embodiedsmith.forge.language.clauses import Draft, of_it, place_of_surface
from embodiedsmith.forge.language.cursor import Cursor
from embodiedsmith.forge.language.english_things import Things
from embodiedsmith.forge.language.lexer import Token
from embodiedsmith.forge.language.meaning import Action, Command, NounPhrase, Place, Statement
from embodiedsmith.forge.language.words_en import BIN

_DELIBERATE = ("lift", "raise", "elevate", "hold", "grasp", "grip", "seize", "clutch")
"""Verbs that are a deed of their own; "pick up" is only the beginning of another."""
KEEPING = ("leave", "keep", "leaving", "keeping")
"""Verbs by which something is to be so at the end, whatever it is at the start."""
_PUSHING = ("push", "nudge", "pushing", "nudging")
"""Verbs of touching that move a thing where a place follows."""
BOTH = ("both",)
OTHER = {"left": "right", "right": "left"}
HELD: tuple[Action, ...] = ("take", "lift", "grasp", "put", "stack")
"""Verbs of what is in the hand meanwhile."""
BESIDE = ("left", "right", "front", "behind", "near", "between")
"""Relations by which the place of a thing is told from another's: "in the bowl next to the plate" is in that bowl."""


class Deeds:
    """Reads commands onto a draft."""

    def __init__(self, cursor: Cursor, draft: Draft, things: Things) -> None:
        self.cursor = cursor
        self.draft = draft
        self.things = things
        self.then = self.first = False
        """Words of order said before the next command."""
        self.sentence = 0
        """How many commands there were when this sentence began."""
        self.postponed: list[Command] = []
        """What is to be done after the rest of its sentence: "before closing it, ..."."""
        self.leading: tuple[str, ...] = ()
        """Hands said before the verb: "with both hands, lift the tray"."""

    # Order

    def first_here(self) -> bool:
        """Whether "first" says when, and not which ("the first drawer")."""
        return self.cursor.sees("first") and not self.cursor.sees("noun", "part", "one", "tag", "kind", ahead=1)

    def mark_first(self) -> None:
        """ "first open the drawer", or "open the drawer first"."""
        self.cursor.take("first")
        said_before = self.cursor.peek(-2)
        leads = said_before is None or said_before.has("comma", "stop", "and", "then", "filler", "want")
        if leads or not self.draft.commands:
            self.first = True
        else:
            self.draft.commands[-1] = replace(self.draft.commands[-1], first=True)

    def ordered(self) -> None:
        """ "X before doing Y", "after doing Y, X", and the other two ways round."""
        word = self.cursor.take("before", "after")
        assert word is not None
        self.cursor.skip("filler")
        if not self.cursor.sees("verb"):
            raise self.cursor.stuck(f"a deed must follow '{word.text}', such as '{word.text} closing the drawer'")
        leading, told = len(self.draft.commands) == self.sentence, len(self.draft.commands)
        after = word.has("after")
        if leading or not after:
            self.first = self.first or (leading and after)
            self.command()
            self._join_order(told, leading=leading, after=after)
            return
        earlier = self.draft.commands[self.sentence :]  # "close the drawer after putting the mug in it"
        del self.draft.commands[self.sentence :]
        self.first, self.then = earlier[0].first or not earlier[0].then, earlier[0].then
        self.command()
        made = self.draft.commands[self.sentence :]
        self.draft.commands[self.sentence :] = [_naming(command, earlier[0]) for command in made]
        self.draft.commands += [replace(earlier[0], first=False, then=True), *earlier[1:]]

    def _join_order(self, told: int, *, leading: bool, after: bool) -> None:
        """Mark what was just read, and what it comes before or after, as steps of one order."""
        if after:  # "after closing it, lift the mug"
            self.then = True
            return
        made = self.draft.commands[told:]
        if leading:  # "before closing the drawer, put the mug in it"
            del self.draft.commands[told:]
            self.postponed += made
            return
        head = self.draft.commands[self.sentence]
        if not head.then:
            self.draft.commands[self.sentence] = replace(head, first=True)
        self.draft.commands[told] = replace(made[0], then=True)

    def end_sentence(self) -> None:
        """After "before doing ..., ...": now that is done, too."""
        if self.postponed:
            self._do_postponed()
        self.sentence = len(self.draft.commands)

    def _do_postponed(self) -> None:
        main = self.draft.commands[self.sentence :]
        main = [_naming(command, self.postponed[0]) for command in main]
        if main and not main[0].then:
            main[0] = replace(main[0], first=True)
        self.draft.commands[self.sentence :] = main
        for command in self.postponed:
            self.draft.commands.append(replace(command, then=True))
        self.postponed = []

    def add(self, command: Command) -> None:
        """Append a command with the words of order said before it."""
        then, self.then = self.then, False
        first, self.first = self.first, False
        self.draft.add(replace(command, then=then, first=first))

    # Commands

    def command(self) -> None:
        verb = self.cursor.take("verb")
        assert verb is not None
        sense = verb.sense("verb")
        assert sense is not None
        self.cursor.skip("filler")
        match sense.value:
            case "tidy":
                self._tidy()
            case "contact":
                self._contact(verb)
            case "empty":
                self._empty(verb)
            case "discard":
                self._discard(verb)
            case "pour":
                self._pour(verb)
            case "scoop":
                self._scoop(verb)
            case "fill":
                self._fill(verb)
            case "cover":
                self._cover(verb)
            case "hand":
                self._hand(verb)
            case "wipe":
                self._wipe(verb)
            case _:
                self._handle(verb, cast(Action, sense.value))

    def _handle(self, verb: Token, action: Action) -> None:
        """A verb of moving, holding, opening or closing, with its things and places."""
        keeps = verb.text.lower() in KEEPING
        result = self.cursor.take("result") if self.cursor.sees("article", "noun", "part", ahead=1) else None
        themes = self.things.things() if self.things.at_thing() else ()
        if keeps and (unmoved := self.cursor.take("unmoved")) is not None:
            self.keep_still(themes, unmoved)
            return
        if action == "turn" and self._in_palm(verb, themes):
            return
        if result is None and self._ends_straight():
            result = self.cursor.take("result")
        hands = self._said_hands() if action in HELD else ()
        if hands and hands != BOTH and action in ("take", "lift", "grasp"):
            self.add(Command(action="hand", word=verb.text, themes=themes, hands=hands))
            return
        command = self.modify(Command(action=action, word=verb.text, themes=themes))
        if action in HELD and (hands := hands or self._hands()):
            command = in_hands(command, hands)
            if command.action == "hand":
                self.add(command)
                return
        if keeps and (unmoved := self.cursor.take("unmoved")) is not None:  # "leave the mug on the plate where it is"
            self.keep_still(command.themes if command.destination is None else _at(command), unmoved)
            return
        if verb.text.lower() in ("keep", "keeping") and command.destination is not None and not self.cursor.sees("result"):
            self.draft.statements.append(Statement(things=themes, place=command.destination))  # "keep the banana on the plate"
            self.keep_still(themes, verb)
            return
        result = result or self.cursor.take("result")
        if result is not None:
            found = result.sense("result")
            assert found is not None
            kept = keeps and found.value != "upright"
            command = replace(command, action=cast(Action, found.value), destination=None, keep=kept)
            self.cursor.skip("filler")
        command = replace(command, deliberate=verb.text.lower().split()[0] in _DELIBERATE)
        for step in self._in_turn(command):
            self.add(step)

    def _in_palm(self, verb: Token, themes: tuple[NounPhrase, ...]) -> bool:
        """ "Rotate the cube in the hand by 90 degrees": read what is said after the thing; whether it is turned in the hand."""
        start, angle, sign, palm = self.cursor.at, math.pi / 2, 1.0, False
        while True:
            self.cursor.skip("filler")
            clock = self.cursor.sense("clock")
            if clock is not None:
                sign = -1.0 if clock.value == "clockwise" else 1.0
                self.cursor.at += 1
            elif self.cursor.take("palm") is not None:
                palm = True
            elif (said := self.said_angle()) is not None:
                angle = said
            else:
                break
        if not palm:
            self.cursor.at = start
            return False
        self.add(Command(action="reorient", word=verb.text, themes=themes, angle=sign * angle))
        return True

    def said_angle(self) -> float | None:
        """ "By 90 degrees", "90 degrees" [rad]; None: nothing of the kind is said here."""
        word = self.cursor.peek()
        by = int(word is not None and word.text.lower() == "by")
        number = self.cursor.sense("number", by)
        if number is None or not number.value.isdigit() or not self.cursor.sees("degrees", ahead=by + 1):
            return None
        self.cursor.at += by + 2
        return math.radians(float(number.value))

    def lead_with_hands(self) -> bool:
        """Read "with both hands", "use the left hand to", said before what they do; whether they were."""
        start = self.cursor.at
        if self.cursor.take("use", "with"):
            self.cursor.skip("article", "filler")
            token = self.cursor.take("hand")
            sense = None if token is None else token.sense("hand")
            if sense is not None:
                self.leading = (sense.value,)
                word = self.cursor.peek()
                if word is not None and word.text.lower() == "to":
                    self.cursor.at += 1
                return True
        self.cursor.at = start
        return False

    def _said_hands(self) -> tuple[str, ...]:
        """Hands said after a verb's things, or before the verb."""
        before, self.leading = self.leading, ()
        return self._hands() or before

    def _ends_straight(self) -> bool:
        """Whether a clause ends here with "straight", which is what is to come about, and not how ("straight into the box")."""
        word, after = self.cursor.sense("result"), self.cursor.peek(1)
        ends = after is None or after.has("comma", "stop", "and", "then", "filler")
        return word is not None and word.value == "straighten" and ends

    def _in_turn(self, command: Command) -> list[Command]:
        """The same for each thing, one after the other, where the words say "in that order"."""
        if self.cursor.take("orderly") is None or len(command.themes) < 2:
            return [command]
        self.first, self.then = self.first or not self.then, self.then
        first, *rest = (replace(command, themes=(theme,)) for theme in command.themes)
        self.add(first)
        for step in rest[:-1]:
            self.then = True
            self.add(step)
        self.then = True
        return rest[-1:]

    def _contact(self, verb: Token) -> None:
        """ "Make the spoon touch the plate"."""
        themes = self.things.things()
        touch = self.cursor.sense("verb")
        if touch is None or touch.value != "touch":
            raise self.cursor.stuck(f"'touch' was expected after '{verb.text} ...'")
        self.cursor.at += 1
        destination = Place(relation="near", target=self.things.thing())
        self.add(Command(action="contact", word=verb.text, themes=themes, destination=destination))

    def _empty(self, verb: Token) -> None:
        """ "Empty the drawer", "empty the box into the bin": all that is in it comes out."""
        everything = NounPhrase(kind="tag", head="object", text="everything", quantity="each")
        source = self.things.thing()
        self.add(self.modify(Command(action="remove", word=verb.text, themes=(everything,), source=source)))

    def _pour(self, verb: Token) -> None:
        """ "Pour half of the water from the jug into the glass"."""
        share = self.cursor.sense("share")
        self.cursor.at += share is not None
        themes = tuple(map(of_it, self.things.things() if self.things.at_thing() else ()))
        poured = Command(action="pour", word=verb.text, themes=themes, share=float(share.value) if share else 1.0)
        self.add(self.modify(poured))

    def _scoop(self, verb: Token) -> None:
        """ "Scoop some of the beans from the bowl into the box with the scoop"."""
        themes = tuple(map(of_it, self.things.things() if self.things.at_thing() else ()))
        self.add(self.modify(Command(action="scoop", word=verb.text, themes=themes)))
        if self.cursor.take("with") is not None and self.things.at_thing():
            self.draft.used.append(self.things.thing())

    def _fill(self, verb: Token) -> None:
        """ "Fill the bowl with water"."""
        target = Place(relation="in", target=self.things.thing() if self.things.at_thing() else None)
        liquid = self.things.things() if self.cursor.take("with") is not None and self.things.at_thing() else ()
        filled = self.modify(Command(action="fill", word=verb.text, themes=liquid))
        self.add(replace(filled, action="fill", destination=target))

    def _cover(self, verb: Token) -> None:
        """ "Cover the bowl with the napkin"."""
        over = Place(relation="on", target=self.things.thing() if self.things.at_thing() else None)
        cloth = self.things.things() if self.cursor.take("with") is not None and self.things.at_thing() else ()
        self.add(replace(self.modify(Command(action="cover", word=verb.text, themes=cloth)), action="cover", destination=over))

    def _wipe(self, verb: Token) -> None:
        """ "Wipe the table with the sponge", "wipe the stain off the table with the sponge"."""
        command = self.modify(Command(action="wipe", word=verb.text, themes=self.things.things()))
        tool = self.things.thing() if self.cursor.take("with") is not None else None
        self.add(self.modify(replace(command, tool=tool)))

    def _hand(self, verb: Token) -> None:
        """ "Hand the stick to the right hand", "pass it from the left hand to the right"."""
        themes = self.things.things() if self.things.at_thing() else ()
        hands = self._hands()
        if not hands:
            raise self.cursor.stuck(
                f"there is nobody to hand things to; of a robot's hands, say which: '{verb.text} ... to the right hand'"
            )
        giver = OTHER[hands[-1]] if len(hands) == 1 else hands[0]
        self.add(Command(action="hand", word=verb.text, themes=themes, hands=(giver, hands[-1])))

    def _hands(self) -> tuple[str, ...]:
        """Hands named next, in the order they come to hold the thing: "in the left hand", "from the left hand to the right"."""
        hands: list[str] = []
        while True:
            start = self.cursor.at
            self.cursor.skip("filler")
            side = self.cursor.sense("adverb")
            if hands and side is not None and side.value in OTHER:  # "to the right"
                self.cursor.at += 1
                hands.append(side.value)
                continue
            self.cursor.take("relation", "with", "use")
            self.cursor.skip("article")
            token = self.cursor.take("hand")
            found = None if token is None else token.sense("hand")
            if found is None:
                self.cursor.at = start
                return tuple(hands)
            hands.append(found.value)

    def _discard(self, verb: Token) -> None:
        """ "Throw the can away": into the bin, where no other place is named."""
        themes = self.things.things() if self.things.at_thing() else ()
        command = self.modify(Command(action="put", word=verb.text, themes=themes))
        if command.destination is None:
            rubbish = NounPhrase(kind="category", head=BIN, text=BIN)
            command = replace(command, destination=Place(relation="in", target=rubbish))
        self.add(command)

    def _tidy(self) -> None:
        self.draft.clutter = self.draft.clutter or "tidy"
        self.things.scene_words()
        if self.things.at_thing():
            thing = self.things.thing()
            if place_of_surface(thing) is None:
                raise self.cursor.stuck("only a table, a desk, a counter or a kitchen can be tidied")
            self.draft.surface = thing

    def modify(self, command: Command) -> Command:
        """Read the places after a verb's things: from where, and to where."""
        places: list[Place] = []
        source = command.source
        while True:
            self.cursor.skip("filler")
            place = self.things.where(alike=command.action == "stack")
            if place is None:
                break
            if place.relation == "from":
                source = place.target or source
                if place.target is None and command.action in ("take", "lift"):
                    command = replace(command, action="remove")
            elif source is not None and not places and place.relation in BESIDE and place_of_surface(source) is None:
                source = replace(source, place=place)  # "from the bowl next to the plate"
            else:
                places.append(place)
        return self._assign(replace(command, source=source), places)

    def _assign(self, command: Command, places: list[Place]) -> Command:
        """Which of the places said is where it goes, and which says where something is."""
        if not places:
            return command
        *before, last = places
        if command.action == "stack" and all(place.relation == "on" and place.target is not None for place in places):
            tower = tuple(place.target for place in before if place.target is not None)  # "on the blue block on the green block"
            return replace(command, themes=(*command.themes, *tower), destination=last)
        if _tells_which(command, last, moved=bool(before)):
            themes = tuple(replace(theme, place=last) for theme in command.themes)
            return replace(command, themes=themes)
        if before and on_surface(last) and not on_surface(before[-1]):  # "next to the bowl on the table"
            if last.target is not None and self.draft.surface is None:
                self.draft.surface = last.target
            last, before = before[-1], before[:-1]
        elif before and last.relation in BESIDE and before[-1].relation not in BESIDE and not on_surface(before[-1]):
            last, before = self._nested(before[-1], last), before[:-1]
        action: Action = "put" if command.action in ("take", "remove", "touch") else command.action
        themes = tuple(replace(theme, place=before[-1]) if before else theme for theme in command.themes)
        return replace(command, action=action, themes=themes, destination=last)

    def _nested(self, place: Place, beside: Place) -> Place:
        """ "In the bowl next to the plate": the bowl that is next to the plate."""
        if place.target is None or beside.target is None:
            return place
        self.draft.warnings.append(f"'{beside.target.text}' is taken to say where '{place.target.text}' is")
        return replace(place, target=replace(place.target, place=beside))

    def keep_still(self, things: tuple[NounPhrase, ...], word: Token) -> None:
        """Note that things are not to be moved, and which words say so."""
        self.draft.still.extend(things)
        if any(part in word.text.lower() for part in ("touch", "disturb", "knock", "bump")):
            names = " and ".join(thing.text for thing in things)
            self.draft.warnings.append(f"'{word.text} {names}' is checked as: what is meant stays where it is")


def in_hands(command: Command, hands: tuple[str, ...]) -> Command:
    """A command whose things are in those hands meanwhile; where they go nowhere, to have them there is all there is to do."""
    moves = command.destination is not None or (command.action == "lift" and hands == BOTH)
    return replace(command, action=command.action if moves else "hand", hands=hands)


def _tells_which(command: Command, last: Place, *, moved: bool) -> bool:
    """Whether a place says where a thing is, and not where it goes: "take the mug on the plate", "lift the one in the box"."""
    if command.action in ("put", "stack", "pour", "scoop", "fill", "hang", "wipe") or command.word.lower() in _PUSHING:
        return False
    if command.action not in ("take", "remove"):
        return True
    located = last.relation in ("in", *BESIDE) or (last.relation == "on" and last.target is not None)
    return located and not command.source and not moved


def on_surface(place: Place) -> bool:
    """Whether a place is the table or counter that all stands on."""
    return place.target is not None and place_of_surface(place.target) is not None and place.relation not in BESIDE


def _at(command: Command) -> tuple[NounPhrase, ...]:
    """Things told by the place that was read as their destination."""
    return tuple(replace(theme, place=theme.place or command.destination) for theme in command.themes)


def _naming(command: Command, other: Command) -> Command:
    """A command said after another that is done before it: its "it" is the other's thing."""
    if len(other.themes) != 1 or other.themes[0].kind == "pronoun":
        return command
    thing = other.themes[0]

    def named(phrase: NounPhrase | None) -> NounPhrase | None:
        return thing if phrase is not None and phrase.kind == "pronoun" and phrase.head == "it" else phrase

    place = command.destination
    if place is not None:
        target = thing if place.target is None and place.relation in ("in", "on") else named(place.target)
        place = replace(place, target=target)
    themes = tuple(theme if (found := named(theme)) is None else found for theme in command.themes)
    return replace(command, themes=themes, destination=place)
