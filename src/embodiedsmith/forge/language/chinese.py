"""The Chinese grammar: tokens to a `Meaning`.

brief  = {clause}
clause = [从 place] (把 things [从 place] verb | verb things | things verb) [place] | things 在 place | 有 things
place  = thing [里 | 上 | 旁边]
thing  = {quantity | number classifier | colour | size | material | position | place 的 | 的} head
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, cast

from embodiedsmith.forge.language.clauses import Draft, looks, place_of_surface
from embodiedsmith.forge.language.cursor import Cursor, Stuck
from embodiedsmith.forge.language.lexer import Token
from embodiedsmith.forge.language.lexicon import Kind
from embodiedsmith.forge.language.meaning import Action, Command, Meaning, NounPhrase, Place, Quantity, Relation, Statement
from embodiedsmith.forge.language.words_en import BIN
from embodiedsmith.forge.language.words_zh import BOARD_POSITIONS, INSIDE

_HEADS: tuple[Kind, ...] = ("noun", "tag", "part", "pronoun")
_LOOKS: tuple[Kind, ...] = ("color", "size", "material", "position")


class Chinese:
    """Reads one Chinese brief."""

    def __init__(self, tokens: list[Token]) -> None:
        self.cursor = Cursor(tokens)
        self.draft = Draft(language="zh")
        self.then = False

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
        if self.cursor.sees("verb"):
            return False
        return self.cursor.take("and", "comma", "stop", "filler") is not None

    def _clause(self) -> None:
        if self.cursor.take("absent", "not_needed"):
            if self.cursor.sees("ba", "verb", "filler", "not_needed"):
                raise Stuck(
                    self.cursor.text(self.cursor.at - 1), "what is not to be done cannot be told: say only what is to be done"
                )
            if self.cursor.sees(*_HEADS, *_LOOKS, "quantifier", "number"):
                self.draft.absent.extend(self._things())
        elif self.cursor.sees("ba") and not self.cursor.sees("verb"):
            self.cursor.take("ba")
            self._moved()
        elif self.cursor.take("from"):
            self.draft.pending_source = self._place_target()
        elif self.cursor.sees("at"):
            self._set_scene()
        elif self.cursor.sees("exist") and not self.cursor.sees("verb"):
            self.cursor.take("exist")
            self.draft.statements.append(Statement(things=self._things(), place=self._scene_place()))
        elif self.cursor.sees("verb") and not self.cursor.sees("clutter"):
            self._command(())
        else:
            self._described()

    # The scene

    def _set_scene(self) -> None:
        """在厨房里 / 在桌子上: where it all happens; otherwise where the next thing is or goes."""
        self.cursor.take("at")
        if self._scene_words():
            self.cursor.take("place")
            self.cursor.take("de")
            return
        place = self._place()
        if place.target is not None and place_of_surface(place.target) is not None:
            self.draft.surface = place.target
            return
        self.draft.pending_place = place

    def _scene_words(self) -> bool:
        found = False
        while True:
            token = self.cursor.peek()
            if token is None or not token.has("setting", "clutter") or token.has("noun", "part"):
                return found
            found = found or token.has("setting")
            self._note(token)
            self.cursor.at += 1
            self.cursor.take("de")

    def _note(self, token: Token) -> None:
        setting, clutter = token.sense("setting"), token.sense("clutter")
        if setting is not None:
            self.draft.setting = setting.value
        if clutter is not None:
            self.draft.clutter = cast(Literal["cluttered", "tidy"], clutter.value)

    def _scene_place(self) -> Place | None:
        """Where the things of a statement are: said before them (桌子上有两个罐头)."""
        place, self.draft.pending_place = self.draft.pending_place, None
        return place

    def _described(self) -> None:
        """A clause that begins with a thing: topic of a verb, place of things, or a statement about it."""
        if self._scene_words():
            self.cursor.take("place")
            if not self._at_thing():
                return
        if not self._at_thing():
            return
        things = self._things()
        if self.cursor.take("not_needed"):
            self.draft.absent.extend(things)
        elif self.cursor.sees("place"):
            self._place_first(things[0])
        elif self.cursor.take("at"):
            self.draft.statements.append(Statement(things=things, place=self._place()))
        elif self.cursor.sees("result"):
            self._state(things)
        elif self.cursor.sees("verb") and not self.cursor.sees("clutter"):
            self._command(things)
        elif len(things) == 1 and place_of_surface(things[0]) is not None:
            self.draft.surface = things[0]
            if clutter := self.cursor.take("clutter"):
                self._note(clutter)
        else:
            self.draft.statements.append(Statement(things=things))

    def _place_first(self, target: NounPhrase) -> None:
        place = Place(relation=self._postposition("on"), target=target)
        surface = place_of_surface(target) is not None
        if surface:
            self.draft.surface = target
        if clutter := self.cursor.take("clutter"):
            self._note(clutter)
        elif self.cursor.take("exist"):
            self.draft.statements.append(Statement(things=self._things(), place=None if surface else place))
        elif not surface:
            self.draft.pending_place = place

    def _state(self, things: tuple[NounPhrase, ...]) -> None:
        """抽屉开着: how it is at the start."""
        token = self.cursor.take("result")
        sense = token.sense("result") if token else None
        if sense is None or sense.value not in ("open", "close"):
            raise self.cursor.stuck("only a door or a drawer has a state: open or closed")
        state: Literal["open", "closed"] = "open" if sense.value == "open" else "closed"
        self.draft.statements.append(Statement(things=things, state=state))

    def _upright_here(self) -> bool:
        sense = self.cursor.sense("result")
        return sense is not None and sense.value == "upright"

    # Commands

    def _moved(self) -> None:
        """After 把: things, perhaps where from, then the verb."""
        things = self._things()
        source: NounPhrase | None = None
        while True:
            self.cursor.skip("filler")
            if self.cursor.take("from"):
                source = self._place_target()
            elif self._upright_here():
                self.cursor.take("result")
                self.cursor.take("verb")
                self.draft.add(Command(action="upright", word="竖直", themes=things, then=self._took_then()))
                return
            else:
                break
        if not self.cursor.sees("verb"):
            raise self.cursor.stuck("a verb was expected after 把 ...")
        self._command(things, source)

    def _took_then(self) -> bool:
        then, self.then = self.then, False
        return then

    def _command(self, things: tuple[NounPhrase, ...], source: NounPhrase | None = None) -> None:
        verb = self.cursor.take("verb")
        assert verb is not None
        sense = verb.sense("verb")
        assert sense is not None
        if sense.value == "tidy":
            self._tidy()
            return
        if sense.value == "contact":
            self._contact(verb)
            return
        if sense.value == "empty":
            self._empty(verb, things)
            return
        if sense.value == "discard":
            themes = things or (self._things() if self._at_thing() else ())
            rubbish = Place(relation="in", target=NounPhrase(kind="category", head=BIN, text=BIN))
            self.cursor.skip("filler")
            self.draft.add(
                Command(action="put", word=verb.text, themes=themes, source=source, destination=rubbish, then=self._took_then())
            )
            return
        inside = sense.value == "put in"
        action = cast(Action, "put" if inside else sense.value)
        command = Command(action=action, word=verb.text, themes=things, source=source, then=self._took_then())
        self.cursor.skip("filler")
        if self._upright_here():
            self.cursor.take("result")
            self.draft.add(replace(command, action="upright"))
            return
        if action in ("put", "stack"):
            command = self._destination(command, inside=inside, ends=verb.text[-1] in "在到回至")
            if action == "stack" and command.destination is None:  # a stack is of several, though no number is said
                themes = tuple(replace(t, quantity="some") if t.uncounted else t for t in command.themes)
                command = replace(command, themes=themes)
        elif not command.themes and self._at_thing():
            command = replace(command, themes=self._things())
        self.cursor.skip("filler")
        self.draft.add(replace(command, deliberate=action in ("lift", "grasp")))

    def _empty(self, verb: Token, things: tuple[NounPhrase, ...]) -> None:
        """把抽屉清空: all that is in it comes out."""
        self.cursor.skip("filler")
        source = things[0] if things else self._thing()
        everything = NounPhrase(kind="tag", head="object", text="所有东西", quantity="each")
        command = Command(action="remove", word=verb.text, themes=(everything,), source=source, then=self._took_then())
        self.draft.add(command)

    def _contact(self, verb: Token) -> None:
        """让勺子碰到盘子."""
        themes = self._things()
        touch = self.cursor.sense("verb")
        if touch is None or touch.value != "touch":
            raise self.cursor.stuck(f"'碰到' was expected after '{verb.text} ...'")
        self.cursor.at += 1
        destination = Place(relation="near", target=self._thing())
        self.draft.add(Command(action="contact", word=verb.text, themes=themes, destination=destination, then=self._took_then()))

    def _destination(self, command: Command, *, inside: bool, ends: bool) -> Command:
        """Where a verb of putting puts: 放进碗里, 放在盘子上, 放里面; or its things first: 放两个苹果到篮子里."""
        if self.cursor.sees("at"):
            self.cursor.take("at")
            ends = True
        token = self.cursor.peek()
        if token is not None and (token.text in INSIDE or (token.has("place") and not token.has("position"))):
            place = token.sense("place")
            self.cursor.at += 1
            return replace(command, destination=Place(relation=cast(Relation, place.value if place else "in"), target=None))
        if not self._at_thing():
            return replace(command, destination=Place(relation="in", target=None)) if inside else command
        if not command.themes and not ends and not inside:
            command = replace(command, themes=self._things())
            if not self.cursor.take("at"):
                return command
        return replace(command, destination=self._place("in" if inside else "to"))

    def _tidy(self) -> None:
        self.draft.clutter = self.draft.clutter or "tidy"
        self._scene_words()
        if self._at_thing():
            thing = self._thing()
            if place_of_surface(thing) is None:
                raise self.cursor.stuck("only a table, a counter or a kitchen can be tidied")
            self.draft.surface = thing

    # Places

    def _postposition(self, default: Relation) -> Relation:
        self.cursor.take("de")
        token = self.cursor.take("place")
        sense = token.sense("place") if token else None
        return cast(Relation, sense.value) if sense else default

    def _place(self, default: Relation = "to") -> Place:
        target = self._thing()
        if self.cursor.sees("position") and not self.cursor.sees("place"):
            raise self.cursor.stuck("there is no such relation yet: say 上, 里 or 旁边")
        said = self._postposition(default)
        return Place(relation="in" if default == "in" and said == "to" else said, target=target)

    def _place_target(self) -> NounPhrase:
        """The thing of a place whose relation does not matter: from where."""
        target = self._thing()
        self.cursor.take("place")
        return target

    # Things

    def _at_thing(self) -> bool:
        ahead = 0
        while self.cursor.sees(
            "quantifier", "number", "article", "fresh", "classifier", "de", "setting", "clutter", *_LOOKS, ahead=ahead
        ):
            if self.cursor.sees(*_HEADS, ahead=ahead):
                return True
            if (self.cursor.sense("quantifier", ahead) or self.cursor.sense("quantifier")) and self.cursor.peek(ahead) is None:
                return True
            ahead += 1
        if self.cursor.sees(*_HEADS, ahead=ahead):
            return True
        token = self.cursor.sense("quantifier")
        if token is not None and token.value == "everything":
            return True
        first = self.cursor.peek()
        return first is not None and first.has("position") and first.text.endswith(BOARD_POSITIONS)

    def _things(self) -> tuple[NounPhrase, ...]:
        things = [self._thing()]
        while True:
            start = self.cursor.at
            token = self.cursor.peek()
            comma = token is not None and (token.text == "、" or token.has("and"))
            if not comma:
                return tuple(things)
            self.cursor.at += 1
            if self.cursor.sees("ba") or not self._at_thing():
                self.cursor.at = start
                return tuple(things)
            things.append(self._thing())

    def _thing(self) -> NounPhrase:
        phrase = self._simple()
        while True:
            start = self.cursor.at
            nested = self._qualified(phrase)
            if nested is None:
                self.cursor.at = start
                break
            phrase = nested
        if phrase.position is not None and phrase.kind != "part":
            raise Stuck(phrase.text, "only a drawer, a door or a shelf is told by its position")
        return phrase

    def _qualified(self, first: NounPhrase) -> NounPhrase | None:
        """A thing that the one read so far belongs to or is the place of: 柜子的抽屉, 冰箱门, 桌子上的杯子."""
        if first.kind not in ("category", "part"):
            return None
        start = self.cursor.at
        self.cursor.take("de")
        if first.kind == "category" and self._at_thing():
            part = self._simple()
            if part.kind == "part":  # 左边的柜门: the position is the door's
                position = part.position or first.position
                return replace(part, position=position, owner=replace(first, position=None))
        self.cursor.at = start
        place = self.cursor.take("place")
        if place is None or not self.cursor.take("de"):
            return None
        if not self._at_thing():
            return None
        sense = place.sense("place")
        assert sense is not None
        inner = self._simple()
        if inner.kind == "part" and first.kind == "category":
            return replace(inner, owner=first)
        return replace(inner, place=Place(relation=cast(Relation, sense.value), target=first))

    def _simple(self) -> NounPhrase:
        start = self.cursor.at
        quantity: Quantity = "one"
        count: int | None = None
        words: dict[str, str] = {}
        fresh = False
        while (token := self.cursor.peek()) is not None:
            modifies = self._more_follows()
            if token.has("noun", "tag", "part") and not (token.has(*_LOOKS, "clutter", "number", "classifier") and modifies):
                break
            if token.has("pronoun") and not modifies:
                break
            if token.has("position") and token.text.endswith(BOARD_POSITIONS) and not modifies:
                self.cursor.at += 1
                position = token.sense("position")
                assert position is not None
                return NounPhrase(kind="part", head="board", text=token.text, position=position.value)
            if (found := token.sense("quantifier")) is not None:
                if found.value == "everything":
                    self.cursor.at += 1
                    return NounPhrase(kind="tag", head="object", text=token.text, quantity="each")
                if found.value == "2":
                    quantity, count = "some", 2
                else:
                    quantity = "each" if found.value == "each" else "some"
            elif (found := token.sense("number")) is not None:
                count = int(found.value)
            elif token.has("fresh"):
                fresh = True
            elif not self._look(token, words):
                if token.has("setting", "clutter"):
                    self._note(token)
                elif not token.has("article", "classifier", "de", "filler"):
                    break
            self.cursor.at += 1
        return self._head(start, quantity, count, words, fresh)

    def _more_follows(self) -> bool:
        """Whether a head still comes after this token, so that it only describes it."""
        ahead = 1
        while self.cursor.sees("de", "classifier", "article", ahead=ahead) and not self.cursor.sees(*_HEADS, ahead=ahead):
            ahead += 1
        return self.cursor.sees(*_HEADS, *_LOOKS, ahead=ahead) and not (
            self.cursor.sees("place", ahead=ahead) and not self.cursor.sees(*_HEADS, *_LOOKS, "de", ahead=ahead + 1)
        )

    def _look(self, token: Token, words: dict[str, str]) -> bool:
        for kind in _LOOKS:
            sense = token.sense(kind)
            if sense is not None and not (kind == "position" and not self._more_follows()):
                words[kind] = sense.value
                return True
        return False

    def _head(self, start: int, quantity: Quantity, count: int | None, words: dict[str, str], fresh: bool) -> NounPhrase:
        token = self.cursor.take(*_HEADS)
        if token is None:
            raise self.cursor.stuck("a thing was expected here")
        pronoun = token.sense("pronoun")
        if pronoun is not None:
            return NounPhrase(kind="pronoun", head=pronoun.value, text=token.text, quantity=quantity, count=count)
        part, noun, tag = token.sense("part"), token.sense("noun"), token.sense("tag")
        if noun is not None and "position" not in words:
            part = None
        sense = part or noun or tag
        assert sense is not None
        if count is not None and quantity == "one" and count > 1:
            quantity = "some"
        text = "".join(t.text for t in self.cursor.tokens[start : self.cursor.at])
        return NounPhrase(
            kind="part" if part else "category" if noun else "tag", head=sense.value, text=text, quantity=quantity, count=count,
            fresh=fresh, uncounted=count is None and quantity == "one",
            position=words.get("position"), color=words.get("color"), size=looks(words)[0], materials=looks(words)[1],
        )  # fmt: skip
