"""The English grammar: tokens to a `Meaning`.

brief     = {["first" | "then"] clause [("before" | "after") command]}
clause    = verb [things] {where} | where | things be where | "there are" things [where] | "no" things
          | "I want" things ought-where | things ought where          (ought: "should be", "belongs", "to be")
          | "do not move" things | things "must not be moved" | "use" thing | "do not open" thing
Things and places are read by `english_things`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, cast

from embodiedsmith.forge.language.clauses import Draft, place_of_surface
from embodiedsmith.forge.language.cursor import Cursor, Stuck
from embodiedsmith.forge.language.english_things import Things, dressed
from embodiedsmith.forge.language.lexer import Token
from embodiedsmith.forge.language.meaning import Action, Command, Meaning, NounPhrase, Place, Relation, Statement
from embodiedsmith.forge.language.words_en import BIN

_DELIBERATE = ("lift", "raise", "elevate", "hold", "grasp", "grip", "seize", "clutch")
"""Verbs that are a deed of their own; "pick up" is only the beginning of another."""
_KEEPING = ("leave", "keep", "leaving", "keeping")
"""Verbs by which something is to be so at the end, whatever it is at the start."""
_PUSHING = ("push", "nudge", "pushing", "nudging")
"""Verbs of touching that move a thing where a place follows."""
_BESIDE = ("left", "right", "front", "behind", "near", "between")
"""Relations by which the place of a thing is told from another's: "in the bowl next to the plate" is in that bowl."""
_NO_GOAL = "what is not to be done is no goal by itself: say what is to be done, too"


class English:
    """Reads one English brief."""

    def __init__(self, tokens: list[Token]) -> None:
        self.cursor = Cursor(tokens)
        self.draft = Draft(language="en")
        self.things = Things(self.cursor, self.draft)
        self.then = self.first = False
        self.sentence = 0
        """How many commands there were when this sentence began."""
        self.postponed: list[Command] = []
        """What is to be done after the rest of its sentence: "before closing it, ..."."""

    def read(self) -> Meaning:
        """The brief's meaning; raises `Stuck` where the grammar cannot go on."""
        while not self.cursor.done:
            if self.cursor.take("then"):
                self.then = True
            elif self._first_here():
                self.cursor.take("first")
                self._mark_first()
            elif self.cursor.sees("before", "after"):
                self._ordered()
            elif not self._separator():
                before = self.cursor.at
                self._clause()
                if self.cursor.at == before:
                    raise self.cursor.stuck("has no place here")
        self._do_postponed()
        meaning = self.draft.finish()
        forbidden = [command.word for command in meaning.commands if command.keep and command.word.lower() not in _KEEPING]
        if meaning.commands and len(forbidden) == len(meaning.commands):
            raise Stuck(forbidden[0], _NO_GOAL)
        if meaning.still and not meaning.commands:
            raise Stuck(meaning.still[0].text, _NO_GOAL)
        return meaning

    def _separator(self) -> bool:
        if self.cursor.sees("verb", "fresh"):
            return False
        token = self.cursor.take("and", "comma", "stop", "filler")
        if token is not None and token.has("stop"):
            self._do_postponed()
            self.sentence = len(self.draft.commands)
        return token is not None

    # Order

    def _first_here(self) -> bool:
        """Whether "first" says when, and not which ("the first drawer")."""
        return self.cursor.sees("first") and not self.cursor.sees("noun", "part", "one", "tag", "kind", ahead=1)

    def _mark_first(self) -> None:
        """ "first open the drawer", or "open the drawer first"."""
        if self.cursor.sees("verb", "comma", "filler", "article", "want") or not self.draft.commands:
            self.first = True
        else:
            self.draft.commands[-1] = replace(self.draft.commands[-1], first=True)

    def _ordered(self) -> None:
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
            self._command()
            self._join_order(told, leading=leading, after=after)
            return
        earlier = self.draft.commands[self.sentence :]  # "close the drawer after putting the mug in it"
        del self.draft.commands[self.sentence :]
        self.first, self.then = earlier[0].first or not earlier[0].then, earlier[0].then
        self._command()
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

    def _do_postponed(self) -> None:
        """End of a sentence that began with "before doing ...": now that is done, too."""
        if not self.postponed:
            return
        main = self.draft.commands[self.sentence :]
        main = [_naming(command, self.postponed[0]) for command in main]
        if main and not main[0].then:
            main[0] = replace(main[0], first=True)
        self.draft.commands[self.sentence :] = main
        for command in self.postponed:
            self.draft.commands.append(replace(command, then=True))
        self.postponed = []

    def _add(self, command: Command) -> None:
        """Append a command with the words of order said before it."""
        then, self.then = self.then, False
        first, self.first = self.first, False
        self.draft.add(replace(command, then=then, first=first))

    # Clauses

    def _clause(self) -> None:
        if self.cursor.sees("absent"):
            self._absent()
        elif (still := self.cursor.take("still")) is not None:
            self._still(still)
        elif (forbidden := self.cursor.sense("forbid")) is not None:
            self._forbidden(forbidden.value)
        elif self.cursor.take("use"):
            self._used()
        elif (want := self.cursor.take("want")) is not None:
            if not self.cursor.sees("still"):
                self._wish(want, self.things.things())
        elif self.cursor.take("exist") or self.cursor.take("with"):
            self._existing()
        elif self.cursor.sees("verb") and not self._adjective_here():
            self._command()
        elif self.cursor.sees("relation", "at") and not self.cursor.sees("verb"):
            self._leading_place()
        else:
            self._described()

    def _adjective_here(self) -> bool:
        """Whether the verb here is an adjective: "clean desk"."""
        return self.cursor.sees("clutter") and self.cursor.sees("noun", "setting", "clutter", ahead=1)

    # What is not to be

    def _absent(self) -> None:
        word = self.cursor.take("absent")
        if word is not None and word.text.lower().endswith("nothing else"):
            self.draft.clutter = "tidy"
            self.things.where()
            return
        self.draft.absent.extend(self.things.things())

    def _still(self, word: Token) -> None:
        """ "Do not move the plate", "without touching the bowl"."""
        things = self._placed(self.things.things())
        if any(thing.kind == "tag" and thing.fresh for thing in things):
            raise Stuck(f"{word.text} {things[0].text}", "say which things are not to be moved: everything else cannot be told")
        self._keep_still(things, word)

    def _keep_still(self, things: tuple[NounPhrase, ...], word: Token) -> None:
        self.draft.still.extend(things)
        if any(part in word.text.lower() for part in ("touch", "disturb", "knock", "bump")):
            names = " and ".join(thing.text for thing in things)
            self.draft.warnings.append(f"'{word.text} {names}' is checked as: what is meant stays where it is")

    def _forbidden(self, kept: str) -> None:
        """ "Do not close the drawer": it is open at the end."""
        word = self.cursor.take("forbid")
        assert word is not None
        themes = self.things.things() if self.things.at_thing() else ()
        self._add(Command(action=cast(Action, kept), word=word.text, themes=themes, keep=True))

    def _placed(self, things: tuple[NounPhrase, ...]) -> tuple[NounPhrase, ...]:
        """Things with the place that tells which is meant, when one follows."""
        place = self.things.where()
        return things if place is None else tuple(replace(thing, place=thing.place or place) for thing in things)

    # Statements about the scene

    def _existing(self) -> None:
        """ "There are", "with": things that are there, perhaps at least so many."""
        if self.cursor.sees("absent"):
            self._absent()
            return
        if self.cursor.sees("clutter") and self.cursor.sees("stop", "comma", ahead=1):
            self.things.scene_words()
            return
        pending, self.draft.pending_place = self.draft.pending_place, None
        things = self.things.things()
        least = self.things.least
        place = self.things.where() or pending
        if place is not None and place.target is not None and place.relation == "on" and _surface(place):
            self.draft.surface = place.target
            place = None
        first = things[0]
        if least and len(things) == 1 and first.kind == "tag" and first.head == "object" and first.count is not None:
            self.draft.at_least = first.count
            return
        self._state_of(things, place)

    def _state_of(self, things: tuple[NounPhrase, ...], place: Place | None) -> None:
        """Things that are there; "two mugs, a red one and a blue one" are two."""
        first, *rest = things
        if first.count is not None and first.count > 1 and rest and all(thing.kind == "one" for thing in rest):
            self.draft.statements.append(Statement(things=(first,), place=place))
            self.draft.statements.append(Statement(things=tuple(replace(thing, among=first) for thing in rest)))
            return
        self.draft.statements.append(Statement(things=things, place=place))

    def _leading_place(self) -> None:
        """ "On the desk, ..." or "from the table, take ...": sets the scene, or where the next thing is."""
        source = self.cursor.sense("relation")
        if source is not None and source.value in _BESIDE:
            place = self.things.where()
        else:
            self.cursor.at += 1
            self.things.scene_words()
            if not self.things.at_thing():
                return
            place = Place(relation=cast(Relation, source.value if source else "on"), target=self.things.thing())
        if place is None or place.target is None:
            return
        if place.relation == "from":
            self.draft.pending_source = place.target
            return
        if place_of_surface(place.target) is not None and place.relation not in _BESIDE:
            self.draft.surface = place.target
            if self.cursor.sees("article", "number", "quantifier") and not self._verb_ahead():
                self.draft.statements.append(Statement(things=self.things.things(), place=place))
            return
        if self.cursor.take("be"):  # "behind the box is a mug"
            self._state_of(self.things.things(), place)
            return
        self.draft.pending_place = place

    def _verb_ahead(self) -> bool:
        ahead = 0
        while (token := self.cursor.peek(ahead)) is not None and not token.has("comma", "stop"):
            if token.has("verb") and not token.has("clutter"):
                return True
            ahead += 1
        return False

    def _described(self) -> None:
        """A clause that begins with a thing: what it is like, where it is, or a verb left out."""
        self.things.scene_words()
        if self.cursor.done or not self.things.at_thing():
            return
        things = self.things.things()
        if self.cursor.take("not_needed"):
            self.draft.absent.extend(things)
        elif self.cursor.take("be"):
            self._is(things)
        elif self.cursor.sees("ought"):
            self._wish(None, things)
        elif (still := self.cursor.take("unmoved")) is not None:
            self._keep_still(things, still)
        elif self.cursor.sees("stay"):
            self._stays(things)
        elif self.cursor.sees("color", "size", "material") and all(thing.among is not None for thing in things):
            self._like(things)
        else:
            self._verbless(things)

    def _is(self, things: tuple[NounPhrase, ...]) -> None:
        """After "is": open or closed, what it is like, or where it is."""
        if (result := self.cursor.take("result")) is not None:
            self.draft.statements.append(Statement(things=things, state=_state(result)))
        elif self.cursor.sees("color", "size", "material"):
            self._like(things)
        elif (token := self.cursor.peek()) is not None and token.has("superlative"):
            self.cursor.at += 1
            sense = token.sense("superlative")
            assert sense is not None
            found = cast("Literal['largest', 'smallest']", sense.value)
            self.draft.statements.append(Statement(things=tuple(replace(thing, superlative=found) for thing in things)))
        else:
            self._state_of(things, self.things.where())

    def _like(self, things: tuple[NounPhrase, ...]) -> None:
        """What things are like: "red and large"."""
        words = self.things.looks_here()
        self.draft.statements.append(Statement(things=tuple(dressed(thing, words) for thing in things)))

    def _stays(self, things: tuple[NounPhrase, ...]) -> None:
        """ "The drawer should stay open", "the plate must stay where it is"."""
        word = self.cursor.take("stay")
        assert word is not None
        if (result := self.cursor.take("result")) is not None:
            sense = result.sense("result")
            assert sense is not None
            self._add(Command(action=cast(Action, sense.value), word="keep", themes=things, keep=True))
            return
        self.cursor.take("unmoved")
        self._keep_still(self._placed(things), word)

    def _verbless(self, things: tuple[NounPhrase, ...]) -> None:
        place = self.things.where()
        last = self.draft.commands[-1] if self.draft.commands else None
        if place is not None and last is not None and last.destination is not None:  # "and the apple in the bowl"
            command = Command(action=last.action, word=last.word, themes=things, destination=place)
            self._add(command)
            return
        surface = place_of_surface(things[0]) if len(things) == 1 else None
        if surface is not None and place is None:
            self.draft.surface = things[0]
            return
        self.draft.statements.append(Statement(things=things, place=place, verbless=place is not None))

    def _wish(self, want: Token | None, things: tuple[NounPhrase, ...]) -> None:
        """ "I want the mug on the plate", "the drawer should be open", "make sure the drawer is closed"."""
        ought = self.cursor.take("ought") or (want and self.cursor.take("be"))
        word = (want or ought or self.cursor.tokens[-1]).text
        if (unmoved := self.cursor.take("unmoved")) is not None:
            self._keep_still(things, unmoved)
        elif self.cursor.sees("stay"):
            self._stays(things)
        elif (result := self.cursor.sense("result")) is not None:
            self.cursor.at += 1
            self._add(Command(action=cast(Action, result.value), word=word, themes=things))
        else:
            self._add(replace(self._modify(Command(action="put", word=word, themes=things)), word="put"))

    def _used(self) -> None:
        """ "Use the left drawer": which one is meant, or what the next things go into."""
        self.draft.used.append(self.things.thing())
        start = self.cursor.at
        relation = self.cursor.take("relation")
        if relation is None or relation.text.lower() != "to" or not self.cursor.sees("verb"):
            self.cursor.at = start

    # Commands

    def _command(self) -> None:
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
            case _:
                self._handle(verb, cast(Action, sense.value))

    def _handle(self, verb: Token, action: Action) -> None:
        """A verb of moving, holding, opening or closing, with its things and places."""
        keeps = verb.text.lower() in _KEEPING
        result = self.cursor.take("result") if self.cursor.sees("article", "noun", "part", ahead=1) else None
        themes = self.things.things() if self.things.at_thing() else ()
        if keeps and (unmoved := self.cursor.take("unmoved")) is not None:
            self._keep_still(themes, unmoved)
            return
        command = self._modify(Command(action=action, word=verb.text, themes=themes))
        if keeps and (unmoved := self.cursor.take("unmoved")) is not None:  # "leave the mug on the plate where it is"
            self._keep_still(command.themes if command.destination is None else _at(command), unmoved)
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
            self._add(step)

    def _in_turn(self, command: Command) -> list[Command]:
        """The same for each thing, one after the other, where the words say "in that order"."""
        if self.cursor.take("orderly") is None or len(command.themes) < 2:
            return [command]
        self.first, self.then = self.first or not self.then, self.then
        first, *rest = (replace(command, themes=(theme,)) for theme in command.themes)
        self._add(first)
        for step in rest[:-1]:
            self.then = True
            self._add(step)
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
        self._add(Command(action="contact", word=verb.text, themes=themes, destination=destination))

    def _empty(self, verb: Token) -> None:
        """ "Empty the drawer", "empty the box into the bin": all that is in it comes out."""
        everything = NounPhrase(kind="tag", head="object", text="everything", quantity="each")
        source = self.things.thing()
        self._add(self._modify(Command(action="remove", word=verb.text, themes=(everything,), source=source)))

    def _discard(self, verb: Token) -> None:
        """ "Throw the can away": into the bin, where no other place is named."""
        themes = self.things.things() if self.things.at_thing() else ()
        command = self._modify(Command(action="put", word=verb.text, themes=themes))
        if command.destination is None:
            rubbish = NounPhrase(kind="category", head=BIN, text=BIN)
            command = replace(command, destination=Place(relation="in", target=rubbish))
        self._add(command)

    def _tidy(self) -> None:
        self.draft.clutter = self.draft.clutter or "tidy"
        self.things.scene_words()
        if self.things.at_thing():
            thing = self.things.thing()
            if place_of_surface(thing) is None:
                raise self.cursor.stuck("only a table, a desk, a counter or a kitchen can be tidied")
            self.draft.surface = thing

    def _modify(self, command: Command) -> Command:
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
            else:
                places.append(place)
        return self._assign(replace(command, source=source), places)

    def _assign(self, command: Command, places: list[Place]) -> Command:
        """Which of the places said is where it goes, and which says where something is."""
        if not places:
            return command
        *before, last = places
        if _tells_which(command, last, moved=bool(before)):
            themes = tuple(replace(theme, place=last) for theme in command.themes)
            return replace(command, themes=themes)
        if before and _surface(last) and not _surface(before[-1]):  # "next to the bowl on the table"
            if last.target is not None and self.draft.surface is None:
                self.draft.surface = last.target
            last, before = before[-1], before[:-1]
        elif before and last.relation in _BESIDE and before[-1].relation not in _BESIDE and not _surface(before[-1]):
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


def _tells_which(command: Command, last: Place, *, moved: bool) -> bool:
    """Whether a place says where a thing is, and not where it goes: "take the mug on the plate", "lift the one in the box"."""
    if command.action in ("put", "stack") or command.word.lower() in _PUSHING:
        return False
    if command.action not in ("take", "remove"):
        return True
    located = last.relation in ("in", *_BESIDE) or (last.relation == "on" and last.target is not None)
    return located and not command.source and not moved


def _surface(place: Place) -> bool:
    return place.target is not None and place_of_surface(place.target) is not None and place.relation not in _BESIDE


def _at(command: Command) -> tuple[NounPhrase, ...]:
    """Things told by the place that was read as their destination."""
    return tuple(replace(theme, place=theme.place or command.destination) for theme in command.themes)


def _state(result: Token) -> Literal["open", "closed"]:
    sense = result.sense("result")
    return "open" if sense is not None and sense.value == "open" else "closed"


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
