"""Noun phrases for the things of a scene, in English and Chinese, saying as much as is needed to tell them apart."""

from __future__ import annotations

import re
from collections.abc import Iterable

from embodiedsmith import assets
from embodiedsmith.assets import COLORS
from embodiedsmith.spec import Item, Language, Predicate, SceneSpec, split_reference
from embodiedsmith.tasks.kind import Need
from embodiedsmith.tasks.looks import Looks, Telling

_SIZES: dict[Language, dict[str, str]] = {
    "en": {"medium": "medium-sized"},
    "zh": {
        "small": "小", "medium": "中号", "large": "大",
        "smaller": "较小的", "smallest": "最小的", "larger": "较大的", "largest": "最大的",
    },
}  # fmt: skip
"""Size words; in English those not listed are said as they are."""
_MATERIALS: dict[str, tuple[str, str]] = {
    "wood": ("wooden", "木头"), "ceramic": ("ceramic", "陶瓷"), "glass": ("glass", "玻璃"), "steel": ("steel", "不锈钢"),
    "aluminium": ("aluminium", "铝"), "plastic": ("plastic", "塑料"), "cardboard": ("cardboard", "纸板"),
    "wicker": ("wicker", "藤编"), "stone": ("stone", "石头"), "foam": ("foam", "泡沫"), "chipboard": ("chipboard", "刨花板"),
}  # fmt: skip
"""Adjectives for materials, English and Chinese; others are not said."""
_WHERE: dict[str, tuple[str, str]] = {
    "on": ("on {}", "{}上"), "inside": ("in {}", "{}里"), "attached": ("on {}", "{}上"),
    "left_of": ("to the left of {}", "{}左边"), "right_of": ("to the right of {}", "{}右边"),
    "in_front_of": ("in front of {}", "{}前面"), "behind": ("behind {}", "{}后面"), "near": ("next to {}", "{}旁边"),
    "between": ("between {} and {}", "{}和{}之间"),
}  # fmt: skip
"""How a thing is told by where it is, English and Chinese."""
_ROWS: dict[str, tuple[str, str]] = {
    "leftmost": ("leftmost", "最左边的"), "rightmost": ("rightmost", "最右边的"), "nearest": ("nearest", "最近的"),
    "farthest": ("farthest", "最远的"),
}  # fmt: skip
"""How a thing is told by its place in a row of its like, English and Chinese."""
_PLACES: dict[str, dict[Language, str]] = {
    "top": {"en": "top", "zh": "最上面"}, "upper": {"en": "upper", "zh": "上面"}, "middle": {"en": "middle", "zh": "中间"},
    "lower": {"en": "lower", "zh": "下面"}, "bottom": {"en": "bottom", "zh": "最下面"}, "left": {"en": "left", "zh": "左边"},
    "right": {"en": "right", "zh": "右边"}, "front": {"en": "front", "zh": "前面"}, "back": {"en": "back", "zh": "后面"},
    "center": {"en": "middle", "zh": "中间"},
}  # fmt: skip
"""Words in part names that say where the part is."""
_LAYERS = {"top": "最上", "middle": "中间", "bottom": "最下"}
_PARTS: dict[str, str] = {
    "drawer": "抽屉", "door": "门", "board": "层板", "compartment": "格子", "lid": "盖子", "lever": "把手", "knob": "旋钮",
}  # fmt: skip
"""Chinese for the other words in part names."""
_WHOLE = frozenset({"top", "inside", "door", "surface", "floor", "lid", "interior", "seat", "lever", "knob"})
"""Parts that, alone, people call by the thing's name: on the table's top is on the table."""
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_NUMBERS_EN = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_NUMBERS_ZH = ("两", "三", "四", "五", "六", "七", "八", "九", "十")
_DIGITS_ZH = ("一", "二", "三", "四", "五", "六", "七", "八", "九", "十")
_IRREGULAR = {"knife": "knives", "shelf": "shelves", "loaf": "loaves"}


class Nouns:
    """Names the things of one scene in one language, in the order in which they are spoken of.

    Args:
        initial: Relations that hold at the start and may tell things apart.
    """

    def __init__(self, scene: SceneSpec, language: Language, initial: Iterable[Predicate] = ()) -> None:
        self._scene, self._language = scene, language
        self._looks = Looks(scene, initial)
        self._spoken: list[str] = []
        """Items that are not told apart from others and have been spoken of, in order."""

    def alike(self, references: list[str]) -> bool:
        """Whether all references are to things of one category."""
        return len({self._looks.of(split_reference(r)[0]).category for r in references}) == 1

    def meant(self, reference: str, need: Need = "thing") -> str:
        """What a phrase for the reference means: equal for references that are called the same ("the fridge" and its door)."""
        item, part = split_reference(reference)
        return item if _is_whole(part, need) or part is None else f"{item}.{part} {self._part_noun(item, part, need)}"

    def one(self, reference: str, need: Need = "thing") -> str:
        """A definite phrase for an item or a part of one, in a role: "the top drawer of the drawer unit", "最上面的抽屉".

        A part called after its door is the door where a joint is needed, else what is behind it.
        """
        item, part = split_reference(reference)
        if part is None or _is_whole(part, need):
            return self._definite(item)
        noun = self._part_noun(item, part, need)
        if self._language == "zh":
            return self._part_zh(item, part, noun)
        places, _, number = _split_part(part)
        order = [] if number is None else [_ORDINALS[number] if number < len(_ORDINALS) else f"number {number + 1}"]
        return f"the {' '.join([*order, *(_PLACES[p]['en'] for p in places), noun])} of {self._definite(item)}"

    def _part_noun(self, item: str, part: str, need: Need) -> str:
        noun = _split_part(part)[1]
        if noun == "door" and need != "joint":
            return "compartment"
        if noun == "board" and self._language == "en":
            if need == "cavity":  # one is on a shelf, but in a compartment
                return "compartment"
            if not self._bare(self._looks.telling(item)).endswith("shelf"):
                return "shelf"
        return noun

    def _part_zh(self, item: str, part: str, noun: str) -> str:
        """抽屉柜的抽屉, 最上面的抽屉, 左边的第二个抽屉, 冰箱最上层; its owner's name only where it is needed."""
        places, _, number = _split_part(part)
        order = "" if number is None else f"第{_DIGITS_ZH[number] if number < len(_DIGITS_ZH) else number + 1}"
        if noun == "board" and (places or order):
            return f"{self._owner_zh(item)}{order}{''.join(_LAYERS.get(p, _PLACES[p]['zh']) for p in places)}层"
        name = f"{order}个{_PARTS.get(noun, noun)}" if order else _PARTS.get(noun, noun)
        if not places and not order:
            return f"{self._definite(item)}的{name}"
        phrase = "".join(_PLACES[p]["zh"] for p in places) + ("的" if places else "") + name
        shared = any(noun in _part_nouns(other) for other in self._scene.items if other.id != item)
        own = noun in self._looks.of(item).category.split("_")  # a drawer of nothing named is a drawer unit's
        return phrase if own and not shared else self._owner_zh(item) + phrase

    def _owner_zh(self, item: str) -> str:
        return self._definite(item) + ("的" if self._looks.telling(item).rivals else "")

    def located(self, references: list[str]) -> bool:
        """Whether a phrase for one of the references says where it is, and so names other things."""
        tellings = [self._looks.telling(split_reference(reference)[0]) for reference in references]
        return any(telling.carrier or telling.beside for telling in tellings)

    def group(self, references: list[str], need: Need = "thing") -> str:
        """A phrase for several things in one role: "the two red apples", "the apple and the banana"."""
        alike: dict[tuple[str, str, str, str], list[str]] = {}
        for reference in references:
            item, part = split_reference(reference)
            if part is None:
                alike.setdefault(self._looks.telling(item).words, []).append(item)
        phrases: list[str] = []
        for reference in references:
            members = next((items for items in alike.values() if reference in items), [])
            together = self._several(members) if 1 < len(members) < len(_NUMBERS_EN) + 2 else ""
            if not together:
                phrases.append(self.one(reference, need))
            elif reference == members[0]:
                phrases.append(together)
        return _enumerate(phrases, self._language)

    def one_of(self, references: list[str]) -> str:
        """An indefinite phrase ("an apple") if the references are all the things in the scene that look alike, else ""."""
        if any("." in r for r in references) or set(self._looks.same(references[0])) != set(references):
            return ""
        phrase = self._bare(self._looks.telling(references[0]))
        if self._language == "zh":
            return f"一个{phrase}"
        return f"{'an' if phrase[0] in 'aeiou' else 'a'} {phrase}"

    def _several(self, items: list[str]) -> str:
        """A phrase for things that the same words are said of, by their number; "" where each must be told by its place."""
        tellings = [self._looks.telling(item) for item in items]
        group, place = self._looks.like(tellings[0]), ""
        phrase, number = self._bare(tellings[0]), self._number(len(items))
        if len(items) < len(group):
            places = {self._where(telling) for telling in tellings}
            place = places.pop()
            group = tuple(i for i in group if self._where(self._looks.telling(i)) == place)
            if places or not (place or all(telling.rivals for telling in tellings)):
                return ""
        whole = len(items) == len(group)
        if self._language == "zh":
            few = f"{number}个{phrase}" if whole else f"{self._number(len(group))}个{phrase}中的{number}个"
            return f"{place}的{few}" if place else few
        few = f"the {number}" if whole else f"{number} of the {self._number(len(group))}"
        return f"{few} {plural(phrase)}{f' that are {place}' if place else ''}"

    def _number(self, count: int) -> str:
        numbers = _NUMBERS_EN if self._language == "en" else _NUMBERS_ZH
        return numbers[count - 2] if count < len(numbers) + 2 else str(count)

    def _definite(self, item: str) -> str:
        telling = self._looks.telling(item)
        if telling.rivals:
            return self._rival(item, telling)
        bare, place = self._bare(telling), self._where(telling)
        if self._language == "zh":
            return f"{place}的{bare}" if place else bare
        return f"the {bare}{f' that is {place}' if place else ''}"

    def _rival(self, item: str, telling: Telling) -> str:
        """A phrase for one of several that nothing tells apart: one of them, then the other; spoken of again, the same."""
        spoken = [rival for rival in self._spoken if rival in telling.rivals]
        bare, place, count = self._bare(telling), self._where(telling), len(telling.rivals)
        if item in spoken and item == self._latest(telling):
            return f"the same {bare}" if self._language == "en" else f"同一个{bare}"
        if item in spoken:
            self._spoken.append(item)
            number = list(dict.fromkeys(spoken)).index(item)
            return f"the {_ORDINALS[number]} {bare}" if self._language == "en" else f"第{_DIGITS_ZH[number]}个{bare}"
        self._spoken.append(item)
        if self._language == "zh":
            place = f"{place}的" if place else ""
            return f"另一个{bare}" if spoken else f"{place}{self._number(count)}个{bare}中的一个"
        if not spoken:
            return f"one of the {self._number(count)} {plural(bare)}{f' that are {place}' if place else ''}"
        return f"the other {bare}" if count == len(set(spoken)) + 1 else f"another {bare}"

    def _latest(self, telling: Telling) -> str:
        """Which of some rivals was spoken of last."""
        return next((item for item in reversed(self._spoken) if item in telling.rivals), "")

    def _where(self, telling: Telling) -> str:
        """Where a thing is that is told by that: "in the bowl", "碗里"; else ""."""
        column = 0 if self._language == "en" else 1
        if (carrier := telling.carrier) is not None and carrier.parent is not None:
            part = f"{carrier.parent}.{carrier.support}" if carrier.support else carrier.parent
            return _WHERE[carrier.relation][column].format(
                self.one(part, "cavity" if carrier.relation == "inside" else "support")
            )
        if (beside := telling.beside) is not None:
            return _WHERE[beside.name][column].format(*(self.one(other) for other in beside.args[1:]))
        return ""

    def _bare(self, telling: Telling) -> str:
        """The phrase without article and place: place in a row, size, colour, material, category."""
        noun = assets.category(telling.category).names[self._language][0]
        size = _SIZES[self._language].get(telling.size, telling.size)
        color = COLORS[telling.color].names[self._language][0] if telling.color else ""
        material = _MATERIALS.get(telling.material, ("", ""))[0 if self._language == "en" else 1]
        row = _ROWS.get(telling.row, ("", ""))[0 if self._language == "en" else 1]
        if self._language == "en":
            return " ".join(w for w in (row, size, color, material, noun) if w)
        first, size = (size, "") if size.endswith("的") else ("", size)
        phrase = noun
        for word in (material, size):
            phrase = f"{word}{'的' if word and _runs_together(word, phrase) else ''}{phrase}"
        return f"{row}{first}{color + '的' if color else ''}{phrase}"


def _runs_together(word: str, phrase: str) -> bool:
    """Whether a Chinese adjective and what follows hold another thing's name: 小 and 刀, 玻璃 and 杯子."""
    names = {name for category in assets.categories().values() for name in category.names["zh"]}
    both, edge = word + phrase, len(word)
    return any(both[i:j] in names for i in range(edge) for j in range(edge + 1, len(both) + 1))


def _is_whole(part: str | None, need: Need) -> bool:
    """Whether people call a part by the thing's name."""
    return part in _WHOLE and not (part == "door" and need == "support")


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


def _part_nouns(item: Item) -> set[str]:
    """What the parts of an item are called without their places: drawer, door."""
    parts = assets.build(item.asset).affordances
    names = [s.name for s in parts.supports] + [c.name for c in parts.cavities] + [h.name for h in parts.handles]
    return {_split_part(name)[1] for name in names}


def _enumerate(phrases: list[str], language: Language) -> str:
    if len(phrases) == 1:
        return phrases[0]
    comma, word = (", ", " and ") if language == "en" else ("、", "和")
    return comma.join(phrases[:-1]) + word + phrases[-1]
