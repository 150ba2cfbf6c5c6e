"""English places and the words that set a scene: "in a cluttered kitchen", "between the plate and the cup", "inside".

where = relation thing | "between" thing "and" thing | adverb
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Literal, cast

from embodiedsmith.forge.language.clauses import Draft
from embodiedsmith.forge.language.cursor import Cursor
from embodiedsmith.forge.language.lexer import Token
from embodiedsmith.forge.language.lexicon import Kind
from embodiedsmith.forge.language.meaning import NounPhrase, Place, Relation

_AFTER_CLUTTER: tuple[Kind, ...] = ("noun", "setting", "clutter", "comma", "stop", "and")


class Places(ABC):
    """Reads places from a cursor; notes settings and clutter words on the draft. A reader of things completes it."""

    def __init__(self, cursor: Cursor, draft: Draft) -> None:
        self.cursor = cursor
        self.draft = draft
        self.last_noun = ""
        """Category last named: what "the green one" is one of."""
        self.least = False
        """Whether "at least" was said of the thing read last."""
        self.stated = ""
        """Category last said to be there: what "the one on the left" is one of after a relation."""
        self._place_noun = ""
        """Category of the place last named: what "the green one" is one of after a relation."""

    @abstractmethod
    def at_thing(self) -> bool:
        """Whether a thing begins here."""

    @abstractmethod
    def thing(self) -> NounPhrase:
        """One thing with all that is said of it."""

    # The scene's own words

    def scene_words(self) -> None:
        """Settings and how cluttered they are, standing alone: "a cluttered kitchen"."""
        while True:
            ahead = 0
            while self.cursor.sees("article", ahead=ahead):
                ahead += 1
            token = self.cursor.peek(ahead)
            if token is None or not token.has("setting", "clutter") or token.has("color"):
                return
            if token.has("setting") and self.cursor.sees("noun", "part", ahead=ahead + 1):
                self.note(token)
                self.cursor.at += ahead + 1
                continue
            goes_on = self.cursor.peek(ahead + 1) is not None
            if token.has("clutter") and goes_on and not self.cursor.sees(*_AFTER_CLUTTER, ahead=ahead + 1):
                return
            self.note(token)
            self.cursor.at += ahead + 1

    def note(self, token: Token) -> None:
        """Put a setting or a clutter word on the draft."""
        setting, clutter = token.sense("setting"), token.sense("clutter")
        if setting is not None:
            self.draft.setting = setting.value
        if clutter is not None:
            self.draft.clutter = cast(Literal["cluttered", "tidy"], clutter.value)

    # Places

    def where(self, *, alike: bool = False) -> Place | None:
        """A relation and what it is to, or a relation alone ("inside"); None when there is neither here.

        `alike`: after a relation, too, "the green one" is one of what is put there.
        """
        start = self.cursor.at
        relation = self.cursor.sense("relation")
        adverb = self.cursor.sense("adverb")
        if relation is None and adverb is None:
            return None
        self.cursor.at += 1
        if relation is not None:
            self._setting_after_relation()
            self.cursor.skip("filler")
            if self.at_thing():
                return self._related(cast(Relation, relation.value), alike=alike)
            if self.cursor.at > start + 1:
                return self.where(alike=alike)
        if adverb is not None:
            return Place(relation=cast(Relation, adverb.value), target=None)
        raise self.cursor.stuck(f"a thing must follow '{self.cursor.text(start, start + 1)}'")

    def _related(self, relation: Relation, *, alike: bool) -> Place:
        acted_on = self.last_noun
        if not alike:
            self.last_noun = self._place_noun or (self.stated if self.stated != acted_on else "") or acted_on
        target, second = self.thing(), None
        if relation == "between":
            if self.cursor.take("and") is not None and self.at_thing():
                second = self.thing()
            elif target.quantity == "one" and target.count in (None, 1) and target.head != "them":
                raise self.cursor.stuck("between what? Say between the plate and the bowl")
        self._place_noun, self.last_noun = self.last_noun, acted_on or self.last_noun
        return Place(relation=relation, target=target, second=second)

    def _setting_after_relation(self) -> None:
        """ "in the kitchen": no thing, but where everything happens."""
        ahead = 0
        while self.cursor.sees("article", "clutter", ahead=ahead):
            ahead += 1
        token = self.cursor.peek(ahead)
        if token is not None and token.has("setting") and not self.cursor.sees("noun", "part", ahead=ahead + 1):
            self.scene_words()
