"""Chinese noun phrases and places: 最大的积木, 碗里的那个, 柜子左边的门, 盘子和碗之间.

thing  = {quantity | number classifier | colour | size | superlative | material | position | place 的 | 的} head
place  = thing [里 | 上 | 旁边 | 左边 ...] | thing 和 thing 之间
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal, cast

from embodiedsmith.forge.language.clauses import Draft, looks
from embodiedsmith.forge.language.cursor import Cursor, Stuck
from embodiedsmith.forge.language.lexer import Token
from embodiedsmith.forge.language.lexicon import Kind
from embodiedsmith.forge.language.meaning import NounPhrase, Place, Quantity, Relation, Superlative
from embodiedsmith.forge.language.words_zh import BOARD_POSITIONS, LYING, REST

HEADS: tuple[Kind, ...] = ("noun", "tag", "part", "pronoun")
LOOKS: tuple[Kind, ...] = ("color", "size", "material", "position", "superlative")
_BEFORE_HEAD: tuple[Kind, ...] = (
    "quantifier",
    "number",
    "article",
    "fresh",
    "among",
    "classifier",
    "de",
    "setting",
    "clutter",
    *LOOKS,
)
_SIDES: dict[str, Superlative] = {"left": "leftmost", "right": "rightmost"}


@dataclass
class _Words:
    """What is said of a thing before its head."""

    start: int
    quantity: Quantity = "one"
    count: int | None = None
    fresh: bool = False
    same: bool = False
    """Whether it is what was spoken of before: 同一个."""
    among: NounPhrase | None = None
    looks: dict[str, str] = field(default_factory=dict)


class Things:
    """Reads the things and places of a brief from its cursor; notes settings and clutter words on the draft."""

    def __init__(self, cursor: Cursor, draft: Draft) -> None:
        self.cursor = cursor
        self.draft = draft
        self.last_noun = ""
        """Category last named as acted on: what 那个 after a describing word is one of."""
        self.last_place = ""
        """Category last named as a place: what 蓝色的那个 is one of in a place."""

    # The scene's own words

    def scene_words(self) -> bool:
        """Step over settings and how cluttered they are; whether a setting was among them."""
        found = False
        while True:
            token = self.cursor.peek()
            if token is None or not token.has("setting", "clutter") or token.has("noun", "part"):
                return found
            found = found or token.has("setting")
            self.note(token)
            self.cursor.at += 1
            self.cursor.take("de")

    def note(self, token: Token) -> None:
        """Put a setting or a clutter word on the draft."""
        setting, clutter = token.sense("setting"), token.sense("clutter")
        if setting is not None:
            self.draft.setting = setting.value
        if clutter is not None:
            self.draft.clutter = cast(Literal["cluttered", "tidy"], clutter.value)

    # Places

    def postposition(self, default: Relation) -> Relation:
        """What stands after the thing of a place: 上, 里, 旁边, 左边."""
        self.cursor.take("de")
        token = self.cursor.take("place")
        sense = token.sense("place") if token else None
        return cast(Relation, sense.value) if sense else default

    def place(self, default: Relation = "to", *, alike: bool = False) -> Place:
        """A thing and how something is to it; `default` where nothing says how. `alike`: 绿色的那个 is like what is put."""
        acted_on = self.last_noun
        self.last_noun = (not alike and self.last_place) or acted_on
        target = self.thing()
        self.last_noun, self.last_place = acted_on, self.last_noun
        if self.cursor.sees("position") and not self.cursor.sees("place"):
            raise self.cursor.stuck("there is no such relation yet: say 上, 里, 旁边, 左边, 右边, 前面, 后面 or 之间")
        if (between := self._between(target)) is not None:
            return between
        said = self.postposition(default)
        if said == "between":
            raise self.cursor.stuck("between what? Say 盘子和碗之间")
        return Place(relation="in" if default == "in" and said == "to" else said, target=target)

    def _between(self, first: NounPhrase) -> Place | None:
        """和碗之间, after the first thing of the two."""
        start = self.cursor.at
        token = self.cursor.peek()
        joined = token is not None and (token.text == "、" or token.has("and"))
        if joined:
            self.cursor.at += 1
        if joined and not self.cursor.sees("ba") and self.at_thing():
            second = self.thing()
            self.cursor.take("de")
            token = self.cursor.take("place")
            sense = token.sense("place") if token else None
            if sense is not None and sense.value == "between":
                return Place(relation="between", target=first, second=second)
        self.cursor.at = start
        return None

    # Things

    def at_thing(self) -> bool:
        """Whether a thing begins here, be it only 红色的 or 另外两个."""
        ahead = self._describing()
        if self.cursor.sees(*HEADS, ahead=ahead):
            return True
        everything = self.cursor.sense("quantifier")
        if everything is not None and (everything.value == "everything" or self.cursor.peek(ahead) is None):
            return True
        while ahead and self.cursor.sees("place", ahead=ahead - 1):  # 绿色的上
            ahead -= 1
        last = self.cursor.peek(ahead - 1)
        counted = ahead > 1 and any(self.cursor.sees("number", ahead=k) for k in range(ahead))
        if ahead and last is not None and (last.has("de", "fresh") or (counted and last.has("classifier", "color"))):
            return any(self.cursor.sees(*LOOKS, "fresh", "number", ahead=k) for k in range(ahead))
        return self._board_here()

    def _board_here(self) -> bool:
        """Whether a word here names a board by itself: 最上层."""
        token = self.cursor.peek()
        return token is not None and token.has("position") and token.text.endswith(BOARD_POSITIONS)

    def _describing(self) -> int:
        """How many words from here only describe what comes after them."""
        ahead = 0
        while self.cursor.sees(*_BEFORE_HEAD, ahead=ahead) and not self.cursor.sees(*HEADS, ahead=ahead):
            ahead += 1
        return ahead

    def things(self) -> tuple[NounPhrase, ...]:
        """Things joined by 和 or 、."""
        things = [self.thing()]
        while True:
            start = self.cursor.at
            token = self.cursor.peek()
            comma = token is not None and (token.text == "、" or token.has("and"))
            if not comma:
                return tuple(things)
            self.cursor.at += 1
            if self.cursor.sees("ba") or not self.at_thing():
                self.cursor.at = start
                return tuple(things)
            things.append(self.thing())

    def thing(self) -> NounPhrase:
        """One thing with all that is said of it, also where it is: 盘子左边的马克杯."""
        lying = self.cursor.peek()
        if lying is not None and (lying.text in LYING or lying.has("at")):  # 把放在盘子上的苹果 ...
            self.cursor.at += 1
        named_before = self.last_noun
        phrase = self._unlocated()
        while True:
            start = self.cursor.at
            nested = self._located(phrase, named_before)
            if nested is None:
                self.cursor.at = start
                return phrase
            phrase = self._sided(self._owned(nested))

    def _unlocated(self) -> NounPhrase:
        return self._sided(self._owned(self._simple()))

    def _sided(self, phrase: NounPhrase) -> NounPhrase:
        """左边的杯子 is the leftmost of them."""
        if phrase.position is None or phrase.kind == "part":
            return phrase
        side = _SIDES.get(phrase.position)
        if side is None:
            raise Stuck(phrase.text, "only a drawer, a door or a shelf is told by its height or number")
        return replace(phrase, position=None, superlative=phrase.superlative or side)

    def _owned(self, first: NounPhrase) -> NounPhrase:
        """The part that belongs to the thing just read, if one follows: 柜子的抽屉, 冰箱门, 左边的柜门."""
        start = self.cursor.at
        self.cursor.take("de")
        if first.kind == "category" and (self.cursor.sees(*HEADS, ahead=self._describing()) or self._board_here()):
            part = self._simple()
            if part.kind == "part":  # 左边的柜门: the position is the door's
                return replace(part, position=part.position or first.position, owner=replace(first, position=None))
        self.cursor.at = start
        return first

    def _located(self, first: NounPhrase, named_before: str) -> NounPhrase | None:
        """A thing told by where it is, which was read first: 桌子上的杯子, 碗里的那个, 盘子和碗之间的积木, 三个积木中最大的."""
        if first.kind not in ("category", "part", "pronoun"):
            return None
        where = self._between(first)
        if where is None:
            if self.cursor.sees("de") and self.cursor.sees("place", ahead=1):
                self.cursor.at += 1
            place = self.cursor.take("place")
            sense = place.sense("place") if place else None
            if sense is None or sense.value == "between":
                return None
            where = Place(relation=cast(Relation, sense.value), target=first)
        de = self.cursor.take("de")
        if where.relation == "in" and (first.quantity != "one" or first.head == "them"):
            start = self.cursor.at
            if self.cursor.sees("superlative", "number", "size", "color"):
                inner = self._simple(among=first)
                if inner.kind == "one" or inner.head == first.head:
                    return replace(inner, kind="one", head=first.head, among=first)
            self.cursor.at = start
        if de is None or not self.at_thing():
            return None
        self.last_noun = named_before or self.last_noun
        inner = self._simple()
        if inner.kind == "part" and first.kind == "category":
            return replace(inner, owner=first)
        if inner.kind == "pronoun":  # 碗里的那个
            inner = NounPhrase(kind="one", head=self.last_noun, text=inner.text)
        return replace(inner, place=where)

    def _simple(self, among: NounPhrase | None = None) -> NounPhrase:
        said = _Words(self.cursor.at, among=among)
        while (token := self.cursor.peek()) is not None:
            modifies = self._more_follows() and not (token.has("noun") and self.cursor.sees("place", ahead=1))
            if token.has("noun", "tag", "part") and not (token.has(*LOOKS, "clutter", "number", "classifier") and modifies):
                break
            if token.has("pronoun") and not modifies:
                break
            if self._board_here() and not modifies:
                self.cursor.at += 1
                position = token.sense("position")
                assert position is not None
                return NounPhrase(kind="part", head="board", text=token.text, position=position.value)
            if (found := token.sense("quantifier")) is not None and found.value == "everything":
                self.cursor.at += 1
                return NounPhrase(kind="tag", head="object", text=token.text, quantity="each")
            if not self._modifier(token, said):
                break
            self.cursor.at += 1
        return self._head(said)

    def _modifier(self, token: Token, said: _Words) -> bool:
        """Note what a word before the head says; whether it was such a word."""
        if (found := token.sense("quantifier")) is not None:
            said.quantity = "each" if found.value == "each" else "some"
            said.count = 2 if found.value == "2" else said.count
        elif (found := token.sense("number")) is not None:
            if said.count is not None:  # 一个红色一个蓝色
                return False
            said.count = int(found.value)
        elif token.has("fresh"):
            said.fresh = True
            if token.text in REST and not self.cursor.sees("number", ahead=1):
                said.quantity = "each"
        elif token.has("among"):
            said.among = NounPhrase(kind="pronoun", head="them", text=token.text)
        elif not self._look(token, said.looks):
            if token.has("setting", "clutter"):
                self.note(token)
            elif not token.has("article", "classifier", "de", "filler"):
                return False
            said.same = said.same or token.text.startswith("同一")
        return True

    def _more_follows(self) -> bool:
        """Whether a head still comes after this token, so that it only describes it."""
        ahead = 1
        while self.cursor.sees("de", "classifier", "article", "number", "quantifier", ahead=ahead) and not self.cursor.sees(
            *HEADS, ahead=ahead
        ):
            ahead += 1
        return self.cursor.sees(*HEADS, *LOOKS, ahead=ahead) and not (
            self.cursor.sees("place", ahead=ahead) and not self.cursor.sees(*HEADS, *LOOKS, "de", ahead=ahead + 1)
        )

    def _look(self, token: Token, words: dict[str, str]) -> bool:
        found = False
        for kind in LOOKS:
            sense = token.sense(kind)
            if sense is not None and not (kind == "position" and not self._more_follows()):
                words[kind] = sense.value
                found = True
                if kind != "position":
                    break
        return found

    def _head(self, said: _Words) -> NounPhrase:
        token = self.cursor.peek()
        pronoun = token.sense("pronoun") if token is not None and not token.has("noun") else None
        counted = said.count is not None and self.cursor.sees("classifier", ahead=-1)
        elided = bool(said.looks) or said.fresh or said.among is not None or counted
        if token is None or not token.has(*HEADS) or (pronoun is not None and elided):
            if pronoun is not None:
                self.cursor.at += 1
            if not elided:
                raise self.cursor.stuck("a thing was expected here")
            if said.count is not None and not said.fresh and said.among is None:  # 一个在碗里, 一个红色
                said.among = NounPhrase(kind="pronoun", head="them", text="它们")
            return self._phrase("one", self.last_noun, said)
        self.cursor.at += 1
        if pronoun is not None:
            return NounPhrase(kind="pronoun", head=pronoun.value, text=token.text, quantity=said.quantity, count=said.count)
        part, noun, tag = token.sense("part"), token.sense("noun"), token.sense("tag")
        if noun is not None and "position" not in said.looks:
            part = None
        sense = part or noun or tag
        assert sense is not None
        if noun is not None and part is None:
            self.last_noun = noun.value
        return self._phrase("part" if part else "category" if noun else "tag", sense.value, said)

    def _phrase(self, kind: Literal["part", "category", "tag", "one"], head: str, said: _Words) -> NounPhrase:
        count, quantity = said.count, said.quantity
        if count is not None and quantity == "one" and count > 1:
            quantity = "some"
        superlative = said.looks.get("superlative") if kind != "part" else None
        size, materials = looks(said.looks)
        return NounPhrase(
            kind=kind, head=head, text="".join(t.text for t in self.cursor.tokens[said.start : self.cursor.at]),
            quantity=quantity, count=count, fresh=said.fresh, among=said.among,
            uncounted=count is None and quantity == "one" and superlative is None and kind != "one" and not said.same,
            position=None if superlative else said.looks.get("position"), superlative=cast("Superlative | None", superlative),
            color=said.looks.get("color"), size=size, materials=materials,
        )  # fmt: skip
