"""The English grammar: tokens to a `Meaning`.

brief     = {clause}
clause    = verb [things] {where} | where | things be where | "there are" things [where] | "no" things
          | "I want" things ought-where | things ought where          (ought: "should be", "belongs", "to be")
where     = relation thing | relation                 ("in the bowl", "inside")
things    = thing {("and" | ",") thing}
thing     = {article | quantity | number | colour | size | material | position} head ["of" thing]
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, cast

from embodiedsmith.forge.language.clauses import Draft, has_joints, looks, place_of_surface
from embodiedsmith.forge.language.cursor import Cursor, Stuck
from embodiedsmith.forge.language.lexer import Token
from embodiedsmith.forge.language.lexicon import Kind
from embodiedsmith.forge.language.meaning import Action, Command, Meaning, NounPhrase, Place, Quantity, Relation, Statement
from embodiedsmith.forge.language.words_en import BIN

_HEADS: tuple[Kind, ...] = ("noun", "tag", "part", "pronoun", "one")
_LOOKS: tuple[Kind, ...] = ("color", "size", "material", "position")
_MODIFIERS: tuple[Kind, ...] = (
    "article",
    "fresh",
    "quantifier",
    "number",
    "color",
    "size",
    "material",
    "position",
    "clutter",
    "setting",
)
_AFTER_CLUTTER: tuple[Kind, ...] = ("noun", "setting", "clutter", "comma", "stop", "and")
MASS = ("fruit", "food", "tableware", "cutlery", "drinkware", "cookware", "stationery", "cleaning")
"""Groups whose English word counts for several without an ending: "the silverware"."""
_DELIBERATE = ("lift", "raise", "elevate", "hold", "grasp", "grip", "seize", "clutch")
"""Verbs that are a deed of their own; "pick up" is only the beginning of another."""


class English:
    """Reads one English brief."""

    def __init__(self, tokens: list[Token]) -> None:
        self.cursor = Cursor(tokens)
        self.draft = Draft(language="en")
        self.then = False
        self.last_noun: str | None = None

    def read(self) -> Meaning:
        """The brief's meaning; raises `Stuck` where the grammar cannot go on."""
        while not self.cursor.done:
            if self.cursor.take("then"):
                self.then = True
            elif not self._separator():
                before = self.cursor.at
                self._clause()
                if self.cursor.at == before:
                    raise self.cursor.stuck("has no place here")
        return self.draft.finish()

    def _separator(self) -> bool:
        if self.cursor.sees("verb", "fresh"):
            return False
        return self.cursor.take("and", "comma", "stop", "filler") is not None

    def _clause(self) -> None:
        if self.cursor.sees("absent"):
            self.cursor.take("absent")
            self.draft.absent.extend(self._things())
        elif (want := self.cursor.take("want")) is not None:
            self._wish(want, self._things())
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

    # Statements about the scene

    def _existing(self) -> None:
        things = self._things()
        place = self._where()
        if place is not None and place.target is not None and self._is_setting(place.target):
            place = self._set_scene(place)
        self.draft.statements.append(Statement(things=things, place=place))

    def _leading_place(self) -> None:
        """ "On the desk, ..." or "from the table, take ...": sets the scene, or where the next thing is."""
        source = self.cursor.sense("relation")
        self.cursor.at += 1
        self._scene_words()
        if not self._at_thing():
            return
        thing = self._thing()
        if source is not None and source.value == "from":
            self.draft.pending_source = thing
            return
        relation = cast(Relation, source.value if source else "on")
        if place_of_surface(thing) is not None:
            self.draft.surface = thing
            if self.cursor.sees("article", "number", "quantifier") and not self._verb_ahead():
                self.draft.statements.append(Statement(things=self._things(), place=Place(relation=relation, target=thing)))
            return
        self.draft.pending_place = Place(relation=relation, target=thing)

    def _verb_ahead(self) -> bool:
        ahead = 0
        while (token := self.cursor.peek(ahead)) is not None and not token.has("comma", "stop"):
            if token.has("verb") and not token.has("clutter"):
                return True
            ahead += 1
        return False

    def _described(self) -> None:
        """A clause that begins with a thing: what it is like, where it is, or a verb left out."""
        self._scene_words()
        if self.cursor.done or not self._at_thing():
            return
        things = self._things()
        if self.cursor.take("not_needed"):
            self.draft.absent.extend(things)
            return
        if self.cursor.take("be"):
            result = self.cursor.take("result")
            if result is not None:
                state = result.sense("result")
                value: Literal["open", "closed"] = "open" if state is not None and state.value == "open" else "closed"
                self.draft.statements.append(Statement(things=things, state=value))
                return
            self.draft.statements.append(Statement(things=things, place=self._where()))
            return
        if self.cursor.sees("ought"):
            self._wish(None, things)
            return
        place = self._where()
        last = self.draft.commands[-1] if self.draft.commands else None
        if place is not None and last is not None and last.destination is not None:
            self.draft.commands.append(
                Command(action=last.action, word=last.word, themes=things, destination=place, then=self._took_then())
            )
            return
        surface = place_of_surface(things[0]) if len(things) == 1 else None
        if surface is not None and place is None:
            self.draft.surface = things[0]
            return
        self.draft.statements.append(Statement(things=things, place=place, verbless=place is not None))

    def _wish(self, want: Token | None, things: tuple[NounPhrase, ...]) -> None:
        """ "I want the mug on the plate", "the drawer should be open"."""
        ought = self.cursor.take("ought")
        word = (want or ought or self.cursor.tokens[-1]).text
        result = self.cursor.sense("result")
        if result is not None:
            self.cursor.at += 1
            self.draft.add(Command(action=cast(Action, result.value), word=word, themes=things, then=self._took_then()))
            return
        command = self._modify(Command(action="put", word=word, themes=things, then=self._took_then()))
        self.draft.add(replace(command, word="put"))

    def _scene_words(self) -> None:
        """Settings and how cluttered they are, standing alone: "a cluttered kitchen"."""
        while True:
            ahead = 0
            while self.cursor.sees("article", ahead=ahead):
                ahead += 1
            token = self.cursor.peek(ahead)
            if token is None or not token.has("setting", "clutter") or token.has("color"):
                return
            if token.has("setting") and self.cursor.sees("noun", "part", ahead=ahead + 1):
                self._note(token)
                self.cursor.at += ahead + 1
                continue
            goes_on = self.cursor.peek(ahead + 1) is not None
            if token.has("clutter") and goes_on and not self.cursor.sees(*_AFTER_CLUTTER, ahead=ahead + 1):
                return
            self._note(token)
            self.cursor.at += ahead + 1

    def _note(self, token: Token) -> None:
        setting, clutter = token.sense("setting"), token.sense("clutter")
        if setting is not None:
            self.draft.setting = setting.value
        if clutter is not None:
            self.draft.clutter = cast(Literal["cluttered", "tidy"], clutter.value)

    def _is_setting(self, thing: NounPhrase) -> bool:
        return place_of_surface(thing) is not None

    def _set_scene(self, place: Place) -> Place | None:
        if place.target is not None and place.relation == "on":
            self.draft.surface = place.target
            return None
        return place

    # Commands

    def _command(self) -> None:
        verb = self.cursor.take("verb")
        assert verb is not None
        sense = verb.sense("verb")
        assert sense is not None
        self.cursor.skip("filler")
        if sense.value == "tidy":
            self._tidy()
            return
        if sense.value == "contact":
            self._contact(verb)
            return
        if sense.value == "empty":
            self._empty(verb)
            return
        if sense.value == "discard":
            self._discard(verb)
            return
        action = cast(Action, sense.value)
        result = self.cursor.take("result") if self.cursor.sees("article", "noun", "part", ahead=1) else None
        themes = self._things() if self._at_thing() else ()
        command = Command(action=action, word=verb.text, themes=themes, then=self._took_then())
        command = self._modify(command)
        result = result or self.cursor.take("result")
        if result is not None:
            found = result.sense("result")
            assert found is not None
            command = replace(command, action=cast(Action, found.value), destination=None)
            self.cursor.skip("filler")
        if action in ("touch", "put") and command.action == "touch" and command.destination is not None:
            command = replace(command, action="put")
        deliberate = verb.text.lower().split()[0] in _DELIBERATE
        self.draft.add(replace(command, deliberate=deliberate))

    def _contact(self, verb: Token) -> None:
        """ "Make the spoon touch the plate"."""
        themes = self._things()
        touch = self.cursor.sense("verb")
        if touch is None or touch.value != "touch":
            raise self.cursor.stuck(f"'touch' was expected after '{verb.text} ...'")
        self.cursor.at += 1
        destination = Place(relation="near", target=self._thing())
        self.draft.add(Command(action="contact", word=verb.text, themes=themes, destination=destination, then=self._took_then()))

    def _empty(self, verb: Token) -> None:
        """ "Empty the drawer", "empty the box into the bin": all that is in it comes out."""
        everything = NounPhrase(kind="tag", head="object", text="everything", quantity="each")
        source = self._thing()
        command = Command(action="remove", word=verb.text, themes=(everything,), source=source, then=self._took_then())
        self.draft.add(self._modify(command))

    def _discard(self, verb: Token) -> None:
        """ "Throw the can away": into the bin, where no other place is named."""
        themes = self._things() if self._at_thing() else ()
        command = self._modify(Command(action="put", word=verb.text, themes=themes, then=self._took_then()))
        if command.destination is None:
            rubbish = NounPhrase(kind="category", head=BIN, text=BIN)
            command = replace(command, destination=Place(relation="in", target=rubbish))
        self.draft.add(command)

    def _took_then(self) -> bool:
        then, self.then = self.then, False
        return then

    def _tidy(self) -> None:
        self.draft.clutter = self.draft.clutter or "tidy"
        self._scene_words()
        if self._at_thing():
            thing = self._thing()
            if place_of_surface(thing) is None:
                raise self.cursor.stuck("only a table, a desk, a counter or a kitchen can be tidied")
            self.draft.surface = thing

    def _modify(self, command: Command) -> Command:
        """Read the places after a verb's things: from where, and to where."""
        places: list[Place] = []
        source = command.source
        while True:
            self.cursor.skip("filler")
            place = self._where()
            if place is None:
                break
            if place.relation == "from":
                source = place.target or source
                if place.target is None and command.action in ("take", "lift"):
                    command = replace(command, action="remove")
            elif place.target is not None and self._sets_scene(place):
                continue
            else:
                places.append(place)
        command = replace(command, source=source)
        return _assign(command, places)

    def _sets_scene(self, place: Place) -> bool:
        return place.target is not None and place.target.head == "setting"

    def _where(self) -> Place | None:
        """A relation and what it is to, or a relation alone ("inside"); None when there is neither here."""
        start = self.cursor.at
        relation = self.cursor.sense("relation")
        adverb = self.cursor.sense("adverb")
        if relation is None and adverb is None:
            return None
        self.cursor.at += 1
        if relation is not None:
            self._setting_after_relation()
            if self._at_thing():
                return Place(relation=cast(Relation, relation.value), target=self._thing())
            if self.cursor.at > start + 1:
                return self._where()
        if adverb is not None:
            return Place(relation=cast(Relation, adverb.value), target=None)
        raise self.cursor.stuck("a thing must follow 'in', 'on', 'next to', 'to' or 'from'")

    def _setting_after_relation(self) -> None:
        """ "in the kitchen": no thing, but where everything happens."""
        ahead = 0
        while self.cursor.sees("article", "clutter", ahead=ahead):
            ahead += 1
        token = self.cursor.peek(ahead)
        if token is not None and token.has("setting") and not self.cursor.sees("noun", "part", ahead=ahead + 1):
            self._scene_words()

    # Things

    def _at_thing(self) -> bool:
        """Whether a thing begins here."""
        ahead = 0
        while self.cursor.sees(*_MODIFIERS, "of", "kind", ahead=ahead) and not self.cursor.sees(
            "noun", "part", "tag", ahead=ahead
        ):
            if ahead > 0 and self.cursor.sees("one", ahead=ahead):
                return True
            if self.cursor.sees("pronoun", ahead=ahead) and not self.cursor.sees(*_MODIFIERS, *_HEADS, ahead=ahead + 1):
                return True
            if self.cursor.sees("quantifier", ahead=ahead):
                return True
            ahead += 1
        return self.cursor.sees(*_HEADS, ahead=ahead) or (ahead > 0 and self.cursor.sees("color", ahead=ahead - 1))

    def _things(self) -> tuple[NounPhrase, ...]:
        things = [self._thing()]
        while True:
            start = self.cursor.at
            joined = bool(self.cursor.take("comma"))
            joined = bool(self.cursor.take("and")) or joined
            if not joined or self.cursor.sees("verb", "then", "relation") or not self._at_thing() or self._clause_of_its_own():
                self.cursor.at = start
                return tuple(things)
            things.append(self._thing())

    def _clause_of_its_own(self) -> bool:
        """Whether the thing here begins a new clause ("and the door is open")."""
        start = self.cursor.at
        self._thing()
        new = self.cursor.sees("be", "not_needed")
        self.cursor.at = start
        return new

    def _thing(self) -> NounPhrase:
        start = self.cursor.at
        quantity: Quantity = "one"
        count: int | None = None
        words: dict[str, str] = {}
        fresh = False
        while True:
            token = self.cursor.peek()
            if token is None:
                break
            if token.has("kind") and self.cursor.sees("noun", ahead=1):
                self.cursor.at += 1
                continue
            if token.has("part") and not self.cursor.sees("noun", ahead=1):
                break
            if token.has("noun", "tag") and not (
                token.has("color", "material", "clutter") and self.cursor.sees(*_HEADS, *_MODIFIERS, ahead=1)
            ):
                break
            if token.has("pronoun") and not self.cursor.sees(*_HEADS, *_MODIFIERS, ahead=1):
                break
            if token.has("one") and not token.has("number"):
                break
            if (
                token.has("one")
                and token.has("number")
                and words
                and not self.cursor.sees("noun", "tag", "part", *_MODIFIERS, ahead=1)
            ):
                break
            if token.has("one") and fresh:
                break
            if token.has("fresh"):
                fresh = True
            elif (found := token.sense("quantifier")) is not None:
                if found.value == "everything":
                    return self._everything()
                quantity, count = _quantity(found.value, count)
            elif (found := token.sense("number")) is not None:
                count = int(found.value)
            elif (found := token.sense("clutter") or token.sense("setting")) is not None:
                self._note(token)
            elif not self._modifier(token, words) and not token.has("article", "of"):
                break
            self.cursor.at += 1
        return self._head(start, quantity, count, words, fresh)

    def _everything(self) -> NounPhrase:
        """ "Everything", and what it is like: "everything red", "everything that is small"."""
        start = self.cursor.at
        self.cursor.at += 1
        words: dict[str, str] = {}
        if self.cursor.sees("be") and self.cursor.sees("color", "size", "material", ahead=1):
            self.cursor.at += 1
        while (token := self.cursor.peek()) is not None and not token.has("position") and self._modifier(token, words):
            self.cursor.at += 1
        return NounPhrase(
            kind="tag", head="object", text=self.cursor.text(start), quantity="each",
            color=words.get("color"), size=looks(words)[0], materials=looks(words)[1],
        )  # fmt: skip

    def _modifier(self, token: Token, words: dict[str, str]) -> bool:
        """Note a colour, size, material or position; whether the token was one."""
        for kind in _LOOKS:
            sense = token.sense(kind)
            if sense is not None:
                words[kind] = sense.value
                return True
        return False

    def _head(self, start: int, quantity: Quantity, count: int | None, words: dict[str, str], fresh: bool) -> NounPhrase:
        token = self.cursor.peek()
        if token is None or not token.has(*_HEADS):
            if "color" in words or "position" in words:
                return self._elided(start, quantity, count, words, fresh)
            raise self.cursor.stuck("a thing was expected here")
        self.cursor.at += 1
        owner: NounPhrase | None = None
        if (pronoun := token.sense("pronoun")) is not None and not token.has("noun"):
            return NounPhrase(kind="pronoun", head=pronoun.value, text=token.text, quantity=quantity, count=count)
        if token.has("one") and not token.has("noun"):
            return self._elided(start, quantity, count, words, fresh)
        part, noun, tag = token.sense("part"), token.sense("noun"), token.sense("tag")
        if part is not None and noun is not None and "position" not in words and not part.plural and quantity == "one":
            part = None
        if noun is not None and part is None:
            compound = self._compound(words)
            if compound is not None:
                owner = NounPhrase(
                    kind="category",
                    head=noun.value,
                    text=token.text,
                    color=words.get("color"),
                    size=looks(words)[0],
                    materials=looks(words)[1],
                )
                token, part, noun = compound, compound.sense("part"), None
                words = {key: value for key, value in words.items() if key == "position"}
        sense = part or noun or tag
        assert sense is not None
        if part is None and "position" in words:
            raise Stuck(self.cursor.text(start), f"'{words['position']}' can only be said of a drawer, a door or a shelf")
        if sense.plural and quantity == "one" and count is None:
            quantity = "some" if part is None else "each"
        if part is None and noun is None and sense.value in MASS and quantity == "one" and count is None:
            quantity = "one" if any(t.text.lower() in ("a", "an") for t in self.cursor.tokens[start : self.cursor.at]) else "some"
        size, materials = looks(words)
        phrase = NounPhrase(
            kind="part" if part else "category" if noun else "tag",
            head=sense.value,
            text=self.cursor.text(start),
            quantity=quantity,
            count=count,
            fresh=fresh,
            position=words.get("position"),
            owner=owner,
            color=words.get("color"),
            size=size,
            materials=materials,
        )
        if noun is not None:
            self.last_noun = noun.value
        return self._after_head(phrase)

    def _compound(self, words: dict[str, str]) -> Token | None:
        """The part named after its owner: "microwave door", "the cabinet's top drawer"."""
        start = self.cursor.at
        self.cursor.take("possessive")
        position = self.cursor.take("position")
        token = self.cursor.take("part")
        if token is None:
            self.cursor.at = start
            return None
        if position is not None and (sense := position.sense("position")) is not None:
            words["position"] = sense.value
        return token

    def _after_head(self, phrase: NounPhrase) -> NounPhrase:
        """What follows the head: "of the cabinet", "on the left"."""
        self.cursor.skip("be") if phrase.kind == "part" and self.cursor.sees("be") and self.cursor.sees(
            "relation", "at", ahead=1
        ) else None
        if phrase.kind == "part" and self.cursor.sees("relation", "at"):
            start = self.cursor.at
            self.cursor.at += 1
            self.cursor.skip("article")
            position = self.cursor.take("position")
            if position is not None and not self.cursor.sees(*_HEADS):
                sense = position.sense("position")
                assert sense is not None
                phrase = replace(phrase, position=sense.value)
            else:
                self.cursor.at = start
        if phrase.kind == "part" and phrase.owner is None and (self.cursor.sees("of") or self._owner_relation()):
            self.cursor.at += 1
            phrase = replace(phrase, owner=self._thing())
        return phrase if phrase.kind == "part" else self._relative(phrase)

    def _relative(self, phrase: NounPhrase) -> NounPhrase:
        """ "The block that is red", "the mug which is on the table"."""
        token = self.cursor.peek()
        if token is None or not token.has("be") or not token.text.lower().startswith(("that", "which")):
            return phrase
        if self.cursor.sees("color", "size", "material", ahead=1):
            self.cursor.at += 1
            words: dict[str, str] = {}
            while (token := self.cursor.peek()) is not None and not token.has("position") and self._modifier(token, words):
                self.cursor.at += 1
            size, materials = looks(words)
            return replace(
                phrase, color=words.get("color", phrase.color), size=size or phrase.size, materials=materials or phrase.materials
            )
        if self.cursor.sees("relation", "adverb", ahead=1):
            self.cursor.at += 1
            return replace(phrase, place=self._where())
        return phrase

    def _owner_relation(self) -> bool:
        """ "the drawer in the cabinet": the relation names the owner when a thing with parts follows."""
        if not self.cursor.sees("relation"):
            return False
        sense = self.cursor.sense("relation")
        if sense is None or sense.value not in ("in", "on"):
            return False
        start = self.cursor.at
        self.cursor.at += 1
        has_parts = False
        if self._at_thing():
            thing = self._thing()
            has_parts = thing.kind == "category" and has_joints(thing.head)
        self.cursor.at = start
        return has_parts

    def _elided(self, start: int, quantity: Quantity, count: int | None, words: dict[str, str], fresh: bool) -> NounPhrase:
        """ "the green one", "the green": the head is the last noun said."""
        if "position" in words and "color" not in words:
            return NounPhrase(kind="part", head="drawer", text=self.cursor.text(start), position=words["position"])
        everything = self.last_noun is None and quantity == "each"  # "all the red ones"
        return NounPhrase(
            kind="tag" if everything else "one",
            head="object" if everything else self.last_noun or "",
            text=self.cursor.text(start),
            quantity=quantity,
            count=count,
            fresh=fresh,
            color=words.get("color"),
            size=looks(words)[0],
            materials=looks(words)[1],
        )


def _quantity(value: str, count: int | None) -> tuple[Quantity, int | None]:
    if value == "each":
        return "each", count
    if value == "some":
        return "some", count
    return "some", int(value)


def _assign(command: Command, places: list[Place]) -> Command:
    """Which of the places said is where it goes, and which says where something is."""
    if not places:
        return command
    *before, last = places
    moves = command.action in ("put", "stack", "take", "remove")
    if (
        command.action in ("take", "remove")
        and (last.relation == "in" or (last.relation == "on" and last.target is not None))
        and not command.source
    ):
        moves = bool(before)  # "take the mug on the plate" says where it is
    if not moves:
        themes = tuple(replace(theme, place=last) for theme in command.themes)
        return replace(command, themes=themes)
    located = last.target is not None and place_of_surface(last.target) is not None
    if before and located and before[-1].target is not None and place_of_surface(before[-1].target) is None:
        destination, where = before[-1], before[:-1]
    else:
        destination, where = last, before
    action: Action = "put" if command.action in ("take", "remove") else command.action
    themes = tuple(replace(theme, place=where[-1]) if where else theme for theme in command.themes)
    return replace(command, action=action, themes=themes, destination=destination)
