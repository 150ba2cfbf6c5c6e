"""Noun phrases for the things of a scene, in English and Chinese, saying as much as is needed to tell them apart."""

from __future__ import annotations

import re
from dataclasses import dataclass

from embodiedsmith import assets
from embodiedsmith.assets import COLORS
from embodiedsmith.spec import Item, Language, SceneSpec, split_reference
from embodiedsmith.tasks.kind import Need

_SIZES: dict[Language, dict[str, str]] = {
    "en": {"small": "small", "medium": "medium", "large": "large"},
    "zh": {"small": "小", "medium": "中号", "large": "大"},
}
_PLACES: dict[str, dict[Language, str]] = {
    "top": {"en": "top", "zh": "最上面"}, "upper": {"en": "upper", "zh": "上面"}, "middle": {"en": "middle", "zh": "中间"},
    "lower": {"en": "lower", "zh": "下面"}, "bottom": {"en": "bottom", "zh": "最下面"}, "left": {"en": "left", "zh": "左边"},
    "right": {"en": "right", "zh": "右边"}, "front": {"en": "front", "zh": "前面"}, "back": {"en": "back", "zh": "后面"},
    "center": {"en": "middle", "zh": "中间"},
}  # fmt: skip
"""Words in part names that say where the part is."""
_LAYERS = {"top": "最上", "middle": "中间", "bottom": "最下"}
_PARTS: dict[str, str] = {
    "drawer": "抽屉", "door": "门", "board": "层板", "compartment": "格子", "lid": "盖子",
}  # fmt: skip
"""Chinese for the other words in part names."""
_WHOLE = frozenset({"top", "inside", "door", "surface", "floor", "lid", "interior", "seat"})
"""Parts that, alone, people call by the thing's name: on the table's top is on the table."""
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_NUMBERS_EN = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_NUMBERS_ZH = ("两", "三", "四", "五", "六", "七", "八", "九", "十")
_DIGITS_ZH = ("一", "二", "三", "四", "五", "六", "七", "八", "九", "十")
_IRREGULAR = {"knife": "knives", "shelf": "shelves", "loaf": "loaves"}


@dataclass(frozen=True)
class _Look:
    """What one can see of an item."""

    category: str
    color: str
    size: str


class Nouns:
    """Names the things of one scene in one language."""

    def __init__(self, scene: SceneSpec, language: Language) -> None:
        self._scene, self._language = scene, language
        self._looks = {item.id: _look(item) for item in scene.items}

    def alike(self, references: list[str]) -> bool:
        """Whether all references are to things of one category."""
        return len({self._looks[split_reference(r)[0]].category for r in references}) == 1

    def one(self, reference: str, need: Need = "thing") -> str:
        """A definite phrase for an item or a part of one, in a role: "the top drawer of the drawer unit", "最上面的抽屉".

        A part called after its door is the door where a joint is needed, else what is behind it.
        """
        item, part = split_reference(reference)
        whole = self._definite(item)
        if part is None or (part in _WHOLE and not (part == "door" and need == "support")):
            return whole
        places, noun, number = _split_part(part)
        if noun == "door" and need != "joint":
            noun = "compartment"
        if noun == "board" and need == "cavity" and self._language == "en":  # one is on a shelf, but in a compartment
            noun = "compartment"
        if self._language == "en":
            if noun == "board" and not whole.endswith("shelf"):
                noun = "shelf"
            order = [] if number is None else [_ORDINALS[number] if number < len(_ORDINALS) else f"number {number + 1}"]
            return f"the {' '.join([*order, *(_PLACES[p]['en'] for p in places), noun])} of {whole}"
        return self._part_zh(item, part, noun)

    def _part_zh(self, item: str, part: str, noun: str) -> str:
        """抽屉柜的抽屉, 最上面的抽屉, 左边的第二个抽屉, 冰箱最上层; its owner's name only where it is needed."""
        places, _, number = _split_part(part)
        whole = self._definite(item)
        order = "" if number is None else f"第{_DIGITS_ZH[number] if number < len(_DIGITS_ZH) else number + 1}"
        if noun == "board" and (places or order):
            return f"{whole}{order}{''.join(_LAYERS.get(p, _PLACES[p]['zh']) for p in places)}层"
        name = f"{order}个{_PARTS.get(noun, noun)}" if order else _PARTS.get(noun, noun)
        if not places and not order:
            return f"{whole}的{name}"
        phrase = "".join(_PLACES[p]["zh"] for p in places) + ("的" if places else "") + name
        shared = any(part in _part_names(other) for other in self._scene.items if other.id != item)
        own = noun in self._looks[item].category.split("_")  # a drawer of nothing named is a drawer unit's
        return phrase if own and not shared else whole + phrase

    def group(self, references: list[str], need: Need = "thing") -> str:
        """A phrase for several things in one role: "the two red apples", "the apple and the banana"."""
        alike: dict[_Look, list[str]] = {}
        for reference in references:
            item, part = split_reference(reference)
            if part is None:
                alike.setdefault(_Look(self._looks[item].category, *self._described(item)), []).append(item)
        phrases: list[str] = []
        for reference in references:
            members = next((items for items in alike.values() if reference in items), [])
            if not 1 < len(members) < len(_NUMBERS_EN) + 2:
                phrases.append(self.one(reference, need))
            elif reference == members[0]:
                phrases.append(self._several(members))
        return _enumerate(phrases, self._language)

    def one_of(self, references: list[str]) -> str:
        """An indefinite phrase ("an apple") if the references are all the things in the scene that look alike, else ""."""
        looks = {self._looks[split_reference(r)[0]] for r in references}
        if len(looks) != 1 or any("." in r for r in references):
            return ""
        look = looks.pop()
        if {i for i, other in self._looks.items() if other == look} != set(references):
            return ""
        phrase = self._bare(references[0], ignore_twins=True)
        if self._language == "zh":
            return f"一个{phrase}"
        return f"{'an' if phrase[0] in 'aeiou' else 'a'} {phrase}"

    def _several(self, items: list[str]) -> str:
        look = self._looks[items[0]]
        same = [i for i, other in self._looks.items() if other == look]
        phrase = self._bare(items[0], ignore_twins=True)
        whole = len(items) == len(same)
        if self._language == "zh":
            return f"{'' if whole else '其中'}{_NUMBERS_ZH[len(items) - 2]}个{phrase}"
        return f"{'the' if whole else ''} {_NUMBERS_EN[len(items) - 2]} {'' if whole else 'of the '}{plural(phrase)}".strip()

    def _definite(self, item: str) -> str:
        bare = self._bare(item)
        return f"the {bare}" if self._language == "en" and not bare[-1].isdigit() else bare

    def _bare(self, item: str, *, ignore_twins: bool = False) -> str:
        """The phrase without article: colour, size, category, and a number when nothing else tells it from a twin."""
        look = self._looks[item]
        color, size = self._described(item)
        noun = assets.category(look.category).names[self._language][0]
        twins = [i for i, other in self._looks.items() if other == look]
        number = f" {twins.index(item) + 1}" if len(twins) > 1 and not ignore_twins else ""
        size_word = _SIZES[self._language][size] if size else ""
        color_word = COLORS[color].names[self._language][0] if color else ""
        if self._language == "en":
            return " ".join(w for w in (size_word, color_word, noun) if w) + number
        return (f"{color_word}的" if color_word else "") + size_word + noun + number.strip()

    def _described(self, item: str) -> tuple[str, str]:
        """The colour and size to be said of an item; "" where nothing is."""
        look, spec = self._looks[item], self._scene.item(item).asset
        color = look.color if spec.color is not None else ""
        size = look.size if spec.size != "medium" else ""
        peers = [other for i, other in self._looks.items() if i != item and other.category == look.category]
        confused = [p for p in peers if (not color or p.color == color) and (not size or p.size == size)]
        if not color and any(p.color != look.color for p in confused):
            color = look.color
            confused = [p for p in confused if p.color == color]
        if not size and any(p.size != look.size for p in confused):
            size = look.size
        return color, size


def plural(noun: str) -> str:
    """The English plural of a noun phrase, by its last word."""
    head, _, last = noun.rpartition(" ")
    if last in _IRREGULAR:
        last = _IRREGULAR[last]
    elif re.search(r"(s|x|z|ch|sh)$", last):
        last += "es"
    elif re.search(r"[^aeiou]y$", last):
        last = last[:-1] + "ies"
    else:
        last += "s"
    return f"{head} {last}".strip()


def _look(item: Item) -> _Look:
    category = assets.category(item.asset.category)
    return _Look(item.asset.category, item.asset.color or category.colors[0], item.asset.size)


def _split_part(part: str) -> tuple[list[str], str, int | None]:
    """A part name as its places, its noun and its number: `drawer_top_left` to (["top", "left"], "drawer", None)."""
    places: list[str] = []
    nouns: list[str] = []
    number: int | None = None
    for word in part.split("_"):
        if word.isdigit():
            number = int(word)
        elif word in _PLACES:
            places.append(word)
        else:
            nouns.append(word)
    return places, " ".join(nouns), number


def _part_names(item: Item) -> set[str]:
    parts = assets.build(item.asset).affordances
    return {s.name for s in parts.supports} | {c.name for c in parts.cavities} | {h.name for h in parts.handles}


def _enumerate(phrases: list[str], language: Language) -> str:
    if len(phrases) == 1:
        return phrases[0]
    comma, word = (", ", " and ") if language == "en" else ("、", "和")
    return comma.join(phrases[:-1]) + word + phrases[-1]
