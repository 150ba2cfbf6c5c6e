"""English noun phrases and places: the largest of the three blocks, the one in the bowl, between the plate and the cup.

thing = {article | quantity | number | colour | size | superlative | material | position} head {after}
after = "of" thing | "that is" looks | where | "on the left"        (the last two only where they cannot be a destination)
where = relation thing | "between" thing "and" thing | adverb       ("in the bowl", "inside")
"""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from embodiedsmith.forge.language.clauses import has_joints, looks, place_of_surface
from embodiedsmith.forge.language.cursor import Stuck
from embodiedsmith.forge.language.english_looks import SIDES, Words, dressed, headed, jointed, quantity_of, sided, state_of
from embodiedsmith.forge.language.english_places import Places
from embodiedsmith.forge.language.lexer import Token
from embodiedsmith.forge.language.lexicon import Kind
from embodiedsmith.forge.language.meaning import HeadKind, NounPhrase, Place, Statement, Superlative
from embodiedsmith.forge.language.words_en import CONTAINING, REST

HEADS: tuple[Kind, ...] = ("noun", "tag", "part", "pronoun", "one")
_SEEN: tuple[Kind, ...] = ("color", "size", "material", "position")
MODIFIERS: tuple[Kind, ...] = ("article", "fresh", "quantifier", "number", "least", "clutter", "setting", "superlative", *_SEEN)
MASS = ("fruit", "food", "tableware", "cutlery", "drinkware", "cookware", "stationery", "cleaning")
"""Groups whose English word counts for several without an ending: "the silverware"."""
_ORDINALS = ("1", "2", "3", "4", "last")


class Things(Places):
    """Reads the things and places of a brief from its cursor; notes settings and clutter words on the draft."""

    def at_thing(self) -> bool:
        """Whether a thing begins here."""
        first = self.cursor.peek()
        if first is None or (first.has("least") and first.text.lower().startswith("with")):  # "in a kitchen with at least ..."
            return False
        ahead = 0
        named: tuple[Kind, ...] = ("noun", "part", "tag")
        while (
            self.cursor.sees(*MODIFIERS, "of", "kind", ahead=ahead) or (ahead and self.cursor.sees("result", ahead=ahead))
        ) and not self.cursor.sees(*named, ahead=ahead):
            if ahead > 0 and self.cursor.sees("one", ahead=ahead):
                return True
            if self.cursor.sees("pronoun", ahead=ahead) and not self.cursor.sees(*MODIFIERS, *HEADS, ahead=ahead + 1):
                return True
            if self.cursor.sees("quantifier", ahead=ahead):
                return True
            ahead += 1
        if self.cursor.sees(*HEADS, ahead=ahead):
            return True
        if self.cursor.sees("number", "one") and self.cursor.sees("size", ahead=ahead - 1):  # "two red ones and one large"
            return True
        return ahead > 0 and self.cursor.sees("color", "fresh", "superlative", "number", ahead=ahead - 1)

    def things(self) -> tuple[NounPhrase, ...]:
        """Things joined by commas and "and"; "the red and the blue block" are two blocks."""
        things = [self.thing()]
        while True:
            start = self.cursor.at
            joined = bool(self.cursor.take("comma"))
            word = self.cursor.take("and", "except")
            if (
                word is not None
                and (word.has("except") or word.text.lower() == "but")
                and self.at_thing()
                and not self._own_clause()
            ):
                things[-1] = self._excepting(things[-1])
                continue
            joined = word is not None or joined
            if not joined or self.cursor.sees("verb", "then", "relation", "still") or not self.at_thing() or self._own_clause():
                self.cursor.at = start
                return headed(things)
            things.append(self.thing())

    def _excepting(self, group: NounPhrase) -> NounPhrase:
        """ "Every block but the red one"."""
        if group.quantity == "one":
            raise Stuck(group.text, "only of several things some can be left out")
        left_out = [self.thing()]
        while self.cursor.sees("and") and not self.cursor.sees("verb", ahead=1):
            self.cursor.at += 1
            left_out.append(self.thing())
        return replace(group, without=(*group.without, *left_out))

    def _own_clause(self) -> bool:
        """Whether the thing here begins a new clause ("and the door is open", ", one of them red")."""
        start = self.cursor.at
        phrase = self.thing()
        new = self.cursor.sees("be", "not_needed", "ought", "stay", "for") or (
            phrase.among is not None and self.cursor.sees("color", "size", "material")
        )
        self.cursor.at = start
        return new

    def thing(self) -> NounPhrase:
        """One thing with all that is said of it."""
        said = Words(self.cursor.at)
        self.least = False
        while (token := self.cursor.peek()) is not None:
            if token.has("kind") and self.cursor.sees("noun", "kind", ahead=1):
                self.cursor.at += 1
                continue
            if self._head_here(token) or (token.has("of") and self._of_group()):
                break
            if (found := token.sense("quantifier")) is not None and found.value == "everything":
                return self._everything()
            if not self._modifier(token, said):
                break
            self.cursor.at += 1
        return self._head(said)

    def _head_here(self, token: Token) -> bool:
        """Whether a token is the head, rather than a word before it that could be one: "orange", "drawer", "one"."""
        if token.has("part") and not self.cursor.sees("noun", ahead=1):
            return True
        if token.has("noun", "tag"):
            return not (token.has("color", "material", "clutter") and self.cursor.sees(*HEADS, *MODIFIERS, ahead=1))
        if token.has("pronoun"):
            return not self.cursor.sees(*HEADS, *MODIFIERS, ahead=1)
        if token.has("one"):
            return not self.cursor.sees("noun", "tag", "part", "kind", *MODIFIERS, ahead=1)
        return False

    def _of_group(self) -> bool:
        """Whether "of" here names the group that one is of: "two of them", "the largest of the blocks"."""
        return self.cursor.sees("number", "superlative", "color", ahead=-1)

    def _modifier(self, token: Token, said: Words) -> bool:
        """Note what a word before the head says; whether it was such a word."""
        if token.has("fresh"):
            said.fresh = True
            if token.text.lower() in REST:
                said.quantity = "each"
        elif (found := token.sense("quantifier")) is not None:
            said.quantity, said.count = quantity_of(found.value, said.count)
        elif (found := token.sense("number")) is not None and not token.has("position"):
            said.count = int(found.value)
        elif token.has("least"):
            self.least = True
        elif token.has("clutter", "setting"):
            self.note(token)
        elif said.definite and token.has("result") and self._part_ahead():
            said.state = state_of(token)
        elif not self._compared(token, said) and not self._look(token, said.looks):
            if not token.has("article", "of"):
                return False
            said.definite = said.definite or token.text.lower() not in ("a", "an", "of")
        return True

    def _compared(self, token: Token, said: Words) -> bool:
        """ "The smaller" is the smallest of them, "a smaller" is only small; the leftmost drawer is told by its position."""
        found = token.sense("superlative")
        if found is None or (token.has("size") and not said.definite) or (token.has("position") and self._part_ahead()):
            return False
        said.looks["superlative"] = found.value
        return True

    def _part_ahead(self) -> bool:
        ahead = 1
        while self.cursor.sees(*MODIFIERS, ahead=ahead) and not self.cursor.sees("part", "noun", "tag", ahead=ahead):
            ahead += 1
        noun = self.cursor.sense("noun", ahead)
        return self.cursor.sees("part", ahead=ahead) or (noun is not None and has_joints(noun.value))

    def _look(self, token: Token, words: dict[str, str]) -> bool:
        """Note a colour, size, material or position; whether the token was one."""
        for kind in _SEEN:
            sense = token.sense(kind)
            if sense is not None:
                words[kind] = sense.value
                return True
        return False

    def looks_here(self) -> dict[str, str]:
        """Colours, sizes and materials that follow a thing: "is red and large"."""
        words: dict[str, str] = {}
        while (token := self.cursor.peek()) is not None:
            joined = words and token.has("and") and self.cursor.sees("color", "size", "material", ahead=1)
            if not joined and not (token.has("color", "size", "material") and self._look(token, words)):
                break
            self.cursor.at += 1
        return words

    def _everything(self) -> NounPhrase:
        """ "Everything", and what it is like: "everything red", "everything that is small"."""
        start = self.cursor.at
        self.cursor.at += 1
        if self.cursor.sees("be") and self.cursor.sees("color", "size", "material", ahead=1):
            self.cursor.at += 1
        everything = NounPhrase(kind="tag", head="object", text="", quantity="each", fresh=self.cursor.take("fresh") is not None)
        return replace(dressed(everything, self.looks_here()), text=self.cursor.text(start))

    # Heads

    def _head(self, said: Words) -> NounPhrase:
        token = self.cursor.peek()
        if token is None or not token.has(*HEADS):
            counted = said.count is not None and (self.last_noun or self.cursor.sees("of"))
            if not said.told and not counted:
                raise self.cursor.stuck("a thing was expected here")
            return self._elided(said)
        self.cursor.at += 1
        if (pronoun := token.sense("pronoun")) is not None and not token.has("noun"):
            return NounPhrase(kind="pronoun", head=pronoun.value, text=token.text, quantity=said.quantity, count=said.count)
        if token.has("one") and not token.has("noun"):
            return self._elided(said)
        return self._named(token, said)

    def _elided(self, said: Words) -> NounPhrase:
        """ "The green one", "the other", "the largest of the blocks": the head is the last noun said, or what follows "of"."""
        position = said.looks.get("position")
        of_parts = not self.last_noun or jointed(self.last_noun)
        if not of_parts and position in _ORDINALS:  # "two blocks here, and the third one there"
            del said.looks["position"]
            said.fresh, position = True, None
        if position is not None and of_parts and not {"color", "superlative"} & set(said.looks):
            return NounPhrase(kind="part", head="drawer", text=self.cursor.text(said.start), position=position)
        several = (token := self.cursor.peek(-1)) is not None and token.text.lower() in ("ones", *REST)
        among = self.thing() if self.cursor.take("of") and self.at_thing() else None
        if several and said.quantity == "one" and said.count is None:
            said.quantity = "each" if said.fresh else "some"
        everything = among is None and not self.last_noun and not said.fresh and said.quantity == "each"  # "all the red ones"
        head = self.last_noun if among is None or among.kind == "pronoun" else among.head
        phrase = self._phrase("tag" if everything else "one", "object" if everything else head, said)
        return self._told(sided(replace(phrase, among=among)), located=said.definite and not said.looks and not said.fresh)

    def _phrase(self, kind: HeadKind, head: str, said: Words) -> NounPhrase:
        size, materials = looks(said.looks)
        return NounPhrase(
            kind=kind, head=head, text=self.cursor.text(said.start), quantity=said.quantity, count=said.count, fresh=said.fresh,
            position=said.looks.get("position"), superlative=cast("Superlative | None", said.looks.get("superlative")),
            color=said.looks.get("color"), size=size, materials=materials,
        )  # fmt: skip

    def _named(self, token: Token, said: Words) -> NounPhrase:
        """A head that names what it is: a category, a group or a part, perhaps of the thing named before it."""
        part, noun, tag = token.sense("part"), token.sense("noun"), token.sense("tag")
        if part is not None and noun is not None and "position" not in said.looks and not part.plural and said.quantity == "one":
            part = None
        owner: NounPhrase | None = None
        if noun is not None and part is None and (compound := self._compound(said)) is not None:
            worn = {kind: value for kind, value in said.looks.items() if kind not in ("position", "superlative")}
            owner = dressed(NounPhrase(kind="category", head=noun.value, text=token.text), worn)
            said.looks = {kind: value for kind, value in said.looks.items() if kind == "position"}
            part, noun = compound.sense("part"), None
        sense = part or noun or tag
        assert sense is not None
        if said.quantity == "one" and said.count is None:
            if sense.plural:
                said.quantity = "some" if part is None else "each"
            elif part is None and noun is None and sense.value in MASS and not self._singular(said):
                said.quantity = "some"
        phrase = replace(self._phrase("part" if part else "category" if noun else "tag", sense.value, said), owner=owner)
        if part is None:
            self.last_noun = sense.value
        phrase = self._part_after(phrase) if part else self._told(sided(phrase))
        if said.state is not None:
            self.draft.statements.append(Statement(things=(phrase,), state=said.state))
        return phrase

    def _singular(self, said: Words) -> bool:
        return any(token.text.lower() in ("a", "an") for token in self.cursor.tokens[said.start : self.cursor.at])

    def _compound(self, said: Words) -> Token | None:
        """The part named after its owner: "microwave door", "the cabinet's top drawer"."""
        start = self.cursor.at
        self.cursor.take("possessive")
        position = self.cursor.take("position")
        token = self.cursor.take("part")
        if token is None:
            self.cursor.at = start
            return None
        if position is not None and (sense := position.sense("position")) is not None:
            said.looks["position"] = sense.value
        return token

    # After the head

    def _part_after(self, phrase: NounPhrase) -> NounPhrase:
        """What follows a part: "of the cabinet", "on the left", "that is at the top"."""
        if self.cursor.sees("be") and self.cursor.sees("relation", "at", "adverb", ahead=1):
            self.cursor.at += 1
        owned = False
        if (side := self._side_here()) is not None:
            phrase = replace(phrase, position=side)
            owned = self.cursor.sees("relation", ahead=-1)  # "on the left of the cabinet"
        elif self.cursor.sees("relation", "at"):
            start = self.cursor.at
            self.cursor.at += 1
            self.cursor.skip("article")
            position = self.cursor.take("position")
            sense = position.sense("position") if position is not None else None
            if sense is not None and not self.cursor.sees(*HEADS):
                phrase = replace(phrase, position=sense.value)
            else:
                self.cursor.at = start
        if phrase.owner is None and (owned or self.cursor.take("of") or self._owner_relation()):
            phrase = replace(phrase, owner=self.thing())
        self._contents(phrase)
        return phrase

    def _side_here(self) -> str | None:
        """Step over "on the left" and "on the left of" where it says which of several: `left` or `right`."""
        token = self.cursor.peek()
        if token is None or not token.text.lower().startswith(("on the", "at the")):
            return None
        side = token.sense("adverb") or token.sense("relation")
        if side is None or side.value not in SIDES:
            return None
        self.cursor.at += 1
        return side.value

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
        if self.at_thing():
            thing = self.thing()
            has_parts = thing.kind == "category" and has_joints(thing.head)
        self.cursor.at = start + 1 if has_parts else start
        return has_parts

    def _told(self, phrase: NounPhrase, *, located: bool = False) -> NounPhrase:
        """What follows a thing and can only tell which it is: "that is red", "on the left", "closest to the robot"."""
        token = self.cursor.peek()
        if token is not None and token.has("superlative") and not token.has("size"):  # "the mug closest to the robot"
            sense = token.sense("superlative")
            if sense is not None and sense.value in ("nearest", "farthest"):
                self.cursor.at += 1
                phrase = replace(phrase, superlative=cast(Superlative, sense.value))
                if not self._to_the_robot() and self.cursor.sees("relation"):
                    raise self.cursor.stuck("nearest and farthest are from the robot: say next to, or which one it is")
        elif phrase.superlative in ("nearest", "farthest"):
            self._to_the_robot()
        if self.cursor.sees("adverb") and (side := self._side_here()) is not None:
            return replace(phrase, superlative=SIDES[side])
        token = self.cursor.peek()
        if token is not None and token.has("be") and token.text.lower().startswith(("that", "which")):
            if self.cursor.sees("color", "size", "material", ahead=1):
                self.cursor.at += 1
                return dressed(phrase, self.looks_here())
            if self.cursor.sees("relation", "adverb", ahead=1):
                self.cursor.at += 1
                return replace(phrase, place=self.where())
        self._contents(phrase)
        sense = self.cursor.sense("relation")
        if located and phrase.among is None and sense is not None and sense.value not in ("to", "from"):  # "the one in the bowl"
            if not phrase.head:
                phrase = replace(phrase, kind="tag", head="object")
            return replace(phrase, place=self.where())
        return phrase

    def _contents(self, phrase: NounPhrase) -> None:
        """ "The box with an apple in it", "a drawer containing spoons": what is in or on a thing at the start."""
        start = self.cursor.at
        word = self.cursor.take("with")
        if word is None or place_of_surface(phrase) is not None or not self.at_thing():
            self.cursor.at = start
            return
        told = len(self.draft.statements)
        things = self.things()
        where = self.where()
        back = where is not None and (where.target is None or where.target.head == "it")
        if back or (where is None and word.text.lower() in CONTAINING):
            relation = where.relation if where is not None else "to"
            self.draft.statements.append(Statement(things=things, place=Place(relation=relation, target=phrase)))
            return
        del self.draft.statements[told:]
        self.cursor.at = start

    def _to_the_robot(self) -> bool:
        start = self.cursor.at
        self.cursor.take("relation")
        self.cursor.skip("article")
        token = self.cursor.take("filler")
        if token is None or token.text.lower() not in ("robot", "me", "you"):
            self.cursor.at = start
            return False
        return True
