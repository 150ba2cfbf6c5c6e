"""The English grammar: tokens to a `Meaning`.

brief     = {["first" | "then"] clause [("before" | "after") command]}
clause    = verb [things] {where} | where | things be where | "there are" things [where] | "no" things
          | "I want" things ought-where | things ought where          (ought: "should be", "belongs", "to be")
          | "do not move" things | things "must not be moved" | "use" thing | "do not open" thing
Commands are read by `english_deeds`, things and places by `english_things`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, cast

from embodiedsmith.forge.language.clauses import Draft, place_of_surface
from embodiedsmith.forge.language.cursor import Cursor, Stuck
from embodiedsmith.forge.language.english_deeds import BESIDE, KEEPING, Deeds, on_surface
from embodiedsmith.forge.language.english_looks import dressed, state_of
from embodiedsmith.forge.language.english_things import Things
from embodiedsmith.forge.language.lexer import Token
from embodiedsmith.forge.language.meaning import Action, Command, Meaning, NounPhrase, Place, Relation, Statement

_NO_GOAL = "what is not to be done is no goal by itself: say what is to be done, too"


class English:
    """Reads one English brief."""

    def __init__(self, tokens: list[Token]) -> None:
        self.cursor = Cursor(tokens)
        self.draft = Draft(language="en")
        self.things = Things(self.cursor, self.draft)
        self.deeds = Deeds(self.cursor, self.draft, self.things)

    def read(self) -> Meaning:
        """The brief's meaning; raises `Stuck` where the grammar cannot go on."""
        while not self.cursor.done:
            if self.cursor.take("then"):
                self.deeds.then = True
            elif self.deeds.first_here():
                self.deeds.mark_first()
            elif self.cursor.sees("before", "after"):
                self.deeds.ordered()
            elif not self._separator():
                before = self.cursor.at
                self._clause()
                if self.cursor.at == before:
                    raise self.cursor.stuck("has no place here")
        self.deeds.end_sentence()
        place = self.draft.pending_place
        loose = self.draft.pending_source or (None if place is None else place.target)
        if loose is not None:
            raise Stuck(loose.text, "nothing is said to be done there")
        meaning = self.draft.finish()
        forbidden = [command.word for command in meaning.commands if command.keep and command.word.lower() not in KEEPING]
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
            self.deeds.end_sentence()
        return token is not None

    # Clauses

    def _clause(self) -> None:
        if self.cursor.sees("absent"):
            self._absent()
        elif (still := self.cursor.take("still")) is not None:
            self._still(still)
        elif (forbidden := self.cursor.sense("forbid")) is not None:
            self._forbidden(forbidden.value)
        elif self.deeds.lead_with_hands():
            pass
        elif self.cursor.take("use"):
            self._used()
        elif (want := self.cursor.take("want")) is not None:
            if not self.cursor.sees("still"):
                self._wish(want, self.things.things())
        elif self.cursor.take("exist") or self.cursor.take("with") or self.cursor.sees("least"):
            self._existing()
        elif self.cursor.sees("verb") and not self._adjective_here():
            self.deeds.command()
        elif self.cursor.sees("relation", "at") and not self.cursor.sees("verb"):
            self._leading_place()
        elif (token := self.cursor.peek()) is not None and token.has("be") and token.text.lower().startswith(("which", "that")):
            self.cursor.take("be")  # ", which is open"
            self._is((NounPhrase(kind="pronoun", head="it", text="it"),))
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
        place = self.things.where()
        if place is not None and place.target is not None and not on_surface(place) and place.target.kind != "pronoun":
            raise Stuck(place.target.text, "that something is not there can be said of the whole scene only")
        if place is not None and place.target is not None and on_surface(place):
            self.draft.surface = place.target

    def _still(self, word: Token) -> None:
        """ "Do not move the plate", "without touching the bowl"."""
        things = self._placed(self.things.things())
        if any(thing.kind == "tag" and thing.fresh for thing in things):
            raise Stuck(f"{word.text} {things[0].text}", "say which things are not to be moved: everything else cannot be told")
        self.deeds.keep_still(things, word)

    def _forbidden(self, kept: str) -> None:
        """ "Do not close the drawer": it is open at the end."""
        word = self.cursor.take("forbid")
        assert word is not None
        themes = self.things.things() if self.things.at_thing() else ()
        self.deeds.add(Command(action=cast(Action, kept), word=word.text, themes=themes, keep=True))

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
        if place is not None and place.target is not None and place.relation == "on" and on_surface(place):
            self.draft.surface = place.target
            place = None
        first = things[0]
        if least and len(things) == 1 and first.kind == "tag" and first.head == "object" and first.count is not None:
            if place is not None and (place.target is None or place.target.kind != "pronoun"):
                raise Stuck(first.text, "only all the things there are can be counted so")
            self.draft.at_least = first.count
            return
        self._state_of(things, place)

    def _state_of(self, things: tuple[NounPhrase, ...], place: Place | None) -> None:
        """Things that are there; "two mugs, a red one and a blue one" and "two mugs: one red and one blue" are two."""
        self.things.stated = next((t.head for t in reversed(things) if t.kind == "category"), self.things.stated)
        first, *rest = things
        groups = [t for s in self.draft.statements for t in s.things if t.kind != "one" and (t.count or 0) > 1]
        if groups and place is None:
            before = groups[-1]
            things = tuple(replace(t, among=before) if t.kind == "one" and t.among is None else t for t in things)
            first = things[0]
        if first.kind != "one" and (first.count or 0) > 1 and rest and all(thing.kind == "one" for thing in rest):
            self.draft.statements.append(Statement(things=(first,), place=place))
            self.draft.statements.append(Statement(things=tuple(replace(thing, among=first) for thing in rest)))
            return
        self.draft.statements.append(Statement(things=things, place=place))

    def _leading_place(self) -> None:
        """ "On the desk, ..." or "from the table, take ...": sets the scene, or where the next thing is."""
        source = self.cursor.sense("relation")
        if source is not None and source.value in BESIDE:
            place = self.things.where()
        else:
            self.cursor.at += 1
            self.things.scene_words()
            if not self.things.at_thing() or self.cursor.sees("with"):
                return
            place = Place(relation=cast(Relation, source.value if source else "on"), target=self.things.thing())
        if place is None or place.target is None:
            return
        if place.relation == "from":
            self.draft.pending_source = place.target
            return
        if place_of_surface(place.target) is not None and place.relation not in BESIDE:
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
        things = self._located(self.things.things())
        if self.cursor.take("not_needed"):
            self.draft.absent.extend(things)
        elif self.cursor.take("be"):
            self._is(things)
        elif self.cursor.sees("ought"):
            self._wish(None, things)
        elif (still := self.cursor.take("unmoved")) is not None:
            self.deeds.keep_still(things, still)
        elif self.cursor.sees("stay"):
            self._stays(things)
        elif self.cursor.sees("for") and len(things) == 1 and self.draft.commands and self.draft.commands[-1].word == "for":
            self._use_for(things[0])
        elif self.cursor.sees("color", "size", "material") and all(thing.among is not None for thing in things):
            self._like(things)
        else:
            self._verbless(things)

    def _located(self, things: tuple[NounPhrase, ...]) -> tuple[NounPhrase, ...]:
        """ "The mug in the drawer is red": the place tells which, where something is said of them after it."""
        start = self.cursor.at
        placed = self._placed(things)
        if self.cursor.sees("be", "ought", "unmoved", "stay", "not_needed"):
            return placed
        self.cursor.at = start
        return things

    def _is(self, things: tuple[NounPhrase, ...]) -> None:
        """After "is": open or closed, what it is like, or where it is."""
        if (result := self.cursor.take("result")) is not None:
            self.draft.statements.append(Statement(things=things, state=state_of(result)))
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
        self._state_of(tuple(dressed(thing, words) for thing in things), None)

    def _stays(self, things: tuple[NounPhrase, ...]) -> None:
        """ "The drawer should stay open", "the plate must stay where it is"."""
        word = self.cursor.take("stay")
        assert word is not None
        if (result := self.cursor.take("result")) is not None:
            sense = result.sense("result")
            assert sense is not None
            self.deeds.add(Command(action=cast(Action, sense.value), word="keep", themes=things, keep=True))
            return
        self.cursor.take("unmoved")
        self.deeds.keep_still(self._placed(things), word)

    def _verbless(self, things: tuple[NounPhrase, ...]) -> None:
        last = self.draft.commands[-1] if self.draft.commands else None
        if last is not None and last.destination is not None and self.cursor.sees("relation", "adverb"):
            self.deeds.add(
                self.deeds.modify(Command(action=last.action, word=last.word, themes=things))
            )  # "and the apple in the bowl"
            return
        if last is not None and len(self.draft.commands) > self.deeds.sentence and not self.cursor.sees("relation", "adverb"):
            self.deeds.add(replace(last, themes=things))  # "put the apple in the bowl and the banana too"
            return
        place = self.things.where()
        surface = place_of_surface(things[0]) if len(things) == 1 else None
        if surface is not None and place is None:
            self.draft.surface = things[0]
            return
        if place is None:
            self._state_of(things, None)
        else:
            self.draft.statements.append(Statement(things=things, place=place, verbless=True))

    def _wish(self, want: Token | None, things: tuple[NounPhrase, ...]) -> None:
        """ "I want the mug on the plate", "the drawer should be open", "make sure the drawer is closed"."""
        ought = self.cursor.take("ought") or (want and self.cursor.take("be"))
        word = (want or ought or self.cursor.tokens[-1]).text
        if (unmoved := self.cursor.take("unmoved")) is not None:
            self.deeds.keep_still(things, unmoved)
        elif self.cursor.sees("stay"):
            self._stays(things)
        elif (result := self.cursor.sense("result")) is not None:
            self.cursor.at += 1
            self.deeds.add(Command(action=cast(Action, result.value), word=word, themes=things))
        else:
            self.deeds.add(replace(self.deeds.modify(Command(action="put", word=word, themes=things)), word="put"))

    def _used(self) -> None:
        """ "Use the left drawer": which one is meant, or what the next things go into."""
        self.draft.used.append(self.things.thing())
        start = self.cursor.at
        relation = self.cursor.take("relation")
        if relation is None or relation.text.lower() != "to" or not self.cursor.sees("verb"):
            self.cursor.at = start
        if self.cursor.sees("for"):
            self._use_for(self.draft.used.pop())

    def _use_for(self, place: NounPhrase) -> None:
        """ "Use the plate for the lemon"."""
        word = self.cursor.take("for")
        assert word is not None
        things = self.things.things()
        self.deeds.add(Command(action="put", word=word.text, themes=things, destination=Place(relation="to", target=place)))
